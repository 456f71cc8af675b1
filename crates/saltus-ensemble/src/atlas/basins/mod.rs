//! Basins of attraction: which attractor each start leads to.
//!
//! A trajectory is followed in short pieces, each from where the last one ended, until it is on an attractor that is known, or is
//! found to be on a new one. Attractors are distinguished by what they are: a place of rest, a periodic orbit as the cycle of its
//! states at the stroboscope (at a section, where nothing is forced), which does not depend on where a trajectory entered it, a
//! chaotic set, or none because the motion grows without bound.

mod attractor;
mod chaos;
mod cost;
mod crew;
mod extent;
mod grid;
mod hunt;
mod judge;
mod kept;
mod recognise;
mod save;
mod share;

pub use attractor::{Attractor, Event, Kind};
pub use cost::{Cost, cost};
pub use grid::Uncertainty;
pub use kept::{forget, is_begun};
pub use save::SavedBasins;
pub use share::Share;

use crate::points::Slot;
use crate::{Family, Native, Sweep};
use hunt::Hunt;
use kept::Kept;
use saltus::SetupError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The label of a start that is not admissible.
pub const REFUSED: u16 = u16::MAX;

/// How basins are computed.
pub struct BasinPlan<'a> {
    /// The family of starts.
    pub sweep: &'a Sweep,
    /// How many threads.
    pub threads: usize,
    /// For how many periods a trajectory is followed at most.
    pub most: u64,
    /// Whether only starts near boundaries are computed, and the others take the attractor of their neighbours.
    pub refine: bool,
    /// A directory in which what is known is kept, to go on with after an interruption.
    pub keep: Option<&'a Path>,
    /// Whether to go on with what is kept there.
    pub resume: bool,
    /// Ends everything early, once set.
    pub stop: Arc<AtomicBool>,
}

/// Basins of attraction.
#[derive(Clone, Debug)]
pub struct Basins {
    /// The attractors, the one of most starts first.
    pub attractors: Vec<Attractor>,
    /// The attractor of each start by its place in the list, or [`REFUSED`].
    pub labels: Vec<u16>,
    /// Whether the start was computed; else it was surrounded by starts of one attractor.
    pub computed: Vec<bool>,
    /// The share of each attractor among admissible starts.
    pub shares: Vec<Share>,
    /// Periods for which motions were followed, all together.
    pub periods: u64,
    /// How uncertain the attractor of a start is that is known to some precision, where there are two axes.
    pub uncertainty: Option<Uncertainty>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// Starts whose attractor is known.
    pub done: u64,
    /// Starts to compute.
    pub total: u64,
    /// Attractors found so far.
    pub attractors: usize,
}

/// Refuses families that have no basins.
fn check(family: &Family) -> Result<(), SetupError> {
    let model = family.problem().model();
    if family.slots().iter().any(|slot| matches!(slot, Slot::Parameter(_))) {
        return Err(SetupError::new("basins are over starts, and a parameter is varied")
            .help("such as  --start x=-2:2:400 --start \"x'=-2:2:400\""));
    }
    if model.depends_on_time() && !family.has_period() {
        return Err(SetupError::new("the forcing has no period that could be found")
            .help("give it, such as  --period \"2*pi/w\""));
    }
    if family.len() > 100_000_000 {
        return Err(SetupError::new(format!("{} starts are more than 10^8", family.len())).help("use fewer"));
    }
    Ok(())
}

/// Starts that are followed at a time; what is known is kept after each of these parts.
const TOGETHER: usize = 1 << 14;
/// The same on a GPU, in trajectories that one of its workers takes at a time.
const TOGETHER_GPU: usize = 16;
/// How often it is kept on the disk.
const INTERVAL: Duration = Duration::from_secs(2);

impl BasinPlan<'_> {
    /// Computes the basins; None if it was stopped.
    pub fn run(&self, watch: &mut dyn FnMut(&Found)) -> Result<Option<Basins>, SetupError> {
        let family = &self.sweep.family;
        check(family)?;
        let shape = grid::shape(family);
        let mut hunt = Hunt::new(self)?;
        let mut at = match self.keep.filter(|_| self.resume) {
            Some(dir) => Kept::read(dir, self)?,
            None => Kept::new(family.len() as usize),
        };
        hunt.remember(at.memory.clone());
        let mut written = Instant::now();
        let many = self.sweep.native.as_ref().and_then(Native::together);
        let together = many.map_or(TOGETHER, |many| TOGETHER_GPU * many);
        let mut done = at.computed.iter().filter(|c| **c).count() as u64;
        loop {
            if at.waiting.is_empty() && !self.next(&mut at, shape) {
                break;
            }
            let part: Vec<u32> = at.waiting.iter().copied().take(together).collect();
            let whole = hunt.label(&part, &mut at.labels, done, watch) && !self.stop.load(Ordering::Relaxed);
            if !whole {
                // (What was found in a part that is not whole is found again.)
                part.iter().for_each(|&p| at.labels[p as usize] = hunt::OPEN);
                self.keep.map_or(Ok(()), |dir| at.write(dir, self))?;
                return Ok(None);
            }
            part.iter().for_each(|&p| at.computed[p as usize] = true);
            done += part.len() as u64;
            at.waiting.drain(..part.len());
            at.memory = hunt.memory();
            if let Some(dir) = self.keep.filter(|_| written.elapsed() >= INTERVAL) {
                at.write(dir, self)?;
                written = Instant::now();
            }
        }
        Ok(Some(self.finish(hunt, at.labels, at.computed, shape)))
    }

    /// The next starts to compute, if there are any. Some of the starts, spread over all of them, find the attractors; the others meet
    /// known ones.
    fn next(&self, at: &mut Kept, shape: Option<(usize, usize)>) -> bool {
        let steps = grid::COARSE.trailing_zeros() as usize;
        let Kept { labels, computed, .. } = at;
        let total = labels.len();
        loop {
            let points = match (at.pass, shape.filter(|_| self.refine)) {
                (0, _) => grid::scouts(total),
                (1, None) => (0..total as u32).collect(),
                (_, None) => return false,
                (1, Some((wide, high))) => grid::coarse(wide, high),
                (k, Some((wide, high))) if k < 2 + steps => grid::refined(wide, high, grid::COARSE >> (k - 1), labels),
                // Thin parts of basins are followed from where they were met.
                (_, Some((wide, high))) => grid::beside(wide, high, labels, computed),
            };
            at.pass += 1;
            let is_last = points.is_empty() && at.pass > 2 + steps;
            at.waiting = points.into_iter().filter(|&p| !computed[p as usize]).collect();
            if !at.waiting.is_empty() || is_last {
                return !is_last;
            }
        }
    }

    /// Attractors in the order of their shares, and what follows from the labels.
    fn finish(&self, hunt: Hunt, labels: Vec<u16>, computed: Vec<bool>, shape: Option<(usize, usize)>) -> Basins {
        let found = hunt.attractors();
        let mut counts = vec![0u64; found.len()];
        labels.iter().filter(|&&l| (l as usize) < found.len()).for_each(|&l| counts[l as usize] += 1);
        let mut order: Vec<usize> = (0..found.len()).filter(|&k| counts[k] > 0).collect();
        order.sort_by_key(|&k| {
            let kind = &found[k].kind;
            (kind.is_open(), !kind.attracts(), std::cmp::Reverse(counts[k]))
        });
        let mut place = vec![REFUSED; found.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u16);
        let labels: Vec<u16> = labels.into_iter().map(|l| place.get(l as usize).copied().unwrap_or(REFUSED)).collect();
        let all: u64 = counts.iter().sum();
        let attractors = attractor::named(order.iter().map(|&k| found[k].clone()).collect(), self.sweep);
        Basins {
            shares: order.iter().map(|&k| Share::of(counts[k], all)).collect(),
            periods: hunt.crew.periods(),
            uncertainty: shape.and_then(|shape| grid::uncertainty(&labels, shape)),
            attractors,
            labels,
            computed,
        }
    }
}
