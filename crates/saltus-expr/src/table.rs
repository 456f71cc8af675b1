//! Sampled functions of one variable, interpolated linearly.

/// The values of a [`Table`] outside its range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// The value at the nearer end.
    Hold,
    /// Zero.
    Zero,
}

/// A sampled function of one variable, interpolated linearly.
///
/// ```
/// use saltus_expr::{Outside, Table};
/// let ramp = Table::new("ramp", vec![0.0, 1.0, 3.0], vec![0.0, 2.0, 2.0], Outside::Hold).unwrap();
/// assert_eq!(ramp.value(0.25), 0.5);
/// assert_eq!(ramp.slope(0.25), 2.0);
/// assert_eq!(ramp.value(9.0), 2.0);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    outside: Outside,
    /// Samples per unit of x if the grid is uniform (to rounding).
    density: Option<f64>,
}

impl Table {
    /// A table through the given points: at least two, finite, with strictly increasing x.
    ///
    /// # Errors
    /// The points are invalid; the message says why.
    pub fn new(name: &str, x: Vec<f64>, y: Vec<f64>, outside: Outside) -> Result<Self, String> {
        if x.len() != y.len() {
            return Err(format!("the table `{name}` has {} abscissas but {} values", x.len(), y.len()));
        }
        if x.len() < 2 {
            return Err(format!("the table `{name}` needs at least 2 points"));
        }
        for (k, (&xk, &yk)) in x.iter().zip(&y).enumerate() {
            if !xk.is_finite() || !yk.is_finite() {
                return Err(format!("point {} of the table `{name}` is not a finite number", k + 1));
            }
            if k > 0 && xk <= x[k - 1] {
                return Err(format!(
                    "the abscissas of the table `{name}` must increase, but point {} ({xk}) does not exceed point {k} ({})",
                    k + 1,
                    x[k - 1]
                ));
            }
        }
        let density = uniform_density(&x);
        Ok(Self { name: name.to_owned(), x, y, outside, density })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first and the last abscissa.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.x[0], self.x[self.x.len() - 1])
    }

    /// The abscissas and the values.
    #[must_use]
    pub fn points(&self) -> (&[f64], &[f64]) {
        (&self.x, &self.y)
    }

    /// The values outside the range.
    #[must_use]
    pub fn outside(&self) -> Outside {
        self.outside
    }

    /// The interpolated value; NaN for NaN.
    #[must_use]
    pub fn value(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        let (first, last) = self.range();
        if x < first || x > last {
            return match self.outside {
                Outside::Zero => 0.0,
                Outside::Hold if x < first => self.y[0],
                Outside::Hold => self.y[self.y.len() - 1],
            };
        }
        let k = self.segment(x);
        let part = (x - self.x[k]) / (self.x[k + 1] - self.x[k]);
        // Exact at both ends of the segment.
        self.y[k] * (1.0 - part) + self.y[k + 1] * part
    }

    /// The slope; at a sample, that of the segment to the right; 0 outside the range and at its right end; NaN for NaN.
    #[must_use]
    pub fn slope(&self, x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        let (first, last) = self.range();
        if x < first || x >= last {
            return 0.0;
        }
        let k = self.segment(x);
        (self.y[k + 1] - self.y[k]) / (self.x[k + 1] - self.x[k])
    }

    /// The k with x[k] <= x < x[k+1] (the last segment for the right end); x must lie in the range.
    fn segment(&self, x: f64) -> usize {
        let top = self.x.len() - 2;
        if let Some(density) = self.density {
            // A saturating cast. Rounding puts the guess off by at most one.
            let k = (((x - self.x[0]) * density) as usize).min(top);
            if k > 0 && x < self.x[k] {
                k - 1
            } else if k < top && x >= self.x[k + 1] {
                k + 1
            } else {
                k
            }
        } else {
            (self.x.partition_point(|&xk| xk <= x) - 1).min(top)
        }
    }
}

/// Samples per unit if every point lies within a thousandth of a step from a uniform grid.
fn uniform_density(x: &[f64]) -> Option<f64> {
    let steps = (x.len() - 1) as f64;
    let density = steps / (x[x.len() - 1] - x[0]);
    let uniform = density.is_finite()
        && density > 0.0
        && x.iter().enumerate().all(|(k, &xk)| ((xk - x[0]) * density - k as f64).abs() < 1e-3);
    uniform.then_some(density)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_points_are_rejected() {
        let make = |x: &[f64], y: &[f64]| Table::new("f", x.to_vec(), y.to_vec(), Outside::Hold);
        assert!(make(&[0.0], &[0.0]).unwrap_err().contains("at least 2"));
        assert!(make(&[0.0, 1.0], &[0.0]).is_err());
        assert!(make(&[0.0, 0.0], &[0.0, 1.0]).unwrap_err().contains("increase"));
        assert!(make(&[0.0, f64::NAN], &[0.0, 1.0]).unwrap_err().contains("finite"));
        assert!(make(&[0.0, 1.0], &[0.0, f64::INFINITY]).is_err());
    }

    #[test]
    fn uniform_lookup_agrees_with_search() {
        let y = |x: f64| (3.0 * x).sin();
        let xs: Vec<f64> = (0..101).map(|k| 0.1 * f64::from(k) - 2.0).collect();
        let ys: Vec<f64> = xs.iter().map(|&x| y(x)).collect();
        let fast = Table::new("f", xs, ys, Outside::Zero).unwrap();
        assert!(fast.density.is_some());
        let mut slow = fast.clone();
        slow.density = None;
        for k in -300..=1300 {
            let x = f64::from(k) * 0.01;
            assert_eq!(fast.value(x), slow.value(x), "{x}");
            assert_eq!(fast.slope(x), slow.slope(x), "{x}");
        }
        for &x in fast.points().0 {
            assert_eq!(fast.segment(x), slow.segment(x));
        }
    }

    #[test]
    fn values_and_slopes_at_the_ends() {
        let f = Table::new("f", vec![0.0, 1.0, 4.0], vec![1.0, 3.0, 0.0], Outside::Hold).unwrap();
        assert!(f.density.is_none());
        assert_eq!(f.value(-1.0), 1.0);
        assert_eq!(f.value(4.0), 0.0);
        assert_eq!(f.value(1.0), 3.0);
        assert_eq!(f.slope(1.0), -1.0, "the right-hand slope");
        assert_eq!((f.slope(-0.1), f.slope(4.0)), (0.0, 0.0));
        assert!(f.value(f64::NAN).is_nan() && f.slope(f64::NAN).is_nan());
        assert_eq!(f.value(f64::INFINITY), 0.0);
        let zero = Table::new("f", vec![0.0, 1.0], vec![1.0, 3.0], Outside::Zero).unwrap();
        assert_eq!((zero.value(-0.1), zero.value(1.1)), (0.0, 0.0));
    }
}
