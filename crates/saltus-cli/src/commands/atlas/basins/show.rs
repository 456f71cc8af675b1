//! Basins as a picture, a table, text and JSON.

use crate::commands::atlas::{draw, unit};
use crate::commands::sweep::gpu::OnGpu;
use crate::report;
use crate::text::{BOLD, count, duration, grouped, number, out, printable};
use saltus::SetupError;
use saltus_ensemble::Sweep;
use saltus_ensemble::atlas::basins::{Kind, REFUSED, SavedBasins};
use saltus_ensemble::store::axis_names;
use saltus_report::chart::{Chart, Dots, Map, Pane, Quantity, Rerun, Tint};
use serde_json::json;
use std::path::Path;

/// The number of attractors, without what is none.
pub fn attractors(saved: &SavedBasins) -> usize {
    saved.attractors.iter().filter(|(a, _)| a.kind.attracts()).count()
}

pub fn findings(saved: &SavedBasins) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(u) = &saved.uncertainty {
        let smooth = if u.exponent > 0.9 { "smooth" } else { "fractal on these scales" };
        found.push(format!(
            "uncertainty exponent of the boundary {} ± {}: {smooth}",
            number(u.exponent, 3),
            number(u.error, 1)
        ));
    }
    if saved.refused > 0 {
        let are = if saved.refused == 1 { "is" } else { "are" };
        found.push(format!("{} {are} not admissible", count(saved.refused, "start")));
    }
    found
}

/// The basins of a plane as a chart.
pub fn drawn(dir: &Path, saved: &SavedBasins, sweep: &Sweep) -> Result<draw::Drawn, SetupError> {
    let family = &sweep.family;
    let model = family.problem().model();
    let names = axis_names(family);
    let (first, second) = match names.as_slice() {
        [first] => (first, None),
        [first, second] => (first, Some(second)),
        names => {
            let message = format!("a picture of basins needs one or two ranges, not {}", names.len());
            return Err(SetupError::new(message));
        }
    };
    // (One range is a strip.)
    let high = if second.is_some() { family.points().row() as usize } else { 1 };
    let wide = family.points().len() as usize / high.max(1);
    let own = Tint::CLASSES - 1;
    let mut classes: Vec<(String, Tint)> = Vec::new();
    let mut place = vec![0; saved.attractors.len()];
    let colours = saved
        .attractors
        .iter()
        .filter(|(a, _)| matches!(a.kind, Kind::Rest { .. } | Kind::Periodic { .. } | Kind::Neutral { .. }));
    let many = colours.count() > own;
    let mut next = 0;
    for (k, (attractor, share)) in saved.attractors.iter().enumerate() {
        let tint = match attractor.kind {
            Kind::Chaotic { .. } => Tint::Dark,
            Kind::Unbounded | Kind::Growing => Tint::Pale,
            Kind::Open => Tint::Number(Tint::CLASSES - 1),
            _ => {
                next += 1;
                Tint::Number(next - 1)
            }
        };
        let name = format!("{} ({} %)", attractor.name, number(100.0 * share.share, 3));
        match tint {
            Tint::Number(n) if many && n + 1 >= own && !attractor.kind.is_open() => {
                let shared = Tint::Number(own - 1);
                let at = classes.iter().position(|(_, t)| *t == shared);
                place[k] = at.unwrap_or_else(|| {
                    classes.push(("others".into(), shared));
                    classes.len() - 1
                });
            }
            tint => {
                classes.push((name, tint));
                place[k] = classes.len() - 1;
            }
        }
    }
    if saved.refused > 0 {
        classes.push(("not admissible".into(), Tint::None));
    }
    let value = |label: u16| match label {
        REFUSED => classes.len() as f64 - 1.0,
        label => place[label as usize] as f64,
    };
    let values = (0..high).flat_map(|j| (0..wide).map(move |k| k * high + j)).map(|p| value(saved.labels[p])).collect();
    let axis = |name: &str| Quantity::new(name.strip_prefix("start_").unwrap_or(name), unit(model, name));
    let map = Map {
        x: (0..wide).map(|k| family.values((k * high) as u64)[0]).collect(),
        y: (0..high).map(|j| family.values(j as u64).get(1).copied().unwrap_or(0.5)).collect(),
        values,
        classes,
        label: "attractor".into(),
        ..Map::default()
    };
    let map = Map { log: (draw::is_log(sweep, 0, &map.x), draw::is_log(sweep, 1, &map.y)), ..map };
    let y = second.map_or_else(Quantity::default, |name| axis(name));
    let mut pane = Pane { x: axis(first), y, is_band: second.is_none(), map: Some(map), ..Pane::default() };
    pane.dots.extend(marks(saved, sweep, &pane));
    let title = format!("{}: basins of attraction", sweep.file.title());
    let caption = format!(
        "{} at t = {}, {} of them computed.{}",
        count(saved.labels.len() as u64, "start"),
        number(family.maker().job(0, None).job.start.t, 4),
        grouped(saved.computed),
        if pane.dots.is_empty() { "" } else { " Circles: attractors, at the phase of the starts." }
    );
    let command = format!("saltus sweep rerun {} --point {{key}}", report::quoted(&dir.display().to_string()));
    let rerun = Rerun { command, stride: Some(high) };
    let chart = Chart { title, caption, panes: vec![pane], rerun, ..Chart::default() };
    Ok(draw::Drawn::new(chart, "Basins of attraction".into(), None))
}

/// The states of periodic attractors and places of rest, where the plane is that of all states.
fn marks(saved: &SavedBasins, sweep: &Sweep, pane: &Pane) -> Option<Dots> {
    let model = sweep.family.problem().model();
    let coordinate = model.coordinates.first()?;
    let is_plane = model.degrees() == 1 && model.states.is_empty() && sweep.family.has_period();
    if !is_plane || pane.x.name != *coordinate || pane.y.name != format!("{coordinate}'") {
        return None;
    }
    let ((a, b), (c, d)) = pane.map.as_ref()?.extent();
    let fits = |s: &&Vec<f64>| s[0] > a.min(b) && s[0] < a.max(b) && s[1] > c.min(d) && s[1] < c.max(d);
    let cycles = saved.attractors.iter().filter(|(a, _)| matches!(a.kind, Kind::Rest { .. } | Kind::Periodic { .. }));
    let states: Vec<&Vec<f64>> = cycles.flat_map(|(a, _)| &a.cycle).filter(fits).collect();
    let (x, y) = states.iter().map(|s| (s[0], s[1])).unzip();
    (!states.is_empty()).then(|| Dots { colour: 1, x, y, are_marks: true, ..Dots::default() })
}

pub fn table(saved: &SavedBasins, sweep: &Sweep) -> (String, Vec<String>, Vec<Vec<String>>) {
    let model = sweep.family.problem().model();
    let heads = ["attractor", "share (%)", "95 % interval", "starts", "a state of it", "impacts"].map(str::to_string);
    let rows = saved.attractors.iter().map(|(a, share)| {
        let state = a.cycle.first().map_or_else(String::new, |s| {
            let place = |i: usize| format!("{} = {}", model.coordinates[i], number(s[i], 8));
            (0..model.degrees().min(4)).map(place).collect::<Vec<_>>().join(", ")
        });
        let event = |e: &saltus_ensemble::atlas::basins::Event| format!("{} {}", e.constraint, number(e.speed, 5));
        vec![
            a.name.clone(),
            number(100.0 * share.share, 6),
            format!("{} … {}", number(100.0 * share.low, 4), number(100.0 * share.high, 4)),
            share.count.to_string(),
            state,
            a.events.iter().take(8).map(event).collect::<Vec<_>>().join(", "),
        ]
    });
    ("Attractors".into(), heads.to_vec(), rows.collect())
}

pub fn tell(
    (dir, json): (&Path, bool),
    sweep: &Sweep,
    (saved, findings): (&SavedBasins, &[String]),
    on_gpu: Option<&OnGpu>,
    seconds: f64,
    files: &[String],
) {
    if json {
        crate::text::print_json(&json!({
            "model": sweep.file.name, "starts": sweep.family.len(), "refused": saved.refused, "computed": saved.computed,
            "attractors": saved.attractors.iter().map(|(attractor, share)| json!({ "attractor": attractor, "share": share })).collect::<Vec<_>>(),
            "uncertainty": saved.uncertainty, "gpu": on_gpu.map(OnGpu::json), "seconds": seconds, "out": dir.display().to_string(), "files": files,
        }));
        return;
    }
    out!("{BOLD}{}{BOLD:#}\n", printable(sweep.file.title()));
    let starts = count(sweep.family.len(), "start");
    out!("{starts}, {} computed, in {}\n", grouped(saved.computed), duration(seconds));
    out!("{}\n", count(attractors(saved) as u64, "attractor"));
    const SHOWN: usize = 16;
    for (attractor, share) in saved.attractors.iter().take(SHOWN) {
        let detail = match &attractor.kind {
            Kind::Chaotic { exponent, error } => {
                format!(", neighbouring motions separate at a rate of {} ± {}", number(*exponent, 3), number(*error, 1))
            }
            _ => String::new(),
        };
        out!(
            "{:>8} %  ({} … {})  {}{detail}\n",
            number(100.0 * share.share, 4),
            number(100.0 * share.low, 4),
            number(100.0 * share.high, 4),
            printable(&attractor.name)
        );
    }
    if saved.attractors.len() > SHOWN {
        out!("and {} in basins.json\n", count((saved.attractors.len() - SHOWN) as u64, "further attractor"));
    }
    findings.iter().for_each(|line| out!("{}\n", printable(line)));
    on_gpu.into_iter().flat_map(OnGpu::lines).for_each(|line| out!("{line}\n"));
    out!("wrote {} to {}\n", files.join(", "), dir.display());
}
