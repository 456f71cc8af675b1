//! Flight that is linear: M q'' = a + A q + B q' with constant coefficients, forces and walls that are constant or harmonic.
//!
//! Together with the harmonics and the number 1 the state z = (q, v, 1, cos φ₁, sin φ₁, …) then follows z' = G z, and every gap is a
//! row w·z. Both are constants of a trajectory, as is what an impact does.

use saltus::Model;
use saltus_expr::{Function1, Graph, NodeId, Program, Scalar, SeriesCode};
use std::sync::Arc;

/// The most components of z there is room for.
pub const ROOM: usize = 24;

/// The pace of a motion times the interval of the grid.
const INTERVAL: f64 = 0.6;

/// Rounding of a gap, relative to what it is made of.
pub const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A row of coefficients of z.
pub type Row = [f64; ROOM];

/// What z' = G z, the gaps and the impacts are computed from, for values of the open parameters.
#[derive(Debug)]
pub struct LinearCode {
    pub d: usize,
    pub m: usize,
    /// The number of harmonics.
    pub harmonics: usize,
    /// M, then for each force and each gap its coefficients of z, then rates of the phases, phases at t = 0, restitutions.
    program: Arc<Program>,
    /// The same as a series, of which order 0 is of use.
    pub series: SeriesCode,
    /// A trajectory in which every coefficient that is not zero for all parameters is 1.
    pub pattern: Linear,
}

/// The constants of a trajectory.
#[derive(Clone, Debug)]
pub struct Linear {
    /// The number of components of z.
    size: usize,
    /// The rows of G of the velocities.
    pub accelerations: Vec<Row>,
    /// w for each gap.
    pub gaps: Vec<Row>,
    /// The phase of each harmonic at t = 0, and its rate.
    pub phases: Vec<[f64; 2]>,
    /// M⁻¹∇f, ∇f·M⁻¹∇f and restitution of each gap.
    pub pulls: Vec<Vec<f64>>,
    pub compliances: Vec<f64>,
    pub restitutions: Vec<f64>,
    /// Whether forces that depend on velocities are without gyroscopic or circulatory parts.
    pub is_symmetric: bool,
}

impl LinearCode {
    /// That of a model; None if it is not linear.
    pub fn new(model: &Model) -> Option<Self> {
        let (d, m) = (model.dimension(), model.constraints.len());
        let mut graph = model.graph.clone();
        let gaps: Vec<NodeId> = model.constraints.iter().map(|c| c.gap).collect();
        let rows: Vec<NodeId> = model.force.iter().copied().chain(gaps).collect();
        let mut phases: Vec<NodeId> = Vec::new();
        for &row in &rows {
            phases.extend(graph.harmonics_in(row, model.t)?);
        }
        phases.sort_unstable();
        phases.dedup();
        let (n, harmonics) = (2 * d + 1 + 2 * phases.len(), phases.len());
        if n > ROOM || !model.joints.is_empty() || !model.frictions.is_empty() {
            return None;
        }
        let mut variables: Vec<NodeId> = model.q.iter().chain(&model.v).copied().collect();
        let mut replaced = Vec::new();
        for (k, &phase) in phases.iter().enumerate() {
            for (f, name) in [(Function1::Cos, "cos"), (Function1::Sin, "sin")] {
                let by = graph.symbol(&format!("{name} of phase {k}"));
                replaced.push((graph.unary(f, phase), by));
                variables.push(by);
            }
        }
        let moving: Vec<NodeId> = variables.iter().copied().chain([model.t]).collect();
        let zero = graph.constant(0.0);
        let at_rest: Vec<(NodeId, NodeId)> = variables.iter().map(|&x| (x, zero)).collect();
        let mut outputs = model.mass.clone();
        for &row in &rows {
            let row = graph.substitute(row, &replaced);
            outputs.extend(coefficients(&mut graph, row, &variables, &at_rest, d));
        }
        outputs.extend(phases.iter().map(|&phase| graph.derivative(phase, model.t)));
        let beginning: Vec<NodeId> = phases.iter().map(|&phase| graph.substitute(phase, &[(model.t, zero)])).collect();
        outputs.extend(beginning);
        outputs.extend(model.constraints.iter().map(|c| c.restitution_node));
        if outputs.iter().any(|&node| graph.depends_on_any(node, &moving)) {
            return None;
        }
        let inputs: Vec<NodeId> = model.open.iter().map(|p| p.symbol).collect();
        let program = Arc::new(Program::compile(&graph, &inputs, &outputs).ok()?);
        let series = SeriesCode::compile(&graph, &inputs, &vec![0; inputs.len()], &outputs).ok()?;
        let mark = |k: usize| if graph.is_zero(outputs[k]) { 0.0 } else { 1.0 };
        let pattern = Linear::read(d, m, harmonics, mark);
        Some(LinearCode { d, m, harmonics, program, series, pattern: pattern.spread(d, mark) })
    }

    /// The number of components of z.
    pub fn size(&self) -> usize {
        2 * self.d + 1 + 2 * self.harmonics
    }

    /// Which coefficients of [`Linear::ahead`] are not zero.
    pub fn ahead_pattern(&self, i: usize) -> Row {
        let mut unit = [0.0; ROOM];
        unit[i] = 1.0;
        self.pattern.after(&unit, 1.0, true)
    }

    /// Which coefficients of the rate of gap a are not zero.
    pub fn slope_pattern(&self, a: usize) -> Row {
        self.pattern.derivative(&self.pattern.gaps[a], true)
    }

    /// Which coefficients of [`Linear::doubt`] are not zero.
    pub fn doubt_pattern(&self, a: usize) -> Row {
        let row = self.pattern.gaps[a];
        let fourth = (0..4).fold(row, |row, _| self.pattern.derivative(&row, true));
        let rest = self.pattern.after(&fourth, 1.0, true);
        self.pattern.without_harmonics(std::array::from_fn(|j| rest[j] + row[j]))
    }

    /// The constants for values of the open parameters; None if they are no numbers, or the inertia is not positive definite.
    pub fn at(&self, open: &[f64]) -> Option<Linear> {
        let d = self.d;
        let mut scalar = Scalar::new(self.program.clone());
        scalar.inputs_mut()[..open.len()].copy_from_slice(open);
        scalar.run();
        let mut linear = Linear::read(d, self.m, self.harmonics, |k| scalar.output(k));
        let part = |i: usize, j: usize| linear.accelerations[i][d + j];
        linear.is_symmetric = (0..d * d).all(|k| part(k / d, k % d) == part(k % d, k / d));
        let factor = factor(d, |k| scalar.output(k))?;
        let mut column = vec![0.0; d];
        for k in 0..linear.size {
            column.iter_mut().zip(&linear.accelerations).for_each(|(x, row)| *x = row[k]);
            divide(&factor, &mut column);
            linear.accelerations.iter_mut().zip(&column).for_each(|(row, x)| row[k] = *x);
        }
        for a in 0..self.m {
            divide(&factor, &mut linear.pulls[a]);
            linear.compliances[a] = linear.gaps[a].iter().zip(&linear.pulls[a]).map(|(w, p)| w * p).sum();
        }
        let rows = linear.accelerations.iter().chain(&linear.gaps).flatten();
        let numbers = rows.chain(linear.phases.iter().flatten()).chain(&linear.restitutions);
        numbers.into_iter().all(|x| x.is_finite()).then_some(linear)
    }
}

impl Linear {
    /// From the outputs of the program, with forces in the place of accelerations.
    fn read(d: usize, m: usize, harmonics: usize, output: impl Fn(usize) -> f64) -> Self {
        let n = 2 * d + 1 + 2 * harmonics;
        let row = |k: usize| {
            let mut row = [0.0; ROOM];
            (0..n).for_each(|j| row[j] = output(d * d + k * n + j));
            row
        };
        let last = d * d + (d + m) * n;
        let gaps: Vec<Row> = (d..d + m).map(row).collect();
        Linear {
            size: n,
            accelerations: (0..d).map(row).collect(),
            pulls: gaps.iter().map(|row| row[..d].to_vec()).collect(),
            compliances: vec![0.0; m],
            gaps,
            phases: (0..harmonics).map(|j| [output(last + harmonics + j), output(last + j)]).collect(),
            restitutions: (0..m).map(|a| output(last + 2 * harmonics + a)).collect(),
            is_symmetric: true,
        }
    }

    /// Of a pattern: what the division by the inertia, if it is not diagonal, may fill.
    fn spread(mut self, d: usize, mass: impl Fn(usize) -> f64) -> Self {
        if (0..d * d).any(|k| k / d != k % d && mass(k) != 0.0) {
            for k in 0..ROOM {
                let any = self.accelerations.iter().fold(0.0, |m: f64, row| m.max(row[k]));
                self.accelerations.iter_mut().for_each(|row| row[k] = any);
            }
        }
        self
    }

    /// The number of components of z.
    pub fn size(&self) -> usize {
        self.size
    }

    /// x ↦ x·G for a row x: the row of the derivative; with the sizes of all terms where `sizes`.
    pub fn derivative(&self, x: &Row, sizes: bool) -> Row {
        let mut out = [0.0; ROOM];
        match sizes {
            true => self.derive::<true>(x, &mut out),
            false => self.derive::<false>(x, &mut out),
        }
        out
    }

    /// The same, where there is room for it.
    fn derive<const SIZES: bool>(&self, x: &Row, out: &mut Row) {
        let d = self.accelerations.len();
        let own = |c: f64| if SIZES { c.abs() } else { c };
        out[..self.size].fill(0.0);
        for i in 0..d {
            out[d + i] += own(x[i]);
            if x[d + i] != 0.0 {
                for (out, c) in out[..self.size].iter_mut().zip(&self.accelerations[i]) {
                    *out += own(x[d + i] * c);
                }
            }
        }
        for (j, &[_, rate]) in self.phases.iter().enumerate() {
            let (c, s) = (2 * d + 1 + 2 * j, 2 * d + 2 + 2 * j);
            out[c] += own(rate * x[s]);
            out[s] += own(-rate * x[c]);
        }
    }

    /// The row of x after a time h: x·exp(G h); with the sizes of all terms where `sizes`.
    pub fn after(&self, x: &Row, h: f64, sizes: bool) -> Row {
        match sizes {
            true => self.add_up::<true>(x, h),
            false => self.add_up::<false>(x, h),
        }
    }

    /// Its series.
    fn add_up<const SIZES: bool>(&self, x: &Row, h: f64) -> Row {
        let (mut sum, mut term, mut next) = (*x, *x, [0.0; ROOM]);
        for k in 1..60 {
            self.derive::<SIZES>(&term, &mut next);
            let (factor, mut counts) = (h / f64::from(k), false);
            for j in 0..self.size {
                term[j] = next[j] * factor;
                sum[j] += term[j];
                counts |= term[j].abs() > 1e-18 * sum[j].abs();
            }
            if !counts {
                break;
            }
        }
        sum
    }

    /// The interval of the grid; None if nothing sets a pace.
    pub fn interval(&self) -> Option<f64> {
        Some(INTERVAL / self.pace()).filter(|h| h.is_finite() && *h > 0.0)
    }

    /// The rows of q, then of v, after a time h.
    pub fn ahead(&self, h: f64) -> Vec<Row> {
        let d = self.accelerations.len();
        let position = |i: usize| {
            let mut unit = [0.0; ROOM];
            unit[i] = 1.0;
            self.after(&unit, h, false)
        };
        let mut rows: Vec<Row> = (0..d).map(position).collect();
        // (Positions are known before velocities: a velocity is the rate of its position.)
        let rates: Vec<Row> = rows.iter().map(|row| self.derivative(row, false)).collect();
        rows.extend(rates);
        rows
    }

    /// A bound Σ c_j |z_j| with numbers in the place of the harmonics: c |cos φ| + s |sin φ| is at most √(c² + s²).
    fn without_harmonics(&self, mut row: Row) -> Row {
        let one = 2 * self.accelerations.len();
        for j in (one + 1..self.size).step_by(2) {
            row[one] += row[j].hypot(row[j + 1]);
            (row[j], row[j + 1]) = (0.0, 0.0);
        }
        row
    }

    /// What bounds the distance of gap a from its cubic over an interval h, and its rounding: coefficients of the sizes of q, v and 1.
    pub fn doubt(&self, a: usize, h: f64) -> Row {
        let row = &self.gaps[a];
        let fourth = (0..4).fold(*row, |row, _| self.derivative(&row, false)).map(f64::abs);
        let rest = self.after(&fourth, h, true);
        let part = h.powi(4) / 384.0;
        self.without_harmonics(std::array::from_fn(|j| rest[j] * part + ROUNDING * row[j].abs()))
    }

    /// How fast the fastest part of it changes, about: the largest root of M⁻¹K, M⁻¹C and the rates of the phases.
    pub fn pace(&self) -> f64 {
        let d = self.accelerations.len();
        let block = |from: usize| radius(d, |i, j| self.accelerations[i][from + j]);
        let rates = self.phases.iter().map(|phase| phase[1].abs());
        rates.fold(block(0).sqrt().max(block(d)), f64::max)
    }
}

/// The coefficients of variables in an expression: those of q and v, what is left without them, those of the harmonics.
fn coefficients(
    graph: &mut Graph,
    row: NodeId,
    variables: &[NodeId],
    at_rest: &[(NodeId, NodeId)],
    d: usize,
) -> Vec<NodeId> {
    let mut all: Vec<NodeId> = variables.iter().map(|&x| graph.derivative(row, x)).collect();
    all.insert(2 * d, graph.substitute(row, at_rest));
    all
}

/// Cholesky's factor of the inertia, by rows.
fn factor(d: usize, mass: impl Fn(usize) -> f64) -> Option<Vec<f64>> {
    let mut factor = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let sum = (0..j).fold(mass(i * d + j), |sum, k| sum - factor[i * d + k] * factor[j * d + k]);
            factor[i * d + j] = if i == j { sum.sqrt() } else { sum / factor[j * d + j] };
        }
        if !(factor[i * d + i] > 0.0) {
            return None;
        }
    }
    Some(factor)
}

/// Solves M x = r in place.
fn divide(factor: &[f64], x: &mut [f64]) {
    let d = x.len();
    for i in 0..d {
        x[i] = (0..i).fold(x[i], |sum, k| sum - factor[i * d + k] * x[k]) / factor[i * d + i];
    }
    for i in (0..d).rev() {
        x[i] = (i + 1..d).fold(x[i], |sum, k| sum - factor[k * d + i] * x[k]) / factor[i * d + i];
    }
}

/// The spectral radius of a matrix, within a factor or two: ‖A³²‖^(1/32) hardly depends on the units of its rows.
fn radius(d: usize, entry: impl Fn(usize, usize) -> f64) -> f64 {
    let mut a: Vec<f64> = (0..d * d).map(|k| entry(k / d, k % d)).collect();
    let mut log = 0.0;
    for _ in 0..5 {
        let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if !(size > 0.0) {
            return 0.0;
        }
        a.iter_mut().for_each(|x| *x /= size);
        log = 2.0 * (log + size.ln());
        a = (0..d * d).map(|k| (0..d).map(|j| a[k / d * d + j] * a[j * d + k % d]).sum()).collect();
    }
    let size = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    if size > 0.0 { ((log + size.ln()) / 32.0).exp() } else { 0.0 }
}
