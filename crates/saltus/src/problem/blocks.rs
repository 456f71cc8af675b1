//! Programs whose outputs fall into blocks (a matrix, a vector), where constant entries are filled in once and
//! only the others are computed: a constant mass matrix or the gradient of a flat wall costs nothing per step.

use super::inputs::{Cells, Inputs};
use crate::linalg::copy;
use saltus_expr::{Graph, MissingInput, NodeId, Program, Scalar};
use std::sync::Arc;

/// Compiled blocks of outputs.
#[derive(Clone, Debug)]
pub struct Blocks {
    program: Arc<Program>,
    blocks: Vec<Block>,
    /// Where open parameters begin among the inputs.
    open: usize,
}

#[derive(Clone, Debug)]
struct Block {
    /// All entries; zero where they vary.
    base: Vec<f64>,
    /// Which entries the program computes, in its order of outputs.
    varying: Vec<usize>,
    /// The first of those outputs.
    first: usize,
}

impl Blocks {
    pub fn compile(graph: &Graph, inputs: &Inputs, nodes: &[&[NodeId]]) -> Result<Arc<Self>, MissingInput> {
        let mut outputs = Vec::new();
        let mut blocks = Vec::new();
        for block in nodes {
            let varying: Vec<usize> = (0..block.len()).filter(|&k| graph.value(block[k]).is_none()).collect();
            let base = block.iter().map(|&n| graph.value(n).unwrap_or(0.0)).collect();
            blocks.push(Block { base, first: outputs.len(), varying: varying.clone() });
            outputs.extend(varying.into_iter().map(|k| block[k]));
        }
        let program = Arc::new(Program::compile(graph, &inputs.nodes, &outputs)?);
        Ok(Arc::new(Blocks { program, blocks, open: inputs.open() }))
    }

    /// A buffer for block `k` with its constants filled in.
    pub fn buffer(&self, k: usize) -> Vec<f64> {
        self.blocks[k].base.clone()
    }

    /// Whether block `k` has no varying entry.
    pub fn is_constant(&self, k: usize) -> bool {
        self.blocks[k].varying.is_empty()
    }
}

/// Evaluates [`Blocks`] at points; owns the registers, so each run has its own.
#[derive(Clone, Debug)]
pub struct Evaluator {
    code: Arc<Blocks>,
    scalar: Scalar,
    idle: bool,
    cells: Cells,
}

impl Evaluator {
    pub fn new(code: &Arc<Blocks>, cells: &Cells) -> Self {
        let idle = code.blocks.iter().all(|b| b.varying.is_empty());
        Evaluator { scalar: Scalar::new(code.program.clone()), code: code.clone(), idle, cells: cells.clone() }
    }

    /// Evaluates at the point whose inputs are `t` and then the given vectors: nothing, q, or q and v.
    #[inline]
    pub fn run(&mut self, t: f64, vectors: &[&[f64]]) {
        if self.idle {
            return;
        }
        let inputs = self.scalar.inputs_mut();
        inputs[0] = t;
        let mut at = Inputs::Q;
        for v in vectors {
            copy(&mut inputs[at..at + v.len()], v);
            at += v.len();
        }
        for k in 0..self.cells.len() {
            inputs[self.code.open + k] = self.cells.get(k);
        }
        self.scalar.run();
    }

    /// Evaluates at the point whose inputs are `t` and q.
    #[inline]
    pub fn run_at(&mut self, t: f64, q: &[f64]) {
        if self.idle {
            return;
        }
        let inputs = self.scalar.inputs_mut();
        inputs[0] = t;
        copy(&mut inputs[Inputs::Q..Inputs::Q + q.len()], q);
        for k in 0..self.cells.len() {
            inputs[self.code.open + k] = self.cells.get(k);
        }
        self.scalar.run();
    }

    /// Evaluates with one more input given: a speed that a law depends on.
    pub fn run_with(&mut self, place: usize, value: f64) {
        if !self.idle {
            self.scalar.inputs_mut()[place] = value;
            self.run(0.0, &[]);
        }
    }

    /// Sets one more input, behind the usual ones, for the runs to come.
    pub fn set(&mut self, place: usize, value: f64) {
        self.scalar.inputs_mut()[place] = value;
    }

    /// Writes the varying entries of block `k` into a buffer made by [`Blocks::buffer`].
    #[inline]
    pub fn write(&self, k: usize, target: &mut [f64]) {
        let block = &self.code.blocks[k];
        if block.varying.is_empty() {
            return;
        }
        for (&entry, value) in block.varying.iter().zip(self.scalar.outputs_from(block.first)) {
            target[entry] = value;
        }
    }
}
