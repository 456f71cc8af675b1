//! What acts in a model besides its forces: constraints, friction, joints; and its first-order states.

use saltus_expr::{NodeId, Span};

/// A unilateral constraint f(t, q) ≥ 0.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its name, with the index where it belongs to a family: `floor`, `pair[3]`.
    pub name: String,
    /// The gap f.
    pub gap: NodeId,
    /// The coefficient of restitution e ∈ [0, 1], with open parameters at their present values; where it depends on the
    /// approach speed, its limit for a speed of zero.
    pub restitution: f64,
    /// The same as an expression of open parameters and of the approach speed ([`Model::speed`](super::Model::speed)).
    pub restitution_node: NodeId,
    /// Which entry of [`Model::frictions`](super::Model::frictions) is its friction.
    pub friction: Option<usize>,
    /// Where the gap is written.
    pub span: Span,
}

/// Friction: Coulomb's at a constraint, or dry friction of known limit.
#[derive(Clone, Debug)]
pub struct Friction {
    /// The name of its constraint, or its own.
    pub name: String,
    /// The constraint whose reaction presses; None for dry friction of known limit.
    pub constraint: Option<usize>,
    /// The slip velocities, affine in v: one in the plane, two in space.
    pub slips: Vec<Slip>,
    /// μ, or the limit, while sliding: an expression of everything and of [`Friction::speed`].
    pub kinetic: NodeId,
    /// μ, or the limit, while sticking.
    pub sticking: NodeId,
    /// The symbol of the sliding speed, which only this friction uses.
    pub speed: NodeId,
    /// The tangential restitution, with open parameters at their present values.
    pub tangential: f64,
    /// Where the coefficient or the limit is written.
    pub span: Span,
}

impl Friction {
    /// The names of its slips: its own, with a number where there are two.
    pub fn slip_names(&self) -> impl Iterator<Item = String> + '_ {
        let several = self.slips.len() > 1;
        (1..=self.slips.len()).map(move |k| if several { format!("{}[{k}]", self.name) } else { self.name.clone() })
    }
}

/// A slip velocity: row·v + rest.
#[derive(Clone, Debug)]
pub struct Slip {
    /// The slip velocity itself.
    pub value: NodeId,
    /// ∂/∂v, one node for each coordinate.
    pub row: Vec<NodeId>,
    /// What is left at v = 0.
    pub rest: NodeId,
}

/// One equation f(t, q) = 0 of a joint.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Its name, with a number where a joint has several equations: `pin`, `pin[2]`.
    pub name: String,
    /// The left-hand side f.
    pub equation: NodeId,
    /// Where it is written.
    pub span: Span,
}

/// A first-order state z' = r(t, q, q', z).
///
/// Among the unknowns it is the velocity of a further coordinate with unit inertia, whose position (the integral of the
/// state) nothing depends on: so every scheme integrates it as it integrates velocities.
#[derive(Clone, Debug)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Its rate.
    pub rate: NodeId,
    /// Where the rate is written.
    pub span: Span,
}
