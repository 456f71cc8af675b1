//! Free steps of all lanes at once, as long as no constraint can act.

use super::super::linear::{LinearCode, ROOM};
use super::super::rows::Rows;
use super::super::vector::{any, each, larger, smaller, turned};
use super::rule::Rule;
use multiversion::multiversion;
use saltus_expr::{Lane, choose};

/// Where W trajectories are, and what a free step does to them.
#[derive(Debug)]
pub struct Pace<const W: usize> {
    d: usize,
    next: Rows<W>,
    trigger: Rows<W>,
    gaps: Rows<W>,
    /// cos ωh, sin ωh of each harmonic.
    turn: Vec<[Lane<W>; 2]>,
    /// Whether a lane has a trajectory: 1 or 0.
    pub goes: Lane<W>,
    /// (q, u, 1, cos, sin, …) now, and before the last step.
    pub z: Vec<Lane<W>>,
    pub before: Vec<Lane<W>>,
    /// The largest sizes of q and u, where somebody wants them, and the least value of any gap, since they were forgotten.
    pub largest: Vec<Lane<W>>,
    pub least: Lane<W>,
}

impl<const W: usize> Pace<W> {
    pub fn new(code: &LinearCode, pattern: &Rule, wants_largest: bool) -> Self {
        let zeros = |k: usize| vec![Lane::all(0.0); k];
        Pace {
            d: code.d,
            next: Rows::new(pattern.next.iter().copied()),
            trigger: Rows::new(pattern.trigger.iter().copied()),
            gaps: Rows::new(code.pattern.gaps.iter().copied()),
            turn: vec![[Lane::all(0.0); 2]; code.harmonics],
            goes: Lane::all(0.0),
            z: zeros(code.size()),
            before: zeros(code.size()),
            largest: zeros(if wants_largest { 2 * code.d } else { 0 }),
            least: Lane::all(f64::INFINITY),
        }
    }

    /// The constants of a trajectory in lane l.
    pub fn load(&mut self, l: usize, rule: &Rule, linear: &super::super::linear::Linear, h: f64) {
        rule.next.iter().enumerate().for_each(|(k, row)| _ = self.next.put(k, l, row));
        rule.trigger.iter().enumerate().for_each(|(a, row)| _ = self.trigger.put(a, l, row));
        linear.gaps.iter().enumerate().for_each(|(a, row)| _ = self.gaps.put(a, l, row));
        for (turn, &[_, rate]) in self.turn.iter_mut().zip(&linear.phases) {
            (turn[1].0[l], turn[0].0[l]) = (rate * h).sin_cos();
        }
    }

    /// Makes up to so many steps in all lanes; it stops after one in which a constraint may act. How many there were, and the lanes in which
    /// one may: those that are not positive.
    pub fn run(&mut self, steps: usize) -> (usize, [f64; W]) {
        run(self, steps)
    }

    /// Takes the state of lane l, or that before its last step, out.
    pub fn column(&self, l: usize, is_before: bool) -> [f64; ROOM] {
        let mut column = [0.0; ROOM];
        let state = if is_before { &self.before } else { &self.z };
        column.iter_mut().zip(state).for_each(|(x, z)| *x = z.0[l]);
        column
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn run<const W: usize>(pace: &mut Pace<W>, steps: usize) -> (usize, [f64; W]) {
    let d = pace.d;
    let Pace { next, trigger, gaps, turn, goes, z, before, largest, least, .. } = pace;
    let m = gaps.len();
    let mut low = *least;
    let mut made = 0;
    let mut lowest = Lane::<W>::all(1.0);
    while made < steps {
        made += 1;
        for (most, z) in largest.iter_mut().zip(z.iter()) {
            *most = each(|l| larger(most[l], z[l].abs()));
        }
        lowest = Lane::all(f64::INFINITY);
        for a in 0..m {
            let (gap, ahead) = (gaps.product(a, z), trigger.product(a, z));
            low = each(|l| smaller(low[l], gap[l]));
            lowest = each(|l| smaller(lowest[l], ahead[l]));
        }
        for i in 0..2 * d {
            before[i] = next.product(i, z);
        }
        before[2 * d] = z[2 * d];
        for (j, [cos, sin]) in turn.iter().enumerate() {
            let at = 2 * d + 1 + 2 * j;
            (before[at], before[at + 1]) = turned(&z[at], &z[at + 1], cos, sin);
        }
        std::mem::swap(z, before);
        let closed: Lane<W> = each(|l| choose(lowest[l] <= 0.0, goes[l], 0.0));
        if any(&closed) {
            break;
        }
    }
    *least = low;
    (made, lowest.0)
}
