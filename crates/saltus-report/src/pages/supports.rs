//! The table of supports: what each stop of a structure did over a run, and the sums over groups of them.

use super::run::RunReport;
use crate::html::{Cell, table};
use crate::page::Page;
use crate::text::with_unit;
use saltus::analysis::{GroupSums, Shocks, StopStatistics};

/// More stops than this are in the file.
const MAX_ROWS: usize = 500;

/// One row per stop, with sums over groups below.
pub fn supports(page: &mut Page, report: &RunReport, shocks: &Shocks) {
    let model = report.system.model();
    let units = &model.units;
    let has = |of: fn(&StopStatistics) -> bool| shocks.stops.iter().any(of);
    let (soft, slides) = (has(|s| s.peak_force.is_some()), has(|s| s.wear_power.is_some()));
    let rough = has(|s| s.friction.is_some());
    let mut heads = vec![
        "stop".to_string(),
        "shocks".into(),
        with_unit("impulse", &units.impulse),
        with_unit("mean force", &units.force),
        with_unit("time in contact", &units.time),
    ];
    if soft {
        heads.extend([with_unit("peak force", &units.force), with_unit("rms force", &units.force)]);
    }
    if slides {
        heads.push(with_unit("wear power", &units.power()));
    }
    if rough {
        heads.extend([with_unit("heat of friction", &units.energy), with_unit("distance slid", &units.length)]);
        heads.push(with_unit("time stuck", &units.time));
    }
    let cell = |x: Option<f64>| x.map_or_else(|| Cell::text("–"), |x| Cell::number(x, 5));
    if shocks.stops.len() > MAX_ROWS {
        page.say(&format!("The first {MAX_ROWS} of {} stops; all are in supports.csv.", shocks.stops.len()));
    }
    let rows = shocks.stops.iter().zip(&model.constraints).take(MAX_ROWS).map(|(s, c)| {
        let mut row = vec![
            Cell::text(&c.name),
            Cell::count(s.count),
            Cell::number(s.total_impulse, 5),
            Cell::number(s.mean_force, 5),
            Cell::number(s.contact_time, 5),
        ];
        if soft {
            row.extend([cell(s.peak_force.map(|p| p.0)), cell(s.rms_force)]);
        }
        if slides {
            row.push(cell(s.wear_power));
        }
        if rough {
            row.extend([cell(s.friction.map(|f| f.work)), cell(s.friction.map(|f| f.distance))]);
            row.push(cell(s.friction.map(|f| f.stuck)));
        }
        row
    });
    page.raw(&table("support-table", &heads, rows, true));
    if shocks.groups.is_empty() {
        return;
    }
    heads[0] = "group".into();
    heads.insert(1, "stops".into());
    // (Roots of means, and times that overlap, have no sum.)
    heads.retain(|head| !head.starts_with("rms") && !head.starts_with("time stuck"));
    let rows = shocks.groups.iter().map(|g| {
        let GroupSums { name, stops, count, impulse, mean_force, contact_time, .. } = g;
        let mut row = vec![
            Cell::text(name),
            Cell::count(stops.len()),
            Cell::count(*count),
            Cell::number(*impulse, 5),
            Cell::number(*mean_force, 5),
            Cell::number(*contact_time, 5),
        ];
        if soft {
            row.push(cell(g.peak_force));
        }
        if slides {
            row.push(cell(g.wear_power));
        }
        if rough {
            row.extend([cell(g.friction.map(|f| f.0)), cell(g.friction.map(|f| f.1))]);
        }
        row
    });
    page.say("Sums over groups of stops; the peak force is the largest of any of them.");
    page.raw(&table("group-table", &heads, rows, true));
}
