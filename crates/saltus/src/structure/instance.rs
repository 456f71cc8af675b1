//! A structure at one start, in the coordinates in which it is run: its degrees of freedom, or modes.

use super::hole::Bore;
use super::{Linear, ModalDamping, Reduction, Signals, Structure};
use crate::problem::{Cells, Gaps, Start};
use crate::stepping::Node;
use crate::{Kind, Model, Reason, SetupError};
use std::sync::Arc;

/// All modes of a structure larger than this are computed only on request.
const MAX_MODES: usize = 400;

/// A structure at one start, what a scheme for structures is made from. Cheap to clone.
#[derive(Clone, Debug)]
pub struct StructureInstance {
    structure: Structure,
    linear: Arc<Linear>,
    start: Arc<Start>,
    cells: Cells,
    modes: Option<(usize, bool)>,
}

impl StructureInstance {
    /// Prepares a structure: reduced to modes if asked for, or if `needs_modes` gives a reason; massless degrees of freedom
    /// condensed otherwise.
    pub(crate) fn new(
        structure: &Structure,
        start: &Start,
        reduction: Option<Reduction>,
        needs_modes: Option<&str>,
    ) -> Result<Self, SetupError> {
        let full = &structure.linear;
        let damping =
            matches!(structure.damping, ModalDamping::Ratios(_)).then_some("modal damping is that of the modes");
        let reduction = match (reduction, needs_modes.or(damping)) {
            (None, Some(why)) => {
                let all = full.dimension() - full.massless().len();
                if all > MAX_MODES {
                    return Err(SetupError::new(format!("{why}, and {all} modes are too many"))
                        .with_kind(Kind::TooLarge)
                        .help(
                            "give the number of modes to keep, and check by a study over modes whether they are enough",
                        ));
                }
                Some(Reduction { modes: all, residual: false })
            }
            (reduction, _) => reduction,
        };
        let modes = reduction.map(|r| (r.modes, r.residual));
        // A state that a run reached is in the coordinates of that run.
        let is_reached = start.reached_by().is_some();
        if let Some(by) = start.reached_by().filter(|by| by.modes != modes) {
            let name = |modes: Option<(usize, bool)>| match modes {
                None => "degrees of freedom".to_string(),
                Some((n, false)) => format!("{n} modes"),
                Some((n, true)) => format!("{n} modes with residual flexibility"),
            };
            let message = format!("this state is one of {}, and the run is one of {}", name(by.modes), name(modes));
            return Err(SetupError::new(message)
                .with_kind(Kind::Unsupported)
                .help("go on with the scheme and the modes of the run that reached it"));
        }
        let d = full.dimension();
        let mut system = Linear::clone(full);
        if !is_reached {
            start.check(d, structure.model.open.len(), structure.model.constraints.len())?;
            system.q0.copy_from_slice(&start.q);
            system.v0.copy_from_slice(&start.v);
        }
        let mut linear = match reduction {
            Some(reduction) => structure.modal(&system, reduction)?,
            None if !full.massless().is_empty() => structure.condensed(&system)?,
            None => system,
        };
        if is_reached {
            start.check(linear.dimension(), structure.model.open.len(), structure.model.constraints.len())?;
            linear.q0.copy_from_slice(&start.q);
            linear.v0.copy_from_slice(&start.v);
        }
        if let Some(x) = linear.q0.iter().chain(&linear.v0).find(|x| !x.is_finite()) {
            return Err(SetupError::new(format!("the start of a structure must consist of finite numbers, not {x}")));
        }
        let mut start = start.clone();
        if start.parameters.is_empty() {
            start.parameters = structure.model.open.iter().map(|p| p.value).collect();
        }
        let cells = Cells::new(start.parameters.iter().copied());
        if !is_reached {
            at_rest(structure, &start, &cells, &mut linear)?;
        }
        let instance = StructureInstance {
            structure: structure.clone(),
            linear: Arc::new(linear),
            start: Arc::new(start),
            cells,
            modes,
        };
        if !is_reached {
            super::check::start(&instance)?;
        }
        Ok(instance)
    }

    /// The structure.
    pub fn structure(&self) -> &Structure {
        &self.structure
    }

    /// Names, gaps and signals; its coordinates are the points.
    pub fn model(&self) -> &Model {
        &self.structure.model
    }

    /// The matrices in the coordinates of the run.
    pub fn linear(&self) -> &Arc<Linear> {
        &self.linear
    }

    /// The start.
    pub fn start(&self) -> &Start {
        &self.start
    }

    /// The restitution of each stop.
    pub fn restitution(&self) -> Vec<f64> {
        self.structure.model.constraints.iter().map(|c| c.restitution).collect()
    }

    /// Refuses what a scheme does not know at the stops: friction, unless it `rubs`, and round holes.
    pub(super) fn plain_stops(&self, scheme: &str, rubs: bool) -> Result<(), SetupError> {
        let model = self.model();
        let found = self.structure.laws().iter().zip(&model.constraints).find_map(|(law, stop)| {
            let friction = (law.friction.is_some() && !rubs).then_some("friction");
            Some((friction.or(law.hole.is_some().then_some("a round hole"))?, stop))
        });
        match found {
            None => Ok(()),
            Some((what, stop)) => Err(SetupError::new(format!(
                "{scheme} does not know {what} at a stop of a structure, as `{}` has",
                stop.name
            ))
            .with_kind(Kind::Unsupported)
            .at(stop.span.clone(), what.to_string())
            .help(match rubs {
                true => "the scheme that does: paoli-schatzman with the forcing newmark, both of them the defaults",
                false => {
                    "the schemes that do: paoli-schatzman with the forcing newmark, both of them the defaults; friction at rigid \
                     stops also moreau-jean"
                }
            })),
        }
    }

    /// What is rounding in the gap of each stop at the start.
    pub(super) fn rounding(&self) -> Vec<f64> {
        let mut signals = self.signals();
        signals.evaluate(self.start.t);
        let (linear, offsets) = (&self.linear, &signals.offsets);
        let size = |a: usize| offsets[a].abs() + linear.reach(a);
        (0..linear.stops.len()).map(|a| 1e-13 * size(a)).collect()
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// Evaluates loads and offsets.
    pub fn signals(&self) -> Signals {
        Signals::new(&self.structure, &self.cells)
    }

    /// An evaluator of the gaps in terms of the points.
    pub fn gaps(&self) -> Gaps {
        self.structure.signals.gaps(&self.cells)
    }

    /// The displacements by which it is drawn, at a state.
    pub(super) fn shape(&self, q: &[f64]) -> Option<Vec<f64>> {
        let rows = &self.linear.outline;
        (!rows.is_empty()).then(|| (0..rows.len()).map(|r| rows.dot(r, q)).collect())
    }

    /// The modes it runs in: how many, and whether with residual flexibility; None: degrees of freedom.
    pub(crate) fn modes(&self) -> Option<(usize, bool)> {
        self.modes
    }

    /// What a unit impulse on each stop adds to the velocities of the points: one row per stop, from the columns `mobility`
    /// of the degrees of freedom times `scale`.
    pub(super) fn point_responses(&self, mobility: &[f64], scale: f64) -> Vec<f64> {
        let (points, n) = (&self.linear.points, self.linear.dimension());
        let columns = mobility.chunks_exact(n.max(1)).take(self.linear.stops.len());
        columns.flat_map(|column| (0..points.len()).map(move |p| scale * points.dot(p, column))).collect()
    }
}

/// The start in the coordinates of the run: an equilibrium is one of the modes that are kept, and what has no mass is where the rest
/// and the stops hold it.
fn at_rest(structure: &Structure, start: &Start, cells: &Cells, linear: &mut Linear) -> Result<(), SetupError> {
    let massless = linear.massless();
    let is_own = structure.at_equilibrium && start.t == 0.0 && start.q == structure.linear.q0;
    if massless.is_empty() && !is_own {
        return Ok(());
    }
    let mut signals = Signals::new(structure, cells);
    signals.evaluate(start.t);
    if is_own && linear.dimension() != structure.linear.dimension() {
        let scale = structure.first_period().map_or(0.0, |period| (std::f64::consts::TAU / period).powi(2));
        linear.q0 = super::statics::rest(linear, structure.laws(), &signals.loads, &signals.offsets, scale)?.u;
    } else if !massless.is_empty() {
        let mut q0 = linear.q0.clone();
        linear.settle(&massless, &signals.loads, &signals.offsets, &mut q0)?;
        linear.q0 = q0;
    }
    Ok(())
}

/// Refuses what has grown out of bounds. Checking periodically is enough: what grows out of bounds stays there.
pub(super) fn bounded(x: &[f64], what: &str) -> Result<(), Reason> {
    match x.iter().position(|x| !(x.abs() < 1e150)) {
        Some(i) => Err(Reason::NotFinite { coordinate: format!("{what} {}", i + 1) }),
        None => Ok(()),
    }
}

/// Fills in a node of a structure: points by their rows, the impulses, and the jump they make.
pub(super) struct PointNode<'a> {
    pub instance: &'a StructureInstance,
    /// m rows: what a unit impulse adds to the velocities of the points.
    pub responses: &'a [f64],
    /// Round holes, whose second rows stand behind the others.
    pub bores: &'a [Bore],
}

impl PointNode<'_> {
    /// Time, positions and impulses.
    pub fn place(&self, node: &mut Node, n: u64, h: f64, q: &[f64], impulses: &[f64]) {
        let points = &self.instance.linear.points;
        node.index = n;
        node.t = self.instance.start.t + n as f64 * h;
        node.contact = false;
        for (p, x) in node.q.iter_mut().enumerate() {
            *x = points.dot(p, q);
        }
        for (to, &from) in node.impulses.iter_mut().zip(impulses) {
            *to = from;
            node.contact |= from > 0.0;
        }
    }

    /// The jump of point p.
    pub fn jump(&self, p: usize, impulses: &[f64]) -> f64 {
        let (d, m) = (self.instance.linear.points.len(), impulses.len());
        let acting = impulses.iter().enumerate().filter(|(_, x)| **x != 0.0);
        let jump = acting.map(|(a, x)| match self.bores.iter().position(|bore| bore.stop == a) {
            None => x * self.responses[a * d + p],
            Some(k) => {
                let pair = self.bores[k].unturned(*x, 0.0);
                pair[0] * self.responses[a * d + p] + pair[1] * self.responses[(m + k) * d + p]
            }
        });
        jump.sum()
    }

    /// Velocities from the mean velocities of the two steps that meet at the node.
    pub fn staggered(&self, node: &mut Node, h: f64, before: &[f64], after: &[f64]) {
        let points = &self.instance.linear.points;
        for p in 0..node.q.len() {
            let jump = if node.contact { self.jump(p, &node.impulses) } else { 0.0 };
            let (left, right) = (points.dot(p, before) / h, points.dot(p, after) / h);
            let gain = right - left - jump;
            node.v_left[p] = left + 0.5 * gain;
            node.v_right[p] = node.v_left[p] + jump;
            node.acceleration[p] = gain / h;
        }
    }
}
