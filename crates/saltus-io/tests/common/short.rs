//! Short runs of shipped models with any scheme.

use saltus::Options;
use saltus::scheme::{Scheme, Settings};
use saltus::structure::Reduction;
use saltus_io::{AnySystem, ModelFile, Opened, shipped};

/// Every shipped model, opened.
pub fn models() -> impl Iterator<Item = (&'static str, ModelFile, Opened)> {
    shipped::MODELS.iter().map(|&(name, _)| {
        let file = shipped::find(name).expect("shipped").expect("parses");
        let opened = file.system().expect("valid");
        (name, file, opened)
    })
}

/// The modes of a mesh are many and fast; by events these are enough here.
const MODES: usize = 6;

/// Options of a run of a model as its file has it, but with a scheme and at most so many steps.
pub fn options(name: &str, opened: &Opened, scheme: &Scheme, most: f64) -> Options {
    let step = opened.defaults.step.expect("a step");
    // A stiffness that makes a contact of unit mass many steps long.
    let given = Settings::new().with("stiffness", 2e-3 / (step * step)).among(scheme.settings);
    let mut options = opened.defaults.options(Some(*scheme), name, &given).expect("complete");
    if let (true, AnySystem::Structure(structure)) = (scheme.name == "event-driven", &opened.system) {
        let modes = options.reduction.map_or(structure.linear().dimension(), |r| r.modes);
        options.reduction = Some(Reduction { modes: modes.min(MODES), residual: false });
    }
    let steps = ((options.end - opened.start.t) / step).round().min(most);
    options.until(opened.start.t + steps * step)
}
