//! One trajectory in its lane: its stops, its contacts, what is kept of it.

use super::Attended;
use super::landing::{Landed, Landing, NotPlain};
use super::leap::{LEAP, Leap};
use super::rule::{Kind, Rule, needs_gaps, wall};
use super::verdict::Residuals;
use super::{dot, node};
use crate::lanes::glide::HUGE;
use crate::lanes::linear::{Linear, LinearCode, ROOM, Row};
use crate::tally::Tally;
use crate::{Hit, Job, Wanted};
use saltus::scheme::{Method, Node, Scheme};
use saltus::{ImpactFinder, Options, Problem, Start};

/// An instant is that of a node if it is this close to it, in steps.
pub const NEAR: f64 = 1e-6;

/// A gap at the start below this part of what it is made of is closed.
pub const CLOSED: f64 = 1e-9;

/// So many times on its way it is asked whether a trajectory moves.
pub const INTERVALS: u64 = 64;

/// So many steps are made alone before other lanes have their turn.
const PATIENT: usize = 256;

/// A trajectory on its way.
pub struct Walker {
    pub number: usize,
    kind: Kind,
    scheme: Scheme,
    problem: Problem,
    rule: Rule,
    pub leap: Leap,
    linear: Linear,
    h: f64,
    t0: f64,
    /// The node reached, the last one, and the next stop: its node and its time.
    pub n: u64,
    last: u64,
    target: (u64, f64),
    /// The node of the last stop, and whether what came after it is kept.
    stopped: u64,
    is_kept: bool,
    /// After so many steps there is a stop, where it matters what a trajectory settled on.
    interval: u64,
    tally: Tally,
    landing: Landing,
    /// Where several constraints take part in a contact, and whether they do now.
    finder: Option<Box<ImpactFinder>>,
    is_shared: bool,
    node: Node,
    /// cos ωh, sin ωh of each harmonic.
    turns: Vec<[f64; 2]>,
    /// Whether a constraint acted in the last step.
    has_acted: bool,
    /// The largest of each of q and u in steps made alone, since the last stop.
    alone: Row,
    /// The largest of each of q and u at stops and contacts, the deepest gap below zero, the largest residual of the equations, since the start.
    largest: [f64; ROOM],
    violation: f64,
    residual: f64,
    /// The fastest impact, and the largest deviation from the law.
    fastest: f64,
    deviation: f64,
    /// The fastest that a gap closed at an impact.
    approach: f64,
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
        let rule = Rule::resolved(kind, &linear, h)?;
        let Method::Steps(stepping) = &scheme.method else { return None };
        let landing = Landing::new(stepping, h, d)?;
        let turned = |&[_, rate]: &[f64; 2]| [(rate * h).cos(), (rate * h).sin()];
        let turns: Vec<[f64; 2]> = linear.phases.iter().map(turned).collect();
        let leap = Leap::new(&rule, &linear, &turns, needs_gaps(kind, code))?;
        let mut walker = Walker {
            number,
            kind,
            scheme: *scheme,
            problem: problem.clone(),
            rule,
            leap,
            linear,
            h,
            t0: start.t,
            n: 0,
            last,
            target: (0, start.t),
            stopped: 0,
            is_kept: start.t >= job.from,
            interval: last.div_ceil(INTERVALS),
            tally: Tally::new(problem.model(), wanted),
            landing,
            finder: None,
            is_shared: false,
            node: Node::new(d, m),
            turns,
            has_acted: false,
            alone: [0.0; ROOM],
            largest: [0.0; ROOM],
            violation: 0.0,
            residual: 0.0,
            fastest: 0.0,
            deviation: 0.0,
            approach: 0.0,
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
        walker.aim(job, wanted).then_some((walker, z))
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
    fn aim(&mut self, job: &Job, wanted: &Wanted) -> bool {
        // (A stop is where it is said to be; its node may be before it by rounding.)
        let t = if self.n == self.target.0 { self.target.1 } else { self.t() };
        let stop = if wanted.strobe || wanted.settled { self.tally.stop(job) } else { job.end };
        let steps = ((stop - self.t0) / self.h).round();
        let is_near = (self.t0 + steps * self.h - stop).abs() <= NEAR * self.h;
        self.target = (steps as u64, stop);
        if wanted.settled {
            // What is kept begins at a node, and whether anything moves is asked at some nodes of its own.
            let from = ((job.from - self.t0) / self.h - NEAR).ceil().max(0.0) as u64;
            let on_the_way = if t < job.from && self.n < from { from } else { self.n + self.interval };
            if on_the_way < self.target.0 {
                self.target = (on_the_way, self.time(on_the_way).max(if on_the_way == from { job.from } else { t }));
            }
        }
        is_near && self.target.0 > self.n && self.target.0 <= self.last
    }

    /// How many leaps it can make without being looked at: the step that ends at a stop is in none of them.
    pub fn leaps_left(&self) -> u64 {
        if self.is_watched() { 0 } else { (self.target.0 - self.n - 1) / LEAP as u64 }
    }

    /// By how much each harmonic advances in a step.
    pub fn phases(&self) -> impl Iterator<Item = f64> {
        self.linear.phases.iter().map(|[_, rate]| rate * self.h)
    }

    /// Whether it has just been at a stop: what lanes saw on the way there is taken in.
    pub fn has_stopped(&self) -> bool {
        self.stopped == self.n
    }

    /// Whether the next nodes have to be shown, with contact or without.
    fn is_watched(&self) -> bool {
        self.is_shared || !self.landing.is_idle()
    }

    /// Makes steps by itself, up to where a leap is free or a stop is reached, and looks at what it reaches. `seen`: the largest sizes and the least
    /// gap since the last stop.
    pub fn attend(&mut self, z: &mut Row, seen: (&Row, f64), job: &Job, wanted: &Wanted) -> Attended {
        self.look(z);
        for _ in 0..PATIENT {
            let before = *z;
            if !self.step(&before, z, job, wanted) {
                return Attended::Refused;
            }
            self.look(z);
            if self.n == self.target.0 {
                return self.arrive(&before, z, seen, job, wanted);
            }
            if self.leaps_left() > 0 && self.leap.is_free(&z[..self.linear.size()]) {
                break;
            }
        }
        Attended::GoesOn
    }

    /// The gaps at a node.
    fn look(&mut self, z: &Row) {
        let n = self.linear.size();
        let gap = self.linear.gaps.iter().map(|row| dot(&row[..n], z)).fold(f64::INFINITY, f64::min);
        self.violation = self.violation.max(-gap);
    }

    /// Makes a step with the constraint that acts in it, and shows its node where that is of use. False if it is not plain.
    fn step(&mut self, before: &Row, now: &mut Row, job: &Job, wanted: &Wanted) -> bool {
        let (d, n) = (self.linear.accelerations.len(), self.linear.size());
        let Some(acts) = self.rule.react(self.kind, &before[..n]) else { return false };
        for (x, row) in now.iter_mut().zip(&self.rule.next) {
            *x = dot(&row[..n], before);
        }
        for (k, [cos, sin]) in self.turns.iter().enumerate() {
            let at = 2 * d + 1 + 2 * k;
            (now[at], now[at + 1]) = (before[at] * cos - before[at + 1] * sin, before[at + 1] * cos + before[at] * sin);
        }
        if let Some((a, multiplier)) = acts {
            now.iter_mut().zip(&self.rule.push[a]).for_each(|(x, p)| *x += multiplier * p);
        }
        self.n += 1;
        self.has_acted = acts.is_some();
        self.alone.iter_mut().zip(&before[..2 * d]).for_each(|(most, z)| *most = most.max(z.abs()));
        if acts.is_none() && !self.is_watched() {
            return true;
        }
        self.grow(before);
        let impulse = self.complete(before, now, acts);
        self.show(impulse, job, wanted)
    }

    /// Notes the largest of each.
    fn grow(&mut self, z: &Row) {
        self.largest.iter_mut().zip(z).for_each(|(most, z)| *most = most.max(z.abs()));
    }

    /// The node that the step from `before` to `now` completes, and the impulse at it.
    fn complete(&mut self, before: &Row, now: &Row, acts: Option<(usize, f64)>) -> Option<(usize, f64)> {
        self.node.index = if self.kind.is_position_level() { self.n - 1 } else { self.n };
        self.node.t = self.time(self.node.index);
        node::complete((self.kind, self.h), &self.linear, (before, now), acts, &mut self.node)
    }

    /// Takes in the node and the impacts that are complete with it; false if they cannot be told.
    fn show(&mut self, impulse: Option<(usize, f64)>, job: &Job, wanted: &Wanted) -> bool {
        if !self.is_shared {
            match self.landing.note(&self.linear, &self.node, impulse) {
                Ok(found) => {
                    found.into_iter().for_each(|landed| self.count(&landed, job, wanted));
                    return true;
                }
                Err(NotPlain) if !self.share(job) => return false,
                Err(NotPlain) => {}
            }
        }
        let Some(mut finder) = self.finder.take() else { return false };
        finder.note(&self.node);
        self.take_impacts(&mut finder, job, wanted);
        self.is_shared = !finder.is_idle();
        self.finder = Some(finder);
        true
    }

    /// Several constraints take part in the contact: the finder goes on with it.
    fn share(&mut self, job: &Job) -> bool {
        if self.finder.is_none() {
            let at = self.problem.instance(&job.start).ok();
            self.finder = at.and_then(|at| ImpactFinder::new(&at, &self.scheme, self.h)).map(Box::new);
        }
        let Some(finder) = &mut self.finder else { return false };
        finder.resume(self.landing.underway());
        self.landing.clear();
        self.is_shared = true;
        true
    }

    /// An impact of one constraint.
    fn count(&mut self, landed: &Landed, job: &Job, wanted: &Wanted) {
        self.measure(landed.speed, landed.residual);
        self.approach = self.approach.max(landed.approach);
        if landed.t >= job.from {
            self.tally.impacts += 1;
            let Landed { constraint, t, approach, impulse, .. } = *landed;
            self.tally.hit(wanted, Hit { t, constraint: constraint as u32, speed: approach, impulse });
        }
    }

    /// How fast an impact is, and how far from the law.
    fn measure(&mut self, speed: f64, residual: f64) {
        self.fastest = self.fastest.max(speed);
        let deviation = residual * speed;
        // (What is not a number is the worst there is.)
        self.deviation = if deviation <= self.deviation { self.deviation } else { deviation };
    }

    fn take_impacts(&mut self, finder: &mut ImpactFinder, job: &Job, wanted: &Wanted) {
        for impact in finder.impacts().iter() {
            self.measure(impact.speed, impact.law_residual);
            self.approach = self.approach.max(impact.approach.abs());
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

    /// The lane is at a stop, or at the end.
    fn arrive(
        &mut self,
        before: &Row,
        now: &mut Row,
        (largest, least): (&Row, f64),
        job: &Job,
        wanted: &Wanted,
    ) -> Attended {
        let d = self.linear.accelerations.len();
        let (t, is_last) = (self.target.1, self.n == self.last);
        self.stopped = self.n;
        if !now[..2 * d].iter().all(|x| x.abs() <= HUGE) {
            return Attended::Refused;
        }
        self.check(before, now);
        self.turn(now, self.t());
        self.violation = self.violation.max(-least);
        self.look(now);
        let alone = std::mem::replace(&mut self.alone, [0.0; ROOM]);
        let mut most = *largest;
        // (Where nobody wants them, lanes do not know the largest sizes.)
        let own = |i: usize| if wanted.settled { alone[i] } else { 0.0 };
        (0..2 * d).for_each(|i| most[i] = most[i].max(own(i)).max(now[i].abs()));
        self.grow(&most);
        // Position and velocity: where the scheme keeps positions, the velocity needs the step beyond.
        let (q, mut v) = (now[..d].to_vec(), now[d..2 * d].to_vec());
        let mut last = v.clone();
        if self.kind.is_position_level() {
            most[d..2 * d].iter_mut().for_each(|x| *x /= self.h);
            let Some(acts) = self.rule.react(self.kind, &now[..self.linear.size()]) else { return Attended::Refused };
            let mut beyond = *now;
            for (x, row) in beyond.iter_mut().zip(&self.rule.next) {
                *x = dot(row, now);
            }
            if let Some((a, multiplier)) = acts {
                beyond.iter_mut().zip(&self.rule.push[a]).for_each(|(x, p)| *x += multiplier * p);
            }
            self.n += 1;
            let impulse = self.complete(now, &beyond, acts);
            self.n -= 1;
            v.copy_from_slice(&self.node.v_right);
            last.copy_from_slice(&v);
            let lasts = match &self.finder {
                Some(finder) if self.is_shared => finder.would_last(&self.node),
                _ => self.landing.would_last(impulse),
            };
            if lasts {
                v.iter_mut().zip(&self.node.v_left).for_each(|(v, left)| *v = 0.5 * (*v + left));
            }
            if is_last && self.is_watched() && !self.show(impulse, job, wanted) {
                return Attended::Refused;
            }
        }
        let unit = if self.kind.is_position_level() { self.h } else { 1.0 };
        self.tally.saw(self.largest[d..2 * d].iter().fold(0.0, |m: f64, u| m.max(u / unit)));
        if self.is_kept {
            self.tally.glide(t, &q, &v, &most[..2 * d]);
        } else if t >= job.from {
            (self.is_kept, self.alone) = (true, [0.0; ROOM]);
            self.tally.arrive(t, &q, &v);
        }
        self.tally.pass(job, wanted, t, &q, &v);
        if is_last {
            return Attended::Done(Box::new(self.finish(job, wanted, t, q, last)));
        }
        if self.aim(job, wanted) { Attended::GoesOn } else { Attended::Refused }
    }

    /// The equation of the scheme in the last step, if nothing acted in it, from the accelerations, with harmonics computed anew.
    fn check(&mut self, before: &Row, now: &Row) {
        let d = self.linear.accelerations.len();
        if self.has_acted {
            self.has_acted = false;
            return;
        }
        let (mut first, mut second) = (*before, *now);
        self.turn(&mut first, self.time(self.n - 1));
        self.turn(&mut second, self.t());
        let off = node::residual(self.kind, &self.linear, self.h, &first, &second);
        let scale = (d..2 * d).fold(0.0_f64, |m, i| m.max(now[i].abs()).max(self.largest[i]));
        let off = off / scale.max(f64::MIN_POSITIVE);
        self.residual = if off <= self.residual { self.residual } else { off };
    }

    fn finish(&mut self, job: &Job, wanted: &Wanted, t: f64, q: Vec<f64>, v: Vec<f64>) -> crate::Outcome {
        if !self.is_shared {
            match self.landing.finish(&self.linear) {
                Ok(found) => found.into_iter().for_each(|landed| self.count(&landed, job, wanted)),
                Err(NotPlain) => _ = self.share(job),
            }
        }
        if let Some(mut finder) = self.finder.take().filter(|_| self.is_shared) {
            finder.finish(&self.node);
            self.take_impacts(&mut finder, job, wanted);
        }
        let d = self.linear.accelerations.len();
        let unit = if self.kind.is_position_level() { self.h } else { 1.0 };
        let fastest = self.largest[d..2 * d].iter().fold(0.0_f64, |m, u| m.max(u / unit));
        // Walls may be faster than what they meet.
        let moving = |row: &Row| -> f64 {
            let wall: f64 = wall(&self.linear, row).iter().map(|x| x.abs()).sum();
            let own = || (0..d).map(|i| row[i].abs() * self.largest[d + i] / unit).sum::<f64>();
            if wall > 0.0 { wall + own() } else { 0.0 }
        };
        let speed = self.linear.gaps.iter().map(moving).fold(fastest.max(self.approach), f64::max);
        let law = if self.deviation == 0.0 { 0.0 } else { self.deviation / self.fastest };
        let residuals = Residuals { violation: self.violation, law, equation: self.residual };
        let end = Start::new(t, q, v).with_parameters(job.start.parameters.clone());
        let tally = std::mem::take(&mut self.tally);
        residuals.judge(tally, (self.h, speed), &self.problem, end, (job, wanted))
    }
}
