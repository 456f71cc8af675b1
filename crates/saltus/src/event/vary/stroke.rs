//! One impact by itself, at an instant that is given: for orbits near grazing, whose weakest impact has its instant as an
//! unknown of its own, so that nothing is divided by its speed.

use super::Vary;
use crate::SetupError;
use crate::motion::Variation;
use crate::problem::Instance;

/// A state at an instant with perturbations of both, about to be struck.
pub(crate) struct Stroke {
    vary: Vary,
}

/// A gap and its rate, with their perturbations, column by column.
pub(crate) struct GapSlopes {
    pub gap: f64,
    pub rate: f64,
    pub gaps: Vec<f64>,
    pub rates: Vec<f64>,
}

impl Stroke {
    /// The state is the start of the instance; `shifts` are the perturbations of its instant, one for each column, and
    /// `columns.acceleration` is the acceleration there.
    pub fn new(at: &Instance, columns: &Variation, shifts: &[f64]) -> Result<Self, SetupError> {
        let mut vary = Vary::new(at, columns, 2)?;
        vary.see_at(shifts, &at.start().v, &columns.acceleration);
        Ok(Stroke { vary })
    }

    /// The gap of constraint `a` there.
    pub fn gap(&mut self, a: usize) -> Result<GapSlopes, SetupError> {
        let start = self.vary.instance.start().clone();
        let mut gaps = self.vary.instance.gaps();
        gaps.evaluate(start.t, &start.q, &start.v);
        self.vary.look(start.t, &start.q, &start.v, &[], &[]);
        let code = self.vary.code()?;
        let (gap_x, rate_x) = (code.gap_x.clone(), code.rate_x.clone());
        let of = |part| (0..self.vary.columns).map(|k| self.vary.along(part, a, k)).collect();
        Ok(GapSlopes { gap: gaps.values[a], rate: self.vary.rates[a], gaps: of(&gap_x), rates: of(&rate_x) })
    }

    /// The velocity after the impact of constraint `a`, with joints.
    pub fn strike(&mut self, a: usize) -> Result<Vec<f64>, String> {
        let start = self.vary.instance.start().clone();
        self.vary.look(start.t, &start.q, &start.v, &[], &[]);
        let speed = -self.vary.rates[a].min(0.0);
        let instance = &self.vary.instance;
        let e = instance.restitutions().map_or(instance.restitution()[a], |mut law| law.at(a, speed));
        let first = instance.constraints();
        let joints = (0..instance.model().joints.len()).map(|k| (first + k, 0.0));
        let rows: Vec<(usize, f64)> = [(a, e)].into_iter().chain(joints).collect();
        self.vary.strike(start.t, &start.q, &start.v, &rows)
    }

    /// The perturbations at the instant itself, with velocity and acceleration after it.
    pub fn after(mut self, v: &[f64], a: &[f64]) -> Variation {
        self.vary.see_now(v, a);
        self.vary.get(self.vary.instance.start().t, a)
    }
}
