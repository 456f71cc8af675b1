//! What is shown of an orbit: `max(x)`, `speed`, `period`, or an expression once a period of the forcing.

use saltus::{Problem, Run, SetupError, Side, Start};
use saltus_ensemble::statistics_of;

/// A quantity of orbits.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A statistic of an expression over the orbit: `min`, `max`, `mean`, `rms`.
    Statistic(&'static str, String),
    /// An expression once a period of the forcing.
    Strobe(String),
    /// The speeds of impacts.
    Speed,
    /// The period.
    Period,
}

/// Several values of an orbit, such as the speeds of its impacts, in an order that is kept along a branch: in time they follow
/// each other in a circle, and which of them is the first changes where one passes the start of the period.
#[derive(Default)]
pub struct Order {
    last: Vec<Vec<f64>>,
}

impl Order {
    /// The values of an orbit of a branch that begin with the one that was first before.
    pub fn of(&mut self, branch: usize, values: Vec<f64>) -> Vec<f64> {
        let values = self.like(branch, values);
        if self.last.len() <= branch {
            self.last.resize(branch + 1, Vec::new());
        }
        self.last[branch].clone_from(&values);
        values
    }

    /// The same for a special point, which may have more of them or less.
    pub fn like(&self, branch: usize, mut values: Vec<f64>) -> Vec<f64> {
        let Some(last) = self.last.get(branch).filter(|last| last.len() == values.len()) else { return values };
        let n = values.len();
        let apart = |shift: &usize| (0..n).map(|k| (values[(k + shift) % n] - last[k]).powi(2)).sum::<f64>();
        let best = (0..n).min_by(|a, b| apart(a).total_cmp(&apart(b))).unwrap_or(0);
        values.rotate_left(best);
        values
    }
}

const STATISTICS: [&str; 4] = ["min", "max", "mean", "rms"];

impl Shown {
    /// From its text; the default is the largest velocity of the first coordinate.
    pub fn parse(text: Option<&str>, first: &str) -> Self {
        let Some(text) = text.map(str::trim) else { return Shown::Statistic("max", format!("{first}'")) };
        match text {
            "speed" => return Shown::Speed,
            "period" => return Shown::Period,
            _ => {}
        }
        let of = |name: &&str| text.strip_prefix(*name)?.strip_prefix('(')?.strip_suffix(')');
        match STATISTICS.iter().find_map(|name| Some((*name, of(name)?))) {
            Some((name, inner)) => Shown::Statistic(name, inner.to_string()),
            None => Shown::Strobe(text.to_string()),
        }
    }

    /// The expression that the model has to know.
    pub fn expression(&self) -> Option<&str> {
        match self {
            Shown::Statistic(_, text) | Shown::Strobe(text) => Some(text),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(&self) -> String {
        match self {
            Shown::Statistic(name, text) => format!("{name}({text})"),
            Shown::Strobe(text) => text.clone(),
            Shown::Speed => "impact speed".into(),
            Shown::Period => "period".into(),
        }
    }

    /// Its values for an orbit, in the order of the phase of the forcing.
    pub fn values(&self, problem: &Problem, run: &Run, start: &Start, period: f64, multiple: usize) -> Vec<f64> {
        let quantities = || problem.instance(start).ok().and_then(|at| at.quantities());
        match self {
            Shown::Period => vec![period],
            Shown::Speed => {
                let mut hits: Vec<(f64, f64)> =
                    run.trajectory.impacts.iter().map(|i| (i.t.rem_euclid(period), -i.approach)).collect();
                hits.sort_by(|a, b| a.0.total_cmp(&b.0));
                hits.into_iter().map(|hit| hit.1).collect()
            }
            Shown::Statistic(name, _) => {
                let Some(mut quantities) = quantities() else { return Vec::new() };
                let found = statistics_of(&run.trajectory, &mut quantities, &[0]);
                found.first().map_or_else(Vec::new, |s| {
                    vec![match *name {
                        "min" => s.min,
                        "max" => s.max,
                        "mean" => s.mean,
                        _ => s.rms,
                    }]
                })
            }
            Shown::Strobe(_) => {
                let Some(mut quantities) = quantities() else { return Vec::new() };
                let forcing = period / multiple as f64;
                let first = (start.t / forcing - 1e-12).ceil() as i64;
                let mut found: Vec<(i64, f64)> = (0..multiple as i64)
                    .filter_map(|k| {
                        let t = (first + k) as f64 * forcing;
                        let (q, v) = run.trajectory.at(t.clamp(start.t, start.t + period), Side::Right)?;
                        Some(((first + k).rem_euclid(multiple as i64), quantities.at(t, &q, &v)[0]))
                    })
                    .collect();
                found.sort_by_key(|f| f.0);
                found.into_iter().map(|f| f.1).collect()
            }
        }
    }

    /// Its value at an equilibrium.
    pub fn at_rest(&self, problem: &Problem, start: &Start) -> Vec<f64> {
        let Some(mut quantities) = problem.instance(start).ok().and_then(|at| at.quantities()) else {
            return Vec::new();
        };
        vec![quantities.at(start.t, &start.q, &start.v)[0]]
    }

    /// Refuses what equilibria do not have.
    pub fn check_at_rest(&self) -> Result<(), SetupError> {
        match self {
            Shown::Speed | Shown::Period => Err(SetupError::new(format!("equilibria have no {}", self.name()))
                .help("show an expression of coordinates and states, such as  --show x")),
            _ => Ok(()),
        }
    }

    /// Refuses what a model cannot show.
    pub fn check(&self, problem: &Problem) -> Result<(), SetupError> {
        let model = problem.model();
        match self {
            Shown::Strobe(text) if !model.depends_on_time() => {
                Err(SetupError::new(format!("`--show {text}`: nothing depends on time, so there is no stroboscope"))
                    .help(format!("show a statistic, such as  --show \"max({text})\",  or speed, or period")))
            }
            Shown::Speed if model.constraints.is_empty() => {
                Err(SetupError::new("`--show speed`: there are no impacts, the model has no constraint"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn values_keep_their_order_where_the_first_changes() {
        let mut order = Order::default();
        assert_eq!(order.of(0, vec![1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        // The impact that was the last is now the first of the period.
        assert_eq!(order.of(0, vec![3.1, 1.1, 2.1]), [1.1, 2.1, 3.1]);
        assert_eq!(order.like(0, vec![2.2, 3.2, 1.2]), [1.2, 2.2, 3.2]);
        // Another branch, and another number of impacts.
        assert_eq!(order.of(1, vec![3.0, 1.0]), [3.0, 1.0]);
        assert_eq!(order.of(0, vec![5.0, 1.0]), [5.0, 1.0]);
    }
}
