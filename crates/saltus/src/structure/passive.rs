//! Stops that give back no more than they took.
//!
//! A stop at rest does the work P (g^{n+1} − g^{n−1})/2h at node n, with g its gap: that is by how much the energy of Newmark's
//! rule changes there. Where it acts, g^{n+1} = −e g^{n−1}: it takes energy if the node came from inside, g^{n−1} ≥ 0, and gives
//! some if it came from outside, where an impact in two steps has left it. A free body gets back 1 − (1 − e²) of what it had
//! (its two steps share the impact); a node of a mesh that the step does not resolve gets any amount.
//!
//! So a stop keeps an account T of what it has taken, and where it gives, it gives no more:
//!
//! ```text
//! g^{n−1} < 0:    0 ≤ P ⊥ g^{n+1} + e g^{n−1} ≥ 0   becomes   P = min(P of the law, 2hT/(g^{n+1} − g^{n−1}))
//! ```
//!
//! an observer of energy and a limit (Hannaford & Ryu 2002, IEEE Trans. Robot. Autom. 18, 1: passivity in the time domain). P
//! falls as g^{n+1} grows, from any P ≥ 0 at g^{n+1} = g^{n−1}: the law stays maximal monotone, a step has one solution, nothing
//! sinks deeper than it was, and energy never grows, for any h, e, mesh and number of stops. As h → 0 what an impact in two steps
//! gives differs from what it has taken by O(h) of it, so the limit changes velocities by O(h) and the order is kept.
//!
//! When a contact ends, what the law takes of a body that arrives at U, ½(1 − e²) U²/(w·A⁻¹w), is struck from the account: what
//! is left is what the steps have taken by mistake, and later ones may give it back. With e = 1 that is all of it, so that errors of
//! both signs cancel as they do without the limit.

/// The accounts of the stops.
pub(super) struct Passive {
    h: f64,
    restitution: Vec<f64>,
    /// What each stop took and may give back; what the law takes in the contact that lasts, if one does.
    taken: Vec<f64>,
    due: Vec<Option<f64>>,
    /// g^{n−1} and g^n.
    behind: Vec<f64>,
    now: Vec<f64>,
    /// g^{n+1} by the law less g^{n−1}, −(1+e) g^{n−1}: positive where the stop would give.
    reach: Vec<f64>,
    /// 2hT.
    budget: Vec<f64>,
    /// Gaps below this are rounding.
    rounding: Vec<f64>,
}

impl Passive {
    pub fn new(restitution: &[f64], h: f64, rounding: Vec<f64>) -> Self {
        let none = || vec![0.0; restitution.len()];
        Passive {
            h,
            restitution: restitution.to_vec(),
            taken: none(),
            due: vec![None; restitution.len()],
            behind: none(),
            now: none(),
            reach: none(),
            budget: none(),
            rounding,
        }
    }

    /// The gap of stop a at node n.
    pub fn arrive(&mut self, a: usize, gap: f64) {
        let behind = self.now[a];
        self.begin(a, gap, behind, behind);
    }

    /// The gap of stop a at node n, with g^{n−1} of the law, `behind`, and of the work, `mirror`: g^{n+1} without contact, less twice
    /// what the velocity makes of it. They differ in the first step, and for modes that are damped and fly exactly.
    pub fn begin(&mut self, a: usize, gap: f64, behind: f64, mirror: f64) {
        // A contact that the motion starts in is closed to rounding, on whichever side of zero.
        let behind = if behind.abs() <= self.rounding[a] { 0.0 } else { behind };
        (self.behind[a], self.now[a]) = (behind, gap);
        let reach = -self.restitution[a] * behind - mirror;
        // A stop that came from inside holds, whatever loads do.
        self.reach[a] = if behind < 0.0 { reach } else { reach.min(0.0) };
        self.budget[a] = 2.0 * self.h * self.taken[a];
    }

    /// What the law of a stop could give: the distance over which it would push out, and 2h times what it has taken.
    pub fn limits(&self) -> (&[f64], &[f64]) {
        (&self.reach, &self.budget)
    }

    /// After the stops have acted: their slacks, and w s A⁻¹ w of each.
    pub fn depart(&mut self, slacks: &[f64], own: impl Fn(usize) -> f64, impulses: &[f64]) {
        for (a, &p) in impulses.iter().enumerate() {
            let next = slacks[a] - self.restitution[a] * self.behind[a];
            if p > 0.0 {
                let e = self.restitution[a];
                let speed = (self.now[a] - self.behind[a]) / self.h;
                self.due[a].get_or_insert(0.5 * (1.0 - e * e) * speed * speed * self.h / own(a));
                let given = p * (slacks[a] + self.reach[a]) / (2.0 * self.h);
                self.taken[a] = (self.taken[a] - given).max(0.0);
            } else if next >= 0.0
                && self.now[a] >= 0.0
                && let Some(due) = self.due[a].take()
            {
                self.taken[a] = (self.taken[a] - due).max(0.0);
            }
        }
    }
}
