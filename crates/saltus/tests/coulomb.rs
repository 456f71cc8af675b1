//! Contact with friction, joints and dry friction: the laws hold in every solution, on random problems of all kinds and scales, and
//! closed forms and brute force agree.

use saltus::contact::{Coulomb, Law, Status, Why};
use saltus::linalg::Dice;

/// The largest violation of the laws by P, from nothing but the problem, relative to the size of the terms of W and P.
fn violation(d: &[f64], b: &[f64], laws: &[Law], p: &[f64]) -> f64 {
    let n = b.len();
    let term = |i: usize, j: usize| d[i * n + j] * p[j];
    let w: Vec<f64> = (0..n).map(|i| b[i] + (0..n).map(|j| term(i, j)).sum::<f64>()).collect();
    let size: Vec<f64> = (0..n)
        .map(|i| b[i].abs() + (0..n).map(|j| term(i, j).abs()).sum::<f64>())
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
    outside.max((slip / size).min(length(&off).max(0.0) * (slip / size)))
}

struct Case {
    d: Vec<f64>,
    b: Vec<f64>,
    laws: Vec<Law>,
    rows: Vec<Vec<f64>>,
}

/// D = H M⁻¹ Hᵀ and b = (1 + e) H v of random bodies, with rows copied if `redundant`; else b is arbitrary and H regular.
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
            rows.push(match copy {
                Some(from) => rows[from + i].clone(),
                None => (0..dof).map(|_| if dice.chance(0.8) { length * dice.between(-1.0, 1.0) } else { 0.0 }).collect(),
            });
        }
    }
    let dot = |a: &[f64], b: &[f64]| (0..dof).map(|k| a[k] * b[k] / mass[k]).sum::<f64>();
    let d = (0..n * n).map(|k| if k / n <= k % n { dot(&rows[k / n], &rows[k % n]) } else { dot(&rows[k % n], &rows[k / n]) });
    let d: Vec<f64> = d.collect();
    let speed = 10f64.powf(dice.between(-3.0, 3.0));
    let v: Vec<f64> = (0..dof).map(|_| speed * dice.between(-1.0, 1.0)).collect();
    let b = (0..n)
        .map(|i| {
            let u: f64 = (0..dof).map(|k| rows[i][k] * v[k]).sum();
            if redundant { 1.5 * u } else { d[i * n + i].sqrt() * speed / global.sqrt() * dice.between(-1.5, 0.5) }
        })
        .collect();
    Case { d, b, laws, rows }
}

#[test]
fn random_problems_obey_all_laws() {
    let mut dice = Dice::new(14);
    let mut solver = Coulomb::new(1);
    let (mut worst, mut failures) = (0.0f64, 0);
    for number in 0..20000 {
        let Case { d, b, laws, .. } = case(&mut dice, number % 2 == 0);
        let mut p = vec![0.0; b.len()];
        match solver.solve(&d, &b, &laws, &mut p) {
            Ok(residual) => {
                let v = violation(&d, &b, &laws, &p);
                if !(residual <= 1e-12 && v <= 1e-12) { println!("{number}: {residual:e} {v:e} {laws:?}"); failures += 1;}
                worst = worst.max(v);
            }
            Err(e) => { println!("{number}: {e:?} n={} {laws:?}", b.len()); failures += 1; }
        }
    }
    println!("worst {worst:e} failures {failures}");
    assert_eq!(failures, 0);
}
