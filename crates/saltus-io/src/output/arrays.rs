//! The numbers of a run as named arrays: one list for every format that holds arrays or columns.

use saltus::{Impact, Model, Side, Trajectory};

/// What the columns of an array stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// A vector: no second dimension.
    None,
    /// One column per coordinate.
    Coordinates,
    /// One column per first-order state.
    States,
    /// One column per constraint.
    Constraints,
    /// One column per equation of a joint.
    Joints,
    /// One column per slip of friction.
    Slips,
    /// Columns with names of their own.
    Named,
}

impl Columns {
    fn width(self, model: &Model) -> usize {
        match self {
            Columns::None | Columns::Named => 1,
            Columns::Coordinates => model.coordinates.len(),
            Columns::States => model.states.len(),
            Columns::Constraints => model.constraints.len(),
            Columns::Joints => model.joints.len(),
            Columns::Slips => model.bonds() - model.joints.len(),
        }
    }

    /// What the columns are called.
    pub fn names(self, model: &Model) -> Vec<String> {
        match self {
            Columns::None | Columns::Named => Vec::new(),
            Columns::Coordinates => model.coordinates.clone(),
            Columns::States => model.states.iter().map(|state| state.name.clone()).collect(),
            Columns::Constraints => model.constraints.iter().map(|c| c.name.clone()).collect(),
            Columns::Joints => model.joints.iter().map(|joint| joint.name.clone()).collect(),
            Columns::Slips => model.slip_names(),
        }
    }
}

/// Puts row k of an array into a buffer.
type Fill<'a> = Box<dyn Fn(usize, &mut [f64]) + 'a>;

/// A vector or a matrix with a name, known row by row.
pub struct Array<'a> {
    /// Its name in files.
    pub name: &'static str,
    /// Number of rows: stored instants or impacts.
    pub rows: usize,
    /// Number of columns; one for a vector.
    pub width: usize,
    /// What they are.
    pub columns: Columns,
    /// Their names, where the model does not know them.
    pub named: Vec<String>,
    fill: Fill<'a>,
}

impl Array<'_> {
    /// A vector of given values.
    pub fn vector(name: &'static str, values: Vec<f64>) -> Array<'static> {
        let rows = values.len();
        Array {
            name,
            rows,
            width: 1,
            columns: Columns::None,
            named: Vec::new(),
            fill: Box::new(move |k, out| out[0] = values[k]),
        }
    }

    /// Row k.
    pub fn row(&self, k: usize, out: &mut [f64]) {
        (self.fill)(k, out);
    }

    /// Rows `from..to` one after the other.
    pub fn block(&self, from: usize, to: usize) -> Vec<f64> {
        let mut block = vec![0.0; (to - from) * self.width];
        for (k, row) in block.chunks_exact_mut(self.width.max(1)).enumerate() {
            self.row(from + k, row);
        }
        block
    }

    /// The names of its columns in tables: positions and states have their own.
    pub fn column_names(&self, model: &Model) -> Vec<String> {
        match (self.name, self.columns) {
            (name, Columns::None) => vec![name.to_string()],
            (name, Columns::Named) => self.named.iter().map(|column| format!("{name}_{column}")).collect(),
            ("q" | "z", columns) => columns.names(model),
            (name, columns) => columns.names(model).iter().map(|column| format!("{name}_{column}")).collect(),
        }
    }
}

/// Lists arrays; those of laws that a model does not have are left out.
struct List<'a> {
    rows: usize,
    arrays: Vec<Array<'a>>,
}

impl<'a> List<'a> {
    fn add(&mut self, model: &Model, name: &'static str, columns: Columns, fill: impl Fn(usize, &mut [f64]) + 'a) {
        let (rows, width) = (self.rows, columns.width(model));
        if width > 0 || matches!(columns, Columns::Constraints) {
            self.arrays.push(Array { name, rows, width, columns, named: Vec::new(), fill: Box::new(fill) });
        }
    }
}

/// The motion at the stored instants: t, q, z, v_left, v_right; by events, reaction, joint_reaction, friction_force; of a
/// structure, mean_force (time steps: over the interval that ends at the instant, impulses of impacts included) and acceleration (absolute, without impacts), and base_shear for the points that are one (damping included).
pub fn motion<'a>(model: &Model, trajectory: &'a Trajectory) -> Vec<Array<'a>> {
    let (d, m, j) = (model.coordinates.len(), model.constraints.len(), model.joints.len());
    let all = m + model.bonds();
    let mut list = List { rows: trajectory.len(), arrays: Vec::new() };
    list.add(model, "t", Columns::None, |k, out| out[0] = trajectory.t[k]);
    list.add(model, "q", Columns::Coordinates, move |k, out| out.copy_from_slice(&trajectory.q(k)[..d]));
    list.add(model, "z", Columns::States, |k, out| out.copy_from_slice(trajectory.states(k)));
    for (name, side) in [("v_left", Side::Left), ("v_right", Side::Right)] {
        list.add(model, name, Columns::Coordinates, move |k, out| out.copy_from_slice(&trajectory.v(k, side)[..d]));
    }
    if trajectory.has_reactions() {
        let part = |from: usize, to: usize| {
            move |k: usize, out: &mut [f64]| out.copy_from_slice(&trajectory.reactions_at(k, all)[from..to])
        };
        list.add(model, "reaction", Columns::Constraints, part(0, m));
        list.add(model, "joint_reaction", Columns::Joints, part(m, m + j));
        list.add(model, "friction_force", Columns::Slips, part(m + j, all));
    }
    let history = &trajectory.history;
    if history.len() == trajectory.len() {
        if history.has_impulses() {
            list.add(model, "mean_force", Columns::Constraints, |k, out| match k {
                0 => out.fill(0.0),
                _ => {
                    let span = trajectory.t[k] - trajectory.t[k - 1];
                    let (before, now) = (history.impulses(k - 1), history.impulses(k));
                    out.iter_mut()
                        .enumerate()
                        .for_each(|(a, f)| *f = if span > 0.0 { (now[a] - before[a]) / span } else { 0.0 });
                }
            });
        }
        let sides = history.side_names();
        if !sides.is_empty() && history.has_impulses() {
            let fill = Box::new(move |k: usize, out: &mut [f64]| {
                out.fill(0.0);
                let Some(before) = k.checked_sub(1) else { return };
                let span = trajectory.t[k] - trajectory.t[before];
                let (first, last) = (history.sides(before), history.sides(k));
                if span > 0.0 {
                    out.iter_mut().enumerate().for_each(|(a, f)| *f = (last[a] - first[a]) / span);
                }
            });
            let (name, rows, width) = ("side_force", list.rows, sides.len());
            list.arrays.push(Array { name, rows, width, columns: Columns::Named, named: sides.to_vec(), fill });
        }
        let shears = history.shear_points();
        if shears.is_empty() {
            let row = move |k: usize, out: &mut [f64]| out.copy_from_slice(&history.accelerations(k)[..d]);
            list.add(model, "acceleration", Columns::Coordinates, row);
        } else {
            // A force has no acceleration.
            let moving: Vec<usize> = trajectory.displacements().collect();
            let named = moving.iter().map(|&p| model.coordinates[p].clone()).collect();
            let (name, rows, width) = ("acceleration", list.rows, moving.len());
            let fill = Box::new(move |k: usize, out: &mut [f64]| {
                out.iter_mut().zip(&moving).for_each(|(x, &p)| *x = history.accelerations(k)[p]);
            });
            if width > 0 {
                list.arrays.push(Array { name, rows, width, columns: Columns::Named, named, fill });
            }
            let named = shears.iter().map(|&p| model.coordinates[p].clone()).collect();
            let fill = Box::new(move |k: usize, out: &mut [f64]| out.copy_from_slice(history.shears(k)));
            let (name, rows, width) = ("base_shear", list.rows, shears.len());
            list.arrays.push(Array { name, rows, width, columns: Columns::Named, named, fill });
        }
    }
    list.arrays
}

/// The impacts, one row each: impact_t, impact_q, impact_v_before, impact_v_after, impact_impulse, and where a model has
/// states, joints or friction, impact_z, impact_joint_impulse and impact_friction_impulse.
pub fn impacts<'a>(model: &Model, trajectory: &'a Trajectory) -> Vec<Array<'a>> {
    let (d, j) = (model.coordinates.len(), model.joints.len());
    let impacts = &trajectory.impacts;
    let mut list = List { rows: impacts.len(), arrays: Vec::new() };
    list.add(model, "impact_t", Columns::None, |k, out| out[0] = impacts.get(k).t);
    list.add(model, "impact_q", Columns::Coordinates, move |k, out| out.copy_from_slice(&impacts.get(k).q[..d]));
    let before = move |k: usize, out: &mut [f64]| out.copy_from_slice(&impacts.get(k).v_before[..d]);
    list.add(model, "impact_v_before", Columns::Coordinates, before);
    let after = move |k: usize, out: &mut [f64]| out.copy_from_slice(&impacts.get(k).v_after[..d]);
    list.add(model, "impact_v_after", Columns::Coordinates, after);
    list.add(model, "impact_impulse", Columns::Constraints, |k, out| {
        let impact = impacts.get(k);
        out.fill(0.0);
        impact.constraints.iter().zip(impact.impulses).for_each(|(&a, p)| out[a] = *p);
    });
    list.add(model, "impact_z", Columns::States, move |k, out| out.copy_from_slice(&impacts.get(k).v_before[d..]));
    let others = |from: usize| move |k: usize, out: &mut [f64]| other_impulses(&impacts.get(k), from, out);
    list.add(model, "impact_joint_impulse", Columns::Joints, others(0));
    list.add(model, "impact_friction_impulse", Columns::Slips, others(j));
    list.arrays
}

/// The impulses of the rows of joints and slips from one on.
pub fn other_impulses(impact: &Impact, from: usize, out: &mut [f64]) {
    out.fill(0.0);
    for &(row, impulse) in impact.others {
        if let Some(out) = row.checked_sub(from).and_then(|k| out.get_mut(k)) {
            *out = impulse;
        }
    }
}
