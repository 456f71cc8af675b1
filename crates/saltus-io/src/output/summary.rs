//! A run in one JSON object: what `--json` prints and `run.json` holds.

use super::arrays::{Columns, other_impulses};
use saltus::analysis::LongTime;
use saltus::{Impact, Model, Phase, PhaseKind, Run, Side, Status};
use serde::Serialize;

/// The summary of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The model's name as given.
    pub model: String,
    /// Its title.
    pub title: String,
    /// The scheme.
    pub scheme: &'static str,
    /// The step used; by events, the interval at which instants are stored.
    pub step: f64,
    /// The tolerance, where a run went from event to event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// The end time asked for.
    pub end: f64,
    /// Steps made.
    pub steps: u64,
    /// Wall time of the run, recording included, in seconds.
    pub wall_s: f64,
    /// How much of it passed before the first step.
    pub setup_s: f64,
    /// The start time.
    pub start: f64,
    /// `finished`, `breached` (finished, but the ledger has breaches), `interrupted` or `failed`.
    pub status: &'static str,
    /// The status in a sentence.
    pub message: String,
    /// Where a failed run stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Final>,
    /// Names of the coordinates, in the order of q.
    pub coordinates: Vec<String>,
    /// Names of the first-order states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Names of the constraints.
    pub constraints: Vec<String>,
    /// Names of the equations of joints.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<String>,
    /// Names of friction, one for each slip: two in space.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frictions: Vec<String>,
    /// The last state.
    #[serde(rename = "final")]
    pub last: Option<Final>,
    /// The impacts.
    pub impacts: ImpactsSummary,
    /// Intervals of lasting contact.
    pub contacts: ContactsSummary,
    /// The phases of the motion, where a run went from event to event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<TimelineSummary>,
    /// Events of the user's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<EventsSummary>,
    /// What the motion settled on.
    pub settled: SettledSummary,
    /// What was checked.
    pub audit: AuditSummary,
    /// Properties of the motion and the energy account.
    pub ledger: LedgerSummary,
    /// What a user should know.
    pub warnings: Vec<String>,
    /// What was done where.
    pub notes: Vec<String>,
    /// The structure and its shocks, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<super::StructureSummary>,
}

/// Properties of the motion and the energy account.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerSummary {
    /// (P1)–(P5), and what no engine may break: what each says, the figure, what is allowed, whether it holds.
    pub properties: Vec<PropertySummary>,
    /// Work of the forces.
    pub work: f64,
    /// Work of moving walls in contact.
    pub wall_work: f64,
    /// Energy that friction turns into heat between impacts.
    pub friction: f64,
    /// Energy dissipated at impacts.
    pub dissipated_at_impacts: f64,
    /// Work of moving walls at impacts.
    pub wall_work_at_impacts: f64,
    /// Energy lost at impacts: dissipated, less the work of moving walls.
    pub lost_at_impacts: f64,
    /// The residual: end − start − work − wall work + lost + friction.
    pub closure: f64,
    /// The residual relative to the energy exchanged.
    pub relative_closure: f64,
    /// Where several constraints met, in sentences.
    pub meetings: Vec<String>,
    /// Breaches: what is beyond the stated tolerances.
    pub complaints: Vec<String>,
}

/// A property of the motion.
#[derive(Clone, Debug, Serialize)]
pub struct PropertySummary {
    /// `P1` … `P5`, `L`, `C0` … `C11`.
    pub name: &'static str,
    /// What it says.
    pub what: &'static str,
    /// What was measured.
    pub measured: &'static str,
    /// The figure.
    pub figure: f64,
    /// What is allowed.
    pub allowed: f64,
    /// Whether it holds.
    pub holds: bool,
    /// Where it was measured, if at one instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
    /// At which constraint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
}

/// How many phases, and the first and last of them.
#[derive(Clone, Debug, Serialize)]
pub struct TimelineSummary {
    /// Their number.
    pub count: usize,
    /// The first ones; all are in `timeline.csv`.
    pub first: Vec<PhaseSummary>,
    /// The last one.
    pub last: Option<PhaseSummary>,
    /// All accumulations of impacts, up to a hundred.
    pub chatter: Vec<PhaseSummary>,
    /// Where friction begins to stick or to slide, up to a hundred instants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub friction: Vec<PhaseSummary>,
}

/// One phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary {
    /// `flight`, `impact`, `chatter`, `contact`, `release`, `graze`, `stick`, `slip` or `stepped`.
    pub kind: &'static str,
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// The constraints concerned.
    pub constraints: Vec<String>,
    /// For stick and slip: the name of the friction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub friction: Option<String>,
    /// For chatter: how many impacts were followed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impacts: Option<usize>,
    /// For chatter: the estimated error of its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
}

/// The last state.
#[derive(Clone, Debug, Serialize)]
pub struct Final {
    /// Its instant.
    pub t: f64,
    /// The position.
    pub q: Vec<f64>,
    /// The velocity (left limit).
    pub v: Vec<f64>,
    /// The first-order states.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub z: Vec<f64>,
}

impl Final {
    /// From the unknowns of a model.
    fn new(model: &Model, t: f64, q: &[f64], v: &[f64]) -> Self {
        let d = v.len() - model.states.len().min(v.len());
        Final { t, q: q[..d.min(q.len())].to_vec(), v: v[..d].to_vec(), z: v[d..].to_vec() }
    }
}

/// How many impacts, and the first of them.
#[derive(Clone, Debug, Serialize)]
pub struct ImpactsSummary {
    /// Their number.
    pub count: usize,
    /// The first ones; all are in `impacts.csv`.
    pub first: Vec<ImpactSummary>,
    /// All of them, where asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Vec<ImpactSummary>>,
}

/// How many there are, and the first of them.
#[derive(Clone, Debug, Serialize)]
pub struct Listed<T> {
    /// Their number.
    pub count: usize,
    /// The first ones; all are in the table of their own.
    pub first: Vec<T>,
}

/// Events of the user's own; all are in `events.csv`.
pub type EventsSummary = Listed<EventSummary>;

/// One event.
#[derive(Clone, Debug, Serialize)]
pub struct EventSummary {
    /// Its name.
    pub event: String,
    /// When it occurred.
    pub t: f64,
    /// Whether its expression was rising.
    pub rising: bool,
    /// The position there.
    pub q: Vec<f64>,
    /// The velocity there.
    pub v: Vec<f64>,
    /// The first-order states there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub z: Vec<f64>,
}

/// What a motion settled on, as far as it went.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SettledSummary {
    /// `rest`, `periodic` or `neither`.
    pub kind: &'static str,
    /// At rest since this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<f64>,
    /// The constraints that are closed at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<Vec<String>>,
    /// The period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<f64>,
    /// Impacts per period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impacts: Option<usize>,
    /// Periods of the forcing per period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forcing_periods: Option<usize>,
    /// The largest relative difference from one period to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// The same in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

impl SettledSummary {
    /// From what was found.
    pub fn new(model: &Model, settled: &LongTime) -> Self {
        let mut summary =
            SettledSummary { kind: settled.kind(), sentence: settled.sentence(model), ..SettledSummary::default() };
        match settled {
            LongTime::Rest { since, closed, .. } => {
                summary.since = Some(*since);
                summary.closed = Some(closed.iter().map(|&a| model.constraints[a].name.clone()).collect());
            }
            LongTime::Periodic { period, impacts, forcing, figure } => {
                (summary.period, summary.impacts) = (Some(*period), Some(*impacts));
                (summary.forcing_periods, summary.difference) = (*forcing, Some(*figure));
            }
            LongTime::Neither => {}
        }
        summary
    }
}

/// One impact.
#[derive(Clone, Debug, Serialize)]
pub struct ImpactSummary {
    /// Its instant.
    pub t: f64,
    /// The constraints that acted.
    pub constraints: Vec<String>,
    /// The velocity before.
    pub v_before: Vec<f64>,
    /// The velocity after.
    pub v_after: Vec<f64>,
    /// The impulses, in the order of `constraints`.
    pub impulse: Vec<f64>,
    /// The first-order states there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub z: Vec<f64>,
    /// The impulses of joints, in the order of the summary's `joints`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joint_impulse: Vec<f64>,
    /// Tangential impulses, in the order of the summary's `frictions`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub friction_impulse: Vec<f64>,
    /// The change of kinetic energy.
    pub energy_change: f64,
}

/// Lasting contacts; all are in `contacts.csv`.
pub type ContactsSummary = Listed<ContactSummary>;

/// One interval of contact.
#[derive(Clone, Debug, Serialize)]
pub struct ContactSummary {
    /// The constraint.
    pub constraint: String,
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// Its total impulse.
    pub impulse: f64,
}

/// What was checked.
#[derive(Clone, Debug, Serialize)]
pub struct AuditSummary {
    /// The deepest gap below zero, as a positive number.
    pub max_violation: f64,
    /// At how many instants a gap was below zero.
    pub infeasible_steps: u64,
    /// Energy at the start.
    pub energy_start: f64,
    /// Energy at the end.
    pub energy_end: f64,
    /// Kinetic energy lost at impacts.
    pub energy_lost_at_impacts: f64,
    /// The largest relative distance from the impact law.
    pub worst_law_residual: f64,
    /// The largest value and the largest rate of an equation of a joint, away from impacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint_residuals: Option<(f64, f64)>,
    /// The total impulse of each constraint, in the order of `constraints`.
    pub total_impulse: Vec<f64>,
    /// The total impulse of each equation of a joint, in the order of `joints`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub total_joint_impulse: Vec<f64>,
    /// The total impulse of friction, in the order of `frictions`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub total_friction_impulse: Vec<f64>,
    /// Landings too slow to count as impacts at this step.
    pub landings: u64,
}

/// Whether friction begins to stick or to slide here.
fn is_grip(phase: &Phase) -> bool {
    phase.kind.is_of_friction()
}

/// How many impacts and contacts a summary lists.
const SHOWN: usize = 10;

impl Summary {
    /// Sums a run up; `all_impacts`: lists every impact.
    pub fn new(name: &str, model: &Model, run: &Run, settled: &LongTime, wall_s: f64, all_impacts: bool) -> Self {
        let names = |ids: &[usize]| ids.iter().map(|&a| model.constraints[a].name.clone()).collect::<Vec<_>>();
        let (trajectory, ledger) = (&run.trajectory, &run.ledger);
        let (d, joints) = (model.coordinates.len(), model.joints.len());
        let last = trajectory.len().checked_sub(1).map(|k| {
            let (q, v) = (trajectory.q(k), trajectory.v(k, Side::Right));
            Final::new(model, trajectory.t[k], q, v)
        });
        let others = |i: &Impact, from: usize, n: usize| {
            let mut impulses = vec![0.0; n];
            other_impulses(i, from, &mut impulses);
            impulses
        };
        let impact = |i: Impact| ImpactSummary {
            t: i.t,
            constraints: names(i.constraints),
            v_before: i.v_before[..d].to_vec(),
            v_after: i.v_after[..d].to_vec(),
            impulse: i.impulses.to_vec(),
            z: i.v_before[d..].to_vec(),
            joint_impulse: others(&i, 0, joints),
            friction_impulse: others(&i, joints, model.bonds() - joints),
            energy_change: i.energy_change,
        };
        let contacts = trajectory.contacts.iter().take(SHOWN).map(|c| ContactSummary {
            constraint: model.constraints[c.constraint].name.clone(),
            start: c.start,
            end: c.end,
            impulse: c.impulse,
        });
        let events = trajectory.events.iter().take(SHOWN).map(|e| EventSummary {
            event: model.events[e.event].name.clone(),
            t: e.t,
            rising: e.rising,
            q: e.q[..d].to_vec(),
            v: e.v[..d].to_vec(),
            z: e.v[d..].to_vec(),
        });
        let audit = &run.audit;
        let phase = |p: &Phase| PhaseSummary {
            kind: p.kind.name(),
            start: p.start,
            end: p.end,
            constraints: names(&p.constraints),
            friction: is_grip(p).then(|| p.note.clone()),
            impacts: (p.kind == PhaseKind::Chatter).then_some(p.impacts),
            error: (p.kind == PhaseKind::Chatter).then_some(p.error),
        };
        let grips = run.timeline.phases.iter().filter(|p| is_grip(p)).take(10 * SHOWN).map(phase);
        let phases = &run.timeline.phases;
        Summary {
            model: name.to_string(),
            title: model.title.clone(),
            scheme: run.scheme.name,
            step: run.step,
            tolerance: run.tolerance,
            start: run.start.t,
            end: run.options.end,
            steps: run.steps,
            wall_s,
            setup_s: run.setup.as_secs_f64(),
            status: run.status.name(),
            message: run.status.to_string(),
            failure: match &run.status {
                Status::Failed(f) => Some(Final::new(model, f.t, &f.q, &f.v)),
                _ => None,
            },
            coordinates: model.coordinates.clone(),
            states: Columns::States.names(model),
            constraints: Columns::Constraints.names(model),
            joints: Columns::Joints.names(model),
            frictions: Columns::Slips.names(model),
            last,
            impacts: ImpactsSummary {
                count: trajectory.impacts.len(),
                first: trajectory.impacts.iter().take(SHOWN).map(impact).collect(),
                all: all_impacts.then(|| trajectory.impacts.iter().map(impact).collect()),
            },
            contacts: ContactsSummary { count: trajectory.contacts.len(), first: contacts.collect() },
            timeline: run.by_events().then(|| TimelineSummary {
                count: phases.len(),
                first: phases.iter().take(SHOWN).map(phase).collect(),
                last: phases.last().map(phase),
                chatter: run.timeline.of(PhaseKind::Chatter).take(10 * SHOWN).map(phase).collect(),
                friction: grips.collect(),
            }),
            events: (!model.events.is_empty())
                .then(|| EventsSummary { count: trajectory.events.len(), first: events.collect() }),
            settled: SettledSummary::new(model, settled),
            audit: AuditSummary {
                max_violation: audit.max_violation,
                infeasible_steps: audit.infeasible,
                energy_start: audit.energy_start,
                energy_end: audit.energy_end,
                energy_lost_at_impacts: audit.energy_lost_at_impacts,
                worst_law_residual: audit.worst_law_residual,
                joint_residuals: ledger.joint_residuals,
                total_impulse: audit.impulses.clone(),
                total_joint_impulse: audit.others.iter().take(joints).copied().collect(),
                total_friction_impulse: audit.others.iter().skip(joints).copied().collect(),
                landings: audit.landings,
            },
            ledger: LedgerSummary {
                properties: ledger
                    .properties
                    .iter()
                    .map(|p| PropertySummary {
                        name: p.name,
                        what: p.what,
                        measured: p.measured,
                        figure: p.figure,
                        allowed: p.allowed,
                        holds: p.holds,
                        t: p.t,
                        constraint: p.constraint.map(|a| model.constraints[a].name.clone()),
                    })
                    .collect(),
                work: ledger.balance.work,
                wall_work: ledger.balance.wall_work,
                friction: ledger.balance.friction,
                dissipated_at_impacts: ledger.balance.dissipated_at_impacts,
                wall_work_at_impacts: ledger.balance.wall_work_at_impacts,
                lost_at_impacts: ledger.balance.lost_at_impacts,
                closure: ledger.balance.closure,
                relative_closure: ledger.balance.relative(),
                meetings: ledger.meetings.iter().map(|m| m.sentence.clone()).collect(),
                complaints: ledger.complaints(),
            },
            warnings: run.warnings.clone(),
            notes: run.notes.clone(),
            structure: None,
        }
    }
}
