//! Structures that hit: constant M, C, K with loads and stops, kept sparse.
//!
//! ```text
//! M u'' + C u' + K u = Σ b s(t) + Σ λ w        w·u + o(t) ≥ 0,  λ ≥ 0 a measure,  λ = 0 where the gap is open
//! ```
//!
//! [`Part`]s (matrices from elsewhere, or from [`beam`], [`bar`], `building`) make a [`Structure`]; the names, gaps and loads
//! are those of a [`Model`] whose coordinates are the structure's *points*. A step of a scheme is one solve with a matrix
//! factored once, a problem of the size of the stops that could act (`contact`), and a correction of that rank. The
//! schemes: `newmark` (\[V\] (3.12)–(3.15)), `exact`, `moreau_jean`; `events` passes the modes to the event-driven engine.

mod assembly;
pub mod bar;
pub mod beam;
mod builder;
mod check;
mod contact;
mod events;
mod exact;
mod facts;
mod free;
mod hole;
mod instance;
mod lanczos;
mod linear;
mod modes;
mod moreau_jean;
mod newmark;
mod nodal;
mod part;
mod passive;
mod reduce;
mod resolution;
mod resting;
mod rough;
mod rubbing;
mod signals;
mod skew;
mod slowest;
mod springs;
mod statics;
mod stop_law;

pub use assembly::{Assembly, InitialState, Load, Location};
pub use builder::{Beam, Bored, Builder, PartRef, Point};
pub(crate) use events::modal_model;
pub use facts::StructureFacts;
pub(crate) use free::Strainless;
pub use hole::Hole;
pub use instance::StructureInstance;
pub use linear::Linear;
pub use modes::Modes;
pub use part::{Damping, DrawnNode, Layout, Part, Place, Row};
pub use reduce::Reduction;
pub(crate) use signals::BaseMotion;
pub use signals::Signals;
pub use statics::StaticContact;
pub use stop_law::{Rub, StopLaw};

use crate::linalg::{Dice, Factor, Rows, SolverOrder, Symmetric, max_abs};
use crate::motion::Slide;
use crate::problem::{Cells, Gaps, Start};
use crate::stepping::Stepper;
use crate::{Kind, Model, SetupError};
use assembly::{base, bases, gradient, shears};
use signals::SignalCode;
use std::sync::{Arc, Mutex, OnceLock};

/// More memory than this, in bytes, is refused before it is asked for.
pub(crate) const MOST_MEMORY: f64 = 3.0 * (1u64 << 30) as f64;

/// The modes last computed and how many were asked for, shared by all copies of a structure.
type KeptModes = Arc<Mutex<Option<(usize, Arc<Modes>)>>>;

/// A structure, assembled and checked. Cloning one is cheap: it shares its matrices.
#[derive(Clone, Debug)]
pub struct Structure {
    pub(crate) model: Arc<Model>,
    pub(crate) parts: Arc<Vec<Part>>,
    pub(crate) linear: Arc<Linear>,
    pub(crate) damping: ModalDamping,
    pub(crate) slides: Vec<Option<usize>>,
    laws: Vec<StopLaw>,
    /// Whether its own start is an equilibrium, in whatever coordinates it runs.
    pub(crate) at_equilibrium: bool,
    /// The loads that move the base, and what goes along, in the solver's order.
    bases: Arc<Vec<(usize, Vec<f64>)>>,
    pub(crate) signals: SignalCode,
    /// Where the degrees of freedom of each part begin, and where each is in the solver's order.
    pub(crate) starts: Arc<Vec<usize>>,
    pub(crate) place: Arc<Vec<usize>>,
    /// Where the points are.
    places: Arc<Vec<Location>>,
    /// The entries of a factor, where that is sparse.
    pub(crate) sparse: Option<f64>,
    /// The factor of K, until modes have been found with it: that of a large mesh is not computed twice.
    held: Arc<Mutex<Option<Factor>>>,
    /// The lowest modes, computed when first asked for, and those of the last reduction.
    lowest: Arc<OnceLock<Option<Modes>>>,
    reduced: KeptModes,
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
        let Assembly { model, parts, points, loads, springs, slides, laws, start } = assembly;
        let m = model.constraints.len();
        for (name, expected, found) in [
            ("the list of points", model.coordinates.len(), points.len()),
            ("the list of loads", model.signals.len(), loads.len()),
            ("the list of springs", m, springs.len()),
            ("the list of slides", m, slides.len()),
            ("the list of laws", m, laws.len()),
        ] {
            if expected != found {
                return Err(SetupError::length(name, expected, found));
            }
        }
        if let Some(p) = slides.iter().flatten().find(|&&p| p >= points.len()) {
            return Err(SetupError::new(format!("there is no point {p} to slide")));
        }
        check::laws(&laws, &springs, points.len())?;
        let forces = loads.iter().filter_map(|load| if let Load::Force(at) = load { Some(at) } else { None });
        if let Some(at) = points.iter().chain(forces).find(|at| at.part >= parts.len()) {
            return Err(SetupError::new(format!("there is no part {}: there are {}", at.part, parts.len())));
        }
        let model = assembly::with_units(model, &points);
        let mut work = model.as_ref().clone();
        let mut starts = vec![0];
        for part in &parts {
            if part.stiffness.dimension() != part.dimension() {
                return Err(SetupError::new(format!(
                    "the mass matrix is {0} × {0}, the stiffness matrix {1} × {1}",
                    part.dimension(),
                    part.stiffness.dimension()
                ))
                .with_kind(Kind::Length {
                    name: "stiffness".into(),
                    expected: part.dimension(),
                    found: part.stiffness.dimension(),
                })
                .help("both belong to the same degrees of freedom: export them from the same model"));
            }
            starts.push(starts[starts.len() - 1] + part.dimension());
        }
        let meshed = starts[parts.len()];
        let row = |at: &Location| -> Result<Row, SetupError> {
            let part = &parts[at.part];
            Ok(part.row(&at.place)?.into_iter().map(|(i, x)| (starts[at.part] + i, x)).collect())
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
        let (mass, stiffness) = match (&parts[..], sprung.is_empty()) {
            ([part], true) => (part.mass.clone(), part.stiffness.clone()),
            _ => {
                let mut stiffness = gather(&|p| Some(p.stiffness.clone()));
                stiffness.extend(sprung.iter().enumerate().map(|(z, &(_, k))| (meshed + z, meshed + z, k)));
                (Symmetric::new(n, gather(&|p| Some(p.mass.clone()))), Symmetric::new(n, stiffness))
            }
        };
        let damping = reduce::modal_damping(&parts)?;
        let damped = gather(&|p| match &p.damping {
            Damping::None | Damping::Modal(_) => None,
            Damping::Rayleigh(a, b) => Some(Symmetric::combine(&[(*a, &p.mass), (*b, &p.stiffness)])),
            Damping::Matrix(c) => Some(c.clone()),
        });
        let mut load_rows = Rows::new();
        for load in &loads {
            match load {
                Load::Force(at) => {
                    let row = row(at)?;
                    if row.is_empty() {
                        return Err(SetupError::new("a load acts where nothing can move")
                            .help("a clamped end takes any load; choose another place"));
                    }
                    load_rows.push(row);
                }
                Load::Base => {
                    let all: Vec<_> = (0..parts.len()).map(|k| (k, None)).collect();
                    load_rows.push(base(&parts, &starts, &all)?);
                }
                Load::BaseAlong(shares) => load_rows.push(base(&parts, &starts, shares)?),
                Load::Vector { part, forces } => {
                    let dimension = parts.get(*part).map_or(0, Part::dimension);
                    if forces.len() != dimension {
                        return Err(SetupError::length("a vector of loads", dimension, forces.len()));
                    }
                    let at = starts[*part];
                    load_rows.push(forces.iter().enumerate().filter(|(_, f)| **f != 0.0).map(|(i, f)| (at + i, *f)));
                }
            }
        }
        let mut stop_rows = Rows::new();
        for a in 0..model.constraints.len() {
            let mut w = match &laws[a].hole {
                Some(hole) => point_rows[hole.points[0]].iter().map(|&(i, x)| (i, -x)).collect(),
                None => gradient(&mut work, a, &point_rows)?,
            };
            if w.is_empty() {
                return Err(check::held(&model.constraints[a]));
            }
            if let Some(z) = sprung.iter().position(|(b, _)| *b == a) {
                w.push((meshed + z, 1.0));
            }
            stop_rows.push(w);
        }
        let shears = shears(&points, &parts, &starts, n);
        let places = points;
        let points = point_rows.into_iter().collect();
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
        let given = |name: &str, values: Option<&Vec<f64>>, otherwise: f64| match values {
            None => Ok(uniform(otherwise)),
            Some(values) if values.len() != meshed => Err(SetupError::length(name, meshed, values.len())),
            Some(values) => Ok(values.iter().copied().chain(std::iter::repeat_n(0.0, n - meshed)).collect()),
        };
        let q0 = given("the displacements of the start", start.displacements.as_ref(), start.displacement)?;
        let v0 = given("the velocities of the start", start.velocities.as_ref(), start.velocity)?;
        let is_massless: Vec<bool> = (0..n).map(|i| mass.row(i).all(|(_, m)| m == 0.0)).collect();
        // What has no mass is not damped either: it follows at once.
        let damped: Vec<_> = damped.into_iter().filter(|&(i, j, _)| !is_massless[i] && !is_massless[j]).collect();
        let (gyroscopic, circulatory) = skew::gather(&parts, &starts, &is_massless)?;
        let linear = Linear {
            gyroscopic,
            circulatory,
            damping: damped.iter().any(|e| e.2 != 0.0).then(|| Symmetric::new(n, damped)),
            mass,
            stiffness,
            loads: load_rows,
            stops: stop_rows,
            holes: laws.iter().enumerate().filter_map(|(a, law)| Some((a, law.hole.clone()?))).collect(),
            points,
            shears,
            outline,
            q0,
            v0,
        };
        let signals = SignalCode::compile(&model)?;
        let mut bases = bases(&loads, &parts, &starts, n);
        let has_own_damping = parts.iter().any(|p| matches!(p.damping, Damping::Matrix(_)));
        let SolverOrder { order, sparse } = skew::order(&linear, has_own_damping);
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(k, &old)| place[old] = k);
        check::memory(&linear, &place, sparse)?;
        let linear = reduce::reordered(&linear, &order, &place);
        for (_, along) in &mut bases {
            *along = order.iter().map(|&old| along[old]).collect();
        }
        let factor = check::matrices(&linear, &parts, &starts, &order)?;
        let mut structure = Structure {
            model,
            parts: Arc::new(parts),
            linear: Arc::new(linear),
            damping,
            slides,
            laws,
            at_equilibrium: start.at_equilibrium,
            bases: Arc::new(bases),
            signals,
            starts: Arc::new(starts),
            place: Arc::new(place),
            places: Arc::new(places),
            sparse,
            // (That of a narrow band is nothing; a massless degree of freedom has none in the modes.)
            held: Arc::new(Mutex::new(
                factor.filter(|f| !matches!(f, Factor::Band(_)) && !is_massless.contains(&true)),
            )),
            lowest: Arc::default(),
            reduced: Arc::default(),
        };
        check::clearances(&structure)?;
        if start.at_equilibrium {
            let q0 = structure.static_contact(0.0)?.u;
            Arc::make_mut(&mut structure.linear).q0 = q0;
        } else if is_massless.contains(&true) {
            // What has no mass is where the rest and the stops hold it: a spring may be compressed.
            let mut signals = structure.signals();
            signals.evaluate(0.0);
            let linear = Arc::make_mut(&mut structure.linear);
            let (massless, mut q0) = (linear.massless(), linear.q0.clone());
            linear.settle(&massless, &signals.loads, &signals.offsets, &mut q0)?;
            linear.q0 = q0;
        }
        check::start_of(&structure)?;
        Ok(structure)
    }

    /// For each load that moves the base, by how much the points go along.
    pub(crate) fn base_shares(&self) -> Vec<(usize, Vec<f64>)> {
        let points = &self.linear.points;
        let of = |r: &[f64]| (0..points.len()).map(|p| points.dot(p, r)).collect();
        self.bases.iter().map(|(l, r)| (*l, of(r))).collect()
    }

    /// The start that the model gives: all degrees of freedom, in the solver's order.
    pub fn start(&self) -> Start {
        let parameters = self.model.open.iter().map(|p| p.value).collect();
        Start { parameters, ..Start::new(0.0, self.linear.q0.clone(), self.linear.v0.clone()) }
    }

    /// Whether loads or stops depend on time.
    pub fn is_forced(&self) -> bool {
        let model = &self.model;
        model.signals.iter().any(|&s| model.graph.depends_on(s, model.t)) || model.has_moving_constraints()
    }

    /// What a user should know about a run with a step (none by events).
    pub(crate) fn warnings(&self, at: &StructureInstance, step: Option<f64>) -> Vec<String> {
        check::warnings(at, step)
    }

    /// A start with smooth perturbations: the lowest modes with random amplitudes, at most `size` relative to the largest
    /// displacement and velocity, or to the smallest gap for a structure at rest.
    pub(crate) fn perturbed_start(&self, start: &Start, size: f64, dice: &mut Dice) -> Start {
        let mut perturbed = start.clone();
        let (Some(modes), Ok(())) = (self.lowest(), start.check(self.linear.dimension(), 0, usize::MAX)) else {
            return perturbed;
        };
        let mut signals = self.signals();
        signals.evaluate(start.t);
        let gap = signals.offsets.iter().map(|o| o.abs()).filter(|o| *o > 0.0).fold(f64::INFINITY, f64::min);
        let far = max_abs(&start.q).max(if gap.is_finite() { gap } else { 1e-3 });
        let frequency = modes.frequencies().into_iter().find(|w| *w > 0.0).unwrap_or(1.0);
        let fast = max_abs(&start.v).max(far * frequency);
        let has_mass = |i: usize| self.linear.mass.row(i).any(|(_, m)| m != 0.0);
        let massive: Vec<usize> = (0..self.linear.dimension()).filter(|&i| has_mass(i)).collect();
        for phi in &modes.shapes {
            let largest = max_abs(phi).max(f64::MIN_POSITIVE);
            let (a, b) = (dice.between(-1.0, 1.0), dice.between(-1.0, 1.0));
            for (&i, x) in massive.iter().zip(phi) {
                perturbed.q[i] += size * far * a * x / largest;
                perturbed.v[i] += size * fast * b * x / largest;
            }
        }
        perturbed
    }

    /// For each stop, whether it is a spring.
    pub fn compliant(&self) -> Vec<bool> {
        (0..self.linear.stops.len()).map(|a| self.linear.is_compliant(a)).collect()
    }

    /// For each stop, what slides along it: the points of its friction, else the one named for the wear, and the way around a hole.
    pub fn slides(&self) -> Vec<Slide> {
        let of = |(law, named): (&StopLaw, &Option<usize>)| Slide {
            along: law.friction.as_ref().map_or_else(|| named.iter().copied().collect(), |rub| rub.slides.clone()),
            around: law.hole.as_ref().map(|hole| (hole.points, hole.centre)),
        };
        self.laws.iter().zip(&self.slides).map(of).collect()
    }

    /// For each stop, what it does besides.
    pub fn laws(&self) -> &[StopLaw] {
        &self.laws
    }

    /// Names, gaps and signals; its coordinates are the points.
    pub fn model(&self) -> &Arc<Model> {
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
        self.lowest.get_or_init(|| self.lowest_modes().ok()).as_ref()
    }

    fn lowest_modes(&self) -> Result<Modes, SetupError> {
        let count = (self.linear.dimension() - self.linear.massless().len()).min(8);
        let kept = self.reduced.lock().ok().and_then(|kept| kept.as_ref().map(|(_, modes)| modes.clone()));
        if let Some(modes) = kept.filter(|modes| modes.len() >= count) {
            return Ok(modes.first(count));
        }
        match self.take_factor() {
            Some(factor) => Modes::with_factor(&self.linear.mass, &self.linear.stiffness, count, Some(factor)),
            None => self.modes(count),
        }
    }

    fn take_factor(&self) -> Option<Factor> {
        self.held.lock().ok().and_then(|mut held| held.take())
    }

    /// Evaluates loads and offsets.
    pub fn signals(&self) -> Signals {
        Signals::new(self, &Cells::new(self.model.open.iter().map(|p| p.value)))
    }

    /// An evaluator of the gaps at displacements of the points.
    pub fn gaps(&self) -> Gaps {
        self.signals.gaps(&Cells::new(self.model.open.iter().map(|p| p.value)))
    }

    /// The modes of a reduction; those of the last one are kept.
    pub(crate) fn cached_modes(&self, massive: &Linear, count: usize) -> Result<Arc<Modes>, SetupError> {
        if let Ok(kept) = self.reduced.lock()
            && let Some((_, modes)) = kept.as_ref().filter(|(n, _)| *n == count)
        {
            return Ok(modes.clone());
        }
        let modes = Arc::new(Modes::with_factor(&massive.mass, &massive.stiffness, count, self.take_factor())?);
        if let Ok(mut kept) = self.reduced.lock() {
            *kept = Some((count, modes.clone()));
        }
        Ok(modes)
    }

    /// A row of a part in the solver's order.
    pub fn row_of(&self, part: usize, row: &Row) -> Row {
        row.iter().map(|&(i, x)| (self.place[self.starts[part] + i], x)).collect()
    }

    /// Adds a further point to be recorded, after those of the model.
    pub fn observe(&mut self, name: &str, at: &Location) -> Result<(), SetupError> {
        let Some(part) = self.parts.get(at.part) else {
            return Err(SetupError::new(format!("there is no part {}: there are {}", at.part, self.parts.len())));
        };
        if self.model.coordinates.iter().any(|c| c == name) {
            return Err(SetupError::new(format!("there is a point `{name}` already")));
        }
        let row = self.row_of(at.part, &part.row(&at.place)?);
        Arc::make_mut(&mut self.linear).points.push(row);
        Arc::make_mut(&mut self.places).push(at.clone());
        let model = Arc::make_mut(&mut self.model);
        let (q, v) = (model.graph.symbol(name), model.graph.symbol(&format!("{name}'")));
        model.q.push(q);
        model.v.push(v);
        model.coordinates.push(name.to_string());
        self.signals = SignalCode::compile(&self.model)?;
        Ok(())
    }
}

/// Paoli–Schatzman for structures, with exact flight of the modes or with Newmark's forcing.
/// `is_limited`: stops give back no more than they took.
pub(crate) fn paoli_schatzman(
    at: &StructureInstance,
    h: f64,
    is_exact: bool,
    is_limited: bool,
) -> Result<Box<dyn Stepper>, SetupError> {
    match is_exact {
        true => Ok(Box::new(exact::Exact::new(at, h, is_limited)?)),
        false => Ok(Box::new(newmark::Newmark::new(at, h, is_limited)?)),
    }
}

/// Moreau–Jean for structures.
pub(crate) fn moreau_jean(
    at: &StructureInstance,
    h: f64,
    theta: f64,
    activation: f64,
) -> Result<Box<dyn Stepper>, SetupError> {
    Ok(Box::new(moreau_jean::MoreauJean::new(at, h, theta, activation)?))
}
