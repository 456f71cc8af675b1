//! Round holes with clearance: against SciPy (`reference.py`), closed forms, and polygons that converge to them.

use saltus::linalg::Symmetric;
use saltus::structure::{Bored, Builder, Damping, InitialState, Layout, Part, Structure};
use saltus::{Options, Run, Side};

const MASS: f64 = 1.3;
const CLEARANCE: f64 = 0.01;
const OFF: [f64; 2] = [0.004, -0.003];

/// Two displacements of one mass, with springs of their own.
fn mass(mass: f64, stiffness: [f64; 2]) -> Part {
    Part {
        name: String::new(),
        what: "a mass".into(),
        mass: Symmetric::diagonal(&[mass, mass]),
        stiffness: Symmetric::diagonal(&stiffness),
        damping: Damping::None,
        layout: Layout::Matrices { direction: None, nodes: Vec::new() },
        carried: None,
        gyroscopic: None,
        circulatory: None,
        is_lumped_body: true,
    }
}

#[derive(Clone, Copy, Debug)]
struct Support {
    centre: [f64; 2],
    stiffness: Option<f64>,
    restitution: f64,
    damping: f64,
    is_hertz: bool,
    friction: Option<f64>,
}

const PLAIN: Support =
    Support { centre: OFF, stiffness: None, restitution: 0.0, damping: 0.0, is_hertz: false, friction: None };

fn held(part: Part, support: Support, start: InitialState) -> Structure {
    let mut made = Builder::new("tube in a hole");
    let part = made.part(part);
    let (y, z) = (made.point("y", part.dof(1)), made.point("z", part.dof(2)));
    let Support { centre, stiffness, restitution, damping, is_hertz, friction } = support;
    made.hole("hole", [&y, &z], Bored { radius: CLEARANCE, centre, restitution, stiffness });
    made.damped(damping);
    if is_hertz {
        made.hertzian();
    }
    if let Some(friction) = friction {
        made.rubs(friction, &[]);
    }
    made.start(start);
    made.build().expect("a structure")
}

fn thrown(support: Support, v: [f64; 2]) -> Structure {
    let start = InitialState { velocities: Some(v.to_vec()), ..InitialState::default() };
    held(mass(MASS, [20.0, 35.0]), support, start)
}

fn run(structure: &Structure, h: f64, end: f64) -> Run {
    structure.run(&Options::steps("paoli-schatzman", h).until(end)).expect("runs").ok().expect("sound")
}

fn last(run: &Run) -> [f64; 2] {
    let q = run.trajectory.q(run.trajectory.len() - 1);
    [q[0], q[1]]
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

#[test]
fn springs_dashpots_and_friction_in_a_hole_converge_to_scipy() {
    let (slow, fast) = ([0.9, 0.4], [0.6, 0.8]);
    let spring = Support { stiffness: Some(4e4), ..PLAIN };
    for (support, v, end, exact, order) in [
        (Support { centre: [0.0; 2], ..spring }, slow, 0.3, [-0.005012089358843755, -0.0024108118628183434], 2.0),
        (Support { damping: 60.0, ..spring }, slow, 0.3, [0.009165179969062315, 0.00613335650726871], 1.0),
        (Support { friction: Some(0.05), ..spring }, fast, 0.12, [0.0067294031270291035, -0.008714611916348633], 1.0),
        (
            Support { damping: 30.0, friction: Some(0.05), ..spring },
            fast,
            0.12,
            [0.002091381370170218, 0.003322805592074622],
            1.0,
        ),
        (
            Support { stiffness: Some(5e5), is_hertz: true, damping: 0.4, friction: Some(0.05), ..PLAIN },
            fast,
            0.12,
            [-0.0009354238603458975, 0.006184982805729479],
            1.0,
        ),
    ] {
        let structure = thrown(support, v);
        let (coarse, fine) = (run(&structure, 1e-4, end), run(&structure, 1e-5, end));
        let (far, near) = (distance(last(&coarse), exact), distance(last(&fine), exact));
        println!("{support:?}: {far:e} {near:e}, {:?}", fine.rubbed);
        assert!(near < far / 10f64.powf(0.8 * order) || near < 1e-9, "{support:?}: {far:e}, {near:e}");
        assert!(near < 4e-6, "{support:?}: {near:e}");
        let balance = &fine.ledger.balance;
        assert!(balance.relative() < 1e-9, "{support:?}: {balance:?}");
        if support.damping == 0.0 && support.friction.is_none() {
            assert!(balance.dissipated_at_impacts.abs() < 1e-9, "{balance:?}");
        }
        assert_eq!(fine.rubbed.len(), usize::from(support.friction.is_some()));
    }
}

#[test]
fn a_rigid_hole_bounces_as_the_law_says() {
    for (e, end, exact) in [
        (1.0, 0.12, [0.008087234539460338, 0.00019266545718207525]),
        (0.6, 0.05, [0.005136170749760517, -0.012472708431734347]),
    ] {
        let structure = thrown(Support { restitution: e, ..PLAIN }, [0.6, 0.8]);
        let errors = [4e-5, 4e-6].map(|h| distance(last(&run(&structure, h, end)), exact));
        println!("e = {e}: {errors:?}");
        assert!(errors[1] < errors[0] / 5.0 && errors[1] < 5e-5, "e = {e}: {errors:?}");
    }
}

/// A free mass that slides around: it slows down as v' = −μ v²/c, v = v₀/(1 + μ v₀ t/c), and its friction has taken the rest.
#[test]
fn what_slides_around_a_hole_slows_down_as_friction_says() {
    for friction in [None, Some(0.2)] {
        let support = Support { centre: [0.0; 2], friction, ..PLAIN };
        let start = InitialState {
            displacements: Some(vec![CLEARANCE, 0.0]),
            velocities: Some(vec![0.0, 0.5]),
            ..InitialState::default()
        };
        let structure = held(mass(2.0, [0.0, 0.0]), support, start);
        let (mu, end) = (friction.unwrap_or(0.0), 0.2);
        let speed = 0.5 / (1.0 + mu * 0.5 * end / CLEARANCE);
        let way = match friction {
            Some(mu) => CLEARANCE / mu * (1.0 + mu * 0.5 * end / CLEARANCE).ln(),
            None => 0.5 * end,
        };
        let angle = way / CLEARANCE;
        let exact = [CLEARANCE * angle.cos(), CLEARANCE * angle.sin()];
        let mut errors = Vec::new();
        for h in [2e-4, 2e-5] {
            let run = run(&structure, h, end);
            errors.push(distance(last(&run), exact));
            let k = run.trajectory.len() - 1;
            let v = run.trajectory.v(k, Side::Left);
            // The nearest point of a disc is a little behind: θ³ in a step of θ, a loss of first order.
            assert!((v[0].hypot(v[1]) - speed).abs() < 300.0 * h, "{v:?} for {speed}");
            assert!(run.audit.max_violation < 1e-9, "{:?}", run.audit);
            // ½m(v₀² − v²) is heat, and the wear sum is ∫ F |v_T| dt = heat over μ.
            let heat = 0.25 - speed * speed;
            if let Some(mu) = friction {
                let done = run.rubbed[0];
                assert!((done.work - heat).abs() < 300.0 * h * heat, "{done:?} for {heat}");
                assert!((done.distance - way).abs() < 0.02 * way && done.stuck == 0.0, "{done:?} for {way}");
                let wear: f64 = run.touches.iter().map(|t| t.wear).sum();
                assert!((wear - heat / mu).abs() < 300.0 * h * heat / mu, "{wear} for {}", heat / mu);
            }
        }
        println!("{friction:?}: {errors:?}");
        assert!(errors[1] < errors[0] / 5.0 && errors[1] < 6e-4, "{friction:?}: {errors:?}");
    }
}

/// The same mass in a polygon of plane facets around the circle.
fn faceted(facets: usize) -> Structure {
    let mut made = Builder::new("polygon");
    let part = made.part(mass(MASS, [20.0, 35.0]));
    made.point("y", part.dof(1));
    made.point("z", part.dof(2));
    for k in 0..facets {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / facets as f64).sin_cos();
        let ([y, z], c) = (OFF, CLEARANCE);
        made.stop(&format!("facet {k}"), format!("{c:?} - ({cos:?})*(y - ({y:?})) - ({sin:?})*(z - ({z:?}))"), 0.0);
    }
    made.start(InitialState { velocities: Some(vec![0.6, 0.8]), ..InitialState::default() });
    made.build().expect("a structure")
}

#[test]
fn facets_converge_to_the_hole() {
    let (h, end) = (2e-5, 0.03);
    let round = last(&run(&thrown(PLAIN, [0.6, 0.8]), h, end));
    let off: Vec<f64> = [4, 8, 16, 64].map(|n| distance(last(&run(&faceted(n), h, end)), round)).to_vec();
    println!("{off:?}");
    // What goes around a polygon without restitution loses a little at each of its corners: first order in their number.
    assert!(off[3] < 2e-4 && off[3] < off[2] / 2.5 && off[2] < off[1] / 2.5, "{off:?}");
}
