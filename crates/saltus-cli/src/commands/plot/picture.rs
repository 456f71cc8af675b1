//! Pictures of the atlas made again from their saved data: a figure, or the page.

use super::{Args, kind, save};
use crate::commands::atlas::{basins, draw};
use crate::setup::Refusal;
use crate::text::{out, printable};
use crate::{progress, report};
use saltus::SetupError;
use saltus_ensemble::atlas::basins::SavedBasins;
use saltus_ensemble::atlas::{Picture, Tables};
use saltus_ensemble::store::Manifest;
use saltus_report::chart::Chart;
use saltus_report::paper::{self, Columns};
use saltus_report::{AtlasReport, atlas};
use std::process::ExitCode;

pub fn main(args: &Args, picture: &Picture) -> Result<ExitCode, Refusal> {
    let is_page = args.out.extension().is_some_and(|e| e.eq_ignore_ascii_case("html"));
    let kind = if is_page { None } else { Some(kind(args)?) };
    let (mut drawn, file) = match picture {
        Picture::Basins => {
            let saved = SavedBasins::read(&args.dir)?;
            let manifest =
                Manifest::read(&args.dir)?.ok_or_else(|| SetupError::new("there is no `sweep.json` here"))?;
            let sweep = manifest.sweep()?;
            (basins::drawn(&args.dir, &saved, &sweep)?, sweep.file)
        }
        picture => {
            let tables = Tables::open(&args.dir)?;
            (draw::drawn(&args.dir, picture, &tables)?, tables.sweep.file)
        }
    };
    if (args.from.is_some() || args.to.is_some()) && drawn.chart.panes.iter().any(|pane| pane.map.is_some()) {
        return Err(SetupError::new("--from and --to do not cut maps")
            .help("make the picture again over a shorter range of its axis")
            .into());
    }
    cut(&mut drawn.chart, args.from.unwrap_or(f64::NEG_INFINITY), args.to.unwrap_or(f64::INFINITY));
    let Some(kind) = kind else {
        let page = atlas(AtlasReport {
            title: file.title(),
            subtitle: &drawn.subtitle,
            origin: report::origin(&file),
            chart: &drawn.chart,
            tiles: Vec::new(),
            findings: Vec::new(),
            table: Default::default(),
        });
        progress::saving(|| report::save(&args.out, &page))?;
        out!("wrote {}\n", args.out.display());
        return Ok(ExitCode::SUCCESS);
    };
    let columns = if args.columns == "two" { Columns::Two } else { Columns::One };
    let figure = paper::chart(&drawn.chart, columns).map_err(SetupError::new)?;
    save(args, kind, &figure)?;
    for note in &figure.notes {
        out!("note: {}\n", printable(note));
    }
    Ok(ExitCode::SUCCESS)
}

/// A chart as a figure for a paper.
pub fn of_chart(args: &Args, mut chart: Chart) -> Result<ExitCode, Refusal> {
    let kind = kind(args)?;
    cut(&mut chart, args.from.unwrap_or(f64::NEG_INFINITY), args.to.unwrap_or(f64::INFINITY));
    let columns = if args.columns == "two" { Columns::Two } else { Columns::One };
    let figure = paper::chart(&chart, columns).map_err(SetupError::new)?;
    save(args, kind, &figure)?;
    Ok(ExitCode::SUCCESS)
}

/// Leaves what lies between two values of the horizontal axis.
fn cut(chart: &mut Chart, from: f64, to: f64) {
    if from == f64::NEG_INFINITY && to == f64::INFINITY {
        return;
    }
    if let Some(ends) = &mut chart.ends {
        *ends = (ends.0.max(from), ends.1.min(to));
    }
    for pane in &mut chart.panes {
        for dots in &mut pane.dots {
            let keep: Vec<bool> = dots.x.iter().map(|x| *x >= from && *x <= to).collect();
            for column in [&mut dots.x, &mut dots.y, &mut dots.key] {
                let mut kept = keep.iter();
                column.retain(|_| *kept.next().unwrap_or(&true));
            }
        }
        for line in &mut pane.lines {
            for k in 0..line.x.len() {
                if !(line.x[k] >= from && line.x[k] <= to) {
                    line.y[k] = f64::NAN;
                    line.x[k] = f64::NAN;
                }
            }
        }
        for mark in &mut pane.marks {
            let keep: Vec<bool> = mark.x.iter().map(|x| *x >= from && *x <= to).collect();
            for column in [&mut mark.x, &mut mark.y] {
                let mut kept = keep.iter();
                column.retain(|_| *kept.next().unwrap_or(&true));
            }
        }
        pane.spans.retain(|s| s.to >= from && s.from <= to);
        for span in &mut pane.spans {
            (span.from, span.to) = (span.from.max(from), span.to.min(to));
        }
    }
}
