//! From energies to M and g: Lagrange's equations, differentiated exactly on the expression graph.
//!
//! With T(t, q, v) quadratic in v,
//!
//! ```text
//! d/dt ∂T/∂v − ∂T/∂q = Q − ∂V/∂q
//! M = ∂²T/∂v²,   g = Q − ∂V/∂q + ∂T/∂q − (∂²T/∂v∂q) v − ∂²T/∂v∂t
//! ```

use crate::text::gib;
use crate::{Kind, SetupError};
use saltus_expr::{Graph, NodeId};

/// What a unit of the graph of M and g takes until it runs: nodes, derivatives, programs (measured with 100 pendula: 300 MB).
const BYTES: f64 = 1200.0;

/// More memory than this for the equations of motion is refused before it is asked for.
const MOST: f64 = 3.0 * (1u64 << 30) as f64;

/// The symbols of a system: time, coordinates, velocities.
pub struct Symbols<'a> {
    pub t: NodeId,
    pub q: &'a [NodeId],
    pub v: &'a [NodeId],
}

/// M = ∂²T/∂v² by rows, and the inertial forces ∂T/∂q − (∂²T/∂v∂q) v − ∂²T/∂v∂t.
///
/// Where every coordinate is coupled to every other (a chain of pendula), they have about d³ terms: what the first rows
/// need says what all will.
pub fn inertia(graph: &mut Graph, kinetic: NodeId, s: &Symbols) -> Result<(Vec<NodeId>, Vec<NodeId>), SetupError> {
    let d = s.q.len();
    let start = graph.size();
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
        let bytes = BYTES * (graph.size() - start) as f64 * (d as f64 / (i + 1) as f64);
        if bytes > MOST && i >= d / 256 {
            return Err(SetupError::new(format!(
                "the equations of motion of {d} coordinates that are all coupled would take about {}",
                gib(bytes)
            ))
            .with_kind(Kind::TooLarge)
            .help("take fewer coordinates, or ones in which the mass matrix has few entries (positions and springs in place of angles)"));
        }
    }
    Ok((mass, forces))
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
