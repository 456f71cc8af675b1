//! The antisymmetric parts of C and K: gyroscopic and circulatory forces, as flowing fluid exerts on tubes and rotation on shafts.

use super::linear::Linear;
use super::modes::Modes;
use super::part::Part;
use crate::linalg::{Skew, SolverOrder, Symmetric, dot, small_profile, solver_order};
use crate::{Kind, SetupError};

/// The antisymmetric parts of all parts together. What has no mass feels no gyroscopic force, as it is not damped; a circulatory one
/// on it is refused.
pub(super) fn gather(
    parts: &[Part],
    starts: &[usize],
    is_massless: &[bool],
) -> Result<(Option<Skew>, Option<Skew>), SetupError> {
    let n = is_massless.len();
    let of = |which: fn(&Part) -> &Option<Skew>| -> Vec<(usize, usize, f64)> {
        let all = parts.iter().zip(starts);
        all.flat_map(|(p, &at)| {
            which(p).iter().flat_map(move |a| a.entries().map(move |(i, j, x)| (at + i, at + j, x)))
        })
        .collect()
    };
    let (c, k) = (of(|p| &p.gyroscopic), of(|p| &p.circulatory));
    for part in parts {
        let mut sizes = [&part.gyroscopic, &part.circulatory].into_iter().flatten().map(Skew::dimension);
        if let Some(found) = sizes.find(|&found| found != part.dimension()) {
            return Err(SetupError::length("an antisymmetric part", part.dimension(), found));
        }
    }
    if let Some((i, j, _)) = k.iter().find(|(i, j, _)| is_massless[*i] || is_massless[*j]) {
        let dof = if is_massless[*i] { i } else { j };
        return Err(SetupError::new(format!(
            "the stiffness is not symmetric at degree of freedom {}, which has no mass",
            dof + 1
        ))
        .with_kind(Kind::Unsupported)
        .help("give it a mass, or take it out of the matrices"));
    }
    let c = c.into_iter().filter(|&(i, j, _)| !is_massless[i] && !is_massless[j]);
    let some = |skew: Skew| (!skew.is_zero()).then_some(skew);
    Ok((some(Skew::new(n, c)), some(Skew::new(n, k))))
}

/// The order in which a system is solved; with unsymmetric matrices one with a small profile.
pub(super) fn order(linear: &Linear, has_own_damping: bool) -> SolverOrder {
    let mut patterns = vec![&linear.stiffness, &linear.mass];
    patterns.extend(linear.damping.as_ref().filter(|_| has_own_damping));
    let skews: Vec<Symmetric> = linear.skews(1.0, 1.0).into_iter().map(|(_, a)| a.pattern()).collect();
    patterns.extend(&skews);
    match linear.is_symmetric() {
        true => solver_order(&patterns),
        false => SolverOrder { order: small_profile(&patterns), sparse: None },
    }
}

/// The same matrix with its degrees of freedom at other places; those at a place beyond `n` are left out.
pub(super) fn moved(skew: &Option<Skew>, n: usize, place: &[usize]) -> Option<Skew> {
    let entries = |a: &Skew| a.entries().map(|(i, j, x)| (place[i], place[j], x)).collect::<Vec<_>>();
    skew.as_ref().map(|a| Skew::new(n, entries(a)))
}

/// Φᵀ A Φ.
pub(super) fn projected(skew: &Option<Skew>, modes: &Modes) -> Option<Skew> {
    let a = skew.as_ref()?;
    let m = modes.len();
    let mut entries = Vec::with_capacity(m * m);
    for (j, phi) in modes.shapes.iter().enumerate() {
        let mut image = vec![0.0; phi.len()];
        a.add_product(1.0, phi, &mut image);
        entries.extend(modes.shapes.iter().enumerate().map(|(i, psi)| (i, j, dot(psi, &image))));
    }
    Some(Skew::new(m, entries))
}

/// Φᵀ C Φ of the symmetric part: diagonal where C is proportional up to rounding.
pub(super) fn modal_damping(massive: &Linear, modes: &Modes) -> Option<Symmetric> {
    let c = massive.damping.as_ref()?;
    let m = modes.len();
    let mut full = vec![0.0; m * m];
    let mut image = vec![0.0; massive.dimension()];
    for (j, phi) in modes.shapes.iter().enumerate() {
        c.multiply(phi, &mut image);
        for (i, psi) in modes.shapes.iter().enumerate().take(j + 1) {
            let x = dot(psi, &image);
            (full[i * m + j], full[j * m + i]) = (x, x);
        }
    }
    let largest = (0..m).map(|i| full[i * m + i].abs()).fold(0.0, f64::max);
    let entries = full.into_iter().enumerate().map(|(k, x)| (k / m, k % m, x));
    let entries: Vec<_> = entries.filter(|&(i, j, x)| i == j || x.abs() > 1e-12 * largest).collect();
    Some(Symmetric::new(m, entries))
}

/// Whether the modes of a system in modal coordinates move by themselves, up to a millionth of the damping.
pub(super) fn is_uncoupled(modal: &Linear) -> bool {
    let Some(c) = &modal.damping else { return modal.is_symmetric() };
    let largest = (0..c.dimension()).map(|i| c.at(i, i).abs()).fold(0.0, f64::max);
    modal.is_symmetric() && c.entries().all(|(i, j, x)| i == j || x.abs() <= 1e-6 * largest)
}
