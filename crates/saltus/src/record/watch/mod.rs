//! From contact steps to impacts and contacts.
//!
//! A scheme spreads the impulse of one impact over a few steps (two for Paoli–Schatzman). Here those steps become one
//! impact again, with its instant, its constraints, the velocities on both sides, and its distance from the law.
//!
//! - A window opens when a constraint gets an impulse that it did not have in the step before (or one many times larger); it
//!   lasts the scheme's number of contact steps, longer if further constraints join in or impulses continue that no force
//!   explains.
//! - The instant is where the incoming motion meets the constraint.
//! - The law is evaluated where the scheme applies it: the velocities before and after the window, each carried to the
//!   instant the scheme declares by the acceleration of the smooth motion there (forces, and reactions of contacts that
//!   last). What those did during the window is thereby not mistaken for the impact.
//! - v⁻ is the incoming velocity at the instant of the impact; v⁺ is what the law makes of it, plus the scheme's own
//!   deviation from the law; the impulses are those of that jump.
//! - A landing so slow that the next flight would last less than about six steps is no impact at this step size: it
//!   begins (or belongs to) a contact. This is how a run passes the end of an accumulation of impacts. In a structure, whose
//!   forces come and go, every landing that begins a touch is an impact.
//! - A stop that is a spring has no impacts: its contacts have forces.
//!
//! All of this happens in gap space, with observed velocities: U⁺ = U⁻ + D P, v⁺ = v⁻ + R P.

mod bonded;
mod impact;
mod resume;
mod window;

pub use self::resume::Underway;

use self::bonded::Bonded;
pub(super) use self::window::LONGEST;
use super::gauge::Gauge;
use super::recorder::Recorder;
use crate::linalg::{Rows, add};
use crate::motion::{Contact, Slide, Touch};
use crate::project::Polyhedron;
use crate::scheme::Stepping;
use crate::stepping::Node;

/// A landing slower than this many steps' worth of normal acceleration is a contact, not an impact.
pub(super) const SLOW: f64 = 3.0;

/// For structures, whose forces come and go within few steps, only where the flight before it was this short, in steps.
const SHORT: u64 = 1;

/// In a lasting contact, an impulse this many times the one before is an impact.
pub(super) const SUDDEN: f64 = 10.0;

/// Watches the nodes of a run and finds its impacts and contacts.
pub(crate) struct Watch {
    gauge: Gauge,
    scheme: Stepping,
    h: f64,
    kernel: Polyhedron,
    /// D of the active constraints, and its unit rows.
    delassus: Vec<f64>,
    units: Rows,
    slacks: Vec<f64>,
    /// Constraints that are active in the impact, and those of them that act in it (see `close`).
    active: Vec<usize>,
    acted: Vec<usize>,
    /// Which coupled set an acting constraint belongs to.
    label: Vec<usize>,
    together: Together,
    /// Impulses that the law gives where it is evaluated.
    lawful: Vec<f64>,
    /// Impulse of each constraint in the step before; zero if it was not in contact.
    before: Vec<f64>,
    touched: Vec<bool>,
    /// The last node at which each constraint was in contact; the first node counts.
    seen: Vec<u64>,
    /// Whether any constraint is touched.
    in_contact: bool,
    episodes: Vec<Episode>,
    window: Window,
    v_before: Vec<f64>,
    v_after: Vec<f64>,
    v_law: Vec<f64>,
    response: Vec<f64>,
    reaction: Vec<f64>,
    /// For each constraint, what slides along it; touches are recorded where this is given.
    slides: Option<Vec<Slide>>,
    /// Where there are joints or friction: the law with them.
    bonded: Option<Box<Bonded>>,
    /// Impulses of joints and slips in the step before.
    before_others: Vec<f64>,
    /// Where there are joints or friction: what the curvature of each gap adds to its acceleration at the beginning of the window.
    bent: Vec<f64>,
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
#[derive(Clone, Copy)]
struct Episode {
    /// Whether it went on after the impact.
    lasting: bool,
    steps: u64,
    /// Where the first of them is.
    start: f64,
    touch: Touch,
    /// Forces of the last two steps.
    forces: [f64; 2],
}

impl Default for Episode {
    fn default() -> Self {
        let touch = Touch::none();
        Episode { lasting: false, steps: 0, start: 0.0, touch, forces: [0.0; 2] }
    }
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
    /// The same of joints and slips.
    others: Vec<f64>,
    before_others: Vec<f64>,
    /// How many steps the constraints that are hit were open before.
    flight: Vec<u64>,
    /// The last node so far, and the velocity and acceleration after it.
    end: u64,
    /// The largest impulse of a step so far, and for how many steps it has been the weight alone.
    peak: f64,
    calm: u64,
    v_right: Vec<f64>,
    end_acceleration: Vec<f64>,
}

impl Watch {
    /// `closed`: the constraints that are in contact at the start, not hit.
    pub fn new(gauge: Gauge, d: usize, closed: &[bool], scheme: Stepping, h: f64) -> Self {
        let m = closed.len();
        let zero = || vec![0.0; d];
        let others = gauge.bonds.as_ref().map_or(0, |bonds| bonds.len());
        let mut units = Rows::new();
        (0..m).for_each(|a| units.push([(a, 1.0)]));
        Watch {
            scheme,
            h,
            kernel: Polyhedron::new(m, m),
            delassus: vec![0.0; m * m],
            units,
            slacks: vec![0.0; m],
            active: Vec::with_capacity(m),
            acted: Vec::with_capacity(m),
            label: vec![0; m],
            together: Together { acted: Vec::with_capacity(m), q: zero(), left: Vec::with_capacity(m), jump: zero() },
            lawful: vec![0.0; m],
            before: vec![0.0; m],
            in_contact: closed.contains(&true),
            touched: closed.to_vec(),
            seen: vec![0; m],
            episodes: vec![Episode::default(); m],
            window: Window {
                q: zero(),
                v_left: zero(),
                acceleration: zero(),
                v_right: zero(),
                end_acceleration: zero(),
                impulses: vec![0.0; m],
                before: vec![0.0; m],
                flight: vec![0; m],
                others: vec![0.0; others],
                before_others: vec![0.0; others],
                ..Window::default()
            },
            v_before: zero(),
            v_after: zero(),
            v_law: zero(),
            response: zero(),
            reaction: zero(),
            slides: None,
            bonded: (others > 0).then(|| Box::new(Bonded::new(m + others, d))),
            before_others: vec![0.0; others],
            bent: vec![0.0; m],
            gauge,
        }
    }

    /// Records touches as well; `slides` says what slides along each constraint.
    pub fn with_touches(mut self, slides: Vec<Slide>) -> Self {
        self.slides = Some(slides);
        self
    }

    /// Gaps of the system at observed states.
    pub fn gauge(&mut self) -> &mut Gauge {
        &mut self.gauge
    }

    /// Whether an impact is in progress.
    pub fn is_in_impact(&self) -> bool {
        self.window.open
    }

    /// Whether nothing was in contact in the step before, and nothing is in progress.
    pub fn is_idle(&self) -> bool {
        !self.window.open && !self.in_contact
    }

    /// The constraints in contact.
    pub fn closed(&self) -> Vec<usize> {
        (0..self.touched.len()).filter(|&a| self.touched[a]).collect()
    }

    /// Whether contact lasts from the step before to this node, without an impact.
    pub fn would_last(&self, node: &Node) -> bool {
        let hits = (0..node.impulses.len()).any(|a| self.is_fresh(node, a));
        self.in_contact && node.contact && !self.window.open && !hits
    }

    /// Takes in a node. True if it belongs to an impact: its two velocities are then both kept.
    pub fn note(&mut self, node: &Node, out: &mut Recorder) -> bool {
        // Free flight, the common case.
        if !node.contact && self.is_idle() {
            return false;
        }
        self.in_contact = node.contact || (node.index == 0 && self.in_contact);
        let mut fresh = (0..node.impulses.len()).any(|a| self.is_fresh(node, a));
        if self.is_complete_in_one() && self.window.open && node.index > self.window.last {
            fresh |= self.echoes(node);
        }
        if self.window.open && self.is_over(node, fresh) {
            self.close(Some(node), out);
        }
        if fresh {
            if !self.window.open {
                self.open(node);
            }
            for a in 0..node.impulses.len() {
                if node.impulses[a] > 0.0 && self.window.impulses[a] == 0.0 {
                    self.window.flight[a] = node.index - self.seen[a];
                }
            }
            self.window.last = self.scheme.contact_steps.map_or(u64::MAX, |steps| node.index + steps - 1);
        }
        let belongs = self.window.open;
        if belongs {
            let w = &mut self.window;
            w.impulses.iter_mut().zip(&node.impulses).for_each(|(sum, impulse)| *sum += impulse);
            w.others.iter_mut().zip(&node.others).for_each(|(sum, impulse)| *sum += impulse);
            w.end = node.index;
            w.v_right.copy_from_slice(&node.v_right);
            w.end_acceleration.copy_from_slice(&node.acceleration);
        }
        for a in 0..node.impulses.len() {
            let impulse = node.impulses[a];
            if impulse > 0.0 {
                self.follow(node, a, belongs, out);
            } else if self.episodes[a].steps > 0 {
                self.leave(a, node.t, out);
            }
            // At the start a closed constraint is in contact, whether or not a scheme has an impulse for it yet.
            if impulse > 0.0 {
                self.seen[a] = node.index;
            }
            self.touched[a] = impulse > 0.0 || (node.index == 0 && self.touched[a]);
            self.before[a] = impulse;
        }
        self.before_others.iter_mut().zip(&node.others).for_each(|(before, p)| *before = *p);
        belongs
    }

    /// A node at which constraint `a` acts.
    fn follow(&mut self, node: &Node, a: usize, belongs: bool, out: &mut Recorder) {
        let impulse = node.impulses[a];
        if self.episodes[a].steps == 0 {
            let mut touch = Touch { constraint: a, start: node.t, end: node.t, ..Episode::default().touch };
            if self.slides.is_some() {
                let gaps = &mut self.gauge.gaps;
                gaps.evaluate(node.t, &node.q, &node.v_left);
                gaps.kinematics(node.t, &node.q, &node.v_left);
                touch.approach = gaps.rate(a, &node.v_left);
                // At the node itself a massless degree of freedom has half of what the stop does to it; the step before has
                // none of it.
                let held = self.touched[a] && self.before[a] == 0.0;
                if held && node.index > 0 {
                    // Closed from the start, and pressed since.
                    (touch.start, touch.approach) = (node.t - self.h, 0.0);
                } else if self.scheme.staggered && node.index > 0 {
                    touch.approach -= 0.5 * self.h * gaps.gradients.dot(a, &node.acceleration);
                }
                // Where the incoming motion meets the constraint.
                if touch.approach < 0.0 {
                    touch.start += (-gaps.values[a] / touch.approach).clamp(-self.h, self.h);
                }
            }
            self.episodes[a] = Episode { start: node.t, touch, ..Episode::default() };
        }
        let episode = &mut self.episodes[a];
        episode.steps += 1;
        episode.lasting |= !belongs || self.gauge.compliant[a];
        episode.touch.impulse += impulse;
        episode.touch.end = node.t + if self.gauge.compliant[a] { self.h } else { 0.0 };
        let force = impulse / self.h;
        // (What a spring does belongs to the step that follows.)
        episode.touch.press(episode.forces, force, node.t + 0.5 * self.h, self.h);
        episode.forces = [episode.forces[1], force];
        if let Some(slide) = self.slides.as_ref().map(|slides| &slides[a]).filter(|s| s.is_some()) {
            episode.touch.wear += impulse * slide.speed(&node.q, |p| 0.5 * (node.v_left[p] + node.v_right[p]));
        }
        if self.gauge.compliant[a] {
            out.squared_forces[a] += impulse * impulse / self.h;
        }
    }

    /// Closes what is open at the end of a run. False if an impact was in progress: what comes after it is not known.
    pub fn finish(&mut self, node: &Node, out: &mut Recorder) -> bool {
        let complete = !self.window.open || self.window.end >= self.window.last;
        if self.window.open && complete {
            self.close(None, out);
        }
        for a in 0..self.episodes.len() {
            if self.episodes[a].steps > 0 {
                if self.slides.is_some() {
                    self.cut(a, node, out);
                }
                self.leave(a, node.t, out);
            }
        }
        complete
    }

    /// A contact that lasts beyond the end: what the last node has of it belongs to the step around the node, half of which, or all
    /// where it is the force of the next step, lies beyond.
    fn cut(&mut self, a: usize, node: &Node, out: &mut Recorder) {
        let compliant = self.gauge.compliant[a];
        let share = match compliant {
            true => 1.0,
            false if self.scheme.staggered && self.episodes[a].lasting && node.index > self.window.end => 0.5,
            false => 0.0,
        };
        let (beyond, touch) = (share * node.impulses[a], &mut self.episodes[a].touch);
        touch.impulse -= beyond;
        out.audit.impulses[a] -= beyond;
        if compliant {
            touch.end = touch.end.min(node.t);
            out.squared_forces[a] -= beyond * beyond / self.h;
        }
        if let Some(slide) = self.slides.as_ref().map(|slides| &slides[a]).filter(|s| s.is_some()) {
            touch.wear -= beyond * slide.speed(&node.q, |p| 0.5 * (node.v_left[p] + node.v_right[p]));
        }
    }

    /// Whether constraint `a` is hit at this node: an impulse out of nothing, or far above that of a lasting contact.
    fn is_fresh(&self, node: &Node, a: usize) -> bool {
        if self.gauge.compliant[a] {
            return false;
        }
        let usual = if self.touched[a] { SUDDEN * self.before[a] } else { 0.0 };
        // A constraint closed from the start has no usual impulse yet.
        let closed = self.touched[a] && self.before[a] == 0.0;
        let joins = self.window.open && self.touched[a] && !self.is_complete_in_one();
        node.impulses[a] > usual && !closed && !joins
    }

    /// A constraint leaves contact: an interval that is listed lasts longer than an impact and its echo.
    fn leave(&mut self, a: usize, t: f64, out: &mut Recorder) {
        let Episode { lasting, steps, start, mut touch, .. } = std::mem::take(&mut self.episodes[a]);
        let compliant = self.gauge.compliant[a];
        // (With a compliant scheme: one that outlasts the impact.)
        let lasts = match self.scheme.contact_steps {
            Some(usual) => compliant || steps > usual + 1,
            None => lasting,
        };
        if lasts {
            let (start, end) = if compliant { (touch.start, touch.end) } else { (start, t) };
            out.contact(Contact { constraint: a, start, end, impulse: touch.impulse });
        }
        if self.slides.is_some() {
            touch.end = if lasts { touch.end.max(touch.start) } else { touch.start };
            out.touches.push(touch);
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
        w.others.fill(0.0);
        w.peak = 0.0;
        w.calm = 0;
        // What went on before is a lasting contact only if it is longer than an impact.
        let usual = self.scheme.contact_steps.map_or(1, |steps| steps + 1);
        for a in 0..w.before.len() {
            w.before[a] = if self.episodes[a].steps > usual { self.before[a] } else { 0.0 };
        }
        // Friction lasts as its contact does.
        if let Some(bonds) = &self.gauge.bonds {
            w.before_others.copy_from_slice(&self.before_others);
            for k in 0..bonds.frictions.len() {
                if bonds.pressed_by(k).is_some_and(|a| w.before[a] == 0.0) {
                    w.before_others[bonds.slips(k)].fill(0.0);
                }
            }
        }
        // The incoming motion has not yet moved with the velocity after.
        for i in 0..w.q.len() {
            w.q[i] -= self.scheme.carried * self.h * (node.v_right[i] - node.v_left[i]);
        }
    }

    /// The impact is complete; `next` is the node after it, which shows the contacts that last.
    fn close(&mut self, next: Option<&Node>, out: &mut Recorder) {
        self.window.open = false;
        let steps = (self.window.end - self.window.first + 1) as f64;
        self.smooth(next);
        // A constraint that was in contact all along is active, but acts in the impact only with what it gets beyond its
        // usual share.
        self.active.clear();
        self.acted.clear();
        let is_moving = self.gauge.is_moving;
        if is_moving {
            let w = &self.window;
            self.gauge.gaps.kinematics(w.t, &w.q, &w.v_left);
        }
        for a in 0..self.before.len() {
            if !(self.window.impulses[a] > 0.0) || self.gauge.compliant[a] {
                continue;
            }
            self.active.push(a);
            let usual = steps * self.window.before[a];
            self.window.impulses[a] -= usual;
            let acts = self.window.impulses[a] > 0.5 * usual;
            if acts {
                self.acted.push(a);
            }
            if is_moving {
                // What is part of no impact that is listed is part of the contact.
                let share = usual + if acts { 0.0 } else { self.window.impulses[a] };
                out.audit.contact_work -= share * self.gauge.gaps.partial_t[a];
            }
        }
        let usual = self.window.others.iter_mut().zip(&self.window.before_others);
        usual.for_each(|(sum, before)| *sum -= steps * before);
        let sets = self.label_sets();
        let times = (0..sets).map(|set| self.meeting(&self.acted, set));
        let (first, last) = times.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), t| (a.min(t), b.max(t)));
        // At the very same instant (a right-angled corner) they are one impact all the same.
        if sets <= 1 || last - first <= 0.01 * self.h {
            self.list(steps, None, out);
            return;
        }
        // Impacts of constraints that are not coupled happen to fall together: each is listed on its own, in order.
        // (Buffers are borrowed and returned: nothing is allocated.)
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
            jump.fill(0.0);
            for &a in &self.acted {
                self.gauge.response(a, &mut self.response);
                add(jump, self.window.impulses[a], &self.response);
            }
            self.list(steps, Some(jump), out);
            self.window.q.copy_from_slice(q);
            self.window.v_left.iter_mut().zip(&*jump).for_each(|(v, j)| *v += j);
            self.evaluate_window();
        }
        self.together = all;
    }
}
