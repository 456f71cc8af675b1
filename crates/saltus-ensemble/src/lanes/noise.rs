//! What rounding makes of accelerations: near an equilibrium they are small differences of large terms.

use super::code::{LaneCode, MOST};
use super::law::Local;
use saltus_expr::Series;

/// Accelerations may differ by so many times what rounding makes of them, to first order.
const TIMES: f64 = 16.0;

/// What is allowed grows by this factor at least, or it is no reason to look again.
const GROWS: f64 = 1.5;

#[derive(Debug)]
pub struct Noise {
    series: Series,
    force: usize,
    first_open: usize,
    d: usize,
    is_explicit: bool,
}

impl Noise {
    pub fn new(code: &LaneCode) -> Self {
        let series = Series::new(code.series.clone(), 1);
        Noise { series, force: code.force, first_open: code.first_open(), d: code.d, is_explicit: code.is_explicit }
    }

    /// Raises what two accelerations at a state may differ by to what rounding makes of them there; whether that is more than was allowed.
    pub fn raise(
        &mut self,
        local: &mut Local,
        (t, q, v): (f64, &[f64], &[f64]),
        open: &[f64],
        allowed: &mut [f64],
    ) -> bool {
        let d = self.d;
        self.series.set_input(0, 0, t);
        for i in 0..d {
            self.series.set_input(1 + i, 0, q[i]);
            self.series.set_input(1 + d + i, 0, v[i]);
        }
        for (k, &value) in open.iter().enumerate() {
            self.series.set_input(self.first_open + k, 0, value);
        }
        self.series.advance(0, true);
        let rounding = self.series.rounding();
        let forces = &rounding[self.force..self.force + d];
        let mut noise = [0.0; MOST];
        if self.is_explicit {
            noise[..d].copy_from_slice(forces);
        } else if local.evaluate(t, q, v, open) {
            for (j, force) in forces.iter().enumerate() {
                let mut column = [0.0; MOST];
                column[j] = 1.0;
                local.solve(&mut column);
                noise.iter_mut().zip(&column).for_each(|(noise, x)| *noise += x.abs() * force);
            }
        }
        let mut has_grown = false;
        for (allowed, noise) in allowed.iter_mut().zip(&noise) {
            let own = TIMES * noise;
            if own > GROWS * *allowed && own.is_finite() {
                *allowed = own;
                has_grown = true;
            }
        }
        has_grown
    }
}
