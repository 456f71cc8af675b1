//! How far a factorisation is.

use crate::preparing::report;

const WHAT: &str = "factoring a matrix";

/// Less work than this is not worth a word.
const LITTLE: f64 = 1e6;

/// The work of a factorisation, in operations, of which a part is done.
pub(super) struct Wait {
    all: f64,
    done: f64,
    told: f64,
    bytes: f64,
}

impl Wait {
    pub fn new(all: f64, bytes: f64) -> Self {
        if all > LITTLE {
            report(WHAT, 0.0, bytes);
        }
        Wait { all, done: 0.0, told: 0.0, bytes }
    }

    /// So much more is about to be done.
    pub fn did(&mut self, work: f64) {
        if self.all > LITTLE && self.done - self.told > 0.005 * self.all {
            self.told = self.done;
            report(WHAT, (self.done / self.all).min(1.0), self.bytes);
        }
        self.done += work;
    }

    /// All is done.
    pub fn end(self) {
        if self.all > LITTLE {
            report(WHAT, 1.0, self.bytes);
        }
    }
}
