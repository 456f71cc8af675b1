//! What changes with time in a structure: loads, and the offsets o(t) of the stops.

use super::Structure;
use crate::problem::{Blocks, Cells, Evaluator, GapCode, Gaps, Inputs, unbound};
use crate::{Model, Reason, SetupError};
use std::sync::Arc;

/// Offsets, their rates, loads, and gaps in terms of the points, compiled.
#[derive(Clone, Debug)]
pub(crate) struct SignalCode {
    code: Arc<Blocks>,
    gaps: Arc<GapCode>,
    /// No stop moves.
    is_fixed: bool,
}

impl SignalCode {
    pub fn compile(model: &Model) -> Result<Self, SetupError> {
        let mut model = model.clone();
        let inputs = Inputs::new(&model);
        let gaps: Vec<_> = model.constraints.iter().map(|c| c.gap).collect();
        let rates: Vec<_> = gaps.iter().map(|&g| model.graph.derivative(g, model.t)).collect();
        let code = Blocks::compile(&model.graph, &inputs, &[&gaps, &rates, &model.signals]).map_err(unbound)?;
        let all = (0..model.constraints.len()).collect();
        let gaps = Arc::new(GapCode::compile(&mut model, &inputs, all).map_err(unbound)?);
        Ok(SignalCode { code, gaps, is_fixed: !model.has_moving_constraints() })
    }

    /// An evaluator of the gaps in terms of the points.
    pub fn gaps(&self, cells: &Cells) -> Gaps {
        Gaps::new(&self.gaps, cells)
    }
}

/// Evaluates the signals of a structure.
#[derive(Clone, Debug)]
pub struct Signals {
    evaluator: Evaluator,
    /// The points at rest: what is left of an affine gap is its offset.
    rest: Vec<f64>,
    /// Offsets o(t) of the stops at the time last evaluated.
    pub offsets: Vec<f64>,
    /// Their rates do/dt.
    pub rates: Vec<f64>,
    /// The loads.
    pub loads: Vec<f64>,
    is_fixed: bool,
}

impl Signals {
    pub(crate) fn new(structure: &Structure, cells: &Cells) -> Self {
        let code = &structure.signals.code;
        Signals {
            evaluator: Evaluator::new(code, cells),
            rest: vec![0.0; structure.model.dimension()],
            offsets: code.buffer(0),
            rates: code.buffer(1),
            loads: code.buffer(2),
            is_fixed: structure.signals.is_fixed,
        }
    }

    /// Evaluates all of them at a time.
    pub fn evaluate(&mut self, t: f64) {
        self.evaluator.run(t, &[&self.rest]);
        self.evaluator.write(0, &mut self.offsets);
        self.evaluator.write(1, &mut self.rates);
        self.evaluator.write(2, &mut self.loads);
    }

    /// Whether no stop moves.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }
}

/// What the motion of the base adds to the accelerations of the points.
#[derive(Clone, Debug)]
pub(crate) struct BaseMotion {
    signals: Signals,
    /// The signals that move the base, and by how much each point goes along.
    shares: Vec<(usize, Vec<f64>)>,
}

impl BaseMotion {
    pub fn new(structure: &Structure, cells: &Cells) -> Self {
        BaseMotion { signals: Signals::new(structure, cells), shares: structure.base_shares() }
    }

    /// Adds the acceleration of the base at a time.
    pub fn add(&mut self, t: f64, accelerations: &mut [f64]) {
        if self.shares.is_empty() {
            return;
        }
        self.signals.evaluate(t);
        for (load, share) in &self.shares {
            let base = self.signals.loads[*load];
            accelerations.iter_mut().zip(share).for_each(|(a, share)| *a += base * share);
        }
    }
}

/// Loads must be finite numbers.
pub(super) fn finite(loads: &[f64]) -> Result<(), Reason> {
    match loads.iter().position(|x| !(x.abs() < 1e150)) {
        Some(l) => Err(Reason::Load { load: l + 1 }),
        None => Ok(()),
    }
}

/// Loads at three successive nodes, with their mean ¼, ½, ¼, and offsets of stops; fixed ones are evaluated once.
#[derive(Clone, Debug)]
pub(super) struct Averages {
    t0: f64,
    h: f64,
    loads: [Vec<f64>; 3],
    mean: Vec<f64>,
    moving: bool,
    fixed: Vec<f64>,
    at: f64,
}

impl Averages {
    pub fn new(signals: &Signals, t0: f64, h: f64) -> Self {
        let mut signals = signals.clone();
        signals.evaluate(t0);
        let (fixed, start) = (signals.offsets.clone(), signals.loads.clone());
        signals.evaluate(t0 + h);
        Averages {
            t0,
            h,
            mean: start.clone(),
            loads: [signals.loads.clone(), start.clone(), start],
            moving: !signals.is_fixed(),
            fixed,
            at: f64::NAN,
        }
    }

    /// Makes node n the middle one.
    pub fn advance(&mut self, signals: &mut Signals, n: u64) -> Result<(), Reason> {
        // The first node has its three loads already: a load that is there at the start counts as one that was there before.
        if n > 0 {
            self.loads.rotate_right(1);
            signals.evaluate(self.t0 + (n + 1) as f64 * self.h);
            self.loads[0].copy_from_slice(&signals.loads);
        }
        for (l, mean) in self.mean.iter_mut().enumerate() {
            *mean = 0.25 * (self.loads[0][l] + 2.0 * self.loads[1][l] + self.loads[2][l]);
        }
        finite(&self.mean).and(finite(&self.loads[0]))
    }

    /// ¼ p^{n+1} + ½ p^n + ¼ p^{n−1}.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// p^{n+1}.
    pub fn next(&self) -> &[f64] {
        &self.loads[0]
    }

    /// p^n.
    pub fn now(&self) -> &[f64] {
        &self.loads[1]
    }

    /// The offset of stop a at a time.
    pub fn offset(&mut self, signals: &mut Signals, a: usize, t: f64) -> f64 {
        if !self.moving {
            return self.fixed[a];
        }
        if self.at != t {
            signals.evaluate(t);
            self.at = t;
        }
        signals.offsets[a]
    }
}
