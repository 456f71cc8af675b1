//! Contact with friction where there is no solution or several, where rows are redundant, where there are many, and its cost in memory.

use saltus::contact::{Coulomb, Law, Status, Why};
use saltus::linalg::Dice;

const SPACE: Law = Law::Coulomb { mu: 0.3, tangents: 2 };

/// One sliding contact: none, one or two solutions (Painlevé).
#[test]
fn one_sliding_contact() {
    let solve = |d: f64, b: f64| {
        let mut p = [0.0];
        Coulomb::new(1).solve(&[d], &[b], &[Law::Unilateral], &mut p).map(|_| p[0]).map_err(|e| e.kind)
    };
    assert_eq!(solve(2.0, -1.0), Ok(0.5));
    assert_eq!(solve(2.0, 1.0), Ok(0.0));
    assert_eq!(solve(-2.0, -1.0), Err(Why::NoneExists));
    assert_eq!(solve(-2.0, 1.0), Err(Why::Several));
    assert_eq!(solve(-2.0, 0.0), Ok(0.0));
    assert_eq!(solve(0.0, 1.0), Ok(0.0));
    assert_eq!(solve(0.0, -1.0), Err(Why::NoneExists));
}

/// A rod of length 2 and mass 1 slides on a floor: D = 1 + 3cos²θ − 3μ sin θ cos θ, which first vanishes at μ = 4/3, tan θ = 2. Here as the
/// rod itself, with a joint that holds a mass elsewhere and a second contact that is open.
#[test]
fn the_rod_of_painleve_among_other_things() {
    let solve = |mu: f64, pushed: f64| {
        let (sin, cos) = 2f64.atan().sin_cos();
        let d = 1.0 + 3.0 * cos * cos - 3.0 * mu * sin * cos;
        let matrix = [2.0, 0.0, 0.0, 0.0, d, 0.2, 0.0, 0.1, 1.0];
        let mut p = [0.0; 3];
        let laws = [Law::Joint, Law::Unilateral, Law::Unilateral];
        Coulomb::new(3).solve(&matrix, &[3.0, pushed, 1.0], &laws, &mut p).map(|_| p).map_err(|e| (e.kind, e.block))
    };
    assert!(solve(1.33, -1.0).expect("below the threshold")[1] > 0.0);
    assert_eq!(solve(1.34, -1.0), Err((Why::NoneExists, 1)));
    assert_eq!(solve(1.34, 1.0), Err((Why::Several, 1)));
    let p = solve(1.33, 1.0).expect("lifts off");
    assert_eq!(p, [-1.5, 0.0, 0.0]);
}

/// Accelerations with one contact that slides (its column has friction in it) and one that may stick: an unsymmetric D
/// whose solutions are as many as trying them all by hand gives.
#[test]
fn an_unsymmetric_problem_that_is_well_posed() {
    // Sliding contact 0 with μσ = 0.3; contact 1 with its tangent.
    let full = [[2.0, 0.4, 0.3, 0.1], [0.4, 1.5, 0.2, 0.3], [0.3, 0.2, 1.8, 0.2], [0.1, 0.3, 0.2, 1.2]];
    let mut d = [0.0; 9];
    for (i, row) in [0, 2, 3].into_iter().enumerate() {
        d[i * 3] = full[row][0] - 0.3 * full[row][1];
        d[i * 3 + 1] = full[row][2];
        d[i * 3 + 2] = full[row][3];
    }
    let mut solver = Coulomb::new(3);
    let mut p = [0.0; 3];
    let laws = [Law::Unilateral, Law::Coulomb { mu: 0.5, tangents: 1 }];
    let residual = solver.solve(&d, &[-1.0, -2.0, 0.1], &laws, &mut p).expect("well posed");
    assert!(residual < 1e-15);
    assert!(p[0] > 0.0 && p[2].abs() <= 0.5 * p[1] && solver.status(1) == Status::Stick);
    assert!(solver.w().iter().all(|w| w.abs() < 1e-14));
}

/// All solutions W of contacts without friction by trying which of them push; eliminations without exchanges suffice for random D.
fn all_solutions(d: &[f64], b: &[f64]) -> Vec<Vec<f64>> {
    let n = b.len();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for set in 0..1usize << n {
        let push: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let m = push.len();
        let mut a: Vec<Vec<f64>> = push.iter().map(|&i| push.iter().map(|&j| d[i * n + j]).collect()).collect();
        let mut x: Vec<f64> = push.iter().map(|&i| -b[i]).collect();
        for k in 0..m {
            for i in (0..m).filter(|&i| i != k) {
                let factor = a[i][k] / a[k][k];
                (0..m).for_each(|j| a[i][j] -= factor * a[k][j]);
                x[i] -= factor * x[k];
            }
        }
        let p: Vec<f64> = (0..m).map(|k| x[k] / a[k][k]).collect();
        let w = |i: usize| b[i] + push.iter().zip(&p).map(|(&j, p)| d[i * n + j] * p).sum::<f64>();
        if p.iter().all(|&p| p > 0.0) && (0..n).all(|i| push.contains(&i) || w(i) > 0.0) {
            found.push((0..n).map(|i| if push.contains(&i) { 0.0 } else { w(i) }).collect());
        }
    }
    found
}

/// Several sliding contacts, D without symmetry or sign: none, one or several solutions, as many as there are.
#[test]
fn sliding_contacts_have_none_one_or_several_solutions() {
    let mut dice = Dice::new(10);
    let mut seen = [0; 3];
    for number in 0..3000 {
        let n = 1 + (dice.bits() % 4) as usize;
        let shift = if dice.chance(0.5) { 1.0 } else { 0.0 };
        let entry = |k: usize, dice: &mut Dice| dice.between(-1.0, 1.0) + if k / n == k % n { shift } else { 0.0 };
        let d: Vec<f64> = (0..n * n).map(|k| entry(k, &mut dice)).collect();
        let b: Vec<f64> = (0..n).map(|_| dice.between(-1.0, 1.0)).collect();
        let all = all_solutions(&d, &b);
        let (mut solver, mut p) = (Coulomb::new(n), vec![0.0; n]);
        let outcome = solver.solve(&d, &b, &vec![Law::Unilateral; n], &mut p).map_err(|e| e.kind);
        match all.len() {
            0 => assert_eq!(outcome, Err(Why::NoneExists), "{number}"),
            1 => {
                assert!(outcome.is_ok(), "{number}: {outcome:?}");
                assert!((0..n).all(|i| (solver.w()[i] - all[0][i]).abs() < 1e-9 * (1.0 + all[0][i])), "{number}");
            }
            _ => assert_eq!(outcome, Err(Why::Several), "{number}"),
        }
        seen[all.len().min(2)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 200), "{seen:?}");
}

/// Redundant joints that agree are solved; those that do not are named.
#[test]
fn redundant_joints() {
    let d = [2.0, 2.0, 1.0, 2.0, 2.0, 1.0, 1.0, 1.0, 3.0];
    let laws = [Law::Joint, Law::Joint, Law::Unilateral];
    let mut solver = Coulomb::new(3);
    let mut p = [0.0; 3];
    assert!(solver.solve(&d, &[1.0, 1.0, -2.0], &laws, &mut p).expect("they agree") < 1e-15);
    assert!((p[0] + p[1] + 1.0).abs() < 1e-14 && (p[2] - 1.0).abs() < 1e-14, "{p:?}");
    let error = solver.solve(&d, &[1.0, 1.5, -2.0], &laws, &mut p).expect_err("they contradict each other");
    assert!(error.kind == Why::NoneExists && error.block < 2, "{error:?}");
    // A contradiction at rounding level is none.
    let residual = solver.solve(&d, &[1.0, 1.0 + 1e-12, -2.0], &laws, &mut p).expect("up to rounding");
    assert!(residual < 1e-12);
}

/// A body between two walls that close, and a contact that nothing can move.
#[test]
fn walls_that_leave_no_room() {
    let d = [1.0, -1.0, -1.0, 1.0];
    let mut p = [0.0; 2];
    let error = Coulomb::new(2).solve(&d, &[-1.0, -1.0], &[Law::Unilateral; 2], &mut p).expect_err("no room");
    assert_eq!(error.kind, Why::NoneExists);
    assert_eq!(p, [0.0; 2]);
    let error = Coulomb::new(2).solve(&[1.0, 0.0, 0.0, 0.0], &[-1.0, -1.0], &[Law::Unilateral; 2], &mut p);
    assert_eq!(error.expect_err("nothing moves it").block, 1);
    let not_a_number = Coulomb::new(1).solve(&[f64::NAN], &[1.0], &[Law::Joint], &mut [0.0]);
    assert_eq!(not_a_number.expect_err("not a number").kind, Why::NotConverged);
}

/// A table on four legs, pushed sideways: twelve rows, six degrees of freedom. It slides as a whole, or stays.
#[test]
fn a_table_on_four_legs() {
    for (push, slides) in [(2.0, false), (4.0, true)] {
        let legs = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        // Mass 1, inertias 1; the floor is at height −1.
        let rows: Vec<[f64; 6]> = legs
            .iter()
            .flat_map(|&(x, y)| {
                [[0.0, 0.0, 1.0, y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, -1.0, -y], [0.0, 1.0, 0.0, 1.0, 0.0, x]]
            })
            .collect();
        let v = [0.6 * push, 0.8 * push, -10.0, 0.0, 0.0, 0.0];
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let d: Vec<f64> = (0..144).map(|k| dot(&rows[k / 12], &rows[k % 12])).collect();
        let b: Vec<f64> = rows.iter().map(|row| dot(row, &v)).collect();
        let mut p = [0.0; 12];
        let mut solver = Coulomb::new(12);
        let residual = solver.solve(&d, &b, &[SPACE; 4], &mut p).expect("a table");
        assert!(residual < 1e-14, "{residual:e}");
        // All legs stay on the floor: the load is 10 in all, friction at most 3.
        let sum = |i: usize| (0..4).map(|leg| p[3 * leg + i]).sum::<f64>();
        assert!((sum(0) - 10.0).abs() < 1e-12);
        let friction = if slides { 3.0 } else { push };
        assert!((sum(1) + 0.6 * friction).abs() < 1e-12 && (sum(2) + 0.8 * friction).abs() < 1e-12, "{p:?}");
    }
}

/// Dry friction holds below its limit and gives way above; limit and μ of zero exert nothing.
#[test]
fn dry_friction_and_zeros() {
    let solve = |b: f64, limit: f64| {
        let (mut solver, mut p) = (Coulomb::new(1), [0.0]);
        solver.solve(&[2.0], &[b], &[Law::Dry { limit }], &mut p).expect("a slider");
        (p[0], solver.w()[0], solver.status(0))
    };
    assert_eq!(solve(1.0, 1.0), (-0.5, 0.0, Status::Stick));
    assert_eq!(solve(-3.0, 1.0), (1.0, -1.0, Status::Slip([-1.0, 0.0])));
    assert_eq!(solve(-3.0, 0.0), (0.0, -3.0, Status::Slip([-1.0, 0.0])));
    let (mut solver, mut p) = (Coulomb::new(3), [0.0; 3]);
    let d = [2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 1.0];
    solver.solve(&d, &[-1.0, 5.0, 1.0], &[Law::Coulomb { mu: 0.0, tangents: 2 }], &mut p).expect("without friction");
    assert_eq!(p, [0.5, 0.0, 0.0]);
    assert_eq!(solver.w(), [0.0, 5.5, 1.0]);
}

/// A row of 100 balls in space, each held between its neighbours: 297 unknowns.
#[test]
fn many_contacts() {
    let mut dice = Dice::new(6);
    let (balls, contacts) = (100, 99);
    let n = 3 * contacts;
    // Contact k between balls k and k+1; normal along x, tangents y and z; the balls spin, so that tangents have 3.5/m.
    let mass: Vec<f64> = (0..balls).map(|_| 10f64.powf(dice.between(-1.0, 1.0))).collect();
    let mut d = vec![0.0; n * n];
    for k in 0..contacts {
        for (i, share) in [(0, 1.0), (1, 3.5), (2, 3.5)] {
            d[(3 * k + i) * n + 3 * k + i] = share * (1.0 / mass[k] + 1.0 / mass[k + 1]);
            if k + 1 < contacts {
                // Spin counteracts: −1 + 2.5 for tangents.
                let coupling = if i == 0 { -1.0 } else { 1.5 } / mass[k + 1];
                d[(3 * k + i) * n + 3 * k + 3 + i] = coupling;
                d[(3 * k + 3 + i) * n + 3 * k + i] = coupling;
            }
        }
    }
    let b: Vec<f64> =
        (0..n).map(|i| if i % 3 == 0 { dice.between(-1.0, 0.3) } else { dice.between(-2.0, 2.0) }).collect();
    let (mut solver, mut p) = (Coulomb::new(n), vec![0.0; n]);
    let residual = solver.solve(&d, &b, &vec![SPACE; contacts], &mut p).expect("positive definite");
    assert!(residual < 1e-13, "{residual:e}");
}

/// Nothing is allocated once the solver is made.
#[test]
fn nothing_is_allocated() {
    let mut dice = Dice::new(7);
    let mut solver = Coulomb::new(12);
    for _ in 0..200 {
        let h: Vec<f64> = (0..144).map(|_| dice.between(-1.0, 1.0)).collect();
        let entry = |i: usize, j: usize| (0..12).map(|k| h[i * 12 + k] * h[j * 12 + k]).sum::<f64>();
        let d: Vec<f64> = (0..144).map(|k| entry(k / 12, k % 12)).collect();
        let b: Vec<f64> = (0..12).map(|_| dice.between(-1.0, 0.5)).collect();
        let laws =
            [SPACE, Law::Joint, SPACE, Law::Coulomb { mu: 1.0, tangents: 1 }, Law::Dry { limit: 0.5 }, Law::Unilateral];
        let mut p = [0.0; 11];
        let (d, b) = (d.chunks(12).take(11).flat_map(|row| row[..11].to_vec()).collect::<Vec<_>>(), &b[..11]);
        let memory = allocation_counter::measure(|| {
            solver.solve(&d, b, &laws, &mut p).expect("positive definite");
        });
        assert_eq!(memory.count_total, 0);
    }
}
