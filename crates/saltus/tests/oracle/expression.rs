//! Expressions of the oracle: evaluated and derived here, and written as texts for Saltus. They have nothing in common with
//! `saltus-expr` but the functions' names.

use std::ops::{Add, Div, Mul, Neg, Sub};
use std::rc::Rc;

/// An expression in time, positions and velocities.
#[derive(Clone, Debug)]
pub enum Ex {
    Num(f64),
    Time,
    Place(usize),
    Speed(usize),
    Add(Rc<Ex>, Rc<Ex>),
    Sub(Rc<Ex>, Rc<Ex>),
    Mul(Rc<Ex>, Rc<Ex>),
    Div(Rc<Ex>, Rc<Ex>),
    /// A power with a constant exponent.
    Power(Rc<Ex>, f64),
    Of(Function, Rc<Ex>),
    /// max(0, u)^p; the flag: written as `if(u > 0, u^p, 0)`.
    Ramp(Rc<Ex>, f64, bool),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Function {
    Sin,
    Cos,
    Exp,
    Tanh,
    Atan,
    Cosh,
    Sqrt,
}

impl Function {
    fn name(self) -> &'static str {
        match self {
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Exp => "exp",
            Function::Tanh => "tanh",
            Function::Atan => "atan",
            Function::Cosh => "cosh",
            Function::Sqrt => "sqrt",
        }
    }

    fn value(self, x: f64) -> f64 {
        match self {
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Exp => x.exp(),
            Function::Tanh => x.tanh(),
            Function::Atan => x.atan(),
            Function::Cosh => x.cosh(),
            Function::Sqrt => x.sqrt(),
        }
    }

    /// Value, first and second derivative.
    fn all(self, x: f64) -> [f64; 3] {
        let f = self.value(x);
        match self {
            Function::Sin => [f, x.cos(), -f],
            Function::Cos => [f, -x.sin(), -f],
            Function::Exp => [f, f, f],
            Function::Tanh => {
                let slope = x.cosh().powi(-2);
                [f, slope, -2.0 * f * slope]
            }
            Function::Atan => {
                let slope = 1.0 / (1.0 + x * x);
                [f, slope, -2.0 * x * slope * slope]
            }
            Function::Cosh => [f, x.sinh(), f],
            Function::Sqrt => [f, 0.5 / f, -0.25 / (f * x)],
        }
    }
}

/// What expressions are evaluated in: numbers, or numbers with two derivatives along a line.
pub trait Value: Copy {
    fn from(x: f64) -> Self;
    fn plus(self, b: Self) -> Self;
    fn minus(self, b: Self) -> Self;
    fn times(self, b: Self) -> Self;
    fn over(self, b: Self) -> Self;
    fn of(self, f: Function) -> Self;
    fn power(self, p: f64) -> Self;
    fn ramp(self, p: f64) -> Self;
}

impl Value for f64 {
    fn from(x: f64) -> f64 {
        x
    }
    fn plus(self, b: f64) -> f64 {
        self + b
    }
    fn minus(self, b: f64) -> f64 {
        self - b
    }
    fn times(self, b: f64) -> f64 {
        self * b
    }
    fn over(self, b: f64) -> f64 {
        self / b
    }
    fn of(self, f: Function) -> f64 {
        f.value(self)
    }
    fn power(self, p: f64) -> f64 {
        if p == p.trunc() { self.powi(p as i32) } else { self.powf(p) }
    }
    fn ramp(self, p: f64) -> f64 {
        if self > 0.0 { self.powf(p) } else { 0.0 }
    }
}

/// A value with its first and second derivative along a line.
#[derive(Clone, Copy, Debug)]
pub struct Jet(pub [f64; 3]);

impl Jet {
    fn chain(self, [f, f1, f2]: [f64; 3]) -> Jet {
        let [_, d1, d2] = self.0;
        Jet([f, f1 * d1, f1 * d2 + f2 * d1 * d1])
    }
}

impl Value for Jet {
    fn from(x: f64) -> Jet {
        Jet([x, 0.0, 0.0])
    }
    fn plus(self, b: Jet) -> Jet {
        Jet([self.0[0] + b.0[0], self.0[1] + b.0[1], self.0[2] + b.0[2]])
    }
    fn minus(self, b: Jet) -> Jet {
        Jet([self.0[0] - b.0[0], self.0[1] - b.0[1], self.0[2] - b.0[2]])
    }
    fn times(self, b: Jet) -> Jet {
        let ([a, a1, a2], [b, b1, b2]) = (self.0, b.0);
        Jet([a * b, a1 * b + a * b1, a2 * b + 2.0 * a1 * b1 + a * b2])
    }
    fn over(self, b: Jet) -> Jet {
        let x = b.0[0];
        self.times(b.chain([1.0 / x, -1.0 / (x * x), 2.0 / (x * x * x)]))
    }
    fn of(self, f: Function) -> Jet {
        self.chain(f.all(self.0[0]))
    }
    fn power(self, p: f64) -> Jet {
        let x = self.0[0];
        let second = if p == 1.0 { 0.0 } else { p * (p - 1.0) * x.power(p - 2.0) };
        self.chain([x.power(p), p * x.power(p - 1.0), second])
    }
    fn ramp(self, p: f64) -> Jet {
        if self.0[0] > 0.0 { self.power(p) } else { Jet([0.0; 3]) }
    }
}

/// How quantities are called in a text: time, positions, velocities in the model's own units.
pub struct Names {
    pub time: String,
    pub places: Vec<String>,
    pub speeds: Vec<String>,
}

impl Ex {
    pub fn eval<N: Value>(&self, t: N, q: &[N], v: &[N]) -> N {
        let go = |e: &Ex| e.eval(t, q, v);
        match self {
            Ex::Num(x) => N::from(*x),
            Ex::Time => t,
            Ex::Place(i) => q[*i],
            Ex::Speed(i) => v[*i],
            Ex::Add(a, b) => go(a).plus(go(b)),
            Ex::Sub(a, b) => go(a).minus(go(b)),
            Ex::Mul(a, b) => go(a).times(go(b)),
            Ex::Div(a, b) => go(a).over(go(b)),
            Ex::Power(a, p) => go(a).power(*p),
            Ex::Of(f, a) => go(a).of(*f),
            Ex::Ramp(a, p, _) => go(a).ramp(*p),
        }
    }

    /// The text of the expression.
    pub fn text(&self, names: &Names) -> String {
        let go = |e: &Ex| e.text(names);
        match self {
            Ex::Num(x) if *x < 0.0 => format!("({x:?})"),
            Ex::Num(x) => format!("{x:?}"),
            Ex::Time => names.time.clone(),
            Ex::Place(i) => names.places[*i].clone(),
            Ex::Speed(i) => names.speeds[*i].clone(),
            Ex::Add(a, b) => format!("({} + {})", go(a), go(b)),
            Ex::Sub(a, b) => format!("({} - {})", go(a), go(b)),
            Ex::Mul(a, b) => format!("{}*{}", go(a), go(b)),
            Ex::Div(a, b) => format!("({}/({}))", go(a), go(b)),
            Ex::Power(a, p) => format!("({})^{}", go(a), Ex::Num(*p).text(names)),
            Ex::Of(f, a) => format!("{}({})", f.name(), go(a)),
            Ex::Ramp(a, p, false) => format!("max(0, {})^{p:?}", go(a)),
            Ex::Ramp(a, p, true) => format!("if({0} > 0, ({0})^{p:?}, 0)", go(a)),
        }
    }

    pub fn of(self, f: Function) -> Ex {
        Ex::Of(f, Rc::new(self))
    }
    pub fn sin(self) -> Ex {
        self.of(Function::Sin)
    }
    pub fn cos(self) -> Ex {
        self.of(Function::Cos)
    }
    pub fn power(self, p: f64) -> Ex {
        Ex::Power(Rc::new(self), p)
    }
    pub fn ramp(self, p: f64) -> Ex {
        Ex::Ramp(Rc::new(self), p, false)
    }
}

pub const T: Ex = Ex::Time;

pub fn n(x: f64) -> Ex {
    Ex::Num(x)
}

pub fn x(i: usize) -> Ex {
    Ex::Place(i)
}

pub fn v(i: usize) -> Ex {
    Ex::Speed(i)
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl $trait for Ex {
            type Output = Ex;
            fn $method(self, b: Ex) -> Ex {
                Ex::$trait(Rc::new(self), Rc::new(b))
            }
        }
        impl $trait<f64> for Ex {
            type Output = Ex;
            fn $method(self, b: f64) -> Ex {
                Ex::$trait(Rc::new(self), Rc::new(Ex::Num(b)))
            }
        }
        impl $trait<Ex> for f64 {
            type Output = Ex;
            fn $method(self, b: Ex) -> Ex {
                Ex::$trait(Rc::new(Ex::Num(self)), Rc::new(b))
            }
        }
    };
}
operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl Neg for Ex {
    type Output = Ex;
    fn neg(self) -> Ex {
        -1.0 * self
    }
}
