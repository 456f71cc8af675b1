//! The ledger of a run: what held and what did not, impact by impact and in the energy account.
//!
//! It is computed from what was recorded and the gap space of the system, never from the engine.
//!
//! - `figure`: what is checked, whatever made the motion, with the worst place of each; `dense` along polynomials, `instants` at stored
//!   instants, `jumps` at impacts, `tail` where accumulations end, `records` between what was recorded.
//! - `friction`: joints and the law of friction; `states`: first-order states and their rates.
//! - `energy`: between impacts the energy changes by the work of the forces, and in contact with moving constraints by
//!   theirs; at an impact by ½ Σ P (∇f·v⁺ + ∇f·v⁻). What is left over is the residual.
//! - Properties (P1)–(P5) of a solution, numbered as in \[T\] = Paoli 2015, section 2; in \[S\] = Paoli 2010, (P4) and (P5) are
//!   the other way round.

mod dense;
mod energy;
mod figure;
mod friction;
mod impacts;
mod instants;
mod jumps;
mod properties;
mod records;
mod replay;
mod scales;
mod states;
mod tail;

pub use energy::{Balance, Interval};
pub(crate) use impacts::is_continuous;
pub use impacts::{Entry, Meeting};
pub use properties::Property;

use crate::motion::{Timeline, Trajectory};
use crate::problem::PortHistory;
use crate::record::{Audit, Gauge, Keep};
use crate::stepping::Account;
use crate::text::number;

/// What a ledger is made from: what was recorded, and the gap space of the system.
pub(crate) struct Evidence<'a> {
    pub trajectory: &'a Trajectory,
    pub timeline: &'a Timeline,
    pub audit: &'a Audit,
    pub accounts: &'a [(f64, Account)],
    pub gauge: &'a Gauge,
    pub ports: &'a PortHistory,
    /// Names of the constraints.
    pub names: &'a [String],
    /// What was stored: only that is checked.
    pub keep: Keep,
    pub by_events: bool,
    pub step: f64,
    /// With time steps, how many the impulse of an impact takes; None: as many as the contact lasts.
    pub contact_steps: Option<u64>,
    pub tolerance: f64,
    /// Whether it goes on from a state that another run reached.
    pub is_continued: bool,
    pub q0: &'a [f64],
    pub v0: &'a [f64],
}

impl Evidence<'_> {
    /// How long the steps of an impact take at most.
    fn window(&self) -> f64 {
        self.contact_steps.map_or(f64::INFINITY, |steps| (4 * steps + 3) as f64 * self.step)
    }

    /// Whether enough is stored to say whether the energy account closes.
    fn judges_energy(&self, is_dense: bool) -> bool {
        let keep = self.keep;
        let impacts = keep.has(Keep::IMPACTS);
        match self.by_events {
            true => impacts && keep.has(Keep::TIMELINE) && keep.has(Keep::INSTANTS) && is_dense,
            false => impacts && keep.has(Keep::INSTANTS),
        }
    }
}

/// The ledger of a run.
///
/// ```
/// use saltus::{Options, model::Builder};
/// let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y")
///     .restitution(0.5).constraint("floor", "y").build()?;
/// let run = ball.problem()?.run(&Options::events(2.0))?;
/// assert!(run.ledger.properties.iter().all(|p| p.holds));
/// assert!(run.ledger.balance.relative() < 1e-8 && run.ledger.complaints().is_empty());
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// One entry per impact.
    pub impacts: Vec<Entry>,
    /// The intervals between impacts, with the account of each; neighbours are joined where there are very many.
    pub intervals: Vec<Interval>,
    /// The energy account of the whole run.
    pub balance: Balance,
    /// Properties (P1)–(P5), in order.
    pub properties: Vec<Property>,
    /// Where several constraints met, and what that means for the dependence on the data.
    pub meetings: Vec<Meeting>,
    /// The total impulse of each constraint.
    pub impulses: Vec<f64>,
    /// The relative residual that the energy account may have.
    pub allowed_residual: f64,
    /// Where there are joints: the largest value and the largest rate of an equation of theirs, away from impacts.
    pub joint_residuals: Option<(f64, f64)>,
    /// Names of the constraints.
    names: Vec<String>,
}

impl Ledger {
    /// What is worth a note about constraints that met: pairs at which the motion need not depend continuously on its data.
    pub fn meeting_notes(&self) -> Vec<String> {
        impacts::notes(&self.meetings)
    }

    pub(crate) fn new(evidence: &Evidence) -> Self {
        let scales = scales::Scales::new(evidence);
        let tails = tail::tails(evidence);
        let mut checks = figure::Checks::new();
        let is_dense = evidence.by_events && !evidence.trajectory.pieces.is_empty();
        let stretches = match is_dense {
            true => dense::check(evidence, &scales, &tails, &mut checks),
            false => Vec::new(),
        };
        instants::check(evidence, &scales, is_dense.then_some(&stretches[..]), &mut checks);
        jumps::check(evidence, &scales, &stretches, &mut checks);
        tail::check(evidence, &scales, &tails, &mut checks);
        records::check(evidence, &scales, &tails, is_dense && stretches.is_empty(), &mut checks);
        let (intervals, balance) = energy::account(evidence, &tails, scales.still_energy);
        let allowed_residual = match evidence.by_events && stretches.is_empty() {
            _ if evidence.gauge.energy.is_some() && !evidence.judges_energy(is_dense) => f64::MAX,
            true => (1e2 * evidence.tolerance).max(1e-8),
            false => 0.1,
        };
        energy::check(evidence, &intervals, &balance, allowed_residual, &mut checks);
        let impacts = impacts::entries(evidence, &scales);
        let has_joints = evidence.gauge.bonds.as_ref().is_some_and(|bonds| bonds.joint_count() > 0);
        let joint_residuals = has_joints.then_some(checks.joint_residuals);
        let properties = properties::properties(evidence, &scales, &impacts, &balance, checks);
        Ledger {
            impacts,
            intervals,
            balance,
            properties,
            meetings: impacts::meetings(evidence),
            impulses: evidence.audit.impulses.clone(),
            allowed_residual,
            joint_residuals,
            names: evidence.names.to_vec(),
        }
    }

    /// Breaches: what is beyond the stated tolerances, in words; empty if all is well. For runs by events the energy account must
    /// close to 1e-8 (or a hundred times the tolerance), for others to a tenth.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints: Vec<String> =
            self.properties.iter().filter(|p| !p.holds).map(|p| self.sentence(p)).collect();
        let residual = self.balance.unexplained();
        if !(residual <= self.allowed_residual) {
            complaints.push(format!(
                "the energy account has a relative residual of {residual:.3e}, more than {:.0e}",
                self.allowed_residual
            ));
        }
        complaints
    }

    fn sentence(&self, p: &Property) -> String {
        let at = p.t.map_or(String::new(), |t| format!(" at t = {}", number(t, 8)));
        let of = p.constraint.and_then(|a| self.names.get(a)).map_or(String::new(), |name| format!(" (`{name}`)"));
        format!("({}) {}: {:.3e}{at}{of}, more than {:.3e}", p.name, p.what, p.figure, p.allowed)
    }
}
