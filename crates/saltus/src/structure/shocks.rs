//! The table of shocks that engineers know from structural codes: time, duration, impulse, speed, rebounds; and statistics.

use crate::{Contact, Trajectory};

/// One uninterrupted touch of a stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    pub stop: usize,
    pub start: f64,
    pub end: f64,
    pub impulse: f64,
    /// The gap velocity at the start (negative).
    pub approach: f64,
    /// The largest force, for a stop with a stiffness.
    pub peak: f64,
    /// ∫ F |v_T| dt, where something slides.
    pub wear: f64,
}

/// A shock: touches of one stop that follow each other closely.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shock {
    /// The stop, by its index among the constraints.
    pub stop: usize,
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// The total impulse.
    pub impulse: f64,
    /// The speed at which the gap closes first.
    pub speed: f64,
    /// How many times it touched again before it was over.
    pub rebounds: usize,
    /// The largest force; none for a rigid stop, whose impacts have impulses and no force.
    pub peak: Option<f64>,
}

/// Statistics of one stop over a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StopStatistics {
    /// Number of shocks.
    pub count: usize,
    /// Number of rebounds in them, in all.
    pub rebounds: usize,
    /// The largest, mean and standard deviation of the impulses.
    pub impulse: (f64, f64, f64),
    /// The same of the speeds.
    pub speed: (f64, f64, f64),
    /// The time in contact, all touches together.
    pub contact_time: f64,
    /// The mean force: total impulse over duration.
    pub mean_force: f64,
    /// The root mean square of the force, where it is a force and no impulse: a stop with a stiffness.
    pub rms_force: Option<f64>,
    /// The wear power as an impulse form of (1/T)∫F |v_T| dt, where something slides.
    pub wear_power: Option<f64>,
    /// Impulses in ten classes of equal width from zero to the largest.
    pub histogram: [usize; 10],
}

/// All shocks of a run.
#[derive(Clone, Debug, Default)]
pub struct Shocks {
    /// In the order of their beginning.
    pub list: Vec<Shock>,
    /// One entry a stop.
    pub stops: Vec<StopStatistics>,
    /// Touches nearer than this were counted as one shock.
    pub rest: f64,
    /// Largest, smallest and root mean square displacement of each point (over stored instants).
    pub points: Vec<(f64, f64, f64)>,
}

/// What is known of a stop besides its touches.
#[derive(Clone, Debug, Default)]
pub(super) struct StopKind {
    pub compliant: bool,
    pub slides: bool,
    /// ∫ F² dt.
    pub squared: f64,
}

impl Shocks {
    pub(super) fn new(mut touches: Vec<Touch>, kinds: &[StopKind], rest: f64, motion: &Trajectory) -> Self {
        touches.sort_by(|a, b| a.start.total_cmp(&b.start));
        let duration = motion.t.last().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
        let mut list: Vec<Shock> = Vec::new();
        let mut open: Vec<Option<usize>> = vec![None; kinds.len()];
        for touch in &touches {
            let last = open[touch.stop].filter(|&k| touch.start - list[k].end <= rest);
            let peak = kinds[touch.stop].compliant.then_some(touch.peak);
            match last {
                Some(k) => {
                    let shock = &mut list[k];
                    shock.end = touch.end.max(shock.end);
                    shock.impulse += touch.impulse;
                    shock.rebounds += 1;
                    shock.peak = shock.peak.zip(peak).map(|(a, b)| a.max(b));
                }
                None => {
                    open[touch.stop] = Some(list.len());
                    list.push(Shock {
                        stop: touch.stop,
                        start: touch.start,
                        end: touch.end,
                        impulse: touch.impulse,
                        speed: (-touch.approach).max(0.0),
                        rebounds: 0,
                        peak,
                    });
                }
            }
        }
        let stops = (0..kinds.len())
            .map(|a| {
                let own: Vec<&Shock> = list.iter().filter(|s| s.stop == a).collect();
                let of = |touch: fn(&Touch) -> f64| touches.iter().filter(|t| t.stop == a).map(touch).sum::<f64>();
                let impulses: Vec<f64> = own.iter().map(|s| s.impulse).collect();
                let impulse = spread(&impulses);
                let mut histogram = [0; 10];
                for p in &impulses {
                    histogram[((10.0 * p / impulse.0.max(f64::MIN_POSITIVE)) as usize).min(9)] += 1;
                }
                StopStatistics {
                    count: own.len(),
                    rebounds: own.iter().map(|s| s.rebounds).sum(),
                    impulse,
                    speed: spread(&own.iter().map(|s| s.speed).collect::<Vec<_>>()),
                    contact_time: of(|t| t.end - t.start),
                    mean_force: of(|t| t.impulse) / duration,
                    rms_force: kinds[a].compliant.then(|| (kinds[a].squared / duration).sqrt()),
                    wear_power: kinds[a].slides.then(|| of(|t| t.wear) / duration),
                    histogram,
                }
            })
            .collect();
        let points = (0..motion.dimension()).map(|p| extremes(motion, p)).collect();
        Shocks { list, stops, rest, points }
    }
}

/// Largest, smallest and root mean square (over time) of a coordinate at the stored instants.
fn extremes(motion: &Trajectory, p: usize) -> (f64, f64, f64) {
    let at = |k: usize| motion.q(k)[p];
    let (mut most, mut least, mut integral) = (f64::NEG_INFINITY, f64::INFINITY, 0.0);
    for k in 0..motion.len() {
        (most, least) = (most.max(at(k)), least.min(at(k)));
        if k > 0 {
            integral += 0.5 * (motion.t[k] - motion.t[k - 1]) * (at(k).powi(2) + at(k - 1).powi(2));
        }
    }
    (most, least, (integral / motion.t.last().copied().unwrap_or(1.0).max(f64::MIN_POSITIVE)).sqrt())
}

/// Largest, mean, standard deviation.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (values.iter().copied().fold(f64::NEG_INFINITY, f64::max), mean, variance.sqrt())
}

/// The touches of a motion whose impacts and contacts were located: an impact that begins a contact is part of it.
pub(super) fn touches_of(motion: &Trajectory, stops: usize) -> Vec<Touch> {
    let mut touches = Vec::new();
    for a in 0..stops {
        let own: Vec<&Contact> = motion.contacts.iter().filter(|c| c.constraint == a).collect();
        let touch =
            |start, end, impulse, approach| Touch { stop: a, start, end, impulse, approach, peak: 0.0, wear: 0.0 };
        let impacts = motion.impacts.iter().filter_map(|i| {
            let k = i.constraints.iter().position(|&c| c == a)?;
            Some((i.t, i.impulses[k], i.approach))
        });
        let mut started: Vec<f64> = vec![0.0; own.len()];
        for (t, impulse, approach) in impacts {
            match own.iter().position(|c| c.start == t) {
                Some(k) => started[k] = f64::min(started[k], approach),
                None => touches.push(touch(t, t, impulse, approach)),
            }
        }
        touches.extend(own.iter().zip(started).map(|(c, approach)| touch(c.start, c.end, c.impulse, approach)));
    }
    touches
}
