//! Curves of special points over two parameters: where orbits fold, double their period, or graze.

use super::anatomy::{Anatomy, Approach, Nearness};
use super::branch::{BranchPoint, Special, SpecialKind, Touched};
use super::clock::Clock;
use super::critical::Critical;
use super::family::{Family, Seen};
use super::weak::Weak;
use super::zero::{Equations, Evaluation, Missed, correct};
use crate::analysis::closing::Orbit;
use crate::analysis::phase_space::{NoMap, Passage, PhaseSpace, held_by_joints};
use crate::linalg::dot;
use crate::problem::{Problem, Start};
use crate::text::number;
use crate::{Keep, Options, SetupError};

/// How a curve is followed.
#[derive(Clone, Debug)]
pub struct CurveOptions {
    /// The two parameters and their ranges.
    pub axes: [(String, f64, f64); 2],
    /// The largest step, as a part of the ranges and of the size of states.
    pub step: f64,
    /// The largest number of points in each direction.
    pub points: usize,
    /// The tolerance of the motion.
    pub tolerance: f64,
}

/// A curve of special points.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What they are.
    pub kind: SpecialKind,
    /// Its points, from one end to the other.
    pub points: Vec<BranchPoint>,
    /// Why it ends, at both ends.
    pub ends: [String; 2],
}

/// Steps shorter than this are not made.
const SHORTEST: f64 = 1e-6;

/// The curve of fold, doubling or grazing orbits through one of them. `on` is called with each point; false stops.
pub fn curve(
    problem: &Problem,
    clock: Clock,
    from: &Special,
    options: &CurveOptions,
    on: &mut dyn FnMut(&BranchPoint) -> bool,
) -> Result<Curve, NoMap> {
    let [one, two] = &options.axes;
    let free = [(problem.open_index(&one.0)?, one.2 - one.1), (problem.open_index(&two.0)?, two.2 - two.1)];
    let point = &from.point;
    let keep = Keep::PIECES | Keep::IMPACTS | Keep::TIMELINE;
    let run_options = Options::events(point.start.t + point.period).tolerance(options.tolerance).keep(keep);
    let run = problem.run_from(&point.start, &run_options)?;
    let seen = (&point.start, point.period, point.multiple);
    let family = Family::through(problem, clock, seen, &run, &free, options.tolerance)?;
    let z = family.unknowns_of(&point.start, point.period);
    let mut tracer = Tracer { options, kind: from.kind, on, is_stopped: false };
    match (from.kind, &from.touched[..]) {
        (SpecialKind::Grazing, touched @ [_, ..]) => {
            let passage =
                Passage { run, end: Vec::new(), rate: Vec::new(), jacobian: Vec::new(), by_parameters: Vec::new() };
            let joints = held_by_joints(problem, &point.start);
            let orbit = Orbit {
                start: point.start.clone(),
                period: point.period,
                passage,
                residual: 0.0,
                steps: 0,
                multiple: point.multiple,
                joints,
            };
            let anatomy = Anatomy::of(problem, &orbit);
            let near = |t: &Touched| Approach {
                constraint: t.constraint,
                t: t.t,
                nearness: Nearness::Miss,
                level: 0.0,
                units: t.units,
            };
            let near: Vec<Approach> = touched.iter().map(near).collect();
            let weak = Weak::new(&family, &anatomy, &near, point.start.t, point.period)
                .ok_or_else(|| {
                    SetupError::new("grazing with friction, or at the same time as another event, is not followed")
                })?
                .grazing();
            let instants: Vec<f64> = touched.iter().map(|t| t.t).collect();
            let first = weak.unknowns_of(&z, &instants, &vec![0.0; touched.len()]);
            let describe = |weak: &Weak, found: &Evaluation<Start>, tangent: &[f64]| {
                let mut family = weak.family.clone();
                let of_orbit = weak.of_orbit(&found.z);
                let (start, period, _) = family.place(&of_orbit).ok()?;
                let stability = {
                    let (n, m) = (family.space.dimension(), weak.unknowns());
                    let mut orbit = orbit.clone();
                    let entry = |k: usize| {
                        let (i, j) = (k / n, k % n);
                        let unit = f64::from(u8::from(i == j));
                        (found.jacobian[i * m + j] + unit) * family.scales[i] / family.scales[j]
                    };
                    orbit.passage.jacobian = (0..n * n).map(entry).collect();
                    orbit.passage.end = vec![0.0; n];
                    orbit.stability()
                };
                let values = family.values(&of_orbit);
                let (multiple, sequence) = (point.multiple, point.sequence.clone());
                let residual = found.size();
                Some(BranchPoint {
                    values,
                    start,
                    period,
                    multiple,
                    stability,
                    sequence,
                    residual,
                    tangent: tangent.to_vec(),
                })
            };
            let values = |weak: &Weak, z: &[f64]| weak.family.values(&weak.of_orbit(z));
            tracer.both(weak, &first, &values, &describe)
        }
        (SpecialKind::Fold | SpecialKind::Doubling, _) => {
            let critical = Critical::new(family, from.kind);
            let space = PhaseSpace::of(problem);
            let describe = |critical: &Critical, found: &Evaluation<Seen>, tangent: &[f64]| {
                let orbit = critical.family.orbit(found, 0);
                let anatomy = Anatomy::of(problem, &orbit);
                debug_assert_eq!(space.dimension(), critical.family.space.dimension());
                Some(BranchPoint {
                    values: critical.family.values(&found.z),
                    start: orbit.start.clone(),
                    period: orbit.period,
                    multiple: orbit.multiple,
                    stability: orbit.stability(),
                    sequence: anatomy.words(),
                    residual: found.size(),
                    tangent: tangent.to_vec(),
                })
            };
            let values = |critical: &Critical, z: &[f64]| critical.family.values(z);
            tracer.both(critical, &z, &values, &describe)
        }
        (kind, _) => Err(SetupError::new(format!("curves of points of kind `{}` are not followed", kind.word()))
            .help("there are fold, doubling and grazing")
            .into()),
    }
}

/// A point as data.
type Describe<'d, E> = &'d dyn Fn(&E, &Evaluation<<E as Equations>::Seen>, &[f64]) -> Option<BranchPoint>;

struct Tracer<'a> {
    options: &'a CurveOptions,
    kind: SpecialKind,
    on: &'a mut dyn FnMut(&BranchPoint) -> bool,
    is_stopped: bool,
}

impl Tracer<'_> {
    /// Both directions from a point.
    fn both<E: Equations + Clone>(
        &mut self,
        equations: E,
        first: &[f64],
        values: &dyn Fn(&E, &[f64]) -> Vec<f64>,
        describe: Describe<E>,
    ) -> Result<Curve, NoMap> {
        let m = equations.unknowns();
        // The second parameter stays where it is.
        let mut row = vec![0.0; m];
        row[m - 1] = 1.0;
        let mut equations = equations;
        let (found, _) = correct(&mut equations, first, &row).map_err(|missed| match missed {
            Missed::Map(reason) => reason,
            Missed::Far(size) => {
                SetupError::new(format!("the first point of the curve was not found ({})", number(size, 2))).into()
            }
        })?;
        let mut halves = Vec::new();
        for way in [-1.0, 1.0] {
            let along: Vec<f64> = row.iter().map(|x| way * x).collect();
            halves.push(self.half(equations.clone(), &found, &along, values, describe));
        }
        let (mut points, end) = halves.remove(0);
        let (more, other_end) = halves.remove(0);
        points.reverse();
        points.extend(more.into_iter().skip(1));
        Ok(Curve { kind: self.kind, points, ends: [end, other_end] })
    }

    fn half<E: Equations>(
        &mut self,
        mut equations: E,
        first: &Evaluation<E::Seen>,
        along: &[f64],
        values: &dyn Fn(&E, &[f64]) -> Vec<f64>,
        describe: Describe<E>,
    ) -> (Vec<BranchPoint>, String) {
        let mut points = Vec::new();
        let Some(mut tangent) = first.tangent(along) else { return (points, "the curve has no direction".into()) };
        points.extend(describe(&equations, first, &tangent));
        if let Err(reason) = equations.reached(&first.z, &first.seen) {
            return (points, reason.to_string());
        }
        let (mut z, mut step) = (first.z.clone(), 0.2 * self.options.step);
        let outside = |v: &[f64]| {
            let axes = self.options.axes.iter().zip(v);
            axes.clone().find(|((_, low, high), x)| !(**x >= *low && **x <= *high)).map(|((n, ..), _)| n.clone())
        };
        loop {
            if self.is_stopped {
                return (points, "it was stopped".into());
            }
            if points.len() >= self.options.points {
                return (points, format!("{} points were computed", self.options.points));
            }
            let guess: Vec<f64> = z.iter().zip(&tangent).map(|(z, t)| z + step * t).collect();
            let outcome = correct(&mut equations, &guess, &tangent);
            let next = outcome.as_ref().ok().and_then(|(found, _)| found.tangent(&tangent));
            let (Ok((found, steps)), Some(next)) = (&outcome, next) else {
                step *= 0.4;
                if step < SHORTEST {
                    let why = match outcome {
                        Err(Missed::Map(reason)) => reason.to_string(),
                        _ => "Newton's method does not converge".into(),
                    };
                    return (points, format!("it could not be followed further: {why}"));
                }
                continue;
            };
            if dot(&next, &tangent) < 0.95 && step > 100.0 * SHORTEST {
                step *= 0.5;
                continue;
            }
            let now = values(&equations, &found.z);
            if let Some(name) = outside(&now) {
                // Up to the border, nearly.
                if step > 1e-4 * self.options.step && points.len() < self.options.points {
                    step *= 0.3;
                    continue;
                }
                return (points, format!("the end of the range of {name} is reached"));
            }
            let point = describe(&equations, found, &next);
            if let Err(reason) = equations.reached(&found.z, &found.seen) {
                return (points, reason.to_string());
            }
            if let Some(point) = point {
                self.is_stopped |= !(self.on)(&point);
                points.push(point);
            }
            step = (step
                * if *steps <= 3 {
                    1.4
                } else if *steps <= 5 {
                    1.0
                } else {
                    0.6
                })
            .min(self.options.step);
            (z, tangent) = (found.z.clone(), next);
        }
    }
}
