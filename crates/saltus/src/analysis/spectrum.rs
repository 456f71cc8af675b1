//! Spectra of a run: the response of oscillators that stand on a point of a structure (floor response spectra), and the
//! distribution of a displacement or a force over frequencies.

use crate::linalg::fourier;
use crate::motion::{Side, Trajectory};
use crate::run::Run;
use crate::structure::Structure;
use crate::{Kind, SetupError};
use std::f64::consts::TAU;

/// The largest response of oscillators on a point, by frequency and damping ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseSpectrum {
    /// The point, by its index.
    pub point: usize,
    /// Frequencies of the oscillators, per unit of time (Hz).
    pub frequencies: Vec<f64>,
    /// Their damping ratios.
    pub ratios: Vec<f64>,
    /// The largest absolute acceleration, one list of frequencies per ratio.
    pub acceleration: Vec<Vec<f64>>,
    /// The largest displacement relative to the point.
    pub displacement: Vec<Vec<f64>>,
}

/// One-sided spectral density of a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// Frequencies, per unit of time (Hz).
    pub frequencies: Vec<f64>,
    /// Density: its sum times the distance of frequencies is the mean square of the signal less its mean.
    pub density: Vec<f64>,
}

/// Terms of the Taylor series of an oscillator in a substep of ω s ≤ ¼.
const TERMS: usize = 16;

/// Samples of a spectral density, at most.
const SAMPLES: usize = 1 << 17;

/// An oscillator w'' + 2ζω (w' − u') + ω² (w − u) = −a(t) on a point u of a structure whose base moves with the acceleration a. Its
/// input are u and u', never u'': at an impact u' jumps, and nothing has to be made of it.
struct Oscillator {
    frequency: f64,
    ratio: f64,
    w: f64,
    rate: f64,
    acceleration: f64,
    displacement: f64,
}

impl Oscillator {
    /// Over an interval in which u is the cubic and a the quadratic with these coefficients.
    fn advance(&mut self, length: f64, u: &[f64; 4], a: &[f64; 3]) {
        let pieces = (4.0 * self.frequency * length).ceil().max(1.0);
        let s = length / pieces;
        for piece in 0..pieces as usize {
            let at = piece as f64 * s;
            let u = shifted(u, at);
            let a = shifted(&[a[0], a[1], a[2], 0.0], at);
            self.fly(s, &u, &a);
        }
    }

    fn fly(&mut self, s: f64, u: &[f64; 4], a: &[f64; 4]) {
        let (omega, damping) = (self.frequency, 2.0 * self.ratio * self.frequency);
        let mut w = [0.0; TERMS];
        (w[0], w[1]) = (self.w, self.rate);
        for j in 0..TERMS - 2 {
            let slope = if j < 3 { (j + 1) as f64 * u[j + 1] } else { 0.0 };
            let push = if j < 4 { damping * slope + omega * omega * u[j] - a[j] } else { 0.0 };
            let own = damping * (j + 1) as f64 * w[j + 1] + omega * omega * w[j];
            w[j + 2] = (push - own) / ((j + 2) * (j + 1)) as f64;
        }
        // z = w − u, and the absolute acceleration −2ζω z' − ω² z.
        let mut z = w;
        z.iter_mut().zip(u).for_each(|(z, u)| *z -= u);
        let mut felt = [0.0; TERMS];
        for j in 0..TERMS {
            let slope = if j + 1 < TERMS { (j + 1) as f64 * z[j + 1] } else { 0.0 };
            felt[j] = damping * slope + omega * omega * z[j];
        }
        self.displacement = self.displacement.max(largest(&z, s));
        self.acceleration = self.acceleration.max(largest(&felt[..TERMS - 1], s));
        (self.w, self.rate) = crate::motion::value_and_slope(&w, s);
    }
}

/// A cubic about another place.
fn shifted(c: &[f64; 4], s: f64) -> [f64; 4] {
    [c[0] + s * (c[1] + s * (c[2] + s * c[3])), c[1] + s * (2.0 * c[2] + 3.0 * s * c[3]), c[2] + 3.0 * s * c[3], c[3]]
}

/// The largest |p| on [0, s], of a polynomial that turns at most once there.
fn largest(p: &[f64], s: f64) -> f64 {
    let (at, slope) = (|x: f64| crate::motion::value(p, x).abs(), |x: f64| crate::motion::value_and_slope(p, x).1);
    let ends = at(0.0).max(at(s));
    let (mut left, mut right) = (slope(0.0), slope(s));
    if left * right >= 0.0 {
        return ends;
    }
    // False position with Illinois' correction.
    let (mut a, mut b) = (0.0, s);
    for _ in 0..12 {
        let x = (a * right - b * left) / (right - left);
        let value = slope(x);
        if value * right > 0.0 {
            (b, right) = (x, value);
            left *= 0.5;
        } else {
            (a, left) = (x, value);
            right *= 0.5;
        }
        if value == 0.0 {
            return ends.max(at(x));
        }
    }
    ends.max(at(0.5 * (a + b)))
}

/// Pieces of a run by events are read at least this often, and so many times in a period of the fastest oscillator: the cubics in
/// between are then as good as they are.
const READ: f64 = 16.0;
const IN_A_PERIOD: f64 = 50.0;

/// The intervals of the motion of a point, one after the other: from, to, and u, u' at both ends. Polynomials are read finely, steps as
/// they were made.
fn intervals(
    run: &Run,
    point: usize,
    fastest: f64,
    mut each: impl FnMut(f64, f64, [f64; 4]),
) -> Result<(), SetupError> {
    let whole = &run.trajectory;
    if whole.len() < 2 {
        return Err(SetupError::new("the run has too few stored instants for a spectrum"));
    }
    if !whole.pieces.is_empty() {
        let (mut q, mut v) = (vec![0.0; whole.dimension()], vec![0.0; whole.dimension()]);
        for k in 0..whole.pieces.len() {
            let (start, end) = whole.pieces.span(k);
            let parts = READ.max((IN_A_PERIOD * fastest * (end - start)).ceil()) as usize;
            let at = |j: usize| if j == parts { end } else { start + (end - start) * j as f64 / parts as f64 };
            whole.pieces.read(k, start, &mut q, &mut v);
            let mut before = [q[point], v[point]];
            for j in 1..=parts {
                whole.pieces.read(k, at(j), &mut q, &mut v);
                each(at(j - 1), at(j), [before[0], before[1], q[point], v[point]]);
                before = [q[point], v[point]];
            }
        }
        return Ok(());
    }
    let (motion, i) = match run.followed.of(point) {
        Some(followed) => followed,
        None if run.by_events() || run.options.every > 1 => return Err(too_coarse(run)),
        None => (whole, point),
    };
    for k in 1..motion.len() {
        let ends = [motion.q(k - 1)[i], motion.v(k - 1, Side::Right)[i], motion.q(k)[i], motion.v(k, Side::Left)[i]];
        each(motion.t[k - 1], motion.t[k], ends);
    }
    Ok(())
}

/// Between instants that are far apart the motion is not known.
fn too_coarse(run: &Run) -> SetupError {
    let error = SetupError::new("too few instants of the point are kept for a spectrum of its motion")
        .with_kind(Kind::Unsupported);
    match run.by_events() {
        true => error.help("keep the polynomials of the run, or make it with a time-stepping scheme"),
        false => error.help("follow the point at every step (`Options::follow`), or store every step"),
    }
}

/// The response of oscillators on a point: the floor response spectrum where the base moves. Frequencies are per unit of time. It is
/// integrated over every step of the run, so one that stores fewer instants must follow the point ([`crate::Options::follow`]).
pub fn response_spectrum(
    structure: &Structure,
    run: &Run,
    point: usize,
    frequencies: &[f64],
    ratios: &[f64],
) -> Result<ResponseSpectrum, SetupError> {
    let motion = &run.trajectory;
    let bad = |name: &str, value: f64, what: &str| {
        SetupError::new(format!("{what}, not {value}")).with_kind(Kind::OutOfRange { name: name.into(), value })
    };
    if let Some(&f) = frequencies.iter().find(|f| !(**f > 0.0 && f.is_finite())) {
        return Err(bad("frequency", f, "the frequency of an oscillator must be positive"));
    }
    if let Some(&z) = ratios.iter().find(|z| !(**z >= 0.0 && z.is_finite())) {
        return Err(bad("ratio", z, "the damping ratio of an oscillator must not be negative"));
    }
    if point >= motion.dimension() {
        return Err(SetupError::new(format!("there is no point {point}: there are {}", motion.dimension())));
    }
    if structure.is_force(point) {
        return Err(SetupError::new(format!(
            "`{}` is a force, the base shear: nothing stands on it",
            structure.model().coordinates[point]
        ))
        .with_kind(Kind::Unsupported)
        .help("a floor response spectrum is that of a point that moves; the spectral density of a force can be had"));
    }
    if motion.is_empty() {
        return Err(SetupError::new("the run has too few stored instants for a spectrum"));
    }
    let (u0, v0) = (motion.q(0)[point], motion.v(0, Side::Right)[point]);
    let mut all: Vec<Oscillator> = Vec::new();
    for &ratio in ratios {
        all.extend(frequencies.iter().map(|f| Oscillator {
            frequency: TAU * f,
            ratio,
            w: u0,
            rate: v0,
            acceleration: 0.0,
            displacement: 0.0,
        }));
    }
    let shares: Vec<(usize, f64)> = structure.base_shares().iter().map(|(l, share)| (*l, share[point])).collect();
    let mut signals = structure.signals();
    let mut base = |t: f64| {
        signals.evaluate(t);
        shares.iter().map(|(l, share)| share * signals.loads[*l]).sum::<f64>()
    };
    let mut before = base(motion.t[0]);
    let fastest = frequencies.iter().copied().fold(0.0, f64::max);
    intervals(run, point, fastest, |from, to, [q0, v0, q1, v1]| {
        let h = to - from;
        if !(h > 0.0) {
            return;
        }
        let mean = (q1 - q0) / h;
        let u = [q0, v0, (3.0 * mean - 2.0 * v0 - v1) / h, (v0 + v1 - 2.0 * mean) / (h * h)];
        let (middle, after) = (base(0.5 * (from + to)), base(to));
        let a = [before, (4.0 * middle - 3.0 * before - after) / h, 2.0 * (before - 2.0 * middle + after) / (h * h)];
        before = after;
        all.iter_mut().for_each(|one| one.advance(h, &u, &a));
    })?;
    let n = frequencies.len().max(1);
    let lists = |of: fn(&Oscillator) -> f64| all.chunks(n).map(|list| list.iter().map(of).collect()).collect();
    Ok(ResponseSpectrum {
        point,
        frequencies: frequencies.to_vec(),
        ratios: ratios.to_vec(),
        acceleration: lists(|one| one.acceleration),
        displacement: lists(|one| one.displacement),
    })
}

/// The spectral density of the displacement of a point, from every step where it was followed ([`crate::Options::follow`]).
pub fn displacement_density(run: &Run, point: usize) -> Result<Density, SetupError> {
    if point >= run.trajectory.dimension() {
        return Err(SetupError::new(format!("there is no point {point}: there are {}", run.trajectory.dimension())));
    }
    // (Of coarse instants, what is faster than they are would appear at other frequencies.)
    let (motion, point) = run.followed.of(point).unwrap_or((&run.trajectory, point));
    let (from, to, n) = samples(motion)?;
    let mut cursor = motion.cursor(Side::Right);
    let (mut q, mut v) = (vec![0.0; motion.dimension()], vec![0.0; motion.dimension()]);
    let mut values = Vec::with_capacity(n);
    for j in 0..n {
        let t = from + (to - from) * j as f64 / n as f64;
        cursor.read(t, &mut q, &mut v).map_err(|e| SetupError::new(e.to_string()))?;
        values.push(q[point]);
    }
    Ok(density(values, to - from))
}

/// The spectral density of the force of a stop. Impulses are part of it: a sample is the mean force over its interval.
pub fn force_density(run: &Run, stop: usize) -> Result<Density, SetupError> {
    let motion = &run.trajectory;
    let (from, to, n) = samples(motion)?;
    if !motion.history.has_impulses() {
        return Err(SetupError::new("the forces of stops over time are kept by time-stepping schemes only")
            .with_kind(Kind::Unsupported)
            .help("run it with paoli-schatzman or moreau-jean"));
    }
    let at = |j: usize| motion.history.impulse(&motion.t, stop, from + (to - from) * j as f64 / n as f64);
    let width = (to - from) / n as f64;
    Ok(density((0..n).map(|j| (at(j + 1) - at(j)) / width).collect(), to - from))
}

/// The interval of a run and a power of two of samples, about as many as there are stored instants.
fn samples(motion: &Trajectory) -> Result<(f64, f64, usize), SetupError> {
    let Some((from, to)) = motion.span().filter(|(from, to)| to > from && motion.len() > 8) else {
        return Err(SetupError::new("the run has too few stored instants for a spectrum"));
    };
    let n = (motion.len() / 2 + 1).next_power_of_two().min(SAMPLES);
    Ok((from, to, n))
}

fn density(mut values: Vec<f64>, span: f64) -> Density {
    let n = values.len();
    let mean = values.iter().sum::<f64>() / n as f64;
    values.iter_mut().for_each(|x| *x -= mean);
    let mut imaginary = vec![0.0; n];
    fourier(&mut values, &mut imaginary);
    let scale = 2.0 * span / (n as f64 * n as f64);
    // (At the highest frequency there is one line, not two.)
    let part = |k: usize| if 2 * k == n { 0.5 } else { 1.0 };
    let of = |k: usize| part(k) * scale * (values[k] * values[k] + imaginary[k] * imaginary[k]);
    Density { frequencies: (1..=n / 2).map(|k| k as f64 / span).collect(), density: (1..=n / 2).map(of).collect() }
}
