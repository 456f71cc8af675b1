//! What a structure is made of, and the rows that follow from it.

use super::{Part, Place, Row, StopLaw, Structure};
use crate::{Model, SetupError};
use std::sync::Arc;

/// A place on one of the parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    /// Which part.
    pub part: usize,
    /// Where on it.
    pub place: Place,
}

/// What a signal of the model does.
#[derive(Clone, Debug, PartialEq)]
pub enum Load {
    /// A force at a place.
    Force(Location),
    /// The acceleration of the base: −M r s(t), displacements being relative to the base.
    Base,
    /// One component of a base that moves in several directions: the parts that go along, each with the displacements of its degrees
    /// of freedom when the base moves by one; none: its own translation.
    BaseAlong(Vec<(usize, Option<Vec<f64>>)>),
    /// A vector of forces on all degrees of freedom of a part.
    Vector {
        /// Which part.
        part: usize,
        /// One force for each degree of freedom.
        forces: Vec<f64>,
    },
}

/// How a structure starts by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitialState {
    /// The displacement of everything, as of a rigid body.
    pub displacement: f64,
    /// The velocity of everything.
    pub velocity: f64,
    /// Whether to start in equilibrium with the loads and stops of t = 0: contact statics.
    pub at_equilibrium: bool,
    /// The displacements of all degrees of freedom, part by part, in place of one of everything.
    pub displacements: Option<Vec<f64>>,
    /// Their velocities.
    pub velocities: Option<Vec<f64>>,
}

/// What a structure is made of.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Names, gaps and signals; its coordinates are the points.
    pub model: Arc<Model>,
    /// The parts, which share nothing but stops.
    pub parts: Vec<Part>,
    /// Where the points are, in the order of the model's coordinates.
    pub points: Vec<Location>,
    /// What the signals of the model do, in their order.
    pub loads: Vec<Load>,
    /// For each constraint, the stiffness of a spring between structure and stop, if there is one.
    pub springs: Vec<Option<f64>>,
    /// For each constraint, the point that slides along it, for the wear.
    pub slides: Vec<Option<usize>>,
    /// For each constraint, what it does besides.
    pub laws: Vec<StopLaw>,
    /// The start.
    pub start: InitialState,
}

/// The loads that move the base, each with what goes along: a number per degree of freedom.
pub(super) fn bases(loads: &[Load], parts: &[Part], starts: &[usize], n: usize) -> Vec<(usize, Vec<f64>)> {
    let mut bases = Vec::new();
    for (l, load) in loads.iter().enumerate() {
        let shares: Vec<_> = match load {
            Load::Base => (0..parts.len()).map(|k| (k, None)).collect(),
            Load::BaseAlong(shares) => shares.clone(),
            _ => continue,
        };
        let mut along = vec![0.0; n];
        for (k, own) in shares {
            let r = own.or_else(|| parts[k].translation()).unwrap_or_default();
            r.iter().enumerate().for_each(|(i, r)| along[starts[k] + i] += r);
        }
        bases.push((l, along));
    }
    bases
}

/// M r over the parts that go along, with the sign of an inertial force.
pub(super) fn base(parts: &[Part], starts: &[usize], shares: &[(usize, Option<Vec<f64>>)]) -> Result<Row, SetupError> {
    let mut row = Row::new();
    for (k, own) in shares {
        let (Some(part), Some(&at)) = (parts.get(*k), starts.get(*k)) else {
            return Err(SetupError::new(format!("there is no part {k}: there are {}", parts.len())));
        };
        if let Some(r) = own.as_ref().filter(|r| r.len() != part.dimension()) {
            return Err(SetupError::length("the direction of the base", part.dimension(), r.len()));
        }
        let r = own.clone().or_else(|| part.translation()).ok_or_else(|| {
            SetupError::new("a base that moves needs the direction in which the degrees of freedom move with it")
                .help("add  direction = \"all\"  (every degree of freedom is a displacement along the motion), a list of degrees of freedom, or a file, to [structure]")
        })?;
        let force = match &part.carried {
            Some(force) if own.is_none() => force.clone(),
            _ => {
                let mut force = vec![0.0; part.dimension()];
                part.mass.multiply(&r, &mut force);
                force
            }
        };
        row.extend(force.iter().enumerate().filter(|(_, f)| **f != 0.0).map(|(i, f)| (at + i, -f)));
    }
    Ok(row)
}

/// Points that observe the shear of a base: which, and the translation of their parts.
pub(super) fn shears(points: &[Location], parts: &[Part], starts: &[usize], n: usize) -> Vec<(usize, Vec<f64>)> {
    let translation = |at: &Location| {
        let mut r = vec![0.0; n];
        let own = parts[at.part].sheared(&at.place).unwrap_or_default();
        own.iter().enumerate().for_each(|(i, x)| r[starts[at.part] + i] = *x);
        r
    };
    let is_shear = |at: &Location| matches!(at.place, Place::Shear | Place::ShearAlong(_));
    let of_base = points.iter().enumerate().filter(|(_, at)| is_shear(at));
    of_base.map(|(p, at)| (p, translation(at))).collect()
}

/// Points without a unit of their own have that of what they are: a length, a force, an angle.
pub(super) fn with_units(mut model: Arc<Model>, points: &[Location]) -> Arc<Model> {
    let units = &model.units;
    let is_bare = |p: usize| units.position(p).is_empty();
    let of = |at: &Location| match at.place {
        Place::Shear | Place::ShearAlong(_) => units.force.clone(),
        Place::Rotation(_) if !units.length.is_empty() => "rad".to_string(),
        Place::Rotation(_) => String::new(),
        _ => units.length.clone(),
    };
    let found: Vec<(usize, String)> = (points.iter().enumerate())
        .filter(|(p, _)| is_bare(*p))
        .map(|(p, at)| (p, of(at)))
        .filter(|(_, unit)| !unit.is_empty())
        .collect();
    if !found.is_empty() {
        let units = &mut Arc::make_mut(&mut model).units;
        units.coordinates.resize(points.len(), String::new());
        found.into_iter().for_each(|(p, unit)| units.coordinates[p] = unit);
    }
    model
}

/// The row of a gap that is affine in the points.
pub(super) fn gradient(model: &mut Model, a: usize, points: &[Row]) -> Result<Row, SetupError> {
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

impl Structure {
    /// Where the points are.
    pub fn places(&self) -> &[Location] {
        &self.places
    }

    /// For each stop, the points its gap depends on, and by how much.
    pub fn stop_slopes(&self) -> Vec<Vec<(usize, f64)>> {
        let mut model = self.model.as_ref().clone();
        let gaps: Vec<_> = model.constraints.iter().map(|c| c.gap).collect();
        let mut of = |gap| {
            let slopes = (0..model.q.len()).filter_map(|p| {
                let slope = model.graph.derivative(gap, model.q[p]);
                Some((p, model.graph.value(slope)?))
            });
            slopes.filter(|(_, s)| *s != 0.0).collect()
        };
        gaps.into_iter().map(&mut of).collect()
    }
}
