//! The differences of several motions from one of them, over time.

use super::{common, limit};
use crate::figure::{Figure, Trace};
use crate::text::{number, with_unit};
use saltus::analysis::{ComparedRuns, Comparison};
use saltus::{Model, Side, Trajectory};
use serde_json::json;

/// The number of intervals of time; the largest difference in each is shown.
const INTERVALS: usize = 600;
/// Differences below this share of the motion are rounding errors.
const ROUNDING: f64 = 1e-15;

/// The entry that others are compared with: of those whose run can be trusted, one by events, else that with the smallest error by
/// its own estimate. None if there is nothing to compare.
fn reference(found: &Comparison) -> Option<usize> {
    let sound = |k: &usize| found.entries[*k].trouble.is_none() && found.entries[*k].finest().trajectory.len() > 1;
    let error = |entry: &ComparedRuns| if entry.error.is_nan() { f64::INFINITY } else { entry.error };
    let key = |k: usize| (!found.entries[k].finest().by_events(), error(&found.entries[k]));
    let better = |&a: &usize, &b: &usize| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1));
    (0..found.entries.len()).filter(sound).min_by(better).filter(|_| found.entries.len() > 1)
}

/// The largest difference of a position from the reference in each interval of time, on a logarithmic axis; beside it that of
/// first-order states, where there are some.
pub fn differences(model: &Model, found: &Comparison) -> Vec<Figure> {
    let Some(reference) = reference(found) else { return Vec::new() };
    let basis = &found.entries[reference].finest().trajectory;
    let unit = common((0..model.coordinates.len()).map(|i| model.units.position(i).to_string()));
    let positions = |a: &Instant, b: &Instant| (a.q.iter().zip(b.q)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let title = with_unit("difference", &unit);
    let all = Kind {
        id: "differences",
        heading: "Differences",
        what: "a coordinate",
        floor: ROUNDING * basis.reach(),
        title,
    };
    let mut figures = vec![figure(model, found, reference, &all, &positions)];
    // Each state is measured by its largest value.
    let levels: Vec<f64> = (0..model.states.len())
        .map(|k| (0..basis.len()).map(|i| basis.states(i)[k].abs()).fold(f64::MIN_POSITIVE, f64::max))
        .collect();
    if !levels.is_empty() {
        let states = |a: &Instant, b: &Instant| {
            let apart = a.z.iter().zip(b.z).zip(&levels).map(|((a, b), level)| (a - b).abs() / level);
            apart.fold(0.0, f64::max)
        };
        let (heading, what) = ("Differences of states", "a first-order state, relative to its largest value,");
        let title = "relative difference".to_string();
        let all = Kind { id: "differences-states", heading, what, floor: ROUNDING, title };
        figures.push(figure(model, found, reference, &all, &states));
    }
    figures.into_iter().flatten().collect()
}

/// What differences are of.
struct Kind {
    id: &'static str,
    heading: &'static str,
    what: &'static str,
    floor: f64,
    title: String,
}

/// A motion at a time.
struct Instant<'a> {
    q: &'a [f64],
    z: &'a [f64],
}

fn figure(
    model: &Model,
    found: &Comparison,
    reference: usize,
    kind: &Kind,
    apart: &dyn Fn(&Instant, &Instant) -> f64,
) -> Option<Figure> {
    let basis = &found.entries[reference].finest().trajectory;
    let name = &found.entries[reference].way.label;
    let time = with_unit("t", &model.units.time);
    let mut figure = Figure::new(kind.id, &format!("{} from {name}", kind.heading), &time, &kind.title).over_time();
    figure.layout["yaxis"]["type"] = json!("log");
    figure.layout["yaxis"]["exponentformat"] = json!("power");
    let intervals = INTERVALS.min(limit(found.entries.len()).points);
    let mut same = Vec::new();
    for (k, entry) in found.entries.iter().enumerate().filter(|(k, _)| *k != reference) {
        let (t, y) = largest_differences(basis, &entry.finest().trajectory, intervals, kind.floor, apart);
        if t.is_empty() {
            same.push(entry.way.label.as_str());
            continue;
        }
        let trace = Trace::new("difference", &entry.way.label, "lines", &t, &y).colour(k);
        // As in the figures of the motions, so that curves that coincide can all be seen.
        let dash = ["solid", "dash", "dot", "dashdot"][k % 4];
        let width = 1.2 + 0.5 * (found.entries.len() - 1 - k).min(4) as f64;
        figure.push(trace.with(json!({ "showlegend": true, "line": { "dash": dash, "width": width } })));
    }
    let mut caption = format!(
        "Largest difference of {} from {name} in each {} of the time, on a logarithmic scale.",
        kind.what,
        fraction(intervals)
    );
    if !same.is_empty() {
        caption.push_str(&format!(" No difference: {}.", same.join(", ")));
    }
    (!figure.traces.is_empty()).then(|| figure.caption(caption))
}

fn fraction(parts: usize) -> String {
    format!("1/{}", number(parts as f64, 6))
}

/// The largest difference of two motions in each interval of the time that both cover, and when it is; intervals without a difference are
/// left out.
fn largest_differences(
    a: &Trajectory,
    b: &Trajectory,
    intervals: usize,
    floor: f64,
    apart: &dyn Fn(&Instant, &Instant) -> f64,
) -> (Vec<f64>, Vec<f64>) {
    let (mut t, mut y): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let (Some(span_a), Some(span_b)) = (a.span(), b.span()) else { return (t, y) };
    let (from, to) = (span_a.0.max(span_b.0), span_a.1.min(span_b.1));
    let buffer = || (vec![0.0; a.dimension()], vec![0.0; b.dimension()]);
    let ((mut qa, mut qb), (mut va, mut vb)) = (buffer(), buffer());
    let (mut cursor_a, mut cursor_b) = (a.cursor(Side::Right), b.cursor(Side::Right));
    let (mut bin, mut none_between) = (f64::NAN, false);
    // At the instants of either motion: between them a scheme makes no statement.
    let mut times: Vec<f64> = a.t.iter().chain(&b.t).copied().filter(|t| *t >= from && *t <= to).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    for at in times {
        if cursor_a.read(at, &mut qa, &mut va).is_err() || cursor_b.read(at, &mut qb, &mut vb).is_err() {
            continue;
        }
        let of_a = Instant { q: &qa[..a.degrees()], z: &va[a.degrees()..] };
        let of_b = Instant { q: &qb[..b.degrees()], z: &vb[b.degrees()..] };
        let difference = apart(&of_a, &of_b);
        let here = ((at - from) / (to - from) * intervals as f64).floor();
        if !(difference > floor && difference.is_finite()) {
            none_between |= here != bin;
            continue;
        }
        match y.last_mut() {
            Some(last) if here == bin => {
                if difference > *last {
                    *last = difference;
                    t.pop();
                    t.push(at);
                }
            }
            _ => {
                // No line is drawn over intervals without a difference.
                if std::mem::take(&mut none_between) && !y.is_empty() {
                    t.push(at);
                    y.push(f64::NAN);
                }
                bin = here;
                t.push(at);
                y.push(difference);
            }
        }
    }
    (t, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_difference_of_two_straight_motions_grows_with_time() {
        let motion = |v: f64, step: f64, count: u32| {
            let mut motion = Trajectory::new(1);
            for t in (0..=count).map(|k| step * f64::from(k)) {
                motion.push_instant(t, &[v * t], &[v], &[v]).expect("in order");
            }
            motion
        };
        let apart = |a: &Instant, b: &Instant| (a.q[0] - b.q[0]).abs();
        let (t, y) = largest_differences(&motion(1.0, 0.01, 200), &motion(1.25, 0.013, 100), 50, 1e-17, &apart);
        // Both cover 1.3 of time.
        assert!(t.len() == 50 || t.len() == 51, "{}", t.len());
        assert!(t.iter().zip(&y).all(|(t, y)| (y - 0.25 * t).abs() < 1e-12) && (t[t.len() - 1] - 1.3).abs() < 1e-12);
        assert!(largest_differences(&motion(1.0, 0.1, 10), &motion(1.0, 0.1, 10), 50, 1e-17, &apart).0.is_empty());
    }
}
