//! Moving constraints over the interval of the run: whether K(t) becomes empty, and whether gaps and their speeds ∂f/∂t stay
//! finite and bounded.

use super::{Check, CheckOptions, Traits, Verdict, around};
use crate::Model;
use crate::linalg::{Dice, Metric, Rows, max_abs};
use crate::problem::{Gaps, Problem, Start};
use crate::project::Polyhedron;
use crate::structure::Structure;
use crate::text::number;

/// Instants at which gaps and speeds are evaluated at first.
const INSTANTS: usize = 800;
/// Instants at which an admissible position is looked for.
const LOOKS: usize = 48;
/// The interval around the largest speed is narrowed so often.
const ZOOMS: usize = 40;

pub fn examine(
    problem: &Problem,
    start: &Start,
    options: &CheckOptions,
    traits: &mut Traits,
    all: &mut Check,
    report: &mut dyn FnMut(usize, usize) -> bool,
) {
    look(problem.model(), start.t, |options| Walls::new(problem, start, options), options, traits, all, report);
}

/// The same for the rigid stops of a structure.
pub fn examine_stops(
    structure: &Structure,
    t0: f64,
    options: &CheckOptions,
    traits: &mut Traits,
    all: &mut Check,
    report: &mut dyn FnMut(usize, usize) -> bool,
) {
    look(structure.model(), t0, |options| Walls::of_stops(structure, t0, options), options, traits, all, report);
}

fn look(
    model: &Model,
    t0: f64,
    walls: impl Fn(&CheckOptions) -> Walls,
    options: &CheckOptions,
    traits: &mut Traits,
    all: &mut Check,
    report: &mut dyn FnMut(usize, usize) -> bool,
) {
    let usable = options.end > t0 && options.end.is_finite();
    if !usable || !model.has_moving_constraints() {
        return;
    }
    let with_states = model.constraints.iter().find(|c| model.uses_states(c.gap));
    if let Some(constraint) = with_states {
        let text = format!(
            "the gap `{}` moves with first-order states: whether it leaves room and how fast it moves is known along a run only",
            constraint.name
        );
        all.note("walls", Verdict::Note, text);
        return;
    }
    let mut walls = walls(options);
    let moving: Vec<usize> = (0..model.constraints.len()).filter(|&a| model.is_moving(a)).collect();
    let mut fastest = 0.0_f64;
    for &a in &moving {
        let name = &model.constraints[a].name;
        let found = walls.speed(a);
        if !report(0, 1) {
            all.stopped = true;
            return;
        }
        let text = match found {
            Speed::Bounded(speed) => {
                fastest = fastest.max(speed);
                continue;
            }
            Speed::NotFinite(t) => {
                format!("the gap `{name}` or its speed ∂f/∂t is not a finite number at t = {}", number(t, 6))
            }
            Speed::Unbounded(t, speed) => format!(
                "the speed ∂f/∂t of `{name}` grows without bound at t = {} (seen: {})",
                number(t, 6),
                number(speed, 2)
            ),
        };
        traits.unbounded_walls = true;
        all.note("walls", Verdict::Bad, text);
    }
    if traits.unbounded_walls {
        // Beyond a pole or outside its domain a gap says nothing about K(t).
        return;
    }
    match walls.empty(report) {
        Look::Stopped => all.stopped = true,
        Look::Empty { after } => {
            traits.becomes_empty = true;
            let text = format!(
                "no admissible position was found after t = {} (projections from {} points): K(t) becomes empty, as far as \
                 that goes, and a run ends there",
                number(after, 6),
                if walls.stops.is_some() { 1 } else { walls.starts.len() + 1 }
            );
            all.note("walls", Verdict::Bad, text);
        }
        Look::Open => {
            let text = format!(
                "moving constraints leave room and keep finite speeds from t = {} to {} ({INSTANTS} instants, {LOOKS} \
                 projections; largest |∂f/∂t| {})",
                number(t0, 6),
                number(options.end, 6),
                number(fastest, 4)
            );
            all.note("walls", Verdict::Good, text);
        }
    }
}

enum Speed {
    Bounded(f64),
    NotFinite(f64),
    Unbounded(f64, f64),
}

enum Look {
    Open,
    Empty { after: f64 },
    Stopped,
}

struct Walls {
    gaps: Gaps,
    from: f64,
    end: f64,
    q0: Vec<f64>,
    starts: Vec<Vec<f64>>,
    scale: f64,
    /// Of a structure: its rigid stops, and their rows on the degrees of freedom they act on. (Points may depend on each other.)
    stops: Option<(Vec<usize>, Rows)>,
}

/// The constraints at a time and a position: values, slopes, and what rounding makes of the values.
struct Linearised {
    values: Vec<f64>,
    gradients: Rows,
    rounding: Vec<f64>,
}

impl Walls {
    fn new(problem: &Problem, start: &Start, options: &CheckOptions) -> Self {
        let q0 = start.q.clone();
        let mut dice = Dice::new(options.seed + 3);
        Walls {
            gaps: problem.gaps(),
            from: start.t,
            end: options.end,
            starts: around(&q0, options.starts.clamp(8, 40), &mut dice),
            scale: max_abs(&q0).max(1.0),
            q0,
            stops: None,
        }
    }

    fn of_stops(structure: &Structure, t0: f64, options: &CheckOptions) -> Self {
        let linear = structure.linear();
        let rigid: Vec<usize> = (0..linear.stops.len()).filter(|&a| !linear.is_compliant(a)).collect();
        let mut used: Vec<usize> = rigid.iter().flat_map(|&a| linear.stops.entries(a).map(|(i, _)| i)).collect();
        used.sort_unstable();
        used.dedup();
        let place = |i: usize| used.partition_point(|&j| j < i);
        let rows: Rows = rigid.iter().map(|&a| linear.stops.entries(a).map(|(i, w)| (place(i), w))).collect();
        let mut gaps = structure.gaps();
        let origin = vec![0.0; linear.points.len()];
        gaps.evaluate(t0, &origin, &[]);
        // Displacements are as large as what is open.
        let scale = max_abs(&gaps.values).max(f64::MIN_POSITIVE);
        let q0 = vec![0.0; used.len()];
        Walls { gaps, from: t0, end: options.end, starts: vec![origin], scale, q0, stops: Some((rigid, rows)) }
    }

    fn linearised(&mut self, t: f64, q: &[f64]) -> Linearised {
        let gaps = &mut self.gaps;
        match &self.stops {
            None => {
                gaps.linearise(t, q, &[]);
                let rounding = (0..gaps.values.len()).map(|a| gaps.rounding(a, q)).collect();
                Linearised { values: gaps.values.clone(), gradients: gaps.gradients.clone(), rounding }
            }
            Some((rigid, rows)) => {
                gaps.evaluate(t, &self.starts[0], &[]);
                let values: Vec<f64> =
                    rigid.iter().enumerate().map(|(k, &a)| gaps.values[a] + rows.dot(k, q)).collect();
                let rounding = rigid
                    .iter()
                    .enumerate()
                    .map(|(k, &a)| 8.0 * f64::EPSILON * (gaps.values[a].abs() + rows.dot_abs(k, q)))
                    .collect();
                Linearised { values, gradients: rows.clone(), rounding }
            }
        }
    }

    /// |∂f/∂t| of a constraint at a time, the largest over a few positions; None where it or the gap is not finite.
    fn rate(&mut self, a: usize, t: f64) -> Option<f64> {
        let mut largest = 0.0_f64;
        for k in 0..self.starts.len().min(4) {
            let q = self.starts[k].clone();
            self.gaps.evaluate(t, &q, &[]);
            let value = self.gaps.values[a];
            self.gaps.kinematics(t, &q, &[]);
            let rate = self.gaps.partial_t[a];
            // Away from the start a gap may be undefined for another reason: there only the start counts.
            match value.is_finite() && rate.is_finite() {
                true => largest = largest.max(rate.abs()),
                false if k == 0 => return None,
                false => {}
            }
        }
        Some(largest)
    }

    /// The largest speed over the interval. A pole is seen by narrowing the interval around the largest value: there it grows
    /// on and on.
    fn speed(&mut self, a: usize) -> Speed {
        let (from, span) = (self.from, self.end - self.from);
        let mut rates = Vec::with_capacity(INSTANTS + 1);
        for k in 0..=INSTANTS {
            let t = from + span * k as f64 / INSTANTS as f64;
            match self.rate(a, t) {
                Some(rate) => rates.push((t, rate)),
                None => return Speed::NotFinite(t),
            }
        }
        let mut peaks: Vec<usize> = (0..rates.len())
            .filter(|&k| {
                let left = k.checked_sub(1).map_or(0.0, |j| rates[j].1);
                let right = rates.get(k + 1).map_or(0.0, |r| r.1);
                rates[k].1 >= left && rates[k].1 >= right && rates[k].1 > 0.0
            })
            .collect();
        peaks.sort_by(|&i, &j| rates[j].1.total_cmp(&rates[i].1));
        // Equal peaks of a periodic motion need not all be looked at.
        for &k in peaks.iter().take(12) {
            match self.zoom(a, rates[k], span / INSTANTS as f64) {
                Speed::Bounded(_) => {}
                other => return other,
            }
        }
        Speed::Bounded(rates.iter().map(|r| r.1).fold(0.0, f64::max))
    }

    fn zoom(&mut self, a: usize, start: (f64, f64), width: f64) -> Speed {
        let (mut best, mut width) = (start, width);
        let mut grown = Vec::new();
        for _ in 0..ZOOMS {
            let centre = best.0;
            for j in -4..=4 {
                let t = (centre + width * f64::from(j) / 4.0).clamp(self.from, self.end);
                match self.rate(a, t) {
                    Some(rate) if rate > best.1 => best = (t, rate),
                    Some(_) => {}
                    None => return Speed::NotFinite(t),
                }
            }
            grown.push(best.1);
            width *= 0.5;
            if width <= 4.0 * f64::EPSILON * best.0.abs().max(1e-300) {
                break;
            }
        }
        // Bounded: the value settles. A pole or a root: it still grows at the end.
        let n = grown.len();
        let late = n >= 12 && grown[n - 1] > 1.2 * grown[n - 6] && grown[n - 6] > 1.2 * grown[n - 11];
        match late && grown[n - 1] > 30.0 * start.1 {
            true => Speed::Unbounded(best.0, best.1),
            false => Speed::Bounded(best.1),
        }
    }

    /// Whether K(t) becomes empty; the time is narrowed down.
    fn empty(&mut self, report: &mut dyn FnMut(usize, usize) -> bool) -> Look {
        let mut last: Option<(f64, Vec<f64>)> = None;
        for k in 0..=LOOKS {
            if !report(k, LOOKS) {
                return Look::Stopped;
            }
            let t = self.from + (self.end - self.from) * k as f64 / LOOKS as f64;
            let from = last.as_ref().map_or_else(|| self.q0.clone(), |(_, q)| q.clone());
            match self.admissible(t, &from) {
                Some(q) => last = Some((t, q)),
                None => {
                    let Some((mut low, mut q)) = last else { return Look::Empty { after: t } };
                    let mut high = t;
                    for _ in 0..20 {
                        let middle = 0.5 * (low + high);
                        match self.admissible(middle, &q) {
                            Some(there) => (low, q) = (middle, there),
                            None => high = middle,
                        }
                    }
                    return Look::Empty { after: low };
                }
            }
        }
        Look::Open
    }

    /// A position of K(t), looked for from a point and from all starts.
    fn admissible(&mut self, t: f64, from: &[f64]) -> Option<Vec<f64>> {
        if let Some(q) = self.project(t, from) {
            return Some(q);
        }
        // (Stops are linear: one projection decides.)
        let starts = if self.stops.is_some() { 0 } else { self.starts.len() };
        (0..starts).find_map(|k| {
            let start = self.starts[k].clone();
            self.project(t, &start)
        })
    }

    /// Nearest points of the linearised constraints, one after another; where those contradict each other, least squares of
    /// what is violated.
    fn project(&mut self, t: f64, from: &[f64]) -> Option<Vec<f64>> {
        let d = from.len();
        let mut q = from.to_vec();
        for _ in 0..60 {
            let Linearised { values, gradients, rounding } = self.linearised(t, &q);
            let m = values.len();
            if values.iter().chain(&gradients.values).any(|x| !x.is_finite()) {
                return None;
            }
            if (0..m).all(|a| values[a] >= -1e-9 * self.scale - rounding[a]) {
                return Some(q);
            }
            let offsets: Vec<f64> = (0..m).map(|a| values[a] - gradients.dot(a, &q)).collect();
            let mut next = q.clone();
            let solved = Polyhedron::new(d, m).project(&Metric::diagonal(d), &gradients, &offsets, &mut next);
            if solved.is_err() || !max_abs(&next).is_finite() {
                next.clone_from(&q);
                for a in 0..m {
                    let value = offsets[a] + gradients.dot(a, &next);
                    let (columns, slopes) = gradients.row(a);
                    let size: f64 = slopes.iter().map(|s| s * s).sum();
                    if value < 0.0 && size > 0.0 {
                        columns.iter().zip(slopes).for_each(|(&i, s)| next[i] -= 0.9 * value * s / size);
                    }
                }
            }
            let moved = next.iter().zip(&q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let reach = if self.stops.is_some() { f64::MAX } else { self.scale };
            let share = (reach / moved.max(1e-300)).min(1.0);
            q.iter_mut().zip(&next).for_each(|(q, n)| *q += share * (n - *q));
        }
        None
    }
}
