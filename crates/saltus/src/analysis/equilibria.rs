//! Equilibria: q with g(t, q, 0) + Σ λα ∇fα(t, q) = 0, 0 ≤ f ⊥ λ ≥ 0 ([B] = Brogliato 2003, (3)).
//!
//! For every set of constraints that may act together this is a system of equations, solved by Newton's method with exact
//! derivatives from many starts; a step is the shortest that solves the linearised equations, so that bodies free to be
//! anywhere (a block on a floor) stay where they start. A root counts if the test of Newton and Kantorovich holds; a
//! degenerate one is looked at on small spheres around it; a point that drifts to where the force decays is none. Few constraints: every set of them. Many: the sets met on the way by
//! a semismooth Newton method, which guesses the set from the present point.
//!
//! First-order states are unknowns beside q, with the equations that their rates vanish, each in a unit of its own size. Joints
//! are in every set, with reactions of either sign. Friction that sticks at rest is left out: what is found needs none, and is an
//! equilibrium with friction as well; that there are others is said. Friction on a surface that moves by itself slides at rest, with a
//! force that is known, and is part of the balance.

mod collect;
mod reduced;
mod search;
mod stability;
mod with_states;

use crate::SetupError;
use crate::linalg::{Dice, max_abs};
use crate::problem::{Problem, driven};
use crate::run::System;
use crate::structure::{Strainless, Structure};
use crate::text::{count, number};
use collect::Collection;
use search::Search;

/// What to search for, and with which effort.
#[derive(Clone, Copy, Debug)]
pub struct EquilibriaOptions {
    /// The frozen time.
    pub time: f64,
    /// Starts for each set of constraints.
    pub starts: usize,
    /// The seed of the starts.
    pub seed: u64,
    /// The largest number of sets of constraints that are all tried.
    pub most_sets: usize,
}

impl Default for EquilibriaOptions {
    fn default() -> Self {
        EquilibriaOptions { time: 0.0, starts: 60, seed: 1, most_sets: 4096 }
    }
}

/// What speaks for or against stability, with time frozen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stability {
    /// A strict minimum of the potential on K: the second variation is positive on the critical cone.
    Stable {
        /// Its smallest value there per unit of length.
        curvature: f64,
    },
    /// A structure: every motion without strain is held by stops that act, so the minimum of the potential is strict.
    Held,
    /// The second variation vanishes along some directions, and terms of higher order pull back.
    Minimum,
    /// All eigenvalues of the linearised motion have negative real parts.
    Decays {
        /// The slowest rate.
        rate: f64,
    },
    /// The potential falls along an admissible direction.
    Unstable {
        /// The most negative curvature found.
        curvature: f64,
    },
    /// The second variation vanishes along some direction, and terms of higher order push away.
    Falls,
    /// An eigenvalue of the linearised motion has a positive real part.
    Grows {
        /// Its real part.
        rate: f64,
        /// Its imaginary part.
        frequency: f64,
    },
    /// Nothing changes along the family; the other directions are stable.
    Neutral {
        /// How many directions.
        directions: usize,
    },
    /// All eigenvalues are imaginary and no energy decides: stable to first order, such as by gyroscopic forces.
    Linear,
    /// It cannot be told.
    Unknown {
        /// Why.
        why: &'static str,
    },
}

impl Stability {
    /// Its kind in a word or two.
    pub fn kind(&self) -> &'static str {
        match self {
            Stability::Stable { .. } | Stability::Held | Stability::Minimum | Stability::Decays { .. } => "stable",
            Stability::Unstable { .. } | Stability::Falls | Stability::Grows { .. } => "unstable",
            Stability::Neutral { .. } => "neutral",
            Stability::Linear => "linearly stable",
            Stability::Unknown { .. } => "unknown",
        }
    }

    /// The evidence in a sentence.
    pub fn sentence(&self) -> String {
        match *self {
            Stability::Stable { curvature } if curvature.is_infinite() => {
                "stable: the contacts leave no direction to move".into()
            }
            Stability::Stable { curvature } => {
                format!("stable: a strict minimum of the potential on K (smallest curvature {})", number(curvature, 4))
            }
            Stability::Held => {
                "stable: a strict minimum of the potential on K (every motion without strain is held by a stop)".into()
            }
            Stability::Minimum => "stable: to second order nothing changes, terms of higher order pull back".into(),
            Stability::Decays { rate } => {
                format!("stable: small motions decay (eigenvalues; slowest rate {})", number(rate, 4))
            }
            Stability::Unstable { curvature } => {
                format!("unstable: the potential falls (curvature {})", number(curvature, 4))
            }
            Stability::Falls => "unstable: to second order nothing changes, terms of higher order push away".into(),
            Stability::Grows { rate, frequency } => {
                let how = match frequency > 1e-6 * rate {
                    true => format!("oscillations grow (flutter; frequency {}, ", number(frequency, 4)),
                    false => "small motions grow (".to_string(),
                };
                format!("unstable: {how}rate {})", number(rate, 4))
            }
            Stability::Neutral { directions } => {
                format!("stable but for {}, along which nothing changes", count(directions as u64, "direction"))
            }
            Stability::Linear => {
                "stable to first order only: all eigenvalues are imaginary, and no energy has a minimum here; higher \
                 orders or damping may decide otherwise"
                    .into()
            }
            Stability::Unknown { why } => format!("stability cannot be told: {why}"),
        }
    }
}

/// Whether there are other equilibria as near as one likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// No: the equations have one root here.
    Isolated,
    /// No, although the equations do not change to first order along some direction: a multiple root.
    Degenerate,
    /// Yes, along the directions of its family.
    Family,
    /// It cannot be told.
    Unclear,
}

impl Isolation {
    /// In a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Isolation::Isolated => "isolated",
            Isolation::Degenerate => "degenerate",
            Isolation::Family => "family",
            Isolation::Unclear => "unclear",
        }
    }
}

/// An equilibrium.
#[derive(Clone, Debug)]
pub struct Equilibrium {
    /// The position.
    pub q: Vec<f64>,
    /// The first-order states.
    pub z: Vec<f64>,
    /// The constraints whose gap is closed.
    pub closed: Vec<usize>,
    /// Their reactions.
    pub reactions: Vec<f64>,
    /// Reactions of the equations of joints.
    pub joint_reactions: Vec<f64>,
    /// Those of them that are degenerate: closed without a reaction.
    pub degenerate: Vec<usize>,
    /// Directions of position and states in which it can be moved and stays an equilibrium, to first order.
    pub family: Vec<Vec<f64>>,
    /// Whether it is alone.
    pub isolation: Isolation,
    /// What speaks for or against its stability.
    pub stability: Stability,
    /// |g + Σ λ ∇f| relative to the forces it is made of.
    pub residual: f64,
}

/// What was found, and with which effort.
#[derive(Clone, Debug)]
pub struct Equilibria {
    /// The equilibria, sorted by their number of contacts and position.
    pub found: Vec<Equilibrium>,
    /// How many sets of constraints were tried.
    pub sets: usize,
    /// How many starts in all.
    pub starts: usize,
    /// Whether all sets of at most d constraints were tried.
    pub exhaustive: bool,
    /// Whether the observer stopped the search.
    pub stopped: bool,
    /// Whether there is friction that sticks at rest: then what is found needs none of it, and there are others.
    pub sticks: bool,
    /// What is to be known about friction, in sentences.
    pub notes: Vec<String>,
}

/// Searches for equilibria. `observer` is called periodically with (done, of how many); return false to stop.
///
/// A structure with a positive definite stiffness has exactly one, by contact statics.
///
/// ```
/// use saltus::{analysis::{EquilibriaOptions, equilibria}, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?.problem()?;
/// let all = equilibria(&ball, &EquilibriaOptions::default(), &mut |_, _| true)?;
/// assert_eq!(all.found.len(), 1);
/// assert!((all.found[0].reactions[0] - 9.81).abs() < 1e-12);
/// # Ok::<(), saltus::SetupError>(())
/// ```
pub fn equilibria(
    system: &dyn System,
    options: &EquilibriaOptions,
    observer: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Equilibria, SetupError> {
    if !options.time.is_finite() {
        return Err(SetupError::new(format!("the time of the equilibria must be a number, not {}", options.time)));
    }
    match (system.as_problem(), system.as_structure()) {
        (Some(problem), _) => Ok(of_problem(problem, options, observer)),
        (_, Some(structure)) => of_structure(structure, options.time),
        _ => Err(SetupError::new("equilibria are not supported for this kind of system")),
    }
}

/// The one equilibrium of a structure that is held.
fn of_structure(structure: &Structure, t: f64) -> Result<Equilibria, SetupError> {
    let at_rest = structure.static_contact(t)?;
    let closed: Vec<usize> = (0..at_rest.gaps.len())
        .filter(|&a| at_rest.reactions[a] > 0.0 || at_rest.gaps[a] <= 1e-12 * max_abs(&at_rest.points))
        .collect();
    let degenerate = closed.iter().copied().filter(|&a| at_rest.reactions[a] == 0.0).collect();
    // The potential decides where forces have one and damping takes energy.
    let linear = structure.linear();
    let mut family = Vec::new();
    let stability = match (linear.circulatory.is_some(), structure.brings_energy()) {
        (true, _) => Stability::Unknown { why: "the stiffness is not symmetric: such forces have no potential" },
        (_, true) => {
            Stability::Unknown { why: "the damping matrix is not positive semidefinite: it may bring energy in" }
        }
        _ => match structure.strainless(&at_rest, &closed) {
            Strainless::None => Stability::Stable { curvature: structure.lowest_square() },
            Strainless::Held => Stability::Held,
            Strainless::Free(motions) => {
                let directions = motions.len();
                family = motions;
                Stability::Neutral { directions }
            }
            Strainless::Unclear => {
                Stability::Unknown { why: "whether the stops hold every motion without strain cannot be told" }
            }
        },
    };
    let equilibrium = Equilibrium {
        reactions: closed.iter().map(|&a| at_rest.reactions[a]).collect(),
        closed,
        degenerate,
        isolation: if family.is_empty() { Isolation::Isolated } else { Isolation::Family },
        family,
        stability,
        residual: at_rest.residual,
        joint_reactions: Vec::new(),
        z: Vec::new(),
        q: at_rest.points,
    };
    Ok(Equilibria {
        found: vec![equilibrium],
        sets: 1,
        starts: 1,
        exhaustive: true,
        stopped: false,
        sticks: false,
        notes: Vec::new(),
    })
}

fn of_problem(
    problem: &Problem,
    options: &EquilibriaOptions,
    report: &mut dyn FnMut(usize, usize) -> bool,
) -> Equilibria {
    let driven = driven(problem, options.time);
    let (dragged, drags) = match problem.dragged(&driven) {
        Ok((dragged, drags)) if driven.contains(&true) => (Some(dragged), drags),
        _ => (None, None),
    };
    let sticks = driven.contains(&false);
    let mut search = Search::new(dragged.as_ref().unwrap_or(problem), drags, options.time);
    let (sets, exhaustive) = sets(problem, options.most_sets);
    let total = sets.len().max(1);
    let notes = friction_notes(problem, &driven, options.time);
    let mut all =
        Equilibria { found: Vec::new(), sets: sets.len(), starts: 0, exhaustive, stopped: false, sticks, notes };
    let mut collection = Collection::default();
    let points = search.starts(options.starts.max(1), &mut Dice::new(options.seed));
    'search: for (k, set) in sets.iter().enumerate() {
        for start in &points {
            if !report(k, total) {
                all.stopped = true;
                break 'search;
            }
            all.starts += 1;
            // A semismooth search chooses its own set from the point.
            let met = if exhaustive { set.clone() } else { search.guess(start) };
            let mut from = vec![start.clone()];
            if met.is_empty() {
                // Newton's method misses narrow wells and tops: the force leads there.
                from.extend([1.0, -1.0].map(|sign| search.followed(start, sign)));
            }
            for start in &from {
                if let Some(candidate) = search.candidate(&met, start) {
                    collection.add(&mut search, candidate);
                }
            }
        }
    }
    all.found = collection.into_found(&mut search);
    for equilibrium in &mut all.found {
        equilibrium.stability = search.judge(equilibrium);
        if sticks {
            equilibrium.stability = rubbed(equilibrium.stability);
        }
        let rubs = |a: &usize| problem.model().constraints[*a].friction.is_some_and(|k| driven[k]);
        if equilibrium.closed.iter().any(rubs) {
            equilibrium.stability = Stability::Unknown { why: "the friction of a moving surface follows its reaction" };
        }
        search.separate(equilibrium);
    }
    all.found.sort_by(|a, b| {
        let by_contacts = b.closed.len().cmp(&a.closed.len()).then_with(|| a.closed.cmp(&b.closed));
        by_contacts.then_with(|| {
            a.q.iter().zip(&b.q).map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        })
    });
    all
}

/// What is known about the stability of an equilibrium that needs no friction, where there is some: it only takes energy.
fn rubbed(without: Stability) -> Stability {
    match without.kind() {
        _ if matches!(without, Stability::Stable { .. } | Stability::Minimum) => without,
        "neutral" => without,
        "unstable" => Stability::Unknown { why: "without friction it is unstable, and friction may hold it" },
        _ => Stability::Unknown { why: "eigenvalues say nothing about friction, which is not smooth at rest" },
    }
}

/// Which further equilibria friction makes.
fn friction_notes(problem: &Problem, driven: &[bool], t: f64) -> Vec<String> {
    let model = problem.model();
    if model.frictions.is_empty() {
        return Vec::new();
    }
    let mut frictions = problem.frictions();
    frictions.evaluate(t, &model.q0, &vec![0.0; problem.dimension()]);
    let note = |(k, friction): (usize, &crate::model::Friction)| {
        let name = &friction.name;
        if driven[k] {
            return format!(
                "friction of `{name}`: its surface moves by itself, so that it slides where everything else rests; that force is \
                 part of the balance"
            );
        }
        let constant = model.graph.value(friction.sticking).is_some();
        let size = if constant { format!(" of {}", number(frictions.sticking[k], 6)) } else { String::new() };
        let limit = match friction.constraint {
            Some(a) => format!("its coefficient{size} times the reaction of `{}`", model.constraints[a].name),
            None => format!("its limit{size}"),
        };
        format!(
            "friction of `{name}` sticks: every state of rest in which it has to hold no more than {limit} is an equilibrium as \
             well; those listed need no friction"
        )
    };
    model.frictions.iter().enumerate().map(note).collect()
}

/// All sets of at most d constraints if they are not too many; otherwise one empty set, which stands for guessing.
fn sets(problem: &Problem, most: usize) -> (Vec<Vec<usize>>, bool) {
    let (d, m) = (problem.model().degrees(), problem.constraints());
    let mut sets = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..d.min(m) {
        let to = sets.len();
        for k in from..to {
            let next = sets[k].last().map_or(0, |&a: &usize| a + 1);
            for a in next..m {
                let mut set = sets[k].clone();
                set.push(a);
                sets.push(set);
                if sets.len() > most {
                    return (vec![Vec::new()], false);
                }
            }
        }
        from = to;
    }
    (sets, true)
}

#[cfg(test)]
mod tests;
