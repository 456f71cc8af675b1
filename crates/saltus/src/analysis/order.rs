//! How fast errors fall with the step.

/// A straight line through (log h, log error).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Its slope: the observed order.
    pub order: f64,
    /// The standard error of the slope; zero for two points.
    pub spread: f64,
}

/// Fits error = C hᵖ through the given points; None if fewer than two of them are positive numbers.
///
/// ```
/// use saltus::analysis::fit;
/// let line = fit(&[(0.1, 0.03), (0.01, 0.003), (0.001, 0.0003)]).unwrap();
/// assert!((line.order - 1.0).abs() < 1e-12 && line.spread < 1e-12);
/// ```
pub fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let usable = points.iter().filter(|(h, e)| *h > 0.0 && *e > 0.0 && e.is_finite());
    let logs: Vec<(f64, f64)> = usable.map(|(h, e)| (h.ln(), e.ln())).collect();
    let n = logs.len() as f64;
    if logs.len() < 2 {
        return None;
    }
    let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let width: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    let order = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / width;
    let left: f64 = logs.iter().map(|p| (p.1 - y - order * (p.0 - x)).powi(2)).sum();
    let spread = if logs.len() > 2 { (left / (n - 2.0) / width).sqrt() } else { 0.0 };
    order.is_finite().then_some(Fit { order, spread })
}
