//! What is checked before a structure runs, and what a user should know after.

use super::facts::label;
use super::{Linear, Part, StopLaw, Structure, StructureInstance};
use crate::linalg::{Factor, NotPositiveDefinite, Symmetric};
use crate::model::Constraint;
use crate::text::{gib, grouped, number};
use crate::{Kind, SetupError};

/// Which part a degree of freedom belongs to, and its number there, counted from 1.
fn locate(starts: &[usize], i: usize) -> (usize, usize) {
    let part = starts.partition_point(|&s| s <= i).clamp(1, starts.len() - 1) - 1;
    (part, i - starts[part] + 1)
}

/// Matrices that cannot be those of a structure are rejected. Gives the factor of K, where it has one.
pub(super) fn matrices(
    linear: &Linear,
    parts: &[Part],
    starts: &[usize],
    order: &[usize],
) -> Result<Option<Factor>, SetupError> {
    let n = linear.dimension();
    let who = |i: usize| {
        let (part, dof) = locate(starts, order[i]);
        format!("degree of freedom {dof} of {}", parts.get(part).map_or("the structure".into(), label))
    };
    if let Some(i) = (0..n).find(|&i| !(linear.mass.at(i, i) >= 0.0)) {
        return Err(SetupError::new(format!("the mass of {} is {}", who(i), linear.mass.at(i, i)))
            .help("masses are not negative"));
    }
    if linear.massless().len() == n {
        return Err(SetupError::new("no degree of freedom has a mass").help("a structure needs some inertia"));
    }
    let mass = linear.definite_mass();
    if let Err(e) = mass.factor() {
        return Err(SetupError::new(format!("the mass matrix is not positive definite: it fails at {}", who(e.pivot)))
            .help("kinetic energy must be positive; a massless degree of freedom has an empty row"));
    }
    // K + εM with ε far below any frequency but above rounding: definite unless K is indefinite.
    let ratio = (0..n).map(|i| linear.stiffness.at(i, i).abs() / mass.at(i, i)).fold(0.0, f64::max);
    if !ratio.is_finite() {
        return Err(SetupError::new("stiffness over mass is too large a number to compute with")
            .help("check the units of the data"));
    }
    // Where K has a factor, it is not indefinite; the factor is of further use.
    if let Ok(factor) = linear.stiffness.factor() {
        return Ok(Some(factor));
    }
    let shifted = Symmetric::combine(&[(1.0, &linear.stiffness), (1e-9 * ratio, &mass)]);
    if let Err(e) = shifted.factor()
        && ratio > 0.0
    {
        return Err(SetupError::new(format!("the stiffness matrix is indefinite: it fails at {}", who(e.pivot))).help(
            "no displacement may have negative elastic energy; check signs, missing halves and boundary conditions",
        ));
    }
    Ok(None)
}

/// Why the matrix of a step has no factor.
pub(super) fn step_matrix(e: NotPositiveDefinite, h: f64) -> SetupError {
    SetupError::new(format!(
        "the matrix of a step, M + hC/2 + h²K/4, is not positive definite (degree of freedom {}) with h = {h}",
        e.pivot + 1
    ))
    .help("a massless degree of freedom needs a stiffness; a stiffness matrix has no negative eigenvalue; where damping is negative, take a smaller step")
}

/// Why stops with laws of their own cannot act beside something on a massless degree of freedom of the mesh.
pub(super) fn massless_beside(at: &StructureInstance, massless: &[usize]) -> SetupError {
    let (linear, structure) = (at.linear(), at.structure());
    let constraints = &structure.model().constraints;
    let lawful = structure.laws().iter().position(StopLaw::needs_rows);
    let own = structure.meshed();
    // In the coordinates of modes all massless unknowns stand for the flexibility of the rest.
    let is_reduced = linear.dimension() != structure.linear().dimension();
    let of_mesh = |i: usize| is_reduced || structure.place[..own].contains(&i);
    let acts = |a: &usize| linear.stops.entries(*a).any(|(i, x)| x != 0.0 && massless.contains(&i) && of_mesh(i));
    let beside = lawful.map_or(String::new(), |a| format!(", beside `{}`", constraints[a].name));
    let what = "damping, Hertz' law, friction or a round hole";
    let error = match (0..linear.stops.len()).find(acts) {
        Some(a) => SetupError::new(format!(
            "the stop `{}` acts on a degree of freedom without mass{beside}, which has {what}: that is not supported",
            constraints[a].name
        ))
        .at(constraints[a].span.clone(), "this gap moves something without mass"),
        None => SetupError::new(format!(
            "a degree of freedom of the mesh has no mass{beside}, which has {what}: that is not supported"
        )),
    };
    error.with_kind(Kind::Unsupported).help(match is_reduced {
        true => "leave --residual out: the flexibility of the modes left out is without mass".to_string(),
        false => "condense the degree of freedom out of the matrices, or give it a small mass".to_string(),
    })
}

/// The laws of the stops must be such that they can act.
pub(super) fn laws(laws: &[StopLaw], springs: &[Option<f64>], points: usize) -> Result<(), SetupError> {
    for (law, spring) in laws.iter().zip(springs) {
        if !(law.damping >= 0.0 && law.damping.is_finite()) {
            let kind = Kind::OutOfRange { name: "damping".into(), value: law.damping };
            let message = format!("the damping of a stop must not be negative, as {} is", law.damping);
            return Err(SetupError::new(message).with_kind(kind));
        }
        if spring.is_none() && (law.damping != 0.0 || law.is_hertz) {
            return Err(SetupError::new("damping at a stop stands beside a stiffness: a rigid stop has none")
                .help("give the stop a stiffness, or a restitution instead"));
        }
        if let Some(hole) = &law.hole {
            if hole.points.iter().any(|&p| p >= points) || hole.points[0] == hole.points[1] {
                return Err(SetupError::new("a round hole surrounds two points, the displacements across it"));
            }
            if !hole.centre.iter().all(|x| x.is_finite()) {
                return Err(SetupError::new("the centre of a round hole must consist of finite numbers"));
            }
        }
        let Some(rub) = &law.friction else { continue };
        if !(rub.coefficient >= 0.0 && rub.coefficient.is_finite()) {
            let kind = Kind::OutOfRange { name: "friction".into(), value: rub.coefficient };
            let message = format!("a coefficient of friction must not be negative, as {} is", rub.coefficient);
            return Err(SetupError::new(message).with_kind(kind));
        }
        let slips = if law.hole.is_some() { 0..=1 } else { 1..=2 };
        if !slips.contains(&rub.slides.len()) || rub.slides.iter().any(|&p| p >= points) {
            return Err(SetupError::new(match law.hole {
                Some(_) => "friction in a round hole goes around it, and along at most one further point",
                None => "friction needs the point that slides along the stop: one in the plane, two in space",
            }));
        }
    }
    Ok(())
}

/// What factors need, in the order in which they will be factored: the entries of a sparse one, or everything between the first entry
/// of a row and the diagonal. They are three: of M, of K, and of the matrix of a step, which takes twice as much where it is not symmetric.
pub(super) fn memory(linear: &Linear, place: &[usize], sparse: Option<f64>) -> Result<(), SetupError> {
    let matrices = [Some(&linear.stiffness), Some(&linear.mass), linear.damping.as_ref()];
    let mut first: Vec<usize> = (0..place.len()).collect();
    let skews = linear.skews(1.0, 1.0);
    let skew = skews.iter().flat_map(|(_, a)| a.entries());
    for (i, j, _) in matrices.into_iter().flatten().flat_map(Symmetric::entries).chain(skew) {
        let (i, j) = (place[i], place[j]);
        first[i] = first[i].min(j);
    }
    let profile: f64 = first.iter().enumerate().map(|(i, first)| (i - first) as f64).sum();
    // (A sparse factor has the indices of its panels besides, far fewer than entries.)
    let factors = if linear.is_symmetric() { 3.0 } else { 4.0 };
    let bytes = factors * 8.0 * sparse.map_or(profile, |entries| 1.1 * entries);
    match bytes > super::MOST_MEMORY {
        true => Err(SetupError::new(format!(
            "the factors of matrices with {} degrees of freedom and this pattern would take about {}",
            grouped(place.len() as u64),
            gib(bytes)
        ))
        .with_kind(Kind::TooLarge)
        .help("reduce the model where it was made (modes, a superelement, a coarser mesh) and export the smaller matrices")),
        false => Ok(()),
    }
}

/// A round hole has a clearance.
pub(super) fn clearances(structure: &Structure) -> Result<(), SetupError> {
    let mut signals = structure.signals();
    signals.evaluate(0.0);
    for (a, hole) in &structure.linear.holes {
        let (radius, stop) = (signals.offsets[*a] + hole.eccentricity(), &structure.model.constraints[*a]);
        if !(radius > 0.0 && radius.is_finite()) {
            let kind = Kind::OutOfRange { name: "within".into(), value: radius };
            // (Next to nothing stands for zero in the gap's expression.)
            let shown = number(if radius.abs() < 1e-200 { 0.0 } else { radius }, 6);
            let message = format!("the clearance of the hole `{}` must be positive, not {shown}", stop.name);
            let error = SetupError::new(message).with_kind(kind).at(stop.span.clone(), "not positive");
            return Err(error.help("a preloaded support has its `centre` off the place of the points at rest"));
        }
    }
    Ok(())
}

/// A stop on nothing that moves is a mistake, with a spring of its own or without.
pub(super) fn held(stop: &Constraint) -> SetupError {
    SetupError::new(format!("the stop `{}` acts on nothing that can move", stop.name))
        .at(stop.span.clone(), "its points are held")
        .help("a clamped end does not move; choose another place")
}

/// The start of the model must respect the stops.
pub(super) fn start_of(structure: &Structure) -> Result<(), SetupError> {
    let mut signals = structure.signals();
    signals.evaluate(0.0);
    gaps_at_start(structure, &structure.linear, &signals.offsets, 0.0)
}

/// A start must respect the stops.
pub(super) fn start(instance: &StructureInstance) -> Result<(), SetupError> {
    let mut signals = instance.signals();
    let t = instance.start().t;
    signals.evaluate(t);
    gaps_at_start(instance.structure(), instance.linear(), &signals.offsets, t)
}

fn gaps_at_start(structure: &Structure, linear: &Linear, offsets: &[f64], t: f64) -> Result<(), SetupError> {
    for (a, constraint) in structure.model.constraints.iter().enumerate() {
        let hole = linear.holes.iter().find(|(stop, _)| *stop == a).map(|(_, hole)| hole);
        let across = hole.is_some_and(|hole| linear.points.row(hole.points[1]).0.is_empty());
        if linear.stops.row(a).0.is_empty() || across {
            return Err(held(constraint));
        }
        let gap = linear.gap(a, offsets[a], &linear.q0);
        let size = offsets[a].abs() + linear.reach(a);
        if !(gap >= -1e-9 * size) {
            return Err(SetupError::new(format!(
                "the structure starts inside the stop `{}`: its gap is {gap:.6}",
                constraint.name
            ))
            .with_kind(Kind::Inadmissible { constraint: constraint.name.clone(), gap })
            .at(constraint.span.clone(), format!("negative at t = {t}"))
            .help("move the start or the stop; for a preloaded support let the run start at rest against it, [start] equilibrium = true"));
        }
    }
    Ok(())
}

/// What a user should know about a run of a structure: warnings.
pub(crate) fn warnings(instance: &StructureInstance, step: Option<f64>) -> Vec<String> {
    let structure = instance.structure();
    let mut warnings = Vec::new();
    // A bound may do, without a mode.
    let is_resolved = |h: f64| structure.slowest().is_some_and(|square| h * square.sqrt() <= 0.6);
    if let Some(h) = step.filter(|&h| !is_resolved(h))
        && let Some(period) = structure.first_period()
        && h * std::f64::consts::TAU / period > 0.6
    {
        warnings.push(format!(
            "the step {h} is more than a tenth of the first period {period:.4}: the motion is not resolved"
        ));
    }
    if structure.brings_energy() && structure.linear.gyroscopic.is_none() && structure.linear.circulatory.is_none() {
        warnings.push(
            "the damping matrix is not positive semidefinite: it brings energy in, and motions may grow without bound. Check its \
             signs; where it is meant, say `unsymmetric = true`"
                .into(),
        );
    }
    on_meshes(structure, &mut warnings);
    rounding(structure, instance.linear(), &mut warnings);
    warnings
}

/// Restitution on a node of a mesh is no property of the material.
fn on_meshes(structure: &Structure, warnings: &mut Vec<String>) {
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
            warnings.push(format!(
                "`{}` has e = {} on a node of a mesh, whose mass is {:.2e} of the structure's: the rebound then depends on the \
                 mesh, and finer meshes chatter more. Use e = 0, or a stop with a stiffness or on a massless node (docs/structures.md)",
                constraint.name,
                constraint.restitution,
                own / total
            ));
        }
    }
}

/// Stiffness entries of a very fine beam cancel until rounding is all that is left of the low modes.
fn rounding(structure: &Structure, linear: &Linear, warnings: &mut Vec<String>) {
    if linear.is_modal() {
        return;
    }
    let n = linear.dimension();
    let stiffest = (0..n)
        .filter(|&i| linear.mass.at(i, i) > 0.0)
        .map(|i| linear.stiffness.at(i, i) / linear.mass.at(i, i))
        .fold(0.0, f64::max);
    // Rounding differs from node to node: the mean over a mode is smaller by their number.
    let lost = |square: f64| f64::EPSILON * stiffest / square / n as f64;
    if structure.slowest().is_some_and(|square| lost(square) < 1e-4) {
        return;
    }
    let first = structure.lowest().and_then(|m| m.squares.iter().copied().find(|&x| x > 0.0));
    let Some(lost) = first.map(lost) else { return };
    if lost > 1e-3 {
        warnings.push(format!(
            "the mesh is so fine that rounding in K reaches about {lost:.0e} of the first mode: a coarser one is more accurate"
        ));
    }
}
