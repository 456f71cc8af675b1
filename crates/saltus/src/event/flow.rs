//! The motion as a Taylor series, in flight or in contact.
//!
//! With the constraints of a working set held closed, the acceleration and the reactions solve
//!
//! ```text
//! M a = g + Σ λα ∇fα        ∇fα·a + γα = 0   for α in the working set      (γ: the rest of d²f/dt²)
//! ```
//!
//! at every instant ([B] = Brogliato 2003, remark 1, once it is known which contacts stay). Order by order this is one
//! linear system with the matrices of the first order: order k of M, g, ∇f and γ gives order k of a and λ, and those give
//! order k + 1 of v and k + 2 of q. The series of the gaps come with it.

mod about;
mod along;
mod control;
mod delassus;
mod ends;
mod friction;
mod hold;
mod rough;

pub use control::{Scales, reach};
pub use friction::{Element, Friction, Grip};

use super::polynomial::{MAX_DEGREE, value};
use crate::linalg::{FactoredLu, Metric, Rows};
use crate::problem::{Instance, Layout};
use crate::{Reason, SetupError};
use about::Own;
use control::Culprit;
use saltus_expr::Series;

/// The series of a motion, and how to make the next ones.
#[derive(Debug)]
pub struct Flow {
    instance: Instance,
    /// The number of unknowns, and how many of them are coordinates; the others are first-order states.
    d: usize,
    degrees: usize,
    /// The order N of the velocities; positions have N + 1.
    pub order: usize,
    /// The order of the last expansion: less where further coefficients are beyond the largest number.
    reached: usize,
    diagonal: bool,
    mass_constant: bool,
    /// The time expanded about.
    time: f64,
    /// M, g and f only, where nothing is in contact and nothing switches.
    light: Series,
    full: Series,
    slips: Option<Series>,
    /// The user's events that have a series of their own.
    own: Vec<Option<Own>>,
    pub friction: Friction,
    /// Whether something acts in flight as well: joints or dry friction.
    always_full: bool,
    layout: Layout,
    using_full: bool,
    /// All rows at the point expanded about: ∇f of the constraints, of the joints, and the slips. And where each begins among
    /// the outputs of the series.
    pub gradients: Rows,
    entry: Vec<usize>,
    /// ∂f/∂t there.
    pub partial_t: Vec<f64>,
    /// γ there.
    pub gamma: Vec<f64>,
    /// f there, of constraints and joints.
    pub gaps: Vec<f64>,
    /// M⁻¹g there.
    pub free: Vec<f64>,
    /// M there.
    pub metric: Metric,
    metric_ready: bool,
    entries: Vec<f64>,
    /// Coefficients of positions (N + 2 each), velocities (N + 1), accelerations (N).
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    /// Coefficients of the reactions of the working set (N each), in its order.
    lambda: Vec<f64>,
    working: Vec<usize>,
    /// M⁻¹∇f of the working set, and the Delassus matrix ∇f·M⁻¹∇f.
    mobility: Vec<f64>,
    delassus: Metric,
    skew: FactoredLu,
    is_skew: bool,
    pairs: Vec<f64>,
    right: Vec<f64>,
    r: Vec<f64>,
    scales: Vec<f64>,
    /// The body of each coordinate, and room for the energies of bodies.
    bodies: Vec<usize>,
    energies: Vec<f64>,
    culprit: Culprit,
    /// How far the series of the last step would have reached.
    pub reach: f64,
    /// The polynomials are those of a rough step: see `rough`.
    pub is_rough: bool,
    rough_gaps: Vec<f64>,
    rough_slips: Vec<f64>,
}

impl Flow {
    pub fn new(at: &Instance, order: usize) -> Result<Self, SetupError> {
        let order = order.min(MAX_DEGREE - 1);
        let code = at.problem().motion()?;
        let dynamics = at.dynamics();
        let (d, model) = (at.dimension(), at.model());
        let (places, m) = (at.constraints() + model.joints.len(), code.rows.len());
        let mut first = 0;
        let element = |f: &crate::model::Friction| {
            let slips = f.slips.len();
            first += slips;
            Element { constraint: f.constraint, first: first - slips, slips }
        };
        let elements: Vec<Element> = model.frictions.iter().map(element).collect();
        let entry = (0..m).scan(0, |at, r| {
            *at += code.rows.row(r).0.len();
            Some(*at - code.rows.row(r).0.len())
        });
        Ok(Flow {
            slips: code.slips.as_ref().map(|code| Series::new(code.clone(), order)),
            own: Own::all(code, order),
            friction: Friction::new(elements, m - places, order),
            always_full: !model.joints.is_empty() || model.frictions.iter().any(|f| f.constraint.is_none()),
            entry: entry.collect(),
            instance: at.clone(),
            d,
            degrees: at.model().degrees(),
            order,
            reached: order,
            diagonal: dynamics.code.diagonal,
            mass_constant: dynamics.code.mass_constant,
            time: 0.0,
            light: Series::new(code.light.clone(), order),
            full: Series::new(code.full.clone(), order),
            layout: code.layout,
            using_full: true,
            gradients: code.rows.clone(),
            partial_t: vec![0.0; m],
            gamma: vec![0.0; m],
            gaps: vec![0.0; places],
            free: vec![0.0; d],
            metric: dynamics.metric(),
            metric_ready: false,
            entries: vec![0.0; code.layout.force],
            q: vec![0.0; d * (order + 2)],
            v: vec![0.0; d * (order + 1)],
            a: vec![0.0; d * order],
            lambda: vec![0.0; m * order],
            working: Vec::with_capacity(m),
            mobility: vec![0.0; m * d],
            delassus: Metric::full(0),
            skew: FactoredLu::default(),
            is_skew: false,
            pairs: vec![0.0; m.min(d) * m.min(d)],
            right: vec![0.0; m],
            r: vec![0.0; d],
            scales: vec![0.0; d],
            bodies: code.bodies.clone(),
            energies: vec![0.0; d],
            culprit: Culprit::Coordinate(0),
            reach: 0.0,
            is_rough: false,
            rough_gaps: vec![0.0; places * (order + 1)],
            rough_slips: vec![0.0; 4 * (m - places)],
        })
    }

    /// The number of switches: places where forces or gaps have corners or jumps.
    pub fn switches(&self) -> usize {
        self.full.switches()
    }

    /// Whether a switch is only the sign of a root; see [`Series::is_root`].
    pub fn is_root(&self, switch: usize) -> bool {
        self.full.is_root(switch)
    }

    /// Whether a switch changes nothing; see [`Series::is_mark`].
    pub fn is_mark(&self, switch: usize) -> bool {
        self.full.is_mark(switch)
    }

    /// The value of the argument of a switch at s.
    pub fn argument(&self, switch: usize, s: f64) -> f64 {
        value(self.full.argument(switch), s)
    }

    /// The margin of a switch; see [`Series::margin`].
    pub fn margin(&self, switch: usize, end: usize, out: &mut [f64]) -> Option<i64> {
        self.full.margin(switch, end, out)
    }

    /// Puts a switch into its next state.
    pub fn set_state(&mut self, switch: usize, state: i64) {
        self.full.set_state(switch, state);
    }

    /// The polynomial of coordinate i.
    pub fn position(&self, i: usize) -> &[f64] {
        &self.q[i * (self.order + 2)..(i + 1) * (self.order + 2)]
    }

    /// The polynomial of its velocity.
    pub fn velocity(&self, i: usize) -> &[f64] {
        &self.v[i * (self.order + 1)..(i + 1) * (self.order + 1)]
    }

    /// The polynomial of its acceleration.
    pub fn acceleration(&self, i: usize) -> &[f64] {
        &self.a[i * self.order..(i + 1) * self.order]
    }

    /// The polynomial of gap α.
    pub fn gap(&self, alpha: usize) -> &[f64] {
        if self.is_rough {
            return &self.rough_gaps[alpha * (self.order + 1)..(alpha + 1) * (self.order + 1)];
        }
        let series = if self.using_full { &self.full } else { &self.light };
        series.output(self.layout.gaps + alpha)
    }

    /// The polynomial of a user's event; of a rough step there is none.
    pub fn event(&self, k: usize) -> Option<&[f64]> {
        let series = if self.using_full { &self.full } else { &self.light };
        (!self.is_rough).then(|| series.output(self.layout.events + k))
    }

    /// The polynomial of the reaction of the k-th member of the working set.
    pub fn reaction(&self, k: usize) -> &[f64] {
        &self.lambda[k * self.order..(k + 1) * self.order]
    }

    /// The rows held in the last expansion: constraints, then joints, then slips that stick.
    pub fn working(&self) -> &[usize] {
        &self.working
    }

    /// The constraints among them, which come first.
    pub fn pressing(&self) -> &[usize] {
        let m = self.instance.constraints();
        &self.working[..self.working.partition_point(|&row| row < m)]
    }

    /// The name of a row: a constraint, a joint, or friction.
    pub fn row_name(&self, row: usize) -> String {
        let model = self.instance.model();
        let (m, j) = (model.constraints.len(), model.joints.len());
        match row {
            r if r < m => model.constraints[r].name.clone(),
            r if r < m + j => model.joints[r - m].name.clone(),
            r => {
                let slip = r - m - j;
                let of = self.friction.elements.iter().position(|e| (e.first..e.first + e.slips).contains(&slip));
                of.map_or_else(String::new, |f| model.frictions[f].name.clone())
            }
        }
    }

    /// Evaluates M, g, f, ∇f, ∂t f and γ at a point. `fresh`: switches are set by their values.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64], fresh: bool) -> Result<(), Reason> {
        self.using_full = true;
        self.set_point(t, q, v);
        self.advance_slips(0, fresh);
        self.full.advance(0, fresh);
        self.read_point()
    }

    fn series(&mut self) -> &mut Series {
        if self.using_full { &mut self.full } else { &mut self.light }
    }

    fn set_point(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let (d, n) = (self.d, self.order);
        self.time = t;
        let series = if self.using_full { &mut self.full } else { &mut self.light };
        series.set_input(0, 0, t);
        let cells = self.instance.cells();
        for k in 0..cells.len() {
            series.set_input(self.layout.open + k, 0, cells.get(k));
        }
        for i in 0..d {
            series.set_input(1 + i, 0, q[i]);
            series.set_input(1 + d + i, 0, v[i]);
            self.q[i * (n + 2)] = q[i];
            self.v[i * (n + 1)] = v[i];
        }
        if let Some(slips) = &mut self.slips {
            slips.set_input(0, 0, t);
            (0..cells.len()).for_each(|k| slips.set_input(self.layout.open + k, 0, cells.get(k)));
            for i in 0..d {
                slips.set_input(1 + i, 0, q[i]);
                slips.set_input(1 + d + i, 0, v[i]);
            }
        }
    }

    /// Takes order 0 of the series over: M factored, M⁻¹g, gaps and, where they are computed, gradients, partial_t, γ.
    fn read_point(&mut self) -> Result<(), Reason> {
        let layout = self.layout;
        let model = self.instance.model();
        let series = if self.using_full { &self.full } else { &self.light };
        if !self.metric_ready || !self.mass_constant {
            for (k, entry) in self.entries.iter_mut().enumerate() {
                *entry = series.coefficient(k, 0);
            }
            let set = self.metric.set(&self.entries);
            set.map_err(|e| Reason::Mass { coordinate: model.unknown(e.pivot).to_string() })?;
            self.metric_ready = true;
        }
        for i in 0..self.d {
            self.free[i] = series.coefficient(layout.force + i, 0);
            if !self.free[i].is_finite() {
                let coordinate = model.unknown(i).to_string();
                let kind = if i < self.degrees { "the force on" } else { "the rate of the state" };
                return Err(match self.free[i].is_nan() {
                    true => Reason::Undefined { what: format!("{kind} `{coordinate}`") },
                    false => Reason::NotFinite { coordinate },
                });
            }
        }
        self.metric.solve(&mut self.free);
        for (alpha, gap) in self.gaps.iter_mut().enumerate() {
            *gap = series.coefficient(layout.gaps + alpha, 0);
            if !gap.is_finite() {
                let m = model.constraints.len();
                let name = if alpha < m { &model.constraints[alpha].name } else { &model.joints[alpha - m].name };
                return Err(Reason::Gap { constraint: name.clone() });
            }
        }
        if self.using_full {
            for (k, slope) in self.gradients.values.iter_mut().enumerate() {
                *slope = series.coefficient(layout.gradients + k, 0);
            }
            for alpha in 0..self.partial_t.len() {
                self.partial_t[alpha] = series.coefficient(layout.partial_t + alpha, 0);
                self.gamma[alpha] = series.coefficient(layout.gamma + alpha, 0);
            }
            self.read_friction();
        }
        Ok(())
    }

    /// The gap velocity of constraint α for a velocity, with the kinematics last evaluated.
    pub fn gap_rate(&self, alpha: usize, v: &[f64]) -> f64 {
        self.partial_t[alpha] + self.gradients.dot(alpha, v)
    }

    /// The gap acceleration of constraint α for an acceleration.
    pub fn gap_acceleration(&self, alpha: usize, a: &[f64]) -> f64 {
        self.gamma[alpha] + self.gradients.dot(alpha, a)
    }

    /// Expands the motion about a point, with the working set held closed.
    pub fn expand(&mut self, t: f64, q: &[f64], v: &[f64], working: &[usize], fresh: bool) -> Result<(), Reason> {
        self.working.clear();
        self.working.extend_from_slice(working);
        self.using_full = !working.is_empty() || self.full.switches() > 0 || self.always_full;
        self.is_rough = false;
        self.set_point(t, q, v);
        let rubs = self.using_full && self.slips.is_some();
        let (d, n) = (self.d, self.order);
        self.reached = n;
        for k in 0..=n {
            if k > 0 {
                self.feed(k);
            }
            if rubs {
                self.advance_slips(k, fresh);
            }
            self.series().advance(k, fresh);
            if rubs {
                self.weigh(k);
            }
            if k == 0 {
                self.read_point()?;
                self.set_delassus(true)?;
            }
            if k == n {
                break;
            }
            self.solve(k);
            if rubs {
                self.keep_friction(k);
            }
            if self.ends_at(k) {
                self.truncate(k);
                return Ok(());
            }
            for i in 0..d {
                self.v[i * (n + 1) + k + 1] = self.a[i * n + k] / (k + 1) as f64;
            }
        }
        for i in 0..d {
            self.q[i * (n + 2) + n + 1] = self.v[i * (n + 1) + n] / (n + 1) as f64;
        }
        Ok(())
    }

    /// Passes order k of time, positions and velocities to the series.
    fn feed(&mut self, k: usize) {
        let (d, n) = (self.d, self.order);
        let series = if self.using_full { &mut self.full } else { &mut self.light };
        series.set_input(0, k, if k == 1 { 1.0 } else { 0.0 });
        for i in 0..d {
            let v = self.v[i * (n + 1) + k - 1] / k as f64;
            self.q[i * (n + 2) + k] = v;
            series.set_input(1 + i, k, v);
            series.set_input(1 + d + i, k, self.v[i * (n + 1) + k]);
            if let Some(slips) = &mut self.slips {
                slips.set_input(1 + i, k, v);
                slips.set_input(1 + d + i, k, self.v[i * (n + 1) + k]);
            }
        }
        if let Some(slips) = &mut self.slips {
            slips.set_input(0, k, if k == 1 { 1.0 } else { 0.0 });
        }
    }

    /// Order k of the accelerations and reactions.
    fn solve(&mut self, k: usize) {
        let (d, n, layout) = (self.d, self.order, self.layout);
        let series = if self.using_full { &self.full } else { &self.light };
        for i in 0..d {
            self.r[i] = series.coefficient(layout.force + i, k);
        }
        if !self.mass_constant {
            // − Σ_{j=1..k} M_j a_{k−j}
            for i in 0..d {
                let columns = if self.diagonal { i..i + 1 } else { 0..d };
                for c in columns {
                    let entry = if self.diagonal { i } else { i * d + c };
                    self.r[i] -= back(series.output(entry), &self.a[c * n..(c + 1) * n], k);
                }
            }
        }
        // + Σ_{j=1..k} ∇f_j λ_{k−j}, and what ∇f_j a_{k−j} leaves for order k of the constraint.
        for (m, &alpha) in self.working.iter().enumerate() {
            let entry = self.entry[alpha];
            let mut rest = series.coefficient(layout.gamma + alpha, k);
            for (e, &i) in self.gradients.row(alpha).0.iter().enumerate() {
                let slope = series.output(layout.gradients + entry + e);
                self.r[i] += back(slope, &self.lambda[m * n..(m + 1) * n], k);
                rest += back(slope, &self.a[i * n..(i + 1) * n], k);
            }
            self.right[m] = -rest;
        }
        if self.friction.is_sliding() && self.using_full {
            self.add_friction(k);
        }
        self.metric.solve(&mut self.r);
        let m = self.working.len();
        if m > 0 {
            for (j, &alpha) in self.working.iter().enumerate() {
                self.right[j] -= self.gradients.dot(alpha, &self.r);
            }
            self.solve_reactions();
            for j in 0..m {
                self.lambda[j * n + k] = self.right[j];
            }
            correct(&mut self.r, &self.right[..m], &self.mobility);
        }
        for i in 0..d {
            self.a[i * n + k] = self.r[i];
        }
    }

    /// Names the working set without expanding, for [`Flow::hold`].
    pub fn set_working(&mut self, working: &[usize]) {
        self.working.clear();
        self.working.extend_from_slice(working);
    }

    /// Position and velocity at s.
    pub fn state(&self, s: f64, q: &mut [f64], v: &mut [f64]) {
        for i in 0..self.d {
            q[i] = value(self.position(i), s);
            v[i] = value(self.velocity(i), s);
        }
    }
}

/// x += Σ λ M⁻¹∇f, and exactly zero where that cancels to rounding: a body at rest in a corner has no velocity at all, not
/// one of 1e-17, of which a square root would make something.
fn correct(x: &mut [f64], lambda: &[f64], mobility: &[f64]) {
    let d = x.len();
    for i in 0..d {
        let (mut sum, mut size) = (x[i], x[i].abs());
        for (j, l) in lambda.iter().enumerate() {
            let term = l * mobility[j * d + i];
            sum += term;
            size += term.abs();
        }
        x[i] = if sum.abs() <= 4.0 * f64::EPSILON * size { 0.0 } else { sum };
    }
}

/// Σ_{j=1..k} a_j b_{k−j}.
#[inline]
fn back(a: &[f64], b: &[f64], k: usize) -> f64 {
    a[1..=k].iter().zip(b[..k].iter().rev()).map(|(x, y)| x * y).sum()
}
