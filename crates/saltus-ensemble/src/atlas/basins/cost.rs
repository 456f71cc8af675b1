//! What basins cost, measured on a few starts.

use super::crew::{Crew, Piece, Track};
use super::{check, grid};
use crate::{Native, Sweep, Wanted};
use saltus::SetupError;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Starts that are followed at a time,
const TOGETHER: usize = 64;
/// for so many periods,
const PERIODS: u64 = 32;
/// so many times at most,
const TIMES: usize = 2;

/// What it costs to follow a motion.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Seconds of one core for a period of one motion.
    pub seconds_per_period: f64,
    /// Starts that were followed.
    pub measured: usize,
    /// Starts among them that are not admissible.
    pub refused: usize,
}

/// Measures what it costs to follow a motion of a family, in compiled code or in lanes. No more starts are tried after some time.
pub fn cost(sweep: &Sweep, native: Option<&Native>, patience: Duration) -> Result<Cost, SetupError> {
    let family = &sweep.family;
    check(family)?;
    if let Some(reason) = family.maker().job(0, None).refusal {
        return Err(SetupError::new(reason));
    }
    let by_section = !family.has_period();
    let wanted =
        Wanted { tolerance: sweep.wanted.tolerance, strobe: !by_section, sections: by_section, ..Wanted::default() };
    let stop = Arc::new(AtomicBool::new(false));
    let crew = Crew::new(family, native, super::hunt::PARTS, wanted, 1, &stop);
    // (Every so many-th of the scouts, so that they come from everywhere.)
    let scouts = grid::scouts(family.len() as usize);
    let apart = (scouts.len() / (TOGETHER * TIMES)).max(1);
    let chosen: Vec<u32> = scouts.into_iter().step_by(apart).take(TOGETHER * TIMES).collect();
    let (started, mut measured, mut refused) = (Instant::now(), 0, 0);
    for group in chosen.chunks(TOGETHER) {
        let tracks: Vec<Track> = crew.tracks(group);
        let outcomes = crew.follow(&tracks, Piece { periods: PERIODS, kept: 4 });
        refused += outcomes.iter().filter(|o| o.status.is_err()).count();
        measured += group.len();
        if started.elapsed() >= patience {
            break;
        }
    }
    let followed = (measured - refused).max(1) as f64;
    let seconds_per_period = started.elapsed().as_secs_f64() / followed / PERIODS as f64;
    Ok(Cost { seconds_per_period, measured, refused })
}
