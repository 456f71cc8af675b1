//! One block alone, solved directly, and sweeps over all blocks (nonsmooth Gauss–Seidel), which suggest statuses.

use super::Status;
use super::frame::{Frame, Kind, disk};

/// The solution of W = D P + q for one block, D its own part of D̃; None where there is none (D not positive definite).
fn solve(kind: Kind, bound: f64, d: &[[f64; 3]; 3], q: [f64; 3]) -> Option<([f64; 3], Status)> {
    match kind {
        Kind::Joint => (d[0][0] > 0.0).then(|| ([-q[0] / d[0][0], 0.0, 0.0], Status::Stick)),
        Kind::Unilateral if q[0] >= 0.0 => Some(([0.0; 3], Status::Open)),
        Kind::Unilateral => (d[0][0] > 0.0).then(|| ([-q[0] / d[0][0], 0.0, 0.0], Status::Stick)),
        Kind::Dry => {
            let p = if d[0][0] > 0.0 { -q[0] / d[0][0] } else { -q[0] * f64::INFINITY };
            match disk([p, 0.0], bound) {
                Status::Slip(t) => Some(([-bound * t[0], 0.0, 0.0], Status::Slip(t))),
                stick => (!p.is_nan()).then_some(([p, 0.0, 0.0], stick)),
            }
        }
        Kind::Plane | Kind::Space if q[0] >= 0.0 => Some(([0.0; 3], Status::Open)),
        Kind::Plane => plane(bound, d, q),
        Kind::Space => space(bound, d, q),
    }
}

fn plane(mu: f64, d: &[[f64; 3]; 3], q: [f64; 3]) -> Option<([f64; 3], Status)> {
    let determinant = d[0][0] * d[1][1] - d[0][1] * d[1][0];
    let mut first = if q[1] < 0.0 { -1.0 } else { 1.0 };
    if d[0][0] > 0.0 && determinant > 1e-13 * d[0][0] * d[1][1] {
        let p = [(d[0][1] * q[1] - d[1][1] * q[0]) / determinant, (d[1][0] * q[0] - d[0][0] * q[1]) / determinant, 0.0];
        if p[0] >= 0.0 && p[1].abs() <= mu * p[0] {
            return Some((p, Status::Stick));
        }
        first = if p[1] > 0.0 { -1.0 } else { 1.0 };
    }
    [first, -first].into_iter().find_map(|t| {
        let normal = -q[0] / (d[0][0] - mu * t * d[0][1]);
        let w = q[1] + normal * (d[1][0] - mu * t * d[1][1]);
        (normal > 0.0 && normal.is_finite() && t * w >= 0.0)
            .then_some(([normal, -mu * t * normal, 0.0], Status::Slip([t, 0.0])))
    })
}

/// Slip in space: with W_N = 0 eliminated, the direction t = (cos θ, sin θ) is a root of a trigonometric polynomial of degree two.
struct Turn<'a> {
    mu: f64,
    d: &'a [[f64; 3]; 3],
    q: [f64; 3],
}

impl Turn<'_> {
    /// The polynomial t⊥·W_T (D_NN − μ D_NT·t) and its derivative.
    fn value(&self, t: [f64; 2]) -> (f64, f64) {
        let (d, q, mu) = (self.d, self.q, self.mu);
        let across = [-t[1], t[0]];
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let (row, column, slip) = ([d[0][1], d[0][2]], [d[1][0], d[2][0]], [q[1], q[2]]);
        let along = [d[1][1] * t[0] + d[1][2] * t[1], d[2][1] * t[0] + d[2][2] * t[1]];
        let beside = [d[1][1] * across[0] + d[1][2] * across[1], d[2][1] * across[0] + d[2][2] * across[1]];
        let denominator = d[0][0] - mu * dot(row, t);
        let value = denominator * dot(slip, across) - q[0] * (dot(column, across) - mu * dot(across, along));
        let slope = -mu * dot(row, across) * dot(slip, across) - denominator * dot(slip, t)
            + q[0] * (dot(column, t) + mu * (dot(across, beside) - dot(t, along)));
        (value, slope)
    }

    /// P for a direction, if it is one of slip.
    fn accept(&self, t: [f64; 2]) -> Option<([f64; 3], Status)> {
        let (d, q, mu) = (self.d, self.q, self.mu);
        let normal = -q[0] / (d[0][0] - mu * (d[0][1] * t[0] + d[0][2] * t[1]));
        let p = [normal, -mu * normal * t[0], -mu * normal * t[1]];
        let w = [1, 2].map(|i| q[i] + d[i][0] * p[0] + d[i][1] * p[1] + d[i][2] * p[2]);
        (normal > 0.0 && normal.is_finite() && t[0] * w[0] + t[1] * w[1] >= 0.0).then_some((p, Status::Slip(t)))
    }
}

fn space(mu: f64, d: &[[f64; 3]; 3], q: [f64; 3]) -> Option<([f64; 3], Status)> {
    let stick = eliminate(d, q);
    if let Some(p) = stick
        && p[0] >= 0.0
        && p[1].hypot(p[2]) <= mu * p[0]
    {
        return Some((p, Status::Stick));
    }
    let turn = Turn { mu, d, q };
    let guess = stick.map_or([q[1], q[2]], |p| [-p[1], -p[2]]);
    for start in [[q[1], q[2]], guess] {
        let length = start[0].hypot(start[1]);
        let mut t = if length > 0.0 { [start[0] / length, start[1] / length] } else { [1.0, 0.0] };
        for _ in 0..12 {
            let (value, slope) = turn.value(t);
            let angle = (-value / slope).clamp(-0.7, 0.7);
            if !angle.is_finite() {
                break;
            }
            let turned = [t[0] - angle * t[1], t[1] + angle * t[0]];
            let length = turned[0].hypot(turned[1]);
            t = [turned[0] / length, turned[1] / length];
            if angle.abs() < 1e-9 {
                if let Some(found) = turn.accept(t) {
                    return Some(found);
                }
                break;
            }
        }
    }
    scan(&turn)
}

/// All sign changes of the polynomial round the circle, until one is a direction of slip.
fn scan(turn: &Turn) -> Option<([f64; 3], Status)> {
    const POINTS: usize = 64;
    let at = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        [cos, sin]
    };
    let step = std::f64::consts::TAU / POINTS as f64;
    let mut before = turn.value(at(0.0)).0;
    for k in 1..=POINTS {
        let after = turn.value(at(k as f64 * step)).0;
        if (before < 0.0) != (after < 0.0) {
            let (mut low, mut high) = ((k - 1) as f64 * step, k as f64 * step);
            for _ in 0..54 {
                let middle = 0.5 * (low + high);
                if (turn.value(at(middle)).0 < 0.0) == (before < 0.0) { low = middle } else { high = middle }
            }
            if let Some(found) = turn.accept(at(0.5 * (low + high))) {
                return Some(found);
            }
        }
        before = after;
    }
    None
}

/// P = −D⁻¹ q without exchanges, which a positive definite D does not need.
fn eliminate(d: &[[f64; 3]; 3], q: [f64; 3]) -> Option<[f64; 3]> {
    let (mut a, mut x) = (*d, q.map(|q| -q));
    for k in 0..3 {
        if !(a[k][k] > 1e-13 * d[k][k]) {
            return None;
        }
        for i in k + 1..3 {
            let factor = a[i][k] / a[k][k];
            for j in k..3 {
                a[i][j] -= factor * a[k][j];
            }
            x[i] -= factor * x[k];
        }
    }
    for i in (0..3).rev() {
        let rest: f64 = (i + 1..3).map(|j| a[i][j] * x[j]).sum();
        x[i] = (x[i] - rest) / a[i][i];
    }
    Some(x)
}

/// Solves block k for what the others exert now; W follows. False if the block alone has no solution.
pub(super) fn relax(frame: &mut Frame, k: usize) -> bool {
    let block = frame.blocks[k];
    let (n, at, len) = (frame.n, block.at, block.kind.unknowns());
    let mut d = [[0.0; 3]; 3];
    let mut q = [0.0; 3];
    for i in 0..len {
        q[i] = frame.w[at + i];
        for j in 0..len {
            d[i][j] = frame.d[(at + i) * n + at + j];
            q[i] -= d[i][j] * frame.p[at + j];
        }
    }
    let Some((p, status)) = solve(block.kind, block.bound, &d, q) else { return false };
    frame.status[k] = status;
    for j in 0..len {
        let change = p[j] - frame.p[at + j];
        if change != 0.0 {
            frame.p[at + j] = p[j];
            for i in 0..n {
                frame.w[i] += frame.d[i * n + at + j] * change;
            }
        }
    }
    true
}

/// Sweeps over all blocks until the kinds of their statuses stay for two sweeps, at most `most` times.
pub(super) fn sweep(frame: &mut Frame, most: usize) {
    let mut quiet = 0;
    for _ in 0..most {
        let mut changed = false;
        for k in 0..frame.blocks.len() {
            let before = std::mem::discriminant(&frame.status[k]);
            relax(frame, k);
            changed |= before != std::mem::discriminant(&frame.status[k]);
        }
        quiet = if changed { 0 } else { quiet + 1 };
        if quiet == 2 {
            break;
        }
    }
}
