//! A finished run with its analysis, its summary and its files.

use crate::setup::Ready;
use saltus::Run;
use saltus::analysis::{LongTime, Shocks, long_time};
use saltus::structure::StructureFacts;
use saltus_io::output::{self, Format, Record, StructureSummary, Summary};
use std::sync::Arc;

/// A run and what is known about it.
pub struct Done {
    pub run: Arc<Run>,
    pub settled: LongTime,
    pub facts: Option<StructureFacts>,
    pub shocks: Option<Shocks>,
    pub wall_s: f64,
}

impl Done {
    /// Analyses a run.
    pub fn new(ready: &Ready, run: impl Into<Arc<Run>>, wall_s: f64) -> Self {
        let run = run.into();
        let system = &*ready.opened.system;
        let structure = system.as_structure();
        let rest = ready.opened.defaults.rest;
        Done {
            settled: long_time(system, &run),
            facts: structure.map(StructureFacts::new),
            shocks: structure.map(|s| Shocks::new(s, &run, rest)),
            wall_s,
            run,
        }
    }

    /// The summary.
    pub fn summary(&self, ready: &Ready, all_impacts: bool) -> Summary {
        let model = ready.opened.system.model();
        let mut summary = Summary::new(&ready.file.name, model, &self.run, &self.settled, self.wall_s, all_impacts);
        if let (Some(facts), Some(shocks)) = (&self.facts, &self.shocks) {
            summary.structure = Some(StructureSummary::new(model, facts, shocks, &self.run.extremes, &self.run.shears));
        }
        summary
    }

    /// Writes all files of the run.
    pub fn write(&self, ready: &Ready, dir: &std::path::Path, formats: &[Format]) -> Result<(), output::WriteError> {
        let model = ready.opened.system.model();
        let (summary, rest) = (self.summary(ready, false), ready.opened.defaults.rest);
        let record = Record::new(&ready.file, model, &ready.changes, &self.run, ready.own_start, rest, summary);
        output::write(dir, model, &self.run, self.shocks.as_ref(), &record, formats)
    }
}
