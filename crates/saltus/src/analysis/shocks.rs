//! The table of shocks that engineers know from structural codes: time, duration, impulse, speed, rebounds; and statistics.

use crate::motion::Rubbed;
use crate::run::Run;
use crate::structure::Structure;

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
    /// When that is.
    pub peak_at: f64,
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
    /// The impulses of all shocks together.
    pub total_impulse: f64,
    /// The mean force: total impulse over duration.
    pub mean_force: f64,
    /// The largest, mean and standard deviation of the peak forces of shocks, where it is a force: a stop with a stiffness.
    pub peak_force: Option<(f64, f64, f64)>,
    /// The root mean square of the force, where it is a force and no impulse: a stop with a stiffness.
    pub rms_force: Option<f64>,
    /// The wear power as an impulse form of (1/T)∫F |v_T| dt, where something slides.
    pub wear_power: Option<f64>,
    /// What friction did, where there is some.
    pub friction: Option<Rubbed>,
    /// Impulses in ten classes of equal width from zero to the largest.
    pub histogram: [usize; 10],
}

/// Sums over the stops of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupSums {
    /// Its name.
    pub name: String,
    /// Its stops.
    pub stops: Vec<usize>,
    /// Number of shocks, and of rebounds in them.
    pub count: usize,
    /// Number of rebounds in them.
    pub rebounds: usize,
    /// All impulses together.
    pub impulse: f64,
    /// The times in contact, added up.
    pub contact_time: f64,
    /// The mean forces, added up.
    pub mean_force: f64,
    /// The largest force of a stop with a stiffness.
    pub peak_force: Option<f64>,
    /// The wear powers, added up, where something slides.
    pub wear_power: Option<f64>,
    /// The heat of friction and the distance slid, where there is some.
    pub friction: Option<(f64, f64)>,
}

impl GroupSums {
    fn new(name: &str, members: Vec<usize>, stops: &[StopStatistics]) -> Self {
        let own = || members.iter().map(|&a| &stops[a]);
        let some = |of: &dyn Fn(&StopStatistics) -> Option<f64>| {
            let values: Vec<f64> = own().filter_map(of).collect();
            (!values.is_empty()).then_some(values)
        };
        let sum = |values: Vec<f64>| values.iter().sum::<f64>();
        let (heat, distance) = (some(&|s| s.friction.map(|f| f.work)), some(&|s| s.friction.map(|f| f.distance)));
        GroupSums {
            name: name.to_string(),
            count: own().map(|s| s.count).sum(),
            rebounds: own().map(|s| s.rebounds).sum(),
            impulse: own().map(|s| s.total_impulse).sum(),
            contact_time: own().map(|s| s.contact_time).sum(),
            mean_force: own().map(|s| s.mean_force).sum(),
            peak_force: some(&|s| s.peak_force.map(|p| p.0)).map(|p| p.into_iter().fold(0.0, f64::max)),
            wear_power: some(&|s| s.wear_power).map(sum),
            friction: heat.zip(distance).map(|(heat, distance)| (sum(heat), sum(distance))),
            stops: members,
        }
    }
}

/// All shocks of a run.
#[derive(Clone, Debug, Default)]
pub struct Shocks {
    /// In the order of their beginning.
    pub list: Vec<Shock>,
    /// One entry per stop.
    pub stops: Vec<StopStatistics>,
    /// One entry per group of stops, in the order in which they are named.
    pub groups: Vec<GroupSums>,
    /// Touches closer in time than this were counted as one shock.
    pub rest: f64,
}

impl Shocks {
    /// The shocks of a run of a structure. Touches of a stop closer in time than `rest` are one shock of several rebounds; None: a
    /// hundredth of the period of the first mode, at least four steps.
    pub fn new(structure: &Structure, run: &Run, rest: Option<f64>) -> Self {
        let least = run.tolerance.unwrap_or(4.0 * run.step);
        let rest = rest.unwrap_or_else(|| structure.first_period().map_or(least, |period| (0.01 * period).max(least)));
        let mut touches = run.touches.clone();
        touches.sort_by(|a, b| a.start.total_cmp(&b.start));
        let duration = run.trajectory.span().map_or(0.0, |(from, to)| to - from).max(f64::MIN_POSITIVE);
        let (compliant, slides) = (structure.compliant(), structure.slides());
        let mut list: Vec<Shock> = Vec::new();
        let mut open: Vec<Option<usize>> = vec![None; compliant.len()];
        for touch in &touches {
            let last = open[touch.constraint].filter(|&k| touch.start - list[k].end <= rest);
            let peak = compliant[touch.constraint].then_some(touch.peak);
            match last {
                Some(k) => {
                    let shock = &mut list[k];
                    shock.end = touch.end.max(shock.end);
                    shock.impulse += touch.impulse;
                    shock.rebounds += 1;
                    if peak.is_some_and(|p| shock.peak.is_none_or(|old| p > old)) {
                        (shock.peak, shock.peak_at) = (peak, touch.peak_at);
                    }
                }
                None => {
                    open[touch.constraint] = Some(list.len());
                    list.push(Shock {
                        stop: touch.constraint,
                        start: touch.start,
                        end: touch.end,
                        impulse: touch.impulse,
                        speed: (-touch.approach).max(0.0),
                        rebounds: 0,
                        peak,
                        peak_at: touch.peak_at,
                    });
                }
            }
        }
        let stops: Vec<StopStatistics> = (0..compliant.len())
            .map(|a| {
                let own: Vec<&Shock> = list.iter().filter(|s| s.stop == a).collect();
                let of = |touch: fn(&crate::motion::Touch) -> f64| {
                    touches.iter().filter(|t| t.constraint == a).map(touch).sum::<f64>()
                };
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
                    total_impulse: of(|t| t.impulse),
                    mean_force: of(|t| t.impulse) / duration,
                    peak_force: compliant[a].then(|| spread(&own.iter().filter_map(|s| s.peak).collect::<Vec<_>>())),
                    rms_force: compliant[a].then(|| (run.squared_forces[a] / duration).sqrt()),
                    wear_power: slides[a].is_some().then(|| of(|t| t.wear) / duration),
                    friction: run.rubbed.iter().find(|r| r.stop == a).copied(),
                    histogram,
                }
            })
            .collect();
        let mut named: Vec<(&str, Vec<usize>)> = Vec::new();
        for (a, law) in structure.laws().iter().enumerate() {
            let Some(group) = &law.group else { continue };
            match named.iter_mut().find(|(name, _)| name == group) {
                Some((_, members)) => members.push(a),
                None => named.push((group, vec![a])),
            }
        }
        let groups = named.into_iter().map(|(name, members)| GroupSums::new(name, members, &stops)).collect();
        Shocks { list, stops, groups, rest }
    }
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
