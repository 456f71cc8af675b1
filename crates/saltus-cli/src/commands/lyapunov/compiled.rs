//! Families of exponents in compiled code.

use super::keep::Keeper;
use super::show::Shown;
use super::{Args, Outcome, Point};
use crate::progress::{self, Bar};
use crate::setup::Refusal;
use crate::text::{complain, printable};
use saltus::{Problem, SetupError};
use saltus_ensemble::{Exponents, Found, Motion, Sweep, Way};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How long after a signal, at most, all stops.
const LOOK: Duration = Duration::from_millis(50);

/// Perturbations for what was compiled; None where nothing is, or where a GPU was to be used only if it can.
pub fn prepare(args: &Args, sweep: &Sweep) -> Result<Option<Exponents>, Refusal> {
    let Some(native) = &sweep.native else { return Ok(None) };
    match Exponents::new(sweep.family.problem(), native, args.tol) {
        Ok(exponents) => Ok(Some(exponents)),
        Err(why) if args.code.is_optional() => {
            complain(&format!("on the processor: {}", printable(&why.to_string())));
            Ok(None)
        }
        Err(why) => Err(SetupError::new(format!("cannot compile the perturbations of this model: {why}"))
            .help("leave --native or --device gpu out: the results agree within their errors")
            .into()),
    }
}

/// Motions on one thread, to see how long they take.
pub fn try_out(exponents: &Exponents, motions: &[Motion]) {
    let stop = Arc::new(AtomicBool::new(false));
    let look = |_: usize, _: Found| {
        stop.fetch_or(progress::is_stopped(), Ordering::SeqCst);
    };
    exponents.run(motions, 1, &stop, &look);
}

/// All motions; how many of them the event engine computed from their start.
pub fn run(
    args: &Args,
    exponents: &Exponents,
    (problem, names, points): (&Problem, &[String], &[Point]),
) -> (Vec<Outcome>, u64) {
    let refused: Vec<Outcome> = points.iter().map(|p| p.job.as_ref().err().map(|why| Err(why.clone()))).collect();
    let (mut places, mut motions): (Vec<usize>, Vec<Motion>) = (Vec::new(), Vec::new());
    for (k, point) in points.iter().enumerate() {
        if let Ok(motion) = &point.job {
            places.push(k);
            motions.push(motion.clone());
        }
    }
    let (done, scalar, stop) = (AtomicU64::new(0), AtomicU64::new(0), Arc::new(AtomicBool::new(false)));
    let found: Mutex<Vec<Option<Found>>> = Mutex::new(motions.iter().map(|_| None).collect());
    let deliver = |k: usize, one: Found| {
        scalar.fetch_add(u64::from(one.1 == Way::Scalar), Ordering::SeqCst);
        done.fetch_add(1, Ordering::SeqCst);
        if let Ok(mut found) = found.lock() {
            found[k] = Some(one);
        }
    };
    let outcomes = |found: &[Option<Found>]| {
        let mut outcomes = refused.clone();
        for (&k, one) in places.iter().zip(found) {
            outcomes[k] = one.clone().map(|(found, _)| found.map_err(|e| e.to_string()));
        }
        outcomes
    };
    let mut bar = Bar::new(args.json);
    let mut keeper = Keeper::new(args.out.as_deref());
    beside(
        || exponents.run(&motions, args.threads(), &stop, &deliver),
        || {
            bar.counted(done.load(Ordering::SeqCst), motions.len() as u64, "motions");
            stop.fetch_or(progress::is_stopped(), Ordering::SeqCst);
            keeper.keep(|file| {
                let outcomes = found.lock().map_or_else(|_| refused.clone(), |found| outcomes(&found));
                Shown { problem, names, points, outcomes: &outcomes, scalar: None, on_gpu: None }.write(file)
            });
        },
    );
    bar.finish();
    (outcomes(&found.into_inner().unwrap_or_default()), scalar.into_inner())
}

/// Does something in a thread of its own, and looks at it again and again until it is done. Should it panic, so does this.
fn beside(work: impl FnOnce() + Send, mut look: impl FnMut()) {
    std::thread::scope(|scope| {
        let working = scope.spawn(work);
        while !working.is_finished() {
            look();
            std::thread::sleep(LOOK);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_panics_does_not_go_on_for_ever() {
        let mut looks = 0;
        beside(|| std::thread::sleep(2 * LOOK), || looks += 1);
        assert!(looks > 0);
        let panicked = std::panic::catch_unwind(|| beside(|| panic!("as it may"), || {}));
        assert!(panicked.is_err());
    }
}
