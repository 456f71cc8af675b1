//! The page of a run.

use super::{supports, tables};
use crate::animation::{self, Shape};
use crate::dense;
use crate::figures;
use crate::page::{Origin, Page};
use crate::text::{count, grouped, number, quantity};
use crate::walls::{Walls, walls};
use saltus::analysis::{Density, LongTime, ResponseSpectrum, Shocks, forcing_period};
use saltus::{Phase, PhaseKind, Run, SetupError, Side, Status, System};

/// The contents of the page of a run.
pub struct RunReport<'a> {
    /// The system: names, gaps, energies, units, parameters, drawing.
    pub system: &'a dyn System,
    /// The run.
    pub run: &'a Run,
    /// The origin of the page.
    pub origin: Origin,
    /// The wall time of the run in seconds.
    pub wall_s: f64,
    /// Further findings, such as the state in which the motion settles.
    pub findings: Vec<String>,
    /// Shapes given as samples, for the animation.
    pub shapes: Vec<Shape>,
    /// The shocks of a structure.
    pub shocks: Option<&'a Shocks>,
    /// Floor response spectra that were asked for.
    pub responses: &'a [ResponseSpectrum],
    /// Spectral densities that were asked for, by the names of points and stops.
    pub densities: &'a [(String, Density)],
    /// Its long-time behaviour: sections show what is after the transient.
    pub settled: &'a LongTime,
}

/// Creates the page of a run.
pub fn run(report: RunReport) -> Result<Page, SetupError> {
    let (system, run) = (report.system, report.run);
    let model = system.model();
    let trajectory = &run.trajectory;
    let resolution = match run.tolerance {
        None => format!("h = {}", number(run.step, 6)),
        Some(tolerance) => format!("tolerance {tolerance:e}"),
    };
    let reached = trajectory.t.last().copied().unwrap_or(0.0);
    let end = quantity(&number(reached, 6), &model.units.time);
    let subtitle = format!("{}, {resolution}, t = {} to {end}", run.scheme.name, number(run.start.t, 6));
    let mut page = Page::new(&model.title, &subtitle, &report.origin);
    page.section("overview", "Overview");
    overview(&mut page, &report);
    let walls = walls(model, figures::MAX_SERIES);
    let mut gaps = Walls::new(model, system.gaps(), trajectory);
    let drawing = animation::animation(&mut gaps, &walls, trajectory, &report.shapes)?;
    if !drawing.is_null() && !trajectory.is_empty() {
        page.section("motion", "Animation");
        let has_walls = drawing["walls"].as_array().is_some_and(|walls| !walls.is_empty());
        page.animate(drawing, &animation::caption(&report.shapes, has_walls));
    }
    let grips = figures::grips(model, run);
    if !trajectory.is_empty() {
        page.section("figures", "Time histories");
        let fine = dense::refined(trajectory);
        let mut over_time = vec![figures::positions(model, &fine), figures::velocities(model, &fine)];
        if !model.constraints.is_empty() {
            over_time.push(figures::gaps(model, &fine, &mut system.gaps()));
        }
        over_time.extend(figures::states(model, &fine));
        if let Some(structure) = system.as_structure() {
            over_time.extend(figures::base(structure, (trajectory.t[0], reached)));
        }
        over_time.extend(figures::base_shears(model, trajectory));
        let forces = report.shocks.and_then(|shocks| figures::forces(model, trajectory, shocks, run.step));
        let drawn = |a: usize| report.shocks.is_some_and(|s| s.stops[a].peak_force.is_some());
        let as_forces = forces.is_some();
        over_time.extend(forces);
        over_time.extend(figures::reactions(model, &fine, &|a| as_forces && drawn(a)));
        over_time.extend(figures::friction(model, &fine));
        over_time.extend(figures::joints(model, &fine));
        if let Some(problem) = system.as_problem() {
            over_time.push(figures::energy(model, &fine, &mut problem.energy()));
        }
        figures::colour_grips(&mut over_time, model, &grips);
        figures::align_times(&mut over_time, (trajectory.t[0], reached));
        page.figures(over_time);
        if !report.responses.is_empty() || !report.densities.is_empty() {
            page.section("spectra", "Spectra");
            let mut spectra = figures::floor_spectra(model, report.responses);
            let is_force = |name: &str| match model.coordinates.iter().position(|c| c == name) {
                Some(i) => trajectory.is_force(i),
                None => true,
            };
            spectra.extend(figures::densities(model, report.densities, &is_force));
            page.figures(spectra);
        }
        page.section("shape", "Orbits and statistics");
        let end = dense::refined_end(trajectory);
        let mut others = Vec::from_iter(figures::orbit(&mut gaps, &walls, &end, trajectory.t[0]));
        others.push(figures::phase(&mut gaps, &walls, &end, trajectory.t[0]));
        if let Some(period) = system.as_problem().and_then(|p| forcing_period(p, run.options.end)) {
            let since = figures::settled_since(trajectory, report.settled);
            others.extend(figures::stroboscopic(model, trajectory, period, since));
            others.extend(figures::impact_section(model, trajectory, period, since));
        }
        if system.is_forced() {
            others.extend(figures::spectrum(model, trajectory));
        }
        if trajectory.impacts.len() > 1 {
            others.extend([figures::speeds(model, trajectory), figures::impulses(model, trajectory)]);
        }
        others.extend(report.shocks.and_then(|shocks| figures::wear(model, trajectory, shocks)));
        page.figures(others);
    }
    if let Some(shocks) = report.shocks {
        page.section("supports", "Supports");
        supports::supports(&mut page, &report, shocks);
        page.section("shocks", "Shocks");
        tables::shocks(&mut page, &report, shocks);
    }
    page.section("impacts", "Impacts");
    tables::impacts(&mut page, &report);
    if !trajectory.contacts.is_empty() {
        page.section("contacts", "Contacts");
        tables::contacts(&mut page, &report);
    }
    if !grips.is_empty() {
        page.section("grips", "Friction");
        tables::grips(&mut page, &report, &grips);
    }
    page.section("ledger", "Verification");
    tables::ledger(&mut page, &report);
    page.section("settings", "Settings");
    tables::settings(&mut page, &report);
    page.close();
    Ok(page)
}

/// Accumulations and grazes, if the scheme locates them, in sentences.
fn events(report: &RunReport) -> Vec<String> {
    let names = |phase: &Phase| {
        let names = phase.constraints.iter().map(|&a| report.system.model().constraints[a].name.as_str());
        names.collect::<Vec<_>>().join(" and ")
    };
    let timeline = &report.run.timeline;
    let chatter = timeline.of(PhaseKind::Chatter).map(|p| {
        format!(
            "accumulation: {} on {} in ever shorter intervals, then contact from t = {} (± {})",
            count(p.impacts, "impact"),
            names(p),
            number(p.end, 10),
            number(p.error, 1)
        )
    });
    let grazes =
        timeline.of(PhaseKind::Graze).map(|p| format!("grazing of {} at t = {}", names(p), number(p.start, 8)));
    let mut all: Vec<String> = chatter.chain(grazes).collect();
    let more = all.len().saturating_sub(8);
    all.truncate(8);
    if more > 0 {
        all.push(format!("… and {more} more accumulations or grazes"));
    }
    all
}

/// The overview: how the run ended, what happened, notes.
fn overview(page: &mut Page, report: &RunReport) {
    let (model, run, ledger) = (report.system.model(), report.run, &report.run.ledger);
    let trajectory = &run.trajectory;
    if run.status != Status::Finished {
        let is_wrong = matches!(run.status, Status::Failed(_) | Status::Breached { .. });
        page.list(if is_wrong { "breach" } else { "warning" }, [run.status.to_string()]);
    }
    page.list("breach", ledger.complaints());
    let holds = ledger.complaints().is_empty();
    let audit = &run.audit;
    page.tiles(&[
        ("impacts", grouped(trajectory.impacts.len())),
        ("contacts", grouped(trajectory.contacts.len())),
        ("largest violation", if audit.infeasible > 0 { number(audit.max_violation, 2) } else { "none".into() }),
        ("energy dissipated at impacts", number(ledger.balance.dissipated_at_impacts, 4)),
        ("relative energy residual", number(ledger.balance.relative(), 2)),
        ("verification", if holds { "passed".into() } else { "failed, see below".into() }),
    ]);
    page.list("warning", run.warnings.iter().filter(|w| !w.starts_with("breach: ")).cloned());
    page.list("good", events(report).into_iter().chain(report.findings.clone()));
    let mut notes: Vec<String> = run.notes.iter().cloned().chain(ledger.meeting_notes()).collect();
    let more = notes.len().saturating_sub(50);
    notes.truncate(50);
    if more > 0 {
        notes.push(format!("… and {}", count(more, "more note")));
    }
    page.list("note", notes);
    if let Some(k) = trajectory.len().checked_sub(1) {
        let moving: Vec<usize> = trajectory.displacements().collect();
        // Values that are rounding errors compared to the motion are shown as zero.
        let (largest_position, largest_velocity) = (trajectory.reach(), trajectory.fastest());
        let rounded = |x: f64, scale: f64| number(if x.abs() < 1e-13 * scale { 0.0 } else { x }, 6);
        let list = |value: &dyn Fn(usize) -> String| {
            let mut items: Vec<String> = moving.iter().take(12).map(|&i| value(i)).collect();
            items.extend((moving.len() > 12).then(|| format!("… and {} more", moving.len() - 12)));
            items.join(", ")
        };
        let position = |i: usize| {
            let value = rounded(trajectory.q(k)[i], largest_position);
            format!("{} = {}", model.coordinates[i], quantity(&value, model.units.position(i)))
        };
        let velocity = |i: usize| {
            let value = rounded(trajectory.v(k, Side::Left)[i], largest_velocity);
            format!("{}′ = {}", model.coordinates[i], quantity(&value, &model.units.velocity(i)))
        };
        let states = model.states.iter().enumerate().take(12).map(|(i, state)| {
            let value = number(trajectory.states(k)[i], 6);
            format!("{} = {}", state.name, quantity(&value, model.units.state(i)))
        });
        let states: Vec<String> = states.collect();
        let states = if states.is_empty() { String::new() } else { format!("; {}", states.join(", ")) };
        page.say(&format!("Final state: {}; {}{states}.", list(&position), list(&velocity)));
    }
}
