//! How long a step may be: until the last terms of every series are below the tolerance.

use super::Flow;
use crate::Reason;
use crate::event::polynomial::largest_term;
use crate::linalg::Rows;

impl Flow {
    /// The longest step, up to `cap`, at which the last four terms of every series are below `tol` of its scale (or of the
    /// larger of its first terms): velocities, reactions, arguments of switches, and gaps that are neither `far` nor held
    /// closed. The second
    /// number is what all but the gaps would allow; zero where a series is not a number.
    pub fn step(&mut self, tol: f64, cap: f64, scales: &Scales, far: &[bool]) -> (f64, f64) {
        let (mut h, mut alone) = (cap, cap);
        let n = self.reached;
        // The scale of a series that starts from rest depends on the step: from above, until both fit.
        for _ in 0..60 {
            let mut speeds = std::mem::take(&mut self.scales);
            for i in 0..self.d {
                speeds[i] = scales.v[i].max(largest_term(&self.velocity(i)[..=n / 2], h));
            }
            self.share(&mut speeds);
            let mut worst = Worst::new(n);
            for (i, speed) in speeds.iter_mut().enumerate() {
                worst.see(&self.velocity(i)[..=n], tol * *speed, Culprit::Coordinate(i));
            }
            self.scales = speeds;
            for (k, &alpha) in self.working.iter().enumerate() {
                let c = self.reaction(k);
                let scale = scales.reaction[alpha].max(largest_term(&c[..=n / 2], h));
                worst.see(&c[..n], tol * scale, Culprit::Constraint(alpha));
            }
            if self.using_full {
                for switch in 0..self.full.switches() {
                    let c = self.full.argument(switch);
                    // (A denominator beyond the largest number: the function inside it has marks of its own.)
                    if self.is_mark(switch) && !c.iter().all(|c| c.is_finite()) {
                        continue;
                    }
                    worst.see(
                        &c[..=n],
                        tol * scales.switch[switch].max(largest_term(&c[..=n / 2], h)),
                        Culprit::Switch,
                    );
                }
            }
            alone = worst.step();
            self.reach = alone;
            for (alpha, scale) in scales.gap.iter().enumerate() {
                if far[alpha] || self.working.contains(&alpha) {
                    continue;
                }
                let c = self.gap(alpha);
                worst.see(&c[..=n], tol * scale.max(largest_term(&c[..=n / 2], h)), Culprit::Constraint(alpha));
            }
            let fits = worst.step();
            self.culprit = worst.culprit;
            if fits >= 0.9 * h || fits == 0.0 {
                return (fits.min(h), alone.min(cap));
            }
            h = fits;
        }
        (h, alone.min(cap))
    }

    /// Coordinates that hardly move are measured by others of their body: by 1e-4 of its largest speed, in the kinetic metric.
    pub(super) fn share(&mut self, speeds: &mut [f64]) {
        self.energies.fill(0.0);
        // (A state is measured by itself.)
        for (i, speed) in speeds[..self.degrees].iter().enumerate() {
            let energy = speed * speed * self.inertia(i);
            let most = &mut self.energies[self.bodies[i]];
            *most = most.max(energy);
        }
        for (i, speed) in speeds[..self.degrees].iter_mut().enumerate() {
            *speed = speed.max(1e-4 * (self.energies[self.bodies[i]] / self.inertia(i)).sqrt());
        }
    }

    /// What the series of one gap allows by itself.
    pub fn gap_step(&self, alpha: usize, tol: f64, cap: f64, scale: f64) -> f64 {
        let c = self.gap(alpha);
        let mut worst = Worst::new(self.reached);
        worst.see(&c[..=self.reached], tol * scale.max(c[0].abs()), Culprit::Constraint(alpha));
        worst.step().min(cap)
    }

    /// Why no step is short enough: whose series it was.
    pub fn singular(&self) -> Reason {
        let model = self.instance.model();
        // A root somewhere inside: whose series grows fastest with it.
        let culprit = match self.culprit {
            Culprit::Switch => {
                let growth = |c: &[f64]| match (c[self.reached] / c[self.reached - 1]).abs() {
                    g if g.is_nan() && c.iter().all(|x| x.is_finite()) => 0.0,
                    g if g.is_nan() => f64::INFINITY,
                    g => g,
                };
                let gaps = (0..self.gaps.len()).map(|a| (growth(self.gap(a)), Culprit::Constraint(a)));
                let motion = (0..self.d).map(|i| (growth(self.velocity(i)), Culprit::Coordinate(i)));
                motion
                    .chain(gaps)
                    .fold((0.0, Culprit::Switch), |most, next| if next.0 > most.0 { next } else { most })
                    .1
            }
            plain => plain,
        };
        let what = match culprit {
            Culprit::Coordinate(i) => format!("the motion of `{}`", model.unknown(i)),
            Culprit::Constraint(alpha) => format!("the gap of `{}`", model.constraints[alpha].name),
            Culprit::Switch => "the argument of a switching force".to_string(),
        };
        Reason::Singular { what }
    }

    /// The scale by which the velocity of coordinate i was measured in the last step.
    pub fn scale(&self, i: usize) -> f64 {
        self.scales[i]
    }

    /// The slope of a gap in the kinetic metric, √(Σ (∂f/∂qᵢ)²/Mᵢᵢ): a gap over its slope is a distance.
    pub fn slope(&self, alpha: usize, gradients: &Rows) -> f64 {
        let (places, values) = gradients.row(alpha);
        places.iter().zip(values).map(|(&i, g)| g * g / self.inertia(i)).sum::<f64>().sqrt()
    }

    /// What rounding makes of the free acceleration of coordinate i at a point.
    pub fn rounding_of_acceleration(&self, i: usize, t: f64, q: &[f64], v: &[f64]) -> f64 {
        let mut series = if self.using_full { self.full.clone() } else { self.light.clone() };
        series.set_input(0, 0, t);
        for k in 0..self.d {
            series.set_input(1 + k, 0, q[k]);
            series.set_input(1 + self.d + k, 0, v[k]);
        }
        series.advance(0, true);
        series.rounding()[self.layout.force + i] / self.inertia(i)
    }

    /// The length of a vector of velocities or displacements in the same metric.
    pub fn length(&self, x: &[f64]) -> f64 {
        x[..self.degrees].iter().enumerate().map(|(i, x)| x * x * self.inertia(i)).sum::<f64>().sqrt()
    }

    /// The length of the velocity expanded about.
    pub fn length_of_start(&self) -> f64 {
        (0..self.degrees).map(|i| self.velocity(i)[0].powi(2) * self.inertia(i)).sum::<f64>().sqrt()
    }

    /// How far a velocity is from the one expanded about.
    pub fn change(&self, v: &[f64]) -> f64 {
        let square = |(i, v): (usize, &f64)| (v - self.velocity(i)[0]).powi(2) * self.inertia(i);
        v[..self.degrees].iter().enumerate().map(square).sum::<f64>().sqrt()
    }

    /// The diagonal entry of M.
    pub(super) fn inertia(&self, i: usize) -> f64 {
        self.metric.entries()[if self.diagonal { i } else { i * self.d + i }]
    }
}

/// How far a polynomial is what it was cut from, up to `cap`: as far as its last four terms are below `tol` of the largest of the others.
/// Zero where it is not a number.
pub fn reach(c: &[f64], tol: f64, cap: f64) -> f64 {
    let (mut h, rest) = (cap, c.len().saturating_sub(LAST).max(1));
    if !c.iter().all(|c| c.is_finite()) {
        return 0.0;
    }
    if c.len() <= LAST {
        return cap;
    }
    for _ in 0..60 {
        let mut worst = Worst::new(c.len() - 1);
        worst.see(c, tol * largest_term(&c[..rest], h), Culprit::Switch);
        let fits = worst.step();
        if fits >= 0.9 * h || fits == 0.0 {
            return fits.min(h);
        }
        h = fits;
    }
    h
}

/// The largest values of late, by which errors are measured.
#[derive(Debug, Default)]
pub struct Scales {
    /// Speeds of the coordinates.
    pub v: Vec<f64>,
    /// Gaps.
    pub gap: Vec<f64>,
    /// Reactions.
    pub reaction: Vec<f64>,
    /// Arguments of switches.
    pub switch: Vec<f64>,
}

/// Whose series allows the shortest step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Culprit {
    Coordinate(usize),
    Constraint(usize),
    Switch,
}

/// How many of the last terms are used: series in even or odd powers have every other one zero.
const LAST: usize = 4;

/// Each term before the last may be larger by this: a step that ends where series are trusted has terms that fall so.
const EASIER: f64 = 8.0;

/// For each of the last orders, the largest ratio of a coefficient to what is allowed.
struct Worst {
    order: usize,
    ratios: [f64; LAST + 2],
    broken: bool,
    culprit: Culprit,
}

impl Worst {
    fn new(order: usize) -> Self {
        Worst { order, ratios: [0.0; LAST + 2], broken: false, culprit: Culprit::Coordinate(0) }
    }

    fn see(&mut self, c: &[f64], allowed: f64, culprit: Culprit) {
        let mut allowed = allowed.max(1e-300);
        for k in (c.len() - LAST..c.len()).rev() {
            let ratio = c[k].abs() / allowed;
            allowed *= EASIER;
            let most = &mut self.ratios[self.order + 1 - k];
            if ratio > *most {
                *most = ratio;
                if !self.broken {
                    self.culprit = culprit;
                }
            } else if ratio.is_nan() && !self.broken {
                self.broken = true;
                self.culprit = culprit;
            }
        }
    }

    /// The step at which they are just allowed; zero if one of them is not a number.
    fn step(&self) -> f64 {
        if self.broken || self.ratios.contains(&f64::INFINITY) {
            return 0.0;
        }
        let each = self.ratios.iter().enumerate().filter(|(_, r)| **r > 0.0);
        each.map(|(k, r)| r.powf(-1.0 / (self.order + 1 - k) as f64)).fold(f64::INFINITY, f64::min)
    }
}
