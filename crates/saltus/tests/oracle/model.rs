//! A model as the oracle knows it, and as a text for Saltus in any units.

use crate::collocation::{D, Vector};
use crate::expression::{Ex, Jet, Names};
use saltus::model::Builder;

/// A body, or a few that interact, in units in which everything that moves is of the order of one.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Row by row; functions of the positions.
    pub mass: Vec<Ex>,
    pub mass_varies: bool,
    pub forces: Vec<Ex>,
    /// Gaps and their restitutions.
    pub gaps: Vec<(Ex, f64)>,
    pub q0: Vec<f64>,
    pub v0: Vec<f64>,
    pub end: f64,
    /// Forces are not smooth where one of these vanishes.
    pub switches: Vec<Ex>,
    /// Something happens within `.1` of the zeros of `.0`: steps are short there.
    pub features: Vec<(Ex, f64)>,
}

/// A change of everything, to measure how errors grow.
#[derive(Clone, Copy, Default)]
pub struct Nudge(pub f64);

impl Model {
    pub fn d(&self) -> usize {
        self.q0.len()
    }

    pub fn unit_mass(d: usize) -> Vec<Ex> {
        (0..d * d).map(|k| Ex::Num(if k % (d + 1) == 0 { 1.0 } else { 0.0 })).collect()
    }

    pub fn gap(&self, a: usize, t: f64, q: &Vector) -> f64 {
        self.gaps[a].0.eval(t, &q[..], &[])
    }

    /// Gradient, ∂f/∂t and γ of a gap.
    pub fn slopes(&self, a: usize, t: f64, q: &Vector, v: &Vector) -> (Vector, f64, f64) {
        let mut gradient = [0.0; D];
        for i in 0..self.d() {
            gradient[i] = along(&self.gaps[a].0, t, 0.0, q, &unit(i))[1];
        }
        let partial = along(&self.gaps[a].0, t, 1.0, q, &[0.0; D])[1];
        (gradient, partial, along(&self.gaps[a].0, t, 1.0, q, v)[2])
    }

    /// M and g in M a = g: forces less what a varying mass adds.
    pub fn dynamics(&self, t: f64, q: &Vector, v: &Vector, nudge: Nudge) -> ([[f64; D]; D], Vector) {
        let d = self.d();
        let (mut mass, mut g) = ([[0.0; D]; D], [0.0; D]);
        for i in 0..d {
            g[i] = (1.0 + nudge.0) * self.forces[i].eval(t, &q[..], &v[..]);
            for j in 0..d {
                mass[i][j] = self.mass[i * d + j].eval(t, &q[..], &v[..]);
            }
        }
        if self.mass_varies {
            // d/dt ∂T/∂v − ∂T/∂q = M a + Ṁ v − ½ ∂(vᵀMv)/∂q.
            for i in 0..d {
                for j in 0..d {
                    g[i] -= along(&self.mass[i * d + j], t, 0.0, q, v)[1] * v[j];
                    for k in 0..d {
                        g[i] += 0.5 * v[j] * v[k] * along(&self.mass[j * d + k], t, 0.0, q, &unit(i))[1];
                    }
                }
            }
        }
        (mass, g)
    }

    /// Adds the model to one for Saltus, its names ending in `tag`, in units of length, time and mass.
    pub fn write(&self, builder: Builder, kinetic: &mut Vec<String>, tag: &str, units: [f64; 3]) -> Builder {
        let [l, s, m] = units;
        let d = self.d();
        let name = |i: usize| format!("{}{tag}", ["x", "y", "z", "u"][i]);
        let scaled = |text: String, by: f64| if by == 1.0 { text } else { format!("({text}/{by:?})") };
        let names = Names {
            time: scaled("t".into(), s),
            places: (0..d).map(|i| scaled(name(i), l)).collect(),
            speeds: (0..d).map(|i| scaled(format!("{}'", name(i)), l / s)).collect(),
        };
        let mut builder = builder;
        for i in 0..d {
            builder = builder.coordinate(&name(i), self.q0[i] * l, self.v0[i] * l / s);
            for j in 0..d {
                let entry = self.mass[i * d + j].text(&names);
                if entry != "0.0" {
                    kinetic.push(format!("{:?}*({entry})*{}'*{}'", 0.5 * m, name(i), name(j)));
                }
            }
        }
        for i in 0..d {
            builder = builder.force(&name(i), format!("{:?}*({})", m * l / (s * s), self.forces[i].text(&names)));
        }
        for (a, (gap, e)) in self.gaps.iter().enumerate() {
            builder = builder.constraint_with(&format!("c{a}{tag}"), format!("{l:?}*({})", gap.text(&names)), *e);
        }
        builder
    }
}

pub fn unit(i: usize) -> Vector {
    let mut e = [0.0; D];
    e[i] = 1.0;
    e
}

/// Value and two derivatives of a function of time and place along a line through (t, q).
pub fn along(f: &Ex, t: f64, dt: f64, q: &Vector, dq: &Vector) -> [f64; 3] {
    let mut places = [Jet([0.0; 3]); D];
    for i in 0..D {
        places[i] = Jet([q[i], dq[i], 0.0]);
    }
    f.eval(Jet([t, dt, 0.0]), &places[..], &[]).0
}

/// Solves a small system; `None` if it is singular.
pub fn solve<const N: usize>(n: usize, mut a: [[f64; N]; N], mut b: [f64; N]) -> Option<[f64; N]> {
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        if !(a[pivot][k].abs() > 1e-300) {
            return None;
        }
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    Some(b)
}
