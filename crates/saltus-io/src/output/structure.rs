//! What a run of a structure leaves besides: `shocks.csv`, and its statistics in `run.json`.

use super::tables::field;
use saltus::analysis::{GroupSums, Shocks, StopStatistics};
use saltus::motion::BaseShear;
use saltus::structure::StructureFacts;
use saltus::{Extremes, Model};
use serde::Serialize;
use std::io::{self, Write};

/// A structure and its shocks.
#[derive(Clone, Debug, Serialize)]
pub struct StructureSummary {
    /// Number of degrees of freedom.
    pub dofs: usize,
    /// Those without mass.
    pub massless: usize,
    /// The half-bandwidth in the order in which they are solved.
    pub half_bandwidth: usize,
    /// The entries of a factor, where it is sparse.
    pub factor_entries: Option<f64>,
    /// The mass of each part, as it moves with a translation.
    pub masses: Vec<(String, Option<f64>)>,
    /// The lowest frequencies in Hz.
    pub frequencies_hz: Vec<f64>,
    /// Rigid-body modes.
    pub rigid_body_modes: Vec<String>,
    /// Touches of a stop closer in time than this were counted as one shock.
    pub rest: f64,
    /// Number of shocks.
    pub shocks: usize,
    /// One entry per stop.
    pub stops: Vec<StopSummary>,
    /// Sums over groups of stops.
    pub groups: Vec<GroupSummary>,
    /// One entry per point: largest, smallest, root mean square.
    pub points: Vec<PointSummary>,
    /// The sampled inputs that act: records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordSummary>,
    /// One entry per point that is a base shear: with damping.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_shears: Vec<ShearSummary>,
}

/// A record, or any other sampled input that acts.
#[derive(Clone, Debug, Serialize)]
pub struct RecordSummary {
    /// Its name in the model.
    pub input: String,
    /// How many values it has.
    pub values: usize,
    /// The time between them: the shortest and the longest.
    pub dt: [f64; 2],
    /// From the first to the last.
    pub duration: f64,
    /// The largest absolute value (the peak ground acceleration of a record), and when it is.
    pub largest: f64,
    /// When that is.
    pub at: f64,
}

impl RecordSummary {
    /// The sampled inputs that something in a model uses.
    pub fn all(model: &Model) -> Vec<RecordSummary> {
        let used = model.inputs.iter().filter(|table| !model.graph.table_arguments(table).is_empty());
        let of = |table: &std::sync::Arc<saltus::Table>| {
            let (t, y) = table.points();
            let steps = t.windows(2).map(|w| w[1] - w[0]);
            let dt = steps.fold([f64::INFINITY, 0.0], |[least, most], s| [s.min(least), s.max(most)]);
            let peak = (0..y.len()).max_by(|&i, &j| y[i].abs().total_cmp(&y[j].abs()))?;
            let duration = t[t.len() - 1] - t[0];
            Some(RecordSummary {
                input: table.name().into(),
                values: y.len(),
                dt,
                duration,
                largest: y[peak].abs(),
                at: t[peak],
            })
        };
        used.filter_map(of).collect()
    }
}

/// A base shear over a run, elastic forces and damping together.
#[derive(Clone, Debug, Serialize)]
pub struct ShearSummary {
    /// Its point.
    pub point: String,
    /// The largest.
    pub max: f64,
    /// The smallest.
    pub min: f64,
}

/// Statistics of a stop.
#[derive(Clone, Debug, Serialize)]
pub struct StopSummary {
    /// Its name.
    pub stop: String,
    /// Number of shocks.
    pub shocks: usize,
    /// Number of rebounds in them.
    pub rebounds: usize,
    /// Largest, mean and deviation of the impulses of the shocks.
    pub impulse: Spread,
    /// Largest, mean and deviation of the speeds at which they began.
    pub speed: Spread,
    /// Time in contact.
    pub contact_time: f64,
    /// The impulses of all shocks together.
    pub total_impulse: f64,
    /// Total impulse over duration.
    pub mean_force: f64,
    /// Largest, mean and deviation of the peak forces of the shocks; only for a stop with a stiffness.
    pub peak_force: Option<Spread>,
    /// Root mean square of the force; only for a stop with a stiffness.
    pub rms_force: Option<f64>,
    /// (1/T) Σ P |v_T|; only where something slides.
    pub wear_power: Option<f64>,
    /// The energy that friction turned into heat, the distance slid, and for how long it stuck; only where there is friction.
    pub friction: Option<FrictionSummary>,
    /// Numbers of shocks in ten classes of impulse, from zero to the largest.
    pub histogram: [usize; 10],
}

/// Sums over a group of stops.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSummary {
    /// Its name.
    pub group: String,
    /// The names of its stops.
    pub stops: Vec<String>,
    /// Number of shocks.
    pub shocks: usize,
    /// Number of rebounds in them.
    pub rebounds: usize,
    /// All impulses together.
    pub total_impulse: f64,
    /// Times in contact, added up.
    pub contact_time: f64,
    /// Mean forces, added up.
    pub mean_force: f64,
    /// The largest force; only with stiffnesses.
    pub peak_force: Option<f64>,
    /// Wear powers, added up; only where something slides.
    pub wear_power: Option<f64>,
    /// The heat of friction; only where there is some.
    pub friction_work: Option<f64>,
    /// The distance slid with friction.
    pub friction_distance: Option<f64>,
}

impl GroupSummary {
    fn new(model: &Model, sums: &GroupSums) -> Self {
        GroupSummary {
            group: sums.name.clone(),
            stops: sums.stops.iter().map(|&a| model.constraints[a].name.clone()).collect(),
            shocks: sums.count,
            rebounds: sums.rebounds,
            total_impulse: sums.impulse,
            contact_time: sums.contact_time,
            mean_force: sums.mean_force,
            peak_force: sums.peak_force,
            wear_power: sums.wear_power,
            friction_work: sums.friction.map(|f| f.0),
            friction_distance: sums.friction.map(|f| f.1),
        }
    }
}

/// What friction did at a stop.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FrictionSummary {
    /// Heat.
    pub work: f64,
    /// The distance slid.
    pub distance: f64,
    /// For how long it stuck in contact.
    pub stuck: f64,
    /// For how long it slid.
    pub slid: f64,
}

/// Largest, mean and standard deviation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Spread {
    /// The largest.
    pub max: f64,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

/// The displacement of a point over a run.
#[derive(Clone, Debug, Serialize)]
pub struct PointSummary {
    /// Its name.
    pub point: String,
    /// The largest.
    pub max: f64,
    /// The smallest.
    pub min: f64,
    /// The root mean square.
    pub rms: f64,
}

impl From<(f64, f64, f64)> for Spread {
    fn from((max, mean, deviation): (f64, f64, f64)) -> Self {
        Spread { max, mean, deviation }
    }
}

impl StructureSummary {
    /// Sums up.
    pub fn new(
        model: &Model,
        facts: &StructureFacts,
        shocks: &Shocks,
        extremes: &[Extremes],
        shears: &[BaseShear],
    ) -> Self {
        let stops = shocks.stops.iter().zip(&model.constraints).map(|(s, c)| StopSummary {
            stop: c.name.clone(),
            shocks: s.count,
            rebounds: s.rebounds,
            impulse: s.impulse.into(),
            speed: s.speed.into(),
            contact_time: s.contact_time,
            total_impulse: s.total_impulse,
            mean_force: s.mean_force,
            peak_force: s.peak_force.map(Spread::from),
            rms_force: s.rms_force,
            wear_power: s.wear_power,
            friction: s.friction.map(|f| FrictionSummary {
                work: f.work,
                distance: f.distance,
                stuck: f.stuck,
                slid: f.slid,
            }),
            histogram: s.histogram,
        });
        let points = extremes.iter().zip(&model.coordinates);
        StructureSummary {
            dofs: facts.dofs,
            massless: facts.massless,
            half_bandwidth: facts.half_bandwidth,
            factor_entries: facts.factor_entries,
            masses: facts.masses.clone(),
            frequencies_hz: facts.frequencies.clone(),
            rigid_body_modes: facts.rigid_names.clone(),
            rest: shocks.rest,
            shocks: shocks.list.len(),
            stops: stops.collect(),
            groups: shocks.groups.iter().map(|g| GroupSummary::new(model, g)).collect(),
            points: points
                .map(|(&Extremes { max, min, rms, .. }, name)| PointSummary { point: name.clone(), max, min, rms })
                .collect(),
            records: RecordSummary::all(model),
            base_shears: shears
                .iter()
                .map(|s| ShearSummary { point: model.coordinates[s.point].clone(), max: s.max, min: s.min })
                .collect(),
        }
    }
}

/// One row per shock.
pub fn shocks(out: &mut impl Write, model: &Model, shocks: &Shocks) -> io::Result<()> {
    writeln!(out, "shock,stop,start,duration,impulse,speed,rebounds,peak_force")?;
    for (k, s) in shocks.list.iter().enumerate() {
        let name = field(&model.constraints[s.stop].name);
        let peak = s.peak.map_or(String::new(), |p| format!("{p:?}"));
        let (duration, rebounds) = (s.end - s.start, s.rebounds);
        writeln!(out, "{},{name},{:?},{duration:?},{:?},{:?},{rebounds},{peak}", k + 1, s.start, s.impulse, s.speed)?;
    }
    Ok(())
}

/// One row per stop, then one per group of stops, with its sums.
pub fn supports(out: &mut impl Write, model: &Model, shocks: &Shocks) -> io::Result<()> {
    let columns =
        "impulse,contact_time,mean_force,peak_force,rms_force,wear_power,friction_work,slid,stuck_time,slid_time";
    writeln!(out, "support,group,shocks,rebounds,{columns}")?;
    // (− 0.0 is zero.)
    let value = |x: Option<f64>| x.map_or(String::new(), |x| format!("{:?}", x + 0.0));
    let group_of = |a: usize| shocks.groups.iter().find(|g| g.stops.contains(&a)).map_or("", |g| g.name.as_str());
    for (a, (s, c)) in shocks.stops.iter().zip(&model.constraints).enumerate() {
        let StopStatistics { count, rebounds, total_impulse, contact_time, mean_force, .. } = s;
        let numbers = [
            s.peak_force.map(|p| p.0),
            s.rms_force,
            s.wear_power,
            s.friction.map(|f| f.work),
            s.friction.map(|f| f.distance),
            s.friction.map(|f| f.stuck),
            s.friction.map(|f| f.slid),
        ];
        let more = numbers.map(value).join(",");
        let (name, group) = (field(&c.name), field(group_of(a)));
        let sums = [*total_impulse, *contact_time, *mean_force].map(|x| value(Some(x))).join(",");
        writeln!(out, "{name},{group},{count},{rebounds},{sums},{more}")?;
    }
    for g in &shocks.groups {
        let numbers = [g.peak_force, None, g.wear_power, g.friction.map(|f| f.0), g.friction.map(|f| f.1), None, None];
        let more = numbers.map(value).join(",");
        let GroupSums { name, count, rebounds, impulse, contact_time, mean_force, .. } = g;
        let (all, group) = (field(&format!("all of {name}")), field(name));
        let sums = [*impulse, *contact_time, *mean_force].map(|x| value(Some(x))).join(",");
        writeln!(out, "{all},{group},{count},{rebounds},{sums},{more}")?;
    }
    Ok(())
}
