//! The kinds of models that are drawn.

use crate::dice::Dice;
use crate::exact::{Oscillator, Wall};
use crate::expression::{Ex, Function, T, n, v, x};
use crate::model::Model;
use std::f64::consts::TAU;

/// What is solved on its own, in its own units of length, time and mass.
#[derive(Clone, Debug)]
pub struct Part {
    pub model: Model,
    pub exact: Option<Oscillator>,
    pub units: [f64; 3],
}

impl Part {
    fn of(model: Model) -> Part {
        Part { model, exact: None, units: [1.0; 3] }
    }

    fn exact(oscillator: Oscillator) -> Part {
        Part { model: oscillator.model(), exact: Some(oscillator), units: [1.0; 3] }
    }
}

pub const FAMILIES: [&str; 9] =
    ["oscillator", "table", "hertz", "pulse", "front", "terrain", "post", "chain", "independent"];

/// The model of a number: its family, and its parts with the time at which all of them end.
pub fn case(seed: u64) -> (usize, Vec<Part>, f64) {
    let mut dice = Dice::new(seed);
    let family = (seed % FAMILIES.len() as u64) as usize;
    let mut parts = match family {
        0 => vec![oscillator(&mut dice, 4.0)],
        1 => vec![table(&mut dice, 3.0)],
        2 => vec![hertz(&mut dice)],
        3 => vec![pulse(&mut dice)],
        4 => vec![front(&mut dice)],
        5 => vec![terrain(&mut dice)],
        6 => vec![post(&mut dice)],
        7 => vec![if dice.chance(0.5) { chain(&mut dice) } else { pendulum(&mut dice) }],
        _ => return (family, independent(&mut dice), 0.0).with_end(),
    };
    if dice.chance(0.6) {
        parts[0].units = units(&mut dice);
    }
    (family, parts, 0.0).with_end()
}

trait WithEnd {
    fn with_end(self) -> Self;
}

impl WithEnd for (usize, Vec<Part>, f64) {
    /// Everything ends with the first part.
    fn with_end(mut self) -> Self {
        self.2 = self.1[0].model.end * self.1[0].units[1];
        for part in &mut self.1 {
            part.model.end = self.2 / part.units[1];
        }
        self
    }
}

fn units(dice: &mut Dice) -> [f64; 3] {
    [dice.decades(-12.0, 12.0), dice.decades(-12.0, 12.0), dice.decades(-12.0, 12.0)]
}

/// Between one and two stops, driven, with or without damping, for 3 to 10^most periods.
fn oscillator(dice: &mut Dice, most: f64) -> Part {
    let damping = if dice.chance(0.3) { 0.0 } else { dice.decades(-3.0, -0.5) };
    let still = [0.0, 1.0, 0.0];
    let upper = dice.between(-0.2, 1.0);
    let mut walls = vec![Wall { side: -1.0, place: upper, swing: still, e: dice.restitution() }];
    let q0 = upper - dice.between(0.1, 1.0);
    if dice.chance(0.4) {
        walls.push(Wall { side: 1.0, place: q0 - dice.between(0.1, 1.0), swing: still, e: dice.restitution() });
    }
    let force = if dice.chance(0.85) { dice.between(0.0, 2.0) } else { 0.0 };
    let length = dice.between(0.0, 1.0).powi(4) * (most - 0.5) + 0.5;
    Part::exact(Oscillator {
        w: 1.0,
        damping,
        g: if dice.chance(0.4) { dice.between(-1.0, 1.5) } else { 0.0 },
        force: [force, dice.decades(-0.7, 0.7), dice.between(0.0, TAU)],
        walls,
        q0,
        v0: if dice.chance(0.3) { 0.0 } else { dice.between(-1.5, 1.5) },
        end: TAU * 10_f64.powf(length),
    })
}

/// A ball on a table that vibrates.
fn table(dice: &mut Dice, most: f64) -> Part {
    let w = dice.decades(-0.3, 1.5);
    let strength = dice.decades(-1.0, 0.8);
    let swing = [strength / (w * w), w, dice.between(0.0, TAU)];
    let wall = Wall { side: 1.0, place: 0.0, swing, e: dice.restitution() };
    let floor = wall.swing[0] * wall.swing[2].sin();
    let length = dice.between(0.0, 1.0).powi(3) * (most - 0.5) + 0.5;
    Part::exact(Oscillator {
        g: -1.0,
        force: [0.0, 1.0, 0.0],
        q0: floor + dice.decades(-2.0, 0.3),
        v0: dice.between(-0.5, 0.5),
        walls: vec![wall],
        end: 10_f64.powf(length) * (TAU / w).max(1.0),
        ..Oscillator::default()
    })
}

/// Balls on springs of any power, one or two of them, alone or with a wall.
fn hertz(dice: &mut Dice) -> Part {
    let power = dice.one_of(&[1.5, 2.5, 1.5, 1.1, 0.5, 2.0, 3.5, 1.0, 1.25]);
    let written = dice.chance(0.3);
    let ramp = |u: Ex| Ex::Ramp(std::rc::Rc::new(u), power, written);
    let k = dice.decades(1.0, 4.0);
    let c = if dice.chance(0.5) { 0.0 } else { dice.between(0.0, 0.3) };
    if dice.chance(0.6) {
        let drive = if dice.chance(0.4) { dice.between(0.0, 0.8) } else { 0.0 };
        let force = n(-1.0) + k * ramp(-x(0)) - c * v(0) + drive * (dice.between(0.5, 5.0) * T).sin();
        let mut gaps = Vec::new();
        if dice.chance(0.4) {
            gaps.push((dice.between(0.5, 1.0) - x(0), dice.restitution()));
        }
        return Part::of(Model {
            mass: Model::unit_mass(1),
            forces: vec![force],
            gaps,
            q0: vec![if dice.chance(0.1) { 0.0 } else { dice.between(0.05, 0.45) }],
            v0: vec![dice.between(-1.0, 1.0)],
            end: dice.decades(0.5, 1.3),
            switches: vec![x(0)],
            ..Model::default()
        });
    }
    let touch = 0.2;
    let push = k * ramp(touch - (x(1) - x(0)));
    let (a, b) = (dice.between(0.5, 2.0), dice.between(0.5, 2.0));
    let mut mass = Model::unit_mass(2);
    (mass[0], mass[3]) = (n(a), n(b));
    let gap = if dice.chance(0.2) { 0.0 } else { dice.between(0.0, 0.5) };
    Part::of(Model {
        mass,
        forces: vec![-push.clone() - c * v(0), push - c * v(1)],
        gaps: vec![(1.0 - x(1), dice.restitution()), (x(0) + 1.0, dice.restitution())],
        q0: vec![-0.3, -0.3 + touch + gap],
        v0: vec![dice.between(0.3, 1.5), dice.between(-1.0, 0.2)],
        end: dice.decades(0.3, 0.9),
        switches: vec![touch - (x(1) - x(0))],
        ..Model::default()
    })
}

/// A push of some kind within a width of an instant, with an integral of the order of one.
fn push(dice: &mut Dice, at: f64, width: f64) -> Ex {
    let u = || (T - at) / width;
    let height = dice.between(0.3, 1.5) * dice.one_of(&[1.0, -1.0, 1.0]);
    match dice.below(5) {
        0 => height / width * (-(u().power(2.0))).of(Function::Exp),
        1 => height / width / u().of(Function::Cosh).power(2.0),
        2 => height / width / (1.0 + u().power(2.0)),
        3 => height * u().of(Function::Tanh),
        _ => height * u().of(Function::Atan),
    }
}

/// Narrow pulses and steep fronts in time, on a body at rest or in flight.
fn pulse(dice: &mut Dice) -> Part {
    let end = dice.between(3.0, 8.0);
    let mut features = Vec::new();
    let mut force = n(-1.0);
    for _ in 0..1 + dice.below(3) {
        let (at, width) = (end * dice.between(0.02, 0.95), end * dice.decades(-6.0, -2.0));
        force = force + push(dice, at, width);
        features.push((T - at, width));
    }
    let rests = dice.chance(0.4);
    let spring = if dice.chance(0.3) { dice.between(0.5, 3.0) } else { 0.0 };
    let mut gaps = vec![(x(0), dice.restitution())];
    if dice.chance(0.2) {
        gaps.push((2.0 - x(0), dice.restitution()));
    }
    if !rests && dice.chance(0.3) {
        gaps.clear();
    }
    Part::of(Model {
        mass: Model::unit_mass(1),
        forces: vec![force - spring * x(0) - dice.between(0.0, 0.2) * v(0)],
        gaps,
        q0: vec![if rests { 0.0 } else { dice.between(0.1, 1.5) }],
        v0: vec![if rests { 0.0 } else { dice.between(-1.0, 1.0) }],
        end,
        features,
        ..Model::default()
    })
}

/// Walls with steep fronts in time, that come near or hit.
fn front(dice: &mut Dice) -> Part {
    let end = dice.between(2.0, 5.0);
    let at = end * dice.between(0.1, 0.9);
    let hits = dice.chance(0.6);
    let width = if hits { dice.decades(-2.5, 0.0) } else { dice.decades(-9.0, -1.0) };
    let rise = if hits { dice.between(0.3, 1.2) } else { dice.between(0.0, 0.4) };
    let (e, mut features) = (dice.restitution(), vec![(T - at, width)]);
    let wall = match dice.below(3) {
        0 => rise * ((T - at) / width).of(Function::Tanh),
        1 => rise * (2.0 / std::f64::consts::PI) * ((T - at) / width).of(Function::Atan),
        _ => {
            features = vec![(T.clone(), 1e-6)];
            rise * (T + dice.decades(-8.0, -3.0)).of(Function::Sqrt)
        }
    };
    let weight = if hits { dice.between(0.0, 1.0) } else { 0.0 };
    let spring = if dice.chance(0.5) { dice.between(0.2, 3.0) } else { 0.0 };
    Part::of(Model {
        mass: Model::unit_mass(1),
        forces: vec![n(-weight) - spring * (x(0) - 1.0)],
        gaps: vec![(x(0) - wall, e)],
        q0: vec![dice.between(0.9, 1.4)],
        v0: vec![if hits { dice.between(-0.3, 0.3) } else { 0.0 }],
        end,
        features,
        ..Model::default()
    })
}

/// A body that falls on ground with a steep step, or on a superellipse.
fn terrain(dice: &mut Dice) -> Part {
    let (gap, features, start) = match dice.chance(0.6) {
        true => {
            let (width, at) = (dice.decades(-4.0, -0.3), dice.between(-0.5, 0.5));
            let form = dice.one_of(&[Function::Tanh, Function::Atan]);
            let ground = dice.between(-0.4, 0.4) * ((x(0) - at) / width).of(form);
            (x(1) - ground, vec![(x(0) - at, width)], 1.0)
        }
        false => {
            let (size, p) = (dice.between(0.1, 0.6), dice.one_of(&[2.0, 4.0, 6.0, 8.0, 10.0, 14.0]));
            let gap = (x(0) / size).power(p) + (x(1) / size).power(p) - 1.0;
            (gap, vec![(x(0) - size, 0.02), (x(0) + size, 0.02), (x(1) - size, 0.02)], 1.5)
        }
    };
    Part::of(Model {
        mass: Model::unit_mass(2),
        forces: vec![n(0.0), n(-1.0)],
        gaps: vec![(gap, dice.restitution()), (x(1) + 2.0, dice.restitution())],
        q0: vec![dice.between(-1.0, 1.0), start + dice.between(0.0, 0.5)],
        v0: vec![dice.between(-0.5, 0.5), dice.between(-0.5, 0.5)],
        end: dice.between(2.0, 6.0),
        features,
        ..Model::default()
    })
}

/// A thin post in the way of a body in a box.
fn post(dice: &mut Dice) -> Part {
    let r = dice.decades(-5.0, -0.5);
    let distance = || (x(0).power(2.0) + x(1).power(2.0)).of(Function::Sqrt);
    let speed = dice.between(0.5, 1.5);
    let e = dice.restitution();
    let pull = if dice.chance(0.5) { dice.between(-0.3, 0.3) } else { 0.0 };
    // Aimed at the post, if nothing pulls.
    let (aside, angle) = (r * dice.between(-1.3, 1.3), dice.between(0.0, TAU));
    let (c, s) = (angle.cos(), angle.sin());
    let back = dice.between(0.4, 0.8);
    Part::of(Model {
        mass: Model::unit_mass(2),
        forces: vec![n(0.0), n(pull * speed)],
        gaps: vec![(distance() - r, e), (x(1) + 1.5, dice.restitution()), (2.0 - distance(), dice.restitution())],
        q0: vec![-back * c - aside * s, -back * s + aside * c],
        v0: vec![speed * c, speed * s],
        end: dice.between(1.0, 4.0),
        features: vec![(distance(), r)],
        ..Model::default()
    })
}

/// Two or three masses with springs between them and a full mass matrix.
fn chain(dice: &mut Dice) -> Part {
    let d = 2 + dice.below(2);
    let mut mass = Model::unit_mass(d);
    for i in 0..d {
        mass[i * (d + 1)] = n(dice.between(0.8, 2.5));
        for j in 0..i {
            let m = dice.between(-0.25, 0.25);
            (mass[i * d + j], mass[j * d + i]) = (n(m), n(m));
        }
    }
    let (k, c, w) = (dice.decades(-0.3, 1.5), dice.between(0.0, 0.2), dice.decades(-0.5, 0.7));
    let drive = if dice.chance(0.5) { dice.between(0.0, 1.5) } else { 0.0 };
    let g = if dice.chance(0.4) { dice.between(0.2, 2.0) } else { 0.0 };
    let mut forces: Vec<Ex> = (0..d).map(|i| n(-g) - c * v(i)).collect();
    for i in 1..d {
        let pull = k * (x(i) - x(i - 1) - 0.5);
        forces[i] = forces[i].clone() - pull.clone();
        forces[i - 1] = forces[i - 1].clone() + pull;
    }
    forces[d - 1] = forces[d - 1].clone() + drive * (w * T).cos();
    let mut gaps = vec![(x(0), dice.restitution())];
    if dice.chance(0.5) {
        gaps.push((x(1) - x(0) - 0.15, dice.restitution()));
    }
    if dice.chance(0.4) {
        gaps.push((2.2 - x(d - 1), dice.restitution()));
    }
    Part::of(Model {
        mass,
        forces,
        gaps,
        q0: (0..d).map(|i| 0.5 * i as f64 + dice.between(0.05, 0.3)).collect(),
        v0: (0..d).map(|_| dice.between(-1.0, 1.0)).collect(),
        end: dice.decades(0.5, 1.2),
        ..Model::default()
    })
}

/// A pendulum on a cart, with a stop for the cart and a wall for the bob.
fn pendulum(dice: &mut Dice) -> Part {
    let (cart, bob, l) = (dice.between(0.5, 2.0), dice.between(0.2, 1.0), dice.between(0.4, 1.0));
    let cross = || bob * l * x(1).cos();
    let spring = dice.between(0.0, 4.0);
    Part::of(Model {
        mass: vec![n(cart + bob), cross(), cross(), n(bob * l * l)],
        mass_varies: true,
        forces: vec![-spring * x(0) - dice.between(0.0, 0.2) * v(0), -bob * l * dice.between(0.5, 5.0) * x(1).sin()],
        gaps: vec![
            (x(0) + dice.between(0.2, 0.6), dice.restitution()),
            (dice.between(0.35, 1.0) - (x(0) + l * x(1).sin()), dice.restitution()),
        ],
        q0: vec![dice.between(-0.1, 0.1), dice.between(-0.3, 0.3)],
        v0: vec![dice.between(-1.0, 1.0), dice.between(-2.0, 2.0)],
        end: dice.decades(0.5, 1.1),
        ..Model::default()
    })
}

/// Bodies that have nothing to do with each other, each with its own scales.
fn independent(dice: &mut Dice) -> Vec<Part> {
    let shared = if dice.chance(0.5) { dice.decades(-12.0, 12.0) } else { 1.0 };
    let mut parts = vec![match dice.below(4) {
        0 => hertz(dice),
        1 => pulse(dice),
        2 => table(dice, 1.5),
        _ => oscillator(dice, 1.5),
    }];
    parts[0].units = [dice.decades(-4.0, 4.0), shared, dice.decades(-4.0, 4.0)];
    for _ in 0..1 + dice.below(2) {
        let mut part = if dice.chance(0.5) { oscillator(dice, 1.0) } else { table(dice, 1.0) };
        // Up to 300 times faster, or slower by any factor.
        part.units = [dice.decades(-6.0, 6.0), shared * dice.decades(-2.0, 3.0), dice.decades(-6.0, 6.0)];
        parts.push(part);
    }
    parts
}
