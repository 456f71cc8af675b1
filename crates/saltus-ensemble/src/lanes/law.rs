//! The impact law of one lane.

use super::code::{LaneCode, MOST};
use saltus_expr::Scalar;

/// The inertia and the gaps of one trajectory at a point.
#[derive(Debug)]
pub struct Local {
    scalar: Scalar,
    d: usize,
    m: usize,
    /// The Cholesky factor of M.
    factor: [f64; MOST * MOST],
    pub slopes: [f64; MOST * MOST],
    pub rates: [f64; MOST],
    pub restitution: [f64; MOST],
}

impl Local {
    pub fn new(code: &LaneCode) -> Self {
        Local {
            scalar: Scalar::new(code.law.clone()),
            d: code.d,
            m: code.m,
            factor: [0.0; MOST * MOST],
            slopes: [0.0; MOST * MOST],
            rates: [0.0; MOST],
            restitution: [0.0; MOST],
        }
    }

    /// Evaluates everything; whether the inertia is positive definite and all of it are numbers.
    pub fn evaluate(&mut self, t: f64, q: &[f64], v: &[f64], open: &[f64]) -> bool {
        let (d, m) = (self.d, self.m);
        let inputs = self.scalar.inputs_mut();
        inputs[0] = t;
        inputs[1..=d].copy_from_slice(q);
        inputs[1 + d..1 + 2 * d].copy_from_slice(v);
        inputs[1 + 2 * d..1 + 2 * d + open.len()].copy_from_slice(open);
        self.scalar.run();
        for i in 0..d {
            for j in 0..=i {
                let mut sum = self.scalar.output(i * d + j);
                for k in 0..j {
                    sum -= self.factor[i * d + k] * self.factor[j * d + k];
                }
                self.factor[i * d + j] = if i == j { sum.sqrt() } else { sum / self.factor[j * d + j] };
            }
            if !(self.factor[i * d + i] > 0.0) {
                return false;
            }
        }
        for k in 0..m * d {
            self.slopes[k] = self.scalar.output(d * d + k);
        }
        for a in 0..m {
            self.rates[a] = self.scalar.output(d * d + m * d + a);
            self.restitution[a] = self.scalar.output(d * d + m * d + m + a);
        }
        self.slopes[..m * d].iter().chain(&self.rates[..m]).all(|x| x.is_finite())
    }

    /// Whether the inertia last evaluated is positive definite.
    pub fn is_factored(&self) -> bool {
        (0..self.d).all(|i| self.factor[i * self.d + i] > 0.0)
    }

    /// The velocity of gap a.
    pub fn rate(&self, a: usize, v: &[f64]) -> f64 {
        self.rates[a] + self.slope(a).iter().zip(v).map(|(s, v)| s * v).sum::<f64>()
    }

    /// The size of the terms that it is made of.
    pub fn rate_size(&self, a: usize, v: &[f64]) -> f64 {
        self.rates[a].abs() + self.slope(a).iter().zip(v).map(|(s, v)| (s * v).abs()).sum::<f64>()
    }

    pub fn slope(&self, a: usize) -> &[f64] {
        &self.slopes[a * self.d..(a + 1) * self.d]
    }

    /// M⁻¹∇f of gap a, and ∇f·M⁻¹∇f.
    pub fn pull(&self, a: usize, out: &mut [f64]) -> f64 {
        let d = self.d;
        out[..d].copy_from_slice(self.slope(a));
        self.solve(out)
    }

    /// Solves M x = r in place; returns r·M⁻¹r.
    pub fn solve(&self, out: &mut [f64]) -> f64 {
        let d = self.d;
        for i in 0..d {
            for k in 0..i {
                out[i] -= self.factor[i * d + k] * out[k];
            }
            out[i] /= self.factor[i * d + i];
        }
        let compliance = out[..d].iter().map(|x| x * x).sum();
        for i in (0..d).rev() {
            for k in i + 1..d {
                out[i] -= self.factor[k * d + i] * out[k];
            }
            out[i] /= self.factor[i * d + i];
        }
        compliance
    }
}
