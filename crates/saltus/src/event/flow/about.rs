//! The value of a user's event as a series about any place of the step.

use super::Flow;
use crate::event::polynomial::{size, value};
use crate::problem::MotionCode;
use saltus_expr::Series;

/// The series of one event.
#[derive(Debug)]
pub struct Own {
    series: Series,
    is_affine: bool,
    is_apart: bool,
    /// The coordinates and the velocities in it, as places among its inputs.
    positions: Vec<usize>,
    velocities: Vec<usize>,
    /// A polynomial of the motion, about the place.
    shifted: Vec<f64>,
}

impl Own {
    pub fn all(code: &MotionCode, order: usize) -> Vec<Option<Own>> {
        let own = |event: &crate::problem::EventCode| Own {
            series: Series::new(event.code.clone(), order),
            is_affine: event.is_affine,
            is_apart: event.is_apart,
            positions: event.positions.clone(),
            velocities: event.velocities.clone(),
            shifted: Vec::with_capacity(order + 2),
        };
        code.events.iter().map(|event| Some(own(event))).collect()
    }
}

impl Flow {
    /// Whether the value of an event is affine in time and state: its polynomial is what the motion makes of it, wherever.
    pub fn is_affine(&self, k: usize) -> bool {
        self.own[k].as_ref().is_some_and(|own| own.is_affine)
    }

    /// Whether the expression of an event may have no value, or an infinite one: it is not expanded with the motion.
    pub fn is_apart(&self, k: usize) -> bool {
        self.own[k].as_ref().is_some_and(|own| own.is_apart)
    }

    /// The polynomial of an event's value about the place s of the step; what it is not known beyond is left out.
    ///
    /// At the beginning it is the one that was expanded with the motion, whose switches have the sides of the step.
    pub fn event_about(&mut self, k: usize, s: f64, out: &mut Vec<f64>) {
        out.clear();
        let (n, d) = (self.order, self.d);
        if (s == 0.0 && !self.is_apart(k)) || self.is_affine(k) {
            out.extend_from_slice(self.event(k).map_or(&[0.0], |c| &c[..=self.reached]));
            return;
        }
        let Some(mut own) = self.own[k].take() else { return };
        let Own { series, positions, velocities, shifted, .. } = &mut own;
        series.set_input(0, 0, self.time + s);
        series.set_input(0, 1, 1.0);
        let cells = self.instance.cells();
        (0..cells.len()).for_each(|k| series.set_input(self.layout.open + k, 0, cells.get(k)));
        let inputs = positions.iter().map(|&i| (1 + i, self.position(i)));
        for (input, c) in inputs.chain(velocities.iter().map(|&i| (1 + d + i, self.velocity(i)))) {
            shift(c, s, shifted);
            (0..=n).for_each(|k| series.set_input(input, k, shifted[k]));
        }
        (0..=n).for_each(|k| series.advance(k, k == 0));
        out.extend_from_slice(series.output(0));
        self.own[k] = Some(own);
    }

    /// What rounding makes of the value of an event at the place s of the step. Where a coordinate vanishes, it is still the sum of the terms of its
    /// polynomial, up to the place `over`.
    pub fn rounding_of_event(&mut self, k: usize, s: f64, over: f64) -> f64 {
        let Some(mut own) = self.own[k].take() else { return 0.0 };
        own.series.set_input(0, 0, self.time + s);
        let cells = self.instance.cells();
        (0..cells.len()).for_each(|k| own.series.set_input(self.layout.open + k, 0, cells.get(k)));
        let (mut sizes, over) = (vec![0.0; 1 + 2 * self.d], over.max(s));
        for &i in &own.positions {
            own.series.set_input(1 + i, 0, value(self.position(i), s));
            sizes[1 + i] = size(self.position(i), over);
        }
        for &i in &own.velocities {
            own.series.set_input(1 + self.d + i, 0, value(self.velocity(i), s));
            sizes[1 + self.d + i] = size(self.velocity(i), over);
        }
        own.series.advance(0, true);
        let rounding = own.series.rounding_from(&sizes)[0];
        self.own[k] = Some(own);
        rounding
    }
}

/// The coefficients of a polynomial about s.
fn shift(c: &[f64], s: f64, out: &mut Vec<f64>) {
    out.clear();
    out.extend_from_slice(c);
    let n = out.len();
    for first in 0..n {
        for k in (first..n - 1).rev() {
            out[k] += s * out[k + 1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shifted_polynomial_has_the_same_values() {
        let c = [0.3, -1.2, 0.7, 0.25, -2.0];
        let mut about = Vec::new();
        shift(&c, 0.7, &mut about);
        for u in [-0.5, 0.0, 0.3, 1.1] {
            assert!((value(&about, u) - value(&c, 0.7 + u)).abs() < 1e-13);
        }
    }
}
