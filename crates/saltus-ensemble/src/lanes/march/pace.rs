//! Free steps of all lanes at once, some of them in one leap, as long as no constraint can act.

use super::super::linear::{LinearCode, ROOM, Row};
use super::super::vector::{larger, smaller, turned};
use super::leap::{LEAP, Leap};
use saltus_expr::Lane;

/// Where W trajectories are, and what a leap of free steps does to them.
#[derive(Debug)]
pub struct Pace<const W: usize> {
    next: Dense<W>,
    /// What says whether a constraint can act in one of the steps, and the gaps at their nodes where somebody wants them.
    trigger: Dense<W>,
    gaps: Dense<W>,
    /// cos and sin of what each harmonic advances by.
    turn: Vec<[Lane<W>; 2]>,
    /// (q, u, 1, cos, sin, …).
    z: Vec<Lane<W>>,
    /// The largest sizes of q and u at the ends of leaps, where somebody wants them, and the least value of any gap, since they were forgotten.
    largest: Vec<Lane<W>>,
    least: Lane<W>,
    run: Run<W>,
}

/// Makes leaps.
type Run<const W: usize> = fn(&mut Pace<W>, usize) -> (usize, [f64; W]);

impl<const W: usize> Pace<W> {
    pub fn new(code: &LinearCode, needs_gaps: bool, wants_largest: bool) -> Self {
        let n = code.size();
        Pace {
            next: Dense::new(2 * code.d, n),
            trigger: Dense::new(LEAP * code.m, n),
            gaps: Dense::new(if needs_gaps { LEAP * code.m } else { 0 }, n),
            turn: vec![[Lane::all(0.0); 2]; code.harmonics],
            z: vec![Lane::all(0.0); n],
            largest: vec![Lane::all(0.0); if wants_largest { 2 * code.d } else { 0 }],
            least: Lane::all(f64::INFINITY),
            // (Where their number is known to the compiler, sums over columns have no loop.)
            run: match n {
                3 => |pace, leaps| run::<W, 3>(pace, leaps),
                5 => |pace, leaps| run::<W, 5>(pace, leaps),
                7 => |pace, leaps| run::<W, 7>(pace, leaps),
                _ => |pace, leaps| run::<W, 0>(pace, leaps),
            },
        }
    }

    /// The constants of a trajectory in lane l; `phases`: the rate of each harmonic times the step.
    pub fn load(&mut self, l: usize, leap: &Leap, phases: impl Iterator<Item = f64>) {
        self.next.put(l, &leap.next);
        self.trigger.put(l, &leap.trigger);
        self.gaps.put(l, &leap.gaps);
        for (turn, phase) in self.turn.iter_mut().zip(phases) {
            (turn[1].0[l], turn[0].0[l]) = (LEAP as f64 * phase).sin_cos();
        }
    }

    /// Lane l has no trajectory: nothing can act in it.
    pub fn clear(&mut self, l: usize) {
        let moving = self.next.count();
        let mut open = [0.0; ROOM];
        open[moving] = 1.0;
        self.next.put(l, &vec![[0.0; ROOM]; moving]);
        self.trigger.put(l, &vec![open; self.trigger.count()]);
        self.gaps.put(l, &vec![open; self.gaps.count()]);
        self.turn.iter_mut().flatten().for_each(|turn| turn.0[l] = 0.0);
        self.z.iter_mut().for_each(|z| z.0[l] = 0.0);
        self.z[moving].0[l] = 1.0;
    }

    /// Makes up to so many leaps in all lanes, and none in which a constraint may act in any lane. How many there were, and the lanes in which one may:
    /// those that are not positive.
    pub fn run(&mut self, leaps: usize) -> (usize, [f64; W]) {
        (self.run)(self, leaps)
    }

    /// The largest sizes and the least gap of lane l since they were forgotten.
    pub fn seen(&self, l: usize) -> (Row, f64) {
        let mut largest = [0.0; ROOM];
        largest.iter_mut().zip(&self.largest).for_each(|(x, most)| *x = most.0[l]);
        (largest, self.least.0[l])
    }

    /// Forgets them.
    pub fn forget(&mut self, l: usize) {
        self.largest.iter_mut().for_each(|x| x.0[l] = 0.0);
        self.least.0[l] = f64::INFINITY;
    }

    /// Takes the state of lane l out.
    pub fn column(&self, l: usize) -> Row {
        let mut column = [0.0; ROOM];
        column.iter_mut().zip(&self.z).for_each(|(x, z)| *x = z.0[l]);
        column
    }

    /// Puts it back.
    pub fn put(&mut self, l: usize, column: &Row) {
        self.z.iter_mut().zip(column).for_each(|(z, x)| z.0[l] = *x);
    }
}

/// Rows of coefficients of all of z, one number for each lane.
#[derive(Debug)]
struct Dense<const W: usize> {
    width: usize,
    coefficients: Vec<Lane<W>>,
}

impl<const W: usize> Dense<W> {
    fn new(count: usize, width: usize) -> Self {
        Dense { width, coefficients: vec![Lane::all(0.0); count * width] }
    }

    fn count(&self) -> usize {
        self.coefficients.len() / self.width
    }

    /// All rows of lane l.
    fn put(&mut self, l: usize, rows: &[Row]) {
        for (own, row) in self.coefficients.chunks_exact_mut(self.width).zip(rows) {
            own.iter_mut().zip(row).for_each(|(own, x)| own.0[l] = *x);
        }
    }

    #[inline(always)]
    fn rows(&self, width: usize) -> impl Iterator<Item = &[Lane<W>]> {
        self.coefficients.chunks_exact(width)
    }
}

#[inline(always)]
fn product<const W: usize>(row: &[Lane<W>], z: &[Lane<W>]) -> Lane<W> {
    let mut sum = Lane::all(0.0);
    for (c, z) in row.iter().zip(z) {
        for l in 0..W {
            sum.0[l] += c.0[l] * z.0[l];
        }
    }
    sum
}

/// Makes leaps: see [`Pace::run`]. `N`: the components of z, 0 where the compiler does not know them.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn run<const W: usize, const N: usize>(pace: &mut Pace<W>, leaps: usize) -> (usize, [f64; W]) {
    let n = if N == 0 { pace.z.len() } else { N };
    let moving = pace.next.count();
    let mut z = [Lane::all(0.0); ROOM];
    let mut new = [Lane::all(0.0); ROOM];
    z[..n].copy_from_slice(&pace.z[..n]);
    let (mut made, mut ahead) = (0, [f64::INFINITY; W]);
    while made < leaps {
        let mut lowest = [f64::INFINITY; W];
        for row in pace.trigger.rows(n) {
            let trigger = product(row, &z[..n]);
            for l in 0..W {
                lowest[l] = smaller(lowest[l], trigger.0[l]);
            }
        }
        if lowest.iter().any(|x| *x <= 0.0) {
            ahead = lowest;
            break;
        }
        for row in pace.gaps.rows(n) {
            let gap = product(row, &z[..n]);
            for l in 0..W {
                pace.least.0[l] = smaller(pace.least.0[l], gap.0[l]);
            }
        }
        for (most, z) in pace.largest.iter_mut().zip(&z) {
            for l in 0..W {
                most.0[l] = larger(most.0[l], z.0[l].abs());
            }
        }
        for (new, row) in new.iter_mut().zip(pace.next.rows(n)) {
            *new = product(row, &z[..n]);
        }
        for (k, [cos, sin]) in pace.turn.iter().enumerate() {
            let at = moving + 1 + 2 * k;
            (z[at], z[at + 1]) = turned(&z[at], &z[at + 1], cos, sin);
        }
        z[..moving].copy_from_slice(&new[..moving]);
        made += 1;
    }
    pace.z.copy_from_slice(&z[..n]);
    (made, ahead)
}
