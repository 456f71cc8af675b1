//! The ticks of an axis and their labels.

use super::sheet::Text;

/// The scale of an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic.
    Log,
}

/// No margins: the axis ends with the data.
pub const NO_MARGINS: (f64, f64) = (0.0, 0.0);
/// Margins that keep curves off the frame, as fractions of the range.
pub const MARGINS: (f64, f64) = (0.05, 0.05);

/// The ticks of an axis.
#[derive(Clone, Debug)]
pub struct Ticks {
    /// The range of the axis.
    pub range: (f64, f64),
    /// The scale.
    pub scale: Scale,
    /// Ticks with labels.
    pub major: Vec<(f64, Text)>,
    /// Ticks without labels.
    pub minor: Vec<f64>,
    /// The power of ten by which all labels are to be multiplied; usually zero.
    pub power: i32,
}

impl Ticks {
    /// The place of a value on the axis, 0 at its start and 1 at its end.
    pub fn place(&self, x: f64) -> f64 {
        let (a, b) = self.range;
        match self.scale {
            Scale::Linear => (x - a) / (b - a),
            Scale::Log => (x.max(a * 1e-3) / a).ln() / (b / a).ln(),
        }
    }

    /// About `count` ticks for values between `low` and `high`; the axis is longer by the given margins, as fractions of the
    /// range.
    pub fn linear(low: f64, high: f64, count: f64, margins: (f64, f64)) -> Self {
        let (low, high) = distinct(low, high);
        let (step, parts) = step((high - low) / count.max(1.0));
        let range = (low - margins.0 * (high - low), high + margins.1 * (high - low));
        let within = |x: &f64| *x >= range.0 - 1e-9 * step && *x <= range.1 + 1e-9 * step;
        let numbers = |step: f64| {
            let (from, to) = ((range.0 / step).ceil() as i64 - 1, (range.1 / step).floor() as i64 + 1);
            (from..=to).map(move |k| (k, k as f64 * step))
        };
        let at: Vec<f64> = numbers(step).map(|(_, x)| x).filter(within).collect();
        if at.len() < 2 && count < 8.0 {
            // One number does not say how long an axis is.
            return Ticks::linear(low, high, 1.7 * count.max(1.0), margins);
        }
        let largest = at.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let power = match largest {
            0.0 => 0,
            m if !(1e-2..1e5).contains(&m) => (m.log10() + 1e-9).floor() as i32,
            _ => 0,
        };
        let unit = 10_f64.powi(power);
        let decimals = (-((step / unit).log10() + 1e-9).floor()).max(0.0) as usize;
        let label = |x: f64| Text::plain(minus(&format!("{:.decimals$}", x / unit)));
        let fine = step / f64::from(parts);
        let minor = numbers(fine).filter(|(k, _)| k % i64::from(parts) != 0).map(|(_, x)| x).filter(within).collect();
        Ticks { range, scale: Scale::Linear, major: at.iter().map(|&x| (x, label(x))).collect(), minor, power }
    }

    /// Ticks at powers of ten for positive values; with `whole` the axis starts and ends at a power of ten.
    pub fn log(low: f64, high: f64, count: f64, whole: bool) -> Self {
        let high = if high > 1e-280 && high.is_finite() { high } else { 1.0 };
        let low = if low > 0.0 && low < high { low } else { high / 10.0 };
        let low = low.max(high * 1e-15);
        let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let every = (f64::from(to - from) / count.max(1.0)).ceil().max(1.0) as i32;
        let decades = || (from..=to).filter(move |k| k.rem_euclid(every) == 0);
        let label = |k: i32| Text::plain("10").then(minus(&k.to_string()), false, 1);
        let range = if whole { (10_f64.powi(from), 10_f64.powi(to)) } else { (low, high) };
        let within = |x: &f64| *x >= range.0 * (1.0 - 1e-9) && *x <= range.1 * (1.0 + 1e-9);
        let minor: Vec<f64> = match every {
            1 => (from..to).flat_map(|k| (2..10).map(move |n| f64::from(n) * 10_f64.powi(k))).collect(),
            _ => (from..=to).filter(|k| k.rem_euclid(every) != 0).map(|k| 10_f64.powi(k)).collect(),
        };
        if !whole && decades().filter(|k| within(&10_f64.powi(*k))).count() < 2 {
            return Self::within_a_decade(range, (from, to), count);
        }
        Ticks {
            range,
            scale: Scale::Log,
            major: decades().map(|k| (10_f64.powi(k), label(k))).filter(|(x, _)| within(x)).collect(),
            minor: minor.into_iter().filter(within).collect(),
            power: 0,
        }
    }
}

impl Ticks {
    /// Ticks of a logarithmic axis on which at most one power of ten lies: at 1, 2 and 5 times one, or at round numbers.
    fn within_a_decade(range: (f64, f64), (from, to): (i32, i32), count: f64) -> Self {
        let times = |n: i32, k: i32| f64::from(n) * 10_f64.powi(k);
        let within = |x: &f64| *x >= range.0 * (1.0 - 1e-9) && *x <= range.1 * (1.0 + 1e-9);
        let all = |of: &[i32]| -> Vec<f64> {
            (from - 1..=to).flat_map(|k| of.iter().map(move |n| times(*n, k))).filter(within).collect()
        };
        let major = all(&[1, 2, 5]);
        if major.len() < 3 {
            return Ticks { range, scale: Scale::Log, ..Ticks::linear(range.0, range.1, count, NO_MARGINS) };
        }
        let label = |x: f64| Text::plain(minus(&saltus::text::number(x, 3)));
        let minor = all(&[3, 4, 6, 7, 8, 9]);
        Ticks { range, scale: Scale::Log, major: major.into_iter().map(|x| (x, label(x))).collect(), minor, power: 0 }
    }
}

/// Finite ends of a range that is not empty.
fn distinct(low: f64, high: f64) -> (f64, f64) {
    if !((high - low).is_finite() && low <= high) {
        return (0.0, 1.0);
    }
    let size = low.abs().max(high.abs());
    // A range of rounding errors is a constant.
    match high - low > 1e-11 * size && size > 1e-300 {
        true => (low, high),
        false if size < 1e-300 => (-1.0, 1.0),
        false => (low.min(0.0) - 0.1 * size, high.max(0.0) + 0.1 * size),
    }
}

/// The round step closest to a length, and the number of parts into which minor ticks divide it.
fn step(rough: f64) -> (f64, i32) {
    let power = 10_f64.powf(rough.log10().floor());
    // The limits are the geometric means of 1, 2, 5 and 10.
    let (step, parts) = match rough / power {
        r if r < 1.414 => (1.0, 5),
        r if r < 3.162 => (2.0, 4),
        r if r < 7.071 => (5.0, 5),
        _ => (10.0, 5),
    };
    (step * power, parts)
}

/// A number with a true minus sign, and none for zero.
pub fn minus(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<String> {
        ticks.major.iter().map(|(_, t)| t.parts.iter().map(|p| p.text.as_str()).collect()).collect()
    }

    #[test]
    fn ticks_are_at_round_numbers() {
        assert_eq!(labels(&Ticks::linear(0.0, 5.0, 5.0, NO_MARGINS)), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(labels(&Ticks::linear(-4.43, 3.54, 5.0, MARGINS)), ["−4", "−2", "0", "2"]);
        assert_eq!(labels(&Ticks::linear(0.0, 1.0, 4.0, MARGINS)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        let small = Ticks::linear(0.0, 3e-7, 3.0, MARGINS);
        assert_eq!((labels(&small), small.power), (vec!["0".into(), "1".into(), "2".into(), "3".into()], -7));
        assert_eq!(Ticks::linear(0.0, 1.0, 5.0, NO_MARGINS).minor.len(), 15);
        assert_eq!(labels(&Ticks::linear(-0.13, 0.16, 2.0, MARGINS)), ["−0.1", "0.0", "0.1"]);
        assert_eq!(labels(&Ticks::log(2e-9, 3e-3, 4.0, true)), ["10−8", "10−6", "10−4", "10−2"]);
        // A short logarithmic axis has numbers as well.
        assert_eq!(labels(&Ticks::log(0.08, 0.6, 4.0, false)), ["0.1", "0.2", "0.5"]);
        assert_eq!(labels(&Ticks::log(0.34, 0.46, 3.0, false)), ["0.35", "0.40", "0.45"]);
    }

    #[test]
    fn any_interval_has_ticks() {
        let ends = [0.0, 1.0, -1.0, 1e300, -1e300, 5e-324, 1e-300, f64::NAN, f64::INFINITY, 1.0 + 1e-15];
        for low in ends {
            for high in ends {
                for ticks in [Ticks::linear(low, high, 5.0, MARGINS), Ticks::log(low, high, 5.0, true)] {
                    assert!(ticks.major.len() < 40 && ticks.minor.len() < 400, "{low} {high}");
                    assert!(ticks.range.0 < ticks.range.1, "{low} {high} {:?}", ticks.range);
                }
            }
        }
    }
}
