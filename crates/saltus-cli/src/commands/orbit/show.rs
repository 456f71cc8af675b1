//! Orbits as text and JSON.

use crate::commands::lyapunov::complex;
use crate::text::{BOLD, DIM, count, number, out, print_json, printable};
use saltus::Problem;
use saltus::analysis::{NoOrbit, Orbit, PhaseSpace};
use serde_json::{Value, json};

pub struct Shown<'a> {
    pub problem: &'a Problem,
    pub orbits: &'a [Orbit],
    pub tried: usize,
    pub refusals: &'a [NoOrbit],
}

/// How many events of a period are listed.
const SHOWN: usize = 24;

impl Shown<'_> {
    pub fn print(&self) {
        out!("{BOLD}{}{BOLD:#}\n", printable(&self.problem.model().title));
        if self.tried > 1 {
            let none = match self.refusals.len() {
                0 => String::new(),
                n => format!("; {n} led to none"),
            };
            out!(
                "{} from {}{none}\n",
                count(self.orbits.len() as u64, "distinct orbit"),
                count(self.tried as u64, "start")
            );
        }
        for (k, orbit) in self.orbits.iter().enumerate() {
            if self.orbits.len() > 1 {
                out!("\n{BOLD}orbit {}{BOLD:#}", k + 1);
            }
            self.print_one(orbit);
        }
    }

    fn print_one(&self, orbit: &Orbit) {
        let (space, model) = (PhaseSpace::of(self.problem), self.problem.model());
        let of = match orbit.multiple {
            Some(1) => ", that of the forcing".to_string(),
            Some(n) => format!(", {n} periods of the forcing"),
            None => String::new(),
        };
        out!("\n  period      {}{of}\n", number(orbit.period, 12));
        let state = space.state(&orbit.start);
        for (k, (name, x)) in space.names().iter().zip(&state).enumerate() {
            let head = if k == 0 { format!("at t = {}", number(orbit.start.t, 6)) } else { String::new() };
            out!("  {head:10}  {} = {}\n", printable(name), number(*x, 13));
        }
        let stability = orbit.stability();
        let each: Vec<String> = stability.multipliers.iter().map(complex).collect();
        let trivial = if orbit.multiple.is_none() { "  (and 1, along the orbit)" } else { "" };
        out!("  multipliers {}{trivial}\n", each.join(", "));
        out!("  {}\n", stability.sentence());
        if orbit.is_symmetric() {
            out!("  symmetric: after half a period it is its own mirror image\n");
        }
        out!("  {DIM}it misses itself by {} of its size{DIM:#}\n", number(orbit.residual, 2));
        let events = orbit.events(model);
        if events.is_empty() {
            out!("  no impact\n");
        }
        for event in events.iter().take(SHOWN) {
            let when = match event.t.1 > event.t.0 {
                true => format!("{} to {}", number(event.t.0, 10), number(event.t.1, 10)),
                false => number(event.t.0, 10),
            };
            out!("  {:<10}  {}  t = {when}\n", event.kind, printable(&event.of.join(" and ")));
        }
        if events.len() > SHOWN {
            out!("  … and {} more\n", events.len() - SHOWN);
        }
    }

    pub fn json(&self) {
        let (space, model) = (PhaseSpace::of(self.problem), self.problem.model());
        let of = |orbit: &Orbit| -> Value {
            let stability = orbit.stability();
            let state: serde_json::Map<String, Value> =
                space.names().iter().cloned().zip(space.state(&orbit.start).into_iter().map(|x| json!(x))).collect();
            let events: Vec<Value> = orbit
                .events(model)
                .iter()
                .map(|e| json!({ "kind": e.kind, "of": e.of, "t": [e.t.0, e.t.1] }))
                .collect();
            json!({
                "period": orbit.period, "multiple": orbit.multiple, "t": orbit.start.t, "state": state,
                "multipliers": stability.multipliers.iter().map(|z| [z.0, z.1]).collect::<Vec<_>>(),
                "stable": stability.is_stable(), "outside": stability.outside, "sentence": stability.sentence(),
                "symmetric": orbit.is_symmetric(), "residual": orbit.residual, "newton_steps": orbit.steps, "events": events,
                "sequence": orbit.sequence(model),
            })
        };
        let orbits: Vec<Value> = self.orbits.iter().map(of).collect();
        print_json(&json!({
            "title": model.title, "starts": self.tried, "without": self.refusals.len(), "orbits": orbits,
        }));
    }
}
