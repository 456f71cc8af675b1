//! One trajectory in its lane: its stops, its contacts, what is kept of it.

use super::Attended;
use super::rule::{Kind, Rule, wall};
use crate::lanes::glide::HUGE;
use crate::lanes::linear::{Linear, LinearCode, ROOM, Row};
use crate::lanes::tally::Tally;
use crate::{Engine, Hit, Job, Wanted};
use saltus::scheme::{Node, Scheme};
use saltus::{ImpactFinder, Options, Problem, Status};

/// An instant is that of a node if it is this close to it, in steps.
const NEAR: f64 = 1e-6;

/// A gap at the start below this part of what it is made of is closed.
const CLOSED: f64 = 1e-9;

/// The equation of the scheme may be off by this part of the velocity.
const OFF: f64 = 1e-9;

/// The law of time steps may be off by this, as in a run.
const LAW: f64 = 0.05;

/// A trajectory on its way.
pub struct Walker {
    pub number: usize,
    kind: Kind,
    scheme: Scheme,
    problem: Problem,
    pub rule: Rule,
    pub linear: Linear,
    pub h: f64,
    t0: f64,
    /// The node reached, the last one, and the next stop: its node and its time.
    pub n: u64,
    last: u64,
    target: (u64, f64),
    tally: Tally,
    finder: Option<Box<ImpactFinder>>,
    node: Node,
    /// Whether a constraint acted in the last step.
    has_acted: bool,
    /// The largest of each of q and u at stops and contacts, the deepest gap below zero, the largest residual of the equations, since the start.
    largest: [f64; ROOM],
    violation: f64,
    residual: f64,
    /// The fastest impact, and the largest deviation from the law.
    fastest: f64,
    deviation: f64,
}

impl Walker {
    /// A trajectory at its first node, and z there; None if it is not for lanes.
    pub fn begin(
        number: usize,
        job: &Job,
        wanted: &Wanted,
        kind: Kind,
        scheme: &Scheme,
        code: &LinearCode,
        problem: &Problem,
    ) -> Option<(Self, Row)> {
        let (start, d, m) = (&job.start, code.d, code.m);
        let fits = start.q.len() == d && start.v.len() == d && start.closed().is_none_or(<[usize]>::is_empty);
        if !fits || start.reached_by().is_some_and(|by| by.within_impact) {
            return None;
        }
        let (last, h) = Options::steps(*scheme, job.step?).until(job.end).division(start.t).ok()?;
        let linear = code.at(&start.parameters).filter(|linear| linear.is_symmetric)?;
        let rule = Rule::new(kind, &linear, h)?;
        let mut walker = Walker {
            number,
            kind,
            scheme: *scheme,
            problem: problem.clone(),
            rule,
            linear,
            h,
            t0: start.t,
            n: 0,
            last,
            target: (0, start.t),
            tally: Tally::new(problem.model(), wanted),
            finder: None,
            node: Node::new(d, m),
            has_acted: false,
            largest: [0.0; ROOM],
            violation: 0.0,
            residual: 0.0,
            fastest: 0.0,
            deviation: 0.0,
        };
        let mut z = [0.0; ROOM];
        z[..d].copy_from_slice(&start.q);
        z[d..2 * d].copy_from_slice(&start.v);
        walker.turn(&mut z, start.t);
        let is_open = |row: &Row| dot(row, &z) > CLOSED * row.iter().zip(&z).map(|(w, z)| (w * z).abs()).sum::<f64>();
        let restitutions = walker.linear.restitutions.iter();
        if !walker.linear.gaps.iter().all(is_open) || !restitutions.clone().all(|e| (0.0..=1.0).contains(e)) {
            return None;
        }
        walker.tally.pass(job, wanted, start.t, &start.q, &start.v);
        if kind.is_position_level() {
            // The first step, half the kick of later ones; what hits something in it is not plain.
            z[d..2 * d].iter_mut().for_each(|u| *u *= h);
            let next: Vec<f64> = walker.rule.next[d..].iter().map(|row| dot(row, &z)).collect();
            for i in 0..d {
                z[d + i] = 0.5 * (z[d + i] + next[i]);
                z[i] += z[d + i];
            }
            walker.n = 1;
            walker.turn(&mut z, walker.t());
            if !walker.linear.gaps.iter().all(|row| dot(row, &z) > 0.0) {
                return None;
            }
        }
        walker.aim(job).then_some((walker, z))
    }

    /// The time of the node reached.
    fn t(&self) -> f64 {
        self.time(self.n)
    }

    fn time(&self, n: u64) -> f64 {
        self.t0 + n as f64 * self.h
    }

    /// Puts the harmonics at a time into z.
    fn turn(&self, z: &mut Row, t: f64) {
        let d = self.linear.accelerations.len();
        z[2 * d] = 1.0;
        for (j, [phase, rate]) in self.linear.phases.iter().enumerate() {
            (z[2 * d + 2 + 2 * j], z[2 * d + 1 + 2 * j]) = (phase + rate * t).sin_cos();
        }
    }

    /// The next stop; false if it is at no node.
    fn aim(&mut self, job: &Job) -> bool {
        let t = self.t();
        let stop = self.tally.stop(job);
        let stop = if t < job.from && self.n > 0 { stop.min(job.from) } else { stop };
        let steps = ((stop - self.t0) / self.h).round();
        let is_near = (self.t0 + steps * self.h - stop).abs() <= NEAR * self.h;
        self.target = (steps as u64, stop);
        is_near && self.target.0 > self.n && self.target.0 <= self.last
    }

    pub fn steps_left(&self) -> u64 {
        self.target.0 - self.n
    }

    pub fn has_arrived(&self) -> bool {
        self.n == self.target.0
    }

    /// Whether the next nodes have to be shown, with contact or without.
    pub fn is_watched(&self) -> bool {
        self.finder.as_ref().is_some_and(|finder| !finder.is_idle())
    }

    /// The constraint that acts in the step from `before`, if any, and its multiplier; None if it is not plain.
    fn react(&self, before: &Row) -> Option<Option<(usize, f64)>> {
        let (rule, m, n) = (&self.rule, self.rule.slack.len(), self.linear.size());
        let is_closed = |a: &usize| dot(&rule.trigger[*a][..n], before) <= 0.0;
        let slack = |a: usize| dot(&rule.slack[a][..n], before);
        let mut acting = (0..m).filter(is_closed).filter(|&a| slack(a) < 0.0);
        let Some(a) = acting.next() else { return Some(None) };
        let multiplier = -slack(a) / rule.yields[a * m + a];
        // Of others that are closed, or where positions count all others, none must follow.
        let follows = |b: usize| slack(b) + rule.yields[b * m + a] * multiplier < 0.0;
        let counts = |b: &usize| *b != a && (self.kind.is_position_level() || is_closed(b));
        let is_plain = acting.next().is_none() && multiplier.is_finite() && !(0..m).filter(counts).any(follows);
        is_plain.then_some(Some((a, multiplier)))
    }

    /// Puts the last step right where a constraint acts in it, and shows its node to the finder. False if it is not plain.
    pub fn touch(&mut self, before: &Row, now: &mut Row, job: &Job, wanted: &Wanted) -> bool {
        let Some(acts) = self.react(before) else { return false };
        self.has_acted = acts.is_some();
        self.grow(before);
        if let Some((a, multiplier)) = acts {
            now.iter_mut().zip(&self.rule.push[a]).for_each(|(x, p)| *x += multiplier * p);
        }
        if acts.is_none() && !self.is_watched() {
            return true;
        }
        if self.finder.is_none() {
            let Ok(at) = self.problem.instance(&job.start) else { return false };
            let Some(finder) = ImpactFinder::new(&at, &self.scheme, self.h) else { return false };
            self.finder = Some(Box::new(finder));
        }
        self.fill_node(before, now, acts);
        self.show(job, wanted);
        true
    }

    /// Notes the largest of each.
    fn grow(&mut self, z: &Row) {
        self.largest.iter_mut().zip(z).for_each(|(most, z)| *most = most.max(z.abs()));
    }

    /// The node that the step from `before` to `now` completes.
    fn fill_node(&mut self, before: &Row, now: &Row, acts: Option<(usize, f64)>) {
        let (d, h) = (self.linear.accelerations.len(), self.h);
        let is_position_level = self.kind.is_position_level();
        let index = if is_position_level { self.n - 1 } else { self.n };
        let t = self.time(index);
        let node = &mut self.node;
        (node.index, node.t, node.contact) = (index, t, acts.is_some());
        node.impulses.fill(0.0);
        let impulse = acts.map(|(a, multiplier)| (a, if is_position_level { multiplier / h } else { multiplier }));
        if let Some((a, impulse)) = impulse {
            node.impulses[a] = impulse;
        }
        let jump = |i: usize| impulse.map_or(0.0, |(a, impulse)| self.linear.pulls[a][i] * impulse);
        for i in 0..d {
            let (u, next) = (before[d + i], now[d + i]);
            if is_position_level {
                let gain = (next - u) / h - jump(i);
                node.q[i] = before[i];
                node.v_left[i] = u / h + 0.5 * gain;
                node.v_right[i] = node.v_left[i] + jump(i);
                node.acceleration[i] = gain / h;
            } else {
                node.q[i] = now[i];
                node.v_left[i] = next - jump(i);
                node.v_right[i] = next;
                node.acceleration[i] = (node.v_left[i] - u) / h;
            }
        }
    }

    /// Shows the node to the finder and takes the impacts that it finds.
    fn show(&mut self, job: &Job, wanted: &Wanted) {
        let Some(mut finder) = self.finder.take() else { return };
        finder.note(&self.node);
        self.take_impacts(&mut finder, job, wanted);
        self.finder = Some(finder);
    }

    fn take_impacts(&mut self, finder: &mut ImpactFinder, job: &Job, wanted: &Wanted) {
        for impact in finder.impacts().iter() {
            self.fastest = self.fastest.max(impact.speed);
            let deviation = impact.law_residual * impact.speed;
            // (What is not a number is the worst there is.)
            self.deviation = if deviation <= self.deviation { self.deviation } else { deviation };
            if impact.t < job.from {
                continue;
            }
            self.tally.impacts += 1;
            let mut z = [0.0; ROOM];
            self.turn(&mut z, impact.t);
            for (&a, &impulse) in impact.constraints.iter().zip(impact.impulses) {
                let row = &self.linear.gaps[a];
                let moves = dot(&wall(&self.linear, row), &z);
                let speed = -moves - row.iter().zip(impact.v_before).map(|(w, v)| w * v).sum::<f64>();
                self.tally.hit(wanted, Hit { t: impact.t, constraint: a as u32, speed, impulse });
            }
        }
        finder.forget();
    }

    /// The lane is at a stop, or at the end. `seen`: the largest sizes and the least gap since the last stop.
    pub fn arrive(
        &mut self,
        before: &Row,
        now: &mut Row,
        (largest, least): (&Row, f64),
        job: &Job,
        wanted: &Wanted,
    ) -> Attended {
        let d = self.linear.accelerations.len();
        let (t, is_last) = (self.target.1, self.n == self.last);
        if !now[..2 * d].iter().all(|x| x.abs() <= HUGE) {
            return Attended::Refused;
        }
        self.check(before, now);
        self.turn(now, self.t());
        let gap = self.linear.gaps.iter().map(|row| dot(row, now)).fold(least, f64::min);
        self.violation = self.violation.max(-gap);
        let mut most = *largest;
        (0..2 * d).for_each(|i| most[i] = most[i].max(now[i].abs()));
        self.grow(&most);
        // Position and velocity: where the scheme keeps positions, the velocity needs the step beyond.
        let (q, mut v) = (now[..d].to_vec(), now[d..2 * d].to_vec());
        let mut last = v.clone();
        if self.kind.is_position_level() {
            most[d..2 * d].iter_mut().for_each(|x| *x /= self.h);
            let Some(acts) = self.react(now) else { return Attended::Refused };
            let mut beyond = *now;
            for (x, row) in beyond.iter_mut().zip(&self.rule.next) {
                *x = dot(row, now);
            }
            if let Some((a, multiplier)) = acts {
                beyond.iter_mut().zip(&self.rule.push[a]).for_each(|(x, p)| *x += multiplier * p);
            }
            self.n += 1;
            self.fill_node(now, &beyond, acts);
            self.n -= 1;
            v.copy_from_slice(&self.node.v_right);
            last.copy_from_slice(&v);
            if self.finder.as_ref().is_some_and(|finder| finder.would_last(&self.node)) {
                v.iter_mut().zip(&self.node.v_left).for_each(|(v, left)| *v = 0.5 * (*v + left));
            }
            if is_last && self.is_watched() {
                self.show(job, wanted);
            }
        }
        if t >= job.from {
            self.tally.glide(t, &q, &v, &most[..2 * d]);
        }
        self.tally.pass(job, wanted, t, &q, &v);
        if is_last {
            return Attended::Done(Box::new(self.finish(job, wanted, t, q, last)));
        }
        if self.aim(job) { Attended::GoesOn } else { Attended::Refused }
    }

    /// The equation of the scheme in the last step, if nothing acted in it, with harmonics computed anew.
    fn check(&mut self, before: &Row, now: &Row) {
        let d = self.linear.accelerations.len();
        if self.has_acted {
            self.has_acted = false;
            return;
        }
        let mut exact = *before;
        self.turn(&mut exact, self.time(self.n - 1));
        let scale = (d..2 * d).fold(0.0_f64, |m, i| m.max(now[i].abs()).max(self.largest[i]));
        let off = |i: usize| (dot(&self.rule.next[i], &exact) - now[i]).abs();
        let off = (d..2 * d).map(off).fold(0.0, f64::max) / scale.max(f64::MIN_POSITIVE);
        self.residual = if off <= self.residual { self.residual } else { off };
    }

    fn finish(&mut self, job: &Job, wanted: &Wanted, t: f64, q: Vec<f64>, v: Vec<f64>) -> crate::Outcome {
        if let Some(mut finder) = self.finder.take().filter(|finder| !finder.is_idle()) {
            finder.finish(&self.node);
            self.take_impacts(&mut finder, job, wanted);
        }
        let d = self.linear.accelerations.len();
        let unit = if self.kind.is_position_level() { self.h } else { 1.0 };
        let fastest = self.largest[d..2 * d].iter().fold(0.0_f64, |m, u| m.max(u / unit));
        let mut tally = std::mem::take(&mut self.tally);
        let checks = &mut tally.checks;
        checks.violation = self.violation;
        checks.law = if self.deviation > 0.0 { self.deviation / self.fastest } else { 0.0 };
        checks.balance = self.residual;
        // Walls may be faster than what they meet.
        let walls = self.linear.gaps.iter().map(|row| wall(&self.linear, row).iter().map(|x| x.abs()).sum::<f64>());
        let speed = walls.fold(fastest, f64::max);
        if !(self.violation <= 2.0 * self.h * speed) {
            tally.breaches.push(format!("a constraint is violated by {:.3e}", self.violation));
        }
        if !(checks.law <= LAW) {
            tally.breaches.push(format!("the impact law has a relative residual of {:.3e}", checks.law));
        }
        if !(self.residual <= OFF) {
            tally.breaches.push(format!("the equation of the steps has a relative residual of {:.3e}", self.residual));
        }
        crate::Outcome { engine: Engine::Steps, ..tally.outcome(Status::Finished, t, q, v) }
    }
}

fn dot(row: &[f64], z: &[f64]) -> f64 {
    row.iter().zip(z).map(|(w, z)| w * z).sum()
}
