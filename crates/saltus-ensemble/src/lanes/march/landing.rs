//! The impacts of one constraint that acts alone, from the nodes of a scheme: what [`ImpactFinder`] does, for gaps and forces that are
//! linear.
//!
//! A window is the contact steps of an impact; everything about it is plain arithmetic in the direction of one gap. Where a second
//! constraint takes part the finder goes on ([`Landing::underway`]).

use super::super::linear::{Linear, Row};
use super::dot;
use saltus::scheme::{Node, Stepping};
use saltus::{ImpactFinder, Underway};

/// A constraint that is approached more slowly than this part of the speeds it is made of is not approached; and positions are rounded.
pub const STILL: f64 = 1e-9;
const ROUNDED: f64 = 16.0 * f64::EPSILON;

/// Follows a constraint while it acts.
#[derive(Clone, Debug)]
pub struct Landing {
    scheme: Stepping,
    /// How many steps an impact takes.
    usual: u64,
    h: f64,
    at: Underway,
}

/// An impact that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landed {
    pub constraint: usize,
    pub t: f64,
    /// How fast the gap closes, and the impulse.
    pub approach: f64,
    pub impulse: f64,
    /// The speed in units of the root of an energy, and the distance from the law relative to it.
    pub speed: f64,
    pub residual: f64,
}

/// A second constraint takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPlain;

impl Landing {
    /// For steps of length h in d coordinates; None for a scheme whose impacts take as long as the contact.
    pub fn new(scheme: &Stepping, h: f64, d: usize) -> Option<Self> {
        let zero = || vec![0.0; d];
        let at = Underway {
            q: zero(),
            v_left: zero(),
            acceleration: zero(),
            v_right: zero(),
            end_acceleration: zero(),
            ..Underway::default()
        };
        Some(Landing { scheme: *scheme, usual: scheme.contact_steps?, h, at })
    }

    /// Whether nothing is in contact and no impact in progress.
    pub fn is_idle(&self) -> bool {
        !self.at.is_open && !(self.at.impulse > 0.0)
    }

    /// The contact as it is, for one who goes on with it.
    pub fn underway(&self) -> &Underway {
        &self.at
    }

    /// Forgets the contact.
    pub fn clear(&mut self) {
        (self.at.is_open, self.at.impulse, self.at.steps) = (false, 0.0, 0);
    }

    /// An impulse out of nothing, or far above that of a lasting contact.
    fn is_fresh(&self, impulse: f64) -> bool {
        let joins = self.at.is_open && self.at.impulse > 0.0;
        impulse > ImpactFinder::SUDDEN * self.at.impulse && !joins
    }

    /// Whether the contact of the nodes so far would last at one where a constraint acts with an impulse.
    pub fn would_last(&self, acts: Option<(usize, f64)>) -> bool {
        let holds = |(a, impulse): (usize, f64)| a == self.at.constraint && !self.is_fresh(impulse);
        self.at.impulse > 0.0 && !self.at.is_open && acts.is_some_and(holds)
    }

    /// Takes in a node at which a constraint acts, or none; the impact that is complete with it. Where it is not plain, nothing changes.
    pub fn note(
        &mut self,
        linear: &Linear,
        node: &Node,
        acts: Option<(usize, f64)>,
    ) -> Result<Option<Landed>, NotPlain> {
        if self.is_idle() {
            let Some((a, _)) = acts else { return Ok(None) };
            (self.at.constraint, self.at.steps) = (a, 0);
        }
        if acts.is_some_and(|(a, _)| a != self.at.constraint) {
            return Err(NotPlain);
        }
        let impulse = acts.map_or(0.0, |(_, impulse)| impulse);
        let is_fresh = self.is_fresh(impulse);
        let mut found = None;
        if self.at.is_open && self.is_over(linear, node, impulse, is_fresh) {
            found = self.close(linear, impulse)?;
            self.at.is_open = false;
        }
        if is_fresh {
            if !self.at.is_open {
                self.open(node);
            }
            self.at.last = node.index + self.usual - 1;
        }
        let at = &mut self.at;
        if at.is_open {
            at.sum += impulse;
            at.end = node.index;
            at.v_right.copy_from_slice(&node.v_right);
            at.end_acceleration.copy_from_slice(&node.acceleration);
        }
        at.steps = if impulse > 0.0 { at.steps + 1 } else { 0 };
        at.impulse = impulse;
        Ok(found)
    }

    /// Closes an impact that is complete at the last node.
    pub fn finish(&mut self, linear: &Linear) -> Result<Option<Landed>, NotPlain> {
        let found = if self.at.is_open && self.at.end >= self.at.last { self.close(linear, 0.0)? } else { None };
        self.clear();
        Ok(found)
    }

    fn open(&mut self, node: &Node) {
        let at = &mut self.at;
        (at.is_open, at.first, at.t, at.sum) = (true, node.index, node.t, 0.0);
        // What went on before is a lasting contact only if it is longer than an impact.
        at.before = if at.steps > self.usual + 1 { at.impulse } else { 0.0 };
        at.v_left.copy_from_slice(&node.v_left);
        at.acceleration.copy_from_slice(&node.acceleration);
        // The incoming motion has not yet moved with the velocity after.
        for i in 0..at.q.len() {
            at.q[i] = node.q[i] - self.scheme.carried * self.h * (node.v_right[i] - node.v_left[i]);
        }
    }

    /// Whether the impact in progress was complete before this node.
    fn is_over(&mut self, linear: &Linear, node: &Node, impulse: f64, is_fresh: bool) -> bool {
        let at = &mut self.at;
        if node.index >= at.first + ImpactFinder::LONGEST * self.usual {
            return true;
        }
        if node.index <= at.last || is_fresh {
            return false;
        }
        // An impulse that no force explains still belongs to it: two impacts within a step of each other echo.
        let (row, compliance) = (&linear.gaps[at.constraint], linear.compliances[at.constraint]);
        let weight = self.h * (-dot(row, &node.acceleration)).max(0.0) / compliance;
        let echoes = impulse > 2.0 * weight + 1e-3 * at.sum && at.before == 0.0;
        if echoes {
            at.last = node.index;
        }
        !echoes
    }

    /// The impact of the window, if it is one; `next`: the impulse of the step that follows.
    fn close(&self, linear: &Linear, next: f64) -> Result<Option<Landed>, NotPlain> {
        let (at, h, a) = (&self.at, self.h, self.at.constraint);
        let (row, compliance, e) = (&linear.gaps[a], linear.compliances[a], linear.restitutions[a]);
        let steps = (at.end - at.first + 1) as f64;
        // What a lasting contact does all along is no part of the impact, but of the motion before and after.
        let lasting = at.before * compliance;
        let after = if at.before > 0.0 { next * compliance } else { 0.0 };
        let (left, right) = if self.scheme.staggered { (0.5, 0.5) } else { (1.0, 0.0) };
        let usual = steps * at.before;
        let impulse = at.sum - usual;
        if !(impulse > 0.5 * usual) {
            return Ok(None);
        }
        // Along the gap: velocity and acceleration before, and after.
        let v_left = dot(row, &at.v_left) + left * lasting;
        let acceleration = dot(row, &at.acceleration) + lasting / h;
        let v_right = dot(row, &at.v_right) - right * after;
        let end_acceleration = dot(row, &at.end_acceleration) + after / h;
        // The law acts at the instant that the scheme declares; a window longer than usual has its middle later.
        let extra = 0.5 * (steps - self.usual as f64).max(0.0);
        let delay = ((self.scheme.impact_instant)(e) + extra) * h;
        let [place, moves] = wall_at(linear, row, at.t);
        let rate = moves + v_left;
        let meeting = if rate < 0.0 { -(dot(row, &at.q) + place) / rate } else { f64::INFINITY };
        let before = v_left + delay * acceleration;
        let behind = v_right - ((steps - 1.0) * h - delay) * end_acceleration;
        // So slow that this is a contact?
        let reaction = |i: usize| linear.pulls[a][i] * at.before;
        let at_law = |i: usize| {
            let v = at.v_left[i] + left * reaction(i);
            v + delay * (at.acceleration[i] + reaction(i) / h)
        };
        let d = at.q.len();
        let size = moves.abs() + (0..d).map(|i| (row[i] * at_law(i)).abs()).sum::<f64>();
        let rounding = STILL * size + ROUNDED / h * (0..d).map(|i| (row[i] * at.q[i]).abs()).sum::<f64>();
        if moves + before > -(ImpactFinder::SLOW * h * (-acceleration).max(0.0) + rounding) {
            return Ok(None);
        }
        let latest = delay.max((steps - 1.0) * h) + h;
        let meeting = if meeting.is_finite() { meeting.clamp(-2.0 * h, latest) } else { delay };
        let t = at.t + meeting;
        for b in (0..linear.gaps.len()).filter(|&b| b != a) {
            let row = &linear.gaps[b];
            let [place, moves] = wall_at(linear, row, t);
            let there = |i: usize| row[i] * (at.q[i] + meeting * (at.v_left[i] + left * reaction(i)));
            let closing = moves + (0..d).map(|i| row[i] * at_law(i)).sum::<f64>();
            let value = place + (0..d).map(there).sum::<f64>();
            // Reached in the same instant and still closing: the law is about both.
            if closing < 0.0 && value <= -0.5 * h * closing {
                return Err(NotPlain);
            }
        }
        let [_, moves] = wall_at(linear, row, t);
        let root = compliance.sqrt();
        let speed = (moves + before).abs().max((moves + behind).abs()) / root;
        let lawful = |v: f64| (-(1.0 + e) * (moves + v) / compliance).max(0.0);
        let off = behind - (before + lawful(before) * compliance);
        // At the instant of the impact the law gives what it gives there, and the scheme is as far from it as it was.
        let there = before + (meeting - delay) * acceleration;
        let impulse = (impulse + lawful(there) - lawful(before)).max(0.0);
        let residual = off.abs() / root / speed.max(f64::MIN_POSITIVE);
        Ok(Some(Landed { constraint: a, t, approach: -moves - there, impulse, speed, residual }))
    }
}

/// What a gap has without its coordinates at a time, and its rate.
fn wall_at(linear: &Linear, row: &Row, t: f64) -> [f64; 2] {
    let d = linear.accelerations.len();
    let (mut place, mut moves) = (row[2 * d], 0.0);
    for (j, &[phase, rate]) in linear.phases.iter().enumerate() {
        let (c, s) = (row[2 * d + 1 + 2 * j], row[2 * d + 2 + 2 * j]);
        if c != 0.0 || s != 0.0 {
            let (sin, cos) = (phase + rate * t).sin_cos();
            place += c * cos + s * sin;
            moves += rate * (s * cos - c * sin);
        }
    }
    [place, moves]
}

#[cfg(test)]
#[path = "landing_tests.rs"]
mod tests;
