//! Ranges of axes.

/// Values whose range is a smaller share of their size than this are one value.
const SAME: f64 = 1e-6;
/// The same where values are small beside those of the other axis of a plane: zero, but for rounding.
const ZERO: f64 = 1e-11;
/// The room on either side of one value, as a share of its size.
const ROOM: f64 = 0.1;

/// The least and the largest of finite values; None if there are none.
pub fn range<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().copied().filter(|x| x.is_finite());
    let found = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    (found.0 <= found.1).then_some(found)
}

/// Whether values in a range are the same but for rounding errors; `other` is the size of what they stand beside, or zero.
pub fn coincide((low, high): (f64, f64), other: f64) -> bool {
    let size = low.abs().max(high.abs());
    high - low <= SAME * size || size <= ZERO * other
}

/// A range that can be drawn: where all values are the same, there is room around them.
pub fn roomy((low, high): (f64, f64), other: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    match coincide((low, high), other) {
        false => (low, high),
        true if size <= ZERO * other || size < 1e-300 => (-1.0, 1.0),
        true => (low - ROOM * size, high + ROOM * size),
    }
}

/// A range with a margin on either side, as a share of it; in decades if the axis is logarithmic.
pub fn padded((low, high): (f64, f64), share: f64, is_log: bool) -> (f64, f64) {
    if is_log && low > 0.0 {
        let more = (high / low).powf(share);
        return (low / more, high * more);
    }
    let more = share * (high - low);
    (low - more, high + more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_not_magnified() {
        assert_eq!(roomy((1.0, 2.0), 0.0), (1.0, 2.0));
        assert_eq!(roomy((-5.0, -5.0 + 1e-12), 0.0), (-5.5, -5.0 + 1e-12 + 0.5));
        assert_eq!(roomy((-1e-16, 3e-16), 0.4), (-1.0, 1.0));
        // What is small for itself is shown as it is.
        assert_eq!(roomy((-1e-16, 3e-16), 0.0), (-1e-16, 3e-16));
        assert_eq!(roomy((0.0, 0.0), 0.0), (-1.0, 1.0));
        assert_eq!(range(&[f64::NAN, 2.0, f64::NEG_INFINITY, 1.0]), Some((1.0, 2.0)));
        assert_eq!(range(&[f64::NAN]), None);
        let (low, high) = padded((0.01, 1.0), 0.5, true);
        assert!((low / 0.001 - 1.0).abs() < 1e-12 && (high / 10.0 - 1.0).abs() < 1e-12, "{low} {high}");
    }
}
