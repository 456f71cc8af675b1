//! Contact statics of stops that are not linear, against hand formulas and minima found by other means.

use saltus::structure::beam::Section;
use saltus::structure::{Beam, Bored, Builder, Damping, InitialState, Layout, Part, Place, Structure};
use saltus::{Options, linalg::Symmetric};

fn at_rest() -> InitialState {
    InitialState { at_equilibrium: true, ..InitialState::default() }
}

/// Two displacements of one mass, coupled by its springs.
fn mass() -> Part {
    Part {
        name: String::new(),
        what: "a mass".into(),
        mass: Symmetric::diagonal(&[1.3, 1.3]),
        stiffness: Symmetric::new(2, vec![(0, 0, 40.0), (0, 1, 9.0), (1, 0, 9.0), (1, 1, 15.0)]),
        damping: Damping::Rayleigh(0.1, 0.0),
        layout: Layout::Matrices { direction: None, nodes: Vec::new() },
        carried: None,
        gyroscopic: None,
        circulatory: None,
        is_lumped_body: true,
    }
}

const RADIUS: f64 = 0.01;
const CENTRE: [f64; 2] = [0.02, 0.05];
const LOAD: f64 = 0.7;

fn bored(stiffness: Option<f64>, is_hertz: bool) -> Structure {
    let mut made = Builder::new("preloaded tube");
    let part = made.part(mass());
    let (y, z) = (made.point("y", part.dof(1)), made.point("z", part.dof(2)));
    made.force(&y, LOAD);
    made.hole("hole", [&y, &z], Bored { radius: RADIUS, centre: CENTRE, restitution: 0.0, stiffness });
    if is_hertz {
        made.hertzian();
    }
    made.start(at_rest());
    made.build().expect("a structure")
}

/// The potential of the mass, with what the hole adds beyond its radius.
fn potential(x: [f64; 2], stiffness: f64, is_hertz: bool) -> f64 {
    let depth = ((x[0] - CENTRE[0]).hypot(x[1] - CENTRE[1]) - RADIUS).max(0.0);
    let push = if is_hertz { 0.4 * stiffness * depth.powf(2.5) } else { 0.5 * stiffness * depth * depth };
    20.0 * x[0] * x[0] + 9.0 * x[0] * x[1] + 7.5 * x[1] * x[1] - LOAD * x[0] + push
}

/// The place of its minimum: over angles and, for a spring, radii, by ternary searches, which need no slope.
fn lowest(stiffness: Option<f64>, is_hertz: bool) -> [f64; 2] {
    let place = |angle: f64, far: f64| [CENTRE[0] + far * angle.cos(), CENTRE[1] + far * angle.sin()];
    let search = |of: &dyn Fn(f64) -> f64, mut a: f64, mut b: f64| {
        for _ in 0..200 {
            let (c, d) = (a + (b - a) / 3.0, b - (b - a) / 3.0);
            if of(c) < of(d) { b = d } else { a = c }
        }
        0.5 * (a + b)
    };
    let k = stiffness.unwrap_or(0.0);
    let far = |angle: f64| match stiffness {
        None => RADIUS,
        Some(_) => search(&|far| potential(place(angle, far), k, is_hertz), 0.0, 0.06),
    };
    let angle = search(&|angle| potential(place(angle, far(angle)), k, is_hertz), 3.2, 5.5);
    place(angle, far(angle))
}

#[test]
fn a_tube_pressed_into_a_hole_rests_at_the_minimum_of_its_energy() {
    for (stiffness, is_hertz) in [(None, false), (Some(500.0), false), (Some(2e6), false), (Some(3e4), true)] {
        let structure = bored(stiffness, is_hertz);
        let rest = structure.static_contact(0.0).expect("an equilibrium");
        let exact = lowest(stiffness, is_hertz);
        let off = (rest.points[0] - exact[0]).hypot(rest.points[1] - exact[1]);
        // (A minimum is known to half of the digits of its value.)
        assert!(off < 1e-7 * RADIUS.hypot(0.05), "{stiffness:?} {is_hertz}: {:?} for {exact:?}", rest.points);
        assert!(rest.residual < 1e-10, "{stiffness:?}: {}", rest.residual);
        assert!(rest.reactions[0] > 0.1 && rest.gaps[0].abs() < 1e-12, "{:?} {:?}", rest.reactions, rest.gaps);
        // What starts there stays there, and presses as it did.
        let run =
            structure.run(&Options::steps("paoli-schatzman", 1e-4).until(0.2)).expect("runs").ok().expect("sound");
        let last = run.trajectory.q(run.trajectory.len() - 1);
        assert!((last[0] - rest.points[0]).hypot(last[1] - rest.points[1]) < 1e-9, "{last:?} for {:?}", rest.points);
        let impulse: f64 = run.touches.iter().map(|t| t.impulse).sum();
        assert!((impulse / 0.2 - rest.reactions[0]).abs() < 1e-5 * rest.reactions[0], "{impulse} {:?}", rest.reactions);
    }
}

/// A mass on a spring k₀, pressed against a support of Hertz' law by a force: k δ^{3/2} + k₀ (gap + δ) = F.
#[test]
fn a_support_of_hertz_law_is_compressed_as_by_hand() {
    for (force, k) in [(5.0, 2e4), (80.0, 1e3), (1e-6, 1e9)] {
        let mut made = Builder::new("hertz");
        let part = made.part(saltus::structure::bar::building(&[1.0], &[10.0]).expect("a mass"));
        let x = made.point("x", part.floor(1));
        made.force(&x, force);
        made.spring_stop("support", 1e-9 - &x, k);
        made.hertzian();
        made.start(at_rest());
        let structure = made.build().expect("a structure");
        let rest = structure.static_contact(0.0).expect("an equilibrium");
        let depth = rest.points[0] - 1e-9;
        let balance = k * depth.powf(1.5) + 10.0 * rest.points[0] - force;
        assert!(balance.abs() < 1e-12 * force && (rest.reactions[0] - k * depth.powf(1.5)).abs() < 1e-12 * force);
        let run =
            structure.run(&Options::steps("paoli-schatzman", 1e-4).until(0.05)).expect("runs").ok().expect("sound");
        let mean: f64 = run.touches.iter().map(|t| t.impulse).sum::<f64>() / 0.05;
        assert!((mean - rest.reactions[0]).abs() < 1e-8 * force, "{mean} for {}", rest.reactions[0]);
    }
}

/// Many supports close to each other on one beam, rigid, of springs, of Hertz' law and holes: the forces balance, and every law holds.
#[test]
fn many_supports_on_a_beam_find_their_equilibrium() {
    let mut made = Builder::new("beams");
    let section = Section { rigidity: 525.0, mass_per_length: 1.0 };
    let parts = [0, 1].map(|_| made.part(Beam::hermite(4.0, section, 80)));
    for (k, part) in parts.iter().enumerate() {
        let all = made.point(&format!("load{k}"), part.place(Place::Span(0.0, 4.0)));
        made.force(&all, if k == 0 { -4000.0 } else { 700.0 });
    }
    let mut laws = Vec::new();
    for i in 1..=24 {
        let [y, z] = [0, 1].map(|k| made.point(&format!("{}{i}", ["y", "z"][k]), parts[k].at(0.15 * i as f64)));
        let level = 1e-4 * (i as f64).sin();
        match i % 4 {
            0 => made.stop(&format!("r{i}"), format!("y{i} - ({level:?})"), 0.0),
            1 => made.spring_stop(&format!("s{i}"), format!("y{i} - ({level:?})"), 3e5),
            2 => {
                made.spring_stop(&format!("h{i}"), format!("y{i} - ({level:?})"), 4e8);
                made.hertzian();
            }
            _ => {
                let hole = Bored { radius: 2e-4, centre: [level, -level], restitution: 0.0, stiffness: None };
                made.hole(&format!("o{i}"), [&y, &z], hole);
            }
        }
        laws.push(i % 4);
    }
    made.start(at_rest());
    let structure = made.build().expect("a structure");
    let rest = structure.static_contact(0.0).expect("an equilibrium");
    assert!(rest.residual < 1e-8, "{}", rest.residual);
    let acting = rest.reactions.iter().filter(|r| **r > 0.0).count();
    assert!(acting > 6, "{:?}", rest.reactions);
    for (a, law) in laws.iter().enumerate() {
        let (gap, force) = (rest.gaps[a], rest.reactions[a]);
        assert!(gap > -1e-13 && force >= 0.0 && (force == 0.0 || gap < 1e-12), "{a} of {law}: {gap} {force}");
    }
}
