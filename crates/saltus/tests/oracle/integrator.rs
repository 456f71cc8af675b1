//! The oracle: the motion of a model from event to event, by collocation, sign changes and bisection. Impacts and contact are
//! decided by trying all sets of constraints.

use crate::collocation::{self, D, Step, Vector};
use crate::model::{Model, Nudge, along, solve};

/// Most constraints of a model.
const C: usize = 4;
/// What is closed, what is at rest, how low a bounce is the end of its sequence.
const CLOSED: f64 = 1e-11;
const STILL: f64 = 1e-10;
const LOW: f64 = 1e-14;

pub struct Integrator<'a> {
    model: &'a Model,
    nudge: Nudge,
    pub t: f64,
    pub q: Vector,
    pub v: Vector,
    working: Vec<usize>,
    /// Closed gaps that are not held: their offset from zero.
    leaving: [Option<f64>; C],
    h: f64,
    pub impacts: usize,
    pub last_event: f64,
    tol: f64,
    longest: f64,
    /// Steps, and impacts at one place, that it may still try.
    budget: usize,
}

/// What ends a step.
#[derive(Clone, Copy, Debug)]
enum Event {
    Hit(usize),
    Release(usize),
    Switch,
}

/// Accelerations, and the pushes that go with them.
struct Solved {
    a: Vector,
    pushes: [f64; C],
}

impl<'a> Integrator<'a> {
    pub fn new(model: &'a Model, nudge: Nudge, (tol, longest): (f64, f64)) -> Option<Self> {
        let (mut q, mut v) = ([0.0; D], [0.0; D]);
        q[..model.d()].copy_from_slice(&model.q0);
        v[..model.d()].copy_from_slice(&model.v0);
        let mut it = Integrator {
            model,
            nudge,
            t: 0.0,
            q,
            v,
            working: Vec::new(),
            leaving: [None; C],
            h: 1e-3 * model.end.min(1.0),
            impacts: 0,
            last_event: 0.0,
            tol,
            longest,
            budget: (1_500.0 / longest) as usize,
        };
        let free = (0..model.gaps.len()).all(|a| it.gap(a) > 1e-6);
        if free {
            for i in 0..model.d() {
                it.q[i] += nudge.0 * (i + 1) as f64;
                it.v[i] -= nudge.0;
            }
        }
        let closed: Vec<usize> = (0..model.gaps.len()).filter(|&a| it.gap(a) < CLOSED).collect();
        it.collide(closed)?;
        Some(it)
    }

    fn gap(&self, a: usize) -> f64 {
        self.model.gap(a, self.t, &self.q)
    }

    fn rate(&self, a: usize) -> f64 {
        let (gradient, partial, _) = self.model.slopes(a, self.t, &self.q, &self.v);
        partial + dot(&gradient, &self.v)
    }

    /// Accelerations with some constraints held.
    fn held(&self, t: f64, q: &Vector, v: &Vector, working: &[usize]) -> Option<Solved> {
        let d = self.model.d();
        let (mass, g) = self.model.dynamics(t, q, v, self.nudge);
        let mut a = if d == 1 { [g[0] / mass[0][0], 0.0, 0.0, 0.0] } else { solve(d, mass, g)? };
        let mut pushes = [0.0; C];
        if !working.is_empty() {
            let (mut rows, mut ways) = ([[0.0; D]; C], [[0.0; D]; C]);
            let (mut delassus, mut right) = ([[0.0; C]; C], [0.0; C]);
            for (k, &c) in working.iter().enumerate() {
                let (gradient, _, gamma) = self.model.slopes(c, t, q, v);
                rows[k] = gradient;
                ways[k] = solve(d, mass, gradient)?;
                right[k] = -gamma - dot(&gradient, &a);
            }
            for k in 0..working.len() {
                for j in 0..working.len() {
                    delassus[k][j] = dot(&rows[k], &ways[j]);
                }
            }
            pushes = solve(working.len(), delassus, right)?;
            for (k, way) in ways.iter().enumerate().take(working.len()) {
                for i in 0..d {
                    a[i] += pushes[k] * way[i];
                }
            }
        }
        a.iter().all(|x| x.is_finite()).then_some(Solved { a, pushes })
    }

    /// The closed constraints without speed that press, such that the others of them open.
    fn choose(&mut self, still: &[usize]) -> Option<()> {
        for set in subsets(still) {
            let Some(solved) = self.held(self.t, &self.q, &self.v, &set) else { continue };
            let scale = 1e-12 * (1.0 + solved.a.iter().map(|x| x.abs()).fold(0.0, f64::max));
            let presses = (0..set.len()).all(|k| solved.pushes[k] > -scale);
            let opens = still.iter().filter(|a| !set.contains(a)).all(|&a| {
                let (gradient, _, gamma) = self.model.slopes(a, self.t, &self.q, &self.v);
                gamma + dot(&gradient, &solved.a) > -scale
            });
            if presses && opens {
                for &a in still {
                    self.leaving[a] = (!set.contains(&a)).then(|| self.gap(a));
                }
                for &a in &set {
                    self.leaving[a] = None;
                }
                self.working = set;
                return Some(());
            }
        }
        None
    }

    /// The impact law for a set of closed constraints, repeated while something closes; then contact.
    fn collide(&mut self, closed: Vec<usize>) -> Option<()> {
        self.working.clear();
        let d = self.model.d();
        for _ in 0..1000 {
            let rates: Vec<f64> = closed.iter().map(|&a| self.rate(a)).collect();
            if rates.iter().all(|&u| u > -STILL) {
                break;
            }
            self.impacts += 1;
            let (mass, _) = self.model.dynamics(self.t, &self.q, &self.v, Nudge(0.0));
            let slopes = |a: usize| self.model.slopes(a, self.t, &self.q, &self.v).0;
            let e = |a: usize| self.model.gaps[a].1 * (1.0 - self.nudge.0.abs());
            let before = self.v;
            let places: Vec<usize> = (0..closed.len()).collect();
            let mut solved = false;
            for set in subsets(&places) {
                // W = U⁺ + eU⁻ vanishes where there is an impulse, and is not negative elsewhere.
                let (mut delassus, mut right) = ([[0.0; C]; C], [0.0; C]);
                let ways: Vec<Vector> = set.iter().filter_map(|&k| solve(d, mass, slopes(closed[k]))).collect();
                for (i, &k) in set.iter().enumerate() {
                    right[i] = -(1.0 + e(closed[k])) * rates[k];
                    for (j, way) in ways.iter().enumerate() {
                        delassus[i][j] = dot(&slopes(closed[k]), way);
                    }
                }
                let Some(impulses) = solve(set.len(), delassus, right) else { continue };
                let mut after = before;
                for (j, way) in ways.iter().enumerate() {
                    for i in 0..d {
                        after[i] += impulses[j] * way[i];
                    }
                }
                let scale = 1e-13 * rates.iter().map(|u| u.abs()).fold(0.0, f64::max);
                let fits = (0..set.len()).all(|k| impulses[k] >= 0.0)
                    && places.iter().filter(|k| !set.contains(k)).all(|&k| {
                        let (gradient, partial, _) = self.model.slopes(closed[k], self.t, &self.q, &after);
                        partial + dot(&gradient, &after) + e(closed[k]) * rates[k] >= -scale
                    });
                if fits {
                    self.v = after;
                    solved = true;
                    break;
                }
            }
            if !solved {
                return None;
            }
        }
        if closed.iter().any(|&a| self.rate(a) <= -STILL) {
            return None;
        }
        self.settle(&closed)
    }

    /// After an impact: what bounces no more is held, and what has no speed may be.
    fn settle(&mut self, closed: &[usize]) -> Option<()> {
        // (A nudge at every impact: near a graze the motion feels what happens there far more than its start.)
        if let [a] = closed
            && self.rate(*a) > STILL
        {
            let row = self.model.slopes(*a, self.t, &self.q, &self.v).0;
            let by = self.nudge.0.abs() / dot(&row, &row).sqrt();
            (0..self.model.d()).for_each(|i| self.q[i] += by * row[i]);
        }
        for &a in closed {
            self.leaving[a] = Some(self.gap(a));
        }
        let still: Vec<usize> = closed.iter().copied().filter(|&a| self.rate(a).abs() <= STILL).collect();
        self.choose(&still)?;
        for &a in closed {
            let (rate, e) = (self.rate(a), self.model.gaps[a].1);
            if rate <= STILL || self.working.contains(&a) {
                continue;
            }
            let press = -self.press(a)?;
            if press > 0.0 && 0.5 * rate * rate / press < LOW && e < 1.0 {
                let mut all = self.working.clone();
                all.push(a);
                self.stop(&all)?;
                let mut still = still.clone();
                still.push(a);
                return self.choose(&still);
            }
        }
        Some(())
    }

    /// The acceleration of a gap with the working set held.
    fn press(&self, a: usize) -> Option<f64> {
        let solved = self.held(self.t, &self.q, &self.v, &self.working)?;
        let (gradient, _, gamma) = self.model.slopes(a, self.t, &self.q, &self.v);
        Some(gamma + dot(&gradient, &solved.a))
    }

    /// Removes gap velocities, in the kinetic metric.
    fn stop(&mut self, held: &[usize]) -> Option<()> {
        let d = self.model.d();
        let (mass, _) = self.model.dynamics(self.t, &self.q, &self.v, Nudge(0.0));
        let (mut delassus, mut right) = ([[0.0; C]; C], [0.0; C]);
        let rows: Vec<Vector> = held.iter().map(|&a| self.model.slopes(a, self.t, &self.q, &self.v).0).collect();
        let ways: Vec<Vector> = rows.iter().filter_map(|r| solve(d, mass, *r)).collect();
        for (i, &a) in held.iter().enumerate() {
            right[i] = -self.rate(a);
            for j in 0..ways.len() {
                delassus[i][j] = dot(&rows[i], &ways[j]);
            }
        }
        let impulses = solve(held.len(), delassus, right)?;
        for (j, way) in ways.iter().enumerate() {
            for i in 0..d {
                self.v[i] += impulses[j] * way[i];
            }
        }
        Some(())
    }

    /// Puts held gaps back to zero.
    fn close(&mut self) -> Option<()> {
        for _ in 0..3 {
            for a in self.working.clone() {
                let (mass, _) = self.model.dynamics(self.t, &self.q, &self.v, Nudge(0.0));
                let row = self.model.slopes(a, self.t, &self.q, &self.v).0;
                let way = solve(self.model.d(), mass, row)?;
                let by = -self.gap(a) / dot(&row, &way);
                for i in 0..self.model.d() {
                    self.q[i] += by * way[i];
                }
            }
        }
        let held = self.working.clone();
        self.stop(&held)
    }

    /// The longest step that sees every feature.
    fn limit(&self) -> f64 {
        let mut h = self.longest;
        for (u, width) in &self.model.features {
            let [u, rate, _] = along(u, self.t, 1.0, &self.q, &self.v);
            h = h.min(0.3 * u.abs().max(*width) / rate.abs().max(1e-30));
        }
        for a in 0..self.model.gaps.len() {
            if self.leaving[a].is_some() {
                let (rate, press) = (self.rate(a), self.press(a).unwrap_or(0.0));
                if rate > STILL && press < 0.0 {
                    h = h.min(rate / -press);
                }
            }
        }
        h
    }

    /// Goes on to a time; `None` if the oracle does not know how.
    pub fn advance(&mut self, to: f64) -> Option<()> {
        while self.t < to {
            let left = to - self.t;
            let mut h = self.h.min(self.limit()).min(left);
            let (step, error) = loop {
                self.budget = self.budget.checked_sub(1)?;
                if h < 1e-15 * (1.0 + self.t) && h < left {
                    return None;
                }
                if let Some(found) = self.attempt(h) {
                    if found.1 <= 1.0 {
                        break found;
                    }
                    h *= (0.8 * found.1.powf(-1.0 / 10.0)).clamp(0.1, 0.7);
                } else {
                    h *= 0.4;
                }
            };
            self.h = h * (0.8 * error.max(1e-12).powf(-1.0 / 10.0)).clamp(1.0, 3.0);
            self.take(&step, h == left, to)?;
        }
        Some(())
    }

    /// A step of length h with its error beside the tolerance.
    fn attempt(&self, h: f64) -> Option<(Step, f64)> {
        let working = &self.working;
        let mut field = |t: f64, q: &Vector, v: &Vector| self.held(t, q, v, working).map(|s| s.a);
        let step = collocation::step(self.model.d(), (self.t, self.q, self.v), h, &mut field)?;
        let mut error = 0.0_f64;
        for i in 0..self.model.d() {
            error = error.max(h * step.tail[i] / (self.tol * (1.0 + self.v[i].abs())));
        }
        let (q, _) = step.at(1.0);
        for (u, width) in &self.model.features {
            let (from, to) = (along(u, self.t, 0.0, &self.q, &self.v)[0], along(u, self.t + h, 0.0, &q, &self.v)[0]);
            if (from - to).abs() > 0.7 * width.max(from.abs()).max(to.abs()) {
                return None;
            }
        }
        Some((step, error))
    }

    /// What is watched along a step: it is an event where it turns negative.
    fn watched(&self, event: Event, step: &Step, x: f64) -> f64 {
        let ((q, v), t) = (step.at(x), self.t + x * step.h);
        match event {
            Event::Hit(a) => {
                let gap = self.model.gap(a, t, &q);
                match self.leaving[a] {
                    Some(offset) => gap - offset.min(0.0) + if offset > 1e-11 { 0.0 } else { 1e-14 },
                    None => gap,
                }
            }
            Event::Release(k) => self.held(t, &q, &v, &self.working).map_or(f64::NAN, |s| s.pushes[k]),
            Event::Switch => f64::NAN,
        }
    }

    /// Takes a step up to its first event.
    fn take(&mut self, step: &Step, whole: bool, to: f64) -> Option<()> {
        let mut first: Option<(f64, Event)> = None;
        let mut candidates: Vec<Event> = (0..self.working.len()).map(Event::Release).collect();
        candidates.extend((0..self.model.gaps.len()).filter(|a| !self.working.contains(a)).map(Event::Hit));
        for event in candidates {
            let f = |x: f64| self.watched(event, step, x);
            let end = first.map_or(1.0, |f| f.0);
            if let Some(x) = first_negative(&f, end) {
                first = Some((x, event));
            }
        }
        for u in &self.model.switches {
            let f = |x: f64| {
                let (q, _) = step.at(x);
                u.eval(self.t + x * step.h, &q[..], &[])
            };
            // From a zero a switch goes where it is a moment later.
            let sign = match f(0.0) {
                s if s.abs() > 1e-15 => s.signum(),
                _ => f(1e-3).signum(),
            };
            let guarded = |x: f64| if x == 0.0 { 0.0_f64.max(sign * f(0.0)) } else { sign * f(x) };
            if let Some(x) = first_negative(&guarded, first.map_or(1.0, |f| f.0))
                && x > 0.0
            {
                first = Some((x, Event::Switch));
            }
        }
        let x = first.map_or(1.0, |f| f.0);
        (self.q, self.v) = step.at(x);
        self.t = if whole && first.is_none() { to } else { self.t + x * step.h };
        if !self.working.is_empty() {
            self.close()?;
        }
        for a in 0..self.model.gaps.len() {
            if self.leaving[a].is_some() && self.gap(a) > 1e-9 {
                self.leaving[a] = None;
            }
        }
        let Some((_, event)) = first else { return Some(()) };
        self.budget = self.budget.checked_sub(1)?;
        self.last_event = self.t;
        self.h = (0.1 * self.h).max(1e-9).min(self.h);
        match event {
            Event::Hit(a) => {
                let mut closed = self.working.clone();
                closed.extend((0..self.model.gaps.len()).filter(|&b| {
                    !self.working.contains(&b) && (b == a || (self.gap(b) < CLOSED && self.rate(b).abs() < STILL))
                }));
                self.collide(closed)
            }
            Event::Release(k) => {
                let a = self.working[k];
                let still: Vec<usize> = self.working.clone();
                self.working.remove(k);
                self.leaving[a] = Some(self.gap(a));
                // It opens by the next derivative; the others stay as they are.
                let others: Vec<usize> = still.into_iter().filter(|&b| b != a).collect();
                self.choose(&others)
            }
            Event::Switch => {
                let still: Vec<usize> = (0..self.model.gaps.len())
                    .filter(|&a| self.working.contains(&a) || (self.leaving[a].is_some() && self.rate(a).abs() < STILL))
                    .collect();
                self.choose(&still)
            }
        }
    }
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// All subsets, the larger ones last.
fn subsets(of: &[usize]) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..1_usize << of.len())
        .map(|mask| (0..of.len()).filter(|k| mask >> k & 1 == 1).map(|k| of[k]).collect())
        .collect();
    all.sort_by_key(Vec::len);
    all
}

/// The first place in [0, end] where a function turns negative: samples, the bottoms between them, bisection.
pub fn first_negative(f: &dyn Fn(f64) -> f64, end: f64) -> Option<f64> {
    const SAMPLES: usize = 24;
    let xs: Vec<f64> = (0..=SAMPLES).map(|k| end * k as f64 / SAMPLES as f64).collect();
    let mut values: Vec<f64> = Vec::with_capacity(xs.len());
    for k in 0..xs.len() {
        values.push(f(xs[k]));
        if values[k] < 0.0 {
            return Some(if k == 0 { 0.0 } else { bisect(f, xs[k - 1], xs[k]) });
        }
        if k >= 2 && values[k - 1] <= values[k] && values[k - 1] <= values[k - 2] {
            let (mut low, mut high) = (xs[k - 2], xs[k]);
            for _ in 0..60 {
                let (a, b) = (low + 0.382 * (high - low), high - 0.382 * (high - low));
                let (fa, fb) = (f(a), f(b));
                if fa < 0.0 || fb < 0.0 {
                    let bottom = if fa < 0.0 { a } else { b };
                    return Some(bisect(f, xs[k - 2], bottom));
                }
                if fa < fb {
                    high = b
                } else {
                    low = a
                }
                // A parabola through the bottom shows early that it stays away from zero.
                if (fa - fb).abs() < 1e-3 * fa.min(fb) && high - low < 0.02 * end {
                    break;
                }
            }
        }
    }
    None
}

/// Between a place where a function is not negative and one where it is.
fn bisect(f: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}
