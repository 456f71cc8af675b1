//! `--from DIR`: a run that goes on from where another ended.

use super::Refusal;
use crate::progress;
use saltus::{SetupError, Start};
use saltus_io::{ModelFile, Opened, Rerun, SavedRun};
use std::path::Path;

/// With --from, --start sets the clock and nothing else.
pub(super) fn set_clock(start: &mut Vec<(String, String)>) -> Result<Option<f64>, SetupError> {
    let mut clock = None;
    for (name, value) in start.drain(..) {
        let t = value.parse::<f64>().ok().filter(|t| name == "t" && t.is_finite());
        clock = Some(t.ok_or_else(|| {
            SetupError::new(format!(
                "--start {name}={value} cannot be used with --from: the state is that of the saved run"
            ))
            .help("only the time may be set anew: --start t=0")
        })?);
    }
    Ok(clock)
}

/// The state from which a saved run is continued, and whether the text of the model is the same.
pub(super) fn continued(
    dir: &Path,
    file: &ModelFile,
    opened: &Opened,
    at: Option<f64>,
) -> Result<(Start, bool), Refusal> {
    let saved = SavedRun::open(dir)?;
    let is_same_text = saved.model_text == file.text;
    let model = opened.system.model();
    let constraints = model.constraints.iter().map(|c| &c.name);
    let states = model.states.iter().map(|s| &s.name);
    let is_same = saved.coordinates == model.coordinates && saved.states.iter().eq(states);
    if !is_same || !saved.constraints.iter().eq(constraints) {
        return Err(another(&format!("`{}`", dir.display()), &saved.title).into());
    }
    match at {
        Some(t) => {
            let mut bar = progress::Bar::new(false);
            let start = Rerun::new(&saved)?.state_at(t, &mut |p| bar.report(p));
            bar.finish();
            let mut start = start?;
            start.q.truncate(start.q.len() - model.states.len().min(start.q.len()));
            Ok((start, is_same_text))
        }
        None => saved.last.map(|last| (last, is_same_text)).ok_or_else(|| {
            let message = format!("`{}` has no last state to continue from", dir.display());
            SetupError::new(message).help("it was written by an earlier version; make the run again").into()
        }),
    }
}

/// A run cannot be continued by a model with other names.
pub fn another(what: &str, title: &str) -> SetupError {
    let help = "a run is continued by a model with the same coordinates, states and constraints; parameters may differ";
    SetupError::new(format!("{what} is a run of another model: \"{title}\"")).help(help)
}
