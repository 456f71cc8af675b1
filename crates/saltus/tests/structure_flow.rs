//! Unsymmetric C and K (flow around tubes, rotation): closed forms, the matrix exponential, all modes beside the degrees of freedom.

use saltus::linalg::{Skew, Symmetric};
use saltus::structure::{Builder, Damping, InitialState, Layout, Part, Structure};
use saltus::{Options, Run, Side};

type Matrix = Vec<Vec<f64>>;

/// Matrices with a start, and stops on degrees of freedom: gap, dof from 1, restitution.
fn structure(m: &[f64], c: &Matrix, k: &Matrix, start: (&[f64], &[f64]), stops: &[(f64, usize, f64)]) -> Structure {
    let n = m.len();
    let entries = |a: &Matrix| -> Vec<(usize, usize, f64)> {
        (0..n * n).map(|e| (e / n, e % n, a[e / n][e % n])).filter(|e| e.2 != 0.0).collect()
    };
    let (damping, gyroscopic) = Skew::split(n, &entries(c));
    let (stiffness, circulatory) = Skew::split(n, &entries(k));
    let mut made = Builder::new("flow");
    let part = made.part(Part {
        name: String::new(),
        what: "matrices".into(),
        mass: Symmetric::diagonal(m),
        stiffness,
        damping: Damping::Matrix(damping),
        gyroscopic,
        circulatory,
        layout: Layout::Matrices { direction: None, nodes: Vec::new() },
        carried: None,
        is_lumped_body: true,
    });
    let points: Vec<_> = (1..=n).map(|i| made.point(&format!("u{i}"), part.dof(i))).collect();
    for (a, (gap, dof, e)) in stops.iter().enumerate() {
        made.stop(&format!("stop{a}"), *gap - &points[dof - 1], *e);
    }
    made.start(InitialState {
        displacements: Some(start.0.to_vec()),
        velocities: Some(start.1.to_vec()),
        ..InitialState::default()
    });
    made.build().expect("a structure")
}

/// A row of three tubes, each with two directions: damping that is not proportional, flow that couples neighbours one way more than
/// the other, in velocity and in displacement.
fn bundle() -> (Vec<f64>, Matrix, Matrix) {
    let n = 6;
    let m: Vec<f64> = (0..n).map(|i| 1.0 + 0.2 * i as f64).collect();
    let (mut c, mut k) = (vec![vec![0.0; n]; n], vec![vec![0.0; n]; n]);
    for i in 0..n {
        k[i][i] = 40.0 + 6.0 * i as f64;
        c[i][i] = 0.05 + 0.3 * (i % 2) as f64;
        if i >= 2 {
            (k[i][i - 2], k[i - 2][i]) = (-9.0, -3.0);
            (c[i][i - 2], c[i - 2][i]) = (0.4, -0.1);
        }
        if i % 2 == 1 {
            (c[i][i - 1], c[i - 1][i]) = (0.8, -0.7);
        }
    }
    (m, c, k)
}

/// exp(At) x by Taylor series in short pieces.
fn exponential(m: &[f64], c: &Matrix, k: &Matrix, t: f64, start: (&[f64], &[f64])) -> Vec<f64> {
    let n = m.len();
    let rate = |x: &[f64]| -> Vec<f64> {
        let force = |i: usize| -> f64 { (0..n).map(|j| c[i][j] * x[n + j] + k[i][j] * x[j]).sum() };
        (0..2 * n).map(|i| if i < n { x[n + i] } else { -force(i - n) / m[i - n] }).collect()
    };
    let pieces = 400;
    let mut x: Vec<f64> = start.0.iter().chain(start.1).copied().collect();
    for _ in 0..pieces {
        let mut term = x.clone();
        for order in 1..25 {
            term = rate(&term).iter().map(|r| r * t / pieces as f64 / order as f64).collect();
            x.iter_mut().zip(&term).for_each(|(x, d)| *x += d);
        }
    }
    x
}

fn end(run: &Run) -> Vec<f64> {
    let motion = &run.trajectory;
    motion.q(motion.len() - 1).to_vec()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

#[test]
fn every_scheme_converges_to_the_matrix_exponential() {
    let (m, c, k) = bundle();
    let start = (&[0.1, 0.0, -0.2, 0.05, 0.0, 0.0][..], &[0.0, 1.0, 0.0, 0.0, -0.5, 0.0][..]);
    let exact = exponential(&m, &c, &k, 3.0, start);
    let structure = structure(&m, &c, &k, start, &[(1e3, 1, 0.0)]);
    for scheme in ["paoli-schatzman", "moreau-jean"] {
        let error = |h: f64| {
            let options = Options::steps(scheme, h).until(3.0);
            let run = structure.run(&options).expect("runs");
            assert!(run.ledger.balance.relative() < 1e-9, "{scheme}: {}", run.ledger.balance.relative());
            // All modes are the same thing in other coordinates.
            let modal = structure.run(&options.modes(6)).expect("runs");
            assert!(apart(&end(&run), &end(&modal)) < 1e-11, "{scheme} {h}");
            assert!(modal.ledger.balance.relative() < 1e-9, "{scheme}: {}", modal.ledger.balance.relative());
            apart(&end(&run), &exact[..6])
        };
        let (coarse, fine) = (error(2e-3), error(1e-3));
        assert!(fine < 2e-5 && (coarse / fine - 4.0).abs() < 0.05, "{scheme}: {coarse:e} {fine:e}");
    }
    let run = structure.run(&Options::events(3.0).scheme("event-driven")).expect("runs");
    assert!(apart(&end(&run), &exact[..6]) < 1e-9, "{:e}", apart(&end(&run), &exact[..6]));
    assert!(run.ledger.balance.relative() < 1e-9, "{}", run.ledger.balance.relative());
}

#[test]
fn flutter_grows_as_it_should() {
    // K (1, i) = (1 + ip)(1, i): u = Re((1, i) e^{λt}) with λ² = −(1 + ip), which grows.
    let (p, t) = (0.3_f64, 20.0);
    let size = 1.0_f64.hypot(p).sqrt();
    let angle = 0.5 * (std::f64::consts::PI + p.atan());
    let (sigma, omega) = (size * angle.cos(), size * angle.sin());
    // Of both roots the one that grows; its conjugate partner belongs to (1, −i).
    let (sigma, omega) = if sigma > 0.0 { (sigma, omega) } else { (-sigma, -omega) };
    let k = vec![vec![1.0, p], vec![-p, 1.0]];
    let c = vec![vec![0.0; 2]; 2];
    let structure = structure(&[1.0, 1.0], &c, &k, (&[1.0, 0.0], &[sigma, -omega]), &[(1e9, 1, 0.0)]);
    let exact = [(sigma * t).exp() * (omega * t).cos(), -(sigma * t).exp() * (omega * t).sin()];
    let run = structure.run(&Options::events(t).scheme("event-driven")).expect("runs");
    assert!(apart(&end(&run), &exact) < 1e-8 * (sigma * t).exp(), "{:?} {exact:?}", end(&run));
    let error = |h: f64| {
        let run = structure.run(&Options::steps("paoli-schatzman", h).until(t)).expect("runs");
        assert!(run.ledger.balance.relative() < 1e-9, "{}", run.ledger.balance.relative());
        apart(&end(&run), &exact) / (sigma * t).exp()
    };
    let (coarse, fine) = (error(2e-2), error(1e-2));
    assert!(fine < 2e-3 && (coarse / fine - 4.0).abs() < 0.1, "{coarse:e} {fine:e}");
}

#[test]
fn gyroscopic_forces_keep_the_energy() {
    // Whirl of a rotor: u₁ + i u₂ = e^{iωt} with ω² + 2Ωω − k = 0.
    let (rate, k, t) = (1.5_f64, 4.0, 30.0);
    let omega = (rate * rate + k).sqrt() - rate;
    let c = vec![vec![0.0, -2.0 * rate], vec![2.0 * rate, 0.0]];
    let k = vec![vec![k, 0.0], vec![0.0, k]];
    let structure = structure(&[1.0, 1.0], &c, &k, (&[1.0, 0.0], &[0.0, omega]), &[(1e3, 1, 0.0)]);
    let run = structure.run(&Options::steps("paoli-schatzman", 1e-2).until(t)).expect("runs");
    let exact = [(omega * t).cos(), (omega * t).sin()];
    assert!(apart(&end(&run), &exact) < 1e-3, "{:?} {exact:?}", end(&run));
    let balance = &run.ledger.balance;
    assert!((balance.end / balance.start - 1.0).abs() < 1e-10, "{balance:?}");
}

#[test]
fn impacts_of_coupled_tubes_are_those_by_events() {
    let (m, c, k) = bundle();
    let start = (&[0.0; 6][..], &[1.0, 0.3, 0.9, 0.0, 0.8, 0.0][..]);
    let stops = [(0.05, 1, 0.0), (0.06, 3, 0.5), (0.04, 5, 0.0)];
    let structure = structure(&m, &c, &k, start, &stops);
    let exact = structure.run(&Options::events(2.0).scheme("event-driven")).expect("runs");
    assert!(exact.touches.len() >= 5, "{}", exact.touches.len());
    for (scheme, near) in [("paoli-schatzman", 3e-4), ("moreau-jean", 3e-4)] {
        let options = Options::steps(scheme, 2e-5).until(2.0);
        let run = structure.run(&options).expect("runs");
        let modal = structure.run(&options.modes(6)).expect("runs");
        assert!(apart(&end(&run), &end(&modal)) < 1e-9, "{scheme}: {:e}", apart(&end(&run), &end(&modal)));
        assert!(apart(&end(&run), &end(&exact)) < near, "{scheme}: {:e}", apart(&end(&run), &end(&exact)));
        assert!(run.ledger.balance.relative() < 1e-7, "{}", run.ledger.balance.relative());
    }
    // Velocities, too.
    let last = |run: &Run| run.trajectory.v(run.trajectory.len() - 1, Side::Right).to_vec();
    let run = structure.run(&Options::steps("paoli-schatzman", 2e-5).until(2.0)).expect("runs");
    assert!(apart(&last(&run), &last(&exact)) < 1e-2);
}

#[test]
fn two_stops_closed_at_once_share_an_unsymmetric_matrix() {
    // Two strongly coupled masses pressed against both stops by their springs: λ of each from the statics of K u = λ w.
    let c = vec![vec![2.0, 30.0], vec![-30.0, 2.0]];
    let k = vec![vec![50.0, 20.0], vec![-10.0, 50.0]];
    let stops = [(-0.1, 1, 0.0), (-0.2, 2, 0.0)];
    let structure = structure(&[1.0, 1.0], &c, &k, (&[-0.1, -0.2], &[0.0, 0.0]), &stops);
    let run = structure.run(&Options::steps("paoli-schatzman", 1e-3).until(1.0)).expect("runs");
    assert!(apart(&end(&run), &[-0.1, -0.2]) < 1e-12, "{:?}", end(&run));
    let history = &run.trajectory.history;
    let last = run.trajectory.len() - 1;
    for a in 0..2 {
        let force = (history.impulses(last)[a] - history.impulses(last / 2)[a])
            / (run.trajectory.t[last] - run.trajectory.t[last / 2]);
        let exact = 0.1 * k[a][0] + 0.2 * k[a][1];
        assert!((force / exact - 1.0).abs() < 1e-9, "{a}: {force} {exact}");
    }
    // The statics say the same.
    let rest = structure.static_contact(0.0).expect("statics");
    assert!((rest.reactions[0] / 9.0 - 1.0).abs() < 1e-12 && (rest.reactions[1] / 9.0 - 1.0).abs() < 1e-12, "{rest:?}");
    assert!(rest.residual < 1e-13, "{rest:?}");
}

#[test]
fn exact_flight_of_coupled_modes_is_refused() {
    let (m, c, k) = bundle();
    let structure = structure(&m, &c, &k, (&[0.0; 6], &[1.0; 6]), &[(1.0, 1, 0.0)]);
    let mut options = Options::steps("paoli-schatzman", 1e-3).until(1.0);
    options.settings.set("forcing", "exact");
    let error = structure.run(&options).expect_err("coupled");
    assert!(error.to_string().contains("couples the modes"), "{error}");
}

/// The lowest frequencies of equal tubes, each as often as there are tubes, whatever finds them.
#[test]
fn equal_parts_have_all_their_modes() {
    use saltus::structure::Beam;
    use saltus::structure::beam::Section;
    let section = Section { rigidity: 3.0, mass_per_length: 1.0 };
    for (tubes, elements) in [(7, 5), (9, 60)] {
        let mut made = Builder::new("bundle");
        for k in 0..tubes {
            let part = made.part(Beam::hermite(1.0, section, elements));
            let tip = made.point(&format!("tip{k}"), part.at(1.0));
            made.stop(&format!("stop{k}"), 1.0 - &tip, 0.0);
        }
        let structure = made.build().expect("a structure");
        let modes = structure.modes(3 * tubes).expect("modes");
        for k in 0..3 {
            let own = &modes.squares[k * tubes..(k + 1) * tubes];
            let exact = 3.0 * [1.875_104_068_711_961_f64, 4.694_091_132_974_175, 7.854_757_438_237_613][k].powi(4);
            assert!(own.iter().all(|x| (x / exact - 1.0).abs() < 5e-2 / elements as f64), "{tubes}: {own:?} {exact}");
        }
        // Orthogonal, each of length one.
        let mass = &structure.linear().mass;
        for (i, a) in modes.shapes.iter().enumerate() {
            for (j, b) in modes.shapes.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((mass.form(a, b) - expected).abs() < 1e-9, "{tubes}: {i} {j}");
            }
        }
    }
}

/// All modes are the degrees of freedom in other coordinates, also where every frequency is the same.
#[test]
fn all_modes_of_equal_oscillators_move_as_they_do() {
    let n = 50;
    let c: Matrix = (0..n).map(|i| (0..n).map(|j| if j >= i { 1.0 } else { 0.0 }).collect()).collect();
    let k: Matrix = (0..n).map(|i| (0..n).map(|j| if j == i { 1e3 } else { 0.0 }).collect()).collect();
    let v: Vec<f64> = (0..n).map(|i| 1.0 - 0.01 * i as f64).collect();
    let structure = structure(&vec![1.0; n], &c, &k, (&vec![0.0; n], &v), &[(0.01, 1, 0.0), (0.02, 2, 0.5)]);
    let options = Options::steps("paoli-schatzman", 1e-3).until(1.0);
    let run = structure.run(&options).expect("runs");
    let modal = structure.run(&options.modes(n)).expect("runs");
    assert!(apart(&end(&run), &end(&modal)) < 1e-10, "{:e}", apart(&end(&run), &end(&modal)));
}
