//! A run that is taken up where another stopped is the run that did not stop.

#[path = "common/accepted.rs"]
mod accepted;
#[path = "common/breaches.rs"]
mod breaches;
#[path = "common/short.rs"]
mod short;

use accepted::accepted;
use saltus::scheme::{SCHEMES, Scheme};
use saltus::{Kind, Options, Run, SetupError, Side, Start};
use saltus_io::{AnySystem, Opened};

/// By events two ways to the same end differ by less than this, relative to the size of the motion …
const BY_EVENTS: f64 = 1e-7;

/// … and with time steps by less than what this many steps make.
const STEPS: f64 = 4.0;

fn from(system: &AnySystem, start: &Start, options: &Options) -> Result<Run, SetupError> {
    match system {
        AnySystem::Problem(problem) => problem.resume(start)?.run(options),
        AnySystem::Structure(structure) => structure.resume(start)?.run(options),
    }
}

/// A run that does not stop.
struct Whole<'a> {
    name: &'static str,
    opened: &'a Opened,
    scheme: Scheme,
    options: Options,
    run: Run,
}

impl Whole<'_> {
    fn what(&self, t: f64) -> String {
        format!("{} with {}, stopped at t = {t}", self.name, self.scheme.name)
    }

    /// The node nearest to a time.
    fn node(&self, t: f64) -> f64 {
        let (t0, h) = (self.opened.start.t, self.options.step.expect("a step"));
        t0 + ((t - t0) / h).round() * h
    }

    fn half(&self) -> f64 {
        self.node(0.5 * (self.opened.start.t + self.options.end))
    }

    /// Instants at and around the first impacts: the very instants by events, nodes with time steps.
    fn impacts(&self) -> Vec<f64> {
        let (t0, h) = (self.opened.start.t, self.options.step.expect("a step"));
        let first = self.run.trajectory.impacts.iter().take(2).map(|i| i.t);
        let near = first.flat_map(|t| match self.run.by_events() {
            true => vec![t],
            false => [-1.0, 0.0, 1.0, 2.0].map(|k| self.node(t) + k * h).to_vec(),
        });
        near.filter(|&t| t > t0 + h && t < self.options.end - h).collect()
    }

    fn until(&self, t: f64) -> Run {
        from(&self.opened.system, &self.opened.start, &self.options.clone().until(t)).expect("accepted before")
    }

    /// Stops at a time and goes on from there: how far the ends are apart, by what is allowed; None: it is refused.
    fn broken(&self, t: f64) -> Option<f64> {
        let stopped = self.until(t);
        let gone_on = from(&self.opened.system, stopped.last(), &self.options).ok()?;
        // Where a compliant contact, or an impact of several steps, is cut in two, the account of neither part is complete.
        let is_cut = stopped.last().reached_by().is_some_and(|by| by.within_impact);
        let allowed: &[&str] = match (self.scheme.name, is_cut) {
            ("penalty", _) => &["P2", "P4", "C3", "C4", "C7", "energy"],
            // At curved boundaries the first impact of a new sequence of steps is off the law by a part of a step.
            ("paoli-schatzman", _) if ["disc", "rod"].contains(&self.name) => &["P4", "C7", "energy"],
            (_, true) => &["C7", "energy"],
            _ => breaches::of_steps(self.opened, &self.scheme),
        };
        breaches::only(allowed, &stopped, &self.what(t));
        breaches::only(allowed, &gone_on, &self.what(t));
        // A scheme that was within an impact of several steps says so: position and velocity do not tell what comes next.
        if stopped.last().reached_by().is_some_and(|by| by.within_impact) {
            assert!(gone_on.warnings.iter().any(|w| w.contains("within an impact")), "{}", self.what(t));
            return Some(0.0);
        }
        let (a, b) = (&self.run.trajectory, &gone_on.trajectory);
        // (Integrals of first-order states begin with each run.)
        let (end, other) = (&a.q(a.len() - 1)[..a.degrees()], &b.q(b.len() - 1)[..a.degrees()]);
        let apart = end.iter().zip(other).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        let largest = a.reach();
        let fastest = a.velocities(Side::Left).fold(0.0_f64, |m, v| m.max(v.abs()));
        let allowed = if self.run.by_events() { BY_EVENTS * largest } else { STEPS * self.run.step * fastest };
        Some(apart / allowed)
    }
}

/// Every shipped model with every scheme that accepts it.
fn every(mut look: impl FnMut(&Whole)) {
    for (name, _, opened) in short::models() {
        for &scheme in SCHEMES {
            let options = short::options(name, &opened, &scheme, 20_000.0);
            if let Some(run) = accepted(from(&opened.system, &opened.start, &options)) {
                look(&Whole { name, opened: &opened, scheme, options, run });
            }
        }
    }
}

/// Stops every run at some instants; says where going on leads elsewhere.
fn stopped_at(instants: impl Fn(&Whole) -> Vec<f64>) {
    let mut wrong = Vec::new();
    every(|whole| {
        for t in instants(whole) {
            match whole.broken(t) {
                None => wrong.push(format!("{}: refused", whole.what(t))),
                Some(apart) if !(apart <= 1.0) => {
                    wrong.push(format!("{}: apart by {apart:.1} times what is allowed", whole.what(t)));
                }
                Some(_) => {}
            }
        }
    });
    assert!(wrong.is_empty(), "{} runs do not go on as they should:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_run_goes_on_where_another_stopped() {
    stopped_at(|whole| vec![whole.half()]);
}

#[test]
fn an_impact_at_the_instant_of_the_stop_is_made_once() {
    stopped_at(|whole| whole.impacts());
}

#[test]
fn states_that_runs_reached_are_never_refused() {
    let mut wrong = Vec::new();
    every(|whole| {
        let Opened { system, .. } = whole.opened;
        for t in [whole.half()].into_iter().chain(whole.impacts()) {
            let stopped = whole.until(t);
            let (what, last) = (whole.what(t), stopped.last());
            if let Err(refusal) = system.admits(last) {
                wrong.push(format!("{what}: not admitted: {}", refusal.message));
            }
            if let Err(refusal) = from(system, last, &whole.options) {
                wrong.push(format!("{what}: refused: {}", refusal.message));
            }
        }
    });
    assert!(wrong.is_empty(), "{} refusals:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn another_scheme_goes_on_where_one_stopped() {
    let mut wrong = Vec::new();
    every(|whole| {
        let Opened { system, .. } = whole.opened;
        let stopped = whole.until(whole.half());
        let h = whole.options.step.expect("a step");
        for scheme in SCHEMES {
            let options = short::options(whole.name, whole.opened, scheme, 20_000.0);
            let begins = from(system, &whole.opened.start, &options.clone().until(whole.opened.start.t + 2.0 * h));
            if begins.is_err() {
                continue;
            }
            let what = format!("{}, going on with {}", whole.what(whole.half()), scheme.name);
            match from(system, stopped.last(), &options.until(stopped.last().t + 10.0 * h)) {
                // Other modes are other coordinates.
                Err(refusal) if refusal.kind() == Kind::Unsupported && refusal.message.contains("modes") => {}
                Err(refusal) => wrong.push(format!("{what}: refused: {}", refusal.message)),
                Ok(on) => {
                    let (a, b) = (&stopped.trajectory, &on.trajectory);
                    let (here, there) = (&a.q(a.len() - 1)[..a.degrees()], &b.q(0)[..a.degrees()]);
                    let apart = here.iter().zip(there).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
                    let fastest = a.velocities(Side::Left).fold(0.0_f64, |m, v| m.max(v.abs()));
                    if !(apart <= STEPS * h * fastest) || b.t[0] != stopped.last().t {
                        wrong.push(format!("{what}: from {here:?} to {there:?}"));
                    }
                }
            }
        }
    });
    assert!(wrong.is_empty(), "{} motions are not continuous:\n{}", wrong.len(), wrong.join("\n"));
}
