//! Where a step ends: the first of its events.

use super::flow::Grip;
use super::polynomial::{self, MAX_DEGREE, Roots, leading, value};
use super::rubbing::EDGE;
use super::{EventEngine, Touch};
use crate::record::Keep;

/// A search is made in shorter steps at most so often.
const SHORTENINGS: usize = 60;

/// What ends a step before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    /// A gap closes.
    Hit(usize),
    /// A reaction vanishes.
    Release(usize),
    /// A force or gap with corners or jumps changes sides.
    Switch { switch: usize, state: i64 },
    /// Friction stops to slide.
    Stop(usize),
    /// Friction that sticks reaches its limit, and slip begins in this direction.
    Slip { friction: usize, direction: [f64; 2] },
    /// An event of the user's own.
    Own(usize),
}

/// The first place where something that begins at zero or above turns negative: 0 if its first term that is more than
/// rounding is negative, and never if there is no such term.
pub(super) fn first_negative_from_zero(roots: &mut Roots, c: &[f64], h: f64, noise: f64, tick: f64) -> Option<f64> {
    let first = leading(c, h, noise, tick)?;
    if c[first] < 0.0 {
        return Some(0.0);
    }
    roots.first_negative(&c[first..], h, 0.0)
}

/// What rounding and the terms left out make of a polynomial on [0, h].
fn uncertainty(c: &[f64], h: f64) -> f64 {
    let n = c.len() - 1;
    let last = polynomial::size(&c[n - 2..], h) * h.powi(n as i32 - 2);
    (8.0 * f64::EPSILON * polynomial::size(c, h)).max(last)
}

impl EventEngine {
    /// The first event in (0, h] and where it is; without an event, how far the step may go. What rounding does, and what the
    /// series leaves out, grows with the length of a step: where an event comes early, or a gap cannot be told from closed, the
    /// search is made again in a shorter one.
    pub(super) fn first_event(&mut self, h: f64) -> (f64, Option<Event>) {
        let (mut h, shortest) = (h, self.shortest());
        self.search = h;
        for _ in 0..SHORTENINGS {
            match self.first_event_within(h) {
                // (What was located on its expression is no better known in a shorter step; and of a step as short as what is left of a switch that
                // has just been passed, that switch would be the first event.)
                Ok((s, event))
                    if event.is_none()
                        || s > 0.25 * h
                        || self.flow.is_rough
                        || s <= shortest
                        || self.is_on_expression(event) =>
                {
                    return (s, event);
                }
                Ok((s, _)) => h = 2.0 * s,
                Err(near) => h = if near < 0.4 * h { (1.25 * near).max(0.05 * h) } else { 0.5 * h },
            }
            h = h.max(2.0 * shortest);
        }
        // As short as it gets: the polynomials as they are.
        self.undecided = true;
        let found = self.first_event_within(h);
        self.undecided = false;
        found.unwrap_or((h, None))
    }

    /// Where an open gap closes. Where its polynomial comes so near to zero that it is not known well enough to tell, that
    /// place is the error.
    fn closing(&mut self, a: usize, h: f64) -> Result<Option<f64>, f64> {
        let c = self.flow.gap(a);
        if c[0] > 0.0 && c[0] >= polynomial::fall(&c[1..], h) * h {
            return Ok(None);
        }
        let floor = uncertainty(c, h).max(self.noise[a]);
        if !self.is_polynomial && !self.flow.is_rough && !self.undecided {
            let c = self.flow.gap(a);
            let lowered = &mut self.buffers.c[..c.len()];
            lowered.copy_from_slice(c);
            lowered[0] -= 4.0 * floor;
            let near = match lowered[0] <= 0.0 {
                true => 0.0,
                false => match self.roots.first_negative(lowered, h, 0.0) {
                    Some(near) => near,
                    None => return Ok(None),
                },
            };
            if !(floor <= self.resolution(a, near).wanted) {
                return Err(near);
            }
        }
        Ok(self.roots.first_negative(self.flow.gap(a), h, floor))
    }

    fn first_event_within(&mut self, h: f64) -> Result<(f64, Option<Event>), f64> {
        let (mut s, mut event, tick) = (h, None, self.tick());
        for a in 0..self.touch.len() {
            let found = match self.touch[a] {
                Touch::Open if self.far[a] => None,
                Touch::Open => self.closing(a, s)?,
                Touch::Closed => self.reopening(a, s)?,
                Touch::Working => None,
            };
            if let Some(at) = found {
                (s, event) = (at, Some(Event::Hit(a)));
            }
        }
        for k in 0..self.working.len() {
            let (a, c) = (self.working[k], self.flow.reaction(k));
            let scale = self.scales.reaction[a].max(polynomial::largest_term(c, s));
            let noise = self.reaction_noise[a].max(1e-14 * scale);
            let found = match self.released[a] && self.pressed[a] {
                // Neither with nor without it: on the edge. It is held until its reaction is clearly gone.
                true => self.roots.first_negative(c, s, noise.max(1e-9 * scale).max(16.0 * tick * c[1].abs())),
                false => first_negative_from_zero(&mut self.roots, c, s, noise, tick),
            };
            if let Some(at) = found {
                (s, event) = (at, Some(Event::Release(a)));
            }
        }
        for f in 0..self.flow.friction.elements.len() {
            if let Some((at, what)) = self.friction_event(f, s, tick) {
                (s, event) = (at, Some(what));
            }
        }
        let switches = if self.flow.is_rough { 0 } else { self.flow.switches() };
        for switch in 0..switches {
            // (Marks change nothing: where rounding leads to and fro across one, the step goes on.)
            if self.flow.is_mark(switch) && (self.idle > 10 || !self.flow.argument(switch, 0.0).is_finite()) {
                continue;
            }
            for end in 0..2 {
                let n = self.flow.order + 1;
                let c = &mut self.buffers.c[..n];
                let Some(state) = self.flow.margin(switch, end, c) else { continue };
                let noise = 1e-14 * self.scales.switch[switch].max(self.flow.argument(switch, 0.0).abs());
                // A mark is passed where it is passed; a switch that begins on its boundary goes where its first term does.
                let found = match self.flow.is_mark(switch) {
                    true => self.roots.first_negative(c, s, 0.0),
                    false => first_negative_from_zero(&mut self.roots, c, s, noise, tick),
                };
                if let Some(at) = found {
                    (s, event) = (at, Some(Event::Switch { switch, state }));
                }
            }
        }
        for k in 0..self.own.len() {
            if let Some(at) = self.own_event(k, s) {
                (s, event) = (at, Some(Event::Own(k)));
            }
        }
        Ok((s, event))
    }

    /// Where friction that slides stops, or friction that sticks reaches its limit, before s.
    fn friction_event(&mut self, f: usize, s: f64, tick: f64) -> Option<(f64, Event)> {
        let (first, count, constraint) = {
            let element = &self.flow.friction.elements[f];
            (element.first, element.slips, element.constraint)
        };
        match self.flow.friction.grip[f] {
            Grip::Off => None,
            Grip::Slide(_) => {
                // The slip along its direction where the step begins.
                let direction = self.flow.slip_direction(f);
                let noise = self.no_slip(f).max(f64::MIN_POSITIVE);
                let n = self.flow.slip_series(first).len();
                let c = &mut self.buffers.c[..n];
                c.fill(0.0);
                for k in 0..count {
                    let series = self.flow.slip_series(first + k);
                    c.iter_mut().zip(series).for_each(|(c, u)| *c += direction[k] * u);
                }
                let found = first_negative_from_zero(&mut self.roots, c, s, noise, tick)?;
                Some((found, Event::Stop(f)))
            }
            Grip::Stick => {
                let place = |row: usize| self.flow.working().iter().position(|&w| w == row);
                let mut forces = [[0.0; MAX_DEGREE]; 2];
                let n = self.flow.order;
                for (k, force) in forces.iter_mut().enumerate().take(count) {
                    // (A slip that follows from other rows has no force of its own.)
                    let held = place(self.flow.slip_row(first + k))?;
                    force[..n].copy_from_slice(self.flow.reaction(held));
                }
                let limit = self.flow.sticking_limit(f, constraint.map(place));
                let mut found = None;
                let mut earliest = s;
                let size = polynomial::largest_term(&limit[..n], s);
                let edge = self.rubbing.edge[f];
                let mut look = |roots: &mut Roots, c: &[f64], scale: f64, direction: Option<[f64; 2]>| {
                    // (On the edge until the limit is clearly exceeded.)
                    let at = match edge {
                        true => roots.first_negative(c, earliest, 2.0 * EDGE * scale),
                        false => first_negative_from_zero(roots, c, earliest, 1e-13 * scale, tick),
                    };
                    if let Some(at) = at {
                        earliest = at;
                        found = Some((at, direction));
                    }
                };
                if count == 1 {
                    for sign in [1.0, -1.0] {
                        let c = &mut self.buffers.c[..n];
                        c.iter_mut().enumerate().for_each(|(j, c)| *c = limit[j] - sign * forces[0][j]);
                        // The force resists the slip that it cannot hold.
                        look(&mut self.roots, c, size, Some([-sign, 0.0]));
                    }
                } else {
                    let square = |a: &[f64], j: usize| (0..=j).map(|i| a[i] * a[j - i]).sum::<f64>();
                    let c = &mut self.buffers.c[..n];
                    for (j, c) in c.iter_mut().enumerate() {
                        *c = square(&limit, j) - square(&forces[0], j) - square(&forces[1], j);
                    }
                    look(&mut self.roots, c, size * size, None);
                }
                let (at, direction) = found?;
                let direction = direction.unwrap_or_else(|| {
                    let pull = [value(&forces[0][..n], at), value(&forces[1][..n], at)];
                    let size = pull[0].hypot(pull[1]);
                    [-pull[0] / size, -pull[1] / size]
                });
                Some((at, Event::Slip { friction: f, direction }))
            }
        }
    }

    /// Where a closed gap that is free to open closes again; 0 if it does not open at all. Where a step is too long to tell,
    /// the error says how far it may go.
    fn reopening(&mut self, a: usize, h: f64) -> Result<Option<f64>, f64> {
        if self.implied[a] {
            return Ok(None);
        }
        let n = self.flow.order + 1;
        let (still, tick) = (self.still(a), self.tick());
        let c = &mut self.buffers.c[..n];
        c.copy_from_slice(&self.flow.gap(a)[..n]);
        c[0] = 0.0;
        if c[1].abs() <= still {
            c[1] = 0.0;
        }
        let floor = uncertainty(c, h);
        // Accelerations of the step: one that is nothing beside them is rounding.
        let pressing = self.flow.gamma[a].abs() + self.flow.gradients.dot_abs(a, &self.flow.free);
        let pressing = pressing.max(polynomial::largest_term(&c[2..], 0.1 * self.search));
        let is_moving = |k: usize| match k {
            1 => c[1] != 0.0,
            _ => c[k].abs() > 1e-12 * pressing && c[k].abs() > 3.0 * tick * c[k + 1].abs(),
        };
        // A velocity, or an acceleration, that is there decides, however small it is beside the later terms of a long step.
        match (1..=2).find(|&k| is_moving(k)) {
            Some(k) if c[k] < 0.0 => Ok(Some(0.0)),
            Some(k) => {
                let rises = c[k] * h.powi(k as i32);
                if floor > 1e-6 * rises && !self.undecided && !self.flow.is_rough {
                    return Err(0.1 * h);
                }
                Ok(self.roots.first_negative(&c[k..], h, 0.0))
            }
            None => Ok(first_negative_from_zero(&mut self.roots, c, h, self.noise[a].max(floor), tick)),
        }
    }

    /// Notes gaps that come within the tolerance of zero between the ends of a step and open again.
    pub(super) fn note_grazes(&mut self, s: f64) {
        let mut grazes: Vec<(f64, usize)> = Vec::new();
        for a in 0..self.touch.len() {
            let near = 2.0 * self.near(a);
            let c = self.flow.gap(a);
            if self.touch[a] != Touch::Open || self.far[a] || c[0] <= near || value(c, s) <= near {
                continue;
            }
            let lowered = &mut self.buffers.c[..c.len()];
            lowered.copy_from_slice(c);
            lowered[0] -= 0.5 * near;
            if let Some(dip) = self.roots.first_negative(lowered, s, 0.0) {
                grazes.push((self.t + polynomial::bottom(c, dip, s), a));
            }
        }
        grazes.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(&(t, a)) = grazes.first() {
            self.vary_grazes(t, a);
        }
        if self.record.out.keep.has(Keep::TIMELINE) {
            grazes.iter().for_each(|&(t, a)| self.record.out.timeline.graze(t, a));
        }
    }
}
