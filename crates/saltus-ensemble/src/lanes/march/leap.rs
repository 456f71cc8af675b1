//! Several free steps at once.
//!
//! Free steps are one constant matrix Φ of z, so K of them are Φᴷ, and what triggers and gaps are at each node between is a row times
//! powers of Φ: no node is skipped, and nothing has to be computed in turn.

use super::super::linear::{Linear, ROOM, Row};
use super::dot;
use super::rule::Rule;

/// How many free steps are made at once.
pub const LEAP: usize = 8;

/// What so many steps do, as rows of z before the first of them.
#[derive(Clone, Debug)]
pub struct Leap {
    /// q and u after the last step.
    pub next: Vec<Row>,
    /// For each step in turn, each constraint: it can act in that step where this is not positive.
    pub trigger: Vec<Row>,
    /// For each step in turn, each gap at the node before it.
    pub gaps: Vec<Row>,
}

impl Leap {
    /// The leap of a step; `turns`: cos ωh, sin ωh of each harmonic. None where it is larger than numbers are.
    pub fn new(rule: &Rule, linear: &Linear, turns: &[[f64; 2]], needs_gaps: bool) -> Option<Self> {
        let after = |rows: &[Row]| -> Vec<Row> { rows.iter().map(|row| after_step(rule, turns, row)).collect() };
        let in_turn = |rows: &[Row]| -> Vec<Row> {
            let steps = std::iter::successors(Some(rows.to_vec()), |rows| Some(after(rows)));
            steps.take(LEAP).flatten().collect()
        };
        let gaps = if needs_gaps { &linear.gaps[..] } else { &[] };
        let next = (1..LEAP).fold(rule.next.clone(), |rows, _| after(&rows));
        let leap = Leap { next, trigger: in_turn(&rule.trigger), gaps: in_turn(gaps) };
        let all = leap.next.iter().chain(&leap.trigger).chain(&leap.gaps);
        all.flatten().all(|x| x.is_finite()).then_some(leap)
    }

    /// Whether no constraint may act in these steps.
    pub fn is_free(&self, z: &[f64]) -> bool {
        self.trigger.iter().all(|row| dot(row, z) > 0.0)
    }
}

/// What a row is after a free step, as a row before it.
fn after_step(rule: &Rule, turns: &[[f64; 2]], row: &Row) -> Row {
    let moving = rule.next.len();
    let mut out = [0.0; ROOM];
    out[moving] = row[moving];
    for (k, [cos, sin]) in turns.iter().enumerate() {
        let (c, s) = (moving + 1 + 2 * k, moving + 2 + 2 * k);
        (out[c], out[s]) = (row[c] * cos + row[s] * sin, row[s] * cos - row[c] * sin);
    }
    for (weight, next) in row.iter().zip(&rule.next) {
        out.iter_mut().zip(next).for_each(|(x, y)| *x += weight * y);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::code::LaneCode;
    use crate::lanes::march::rule::{Kind, needs_gaps};
    use saltus::model::Builder;

    /// Rows of a leap against steps made one by one: state, triggers and gaps at every node.
    #[test]
    fn a_leap_is_its_steps() {
        let model = Builder::new("two").coordinate("x", 0.0, 0.0).coordinate("y", 0.0, 0.0);
        let model = model.kinetic("x'^2/2 + y'^2 + 0.3*x'*y'").potential("x^2/2 + (x - y)^2");
        let model = model.force("x", "0.8*cos(1.3*t + 0.4) - 0.1*x'").force("y", "0.2*sin(2.6*t) - 0.05*y'");
        let model = model.restitution(0.6).constraint("a", "0.4 - x").constraint("b", "y + 0.5 + 0.1*cos(1.3*t)");
        let problem = model.build().expect("a model").problem().expect("compiles");
        let code = LaneCode::new(&problem).expect("lanes").linear.expect("linear");
        let linear = code.at(&[]).expect("numbers");
        let h = 0.03;
        let turns: Vec<[f64; 2]> = linear.phases.iter().map(|[_, rate]| [(rate * h).cos(), (rate * h).sin()]).collect();
        for kind in [Kind::MoreauJean, Kind::Mabrouk, Kind::PaoliSchatzman] {
            let rule = Rule::resolved(kind, &linear, h).expect("a step");
            let leap = Leap::new(&rule, &linear, &turns, true).expect("finite");
            assert!(needs_gaps(kind, &code) || kind == Kind::Mabrouk);
            let n = code.size();
            let start: Vec<f64> = (0..n).map(|j| if j == 4 { 1.0 } else { (1.7 * j as f64 + 0.3).sin() }).collect();
            let mut z = start.clone();
            let near = |row: &Row, exact: f64| (dot(&row[..n], &start) - exact).abs() < 1e-14;
            for step in 0..LEAP {
                for a in 0..2 {
                    assert!(near(&leap.trigger[2 * step + a], dot(&rule.trigger[a][..n], &z)), "{kind:?} {step} {a}");
                    assert!(near(&leap.gaps[2 * step + a], dot(&linear.gaps[a][..n], &z)), "{kind:?} {step} {a}");
                }
                let before = z.clone();
                (0..4).for_each(|i| z[i] = dot(&rule.next[i][..n], &before));
                for (k, [cos, sin]) in turns.iter().enumerate() {
                    let (c, s) = (5 + 2 * k, 6 + 2 * k);
                    (z[c], z[s]) = (before[c] * cos - before[s] * sin, before[s] * cos + before[c] * sin);
                }
            }
            assert!((0..4).all(|i| near(&leap.next[i], z[i])), "{kind:?}");
        }
    }
}
