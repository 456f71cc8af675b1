//! A motion with as many instants as its curves need to look smooth.
//!
//! A run by events leaves polynomials, which are known everywhere; it stores instants for files, often a thousand in all. Curves
//! drawn through those alone are polygons. Here further instants are read from the polynomials where a straight line between two
//! instants would differ visibly from a position or a velocity.

use saltus::motion::Cursor;
use saltus::{Side, Trajectory};
use std::borrow::Cow;

/// The largest deviation of a straight line from a curve, as a share of the height of the curve.
const TOLERANCE: f64 = 1.0 / 2500.0;
/// An interval is halved at most this often.
const DEPTH: u32 = 9;
/// The number of parts of an interval in which turning points are looked for.
const PARTS: usize = 4;
/// The largest amount of numbers in a refined motion.
const MAX_NUMBERS: usize = 1_500_000;
/// Where in an interval the curve is compared with the straight line; not the middle, where the two may cross.
const PROBES: [f64; 2] = [0.31, 0.64];

/// Which instants are added.
#[derive(Clone, Copy)]
enum Further {
    /// Those that make the curves smooth.
    Smooth,
    /// Those at which a coordinate turns, for long runs, whose curves over time are mere bands with extrema as their edges.
    Turning,
}

/// The same motion with further instants between the stored ones, so that curves through them look smooth. A motion without
/// polynomials is returned as it is; to one that would need too many instants only those are added at which a coordinate turns.
///
/// ```
/// use saltus::{Options, model::Builder};
/// let spring = Builder::new("spring").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("x^2/2").build()?.problem()?;
/// let run = spring.run(&Options::events(20.0).step(20.0))?;
/// assert!(run.trajectory.len() == 2 && saltus_report::refined(&run.trajectory).len() > 100);
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[must_use]
pub fn refined(motion: &Trajectory) -> Cow<'_, Trajectory> {
    let start = f64::NEG_INFINITY;
    match since(motion, start, Further::Smooth).or_else(|| since(motion, start, Further::Turning)) {
        Some(mut fine) => {
            // Reactions are read from the polynomials.
            fine.pieces = motion.pieces.clone();
            Cow::Owned(fine)
        }
        None => Cow::Borrowed(motion),
    }
}

/// The refined motion, or, if that would be too long, the refined last part of it. For curves in a plane: thinned in time such a
/// curve would be a polygon again, so it is shorter instead.
pub fn refined_end(motion: &Trajectory) -> Cow<'_, Trajectory> {
    if motion.pieces.is_empty() {
        return Cow::Borrowed(motion);
    }
    let mut from = f64::NEG_INFINITY;
    let mut kept = motion.len() + motion.pieces.len();
    while kept > 100 {
        if let Some(fine) = since(motion, from, Further::Smooth) {
            return Cow::Owned(fine);
        }
        kept /= 4;
        let nth_last = |t: &[f64]| t.len().checked_sub(kept).map_or(f64::NEG_INFINITY, |k| t[k]);
        from = nth_last(&motion.t).max(nth_last(motion.pieces.starts()));
    }
    Cow::Borrowed(motion)
}

/// The refined motion from a time on; None if there are no polynomials or too many instants would be needed.
fn since(motion: &Trajectory, from: f64, further: Further) -> Option<Trajectory> {
    let d = motion.dimension();
    if motion.pieces.is_empty() || d == 0 {
        return None;
    }
    let times = instants(motion, from);
    let max = MAX_NUMBERS / (2 * d + 1);
    if times.len() > max {
        return None;
    }
    let mut refiner = Refiner::new(motion, &times);
    let mut fine = Trajectory::new(d).with_states(d - motion.degrees());
    let mut stored = motion.t.partition_point(|&t| t < from);
    let mut here = refiner.read(times.first().copied()?, Side::Right)?;
    for (k, &t) in times.iter().enumerate() {
        // Several stored instants may have the same time.
        while motion.t.get(stored) == Some(&t) {
            let (left, right) = (motion.v(stored, Side::Left), motion.v(stored, Side::Right));
            fine.push_instant(t, motion.q(stored), left, right).ok()?;
            stored += 1;
        }
        if fine.t.last() != Some(&t) {
            fine.push_instant(t, &here.q, &here.v, &here.v).ok()?;
        }
        let Some(&next) = times.get(k + 1) else { break };
        let (start, end) = (refiner.read(t, Side::Right)?, refiner.read(next, Side::Left)?);
        match further {
            Further::Smooth => refiner.between(&start, &end, DEPTH, &mut fine),
            Further::Turning => refiner.turning(&start, &end, &mut fine),
        }
        if fine.len() > max {
            return None;
        }
        here = end;
    }
    fine.impacts = motion.impacts.clone();
    // (Which coordinates are forces.)
    fine.history = motion.history.clone();
    fine.contacts.clone_from(&motion.contacts);
    Some(fine)
}

/// The stored instants and the starts of the polynomials from a time on, in order, each once.
fn instants(motion: &Trajectory, from: f64) -> Vec<f64> {
    let Some((first, last)) = motion.span() else { return Vec::new() };
    let inside = |t: &&f64| **t >= from.max(first) && **t <= last;
    let mut times: Vec<f64> = motion.t.iter().chain(motion.pieces.starts()).filter(inside).copied().collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    times
}

/// A state of the motion.
struct State {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
}

/// Halves intervals until straight lines are close to the motion.
struct Refiner<'a> {
    d: usize,
    left: Cursor<'a>,
    right: Cursor<'a>,
    /// The deviation of each position, then of each velocity, that cannot be seen.
    invisible: Vec<f64>,
}

impl<'a> Refiner<'a> {
    fn new(motion: &'a Trajectory, times: &[f64]) -> Self {
        let d = motion.dimension();
        let (left, right) = (motion.cursor(Side::Left), motion.cursor(Side::Right));
        let mut refiner = Refiner { d, left, right, invisible: Vec::new() };
        let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); 2 * d];
        for state in times.iter().filter_map(|&t| refiner.read(t, Side::Right)) {
            for (range, &x) in ranges.iter_mut().zip(state.q.iter().chain(&state.v)) {
                *range = (range.0.min(x), range.1.max(x));
            }
        }
        // What does not change but for rounding is not refined.
        let height = |&(low, high): &(f64, f64)| {
            let height = high - low;
            if height > 1e-12 * low.abs().max(high.abs()) { TOLERANCE * height } else { f64::INFINITY }
        };
        refiner.invisible = ranges.iter().map(height).collect();
        // The integral of a state is not shown.
        refiner.invisible[motion.degrees()..d].fill(f64::INFINITY);
        refiner
    }

    fn read(&mut self, t: f64, side: Side) -> Option<State> {
        let (mut q, mut v) = (vec![0.0; self.d], vec![0.0; self.d]);
        let cursor = if side == Side::Left { &mut self.left } else { &mut self.right };
        cursor.read(t, &mut q, &mut v).ok()?;
        Some(State { t, q, v })
    }

    /// Adds instants strictly between two states.
    fn between(&mut self, a: &State, b: &State, depth: u32, fine: &mut Trajectory) {
        let middle = 0.5 * (a.t + b.t);
        if depth == 0 || !(a.t < middle && middle < b.t) || PROBES.iter().all(|&s| self.is_straight(a, b, s)) {
            return;
        }
        let Some(state) = self.read(middle, Side::Right) else { return };
        self.between(a, &state, depth - 1, fine);
        // In order and of the same dimension, as it was read from the motion.
        let _ = fine.push_instant(middle, &state.q, &state.v, &state.v);
        self.between(&state, b, depth - 1, fine);
    }

    /// Adds the instants between two states at which the velocity of a coordinate changes its sign.
    fn turning(&mut self, a: &State, b: &State, fine: &mut Trajectory) {
        let mut times = Vec::new();
        let mut before = (a.t, a.v.clone());
        for part in 1..=PARTS {
            let t = a.t + (b.t - a.t) * part as f64 / PARTS as f64;
            let side = if part == PARTS { Side::Left } else { Side::Right };
            let Some(state) = self.read(t.min(b.t), side) else { return };
            for i in (0..self.d).filter(|&i| before.1[i] * state.v[i] < 0.0) {
                let (mut low, mut high) = (before.0, state.t);
                for _ in 0..24 {
                    let middle = 0.5 * (low + high);
                    let Some(here) = self.read(middle, Side::Right) else { return };
                    if here.v[i] * state.v[i] < 0.0 { low = middle } else { high = middle }
                }
                times.push(high);
            }
            before = (state.t, state.v);
        }
        times.retain(|t| *t > a.t && *t < b.t);
        times.sort_by(f64::total_cmp);
        times.dedup();
        for t in times {
            if let Some(state) = self.read(t, Side::Right) {
                let _ = fine.push_instant(t, &state.q, &state.v, &state.v);
            }
        }
    }

    fn is_straight(&mut self, a: &State, b: &State, s: f64) -> bool {
        let Some(state) = self.read(a.t + s * (b.t - a.t), Side::Right) else { return true };
        let ends = a.q.iter().chain(&a.v).zip(b.q.iter().chain(&b.v));
        let values = state.q.iter().chain(&state.v).zip(&self.invisible);
        ends.zip(values).all(|((a, b), (x, invisible))| !((a + s * (b - a) - x).abs() > *invisible))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::{Options, model::Builder};

    /// A ball thrown at a floor, stored at two instants besides its impacts; exact motion y = y0 + v0 s − s²/2 in each flight.
    fn ball() -> Trajectory {
        let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("y");
        let ball = ball.restitution(0.9).constraint("floor", "y").build().and_then(|m| m.problem()).expect("a model");
        ball.run(&Options::events(4.0).step(4.0)).expect("a run").trajectory
    }

    #[test]
    fn straight_lines_between_refined_instants_follow_the_parabolas() {
        let motion = ball();
        assert!(motion.len() < 5, "{}", motion.len());
        let fine = refined(&motion);
        let worst = fine.t.windows(2).enumerate().map(|(k, t)| {
            let middle = 0.5 * (t[0] + t[1]);
            let (exact, _) = motion.at(middle, Side::Right).expect("inside");
            (0.5 * (fine.q(k)[0] + fine.q(k + 1)[0]) - exact[0]).abs()
        });
        assert!(worst.fold(0.0, f64::max) < 1e-3, "{} instants", fine.len());
        assert!(fine.len() > 30 && fine.len() < 300, "{}", fine.len());
        // Jumps are those of the motion, at the same instants with the same limits.
        let jumps = |m: &Trajectory| -> Vec<(f64, f64, f64)> {
            m.jumps().iter().map(|&k| (m.t[k], m.v(k, Side::Left)[0], m.v(k, Side::Right)[0])).collect()
        };
        assert_eq!(jumps(&fine), jumps(&motion));
        assert_eq!(fine.span(), motion.span());
    }

    #[test]
    fn a_long_run_keeps_its_extrema() {
        let free = Builder::new("spring").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
        let problem = free.build().and_then(|m| m.problem()).expect("a model");
        let run = problem.run(&Options::events(500.0).step(500.0)).expect("a run");
        let fine = since(&run.trajectory, f64::NEG_INFINITY, Further::Turning).expect("a motion");
        // One extremum every half period, of size one.
        let extrema = (0..fine.len()).filter(|&k| fine.q(k)[0].abs() > 1.0 - 1e-6).count();
        let count = (500.0 / std::f64::consts::PI).floor() as usize;
        assert!((count..=count + 3).contains(&extrema), "{extrema}");
        assert!(fine.len() < 1_000, "{}", fine.len());
    }

    #[test]
    fn fast_oscillations_between_stored_instants_are_found() {
        let free = Builder::new("spring").coordinate("x", 1.0, 0.0).kinetic("x'^2/2").potential("x^2/2");
        let problem = free.build().and_then(|m| m.problem()).expect("a model");
        let run = problem.run(&Options::events(100.0).step(100.0)).expect("a run");
        let fine = refined(&run.trajectory);
        // No straight line passes through the circle x² + x'² = 1 at more than a hundredth of its radius.
        for k in 1..fine.len() {
            let x = 0.5 * (fine.q(k - 1)[0] + fine.q(k)[0]);
            let v = 0.5 * (fine.v(k - 1, Side::Right)[0] + fine.v(k, Side::Left)[0]);
            assert!(x.hypot(v) > 0.99, "t = {}", fine.t[k]);
        }
    }
}
