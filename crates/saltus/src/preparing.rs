//! How far the preparation of a run is, for whoever waits for it: orders and factors of large matrices.

use std::cell::RefCell;

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// In words.
    pub what: &'static str,
    /// How much of it, from 0 to 1.
    pub done: f64,
    /// The memory that it fills, in bytes.
    pub bytes: f64,
}

type Watch = Box<dyn FnMut(Stage)>;

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// Shows what is prepared in this thread from now on; none: not any more.
pub fn watch(see: Option<Box<dyn FnMut(Stage)>>) {
    WATCH.set(see);
}

/// Says how far something is.
pub(crate) fn report(what: &'static str, done: f64, bytes: f64) {
    WATCH.with_borrow_mut(|watch| {
        if let Some(see) = watch {
            see(Stage { what, done, bytes });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Symmetric;
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
