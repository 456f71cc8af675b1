//! A run in one JSON object: what `--json` prints and `run.json` holds.

use crate::ModelFile;
use saltus::{Ledger, Model, Phase, PhaseKind, Run, RunOptions, Side, Status};
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
    /// `finished`, `interrupted` or `failed`.
    pub status: &'static str,
    /// The status in a sentence.
    pub message: String,
    /// Where a failed run stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Final>,
    /// Names of the coordinates, in the order of q.
    pub coordinates: Vec<String>,
    /// Names of the constraints.
    pub constraints: Vec<String>,
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
    /// What was checked.
    pub audit: AuditSummary,
    /// Properties of the motion and the energy balance.
    pub ledger: LedgerSummary,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// What was done where.
    pub notes: Vec<String>,
    /// The structure and its shocks, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structure: Option<super::StructureSummary>,
}

/// Properties of the motion and the energy balance.
#[derive(Clone, Debug, Serialize)]
pub struct LedgerSummary {
    /// (P1)–(P5): what each says, the figure, what is allowed, whether it holds.
    pub properties: Vec<PropertySummary>,
    /// Work of the forces, and of moving walls in contact.
    pub work: f64,
    /// Energy lost at impacts.
    pub lost_at_impacts: f64,
    /// end − start − work + lost.
    pub closure: f64,
    /// The closure as a part of what was exchanged.
    pub relative_closure: f64,
    /// Where several constraints met, in sentences.
    pub meetings: Vec<String>,
    /// What is beyond the stated tolerances.
    pub complaints: Vec<String>,
}

/// A property of the motion.
#[derive(Clone, Debug, Serialize)]
pub struct PropertySummary {
    /// `P1` … `P5`.
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
}

/// One phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary {
    /// `flight`, `impact`, `chatter`, `contact`, `release`, `graze` or `stepped`.
    pub kind: &'static str,
    /// Where it begins.
    pub start: f64,
    /// Where it ends.
    pub end: f64,
    /// The constraints concerned.
    pub constraints: Vec<String>,
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
}

/// How many impacts, and the first of them.
#[derive(Clone, Debug, Serialize)]
pub struct ImpactsSummary {
    /// Their number.
    pub count: usize,
    /// The first ones; all are in `impacts.csv`.
    pub first: Vec<ImpactSummary>,
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
    /// The change of kinetic energy.
    pub energy_change: f64,
}

/// How many lasting contacts, and the first of them.
#[derive(Clone, Debug, Serialize)]
pub struct ContactsSummary {
    /// Their number.
    pub count: usize,
    /// The first ones; all are in `contacts.csv`.
    pub first: Vec<ContactSummary>,
}

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
    /// The total impulse of each constraint, in the order of `constraints`.
    pub total_impulse: Vec<f64>,
    /// Landings too slow to count as impacts at this step.
    pub landings: u64,
}

/// How many impacts and contacts a summary lists.
const SHOWN: usize = 10;

impl Summary {
    /// Sums a run up.
    pub fn new(file: &ModelFile, model: &Model, options: &RunOptions, run: &Run, ledger: &Ledger, wall_s: f64) -> Self {
        let names = |ids: &[usize]| ids.iter().map(|&a| model.constraints[a].name.clone()).collect::<Vec<_>>();
        let trajectory = &run.trajectory;
        let last = trajectory.len().checked_sub(1).map(|k| Final {
            t: trajectory.t[k],
            q: trajectory.q(k).to_vec(),
            v: trajectory.v(k, Side::Left).to_vec(),
        });
        let first = trajectory.impacts.iter().take(SHOWN).map(|i| ImpactSummary {
            t: i.t,
            constraints: names(i.constraints),
            v_before: i.v_before.to_vec(),
            v_after: i.v_after.to_vec(),
            impulse: i.impulses.to_vec(),
            energy_change: i.energy_change,
        });
        let contacts = trajectory.contacts.iter().take(SHOWN).map(|c| ContactSummary {
            constraint: model.constraints[c.constraint].name.clone(),
            start: c.start,
            end: c.end,
            impulse: c.impulse,
        });
        let audit = &run.audit;
        let phase = |p: &Phase| PhaseSummary {
            kind: p.kind.name(),
            start: p.start,
            end: p.end,
            constraints: names(&p.constraints),
            impacts: (p.kind == PhaseKind::Chatter).then_some(p.impacts),
            error: (p.kind == PhaseKind::Chatter).then_some(p.error),
        };
        let by_events = options.scheme.stepping().is_none();
        let phases = &run.timeline.phases;
        Summary {
            model: file.name.clone(),
            title: model.title.clone(),
            scheme: options.scheme.name,
            step: run.step,
            tolerance: by_events.then_some(options.settings.tolerance),
            end: options.end,
            steps: run.steps,
            wall_s,
            status: match run.status {
                Status::Finished => "finished",
                Status::Interrupted { .. } => "interrupted",
                Status::Failed(_) => "failed",
            },
            message: run.status.to_string(),
            failure: match &run.status {
                Status::Failed(f) => Some(Final { t: f.t, q: f.q.clone(), v: f.v.clone() }),
                _ => None,
            },
            coordinates: model.coordinates.clone(),
            constraints: model.constraints.iter().map(|c| c.name.clone()).collect(),
            last,
            impacts: ImpactsSummary { count: trajectory.impacts.len(), first: first.collect() },
            contacts: ContactsSummary { count: trajectory.contacts.len(), first: contacts.collect() },
            timeline: by_events.then(|| TimelineSummary {
                count: phases.len(),
                first: phases.iter().take(SHOWN).map(phase).collect(),
                last: phases.last().map(phase),
                chatter: run.timeline.of(PhaseKind::Chatter).take(10 * SHOWN).map(phase).collect(),
            }),
            audit: AuditSummary {
                max_violation: audit.max_violation,
                infeasible_steps: audit.infeasible,
                energy_start: audit.energy_start,
                energy_end: audit.energy_end,
                energy_lost_at_impacts: audit.energy_lost_at_impacts,
                worst_law_residual: audit.worst_law_residual,
                total_impulse: audit.impulses.clone(),
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
                    })
                    .collect(),
                work: ledger.balance.work,
                lost_at_impacts: ledger.balance.lost_at_impacts,
                closure: ledger.balance.closure,
                relative_closure: ledger.balance.relative(),
                meetings: ledger.meetings.iter().map(|m| m.sentence.clone()).collect(),
                complaints: ledger.complaints(options),
            },
            warnings: run.warnings.clone(),
            notes: run.notes.clone(),
            structure: None,
        }
    }
}

/// Everything needed to make the run again.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The version of Saltus.
    pub saltus: &'static str,
    /// The model's text.
    pub model_text: String,
    /// Its SHA-256.
    pub model_sha256: String,
    /// Parameters replaced on the command line.
    pub overrides: Vec<(String, String)>,
    /// All parameters with their values.
    pub parameters: Vec<(String, f64)>,
    /// How the force entered.
    pub forcing: &'static str,
    /// Every how many steps an instant was stored.
    pub every: u64,
    /// The summary.
    pub summary: Summary,
}

impl Record {
    /// Puts the record of a run together.
    pub fn new(
        file: &ModelFile,
        model: &Model,
        options: &RunOptions,
        overrides: &[(String, String)],
        summary: Summary,
    ) -> Self {
        Record {
            saltus: env!("CARGO_PKG_VERSION"),
            model_text: file.text.clone(),
            model_sha256: file.hash(),
            overrides: overrides.to_vec(),
            parameters: model.parameters.clone(),
            forcing: options.settings.forcing.name(),
            every: options.every,
            summary,
        }
    }
}
