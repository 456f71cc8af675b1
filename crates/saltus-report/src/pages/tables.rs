//! The tables of a run: impacts, shocks, contacts, ledger, settings.

use super::RunReport;
use crate::figures::Grip;
use crate::html::{Cell, table};
use crate::page::Page;
use crate::text::{count, grouped, number, with_unit};
use saltus::analysis::Shocks;

/// The largest number of rows in a table.
const MAX_ROWS: usize = 2_000;
/// The largest number of joints and slips whose impulses are listed.
const MAX_OTHERS: usize = 6;
/// The largest number of coordinates whose velocities are listed.
const MAX_COORDINATES: usize = 4;

fn names(report: &RunReport, constraints: &[usize]) -> String {
    constraints.iter().map(|&a| report.system.model().constraints[a].name.as_str()).collect::<Vec<_>>().join(" + ")
}

/// States how many rows are shown, if not all are.
fn truncated(page: &mut Page, all: usize, what: &str, file: &str) {
    if all > MAX_ROWS {
        page.say(&format!(
            "Showing the first {} of {}; the option --out writes all of them to {file}.",
            grouped(MAX_ROWS),
            count(all, what)
        ));
    }
}

pub fn impacts(page: &mut Page, report: &RunReport) {
    let (model, all) = (report.system.model(), &report.run.trajectory.impacts);
    if all.is_empty() {
        page.say(if model.constraints.is_empty() { "The model has no constraints." } else { "No impacts." });
        return;
    }
    truncated(page, all.len(), "impact", "impacts.csv");
    let units = &model.units;
    let d = model.coordinates.len().min(MAX_COORDINATES);
    let mut heads = vec![
        "no.".to_string(),
        with_unit("t", &units.time),
        "constraint".into(),
        with_unit("approach speed", &units.speed()),
        with_unit("impulse", &units.impulse),
        with_unit("energy change", &units.energy),
        "law residual".into(),
        with_unit("time uncertainty", &units.time),
    ];
    for i in 0..d {
        let (name, unit) = (&model.coordinates[i], units.velocity(i));
        heads.push(with_unit(&format!("{name}′ before"), &unit));
        heads.push(with_unit(&format!("{name}′ after"), &unit));
    }
    let joints: Vec<String> = model.joints.iter().map(|j| format!("{} impulse", j.name)).collect();
    let slips: Vec<String> = model.slip_names().iter().map(|name| format!("{name} friction impulse")).collect();
    // Rows of joints and slips, as far as the table has room.
    let others: Vec<(usize, String)> = joints.into_iter().chain(slips).enumerate().take(MAX_OTHERS).collect();
    heads.extend(others.iter().map(|(_, name)| with_unit(name, &units.impulse)));
    let uncertainty = |k: usize| report.run.ledger.impacts.get(k).map_or(f64::NAN, |e| e.uncertainty);
    let rows = all.iter().take(MAX_ROWS).enumerate().map(|(k, i)| {
        let mut row = vec![
            Cell::count(k + 1),
            Cell::number(i.t, 10),
            Cell::text(names(report, i.constraints)),
            Cell::number(-i.approach, 6),
            Cell::number(i.impulses.iter().sum(), 6),
            Cell::number(i.energy_change, 6),
            Cell::number(i.law_residual, 2),
            Cell::number(uncertainty(k), 2),
        ];
        for j in 0..d {
            row.extend([Cell::number(i.v_before[j], 6), Cell::number(i.v_after[j], 6)]);
        }
        let impulse = |row: usize| i.others.iter().find(|(r, _)| *r == row).map_or(0.0, |(_, p)| *p);
        row.extend(others.iter().map(|(other, _)| Cell::number(impulse(*other), 6)));
        row
    });
    page.say("Click a column header to sort.");
    page.raw(&table("impact-table", &heads, rows, true));
}

/// The shocks of a structure: groups of impacts on one stop in close succession.
pub fn shocks(page: &mut Page, report: &RunReport, shocks: &Shocks) {
    if shocks.list.is_empty() {
        page.say("No shocks.");
        return;
    }
    truncated(page, shocks.list.len(), "shock", "shocks.csv");
    let units = &report.system.model().units;
    let heads = [
        "no.".to_string(),
        "stop".into(),
        with_unit("start", &units.time),
        with_unit("duration", &units.time),
        with_unit("impulse", &units.impulse),
        with_unit("approach speed", &units.speed()),
        "rebounds".into(),
        with_unit("peak force", &units.force),
    ];
    let rows = shocks.list.iter().take(MAX_ROWS).enumerate().map(|(k, s)| {
        vec![
            Cell::number((k + 1) as f64, 6),
            Cell::text(&report.system.model().constraints[s.stop].name),
            Cell::number(s.start, 10),
            Cell::number(s.end - s.start, 5),
            Cell::number(s.impulse, 6),
            Cell::number(s.speed, 6),
            Cell::number(s.rebounds as f64, 6),
            s.peak.map_or_else(|| Cell::text("–"), |p| Cell::number(p, 6)),
        ]
    });
    page.say("Rigid stops have impulses and no peak force. Click a column header to sort.");
    page.raw(&table("shock-table", &heads, rows, true));
}

pub fn contacts(page: &mut Page, report: &RunReport) {
    let all = &report.run.trajectory.contacts;
    truncated(page, all.len(), "contact", "contacts.csv");
    let units = &report.system.model().units;
    let heads = [
        "constraint".to_string(),
        with_unit("start", &units.time),
        with_unit("end", &units.time),
        with_unit("impulse", &units.impulse),
    ];
    let rows = all.iter().take(MAX_ROWS).map(|c| {
        let name = &report.system.model().constraints[c.constraint].name;
        vec![Cell::text(name), Cell::number(c.start, 10), Cell::number(c.end, 10), Cell::number(c.impulse, 6)]
    });
    page.raw(&table("contact-table", &heads, rows, true));
}

/// Where friction sticks and slides.
pub fn grips(page: &mut Page, report: &RunReport, all: &[Grip]) {
    truncated(page, all.len(), "interval", "timeline.csv");
    let model = report.system.model();
    let heads = [
        "friction".to_string(),
        "".into(),
        with_unit("start", &model.units.time),
        with_unit("end", &model.units.time),
        with_unit("duration", &model.units.time),
    ];
    let rows = all.iter().take(MAX_ROWS).map(|g| {
        vec![
            Cell::text(&model.frictions[g.friction].name),
            Cell::text(if g.sticks { "sticks" } else { "slides" }),
            Cell::number(g.start, 10),
            Cell::number(g.end, 10),
            Cell::number(g.end - g.start, 6),
        ]
    });
    page.raw(&table("grip-table", &heads, rows, true));
}

pub fn ledger(page: &mut Page, report: &RunReport) {
    let (ledger, units) = (&report.run.ledger, &report.system.model().units);
    let heads = ["", "property", "measured quantity", "value", "tolerance", "result"];
    let rows = ledger.properties.iter().map(|p| {
        let tolerance = if p.allowed == f64::MAX { Cell::text("finite") } else { Cell::number(p.allowed, 3) };
        let result = if p.holds { "holds" } else { "does not hold" };
        vec![
            Cell::text(p.name),
            Cell::text(p.what),
            Cell::text(p.measured),
            Cell::number(p.figure, 3),
            tolerance,
            Cell::text(result),
        ]
    });
    page.raw(&table("ledger-table", &heads, rows, false));
    let b = &ledger.balance;
    let heads = ["energy account".to_string(), with_unit("value", &units.energy)];
    let has_friction = !report.system.model().frictions.is_empty();
    let rows = [
        ("initial energy", b.start),
        ("work of forces", b.work),
        ("work of moving obstacles in contact", b.wall_work),
        ("work of moving obstacles at impacts", b.wall_work_at_impacts),
        ("energy dissipated at impacts", b.dissipated_at_impacts),
        ("heat of friction between impacts", b.friction),
        ("final energy", b.end),
        ("residual (final − initial − work + dissipated)", b.closure),
    ];
    let rows = rows.into_iter().filter(|(name, _)| has_friction || !name.starts_with("heat"));
    let rows = rows.map(|(name, value)| vec![Cell::text(name), Cell::number(value, 6)]);
    page.raw(&table("balance-table", &heads, rows, false));
    page.say(&format!("Relative residual, with respect to the energy exchanged: {}.", number(b.relative(), 3)));
    page.list("breach", ledger.complaints());
    if !ledger.meetings.is_empty() {
        page.list("note", ledger.meetings.iter().take(50).map(|m| m.sentence.clone()));
    }
}

pub fn settings(page: &mut Page, report: &RunReport) {
    let (model, run) = (report.system.model(), report.run);
    let step = if run.by_events() { "output interval" } else { "step h" };
    let mut rows = vec![
        ("scheme".to_string(), run.scheme.name.to_string()),
        (step.into(), number(run.step, 8)),
        ("end time".into(), number(run.options.end, 8)),
        ("steps".into(), grouped(run.steps as usize)),
        ("stored instants".into(), grouped(run.trajectory.len())),
        ("wall time (s)".into(), number(report.wall_s, 3)),
    ];
    rows.extend(run.tolerance.map(|tolerance| ("tolerance".into(), format!("{tolerance:e}"))));
    let given = run.options.settings.given().filter(|(name, _)| *name != "tolerance");
    rows.extend(given.map(|(name, value)| (name.to_string(), value.to_string())));
    for (name, value) in model.parameters.iter().take(500) {
        rows.push((with_unit(name, model.units.parameter(name)), number(*value, 12)));
    }
    for c in model.constraints.iter().take(200) {
        rows.push((format!("restitution of {}", c.name), number(c.restitution, 6)));
    }
    let heads = ["setting", "value"];
    let rows = rows.into_iter().map(|(name, value)| vec![Cell::text(name), Cell::text(value)]);
    page.raw(&table("settings-table", &heads, rows, false));
}
