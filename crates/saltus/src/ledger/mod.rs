//! The ledger of a run: what held and what did not, impact by impact and in the energy account.
//!
//! It is computed from what was recorded and the gap space of the system, never from the engine.
//!
//! - `energy`: between impacts the energy changes by the work of the forces, and in contact with moving constraints by
//!   theirs; at an impact by ½ Σ P (∇f·v⁺ + ∇f·v⁻). What is left over is the residual.
//! - Properties (P1)–(P5) of a solution, numbered as in \[T\] = Paoli 2015, section 2; in \[S\] = Paoli 2010, (P4) and (P5) are
//!   the other way round.

mod energy;
mod impacts;
mod properties;

pub use energy::{Balance, Interval};
pub(crate) use impacts::is_continuous;
pub use impacts::{Entry, Meeting};
pub use properties::Property;

use crate::motion::Trajectory;
use crate::problem::PortHistory;
use crate::record::{Audit, Gauge};
use crate::stepping::Account;

/// What a ledger is made from.
pub(crate) struct Evidence<'a> {
    pub trajectory: &'a Trajectory,
    pub audit: &'a Audit,
    pub accounts: &'a [(f64, Account)],
    pub gauge: &'a Gauge,
    pub ports: &'a PortHistory,
    /// Names of the constraints.
    pub names: &'a [String],
    pub by_events: bool,
    pub step: f64,
    pub tolerance: f64,
    pub q0: &'a [f64],
    pub v0: &'a [f64],
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
}

impl Ledger {
    pub(crate) fn new(evidence: &Evidence) -> Self {
        let impacts = impacts::entries(evidence);
        let (intervals, balance) = energy::account(evidence);
        let properties = properties::properties(evidence, &impacts, &balance);
        Ledger {
            impacts,
            intervals,
            balance,
            properties,
            meetings: impacts::meetings(evidence),
            impulses: evidence.audit.impulses.clone(),
            allowed_residual: if evidence.by_events { (1e2 * evidence.tolerance).max(1e-8) } else { 0.1 },
        }
    }

    /// What is beyond the stated tolerances, in words; empty if all is well. For runs by events the energy account must
    /// close to 1e-8 (or a hundred times the tolerance), for others to a tenth.
    pub fn complaints(&self) -> Vec<String> {
        let failed = self.properties.iter().filter(|p| !p.holds);
        let mut complaints: Vec<String> =
            failed.map(|p| format!("({}) {}: {:.3e}, more than {:.3e}", p.name, p.what, p.figure, p.allowed)).collect();
        let residual = self.balance.relative();
        if !(residual <= self.allowed_residual) {
            complaints.push(format!(
                "the energy account has a relative residual of {residual:.3e}, more than {:.0e}",
                self.allowed_residual
            ));
        }
        complaints
    }
}
