//! A time-stepping scheme from outside the crate: an explicit step with Moreau's impact law for one constraint, for unit mass.
//! Impacts, contacts and the ledger follow by themselves.
//!
//!     cargo run --release -p saltus --example own_scheme

use saltus::problem::{Dynamics, Gaps, Instance};
use saltus::scheme::{Node, Scheme, Settings, Stepper, Stepping};
use saltus::{Options, Reason, SetupError, model::Builder};
use std::error::Error;

struct Explicit {
    dynamics: Dynamics,
    gaps: Gaps,
    e: f64,
    h: f64,
    index: u64,
    t0: f64,
    q: f64,
    v: f64,
}

impl Stepper for Explicit {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        node.index = self.index;
        node.t = self.t0 + self.index as f64 * self.h;
        node.impulses.fill(0.0);
        node.q[0] = self.q;
        node.v_left[0] = self.v;
        // Where the gap would close within the next step, the velocity obeys the law.
        self.gaps.linearise(node.t, &[self.q], &[self.v]);
        let (gap, slope) = (self.gaps.values[0], self.gaps.gradients.dot(0, &[1.0]));
        let rate = slope * self.v;
        if gap + self.h * rate <= 0.0 && rate < 0.0 {
            node.impulses[0] = -(1.0 + self.e) * rate / (slope * slope);
            self.v += slope * node.impulses[0];
        }
        node.contact = node.impulses[0] > 0.0;
        node.v_right[0] = self.v;
        self.dynamics.evaluate(node.t, &[self.q], &[self.v]);
        self.q += self.h * self.v;
        self.v += self.h * self.dynamics.g[0];
        self.index += 1;
        Ok(())
    }
}

fn start(at: &Instance, h: f64, _: &Settings) -> Result<Box<dyn Stepper>, SetupError> {
    if at.dimension() != 1 || at.constraints() != 1 {
        return Err(SetupError::new("this scheme is for one coordinate and one constraint"));
    }
    let s = at.start();
    Ok(Box::new(Explicit {
        dynamics: at.dynamics(),
        gaps: at.gaps(),
        e: at.restitution()[0],
        h,
        index: 0,
        t0: s.t,
        q: s.q[0],
        v: s.v[0],
    }))
}

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let explicit = Scheme::stepping("explicit", Stepping { start, ..Stepping::velocity() });
    let ball = Builder::new("ball")
        .coordinate("y", 1.0, 0.0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(0.5)
        .constraint("floor", "y")
        .build()?
        .problem()?;
    let exact = ball.run(&Options::events(0.8))?.ok()?.last().q[0];
    let mut errors = Vec::new();
    for h in [1e-3, 5e-4, 2.5e-4, 1.25e-4] {
        let run = ball.run(&Options::steps(explicit, h).until(0.8))?.ok()?;
        errors.push((run.last().q[0] - exact).abs());
        println!("h = {h:<9} error {:.2e}", errors[errors.len() - 1]);
    }
    assert!(errors[3] < 0.2 * errors[0], "first order");
    Ok(())
}
