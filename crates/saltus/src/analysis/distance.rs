//! How far apart two motions are.

use crate::motion::Cursor;
use crate::{Side, Trajectory};

/// The distance between two motions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// The largest difference of a displacement at any time.
    pub position: f64,
    /// When that is.
    pub at: f64,
    /// ∫ |v₁ − v₂| dt, the largest over the coordinates: a shifted impact counts by its shift times its jump.
    pub velocity: f64,
    /// The largest difference of a first-order state at any time, relative to the largest value it takes.
    pub state: f64,
}

/// The distance between two motions over the time that both cover, at the stored instants of both.
///
/// Velocities are compared on each side of every instant, so a jump is never smeared.
///
/// ```
/// use saltus::{Options, analysis::distance, model::Builder};
/// let free = |v: f64| {
///     let problem = Builder::new("free").coordinate("x", 0.0, v).kinetic("x'^2/2").build()?.problem()?;
///     Ok::<_, saltus::SetupError>(problem.run(&Options::events(2.0))?.trajectory)
/// };
/// let d = distance(&free(1.0)?, &free(1.5)?);
/// assert!((d.position - 1.0).abs() < 1e-12 && (d.velocity - 1.0).abs() < 1e-12);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn distance(a: &Trajectory, b: &Trajectory) -> Distance {
    let mut result = Distance::default();
    let (Some((from_a, end_a)), Some((from_b, end_b))) = (a.span(), b.span()) else { return result };
    let (from, end) = (from_a.max(from_b), end_a.min(end_b));
    let degrees = a.degrees().min(b.degrees());
    let moves = |k: usize| !a.is_force(k) && !b.is_force(k);
    let states = (a.dimension() - a.degrees()).min(b.dimension() - b.degrees());
    let buffer = || vec![0.0; degrees];
    let of = |motion: &Trajectory| (vec![0.0; motion.dimension()], vec![0.0; motion.dimension()]);
    let ((mut qa, mut va), (mut qb, mut vb)) = (of(a), of(b));
    let mut state = vec![0.0_f64; states];
    let (mut area, mut start, mut before) = (buffer(), buffer(), f64::NAN);
    let (mut cursor_a, mut cursor_b) = (Cursor::new(a, Side::Left), Cursor::new(b, Side::Left));
    let (mut i, mut j) = (0, 0);
    // The stored instants of both, in order, each once.
    while i < a.len() || j < b.len() {
        let t = match (a.t.get(i), b.t.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) => x,
            (None, Some(&y)) => y,
            (None, None) => break,
        };
        i += usize::from(a.t.get(i) == Some(&t));
        j += usize::from(b.t.get(j) == Some(&t));
        if t < from {
            continue;
        }
        if t > end {
            break;
        }
        cursor_a.read_on(t, Side::Left, &mut qa, &mut va);
        cursor_b.read_on(t, Side::Left, &mut qb, &mut vb);
        for (k, state) in state.iter_mut().enumerate() {
            let apart = (va[a.degrees() + k] - vb[b.degrees() + k]).abs();
            if !(apart <= *state) {
                *state = apart;
            }
        }
        for k in (0..degrees).filter(|&k| moves(k)) {
            let apart = (qa[k] - qb[k]).abs();
            if !(apart <= result.position) {
                (result.position, result.at) = (apart, t);
            }
            if before.is_finite() {
                area[k] += 0.5 * (t - before) * (start[k] + (va[k] - vb[k]).abs());
            }
        }
        cursor_a.read_on(t, Side::Right, &mut qa, &mut va);
        cursor_b.read_on(t, Side::Right, &mut qb, &mut vb);
        for k in 0..degrees {
            start[k] = (va[k] - vb[k]).abs();
        }
        before = t;
    }
    result.velocity = area.into_iter().fold(0.0, f64::max);
    let largest = |k: usize| {
        let of = |motion: &Trajectory| (0..motion.len()).fold(0.0_f64, |m, i| m.max(motion.states(i)[k].abs()));
        of(a).max(of(b))
    };
    for (k, apart) in state.into_iter().enumerate().filter(|(_, apart)| *apart != 0.0) {
        result.state = result.state.max(apart / largest(k).max(f64::MIN_POSITIVE));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball that meets the wall at `hit` and returns with the same speed.
    fn bounce(hit: f64, step: f64) -> Trajectory {
        let mut motion = Trajectory::new(1);
        let mut k = 0.0;
        while k * step < 2.0 + 1e-9 {
            let t: f64 = k * step;
            let v = if t <= hit { -1.0 } else { 1.0 };
            motion.push(t, &[(t - hit).abs()], &[v]);
            if t < hit && hit < (k + 1.0) * step {
                motion.push_jump(hit, &[0.0], &[-1.0], &[1.0]);
            }
            k += 1.0;
        }
        motion
    }

    #[test]
    fn a_shifted_impact_counts_by_its_shift() {
        let d = distance(&bounce(1.003, 0.01), &bounce(1.013, 0.0101));
        assert!((d.position - 0.01).abs() < 1e-12, "{d:?}");
        // The velocities differ by 2 during 0.01.
        assert!((d.velocity - 0.02).abs() < 1e-9, "{d:?}");
        assert_eq!(distance(&bounce(1.003, 0.01), &bounce(1.003, 0.01)), Distance { at: 0.0, ..Distance::default() });
    }
}
