//! The problem in scaled unknowns, and what the laws say about a pair P, W.
//!
//! With P = S P̃, W̃ = S W and S diagonal the laws keep their form (μ and the limits are scaled with them), and D̃ = S D S has
//! a diagonal near one: bodies of very different masses, lengths and angles are alike. The entries of S are powers of two,
//! so scaling rounds nothing. The two tangents of a contact in space have one scale, and their cone stays circular.

use super::{Law, Status};

/// What counts as rounding in W, relative to the sum of the sizes of its terms |D||P| + |b|.
pub(super) const ROUNDING: f64 = 3e-14;
/// Entries of D̃ count as this large where rounding is measured.
const LEAST: f64 = 1e-2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Joint,
    /// Also a contact without friction, whose tangents have no impulse.
    Unilateral,
    Plane,
    Space,
    Dry,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Index among the laws.
    pub law: usize,
    /// First unknown.
    pub at: usize,
    pub kind: Kind,
    /// Scaled μ, or scaled limit.
    pub bound: f64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    pub n: usize,
    /// D̃ by rows.
    pub d: Vec<f64>,
    pub b: Vec<f64>,
    pub p: Vec<f64>,
    pub w: Vec<f64>,
    /// |b̃| + |D̃||P̃|, with D̃ as large as what rounding makes of it; for the two tangents in space the larger of both.
    pub size: Vec<f64>,
    pub scale: Vec<f64>,
    pub blocks: Vec<Block>,
    pub status: Vec<Status>,
    pub symmetric: bool,
    pub joints: bool,
    pub space: bool,
}

impl Frame {
    pub fn reserve(&mut self, n: usize) {
        if self.p.len() < n {
            self.d.resize(n * n, 0.0);
            for vector in [&mut self.b, &mut self.p, &mut self.w, &mut self.size, &mut self.scale] {
                vector.resize(n, 0.0);
            }
            self.blocks.reserve(n);
            self.status.reserve(n);
        }
    }

    /// Takes over a problem; P is what the caller has.
    pub fn set(&mut self, d: &[f64], b: &[f64], laws: &[Law], p: &[f64]) {
        let n = b.len();
        self.n = n;
        self.symmetric = (0..n).all(|i| {
            d[i * n + i] >= 0.0
                && (0..i).all(|j| {
                    let mean = (d[i * n + i] * d[j * n + j]).sqrt();
                    (d[i * n + j] - d[j * n + i]).abs() <= 1e-10 * mean
                        && d[i * n + j].abs() <= (1.0 + 1e-6) * mean + f64::MIN_POSITIVE
                })
        });
        if self.symmetric {
            for i in 0..n {
                self.scale[i] = if d[i * n + i] > 0.0 { d[i * n + i].sqrt().recip() } else { 1.0 };
            }
        } else {
            self.equilibrate(d);
        }
        self.blocks.clear();
        let mut at = 0;
        (self.joints, self.space) = (false, false);
        for (index, &law) in laws.iter().enumerate() {
            if let Law::Coulomb { tangents: 2, .. } = law {
                let s = self.scale[at + 1].min(self.scale[at + 2]);
                (self.scale[at + 1], self.scale[at + 2]) = (s, s);
            }
            (at..at + law.unknowns()).for_each(|i| self.scale[i] = power_of_two(self.scale[i]));
            let s = &self.scale[at..];
            let (kind, bound) = match law {
                Law::Joint => (Some(Kind::Joint), 0.0),
                Law::Unilateral => (Some(Kind::Unilateral), 0.0),
                Law::Coulomb { mu, tangents } if !(mu > 0.0) || tangents == 0 => (Some(Kind::Unilateral), 0.0),
                Law::Coulomb { mu, tangents: 1 } => (Some(Kind::Plane), mu * s[0] / s[1]),
                Law::Coulomb { mu, .. } => (Some(Kind::Space), mu * s[0] / s[1]),
                Law::Dry { limit } => (if limit > 0.0 { Some(Kind::Dry) } else { None }, limit / s[0]),
            };
            if let Some(kind) = kind {
                self.blocks.push(Block { law: index, at, kind, bound });
                self.joints |= kind == Kind::Joint;
                self.space |= kind == Kind::Space;
            }
            at += law.unknowns();
        }
        debug_assert_eq!(at, n, "laws and unknowns");
        for i in 0..n {
            let s = self.scale[i];
            self.b[i] = s * b[i];
            self.p[i] = 0.0;
            for j in 0..n {
                self.d[i * n + j] = s * d[i * n + j] * self.scale[j];
            }
        }
        for block in &self.blocks {
            for i in block.at..block.at + block.kind.unknowns() {
                self.p[i] = if p[i].is_finite() { p[i] / self.scale[i] } else { 0.0 };
            }
        }
    }

    /// Scales with which the largest entry in each row and column is near one.
    fn equilibrate(&mut self, d: &[f64]) {
        let n = self.n;
        self.scale[..n].fill(1.0);
        for _ in 0..4 {
            for i in 0..n {
                let largest = (0..n).fold(0.0f64, |m, j| {
                    let pair = d[i * n + j].abs().max(d[j * n + i].abs());
                    m.max(self.scale[i] * pair * self.scale[j])
                });
                if largest > 0.0 {
                    self.scale[i] /= largest.sqrt();
                }
            }
        }
    }

    /// W = D P + b and the size of its terms.
    pub fn eval(&mut self) {
        let n = self.n;
        let p = &self.p[..n];
        for i in 0..n {
            let (mut sum, mut size) = (self.b[i], self.b[i].abs());
            for (d, p) in self.d[i * n..(i + 1) * n].iter().zip(p) {
                let term = d * p;
                sum += term;
                // (Small entries of D are differences of terms near one: their rounding is not smaller for it.)
                size += if *d == 0.0 { 0.0 } else { d.abs().max(LEAST) * p.abs() };
            }
            (self.w[i], self.size[i]) = (sum, size);
        }
        for block in &self.blocks {
            if block.kind == Kind::Space {
                let size = self.size[block.at + 1].max(self.size[block.at + 2]);
                (self.size[block.at + 1], self.size[block.at + 2]) = (size, size);
            }
        }
    }

    /// The largest |P| relative to the largest |b| among the rows that it is coupled to, directly or by others. Overwrites
    /// the sizes of the terms of W.
    pub fn reach(&mut self) -> f64 {
        let n = self.n;
        (0..n).for_each(|i| self.size[i] = self.b[i].abs());
        loop {
            let mut changed = false;
            for i in 0..n {
                let most = (0..n)
                    .filter(|j| self.d[i * n + j].abs() > 1e-12)
                    .fold(self.size[i], |most, j| most.max(self.size[j]));
                if most > self.size[i] {
                    self.size[i] = most;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let worst = (0..n).fold(0.0f64, |worst, i| {
            let p = self.p[i].abs();
            worst.max(if p > 0.0 && self.size[i] > 0.0 { p / self.size[i] } else { 0.0 })
        });
        self.eval();
        worst
    }

    /// Statuses from P and W.
    pub fn guess(&mut self) {
        self.status.clear();
        for k in 0..self.blocks.len() {
            let block = self.blocks[k];
            let status = self.natural(block, &self.p[block.at..], &self.w[block.at..]);
            self.status.push(status);
        }
    }

    /// The status that Alart and Curnier's map gives a pair P, W: where the laws put P − W.
    fn natural(&self, block: Block, p: &[f64], w: &[f64]) -> Status {
        match block.kind {
            Kind::Joint => Status::Stick,
            Kind::Unilateral => {
                if p[0] - w[0] > 0.0 {
                    Status::Stick
                } else {
                    Status::Open
                }
            }
            Kind::Dry => disk([p[0] - w[0], 0.0], block.bound),
            Kind::Plane | Kind::Space => {
                let normal = p[0] - w[0];
                if !(normal > 0.0) {
                    return Status::Open;
                }
                let second = if block.kind == Kind::Space { p[2] - w[2] } else { 0.0 };
                disk([p[1] - w[1], second], block.bound * normal)
            }
        }
    }

    /// Makes P obey what its statuses say without equations: open is zero, slip is on the cone.
    pub fn impose(&mut self) {
        for (block, status) in self.blocks.iter().zip(&self.status) {
            let p = &mut self.p[block.at..block.at + block.kind.unknowns()];
            match (block.kind, *status) {
                (Kind::Dry, Status::Slip(t)) => p[0] = -block.bound * t[0],
                (_, Status::Open) => p.fill(0.0),
                (_, Status::Stick) => {}
                (_, Status::Slip(t)) => {
                    let normal = p[0];
                    for (p, t) in p[1..].iter_mut().zip(t) {
                        *p = -block.bound * normal * t;
                    }
                }
            }
        }
    }

    /// Changes the statuses that P and W contradict, all of them or only the first, and says whether there was one.
    ///
    /// Inequalities of P are taken exactly and those of W up to rounding, so that on the border between two statuses one of
    /// them is always accepted.
    pub fn restate(&mut self, only_first: bool) -> bool {
        let mut changed = false;
        for k in 0..self.blocks.len() {
            let block = self.blocks[k];
            let (p, w, size) = (&self.p[block.at..], &self.w[block.at..], &self.size[block.at..]);
            let pushed = |slack: f64, size: f64| slack < -ROUNDING * size;
            let new = match (block.kind, self.status[k]) {
                (Kind::Joint, old) => old,
                (Kind::Dry, Status::Slip(t)) if pushed(t[0] * w[0], size[0]) => Status::Stick,
                (Kind::Dry, Status::Stick) => disk([p[0], 0.0], block.bound),
                (Kind::Dry, old) => old,
                (_, Status::Open) if pushed(w[0], size[0]) => self.natural(block, p, w),
                (_, Status::Open) => Status::Open,
                _ if p[0] < 0.0 => Status::Open,
                (Kind::Unilateral, old) => old,
                (Kind::Plane, Status::Slip(t)) if pushed(t[0] * w[1], size[1]) => Status::Stick,
                (Kind::Space, Status::Slip(t)) if pushed(t[0] * w[1] + t[1] * w[2], size[1]) => Status::Stick,
                (_, Status::Slip(t)) => Status::Slip(t),
                (Kind::Plane, Status::Stick) => disk([p[1], 0.0], block.bound * p[0]),
                (Kind::Space, Status::Stick) => disk([p[1], p[2]], block.bound * p[0]),
            };
            if new != self.status[k] {
                self.status[k] = new;
                changed = true;
                if only_first {
                    break;
                }
            }
        }
        changed
    }

    /// The largest violation of what the statuses ask to vanish, relative to the size of the terms.
    pub fn defect(&self) -> f64 {
        let mut worst = 0.0f64;
        for (block, status) in self.blocks.iter().zip(&self.status) {
            let (w, size) = (&self.w[block.at..], &self.size[block.at..]);
            let mut see = |x: f64, size: f64| {
                if x != 0.0 {
                    worst = worst.max(x.abs() / size);
                }
            };
            match (block.kind, status) {
                (_, Status::Open) | (Kind::Dry, Status::Slip(_)) => {}
                (kind, Status::Stick) => (0..kind.unknowns()).for_each(|i| see(w[i], size[i])),
                (kind, Status::Slip(t)) => {
                    see(w[0], size[0]);
                    if kind == Kind::Space {
                        see(t[0] * w[2] - t[1] * w[1], size[1]);
                    }
                }
            }
        }
        worst
    }

    /// The largest violation of a law by P, W and the statuses, relative to the size of the terms of W (or of P), and the
    /// index of the law violated most.
    pub fn residual(&self) -> (f64, usize) {
        let mut worst = (0.0, self.blocks.first().map_or(0, |block| block.law));
        for (block, status) in self.blocks.iter().zip(&self.status) {
            let r = self.violation(block, status);
            if !(r <= worst.0) {
                worst = (if r.is_nan() { f64::INFINITY } else { r }, block.law);
            }
        }
        worst
    }

    fn violation(&self, block: &Block, status: &Status) -> f64 {
        let (p, w, size) = (&self.p[block.at..], &self.w[block.at..], &self.size[block.at..]);
        let relative = |x: f64, size: f64| if x.abs() > 0.0 { x.abs() / size } else { x };
        let outside = |x: f64, bound: f64| relative((x - bound).max(0.0), x.max(bound));
        match (block.kind, status) {
            (Kind::Joint, _) => relative(w[0], size[0]),
            (Kind::Dry, Status::Slip(t)) => relative((t[0] * w[0]).min(0.0), size[0]),
            (Kind::Dry, _) => relative(w[0], size[0]).max(outside(p[0].abs(), block.bound)),
            (_, Status::Open) => relative(w[0].min(0.0), size[0]),
            _ if !(p[0] >= 0.0) => f64::INFINITY,
            (Kind::Unilateral, _) => relative(w[0], size[0]),
            (Kind::Plane, Status::Stick) => {
                relative(w[0], size[0]).max(relative(w[1], size[1])).max(outside(p[1].abs(), block.bound * p[0]))
            }
            (Kind::Plane, Status::Slip(t)) => relative(w[0], size[0]).max(relative((t[0] * w[1]).min(0.0), size[1])),
            (Kind::Space, Status::Stick) => relative(w[0], size[0])
                .max(relative(w[1].hypot(w[2]), size[1]))
                .max(outside(p[1].hypot(p[2]), block.bound * p[0])),
            (Kind::Space, Status::Slip(t)) => relative(w[0], size[0])
                .max(relative((t[0] * w[1] + t[1] * w[2]).min(0.0), size[1]))
                .max(relative(t[0] * w[2] - t[1] * w[1], size[1])),
        }
    }
}

impl Kind {
    pub fn unknowns(self) -> usize {
        match self {
            Kind::Plane => 2,
            Kind::Space => 3,
            _ => 1,
        }
    }
}

/// Stick where a tangential impulse is within its bound, else slip against it.
pub(super) fn disk(p: [f64; 2], bound: f64) -> Status {
    let size = if p[1] == 0.0 { p[0].abs() } else { p[0].hypot(p[1]) };
    if size > bound { Status::Slip([-p[0] / size, -p[1] / size]) } else { Status::Stick }
}

/// The power of two below a positive number.
fn power_of_two(x: f64) -> f64 {
    let power = f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000);
    if power > 0.0 && power.is_finite() { power } else { 1.0 }
}
