//! A step where there is no series: roots and powers at zero (the drag of a body at rest, the first touch of a Hertz contact)
//! have values and slopes there, but no Taylor series. Classical Runge–Kutta steps, halved until two halves agree with the
//! whole, get off such a place; between its ends the motion is the quintic that has position, velocity and acceleration there.

use super::Flow;
use crate::Reason;
use crate::event::polynomial::value_and_slope;
use crate::linalg::add;

/// Between its ends a rough step may be off by this many times what it may at them.
const LOOSER: f64 = 1e4;

/// A state with its acceleration.
#[derive(Clone)]
struct State {
    q: Vec<f64>,
    v: Vec<f64>,
}

impl Flow {
    /// Makes a rough step of at most `cap`, held to `tol` of its speeds; gives its length. The polynomials
    /// are then those of the step. None if no step down to `shortest` will do.
    pub fn rough(&mut self, t: f64, q: &[f64], v: &[f64], cap: f64, shortest: f64, tol: f64) -> Option<f64> {
        let from = State { q: q.to_vec(), v: v.to_vec() };
        let states = self.full.states().to_vec();
        let mut h = cap;
        while h > shortest {
            if let Some((end, error)) = self.doubled(t, &from, h)
                && error <= tol
            {
                let ends = self.ends(t, &from, &end, h).ok()?;
                if self.is_motion_at_middle(&ends, t, h, LOOSER * tol) {
                    self.write(&ends, h);
                    return Some(h);
                }
            }
            h *= 0.25;
        }
        // Nothing has happened: the switches are where they were.
        states.iter().enumerate().for_each(|(switch, &state)| self.full.set_state(switch, state));
        None
    }

    /// Whether the polynomials of a rough step obey the equations of motion between their ends as well.
    fn is_motion_at_middle(&mut self, ends: &[[f64; 6]], t: f64, h: f64, tol: f64) -> bool {
        let d = self.d;
        let (mut at, mut bends) = (State { q: vec![0.0; d], v: vec![0.0; d] }, vec![0.0; d]);
        for i in 0..d {
            let c = quintic(&ends[i], h);
            (at.q[i], at.v[i]) = value_and_slope(&c, 0.5 * h);
            let rates: [f64; 5] = std::array::from_fn(|k| (k + 1) as f64 * c[k + 1]);
            bends[i] = value_and_slope(&rates, 0.5 * h).1;
        }
        let mut a = vec![0.0; d];
        if self.accelerate(t + 0.5 * h, &at, &mut a).is_err() {
            return false;
        }
        (0..d).all(|i| h * (a[i] - bends[i]).abs() <= tol * self.scales[i].max(1e-300))
    }

    /// The acceleration with the working set held; reactions into `right`. Switches are set by their values: the step may go
    /// across one.
    fn accelerate(&mut self, t: f64, state: &State, a: &mut [f64]) -> Result<(), Reason> {
        self.evaluate(t, &state.q, &state.v, true)?;
        self.accelerate_point(a)
    }

    /// One classical Runge–Kutta step.
    fn step_rk4(&mut self, t: f64, from: &State, h: f64) -> Result<State, Reason> {
        let d = self.d;
        let (mut a, mut sum_v, mut sum_a) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        let mut at = from.clone();
        for (part, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            if part > 0.0 {
                let (velocity, acceleration) = (at.v.clone(), a.clone());
                at = from.clone();
                add(&mut at.q, part * h, &velocity);
                add(&mut at.v, part * h, &acceleration);
            }
            self.accelerate(t + part * h, &at, &mut a)?;
            add(&mut sum_v, weight, &at.v);
            add(&mut sum_a, weight, &a);
        }
        let mut to = from.clone();
        add(&mut to.q, h / 6.0, &sum_v);
        add(&mut to.v, h / 6.0, &sum_a);
        Ok(to)
    }

    /// Two half steps, and how far the whole one is from them, relative to the scales.
    fn doubled(&mut self, t: f64, from: &State, h: f64) -> Option<(State, f64)> {
        let whole = self.step_rk4(t, from, h).ok()?;
        let half = self.step_rk4(t, from, 0.5 * h).ok()?;
        let end = self.step_rk4(t + 0.5 * h, &half, 0.5 * h).ok()?;
        // Measured by the speeds of this step; a series, which there is none, says nothing about them.
        let fastest = |i: usize| from.v[i].abs().max(end.v[i].abs());
        let mut speeds = std::mem::take(&mut self.scales);
        for (i, speed) in speeds.iter_mut().enumerate() {
            *speed = fastest(i);
        }
        self.share(&mut speeds);
        self.scales = speeds;
        let mut error = 0.0_f64;
        for i in 0..self.d {
            // (What rounding does to positions is no error of the step.)
            let rounding = 8.0 * f64::EPSILON * end.q[i].abs();
            let shift = ((end.q[i] - whole.q[i]).abs() - rounding).max(0.0);
            let off = (end.v[i] - whole.v[i]).abs().max(shift / h);
            let share = off / self.scales[i].max(1e-300);
            error = if share.is_finite() { error.max(share) } else { f64::INFINITY };
        }
        Some((end, error))
    }

    /// Everything at both ends: positions, velocities, accelerations; gaps, their rates and gamma; reactions.
    fn ends(&mut self, t: f64, from: &State, to: &State, h: f64) -> Result<Vec<[f64; 6]>, Reason> {
        let (d, m) = (self.d, self.gaps.len());
        let slips = self.friction.slip.len();
        let mut rows = vec![[0.0; 6]; d + m + self.working.len() + slips];
        let mut a = vec![0.0; d];
        for (side, (t, state)) in [(t, from), (t + h, to)].into_iter().enumerate() {
            self.accelerate(t, state, &mut a)?;
            for i in 0..d {
                rows[i][3 * side..3 * side + 3].copy_from_slice(&[state.q[i], state.v[i], a[i]]);
            }
            for alpha in 0..m {
                let rate = self.gap_rate(alpha, &state.v);
                rows[d + alpha][3 * side..3 * side + 3].copy_from_slice(&[
                    self.gaps[alpha],
                    rate,
                    self.gap_acceleration(alpha, &a),
                ]);
            }
            let held = self.working.len();
            for k in 0..held {
                rows[d + m + k][side] = self.right[k];
            }
            for s in 0..slips {
                let bend = self.gap_acceleration(self.slip_row(s), &a);
                let row = &mut rows[d + m + held + s];
                row[2 * side..2 * side + 2].copy_from_slice(&[self.friction.slip[s], bend]);
                row[4 + side] = self.sliding_force(s);
            }
        }
        Ok(rows)
    }

    /// Puts the polynomials of the step in the place of the series.
    fn write(&mut self, rows: &[[f64; 6]], h: f64) {
        let (d, m, n) = (self.d, self.gaps.len(), self.order);
        self.is_rough = true;
        self.q.fill(0.0);
        self.v.fill(0.0);
        self.a.fill(0.0);
        self.rough_gaps.fill(0.0);
        for i in 0..d {
            let c = quintic(&rows[i], h);
            for k in 0..6 {
                self.q[i * (n + 2) + k] = c[k];
                if k > 0 {
                    self.v[i * (n + 1) + k - 1] = k as f64 * c[k];
                }
                if k > 1 {
                    self.a[i * n + k - 2] = (k * (k - 1)) as f64 * c[k];
                }
            }
        }
        for alpha in 0..m {
            let place = alpha * (n + 1);
            self.rough_gaps[place..place + 6].copy_from_slice(&quintic(&rows[d + alpha], h));
            self.gaps[alpha] = rows[d + alpha][0];
        }
        for k in 0..self.working.len() {
            let [from, to, ..] = rows[d + m + k];
            self.lambda[k * n..(k + 1) * n].fill(0.0);
            self.lambda[k * n] = from;
            self.lambda[k * n + 1] = (to - from) / h;
        }
        for s in 0..self.friction.slip.len() {
            let [u0, a0, u1, a1, ..] = rows[d + m + self.working.len() + s];
            let (p, a) = (u1 - u0 - h * a0, (a1 - a0) * h);
            let cubic = [u0, a0, (3.0 * p - a) / (h * h), (a - 2.0 * p) / (h * h * h)];
            self.rough_slips[4 * s..4 * s + 4].copy_from_slice(&cubic);
        }
        let first = d + m + self.working.len();
        let forces: Vec<[f64; 2]> = rows[first..].iter().map(|row| [row[4], row[5]]).collect();
        self.set_rough_forces(h, &forces);
    }
}

/// The coefficients of the quintic with value, slope and bend at 0 and at h.
fn quintic(&[p0, v0, a0, p1, v1, a1]: &[f64; 6], h: f64) -> [f64; 6] {
    let p = p1 - p0 - h * (v0 + 0.5 * h * a0);
    let v = (v1 - v0 - h * a0) * h;
    let a = (a1 - a0) * h * h;
    let h3 = h * h * h;
    [
        p0,
        v0,
        0.5 * a0,
        (10.0 * p - 4.0 * v + 0.5 * a) / h3,
        (-15.0 * p + 7.0 * v - a) / (h3 * h),
        (6.0 * p - 3.0 * v + 0.5 * a) / (h3 * h * h),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::polynomial::value;

    #[test]
    fn the_quintic_has_what_it_is_asked_to_have() {
        let row = [0.3, -1.2, 0.7, 0.9, 2.1, -0.4];
        let c = quintic(&row, 0.6);
        let (p, v) = value_and_slope(&c, 0.6);
        let slope: Vec<f64> = (1..6).map(|k| k as f64 * c[k]).collect();
        let (_, a) = value_and_slope(&slope, 0.6);
        assert!((p - 0.9).abs() < 1e-12 && (v - 2.1).abs() < 1e-12 && (a + 0.4).abs() < 1e-11, "{p} {v} {a}");
        assert_eq!((value(&c, 0.0), slope[0], c[2]), (0.3, -1.2, 0.35));
    }
}
