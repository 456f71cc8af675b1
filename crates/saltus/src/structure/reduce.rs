//! A structure in other coordinates: another order, massless degrees of freedom condensed, modes.

use super::linear::Linear;
use super::modes::Modes;
use super::part::{Damping, Part, Row};
use super::{ModalDamping, Structure, skew};
use crate::SetupError;
use crate::linalg::{Rows, Skew, Symmetric};
use std::collections::BTreeMap;

/// How a structure is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// How many modes are kept.
    pub modes: usize,
    /// Whether the flexibility of the modes left out is given back to the stops as a spring.
    pub residual: bool,
}

/// What the dampings of the parts are together, in modal coordinates.
pub(super) fn modal_damping(parts: &[Part]) -> Result<ModalDamping, SetupError> {
    let ratios: Vec<&Vec<f64>> =
        parts.iter().filter_map(|p| if let Damping::Modal(r) = &p.damping { Some(r) } else { None }).collect();
    if let Some(first) = ratios.first() {
        if ratios.len() < parts.len() || ratios.iter().any(|r| r != first) {
            return Err(SetupError::new("parts with modal damping must all have the same ratios"));
        }
        if let Some(bad) = first.iter().find(|z| !(**z >= 0.0 && z.is_finite())) {
            return Err(SetupError::new(format!("a damping ratio must not be negative, as {bad} is")));
        }
        return Ok(ModalDamping::Ratios(first.to_vec()));
    }
    let pair = |p: &Part| match &p.damping {
        Damping::None => Some((0.0, 0.0)),
        Damping::Rayleigh(a, b) => Some((*a, *b)),
        _ => None,
    };
    let first = parts.first().and_then(pair);
    Ok(match first.filter(|f| parts.iter().all(|p| pair(p) == Some(*f))) {
        Some((a, b)) => ModalDamping::Rayleigh(a, b),
        None => ModalDamping::Matrix,
    })
}

fn moved(rows: &Rows, place: &[usize]) -> Rows {
    (0..rows.len()).map(|k| rows.entries(k).map(|(i, x)| (place[i], x))).collect()
}

/// The same system with its degrees of freedom in another order.
pub(super) fn reordered(linear: &Linear, order: &[usize], place: &[usize]) -> Linear {
    let pick = |x: &[f64]| -> Vec<f64> { order.iter().map(|&old| x[old]).collect() };
    Linear {
        mass: linear.mass.reordered(order),
        damping: linear.damping.as_ref().map(|c| c.reordered(order)),
        gyroscopic: skew::moved(&linear.gyroscopic, order.len(), place),
        circulatory: skew::moved(&linear.circulatory, order.len(), place),
        stiffness: linear.stiffness.reordered(order),
        loads: moved(&linear.loads, place),
        stops: moved(&linear.stops, place),
        holes: linear.holes.clone(),
        points: moved(&linear.points, place),
        shears: linear.shears.iter().map(|(p, r)| (*p, pick(r))).collect(),
        outline: moved(&linear.outline, place),
        q0: pick(&linear.q0),
        v0: pick(&linear.v0),
    }
}

impl Structure {
    /// The lowest modes of what has mass; massless degrees of freedom follow statically.
    pub fn modes(&self, count: usize) -> Result<Modes, SetupError> {
        let (massive, _) = condensed(&self.linear)?;
        Modes::new(&massive.mass, &massive.stiffness, count)
    }

    /// The most modes that can be computed.
    pub fn most_modes(&self) -> usize {
        super::modes::most(self.linear.dimension() - self.linear.massless().len())
    }

    /// The structure with its massless degrees of freedom coupled to the rest by stops and loads only.
    pub(super) fn condensed(&self, full: &Linear) -> Result<Linear, SetupError> {
        let (mut massive, springs) = condensed(full)?;
        append(&mut massive, &springs);
        Ok(massive)
    }

    /// The structure in modal coordinates, followed by the massless degrees of freedom (springs of stops, contact nodes,
    /// residual flexibility), on which nothing but K acts.
    pub fn modal(&self, full: &Linear, reduction: Reduction) -> Result<Linear, SetupError> {
        let (massive, springs) = condensed(full)?;
        let n = massive.dimension();
        if reduction.modes == 0 || reduction.modes > n {
            let moving = if n == self.linear.dimension() { "" } else { " with mass" };
            return Err(SetupError::new(format!("{} modes cannot be taken", reduction.modes))
                .help(format!("the structure has {n} degrees of freedom{moving}")));
        }
        let modes = self.cached_modes(&massive, reduction.modes)?;
        let damping = match &self.damping {
            ModalDamping::Rayleigh(a, b) => modes.damped(|_, w| a + b * w * w),
            ModalDamping::Ratios(ratios) => {
                modes.damped(|k, w| 2.0 * w * ratios.get(k).or(ratios.last()).copied().unwrap_or(0.0))
            }
            ModalDamping::Matrix => skew::modal_damping(&massive, &modes),
        };
        let mut reduced = modes.reduce(&massive, damping);
        if springs.count > 0 {
            append(&mut reduced, &springs);
        }
        if reduction.residual && !full.holes.is_empty() {
            return Err(SetupError::new("the residual flexibility is that of plane stops, not of round holes")
                .with_kind(crate::Kind::Unsupported)
                .help("leave it out and keep more modes"));
        }
        if reduction.residual {
            residual(&massive, &modes, &mut reduced)?;
        }
        Ok(reduced)
    }
}

/// Massless degrees of freedom z that stand beside a reduced system: K of them, and what they do in loads, stops, points.
#[derive(Default)]
struct Springs {
    stiffness: Vec<(usize, usize, f64)>,
    count: usize,
    loads: Vec<Row>,
    stops: Vec<Row>,
    points: Vec<Row>,
}

fn append(system: &mut Linear, springs: &Springs) {
    let n = system.dimension();
    let all = n + springs.count;
    let more = springs.stiffness.iter().map(|&(i, j, x)| (n + i, n + j, x));
    system.stiffness = Symmetric::new(all, system.stiffness.entries().chain(more).collect());
    system.mass = Symmetric::new(all, system.mass.entries().collect());
    system.damping = system.damping.as_ref().map(|c| Symmetric::new(all, c.entries().collect()));
    let larger = |a: &Skew| Skew::new(all, a.entries());
    (system.gyroscopic, system.circulatory) =
        (system.gyroscopic.as_ref().map(larger), system.circulatory.as_ref().map(larger));
    let extend = |rows: &Rows, more: &[Row]| -> Rows {
        let beside = |k: usize| more.get(k).into_iter().flatten().map(|&(z, x)| (n + z, x));
        (0..rows.len()).map(|k| rows.entries(k).chain(beside(k))).collect()
    };
    system.loads = extend(&system.loads, &springs.loads);
    system.stops = extend(&system.stops, &springs.stops);
    system.points = extend(&system.points, &springs.points);
    system.shears.iter_mut().for_each(|(_, r)| r.resize(all, 0.0));
    system.q0.resize(all, 0.0);
    system.v0.resize(all, 0.0);
}

/// Splits off massless degrees of freedom c: u_c = T u_i + z with T = −K_cc⁻¹ K_ci, so that z is coupled to the rest by
/// stops and loads only.
fn condensed(full: &Linear) -> Result<(Linear, Springs), SetupError> {
    let n = full.dimension();
    let massless = full.massless();
    if massless.is_empty() {
        return Ok((full.clone(), Springs::default()));
    }
    let mut inner = vec![usize::MAX; n];
    let mut outer = vec![usize::MAX; n];
    massless.iter().enumerate().for_each(|(z, &i)| outer[i] = z);
    let kept: Vec<usize> = (0..n).filter(|&i| outer[i] == usize::MAX).collect();
    kept.iter().enumerate().for_each(|(k, &i)| inner[i] = k);
    let count = massless.len();
    let k_cc = full.stiffness.entries().filter(|&(i, j, _)| outer[i] < n && outer[j] < n);
    let k_cc: Vec<_> = k_cc.map(|(i, j, x)| (outer[i], outer[j], x)).collect();
    let factor = Symmetric::new(count, k_cc.clone()).factor().map_err(|_| {
        SetupError::new("massless degrees of freedom are held by no stiffness").help("give them a mass, or a stiffness")
    })?;
    // The rows of T: for each kept neighbour, a column of −K_cc⁻¹ K_ci.
    let mut columns: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for (i, j, x) in full.stiffness.entries().filter(|&(i, j, _)| outer[i] < n && inner[j] < n) {
        columns.entry(inner[j]).or_insert_with(|| vec![0.0; count])[outer[i]] = -x;
    }
    columns.values_mut().for_each(|c| factor.solve(c));
    let split = |rows: &Rows| {
        let mut out = Rows::new();
        let mut beside = Vec::new();
        for r in 0..rows.len() {
            let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
            let mut own = Vec::new();
            for (i, x) in rows.entries(r) {
                if inner[i] < n {
                    *sum.entry(inner[i]).or_default() += x;
                } else {
                    own.push((outer[i], x));
                    columns.iter().for_each(|(&j, t)| *sum.entry(j).or_default() += x * t[outer[i]]);
                }
            }
            out.push(sum);
            beside.push(own);
        }
        (out, beside)
    };
    let (loads, beside_loads) = split(&full.loads);
    let (stops, beside_stops) = split(&full.stops);
    let (points, beside_points) = split(&full.points);
    let (outline, _) = split(&full.outline);
    let inside = |a: &Symmetric| {
        let entries = a.entries().filter(|&(i, j, _)| inner[i] < n && inner[j] < n);
        entries.map(|(i, j, x)| (inner[i], inner[j], x)).collect::<Vec<_>>()
    };
    // K_ii + K_ic T.
    let mut stiffness = inside(&full.stiffness);
    for (i, c, x) in full.stiffness.entries().filter(|&(i, c, _)| inner[i] < n && outer[c] < n) {
        stiffness.extend(columns.iter().map(|(&j, t)| (inner[i], j, x * t[outer[c]])));
    }
    let m = kept.len();
    let massive = Linear {
        mass: Symmetric::new(m, inside(&full.mass)),
        damping: full.damping.as_ref().map(|c| Symmetric::new(m, inside(c))),
        gyroscopic: skew::moved(&full.gyroscopic, m, &inner),
        circulatory: skew::moved(&full.circulatory, m, &inner),
        stiffness: Symmetric::new(m, stiffness),
        loads,
        stops,
        holes: full.holes.clone(),
        points,
        shears: full.shears.iter().map(|(p, r)| (*p, kept.iter().map(|&i| r[i]).collect())).collect(),
        outline,
        q0: kept.iter().map(|&i| full.q0[i]).collect(),
        v0: kept.iter().map(|&i| full.v0[i]).collect(),
    };
    let springs = Springs { stiffness: k_cc, count, loads: beside_loads, stops: beside_stops, points: beside_points };
    Ok((massive, springs))
}

/// Gives the stops the static flexibility of the modes left out: F = w K⁻¹ w − Σ φφ/ω² becomes a massless degree of freedom
/// per stop.
fn residual(full: &Linear, modes: &Modes, reduced: &mut Linear) -> Result<(), SetupError> {
    let m = full.stops.len();
    let factor = full.stiffness.factor().map_err(|_| {
        SetupError::new("the residual flexibility needs a structure that is held: it has free rigid-body modes")
    })?;
    let n = full.dimension();
    let solved: Vec<Vec<f64>> = (0..m).map(|a| factor.solved(full.stops.vector(a, n))).collect();
    // What modes do not have of the displacement, by a row, under a unit force on stop a.
    let missing = |rows: &Rows, r: usize, a: usize| {
        let of_modes: f64 = (0..modes.len())
            .map(|k| rows.dot(r, &modes.shapes[k]) * full.stops.dot(a, &modes.shapes[k]) / modes.squares[k])
            .sum();
        rows.dot(r, &solved[a]) - of_modes
    };
    // Stops on one row (both sides of a guide) share one spring.
    let mut own: Vec<(usize, f64)> = Vec::new();
    let mut share = vec![(0usize, 1.0f64); m];
    for a in 0..m {
        let same = own.iter().position(|&(b, _)| parallel(&full.stops, a, b).is_some());
        match same {
            Some(z) => share[a] = (z, parallel(&full.stops, a, own[z].0).unwrap_or(1.0)),
            None => {
                share[a] = (own.len(), 1.0);
                own.push((a, missing(&full.stops, a, a)));
            }
        }
    }
    // All modes are there, or all that matter: nothing is left out.
    let whole = (0..m).map(|a| full.stops.dot(a, &solved[a])).fold(0.0_f64, f64::max);
    if own.iter().all(|(_, f)| *f <= 1e-8 * whole) {
        return Ok(());
    }
    let count = own.len();
    let mut flexibility = vec![0.0; count * count];
    for (i, &(a, _)) in own.iter().enumerate() {
        for (j, &(b, _)) in own.iter().enumerate() {
            flexibility[i * count + j] = 0.5 * (missing(&full.stops, a, b) + missing(&full.stops, b, a));
        }
    }
    let mut inverse = crate::linalg::Metric::full(count);
    inverse.set(&flexibility).map_err(|_| {
        SetupError::new("the modes left out have no flexibility at the stops")
            .help("leave the residual flexibility out")
    })?;
    let mut stiffness = Vec::new();
    for j in 0..count {
        let mut column = vec![0.0; count];
        column[j] = 1.0;
        inverse.solve(&mut column);
        stiffness.extend(column.into_iter().enumerate().map(|(i, x)| (i, j, x)));
    }
    // A load bends what is left out, too: z = R s under a force K_zz R s on it.
    let across = |rows: &Rows, r: usize| -> Row {
        let mut x: Vec<f64> = own.iter().map(|&(a, _)| missing(rows, r, a)).collect();
        inverse.solve(&mut x);
        x.into_iter().enumerate().collect()
    };
    let springs = Springs {
        stiffness,
        count,
        loads: (0..full.loads.len()).map(|l| across(&full.loads, l)).collect(),
        stops: share.iter().map(|&(z, x)| vec![(z, x)]).collect(),
        points: (0..full.points.len()).map(|p| across(&full.points, p)).collect(),
    };
    append(reduced, &springs);
    Ok(())
}

/// The factor between two rows, if one is a multiple of the other.
fn parallel(rows: &Rows, a: usize, b: usize) -> Option<f64> {
    let ((at_a, x), (at_b, y)) = (rows.row(a), rows.row(b));
    let factor = x.first()? / y.first()?;
    (at_a == at_b && x.iter().zip(y).all(|(x, y)| (x - factor * y).abs() <= 1e-12 * x.abs())).then_some(factor)
}
