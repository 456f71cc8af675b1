//! What all compiled programs take as inputs, defined once: t, q, v (with first-order states at its end), then open parameters
//! and ports, then the sliding speed of each friction and the approach speed of restitutions.

use crate::model::Model;
use saltus_expr::NodeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The inputs of every program of a model, in order.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Their symbols.
    pub nodes: Vec<NodeId>,
    d: usize,
    open: usize,
    frictions: usize,
}

impl Inputs {
    pub fn new(model: &Model) -> Self {
        let open = model.open.iter().map(|p| p.symbol);
        let speeds = model.frictions.iter().map(|f| f.speed).chain(model.speed);
        let motion = [model.t].into_iter().chain(model.q.iter().copied()).chain(model.v.iter().copied());
        Inputs {
            nodes: motion.chain(open).chain(speeds).collect(),
            d: model.dimension(),
            open: model.open.len(),
            frictions: model.frictions.len(),
        }
    }

    /// Where q begins.
    pub const Q: usize = 1;

    /// Where open parameters begin.
    pub fn open(&self) -> usize {
        1 + 2 * self.d
    }

    /// Where the sliding speeds begin.
    pub fn sliding(&self) -> usize {
        self.open() + self.open
    }

    /// Where the approach speed of restitutions is, if any depends on it.
    pub fn approach(&self) -> usize {
        self.sliding() + self.frictions
    }
}

/// The present values of open parameters and ports, shared by all evaluators of one run, so that a port can be set
/// between steps.
#[derive(Clone, Debug)]
pub struct Cells(Arc<[AtomicU64]>);

impl Cells {
    pub fn new(values: impl IntoIterator<Item = f64>) -> Self {
        Cells(values.into_iter().map(|x| AtomicU64::new(x.to_bits())).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    pub fn get(&self, k: usize) -> f64 {
        f64::from_bits(self.0[k].load(Ordering::Relaxed))
    }

    pub fn set(&self, k: usize, value: f64) {
        self.0[k].store(value.to_bits(), Ordering::Relaxed);
    }

    pub fn to_vec(&self) -> Vec<f64> {
        (0..self.len()).map(|k| self.get(k)).collect()
    }
}
