//! How the motion depends on its data, by experiment: an ensemble of perturbed starts, in two sizes.
//!
//! Where the motion depends continuously on its data, the ends of the ensemble come together as the perturbations shrink; where it
//! does not, they stay apart. So half of the ensemble is perturbed by a size ε, half by ε/10, and the two spreads are compared.

use super::{Execute, Job};
use crate::linalg::Dice;
use crate::problem::Start;
use crate::run::{Options, Run, System};
use crate::{Keep, SetupError};

/// How an ensemble is perturbed.
#[derive(Clone, Copy, Debug)]
pub struct ProbeOptions {
    /// How many starts.
    pub starts: usize,
    /// The size of the perturbations relative to the data; half of them have a tenth of it.
    pub size: f64,
    /// The seed.
    pub seed: u64,
}

/// Starts perturbed in position and velocity, all admissible: as many as asked for, or fewer where the start leaves no room;
/// each with the size of its perturbation.
pub fn ensemble(system: &dyn System, start: &Start, options: &ProbeOptions) -> Vec<(f64, Start)> {
    let mut dice = Dice::new(options.seed);
    let mut all = Vec::with_capacity(options.starts);
    for k in 0..options.starts {
        let size = if k % 2 == 0 { options.size } else { 0.1 * options.size };
        // A start in contact is easily left to the wrong side: tried a few times.
        for _ in 0..50 {
            let perturbed = system.perturbed(start, size, &mut dice);
            if system.admits(&perturbed).is_ok() {
                all.push((size, perturbed));
                break;
            }
        }
    }
    all
}

/// Runs an ensemble of perturbed starts and says whether the outcomes form one bundle or split.
pub fn probe(
    system: &dyn System,
    start: &Start,
    options: &Options,
    how: &ProbeOptions,
    execute: Execute,
) -> Result<Probe, SetupError> {
    if !(how.size > 0.0 && how.size <= 0.1) {
        let message = format!("the size of the perturbations must be between 0 and 0.1, not {}", how.size);
        return Err(SetupError::new(message));
    }
    let starts = ensemble(system, start, how);
    let lean = Options { until_rest: false, ..options.clone() }.keep(Keep::IMPACTS);
    let jobs: Vec<Job> = starts.iter().map(|(_, start)| Job { start: start.clone(), options: lean.clone() }).collect();
    let outcomes = execute(&jobs);
    let runs = starts.iter().zip(outcomes).filter_map(|((size, _), outcome)| Some((*size, outcome.ok()?.run)));
    Ok(judge(&runs.collect::<Vec<_>>()))
}

/// What an ensemble shows.
#[derive(Clone, Debug)]
pub struct Probe {
    /// How many runs were compared, and how many did not finish.
    pub runs: usize,
    /// Runs that did not finish.
    pub failed: usize,
    /// The largest distance of end positions with the larger perturbations, and with those of a tenth.
    pub spread: (f64, f64),
    /// The same of first-order states, relative to their largest values; zero where there are none.
    pub states: (f64, f64),
    /// The spread over the size of the perturbation: how much they grow.
    pub growth: f64,
    /// Whether the ends stay apart however small the perturbation.
    pub splits: bool,
    /// The first impact at which the runs part (counted from 1), its time, and the constraints of those that differ.
    pub parting: Option<(usize, f64)>,
    /// The groups of ends: their number of runs and the mean end position, with first-order states behind it, largest first; one group
    /// if it does not split.
    pub groups: Vec<(usize, Vec<f64>)>,
    /// What it means, in a sentence.
    pub sentence: String,
}

/// Judges the runs of an ensemble, given with the sizes of their perturbations.
pub fn judge(runs: &[(f64, Run)]) -> Probe {
    let ended: Vec<&(f64, Run)> =
        runs.iter().filter(|(_, r)| r.status.is_complete() && !r.trajectory.is_empty()).collect();
    let failed = runs.len() - ended.len();
    let largest = ended.iter().map(|(s, _)| *s).fold(0.0, f64::max);
    let d = ended.first().map_or(0, |(_, run)| run.trajectory.degrees());
    let end = |run: &Run| {
        let last = run.trajectory.len() - 1;
        [&run.trajectory.q(last)[..d], run.trajectory.states(last)].concat()
    };
    let ends: Vec<Vec<f64>> = ended.iter().map(|(_, run)| end(run)).collect();
    // Each state is measured by its largest value; a force is no place where a run could end.
    let is_force = |i: usize| ended.first().is_some_and(|(_, run)| run.trajectory.is_force(i));
    let mut units: Vec<f64> = (0..d).map(|i| if is_force(i) { f64::INFINITY } else { 1.0 }).collect();
    units.extend((d..ends.first().map_or(d, Vec::len)).map(|i| level(&ended, i)));
    let spread = |large: bool, which: std::ops::Range<usize>| {
        let of_size = |(k, _): &(usize, &Vec<f64>)| (ended[*k].0 > 0.5 * largest) == large;
        let ends: Vec<&Vec<f64>> = ends.iter().enumerate().filter(of_size).map(|(_, end)| end).collect();
        let mut widest = 0.0_f64;
        for (k, a) in ends.iter().enumerate() {
            for b in &ends[..k] {
                widest = which.clone().map(|i| (a[i] - b[i]).abs() / units[i]).fold(widest, f64::max);
            }
        }
        widest
    };
    let (wide, narrow) = (spread(true, 0..d), spread(false, 0..d));
    let states = (spread(true, d..units.len()), spread(false, d..units.len()));
    let scale = ended.iter().map(|(_, r)| r.trajectory.reach()).fold(0.0_f64, f64::max).max(1e-300);
    // Continuous: a tenth of the perturbation gives about a tenth of the spread (less where impacts are tangential: a root).
    // A twentieth of the motion is apart, however large the perturbations are.
    let stays =
        |(wide, narrow): (f64, f64), scale: f64| narrow > 0.6 * wide && narrow > (1e3 * largest).min(0.05) * scale;
    let by = [stays((wide, narrow), scale), stays(states, 1.0)];
    let splits = by[0] || by[1];
    let growth = wide / (largest * scale).max(1e-300);
    // Runs are together where they are in all that stays apart.
    let near = |i: usize| match (i < d, by) {
        (true, [true, _]) if !is_force(i) => 0.2 * wide,
        (false, [_, true]) => 0.2 * states.0 * units[i],
        _ => f64::INFINITY,
    };
    let groups = group(&ends, &(0..units.len()).map(near).collect::<Vec<_>>());
    let parting = if splits { parting(&ended) } else { None };
    let sentence = match (splits, ended.len()) {
        (_, 0 | 1) => "no two runs finished: nothing can be said".to_string(),
        (true, n) => format!(
            "the outcomes split into {} groups however small the perturbation: {n} runs end up to {wide:.3e} apart with perturbations of {largest:.0e}, and {narrow:.3e} with a tenth of that{}",
            groups.len(),
            also(states)
        ),
        (false, n) => format!(
            "one bundle, no split found: {n} runs end within {wide:.3e} of each other with perturbations of {largest:.0e}, and {narrow:.3e} with a tenth of that{}",
            also(states)
        ),
    };
    Probe { runs: ended.len(), failed, spread: (wide, narrow), states, growth, splits, parting, groups, sentence }
}

/// The largest value of a first-order state at what is stored: the start, the impacts, the end.
fn level(runs: &[&(f64, Run)], i: usize) -> f64 {
    let of = |run: &Run| {
        let motion = &run.trajectory;
        let stored = (0..motion.len()).map(|k| motion.states(k)[i - motion.degrees()]);
        stored.chain(motion.impacts.iter().map(|impact| impact.v_after[i])).fold(0.0_f64, |m, z| m.max(z.abs()))
    };
    runs.iter().map(|(_, run)| of(run)).fold(1e-300, f64::max)
}

/// What is said of states.
fn also((wide, narrow): (f64, f64)) -> String {
    match wide.max(narrow) > 0.0 {
        true => format!("; first-order states {wide:.3e} and {narrow:.3e}, relative to their largest values"),
        false => String::new(),
    }
}

/// Groups of points that hang together by distances below `near` in each entry: how many, and their mean.
fn group(ends: &[Vec<f64>], near: &[f64]) -> Vec<(usize, Vec<f64>)> {
    let mut label: Vec<usize> = (0..ends.len()).collect();
    for k in 0..ends.len() {
        for j in 0..k {
            let together = (0..near.len()).all(|i| (ends[k][i] - ends[j][i]).abs() <= near[i]);
            if together && label[k] != label[j] {
                let (from, to) = (label[k], label[j]);
                label.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            }
        }
    }
    let mut groups: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut seen: Vec<usize> = label.clone();
    seen.sort_unstable();
    seen.dedup();
    for l in seen {
        let members: Vec<&Vec<f64>> = ends.iter().zip(&label).filter(|(_, x)| **x == l).map(|(e, _)| e).collect();
        let mean =
            (0..members[0].len()).map(|i| members.iter().map(|e| e[i]).sum::<f64>() / members.len() as f64).collect();
        groups.push((members.len(), mean));
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.0));
    groups
}

/// The first impact after which the runs differ much more than before it.
fn parting(runs: &[&(f64, Run)]) -> Option<(usize, f64)> {
    let least = runs.iter().map(|(_, r)| r.trajectory.impacts.len()).min()?;
    let d = runs.first()?.1.trajectory.degrees();
    for k in 0..least {
        let at: Vec<_> = runs.iter().map(|(_, r)| r.trajectory.impacts.get(k)).collect();
        let motion = &runs[0].1.trajectory;
        let most = |of: &dyn Fn(usize) -> f64| (0..d).filter(|&i| !motion.is_force(i)).map(of).fold(0.0, f64::max);
        let fast = at.iter().map(|i| most(&|x| i.v_before[x].abs().max(i.v_after[x].abs()))).fold(0.0, f64::max);
        let after = at.iter().map(|i| most(&|x| (i.v_after[x] - at[0].v_after[x]).abs())).fold(0.0, f64::max);
        let other = at.iter().any(|i| i.constraints != at[0].constraints);
        if other || after > 0.05 * fast {
            return Some((k + 1, at[0].t));
        }
    }
    runs.iter().map(|(_, r)| &r.trajectory.impacts).find(|i| i.len() > least).map(|i| (least + 1, i.get(least).t))
}
