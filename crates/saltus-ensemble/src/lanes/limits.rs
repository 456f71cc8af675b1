//! What lanes, interpreted or compiled, take for small, large and enough.

use crate::tally::Tally;

/// The last terms of series are kept below this part of the tolerance: many steps add up.
pub const SHARE: f64 = 0.1;

/// The equations of motion may be off by this many tolerances at the end of a step.
pub const TRUST: f64 = 1e3;

/// The impact law may be off by this.
pub const LAW: f64 = 1e-9;

/// A step is at most so many times as long as series allowed for the one before. (Where the last terms of a series vanish by themselves, as
/// at the middle of an even function, they say nothing about how far it reaches.)
pub const GROWTH: f64 = 2.0;

/// The first step is this part of what its series allows: what has no term in it, such as a pulse of high order, is seen from beside such a place.
pub const CAREFUL: f64 = 1.0 / 64.0;

/// Where the motion, or what depends on it, has a series of no more than its first terms, which tells nothing about how far it reaches, the first
/// step is this part of what others allow.
pub const BLIND: f64 = 1.0 / 1_048_576.0;

/// Gap velocities below this part of what they are made of are none.
pub const STILL: f64 = 1e-12;

/// Beside an impact, values of a section below this part of the largest of them are zero: differences of numbers that nearly agree.
pub const ROUNDED: f64 = 16.0 * f64::EPSILON;

/// A gap below this part of the largest gap so far may be closed: what slides along a constraint without pressing on it has a gap of rounding.
pub const TOUCHES: f64 = 64.0 * f64::EPSILON;

/// A lane that has made so many steps and would need so many more at this pace is handed over for good.
pub const WINDOW: u64 = 1 << 16;
/// See [`WINDOW`].
pub const MANY: f64 = 1e8;

/// Steps without progress after which a lane is handed over.
pub const PATIENCE: u32 = 12;

/// What a trajectory in lanes promises: the residual of its equations, the deepest violation of a constraint and the largest gap.
pub fn check(tally: &mut Tally, residual: f64, violation: f64, extent: f64, tolerance: f64, q: &[f64]) {
    let checks = &mut tally.checks;
    checks.balance = checks.balance.max(residual);
    checks.violation = checks.violation.max(violation);
    let size = q.iter().fold(extent, |m, q| m.max(q.abs()));
    if checks.violation > TRUST * tolerance * size {
        tally.breaches.push(format!("a constraint is violated by {:.3e}", checks.violation));
    }
    if checks.law > LAW {
        tally.breaches.push(format!("the impact law has a relative residual of {:.3e}", checks.law));
    }
}
