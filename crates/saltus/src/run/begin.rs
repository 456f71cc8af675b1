//! How a system begins a run: an engine, its gap space, and what is known about both.

use super::Options;
use crate::engine::{Engine, StepEngine, StepPlan, grid};
use crate::event::{EventEngine, EventPlan};
use crate::linalg::Rows;
use crate::motion::Slide;
use crate::problem::{Instance, Problem, Start};
use crate::record::{Crossings, Gauge};
use crate::scheme::{self, Laws, Method, SCHEMES, Scheme, StructureSteps, Systems, TOLERANCE};
use crate::structure::{BaseMotion, Structure, StructureInstance, modal_model};
use crate::{Kind, SetupError};
use std::sync::Arc;

/// A run that has begun.
pub struct Begun {
    pub(crate) engine: Box<dyn Engine>,
    pub(crate) gauge: Gauge,
    /// The scheme that runs, and its step or tolerance.
    pub(crate) scheme: Scheme,
    pub(crate) step: f64,
    pub(crate) tolerance: Option<f64>,
    pub(crate) warnings: Vec<String>,
    pub(crate) notes: Vec<String>,
    /// Whether something depends on time, so that rest is never final.
    pub(crate) is_forced: bool,
    /// The modes of a structure that runs in them; see [`crate::problem::Reached::modes`].
    pub(crate) modes: Option<(usize, bool)>,
    /// The observed start.
    pub(crate) q0: Vec<f64>,
    pub(crate) v0: Vec<f64>,
    /// How the coordinates of the engine are observed, where they are not the observed ones.
    pub(crate) observed: Option<Observed>,
}

/// Rows that map the modes of a structure to its points and its outline.
pub(crate) struct Observed {
    pub points: Rows,
    pub outline: Rows,
    pub slides: Vec<Slide>,
    /// The points that are base shears, and the damping forces in them, as rows on velocities.
    pub shears: Vec<usize>,
    pub drags: Rows,
    pub base: BaseMotion,
}

/// By events: the interval at which instants are stored.
fn interval(options: &Options, t0: f64) -> Result<f64, SetupError> {
    let span = options.end - t0;
    let step = match options.step {
        Some(step) => step,
        None if span.is_finite() => span / 1000.0,
        None => f64::MAX,
    };
    if span.is_finite() {
        grid(step, t0, options.end)?;
    }
    Ok(step * options.every.max(1) as f64)
}

/// The number of steps and the end (None: no end), the step that fits, and what to say about it.
type Division = (Option<(u64, f64)>, f64, Option<String>);

fn steps(options: &Options, t0: f64) -> Result<Division, SetupError> {
    let step = options.needed_step()?;
    if options.end.is_infinite() {
        grid(step, 0.0, step)?;
        return Ok((None, step, None));
    }
    let (n, h, warning) = grid(step, t0, options.end)?;
    Ok((Some((n, options.end)), h, warning))
}

/// A model of expressions begins.
pub(super) fn problem(problem: &Problem, start: &Start, options: &Options) -> Result<Begun, SetupError> {
    let at = problem.instance(start)?;
    let start = at.start();
    let scheme = options.scheme;
    options.settings.check(scheme.name, scheme.settings, Systems::Models)?;
    let needed = Laws::of(problem.model());
    if let Some(law) = scheme.laws.missing(needed) {
        let able = SCHEMES.iter().filter(|s| s.laws.missing(needed).is_none()).map(|s| s.name);
        return Err(SetupError::new(format!("{} does not know {law}", scheme.name))
            .with_kind(Kind::Unsupported)
            .help(format!("this model can be run with {}", able.collect::<Vec<_>>().join(", "))));
    }
    match &scheme.method {
        Method::Events { safety_net } => by_events(&at, options, scheme, *safety_net),
        Method::Steps(_) if options.vary.is_some() => Err(no_derivatives("a time-stepping scheme")),
        Method::Steps(stepping) => {
            let (end, h, warning) = steps(options, start.t)?;
            let engine = StepEngine::new(StepPlan {
                model: problem.model().clone(),
                stepper: (stepping.start)(&at, h, &options.settings)?,
                stepping: *stepping,
                gauge: Gauge::of(&at),
                crossings: Crossings::new(&at),
                cells: at.cells().clone(),
                shears: Vec::new(),
                sides: Vec::new(),
                slides: None,
                base: None,
                closed: at.start().closed().map(<[usize]>::to_vec),
                t0: start.t,
                q0: start.q.clone(),
                v0: start.v.clone(),
                h,
                end,
                every: options.every,
                follow: options.follow.clone(),
                keep: options.keep,
            })?;
            Ok(Begun {
                engine: Box::new(engine),
                gauge: Gauge::of(&at),
                scheme,
                step: h,
                tolerance: None,
                warnings: warning.into_iter().collect(),
                notes: Vec::new(),
                is_forced: problem.model().depends_on_time(),
                q0: start.q.clone(),
                v0: start.v.clone(),
                modes: None,
                observed: None,
            })
        }
    }
}

/// Perturbations travel with events only.
fn no_derivatives(what: &str) -> SetupError {
    SetupError::new(format!("derivatives of the motion are not known to {what}"))
        .with_kind(Kind::Unsupported)
        .help("run a model of expressions by events: `auto` or `event-driven`")
}

fn by_events(at: &Instance, options: &Options, scheme: Scheme, safety_net: bool) -> Result<Begun, SetupError> {
    let start = at.start();
    let tolerance = options.settings.number(&TOLERANCE).unwrap_or(1e-10);
    let interval = interval(options, start.t)?;
    let plan = EventPlan {
        instance: at.clone(),
        tolerance,
        safety_net,
        interval,
        end: options.end,
        until_rest: options.until_rest && !at.model().depends_on_time(),
        keep: options.keep,
        vary: options.vary.clone(),
    };
    Ok(Begun {
        engine: Box::new(EventEngine::new(plan)?),
        gauge: Gauge::of(at),
        scheme,
        step: interval,
        tolerance: Some(tolerance),
        warnings: Vec::new(),
        notes: Vec::new(),
        is_forced: at.model().depends_on_time(),
        q0: start.q.clone(),
        v0: start.v.clone(),
        modes: None,
        observed: None,
    })
}

/// A structure begins.
pub(super) fn structure(structure: &Structure, start: &Start, options: &Options) -> Result<Begun, SetupError> {
    if options.vary.is_some() {
        return Err(no_derivatives("runs of structures"));
    }
    let mut scheme = options.scheme;
    let mut settings = options.settings.clone();
    if let StructureSteps::Instead(name) = scheme.structures {
        // Settings of either scheme are understood; those of the one that does not run have no effect.
        settings.among(scheme.settings).check(scheme.name, scheme.settings, Systems::Structures)?;
        let runs = scheme::find(name)?;
        settings = settings.filtered(|s| scheme.setting(s).is_none() || runs.setting(s).is_some());
        scheme = runs;
    }
    settings.check(scheme.name, scheme.settings, Systems::Structures)?;
    let exact = settings.get("forcing").is_some_and(|word| word.to_string() == "exact");
    let needs_modes = match scheme.structures {
        StructureSteps::Events => Some("events are located in modal coordinates"),
        _ if exact => Some("exact flight is that of the modes"),
        _ => None,
    };
    let at = StructureInstance::new(structure, start, options.reduction, needs_modes)?;
    let mut begun = match scheme.structures {
        StructureSteps::Events => {
            let problem = Problem::unchecked(modal_model(&at)?)?;
            let modal = Start { t: start.t, reached: start.reached.clone(), ..problem.start() };
            let mut begun = by_events(&problem.instance(&modal)?, options, scheme, false)?;
            let linear = at.linear();
            begun.observed = Some(Observed {
                points: linear.points.clone(),
                outline: linear.outline.clone(),
                slides: structure.slides(),
                shears: linear.shears.iter().map(|(p, _)| *p).collect(),
                drags: linear.drags(),
                base: BaseMotion::new(structure, at.cells()),
            });
            begun
        }
        StructureSteps::Steps(begin) => stepped(structure, &at, options, scheme, &mut |h| begin(&at, h, &settings))?,
        _ => {
            let able = SCHEMES.iter().filter(|s| !matches!(s.structures, StructureSteps::None)).map(|s| s.name);
            return Err(SetupError::new(format!("{} is not supported for structures", scheme.name))
                .with_kind(Kind::Unsupported)
                .help(format!("structures can be run with {}", able.collect::<Vec<_>>().join(", "))));
        }
    };
    begun.is_forced = structure.is_forced();
    begun.modes = at.modes();
    begun.warnings.extend(structure.warnings(&at, begun.tolerance.is_none().then_some(begun.step)));
    if let Some(reduction) = options.reduction {
        let all = structure.linear().dimension() - structure.linear().massless().len();
        let residual =
            if reduction.residual { " with the residual flexibility of the others at the stops" } else { "" };
        begun.notes.push(format!(
            "{} of {all} modes{residual}: a study over modes (converge) shows whether they are enough",
            reduction.modes
        ));
    }
    Ok(begun)
}

fn stepped(
    structure: &Structure,
    at: &StructureInstance,
    options: &Options,
    scheme: Scheme,
    begin: &mut dyn FnMut(f64) -> Result<Box<dyn crate::stepping::Stepper>, SetupError>,
) -> Result<Begun, SetupError> {
    let start = at.start();
    let (end, h, warning) = steps(options, start.t)?;
    let stepper = begin(h)?;
    let linear: &Arc<_> = at.linear();
    let observe = |x: &[f64]| -> Vec<f64> { (0..linear.points.len()).map(|p| linear.points.dot(p, x)).collect() };
    let (q0, v0) = (observe(&linear.q0), observe(&linear.v0));
    let compliant = (0..linear.stops.len()).map(|a| linear.is_compliant(a)).collect();
    let gauge = Gauge::with_responses(
        at.gaps(),
        at.restitution(),
        compliant,
        structure.model().has_moving_constraints(),
        stepper.responses().unwrap_or_default(),
        linear.holes.iter().map(|(a, hole)| (*a, hole.points)).collect(),
        q0.len(),
    );
    let Some(stepping) = scheme.steps().copied() else {
        return Err(SetupError::new(format!("{} has no steps", scheme.name)));
    };
    let engine = StepEngine::new(StepPlan {
        model: structure.model().clone(),
        stepper,
        stepping,
        gauge: gauge.clone(),
        crossings: None,
        cells: at.cells().clone(),
        shears: linear.shears.iter().map(|(p, _)| *p).collect(),
        sides: structure.side_names(),
        slides: Some(structure.slides()),
        base: Some(BaseMotion::new(structure, at.cells())),
        closed: start.closed().map(<[usize]>::to_vec),
        t0: start.t,
        q0: q0.clone(),
        v0: v0.clone(),
        h,
        end,
        every: options.every,
        follow: options.follow.clone(),
        keep: options.keep,
    })?;
    Ok(Begun {
        engine: Box::new(engine),
        gauge,
        scheme,
        step: h,
        tolerance: None,
        warnings: warning.into_iter().collect(),
        notes: Vec::new(),
        is_forced: true,
        q0,
        v0,
        modes: None,
        observed: None,
    })
}
