//! Roots of closed forms.

/// A root by bisection.
pub fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let sign = f(low) > 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == sign {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
