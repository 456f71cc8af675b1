//! What is kept of the steps of a structure: the points, the impacts and contacts of each stop, the books.

use super::run::{Ended, Stepper, StructureOptions, StructureRun, Tally};
use super::shocks::{Shocks, StopKind, Touch};
use super::{Linear, Signals, Structure, check};
use crate::impacts::Measured;
use crate::ledger::{Balance, Entry, Interval, Property};
use crate::run::Audit;
use crate::{Contact, Ledger, Reason, Run, RunOptions, SetupError, Side, Timeline, Trajectory};

/// A stop that acts.
#[derive(Clone, Debug)]
struct Episode {
    first: u64,
    last: u64,
    touch: Touch,
    /// The impulse of the first two nodes: that of the impact.
    struck: f64,
    /// The impact has been told, or there is none: the approach is too slow.
    told: bool,
    /// Velocities of the points before it.
    v_before: Vec<f64>,
    kinetic: f64,
}

/// An approach slower than this many steps of its own acceleration is a landing, no impact.
const SLOW: f64 = 2.0;

/// Intervals of the energy balance, and shapes to draw.
const MOST_INTERVALS: usize = 20_000;
const MOST_SHAPES: u64 = 1_500;

pub(super) struct Recorder {
    pub trajectory: Trajectory,
    h: f64,
    every: u64,
    stride: u64,
    linear: Linear,
    signals: Signals,
    still: bool,
    compliant: Vec<bool>,
    restitution: Vec<f64>,
    slides: Vec<Option<usize>>,
    masses: Vec<f64>,
    gaps: [Vec<f64>; 3],
    episodes: Vec<Option<Episode>>,
    touches: Vec<Touch>,
    kinds: Vec<StopKind>,
    audit: Audit,
    entries: Vec<Entry>,
    intervals: Vec<Interval>,
    /// Energy and tally where the present interval began.
    opened: Option<(f64, f64, Tally)>,
    /// The tally where the books begin, after the first step.
    begun: Tally,
    fastest: f64,
    balance: Balance,
    q: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    outline: Option<crate::linalg::Rows>,
    shapes: Vec<(f64, Vec<f64>)>,
    ended: f64,
    names: Vec<String>,
    /// Kinetic and elastic energy of the data.
    start_energy: f64,
    /// Points are so few numbers that they are looked at in every step.
    light: bool,
    extremes: Extremes,
}

/// Largest, smallest and ∫u² dt of the points.
#[derive(Clone, Debug, Default)]
struct Extremes {
    last: Option<f64>,
    values: Vec<(f64, f64, f64)>,
    squares: Vec<f64>,
}

impl Extremes {
    fn note(&mut self, t: f64, q: &[f64]) {
        let h = self.last.map_or(0.0, |last| t - last);
        if self.values.is_empty() {
            self.values = q.iter().map(|&x| (x, x, 0.0)).collect();
            self.squares = q.iter().map(|x| x * x).collect();
        }
        for (p, &x) in q.iter().enumerate() {
            let (most, least, integral) = &mut self.values[p];
            (*most, *least) = (most.max(x), least.min(x));
            *integral += 0.5 * h * (self.squares[p] + x * x);
            self.squares[p] = x * x;
        }
        self.last = Some(t);
    }

    /// Largest, smallest, root mean square.
    fn finish(&self) -> Vec<(f64, f64, f64)> {
        let t = self.last.unwrap_or(0.0).max(f64::MIN_POSITIVE);
        self.values.iter().map(|&(most, least, integral)| (most, least, (integral / t).sqrt())).collect()
    }
}

/// So many numbers in the rows of the points are looked at in every step.
const LIGHT: usize = 48;

impl Recorder {
    pub fn new(
        structure: &Structure,
        linear: &Linear,
        options: &RunOptions,
        more: &StructureOptions,
        h: f64,
    ) -> Result<Self, SetupError> {
        let (m, d) = (linear.stops.len(), linear.points.len());
        let mut signals = structure.signals();
        signals.look(0.0);
        let compliant: Vec<bool> = (0..m).map(|a| linear.is_compliant(a)).collect();
        let kinds = (0..m)
            .map(|a| StopKind { compliant: compliant[a], slides: structure.slides[a].is_some(), squared: 0.0 })
            .collect();
        let masses = (0..m).map(|a| linear.contact_mass(a).unwrap_or(0.0)).collect();
        let steps = (options.end / h).max(1.0) as u64;
        Ok(Recorder {
            trajectory: Trajectory::new(d),
            h,
            every: options.every.max(1),
            stride: (steps / MOST_SHAPES).max(1),
            still: signals.is_still(),
            outline: more.outline.then(|| linear.outline.clone()).filter(|rows| !rows.is_empty()),
            linear: Linear { mass: crate::linalg::Symmetric::diagonal(&[]), ..linear.clone() },
            signals,
            compliant,
            restitution: structure.model.constraints.iter().map(|c| c.restitution).collect(),
            slides: structure.slides.clone(),
            masses,
            gaps: [vec![0.0; m], vec![0.0; m], vec![0.0; m]],
            episodes: vec![None; m],
            touches: Vec::new(),
            kinds,
            audit: Audit { impulses: vec![0.0; m], ..Audit::default() },
            entries: Vec::new(),
            intervals: Vec::new(),
            opened: None,
            begun: Tally::default(),
            fastest: 0.0,
            balance: Balance::default(),
            q: vec![0.0; d],
            left: vec![0.0; d],
            right: vec![0.0; d],
            shapes: Vec::new(),
            ended: 0.0,
            names: structure.model.coordinates.clone(),
            start_energy: 0.5
                * (linear.mass.form(&linear.v0, &linear.v0) + linear.stiffness.form(&linear.q0, &linear.q0)),
            light: linear.points.values.len() <= LIGHT,
            extremes: Extremes::default(),
        })
    }

    /// Position and velocity of the points at the last stored instant.
    pub fn last(&self) -> (Vec<f64>, Vec<f64>) {
        (self.q.clone(), self.right.clone())
    }

    /// The last time seen.
    pub fn time(&self) -> f64 {
        self.ended
    }

    fn read_points(&mut self, stepper: &dyn Stepper) {
        let q = stepper.position();
        for p in 0..self.q.len() {
            self.q[p] = self.linear.points.dot(p, q);
            self.left[p] = stepper.velocity(Side::Left, &self.linear.points, p);
            self.right[p] = stepper.velocity(Side::Right, &self.linear.points, p);
        }
    }

    /// Takes in a completed node.
    pub fn note(&mut self, stepper: &mut dyn Stepper, n: u64, last: bool) -> Result<(), Reason> {
        let t = stepper.t();
        self.ended = t;
        let contact = stepper.impulses().iter().any(|&p| p > 0.0);
        if !self.still {
            self.signals.look(t);
        }
        self.gaps.rotate_right(1);
        let mut outside = false;
        for a in 0..self.compliant.len() {
            let gap = self.signals.offsets[a] + self.linear.stops.dot(a, stepper.position());
            self.gaps[0][a] = gap;
            if gap < -self.audit.max_violation {
                self.audit.max_violation = -gap;
                self.audit.worst = Some((a, t));
            }
            outside |= gap < -1e-12;
        }
        self.audit.infeasible += u64::from(outside);
        self.audit.contact_steps += u64::from(contact);
        let store = n.is_multiple_of(self.every) || last;
        let busy = contact || self.episodes.iter().any(Option::is_some);
        if store || busy {
            self.read_points(stepper);
            // Nothing that is not a number is kept.
            if let Some(p) = (0..self.q.len()).find(|&p| !(self.q[p].abs() < 1e150 && self.right[p].abs() < 1e150)) {
                return Err(Reason::NotFinite { coordinate: self.names[p].clone() });
            }
        } else if self.light {
            let q = stepper.position();
            (0..self.q.len()).for_each(|p| self.q[p] = self.linear.points.dot(p, q));
        }
        if store || busy || self.light {
            self.extremes.note(t, &self.q);
        }
        let mut jumps = false;
        if busy {
            for a in 0..self.compliant.len() {
                jumps |= self.follow(stepper, a, n, last);
            }
        }
        if n == 0 {
            self.audit.energy_start = self.start_energy;
        }
        if n == 1 {
            let (kinetic, elastic) = stepper.energy();
            self.balance.start = kinetic + elastic;
            self.opened = Some((t, kinetic + elastic, stepper.tally()));
            self.begun = stepper.tally();
        }
        if jumps {
            self.trajectory.push_jump(t, &self.q, &self.left, &self.right);
        } else if store {
            if n > 0 {
                // Away from impacts the velocity is the mean of both sides.
                self.left.iter_mut().zip(&self.right).for_each(|(l, r)| *l = 0.5 * (*l + r));
            }
            self.trajectory.push(t, &self.q, &self.left);
        }
        if let (Some(rows), true) = (&self.outline, n.is_multiple_of(self.stride) || last) {
            let q = stepper.position();
            self.shapes.push((t, (0..rows.len()).map(|r| rows.dot(r, q)).collect()));
        }
        Ok(())
    }

    /// Follows one stop at a node; true if the velocity jumps there.
    fn follow(&mut self, stepper: &mut dyn Stepper, a: usize, n: u64, last: bool) -> bool {
        let p = stepper.impulses()[a];
        let t = stepper.t();
        self.audit.impulses[a] += p;
        if p > 0.0 && self.episodes[a].is_none() {
            let approach = self.signals.rates[a] + stepper.velocity(Side::Left, &self.linear.stops, a);
            let (g, before) = (self.gaps[0][a], self.gaps[1][a]);
            // Where the incoming motion meets the stop.
            let meeting = if approach < 0.0 { (-g / approach).clamp(-self.h, self.h) } else { 0.0 };
            let bend = ((g - 2.0 * before + self.gaps[2][a]) / self.h).abs();
            self.fastest = self.fastest.max(-approach);
            let slow = !(approach < -(SLOW * bend).min(0.5 * self.fastest) && approach < -1e-9 * self.fastest);
            let is_impact = !self.compliant[a] && !slow && n > 0;
            self.audit.landings += u64::from(!self.compliant[a] && slow);
            if is_impact {
                self.open_interval(stepper);
            }
            let kinetic = if is_impact { stepper.energy().0 } else { f64::NAN };
            self.episodes[a] = Some(Episode {
                first: n,
                last: n,
                touch: Touch { stop: a, start: t + meeting, end: t, impulse: 0.0, approach, peak: 0.0, wear: 0.0 },
                struck: 0.0,
                told: !is_impact,
                v_before: self.left.clone(),
                kinetic,
            });
        }
        let Some(episode) = &mut self.episodes[a] else { return false };
        let strikes = !episode.told && p > 0.0;
        if p > 0.0 {
            episode.last = n;
            episode.touch.impulse += p;
            episode.touch.end = t + if self.compliant[a] { self.h } else { 0.0 };
            episode.touch.peak = episode.touch.peak.max(p / self.h);
            if let Some(s) = self.slides[a] {
                episode.touch.wear += p * (0.5 * (self.left[s] + self.right[s])).abs();
            }
            if self.compliant[a] {
                self.kinds[a].squared += p * p / self.h;
            }
            if n < episode.first + stepper.spread() {
                episode.struck += p;
            }
        }
        if !episode.told && (n + 1 >= episode.first + stepper.spread() || last) {
            episode.told = true;
            self.tell(stepper, a);
        }
        let over = |e: &Episode| n > e.last + 1 || last;
        if self.episodes[a].as_ref().is_some_and(over)
            && let Some(episode) = self.episodes[a].take()
        {
            self.close(a, episode);
        }
        strikes
    }

    /// The first two nodes are over: an impact.
    fn tell(&mut self, stepper: &mut dyn Stepper, a: usize) {
        let after = self.signals.rates[a] + stepper.velocity(Side::Right, &self.linear.stops, a);
        let Some(episode) = &self.episodes[a] else { return };
        let approach = episode.touch.approach;
        let residual = (after + self.restitution[a] * approach).abs() / approach.abs().max(1e-300);
        let measured = Measured {
            t: episode.touch.start,
            energy_change: 0.5 * episode.struck * (after + approach),
            residual,
            speed: self.masses[a].sqrt() * approach.abs(),
            approach,
        };
        let struck = episode.struck;
        self.trajectory.impacts.push(&measured, &self.q, &episode.v_before, &self.right, [(a, struck)].into_iter());
        self.entries.push(Entry {
            t: measured.t,
            uncertainty: self.h,
            closed: vec![a],
            kinetic_before: episode.kinetic,
            // What the impact itself takes, ½P(U⁺ + U⁻): within its steps elastic energy comes and goes as well.
            kinetic_after: episode.kinetic + measured.energy_change,
            law_residual: residual,
            complementarity: residual,
            penetration: self.gaps[0].iter().fold(0.0, |m, g| m.max(-g)),
        });
    }

    fn close(&mut self, a: usize, mut episode: Episode) {
        // What outlasts an impact is a contact; an impact itself has no duration.
        let lasts = self.compliant[a] || episode.last > episode.first + 2;
        let Touch { start, impulse, .. } = episode.touch;
        let end = if lasts { episode.touch.end.max(start) } else { start };
        episode.touch.end = end;
        if lasts {
            self.trajectory.contacts.push(Contact { constraint: a, start, end, impulse });
        }
        self.touches.push(episode.touch);
    }

    /// An interval of the energy balance ends here and another begins.
    fn open_interval(&mut self, stepper: &mut dyn Stepper) {
        let Some((start, energy, tally)) = self.opened else { return };
        if self.intervals.len() >= MOST_INTERVALS {
            return;
        }
        let (kinetic, elastic) = stepper.energy();
        let (now, all) = (stepper.tally(), kinetic + elastic);
        let work = now.work - tally.work - (now.dissipated - tally.dissipated);
        let change = all - energy + now.lost - tally.lost;
        self.intervals.push(Interval { start, end: stepper.t(), change, work });
        self.opened = Some((stepper.t(), all, now));
    }

    /// The last node has been noted.
    pub fn finish(&mut self, stepper: &mut dyn Stepper) {
        for a in 0..self.episodes.len() {
            if let Some(episode) = self.episodes[a].take() {
                self.close(a, episode);
            }
        }
        if self.opened.is_some() {
            let room = self.intervals.len() < MOST_INTERVALS;
            if room {
                self.open_interval(stepper);
            }
            let (kinetic, elastic) = stepper.energy();
            self.audit.energy_end = kinetic + elastic;
            let tally = stepper.tally().since(&self.begun);
            self.audit.energy_lost_at_impacts = tally.lost;
            let change = self.audit.energy_end - self.balance.start;
            let work = tally.work - tally.dissipated;
            let exchanged = tally.work.abs().max(tally.dissipated).max(tally.lost.abs()).max(change.abs());
            self.balance = Balance {
                start: self.balance.start,
                end: self.audit.energy_end,
                lost_at_impacts: tally.lost,
                work,
                closure: change - work + tally.lost,
                exchanged: exchanged.max(self.balance.start).max(1e-300),
            };
        }
        self.trajectory.contacts.sort_by(|a, b| a.start.total_cmp(&b.start));
    }

    pub fn into_run(
        mut self,
        structure: &Structure,
        linear: &Linear,
        options: &RunOptions,
        more: &StructureOptions,
        ended: Ended,
    ) -> StructureRun {
        let fastest = self.trajectory.impacts.iter().map(|i| i.speed).fold(f64::MIN_POSITIVE, f64::max);
        let law = self.trajectory.impacts.iter().map(|i| i.law_residual * i.speed / fastest).fold(0.0, f64::max);
        self.audit.worst_law_residual = law;
        let rest = check::rest(structure, more, self.h);
        let mut shocks = Shocks::new(self.touches, &self.kinds, rest, &self.trajectory);
        shocks.points = self.extremes.finish();
        let properties = properties(&self.trajectory, &self.audit, &self.balance, self.h, self.still);
        let ledger = Ledger {
            impacts: self.entries,
            intervals: self.intervals,
            balance: self.balance,
            properties,
            meetings: Vec::new(),
            impulses: self.audit.impulses.clone(),
        };
        let mut run = Run {
            trajectory: self.trajectory,
            audit: self.audit,
            status: ended.status,
            steps: ended.steps,
            step: ended.h,
            warnings: ended.warnings,
            notes: Vec::new(),
            timeline: Timeline::default(),
        };
        check::on_energy(&ledger, &mut run);
        check::advise(structure, linear, options, more, &mut run);
        StructureRun { run, ledger, shocks, shapes: self.shapes }
    }
}

/// (P1)–(P3) and (P5) of [T]; that the law holds (P4) is told with the impacts, since elastic waves change the velocity of a
/// node within the steps of an impact.
fn properties(motion: &Trajectory, audit: &Audit, balance: &Balance, h: f64, still: bool) -> Vec<Property> {
    let given = (-balance.lost_at_impacts / balance.exchanged).max(0.0);
    let fastest = motion.left_velocities().iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let fast_gap = motion.impacts.iter().map(|i| i.approach.abs()).fold(fastest, f64::max);
    let jumps: f64 = motion.impacts.iter().map(|i| i.approach.abs()).sum();
    let property = |name, what, measured, figure: f64, allowed: f64| Property {
        name,
        what,
        figure,
        allowed,
        measured,
        holds: figure <= allowed,
    };
    vec![
        property("P1", "u is continuous and u' of bounded variation", "sum of the approach speeds", jumps, f64::MAX),
        property(
            "P2",
            "every position is in K(t)",
            "deepest gap below zero",
            audit.max_violation,
            2.0 * h * fast_gap + 1e-12,
        ),
        property("P3", "reactions push", "largest pull", audit.impulses.iter().fold(0.0, |m: f64, p| m.max(-p)), 1e-12),
        property("E", "the energy balance closes", "what is open, as a part", balance.relative(), 0.1),
        property(
            "L",
            "stops take energy (moving ones may give it)",
            "energy given, as a part",
            given,
            if still { 0.01 } else { f64::MAX },
        ),
    ]
}
