//! What is looked at before a structure runs, and what a person should know after.

use super::run::StructureOptions;
use super::{Linear, Part, Structure};
use crate::linalg::Symmetric;
use crate::{Outside, Run, RunOptions, SetupError};

/// A structure at a glance.
#[derive(Clone, Debug)]
pub struct Portrait {
    /// Number of degrees of freedom.
    pub dofs: usize,
    /// Those without mass.
    pub massless: usize,
    /// The half-bandwidth in the order in which they are solved.
    pub half_bandwidth: usize,
    /// The mass that moves with a translation, by parts; none where its direction is not known.
    pub masses: Vec<(String, Option<f64>)>,
    /// The lowest frequencies in Hz, rigid-body modes (zero) included.
    pub frequencies: Vec<f64>,
    /// Number of rigid-body modes among them.
    pub rigid: usize,
    /// Their names where the parts tell: `translation of the bar`.
    pub rigid_names: Vec<String>,
}

impl Portrait {
    /// Looks at a structure.
    pub fn new(structure: &Structure) -> Result<Self, SetupError> {
        let linear = &structure.linear;
        let modes = structure.lowest().cloned().unwrap_or_default();
        let rigid = modes.squares.iter().filter(|&&x| x == 0.0).count();
        let masses = structure.parts.iter().map(|p| (label(p), p.total_mass()));
        // A rigid motion r has K r = 0.
        let free = structure.parts.iter().filter(|p| {
            p.translation().is_some_and(|r| {
                let mut force = vec![0.0; r.len()];
                p.stiffness.multiply(&r, &mut force);
                let largest = p.stiffness.entries().fold(0.0_f64, |m, e| m.max(e.2.abs()));
                force.iter().all(|f| f.abs() <= 1e-9 * largest)
            })
        });
        let mut rigid_names: Vec<String> = free.map(|p| format!("translation of {}", label(p))).collect();
        if rigid > rigid_names.len() {
            rigid_names.push(format!("{} more", rigid - rigid_names.len()));
        }
        Ok(Portrait {
            dofs: linear.dimension(),
            massless: linear.massless().len(),
            half_bandwidth: linear.stiffness.half_bandwidth().max(linear.mass.half_bandwidth()),
            masses: masses.collect(),
            frequencies: modes.frequencies().iter().map(|w| w / std::f64::consts::TAU).collect(),
            rigid,
            rigid_names,
        })
    }
}

fn label(part: &Part) -> String {
    if part.name.is_empty() { part.what.clone() } else { format!("`{}`", part.name) }
}

/// Which part a degree of freedom belongs to, and its number there, counted from 1.
fn locate(starts: &[usize], i: usize) -> (usize, usize) {
    let part = starts.partition_point(|&s| s <= i).clamp(1, starts.len() - 1) - 1;
    (part, i - starts[part] + 1)
}

/// Matrices that cannot be those of a structure are refused.
pub(super) fn matrices(linear: &Linear, parts: &[Part], starts: &[usize], order: &[usize]) -> Result<(), SetupError> {
    let n = linear.dimension();
    let who = |i: usize| {
        let (part, dof) = locate(starts, order[i]);
        format!("degree of freedom {dof} of {}", parts.get(part).map_or("the structure".into(), label))
    };
    if let Some(i) = (0..n).find(|&i| !(linear.mass.at(i, i) >= 0.0)) {
        return Err(SetupError::new(format!("the mass of {} is {}", who(i), linear.mass.at(i, i)))
            .help("masses are not negative"));
    }
    let massless = linear.massless();
    if massless.len() == n {
        return Err(SetupError::new("no degree of freedom has a mass").help("a structure needs some inertia"));
    }
    let ones = massless.iter().map(|&i| (i, i, 1.0));
    let mass = Symmetric::new(n, linear.mass.entries().chain(ones).collect());
    if let Err(e) = mass.factor() {
        return Err(SetupError::new(format!("the mass matrix is not positive definite: it fails at {}", who(e.pivot)))
            .help("kinetic energy must be positive; a massless degree of freedom has an empty row"));
    }
    // K + εM with ε far below any frequency but above rounding: definite unless K is indefinite.
    let ratio = (0..n).map(|i| linear.stiffness.at(i, i).abs() / mass.at(i, i)).fold(0.0, f64::max);
    let shifted = Symmetric::combine(&[(1.0, &linear.stiffness), (1e-9 * ratio, &mass)]);
    if !ratio.is_finite() {
        return Err(SetupError::new("stiffness over mass is too large a number to compute with")
            .help("check the units of the data"));
    }
    if let Err(e) = shifted.factor()
        && ratio > 0.0
    {
        return Err(SetupError::new(format!("the stiffness matrix is indefinite: it fails at {}", who(e.pivot))).help(
            "no displacement may have negative elastic energy; check signs, missing halves and boundary conditions",
        ));
    }
    Ok(())
}

/// The start must respect the stops.
pub(super) fn start(structure: &Structure) -> Result<(), SetupError> {
    let mut signals = structure.signals();
    signals.look(0.0);
    let linear = &structure.linear;
    for (a, constraint) in structure.model.constraints.iter().enumerate() {
        if linear.stops.row(a).0.is_empty() {
            return Err(SetupError::new(format!("the stop `{}` acts on nothing that can move", constraint.name))
                .at(constraint.span.clone(), "its points are held")
                .help("a clamped end does not move; choose another place"));
        }
        let gap = signals.offsets[a] + linear.stops.dot(a, &linear.q0);
        let size = signals.offsets[a].abs() + linear.stops.dot_abs(a, &linear.q0);
        if !(gap >= -1e-9 * size) {
            return Err(SetupError::new(format!(
                "the structure starts inside the stop `{}`: its gap is {gap:.6}",
                constraint.name
            ))
            .at(constraint.span.clone(), "negative at t = 0")
            .help("move the start or the stop; nothing is repaired silently"));
        }
    }
    Ok(())
}

/// Touches nearer to each other than this are one shock.
pub(super) fn rest(structure: &Structure, more: &StructureOptions, step: f64) -> f64 {
    if more.rest > 0.0 {
        return more.rest;
    }
    let first = structure.lowest().and_then(|m| m.frequencies().into_iter().find(|w| *w > 0.0));
    first.map_or(4.0 * step, |w| (0.01 * std::f64::consts::TAU / w).max(4.0 * step))
}

/// What the person should know about a run.
pub(super) fn advise(
    structure: &Structure,
    linear: &Linear,
    options: &RunOptions,
    more: &StructureOptions,
    run: &mut Run,
) {
    let model = &structure.model;
    run.warnings.extend(model.warnings.iter().cloned());
    for table in &model.inputs {
        let (from, to) = table.range();
        if model.graph.table_arguments(table).contains(&model.t) && (from > 0.0 || to < options.end * (1.0 - 1e-9)) {
            let beyond = match table.outside() {
                Outside::Hold => "its end values are held outside",
                Outside::Zero => "it is zero outside",
            };
            run.warnings.push(format!(
                "the record `{}` has data from t = {from} to {to} only, and the run goes to {}; {beyond}",
                table.name(),
                options.end
            ));
        }
    }
    let first = structure.lowest().and_then(|m| m.frequencies().into_iter().find(|w| *w > 0.0));
    if let (Some(w), Some(_)) = (first, options.scheme.stepping())
        && run.step * w > 0.6
    {
        run.warnings.push(format!(
            "the step {} is more than a tenth of the first period {:.4}: the motion is not resolved",
            run.step,
            std::f64::consts::TAU / w
        ));
    }
    on_meshes(structure, run);
    rounding(structure, linear, run);
    if let Some(reduction) = more.reduction {
        run.notes.push(format!(
            "{} of {} modes{}: `saltus converge MODEL --over modes` shows whether they are enough",
            reduction.modes,
            structure.linear.dimension() - structure.linear.massless().len(),
            if reduction.residual { " with the residual flexibility of the others at the stops" } else { "" }
        ));
    }
    let fine = run.trajectory.impacts.iter().filter(|i| i.law_residual > 0.1).count();
    if fine > 0 && fine * 4 > run.trajectory.impacts.len() {
        run.notes.push(format!(
            "within the two steps of an impact the elastic forces change the velocity of the node by more than a tenth of the \
             approach at {fine} of {} impacts: the step does not resolve the node's own motion",
            run.trajectory.impacts.len()
        ));
    }
}

/// Stops that stand still cannot give energy: if they did, the step is to blame.
pub(super) fn on_energy(ledger: &crate::Ledger, run: &mut Run) {
    if let Some(p) = ledger.properties.iter().find(|p| p.name == "L" && !p.holds) {
        run.warnings.push(format!(
            "the stops gave energy, {:.1} % of what was exchanged, which stops that stand still cannot: do not trust this run. Take \
             e = 0, a smaller step, or moreau-jean",
            100.0 * p.figure
        ));
    }
    if ledger.balance.relative() > 0.1 {
        run.warnings.push(format!(
            "the energy balance is open by {:.0} %: the step is too large, or the mesh too fine for double precision",
            100.0 * ledger.balance.relative()
        ));
    }
}

/// Restitution on a node of a mesh is no property of the material.
fn on_meshes(structure: &Structure, run: &mut Run) {
    let linear = &structure.linear;
    for (a, constraint) in structure.model.constraints.iter().enumerate() {
        if constraint.restitution == 0.0 || linear.is_compliant(a) {
            continue;
        }
        let (columns, _) = linear.stops.row(a);
        let meshed = columns.iter().find_map(|&i| {
            let natural = structure.place.iter().position(|&p| p == i)?;
            let (part, _) = locate(&structure.starts, natural);
            structure.parts.get(part).filter(|p| !p.is_lumped_body)
        });
        let Some(part) = meshed else { continue };
        let Ok(own) = linear.contact_mass(a) else { continue };
        let total = part
            .translation()
            .map_or_else(|| (0..part.dimension()).map(|i| part.mass.at(i, i)).sum::<f64>(), |r| part.mass.form(&r, &r));
        if own < 0.2 * total {
            run.warnings.push(format!(
                "`{}` has e = {} on a node of a mesh, whose mass is {:.2e} of the structure's: the rebound then depends on the \
                 mesh, and finer meshes chatter more. Take e = 0, or a stop with a stiffness or on a massless node (docs/structures.md)",
                constraint.name,
                constraint.restitution,
                own / total
            ));
        }
    }
}

/// Stiffness entries of a very fine beam cancel until rounding is all that is left of the low modes.
fn rounding(structure: &Structure, linear: &Linear, run: &mut Run) {
    if linear.is_modal() {
        return;
    }
    let first = structure.lowest().and_then(|m| m.squares.iter().copied().find(|&x| x > 0.0));
    let Some(lowest) = first else { return };
    let n = linear.dimension();
    let stiffest = (0..n)
        .filter(|&i| linear.mass.at(i, i) > 0.0)
        .map(|i| linear.stiffness.at(i, i) / linear.mass.at(i, i))
        .fold(0.0, f64::max);
    // Rounding differs from node to node: the mean over a mode is smaller by their number.
    let lost = f64::EPSILON * stiffest / lowest / n as f64;
    if lost > 1e-3 {
        run.warnings.push(format!(
            "the mesh is so fine that rounding in K reaches about {lost:.0e} of the first mode: a coarser one is more accurate"
        ));
    }
}
