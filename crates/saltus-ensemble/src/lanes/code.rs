//! What lanes evaluate: the series of a model, and the numbers of its impacts.

use super::linear::LinearCode;
use super::tangent::{Nodes, TangentCode};
use saltus::motion::Crossing;
use saltus::{Model, Problem};
use saltus_expr::{Graph, NodeId, Program, SeriesCode};
use std::sync::Arc;

/// The most unknowns, constraints and events there is room for.
pub const MOST: usize = 8;

/// A model as lanes compute it.
#[derive(Debug)]
pub struct LaneCode {
    /// The unknowns, constraints, events.
    pub d: usize,
    pub m: usize,
    pub events: usize,
    /// Outputs: accelerations, or masses and forces; then gaps, d²f/dt² at rest of the constraints that can be held, events.
    pub series: Arc<SeriesCode>,
    pub force: usize,
    pub gaps: usize,
    pub gamma: usize,
    pub own: usize,
    /// Whether accelerations are outputs: the inertia is diagonal and constant.
    pub is_explicit: bool,
    /// Whether it is divided by an inertia that open parameters change.
    pub varies_inertia: bool,
    /// Whether gaps are affine in the position with constant slopes, and the inertia is constant: contact can be held in lanes.
    pub can_hold: bool,
    /// Which gaps are as accurate as the motion: affine in it, on walls that move steadily.
    pub is_affine: Vec<bool>,
    /// In which direction events count.
    pub crossings: Vec<Crossing>,
    /// Which events are as accurate as the motion: affine in it and in time.
    pub is_section_affine: Vec<bool>,
    /// In which events velocities are: impacts may take them to the other side.
    pub is_section_of_speed: Vec<bool>,
    /// The order of the velocities.
    pub order: usize,
    /// From t, q, v and open parameters: M (d²), slopes of the gaps (m·d), their rates at rest (m), restitutions (m).
    pub law: Arc<Program>,
    /// The user's quantities, from the same inputs.
    pub quantities: Option<Arc<Program>>,
    /// The law as a series, of which order 0 is of use.
    pub law_series: Arc<SeriesCode>,
    /// How many open parameters there are.
    pub open: usize,
    /// Whether there is an input for the speed of an impact.
    pub has_speed: bool,
    /// The coordinates among the unknowns.
    pub degrees: usize,
    /// Where flight is linear.
    pub linear: Option<Arc<LinearCode>>,
    /// Where perturbations go along.
    pub tangent: Option<Arc<TangentCode>>,
}

impl LaneCode {
    /// The code of a problem, or why lanes cannot compute it.
    pub fn new(problem: &Problem) -> Result<Self, &'static str> {
        Self::make(problem, false)
    }

    /// The same with perturbations that go along. (Flight is by series, linear or not.)
    pub fn with_tangents(problem: &Problem) -> Result<Self, &'static str> {
        Self::make(problem, true)
    }

    /// How many perturbations go along: one for each dimension of the phase space.
    pub fn columns(&self) -> usize {
        self.tangent.as_ref().map_or(0, |_| self.degrees + self.d)
    }

    fn make(problem: &Problem, has_tangents: bool) -> Result<Self, &'static str> {
        let mut model: Model = (**problem.model()).clone();
        let (d, m, degrees) = (model.dimension(), model.constraints.len(), model.degrees());
        if model.has_joints_or_friction() {
            return Err("it has joints or friction");
        }
        if d > MOST || m > MOST || model.events.len() > MOST {
            return Err("it has many coordinates, constraints or events");
        }
        if model
            .speed
            .is_some_and(|speed| model.constraints.iter().any(|c| model.graph.depends_on(c.restitution_node, speed)))
        {
            return Err("its restitution depends on the speed");
        }
        let gap_nodes: Vec<NodeId> = model.constraints.iter().map(|c| c.gap).collect();
        let states: Vec<NodeId> = model.v[degrees..].to_vec();
        if gap_nodes.iter().any(|&gap| model.graph.depends_on_any(gap, &states)) {
            return Err("its gaps use first-order states");
        }
        let moving: Vec<NodeId> = [model.t].into_iter().chain(model.q.clone()).chain(model.v.clone()).collect();
        let graph = &mut model.graph;
        let is_constant = |graph: &Graph, node: NodeId| !graph.depends_on_any(node, &moving);
        let diagonal = (0..d * d).all(|k| k / d == k % d || graph.is_zero(model.mass[k]));
        let fixed = model.mass.iter().all(|&node| is_constant(graph, node));
        let is_explicit = diagonal && fixed;
        let mut outputs: Vec<NodeId> = Vec::new();
        match is_explicit {
            true => {
                for i in 0..d {
                    let node = graph.div(model.force[i], model.mass[i * d + i]);
                    outputs.push(node);
                }
            }
            false => {
                outputs.extend(&model.mass);
                outputs.extend(&model.force);
            }
        }
        let force = outputs.len() - d;
        let gaps = outputs.len();
        outputs.extend(&gap_nodes);
        let (mut slopes, mut rates, mut gammas) = (Vec::new(), Vec::new(), Vec::new());
        for &gap in &gap_nodes {
            for &q in &model.q {
                slopes.push(graph.derivative(gap, q));
            }
            let rate = graph.derivative(gap, model.t);
            rates.push(rate);
            gammas.push(graph.derivative(rate, model.t));
        }
        let can_hold = fixed && slopes.iter().all(|&slope| is_constant(graph, slope));
        let flat = |a: usize| slopes[a * d..(a + 1) * d].iter().all(|&slope| is_constant(graph, slope));
        let is_affine = (0..m).map(|a| flat(a) && graph.is_zero(gammas[a])).collect();
        let gamma = outputs.len();
        if can_hold {
            outputs.extend(&gammas);
        }
        let own = outputs.len();
        let events: Vec<NodeId> = model.events.iter().map(|e| e.value).collect();
        let crossings = model.events.iter().map(|e| e.crossing).collect();
        let is_section_affine = events
            .iter()
            .map(|&event| {
                moving.iter().all(|&x| {
                    let slope = graph.derivative(event, x);
                    is_constant(graph, slope)
                })
            })
            .collect();
        let is_section_of_speed = events.iter().map(|&event| graph.depends_on_any(event, &model.v)).collect();
        outputs.extend(&events);
        let open: Vec<NodeId> = model.open.iter().map(|p| p.symbol).collect();
        let varies_inertia = is_explicit && model.mass.iter().any(|&node| graph.depends_on_any(node, &open));
        let speed = model.speed;
        let inputs: Vec<NodeId> = moving.iter().chain(&open).copied().chain(speed).collect();
        let degree = |k: usize| match k {
            0 => 1,
            k if k <= 2 * d => usize::MAX,
            _ => 0,
        };
        let degrees_of_inputs: Vec<usize> = (0..inputs.len()).map(degree).collect();
        let missing = |_| "an expression has an unknown input";
        let tangent = match has_tangents {
            true => {
                let accelerations: Vec<NodeId> = outputs[force..force + d].to_vec();
                let (q, v, mass) = (&model.q, &model.v, if is_explicit { &[][..] } else { &model.mass });
                let (t, slopes, rates) = (model.t, &slopes, &rates);
                let nodes = Nodes { t, q, v, force: &accelerations, mass, slopes, rates };
                Some(TangentCode::new(graph, &nodes, &mut outputs, (&inputs, &degrees_of_inputs)).map_err(missing)?)
            }
            false => None,
        };
        let series = SeriesCode::compile(graph, &inputs, &degrees_of_inputs, &outputs).map_err(missing)?;
        if !series.is_smooth() {
            return Err("its forces or gaps have corners, jumps or features that appear without notice");
        }
        let restitutions = model.constraints.iter().map(|c| c.restitution_node);
        let law: Vec<NodeId> = model.mass.iter().copied().chain(slopes).chain(rates).chain(restitutions).collect();
        let law_series = SeriesCode::compile(graph, &inputs, &degrees_of_inputs, &law).map_err(missing)?;
        let law = Program::compile(graph, &inputs, &law).map_err(missing)?;
        let quantities = match model.quantities.is_empty() {
            true => None,
            false => Some(Arc::new(Program::compile(graph, &inputs, &model.quantities).map_err(missing)?)),
        };
        // High orders pay: much of a step costs the same whatever its order.
        let linear = if events.is_empty() && !has_tangents { LinearCode::new(problem.model()) } else { None };
        let order = if series.convolved() > 0.0 && series.rules() > 24 { 16 } else { 20 };
        Ok(LaneCode {
            d,
            m,
            events: events.len(),
            series: Arc::new(series),
            force,
            gaps,
            gamma,
            own,
            is_explicit,
            varies_inertia,
            can_hold,
            is_affine,
            crossings,
            is_section_affine,
            is_section_of_speed,
            order,
            law: Arc::new(law),
            quantities,
            open: open.len(),
            law_series: Arc::new(law_series),
            has_speed: speed.is_some(),
            degrees,
            linear: linear.map(Arc::new),
            tangent: tangent.map(Arc::new),
        })
    }

    /// Where open parameters begin among the inputs.
    pub fn first_open(&self) -> usize {
        1 + 2 * self.d
    }
}
