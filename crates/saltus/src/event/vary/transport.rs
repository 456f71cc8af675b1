//! Perturbations along a piece of the motion: the linearised equations as Taylor series.
//!
//! With M, ∇f and the derivatives of r and c as series along the polynomials of the piece,
//!
//! ```text
//! M δa − Σ δλ ∇f = ∂r/∂(q,v,p) δx        ∇f·δa = −∂c/∂(q,v,p) δx
//! ```
//!
//! gives order k of δa and δλ, and those order k + 1 of δv. The columns choose their own steps, until the last terms of all
//! of them are rounding: where the motion rests, its polynomials say nothing about how fast perturbations change. Series of a
//! step within the piece are those of the piece, moved there.

use super::Vary;
use crate::event::flow::{Flow, Grip};
use crate::event::polynomial::{largest_term, value};
use crate::problem::Part;

/// The last terms of a step are below this part of the largest.
const LAST: f64 = 2e-17;

/// More steps in one piece than this are a motion on which perturbations change a great deal faster than it does.
const MOST: usize = 1_000_000;

impl Vary {
    /// Carries the columns over the first `s` of what the flow has expanded.
    pub fn transport(&mut self, t: f64, s: f64, flow: &Flow) -> Result<(), String> {
        if self.columns == 0 {
            return Ok(());
        }
        self.signs(flow)?;
        let order = flow.reached();
        // Switches keep their states in a piece: those of its middle.
        self.expand_base(t, 0.5 * s, flow, 1, true);
        let (mut at, mut steps) = (0.0, 0);
        while at < s {
            steps += 1;
            if steps > MOST {
                return Err("perturbations change too fast beside the motion".into());
            }
            self.expand_base(t, at, flow, order, false);
            self.factor(flow.working())?;
            for k in 0..self.columns {
                self.expand_column(k, order, flow.working());
            }
            let step = self.step(order, s - at);
            if !(step > 1e-14 * s) {
                return Err("the perturbations have no series".into());
            }
            let last = step >= (s - at) * (1.0 - 1e-12);
            self.advance(order, step);
            if last {
                self.pull(order, step, flow.working().len());
            }
            at = if last { s } else { at + step };
        }
        Ok(())
    }

    /// The direction of what slides, as inputs.
    fn signs(&mut self, flow: &Flow) -> Result<(), String> {
        let place = self.code().map_err(|e| e.to_string())?.signs;
        for (f, element) in flow.friction.elements.iter().enumerate() {
            let sign = match flow.friction.grip[f] {
                Grip::Slide(_) if element.slips > 1 => {
                    return Err(format!("`{}` slides in space", flow.friction_name(f)));
                }
                Grip::Slide([sign, _]) => sign,
                _ => 0.0,
            };
            self.series.set_input(place + f, 0, sign);
        }
        Ok(())
    }

    /// Series of the derivatives about a place of the piece; with `fresh`, their switches are set there.
    fn expand_base(&mut self, t: f64, at: f64, flow: &Flow, orders: usize, fresh: bool) {
        let Ok(code) = self.instance.problem().variational() else { return };
        let (d, cells) = (self.d, self.instance.cells());
        for k in 0..cells.len() {
            self.series.set_input(1 + 2 * d + k, 0, cells.get(k));
        }
        let Vary { series, base, .. } = self;
        let mut feed = |input: usize, c: &[f64]| {
            shifted(c, at, base);
            for k in 0..orders {
                series.set_input(input, k, base.get(k).copied().unwrap_or(0.0));
            }
        };
        for i in 0..d {
            feed(1 + i, flow.position(i));
            feed(1 + d + i, flow.velocity(i));
            feed(code.a + i, flow.acceleration(i));
        }
        for row in 0..code.rows {
            match flow.working().iter().position(|&held| held == row) {
                Some(k) => feed(code.lambda + row, flow.reaction(k)),
                None => feed(code.lambda + row, &[]),
            }
        }
        for k in 0..orders {
            series.set_input(0, k, [t + at, 1.0].get(k).copied().unwrap_or(0.0));
            series.advance(k, fresh);
        }
    }

    /// The matrix of order 0: [M −pulls; ∇f 0].
    fn factor(&mut self, held: &[usize]) -> Result<(), String> {
        let Ok(code) = self.instance.problem().variational() else { return Err("no derivatives".into()) };
        let (d, m) = (self.d, held.len());
        let n = d + m;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        let at = |part: &Part, e: usize| self.series.coefficient(part.first + e, 0);
        for (e, &(i, j)) in code.r_a.places.iter().enumerate() {
            self.matrix[i * n + j] = -at(&code.r_a, e);
        }
        for (e, &(i, row)) in code.r_lambda.places.iter().enumerate() {
            if let Some(k) = held.iter().position(|&h| h == row) {
                self.matrix[i * n + d + k] = -at(&code.r_lambda, e);
            }
        }
        for (e, &(row, i)) in code.c_a.places.iter().enumerate() {
            if let Some(k) = held.iter().position(|&h| h == row) {
                self.matrix[(d + k) * n + i] = at(&code.c_a, e);
            }
        }
        self.factored.set(n, &self.matrix).map_err(|_| "the constraints held depend on each other".to_string())
    }

    /// Coefficients of δq and δv (order + 2 each) of a column, in `terms`.
    fn expand_column(&mut self, column: usize, order: usize, held: &[usize]) {
        let Ok(code) = self.instance.problem().variational() else { return };
        let (d, m) = (self.d, held.len());
        let stride = order + 2;
        let per_column = (2 * d + d + m) * stride;
        self.terms.resize(self.columns.max(1) * per_column, 0.0);
        let x = &self.x[column * self.width..(column + 1) * self.width];
        let all = &mut self.terms[column * per_column..(column + 1) * per_column];
        all.fill(0.0);
        let (motion, forces) = all.split_at_mut(2 * d * stride);
        for i in 0..2 * d {
            motion[i * stride] = x[i];
        }
        self.right.resize(d + m, 0.0);
        let place = |row: usize| held.iter().position(|&h| h == row);
        for k in 0..order {
            self.right.fill(0.0);
            for (part, is_constraint) in [(&code.r_x, false), (&code.c_x, true)] {
                for (e, &(row, c)) in part.places.iter().enumerate() {
                    let to = match is_constraint {
                        false => row,
                        true => match place(row) {
                            Some(k) => d + k,
                            None => continue,
                        },
                    };
                    let slope = self.series.output(part.first + e);
                    let term = match c < 2 * d {
                        true if part.fixed[e] => slope[0] * motion[c * stride + k],
                        true => convolve(slope, &motion[c * stride..(c + 1) * stride], k, 0),
                        false => slope[k] * x[c],
                    };
                    self.right[to] += if is_constraint { -term } else { term };
                }
            }
            // What lower orders of δa and δλ leave for this one.
            for (part, first) in [(&code.r_a, 0), (&code.r_lambda, d)] {
                for (e, &(i, c)) in part.places.iter().enumerate().filter(|(e, _)| !part.fixed[*e]) {
                    let Some(c) = (if first == 0 { Some(c) } else { place(c) }) else { continue };
                    let known = &forces[(first + c) * stride..(first + c + 1) * stride];
                    self.right[i] += convolve(self.series.output(part.first + e), known, k, 1);
                }
            }
            for (e, &(row, i)) in code.c_a.places.iter().enumerate().filter(|(e, _)| !code.c_a.fixed[*e]) {
                if let Some(to) = place(row) {
                    let known = &forces[i * stride..(i + 1) * stride];
                    self.right[d + to] -= convolve(self.series.output(code.c_a.first + e), known, k, 1);
                }
            }
            self.factored.solve(&mut self.right);
            for (j, value) in self.right.iter().enumerate() {
                forces[j * stride + k] = *value;
            }
            for i in 0..d {
                motion[i * stride + k + 1] = motion[(d + i) * stride + k] / (k + 1) as f64;
                motion[(d + i) * stride + k + 1] = self.right[i] / (k + 1) as f64;
            }
        }
        for i in 0..d {
            motion[i * stride + order + 1] = motion[(d + i) * stride + order] / (order + 1) as f64;
        }
    }

    /// How far the series of all columns reach, at most `cap`.
    fn step(&self, order: usize, cap: f64) -> f64 {
        let (d, stride) = (self.d, order + 2);
        let per_column = self.terms.len() / self.columns.max(1);
        let mut h = cap;
        for _ in 0..60 {
            let mut fits = f64::INFINITY;
            for all in self.terms.chunks(per_column).take(self.columns) {
                for part in 0..2 {
                    let rows = (part * d..(part + 1) * d).map(|i| &all[i * stride..(i + 1) * stride]);
                    let scale = rows.clone().map(|c| largest_term(&c[..=order / 2], h)).fold(0.0, f64::max);
                    for c in rows {
                        for k in order - 1..=order {
                            let ratio = c[k].abs() / (LAST * scale).max(1e-300);
                            if ratio > 0.0 {
                                fits = fits.min(ratio.powf(-1.0 / k as f64));
                            } else if ratio.is_nan() {
                                return 0.0;
                            }
                        }
                    }
                }
            }
            if fits >= 0.9 * h {
                return fits.min(h);
            }
            h = fits;
        }
        h
    }

    /// The perturbed reactions at the end of a step.
    fn pull(&mut self, order: usize, step: f64, held: usize) {
        let (d, stride) = (self.d, order + 2);
        let per_column = self.terms.len() / self.columns.max(1);
        self.pulled.clear();
        for all in self.terms.chunks(per_column).take(self.columns) {
            for k in 0..held {
                let first = (3 * d + k) * stride;
                self.pulled.push(value(&all[first..first + order], step));
            }
        }
    }

    /// The columns at the end of a step.
    fn advance(&mut self, order: usize, step: f64) {
        let stride = order + 2;
        let per_column = self.terms.len() / self.columns.max(1);
        for k in 0..self.columns {
            for i in 0..2 * self.d {
                let c = &self.terms[k * per_column + i * stride..k * per_column + (i + 1) * stride];
                self.x[k * self.width + i] = value(c, step);
            }
        }
    }
}

/// Σ_{j=from..k} a_j b_{k−j}.
fn convolve(a: &[f64], b: &[f64], k: usize, from: usize) -> f64 {
    if from > k {
        return 0.0;
    }
    a[from..=k].iter().zip(b[..=k - from].iter().rev()).map(|(x, y)| x * y).sum()
}

/// The coefficients of a polynomial about another place.
fn shifted(c: &[f64], at: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(c);
    if at == 0.0 {
        return;
    }
    let n = out.len();
    for first in 0..n {
        for k in (first..n.saturating_sub(1)).rev() {
            out[k] += at * out[k + 1];
        }
    }
}
