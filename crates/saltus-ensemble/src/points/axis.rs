//! An axis: values of one thing, in order.

use saltus::SetupError;

/// Values of one parameter or start.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is varied: `w`, `x`, `x'`.
    pub name: String,
    /// Its values.
    pub spacing: Spacing,
}

/// How the values of an axis lie.
#[derive(Clone, Debug, PartialEq)]
pub enum Spacing {
    /// Evenly, both ends included.
    Linear {
        /// The first value.
        from: f64,
        /// The last value.
        to: f64,
        /// How many.
        count: u64,
    },
    /// In equal ratios, both ends included.
    Log {
        /// The first value.
        from: f64,
        /// The last value.
        to: f64,
        /// How many.
        count: u64,
    },
    /// One by one.
    List(Vec<f64>),
}

impl Spacing {
    /// The same, if it makes sense.
    pub fn checked(self, name: &str) -> Result<Self, SetupError> {
        let bad = |what: &str| Err(SetupError::new(format!("the values of `{name}` {what}")));
        match &self {
            Spacing::List(values) if values.is_empty() => return bad("are an empty list"),
            Spacing::List(values) => {
                if let Some(x) = values.iter().find(|x| !x.is_finite()) {
                    return bad(&format!("must be finite numbers, not {x}"));
                }
            }
            Spacing::Linear { from, to, count } | Spacing::Log { from, to, count } => {
                if let Some(x) = [from, to].into_iter().find(|x| !x.is_finite()) {
                    return bad(&format!("must be finite numbers, not {x}"));
                }
                if *count == 0 {
                    return Err(SetupError::new(format!(
                        "there are no values of `{name}`: the range has a count of 0"
                    )));
                }
                if *count > 1 && from == to {
                    return Err(SetupError::new(format!("the range of `{name}` is empty: both ends are {from}")));
                }
                if *count == 1 && from != to {
                    let message = format!("the range of `{name}` has two different ends, but a count of 1");
                    let help = format!("give one value, {name}={from}, or a larger count");
                    return Err(SetupError::new(message).help(help));
                }
                if let (Spacing::Log { .. }, true) = (&self, !(*from > 0.0 && *to > 0.0)) {
                    return bad("must be positive in a logarithmic range");
                }
            }
        }
        Ok(self)
    }

    /// How many values there are.
    pub fn len(&self) -> u64 {
        match self {
            Spacing::Linear { count, .. } | Spacing::Log { count, .. } => *count,
            Spacing::List(values) => values.len() as u64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A value.
    pub fn value(&self, k: u64) -> f64 {
        // Ends are exact.
        let share = |count: u64| k as f64 / (count - 1).max(1) as f64;
        match *self {
            Spacing::Linear { from, .. } | Spacing::Log { from, .. } if k == 0 => from,
            Spacing::Linear { to, count, .. } | Spacing::Log { to, count, .. } if k + 1 == count => to,
            // (The difference of two numbers may be infinite.)
            Spacing::Linear { from, to, count } if !(to - from).is_finite() => {
                from * (1.0 - share(count)) + to * share(count)
            }
            Spacing::Linear { from, to, count } => from + (to - from) * share(count),
            Spacing::Log { from, to, count } => from * (to / from).powf(share(count)),
            Spacing::List(ref values) => values[k as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_exact_and_steps_even() {
        let linear = Spacing::Linear { from: 0.1, to: 0.7, count: 7 };
        assert_eq!((linear.value(0), linear.value(6)), (0.1, 0.7));
        assert!((linear.value(3) - 0.4).abs() < 1e-15);
        assert_eq!(Spacing::Linear { from: -1e308, to: 1e308, count: 3 }.value(1), 0.0);
        let log = Spacing::Log { from: 0.1, to: 10.0, count: 5 };
        assert_eq!((log.value(0), log.value(4)), (0.1, 10.0));
        assert!((log.value(2) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn ranges_that_make_no_sense_are_refused() {
        let refused = [
            Spacing::Linear { from: 1.0, to: 1.0, count: 5 },
            Spacing::Linear { from: 1.0, to: 2.0, count: 0 },
            Spacing::Linear { from: 1.0, to: 2.0, count: 1 },
            Spacing::Linear { from: 1.0, to: f64::NAN, count: 3 },
            Spacing::Log { from: -1.0, to: 2.0, count: 3 },
            Spacing::List(vec![]),
            Spacing::List(vec![f64::INFINITY]),
        ];
        for spacing in refused {
            assert!(spacing.clone().checked("w").is_err(), "{spacing:?}");
        }
        assert!(Spacing::Linear { from: 2.0, to: 1.0, count: 5 }.checked("w").is_ok());
    }
}
