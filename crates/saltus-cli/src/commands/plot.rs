//! `saltus plot DIR`: static figures for papers, from the files of a run or of a sweep.

mod picture;
mod sweep;

use crate::progress;
use crate::setup::Refusal;
use crate::text::{number, out, printable};
use saltus::scheme::Method;
use saltus::{SetupError, Trajectory, nearest};
use saltus_ensemble::atlas::Picture;
use saltus_io::{Rerun, SavedRun, output};
use saltus_report::paper::{self, Columns, Figure, Kind, Motion, Options, What};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Draw a figure of a run, or of a sweep, for a paper: SVG, PDF or PNG.
///
/// Takes the directory that `saltus run --out` wrote. The ending of --out says the format: svg
/// and pdf are vectors, png has dots. The figure is 85 mm wide, one column of a journal, or 180
/// mm, two. Velocities and energies have a gap at every impact, with the limit before it as a
/// ring and the one after it as a dot.
///
///   positions    each coordinate over time
///   velocities   their velocities
///   phase        velocity over position
///   gaps         the distance to each obstacle
///   reactions    forces of the obstacles as areas, impulses at impacts as stems
///   joints       reactions of joints, their impulses at impacts as stems
///   friction     forces of friction, their impulses at impacts as stems
///   states       first-order states over time
///   energy       kinetic, potential, total
///   impacts      approach speeds over time, and a histogram of them
///   spectrum     power spectral density of each coordinate
///
/// Of a sweep, any column of its tables over an axis: the last impacts' speed, or x at the
/// stroboscope, which make a bifurcation diagram; max(x) of points.csv, which makes a response
/// curve. Where tables share a name, strobe.x or points.x say which is meant.
///
/// Examples:
///
///   saltus run ball-gravity --out results
///
///   saltus plot results --what velocities --out fig1.pdf
///
///   saltus plot results --what phase --columns two --coordinate y --from 1 --to 3 --out fig2.svg
///
///   saltus plot sweep --what speed --against w --out fig3.svg
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// The directory of a run or of a sweep
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// What to draw: positions, velocities, states, phase, gaps, reactions, joints, friction, energy, impacts or spectrum; of a sweep, a column
    /// [default: positions; of a sweep the speed of impacts]
    #[arg(long, value_name = "WHAT")]
    what: Option<String>,
    /// Of a sweep: the column of the horizontal axis [default: the first axis]
    #[arg(long, value_name = "COLUMN")]
    against: Option<String>,
    /// The figure's file: fig.svg, fig.pdf or fig.png
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// The width: one column (85 mm) or two (180 mm)
    #[arg(long, value_name = "WIDTH", default_value = "one", value_parser = ["one", "two"])]
    columns: String,
    /// Show this coordinate only; may be repeated, and `x` stands for all of x[1], x[2], …
    #[arg(long, value_name = "NAME")]
    coordinate: Vec<String>,
    /// The same for the constraints of gaps, reactions and impacts, for equations of joints and for slips of friction
    #[arg(long, value_name = "NAME")]
    constraint: Vec<String>,
    /// Where the time axis begins [default: the start of the run]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    from: Option<f64>,
    /// Where it ends [default: the end of the run]
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    to: Option<f64>,
    /// Dots per inch of a png
    #[arg(long, default_value_t = 300.0)]
    dpi: f64,
}

/// The mistake of a choice that a figure does not have.
fn unusable(args: &Args, (coordinates, constraints): (bool, bool), what: &str, help: &str) -> Result<(), SetupError> {
    let named = [("--coordinate", &args.coordinate, coordinates), ("--constraint", &args.constraint, constraints)];
    match named.into_iter().find(|(_, chosen, is_usable)| !chosen.is_empty() && !is_usable) {
        Some((option, ..)) => Err(SetupError::new(format!("{option} does not choose anything in {what}")).help(help)),
        None => Ok(()),
    }
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let branches = crate::commands::continuation::chart(&args.dir, args.what.as_deref())?;
    let is_sweep = args.dir.join("sweep.json").exists();
    if is_sweep || branches.is_some() {
        let help = "it is for figures of runs; of a sweep, choose a column with --what";
        unusable(args, (false, false), "figures of families and branches", help)?;
    }
    if let Some(chart) = branches {
        return picture::of_chart(args, chart);
    }
    if !args.dir.exists() {
        let message = format!("there is no directory `{}`", args.dir.display());
        return Err(SetupError::new(message).help("name one that --out wrote, of a run, a sweep or a picture").into());
    }
    let what = if is_sweep { What::Positions } else { what(args.what.as_deref().unwrap_or("positions"))? };
    if let Some(picture) = Picture::read(&args.dir)?.filter(|_| args.what.is_none() && args.against.is_none()) {
        return picture::main(args, &picture);
    }
    let kind = kind(args)?;
    if is_sweep {
        return sweep::main(args, kind);
    }
    if args.against.is_some() {
        return Err(SetupError::new("--against is for sweeps, and this is a run").into());
    }
    let run = SavedRun::open(&args.dir)?;
    let of_bonds = matches!(what, What::Joints | What::Friction);
    let name = args.what.as_deref().unwrap_or("positions");
    let (usable, help) = match what {
        What::Energy => ((false, false), "energies are those of the whole system"),
        _ if of_bonds || what.of_constraints() => ((false, true), "choose with --constraint"),
        _ => ((true, false), "choose with --coordinate"),
    };
    unusable(args, usable, &format!("the figure `{name}`"), help)?;
    let chosen = match what {
        What::States => choose(&args.coordinate, &run.states, "state")?,
        What::Joints => choose(&args.constraint, &run.joints, "equation of a joint")?,
        What::Friction => choose(&args.constraint, &run.frictions, "slip of friction")?,
        _ if what.of_constraints() => choose(&args.constraint, &run.constraints, "constraint")?,
        _ => choose(&args.coordinate, &run.coordinates, "coordinate")?,
    };
    let needed = matches!(what, What::Gaps | What::Energy);
    // Other figures can do without the model, whose data files may be elsewhere; then the axes have no units.
    let system = match run.system() {
        Ok((_, opened)) => Some(opened.system),
        Err(error) if needed => return Err(error.into()),
        Err(_) => None,
    };
    // The polynomials of a motion are not saved: for a phase portrait, of which stored instants make a polygon, and for forces that
    // jump, of which one limit is stored, it is made again.
    let fine = if matches!(what, What::Phase | What::Joints | What::Friction) { again(&run) } else { None };
    let whole = fine.as_ref().unwrap_or(&run.trajectory);
    let windowed = window(whole, args)?;
    let motion = Motion {
        title: &run.title,
        coordinates: &run.coordinates,
        states: &run.states,
        constraints: &run.constraints,
        joints: &run.joints,
        frictions: &run.frictions,
        polynomials: fine.as_ref(),
        units: system.as_ref().map(|s| s.model().units.clone()).unwrap_or_default(),
        trajectory: windowed.as_ref().unwrap_or(whole),
        system: system.as_deref(),
    };
    let columns = if args.columns == "two" { Columns::Two } else { Columns::One };
    let figure = paper::draw(&motion, what, &Options { columns, chosen }).map_err(SetupError::new)?;
    save(args, kind, &figure)?;
    for note in figure.notes {
        let option = if what.of_constraints() || of_bonds { "constraint" } else { "coordinate" };
        out!("note: {} (choose with --{option})\n", printable(&note));
    }
    Ok(ExitCode::SUCCESS)
}

/// The format of the figure.
fn kind(args: &Args) -> Result<Kind, SetupError> {
    let kind = Kind::of(&args.out).ok_or_else(|| {
        let message = format!("`{}` does not end in .svg, .pdf or .png", args.out.display());
        SetupError::new(message).help("the ending of --out says which format is meant")
    })?;
    match args.dpi >= 10.0 && args.dpi <= 5000.0 {
        true => Ok(kind),
        false => Err(SetupError::new(format!("the dots per inch must be between 10 and 5000, not {}", args.dpi))),
    }
}

/// Writes a figure and says so.
fn save(args: &Args, kind: Kind, figure: &Figure) -> Result<(), SetupError> {
    let bytes = paper::encode(&figure.sheet, kind, args.dpi).map_err(SetupError::new)?;
    let unwritten = |e: output::WriteError| SetupError::new(e.to_string());
    output::prepare_file(&args.out).map_err(unwritten)?;
    output::write_file(&args.out, |w| w.write_all(&bytes)).map_err(unwritten)?;
    let mm = |points: f64| number(points * 25.4 / 72.0, 3);
    out!("wrote {} ({} × {} mm)\n", args.out.display(), mm(figure.sheet.width), mm(figure.sheet.height));
    Ok(())
}

/// A run is not made again for a figure if that takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The same motion, made again with instants between the stored ones; None if it was not made by events, is not the same any
/// more, or takes too long.
fn again(saved: &SavedRun) -> Option<Trajectory> {
    let rerun = Rerun::new(saved).ok().filter(|r| !matches!(r.options.scheme.method, Method::Steps(_)))?;
    let started = Instant::now();
    let run = rerun.run(&mut |_| started.elapsed() < PATIENCE && !progress::is_stopped()).ok()?;
    let same = run.by_events() && saved.difference(&run).is_none();
    same.then(|| saltus_report::refined(&run.trajectory).into_owned())
}

fn what(word: &str) -> Result<What, SetupError> {
    What::ALL.into_iter().find(|w| w.name() == word).ok_or_else(|| {
        let names = What::ALL.map(What::name);
        let help = match nearest(word, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        SetupError::new(format!("there is no figure called `{word}`")).help(help)
    })
}

/// The places of names in a list; a family's name stands for all its members.
fn choose(words: &[String], names: &[String], kind: &str) -> Result<Vec<usize>, SetupError> {
    let mut chosen = Vec::new();
    for word in words {
        let meant = |name: &String| name == word || name.split('[').next() == Some(word);
        let found: Vec<usize> = (0..names.len()).filter(|&i| meant(&names[i])).collect();
        if found.is_empty() {
            let help = match nearest(word, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {}", names.iter().take(20).cloned().collect::<Vec<_>>().join(", ")),
            };
            return Err(SetupError::new(format!("the run has no {kind} `{word}`")).help(help));
        }
        chosen.extend(found.into_iter().filter(|i| !chosen.contains(i)).collect::<Vec<_>>());
    }
    Ok(chosen)
}

/// The part of the motion that is asked for; None: all of it.
fn window(motion: &Trajectory, args: &Args) -> Result<Option<Trajectory>, SetupError> {
    let (first, last) = motion.span().ok_or_else(|| SetupError::new("the run has no instants"))?;
    let (from, to) = (args.from.unwrap_or(first), args.to.unwrap_or(last));
    if !(from < to) || !(from < last) || !(to > first) {
        let message = format!("there is nothing between {} and {}", number(from, 6), number(to, 6));
        let help = format!("the run goes from {} to {}", number(first, 6), number(last, 6));
        return Err(SetupError::new(message).help(help));
    }
    let is_whole = args.from.is_none() && args.to.is_none();
    Ok((!is_whole).then(|| motion.window(from.max(first), to.min(last))))
}
