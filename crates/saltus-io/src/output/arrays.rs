//! The numbers of a run as named arrays: one list for every format that holds arrays or columns.

use saltus::{Model, Side, Trajectory};

/// What the columns of an array stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// A vector: no second dimension.
    None,
    /// One column per coordinate.
    Coordinates,
    /// One column per constraint.
    Constraints,
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
    fill: Fill<'a>,
}

impl Array<'_> {
    /// A vector of given values.
    pub fn vector(name: &'static str, values: Vec<f64>) -> Array<'static> {
        let rows = values.len();
        Array { name, rows, width: 1, columns: Columns::None, fill: Box::new(move |k, out| out[0] = values[k]) }
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
}

/// The motion at the stored instants: t, q, v_left, v_right and, by events, reaction.
pub fn motion<'a>(model: &Model, trajectory: &'a Trajectory) -> Vec<Array<'a>> {
    let (d, m) = (trajectory.dimension(), model.constraints.len());
    let array = |name, columns, fill: Fill<'a>| Array {
        name,
        rows: trajectory.len(),
        width: width(columns, d, m),
        columns,
        fill,
    };
    let mut arrays = vec![
        array("t", Columns::None, Box::new(|k, out| out[0] = trajectory.t[k])),
        array("q", Columns::Coordinates, Box::new(|k, out| out.copy_from_slice(trajectory.q(k)))),
        array("v_left", Columns::Coordinates, Box::new(|k, out| out.copy_from_slice(trajectory.v(k, Side::Left)))),
        array("v_right", Columns::Coordinates, Box::new(|k, out| out.copy_from_slice(trajectory.v(k, Side::Right)))),
    ];
    if trajectory.has_reactions() {
        let fill: Fill<'a> = Box::new(move |k, out| out.copy_from_slice(&trajectory.reactions_at(k, m)));
        arrays.push(array("reaction", Columns::Constraints, fill));
    }
    arrays
}

/// The impacts, one row each: impact_t, impact_q, impact_v_before, impact_v_after, impact_impulse.
pub fn impacts<'a>(model: &Model, trajectory: &'a Trajectory) -> Vec<Array<'a>> {
    let (d, m) = (trajectory.dimension(), model.constraints.len());
    let impacts = &trajectory.impacts;
    let array =
        |name, columns, fill: Fill<'a>| Array { name, rows: impacts.len(), width: width(columns, d, m), columns, fill };
    let impulse: Fill<'a> = Box::new(|k, out| {
        let impact = impacts.get(k);
        out.fill(0.0);
        impact.constraints.iter().zip(impact.impulses).for_each(|(&a, p)| out[a] = *p);
    });
    vec![
        array("impact_t", Columns::None, Box::new(|k, out| out[0] = impacts.get(k).t)),
        array("impact_q", Columns::Coordinates, Box::new(|k, out| out.copy_from_slice(impacts.get(k).q))),
        array("impact_v_before", Columns::Coordinates, Box::new(|k, out| out.copy_from_slice(impacts.get(k).v_before))),
        array("impact_v_after", Columns::Coordinates, Box::new(|k, out| out.copy_from_slice(impacts.get(k).v_after))),
        array("impact_impulse", Columns::Constraints, impulse),
    ]
}

fn width(columns: Columns, d: usize, m: usize) -> usize {
    match columns {
        Columns::None => 1,
        Columns::Coordinates => d,
        Columns::Constraints => m,
    }
}
