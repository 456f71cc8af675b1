//! A part of a structure: its matrices, and how places on it become degrees of freedom.

use crate::SetupError;
use crate::linalg::{Skew, Symmetric};

/// How a part is damped.
#[derive(Clone, Debug)]
pub enum Damping {
    /// Not at all.
    None,
    /// C = a M + b K.
    Rayleigh(f64, f64),
    /// Damping ratios of the modes, lowest first; the last one holds for all further modes.
    Modal(Vec<f64>),
    /// A matrix: its symmetric part.
    Matrix(Symmetric),
}

/// A place on a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// A degree of freedom, counted from 1.
    Dof(usize),
    /// The displacement at an abscissa of a beam or bar.
    X(f64),
    /// The rotation at an abscissa of a beam.
    Rotation(f64),
    /// The mean displacement over an interval of abscissas: a load there is spread evenly over it.
    Span(f64, f64),
    /// A floor of a building, counted from 1.
    Floor(usize),
    /// A sum of degrees of freedom, counted from 1, with weights.
    Combination(Vec<(usize, f64)>),
    /// The elastic force on the supports along the translation of the part, r·K u: the base shear of a building.
    Shear,
    /// The same along a motion of its degrees of freedom that is given: one number for each.
    ShearAlong(Vec<f64>),
}

/// A node in the plane of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnNode {
    /// Where it is at rest.
    pub at: [f64; 2],
    /// The degrees of freedom, counted from 0, that move it along both directions, with weights.
    pub moves: [Row; 2],
}

/// Where the degrees of freedom of a part are.
#[derive(Clone, Debug)]
pub enum Layout {
    /// Matrices from elsewhere; the direction of a rigid translation, if it was given.
    Matrices {
        /// The displacements of all degrees of freedom when the base moves by one.
        direction: Option<Vec<f64>>,
        /// Where the nodes are, if that is known: only for drawing.
        nodes: Vec<DrawnNode>,
    },
    /// Values at nodes of a line; `None` where an end condition has taken the degree of freedom away.
    Line {
        /// Abscissas of the nodes.
        nodes: Vec<f64>,
        /// The displacement's degree of freedom at each node.
        values: Vec<Option<usize>>,
        /// The slope's (times the length of an element), for elements that have one (Hermite): empty otherwise.
        slopes: Vec<Option<usize>>,
        /// Whether a place is moved to the nearest node, as in \[V\] (3.10), instead of interpolated.
        nearest: bool,
    },
    /// One displacement a floor.
    Floors,
}

/// A part of a structure.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its name, where there are several.
    pub name: String,
    /// What it is, in words.
    pub what: String,
    /// M.
    pub mass: Symmetric,
    /// The symmetric part of K.
    pub stiffness: Symmetric,
    /// C.
    pub damping: Damping,
    /// The antisymmetric part of C, if it has any: gyroscopic forces.
    pub gyroscopic: Option<Skew>,
    /// The antisymmetric part of K, if it has any: circulatory forces.
    pub circulatory: Option<Skew>,
    /// Where the degrees of freedom are.
    pub layout: Layout,
    /// M r over all nodes, those held included, for a base that moves; none: M r of the degrees of freedom.
    pub carried: Option<Vec<f64>>,
    /// Whether the mass of a degree of freedom is that of a body (a floor), not of a piece of a mesh.
    pub is_lumped_body: bool,
}

/// Entries (degree of freedom, weight), counted from 0.
pub type Row = Vec<(usize, f64)>;

impl Part {
    /// Number of degrees of freedom.
    pub fn dimension(&self) -> usize {
        self.mass.dimension()
    }

    /// The motion along which a place is a base shear; None where it is none, or where the motion is not known.
    pub(super) fn sheared(&self, place: &Place) -> Option<Vec<f64>> {
        match place {
            Place::Shear => self.translation(),
            Place::ShearAlong(r) => Some(r.clone()),
            _ => None,
        }
    }

    /// The row of a place: what is displaced there is row · u.
    pub fn row(&self, place: &Place) -> Result<Row, SetupError> {
        let n = self.dimension();
        match (place, &self.layout) {
            (&Place::Dof(k), _) => match k.checked_sub(1) {
                Some(i) if i < n => Ok(vec![(i, 1.0)]),
                None => Err(SetupError::new("degrees of freedom count from 1").help("the first one is dof = 1")),
                _ => Err(SetupError::new(format!("there is no degree of freedom {k}: {} has {n}", self.what))),
            },
            (Place::Combination(terms), _) => {
                let mut row = Row::new();
                for (k, weight) in terms {
                    let (i, _) = self.row(&Place::Dof(*k))?[0];
                    match row.iter_mut().find(|(j, _)| *j == i) {
                        Some(entry) => entry.1 += weight,
                        None => row.push((i, *weight)),
                    }
                }
                row.retain(|(_, weight)| *weight != 0.0);
                Ok(row)
            }
            (Place::Shear | Place::ShearAlong(_), _) => {
                let r = self.sheared(place).ok_or_else(|| {
                    SetupError::new(format!("it is not known along which degrees of freedom {} is sheared", self.what))
                        .help("add  direction = …  to the matrices, or to the point")
                })?;
                if r.len() != n {
                    return Err(SetupError::length("the direction of a base shear", n, r.len()));
                }
                let mut force = vec![0.0; n];
                self.stiffness.multiply(&r, &mut force);
                let size = self.stiffness.entries().fold(0.0_f64, |m, e| m.max(e.2.abs()));
                Ok(force.into_iter().enumerate().filter(|(_, f)| f.abs() > 1e-12 * size).collect())
            }
            (&Place::Floor(k), Layout::Floors) if (1..=n).contains(&k) => Ok(vec![(k - 1, 1.0)]),
            (&Place::Floor(k), Layout::Floors) => {
                Err(SetupError::new(format!("there is no floor {k}: {} has {n}", self.what))
                    .help("floors count from 1, the lowest"))
            }
            (&Place::X(x), Layout::Line { .. }) => self.on_line(x, false),
            (&Place::Rotation(x), Layout::Line { slopes, .. }) if !slopes.is_empty() => self.on_line(x, true),
            (Place::Rotation(_), Layout::Line { .. }) => {
                Err(SetupError::new(format!("{} has no rotations", self.what)).help("Hermite beams have them"))
            }
            (&Place::Span(from, to), Layout::Line { .. }) => self.span(from, to),
            (place, layout) => {
                let (key, keys) = (
                    match place {
                        Place::Floor(_) => "floor",
                        Place::Rotation(_) => "rotation",
                        Place::Span(..) => "from and to",
                        _ => "x",
                    },
                    match layout {
                        Layout::Matrices { .. } => "dof",
                        Layout::Floors => "floor or dof",
                        Layout::Line { .. } => "x, rotation, from and to, or dof",
                    },
                );
                Err(SetupError::new(format!("{} has no place given by {key}", self.what))
                    .help(format!("a point on it is given by {keys}")))
            }
        }
    }

    fn on_line(&self, x: f64, rotation: bool) -> Result<Row, SetupError> {
        let Layout::Line { nodes, values, slopes, nearest } = &self.layout else { return Ok(Vec::new()) };
        let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
        let slack = 1e-9 * (last - first);
        if !(x >= first.min(0.0) - slack && x <= last + slack) {
            return Err(SetupError::new(format!("the abscissa {x} is not on {}, which ends at {last}", self.what)));
        }
        let free = |dofs: &[Option<usize>], k: usize, weight: f64, row: &mut Row| {
            if let (Some(Some(i)), true) = (dofs.get(k), weight != 0.0) {
                row.push((*i, weight));
            }
        };
        let mut row = Row::new();
        if *nearest {
            // |j₀Δx − x₀| = min
            let k = (0..nodes.len()).min_by(|&a, &b| (nodes[a] - x).abs().total_cmp(&(nodes[b] - x).abs()));
            free(values, k.unwrap_or(0), 1.0, &mut row);
            return Ok(row);
        }
        let k = nodes.partition_point(|&node| node <= x).clamp(1, nodes.len() - 1) - 1;
        let h = nodes[k + 1] - nodes[k];
        let s = ((x - nodes[k]) / h).clamp(0.0, 1.0);
        // At a node, exactly the node.
        let s = if s < 1e-12 {
            0.0
        } else if s > 1.0 - 1e-12 {
            1.0
        } else {
            s
        };
        if slopes.is_empty() {
            free(values, k, 1.0 - s, &mut row);
            free(values, k + 1, s, &mut row);
            return Ok(row);
        }
        let [w0, r0, w1, r1] = if rotation { hermite_slopes(s).map(|x| x / h) } else { hermite(s) };
        free(values, k, w0, &mut row);
        free(slopes, k, r0, &mut row);
        free(values, k + 1, w1, &mut row);
        free(slopes, k + 1, r1, &mut row);
        Ok(row)
    }

    /// The mean over an interval, by Gauss points within each element: exact for cubics.
    fn span(&self, from: f64, to: f64) -> Result<Row, SetupError> {
        if !(from < to) {
            return Err(SetupError::new(format!("the interval from {from} to {to} is empty")));
        }
        let Layout::Line { nodes, .. } = &self.layout else { return Ok(Vec::new()) };
        self.on_line(from, false)?;
        self.on_line(to, false)?;
        let inner = nodes.iter().copied().filter(|&x| x > from && x < to);
        let marks: Vec<f64> = std::iter::once(from).chain(inner).chain([to]).collect();
        let mut sum = vec![0.0; self.dimension()];
        for pair in marks.windows(2) {
            let (middle, half) = (0.5 * (pair[0] + pair[1]), 0.5 * (pair[1] - pair[0]));
            for side in [-1.0, 1.0] {
                for (i, weight) in self.on_line(middle + side * half / 3.0_f64.sqrt(), false)? {
                    sum[i] += weight * half / (to - from);
                }
            }
        }
        Ok(sum.into_iter().enumerate().filter(|(_, w)| *w != 0.0).collect())
    }

    /// The mass that moves with a translation, as far as it is known which that is; what sits on held nodes does not count.
    pub fn total_mass(&self) -> Option<f64> {
        let r = self.translation()?;
        match &self.carried {
            Some(force) => Some(force.iter().zip(&r).map(|(f, r)| f * r).sum()),
            None => Some(self.mass.form(&r, &r)),
        }
    }

    /// The displacements of all degrees of freedom when the part moves by one as a rigid body.
    pub fn translation(&self) -> Option<Vec<f64>> {
        match &self.layout {
            Layout::Matrices { direction, .. } => direction.clone(),
            Layout::Floors => Some(vec![1.0; self.dimension()]),
            Layout::Line { values, .. } => {
                let mut r = vec![0.0; self.dimension()];
                values.iter().flatten().for_each(|&i| r[i] = 1.0);
                Some(r)
            }
        }
    }

    /// Places at which to look in order to draw it: abscissas and their rows; of the nodes of matrices, both coordinates.
    pub fn outline(&self) -> Vec<(f64, Row)> {
        match &self.layout {
            Layout::Line { nodes, .. } => {
                let (first, last) = (nodes[0], nodes[nodes.len() - 1]);
                let count = nodes.len().clamp(2, 60);
                let at = |k: usize| first + (last - first) * k as f64 / (count - 1) as f64;
                let held = (first > 0.0).then(|| (0.0, Row::new()));
                let free = (0..count).filter_map(|k| Some((at(k), self.on_line(at(k), false).ok()?)));
                held.into_iter().chain(free).collect()
            }
            Layout::Floors => std::iter::once((0.0, Row::new()))
                .chain((0..self.dimension()).map(|i| ((i + 1) as f64, vec![(i, 1.0)])))
                .collect(),
            Layout::Matrices { nodes, .. } => {
                nodes.iter().flat_map(|node| (0..2).map(|k| (node.at[k], node.moves[k].clone()))).collect()
            }
        }
    }
}

/// The cubics with value or slope one at one end of the unit interval.
fn hermite(s: f64) -> [f64; 4] {
    let r = 1.0 - s;
    [r * r * (1.0 + 2.0 * s), s * r * r, s * s * (3.0 - 2.0 * s), -s * s * r]
}

/// Their slopes.
fn hermite_slopes(s: f64) -> [f64; 4] {
    let r = 1.0 - s;
    [-6.0 * s * r, r * (1.0 - 3.0 * s), 6.0 * s * r, s * (3.0 * s - 2.0)]
}
