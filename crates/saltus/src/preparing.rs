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
