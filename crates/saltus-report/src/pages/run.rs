//! The page of a run.

use super::tables;
use crate::animation::{self, Shape};
use crate::figures::{self, ReadEnergy, ReadGaps};
use crate::html::{count, grouped, number, with_unit};
use crate::page::{Origin, Page};
use saltus::structure::Shocks;
use saltus::{Ledger, Model, Phase, PhaseKind, Run, RunOptions, SetupError, Side, Status};

/// All that the page of a run shows. Gaps and energies are functions, so that any kind of system can give them.
pub struct RunReport<'a> {
    /// Names, constraints, units, parameters, drawing.
    pub model: &'a Model,
    /// The run.
    pub run: &'a Run,
    /// Its ledger.
    pub ledger: &'a Ledger,
    /// What was asked for.
    pub options: &'a RunOptions,
    /// Where it comes from.
    pub origin: Origin,
    /// Wall time of the run in seconds.
    pub wall_s: f64,
    /// Further sentences: what it settled on, what a probe found.
    pub findings: Vec<String>,
    /// The gaps, if they are to be shown.
    pub gaps: Option<Box<ReadGaps<'a>>>,
    /// The energies, if they are to be shown.
    pub energy: Option<Box<ReadEnergy<'a>>>,
    /// Whether something drives the system: then a spectrum tells.
    pub forced: bool,
    /// The period of what drives it, if it has one.
    pub period: Option<f64>,
    /// Shapes given as samples.
    pub shapes: Vec<Shape>,
    /// The table of shocks, for a structure.
    pub shocks: Option<&'a Shocks>,
}

/// Makes the page of a run.
pub fn run(mut report: RunReport) -> Result<Page, SetupError> {
    let (model, run, options) = (report.model, report.run, report.options);
    let trajectory = &run.trajectory;
    let fineness = match options.scheme.stepping() {
        Some(_) => format!("h = {}", number(run.step, 6)),
        None => format!("tolerance {:e}", options.settings.tolerance),
    };
    let reached = trajectory.t.last().copied().unwrap_or(0.0);
    let subtitle = format!(
        "{}, {fineness}, {} = 0 … {}",
        options.scheme.name,
        with_unit("t", &model.units.time),
        number(reached, 6)
    );
    let mut page = Page::new(&model.title, &subtitle, &report.origin);
    page.section("overview", "Overview");
    overview(&mut page, &report);
    let drawing = animation::animation(model, trajectory, &report.shapes)?;
    if !drawing.is_null() && !trajectory.is_empty() {
        page.section("motion", "The motion");
        page.animate(drawing, &animation::note(&report.shapes));
    }
    if !trajectory.is_empty() {
        page.section("figures", "Over time");
        let mut over_time = vec![figures::positions(model, trajectory), figures::velocities(model, trajectory)];
        if let (Some(gaps), false) = (&mut report.gaps, model.constraints.is_empty()) {
            over_time.push(figures::gaps(model, trajectory, gaps));
        }
        over_time.extend(figures::reactions(model, trajectory));
        if let Some(energy) = &mut report.energy {
            over_time.push(figures::energy(model, trajectory, model.potential.is_some(), energy));
        }
        page.figures(over_time);
        page.section("shape", "The shape of the motion");
        let mut others = vec![figures::phase(model, trajectory)];
        if let Some(period) = report.period {
            others.extend(figures::section(model, trajectory, period));
        }
        if report.forced {
            others.extend(figures::spectrum(model, trajectory));
        }
        if trajectory.impacts.len() > 1 {
            others.extend([figures::speeds(model, trajectory), figures::impulses(model, trajectory)]);
        }
        page.figures(others);
    }
    if let Some(shocks) = report.shocks {
        page.section("shocks", "Shocks");
        tables::shocks(&mut page, &report, shocks);
    }
    page.section("impacts", "Impacts");
    tables::impacts(&mut page, &report);
    if !trajectory.contacts.is_empty() {
        page.section("contacts", "Contacts");
        tables::contacts(&mut page, &report);
    }
    page.section("ledger", "How well it was kept");
    tables::ledger(&mut page, &report);
    page.section("settings", "Settings");
    tables::settings(&mut page, &report);
    page.close();
    Ok(page)
}

/// Accumulations and grazes, where an engine located them, in sentences.
fn story(report: &RunReport) -> Vec<String> {
    let names = |phase: &Phase| {
        let names = phase.constraints.iter().map(|&a| report.model.constraints[a].name.as_str());
        names.collect::<Vec<_>>().join(" and ")
    };
    let timeline = &report.run.timeline;
    let chatter = timeline.of(PhaseKind::Chatter).map(|p| {
        format!(
            "bounced {} on {}, at ever shorter intervals, and stayed in contact from t = {} on (limit ± {})",
            count(p.impacts, "time"),
            names(p),
            number(p.end, 10),
            number(p.error, 1)
        )
    });
    let grazes = timeline.of(PhaseKind::Graze).map(|p| format!("grazed {} at t = {}", names(p), number(p.start, 8)));
    let mut all: Vec<String> = chatter.chain(grazes).collect();
    let more = all.len().saturating_sub(8);
    all.truncate(8);
    if more > 0 {
        all.push(format!("… and {more} more accumulations or grazes"));
    }
    all
}

/// The first things to see: how it ended, what happened, what to know.
fn overview(page: &mut Page, report: &RunReport) {
    let (model, run, ledger) = (report.model, report.run, report.ledger);
    let trajectory = &run.trajectory;
    if run.status != Status::Finished {
        page.list("warning", [run.status.to_string()]);
    }
    let holds = ledger.complaints(report.options).is_empty();
    let audit = &run.audit;
    page.tiles(&[
        ("impacts", grouped(trajectory.impacts.len())),
        ("contacts", grouped(trajectory.contacts.len())),
        ("deepest violation", if audit.infeasible > 0 { number(audit.max_violation, 2) } else { "none".into() }),
        ("energy lost at impacts", number(audit.energy_lost_at_impacts, 4)),
        ("energy balance open by", number(ledger.balance.relative(), 2)),
        ("ledger", if holds { "all holds".into() } else { "look below".into() }),
    ]);
    page.list("warning", run.warnings.clone());
    page.list("good", story(report).into_iter().chain(report.findings.clone()));
    let meetings = ledger.meetings.iter().filter(|m| !m.continuous).map(|m| m.sentence.clone());
    let mut notes: Vec<String> = run.notes.iter().cloned().chain(meetings).collect();
    let more = notes.len().saturating_sub(50);
    notes.truncate(50);
    if more > 0 {
        notes.push(format!("… and {}", count(more, "more note")));
    }
    page.list("note", notes);
    if let Some(k) = trajectory.len().checked_sub(1) {
        let n = model.coordinates.len().min(12);
        // What is only rounding next to the motion is zero.
        let largest = |m: f64, x: &f64| m.max(x.abs());
        let far = trajectory.positions().iter().fold(0.0, largest);
        let fast = trajectory.left_velocities().iter().fold(0.0, largest);
        let plain = |x: f64, scale: f64| number(if x.abs() < 1e-13 * scale { 0.0 } else { x }, 6);
        let state: Vec<String> = (0..n)
            .map(|i| {
                let unit = model.units.position(i);
                let space = if unit.is_empty() { "" } else { " " };
                format!("{} = {}{space}{unit}", model.coordinates[i], plain(trajectory.q(k)[i], far))
            })
            .collect();
        let speeds: Vec<String> = (0..n).map(|i| plain(trajectory.v(k, Side::Left)[i], fast)).collect();
        let more = if n < model.coordinates.len() { ", …" } else { "" };
        page.say(&format!("At the end: {}{more}; velocities {}{more}.", state.join(", "), speeds.join(", ")));
    }
}
