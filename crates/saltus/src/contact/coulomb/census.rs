//! All solutions of a small problem, by trying every combination of statuses: for D that is not positive definite, where there
//! may be no solution or several.

use super::Status;
use super::frame::{Frame, Kind};
use super::newton::Newton;

/// At most this many combinations are tried.
const MOST: usize = 5000;

/// What there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// None.
    Nothing,
    /// One motion (P may still not be unique); it is in the frame.
    One,
    /// Solutions that differ in W; a law in which they do.
    Several {
        /// Its index.
        law: usize,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Census {
    p: Vec<f64>,
    w: Vec<f64>,
    status: Vec<Status>,
}

impl Census {
    pub fn reserve(&mut self, n: usize) {
        if self.p.len() < n {
            self.p.resize(n, 0.0);
            self.w.resize(n, 0.0);
            self.status.reserve(n);
        }
    }

    /// Whether there are few enough combinations to try them all.
    pub fn feasible(frame: &Frame) -> bool {
        let count = frame.blocks.iter().try_fold(1usize, |count, block| {
            let count = count * choices(block.kind);
            (count <= MOST).then_some(count)
        });
        !frame.space && count.is_some()
    }

    /// Tries all combinations and leaves the solution in the frame, if there is one and only one.
    pub fn take(&mut self, frame: &mut Frame, newton: &mut Newton) -> Found {
        let count: usize = frame.blocks.iter().map(|block| choices(block.kind)).product();
        let n = frame.n;
        let mut found = Found::Nothing;
        for number in 0..count {
            let mut rest = number;
            frame.status.clear();
            for k in 0..frame.blocks.len() {
                let kind = frame.blocks[k].kind;
                frame.status.push(choice(kind, rest % choices(kind)));
                rest /= choices(kind);
            }
            frame.p[..n].fill(0.0);
            frame.impose();
            frame.eval();
            // A second step refines the first.
            for _ in 0..2 {
                newton.step(frame, 1e-13);
                frame.eval();
            }
            // What is left of an impulse that vanishes is rounding.
            let size = frame.p[..n].iter().fold(0.0f64, |m, p| m.max(p.abs()));
            for block in &frame.blocks {
                if block.kind != Kind::Joint && block.kind != Kind::Dry && frame.p[block.at].abs() < 1e-14 * size {
                    frame.p[block.at] = 0.0;
                }
            }
            if !(frame.residual().0 <= 1e-12) {
                continue;
            }
            if found == Found::Nothing {
                found = Found::One;
                self.p[..n].copy_from_slice(&frame.p[..n]);
                self.w[..n].copy_from_slice(&frame.w[..n]);
                self.status.clear();
                self.status.extend_from_slice(&frame.status);
            } else if let Some(law) = self.differs(frame) {
                return Found::Several { law };
            }
        }
        if found == Found::One {
            frame.p[..n].copy_from_slice(&self.p[..n]);
            frame.status.clear();
            frame.status.extend_from_slice(&self.status);
            frame.eval();
        }
        found
    }

    /// The law in which W differs from that of the solution kept.
    fn differs(&self, frame: &Frame) -> Option<usize> {
        frame.blocks.iter().find_map(|block| {
            (block.at..block.at + block.kind.unknowns())
                .any(|i| (frame.w[i] - self.w[i]).abs() > 1e-9 * (frame.size[i] + self.w[i].abs()))
                .then_some(block.law)
        })
    }
}

fn choices(kind: Kind) -> usize {
    match kind {
        Kind::Joint => 1,
        Kind::Unilateral => 2,
        Kind::Dry => 3,
        Kind::Plane | Kind::Space => 4,
    }
}

fn choice(kind: Kind, index: usize) -> Status {
    match (kind, index) {
        (Kind::Joint, _) => Status::Stick,
        (Kind::Dry, 0) => Status::Stick,
        (_, 0) => Status::Open,
        (Kind::Dry, 1) => Status::Slip([1.0, 0.0]),
        (Kind::Dry, _) => Status::Slip([-1.0, 0.0]),
        (_, 1) => Status::Stick,
        (_, 2) => Status::Slip([1.0, 0.0]),
        _ => Status::Slip([-1.0, 0.0]),
    }
}
