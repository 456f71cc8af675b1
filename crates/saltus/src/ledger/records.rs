//! What is checked between the records of a run: impulses in total and in contacts, phases, and the limits of accumulations.

use super::Evidence;
use super::figure::Checks;
use super::scales::Scales;
use super::tail::{self, Tail};
use crate::motion::{Phase, PhaseKind};
use crate::record::Keep;

/// Checks what a run by events recorded besides the motion; `is_whole`: nothing was time-stepped.
pub(super) fn check(evidence: &Evidence, scales: &Scales, tails: &[Tail], is_whole: bool, checks: &mut Checks) {
    let keep = evidence.keep;
    for contact in &evidence.trajectory.contacts {
        let is_sound = contact.start <= contact.end && contact.impulse.is_finite();
        checks.order.note(if is_sound { 0.0 } else { f64::NAN }, 0.0, contact.start);
    }
    if evidence.by_events && keep.has(Keep::TIMELINE) {
        phases(evidence, scales, is_whole, checks);
        for phase in evidence.timeline.of(PhaseKind::Chatter) {
            limit(evidence, scales, phase, checks);
        }
    }
    let has_motion = !evidence.trajectory.pieces.is_empty() && is_whole;
    if evidence.by_events && has_motion && keep.has(Keep::IMPACTS) && keep.has(Keep::TIMELINE) {
        impulses(evidence, scales, tails, checks);
    }
}

/// Phases follow each other from start to end, and there is one for each impact.
fn phases(evidence: &Evidence, scales: &Scales, is_whole: bool, checks: &mut Checks) {
    let Some((first, last)) = evidence.trajectory.span() else { return };
    let (mut reached, mut impacts) = (first, 0);
    for phase in &evidence.timeline.phases {
        impacts += usize::from(phase.kind == PhaseKind::Impact);
        if !(phase.start <= phase.end && phase.end.is_finite()) {
            checks.order.note(f64::NAN, 0.0, phase.start);
        }
        // An accumulation spans the phases of its impacts.
        if phase.kind == PhaseKind::Chatter {
            reached = reached.max(phase.end.min(last));
            continue;
        }
        checks.matched.note((phase.start - reached).max(0.0), scales.instant, phase.start);
        reached = reached.max(phase.end);
    }
    if !evidence.timeline.phases.is_empty() {
        checks.matched.note((last - reached).max(0.0), scales.instant, last);
    }
    if is_whole && evidence.keep.has(Keep::IMPACTS) && impacts != evidence.trajectory.impacts.len() {
        checks.matched.note(impacts.abs_diff(evidence.trajectory.impacts.len()) as f64, 0.0, last);
    }
}

/// The limit of an accumulation against the times of its impacts, extrapolated here by Aitken's Δ².
fn limit(evidence: &Evidence, scales: &Scales, phase: &Phase, checks: &mut Checks) {
    let claimed = phase.error;
    let is_sound = claimed.is_finite() && claimed > 0.0 && phase.end >= phase.start;
    checks.claims.note(if is_sound { 0.0 } else { f64::NAN }, 0.0, phase.end);
    let &[constraint] = &phase.constraints[..] else { return };
    if !evidence.keep.has(Keep::IMPACTS) {
        return;
    }
    let impacts = &evidence.trajectory.impacts;
    let Some((settled, last)) = tail::settles(evidence, phase) else {
        checks.claims.note_of(f64::NAN, 0.0, phase.end, Some(constraint));
        return;
    };
    checks.claims.note_of((settled - phase.end).max(0.0), scales.instant, phase.end, Some(constraint));
    let mut times = [0.0; 4];
    let mut found = 0;
    for k in (0..=last).rev() {
        let i = impacts.get(k);
        if i.t < phase.start || found == 4 {
            break;
        }
        if i.constraints == [constraint] {
            times[found] = i.t;
            found += 1;
        }
    }
    if found < 4 {
        return;
    }
    let aitken = |a: f64, b: f64, c: f64| {
        let (new, old) = (a - b, b - c);
        let (ratio, noise) = (new / (old - new), scales.instant.max(4.0 * f64::EPSILON * a.abs()));
        (a + new * ratio, noise * (1.0 + ratio.abs()).powi(2))
    };
    let (now, noise) = aitken(times[0], times[1], times[2]);
    let (before, _) = aitken(times[1], times[2], times[3]);
    if now.is_finite() && before.is_finite() && now > times[0] {
        let allowed = 3.0 * (claimed + noise + (now - before).abs()) + 1e-3 * (now - times[0]).abs();
        checks.claims.note_of((now - phase.end).abs(), allowed, phase.end, Some(constraint));
    }
}

/// The total impulse of each constraint, and the impulses of its contacts, are those of impacts, pieces and tails.
fn impulses(evidence: &Evidence, scales: &Scales, tails: &[Tail], checks: &mut Checks) {
    let (motion, keep) = (evidence.trajectory, evidence.keep);
    let Some((_, last)) = motion.span() else { return };
    let m = evidence.gauge.restitution.len();
    let (mut total, mut in_contacts, mut sizes) = (vec![0.0; m], vec![0.0; m], vec![0.0_f64; m]);
    for k in 0..motion.pieces.len() {
        // (Joints and slips have their rows behind the constraints.)
        for (a, p) in motion.pieces.impulses(k).filter(|(a, _)| *a < m) {
            total[a] += p;
            in_contacts[a] += p;
            sizes[a] += p.abs();
        }
    }
    for tail in tails {
        for &(a, p) in tail.impulses.iter().filter(|(a, _)| *a < m) {
            total[a] += p;
            in_contacts[a] += p;
            sizes[a] += p.abs();
        }
    }
    for i in motion.impacts.iter() {
        for (&a, p) in i.constraints.iter().zip(i.impulses) {
            total[a] += p;
            sizes[a] += p.abs();
        }
    }
    let allowed = |a: usize| 1e2 * scales.tolerance * sizes[a].max(1e-300);
    for a in 0..m {
        checks.totals.note_of((evidence.audit.impulses[a] - total[a]).abs(), allowed(a), last, Some(a));
    }
    if !keep.has(Keep::CONTACTS) {
        return;
    }
    // The impulse of a contact includes that of the impacts with which it begins.
    for contact in &motion.contacts {
        let a = contact.constraint;
        let begins = tails.iter().rev().find(|tail| tail.limit == contact.start && tail.holds(a)).map(|tail| tail.t);
        let opening = begins.unwrap_or(contact.start);
        let (from, to) = (motion.impacts.count_before(opening), motion.impacts.count_until(opening));
        for k in from..to {
            let i = motion.impacts.get(k);
            let own = i.constraints.iter().zip(i.impulses).filter(|(b, _)| **b == a).map(|(_, p)| *p);
            in_contacts[a] += own.sum::<f64>();
        }
        in_contacts[a] -= contact.impulse;
    }
    for a in 0..m {
        checks.totals.note_of(in_contacts[a].abs(), allowed(a), last, Some(a));
    }
}
