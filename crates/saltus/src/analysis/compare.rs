//! Several schemes on one system, and a verdict which of them agree.

use super::pairing::unpaired;
use super::{Distance, Execute, Job, Timed, distance};
use crate::motion::Impacts;
use crate::problem::Start;
use crate::run::{Options, Run, System};
use crate::scheme::{self, Domain, SCHEMES, Scheme, Settings, StructureSteps, Systems, TOLERANCE};
use crate::text::{count, number};
use crate::{SetupError, Status};

/// What to compare.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The schemes by name; empty: all that accept the system.
    pub schemes: Vec<String>,
    /// The steps, any order; event-driven schemes store instants at the smallest.
    pub steps: Vec<f64>,
    /// Everything else; settings go to the schemes that have them.
    pub base: Options,
}

/// One way to run a system: a scheme with the settings that distinguish it.
#[derive(Clone, Debug)]
pub struct Way {
    /// Its name: the scheme, and a choice where it has several.
    pub label: String,
    /// The scheme.
    pub scheme: Scheme,
    /// Its settings.
    pub settings: Settings,
}

/// One way's runs, from the coarsest to the finest.
#[derive(Clone, Debug)]
pub struct ComparedRuns {
    /// Which way.
    pub way: Way,
    /// The runs.
    pub runs: Vec<Timed>,
    /// The error of its finest run in position, as it estimates it itself.
    pub error: f64,
    /// The same of its first-order states, relative to their largest values.
    pub state_error: f64,
    /// What speaks against its finest run: it then agrees with nobody.
    pub trouble: Option<String>,
}

impl ComparedRuns {
    /// The finest run.
    pub fn finest(&self) -> &Run {
        &self.runs[self.runs.len() - 1].run
    }

    /// Wall time of the finest run in seconds.
    pub fn seconds(&self) -> f64 {
        self.runs[self.runs.len() - 1].seconds
    }
}

/// A comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// What ran, in the order of the schemes.
    pub entries: Vec<ComparedRuns>,
    /// Distances of the finest runs of every pair, as (a, b, distance) with a < b.
    pub distances: Vec<(usize, usize, Distance)>,
    /// Groups of entries that agree, largest first.
    pub groups: Vec<Vec<usize>>,
    /// The verdict in sentences.
    pub sentences: Vec<String>,
    /// What did not run, and why.
    pub refused: Vec<(String, SetupError)>,
    /// The steps, from the largest.
    pub steps: Vec<f64>,
    /// Whether it was interrupted: there is then no verdict.
    pub interrupted: bool,
}

/// Modes of a structure that are followed by events without being asked for.
const FEW_MODES: usize = 40;

/// Two ways agree if their distance is explained by their own errors; the constant of a first-order error varies with the
/// phase of the step.
const SLACK: f64 = 6.0;

/// A scheme whose own error is more than this share of the motion agrees with nobody.
const UNSURE: f64 = 0.05;

/// No more instants than about this many are stored of each run; jumps always are.
const STORED: f64 = 200_000.0;

/// The same options with instants thinned out where there would be very many.
pub(super) fn thinned(options: Options, t0: f64) -> Options {
    let step = options.step.unwrap_or(f64::INFINITY);
    let every = ((options.end - t0) / step / STORED).ceil().max(1.0) as u64;
    let every = options.every.max(every);
    options.every(every)
}

/// The ways in which a system can be run: every scheme that accepts it, once per choice that suits it.
pub fn ways(system: &dyn System, names: &[String], given: &Settings) -> Result<Vec<Way>, SetupError> {
    let all = SCHEMES.iter().filter(|s| s.name != SCHEMES[0].name).copied();
    let chosen: Vec<Scheme> = match names {
        [] => all.collect(),
        names => names.iter().map(|n| scheme::find(n.trim())).collect::<Result<_, _>>()?,
    };
    for (k, scheme) in chosen.iter().enumerate() {
        if chosen[..k].iter().any(|s| s.name == scheme.name) {
            return Err(SetupError::new(format!("the scheme `{}` is named twice", scheme.name)));
        }
    }
    if let Some((name, _)) = given.given().find(|(name, _)| chosen.iter().all(|s| s.setting(name).is_none())) {
        return Err(SetupError::new(format!("none of the schemes has a setting `{name}`")));
    }
    let kind = system.kind();
    // A name that stands for another scheme on this kind of system is that scheme: nothing is compared with itself.
    for scheme in chosen.iter().filter(|_| kind == Systems::Structures) {
        if let StructureSteps::Instead(runs) = scheme.structures
            && chosen.iter().any(|s| s.name == runs)
        {
            return Err(SetupError::new(format!(
                "on a structure `{}` runs `{runs}`, which is named as well: it would be compared with itself",
                scheme.name
            ))
            .help("name one of the two"));
        }
    }
    let mut ways = Vec::new();
    for scheme in chosen {
        if names.is_empty() && kind == Systems::Structures && matches!(scheme.structures, StructureSteps::None) {
            continue;
        }
        let settings = given.among(scheme.settings);
        // Structures have several forcings worth comparing; each is a way of its own unless one is given.
        let choice = scheme.settings.iter().find_map(|s| match s.domain {
            Domain::Choice(choices) if kind == Systems::Structures && settings.get(s.name).is_none() => {
                Some((s, choices))
            }
            _ => None,
        });
        match choice {
            Some((setting, choices)) => ways.extend(choices.iter().filter(|c| c.systems == kind).map(|c| Way {
                label: format!("{} {}", scheme.name, c.name),
                scheme,
                settings: settings.clone().with(setting.name, c.name),
            })),
            None => ways.push(Way { label: scheme.name.to_string(), scheme, settings }),
        }
    }
    Ok(ways)
}

/// Runs several schemes on one system, and says which agree.
///
/// Each time-stepping scheme is run with every step, event-driven ones with their tolerance and with a hundred times that. How
/// much a scheme changes between its two finest runs gives its own error; two schemes agree if their distance is within what
/// those errors explain.
///
/// ```
/// use saltus::{Options, analysis::{CompareOptions, compare, sequentially}, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, -1.0).kinetic("y'^2/2").restitution(0.5)
///     .constraint("floor", "y").build()?.problem()?;
/// let schemes = vec!["event-driven".to_string(), "mabrouk".to_string()];
/// let how = CompareOptions { schemes, steps: vec![1e-3, 5e-4], base: Options::events(2.0) };
/// let found = compare(&ball, &ball.start(), &how, &mut sequentially(&ball))?;
/// assert_eq!(found.groups, [[0, 1]]);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn compare(
    system: &dyn System,
    start: &Start,
    how: &CompareOptions,
    execute: Execute,
) -> Result<Comparison, SetupError> {
    let mut steps = how.steps.clone();
    if let Some(bad) = steps.iter().find(|h| !(**h > 0.0 && h.is_finite())) {
        return Err(SetupError::new(format!("a step must be a positive number, not {bad}")));
    }
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    let finest = steps.last().copied();
    let mut refused: Vec<(String, SetupError)> = Vec::new();
    let (mut jobs, mut sizes, mut accepted) = (Vec::new(), Vec::new(), Vec::new());
    for way in ways(system, &how.schemes, &how.base.settings)? {
        if let Some(why) = too_long_by_events(system, &way, how) {
            refused.push((way.label, why));
            continue;
        }
        let options = |step: Option<f64>, settings: Settings| {
            let mut options = Options { settings, step, ..how.base.clone() };
            options.scheme = way.scheme;
            thinned(options, start.t)
        };
        let before = jobs.len();
        match way.scheme.is_event_driven() {
            false => jobs.extend(steps.iter().map(|&h| options(Some(h), way.settings.clone()))),
            true => {
                let fine = way.settings.number(&TOLERANCE).unwrap_or(1e-10);
                let coarse = (100.0 * fine).min(1e-3).max(fine);
                jobs.push(options(finest, way.settings.clone().with("tolerance", coarse)));
                jobs.push(options(finest, way.settings.clone()));
            }
        }
        sizes.push(jobs.len() - before);
        accepted.push(way);
    }
    let jobs: Vec<Job> = jobs.into_iter().map(|options| Job { start: start.clone(), options }).collect();
    let mut outcomes = execute(&jobs).into_iter();
    let (mut entries, mut interrupted) = (Vec::new(), false);
    for (way, size) in accepted.into_iter().zip(sizes) {
        let mut runs = Vec::new();
        let mut trouble = None;
        for outcome in outcomes.by_ref().take(size) {
            match outcome {
                Ok(timed) => match &timed.run.status {
                    Status::Finished | Status::Breached { .. } => runs.push(timed),
                    Status::Interrupted { .. } => interrupted = true,
                    Status::Failed(failure) => {
                        let how = match timed.run.by_events() {
                            false => format!("h = {}", timed.run.step),
                            true => "by events".into(),
                        };
                        trouble = Some(SetupError::new(format!("{how}: {failure}")));
                    }
                },
                Err(e) => trouble = Some(e),
            }
        }
        // A scheme is compared with all its steps or not at all.
        match trouble {
            Some(error) => refused.push((way.label, error)),
            None if runs.len() == size => {
                let against = runs.last().and_then(|timed| super::trouble(&timed.run));
                let state_error = own_state_error(&runs);
                entries.push(ComparedRuns { error: own_error(&runs), state_error, trouble: against, way, runs });
            }
            None => {}
        }
    }
    let mut comparison = Comparison {
        distances: Vec::new(),
        groups: Vec::new(),
        sentences: Vec::new(),
        entries,
        refused,
        steps,
        interrupted,
    };
    if !interrupted {
        comparison.judge(system);
    }
    Ok(comparison)
}

/// Why a structure with many modes is not followed by events without being asked for.
fn too_long_by_events(system: &dyn System, way: &Way, how: &CompareOptions) -> Option<SetupError> {
    let structure = system.as_structure().filter(|_| way.scheme.is_event_driven() && how.schemes.is_empty())?;
    let linear = structure.linear();
    let modes = how.base.reduction.map_or(linear.dimension() - linear.massless().len(), |r| r.modes);
    (modes > FEW_MODES).then(|| {
        SetupError::new(format!("more than {FEW_MODES} modes take long by events"))
            .help("name event-driven among the schemes, or reduce to fewer modes")
    })
}

/// The error of the finest run: from its distance Δ to the next, Δ h₂/(h₁ − h₂) for an error in proportion to the step (but
/// not more than Δ: steps close together say little), and not less than what the motion covers in a step, which is what
/// the phase of an impact within its step amounts to. By events: how much a hundred times the tolerance changes.
fn own_error(runs: &[Timed]) -> f64 {
    let Some(Timed { run: finest, .. }) = runs.last() else { return 0.0 };
    let before = runs.len().checked_sub(2).map(|k| &runs[k].run);
    let change = before.map(|before| distance(&before.trajectory, &finest.trajectory).position);
    if let (true, Some(change)) = (finest.by_events(), change) {
        return change;
    }
    let phase = finest.step * fastest(finest);
    let Some((before, change)) = before.zip(change) else { return phase };
    phase.max((finest.step / (before.step - finest.step)).min(1.0) * change)
}

/// The error of the first-order states of the finest run: how much they change from the run before.
fn own_state_error(runs: &[Timed]) -> f64 {
    match runs {
        [.., before, finest] => distance(&before.run.trajectory, &finest.run.trajectory).state,
        _ => 0.0,
    }
}

/// The largest velocity of a run.
fn fastest(run: &Run) -> f64 {
    run.trajectory.fastest()
}

/// The range of the coordinate that moves most.
fn extent(run: &Run) -> f64 {
    let motion = &run.trajectory;
    let range = |i: usize| {
        let values = (0..motion.len()).map(|k| motion.q(k)[i]);
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        high - low
    };
    motion.displacements().map(range).fold(0.0, f64::max)
}

impl Comparison {
    /// The distance between two entries.
    pub fn between(&self, a: usize, b: usize) -> Distance {
        let (a, b) = (a.min(b), a.max(b));
        self.distances.iter().find(|(x, y, _)| (*x, *y) == (a, b)).map_or_else(Distance::default, |d| d.2)
    }

    /// Who agrees with whom, and where those that do not part.
    fn judge(&mut self, system: &dyn System) {
        let n = self.entries.len();
        let motion = |k: usize| &self.entries[k].finest().trajectory;
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        self.distances = pairs.map(|(a, b)| (a, b, distance(motion(a), motion(b)))).collect();
        let entries = &self.entries;
        let extent = entries.iter().map(|e| extent(e.finest())).fold(0.0, f64::max);
        let sound = |k: &usize| entries[*k].trouble.is_none();
        let sure = |k: &usize| entries[*k].error <= UNSURE * extent + 1e-12;
        let agree = |a: usize, b: usize| {
            let explained = SLACK * (entries[a].error + entries[b].error);
            let near = self.between(a, b).position <= explained.min(0.1 * extent) + 1e-9 * extent + 1e-12;
            let states = SLACK * (entries[a].state_error + entries[b].state_error);
            let near = near && self.between(a, b).state <= states.min(0.1) + 1e-9;
            near && !other_impacts(entries[a].finest(), entries[b].finest())
        };
        // Around the most accurate first: the others are held against it, not against each other's errors.
        let mut order: Vec<usize> = (0..n).filter(sound).filter(sure).collect();
        order.sort_by(|&a, &b| entries[a].error.total_cmp(&entries[b].error));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for k in order {
            match groups.iter_mut().find(|g| agree(g[0], k)) {
                Some(group) => group.push(k),
                None => groups.push(vec![k]),
            }
        }
        groups.iter_mut().for_each(|g| g.sort_unstable());
        groups.sort_by_key(|g| (std::cmp::Reverse(g.len()), g[0]));
        let name = |k: usize| entries[k].way.label.as_str();
        let names = |g: &[usize]| g.iter().map(|&k| name(k)).collect::<Vec<_>>().join(", ");
        let mut sentences = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            let first = groups[0][0];
            if n == 1 {
                sentences.push(format!("{} ran alone: nothing to compare", names(group)));
            } else if group.len() > 1 {
                let all = if group.len() == n { "all agree: " } else { "agree: " };
                let pairs = group.iter().flat_map(|&a| group.iter().map(move |&b| (a, b)));
                let widest = pairs.map(|(a, b)| self.between(a, b).position).fold(0.0, f64::max);
                sentences.push(format!("{all}{} (positions within {})", names(group), number(widest, 2)));
            } else {
                let here = group[0];
                let others = (0..n).filter(|&k| k != here).filter(sound).filter(sure);
                let near =
                    others.min_by(|&a, &b| self.between(here, a).position.total_cmp(&self.between(here, b).position));
                sentences.push(match near {
                    Some(near) => {
                        let d = self.between(here, near);
                        let (far, t) = (number(d.position, 2), number(d.at, 4));
                        let share = number(100.0 * d.position / extent.max(1e-300), 2);
                        let why = match other_impacts(entries[here].finest(), entries[near].finest()) {
                            true => "their impacts are others",
                            false => "more than their own errors explain",
                        };
                        format!(
                            "{} agrees with no other scheme: nearest is {}, {far} away at t = {t} ({share} % of the motion), {why}",
                            name(here),
                            name(near)
                        )
                    }
                    None => format!("{}: no other run is good enough to compare with", name(here)),
                });
            }
            if place > 0 {
                let (here, there) = (group[0], first);
                let runs = (entries[here].finest(), entries[there].finest());
                sentences.extend(parting(system, (runs.0, name(here)), (runs.1, name(there))));
            }
        }
        for k in (0..n).filter(|k| !sound(k)) {
            let against = entries[k].trouble.as_deref().unwrap_or_default();
            sentences.push(format!("{}: not used, its own ledger speaks against it: {against}", name(k)));
        }
        for k in (0..n).filter(sound).filter(|k| !sure(k)) {
            sentences.push(format!(
                "{}: undecided. Its own error is about {} of a motion of size {}: too coarse, chaotic, or the motion depends \
                 discontinuously on its data",
                name(k),
                number(entries[k].error, 2),
                number(extent, 2)
            ));
        }
        (self.groups, self.sentences) = (groups, sentences);
    }
}

/// Whether one of two runs has more than twice the impacts of the other, and other impulses as well (the tail of an
/// accumulation has many impacts and little impulse).
fn other_impacts(a: &Run, b: &Run) -> bool {
    let (m, n) = (a.trajectory.impacts.len(), b.trajectory.impacts.len());
    let total = |run: &Run| run.audit.impulses.iter().sum::<f64>();
    let (p, q) = (total(a), total(b));
    m.min(n) >= 5 && m.max(n) > 2 * m.min(n) && (p - q).abs() > 0.2 * p.abs().max(q.abs())
}

/// The first impact of either run that the other does not have, impacts being paired by time and constraints.
fn parting(system: &dyn System, a: (&Run, &str), b: (&Run, &str)) -> Option<String> {
    let model = system.model();
    let step = |run: &Run| if run.by_events() { 0.0 } else { run.step };
    let resolution = 16.0 * step(a.0).max(step(b.0));
    let (here, there) = (&a.0.trajectory.impacts, &b.0.trajectory.impacts);
    let (mine, yours) = unpaired(here, there, resolution);
    let at = |k: Option<usize>, all: &Impacts| k.map_or(f64::INFINITY, |k| all.get(k).t);
    let t = at(mine, here).min(at(yours, there));
    if t.is_finite() {
        // What the other has at about that time, if that has no partner either.
        let acting = |k: Option<usize>, all: &Impacts| match k.map(|k| all.get(k)).filter(|i| i.t <= t + resolution) {
            Some(impact) => {
                let names: Vec<_> = impact.constraints.iter().map(|&c| model.constraints[c].name.as_str()).collect();
                names.join(" + ")
            }
            None => "none".into(),
        };
        let (first, second) = (acting(mine, here), acting(yours, there));
        // Counted in the run that has it.
        let k = if at(mine, here) <= at(yours, there) { mine } else { yours };
        let k = k.map_or(0, |k| k + 1);
        let t = number(t, 6);
        return Some(format!("they part at impact {k}, t = {t}: {} has {first}, {} has {second}", a.1, b.1));
    }
    let (m, n) = (here.len(), there.len());
    (m != n).then(|| format!("{} has {}, {} has {}", a.1, count(m as u64, "impact"), b.1, count(n as u64, "impact")))
}
