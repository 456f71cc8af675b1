//! Curves of a run: positions, velocities with their jumps, phase portraits, gaps, energies, reactions.

use crate::plane::{self, Points};
use crate::thin::{Curve, Jump, Limit, Line, Thinner, largest};
use saltus::{Contact, Impact, Side, Trajectory};

/// A relative difference below this is a rounding error, not a jump.
const ROUNDING: f64 = 1e-13;

fn span(trajectory: &Trajectory) -> (f64, f64) {
    (trajectory.t.first().copied().unwrap_or(0.0), trajectory.t.last().copied().unwrap_or(0.0))
}

pub(crate) fn differs(left: f64, right: f64) -> bool {
    (left - right).abs() > ROUNDING * (left.abs() + right.abs())
}

/// The indices of the instants whose jumps are drawn, selected by `size`.
fn drawn_jumps(trajectory: &Trajectory, limit: Limit, size: impl Fn(usize) -> f64) -> Vec<usize> {
    let jumps: Vec<usize> = trajectory.jumps().iter().copied().filter(|&k| size(k) > 0.0).collect();
    let events: Vec<(f64, f64)> = jumps.iter().map(|&k| (trajectory.t[k], size(k))).collect();
    largest(&events, limit.jumps).into_iter().map(|k| jumps[k]).collect()
}

/// Classifies the stored instants, in order.
struct Walk<'a> {
    jumps: std::iter::Peekable<std::slice::Iter<'a, usize>>,
    drawn: std::iter::Peekable<std::slice::Iter<'a, usize>>,
}

/// What happens at an instant.
enum Instant {
    Smooth,
    Jump,
    DrawnJump,
}

impl<'a> Walk<'a> {
    fn new(trajectory: &'a Trajectory, drawn: &'a [usize]) -> Self {
        Walk { jumps: trajectory.jumps().iter().peekable(), drawn: drawn.iter().peekable() }
    }

    fn at(&mut self, k: usize) -> Instant {
        let drawn = self.drawn.next_if_eq(&&k).is_some();
        match self.jumps.next_if_eq(&&k) {
            None => Instant::Smooth,
            Some(_) if drawn => Instant::DrawnJump,
            Some(_) => Instant::Jump,
        }
    }
}

/// The position of coordinate `i`. Impacts, where it has corners, are always kept.
#[must_use]
pub fn position(trajectory: &Trajectory, i: usize, limit: Limit) -> Line {
    let drawn =
        drawn_jumps(trajectory, limit, |k| (trajectory.v(k, Side::Right)[i] - trajectory.v(k, Side::Left)[i]).abs());
    let mut walk = Walk::new(trajectory, &drawn);
    let mut thin = Thinner::<1>::new(trajectory.len(), span(trajectory), limit);
    let (q, d) = (trajectory.positions(), trajectory.dimension());
    for (k, &t) in trajectory.t.iter().enumerate() {
        match walk.at(k) {
            Instant::DrawnJump => thin.mark(t, [q[k * d + i]]),
            _ => thin.push(t, [q[k * d + i]]),
        }
    }
    thin.finish()
}

/// The velocity of coordinate `i`, with both limits and a break at every jump.
///
/// ```
/// use saltus::{Options, model::Builder};
/// use saltus_report::{Limit, series};
/// let ball = Builder::new("ball").coordinate("y", 1.0, -1.0).kinetic("y'^2/2")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let run = ball.run(&Options::events(2.0))?;
/// let line = series::velocity(&run.trajectory, 0, Limit::default());
/// assert_eq!(line.segments().len(), 2);
/// assert_eq!((line.jumps[0].left, line.jumps[0].right), ([-1.0], [0.5]));
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[must_use]
pub fn velocity(trajectory: &Trajectory, i: usize, limit: Limit) -> Line {
    let size = |k: usize| {
        let (left, right) = (trajectory.v(k, Side::Left)[i], trajectory.v(k, Side::Right)[i]);
        if differs(left, right) { (left - right).abs() } else { 0.0 }
    };
    let drawn = drawn_jumps(trajectory, limit, size);
    let mut walk = Walk::new(trajectory, &drawn);
    let (v, d) = (trajectory.left_velocities(), trajectory.dimension());
    let mut thin = Thinner::<1>::new(trajectory.len(), span(trajectory), limit);
    for (k, &t) in trajectory.t.iter().enumerate() {
        let left = v[k * d + i];
        match walk.at(k) {
            Instant::Smooth => thin.push(t, [left]),
            instant => {
                let right = trajectory.v(k, Side::Right)[i];
                match instant {
                    Instant::DrawnJump => thin.jump(t, [left], [right]),
                    _ if differs(left, right) => thin.pass(t, [left], [right]),
                    _ => thin.push(t, [left]),
                }
            }
        }
    }
    thin.finish()
}

/// The phase portrait of coordinate `i`: position and velocity, broken where the velocity jumps. Its shape is kept: if it needs
/// more points than the limit allows, its first part is left out.
///
/// ```
/// use saltus::{Options, model::Builder};
/// use saltus_report::{Limit, series};
/// let ball = Builder::new("ball").coordinate("y", 1.0, -1.0).kinetic("y'^2/2")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let run = ball.run(&Options::events(2.0))?;
/// let curve = series::phase(&run.trajectory, 0, Limit::default());
/// // Velocities are constant: a few straight lines are all that is drawn.
/// assert!(run.trajectory.len() > 1000 && curve.t.len() < 20);
/// assert_eq!((curve.jumps[0].left, curve.jumps[0].right), ([0.0, -1.0], [0.0, 0.5]));
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[must_use]
pub fn phase(trajectory: &Trajectory, i: usize, limit: Limit) -> Curve<2> {
    let d = trajectory.dimension();
    let velocities = trajectory.left_velocities();
    let (mut t, mut q, mut v, mut breaks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut jumps = trajectory.jumps().iter().peekable();
    for (k, &at) in trajectory.t.iter().enumerate() {
        let (x, left) = (trajectory.positions()[k * d + i], velocities[k * d + i]);
        let right = if jumps.next_if_eq(&&k).is_some() { trajectory.v(k, Side::Right)[i] } else { left };
        t.push(at);
        q.push(x);
        v.push(left);
        if differs(left, right) {
            breaks.push(t.len());
            t.push(at);
            q.push(x);
            v.push(right);
        }
    }
    let mut curve = Curve { t: vec![], y: [vec![], vec![]], jumps: vec![], given: t.len(), jumps_given: breaks.len() };
    let points = Points { channels: vec![&q, &v], sizes: vec![plane::size(&q), plane::size(&v)], breaks };
    for k in points.drawn(limit.points) {
        if points.breaks.binary_search(&k).is_ok() && !curve.t.is_empty() {
            curve.jumps.push(Jump { t: t[k], left: [q[k - 1], v[k - 1]], right: [q[k], v[k]] });
            curve.t.push(t[k]);
            curve.y.iter_mut().for_each(|y| y.push(f64::NAN));
        }
        curve.t.push(t[k]);
        curve.y[0].push(q[k]);
        curve.y[1].push(v[k]);
    }
    curve
}

/// Evaluates functions of the state at a time, a position and a velocity.
pub type ReadState<'a> = dyn FnMut(f64, &[f64], &[f64], &mut [f64]) + 'a;

/// Functions of the state, such as gaps and energies, one curve each. `read` is called with the time, the position and the
/// velocity and writes `count` values; at a jump of the velocity it is called for both limits.
#[must_use]
pub fn sampled(trajectory: &Trajectory, count: usize, limit: Limit, read: &mut ReadState) -> Vec<Line> {
    let size = |k: usize| {
        let (left, right) = (trajectory.v(k, Side::Left), trajectory.v(k, Side::Right));
        left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let drawn = drawn_jumps(trajectory, limit, size);
    let mut walk = Walk::new(trajectory, &drawn);
    let mut lines: Vec<Thinner<1>> =
        (0..count).map(|_| Thinner::new(trajectory.len(), span(trajectory), limit)).collect();
    let (mut left, mut right) = (vec![0.0; count], vec![0.0; count]);
    let d = trajectory.dimension();
    let v = trajectory.left_velocities();
    for (k, &t) in trajectory.t.iter().enumerate() {
        read(t, trajectory.q(k), &v[k * d..(k + 1) * d], &mut left);
        let instant = walk.at(k);
        if let Instant::Smooth = instant {
            lines.iter_mut().zip(&left).for_each(|(line, &y)| line.push(t, [y]));
            continue;
        }
        read(t, trajectory.q(k), trajectory.v(k, Side::Right), &mut right);
        for (line, (&a, &b)) in lines.iter_mut().zip(left.iter().zip(&right)) {
            match (&instant, differs(a, b)) {
                (Instant::DrawnJump, true) => line.jump(t, [a], [b]),
                (Instant::DrawnJump, false) => line.mark(t, [a]),
                (_, true) => line.pass(t, [a], [b]),
                _ => line.push(t, [a]),
            }
        }
    }
    lines.into_iter().map(Thinner::finish).collect()
}

/// The reaction density of each of `m` constraints, one piece of curve per contact; the mean over each contact if the scheme
/// computes no densities.
#[must_use]
pub fn reactions(trajectory: &Trajectory, m: usize, limit: Limit) -> Vec<Line> {
    let mut lines: Vec<Thinner<1>> = (0..m).map(|_| Thinner::new(trajectory.len(), span(trajectory), limit)).collect();
    // If there are too many contacts, those with the largest impulse in each interval of time are shown.
    let mut contacts: Vec<Vec<&Contact>> = vec![Vec::new(); m];
    for contact in trajectory.contacts.iter().filter(|c| c.constraint < m && c.end > c.start) {
        contacts[contact.constraint].push(contact);
    }
    let shown = contacts.iter().flat_map(|contacts| {
        let events: Vec<(f64, f64)> = contacts.iter().map(|c| (c.start, c.impulse)).collect();
        largest(&events, limit.jumps).into_iter().map(move |k| contacts[k])
    });
    for contact in shown {
        let (a, line) = (contact.constraint, &mut lines[contact.constraint]);
        let at = |t: f64, side: Side| trajectory.reactions(t, side, m).map(|all| all[a]);
        let mean = contact.impulse / (contact.end - contact.start);
        line.push(contact.start, [at(contact.start, Side::Right).unwrap_or(mean)]);
        let from = trajectory.t.partition_point(|&t| t <= contact.start);
        let to = trajectory.t.partition_point(|&t| t < contact.end);
        for &t in trajectory.t.get(from..to).unwrap_or_default() {
            if let Some(density) = at(t, Side::Right) {
                line.push(t, [density]);
            }
        }
        line.push(contact.end, [at(contact.end, Side::Left).unwrap_or(mean)]);
        line.split(contact.end);
    }
    lines.into_iter().map(Thinner::finish).collect()
}

/// The densities of some rows, such as joints and slips, which act at any time; broken where they jump.
#[must_use]
pub fn densities(trajectory: &Trajectory, rows: std::ops::Range<usize>, limit: Limit) -> Vec<Line> {
    let (n, m) = (rows.len(), rows.end);
    let mut lines: Vec<Thinner<1>> = (0..n).map(|_| Thinner::new(trajectory.len(), span(trajectory), limit)).collect();
    let mut jumps = 0;
    for &t in &trajectory.t {
        let (left, right) = (trajectory.reactions(t, Side::Left, m), trajectory.reactions(t, Side::Right, m));
        // Not known where a stretch was time-stepped.
        let (Some(left), Some(right)) = (left.clone().or(right.clone()), right.or(left)) else { continue };
        for (line, row) in lines.iter_mut().zip(rows.clone()) {
            let (a, b) = (left[row], right[row]);
            if (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) {
                line.push(t, [a]);
            } else if jumps < limit.jumps * n {
                jumps += 1;
                line.jump(t, [a], [b]);
            } else {
                line.pass(t, [a], [b]);
            }
        }
    }
    lines.into_iter().map(Thinner::finish).collect()
}

/// The impulses of a constraint at impacts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stems {
    /// The times.
    pub t: Vec<f64>,
    /// The impulses.
    pub impulse: Vec<f64>,
    /// The number of each impact, starting from one.
    pub number: Vec<usize>,
    /// The number of impulses before thinning.
    pub given: usize,
}

/// The impulses of constraint `a`.
#[must_use]
pub fn impulses(trajectory: &Trajectory, a: usize, limit: Limit) -> Stems {
    let impulse = |i: &Impact| i.constraints.iter().position(|&b| b == a).map(|k| i.impulses[k]);
    let all: Vec<(f64, f64, usize)> =
        trajectory.impacts.iter().enumerate().filter_map(|(k, i)| impulse(&i).map(|p| (i.t, p, k + 1))).collect();
    let events: Vec<(f64, f64)> = all.iter().map(|&(t, p, _)| (t, p)).collect();
    let mut stems = Stems { given: all.len(), ..Stems::default() };
    for k in largest(&events, limit.jumps) {
        stems.t.push(all[k].0);
        stems.impulse.push(all[k].1);
        stems.number.push(all[k].2);
    }
    stems
}
