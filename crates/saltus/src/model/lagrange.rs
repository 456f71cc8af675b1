//! From energies to M and g: Lagrange's equations, differentiated exactly on the expression graph.
//!
//! With T(t, q, v) quadratic in v,
//!
//! ```text
//! d/dt ∂T/∂v − ∂T/∂q = Q − ∂V/∂q
//! M = ∂²T/∂v²,   g = Q − ∂V/∂q + ∂T/∂q − (∂²T/∂v∂q) v − ∂²T/∂v∂t
//! ```

use saltus_expr::{Graph, NodeId};

/// The symbols of a system: time, coordinates, velocities.
pub struct Symbols<'a> {
    pub t: NodeId,
    pub q: &'a [NodeId],
    pub v: &'a [NodeId],
}

/// M = ∂²T/∂v² by rows, and the inertial forces ∂T/∂q − (∂²T/∂v∂q) v − ∂²T/∂v∂t.
pub fn inertia(graph: &mut Graph, kinetic: NodeId, s: &Symbols) -> (Vec<NodeId>, Vec<NodeId>) {
    let d = s.q.len();
    let zero = graph.constant(0.0);
    let mut mass = vec![zero; d * d];
    let mut forces = Vec::with_capacity(d);
    for i in 0..d {
        let momentum = graph.derivative(kinetic, s.v[i]);
        for j in i..d {
            let entry = graph.derivative(momentum, s.v[j]);
            mass[i * d + j] = entry;
            mass[j * d + i] = entry;
        }
        let mut force = graph.derivative(kinetic, s.q[i]);
        for j in 0..d {
            let rate = graph.derivative(momentum, s.q[j]);
            let term = graph.mul(rate, s.v[j]);
            force = graph.sub(force, term);
        }
        let rate = graph.derivative(momentum, s.t);
        forces.push(graph.sub(force, rate));
    }
    (mass, forces)
}

/// The kinetic energy ½ vᵀ M v of a mass matrix given by rows.
pub fn kinetic(graph: &mut Graph, mass: &[NodeId], v: &[NodeId]) -> NodeId {
    let d = v.len();
    let mut twice = graph.constant(0.0);
    for i in 0..d {
        for j in 0..d {
            let vv = graph.mul(v[i], v[j]);
            let term = graph.mul(mass[i * d + j], vv);
            twice = graph.add(twice, term);
        }
    }
    let half = graph.constant(0.5);
    graph.mul(half, twice)
}
