//! Coulomb friction at the stops of a structure.
//!
//! At node n a stop with the impulse P has a friction impulse with |P_T| ≤ μ P, opposed to the slip t·(u^{n+1} − u^n) of the step that
//! follows: it sticks, or slides with all of it. In space there are two slips, and P_T lies in a disc. Energies live between the nodes
//! then, where its work at a node is P_T·(slip before + slip after)/2h: springs beside it act with their whole weight at the nodes, too.

use super::stop_law::StopLaw;
use crate::motion::Rubbed;

/// Inner sweeps over the two slips of one stop.
const INNER: usize = 8;

/// The stops with friction, and what it did.
pub(super) struct Rubbing {
    h: f64,
    list: Vec<Contact>,
    /// Slips of the step without contact.
    pub free: Vec<f64>,
    done: Vec<Rubbed>,
}

struct Contact {
    stop: usize,
    coefficient: f64,
    is_rough: bool,
    /// The first of its slips and how many they are, and the points: around a hole, the second of its two.
    first: usize,
    points: Vec<usize>,
}

impl Rubbing {
    pub fn new(laws: &[StopLaw], h: f64) -> Self {
        let (mut list, mut done, mut first) = (Vec::new(), Vec::new(), 0);
        for (stop, law) in laws.iter().enumerate() {
            // What is in a hole may slip around it, rough or not.
            let around = law.hole.iter().map(|hole| hole.points[1]);
            let points: Vec<usize> = around.chain(law.friction.iter().flat_map(|r| r.slides.iter().copied())).collect();
            if !points.is_empty() {
                let coefficient = law.friction.as_ref().map_or(0.0, |rub| rub.coefficient);
                done.push(Rubbed { stop, coefficient, ..Rubbed::default() });
                let count = points.len();
                list.push(Contact { stop, coefficient, is_rough: law.friction.is_some(), first, points });
                first += count;
            }
        }
        Rubbing { h, list, free: vec![0.0; first], done }
    }

    /// The first slip of a stop.
    pub fn first_of(&self, stop: usize) -> Option<usize> {
        self.list.iter().find(|c| c.stop == stop).map(|c| c.first)
    }

    /// The slips of a stop along the points that it names: those of its friction, without the way around a hole.
    pub fn slides_of(&self, stop: usize, is_round: bool) -> impl Iterator<Item = usize> + '_ {
        let own = self.list.iter().filter(move |c| c.stop == stop && c.is_rough);
        own.flat_map(move |c| (c.first + usize::from(is_round))..(c.first + c.points.len()))
    }

    /// What friction did, where there is some.
    pub fn done(&self) -> Vec<Rubbed> {
        let all = self.list.iter().zip(&self.done);
        all.filter(|(contact, _)| contact.is_rough).map(|(_, done)| *done).collect()
    }

    /// The points of all slips, in order.
    pub fn points(&self) -> impl Iterator<Item = usize> + '_ {
        self.list.iter().flat_map(|c| c.points.iter().copied())
    }

    /// The friction of a stop that presses with an impulse; by how much slips changed. Rows of slips stand behind those of the `m`
    /// stops.
    pub fn rub(&self, stop: usize, normal: f64, m: usize, gram: &[f64], multipliers: &mut [f64]) -> f64 {
        let Some(contact) = self.list.iter().find(|c| c.stop == stop) else { return 0.0 };
        let (all, limit) = (multipliers.len(), contact.coefficient * normal);
        let slip = |j: usize, multipliers: &[f64]| {
            let row = &gram[j * all..(j + 1) * all];
            self.free[j - m] + row.iter().zip(multipliers).map(|(g, p)| g * p).sum::<f64>()
        };
        let i = m + contact.first;
        if contact.points.len() == 1 {
            let (own, old) = (gram[i * all + i], multipliers[i]);
            let stick = old - slip(i, multipliers) / own;
            multipliers[i] = stick.clamp(-limit, limit);
            return (multipliers[i] - old).abs() * own;
        }
        // In the disc: steps against the slip, as long as the largest eigenvalue of the two allows.
        let j = i + 1;
        let (a, b, c) = (gram[i * all + i], gram[i * all + j], gram[j * all + j]);
        let largest = 0.5 * (a + c) + (0.5 * (a - c)).hypot(b);
        let mut moved = 0.0_f64;
        for _ in 0..INNER {
            let (x, y) = (multipliers[i], multipliers[j]);
            let mut next = [x - slip(i, multipliers) / largest, y - slip(j, multipliers) / largest];
            let length = next[0].hypot(next[1]);
            if length > limit {
                next = next.map(|p| p * limit / length);
            }
            (multipliers[i], multipliers[j]) = (next[0], next[1]);
            let change = (next[0] - x).hypot(next[1] - y) * largest;
            moved = moved.max(change);
            if change == 0.0 {
                break;
            }
        }
        moved
    }

    /// Heat at a node, in the step before it and in the one after, whose slips are given; what the summary says of each stop.
    pub fn account(
        &mut self,
        slip: impl Fn(usize) -> (f64, f64),
        m: usize,
        multipliers: &[f64],
        is_first: bool,
    ) -> (f64, f64) {
        let (mut earlier, mut later) = (0.0, 0.0);
        for (contact, done) in self.list.iter().zip(&mut self.done) {
            let slips = m + contact.first..m + contact.first + contact.points.len();
            if multipliers[contact.stop] == 0.0 {
                continue;
            }
            let (mut now, mut heat) = (0.0_f64, [0.0; 2]);
            for j in slips {
                let (first, second) = slip(j);
                // P/h is the force; half of it belongs to each of the two steps (the first step has one side only).
                let force = multipliers[j] / self.h;
                heat[0] -= if is_first { 0.0 } else { 0.5 * force * first };
                heat[1] -= if is_first { force * second } else { 0.5 * force * second };
                now = now.hypot(second);
            }
            earlier += heat[0];
            later += heat[1];
            done.work += heat[0] + heat[1];
            done.distance += now;
            // What sticks moves by rounding only.
            let reach = self.free.iter().fold(0.0_f64, |s, x| s.max(x.abs()));
            if now > 1e-9 * reach { done.slid += self.h } else { done.stuck += self.h }
        }
        (earlier, later)
    }
}
