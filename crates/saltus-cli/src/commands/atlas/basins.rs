//! `saltus basins MODEL`: which attractor each start leads to.

use super::args::{StartText, starts};
use super::{draw, preview, unit};
use crate::commands::code::CodeArgs;
use crate::progress::{self, Bar};
use crate::setup::{Refusal, pairs};
use crate::text::{BOLD, count, duration, grouped, number, out, printable};
use crate::{locate, report};
use saltus::SetupError;
use saltus_ensemble::atlas::Picture;
use saltus_ensemble::atlas::basins::{BasinPlan, Found, Kind, REFUSED, SavedBasins};
use saltus_ensemble::store::{axis_names, vacant};
use saltus_ensemble::{Request, Sweep};
use saltus_io::output::{self, WriteError};
use saltus_report::AtlasReport;
use saltus_report::chart::{Chart, Dots, Map, Pane, Quantity, Rerun, Tint};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Find the attractors of a system and the starts that lead to each of them.
///
/// Attractors are distinguished by what they are: rest, a periodic orbit with its impacts, a chaotic
/// set; motions that grow without bound and those that were not resolved have labels of their own.
/// Shares of the starts come with their confidence intervals, boundaries with their uncertainty
/// exponent (1 if smooth, less if fractal).
///
/// The directory has the attractors (basins.json), the attractor of each start (basins.npz), the
/// figure (basins.svg) and a page for any browser (basins.html), in which a click on a start copies
/// the command that runs it.
///
/// Examples:
///
///   saltus basins oscillator --set w=0.5 --start x=-3:1:400 --start "x'=-3:3:400" --out basins
///
///   saltus basins oscillator --set w=0.5 --start x=-3:1:1000 --start "x'=-3:3:1000" --refine --out fine
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A model file, or the name of a shipped model (see `saltus models`)
    model: String,
    /// Replace a parameter: a number or an expression of parameters; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Starts: a range x=-2:2:400 of a coordinate, x', or a state; two ranges make a picture, one a strip. Others are fixed: y=0.3
    #[arg(long, value_name = "NAME=VALUES", required = true, allow_hyphen_values = true)]
    start: Vec<String>,
    /// Compute starts near boundaries only; the others have the attractor of their neighbours
    #[arg(long)]
    refine: bool,
    /// For how many periods a motion is followed at most
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(64..=10_000_000), help_heading = "Time")]
    periods: u64,
    /// The period, an expression of parameters [default: that of the forcing]
    #[arg(long, value_name = "T", help_heading = "Time")]
    period: Option<String>,
    /// Where nothing is forced: the time after which motions are compared with attractors [default: the end of the model]
    #[arg(long, value_name = "T", help_heading = "Time")]
    end: Option<String>,
    /// The relative tolerance [default: the model's, else 1e-10]
    #[arg(long, value_name = "X")]
    tol: Option<f64>,
    #[command(flatten)]
    code: CodeArgs,
    /// How many threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// The directory of the results
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl Args {
    fn sweep(&self) -> Result<Sweep, Refusal> {
        let file = locate::model(&self.model)?;
        let (mut fixed, mut over) = (Vec::new(), Vec::new());
        for text in starts(&self.start)? {
            match text {
                StartText::One(name, value) => fixed.push((name, value)),
                StartText::Axis(axis) => over.push(axis),
            }
        }
        if over.is_empty() {
            return Err(SetupError::new("there is one start only")
                .help("give ranges, such as  --start x=-2:2:400 --start \"x'=-2:2:400\"")
                .into());
        }
        let request = Request {
            set: pairs("--set", &self.set, false)?,
            start: fixed,
            over,
            // (As far as `saltus sweep rerun` follows a start.)
            transient: None,
            periods: Some("60".into()),
            period: self.period.clone(),
            tolerance: self.tol,
            ..Request::default()
        };
        let request = self.code.of(request);
        let error = match self.code.sweep(&request, file.clone()) {
            Ok(sweep) => return Ok(sweep),
            Err(error) => error,
        };
        if !error.error.message.contains("the period is not known: nothing depends on time") {
            return Err(error.into());
        }
        let model = file.family(&request.changes(), &saltus_io::FamilyText::default())?;
        // Where nothing is forced, motions return to where the first coordinate has a maximum.
        let section = format!("{}':down", model.coordinates[0]);
        let timed = Request { periods: None, end: self.end.clone(), sections: vec![section], ..request };
        Ok(self.code.sweep(&timed, file)?)
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let sweep = args.sweep()?;
    let plain = |e: WriteError| SetupError::new(e.to_string());
    vacant(&args.out)?;
    output::prepare(&args.out).map_err(plain)?;
    let stop = Arc::new(AtomicBool::new(false));
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or_else(all, |n| n as usize);
    let plan = BasinPlan { sweep: &sweep, threads, most: args.periods, refine: args.refine, stop: stop.clone() };
    let mut bar = Bar::new(args.json);
    let started = Instant::now();
    let watcher = watcher(&stop);
    let basins = plan.run(&mut |found: &Found| {
        bar.counted(found.done, found.total, &count(found.attractors as u64, "attractor"));
    })?;
    watcher.store(true, Ordering::Relaxed);
    bar.finish();
    let seconds = started.elapsed().as_secs_f64();
    let Some(basins) = basins else {
        match args.json {
            true => crate::text::print_json(&json!({ "complete": false })),
            false => out!("interrupted: nothing was written\n"),
        }
        return Ok(ExitCode::from(progress::INTERRUPTED));
    };
    let mut files = progress::saving(|| basins.write(&args.out, &sweep)).map_err(plain)?;
    Picture::Basins.write(&args.out).map_err(plain)?;
    let saved = SavedBasins::read(&args.out)?;
    let findings = findings(&saved);
    let axes = axis_names(&sweep.family).len();
    if saved.refused == sweep.family.len() {
        return Err(none_admissible(&sweep, &args.out).into());
    }
    if axes <= 2 {
        let drawn = drawn(&args.out, &saved, &sweep)?;
        let page = saltus_report::atlas(AtlasReport {
            title: sweep.file.title(),
            subtitle: &drawn.subtitle,
            origin: report::origin(&sweep.file),
            chart: &drawn.chart,
            tiles: vec![
                ("starts", grouped(sweep.family.len())),
                ("attractors", attractors(&saved).to_string()),
                ("computed in", duration(seconds)),
            ],
            findings: findings.clone(),
            table: table(&saved, &sweep),
        });
        files.extend(draw::save(&args.out, "basins", &drawn.chart, &page)?);
        if !args.json {
            preview::print(&drawn.chart);
        }
    }
    tell(args, &sweep, &saved, &findings, seconds, &files);
    if axes > 2 && !args.json {
        out!("there is no picture: it has one range or two, and there are {axes}\n");
    }
    Ok(ExitCode::SUCCESS)
}

/// The mistake of starts that all lie where no motion can begin.
fn none_admissible(sweep: &Sweep, out: &Path) -> SetupError {
    let why = format!("saltus sweep rerun {} --point 0", report::quoted(&out.display().to_string()));
    SetupError::new(format!(
        "no motion can begin at any of {}: there is nothing to draw",
        count(sweep.family.len(), "start")
    ))
    .help(format!("choose ranges in which no gap is negative; for the reason of the first:  {why}"))
}

/// Passes an interruption on to the workers, until the flag it returns is set.
fn watcher(stop: &Arc<AtomicBool>) -> Arc<AtomicBool> {
    let ended = Arc::new(AtomicBool::new(false));
    let (stop, done) = (stop.clone(), ended.clone());
    std::thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            if progress::is_stopped() {
                stop.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    });
    ended
}

/// The number of attractors, without what is none.
fn attractors(saved: &SavedBasins) -> usize {
    saved.attractors.iter().filter(|(a, _)| !a.kind.is_open()).count()
}

fn findings(saved: &SavedBasins) -> Vec<String> {
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
        found.push(format!("{} of the starts are not admissible", grouped(saved.refused)));
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
            let message = format!("a picture of basins has one axis or two, and this has {}", names.len());
            return Err(SetupError::new(message));
        }
    };
    // (One range is a strip.)
    let high = if second.is_some() { family.points().row() as usize } else { 1 };
    let wide = family.points().len() as usize / high.max(1);
    let own = Tint::CLASSES - 1;
    let mut classes: Vec<(String, Tint)> = Vec::new();
    let mut place = vec![0; saved.attractors.len()];
    let colours = saved.attractors.iter().filter(|(a, _)| matches!(a.kind, Kind::Rest { .. } | Kind::Periodic { .. }));
    let many = colours.count() > own;
    let mut next = 0;
    for (k, (attractor, share)) in saved.attractors.iter().enumerate() {
        let tint = match attractor.kind {
            Kind::Chaotic { .. } => Tint::Dark,
            Kind::Unbounded => Tint::Pale,
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
        "{} starts at t = {}, {} of them computed.{}",
        grouped(saved.labels.len() as u64),
        number(family.maker().job(0, None).job.start.t, 4),
        grouped(saved.computed),
        if pane.dots.is_empty() { "" } else { " Circles: attractors, at the phase of the starts." }
    );
    let command = format!("saltus sweep rerun {} --point {{key}}", report::quoted(&dir.display().to_string()));
    let rerun = Rerun { command, stride: Some(high) };
    let chart = Chart { title, caption, panes: vec![pane], rerun, ..Chart::default() };
    Ok(draw::Drawn { chart, subtitle: "Basins of attraction".into(), diagram: None })
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

fn table(saved: &SavedBasins, sweep: &Sweep) -> (String, Vec<String>, Vec<Vec<String>>) {
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

fn tell(args: &Args, sweep: &Sweep, saved: &SavedBasins, findings: &[String], seconds: f64, files: &[String]) {
    if args.json {
        crate::text::print_json(&json!({
            "model": sweep.file.name, "starts": sweep.family.len(), "refused": saved.refused, "computed": saved.computed,
            "attractors": saved.attractors.iter().map(|(attractor, share)| json!({ "attractor": attractor, "share": share })).collect::<Vec<_>>(),
            "uncertainty": saved.uncertainty, "seconds": seconds, "out": args.out.display().to_string(), "files": files,
        }));
        return;
    }
    out!("{BOLD}{}{BOLD:#}\n", printable(sweep.file.title()));
    let starts = grouped(sweep.family.len());
    out!("{starts} starts, {} computed, in {}\n", grouped(saved.computed), duration(seconds));
    out!("{}\n", count(attractors(saved) as u64, "attractor"));
    const SHOWN: usize = 16;
    for (attractor, share) in saved.attractors.iter().take(SHOWN) {
        let detail = match &attractor.kind {
            Kind::Chaotic { exponent, error } => {
                format!(", neighbours part at a rate of {} ± {}", number(*exponent, 3), number(*error, 1))
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
    out!("wrote {} to {}\n", files.join(", "), args.out.display());
}
