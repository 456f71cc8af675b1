//! Whether successive states approach a limit: each difference is the one before it times a matrix, and the matrix contracts.
//!
//! Near a limit the map from one state to the next is linear, so that one matrix fits all differences, however the states
//! turn about the limit on their way. What approaches more slowly than geometrically (at a doubling, past a fold) is not
//! fitted by one matrix, if enough of the way is seen: what shrinks at a rate ε(a) = ε₀ + c a² that changes by less than the misfit
//! while a² falls to a half has c a² well below ε, so that the rate is still there at a = 0, and the limit is.

/// The matrix contracts by this in each step at least.
const LEAST: f64 = 1e-4;
/// and by this over all steps that are looked at.
const SHRINKS: f64 = 0.7;
/// It misses differences by this share of what is left to contract at most.
const MISFIT: f64 = 0.05;
/// The limit is this near, relative to the scales of the states.
const NEAR: f64 = 0.1;
/// Squarings of the matrix by which its spectral radius is found.
const SQUARINGS: i32 = 14;

/// States that approach a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// Over how many of the last steps.
    pub steps: usize,
    /// How far the limit is still away, in the component that is farthest, relative to its scale.
    pub rest: f64,
}

/// Whether states approach a limit that is near; these are their successive differences, oldest first. None if
/// they do not, or are too few to tell.
pub fn approaches(differences: &[Vec<f64>]) -> Option<Approach> {
    let d = differences.first()?.len();
    let enough = 2 * d + 4;
    if d == 0 || differences.len() < enough {
        return None;
    }
    // (The later they are, the nearer to the limit.)
    let kept = &differences[differences.len() - enough.max(differences.len() / 2)..];
    let norm = |y: &[f64]| y.iter().map(|x| x * x).sum::<f64>().sqrt();
    let sizes: Vec<f64> = kept.iter().map(|y| norm(y)).collect();
    if sizes.iter().any(|s| !(*s > 0.0) || !s.is_finite()) {
        return None;
    }
    // Least squares, all steps with the same weight.
    let (mut square, mut cross) = (vec![0.0; d * d], vec![0.0; d * d]);
    for (pair, size) in kept.windows(2).zip(&sizes) {
        for i in 0..d {
            for j in 0..d {
                square[i * d + j] += pair[0][i] * pair[0][j] / (size * size);
                cross[i * d + j] += pair[1][i] * pair[0][j] / (size * size);
            }
        }
    }
    // (Directions that have died out count as contracted.)
    let trace: f64 = (0..d).map(|i| square[i * d + i]).sum();
    (0..d).for_each(|i| square[i * d + i] += 1e-12 * trace);
    let rows = solved(&square, &cross, d)?;
    let matrix = |y: &[f64]| -> Vec<f64> {
        rows.chunks_exact(d).map(|row| row.iter().zip(y).map(|(a, b)| a * b).sum()).collect()
    };
    let misfit = kept.windows(2).zip(&sizes).map(|(pair, size)| {
        let off: Vec<f64> = matrix(&pair[0]).iter().zip(&pair[1]).map(|(a, b)| a - b).collect();
        norm(&off) / size
    });
    let radius = radius(&rows, d);
    let left = 1.0 - radius;
    let fits =
        left >= LEAST && radius.powi(kept.len() as i32) <= SHRINKS && misfit.fold(0.0, f64::max) <= MISFIT * left;
    // The rest of the way: (1 − M)⁻¹ M y.
    let last = kept.last().filter(|_| fits)?;
    let mut rest = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            rest[i * d + j] = f64::from(u8::from(i == j)) - rows[j * d + i];
        }
    }
    let way = solved(&rest, &matrix(last), d)?;
    let rest = way.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    way.iter().all(|x| x.abs() <= NEAR).then_some(Approach { steps: kept.len(), rest })
}

/// X with X A = B, for rows of B; A by rows. None if A is singular.
fn solved(a: &[f64], b: &[f64], d: usize) -> Option<Vec<f64>> {
    // (The transposed equations: Aᵀ xᵀ = bᵀ, by elimination with pivots.)
    let mut m: Vec<f64> = (0..d * d).map(|k| a[(k % d) * d + k / d]).collect();
    let mut x = b.to_vec();
    for k in 0..d {
        let pivot = (k..d).max_by(|&i, &j| m[i * d + k].abs().total_cmp(&m[j * d + k].abs()))?;
        if !(m[pivot * d + k].abs() > 0.0) {
            return None;
        }
        if pivot != k {
            (0..d).for_each(|j| m.swap(k * d + j, pivot * d + j));
            x.chunks_exact_mut(d).for_each(|row| row.swap(k, pivot));
        }
        for i in k + 1..d {
            let factor = m[i * d + k] / m[k * d + k];
            for j in k..d {
                m[i * d + j] -= factor * m[k * d + j];
            }
            x.chunks_exact_mut(d).for_each(|row| row[i] -= factor * row[k]);
        }
    }
    for row in x.chunks_exact_mut(d) {
        for k in (0..d).rev() {
            let known: f64 = (k + 1..d).map(|j| m[k * d + j] * row[j]).sum();
            row[k] = (row[k] - known) / m[k * d + k];
        }
    }
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// The spectral radius of a matrix: the growth of its powers.
fn radius(rows: &[f64], d: usize) -> f64 {
    let (mut power, mut log) = (rows.to_vec(), 0.0);
    for _ in 0..SQUARINGS {
        let size = power.iter().map(|x| x * x).sum::<f64>().sqrt();
        if size == 0.0 {
            return 0.0;
        }
        power.iter_mut().for_each(|x| *x /= size);
        let entry = |k: usize| (0..d).map(|j| power[k / d * d + j] * power[j * d + k % d]).sum();
        power = (0..d * d).map(entry).collect();
        log = 2.0 * (log + size.ln());
    }
    let size = power.iter().map(|x| x * x).sum::<f64>().sqrt();
    ((log + size.ln()) / 2f64.powi(SQUARINGS)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Differences of a spiral about a point.
    fn spiral(shrink: f64, turn: f64, size: f64) -> Vec<Vec<f64>> {
        let at = |k: i32| {
            let (r, a) = (size * shrink.powi(k), turn * f64::from(k));
            [1.0 + r * a.cos() + 0.3 * r * a.sin(), -2.0 + 2.0 * r * a.sin()]
        };
        (1..120).map(|k| (0..2).map(|i| at(k)[i] - at(k - 1)[i]).collect()).collect()
    }

    #[test]
    fn spirals_approach_if_they_shrink_whatever_their_turn() {
        for turn in [0.0, 0.01, 2.0943951, 2.1, 3.92, std::f64::consts::PI, 6.2] {
            let found = approaches(&spiral(0.98, turn, 0.5)).expect("a limit");
            // (The second component is twice the size, at most 2 · 0.5 · 0.98¹¹⁹ away.)
            assert!(found.steps == 59 && found.rest < 1.001 * 0.98_f64.powi(119), "{turn}: {found:?}");
            assert_eq!(approaches(&spiral(1.0, turn, 1e-3)), None, "{turn}");
            assert_eq!(approaches(&spiral(1.01, turn, 1e-3)), None, "{turn}");
        }
        // A doubling, just past it: what alternates shrinks, but not to nothing, and no part of the way tells that it does.
        for (limit, c) in [(0.015_f64, 1.0), (0.015, 10.0), (0.0, 10.0), (0.1, 0.05)] {
            let mut a = 0.03 + limit;
            let mut at = |k: i32| {
                a -= c * a * (a * a - limit * limit);
                1.0 + if k % 2 == 0 { a } else { -a }
            };
            let states: Vec<f64> = (0..3000).map(&mut at).collect();
            for end in (60..3000).step_by(97) {
                let differences: Vec<Vec<f64>> =
                    states[end - 60..end].windows(2).map(|pair| vec![pair[1] - pair[0]]).collect();
                assert_eq!(approaches(&differences), None, "{limit} {c} {end}");
            }
        }
        // Too far to be believed.
        assert_eq!(approaches(&spiral(0.9995, 2.1, 0.5)), None);
        assert_eq!(approaches(&spiral(0.98, 2.1, 0.5)[..6]), None);
    }

    #[test]
    fn spectral_radii_and_linear_equations() {
        let (a, b) = (0.99 * 1.0_f64.cos(), 0.99 * 1.0_f64.sin());
        assert!((radius(&[a, -b, b, a], 2) - 0.99).abs() < 1e-4);
        assert!((radius(&[0.5, 7.0, 0.0, -0.9], 2) - 0.9).abs() < 1e-3);
        assert_eq!(radius(&[0.0, 1.0, 0.0, 0.0], 2), 0.0);
        // (5, 6) = (1, 2) · (1 2; 2 2)
        let x = solved(&[1.0, 2.0, 2.0, 2.0], &[5.0, 6.0], 2).expect("a solution");
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14, "{x:?}");
        assert_eq!(solved(&[1.0, 2.0, 2.0, 4.0], &[5.0, 6.0], 2), None);
    }
}
