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

#[cfg(test)]
mod tests {
    use crate::linalg::Symmetric;
    use crate::preparing::watch;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn a_large_factor_says_how_far_it_is() {
        let n = 4000;
        // (What is outside is left out.)
        let near = (0..n).flat_map(|i| (1..=50).flat_map(move |k| [(i, i + k, -0.01), (i + k, i, -0.01)]));
        let matrix = Symmetric::new(n, near.chain((0..n).map(|i| (i, i, 4.0))).collect());
        let seen = Rc::new(RefCell::new(Vec::new()));
        let kept = seen.clone();
        watch(Some(Box::new(move |stage| kept.borrow_mut().push(stage.done))));
        assert!(matrix.factor().is_ok());
        watch(None);
        assert!(matrix.factor().is_ok());
        let seen = seen.borrow();
        assert!(seen.len() > 3 && seen.is_sorted() && seen[0] == 0.0 && seen[seen.len() - 1] == 1.0, "{seen:?}");
    }
}
