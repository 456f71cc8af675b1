//! What is checked at impacts: closed gaps, M(v⁺ − v⁻) = Σ P ∇f, the law, the change of energy; and, with time steps, that the
//! stored velocities jump where impacts are listed, and only there.

use super::Evidence;
use super::dense::difference;
use super::figure::{Checks, worst};
use super::friction;
use super::replay::PortReplay;
use super::scales::Scales;
use crate::linalg::{add, max_abs};
use crate::motion::{Cursor, Impact, Side};
use crate::record::{Gauge, Keep};
use crate::stepping::Label;

/// With time steps: the part of the fastest impact that impulses and the law may be off by, and the part of the energy
/// exchanged at once.
const COARSE: f64 = 0.05;

/// Within the steps of an impact elastic waves move the nodes of a structure as well: by so many times what they do in a step
/// elsewhere, at least; in each step that it takes.
const WAVES: f64 = 8.0;

fn waves(evidence: &Evidence) -> f64 {
    let steps = evidence.window() / evidence.step;
    if steps.is_finite() { steps.max(WAVES) } else { WAVES }
}

/// What rounding makes of a sum of impulses, as a part of the sum of their sizes: those of joints that are nearly straight are many times
/// as large as what they do together.
const CANCELLED: f64 = 1e-12;

/// Checks the impacts; `stretches` were time-stepped.
pub(super) fn check(evidence: &Evidence, scales: &Scales, stretches: &[(f64, f64)], checks: &mut Checks) {
    let motion = evidence.trajectory;
    let d = motion.dimension();
    let mut gauge = evidence.gauge.clone();
    let mut ports = PortReplay::new(evidence.ports);
    let (mut x, mut jump) = (vec![0.0; d], vec![0.0; d]);
    // The largest jump, in the kinetic metric: coarse steps are measured by it.
    let mut largest = 0.0_f64;
    for i in motion.impacts.iter() {
        if gauge.prepare(i.t, i.q, i.v_before) {
            difference(&mut jump, i.v_after, i.v_before);
            largest = largest.max(gauge.length(&jump));
        }
    }
    let mut before = f64::NEG_INFINITY;
    for i in motion.impacts.iter() {
        let numbers = [i.q, i.v_before, i.v_after, i.impulses, &[i.t, i.energy_change, i.approach]];
        if !numbers.iter().all(|list| list.iter().all(|x| x.is_finite())) {
            checks.order.note(f64::NAN, 0.0, i.t);
            continue;
        }
        let is_stepped = !evidence.by_events
            || stretches.iter().any(|(from, to)| (from - 0.05 * (to - from)..=to + 0.05 * (to - from)).contains(&i.t));
        // With time steps an impact that takes longer may be listed after one that began later.
        let slack = if is_stepped { evidence.window().min(1e300) } else { 0.0 };
        checks.order.note((before - i.t - slack).max(0.0), 0.0, i.t);
        before = before.max(i.t);
        ports.apply(i.t, Side::Right);
        gauge.gaps.evaluate(i.t, i.q, i.v_before);
        gauge.gaps.kinematics(i.t, i.q, i.v_before);
        if i.constraints.is_empty() || !gauge.prepare(i.t, i.q, i.v_before) {
            checks.explained.note(f64::NAN, 0.0, i.t);
            continue;
        }
        closed(evidence, scales, &gauge, &i, is_stepped, checks);
        difference(&mut jump, i.v_after, i.v_before);
        let size = gauge.length(&jump);
        for (&a, p) in i.constraints.iter().zip(i.impulses) {
            gauge.response(a, &mut x);
            add(&mut jump, -p, &x);
        }
        others(&mut gauge, &i, is_stepped, largest, &mut x, &mut jump, checks);
        let is_structure = evidence.gauge.energy.is_none();
        let allowed = match is_stepped {
            true if is_structure && max_abs(&scales.change) == 0.0 => f64::MAX,
            true if is_structure => COARSE * largest + waves(evidence) * max_abs(&scales.change),
            true => COARSE * largest + scales.felt * free(&gauge, &mut x),
            false => 1e-9 * (size + scales.speed) + scales.still + CANCELLED * momentum(&gauge, &i, &mut x),
        };
        checks.explained.note_of(gauge.length(&jump), allowed, i.t, i.constraints.first().copied());
        match is_stepped {
            true => coarse_signs(scales, &mut gauge, &i, checks),
            false => signs(scales, &mut gauge, &i, checks),
        }
        friction::impact(scales, &mut gauge, &i, is_stepped, largest, checks);
        energy(scales, &mut gauge, &i, is_stepped, largest, checks);
    }
    if !evidence.by_events && evidence.keep.has(Keep::INSTANTS) && evidence.keep.has(Keep::IMPACTS) {
        stored(evidence, scales, largest, checks);
    }
}

/// Takes what friction does from a jump; what joints are said to do is what they do.
fn others(
    gauge: &mut Gauge,
    i: &Impact,
    is_stepped: bool,
    largest: f64,
    x: &mut [f64],
    jump: &mut [f64],
    checks: &mut Checks,
) {
    let Some(n) = gauge.bonds.as_ref().map(|bonds| bonds.joint_count()) else { return };
    for &(row, p) in i.others.iter().filter(|(row, _)| *row >= n) {
        gauge.response_of_other(row, x);
        add(jump, -p, x);
    }
    if n == 0 {
        return;
    }
    // Impulses of joints are unique only where the joints are: what they do together is compared.
    let acting = i.constraints.iter().zip(i.impulses).map(|(&a, &p)| (Label::Normal(a), p));
    let slips = i.others.iter().filter(|(row, _)| *row >= n).map(|&(row, p)| (Label::Other(row), p));
    let lawful = gauge.impulses_of_joints(acting.chain(slips), x.len());
    x.fill(0.0);
    let Some(bonds) = &gauge.bonds else { return };
    for (row, lawful) in lawful.iter().enumerate() {
        let listed: f64 = i.others.iter().filter(|(r, _)| *r == row).map(|(_, p)| p).sum();
        bonds.add_to(row, listed - lawful, x);
    }
    if let Some(metric) = gauge.metric() {
        metric.solve(x);
    }
    let off = gauge.length(x);
    let allowed = if is_stepped { COARSE * largest } else { 1e-8 * largest + CANCELLED * momentum(gauge, i, x) };
    checks.explained.note(off, allowed, i.t);
}

/// Σ |P| |∇f| over all that acts, in the kinetic metric.
fn momentum(gauge: &Gauge, i: &Impact, x: &mut [f64]) -> f64 {
    let (Some(bonds), Some(metric)) = (&gauge.bonds, gauge.metric()) else { return 0.0 };
    let mut length = |p: f64, add_to: &dyn Fn(&mut [f64])| {
        x.fill(0.0);
        add_to(x);
        metric.solve(x);
        p.abs() * metric.norm_squared(x).abs().sqrt()
    };
    let own = i
        .constraints
        .iter()
        .zip(i.impulses)
        .map(|(&a, &p)| length(p, &|x| gauge.gaps.gradients.add_to(a, 1.0, x)))
        .sum::<f64>();
    own + i.others.iter().map(|&(row, p)| length(p, &|x| bonds.add_to(row, 1.0, x))).sum::<f64>()
}

/// What the forces alone do, in the kinetic metric.
fn free(gauge: &Gauge, x: &mut [f64]) -> f64 {
    if gauge.free_acceleration(x) { gauge.length(x) } else { 0.0 }
}

/// The gaps of constraints that act are closed.
fn closed(evidence: &Evidence, scales: &Scales, gauge: &Gauge, i: &Impact, is_stepped: bool, checks: &mut Checks) {
    let gaps = &gauge.gaps;
    for &a in i.constraints {
        let rate = gaps.partial_t[a].abs() + gaps.gradients.dot_abs(a, i.v_before);
        let closed = scales.closed(gaps, a, (i.t, i.q), rate);
        let allowed = match is_stepped {
            // Stops of a structure that are listed together were hit one after the other, within the steps that an impact takes.
            true if gauge.energy.is_none() && i.constraints.len() > 1 && evidence.window().is_finite() => {
                (0.5 * evidence.window() / evidence.step).max(2.0) * scales.step_allows
            }
            // (The incoming motion is carried to the obstacle by its velocity, for some steps.)
            true => 2.0 * scales.step_allows,
            false => 10.0 * scales.tolerance * scales.gap[a] + closed,
        };
        checks.closed.note_of(gaps.values[a].abs(), allowed, i.t, Some(a));
        // An instant is known as well as the gap over the speed at which it closes.
        if !is_stepped && let Some(claimed) = scales.uncertainty(evidence, i) {
            let off = (gaps.values[a].abs() - closed).max(0.0) / i.approach.abs().max(f64::MIN_POSITIVE);
            checks.claims.note_of(off, 10.0 * claimed, i.t, Some(a));
        }
    }
}

/// What acts was closing, and what is closed does not close any more.
fn signs(scales: &Scales, gauge: &mut Gauge, i: &Impact, checks: &mut Checks) {
    let factor = friction::factor(gauge, i);
    let mut approach = f64::INFINITY;
    for &a in i.constraints {
        let e = factor * gauge.restitution_at(a, gauge.gaps.rate(a, i.v_before));
        let gaps = &gauge.gaps;
        let size =
            gaps.partial_t[a].abs() + gaps.gradients.dot_abs(a, i.v_before) + gaps.gradients.dot_abs(a, i.v_after);
        let allowed = 1e-8 * size + 1e-12 * scales.rate[a] + scales.still_rate[a];
        let (before, after) = (gaps.rate(a, i.v_before), gaps.rate(a, i.v_after));
        approach = approach.min(before);
        // (What friction or another contact presses on may act without having been closing.)
        if gauge.bonds.is_none() {
            checks.explained.note_of(before.max(0.0), allowed, i.t, Some(a));
        }
        checks.explained.note_of((-after).max(0.0), allowed, i.t, Some(a));
        checks.explained.note_of((after + e * before).abs(), allowed, i.t, Some(a));
    }
    let gaps = &gauge.gaps;
    for a in (0..gaps.values.len()).filter(|a| !i.constraints.contains(a)) {
        if gaps.values[a].abs() <= scales.rounding(gaps, a, i.q) {
            let (before, after) = (gaps.rate(a, i.v_before), gaps.rate(a, i.v_after));
            let size =
                gaps.partial_t[a].abs() + gaps.gradients.dot_abs(a, i.v_before) + gaps.gradients.dot_abs(a, i.v_after);
            // What was opening may be closed by this impact: then the next one is its own.
            if before <= 0.0 {
                checks.explained.note_of(
                    (-after).max(0.0),
                    1e-8 * size + scales.tolerance * scales.speed + scales.still_rate[a],
                    i.t,
                    Some(a),
                );
            }
        }
    }
}

/// With time steps: one constraint that acts alone was closing, and obeys the law.
fn coarse_signs(scales: &Scales, gauge: &mut Gauge, i: &Impact, checks: &mut Checks) {
    let &[a] = i.constraints else { return };
    let unknown = gauge.energy.is_none() && max_abs(&scales.change) == 0.0;
    if scales.felt > 0.0 || unknown {
        // Compliant obstacles obey the law only in the limit: property (P4) judges them.
        return;
    }
    let waves = WAVES * gauge.gaps.gradients.dot_abs(a, &scales.change);
    let allowed = 2.0 * COARSE * scales.rate[a] + waves;
    let (before, after) = (gauge.gaps.rate(a, i.v_before), gauge.gaps.rate(a, i.v_after));
    let e = friction::factor(gauge, i) * gauge.restitution_at(a, before);
    checks.explained.note_of(before.max(0.0), allowed, i.t, Some(a));
    checks.explained.note_of((after + e * before).abs(), allowed, i.t, Some(a));
}

/// The change of energy is that of the velocities.
fn energy(scales: &Scales, gauge: &mut Gauge, i: &Impact, is_stepped: bool, largest: f64, checks: &mut Checks) {
    // In gap space: ½ Σ P ∇f·(v⁺ + v⁻).
    let (mut change, mut size, mut terms) = (0.0, 0.0, 0.0);
    let fast: Vec<f64> = i.v_before.iter().zip(i.v_after).map(|(a, b)| 0.5 * (a.abs() + b.abs())).collect();
    for (&a, p) in i.constraints.iter().zip(i.impulses) {
        let (before, after) = (gauge.gaps.gradients.dot(a, i.v_before), gauge.gaps.gradients.dot(a, i.v_after));
        change += 0.5 * p * (before + after);
        size += 0.5 * p.abs() * (before.abs() + after.abs());
        terms += p.abs() * gauge.gaps.gradients.dot_abs(a, &fast);
    }
    for &(row, p) in i.others {
        let Some(bonds) = &gauge.bonds else { break };
        let (before, after) = (bonds.dot(row, i.v_before), bonds.dot(row, i.v_after));
        change += 0.5 * p * (before + after);
        size += 0.5 * p.abs() * (before.abs() + after.abs());
        terms += p.abs() * bonds.dot_abs(row, &fast);
    }
    let allowed = if is_stepped {
        2.0 * COARSE * size.max(scales.energy_change)
    } else {
        1e-9 * size + 1e-12 * largest * largest + CANCELLED * terms + scales.still_energy
    };
    checks.explained.note((change - i.energy_change).abs(), allowed, i.t);
    let Some((energy, _)) = &mut gauge.energy else { return };
    let (before, after) = (energy.both(i.t, i.q, i.v_before).0, energy.both(i.t, i.q, i.v_after).0);
    let scale = before.abs().max(after.abs()).max(1e-300);
    let felt = if scales.felt > 0.0 { 1.0 } else { 0.05 };
    let allowed = match is_stepped {
        true => 2.0 * COARSE * scale.max(felt * largest * largest),
        false => 1e-9 * scale + CANCELLED * terms + scales.still_energy,
    };
    checks.explained.note(worst(0.0, (after - before - i.energy_change).abs()), allowed, i.t);
}

/// With time steps: stored velocities before and after an impact are those listed, and no stored jump is without an impact.
fn stored(evidence: &Evidence, scales: &Scales, largest: f64, checks: &mut Checks) {
    let (motion, window) = (evidence.trajectory, evidence.window());
    let (Some((first, last)), true) = (motion.span(), window.is_finite()) else { return };
    let d = motion.dimension();
    let mut gauge = evidence.gauge.clone();
    let (mut q, mut v, mut x) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
    let impacts = &motion.impacts;
    let is_model = gauge.energy.is_some();
    let (mut cursor, mut jump) = (Cursor::new(motion, Side::Left), 0);
    for k in 0..impacts.len() {
        let i = impacts.get(k);
        // A jump is stored where an impact is listed.
        while jump < motion.jumps().len() && motion.t[motion.jumps()[jump]] < i.t - window {
            jump += 1;
        }
        // An impact of a constraint begins with the velocity that the last one left.
        if let Some(last) = k.checked_sub(1).map(|k| impacts.get(k)).filter(|last| last.constraints == i.constraints)
            && i.t - last.t <= window
            && let &[a] = i.constraints
        {
            gauge.gaps.kinematics(i.t, i.q, i.v_before);
            let (left, now) = (gauge.gaps.rate(a, last.v_after), gauge.gaps.rate(a, i.v_before));
            let changed = (left - now).abs() / (left.abs() + now.abs()).max(1e-300);
            checks.matched.note_of(if i.t > last.t { 0.0 } else { changed }, 0.01, i.t, Some(a));
        }
        let near = motion.jumps().get(jump).is_some_and(|&j| motion.t[j] <= i.t + window);
        if !near {
            checks.matched.note(1.0, 0.0, i.t);
        }
        if !is_model || !gauge.prepare(i.t, i.q, i.v_before) {
            continue;
        }
        let mut free = vec![0.0; d];
        gauge.free_acceleration(&mut free);
        let allowed = 2.0 * COARSE * largest + 4.0 * window * gauge.length(&free);
        let alone = |other: Option<usize>| {
            other.filter(|&j| j < impacts.len()).is_none_or(|j| (impacts.get(j).t - i.t).abs() > 2.0 * window)
        };
        for (at, is_alone, listed) in
            [(i.t - window, alone(k.checked_sub(1)), i.v_before), (i.t + window, alone(Some(k + 1)), i.v_after)]
        {
            if is_alone && at >= first && at <= last && cursor.read(at, &mut q, &mut v).is_ok() {
                difference(&mut x, listed, &v);
                checks.matched.note(gauge.length(&x), allowed, i.t);
            }
        }
    }
    unlisted(evidence, scales, largest, checks);
}

/// Stored jumps larger than landings without an impact nearby.
fn unlisted(evidence: &Evidence, scales: &Scales, largest: f64, checks: &mut Checks) {
    let (motion, window) = (evidence.trajectory, evidence.window());
    let d = motion.dimension();
    let mut gauge = evidence.gauge.clone();
    let (mut x, mut free) = (vec![0.0; d], vec![0.0; d]);
    let times: Vec<f64> = {
        let mut times: Vec<f64> = motion.impacts.iter().map(|i| i.t).collect();
        times.sort_by(f64::total_cmp);
        times
    };
    let last = motion.span().map_or(0.0, |(_, last)| last);
    for &k in motion.jumps() {
        let t = motion.t[k];
        let next = times.partition_point(|&s| s < t - window);
        let (v_left, v_right) = (motion.v(k, Side::Left), motion.v(k, Side::Right));
        if times.get(next).is_some_and(|&s| s <= t + window) || t + window > last {
            continue;
        }
        if !gauge.prepare(t, motion.q(k), v_left) {
            continue;
        }
        difference(&mut x, v_right, v_left);
        // A landing that is too slow to count as an impact is part of a contact.
        let slow = match gauge.free_acceleration(&mut free) {
            true => 8.0 * evidence.step * gauge.length(&free),
            false => WAVES * max_abs(&scales.change),
        };
        let allowed = (COARSE * largest).max(slow);
        checks.matched.note(gauge.length(&x), allowed, t);
    }
}
