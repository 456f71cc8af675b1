//! What perturbations of a trajectory need beside its motion: the derivatives of its forces along a flight, those of gaps and inertia at
//! an impact.
//!
//! With M a = g, or a = g where the inertia is diagonal and constant, a perturbation flows with M δa = ∂g/∂(q, v) (δq, δv) − δM a.
//! Restitutions are constant along a trajectory.

use saltus_expr::{Graph, MissingInput, NodeId, SeriesCode};
use std::sync::Arc;

/// A derivative that is not zero: of which number, by which unknown, and where it is among the outputs.
pub type Entry = (usize, usize, usize);

/// The derivatives. Unknowns are q, then v; at an impact q, then the time.
#[derive(Debug)]
pub struct TangentCode {
    /// ∂g/∂(q, v), by rows of g, and ∂M/∂q, by entries of M: outputs of the series of the motion.
    pub forces: Vec<Entry>,
    pub masses: Vec<Entry>,
    /// Second derivatives at an impact: of the slopes of gaps (m·d of them), of the rates of gaps at rest (m), and ∂M.
    pub law: Arc<SeriesCode>,
    pub bends: Vec<Entry>,
    pub waves: Vec<Entry>,
    pub turns: Vec<Entry>,
}

/// The nodes of a model of which derivatives are needed.
pub struct Nodes<'a> {
    pub t: NodeId,
    pub q: &'a [NodeId],
    pub v: &'a [NodeId],
    pub force: &'a [NodeId],
    /// None of them where accelerations are explicit.
    pub mass: &'a [NodeId],
    pub slopes: &'a [NodeId],
    pub rates: &'a [NodeId],
}

/// Adds the derivatives of some nodes that are not zero to a list of outputs.
fn entries(graph: &mut Graph, of: &[NodeId], by: &[NodeId], outputs: &mut Vec<NodeId>) -> Vec<Entry> {
    let mut found = Vec::new();
    for (i, &node) in of.iter().enumerate() {
        for (j, &x) in by.iter().enumerate() {
            let slope = graph.derivative(node, x);
            if !graph.is_zero(slope) {
                found.push((i, j, outputs.len()));
                outputs.push(slope);
            }
        }
    }
    found
}

impl TangentCode {
    /// Puts what a flight needs among the outputs of the motion. The rest has outputs of its own, from the same inputs.
    pub fn new(
        graph: &mut Graph,
        nodes: &Nodes,
        outputs: &mut Vec<NodeId>,
        inputs: (&[NodeId], &[usize]),
    ) -> Result<Self, MissingInput> {
        let all: Vec<NodeId> = nodes.q.iter().chain(nodes.v).copied().collect();
        let forces = entries(graph, nodes.force, &all, outputs);
        let masses = entries(graph, nodes.mass, nodes.q, outputs);
        let places: Vec<NodeId> = nodes.q.iter().copied().chain([nodes.t]).collect();
        let mut law = Vec::new();
        let bends = entries(graph, nodes.slopes, &places, &mut law);
        let waves = entries(graph, nodes.rates, &places, &mut law);
        let turns = entries(graph, nodes.mass, &places, &mut law);
        let law = Arc::new(SeriesCode::compile(graph, inputs.0, inputs.1, &law)?);
        Ok(TangentCode { forces, masses, law, bends, waves, turns })
    }
}
