//! What the errors of a study mean: orders where there are any, and words.

use super::{Level, Orders, impulse, largest};
use crate::analysis::{Fit, fit};
use crate::run::Run;
use crate::text::{count, number};

/// Differences below these are rounding, or the tolerance of the reference: they have no order.
pub(super) struct Floors {
    position: f64,
    velocity: f64,
    relative: f64,
    times: f64,
    impulse: f64,
}

impl Floors {
    pub fn new(runs: &[Run], reference: &Run) -> Self {
        let steps = runs.iter().map(|r| r.steps).max().unwrap_or(0) as f64;
        // Each step rounds once or twice; the reference is as good as its tolerance allows.
        let relative = 1e-10_f64.max(4.0 * f64::EPSILON * steps).max(10.0 * reference.tolerance.unwrap_or(0.0));
        let (from, to) = reference.trajectory.span().unwrap_or((0.0, 0.0));
        let span = to - from;
        let fastest = reference.trajectory.fastest();
        let pushed = impulse(reference).abs();
        Floors {
            position: relative * largest(reference).max(1e-300),
            velocity: relative * (fastest * span).max(1e-300),
            relative,
            times: relative * span.max(to.abs()),
            impulse: relative * pushed.max(1e-300),
        }
    }
}

impl Orders {
    pub(super) fn new(levels: &[Level], floors: &Floors) -> Self {
        // A fit needs the smallest step above the floor, or enough of the others.
        let of = |error: &dyn Fn(&Level) -> Option<f64>, floor: f64| -> (Option<Fit>, bool) {
            let all: Vec<(f64, f64)> = levels.iter().filter_map(|l| Some((l.size, error(l)?))).collect();
            let above: Vec<(f64, f64)> = all.iter().copied().filter(|(_, e)| *e > floor).collect();
            let below = all.last().is_some_and(|(_, e)| *e <= floor);
            match below && above.len() < 3 {
                true => (None, true),
                false => (fit(&above), false),
            }
        };
        let (position, a) = of(&|l| Some(l.position), floors.position);
        let (velocity, b) = of(&|l| Some(l.velocity), floors.velocity);
        let (state, _) = of(&|l| Some(l.state), floors.relative);
        let (times, c) = of(&|l| l.times, floors.times);
        let (impulse, d) = of(&|l| Some(l.impulse), floors.impulse);
        Orders { position, velocity, state, times, impulse, equal: [a, b, c, d] }
    }
}

pub(super) fn warnings(levels: &[Level], orders: &Orders, extent: f64, declared: f64) -> Vec<String> {
    let mut warnings = Vec::new();
    let last = levels.last().map_or(0.0, |l| l.position);
    if last <= 1e-11 * extent {
        return warnings;
    }
    let order = |fit: Option<Fit>| fit.map_or("-".into(), |f| number(f.order, 2));
    match orders.position {
        Some(fit) if fit.order < 0.5 * declared && orders.velocity.is_some_and(|v| v.order > 0.5 * declared) => {
            warnings.push(format!(
                "the runs converge (velocity order {}) but not to the motion that positions are compared with: [exact] is \
                 another motion than this model's with these parameters, or the scheme has a limit of its own (penalty: its \
                 stiffness)",
                order(orders.velocity)
            ));
        }
        Some(fit) if fit.order + fit.spread < 0.5 * declared => warnings.push(format!(
            "no convergence seen: the order is {} where {} is expected. Chaos, a motion that depends discontinuously on its \
             data, or steps that are all too coarse; a comparison of schemes shows where impacts begin to differ",
            number(fit.order, 2),
            number(declared, 2)
        )),
        Some(fit) if fit.spread > 0.3 => {
            let spread = number(fit.spread, 2);
            warnings.push(format!("the errors scatter around the line (slope ± {spread}): more levels would help"));
        }
        None if orders.equal[0] => {}
        None => warnings.push("no order can be fitted: too few positive errors".into()),
        _ => {}
    }
    if last > 0.1 * extent {
        warnings.push("the error of the smallest step is more than a tenth of the motion itself".into());
    }
    if let Some(l) = levels.last().filter(|l| l.unmatched > 0) {
        warnings.push(format!(
            "{} of the run with the smallest step or of the reference {} no partner in the other with the same constraints \
             at about the same time",
            count(l.unmatched as u64, "impact"),
            if l.unmatched == 1 { "has" } else { "have" }
        ));
    }
    let counts: Vec<usize> = levels.iter().map(|l| l.impacts).collect();
    if let (Some(&first), Some(&last)) = (counts.first(), counts.last())
        && counts.len() > 2
        && last as f64 > 1.2 * first as f64
        && last > first + 2
    {
        warnings.push(
            "the number of impacts grows with smaller steps: an accumulation, whose tail no step resolves".into(),
        );
    }
    warnings
}

/// The final position extrapolated from the two smallest steps with the fitted order.
pub(super) fn richardson(runs: &[Run], orders: &Orders, ratio: f64) -> Option<Vec<f64>> {
    let order = orders.position?.order;
    let [.., a, b] = runs else { return None };
    let end = |run: &Run| run.trajectory.q(run.trajectory.len() - 1)[..run.trajectory.degrees()].to_vec();
    let gain = ratio.powf(order) - 1.0;
    // What is only rounding next to the motion is zero.
    let extent = largest(b);
    let plain = |x: f64| if x.abs() < 1e-13 * extent { 0.0 } else { x };
    (gain > 0.2).then(|| end(a).iter().zip(&end(b)).map(|(x, y)| plain(y + (y - x) / gain)).collect())
}

/// Whether a number of modes has displacements and impulses within 5 % of those of the whole structure.
fn is_good(level: &Level, reference: &Run) -> bool {
    let (extent, total) = (largest(reference).max(1e-300), impulse(reference).abs().max(1e-300));
    level.impulse < 0.05 * total && level.position < 0.05 * extent
}

/// Whether the last two numbers of modes are enough.
pub(super) fn settled(levels: &[Level], reference: &Run) -> bool {
    levels.len() > 1 && levels[levels.len() - 2..].iter().all(|l| is_good(l, reference))
}

/// How many modes were enough, in a sentence.
pub(super) fn enough_modes(levels: &[Level], reference: &Run) -> Option<String> {
    let last = levels.last()?;
    let extent = largest(reference).max(1e-300);
    let total = impulse(reference).abs().max(1e-300);
    let good = |l: &Level| is_good(l, reference);
    let from = (0..levels.len()).find(|&k| levels[k..].iter().all(good));
    Some(match from {
        Some(k) => format!(
            "from {} modes on, displacements and impulses are within 5 % of those of the whole structure",
            levels[k].size
        ),
        None => {
            let wanted = reference.trajectory.impacts.len();
            let impacts = match last.impacts == wanted {
                true => String::new(),
                false => format!(", {} instead of {wanted}", count(last.impacts as u64, "impact")),
            };
            format!(
                "even {} modes are not enough: displacements differ by {} % of the largest, impulses by {} %{impacts}. \
                 (Where impacts are many and close, single trajectories part in any case: compare statistics.)",
                last.size,
                number(100.0 * last.position / extent, 2),
                number(100.0 * last.impulse / total, 2),
            )
        }
    })
}
