//! Structures that hit: constant M, C, K with loads and stops, kept sparse.
//!
//! ```text
//! M u'' + C u' + K u = Σ b s(t) + Σ λ w        w·u + o(t) ≥ 0,  λ ≥ 0 a measure,  λ = 0 where the gap is open
//! ```
//!
//! [`Part`]s (matrices from elsewhere, or from [`beam`], [`bar`], [`building`]) make a [`Structure`]; the names, gaps and loads
//! are those of a [`Model`] whose coordinates are the structure's *points*. A step of a scheme is one solve with a matrix
//! factored once, a problem of the size of the stops that could act ([`contact`]), and a correction of that rank. The
//! schemes: [`newmark`] ([V] (3.12)–(3.15)), [`exact`], [`moreau_jean`]; [`events`] hands the modes to the event-driven engine.

pub mod bar;
pub mod beam;
mod check;
mod contact;
mod events;
mod exact;
mod linear;
mod modes;
mod moreau_jean;
mod newmark;
mod part;
mod record;
mod reduce;
mod run;
mod shocks;
mod signals;
#[cfg(test)]
mod tests;
mod theorems;

pub use check::Portrait;
pub use linear::Linear;
pub use modes::Modes;
pub use part::{Damping, Layout, Part, Place, Row};
pub use reduce::Reduction;
pub use run::{StructureOptions, StructureRun, run};
pub use shocks::{Shock, Shocks, StopStatistics};
pub use signals::Signals;
pub use theorems::Proof;

pub(crate) use run::Prepare;

use crate::linalg::{Rows, Symmetric, small_profile};
use crate::scheme::{Forcing, Settings};
use crate::{Model, SetupError};
use run::Stepper;
use signals::SignalCode;
use std::sync::{Arc, OnceLock};

/// A place on one of the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct On {
    /// Which part.
    pub part: usize,
    /// Where on it.
    pub place: Place,
}

/// What a signal of the model does.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// A force at a place.
    Force(On),
    /// The acceleration of the base: −M r s(t), displacements being relative to the base.
    Base,
}

/// How a structure starts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Start {
    /// The displacement of everything, as of a rigid body.
    pub displacement: f64,
    /// The velocity of everything.
    pub velocity: f64,
    /// Whether to start in equilibrium with the loads of t = 0.
    pub at_equilibrium: bool,
}

/// What a structure is made of.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Names, gaps and signals; its coordinates are the points.
    pub model: Model,
    /// The parts, which share nothing but stops.
    pub parts: Vec<Part>,
    /// Where the points are, in the order of the model's coordinates.
    pub points: Vec<On>,
    /// What the signals of the model do, in their order.
    pub loads: Vec<Load>,
    /// For each constraint, the stiffness of a spring between structure and stop, if there is one.
    pub springs: Vec<Option<f64>>,
    /// For each constraint, the point that slides along it, for the wear.
    pub slides: Vec<Option<usize>>,
    /// The start.
    pub start: Start,
}

/// A structure, assembled and checked.
#[derive(Clone, Debug)]
pub struct Structure {
    pub(crate) model: Model,
    pub(crate) parts: Vec<Part>,
    pub(crate) linear: Linear,
    pub(crate) damping: ModalDamping,
    pub(crate) slides: Vec<Option<usize>>,
    pub(crate) signals: SignalCode,
    /// Where the degrees of freedom of each part begin, and where each is in the solver's order.
    pub(crate) starts: Vec<usize>,
    pub(crate) place: Vec<usize>,
    /// The lowest modes, computed when first asked for.
    lowest: Arc<OnceLock<Option<Modes>>>,
}

/// Damping that exists in modal coordinates only, or what all parts share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ModalDamping {
    /// The matrix says it all.
    Matrix,
    /// C = a M + b K everywhere.
    Rayleigh(f64, f64),
    /// Ratios, the last for all further modes.
    Ratios(Vec<f64>),
}

impl Structure {
    /// Puts a structure together.
    pub fn new(assembly: Assembly) -> Result<Self, SetupError> {
        let Assembly { mut model, parts, points, loads, springs, slides, start } = assembly;
        let mut starts = vec![0];
        for part in &parts {
            if part.stiffness.dimension() != part.dimension() {
                return Err(SetupError::new(format!(
                    "the mass matrix is {0} × {0}, the stiffness matrix {1} × {1}",
                    part.dimension(),
                    part.stiffness.dimension()
                ))
                .help("both belong to the same degrees of freedom: export them from the same model"));
            }
            starts.push(starts[starts.len() - 1] + part.dimension());
        }
        let meshed = starts[parts.len()];
        let row = |on: &On| -> Result<Row, SetupError> {
            let part = &parts[on.part];
            Ok(part.row(&on.place)?.into_iter().map(|(i, x)| (starts[on.part] + i, x)).collect())
        };
        let point_rows = points.iter().map(row).collect::<Result<Vec<Row>, _>>()?;
        // A spring is a massless degree of freedom z of its own, and the stop feels w·u + z.
        let sprung: Vec<(usize, f64)> = springs.iter().enumerate().filter_map(|(a, k)| Some((a, (*k)?))).collect();
        let n = meshed + sprung.len();
        let gather = |of: &dyn Fn(&Part) -> Option<Symmetric>| {
            let mut entries = Vec::new();
            for (part, &at) in parts.iter().zip(&starts) {
                entries.extend(of(part).iter().flat_map(|a| a.entries()).map(|(i, j, x)| (at + i, at + j, x)));
            }
            entries
        };
        let mass = Symmetric::new(n, gather(&|p| Some(p.mass.clone())));
        let mut stiffness = gather(&|p| Some(p.stiffness.clone()));
        stiffness.extend(sprung.iter().enumerate().map(|(z, &(_, k))| (meshed + z, meshed + z, k)));
        let stiffness = Symmetric::new(n, stiffness);
        let damping = reduce::modal_damping(&parts)?;
        let damped = gather(&|p| match &p.damping {
            Damping::None | Damping::Modal(_) => None,
            Damping::Rayleigh(a, b) => Some(Symmetric::combine(&[(*a, &p.mass), (*b, &p.stiffness)])),
            Damping::Matrix(c) => Some(c.clone()),
        });
        let mut load_rows = Rows::new();
        for load in &loads {
            match load {
                Load::Force(on) => {
                    let row = row(on)?;
                    if row.is_empty() {
                        return Err(SetupError::new("a load acts where nothing can move")
                            .help("a clamped end takes any load; choose another place"));
                    }
                    load_rows.push(row);
                }
                Load::Base => load_rows.push(base(&parts, &starts)?),
            }
        }
        let mut stop_rows = Rows::new();
        for a in 0..model.constraints.len() {
            let mut w = gradient(&mut model, a, &point_rows)?;
            if let Some(z) = sprung.iter().position(|(b, _)| *b == a) {
                w.push((meshed + z, 1.0));
            }
            stop_rows.push(w);
        }
        let mut rows = Rows::new();
        point_rows.into_iter().for_each(|r| rows.push(r));
        let mut outline = Rows::new();
        for (part, &at) in parts.iter().zip(&starts) {
            part.outline().into_iter().for_each(|(_, row)| outline.push(row.into_iter().map(|(i, x)| (at + i, x))));
        }
        let uniform = |x: f64| -> Vec<f64> {
            let mut u = vec![0.0; n];
            if x != 0.0 {
                for (part, &at) in parts.iter().zip(&starts) {
                    let r = part.translation().unwrap_or_else(|| vec![1.0; part.dimension()]);
                    r.iter().enumerate().for_each(|(i, r)| u[at + i] = x * r);
                }
            }
            u
        };
        let massless: Vec<bool> = (0..n).map(|i| mass.row(i).all(|(_, m)| m == 0.0)).collect();
        // What has no mass is not damped either: it follows at once.
        let damped: Vec<_> = damped.into_iter().filter(|&(i, j, _)| !massless[i] && !massless[j]).collect();
        let linear = Linear {
            damping: damped.iter().any(|e| e.2 != 0.0).then(|| Symmetric::new(n, damped)),
            mass,
            stiffness,
            loads: load_rows,
            stops: stop_rows,
            points: rows,
            outline,
            q0: uniform(start.displacement),
            v0: uniform(start.velocity),
        };
        let signals = SignalCode::compile(&mut model)?;
        let order = small_profile(&[&linear.stiffness, &linear.mass]);
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(k, &old)| place[old] = k);
        let linear = reduce::reordered(&linear, &order, &place);
        check::matrices(&linear, &parts, &starts, &order)?;
        let lowest = Arc::default();
        let mut structure = Structure { model, parts, linear, damping, slides, signals, starts, place, lowest };
        if start.at_equilibrium {
            let mut signals = structure.signals();
            signals.look(0.0);
            structure.linear.q0 = structure.linear.static_displacement(&signals.loads).map_err(|_| {
                SetupError::new("there is no equilibrium to start from: the structure is free to move as a rigid body")
            })?;
        }
        check::start(&structure)?;
        Ok(structure)
    }

    /// Names, gaps and signals; its coordinates are the points.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The matrices and rows.
    pub fn linear(&self) -> &Linear {
        &self.linear
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The lowest modes, up to eight; none where they cannot be found.
    pub(crate) fn lowest(&self) -> Option<&Modes> {
        let massive = self.linear.dimension() - self.linear.massless().len();
        self.lowest.get_or_init(|| self.modes(massive.min(8)).ok()).as_ref()
    }

    /// Evaluates loads and offsets.
    pub fn signals(&self) -> Signals {
        Signals::new(self)
    }

    /// A row of a part in the solver's order.
    pub fn row_of(&self, part: usize, row: &Row) -> Row {
        row.iter().map(|&(i, x)| (self.place[self.starts[part] + i], x)).collect()
    }

    /// Adds further points to be looked at; they come after those of the model.
    pub fn observe(&mut self, name: &str, on: &On) -> Result<(), SetupError> {
        let Some(part) = self.parts.get(on.part) else { return Err(SetupError::new("there is no such part")) };
        let row = self.row_of(on.part, &part.row(&on.place)?);
        self.linear.points.push(row);
        self.model.coordinates.push(name.to_string());
        Ok(())
    }
}

/// Paoli–Schatzman for structures, by its forcing.
pub(crate) fn paoli_schatzman<'a>(
    structure: &'a Structure,
    linear: &'a Linear,
    settings: &Settings,
) -> Result<Box<dyn Stepper + 'a>, SetupError> {
    match settings.forcing {
        Forcing::Exact => Ok(Box::new(exact::Exact::new(structure, linear, settings.step)?)),
        _ => Ok(Box::new(newmark::Newmark::new(structure, linear, settings.step)?)),
    }
}

/// Moreau–Jean for structures.
pub(crate) fn moreau_jean<'a>(
    structure: &'a Structure,
    linear: &'a Linear,
    settings: &Settings,
) -> Result<Box<dyn Stepper + 'a>, SetupError> {
    let Settings { step, theta, activation, .. } = *settings;
    Ok(Box::new(moreau_jean::MoreauJean::new(structure, linear, step, theta, activation)?))
}

/// M r over all parts, with the sign of an inertial force.
fn base(parts: &[Part], starts: &[usize]) -> Result<Row, SetupError> {
    let mut row = Row::new();
    for (part, &at) in parts.iter().zip(starts) {
        let r = part.translation().ok_or_else(|| {
            SetupError::new("a base that moves needs the direction in which the degrees of freedom move with it")
                .help("add  direction = \"all\"  (every degree of freedom is a displacement along the motion), a list of degrees of freedom, or a file, to [structure]")
        })?;
        let force = match &part.carried {
            Some(force) => force.clone(),
            None => {
                let mut force = vec![0.0; part.dimension()];
                part.mass.multiply(&r, &mut force);
                force
            }
        };
        row.extend(force.iter().enumerate().filter(|(_, f)| **f != 0.0).map(|(i, f)| (at + i, -f)));
    }
    Ok(row)
}

/// The row of a gap that is affine in the points.
fn gradient(model: &mut Model, a: usize, points: &[Row]) -> Result<Row, SetupError> {
    let constraint = model.constraints[a].clone();
    let mut sum: std::collections::BTreeMap<usize, f64> = std::collections::BTreeMap::new();
    for (p, row) in points.iter().enumerate() {
        let slope = model.graph.derivative(constraint.gap, model.q[p]);
        let Some(slope) = model.graph.value(slope) else {
            return Err(SetupError::new(format!(
                "the gap of `{}` is not linear in the displacements",
                constraint.name
            ))
            .at(constraint.span, "of a structure, gaps are linear: a distance less displacements")
            .help("such as  gap = \"0.01 - tip\"  or  gap = \"0.02 + roof2 - roof1\""));
        };
        row.iter().for_each(|(i, x)| *sum.entry(*i).or_default() += slope * x);
    }
    Ok(sum.into_iter().filter(|(_, x)| *x != 0.0).collect())
}
