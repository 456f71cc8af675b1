//! Axial bars and shear buildings.

use super::beam::{Section, check};
use super::part::{Damping, Layout, Part};
use crate::SetupError;
use crate::linalg::Symmetric;

/// Where the mass of a bar sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarMass {
    /// Half an element's at each of its nodes.
    Lumped,
    /// ∫ρS N Nᵀ.
    Consistent,
    /// Lumped, with that of the first node (left), the last one (right) given to its neighbour: contact there is a
    /// matter of forces, not of impulses (Khenous, Laborde & Renard 2008).
    Massless {
        /// The first node.
        left: bool,
        /// The last node.
        right: bool,
    },
}

/// A bar of two-node elements along its axis; `fixed` says which ends are held.
pub fn bar(
    length: f64,
    section: Section,
    elements: usize,
    fixed: (bool, bool),
    kind: BarMass,
) -> Result<Part, SetupError> {
    check(length, section, elements, 2)?;
    let h = length / elements as f64;
    let mut count = 0;
    let values: Vec<Option<usize>> = (0..=elements)
        .map(|k| {
            let held = (k == 0 && fixed.0) || (k == elements && fixed.1);
            (!held).then(|| {
                count += 1;
                count - 1
            })
        })
        .collect();
    let (k, m) = (section.rigidity / h, section.mass_per_length * h);
    let (mut stiffness, mut mass) = (Vec::new(), Vec::new());
    let mut carried = vec![0.0; count];
    for e in 0..elements {
        let dofs = [values[e], values[e + 1]];
        for a in 0..2 {
            let Some(i) = dofs[a] else { continue };
            for b in 0..2 {
                let Some(j) = dofs[b] else { continue };
                stiffness.push((i, j, if a == b { k } else { -k }));
                if kind == BarMass::Consistent {
                    mass.push((i, j, m / if a == b { 3.0 } else { 6.0 }));
                }
            }
            if kind == BarMass::Consistent {
                carried[i] += m / 2.0;
                continue;
            }
            let away = match kind {
                BarMass::Massless { left, right } => {
                    (left && e == 0 && a == 0) || (right && e + 1 == elements && a == 1)
                }
                _ => false,
            };
            match (away, dofs[1 - a]) {
                (true, Some(j)) => {
                    mass.push((j, j, m / 2.0));
                    carried[j] += m / 2.0;
                }
                _ => {
                    mass.push((i, i, m / 2.0));
                    carried[i] += m / 2.0;
                }
            }
        }
    }
    Ok(Part {
        name: String::new(),
        what: "the bar".into(),
        mass: Symmetric::new(count, mass),
        stiffness: Symmetric::new(count, stiffness),
        damping: Damping::None,
        gyroscopic: None,
        circulatory: None,
        layout: Layout::Line {
            nodes: (0..=elements).map(|k| k as f64 * h).collect(),
            values,
            slopes: Vec::new(),
            nearest: false,
        },
        carried: Some(carried),
        is_lumped_body: false,
    })
}

/// A shear building: floors of given masses on storeys of given stiffnesses, from the ground up.
pub fn building(masses: &[f64], stiffnesses: &[f64]) -> Result<Part, SetupError> {
    let n = masses.len();
    if n == 0 || stiffnesses.len() != n {
        return Err(SetupError::new(format!("{n} floor masses but {} storey stiffnesses", stiffnesses.len()))
            .help("one of each for every floor, from the ground up"));
    }
    if let Some(x) = masses.iter().chain(stiffnesses).find(|x| !(**x > 0.0 && x.is_finite())) {
        return Err(SetupError::new(format!("masses and stiffnesses of a building must be positive, not {x}")));
    }
    let mut entries = Vec::new();
    for (i, &k) in stiffnesses.iter().enumerate() {
        entries.push((i, i, k));
        if i > 0 {
            entries.extend([(i - 1, i - 1, k), (i - 1, i, -k), (i, i - 1, -k)]);
        }
    }
    Ok(Part {
        name: String::new(),
        what: "the building".into(),
        mass: Symmetric::diagonal(masses),
        stiffness: Symmetric::new(n, entries),
        damping: Damping::None,
        gyroscopic: None,
        circulatory: None,
        layout: Layout::Floors,
        carried: None,
        is_lumped_body: true,
    })
}
