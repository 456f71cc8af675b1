//! The ledger of a run: what held and what did not, impact by impact and in the balance.
//!
//! It is made from a finished run and its problem, so it costs nothing where nobody asks for it.
//!
//! - [`energy`]: between impacts the energy changes by the work of the forces, and in contact with moving walls by theirs; at an
//!   impact by ½ Σ P (U⁺ + U⁻). What is left over is the closure.
//! - Properties (P1)–(P5) of a solution, numbered as in [T] = Paoli 2015, section 2; in [S] = Paoli 2010, (P4) and (P5) are
//!   the other way round.

mod energy;
mod impacts;
mod properties;

pub(crate) use energy::GAUSS;
pub use energy::{Balance, Interval};
pub(crate) use impacts::is_continuous;
pub use impacts::{Entry, Meeting};
pub use properties::Property;

use crate::{Problem, Run, RunOptions};

/// The ledger of a run.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// One entry an impact.
    pub impacts: Vec<Entry>,
    /// The intervals between impacts, with the balance of each; neighbours are joined where there are very many.
    pub intervals: Vec<Interval>,
    /// The balance of the whole run.
    pub balance: Balance,
    /// Properties (P1)–(P5), in order.
    pub properties: Vec<Property>,
    /// Where several constraints met, and what that means for the dependence on the data.
    pub meetings: Vec<Meeting>,
    /// The total impulse of each constraint.
    pub impulses: Vec<f64>,
}

impl Ledger {
    /// Draws up the ledger of a run.
    ///
    /// ```
    /// use saltus::{Ledger, Problem, RunOptions, model::Builder, run};
    /// let ball = Builder::new("ball").coordinate("y", "1", "0").kinetic("y'^2/2").potential("9.81*y")
    ///     .restitution("0.5").constraint("floor", "y").build()?;
    /// let (problem, options) = (Problem::new(ball)?, RunOptions::new(1e-3, 2.0));
    /// let run = run(&problem, &options, &mut |_| true)?;
    /// let ledger = Ledger::new(&problem, &options, &run);
    /// assert!(ledger.properties.iter().all(|p| p.holds));
    /// assert!(ledger.balance.relative() < 1e-8);
    /// # Ok::<(), saltus::SetupError>(())
    /// ```
    pub fn new(problem: &Problem, options: &RunOptions, run: &Run) -> Self {
        let impacts = impacts::entries(problem, options, run);
        let (intervals, balance) = energy::balance(problem, options, run);
        let properties = properties::properties(problem, options, run, &impacts);
        let meetings = impacts::meetings(problem, run);
        Ledger { impacts, intervals, balance, properties, meetings, impulses: run.audit.impulses.clone() }
    }

    /// What is beyond the stated tolerances, in words; empty if all is well. For runs by events the balance must close to
    /// 1e-8 (or a hundred times the tolerance), for others to a tenth.
    pub fn complaints(&self, options: &RunOptions) -> Vec<String> {
        let mut complaints: Vec<String> = self
            .properties
            .iter()
            .filter(|p| !p.holds)
            .map(|p| format!("({}) {}: {:.3e}, more than {:.3e}", p.name, p.what, p.figure, p.allowed))
            .collect();
        let allowed =
            if options.scheme.stepping().is_none() { (1e2 * options.settings.tolerance).max(1e-8) } else { 0.1 };
        let closure = self.balance.relative();
        if !(closure <= allowed) {
            complaints.push(format!(
                "the energy balance is open by {closure:.3e} of what was exchanged, more than {allowed:.0e}"
            ));
        }
        complaints
    }
}
