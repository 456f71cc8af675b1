//! The ledger's impacts: instants with their uncertainty, energies, and residuals of law and complementarity.

use super::Evidence;
use super::figure::beyond;
use super::scales::Scales;
use crate::motion::PhaseKind;
use crate::record::Gauge;

/// What the ledger has of an impact besides what [`crate::Impact`] has.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its instant.
    pub t: f64,
    /// Its uncertainty: the step, or what the tolerance makes of it.
    pub uncertainty: f64,
    /// The constraints whose gap is closed there, whether they act or not.
    pub closed: Vec<usize>,
    /// Kinetic energy before; for a structure, of the masses that the acting stops feel.
    pub kinetic_before: f64,
    /// Kinetic energy after.
    pub kinetic_after: f64,
    /// The deviation from the law, relative to the speed of this impact.
    pub law_residual: f64,
    /// The largest |U⁺ + e U⁻| of a constraint that acts, relative to its fastest impact: what should vanish where P > 0.
    pub complementarity: f64,
    /// The deepest gap below zero at the instant, as a positive number.
    pub penetration: f64,
}

pub(super) fn entries(evidence: &Evidence, scales: &Scales) -> Vec<Entry> {
    let mut gauge = evidence.gauge.clone();
    let motion = evidence.trajectory;
    let span = motion.span().unwrap_or((0.0, 0.0));
    // The fastest that each constraint was hit; a part of the motion where bodies that touch are hit without approaching.
    let mut fastest: Vec<f64> = scales.rate.iter().map(|rate| (1e-3 * rate).max(1e-300)).collect();
    for i in motion.impacts.iter() {
        gauge.gaps.kinematics(i.t, i.q, i.v_before);
        for &a in i.constraints {
            fastest[a] = fastest[a].max(gauge.gaps.rate(a, i.v_before).abs());
        }
    }
    let mut entries: Vec<Entry> = motion
        .impacts
        .iter()
        .map(|i| {
            gauge.gaps.linearise(i.t, i.q, i.v_before);
            gauge.gaps.kinematics(i.t, i.q, i.v_before);
            let factor = super::friction::factor(&mut gauge, &i);
            let off = i.constraints.iter().map(|&a| {
                let (before, after) = (gauge.gaps.rate(a, i.v_before), gauge.gaps.rate(a, i.v_after));
                // (What rounding makes of a velocity is no deviation, however slow the impact.)
                let off = (after + factor * gauge.restitution_at(a, before) * before).abs();
                beyond(off, scales.still_rate[a]) / fastest[a]
            });
            let complementarity = off.fold(0.0, f64::max);
            let gaps = &gauge.gaps;
            let uncertainty = scales.uncertainty(evidence, &i).unwrap_or(evidence.step);
            let closed = (0..gaps.values.len())
                .filter(|&a| i.constraints.contains(&a) || gaps.values[a] <= scales.rounding(gaps, a, i.q))
                .collect();
            let penetration = gaps.values.iter().fold(0.0, |m: f64, f| m.max(-f));
            // Of a structure the observed state does not determine the energies: those of what its stops feel are listed.
            let (kinetic_before, kinetic_after) = match (gauge.kinetic(&i), &mut gauge.energy) {
                (Some(energies), _) => energies,
                (None, Some((energy, _))) => (energy.both(i.t, i.q, i.v_before).0, energy.both(i.t, i.q, i.v_after).0),
                (None, None) => (0.5 * i.speed * i.speed, 0.5 * i.speed * i.speed + i.energy_change),
            };
            Entry {
                t: i.t,
                uncertainty: uncertainty.min((i.t - span.0).max(evidence.step)),
                closed,
                kinetic_before,
                kinetic_after,
                law_residual: i.law_residual,
                complementarity,
                penetration,
            }
        })
        .collect();
    accumulated(evidence, &mut entries);
    entries
}

/// The impacts of an accumulation follow from its first one at ever smaller scales: relative errors of speeds, and so of the intervals between
/// impacts, stay what they are, and the error of the first instant is carried along. (What the tolerance makes of each impact by itself
/// grows without bound as the speeds fall.)
fn accumulated(evidence: &Evidence, entries: &mut [Entry]) {
    let motion = evidence.trajectory;
    let fastest = motion.fastest();
    let mut next = 0;
    // (Both are in the order of time.)
    for phase in evidence.timeline.of(PhaseKind::Chatter) {
        while next < entries.len() && entries[next].t < phase.start {
            next += 1;
        }
        let mut first: Option<(f64, f64, f64)> = None;
        while next < entries.len() && entries[next].t <= phase.end {
            let (i, entry) = (motion.impacts.get(next), &mut entries[next]);
            next += 1;
            if !i.constraints.iter().any(|a| phase.constraints.contains(a)) {
                continue;
            }
            let share = evidence.tolerance * fastest / i.approach.abs().max(f64::MIN_POSITIVE);
            let (start, known, share) = *first.get_or_insert((i.t, entry.uncertainty, share));
            entry.uncertainty = entry.uncertainty.min(known + share * (i.t - start) + phase.error);
        }
    }
}

/// A place where several constraints were closed at once.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// When they met first.
    pub t: f64,
    /// Which two.
    pub pair: (usize, usize),
    /// Their kinetic angle there, in degrees.
    pub angle: f64,
    /// Whether the theorems promise continuous dependence on the data there (\[S\], \[T\], \[B\]).
    pub continuous: bool,
    /// All of it in a sentence.
    pub sentence: String,
}

/// An angle this near to a right one is a right one, in degrees.
const RIGHT: f64 = 1e-6;

/// Whether the motion depends continuously on its data where two constraints meet at a kinetic angle (degrees), as far
/// as the theorems say: no obtuse angle for e = 0, a right one for e > 0.
pub(crate) fn is_continuous(angle: f64, e: (f64, f64)) -> bool {
    match e == (0.0, 0.0) {
        true => angle <= 90.0 + RIGHT,
        false => (angle - 90.0).abs() <= RIGHT,
    }
}

/// The pairs of constraints that were closed together at an impact, each once.
pub fn meetings(evidence: &Evidence) -> Vec<Meeting> {
    let mut gauge = evidence.gauge.clone();
    let mut found: Vec<Meeting> = Vec::new();
    for i in evidence.trajectory.impacts.iter().filter(|i| i.constraints.len() > 1) {
        gauge.gaps.kinematics(i.t, i.q, i.v_before);
        if !gauge.prepare(i.t, i.q, i.v_before) {
            continue;
        }
        for (k, &a) in i.constraints.iter().enumerate() {
            for &b in &i.constraints[k + 1..] {
                let pair = (a.min(b), a.max(b));
                if found.iter().any(|m| m.pair == pair) || found.len() >= 100 {
                    continue;
                }
                let Some(angle) = angle(&mut gauge, pair, i.q.len()) else { continue };
                let e = (gauge.restitution[pair.0], gauge.restitution[pair.1]);
                let continuous = is_continuous(angle, e);
                let name = |a: usize| evidence.names[a].as_str();
                let restitution = if e.0 == e.1 { format!("e = {}", e.0) } else { format!("e = {} and {}", e.0, e.1) };
                // What jumps is a part cos θ of the velocities.
                let part = angle.to_radians().cos().abs();
                let meaning = match continuous {
                    true => "the motion depends continuously on the data here".to_string(),
                    false if e == (0.0, 0.0) && part < 0.01 => {
                        format!("the motion depends discontinuously on the data here, by a part {part:.0e} of the velocities")
                    }
                    false if e == (0.0, 0.0) => "the motion depends discontinuously on the data here".to_string(),
                    false => {
                        "no theorem guarantees that the motion depends continuously on the data here (perturbed starts show it: --probe)".into()
                    }
                };
                let sentence = format!(
                    "at t = {:.6} `{}` and `{}` meet at a kinetic angle of {angle:.2}°: with {restitution} {meaning}",
                    i.t,
                    name(pair.0),
                    name(pair.1)
                );
                found.push(Meeting { t: i.t, pair, angle, continuous, sentence });
            }
        }
    }
    found
}

/// What is worth a note about pairs of constraints that met: the first, and how many more there are like it.
pub(super) fn notes(meetings: &[Meeting]) -> Vec<String> {
    let mut others = meetings.iter().filter(|m| !m.continuous);
    let Some(first) = others.next() else { return Vec::new() };
    let rest: Vec<f64> = others.map(|m| m.angle).collect();
    let (low, high) = rest.iter().fold((180.0_f64, 0.0_f64), |(l, h), a| (l.min(*a), h.max(*a)));
    let mut notes = vec![first.sentence.clone()];
    match rest.len() {
        0 => {}
        1 => notes.push(format!("so does one more pair, at {low:.2}°")),
        n => notes.push(format!("so do {n} more pairs, at {low:.2}° … {high:.2}°")),
    }
    notes
}

/// The kinetic angle of two constraints in degrees, from the Delassus matrix: cos θ = −D_ab / √(D_aa D_bb).
fn angle(gauge: &mut Gauge, (a, b): (usize, usize), d: usize) -> Option<f64> {
    let (mut of_a, mut of_b) = (vec![0.0; d], vec![0.0; d]);
    gauge.response(a, &mut of_a);
    gauge.response(b, &mut of_b);
    let gradients = &gauge.gaps.gradients;
    let norms = (gradients.dot(a, &of_a) * gradients.dot(b, &of_b)).sqrt();
    (norms > 0.0).then(|| (-gradients.dot(a, &of_b) / norms).clamp(-1.0, 1.0).acos().to_degrees())
}
