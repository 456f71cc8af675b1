//! One step of a second-order system by collocation at Gauss points: the acceleration is a polynomial through its values at
//! the points, found by Picard's iteration; its last Legendre coefficients say how well the step is resolved. Position and
//! velocity are known all along the step to the accuracy of its ends.

use std::sync::OnceLock;

/// Gauss points per step.
pub const S: usize = 12;
/// Most coordinates.
pub const D: usize = 4;
pub type Vector = [f64; D];

struct Tables {
    nodes: [f64; S],
    weights: [f64; S],
    /// ∫₀^{cᵢ} ℓⱼ and ∫₀^{cᵢ} (cᵢ − τ) ℓⱼ(τ) dτ.
    once: [[f64; S]; S],
    twice: [[f64; S]; S],
    /// Legendre coefficients of values at the nodes.
    spectrum: [[f64; S]; S],
}

/// Pₖ(2x − 1) for k ≤ S + 1.
fn legendre(x: f64) -> [f64; S + 2] {
    let y = 2.0 * x - 1.0;
    let mut p = [1.0; S + 2];
    p[1] = y;
    for k in 1..=S {
        p[k + 1] = ((2 * k + 1) as f64 * y * p[k] - k as f64 * p[k - 1]) / (k + 1) as f64;
    }
    p
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let (mut nodes, mut weights) = ([0.0; S], [0.0; S]);
        for i in 0..S {
            let mut y = -(std::f64::consts::PI * (i as f64 + 0.75) / (S as f64 + 0.5)).cos();
            let slope = |y: f64, p: &[f64]| S as f64 * (y * p[S] - p[S - 1]) / (y * y - 1.0);
            for _ in 0..50 {
                let p = legendre(0.5 * (y + 1.0));
                y -= p[S] / slope(y, &p);
            }
            let p = legendre(0.5 * (y + 1.0));
            nodes[i] = 0.5 * (y + 1.0);
            weights[i] = 1.0 / ((1.0 - y * y) * slope(y, &p).powi(2));
        }
        let basis = |j: usize, x: f64| -> f64 {
            (0..S).filter(|&m| m != j).map(|m| (x - nodes[m]) / (nodes[j] - nodes[m])).product()
        };
        let (mut once, mut twice, mut spectrum) = ([[0.0; S]; S], [[0.0; S]; S], [[0.0; S]; S]);
        for i in 0..S {
            for j in 0..S {
                for m in 0..S {
                    let l = weights[m] * basis(j, nodes[i] * nodes[m]);
                    once[i][j] += nodes[i] * l;
                    twice[i][j] += nodes[i] * nodes[i] * (1.0 - nodes[m]) * l;
                }
                spectrum[i][j] = (2 * i + 1) as f64 * weights[j] * legendre(nodes[j])[i];
            }
        }
        Tables { nodes, weights, once, twice, spectrum }
    })
}

/// A step and the motion along it.
#[derive(Clone)]
pub struct Step {
    pub h: f64,
    d: usize,
    q0: Vector,
    v0: Vector,
    /// Legendre coefficients of the acceleration.
    a: [[f64; D]; S],
    /// The size of its last ones.
    pub tail: Vector,
}

impl Step {
    /// Position and velocity at a fraction of the step.
    pub fn at(&self, x: f64) -> (Vector, Vector) {
        let p = legendre(x);
        let (mut q, mut v) = (self.q0, self.v0);
        for i in 0..self.d {
            // ∫Pₖ = (Pₖ₊₁ − Pₖ₋₁)/(2(2k+1)) and ∫P₀ = (P₁ + P₀)/2, from 0, in x; twice for positions.
            let (mut once, mut twice) = (0.0, 0.0);
            for k in 0..S {
                let integral = |k: usize| match k {
                    0 => x,
                    _ => (p[k + 1] - p[k - 1]) / (2.0 * (2 * k + 1) as f64),
                };
                once += self.a[k][i] * integral(k);
                twice += self.a[k][i]
                    * match k {
                        0 => 0.5 * x * x,
                        // ∫(P₂ − P₀)/6 = (∫P₂ − x)/6.
                        _ if k + 1 < S + 1 => {
                            let upper = if k + 1 == S { integral_of_last(x) } else { integral(k + 1) };
                            (upper - integral(k - 1)) / (2.0 * (2 * k + 1) as f64)
                        }
                        _ => 0.0,
                    };
            }
            v[i] += self.h * once;
            q[i] += self.h * x * self.v0[i] + self.h * self.h * twice;
        }
        (q, v)
    }
}

/// ∫₀ˣ P_S.
fn integral_of_last(x: f64) -> f64 {
    let p = legendre(x);
    (p[S + 1] - p[S - 1]) / (2.0 * (2 * S + 1) as f64)
}

/// A step of length h; `None` where the iteration does not converge. The closure gives accelerations.
pub fn step(
    d: usize,
    (t, q0, v0): (f64, Vector, Vector),
    h: f64,
    acceleration: &mut dyn FnMut(f64, &Vector, &Vector) -> Option<Vector>,
) -> Option<Step> {
    let tables = tables();
    let first = acceleration(t, &q0, &v0)?;
    let mut a = [first; S];
    let mut last = f64::INFINITY;
    for round in 0..40 {
        let mut next = [[0.0; D]; S];
        let (mut change, mut size) = (0.0_f64, 1e-300_f64);
        for i in 0..S {
            let (mut q, mut v) = (q0, v0);
            for c in 0..d {
                let (mut once, mut twice) = (0.0, 0.0);
                for j in 0..S {
                    once += tables.once[i][j] * a[j][c];
                    twice += tables.twice[i][j] * a[j][c];
                }
                v[c] += h * once;
                q[c] += h * tables.nodes[i] * v0[c] + h * h * twice;
            }
            next[i] = acceleration(t + h * tables.nodes[i], &q, &v)?;
            for c in 0..d {
                change = change.max((next[i][c] - a[i][c]).abs());
                size = size.max(next[i][c].abs());
            }
        }
        a = next;
        if !(change.is_finite() && size.is_finite()) || (round > 8 && change > 0.5 * last && change > 1e-13 * size) {
            return None;
        }
        if change <= 4e-16 * size || (change > 0.5 * last && change <= 1e-13 * size) {
            let mut spectrum = [[0.0; D]; S];
            for k in 0..S {
                for c in 0..d {
                    spectrum[k][c] = (0..S).map(|j| tables.spectrum[k][j] * a[j][c]).sum();
                }
            }
            let mut tail = [0.0; D];
            for c in 0..d {
                tail[c] = spectrum[S - 3..].iter().map(|s| s[c].abs()).fold(0.0, f64::max);
            }
            return Some(Step { h, d, q0, v0, a: spectrum, tail });
        }
        last = change;
    }
    None
}

#[test]
fn steps_are_exact_for_an_oscillator() {
    let (mut q, mut v, h) = ([0.0; D], [0.0; D], 0.7);
    q[0] = 1.0;
    let step = step(1, (0.0, q, v), h, &mut |_, q, _| Some([-q[0], 0.0, 0.0, 0.0])).expect("converges");
    for x in [0.0, 0.2, 0.77, 1.0] {
        (q, v) = step.at(x);
        assert!((q[0] - (h * x).cos()).abs() < 1e-15 && (v[0] + (h * x).sin()).abs() < 1e-15, "{q:?} {v:?}");
    }
    assert!(step.tail[0] < 1e-12 && tables().weights.iter().sum::<f64>() - 1.0 < 1e-15);
}
