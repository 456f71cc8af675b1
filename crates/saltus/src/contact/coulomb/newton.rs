//! Newton's method for given statuses, which it corrects on the way: the last digits of every solution come from here.

use super::Status;
use super::frame::{Frame, Kind};
use super::pivot::Pivot;

/// A direction in which P may change, and what of W must vanish for it. Stick has one for each component, slip one along
/// the cone; in space the direction of slip is a further unknown, with t⊥·W_T = 0.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    block: usize,
    at: usize,
    len: usize,
    direction: [f64; 3],
    test: [f64; 3],
    /// Share of the turning of t in its own equation.
    turning: f64,
    /// The angle of t per unit of the unknown.
    angle: f64,
}

/// Residual at which nothing is left to gain.
const GOAL: f64 = 4e-15;

#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    unknowns: Vec<Unknown>,
    pub pivot: Pivot,
    best: Vec<f64>,
    kept: Vec<f64>,
    weight: Vec<f64>,
    statuses: Vec<Status>,
    /// The best of several attempts.
    found: f64,
    found_p: Vec<f64>,
    found_status: Vec<Status>,
    /// Whether the last matrix had full rank.
    pub regular: bool,
}

impl Newton {
    pub fn reserve(&mut self, n: usize) {
        if self.best.len() < n {
            self.unknowns.reserve(n);
            self.best.resize(n, 0.0);
            self.kept.resize(n, 0.0);
            self.weight.resize(n, 0.0);
            self.statuses.reserve(n);
            self.found_p.resize(n, 0.0);
            self.found_status.reserve(n);
            self.pivot.reserve(n);
        }
    }

    /// From the statuses of `frame` to P with W at rounding level, changing statuses that turn out wrong. Gives the
    /// residual, which is infinite if the statuses do not come to rest. Pivots below `tiny` count as zero.
    pub fn settle(&mut self, frame: &mut Frame, tiny: f64) -> f64 {
        let (many, mut last) = (12, f64::INFINITY);
        frame.impose();
        frame.eval();
        for round in 0..many + 10 + 2 * frame.blocks.len() {
            self.step(frame, tiny);
            frame.eval();
            // The direction of slip first comes to rest: statuses are judged where their equations hold.
            let mut defect = frame.defect();
            for _ in 0..10 {
                if !frame.space || !(defect > 1e-7) {
                    break;
                }
                self.step(frame, tiny);
                frame.eval();
                defect = frame.defect();
            }
            // Changing all wrong statuses at once is fast but may go round in circles; one at a time seldom does.
            if frame.restate(round >= many) {
                frame.impose();
                frame.eval();
                last = f64::INFINITY;
                continue;
            }
            let (r, _) = frame.residual();
            if r <= GOAL {
                return r;
            }
            if !(r < 0.5 * last) && r.is_finite() && last.is_finite() {
                if last < r {
                    frame.p[..frame.n].copy_from_slice(&self.best[..frame.n]);
                    frame.eval();
                    // The slip directions go with P.
                    directions(frame);
                }
                return frame.residual().0;
            }
            last = r;
            self.best[..frame.n].copy_from_slice(&frame.p[..frame.n]);
        }
        f64::INFINITY
    }

    /// Forgets earlier attempts.
    pub fn forget(&mut self) {
        self.found = f64::INFINITY;
    }

    /// Keeps a solution if it is the best so far.
    pub fn keep(&mut self, frame: &Frame, residual: f64) {
        if residual < self.found {
            self.found = residual;
            self.found_p[..frame.n].copy_from_slice(&frame.p[..frame.n]);
            self.found_status.clear();
            self.found_status.extend_from_slice(&frame.status);
        }
    }

    /// The residual of the best solution kept.
    pub fn kept_residual(&self) -> f64 {
        self.found
    }

    /// Puts the best solution back into the frame and gives its residual.
    pub fn restore(&self, frame: &mut Frame) -> f64 {
        frame.p[..frame.n].copy_from_slice(&self.found_p[..frame.n]);
        frame.status.clear();
        frame.status.extend_from_slice(&self.found_status);
        frame.eval();
        self.found
    }

    /// One step for the statuses as they are.
    pub fn step(&mut self, frame: &mut Frame, tiny: f64) {
        self.collect(frame);
        let m = self.unknowns.len();
        let n = frame.n;
        for (i, row) in self.unknowns.iter().enumerate() {
            self.pivot.x[i] = -(0..row.len).map(|a| row.test[a] * frame.w[row.at + a]).sum::<f64>();
            self.pivot.y[i] = 0.0;
            for (j, column) in self.unknowns.iter().enumerate() {
                let mut sum = if i == j { row.turning } else { 0.0 };
                for a in 0..row.len {
                    if row.test[a] == 0.0 {
                        continue;
                    }
                    let line = &frame.d[(row.at + a) * n + column.at..];
                    sum += row.test[a] * (0..column.len).map(|b| line[b] * column.direction[b]).sum::<f64>();
                }
                self.pivot.a[i * m + j] = sum;
            }
        }
        self.regular = self.pivot.solve(m, tiny) == m;
        // With directions of slip the equations are not linear: a step that makes them worse is shortened.
        if !frame.space || frame.defect() < 1e-5 {
            self.advance(frame, 1.0);
            return;
        }
        self.weight[..n].copy_from_slice(&frame.size[..n]);
        let before = self.merit(frame);
        self.kept[..n].copy_from_slice(&frame.p[..n]);
        self.statuses.clear();
        self.statuses.extend_from_slice(&frame.status);
        let mut share = 1.0;
        loop {
            self.advance(frame, share);
            if share < 0.02 {
                return;
            }
            frame.eval();
            if self.merit(frame) <= (1.0 - 0.2 * share) * before {
                return;
            }
            share *= 0.5;
            frame.p[..n].copy_from_slice(&self.kept[..n]);
            frame.status.copy_from_slice(&self.statuses);
        }
    }

    /// Length of what should vanish, relative to the size of its terms before the step.
    fn merit(&self, frame: &Frame) -> f64 {
        let mut sum = 0.0;
        for unknown in &self.unknowns {
            let w = &frame.w[unknown.at..];
            let value = match frame.status[unknown.block] {
                Status::Slip(t) if unknown.angle != 0.0 => t[0] * w[2] - t[1] * w[1],
                _ => (0..unknown.len).map(|a| unknown.test[a] * w[a]).sum::<f64>(),
            };
            // Both tangents have one size.
            let tangential = unknown.angle != 0.0 || unknown.test[0] == 0.0;
            let weight = self.weight[unknown.at + usize::from(tangential)];
            if weight > 0.0 {
                sum += (value / weight).powi(2);
            }
        }
        sum.sqrt()
    }

    /// P and the directions of slip after a share of the step.
    fn advance(&self, frame: &mut Frame, share: f64) {
        for (unknown, &x) in self.unknowns.iter().zip(&self.pivot.x) {
            if unknown.angle == 0.0 {
                for a in 0..unknown.len {
                    frame.p[unknown.at + a] += share * x * unknown.direction[a];
                }
            } else if let Status::Slip(t) = &mut frame.status[unknown.block] {
                let angle = share * (x * unknown.angle).clamp(-0.7, 0.7);
                let turned = [t[0] - angle * t[1], t[1] + angle * t[0]];
                let length = turned[0].hypot(turned[1]);
                *t = [turned[0] / length, turned[1] / length];
            }
        }
        frame.impose();
    }

    fn collect(&mut self, frame: &Frame) {
        self.unknowns.clear();
        for (k, (block, status)) in frame.blocks.iter().zip(&frame.status).enumerate() {
            let (at, len) = (block.at, block.kind.unknowns());
            let unit = |i: usize| std::array::from_fn(|a| if a == i { 1.0 } else { 0.0 });
            let plain = Unknown { block: k, at, len, direction: [0.0; 3], test: [0.0; 3], turning: 0.0, angle: 0.0 };
            match (block.kind, *status) {
                (_, Status::Open) | (Kind::Dry, Status::Slip(_)) => {}
                (_, Status::Stick) => {
                    for i in 0..len {
                        self.unknowns.push(Unknown { direction: unit(i), test: unit(i), ..plain });
                    }
                }
                (_, Status::Slip(t)) => {
                    let direction = [1.0, -block.bound * t[0], -block.bound * t[1]];
                    self.unknowns.push(Unknown { direction, test: unit(0), ..plain });
                    if block.kind == Kind::Space {
                        let speed = (t[0] * frame.w[at + 1] + t[1] * frame.w[at + 2]).max(0.0);
                        let force = block.bound * frame.p[at].max(0.0);
                        let sum = if force + speed > 0.0 { force + speed } else { 1.0 };
                        let share = if force + speed > 0.0 { force / sum } else { 1.0 };
                        self.unknowns.push(Unknown {
                            direction: [0.0, -t[1] * share, t[0] * share],
                            test: [0.0, -t[1], t[0]],
                            turning: speed / sum,
                            angle: -1.0 / sum,
                            ..plain
                        });
                    }
                }
            }
        }
    }
}

/// Directions of slip from P.
fn directions(frame: &mut Frame) {
    for (block, status) in frame.blocks.iter().zip(&mut frame.status) {
        if let (Kind::Space, Status::Slip(t)) = (block.kind, status) {
            let p = &frame.p[block.at..];
            let size = p[1].hypot(p[2]);
            if size > 0.0 {
                *t = [-p[1] / size, -p[2] / size];
            }
        }
    }
}
