//! The motion that is drawn, with the names and units of its axes.

use crate::dense;
use saltus::model::Units;
use saltus::{Side, System, Trajectory};
use std::borrow::Cow;

/// A motion with the names and units of its coordinates and constraints.
pub struct Motion<'a> {
    /// The title.
    pub title: &'a str,
    /// The names of the coordinates.
    pub coordinates: &'a [String],
    /// The names of the first-order states.
    pub states: &'a [String],
    /// The names of the constraints.
    pub constraints: &'a [String],
    /// The names of the equations of joints.
    pub joints: &'a [String],
    /// The names of the slips of friction.
    pub frictions: &'a [String],
    /// The units.
    pub units: Units,
    /// The motion.
    pub trajectory: &'a Trajectory,
    /// The whole motion with its polynomials, where they are known: forces on both sides of every instant.
    pub polynomials: Option<&'a Trajectory>,
    /// The system, which gaps and energies are computed from.
    pub system: Option<&'a dyn System>,
}

/// Motions without polynomials that have at most this many instants are refined.
const MAX_REFINED: usize = 600;
/// The number of parts into which each of their intervals is refined.
const PARTS: usize = 12;

/// The same motion with further instants if there are so few that straight lines would be visible: from its polynomials if it has
/// them, else by interpolation; `m` is the number of rows with reactions: constraints, joints, slips.
pub fn refined(motion: &Trajectory, m: usize) -> Cow<'_, Trajectory> {
    let d = motion.dimension();
    if !motion.pieces.is_empty() || motion.len() > MAX_REFINED {
        return dense::refined(motion);
    }
    let mut fine = Trajectory::new(d).with_states(d - motion.degrees());
    let mut cursor = motion.cursor(Side::Right);
    let (mut q, mut v) = (vec![0.0; d], vec![0.0; d]);
    let mut reactions = Vec::new();
    for k in 0..motion.len() {
        let t = motion.t[k];
        // The instants are those of a motion: in order, of the same dimension.
        let _ = fine.push_instant(t, motion.q(k), motion.v(k, Side::Left), motion.v(k, Side::Right));
        let here = motion.reactions_at(k, m);
        reactions.extend(&here);
        if k + 1 == motion.len() {
            break;
        }
        let (h, next) = (motion.t[k + 1] - t, motion.reactions_at(k + 1, m));
        for s in (1..PARTS).map(|i| i as f64 / PARTS as f64) {
            if cursor.read(t + h * s, &mut q, &mut v).is_ok() && fine.push_instant(t + h * s, &q, &v, &v).is_ok() {
                // Densities jump where contacts begin and end: then the value at the start holds for the whole interval.
                let between = |(&a, &b): (&f64, &f64)| if a == 0.0 || b == 0.0 { a } else { a + s * (b - a) };
                reactions.extend(here.iter().zip(&next).map(between));
            }
        }
    }
    if motion.has_reactions() {
        fine.set_reaction_samples(reactions);
    }
    fine.impacts = motion.impacts.clone();
    fine.contacts.clone_from(&motion.contacts);
    Cow::Owned(fine)
}
