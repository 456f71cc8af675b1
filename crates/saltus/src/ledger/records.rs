//! What is checked between the records of a run: impulses in total and in contacts, phases, and the limits of accumulations.

use super::Evidence;
use super::figure::Checks;
use super::scales::Scales;
use super::tail::{self, Tail};
use crate::motion::{Contact, Phase, PhaseKind};
use crate::problem::Gaps;
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
        let mut gaps = evidence.gauge.gaps.clone();
        for phase in evidence.timeline.of(PhaseKind::Chatter) {
            limit(evidence, scales, tails, phase, &mut gaps, checks);
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
fn limit(evidence: &Evidence, scales: &Scales, tails: &[Tail], phase: &Phase, gaps: &mut Gaps, checks: &mut Checks) {
    let claimed = phase.error;
    let is_sound = claimed.is_finite() && claimed > 0.0 && phase.end >= phase.start;
    checks.claims.note(if is_sound { 0.0 } else { f64::NAN }, 0.0, phase.end);
    let &[constraint] = &phase.constraints[..] else { return };
    if !evidence.keep.has(Keep::IMPACTS) {
        return;
    }
    let impacts = &evidence.trajectory.impacts;
    let Some(settled) = tail::of(tails, phase) else {
        checks.claims.note_of(f64::NAN, 0.0, phase.end, Some(constraint));
        return;
    };
    let mut times = [0.0; 4];
    let mut found = 0;
    for k in (0..settled.impacts.min(impacts.len())).rev() {
        let i = impacts.get(k);
        if i.t < phase.start || found == 4 {
            break;
        }
        if i.constraints == [constraint] {
            times[found] = i.t;
            found += 1;
            continue;
        }
        // Another impact that changes the speed of the bounces begins another sequence.
        gaps.kinematics(i.t, i.q, i.v_before);
        let (before, after) = (gaps.rate(constraint, i.v_before), gaps.rate(constraint, i.v_after));
        if (after - before).abs() > 1e-12 * (after.abs() + before.abs()) {
            break;
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

/// The total impulse of each constraint, and that of each contact, are those of impacts, pieces and tails.
fn impulses(evidence: &Evidence, scales: &Scales, tails: &[Tail], checks: &mut Checks) {
    let (motion, keep) = (evidence.trajectory, evidence.keep);
    let Some((_, last)) = motion.span() else { return };
    let m = evidence.gauge.restitution.len();
    let (mut total, mut sizes) = (vec![0.0; m], vec![0.0_f64; m]);
    let mut contacts = Sums::new(evidence, tails);
    for k in 0..motion.pieces.len() {
        let (from, to) = motion.pieces.span(k);
        // (Joints and slips have their rows behind the constraints.)
        for (a, p) in motion.pieces.impulses(k).filter(|(a, _)| *a < m) {
            total[a] += p;
            sizes[a] += p.abs();
            contacts.add(a, 0.5 * (from + to), p);
        }
    }
    for &(a, p) in tails.iter().flat_map(|tail| &tail.impulses) {
        total[a] += p;
        sizes[a] += p.abs();
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
    if keep.has(Keep::CONTACTS) {
        for (contact, sum) in motion.contacts.iter().zip(contacts.sums) {
            let a = contact.constraint;
            checks.totals.note_of((contact.impulse - sum).abs(), allowed(a), contact.start, Some(a));
        }
    }
}

/// What contacts should have for impulses: at first those of the instant at which the motion was held, then those of pieces.
struct Sums<'e> {
    contacts: &'e [Contact],
    openings: Vec<f64>,
    sums: Vec<f64>,
    /// For each constraint its contacts in order of time, and the first that has not ended yet.
    lists: Vec<(Vec<usize>, usize)>,
}

impl<'e> Sums<'e> {
    fn new(evidence: &'e Evidence, tails: &[Tail]) -> Self {
        let motion = evidence.trajectory;
        let contacts = &motion.contacts[..];
        let mut lists = vec![(Vec::new(), 0); evidence.gauge.restitution.len()];
        let (mut openings, mut sums) = (Vec::with_capacity(contacts.len()), Vec::with_capacity(contacts.len()));
        for (k, contact) in contacts.iter().enumerate() {
            let a = contact.constraint;
            lists[a].0.push(k);
            let opening = tail::opening(tails, contact.start, a);
            let (from, to) = (motion.impacts.count_before(opening), motion.impacts.count_until(opening));
            let now = (from..to).map(|k| motion.impacts.get(k));
            let own = now.flat_map(|i| i.constraints.iter().zip(i.impulses).filter(|(b, _)| **b == a).map(|(_, p)| *p));
            let settles = tails[tails.partition_point(|tail| tail.t < opening)..].iter();
            let settles = settles.take_while(|tail| tail.t == opening).map(|tail| tail.impulse(a));
            sums.push(own.sum::<f64>() + settles.sum::<f64>());
            openings.push(opening);
        }
        lists.iter_mut().for_each(|(list, _)| list.sort_by(|&i, &k| contacts[i].start.total_cmp(&contacts[k].start)));
        Sums { contacts, openings, sums, lists }
    }

    /// The impulse of a piece, at a time that does not decrease.
    fn add(&mut self, constraint: usize, t: f64, impulse: f64) {
        let (list, next) = &mut self.lists[constraint];
        while list.get(*next).is_some_and(|&k| self.contacts[k].end < t) {
            *next += 1;
        }
        if let Some(&k) = list.get(*next).filter(|&&k| self.openings[k] <= t) {
            self.sums[k] += impulse;
        }
    }
}
