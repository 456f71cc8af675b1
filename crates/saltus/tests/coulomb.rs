//! Contact with friction, joints and dry friction: the laws hold in every solution, on random problems of all kinds and scales, and
//! closed forms and brute force agree.

use saltus::contact::{Coulomb, Law, Status};
use saltus::linalg::{Dice, Metric, Rows};
use saltus::project::Polyhedron;

/// The largest violation of the laws by P, from nothing but the problem, relative to the size of the terms of W and P.
/// `noise` is the size of the numbers that b itself was computed from.
fn violation(d: &[f64], b: &[f64], noise: &[f64], laws: &[Law], p: &[f64]) -> f64 {
    let n = b.len();
    let term = |i: usize, j: usize| d[i * n + j] * p[j];
    let w: Vec<f64> = (0..n).map(|i| b[i] + (0..n).map(|j| term(i, j)).sum::<f64>()).collect();
    let size: Vec<f64> = (0..n)
        .map(|i| b[i].abs() + noise[i] + (0..n).map(|j| term(i, j).abs()).sum::<f64>())
        .map(|size| size.max(f64::MIN_POSITIVE))
        .collect();
    let (mut worst, mut at) = (0.0f64, 0);
    for &law in laws {
        let (normal, speed) = (p[at], w[at] / size[at]);
        let unilateral = if normal < 0.0 {
            f64::INFINITY
        } else if normal > 0.0 {
            speed.abs()
        } else {
            (-speed).max(0.0)
        };
        worst = worst.max(match law {
            Law::Joint => speed.abs(),
            Law::Unilateral => unilateral,
            Law::Coulomb { mu, tangents } => {
                let (force, slip) = (&p[at + 1..=at + tangents], &w[at + 1..=at + tangents]);
                let size = size[at + 1..=at + tangents].iter().fold(0.0f64, |m, s| m.max(*s));
                unilateral.max(friction(force, slip, mu * normal, size))
            }
            Law::Dry { limit } => friction(&p[at..=at], &w[at..=at], limit, size[at]),
        });
        at += law.unknowns();
    }
    assert_eq!(at, n);
    worst
}

/// |P| ≤ bound; either the slip W is rounding, or P is opposite to it and at the bound.
fn friction(p: &[f64], w: &[f64], bound: f64, size: f64) -> f64 {
    let length = |x: &[f64]| x.iter().fold(0.0f64, |l, x| l.hypot(*x));
    let outside = if bound > 0.0 { (length(p) / bound - 1.0).max(0.0) } else { length(p) };
    let slip = length(w);
    if bound == 0.0 || slip == 0.0 {
        return outside;
    }
    let off: Vec<f64> = p.iter().zip(w).map(|(p, w)| p / bound + w / slip).collect();
    outside.max(length(&off) * (slip / size))
}

struct Case {
    d: Vec<f64>,
    b: Vec<f64>,
    noise: Vec<f64>,
    laws: Vec<Law>,
}

/// D = H M⁻¹ Hᵀ of random bodies of all masses. If `redundant`, there may be more rows than degrees of freedom, rows are
/// copied, and b = 1.5 H v; else H is regular and b arbitrary.
fn case(dice: &mut Dice, redundant: bool) -> Case {
    let mut pick = |n: usize| (dice.bits() % n as u64) as usize;
    let (contacts, joints, sliders) = (1 + pick(6), [0, 0, 1, 2, 3][pick(5)], [0, 0, 1, 2][pick(4)]);
    let mut laws = Vec::new();
    for _ in 0..contacts {
        let mu = [0.0, 0.1, 0.5, 1.0, 2.0][pick(5)];
        laws.push(match pick(6) {
            0 => Law::Unilateral,
            1 | 2 => Law::Coulomb { mu, tangents: 1 },
            _ => Law::Coulomb { mu, tangents: 2 },
        });
    }
    laws.extend((0..joints).map(|_| Law::Joint));
    for k in (1..laws.len()).rev() {
        let other = pick(k + 1);
        laws.swap(k, other);
    }
    let global = 10f64.powf(dice.between(-9.0, 9.0));
    let wide = if dice.chance(0.5) { dice.between(0.0, 4.0) } else { 0.0 };
    for _ in 0..sliders {
        laws.push(Law::Dry { limit: dice.between(0.0, 2.0) * global });
    }
    let n: usize = laws.iter().map(|law| law.unknowns()).sum();
    let dof = if redundant { 1 + (dice.bits() % 12) as usize } else { n + (dice.bits() % 3) as usize };
    let mass: Vec<f64> = (0..dof).map(|_| global * 10f64.powf(dice.between(-wide, wide))).collect();
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for law in &laws {
        let length = 10f64.powf(dice.between(-wide / 4.0, wide / 4.0));
        let copy = if redundant && dice.chance(0.25) { rows.len().checked_sub(law.unknowns()) } else { None };
        for i in 0..law.unknowns() {
            let mut entry = || if dice.chance(0.8) { length * dice.between(-1.0, 1.0) } else { 0.0 };
            rows.push(copy.map_or_else(|| (0..dof).map(|_| entry()).collect(), |from| rows[from + i].clone()));
        }
    }
    let mut d = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            d[i * n + j] = (0..dof).map(|k| rows[i][k] * rows[j][k] / mass[k]).sum::<f64>();
            d[j * n + i] = d[i * n + j];
        }
    }
    let speed = 10f64.powf(dice.between(-3.0, 3.0));
    let v: Vec<f64> = (0..dof).map(|_| speed * dice.between(-1.0, 1.0)).collect();
    let (mut b, mut noise) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        if redundant {
            b[i] = 1.5 * (0..dof).map(|k| rows[i][k] * v[k]).sum::<f64>();
            noise[i] = 1.5 * (0..dof).map(|k| (rows[i][k] * v[k]).abs()).sum::<f64>();
        } else {
            b[i] = d[i * n + i].sqrt() * speed / global.sqrt() * dice.between(-1.5, 0.5);
        }
    }
    Case { d, b, noise, laws }
}

/// Whether rounding leaves D positive definite: the least pivot of its scaled Cholesky factor.
fn least_pivot(d: &[f64], n: usize) -> f64 {
    let scaled = |i: usize, j: usize| d[i * n + j] / (d[i * n + i] * d[j * n + j]).sqrt();
    let mut a: Vec<f64> = (0..n * n).map(|k| scaled(k / n, k % n)).collect();
    let mut least = 1.0f64;
    for k in 0..n {
        least = least.min(a[k * n + k]);
        for i in k + 1..n {
            let factor = a[i * n + k] / a[k * n + k];
            (k + 1..n).for_each(|j| a[i * n + j] -= factor * a[k * n + j]);
        }
    }
    least
}

/// 20,000 problems: 1 to 6 contacts in the plane and in space, joints, sliders, μ up to 2, masses over 26 orders of magnitude. Every one
/// is solved, and all laws hold to 10⁻¹². Only where the matrix is singular up to its own rounding and b is arbitrary a solution
/// need not exist (some ten cases).
#[test]
fn random_problems_obey_all_laws() {
    let mut dice = Dice::new(14);
    let mut solver = Coulomb::new(1);
    let (mut worst, mut singular) = (0.0f64, 0);
    for number in 0..20_000 {
        let redundant = number % 2 == 0;
        let Case { d, b, mut noise, laws } = case(&mut dice, redundant);
        let n = b.len();
        let mut p = vec![0.0; n];
        let solved = solver.solve(&d, &b, &laws, &mut p);
        if !redundant && least_pivot(&d, n) < 1e-13 {
            singular += 1;
            continue;
        }
        let residual = solved.unwrap_or_else(|e| panic!("{number}: {e}, {laws:?}"));
        if redundant {
            // Entries of D have rounding of their own, relative to the lengths of both rows.
            let length = |i: usize| d[i * n + i].sqrt();
            (0..n).for_each(|i| noise[i] += (0..n).map(|j| length(i) * length(j) * p[j].abs()).sum::<f64>());
        }
        let violated = violation(&d, &b, &noise, &laws, &p);
        assert!(violated <= 1.01 * residual + 1e-12, "{number}: {violated:e} but {residual:e} was claimed, {laws:?}");
        assert!(violated <= 1e-12, "{number}: {violated:e} {laws:?}");
        worst = worst.max(violated);
        // The solution is a start from which it is found again.
        let again = p.clone();
        solver.solve(&d, &b, &laws, &mut p).expect("solved before");
        let violated = violation(&d, &b, &noise, &laws, &p);
        assert!(violated <= 1e-9, "{number}: {violated:e} from {again:?}");
    }
    assert!(worst <= 1e-12 && singular < 100, "{worst:e} {singular}");
}

/// Contacts without friction are the projection on a polyhedron.
#[test]
fn without_friction_it_is_the_projection() {
    let mut dice = Dice::new(2);
    for _ in 0..3000 {
        let (dof, m) = (1 + (dice.bits() % 5) as usize, 1 + (dice.bits() % 7) as usize);
        let h: Vec<f64> = (0..m * dof).map(|_| dice.between(-1.0, 1.0)).collect();
        let v: Vec<f64> = (0..dof).map(|_| dice.between(-1.0, 1.0)).collect();
        let row = |i: usize| &h[i * dof..(i + 1) * dof];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let d: Vec<f64> = (0..m * m).map(|k| dot(row(k / m), row(k % m))).collect();
        let b: Vec<f64> = (0..m).map(|i| dot(row(i), &v)).collect();
        let mut nearest = v.clone();
        let mut kernel = Polyhedron::new(dof, m);
        kernel.project(&Metric::diagonal(dof), &Rows::dense(dof, &h), &vec![0.0; m], &mut nearest).expect("a cone");
        // Frictionless in two ways: without tangents, and by one block each with μ = 0.
        let mut p = vec![0.0; m];
        Coulomb::new(m).solve(&d, &b, &vec![Law::Unilateral; m], &mut p).expect("a cone");
        for k in 0..dof {
            let moved = v[k] + (0..m).map(|i| p[i] * h[i * dof + k]).sum::<f64>();
            assert!((moved - nearest[k]).abs() < 1e-9, "{moved} {}", nearest[k]);
        }
    }
}

/// Gauss elimination with partial pivoting; None if singular.
fn linear(mut a: Vec<Vec<f64>>, mut x: Vec<f64>) -> Option<Vec<f64>> {
    let n = x.len();
    for k in 0..n {
        let row = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if a[row][k].abs() < 1e-12 {
            return None;
        }
        a.swap(k, row);
        x.swap(k, row);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            (k..n).for_each(|j| a[i][j] -= factor * a[k][j]);
            x[i] -= factor * x[k];
        }
    }
    for i in (0..n).rev() {
        x[i] = (x[i] - (i + 1..n).map(|j| a[i][j] * x[j]).sum::<f64>()) / a[i][i];
    }
    Some(x)
}

/// All solutions of contacts in the plane, from all combinations of open, stick and slip either way as 2n linear equations for P and W.
fn brute_force(d: &[f64], b: &[f64], mu: &[f64]) -> Vec<Vec<f64>> {
    let (contacts, n) = (mu.len(), b.len());
    let mut solutions: Vec<Vec<f64>> = Vec::new();
    for number in 0..4usize.pow(contacts as u32) {
        let mut a = vec![vec![0.0; 2 * n]; 2 * n];
        let mut right = vec![0.0; 2 * n];
        for i in 0..n {
            // W − D P = b.
            a[i][n + i] = 1.0;
            (0..n).for_each(|j| a[i][j] = -d[i * n + j]);
            right[i] = b[i];
        }
        let status = |c: usize| number / 4usize.pow(c as u32) % 4;
        for c in 0..contacts {
            let (normal, tangent) = (2 * c, 2 * c + 1);
            let lines = &mut a[n + normal..=n + tangent];
            match status(c) {
                0 => (lines[0][normal], lines[1][tangent]) = (1.0, 1.0),
                1 => (lines[0][n + normal], lines[1][n + tangent]) = (1.0, 1.0),
                other => {
                    lines[0][n + normal] = 1.0;
                    lines[1][tangent] = 1.0;
                    lines[1][normal] = if other == 2 { mu[c] } else { -mu[c] };
                }
            }
        }
        let Some(z) = linear(a, right) else { continue };
        let fits = (0..contacts).all(|c| {
            let (p, w) = (&z[2 * c..2 * c + 2], &z[n + 2 * c..n + 2 * c + 2]);
            match status(c) {
                0 => w[0] >= -1e-11,
                1 => p[1].abs() <= mu[c] * p[0] + 1e-11,
                2 => p[0] >= -1e-11 && w[1] >= -1e-11,
                _ => p[0] >= -1e-11 && w[1] <= 1e-11,
            }
        });
        if fits && !solutions.iter().any(|s| (0..n).all(|i| (s[n + i] - z[n + i]).abs() < 1e-7)) {
            solutions.push(z);
        }
    }
    solutions
}

/// In the plane the solution is one of those that trying all combinations finds; mostly there is only one.
#[test]
fn contacts_in_the_plane_against_brute_force() {
    let mut dice = Dice::new(3);
    let (mut single, count) = (0, 1500);
    for number in 0..count {
        let contacts = 1 + (dice.bits() % 3) as usize;
        let n = 2 * contacts;
        let h: Vec<f64> = (0..n * n).map(|_| dice.between(-1.0, 1.0)).collect();
        let entry = |i: usize, j: usize| (0..n).map(|k| h[i * n + k] * h[j * n + k]).sum::<f64>();
        let d: Vec<f64> = (0..n * n).map(|k| entry(k / n, k % n) + if k / n == k % n { 0.05 } else { 0.0 }).collect();
        let b: Vec<f64> = (0..n).map(|_| dice.between(-1.5, 1.0)).collect();
        let mu: Vec<f64> = (0..contacts).map(|_| dice.between(0.01, 2.0)).collect();
        let laws: Vec<Law> = mu.iter().map(|&mu| Law::Coulomb { mu, tangents: 1 }).collect();
        let mut p = vec![0.0; n];
        let mut solver = Coulomb::new(n);
        solver.solve(&d, &b, &laws, &mut p).expect("positive definite");
        let all = brute_force(&d, &b, &mu);
        let near = |z: &Vec<f64>| (0..n).all(|i| (z[n + i] - solver.w()[i]).abs() < 1e-8);
        assert!(all.iter().any(near), "{number}: {p:?} is not among {all:?}");
        single += usize::from(all.len() == 1);
    }
    assert!(single > count * 8 / 10, "{single}");
}

/// A solid sphere hits a floor: it sticks if |u_T| ≤ (7/2) μ (1+e) |u_N|, whatever the direction, and else P_T = μ P_N
/// against the slip.
#[test]
fn a_sphere_sticks_or_slips() {
    let mut dice = Dice::new(4);
    for _ in 0..2000 {
        let (mass, mu, e) = (10f64.powf(dice.between(-6.0, 6.0)), dice.between(0.01, 2.0), dice.between(0.0, 1.0));
        let (fall, slip, angle) = (dice.between(0.1, 5.0), dice.between(0.0, 50.0), dice.between(0.0, 6.3));
        let d = [1.0 / mass, 0.0, 0.0, 0.0, 3.5 / mass, 0.0, 0.0, 0.0, 3.5 / mass];
        let b = [-(1.0 + e) * fall, slip * angle.cos(), slip * angle.sin()];
        let mut solver = Coulomb::new(3);
        let mut p = [0.0; 3];
        let residual = solver.solve(&d, &b, &[Law::Coulomb { mu, tangents: 2 }], &mut p).expect("a solution");
        assert!(residual < 1e-15);
        let normal = mass * (1.0 + e) * fall;
        let sticks = slip <= 3.5 * mu * (1.0 + e) * fall;
        let force = if sticks { mass * slip / 3.5 } else { mu * normal };
        assert_eq!(sticks, solver.status(0) == Status::Stick);
        for (got, expected) in p.iter().zip([normal, -force * angle.cos(), -force * angle.sin()]) {
            assert!((got - expected).abs() < 1e-14 * normal.max(force), "{p:?}");
        }
    }
}

/// The disk of friction is round: turned tangents turn the solution.
#[test]
fn turned_tangents_turn_the_solution() {
    let mut dice = Dice::new(5);
    for number in 0..300 {
        let n = 6;
        let h: Vec<f64> = (0..n * n).map(|_| dice.between(-1.0, 1.0)).collect();
        let b: Vec<f64> = (0..n).map(|_| dice.between(-1.5, 0.5)).collect();
        let law = Law::Coulomb { mu: 0.4, tangents: 2 };
        let (sin, cos) = dice.between(0.0, 6.3).sin_cos();
        let turn = |x: &[f64]| [x[0], cos * x[1] - sin * x[2], sin * x[1] + cos * x[2], x[3], x[4], x[5]];
        let mut columns = [[0.0; 6]; 6];
        for k in 0..n {
            columns[k] = turn(&std::array::from_fn::<f64, 6, _>(|i| h[i * n + k]));
        }
        let plain = |i: usize, j: usize| (0..n).map(|k| h[i * n + k] * h[j * n + k]).sum::<f64>();
        let turned = |i: usize, j: usize| columns.iter().map(|column| column[i] * column[j]).sum::<f64>();
        let ridge = |i: usize, j: usize| if i == j { 0.5 } else { 0.0 };
        let d: Vec<f64> = (0..36).map(|k| plain(k / 6, k % 6) + ridge(k / 6, k % 6)).collect();
        let d_turned: Vec<f64> = (0..36).map(|k| turned(k / 6, k % 6) + ridge(k / 6, k % 6)).collect();
        let mut solver = Coulomb::new(n);
        let (mut p, mut q) = ([0.0; 6], [0.0; 6]);
        solver.solve(&d, &b, &[law; 2], &mut p).expect("a solution");
        solver.solve(&d_turned, &turn(&b), &[law; 2], &mut q).expect("a solution");
        for (p, q) in turn(&p).iter().zip(q) {
            assert!((p - q).abs() < 1e-9, "{number}");
        }
    }
}
