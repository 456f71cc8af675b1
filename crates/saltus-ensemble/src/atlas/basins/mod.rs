//! Basins of attraction: which attractor each start leads to.
//!
//! A trajectory is followed in short pieces, each from where the last one ended, until it is on an attractor that is known, or is
//! found to be on a new one. Attractors are distinguished by what they are: a place of rest, a periodic orbit as the cycle of its
//! states at the stroboscope (at a section, where nothing is forced), which does not depend on where a trajectory entered it, a
//! chaotic set, or none because the motion grows without bound.

mod attractor;
mod chaos;
mod crew;
mod grid;
mod hunt;
mod judge;
mod save;
mod share;

pub use attractor::{Attractor, Event, Kind};
pub use grid::Uncertainty;
pub use save::SavedBasins;
pub use share::Share;

use crate::points::Slot;
use crate::{Family, Sweep};
use hunt::Hunt;
use saltus::SetupError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

impl BasinPlan<'_> {
    /// Computes the basins; None if it was stopped.
    pub fn run(&self, watch: &mut dyn FnMut(&Found)) -> Result<Option<Basins>, SetupError> {
        let family = &self.sweep.family;
        check(family)?;
        let shape = grid::shape(family);
        let mut hunt = Hunt::new(self)?;
        let total = family.len() as usize;
        let (mut labels, mut computed) = (vec![hunt::OPEN; total], vec![false; total]);
        // Some of the starts, spread over all of them, find the attractors; the others meet known ones.
        let scouts = grid::scouts(total);
        let passes: Vec<Vec<u32>> = match (self.refine, shape) {
            (true, Some((wide, high))) => {
                let mut at = vec![scouts];
                at.push(grid::coarse(wide, high));
                at
            }
            _ => vec![scouts, (0..total as u32).collect()],
        };
        let mut pass = |points: Vec<u32>, hunt: &mut Hunt, labels: &mut [u16], computed: &mut [bool]| {
            let open: Vec<u32> = points.into_iter().filter(|&p| !computed[p as usize]).collect();
            let whole = hunt.label(&open, labels, watch);
            open.iter().for_each(|&p| computed[p as usize] = true);
            whole && !self.stop.load(Ordering::Relaxed)
        };
        for points in passes {
            if !pass(points, &mut hunt, &mut labels, &mut computed) {
                return Ok(None);
            }
        }
        if let (true, Some((wide, high))) = (self.refine, shape) {
            let mut step = grid::COARSE;
            while step > 1 {
                step /= 2;
                let next = grid::refined(wide, high, step, &mut labels);
                if !pass(next, &mut hunt, &mut labels, &mut computed) {
                    return Ok(None);
                }
            }
            // Thin parts of basins are followed from where they were met.
            loop {
                let next = grid::beside(wide, high, &labels, &computed);
                if next.is_empty() {
                    break;
                }
                if !pass(next, &mut hunt, &mut labels, &mut computed) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(self.finish(hunt, labels, computed, shape)))
    }

    /// Attractors in the order of their shares, and what follows from the labels.
    fn finish(&self, hunt: Hunt, labels: Vec<u16>, computed: Vec<bool>, shape: Option<(usize, usize)>) -> Basins {
        let found = hunt.attractors();
        let mut counts = vec![0u64; found.len()];
        labels.iter().filter(|&&l| (l as usize) < found.len()).for_each(|&l| counts[l as usize] += 1);
        let mut order: Vec<usize> = (0..found.len()).filter(|&k| counts[k] > 0).collect();
        order.sort_by_key(|&k| (found[k].kind.is_open(), std::cmp::Reverse(counts[k])));
        let mut place = vec![REFUSED; found.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u16);
        let labels: Vec<u16> = labels.into_iter().map(|l| place.get(l as usize).copied().unwrap_or(REFUSED)).collect();
        let all: u64 = counts.iter().sum();
        let attractors = attractor::named(order.iter().map(|&k| found[k].clone()).collect(), self.sweep);
        Basins {
            shares: order.iter().map(|&k| Share::of(counts[k], all)).collect(),
            uncertainty: shape.and_then(|shape| grid::uncertainty(&labels, shape)),
            attractors,
            labels,
            computed,
        }
    }
}
