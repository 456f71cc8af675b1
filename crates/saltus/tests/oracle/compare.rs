//! Saltus and the oracle, side by side.

use crate::dice::Dice;
use crate::exact::Exact;
use crate::families::Part;
use crate::integrator::Integrator;
use crate::model::Nudge;
use saltus::model::Builder;
use saltus::{Options, PhaseKind, Problem, Progress, Run, Side, Status};
use std::time::{Duration, Instant};

/// Positions and velocities must agree to this, relative to the motion.
const WITHIN: f64 = 1e-6;
/// Where a change has grown by more, nothing is compared: the tolerance of Saltus, 1e-10, would be as much.
const GROWTH: f64 = 1e4;
const NUDGE: f64 = 1e-9;

pub enum Verdict {
    Agrees,
    /// Breached, though the motion is right as far as one can tell.
    FalseAlarm(String),
    /// Something is wrong or unsure, and Saltus says so.
    SaidSo(String),
    Wrong(String),
    /// The oracle does not know.
    Unknown,
}

pub struct Judged {
    pub verdict: Verdict,
    pub samples: usize,
    pub compared: usize,
    pub worst: f64,
    /// Of Saltus and of the oracle.
    pub time: Duration,
    pub other: Duration,
}

/// A state of the oracle and how far changes have grown; `None` where it does not know.
struct Known {
    q: Vec<f64>,
    v: Vec<f64>,
    growth: f64,
    growth_of_speed: f64,
}

/// Tolerance and longest step, as a rule and where the oracle has to be sure.
const PLAIN: (f64, f64) = (1e-13, 0.5);
const FINE: (f64, f64) = (5e-15, 0.02);

fn states(part: &Part, times: &[f64], nudge: Nudge, how: (f64, f64)) -> Vec<Option<(Vec<f64>, Vec<f64>)>> {
    let mut out = vec![None; times.len()];
    if let Some(oscillator) = &part.exact {
        let mut exact = Exact::new(oscillator, nudge);
        for (k, &t) in times.iter().enumerate() {
            if exact.advance(t).is_none() {
                break;
            }
            out[k] = Some((vec![exact.q], vec![exact.v]));
        }
        return out;
    }
    let d = part.model.d();
    let Some(mut motion) = Integrator::new(&part.model, nudge, how) else { return out };
    for (k, &t) in times.iter().enumerate() {
        if motion.advance(t).is_none() {
            break;
        }
        out[k] = Some((motion.q[..d].to_vec(), motion.v[..d].to_vec()));
    }
    out
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// What the oracle knows of a part at some times of its own units.
fn known(part: &Part, times: &[f64]) -> Vec<Option<Known>> {
    let plain = states(part, times, Nudge(0.0), PLAIN);
    let others = [states(part, times, Nudge(NUDGE), PLAIN), states(part, times, Nudge(-NUDGE), PLAIN)];
    let mut growth = 0.0_f64;
    plain
        .into_iter()
        .enumerate()
        .map(|(k, state)| {
            let (q, v) = state?;
            let mut growth_of_speed = 0.0_f64;
            for other in &others {
                let (q1, v1) = other[k].as_ref()?;
                growth = growth.max(apart(&q, q1) / NUDGE);
                growth_of_speed = growth_of_speed.max(apart(&v, v1) / NUDGE);
            }
            Some(Known { q, v, growth, growth_of_speed })
        })
        .collect()
}

pub fn builder(parts: &[Part]) -> Builder {
    let mut builder = Builder::new("random");
    let mut kinetic = Vec::new();
    for (k, part) in parts.iter().enumerate() {
        builder = part.model.write(builder, &mut kinetic, &k.to_string(), part.units);
    }
    builder.kinetic(kinetic.join(" + "))
}

fn saltus(parts: &[Part], end: f64) -> Result<(Problem, Run), String> {
    let problem = builder(parts).build().and_then(Problem::new).map_err(|e| format!("refused: {e}"))?;
    let started = Instant::now();
    let run = problem
        .run_observed(&problem.start(), &Options::events(end).step(end / 100.0), &mut |_: Progress| {
            started.elapsed().as_secs() < 20
        })
        .map_err(|e| format!("does not start: {e}"))?;
    Ok((problem, run))
}

/// What Saltus says about its run, if it says anything.
fn says(run: &Run) -> Option<String> {
    match &run.status {
        Status::Finished => {
            let stepped = run.timeline.of(PhaseKind::Stepped).next();
            stepped.map(|p| format!("stepped from {:e} to {:e}: {:?}", p.start, p.end, run.notes.first()))
        }
        Status::Breached { breaches } => Some(format!("breached: {}", breaches.join("; "))),
        Status::Failed(failure) => Some(format!("failed at t = {:e}: {}", failure.t, failure.reason)),
        other => Some(format!("{other:?}")),
    }
}

fn sample_times(seed: u64) -> Vec<f64> {
    let mut dice = Dice::new(seed ^ 0xabcdef);
    let mut times: Vec<f64> = (0..20).map(|_| dice.between(0.0, 1.0)).collect();
    times.push(1.0);
    times.sort_by(f64::total_cmp);
    times
}

pub fn judge(seed: u64, parts: &[Part], end: f64) -> Judged {
    look(seed, parts, end, false)
}

pub fn tell(seed: u64, parts: &[Part], end: f64) {
    println!("{}", builder(parts).source());
    for part in parts {
        println!("units {:?} end {} start {:?} {:?}", part.units, part.model.end, part.model.q0, part.model.v0);
    }
    let judged = look(seed, parts, end, true);
    let text = match judged.verdict {
        Verdict::Agrees => "agrees".into(),
        Verdict::FalseAlarm(text) => format!("false alarm: {text}"),
        Verdict::SaidSo(text) => format!("said so: {text}"),
        Verdict::Wrong(text) => format!("WRONG: {text}"),
        Verdict::Unknown => "unknown".into(),
    };
    println!("{text}; {} of {} compared, worst {:e}, {:?}", judged.compared, judged.samples, judged.worst, judged.time);
}

fn look(seed: u64, parts: &[Part], end: f64, aloud: bool) -> Judged {
    let started = Instant::now();
    let outcome = saltus(parts, end);
    let mut judged = Judged {
        verdict: Verdict::Unknown,
        samples: 0,
        compared: 0,
        worst: 0.0,
        time: started.elapsed(),
        other: Duration::ZERO,
    };
    let (_, run) = match outcome {
        Ok(run) => run,
        Err(text) => {
            judged.verdict = Verdict::SaidSo(text);
            return judged;
        }
    };
    let said = says(&run);
    let fractions = sample_times(seed);
    let mut mismatch: Option<String> = None;
    let mut first = 0;
    if aloud {
        println!("{} impacts, {} steps, {:?} {:?}", run.trajectory.impacts.len(), run.steps, run.status, run.notes);
    }
    for (p, part) in parts.iter().enumerate() {
        let [l, s, _] = part.units;
        let d = part.model.d();
        let times: Vec<f64> = fractions.iter().map(|f| f * end / s).collect();
        let known = known(part, &times);
        // (A body that is not thrown in what it rests on has no scale of its own.)
        let (mut far, mut fast) = (1e-3_f64, 1e-3_f64);
        for (k, state) in known.iter().enumerate() {
            judged.samples += 1;
            let Some(state) = state else { continue };
            far = state.q.iter().fold(far, |m, x| m.max(x.abs()));
            fast = state.v.iter().fold(fast, |m, x| m.max(x.abs()));
            let Some((q, v)) = run.trajectory.at(fractions[k] * end, Side::Left) else { continue };
            let q: Vec<f64> = q[first..first + d].iter().map(|x| x / l).collect();
            let v: Vec<f64> = v[first..first + d].iter().map(|x| x * s / l).collect();
            let off = apart(&q, &state.q) / far.max(fast);
            let off_in_speed = apart(&v, &state.v) / fast.max(far);
            if aloud {
                println!(
                    "part {p} t {:.6e} oracle {:?} {:?} off {off:.1e} {off_in_speed:.1e} growth {:.1e} {:.1e}",
                    times[k], state.q, state.v, state.growth, state.growth_of_speed
                );
            }
            if state.growth > GROWTH * far.max(fast) {
                continue;
            }
            judged.compared += 1;
            let mut worst = off;
            if state.growth_of_speed < GROWTH * fast.max(far) {
                worst = worst.max(off_in_speed);
            }
            judged.worst = judged.worst.max(worst);
            // Before anything is called wrong, the oracle is asked again, more strictly: it must agree with itself.
            let is_sure = || {
                let fine = states(part, &times[..=k], Nudge(0.0), FINE).pop().flatten();
                fine.is_some_and(|(q, v)| apart(&q, &state.q).max(apart(&v, &state.v)) < 0.1 * WITHIN * far.max(fast))
            };
            if !(worst <= WITHIN) && mismatch.is_none() && is_sure() {
                mismatch = Some(format!("part {p} off by {worst:.1e} at t = {:.6e} of {:.6e}", times[k], end / s));
            }
        }
        first += d;
    }
    judged.other = started.elapsed() - judged.time;
    if judged.time.as_secs() >= 2 {
        println!("{seed}: Saltus needed {:.1?} and {} steps", judged.time, run.steps);
    }
    if (started.elapsed() - judged.time).as_secs() >= 2 {
        println!("{seed}: the oracle needed {:.1?}", started.elapsed() - judged.time);
    }
    judged.verdict = match (said, mismatch) {
        (None, None) if judged.compared == 0 => Verdict::Unknown,
        (None, None) => Verdict::Agrees,
        (None, Some(text)) => Verdict::Wrong(text),
        (Some(text), None) if run.status.is_complete() => Verdict::FalseAlarm(text),
        (Some(text), _) => Verdict::SaidSo(text),
    };
    judged
}
