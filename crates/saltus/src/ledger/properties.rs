//! Properties (P1)–(P5) of a solution ([T] section 2), each with a figure.

use super::figure::{Checks, Figure, Has, beyond, worst};
use super::scales::Scales;
use super::{Balance, Entry, Evidence};
use crate::motion::Side;

/// A property of the motion, and to what figure it holds.
#[derive(Clone, Debug)]
pub struct Property {
    /// `P1` … `P5`; `L`: stops create no energy; `C0` … `C11`: what no engine may break.
    pub name: &'static str,
    /// What it says.
    pub what: &'static str,
    /// What was measured.
    pub figure: f64,
    /// What is allowed.
    pub allowed: f64,
    /// What the figure is.
    pub measured: &'static str,
    /// Whether it holds to what is allowed.
    pub holds: bool,
    /// Where it was measured, if it was at one instant.
    pub t: Option<f64>,
    /// At which constraint.
    pub constraint: Option<usize>,
}

pub(super) fn properties(
    evidence: &Evidence,
    scales: &Scales,
    impacts: &[Entry],
    balance: &Balance,
    mut checks: Checks,
) -> Vec<Property> {
    let by_events = evidence.by_events;
    let (motion, audit) = (evidence.trajectory, evidence.audit);
    let fastest = motion.fastest();
    let reach = scales.largest.max(1e-300);
    // P1: the velocity has bounded variation: at least that of the jumps, and that over about a thousand instants.
    let (d, degrees) = (motion.dimension(), motion.degrees());
    let apart = |a: &[f64], b: &[f64]| (0..degrees).map(|i| (a[i] - b[i]).abs()).fold(0.0, worst);
    let stride = (motion.len() / 1000).max(1);
    let kept = motion.left_velocities();
    let between = (stride..motion.len())
        .step_by(stride)
        .map(|k| apart(&kept[k * d..(k + 1) * d], &kept[(k - stride) * d..(k - stride + 1) * d]));
    let jumps = motion.impacts.iter().map(|i| apart(i.v_after, i.v_before));
    let variation = between.sum::<f64>().max(jumps.sum::<f64>());
    let law = motion.impacts.iter().map(|i| beyond(i.law_residual * i.speed, scales.still)).fold(0.0, worst)
        / motion.impacts.iter().map(|i| i.speed).fold(1e-300, f64::max);
    let push = motion
        .contacts
        .iter()
        .map(|c| -c.impulse)
        .chain(motion.impacts.iter().flat_map(|i| i.impulses.iter().map(|p| -p)));
    let pull = push.fold(0.0, f64::max);
    let total = audit.impulses.iter().fold(1e-300_f64, |m, p| m.max(p.abs()));
    let complementary = impacts.iter().map(|e| e.complementarity).fold(0.0, worst);
    let mut start = Figure::new("P5", "it starts from the data", "distance from q0 and v0");
    if let Some(&t) = motion.t.first() {
        let allowed = 1e-12 * (reach + fastest);
        // With time steps the first velocity may be that of the first step.
        let first_step = match by_events || motion.len() < 2 {
            true => 0.0,
            false => 2.0 * apart(motion.v(1, Side::Left), motion.v(0, Side::Right)) + 1e-9 * fastest,
        };
        // Modes that are left out take a part of the start of a structure with them.
        let left_out = match evidence.gauge.energy.is_none() && motion.len() > 2 {
            true => 2.0 * apart(motion.q(2), motion.q(1)),
            false => 0.0,
        };
        start.note(apart(motion.q(0), evidence.q0), allowed + left_out, t);
        start.note(apart(motion.v(0, Side::Left), evidence.v0), allowed + first_step, t);
        // Each first-order state in its own unit.
        for i in degrees..d {
            let (off, value) = ((motion.v(0, Side::Left)[i] - evidence.v0[i]).abs(), evidence.v0[i].abs());
            let first_step = match by_events || motion.len() < 2 {
                true => 0.0,
                false => 2.0 * (motion.v(1, Side::Left)[i] - motion.v(0, Side::Right)[i]).abs(),
            };
            start.note(off, 1e-12 * value + first_step, t);
        }
    }
    let property = |name, what, measured, figure: f64, allowed: f64| Property {
        name,
        what,
        figure,
        allowed,
        measured,
        holds: figure <= allowed,
        t: None,
        constraint: None,
    };
    let coarse = |events: f64, steps: f64| if by_events { events } else { steps };
    // Within the steps of an impact elastic waves change the velocity of a node of a structure: there the figure is given,
    // and not judged.
    let keeps_account = evidence.gauge.energy.is_none();
    let allowed_law = if keeps_account && !by_events { f64::MAX } else { coarse(1e-9, 0.05) };
    if let Some((a, t)) = audit.worst {
        let allowed = coarse(evidence.tolerance.max(1e-9) * reach, scales.step_allows);
        checks.inside.note_of(audit.max_violation, allowed, t, Some(a));
    }
    let (inside, others) = checks.properties(Has {
        joints: evidence.gauge.bonds.as_ref().is_some_and(|bonds| bonds.joint_count() > 0),
        friction: evidence.gauge.bonds.as_ref().is_some_and(|bonds| !bonds.frictions.is_empty()),
        states: motion.degrees() < motion.dimension(),
    });
    let mut properties = vec![
        property(
            "P1",
            "q is continuous and q' of bounded variation",
            "variation of the velocity, at least",
            variation,
            f64::MAX,
        ),
        inside,
        property("P3", "reactions push", "largest pull, relative to the total impulse", pull / total, 1e-9),
        property(
            "P4",
            "the impact law holds",
            "largest residual, relative to the fastest impact",
            law.max(if by_events { complementary } else { 0.0 }),
            allowed_law,
        ),
        start.property(),
    ];
    if keeps_account {
        let gained = (-balance.lost_at_impacts / balance.exchanged.max(1e-300)).max(0.0);
        properties.push(property(
            "L",
            "fixed stops create no energy",
            "energy created, relative to the energy exchanged",
            gained,
            if evidence.gauge.is_moving { f64::MAX } else { 0.01 },
        ));
    }
    properties.extend(others);
    properties
}
