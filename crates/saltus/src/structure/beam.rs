//! Euler–Bernoulli beams: the finite differences of \[V\] (3.9), and Hermite elements.

use super::part::{Damping, Layout, Part};
use crate::linalg::Symmetric;
use crate::text::{gib, grouped};
use crate::{Kind, SetupError};

/// What an element takes from the mesh to the steps, in bytes (measured with 300 000: 1.4 GB).
const ELEMENT: f64 = 4700.0;

/// How an end is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Neither displacement nor rotation.
    Clamped,
    /// No displacement.
    Pinned,
    /// Nothing holds it.
    Free,
    /// No rotation.
    Sliding,
}

/// The section of a beam or bar along its length.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// EI for a beam, ES for a bar.
    pub rigidity: f64,
    /// ρS, with what moves along.
    pub mass_per_length: f64,
}

impl Section {
    /// Area and second moment of a tube of outer and inner diameter.
    pub fn tube(outer: f64, inner: f64) -> (f64, f64) {
        let pi = std::f64::consts::PI;
        (pi / 4.0 * (outer * outer - inner * inner), pi / 64.0 * (outer.powi(4) - inner.powi(4)))
    }
}

/// The clamped–free beam by the finite differences of \[V\] (3.9), exactly as printed: K = EI Δx A with A = BᵀB/Δx⁴ and
/// (Bu)_i = u_i − 2u_{i−1} + u_{i−2}, u₀ = u₋₁ = 0; M = ρS Δx. First order in space at the clamped end.
pub fn differences(length: f64, section: Section, d: usize) -> Result<Part, SetupError> {
    check(length, section, d, 2)?;
    let dx = length / d as f64;
    let scale = round_scale(section.rigidity / dx.powi(3));
    let mut entries = Vec::new();
    for i in 0..d {
        // Row i of B: (i, 1), (i − 1, −2), (i − 2, 1).
        let row: Vec<(usize, f64)> = [(Some(i), 1.0), (i.checked_sub(1), -2.0), (i.checked_sub(2), 1.0)]
            .iter()
            .filter_map(|(j, x)| Some(((*j)?, *x)))
            .collect();
        for &(a, x) in &row {
            entries.extend(row.iter().map(|&(b, y)| (a, b, scale * x * y)));
        }
    }
    Ok(Part {
        name: String::new(),
        what: "the beam".into(),
        mass: Symmetric::diagonal(&vec![section.mass_per_length * dx; d]),
        stiffness: Symmetric::new(d, entries),
        damping: Damping::None,
        gyroscopic: None,
        circulatory: None,
        layout: Layout::Line {
            nodes: (1..=d).map(|j| j as f64 * dx).collect(),
            values: (0..d).map(Some).collect(),
            slopes: Vec::new(),
            nearest: true,
        },
        carried: None,
        is_lumped_body: false,
    })
}

/// A number with twelve zeros at its end: its small multiples are exact, so that K is a matrix of whole numbers times it, and
/// the low modes of a fine mesh do not drown in rounding. It changes K by less than 1e-12.
fn round_scale(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & !0xfff)
}

/// A beam of Hermite elements with consistent (or lumped) mass; degrees of freedom are w₀, h w₀', w₁, h w₁', … (h is
/// the length of an element), without those that the ends hold.
pub fn hermite(
    length: f64,
    section: Section,
    elements: usize,
    ends: (End, End),
    lumped: bool,
) -> Result<Part, SetupError> {
    check(length, section, elements, 1)?;
    let h = length / elements as f64;
    let (mut values, mut slopes) = (Vec::new(), Vec::new());
    let mut count = 0;
    for k in 0..=elements {
        let end = match k {
            0 => ends.0,
            k if k == elements => ends.1,
            _ => End::Free,
        };
        let mut take = |held: bool| {
            (!held).then(|| {
                count += 1;
                count - 1
            })
        };
        values.push(take(matches!(end, End::Clamped | End::Pinned)));
        slopes.push(take(matches!(end, End::Clamped | End::Sliding)));
    }
    if count == 0 {
        return Err(
            SetupError::new("a beam of one element with both ends held has nothing to move").help("take more elements")
        );
    }
    // Rotations are kept times h, so that K is a matrix of whole numbers times a number with zeros at its end, as above.
    let (ei, m) = (round_scale(section.rigidity / h.powi(3)), section.mass_per_length * h / 420.0);
    let k = [[12.0, 6.0, -12.0, 6.0], [6.0, 4.0, -6.0, 2.0], [-12.0, -6.0, 12.0, -6.0], [6.0, 2.0, -6.0, 4.0]];
    let consistent =
        [[156.0, 22.0, 54.0, -13.0], [22.0, 4.0, 13.0, -3.0], [54.0, 13.0, 156.0, -22.0], [-13.0, -3.0, -22.0, 4.0]];
    // Half the mass at each node, and the rotary inertia of a rigid half element.
    let (half, rotary) = (210.0, 420.0 / 24.0);
    let (mut stiffness, mut mass) = (Vec::new(), Vec::new());
    // What a base that moves carries along: the mass coupled to every displacement, held ones included.
    let mut carried = vec![0.0; count];
    for e in 0..elements {
        let dofs = [values[e], slopes[e], values[e + 1], slopes[e + 1]];
        for a in 0..4 {
            let Some(i) = dofs[a] else { continue };
            if lumped {
                mass.push((i, i, m * if a % 2 == 0 { half } else { rotary }));
                carried[i] += if a % 2 == 0 { m * half } else { 0.0 };
            } else {
                carried[i] += m * (consistent[a][0] + consistent[a][2]);
            }
            for b in 0..4 {
                let Some(j) = dofs[b] else { continue };
                stiffness.push((i, j, ei * k[a][b]));
                if !lumped {
                    mass.push((i, j, m * consistent[a][b]));
                }
            }
        }
    }
    Ok(Part {
        name: String::new(),
        what: "the beam".into(),
        mass: Symmetric::new(count, mass),
        stiffness: Symmetric::new(count, stiffness),
        damping: Damping::None,
        gyroscopic: None,
        circulatory: None,
        layout: Layout::Line { nodes: (0..=elements).map(|k| k as f64 * h).collect(), values, slopes, nearest: false },
        carried: Some(carried),
        is_lumped_body: false,
    })
}

pub(super) fn check(length: f64, section: Section, elements: usize, least: usize) -> Result<(), SetupError> {
    for (what, x) in [("length", length), ("rigidity", section.rigidity), ("mass per length", section.mass_per_length)]
    {
        if !(x > 0.0 && x.is_finite()) {
            return Err(SetupError::new(format!("the {what} must be a positive number, not {x}")));
        }
    }
    if elements < least {
        return Err(SetupError::new(format!("{elements} elements cannot be used")).help(format!("at least {least}")));
    }
    let bytes = elements as f64 * ELEMENT;
    if bytes > super::MOST_MEMORY {
        let most = (super::MOST_MEMORY / ELEMENT / 1e4).floor() as u64 * 10_000;
        return Err(SetupError::new(format!("{elements} elements would take about {}", gib(bytes)))
            .with_kind(Kind::TooLarge)
            .help(format!("take at most {}; 100 elements have ten digits of the first frequency", grouped(most))));
    }
    Ok(())
}
