//! The energy account: H₂ − H₁ = work of the forces + work of moving walls − what is dissipated at impacts.
//!
//! With H = v·∂T/∂v − T + V the forces, reactions apart, change H at the rate ∂H/∂t + ∂H/∂q·v + v·g (zero where all forces
//! come from the energies), and a reaction λ in contact at the rate λ ∇f·v = −λ ∂f/∂t. At an impact the energy changes by
//! ½ Σ P ∇f·(v⁺ + v⁻) = ½ Σ P (U⁺ + U⁻) − Σ P ∂f/∂t: what it dissipates, and the work of moving walls. By events the rates are integrated on the
//! polynomials of the motion, ten Gauss points each; otherwise by trapezoids on stored instants, and the work of
//! moving walls is that of the steps themselves, −Σ P ∂f/∂t. A scheme that keeps an account itself (structures, whose
//! observed points do not determine the energy) is taken at its word; its account is exact for its steps.
//!
//! Friction changes H at the rate λ_T·U_T (never positive), what moves it (a belt) by −λ_T·rest, moving joints by −ν ∂j/∂t. By events
//! the reactions are those that explain the motion (`friction`), with time steps the impulses of the steps.

mod integrate;

use super::Evidence;
use super::figure::Checks;
use super::tail::Tail;
use crate::stepping::Account;

/// An interval between impacts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Interval {
    /// Where it begins, after the impact there.
    pub start: f64,
    /// Where it ends, before the impact there.
    pub end: f64,
    /// The change of energy.
    pub change: f64,
    /// The work of the forces.
    pub work: f64,
    /// The work of moving walls in contact; with time steps it is known for the whole run only.
    pub wall_work: f64,
    /// The energy that friction turns into heat; with time steps it is known for the whole run only.
    pub friction: f64,
    /// The energy dissipated by the impacts at its end.
    pub dissipated: f64,
    /// The work of moving walls in the impacts at its end.
    pub impact_wall_work: f64,
}

impl Interval {
    /// What neither forces, walls nor friction explain.
    pub fn residual(&self) -> f64 {
        self.change - self.work - self.wall_work + self.friction
    }
}

/// The energy account of a run.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Balance {
    /// Energy at the start.
    pub start: f64,
    /// Energy at the end.
    pub end: f64,
    /// Energy dissipated at impacts, ½ Σ P (U⁺ + U⁻) with the other sign; never negative by the law.
    pub dissipated_at_impacts: f64,
    /// Work of moving walls at impacts, −Σ P ∂f/∂t.
    pub wall_work_at_impacts: f64,
    /// Energy lost at impacts (gained, if negative): dissipated, less the work of moving walls.
    pub lost_at_impacts: f64,
    /// Work of the forces.
    pub work: f64,
    /// Work of moving walls in contact.
    pub wall_work: f64,
    /// Energy that friction turns into heat between impacts, in contacts and in dry friction of known limit.
    pub friction: f64,
    /// The residual: end − start − work − wall work + lost + friction.
    pub closure: f64,
    /// What the residual is measured by: the energy exchanged, at least the largest kinetic energy and the largest change of
    /// the potential, and a millionth of what is there.
    pub exchanged: f64,
    /// What the forces gave and took, ∫|power|: where it nearly cancels, the residual is what the integration of it leaves.
    pub turnover: f64,
    /// With time steps: the energy of impacts in progress at the start or the end, which are not complete, and the work of the
    /// forces that the instants that were stored leave open.
    pub unsettled: f64,
    /// By events: what rounding of velocities, and of positions where gaps are closed, makes of the energy.
    pub rounding: f64,
}

impl Balance {
    /// The residual, less what impacts in progress at the ends and sparse storage explain, relative to the energy exchanged, or
    /// to a hundredth of what went to and fro.
    pub fn relative(&self) -> f64 {
        self.beyond(self.unsettled)
    }

    /// The same, less what rounding explains: the energy exchanged in a short part of a motion may be next to nothing.
    pub fn unexplained(&self) -> f64 {
        self.beyond(self.unsettled + self.rounding)
    }

    fn beyond(&self, explained: f64) -> f64 {
        let open = match self.closure.is_nan() {
            true => f64::NAN,
            false => (self.closure.abs() - explained).max(0.0),
        };
        if open == 0.0 { 0.0 } else { open / self.exchanged.max(0.01 * self.turnover) }
    }
}

/// The least part of the energy that a residual is measured by: a body at rest exchanges none, and has only rounding.
const FLOOR: f64 = 1e-6;

/// The account of a run (`still`: what rounding of velocities makes of an energy): from the scheme that kept one, or integrated along the motion.
pub fn account(evidence: &Evidence, tails: &[Tail], still: f64) -> (Vec<Interval>, Balance) {
    match &evidence.gauge.energy {
        Some((energy, power)) => integrate::integrated(evidence, tails, energy, power, still),
        None => kept(evidence),
    }
}

/// From the account that a scheme kept.
fn kept(evidence: &Evidence) -> (Vec<Interval>, Balance) {
    let (marks, audit) = (evidence.accounts, evidence.audit);
    let (Some((_, first)), Some((_, last))) = (marks.first(), marks.last()) else {
        return (Vec::new(), Balance::default());
    };
    let net = |a: &Account, b: &Account| (b.work - a.work) - (b.dissipated - a.dissipated);
    let intervals = marks.windows(2).filter(|pair| pair[1].0 > pair[0].0).map(|pair| {
        let ((start, a), (end, b)) = (pair[0], pair[1]);
        let lost = b.lost - a.lost;
        let change = b.energy() - a.energy() + lost;
        Interval {
            start,
            end,
            change,
            work: net(&a, &b),
            wall_work: 0.0,
            friction: 0.0,
            dissipated: lost,
            impact_wall_work: 0.0,
        }
    });
    let (lost, work) = (last.lost - first.lost, net(first, last));
    let change = last.energy() - first.energy();
    let flows = [last.work - first.work, last.dissipated - first.dissipated, lost, change, first.energy()];
    // A structure at rest exchanges nothing: the elastic energy it holds is then what rounding is measured by.
    let held = marks.iter().map(|(_, a)| a.kinetic.max(a.potential.abs())).fold(0.0, f64::max);
    let exchanged = flows.iter().fold(held, |m, x| m.max(x.abs())).max(1e-300);
    // The scheme knows what all constraints took; what of it moving walls gave follows from their impulses.
    let wall_work = audit.contact_work + walls_at_impacts(evidence);
    let balance = Balance {
        start: first.energy(),
        end: last.energy(),
        dissipated_at_impacts: lost + wall_work,
        wall_work_at_impacts: wall_work,
        lost_at_impacts: lost,
        work,
        wall_work: 0.0,
        friction: 0.0,
        closure: change - work + lost,
        exchanged,
        turnover: 0.0,
        unsettled: 0.0,
        rounding: 0.0,
    };
    (intervals.collect(), balance)
}

/// −Σ P ∂f/∂t over the impacts.
fn walls_at_impacts(evidence: &Evidence) -> f64 {
    if !evidence.gauge.is_moving {
        return 0.0;
    }
    let mut gaps = evidence.gauge.gaps.clone();
    let work = evidence.trajectory.impacts.iter().map(|i| {
        gaps.kinematics(i.t, i.q, i.v_before);
        i.constraints.iter().zip(i.impulses).map(|(&a, p)| p * gaps.partial_t[a]).sum::<f64>()
    });
    -work.sum::<f64>()
}

/// The totals of the account are the sums of its intervals, and each interval closes.
pub(super) fn check(evidence: &Evidence, intervals: &[Interval], balance: &Balance, allowed: f64, checks: &mut Checks) {
    let Some((first, last)) = evidence.trajectory.span() else { return };
    let (strict, allowed) = (allowed, allowed * balance.exchanged + balance.unsettled + balance.rounding);
    // What goes to and fro in an interval many times leaves its errors each time.
    let turnover = |i: &Interval| strict * balance.turnover * (i.end - i.start) / (last - first);
    // With time steps the work of moving walls in contact, and of friction, is known in total only.
    let in_total = !evidence.by_events && (evidence.gauge.is_moving || evidence.gauge.bonds.is_some());
    let (mut change, mut rest) = (0.0, 0.0);
    for i in intervals {
        change += i.change + i.impact_wall_work - i.dissipated;
        rest += i.residual();
        if !in_total {
            checks.totals.note(i.residual().abs(), allowed + turnover(i), i.end);
        }
    }
    // A port that is set changes the energy at once.
    if !evidence.ports.changes.is_empty() {
        return;
    }
    checks.totals.note((balance.end - balance.start - change).abs(), allowed, last);
    checks.totals.note((balance.start - evidence.audit.energy_start).abs(), allowed, last);
    checks.totals.note((balance.end - evidence.audit.energy_end).abs(), allowed, last);
    if !in_total {
        checks.totals.note((rest - balance.closure).abs(), allowed, last);
    }
}
