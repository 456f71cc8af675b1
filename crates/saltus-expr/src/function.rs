//! The built-in functions. All evaluators share these definitions.

use crate::math;

macro_rules! functions {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $name:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum $type { $(#[doc = $text] $variant,)* }

        impl $type {
            /// All variants.
            pub const ALL: &[$type] = &[$($type::$variant,)*];

            /// The name of the function in expressions.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }

            /// The function with the given name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<$type> {
                match name { $($name => Some($type::$variant),)* _ => None }
            }
        }
    };
}

functions! {
    /// Functions of one argument.
    Function1 {
        Sin = "sin", "Sine.";
        Cos = "cos", "Cosine.";
        Tan = "tan", "Tangent.";
        Asin = "asin", "Inverse sine.";
        Acos = "acos", "Inverse cosine.";
        Atan = "atan", "Inverse tangent.";
        Sinh = "sinh", "Hyperbolic sine.";
        Cosh = "cosh", "Hyperbolic cosine.";
        Tanh = "tanh", "Hyperbolic tangent.";
        Exp = "exp", "Exponential.";
        Log = "log", "Natural logarithm.";
        Sqrt = "sqrt", "Square root.";
        Abs = "abs", "Absolute value.";
        Sign = "sign", "-1, 0 or 1.";
        Floor = "floor", "The greatest whole number that is not greater.";
        Not = "not", "1 if the argument is zero, else 0.";
    }
}

functions! {
    /// Functions of two arguments.
    Function2 {
        Atan2 = "atan2", "Angle of the point (b, a) for `atan2(a, b)`.";
        Min = "min", "The lesser of two; NaN if either is NaN.";
        Max = "max", "The greater of two; NaN if either is NaN.";
        Hypot = "hypot", "Square root of the sum of squares, without overflow.";
        Mod = "mod", "`a - b*floor(a/b)`.";
        And = "and", "1 if both are nonzero, else 0.";
        Or = "or", "1 if either is nonzero, else 0.";
    }
}

impl Function1 {
    /// The value.
    #[inline(always)]
    #[must_use]
    pub fn eval(self, x: f64) -> f64 {
        match self {
            Self::Sin => math::sin(x),
            Self::Cos => math::cos(x),
            Self::Tan => x.tan(),
            Self::Asin => x.asin(),
            Self::Acos => x.acos(),
            Self::Atan => x.atan(),
            Self::Sinh => x.sinh(),
            Self::Cosh => x.cosh(),
            Self::Tanh => x.tanh(),
            Self::Exp => math::exp(x),
            Self::Log => x.ln(),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::Sign => sign(x),
            Self::Floor => x.floor(),
            Self::Not => truth(x == 0.0),
        }
    }
}

impl Function2 {
    /// The value.
    #[inline(always)]
    #[must_use]
    pub fn eval(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Atan2 => a.atan2(b),
            Self::Min => min(a, b),
            Self::Max => max(a, b),
            Self::Hypot => a.hypot(b),
            Self::Mod => a - b * (a / b).floor(),
            Self::And => truth(a != 0.0 && b != 0.0),
            Self::Or => truth(a != 0.0 || b != 0.0),
        }
    }
}

#[inline(always)]
fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

#[inline(always)]
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x
    }
}

// Unlike f64::min and f64::max, these propagate NaN: an invalid value must not be masked.
#[inline(always)]
pub(crate) fn min(a: f64, b: f64) -> f64 {
    math::choose((a <= b) | a.is_nan(), a, b)
}

#[inline(always)]
pub(crate) fn max(a: f64, b: f64) -> f64 {
    math::choose((a >= b) | a.is_nan(), a, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for &f in Function1::ALL {
            assert_eq!(Function1::from_name(f.name()), Some(f));
        }
        for &f in Function2::ALL {
            assert_eq!(Function2::from_name(f.name()), Some(f));
        }
    }

    #[test]
    fn special_values() {
        assert_eq!(Function1::Sign.eval(0.0), 0.0);
        assert_eq!(Function1::Sign.eval(-3.0), -1.0);
        assert!(Function1::Sign.eval(f64::NAN).is_nan());
        assert_eq!(Function2::Mod.eval(-1.0, 3.0), 2.0);
        assert_eq!(Function2::Mod.eval(7.5, 2.0), 1.5);
        assert!(Function2::Min.eval(f64::NAN, 1.0).is_nan());
        assert!(Function2::Min.eval(1.0, f64::NAN).is_nan());
        assert!(Function2::Max.eval(1.0, f64::NAN).is_nan());
        assert_eq!(Function2::And.eval(2.0, -1.0), 1.0);
        assert_eq!(Function2::Or.eval(0.0, 0.0), 0.0);
        assert_eq!(Function1::Not.eval(0.0), 1.0);
    }
}
