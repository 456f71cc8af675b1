//! Friction in the series of a motion.
//!
//! Friction that sticks is a row of the working set like any other: no slip acceleration, with a reaction of its own. Friction
//! that slides exerts −w λ along each of its slips, with w = μ U/|U| and λ the normal reaction, or −w alone where its limit is
//! known. In the plane U/|U| is a sign that does not change in a step; in space it has a series: |U|² = U·U and n |U| = U, order
//! by order. μ and limits may depend on the sliding speed, whose series is |U|.

use super::{Flow, back};
use crate::Reason;
use crate::event::polynomial::{MAX_DEGREE, value};
use crate::linalg::add;
use crate::problem::{Frictions, Gaps};

/// What friction does at present.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Grip {
    /// Its constraint does not press.
    Off,
    /// No slip.
    Stick,
    /// Slip; in the plane and from rest in this direction, else in that of the slip velocity.
    Slide([f64; 2]),
}

/// One friction of the model.
#[derive(Clone, Debug)]
pub struct Element {
    /// The constraint that presses; None for dry friction of known limit.
    pub constraint: Option<usize>,
    /// Where its slips begin among all slips, and how many there are.
    pub first: usize,
    pub slips: usize,
}

/// Everything about friction that a flow computes.
#[derive(Debug)]
pub struct Friction {
    pub elements: Vec<Element>,
    pub grip: Vec<Grip>,
    /// μ, or limits, at the point last evaluated: while sliding and while sticking.
    pub kinetic: Vec<f64>,
    pub sticking: Vec<f64>,
    /// The slip velocities there.
    pub slip: Vec<f64>,
    /// Whether directions are taken from `grip` though there is slip: while it begins.
    pub is_launching: bool,
    /// Series, N + 1 coefficients each: sliding speeds of the elements; directions, weights and forces −w λ of the slips.
    speed: Vec<f64>,
    direction: Vec<f64>,
    weight: Vec<f64>,
    force: Vec<f64>,
}

impl Friction {
    pub fn new(elements: Vec<Element>, slips: usize, order: usize) -> Self {
        let (f, n) = (elements.len(), order + 1);
        Friction {
            grip: vec![Grip::Off; f],
            kinetic: vec![0.0; f],
            sticking: vec![0.0; f],
            slip: vec![0.0; slips],
            is_launching: false,
            speed: vec![0.0; f * n],
            direction: vec![0.0; slips * n],
            weight: vec![0.0; slips * n],
            force: vec![0.0; slips * n],
            elements,
        }
    }

    fn slides(&self, f: usize) -> Option<[f64; 2]> {
        match self.grip[f] {
            Grip::Slide(direction) => Some(direction),
            _ => None,
        }
    }

    /// Whether anything slides.
    pub fn is_sliding(&self) -> bool {
        self.grip.iter().any(|grip| matches!(grip, Grip::Slide(_)))
    }

    /// Whether the direction of an element is a given one.
    fn has_fixed_direction(&self, f: usize) -> bool {
        self.elements[f].slips == 1 || self.is_launching
    }
}

impl Flow {
    /// The row of slip s among all rows.
    pub fn slip_row(&self, s: usize) -> usize {
        self.gaps.len() + s
    }

    /// The polynomial of slip s; of a rough step the cubic through its ends.
    pub fn slip_series(&self, s: usize) -> &[f64] {
        if self.is_rough {
            return &self.rough_slips[4 * s..4 * s + 4];
        }
        self.slips.as_ref().map_or(&[], |series| series.output(s))
    }

    /// Order k of the sliding speeds, passed to the expressions that may depend on them; before the others have order k.
    pub(super) fn advance_slips(&mut self, k: usize, fresh: bool) {
        let Some(slips) = &mut self.slips else { return };
        slips.advance(k, fresh);
        let n = self.order + 1;
        for f in 0..self.friction.elements.len() {
            let element = &self.friction.elements[f];
            let (first, count) = (element.first, element.slips);
            let speeds = &mut self.friction.speed[f * n..(f + 1) * n];
            speeds[k] = match (self.friction.grip[f], count) {
                (Grip::Slide([sign, _]), 1) => sign * slips.coefficient(first, k),
                (Grip::Slide(direction), 2) if self.friction.is_launching => {
                    (0..2).map(|c| direction[c] * slips.coefficient(first + c, k)).sum()
                }
                (Grip::Slide(_), _) => {
                    // |U|² = U·U.
                    let squares = |s: usize| {
                        let u = slips.output(first + s);
                        (0..=k).map(|j| u[j] * u[k - j]).sum::<f64>()
                    };
                    let square: f64 = (0..count).map(squares).sum();
                    match k {
                        0 => square.sqrt(),
                        _ => {
                            let known: f64 = (1..k).map(|j| speeds[j] * speeds[k - j]).sum();
                            0.5 * (square - known) / speeds[0]
                        }
                    }
                }
                // Where there is friction to be, coefficients are those of the present slip.
                (_, _) if k == 0 => (first..first + count).map(|s| slips.coefficient(s, 0).powi(2)).sum::<f64>().sqrt(),
                _ => 0.0,
            };
            let speed = speeds[k];
            let input = self.layout.sliding + f;
            let series = if self.using_full { &mut self.full } else { &mut self.light };
            series.set_input(input, k, speed);
            if k == 0 {
                for s in first..first + count {
                    self.friction.slip[s] = slips.coefficient(s, 0);
                }
            }
        }
    }

    /// Order k of the weights w = μ U/|U|, once the expressions have it.
    pub(super) fn weigh(&mut self, k: usize) {
        let n = self.order + 1;
        for f in 0..self.friction.elements.len() {
            let Some(given) = self.friction.slides(f) else { continue };
            let fixed = self.friction.has_fixed_direction(f);
            let (first, count) = (self.friction.elements[f].first, self.friction.elements[f].slips);
            let mu = self.full.output(self.layout.friction + f);
            for c in 0..count {
                let s = first + c;
                let speeds = &self.friction.speed[f * n..(f + 1) * n];
                let directions = &mut self.friction.direction[s * n..(s + 1) * n];
                directions[k] = match (fixed, k, &self.slips) {
                    (true, 0, _) => given[c],
                    (true, ..) | (_, _, None) => 0.0,
                    (false, _, Some(slips)) => {
                        let known: f64 = (1..=k).map(|j| speeds[j] * directions[k - j]).sum();
                        (slips.coefficient(s, k) - known) / speeds[0]
                    }
                };
                self.friction.weight[s * n + k] = (0..=k).map(|j| mu[j] * directions[k - j]).sum();
            }
        }
    }

    /// Reads order 0 of what friction needs.
    pub(super) fn read_friction(&mut self) {
        let count = self.friction.elements.len();
        for f in 0..count {
            self.friction.kinetic[f] = self.full.coefficient(self.layout.friction + f, 0);
            self.friction.sticking[f] = self.full.coefficient(self.layout.friction + count + f, 0);
        }
    }

    /// The direction in which a unit reaction of a constraint pulls: ∇f, less friction that slides with it.
    pub fn add_direction(&self, row: usize, factor: f64, out: &mut [f64]) {
        self.gradients.add_to(row, factor, out);
        let n = self.order + 1;
        for (f, element) in self.friction.elements.iter().enumerate() {
            if element.constraint == Some(row) && self.friction.slides(f).is_some() {
                for s in element.first..element.first + element.slips {
                    self.gradients.add_to(self.slip_row(s), -factor * self.friction.weight[s * n], out);
                }
            }
        }
    }

    /// Order k of the forces of dry friction that slides, and what lower orders of reactions leave for order k of Coulomb's.
    pub(super) fn add_friction(&mut self, k: usize) {
        let n = self.order + 1;
        let Friction { elements, grip, weight, force, .. } = &self.friction;
        for (f, element) in elements.iter().enumerate() {
            if !matches!(grip[f], Grip::Slide(_)) {
                continue;
            }
            let place = element.constraint.map(|a| self.working.iter().position(|&w| w == a));
            for s in element.first..element.first + element.slips {
                let row = self.gaps.len() + s;
                let w = &weight[s * n..(s + 1) * n];
                let psi = &force[s * n..(s + 1) * n];
                for (e, &i) in self.gradients.row(row).0.iter().enumerate() {
                    let slope = self.full.output(self.layout.gradients + self.entry[row] + e);
                    self.r[i] -= match place {
                        None => slope[0] * w[k] + back(slope, w, k),
                        Some(Some(m)) => {
                            let lambda = &self.lambda[m * self.order..(m + 1) * self.order];
                            slope[0] * back(w, lambda, k) - back(slope, psi, k)
                        }
                        Some(None) => 0.0,
                    };
                }
            }
        }
    }

    /// Order k of the forces −w λ, once the reactions have it.
    pub(super) fn keep_friction(&mut self, k: usize) {
        let n = self.order + 1;
        let Friction { elements, grip, weight, force, .. } = &mut self.friction;
        for (f, element) in elements.iter().enumerate() {
            if !matches!(grip[f], Grip::Slide(_)) {
                continue;
            }
            let place = element.constraint.map(|a| self.working.iter().position(|&w| w == a));
            for s in element.first..element.first + element.slips {
                let w = &weight[s * n..(s + 1) * n];
                force[s * n + k] = match place {
                    None => -w[k],
                    Some(Some(m)) => {
                        let lambda = &self.lambda[m * self.order..(m + 1) * self.order];
                        -(w[0] * lambda[k] + back(w, lambda, k))
                    }
                    Some(None) => 0.0,
                };
            }
        }
    }

    /// Ends the series of friction before order k.
    pub(super) fn truncate_friction(&mut self, k: usize) {
        let n = self.order + 1;
        let Friction { direction, weight, force, .. } = &mut self.friction;
        for series in [direction, weight, force] {
            series.chunks_exact_mut(n).for_each(|c| c[k - 1..].fill(0.0));
        }
    }

    /// The forces of friction that slides, by rows, as polynomials.
    pub fn sliding_forces(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let n = self.order + 1;
        let sliding = self.friction.elements.iter().enumerate().filter(|(f, _)| self.friction.slides(*f).is_some());
        sliding.flat_map(move |(_, element)| {
            (element.first..element.first + element.slips)
                .map(move |s| (self.slip_row(s), &self.friction.force[s * n..s * n + self.order]))
        })
    }

    /// The forces of friction that slides in a rough step, from those at its ends.
    pub(super) fn set_rough_forces(&mut self, h: f64, ends: &[[f64; 2]]) {
        let n = self.order + 1;
        for (s, [from, to]) in ends.iter().enumerate() {
            let force = &mut self.friction.force[s * n..(s + 1) * n];
            force.fill(0.0);
            force[0] = *from;
            force[1] = (to - from) / h;
        }
    }

    /// The force of friction that slides along slip s at the point last evaluated; reactions are in `right`.
    pub(super) fn sliding_force(&self, s: usize) -> f64 {
        let n = self.order + 1;
        let of = self.friction.elements.iter().position(|e| (e.first..e.first + e.slips).contains(&s));
        match of.filter(|&f| self.friction.slides(f).is_some()) {
            None => 0.0,
            Some(f) => {
                let place = self.friction.elements[f].constraint.map(|a| self.working.iter().position(|&w| w == a));
                -self.friction.weight[s * n] * place.map_or(1.0, |k| k.map_or(0.0, |k| self.right[k]))
            }
        }
    }

    /// What friction that slides adds to impulses along the working set, at the point last evaluated: slips and impulses.
    pub fn dragged(&self, impulses: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        let n = self.order + 1;
        let sliding = self.friction.elements.iter().enumerate().filter(|(f, _)| self.friction.slides(*f).is_some());
        let pressed = sliding.filter_map(|(_, element)| {
            let place = self.working.iter().position(|&w| Some(w) == element.constraint)?;
            Some((element.first..element.first + element.slips, impulses[place]))
        });
        pressed.flat_map(move |(slips, p)| slips.map(move |s| (self.slip_row(s), -self.friction.weight[s * n] * p)))
    }

    /// Adds what dry friction that slides exerts at the point last evaluated to a force.
    pub fn add_sliders(&self, out: &mut [f64]) {
        for (f, element) in self.friction.elements.iter().enumerate() {
            if let (None, Some(given)) = (element.constraint, self.friction.slides(f)) {
                let row = self.slip_row(element.first);
                self.gradients.add_to(row, -given[0] * self.friction.kinetic[f], out);
            }
        }
    }

    /// The polynomial of the largest force that friction can hold: μ λ while sticking, or its limit. None where the constraint
    /// at `place` of the working set, which presses, is not held.
    pub fn sticking_limit(&self, f: usize, place: Option<Option<usize>>) -> [f64; MAX_DEGREE] {
        let mut limit = [0.0; MAX_DEGREE];
        let n = self.order;
        let mu = self.full.output(self.layout.friction + self.friction.elements.len() + f);
        // (Of a rough step there are no series: the value at its start.)
        let terms = if self.is_rough { 1 } else { n };
        match place {
            None => limit[..terms].copy_from_slice(&mu[..terms]),
            Some(None) => {}
            Some(Some(k)) => {
                let lambda = self.reaction(k);
                for (j, limit) in limit.iter_mut().enumerate().take(n) {
                    *limit = (0..=j).filter(|&i| i < terms).map(|i| mu[i] * lambda[j - i]).sum();
                }
            }
        }
        limit
    }

    /// Adds the forces of joints and friction at s to `g` and their sizes to `size`; rows as evaluated there.
    pub fn add_others(&self, s: f64, joints: &Gaps, frictions: &Frictions, g: &mut [f64], size: &mut [f64]) {
        let (m, places, n) = (self.instance.constraints(), self.gaps.len(), self.order + 1);
        for (k, &row) in self.working.iter().enumerate().filter(|(_, row)| **row >= m) {
            let lambda = value(self.reaction(k), s);
            let (rows, r) = if row < places { (&joints.gradients, row - m) } else { (&frictions.rows, row - places) };
            rows.add_to(r, lambda, g);
            rows.add_abs_to(r, lambda.abs(), size);
        }
        for (f, element) in self.friction.elements.iter().enumerate() {
            if self.friction.slides(f).is_none() {
                continue;
            }
            let place = element.constraint.map(|a| self.working.iter().position(|&w| w == a));
            let pressing = match place {
                None => 1.0,
                Some(Some(k)) => value(self.reaction(k), s),
                Some(None) => continue,
            };
            for slip in element.first..element.first + element.slips {
                let direction = match (self.is_rough, element.slips) {
                    (false, _) => value(&self.friction.direction[slip * n..(slip + 1) * n], s),
                    _ => self.slip_direction(f)[slip - element.first],
                };
                let force = frictions.kinetic[f] * direction * pressing;
                frictions.rows.add_to(slip, -force, g);
                frictions.rows.add_abs_to(slip, force.abs(), size);
            }
        }
    }

    /// The direction of slip of an element, for one that slides.
    pub fn slip_direction(&self, f: usize) -> [f64; 2] {
        let element = &self.friction.elements[f];
        let given = self.friction.slides(f).unwrap_or([0.0; 2]);
        if self.friction.has_fixed_direction(f) {
            return given;
        }
        let u = [self.friction.slip[element.first], self.friction.slip[element.first + 1]];
        let size = u[0].hypot(u[1]);
        if size > 0.0 { [u[0] / size, u[1] / size] } else { given }
    }

    /// Sets order 0 of the weights at the point last evaluated.
    pub fn weigh_point(&mut self) {
        let n = self.order + 1;
        for f in 0..self.friction.elements.len() {
            if self.friction.slides(f).is_some() {
                let direction = self.slip_direction(f);
                let Element { first, slips, .. } = self.friction.elements[f];
                for c in 0..slips {
                    self.friction.weight[(first + c) * n] = self.friction.kinetic[f] * direction[c];
                }
            }
        }
    }

    /// The acceleration of the working set and friction at the point last evaluated; reactions into `right`.
    pub fn accelerate_point(&mut self, a: &mut [f64]) -> Result<(), Reason> {
        let (d, m) = (self.d, self.working.len());
        a.copy_from_slice(&self.free);
        if self.friction.is_sliding() {
            self.weigh_point();
            self.r.fill(0.0);
            let mut pull = std::mem::take(&mut self.r);
            self.add_sliders(&mut pull);
            self.metric.solve(&mut pull);
            add(a, 1.0, &pull);
            self.r = pull;
        }
        if m > 0 {
            self.set_delassus(true)?;
            for (j, &row) in self.working.iter().enumerate() {
                self.right[j] = -self.gap_acceleration(row, a);
            }
            self.solve_reactions();
            for j in 0..m {
                add(a, self.right[j], &self.mobility[j * d..(j + 1) * d]);
            }
        }
        Ok(())
    }
}
