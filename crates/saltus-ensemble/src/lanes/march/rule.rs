//! What a step of a scheme does to a linear model.
//!
//! The schemes keep a position q and a second part u: the velocity, or the advance qⁿ − qⁿ⁻¹ of a position-level scheme. A free step is
//! one row of z = (q, u, 1, cos φ₁, sin φ₁, …) for each of them; a constraint that acts adds a multiple of a constant vector.

use super::super::linear::{Linear, LinearCode, ROOM, Row};
use super::dot;

/// The θ and γ of moreau-jean that it has where nothing else is said.
pub const HALF: f64 = 0.5;

/// A scheme whose steps are made in lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    MoreauJean,
    Mabrouk,
    PaoliSchatzman,
}

impl Kind {
    /// By the name of the scheme.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "moreau-jean" => Some(Kind::MoreauJean),
            "mabrouk" => Some(Kind::Mabrouk),
            "paoli-schatzman" => Some(Kind::PaoliSchatzman),
            _ => None,
        }
    }

    /// The longest step in units of the pace of a motion for which what a run of the scheme promises of energy holds; coarser ones are
    /// left to a run, whose ledger says what becomes of them.
    pub fn resolved(self) -> f64 {
        match self {
            Kind::MoreauJean => 0.5,
            Kind::Mabrouk => 0.1,
            Kind::PaoliSchatzman => 0.25,
        }
    }

    /// Whether u is the advance, and a node is complete one step later.
    pub fn is_position_level(self) -> bool {
        self == Kind::PaoliSchatzman
    }
}

/// A step of a scheme.
#[derive(Clone, Debug)]
pub struct Rule {
    /// q and u after a free step.
    pub next: Vec<Row>,
    /// For each constraint: it can act where this is not positive,
    pub trigger: Vec<Row>,
    /// with the least multiplier for which this is not negative after the step.
    pub slack: Vec<Row>,
    /// How much a unit of the multiplier of constraint b adds to the slack of a: entry a·m + b.
    pub yields: Vec<f64>,
    /// What it adds to q and u.
    pub push: Vec<Vec<f64>>,
}

impl Rule {
    /// The step of length h; None if it has no solution, or does not resolve the motion.
    pub fn resolved(kind: Kind, linear: &Linear, h: f64) -> Option<Self> {
        if h * linear.pace() <= kind.resolved() { Rule::new(kind, linear, h) } else { None }
    }

    /// The step of length h; None if it has no solution.
    pub fn new(kind: Kind, linear: &Linear, h: f64) -> Option<Self> {
        let (d, m) = (linear.accelerations.len(), linear.gaps.len());
        let rows = |from: usize| -> Vec<Row> { (0..d).map(|i| unit(from + i)).collect() };
        let (q, u, nothing) = (rows(0), rows(d), vec![[0.0; ROOM]; d]);
        let force = |q: &[Row], v: &[Row], ahead: f64| -> Vec<Row> {
            linear.accelerations.iter().map(|row| at(linear, row, q, v, ahead)).collect()
        };
        // I − s ∂a/∂q − r ∂a/∂v.
        let matrix = |s: f64, r: f64| -> Vec<f64> {
            let entry = |i: usize, j: usize| s * linear.accelerations[i][j] + r * linear.accelerations[i][d + j];
            (0..d * d).map(|k| f64::from(u8::from(k / d == k % d)) - entry(k / d, k % d)).collect()
        };
        let (matrix, given, lead) = match kind {
            Kind::MoreauJean => {
                let s = HALF * h;
                let drifted = sum(&q, s, &u);
                let given = sum(&sum(&u, s, &force(&q, &u, 0.0)), s, &force(&drifted, &nothing, h));
                (matrix(s * s, s), given, s)
            }
            Kind::Mabrouk => (matrix(0.0, h), sum(&u, h, &force(&sum(&q, h, &u), &nothing, h)), h),
            Kind::PaoliSchatzman => {
                let velocity = sum(&nothing, 1.0 / h, &u);
                (matrix(0.0, HALF * h), sum(&nothing, h * h, &force(&q, &velocity, 0.0)), 0.0)
            }
        };
        let solved = solve(d, &matrix, &given, &linear.pulls)?;
        let (free, pulls) = solved.split_at(ROOM);
        let free: Vec<Row> = (0..d).map(|i| std::array::from_fn(|k| free[k][i])).collect();
        let (next_q, next_u, push_q) = match kind {
            Kind::MoreauJean => (sum(&sum(&q, HALF * h, &u), HALF * h, &free), free.clone(), HALF * h),
            Kind::Mabrouk => (sum(&q, h, &u), free.clone(), 0.0),
            Kind::PaoliSchatzman => (sum(&sum(&q, 1.0, &u), 1.0, &free), sum(&u, 1.0, &free), 1.0),
        };
        let (mut trigger, mut slack) = (Vec::new(), Vec::new());
        for (row, &e) in linear.gaps.iter().zip(&linear.restitutions) {
            if kind.is_position_level() {
                let (share, lead) = (1.0 / (1.0 + e), h * (1.0 - e) / (1.0 + e));
                let before = sum(&q, -1.0, &u);
                let place = sum(&sum(&nothing, share, &next_q), share * e, &before);
                let gap = at(linear, row, &place, &nothing, lead).map(|x| (1.0 + e) * x);
                trigger.push(gap);
                slack.push(gap);
            } else {
                trigger.push(at(linear, row, &sum(&q, lead, &u), &nothing, lead));
                let moves = at(linear, &wall(linear, row), &nothing, &nothing, lead);
                let law = |j: usize| (0..d).map(|i| row[i] * (free[i][j] + e * u[i][j])).sum::<f64>();
                slack.push(std::array::from_fn(|j| law(j) + (1.0 + e) * moves[j]));
            }
        }
        let yields = (0..m * m)
            .map(|k| (0..d).map(|i| linear.gaps[k / m][i] * pulls[k % m][i]).sum::<f64>())
            .collect::<Vec<_>>();
        let push = pulls.iter().map(|pull| pull.iter().map(|x| push_q * x).chain(pull.iter().copied()).collect());
        let rule =
            Rule { next: next_q.into_iter().chain(next_u).collect(), trigger, slack, yields, push: push.collect() };
        let all = rule.next.iter().chain(&rule.trigger).chain(&rule.slack).flatten().chain(&rule.yields);
        let is_finite = all.chain(rule.push.iter().flatten()).all(|x| x.is_finite());
        (is_finite && (0..m).all(|a| rule.yields[a * m + a] > 0.0)).then_some(rule)
    }

    /// The constraint that acts in the step from `before`, if any, and its multiplier; None if it is not plain.
    pub fn react(&self, kind: Kind, before: &[f64]) -> Option<Option<(usize, f64)>> {
        let m = self.slack.len();
        let is_closed = |a: &usize| dot(&self.trigger[*a], before) <= 0.0;
        let slack = |a: usize| dot(&self.slack[a], before);
        let mut acting = (0..m).filter(is_closed).filter(|&a| slack(a) < 0.0);
        let Some(a) = acting.next() else { return Some(None) };
        let multiplier = -slack(a) / self.yields[a * m + a];
        // Of others that are closed, or where positions count all others, none must follow.
        let follows = |b: usize| slack(b) + self.yields[b * m + a] * multiplier < 0.0;
        let counts = |b: &usize| *b != a && (kind.is_position_level() || is_closed(b));
        let is_plain = acting.next().is_none() && multiplier.is_finite() && !(0..m).filter(counts).any(follows);
        is_plain.then_some(Some((a, multiplier)))
    }

    /// A rule whose coefficients are zero only where they are for all parameters.
    pub fn pattern(kind: Kind, code: &LinearCode) -> Option<Self> {
        let mut linear = code.pattern.clone();
        // (Numbers without a relation between them: nothing cancels.)
        let mut number = 0.1;
        let mut next = |x: f64| {
            number = (number + 0.618_033_988_749_894_9) % 1.0;
            x * (0.5 + number)
        };
        let rows = linear.accelerations.iter_mut().chain(&mut linear.gaps).flatten();
        rows.chain(linear.pulls.iter_mut().flatten()).for_each(|x| *x = next(*x));
        linear.phases.iter_mut().for_each(|phase| phase[1] = next(1.0));
        linear.restitutions.iter_mut().for_each(|e| *e = next(0.3));
        // (Inertia spreads what acts on one coordinate, unless it is diagonal; signs do not matter.)
        for (pull, row) in linear.pulls.iter_mut().zip(&linear.gaps) {
            pull.iter_mut().zip(row).for_each(|(p, w)| *p = p.abs() * w.signum() + 0.01 * w);
        }
        Rule::new(kind, &linear, 0.01)
    }
}

/// Whether gaps have to be looked at where no constraint may act. A trigger of mabrouk is the gap after the step; at a wall at rest the gap at a
/// node is the mean of the triggers of moreau-jean before and after it: where those are positive, it is.
pub fn needs_gaps(kind: Kind, code: &LinearCode) -> bool {
    let is_moving = |row: &Row| row[2 * code.d + 1..].iter().any(|x| *x != 0.0);
    match kind {
        Kind::MoreauJean => code.pattern.gaps.iter().any(is_moving),
        Kind::Mabrouk => false,
        Kind::PaoliSchatzman => true,
    }
}

/// The rate of a gap at rest: what its wall does.
pub fn wall(linear: &Linear, row: &Row) -> Row {
    let d = linear.accelerations.len();
    let mut moving = *row;
    moving[..=2 * d].fill(0.0);
    linear.derivative(&moving, false)
}

/// A row of (q, v, 1, cos, sin, …) at a time `ahead`, where q and v are rows of z.
fn at(linear: &Linear, row: &Row, q: &[Row], v: &[Row], ahead: f64) -> Row {
    let d = q.len();
    let mut out = [0.0; ROOM];
    for i in 0..d {
        for j in 0..ROOM {
            out[j] += row[i] * q[i][j] + row[d + i] * v[i][j];
        }
    }
    out[2 * d] += row[2 * d];
    for (k, &[_, rate]) in linear.phases.iter().enumerate() {
        let (c, s) = (2 * d + 1 + 2 * k, 2 * d + 2 + 2 * k);
        let (sin, cos) = (rate * ahead).sin_cos();
        out[c] += row[c] * cos + row[s] * sin;
        out[s] += row[s] * cos - row[c] * sin;
    }
    out
}

fn unit(i: usize) -> Row {
    let mut row = [0.0; ROOM];
    row[i] = 1.0;
    row
}

/// x + s y.
fn sum(x: &[Row], s: f64, y: &[Row]) -> Vec<Row> {
    x.iter().zip(y).map(|(x, y)| std::array::from_fn(|j| x[j] + s * y[j])).collect()
}

/// Solves for every column of the rows, then for every vector: all with the same matrix. None if it is singular.
fn solve(d: usize, matrix: &[f64], rows: &[Row], vectors: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut a = matrix.to_vec();
    let mut all: Vec<Vec<f64>> = (0..ROOM).map(|k| rows.iter().map(|row| row[k]).collect()).collect();
    all.extend(vectors.iter().cloned());
    for k in 0..d {
        let pivot = (k..d).max_by(|&i, &j| a[i * d + k].abs().total_cmp(&a[j * d + k].abs()))?;
        if !(a[pivot * d + k].abs() > 0.0) {
            return None;
        }
        if pivot != k {
            (0..d).for_each(|j| a.swap(k * d + j, pivot * d + j));
            all.iter_mut().for_each(|x| x.swap(k, pivot));
        }
        for i in k + 1..d {
            let factor = a[i * d + k] / a[k * d + k];
            if factor != 0.0 {
                (k..d).for_each(|j| a[i * d + j] -= factor * a[k * d + j]);
                all.iter_mut().for_each(|x| x[i] -= factor * x[k]);
            }
        }
    }
    for x in &mut all {
        for i in (0..d).rev() {
            x[i] = (i + 1..d).fold(x[i], |sum, j| sum - a[i * d + j] * x[j]) / a[i * d + i];
        }
    }
    Some(all)
}
