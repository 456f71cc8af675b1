//! An impact: the law for any number of simultaneous contacts, moving obstacles included.

use super::{EventEngine, STILL, Touch};
use crate::Reason;
use crate::linalg::add;
use crate::motion::Measured;

/// What the law did: the gap velocity of the constraint that closed fastest and, with friction or joints, the change of energy and
/// the residual.
struct Jump {
    approach: f64,
    measured: Option<(f64, f64)>,
}

impl EventEngine {
    /// Applies the law 0 ≤ U⁺ + e U⁻ ⊥ P ≥ 0 to every closed constraint at the present state, at which everything has been
    /// evaluated ([V] (5.3), one e for each): members into the buffers, the velocity after into `x`, impulses into
    /// `lambda`. Gives the gap velocity of the one that closes fastest.
    ///
    /// Gaps within the tolerance of zero are closed, so what would follow within it is part of the same impact. One that is
    /// opening (U⁻ > 0: a bounce lower than the tolerance) is not: if the impact closes it, that is the next impact. (Its
    /// impulse in this one could add energy.)
    fn law(&mut self, elastic: bool) -> Result<Jump, Reason> {
        let Self { buffers, flow, touch, .. } = self;
        buffers.members.clear();
        buffers.rows.clear();
        buffers.offsets.clear();
        let restitution = self.instance.restitution();
        let (mut approach, mut chosen) = (0.0_f64, Vec::new());
        for a in 0..touch.len() {
            let slope = flow.slope(a, &flow.gradients);
            let near = flow.gaps[a] <= (self.tol * self.extent[a] * slope).max(self.noise[a]);
            if touch[a] == Touch::Open && !near {
                continue;
            }
            let (rate, still) = (flow.gap_rate(a, &self.v), STILL * self.rate_scale[a] + self.rate_noise[a]);
            if rate > still {
                continue;
            }
            approach = approach.min(rate);
            let e = match (elastic, &mut self.rubbing.restitutions) {
                (false, _) => 0.0,
                (true, None) => restitution[a],
                (true, Some(varying)) => varying.at(a, -rate.min(0.0)),
            };
            if !(0.0..=1.0).contains(&e) {
                let constraint = self.instance.model().constraints[a].name.clone();
                return Err(Reason::Restitution { constraint, value: e, speed: -rate });
            }
            chosen.push(e);
            buffers.members.push(a);
            buffers.rows.push_row_of(&flow.gradients, a);
            buffers.offsets.push(flow.partial_t[a] + e * rate);
        }
        if self.rubbing.is_there {
            let (energy, residual) = self.law_with_friction(&chosen)?;
            return Ok(Jump { approach, measured: Some((energy, residual)) });
        }
        buffers.x.copy_from_slice(&self.v);
        let solved = self.kernel.project(&flow.metric, &buffers.rows, &buffers.offsets, &mut buffers.x);
        buffers.lambda.clear();
        buffers.lambda.extend_from_slice(self.kernel.multipliers());
        buffers.others.clear();
        solved.map_err(|e| self.refused(e))?;
        Ok(Jump { approach, measured: None })
    }

    /// The restitution of a constraint at an approach speed.
    pub(super) fn restitution(&mut self, a: usize, speed: f64) -> Result<f64, Reason> {
        let e = match &mut self.rubbing.restitutions {
            None => self.instance.restitution()[a],
            Some(varying) => varying.at(a, speed),
        };
        match (0.0..=1.0).contains(&e) {
            true => Ok(e),
            false => Err(Reason::Restitution { constraint: self.constraint(a), value: e, speed }),
        }
    }

    /// Takes closing speeds away without an impact.
    pub(super) fn stop(&mut self) -> Result<(), Reason> {
        self.law(false)?;
        self.v.copy_from_slice(&self.buffers.x);
        Ok(())
    }

    /// An impact at the present state.
    pub(super) fn strike(&mut self) -> Result<(), Reason> {
        let Jump { approach, measured } = self.law(true)?;
        if self.vary.is_some() {
            self.vary_strikes();
        }
        let Self { buffers, flow, .. } = self;
        let acting = buffers.members.iter().copied().zip(buffers.lambda.iter().copied());
        let impulses: Vec<(usize, f64)> = acting.filter(|&(_, p)| p > 0.0).collect();
        if impulses.is_empty() {
            return Ok(());
        }
        // In gap space: ½ Σ P (∇f·v⁺ + ∇f·v⁻), and the largest |U|/√D.
        buffers.y.copy_from_slice(&buffers.x);
        add(&mut buffers.y, -1.0, &self.v);
        let off = flow.law_residual(&buffers.y, impulses.iter().copied());
        let (mut energy_change, mut speed) = (0.0, 0.0_f64);
        for &(a, p) in &impulses {
            let (before, after) = (flow.gradients.dot(a, &self.v), flow.gradients.dot(a, &buffers.x));
            energy_change += 0.5 * p * (before + after);
            let fastest = flow.gap_rate(a, &self.v).abs().max(flow.gap_rate(a, &buffers.x).abs());
            speed = speed.max(fastest / flow.compliance(a).max(f64::MIN_POSITIVE).sqrt());
        }
        let mut residual = off / speed.max(f64::MIN_POSITIVE);
        if let Some(with_friction) = measured {
            (energy_change, residual) = with_friction;
        }
        let measured = Measured { t: self.t, energy_change, residual, speed, approach };
        self.record.impact(&measured, &self.q, &self.v, &buffers.x, &impulses, &buffers.others);
        self.v.copy_from_slice(&buffers.x);
        for &a in &buffers.members {
            self.touch[a] = Touch::Closed;
        }
        // The velocity has jumped: switches are set anew before anything is evaluated with it.
        self.evaluate(true)?;
        // On the constraints to the last digit: sweeps of one at a time, since several may depend on each other.
        for _ in 0..2 {
            for &(a, _) in &impulses {
                self.flow.close_gap(self.t, &mut self.q, &self.v, a)?;
            }
        }
        self.fresh = true;
        self.evaluate(true)?;
        self.settle()
    }
}
