//! `saltus continue MODEL --over w=0.5:1.5`: branches of periodic orbits over a parameter.

mod curves;
mod draw;
mod first;
mod print;
mod record;
mod rest;
mod shown;
mod simulate;
mod tables;

use crate::commands::merge::formats;
use crate::progress;
use crate::report;
use crate::setup::{ModelArgs, Refusal, StartArgs, pairs, run_directory};
use crate::text::number;
use draw::Drawing;
use first::{Prepared, prepare};
use record::{Entry, Row, Writer};
use saltus::analysis::{ContinueOptions, News, WalkOptions, continue_orbit};
use saltus::{Options, SetupError};
use saltus_io::output::{self, WriteError};
use saltus_report::BranchesReport;
use saltus_report::paper::{self, Columns, Kind};
use shown::Order;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Follow a periodic orbit over a parameter, stable or not, through folds and grazing.
///
/// From the orbit that the motion settles on, both ways, as far as the range goes. Folds, period
/// doublings, Neimark–Sacker points, branch points, grazing and changes of contact are located on
/// the way; at a period doubling the branch of doubled orbits is followed as well, and beyond
/// grazing the branch with one impact more or less.
///
/// --out writes a directory with tables of all orbits and special points, the branch diagram over
/// a simulated one (branches.svg), multipliers, some orbits, and a page for any browser.
///
/// Examples:
///
///   saltus continue oscillator --over w=0.5:2 --out resonance
///
///   saltus continue oscillator --over w=0.5:2 --show rms(x) --doublings 2 --out resonance
///
///   saltus continue ball-table --over G=1.2:1.7 --show speed --out doubling
///
///   saltus continue oscillator --over w=1.2:2,s=0.3:2 --curve grazing --out grazing
///
///   saltus continue valve --of equilibria --over q=1:6 --out rest
///
///   saltus continue oscillator --over w=2:3 --from resonance --branch 1 --out further
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    start: StartArgs,
    /// The parameter and its range, w=0.5:1.5; with --curve two of them, w=0.5:1.5,e=0.5:1
    #[arg(long, value_name = "RANGE", required = true)]
    over: Vec<String>,
    /// What is followed: orbits, or equilibria
    #[arg(long, value_name = "WHAT", value_parser = ["orbits", "equilibria"], default_value = "orbits")]
    of: String,
    /// Over two parameters, follow the curves of special points found over the first: fold, doubling or grazing
    #[arg(long, value_name = "KIND", value_parser = ["fold", "doubling", "grazing"], conflicts_with = "from")]
    curve: Option<String>,
    /// What is shown of an orbit: max(x), min(x), mean(x^2), rms(x'); speed (of impacts); period; or an expression, once a period
    /// of the forcing [default: the largest velocity of the first coordinate]
    #[arg(long, value_name = "WHAT")]
    show: Option<String>,
    /// How many times branches are followed that leave others, at period doublings and branch points: 0 follows the first
    /// orbit alone
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=12))]
    doublings: u64,
    /// Which way: up, down, or both
    #[arg(long, value_name = "WAY", value_parser = ["up", "down", "both"], default_value = "both")]
    direction: String,
    /// The largest step, as a part of the range and of the size of states
    #[arg(long, value_name = "X", default_value_t = 0.02)]
    step: f64,
    /// The largest number of orbits of a branch
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(2..=10_000_000))]
    points: u64,
    /// With --from: which branch goes on [default: the last]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..), requires = "from")]
    branch: Option<u64>,
    /// The period of what drives the model, an expression of parameters [default: as the model shows]. Where nothing depends
    /// on time: about how long the first orbit takes
    #[arg(long, value_name = "T", help_heading = "The first orbit")]
    period: Option<String>,
    /// How many periods of what drives the model the first orbit takes [default: as the motion shows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), help_heading = "The first orbit")]
    multiple: Option<u64>,
    /// How long the motion is left to settle before: in periods, or where nothing depends on time a time [default: 100 periods]
    #[arg(long, value_name = "N", help_heading = "The first orbit")]
    transient: Option<f64>,
    /// The relative tolerance of the motion
    #[arg(long, value_name = "X", default_value_t = 1e-13)]
    tol: f64,
    /// Below the branches, simulate at so many values of the parameter; 0: none
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(0..=1_000_000), help_heading = "Output")]
    simulate: u64,
    /// The directory of the results: tables, figures (svg), the page (html)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Table formats: npz, csv, parquet [default: npz,csv]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Output")]
    format: Vec<String>,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    check(args)?;
    let formats = formats(&args.format)?;
    let wanted = if args.curve.is_some() { 2 } else { 1 };
    let given = first::axes(&args.over)?.len();
    if given != wanted {
        let (message, help) = match wanted {
            1 => {
                ("branches are followed over one parameter", "curves over two need  --curve fold,  doubling or grazing")
            }
            _ => ("--curve needs two parameters", "give both ranges, such as  --over w=0.5:1.5,e=0.5:1"),
        };
        return Err(SetupError::new(format!("{message}, and --over has {given}")).help(help).into());
    }
    let mut prepared = prepare(args)?;
    if let Some(dir) = &args.out {
        run_directory(dir, prepared.ready.file.sources())?;
    }
    let started = Instant::now();
    let (mut entries, mut writer) = match (&args.curve, args.of.as_str()) {
        (Some(kind), _) => curves::follow(args, &mut prepared, kind)?,
        (None, "equilibria") => rest::follow(args, &mut prepared)?,
        _ => follow(args, &mut prepared)?,
    };
    let seconds = started.elapsed().as_secs_f64();
    let are_orbits = args.curve.is_none() && args.of == "orbits";
    if are_orbits && (args.out.is_some() || args.model.report.is_some()) {
        simulate(args, &prepared, &mut entries, &mut writer)?;
    }
    let session = Session { args, prepared: &prepared, entries: &entries, seconds };
    let mut files = Vec::new();
    if args.out.is_some() || args.model.report.is_some() {
        files = progress::saving(|| session.write(&formats))?;
    }
    let found = print::Found {
        title: &prepared.problem.model().title,
        subtitle: &session.subtitle(),
        notes: &prepared.notes,
        parameters: &session.parameters(),
        entries: &entries,
        files: &files,
        seconds: session.seconds,
    };
    match args.model.json {
        true => found.json(),
        false => found.print(args.out.as_deref()),
    }
    if let Some(lost) = writer.lost {
        return Err(Refusal::Unwritten(SetupError::new(lost)));
    }
    Ok(if progress::is_stopped() { ExitCode::from(progress::INTERRUPTED) } else { ExitCode::SUCCESS })
}

fn check(args: &Args) -> Result<(), SetupError> {
    if !(1e-14..=1e-4).contains(&args.tol) {
        return Err(SetupError::new(format!(
            "the tolerance must be between 1e-14 and 1e-4, not {}",
            saltus::text::exact(args.tol)
        )));
    }
    if !(args.step > 0.0 && args.step <= 0.5) {
        return Err(SetupError::new(format!("the step must be between 0 and 0.5, not {}", args.step))
            .help("it is a part of the range of the parameter"));
    }
    if args.transient.is_some_and(|x| !(x >= 0.0 && x.is_finite())) {
        return Err(SetupError::new("the transient must not be negative"));
    }
    Ok(())
}

/// Follows all branches; the lines of the record, and what goes on to write them.
fn follow(args: &Args, prepared: &mut Prepared) -> Result<(Vec<Entry>, Writer), Refusal> {
    let first = prepared.orbit(args)?;
    let axis = prepared.axes[0].clone();
    let Some(clock) = prepared.clock.clone() else { return Err(Refusal::Interrupted) };
    let directions = match (prepared.direction, args.direction.as_str()) {
        (Some(way), _) => (way > 0.0, way <= 0.0),
        (None, "up") => (true, false),
        (None, "down") => (false, true),
        (None, _) => (true, true),
    };
    let walk = WalkOptions { range: (axis.low, axis.high), step: args.step, points: args.points as usize };
    let options = ContinueOptions { walk, doublings: args.doublings as usize, tolerance: args.tol, directions };
    let mut entries = std::mem::take(&mut prepared.earlier);
    let mut writer = Writer::new(args.out.as_deref(), &entries)?;
    let before = entries.iter().filter(|e| matches!(e, Entry::Branch { .. })).count();
    let Prepared { problem, shown, .. } = &*prepared;
    let states = problem.model().states.len();
    let mut bar = progress::Bar::new(args.model.json);
    let mut add = |entry: Entry, entries: &mut Vec<Entry>| {
        let written = writer.write(&entry);
        entries.push(entry);
        written
    };
    if entries.is_empty() {
        add(head(prepared, "orbits"), &mut entries);
    }
    let mut done = 0;
    let mut order = Order::default();
    let branches = continue_orbit(problem, clock, &first, &axis.name, &options, &mut |news| {
        let entry = match news {
            News::Begins(k, origin) => Entry::Branch { branch: before + k, origin: record::origin(origin, &axis.name) },
            News::Point(k, point, orbit) => {
                done += 1;
                bar.counted(done, args.points, &format!("{} = {}", axis.name, number(point.values[0], 6)));
                let multiple = point.multiple.unwrap_or(1);
                let values = shown.values(problem, &orbit.passage.run, &point.start, point.period, multiple);
                let values = order.of(k, values);
                Entry::Point { branch: before + k, row: Row::new(point, states, values) }
            }
            News::Special(k, special) => {
                let point = &special.point;
                let options = Options::events(point.start.t + point.period).tolerance(args.tol);
                let run = problem.run_from(&point.start, &options);
                let values = run.map_or_else(
                    |_| Vec::new(),
                    |run| shown.values(problem, &run, &point.start, point.period, point.multiple.unwrap_or(1)),
                );
                record::special(before + k, special, states, order.like(k, values))
            }
        };
        add(entry, &mut entries) && !progress::is_stopped()
    });
    bar.finish();
    let branches = branches.map_err(|e| SetupError::new(e.to_string()))?;
    if branches.is_empty() && !progress::is_stopped() {
        return Err(leaves(prepared, &axis).into());
    }
    for (k, branch) in branches.iter().enumerate() {
        for entry in record::left(before + k, &branch.left) {
            add(entry, &mut entries);
        }
        add(Entry::End { branch: before + k, why: branch.end.clone(), cut: branch.is_cut }, &mut entries);
    }
    Ok((entries, writer))
}

/// There is nothing to follow: the first orbit is at the end of the range, and the branch leaves it there.
fn leaves(prepared: &Prepared, axis: &first::Axis) -> SetupError {
    let (at, name) = (number(prepared.start.parameters[0], 10), &axis.name);
    let range = format!("{} … {}", number(axis.low, 6), number(axis.high, 6));
    SetupError::new(format!("the branch leaves the range {name} = {range} where it begins, at {name} = {at}"))
        .help("choose a range that goes on from there, or another --direction")
}

/// The first line of a record.
fn head(prepared: &Prepared, of: &str) -> Entry {
    let model = prepared.problem.model();
    let names: Vec<String> = prepared.axes.iter().map(|a| a.name.clone()).collect();
    Entry::Head {
        title: model.title.clone(),
        units: names.iter().map(|name| crate::commands::atlas::unit(model, name)).collect(),
        parameters: names,
        shown: prepared.shown.name(),
        of: of.into(),
        command: report::origin(&prepared.ready.file).command,
    }
}

/// The chart of a directory, made again: the diagram, or multipliers.
pub fn chart(dir: &Path, what: Option<&str>) -> Result<Option<saltus_report::chart::Chart>, SetupError> {
    if !dir.join(record::FILE).exists() {
        return Ok(None);
    }
    let entries = record::read(dir)?;
    let damaged = || SetupError::new(format!("`{}` does not say what it is about", dir.join(record::FILE).display()));
    let drawing = Drawing::new(&entries).ok_or_else(damaged)?;
    match what {
        None | Some("branches") => Ok(Some(drawing.diagram())),
        Some("multipliers") => {
            drawing.multipliers().map(Some).ok_or_else(|| SetupError::new("there are no multipliers to draw"))
        }
        Some(other) => Err(SetupError::new(format!("branches have no figure `{other}`"))
            .help("there are branches and multipliers; `orbits.svg` is drawn with the branches")),
    }
}

/// Motions left to settle at many values of the parameter, below the branches.
fn simulate(args: &Args, prepared: &Prepared, entries: &mut Vec<Entry>, writer: &mut Writer) -> Result<(), Refusal> {
    let is_forced = prepared.problem.model().depends_on_time();
    if args.simulate < 2 || !is_forced || progress::is_stopped() {
        return Ok(());
    }
    let axis = &prepared.axes[0];
    // (Where the branch begins is given with --set; the axis goes over all of it.)
    let mut set = pairs("--set", &args.model.set, false)?;
    set.retain(|(name, _)| *name != axis.name);
    let simulation = simulate::Simulation {
        model: &args.model.model,
        set,
        start: prepared.ready.changes.start.clone(),
        period: args.period.clone(),
        parameter: &axis.name,
        range: (axis.low, axis.high),
        count: args.simulate,
        shown: &prepared.shown,
    };
    let (x, y) = simulation.values()?;
    entries.push(Entry::Simulated { x, y });
    entries.last().map(|entry| writer.write(entry));
    Ok(())
}

/// What was found, to be written.
struct Session<'a> {
    args: &'a Args,
    prepared: &'a Prepared,
    entries: &'a [Entry],
    seconds: f64,
}

impl Session<'_> {
    fn parameters(&self) -> Vec<String> {
        self.prepared.axes.iter().map(|a| a.name.clone()).collect()
    }

    fn subtitle(&self) -> String {
        let range = |a: &first::Axis| format!("{} = {} … {}", a.name, number(a.low, 6), number(a.high, 6));
        let over: Vec<String> = self.prepared.axes.iter().map(range).collect();
        let what = match &self.args.curve {
            Some(kind) => format!("Curves of {kind} orbits"),
            None => format!("Branches of {}", self.args.of),
        };
        format!("{what} over {}", over.join(" and "))
    }

    /// Writes tables, figures and the page; the names of the files.
    fn write(&self, formats: &[output::Format]) -> Result<Vec<String>, Refusal> {
        let plain = |e: WriteError| SetupError::new(e.to_string());
        let name = self.prepared.shown.name();
        let mut files = vec![record::FILE.to_string()];
        if let Some(dir) = &self.args.out {
            let parameters = self.parameters();
            let more = tables::write(dir, self.entries, &self.prepared.problem, &parameters, &name, formats);
            files.extend(more.map_err(plain)?);
        }
        let Some(drawing) = Drawing::new(self.entries) else { return Ok(files) };
        let is_plain = self.args.curve.is_none() && self.args.of == "orbits";
        let diagram = drawing.diagram();
        let multipliers = drawing.multipliers().filter(|_| is_plain);
        let orbits = drawing.orbits(&self.prepared.problem).filter(|_| is_plain);
        if let Some(dir) = &self.args.out {
            let charts =
                [("branches", Some(&diagram)), ("multipliers", multipliers.as_ref()), ("orbits", orbits.as_ref())];
            for (name, chart) in charts {
                if let Some(chart) = chart {
                    figure(&dir.join(format!("{name}.svg")), chart)?;
                    files.push(format!("{name}.svg"));
                }
            }
        }
        let title = self.prepared.problem.model().title.clone();
        let subtitle = self.subtitle();
        let page = saltus_report::branches(BranchesReport {
            title: &title,
            subtitle: &subtitle,
            origin: report::origin(&self.prepared.ready.file),
            diagram: &diagram,
            multipliers: multipliers.as_ref(),
            orbits: orbits.as_ref(),
            tiles: vec![("orbits", self.count().to_string()), ("computed in", crate::text::duration(self.seconds))],
            findings: Vec::new(),
            tables: vec![self.specials()],
        });
        if let Some(dir) = &self.args.out {
            report::save(&dir.join("branches.html"), &page)?;
            files.push("branches.html".into());
        }
        if let Some(path) = &self.args.model.report {
            report::save(path, &page)?;
        }
        Ok(files)
    }

    fn count(&self) -> usize {
        self.entries.iter().filter(|e| matches!(e, Entry::Point { .. })).count()
    }

    /// Special points as a table of the page.
    fn specials(&self) -> (String, Vec<String>, Vec<Vec<String>>) {
        let mut heads = vec!["branch".to_string()];
        heads.extend(self.parameters());
        heads.extend(["kind", "period", "meaning"].map(str::to_string));
        let row = |e: &Entry| match e {
            Entry::Special { branch, kind, words, row } => {
                let mut cells = vec![(branch + 1).to_string()];
                cells.extend(row.values.iter().map(|x| number(*x, 12)));
                cells.extend([print::kind_name(kind).to_string(), number(row.period, 8), words.clone()]);
                Some(cells)
            }
            _ => None,
        };
        ("Special points".into(), heads, self.entries.iter().filter_map(row).collect())
    }
}

/// Writes a chart for papers.
fn figure(path: &Path, chart: &saltus_report::chart::Chart) -> Result<(), SetupError> {
    let drawn = paper::chart(chart, Columns::Two).map_err(SetupError::new)?;
    let bytes = paper::encode(&drawn.sheet, Kind::Svg, 300.0).map_err(SetupError::new)?;
    output::write_file(path, |out| out.write_all(&bytes)).map_err(|e| SetupError::new(e.to_string()))
}
