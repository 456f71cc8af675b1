//! The impact law with friction creates no energy at walls at rest, and is what it says it is.

use saltus::contact::{Coulomb, FrictionImpact, FrictionImpactLaw, Law};
use saltus::linalg::Dice;

/// Bodies with a mass each, rows H, a velocity.
struct Scene {
    mass: Vec<f64>,
    rows: Vec<Vec<f64>>,
    laws: Vec<Law>,
    v: Vec<f64>,
}

impl Scene {
    fn random(dice: &mut Dice) -> Scene {
        let mut laws = Vec::new();
        for _ in 0..1 + dice.bits() % 4 {
            let mu = dice.between(0.0, 2.0);
            laws.push(match dice.bits() % 4 {
                0 => Law::Unilateral,
                1 => Law::Coulomb { mu, tangents: 1 },
                _ => Law::Coulomb { mu, tangents: 2 },
            });
        }
        (0..dice.bits() % 3).for_each(|_| laws.push(Law::Joint));
        let n: usize = laws.iter().map(|law| law.unknowns()).sum();
        let dof = n + (dice.bits() % 3) as usize;
        let mass = (0..dof).map(|_| 10f64.powf(dice.between(-1.0, 1.0))).collect();
        let rows = (0..n).map(|_| (0..dof).map(|_| dice.between(-1.0, 1.0)).collect()).collect();
        let v = (0..dof).map(|_| dice.between(-1.0, 1.0)).collect();
        Scene { mass, rows, laws, v }
    }

    fn d(&self) -> Vec<f64> {
        let n = self.rows.len();
        let entry = |i: usize, j: usize| {
            (0..self.mass.len()).map(|k| self.rows[i][k] * self.rows[j][k] / self.mass[k]).sum::<f64>()
        };
        (0..n * n).map(|k| entry(k / n, k % n)).collect()
    }

    fn u(&self, v: &[f64]) -> Vec<f64> {
        self.rows.iter().map(|row| row.iter().zip(v).map(|(h, v)| h * v).sum()).collect()
    }

    fn after(&self, p: &[f64]) -> Vec<f64> {
        let pushed = |k: usize| self.rows.iter().zip(p).map(|(row, p)| row[k] * p).sum::<f64>();
        (0..self.v.len()).map(|k| self.v[k] + pushed(k) / self.mass[k]).collect()
    }

    fn energy(&self, v: &[f64]) -> f64 {
        self.mass.iter().zip(v).map(|(m, v)| 0.5 * m * v * v).sum()
    }
}

/// ΔT with restitutions times a factor, without any reduction; of several solutions the one near `p`.
fn unreduced(impact: &FrictionImpact, p: &[f64], factor: f64) -> f64 {
    let FrictionImpact { d, u_before: u, laws, restitution: e, tangential, .. } = *impact;
    let mut b = u.to_vec();
    let mut at = 0;
    for (k, law) in laws.iter().enumerate() {
        for i in 0..law.unknowns() {
            let e = if i == 0 { e[k] } else { tangential[k] };
            b[at + i] *= 1.0 + if *law == Law::Joint { 0.0 } else { factor * e };
        }
        at += law.unknowns();
    }
    let n = u.len();
    let mut p = p.to_vec();
    Coulomb::new(n).solve(d, &b, laws, &mut p).expect("a solution");
    let after = |i: usize| u[i] + (0..n).map(|j| d[i * n + j] * p[j]).sum::<f64>();
    (0..n).map(|i| 0.5 * p[i] * (after(i) + u[i])).sum()
}

/// Rounding in P·U and P·DP: rows that almost coincide have large opposite impulses.
fn rounding(d: &[f64], u: &[f64], p: &[f64]) -> f64 {
    let n = u.len();
    let terms = |i: usize| u[i].abs() + (0..n).map(|j| (d[i * n + j] * p[j]).abs()).sum::<f64>();
    2e-14 * (0..n).map(|i| p[i].abs() * terms(i)).sum::<f64>()
}

/// The double pendulum of Kane and Levinson (Dynamics, 1985): two rods of length and mass 1 at 20° and 30° from the
/// vertical, its end hits the floor. D, U⁻ and the energy before.
fn kane() -> ([f64; 4], [f64; 2], f64) {
    let (a, b) = (20f64.to_radians(), 30f64.to_radians());
    let (m11, m12, m22) = (4.0 / 3.0, 0.5 * (a - b).cos(), 1.0 / 3.0);
    let det = m11 * m22 - m12 * m12;
    let form =
        |x: [f64; 2], y: [f64; 2]| (m22 * x[0] * y[0] - m12 * (x[0] * y[1] + x[1] * y[0]) + m11 * x[1] * y[1]) / det;
    let (normal, tangent) = ([a.sin(), b.sin()], [a.cos(), b.cos()]);
    let v = [-0.1, -0.2];
    let u = [normal, tangent].map(|h| h[0] * v[0] + h[1] * v[1]);
    let energy = 0.5 * (m11 * v[0] * v[0] + 2.0 * m12 * v[0] * v[1] + m22 * v[1] * v[1]);
    ([form(normal, normal), form(normal, tangent), form(normal, tangent), form(tangent, tangent)], u, energy)
}

#[test]
fn the_double_pendulum_of_kane_gains_nothing() {
    let (d, u, before) = kane();
    for (e, mu) in [(0.5, 0.3), (0.5, 0.5), (0.7, 0.5), (0.7, 0.7), (1.0, 1.0)] {
        let laws = [Law::Coulomb { mu, tangents: 1 }];
        let mut law = FrictionImpactLaw::new(2);
        let mut p = [0.0; 2];
        let impact = FrictionImpact {
            d: &d,
            u_before: &u,
            walls: &[0.0; 2],
            laws: &laws,
            restitution: &[e],
            tangential: &[0.0],
        };
        // Newton's restitution and Coulomb's friction would create energy, for e = 0.7 and μ = 0.5 more than there was.
        let gain = unreduced(&impact, &p, 1.0);
        assert!(gain > 0.05 * before);
        assert!((e, mu) != (0.7, 0.5) || gain > 1.5 * before);
        let outcome = law.apply(&impact, &mut p).expect("an impact");
        assert!(outcome.factor > 0.0 && outcome.factor < 1.0);
        assert!(outcome.energy.abs() <= 1e-13 * before, "{outcome:?}");
        assert!((law.u_after()[0] + outcome.factor * e * u[0]).abs() < 1e-15);
        // Where it sticks: ΔT = −½ ((1 − x²) A_NN U_N² + 2 A_NT U_N U_T + A_TT U_T²) with A = D⁻¹ and x the restitution.
        if mu >= 0.5 {
            let ratio = (-2.0 * d[1] * u[0] * u[1] + d[0] * u[1] * u[1]) / (d[3] * u[0] * u[0]);
            assert!((outcome.factor * e - (1.0 + ratio).sqrt()).abs() < 1e-13, "{outcome:?}");
        }
    }
}

/// 10,000 impacts with any e, e_T and μ: the kinetic energy never grows, and the factor is the largest one.
#[test]
fn energy_never_grows_at_walls_at_rest() {
    let mut dice = Dice::new(1985);
    let (mut reduced, mut law) = (0, FrictionImpactLaw::new(1));
    for number in 0..10_000 {
        let scene = Scene::random(&mut dice);
        let blocks = scene.laws.len();
        let e: Vec<f64> = (0..blocks).map(|_| dice.between(0.0, 1.0)).collect();
        let tangential: Vec<f64> = (0..blocks).map(|_| dice.between(-0.3, 1.0).max(0.0)).collect();
        let (d, u) = (scene.d(), scene.u(&scene.v));
        let walls = vec![0.0; u.len()];
        let impact = FrictionImpact {
            d: &d,
            u_before: &u,
            walls: &walls,
            laws: &scene.laws,
            restitution: &e,
            tangential: &tangential,
        };
        let mut p = vec![0.0; u.len()];
        let outcome = law.apply(&impact, &mut p).unwrap_or_else(|error| panic!("{number}: {error}"));
        let after = scene.after(&p);
        let (before, now) = (scene.energy(&scene.v), scene.energy(&after));
        let noise = 1e-12 * before + rounding(&d, &u, &p);
        assert!(now <= before + noise, "{number}: {before} {now}");
        assert!((now - before - outcome.energy).abs() <= 10.0 * noise, "{number}: {} {outcome:?}", now - before);
        for (u, expected) in law.u_after().iter().zip(scene.u(&after)) {
            assert!((u - expected).abs() < 1e-9 * (1.0 + expected.abs()));
        }
        if outcome.factor < 1.0 {
            reduced += 1;
            let above = outcome.factor + 1e-7 * (1.0 - outcome.factor);
            assert!(unreduced(&impact, &p, above) > -noise, "{number}: {outcome:?}");
        }
    }
    assert!(reduced > 300, "{reduced}");
}

/// With e = e_T nothing has to be reduced, and ΔT is the closed form.
#[test]
fn one_restitution_for_all_needs_no_reduction() {
    let mut dice = Dice::new(8);
    let mut law = FrictionImpactLaw::new(20);
    for number in 0..2000 {
        let mut scene = Scene::random(&mut dice);
        let e = if number % 4 == 0 { 1.0 } else { dice.between(0.0, 1.0) };
        scene.laws.retain(|law| *law != Law::Joint);
        let n = scene.laws.iter().map(|law| law.unknowns()).sum();
        scene.rows.truncate(n);
        let (d, u) = (scene.d(), scene.u(&scene.v));
        let all = vec![e; scene.laws.len()];
        let impact = FrictionImpact {
            d: &d,
            u_before: &u,
            walls: &vec![0.0; n],
            laws: &scene.laws,
            restitution: &all,
            tangential: &all,
        };
        let mut p = vec![0.0; n];
        let outcome = law.apply(&impact, &mut p).expect("an impact");
        assert_eq!(outcome.factor, 1.0);
        let change: Vec<f64> = (0..n).map(|i| (0..n).map(|j| d[i * n + j] * p[j]).sum()).collect();
        let (mut friction, mut at) = (0.0, 0);
        for block in &scene.laws {
            if let Law::Coulomb { mu, tangents } = *block {
                let slip = (at + 1..=at + tangents).fold(0.0f64, |s, i| s.hypot(change[i] + (1.0 + e) * u[i]));
                friction += mu * p[at] * slip;
            }
            at += block.unknowns();
        }
        let form: f64 = p.iter().zip(&change).map(|(p, c)| p * c).sum();
        let expected = -friction / (1.0 + e) - 0.5 * (1.0 - e) / (1.0 + e) * form;
        let noise = 1e-12 * (form + friction) + rounding(&d, &u, &p);
        assert!((outcome.energy - expected).abs() <= noise, "{number}: {outcome:?} {expected}");
    }
}

/// Walls that move: in a frame that moves with the system everything is the same, and the account of energy closes.
#[test]
fn moving_walls() {
    let mut dice = Dice::new(9);
    let mut law = FrictionImpactLaw::new(20);
    for number in 0..500 {
        let scene = Scene::random(&mut dice);
        let n = scene.rows.len();
        let walls: Vec<f64> = (0..n).map(|_| dice.between(-0.5, 0.5)).collect();
        let u: Vec<f64> = scene.u(&scene.v).iter().zip(&walls).map(|(u, c)| u + c).collect();
        let (e, tangential) = (vec![0.8; scene.laws.len()], vec![0.0; scene.laws.len()]);
        let d = scene.d();
        let mut impact = FrictionImpact {
            d: &d,
            u_before: &u,
            walls: &walls,
            laws: &scene.laws,
            restitution: &e,
            tangential: &tangential,
        };
        let mut p = vec![0.0; n];
        let outcome = law.apply(&impact, &mut p).expect("an impact");
        let change = scene.energy(&scene.after(&p)) - scene.energy(&scene.v);
        let size: f64 = p.iter().zip(&u).zip(&walls).map(|((p, u), c)| (p * u).abs() + (p * c).abs()).sum();
        assert!((change - outcome.energy - outcome.wall_work).abs() < 1e-11 * (size + 1.0), "{number}");
        // Relative to the walls nothing is gained beyond rounding in P·DP.
        let terms: f64 = (0..n).map(|i| (0..n).map(|j| (p[i] * d[i * n + j] * p[j]).abs()).sum::<f64>()).sum();
        assert!(outcome.energy <= 1e-12 * (size + terms), "{number}: {outcome:?}");
        // The same velocities relative to the walls, with walls at rest.
        let rest = vec![0.0; n];
        impact.walls = &rest;
        let mut q = vec![0.0; n];
        let relative = law.apply(&impact, &mut q).expect("an impact");
        assert_eq!((p, outcome.energy, outcome.factor), (q, relative.energy, relative.factor));
    }
}
