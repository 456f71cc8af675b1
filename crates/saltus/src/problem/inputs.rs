//! What all compiled programs take as inputs, defined once: t, q, v, then open parameters and ports.

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
}

impl Inputs {
    pub fn new(model: &Model) -> Self {
        let open = model.open.iter().map(|p| p.symbol);
        let nodes = [model.t].into_iter().chain(model.q.iter().copied()).chain(model.v.iter().copied()).chain(open);
        Inputs { nodes: nodes.collect(), d: model.dimension() }
    }

    /// Where q begins.
    pub const Q: usize = 1;

    /// Where open parameters begin.
    pub fn open(&self) -> usize {
        1 + 2 * self.d
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
