//! Bifurcation diagrams: a quantity over a parameter, what each trajectory settled on, and where that changes.

use super::{At, Label, Observer, Tables, returns};
use crate::store::axis_names;
use saltus::SetupError;

/// A bifurcation diagram.
#[derive(Clone, Debug)]
pub struct Diagram {
    /// The name of the parameter, as the tables have it.
    pub parameter: String,
    /// One for each way along the parameter, or for each start.
    pub branches: Vec<Branch>,
}

/// A way along the parameter.
#[derive(Clone, Debug)]
pub struct Branch {
    /// What distinguishes it: `up`, `down`, a start; empty if it is the only one.
    pub name: String,
    /// The trajectories, in the order of the parameter.
    pub places: Vec<Place>,
    /// Values of the parameter, of the quantity, and the trajectory of each dot.
    pub x: Vec<f64>,
    /// See `x`.
    pub y: Vec<f64>,
    /// See `x`.
    pub point: Vec<u64>,
}

/// A trajectory of a diagram.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The number of the trajectory.
    pub point: u64,
    /// The value of the parameter.
    pub value: f64,
    /// What it settled on.
    pub label: Label,
    /// Impacts per period of the forcing, or per unit of time where there is none; infinite if they accumulate, NaN if it was
    /// not computed.
    pub rate: f64,
}

/// Where a branch changes what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// The branch.
    pub branch: String,
    /// What it does before, and after.
    pub before: Label,
    /// See `before`.
    pub after: Label,
    /// The last value of the parameter before, and the first after.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

impl Diagram {
    /// The diagram of a quantity of a family whose first axis is the parameter.
    pub fn read(tables: &Tables, at: At, of: &str) -> Result<Self, SetupError> {
        let family = &tables.sweep.family;
        let names = axis_names(family);
        let parameter = names.first().cloned().unwrap_or_default();
        let mut labels = tables.labels()?;
        let observer = Observer::new(tables, at)?;
        if at == At::Section && !family.has_period() {
            returns::improve(tables, &observer, &mut labels)?;
        }
        let impacts = tables.points.numbers("impacts")?;
        let accumulations = tables.points.numbers("accumulations")?;
        let row = family.points().row();
        let mut maker = family.maker();
        let mut branches: Vec<Branch> = Vec::new();
        // (Where states are carried on, the way down follows the way up.)
        let branch_of = |point: u64| match family.carry() {
            Some(_) => (u64::from(family.is_down(point)) * row + point % row) as usize,
            None => (point % row) as usize,
        };
        for point in 0..family.len() {
            let k = branch_of(point);
            while branches.len() <= k {
                branches.push(Branch { name: String::new(), places: vec![], x: vec![], y: vec![], point: vec![] });
            }
            let values = family.values(point);
            if branches[k].places.is_empty() {
                let start = names.iter().zip(&values).skip(1);
                let mut words: Vec<String> = start
                    .map(|(name, value)| {
                        let bare = name.strip_prefix("start_").unwrap_or(name);
                        format!("{bare} = {}", saltus::text::number(*value, 4))
                    })
                    .collect();
                if family.carry().is_some() {
                    words.insert(0, if family.is_down(point) { "down" } else { "up" }.to_string());
                }
                branches[k].name = words.join(", ");
            }
            let job = maker.job(point, None).job;
            let label = labels[point as usize];
            let spent = match job.strobe {
                Some(period) => (job.end - job.from) / period,
                None => job.end - job.from,
            };
            let rate = match label {
                Label::Refused | Label::Failed => f64::NAN,
                Label::Rest => 0.0,
                // (How many impacts come before the limit of infinitely many says nothing.)
                _ if accumulations[point as usize] > 0.0 => f64::INFINITY,
                Label::Periodic { period, impacts, .. } => f64::from(impacts) / f64::from(period),
                Label::Recurrent { time, impacts } => f64::from(impacts) / time,
                Label::Neither => impacts[point as usize] / spent,
            };
            branches[k].places.push(Place { point, value: values[0], label, rate });
        }
        // (An interrupted way has no branch.)
        branches.retain(|b| !b.places.is_empty());
        let observed = observer.values(of)?;
        let first: Vec<f64> = (0..family.len()).map(|p| family.values(p)[0]).collect();
        for (&point, y) in observer.point.iter().zip(observed) {
            let branch = &mut branches[branch_of(point)];
            branch.x.push(first[point as usize]);
            branch.y.push(y);
            branch.point.push(point);
        }
        for branch in &mut branches {
            branch.places.sort_by(|a, b| a.value.total_cmp(&b.value));
        }
        Ok(Diagram { parameter, branches })
    }

    /// Where branches change what they do, in the order of the parameter. A single trajectory that did not settle between two
    /// that settled on different motions belongs to the change.
    pub fn transitions(&self) -> Vec<Transition> {
        let mut found = Vec::new();
        for branch in &self.branches {
            let places = &branch.places;
            let mut k = 0;
            while k + 1 < places.len() {
                let before = places[k];
                let skips = places[k + 1].label == Label::Neither
                    && places.get(k + 2).is_some_and(|p| p.label.is_resolved() && !p.label.is_like(&before.label));
                let next = if before.label.is_resolved() && skips { k + 2 } else { k + 1 };
                let after = places[next];
                if !after.label.is_like(&before.label) {
                    found.push(Transition {
                        branch: branch.name.clone(),
                        before: before.label,
                        after: after.label,
                        from: before.value,
                        to: after.value,
                    });
                }
                k = next;
            }
        }
        found
    }
}
