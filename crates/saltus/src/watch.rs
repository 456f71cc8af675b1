//! From contact steps to impacts and contacts.
//!
//! A scheme spreads the impulse of one impact over a few steps (two for Paoli–Schatzman). Here those steps become one
//! impact again, with its instant, its constraints, the velocities on both sides, and how well the law was kept.
//!
//! - A window opens when a constraint gets an impulse that it had not in the step before (or one many times larger); it
//!   lasts the scheme's number of contact steps, longer if further constraints join in or impulses go on that no force
//!   explains.
//! - The instant is where the incoming motion meets the constraint.
//! - The law is judged where the scheme applies it: the velocities before and after the window, each carried to the
//!   instant the scheme declares by the acceleration of the smooth motion there (forces, and reactions of contacts that
//!   last). What those did during the window is thereby not mistaken for the impact.
//! - v⁻ is the incoming velocity at the instant of the impact; v⁺ is what the law makes of it, plus the scheme's own
//!   deviation from the law; the impulses are those of that jump, M(v⁺ − v⁻) = Σ P ∇f.
//! - A landing so slow that the next flight would last less than about six steps is no impact at this step size: it
//!   begins (or belongs to) a contact. This is how a run passes the end of an accumulation of impacts.

use crate::Problem;
use crate::contact::ImpactLaw;
use crate::impacts::{Impacts, Measured};
use crate::linalg::{Metric, Rows};
use crate::problem::{Dynamics, Gaps};
use crate::scheme::{Node, Stepping};
use crate::trajectory::Contact;

/// A landing slower than this many steps' worth of normal acceleration is a contact, not an impact.
const SLOW: f64 = 3.0;

/// In a lasting contact, an impulse this many times the one before is an impact.
const SUDDEN: f64 = 10.0;

/// A window is at most this many times as long as one impact takes: what goes on longer is told as several.
const LONGEST: u64 = 4;

/// Watches the nodes of a run go by and keeps its books of impacts and contacts.
pub(crate) struct Watch<'p> {
    problem: &'p Problem,
    scheme: &'static Stepping,
    h: f64,
    gaps: Gaps,
    dynamics: Dynamics,
    metric: Metric,
    law: ImpactLaw,
    rows: Rows,
    walls: Vec<f64>,
    restitution: Vec<f64>,
    /// Constraints that are active in the impact, and those of them that act in it (see `close`).
    active: Vec<usize>,
    acted: Vec<usize>,
    /// Which coupled set an acting constraint belongs to.
    label: Vec<usize>,
    together: Together,
    /// Impulses that the law gives where it is judged.
    lawful: Vec<f64>,
    /// Impulse of each constraint in the step before; zero if it was not in contact.
    before: Vec<f64>,
    touched: Vec<bool>,
    /// Whether any constraint is touched.
    in_contact: bool,
    episodes: Vec<Episode>,
    window: Window,
    v_before: Vec<f64>,
    v_after: Vec<f64>,
    v_law: Vec<f64>,
    reaction: Vec<f64>,
    /// Landings too slow to be impacts at this step size.
    pub landings: u64,
}

/// Buffers for impacts that fall together without being coupled.
#[derive(Default)]
struct Together {
    acted: Vec<usize>,
    q: Vec<f64>,
    left: Vec<usize>,
    jump: Vec<f64>,
}

/// A constraint's current run of contact steps.
#[derive(Clone, Copy, Default)]
struct Episode {
    /// Whether it went on after the impact.
    lasting: bool,
    start: f64,
    steps: u64,
    impulse: f64,
}

/// The contact steps of an impact in progress.
#[derive(Default)]
struct Window {
    open: bool,
    first: u64,
    last: u64,
    t: f64,
    q: Vec<f64>,
    v_left: Vec<f64>,
    acceleration: Vec<f64>,
    impulses: Vec<f64>,
    before: Vec<f64>,
    /// The last node so far, and the velocity and acceleration after it.
    end: u64,
    /// The largest impulse of a step so far, and for how many steps it has been the weight alone.
    peak: f64,
    calm: u64,
    v_right: Vec<f64>,
    end_acceleration: Vec<f64>,
}

impl<'p> Watch<'p> {
    pub fn new(problem: &'p Problem, scheme: &'static Stepping, h: f64) -> Self {
        let (d, m) = (problem.dimension(), problem.constraints());
        let dynamics = problem.dynamics();
        let zero = || vec![0.0; d];
        let mut gaps = problem.gaps();
        gaps.linearise(0.0, &problem.model().q0);
        // A constraint that is closed at the start is in contact, not hit.
        let touched: Vec<bool> = (0..m).map(|a| gaps.values[a] <= gaps.rounding(a, &problem.model().q0)).collect();
        Watch {
            problem,
            scheme,
            h,
            gaps,
            metric: dynamics.metric(),
            dynamics,
            law: ImpactLaw::new(d, m),
            rows: Rows::new(),
            walls: vec![0.0; m],
            restitution: vec![0.0; m],
            active: Vec::with_capacity(m),
            acted: Vec::with_capacity(m),
            label: vec![0; m],
            together: Together { acted: Vec::with_capacity(m), q: zero(), left: Vec::with_capacity(m), jump: zero() },
            lawful: vec![0.0; m],
            before: vec![0.0; m],
            in_contact: touched.contains(&true),
            touched,
            episodes: vec![Episode::default(); m],
            window: Window {
                q: zero(),
                v_left: zero(),
                acceleration: zero(),
                v_right: zero(),
                end_acceleration: zero(),
                impulses: vec![0.0; m],
                before: vec![0.0; m],
                ..Window::default()
            },
            v_before: zero(),
            v_after: zero(),
            v_law: zero(),
            reaction: zero(),
            landings: 0,
        }
    }

    /// Takes note of a node. True if it belongs to an impact: its two velocities are then both worth keeping.
    pub fn note(&mut self, node: &Node, impacts: &mut Impacts, contacts: &mut Vec<Contact>) -> bool {
        // Free flight, the common case: nothing in contact now or in the step before, nothing in progress.
        if !node.contact && !self.window.open && !self.in_contact {
            return false;
        }
        self.in_contact = node.contact || (node.index == 0 && self.in_contact);
        let fresh = (0..node.impulses.len()).any(|a| self.is_fresh(node, a));
        if self.window.open && self.is_over(node, fresh) {
            self.close(Some(node), impacts);
        }
        if fresh {
            if !self.window.open {
                self.open(node);
            }
            self.window.last = self.scheme.contact_steps.map_or(u64::MAX, |steps| node.index + steps - 1);
        }
        let belongs = self.window.open;
        if belongs {
            let w = &mut self.window;
            w.impulses.iter_mut().zip(&node.impulses).for_each(|(sum, impulse)| *sum += impulse);
            w.end = node.index;
            w.v_right.copy_from_slice(&node.v_right);
            w.end_acceleration.copy_from_slice(&node.acceleration);
        }
        for a in 0..node.impulses.len() {
            let impulse = node.impulses[a];
            if impulse > 0.0 {
                let episode = &mut self.episodes[a];
                if episode.steps == 0 {
                    *episode = Episode { start: node.t, ..Episode::default() };
                }
                episode.steps += 1;
                episode.impulse += impulse;
                episode.lasting |= !belongs;
            } else if self.episodes[a].steps > 0 {
                self.leave(a, node.t, contacts);
            }
            // At the start a closed constraint is in contact, whether or not a scheme has an impulse for it yet.
            self.touched[a] = impulse > 0.0 || (node.index == 0 && self.touched[a]);
            self.before[a] = impulse;
        }
        belongs
    }

    /// Closes what is open at the end of a run. False if an impact was in progress: what comes after it is not known.
    pub fn finish(&mut self, node: &Node, impacts: &mut Impacts, contacts: &mut Vec<Contact>) -> bool {
        let complete = !self.window.open || self.window.end >= self.window.last;
        if self.window.open && complete {
            self.close(None, impacts);
        }
        for a in 0..self.episodes.len() {
            if self.episodes[a].steps > 0 {
                self.leave(a, node.t, contacts);
            }
        }
        complete
    }

    /// Whether constraint `a` is hit at this node: an impulse out of nothing, or far above that of a lasting contact.
    fn is_fresh(&self, node: &Node, a: usize) -> bool {
        let usual = if self.touched[a] { SUDDEN * self.before[a] } else { 0.0 };
        // A constraint closed from the start has no usual impulse yet.
        let closed = self.touched[a] && self.before[a] == 0.0;
        node.impulses[a] > usual && !closed && !(self.window.open && self.touched[a])
    }

    /// Whether the impact in progress was complete before this node.
    fn is_over(&mut self, node: &Node, fresh: bool) -> bool {
        let Some(steps) = self.scheme.contact_steps else { return !node.contact || self.is_spent(node) };
        if node.index >= self.window.first + LONGEST * steps {
            return true;
        }
        if node.index <= self.window.last || fresh {
            return false;
        }
        // An impulse that no force explains still belongs to it: two impacts within a step of each other echo.
        let echo = node.contact
            && (0..node.impulses.len()).any(|a| {
                let weight = if node.impulses[a] > 0.0 { self.weight(node, a) } else { 0.0 };
                node.impulses[a] > 2.0 * weight + 1e-3 * self.window.impulses[a] && self.window.before[a] == 0.0
            });
        if echo {
            self.window.last = node.index;
        }
        !echo
    }

    /// A compliant contact goes on after its impact where the forces press: past its peak, with no more than their weight.
    fn is_spent(&mut self, node: &Node) -> bool {
        let now: f64 = node.impulses.iter().sum();
        self.window.peak = self.window.peak.max(now);
        if now > 0.5 * self.window.peak {
            return false;
        }
        let acting = |a: &usize| node.impulses[*a] != 0.0;
        let mut still = true;
        for a in (0..node.impulses.len()).filter(acting) {
            let weight = self.weight(node, a);
            still &= (node.impulses[a] - weight).abs() <= 0.1 * weight;
        }
        // A contact that is about to open passes through that, too; one that lasts stays there.
        self.window.calm = if still { self.window.calm + 1 } else { 0 };
        self.window.calm > 10 + (node.index - self.window.first) / 2
    }

    /// The impulse a step of the forces presses out of constraint `a` alone.
    fn weight(&mut self, node: &Node, a: usize) -> f64 {
        self.dynamics.evaluate(node.t, &node.q, &node.v_left);
        self.gaps.kinematics(node.t, &node.q);
        if self.metric.set(&self.dynamics.mass).is_err() {
            return f64::INFINITY;
        }
        self.reaction.fill(0.0);
        self.gaps.gradients.add_to(a, 1.0, &mut self.reaction);
        self.metric.solve(&mut self.reaction);
        let compliance = self.gaps.gradients.dot(a, &self.reaction);
        self.h * (-self.gaps.gradients.dot(a, &node.acceleration)).max(0.0) / compliance
    }

    /// A constraint leaves contact: an interval worth telling lasts longer than an impact and its echo.
    fn leave(&mut self, a: usize, t: f64, contacts: &mut Vec<Contact>) {
        let episode = std::mem::take(&mut self.episodes[a]);
        // (With a compliant scheme: one that outlasts the impact.)
        if self.scheme.contact_steps.map_or(episode.lasting, |steps| episode.steps > steps + 1) {
            let Episode { start, impulse, .. } = episode;
            contacts.push(Contact { constraint: a, start, end: t, impulse });
        }
    }

    fn open(&mut self, node: &Node) {
        let w = &mut self.window;
        w.open = true;
        w.first = node.index;
        w.t = node.t;
        w.q.copy_from_slice(&node.q);
        w.v_left.copy_from_slice(&node.v_left);
        w.acceleration.copy_from_slice(&node.acceleration);
        w.impulses.fill(0.0);
        w.peak = 0.0;
        w.calm = 0;
        // What went on before is a lasting contact only if it is longer than an impact.
        let usual = self.scheme.contact_steps.map_or(1, |steps| steps + 1);
        for a in 0..w.before.len() {
            w.before[a] = if self.episodes[a].steps > usual { self.before[a] } else { 0.0 };
        }
        // The incoming motion has not yet moved with the velocity after.
        for i in 0..w.q.len() {
            w.q[i] -= self.scheme.carried * self.h * (node.v_right[i] - node.v_left[i]);
        }
    }

    /// The impact is complete; `next` is the node after it, which shows the contacts that last.
    fn close(&mut self, next: Option<&Node>, impacts: &mut Impacts) {
        self.window.open = false;
        let steps = (self.window.end - self.window.first + 1) as f64;
        self.smooth(next);
        // A constraint that was in contact all along is active, but acts in the impact only with what it gets beyond its
        // usual share.
        self.active.clear();
        self.acted.clear();
        for a in 0..self.before.len() {
            if !(self.window.impulses[a] > 0.0) {
                continue;
            }
            self.active.push(a);
            let usual = steps * self.window.before[a];
            self.window.impulses[a] -= usual;
            if self.window.impulses[a] > 0.5 * usual {
                self.acted.push(a);
            }
        }
        let sets = self.label_sets();
        let times = (0..sets).map(|set| self.meeting(&self.acted, set));
        let (first, last) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
        // At the very same instant (a right-angled corner) they are one impact all the same.
        if sets <= 1 || last - first <= 0.01 * self.h {
            self.tell(steps, None, impacts);
            return;
        }
        // Impacts of constraints that are not coupled happen to fall together: each is told on its own, in their order.
        // (Buffers are lent out and given back: nothing is allocated.)
        let mut all = std::mem::take(&mut self.together);
        all.acted.clone_from(&self.acted);
        all.q.clone_from(&self.window.q);
        all.left.clear();
        all.left.extend(0..sets);
        let Together { acted, q, left, jump } = &mut all;
        while !left.is_empty() {
            let first =
                (0..left.len()).min_by(|&i, &j| self.meeting(acted, left[i]).total_cmp(&self.meeting(acted, left[j])));
            let set = left.remove(first.unwrap_or(0));
            self.acted.clear();
            self.acted.extend(acted.iter().copied().filter(|&a| self.label[a] == set));
            self.active.clone_from(&self.acted);
            self.reaction.fill(0.0);
            for &a in &self.acted {
                self.gaps.gradients.add_to(a, self.window.impulses[a], &mut self.reaction);
            }
            self.metric.solve(&mut self.reaction);
            jump.clone_from(&self.reaction);
            self.tell(steps, Some(jump), impacts);
            self.window.q.copy_from_slice(q);
            self.window.v_left.iter_mut().zip(&*jump).for_each(|(v, j)| *v += j);
            self.dynamics.evaluate(self.window.t, &self.window.q, &self.window.v_left);
            self.gaps.evaluate(self.window.t, &self.window.q);
            self.gaps.kinematics(self.window.t, &self.window.q);
        }
        self.together = all;
    }

    /// Gives the acting constraints labels, one for each set that is coupled through ∇f·M⁻¹∇f; returns how many there are.
    fn label_sets(&mut self) -> usize {
        if self.acted.len() < 2 {
            return self.acted.len();
        }
        self.dynamics.evaluate(self.window.t, &self.window.q, &self.window.v_left);
        self.gaps.evaluate(self.window.t, &self.window.q);
        self.gaps.kinematics(self.window.t, &self.window.q);
        if self.metric.set(&self.dynamics.mass).is_err() {
            return 1;
        }
        self.acted.iter().enumerate().for_each(|(k, &a)| self.label[a] = k);
        for i in 0..self.acted.len() {
            let a = self.acted[i];
            self.reaction.fill(0.0);
            self.gaps.gradients.add_to(a, 1.0, &mut self.reaction);
            self.metric.solve(&mut self.reaction);
            let own = self.gaps.gradients.dot(a, &self.reaction);
            for &b in &self.acted {
                let (keep, merge) = (self.label[a].min(self.label[b]), self.label[a].max(self.label[b]));
                if keep != merge && self.gaps.gradients.dot(b, &self.reaction).abs() > 1e-12 * own {
                    self.acted.iter().for_each(|&c| {
                        if self.label[c] == merge {
                            self.label[c] = keep
                        }
                    });
                }
            }
        }
        // Number them without holes.
        let mut sets = 0;
        for k in 0..self.acted.len() {
            if self.acted.iter().any(|&a| self.label[a] == k) {
                self.acted.iter().for_each(|&a| {
                    if self.label[a] == k {
                        self.label[a] = sets
                    }
                });
                sets += 1;
            }
        }
        sets
    }

    /// When the incoming motion meets a set of constraints, after the first node of the window.
    fn meeting(&self, acted: &[usize], set: usize) -> f64 {
        let times = acted.iter().filter(|&&a| self.label[a] == set).filter_map(|&a| {
            let speed = self.gaps.walls[a] + self.gaps.gradients.dot(a, &self.window.v_left);
            (speed < 0.0).then(|| -self.gaps.values[a] / speed)
        });
        times.fold(f64::INFINITY, f64::min)
    }

    /// Tells the impact of the acting constraints; `jump` is theirs alone where others act in the same window.
    fn tell(&mut self, steps: f64, jump: Option<&[f64]>, impacts: &mut Impacts) {
        let model = self.problem.model();
        // The law acts at the instant the scheme declares, for the restitution of the strongest constraint; a window
        // longer than usual has its middle later.
        let strongest =
            self.acted.iter().copied().max_by(|&a, &b| self.window.impulses[a].total_cmp(&self.window.impulses[b]));
        let Some(strongest) = strongest else { return };
        let e = model.constraints[strongest].restitution;
        let usual = self.scheme.contact_steps.map_or(steps, |n| n as f64);
        let extra = 0.5 * (steps - usual).max(0.0);
        let delay = ((self.scheme.impact_instant)(e) + extra) * self.h;
        // A compliant contact is a motion of its own: its velocities are those where it begins and ends.
        let rest = if self.scheme.contact_steps.is_some() { (steps - 1.0) * self.h - delay } else { 0.0 };
        for i in 0..self.v_before.len() {
            self.v_before[i] = self.window.v_left[i] + delay * self.window.acceleration[i];
            self.v_after[i] = match jump {
                Some(jump) => self.v_before[i] + jump[i],
                None => self.window.v_right[i] - rest * self.window.end_acceleration[i],
            };
        }
        // Incoming motion: where it meets the first constraint, and how fast it approaches.
        self.gaps.evaluate(self.window.t, &self.window.q);
        self.gaps.kinematics(self.window.t, &self.window.q);
        let (mut meeting, mut slow) = (f64::INFINITY, true);
        for &a in &self.acted {
            let g = &self.gaps;
            let speed = g.walls[a] + g.gradients.dot(a, &self.window.v_left);
            if speed < 0.0 {
                meeting = meeting.min(-g.values[a] / speed);
            }
            // Only an acceleration towards the constraint brings the motion back to it.
            let normal = (-g.gradients.dot(a, &self.window.acceleration)).max(0.0);
            let closing = g.walls[a] + g.gradients.dot(a, &self.v_before);
            // Rounding in positions, divided by the step, is no approach either.
            let size = g.walls[a].abs() + g.gradients.dot_abs(a, &self.v_before);
            let rounding = 1e-9 * size + 16.0 * f64::EPSILON / self.h * g.gradients.dot_abs(a, &self.window.q);
            slow &= closing > -(SLOW * self.h * normal + rounding);
        }
        if slow {
            self.landings += 1;
            return;
        }
        let latest = delay.max((steps - 1.0) * self.h) + self.h;
        let meeting = if meeting.is_finite() { meeting.clamp(-2.0 * self.h, latest) } else { delay };
        for i in 0..self.window.q.len() {
            self.window.q[i] += meeting * self.window.v_left[i];
        }
        let t = self.window.t + meeting;
        if jump.is_none() {
            self.join(t);
        }
        let (energy_change, residual, speed) = self.judge(t, meeting - delay);
        let first = self.acted.iter().map(|&a| self.gaps.walls[a] + self.gaps.gradients.dot(a, &self.v_before));
        let approach = first.fold(f64::INFINITY, f64::min);
        let impulses = self.acted.iter().map(|&a| (a, self.window.impulses[a]));
        let impact = Measured { t, energy_change, residual, speed, approach };
        impacts.push(&impact, &self.window.q, &self.v_before, &self.v_after, impulses);
    }

    /// Adds the reactions of contacts that last to the accelerations before and after the window, and to the limits of
    /// the velocity that the scheme made without them.
    fn smooth(&mut self, next: Option<&Node>) {
        let lasting = next.map(|n| &n.impulses[..]);
        if self.window.before.iter().all(|&p| p == 0.0) {
            return;
        }
        self.dynamics.evaluate(self.window.t, &self.window.q, &self.window.v_left);
        self.gaps.kinematics(self.window.t, &self.window.q);
        if self.metric.set(&self.dynamics.mass).is_err() {
            return;
        }
        let (left, right) = if self.scheme.staggered { (0.5, 0.5) } else { (1.0, 0.0) };
        for (impulses, is_before) in [(Some(&self.window.before[..]), true), (lasting, false)] {
            let Some(impulses) = impulses else { continue };
            self.reaction.fill(0.0);
            for (a, &p) in impulses.iter().enumerate() {
                // Only contacts that lasted from before to after; one that begins here is part of the impact.
                if p > 0.0 && self.window.before[a] > 0.0 {
                    self.gaps.gradients.add_to(a, p, &mut self.reaction);
                }
            }
            self.metric.solve(&mut self.reaction);
            for i in 0..self.reaction.len() {
                if is_before {
                    self.window.v_left[i] += left * self.reaction[i];
                    self.window.acceleration[i] += self.reaction[i] / self.h;
                } else {
                    self.window.v_right[i] -= right * self.reaction[i];
                    self.window.end_acceleration[i] += self.reaction[i] / self.h;
                }
            }
        }
    }

    /// A constraint that is reached in the same instant and still closing is active too, even if the scheme gave it no
    /// impulse: the law is about all of them.
    fn join(&mut self, t: f64) {
        self.gaps.evaluate(t, &self.window.q);
        self.gaps.kinematics(t, &self.window.q);
        for a in 0..self.before.len() {
            let closing = self.gaps.walls[a] + self.gaps.gradients.dot(a, &self.v_before);
            let reached = self.gaps.values[a] <= -0.5 * self.h * closing;
            if closing < 0.0 && reached && !self.active.contains(&a) {
                self.active.push(a);
            }
        }
    }

    /// Change of kinetic energy, distance from the law, and speed, at the impact's position and instant. On return the
    /// velocities are those at the instant of the impact, `shift` after the one where the law was judged.
    fn judge(&mut self, t: f64, shift: f64) -> (f64, f64, f64) {
        let q = &self.window.q;
        self.dynamics.evaluate(t, q, &self.v_before);
        self.gaps.kinematics(t, q);
        if self.metric.set(&self.dynamics.mass).is_err() {
            return (f64::NAN, f64::NAN, f64::NAN);
        }
        self.rows.clear();
        for (k, &a) in self.active.iter().enumerate() {
            self.rows.push_row_of(&self.gaps.gradients, a);
            self.walls[k] = self.gaps.walls[a];
            self.restitution[k] = self.problem.model().constraints[a].restitution;
        }
        let speed = self.metric.norm_squared(&self.v_before).max(self.metric.norm_squared(&self.v_after)).sqrt();
        self.v_law.copy_from_slice(&self.v_before);
        let law = self.law.apply(&self.metric, &self.rows, &self.walls, &self.restitution, &mut self.v_law);
        let n = self.active.len();
        self.lawful[..n].copy_from_slice(&self.law.impulses()[..n]);
        // The deviation v⁺ − law(v⁻).
        for (law, v) in self.v_law.iter_mut().zip(&self.v_after) {
            *law = v - *law;
        }
        let off = self.metric.norm_squared(&self.v_law).sqrt();
        let residual = if law.is_ok() { off / speed.max(f64::MIN_POSITIVE) } else { f64::NAN };
        for (v, a) in self.v_before.iter_mut().zip(&self.window.acceleration) {
            *v += shift * a;
        }
        self.v_after.copy_from_slice(&self.v_before);
        let law = self.law.apply(&self.metric, &self.rows, &self.walls, &self.restitution, &mut self.v_after);
        for (v, deviation) in self.v_after.iter_mut().zip(&self.v_law) {
            *v += deviation;
        }
        // The impulses move along, so that M(v⁺ − v⁻) = Σ P ∇f: what the constraints did against the forces during the
        // window is no part of the impact.
        for (k, &a) in self.active.iter().enumerate() {
            let change = self.law.impulses()[k] - self.lawful[k];
            self.window.impulses[a] = (self.window.impulses[a] + change).max(0.0);
        }
        let change = self.metric.norm_squared(&self.v_after) - self.metric.norm_squared(&self.v_before);
        (0.5 * change, if law.is_ok() { residual } else { f64::NAN }, speed)
    }
}
