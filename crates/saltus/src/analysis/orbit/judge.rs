//! What an orbit is: its multipliers, its stability, its events.

use crate::analysis::closing::Orbit;
use crate::linalg::eigenvalues;
use crate::{Model, PhaseKind};

/// A multiplier within this of one in size is on the unit circle.
const ON_CIRCLE: f64 = 1e-6;

/// What the multipliers of an orbit say.
#[derive(Clone, Debug, PartialEq)]
pub struct OrbitStability {
    /// All multipliers, largest first; of an orbit whose period is free without the one that is 1.
    pub multipliers: Vec<(f64, f64)>,
    /// How many are outside the unit circle.
    pub outside: usize,
    /// How many are on it.
    pub on: usize,
}

impl OrbitStability {
    pub(super) fn of(orbit: &Orbit) -> Self {
        let n = orbit.passage.end.len();
        let mut multipliers = eigenvalues(n, &orbit.passage.jacobian).unwrap_or_default();
        multipliers.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)).then(b.1.total_cmp(&a.1)));
        multipliers.truncate(n - 2 * orbit.joints.min(n / 2));
        if orbit.multiple.is_none() {
            let off = |z: &(f64, f64)| (z.0 - 1.0).hypot(z.1);
            let one = (0..multipliers.len()).min_by(|&i, &j| off(&multipliers[i]).total_cmp(&off(&multipliers[j])));
            one.map(|k| multipliers.remove(k));
        }
        let size = |z: &(f64, f64)| z.0.hypot(z.1);
        let outside = multipliers.iter().filter(|z| size(z) > 1.0 + ON_CIRCLE).count();
        let on = multipliers.iter().filter(|z| (size(z) - 1.0).abs() <= ON_CIRCLE).count();
        OrbitStability { multipliers, outside, on }
    }

    /// Whether all multipliers are inside the unit circle.
    pub fn is_stable(&self) -> bool {
        self.outside == 0 && self.on == 0
    }

    /// Whether none is outside the unit circle, but some are on it: neither stable nor unstable, as far as multipliers say.
    pub fn is_neutral(&self) -> bool {
        self.outside == 0 && self.on > 0
    }

    /// In words.
    pub fn sentence(&self) -> String {
        let turns = self.multipliers.iter().any(|z| z.1 != 0.0);
        let kind = if turns { "focus" } else { "node" };
        match (self.outside, self.on) {
            (0, 0) => format!("stable ({kind}): all multipliers are inside the unit circle"),
            (0, n) => {
                format!("on the edge: {n} of the multipliers {} on the unit circle", if n == 1 { "is" } else { "are" })
            }
            (n, _) if n == self.multipliers.len() => {
                format!("unstable ({kind}): all multipliers are outside the unit circle")
            }
            (n, _) => {
                format!("unstable (saddle): {n} of {} multipliers outside the unit circle", self.multipliers.len())
            }
        }
    }
}

/// One event of an orbit.
#[derive(Clone, Debug, PartialEq)]
pub struct OrbitEvent {
    /// When it begins, and ends.
    pub t: (f64, f64),
    /// `impact`, `chatter`, `contact`, `release`, …
    pub kind: &'static str,
    /// The constraints concerned, or the friction.
    pub of: Vec<String>,
}

impl Orbit {
    /// What happens in one period, in order. The impacts of an accumulation are one event.
    pub fn events(&self, model: &Model) -> Vec<OrbitEvent> {
        let phases = &self.passage.run.timeline.phases;
        let chatters: Vec<(f64, f64)> =
            phases.iter().filter(|p| p.kind == PhaseKind::Chatter).map(|p| (p.start, p.end)).collect();
        let within = |t: f64| chatters.iter().any(|&(from, to)| t >= from && t <= to);
        let wanted = phases.iter().filter(|p| match p.kind {
            PhaseKind::Flight => false,
            PhaseKind::Impact => !within(p.start),
            _ => true,
        });
        wanted
            .map(|p| {
                let names = p.constraints.iter().map(|&a| model.constraints[a].name.clone());
                let of = if p.constraints.is_empty() { vec![p.note.clone()] } else { names.collect() };
                OrbitEvent { t: (p.start, p.end), kind: p.kind.name(), of }
            })
            .collect()
    }

    /// The sequence of events in one line: `impact stop, chatter table, contact table, release table`.
    pub fn sequence(&self, model: &Model) -> String {
        let each =
            self.events(model).into_iter().map(|e| format!("{} {}", e.kind, e.of.join(" and ")).trim().to_string());
        let each: Vec<String> = each.collect();
        if each.is_empty() { "no impact".into() } else { each.join(", ") }
    }
}
