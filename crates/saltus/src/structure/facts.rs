//! A structure at a glance.

use super::{Part, Structure};

/// What a structure is: size, masses, lowest frequencies.
#[derive(Clone, Debug)]
pub struct StructureFacts {
    /// Number of degrees of freedom, those of the matrices.
    pub dofs: usize,
    /// Those without mass.
    pub massless: usize,
    /// The half-bandwidth in the order in which they are solved.
    pub half_bandwidth: usize,
    /// The entries of a factor, where it is sparse: the band then says nothing.
    pub factor_entries: Option<f64>,
    /// The mass that moves with a translation, by parts; None where its direction is not known.
    pub masses: Vec<(String, Option<f64>)>,
    /// The lowest frequencies in Hz, rigid-body modes (zero) included.
    pub frequencies: Vec<f64>,
    /// Number of rigid-body modes among them.
    pub rigid: usize,
    /// Their names where the parts give them: `translation of the bar`.
    pub rigid_names: Vec<String>,
    /// The mass that each stop feels in the first instant; zero for a spring.
    pub contact_masses: Vec<f64>,
}

impl StructureFacts {
    /// Computes them.
    pub fn new(structure: &Structure) -> Self {
        let linear = &structure.linear;
        let modes = structure.lowest().cloned().unwrap_or_default();
        let rigid = modes.squares.iter().filter(|&&x| x == 0.0).count();
        let masses = structure.parts.iter().map(|p| (label(p), p.total_mass()));
        // A rigid motion r has K r = 0.
        let free = structure.parts.iter().filter(|p| {
            p.translation().is_some_and(|r| {
                let mut force = vec![0.0; r.len()];
                p.stiffness.multiply(&r, &mut force);
                let largest = p.stiffness.entries().fold(0.0_f64, |m, e| m.max(e.2.abs()));
                force.iter().all(|f| f.abs() <= 1e-9 * largest)
            })
        });
        let mut rigid_names: Vec<String> = free.map(|p| format!("translation of {}", label(p))).collect();
        if rigid > rigid_names.len() {
            rigid_names.push(format!("{} more", rigid - rigid_names.len()));
        }
        StructureFacts {
            // (The ends of springs at stops are unknowns of the contact, not the structure's.)
            dofs: structure.meshed(),
            massless: linear.massless().len() - (linear.dimension() - structure.meshed()),
            half_bandwidth: linear.stiffness.half_bandwidth().max(linear.mass.half_bandwidth()),
            factor_entries: structure.sparse,
            masses: masses.collect(),
            frequencies: modes.frequencies().iter().map(|w| w / std::f64::consts::TAU).collect(),
            rigid,
            rigid_names,
            contact_masses: (0..linear.stops.len()).map(|a| linear.contact_mass(a).unwrap_or(f64::NAN)).collect(),
        }
    }
}

/// The name of a part, or what it is.
pub(super) fn label(part: &Part) -> String {
    if part.name.is_empty() { part.what.clone() } else { format!("`{}`", part.name) }
}
