//! Making a saved run again, from `run.json` alone.

use crate::{FileError, Opened, SavedRun};
use saltus::{Impact, Options, Progress, Run, SetupError, Side, Start, run_observed};

/// A saved run that can be made again.
pub struct Rerun {
    /// The model file.
    pub file: crate::ModelFile,
    /// The system with its start.
    pub opened: Opened,
    /// The options.
    pub options: Options,
}

/// The first difference between a saved run and the one made again.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What differs.
    pub what: String,
    /// At which stored instant, impact or contact, counted from 1.
    pub place: usize,
    /// The saved number.
    pub saved: f64,
    /// The number now.
    pub now: f64,
}

impl Rerun {
    /// Prepares to make a run again.
    pub fn new(saved: &SavedRun) -> Result<Self, FileError> {
        let whole = |e: SetupError| FileError::whole(&saved.model, e);
        let (file, mut opened) = saved.system()?;
        if let Some(start) = &saved.start {
            opened.start = start.start();
        }
        Ok(Rerun { file, opened, options: saved.options.options().map_err(whole)? })
    }

    /// Makes it. `observer` is called periodically; return false to stop.
    pub fn run(&self, observer: &mut dyn FnMut(Progress) -> bool) -> Result<Run, SetupError> {
        run_observed(&*self.opened.system, &self.opened.start, &self.options, observer)
    }

    /// The state at a time of the run, found by making it again up to there.
    pub fn state_at(&self, t: f64, observer: &mut dyn FnMut(Progress) -> bool) -> Result<Start, SetupError> {
        let (from, to) = (self.opened.start.t, self.options.end);
        if !(t > from && t <= to) {
            return Err(SetupError::new(format!("the run goes from {from} to {to}: there is no state at t = {t}")));
        }
        let options = self.options.clone().until(t);
        let run = run_observed(&*self.opened.system, &self.opened.start, &options, observer)?;
        Ok(run.complete().map_err(|failure| SetupError::new(failure.to_string()))?.last().clone())
    }
}

impl SavedRun {
    /// Compares the motion with one made again, bit by bit; None if they are identical.
    pub fn difference(&self, run: &Run) -> Option<Difference> {
        let (a, b) = (&self.trajectory, &run.trajectory);
        let count = |what: &str, saved: usize, now: usize| {
            let (saved, now) = (saved as f64, now as f64);
            (saved != now).then(|| Difference { what: what.to_string(), place: 0, saved, now })
        };
        let first = |what: &str, place: usize, x: &[f64], y: &[f64]| {
            let pair = x.iter().zip(y).find(|(x, y)| x.to_bits() != y.to_bits())?;
            Some(Difference { what: what.to_string(), place, saved: *pair.0, now: *pair.1 })
        };
        let instants = (0..a.len().min(b.len())).find_map(|k| {
            first("time", k + 1, &[a.t[k]], &[b.t[k]])
                .or_else(|| first("position", k + 1, &a.q(k)[..a.degrees()], b.q(k)))
                .or_else(|| first("velocity", k + 1, a.v(k, Side::Left), b.v(k, Side::Left)))
                .or_else(|| first("velocity", k + 1, a.v(k, Side::Right), b.v(k, Side::Right)))
        });
        let others = |i: &Impact| i.others.iter().map(|(_, p)| *p).filter(|p| *p != 0.0).collect::<Vec<f64>>();
        let impacts = (0..a.impacts.len().min(b.impacts.len())).find_map(|k| {
            let (x, y) = (a.impacts.get(k), b.impacts.get(k));
            first("impact time", k + 1, &[x.t], &[y.t])
                .or_else(|| first("impulse", k + 1, x.impulses, y.impulses))
                .or_else(|| first("impulse of joints and friction", k + 1, &others(&x), &others(&y)))
        });
        let contacts = a.contacts.iter().zip(&b.contacts).enumerate().find_map(|(k, (x, y))| {
            first("contact", k + 1, &[x.start, x.end, x.impulse], &[y.start, y.end, y.impulse])
        });
        instants
            .or(impacts)
            .or(contacts)
            .or_else(|| count("number of instants", a.len(), b.len()))
            .or_else(|| count("number of impacts", a.impacts.len(), b.impacts.len()))
            .or_else(|| count("number of contacts", a.contacts.len(), b.contacts.len()))
    }
}
