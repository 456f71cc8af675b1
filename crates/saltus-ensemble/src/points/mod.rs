//! The points of a family: which values its parameters and starts take.
//!
//! A point is a number from 0 on; its values are computed from it when they are needed, so that a family of any size takes no
//! memory. Axes make a product, the first of them the slowest; a sample, or a table of points, is the last and fastest factor.

mod axis;
mod normal;
mod sample;
mod sobol;

pub use axis::{Axis, Spacing};
pub use sample::{Design, Distribution, Sample};

use saltus::{Model, SetupError};

/// A product of more points than this is a typing mistake.
pub const MOST: u64 = 10_000_000_000;

/// What a value of a point is given to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An open parameter, by its place in [`Model::open`].
    Parameter(usize),
    /// The position of a coordinate at the start.
    Position(usize),
    /// The velocity of a coordinate at the start, or behind those the value of a first-order state.
    Velocity(usize),
}

impl Slot {
    /// The slot of a name: a parameter that is open, a coordinate `x`, its velocity `x'`, or a state.
    pub fn of(model: &Model, name: &str) -> Option<Slot> {
        if let Some(k) = model.open.iter().position(|p| p.name == name && !p.is_port) {
            return Some(Slot::Parameter(k));
        }
        let coordinate = |name: &str| model.coordinates.iter().position(|c| c == name);
        let state = || model.states.iter().position(|s| s.name == name).map(|k| Slot::Velocity(model.degrees() + k));
        match name.strip_suffix('\'') {
            Some(bare) => coordinate(bare).map(Slot::Velocity),
            None => coordinate(name).map(Slot::Position).or_else(state),
        }
    }
}

/// Every name that a model allows an axis over.
pub fn names(model: &Model) -> Vec<String> {
    let parameters = model.parameters.iter().map(|(name, _)| name.clone());
    let coordinates = model.coordinates.iter().flat_map(|c| [c.clone(), format!("{c}'")]);
    parameters.chain(coordinates).chain(model.states.iter().map(|s| s.name.clone())).collect()
}

/// A list of points, one row each.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Listed {
    /// The names of the columns.
    pub names: Vec<String>,
    /// The values, row by row.
    pub values: Vec<f64>,
}

/// The points of a family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    axes: Vec<Axis>,
    sample: Option<Sample>,
    list: Option<Listed>,
}

impl Points {
    /// A product of axes, with a sample or a list as its fastest factor.
    pub fn new(axes: Vec<Axis>, sample: Option<Sample>, list: Option<Listed>) -> Result<Self, SetupError> {
        let points = Points { axes, sample, list };
        let names = points.names();
        if let Some(twice) = (0..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(
                SetupError::new(format!("`{}` is varied twice", names[twice])).help("which of the two is meant?")
            );
        }
        if points.sample.is_some() && points.list.is_some() {
            return Err(SetupError::new("a sample and a list of points exclude each other").help("give one of them"));
        }
        let counts: Vec<u64> = points.counts().collect();
        if counts.contains(&0) {
            return Err(SetupError::new("there is no point to run: the list or the sample is empty"));
        }
        let total = counts.iter().try_fold(1u64, |product, &n| product.checked_mul(n));
        match total.filter(|&n| n <= MOST) {
            Some(_) => Ok(points),
            None => {
                let product: Vec<String> = counts.iter().map(u64::to_string).collect();
                Err(SetupError::new(format!("{} points are more than 10^10", product.join(" × "))).help(
                    "use fewer values on an axis; `saltus sweep` draws samples as well: --sample 100000 --vary …",
                ))
            }
        }
    }

    /// How many values each factor of the product has.
    fn counts(&self) -> impl Iterator<Item = u64> {
        let last = self.sample.as_ref().map(|s| s.count).or(self.list.as_ref().map(Listed::len));
        self.axes.iter().map(|axis| axis.spacing.len()).chain(last)
    }

    /// The number of points.
    pub fn len(&self) -> u64 {
        self.counts().product()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many points have the same value on the first axis: they are next to each other.
    pub fn row(&self) -> u64 {
        self.counts().skip(1).product()
    }

    /// Whether there is an axis, along which neighbours are neighbours in a value.
    pub fn has_axis(&self) -> bool {
        !self.axes.is_empty()
    }

    /// What is varied, in the order of the values.
    pub fn names(&self) -> Vec<&str> {
        let sampled = self.sample.iter().flat_map(|s| s.columns.iter().map(|(name, _)| name.as_str()));
        let listed = self.list.iter().flat_map(|l| l.names.iter().map(String::as_str));
        self.axes.iter().map(|axis| axis.name.as_str()).chain(sampled).chain(listed).collect()
    }

    /// The values of a point.
    pub fn values(&self, point: u64) -> Vec<f64> {
        let mut values = Vec::new();
        self.write(point, &mut values);
        values
    }

    /// Puts the values of a point in the place of others.
    pub fn write(&self, point: u64, values: &mut Vec<f64>) {
        values.clear();
        values.resize(self.axes.len(), 0.0);
        let mut rest = point;
        if let Some(sample) = &self.sample {
            values.extend(sample.values(rest % sample.count));
            rest /= sample.count;
        }
        if let Some(list) = &self.list {
            let (k, width) = ((rest % list.len()) as usize, list.names.len());
            values.extend(&list.values[k * width..(k + 1) * width]);
            rest /= list.len();
        }
        for (value, axis) in values.iter_mut().zip(&self.axes).rev() {
            *value = axis.spacing.value(rest % axis.spacing.len());
            rest /= axis.spacing.len();
        }
    }
}

impl Listed {
    /// The number of rows.
    pub fn len(&self) -> u64 {
        (self.values.len() / self.names.len().max(1)) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, spacing: Spacing) -> Axis {
        Axis { name: name.into(), spacing }
    }

    #[test]
    fn the_first_axis_is_the_slowest() {
        let w = axis("w", Spacing::Linear { from: 0.5, to: 1.5, count: 3 });
        let e = axis("e", Spacing::List(vec![0.2, 0.9]));
        let list = Listed { names: vec!["x".into()], values: vec![7.0, 8.0] };
        let points = Points::new(vec![w, e], None, Some(list)).expect("points");
        assert_eq!((points.len(), points.row(), points.names()), (12, 4, vec!["w", "e", "x"]));
        assert_eq!(points.values(0), [0.5, 0.2, 7.0]);
        assert_eq!(points.values(1), [0.5, 0.2, 8.0]);
        assert_eq!(points.values(2), [0.5, 0.9, 7.0]);
        assert_eq!(points.values(11), [1.5, 0.9, 8.0]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let big = |name: &str| axis(name, Spacing::Linear { from: 0.0, to: 1.0, count: 1 << 20 });
        let many = Points::new(vec![big("a"), big("b")], None, None).expect_err("too many");
        assert!(many.message.contains("10^10"), "{}", many.message);
        let more = Points::new(["a", "b", "c", "d"].map(big).into(), None, None).expect_err("beyond any integer");
        assert!(more.message.contains("10^10"));
        assert!(Points::new(vec![big("a"), big("a")], None, None).is_err());
        let empty = Listed { names: vec!["a".into()], values: vec![] };
        assert!(Points::new(vec![], None, Some(empty)).is_err());
    }
}
