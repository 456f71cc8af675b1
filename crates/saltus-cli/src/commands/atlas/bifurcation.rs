//! `saltus bifurcation MODEL`: what a system does over one parameter or two.

use super::args::{FamilyArgs, without_period};
use super::run::run;
use crate::commands::code::CodeArgs;
use crate::locate;
use crate::setup::Refusal;
use saltus::SetupError;
use saltus_ensemble::atlas::{At, Picture, check_at_impacts};
use saltus_ensemble::{Carry, Request, Sweep};
use saltus_io::ModelFile;
use std::process::ExitCode;

/// Draw a bifurcation diagram of a quantity over one parameter, or a map over two.
///
/// Each motion settles and is then sampled once per period, at impacts, or at zeros of an
/// expression. Its period and impacts per period are detected and shown as bands. With --carry each
/// motion starts where its neighbour ended, which shows hysteresis; several starts
/// (--start x=-2:2:5) show motions that coexist.
///
/// With --exponents a panel shows the largest Lyapunov exponent: positive where motions are
/// chaotic, zero at bifurcations.
///
/// Two axes make a map, coloured by the period, by impacts per period, by the largest exponent,
/// or by a statistic.
///
/// The directory has the tables, the figure (bifurcation.svg) and a page for any browser
/// (bifurcation.html), in which a click on a dot copies the command that runs it again.
///
/// Examples:
///
///   saltus bifurcation oscillator --over w=0.6:0.9:600 --carry both --out diagram
///
///   saltus bifurcation oscillator --over w=0.5:1.5:600 --at impacts --of speed --out speeds
///
///   saltus bifurcation ball-table --over G=1.45:1.75:120 --at impacts --exponents --out doubling
///
///   saltus bifurcation oscillator --over w=0.5:1.5:200 --over A=0.5:2:150 --out map
///
///   saltus bifurcation oscillator --over w=0.5:1.5:200 --over e=0.5:1:100 --map "max(x)" --out peak
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub family: FamilyArgs,
    /// The parameter: a range w=0.5:1.5:500, a logarithmic range w=log:0.1:10:50, or a list; two of them make a map
    #[arg(long, value_name = "AXIS", required = true)]
    over: Vec<String>,
    /// Where to sample the motion: `strobe` (once per period), `impacts`, or zeros of an expression, "x':down"
    /// [default: strobe, or impacts if there is no period]
    #[arg(long, value_name = "WHERE", help_heading = "What is shown")]
    at: Option<String>,
    /// What is shown: an expression of t, x, x'; at impacts of speed, impulse, phase, t [default: the first coordinate, or speed]
    #[arg(long, value_name = "EXPR", help_heading = "What is shown")]
    of: Option<String>,
    /// What colours a map: `period`, `impacts`, `exponent` (the largest Lyapunov exponent), or a statistic: max(x), min(x),
    /// mean(x^2), rms(x') [default: period]
    #[arg(long, value_name = "WHAT", help_heading = "What is shown")]
    map: Option<String>,
    /// Show the largest Lyapunov exponent of each motion in a panel below
    #[arg(long, help_heading = "What is shown")]
    exponents: bool,
    /// Start each motion where its neighbour ended: up, down, or both (up, then down)
    #[arg(long, value_name = "WAY", value_parser = ["up", "down", "both"])]
    carry: Option<String>,
}

/// What a statistic of a map is of: max(x) is of x.
fn statistic(text: &str) -> Result<String, SetupError> {
    let inner = ["min(", "max(", "mean(", "rms("].iter().find_map(|f| text.strip_prefix(f)?.strip_suffix(')'));
    inner.map(str::to_string).ok_or_else(|| {
        SetupError::new(format!("`--map {text}` is not known"))
            .help("there are period, impacts, exponent, and statistics: max(x), min(x), mean(x^2), rms(x')")
    })
}

impl Args {
    /// The family, and what is shown of it.
    fn sweep(&self, file: ModelFile) -> Result<(Sweep, Picture), Refusal> {
        let base = self.family.request()?;
        let parameters = self.over.clone();
        let has_starts = !base.over.is_empty();
        if parameters.len() > 2 {
            let message =
                format!("a diagram has one axis and a map two, and --over is given {} times", parameters.len());
            let help = "fix the others with --set, or compute all of them as tables with  saltus sweep";
            return Err(SetupError::new(message).help(help).into());
        }
        let is_map =
            parameters.len() == 2 && !has_starts && self.carry.is_none() && self.at.is_none() && self.of.is_none();
        if is_map && self.exponents && self.map.as_deref() != Some("exponent") {
            return Err(SetupError::new("--exponents adds a panel below a diagram, and two axes make a map")
                .help("--map exponent  colours the map by the largest exponent")
                .into());
        }
        if self.map.is_some() && !is_map {
            let message = "--map needs two axes of --over and cannot be combined with --at, --of, --carry or ranges in \
                           --start";
            return Err(SetupError::new(message).into());
        }
        let request = Request {
            over: parameters.into_iter().chain(base.over).collect(),
            settled: true,
            carry: self.carry.as_deref().map(|word| match word {
                "up" => Carry::Up,
                "down" => Carry::Down,
                _ => Carry::Both,
            }),
            transient: base.transient.clone().or_else(|| Some("200".into())),
            periods: base.periods.clone().or_else(|| Some("120".into())),
            ..base
        };
        if is_map {
            return self.map_of(file, request);
        }
        self.diagram_of(file, request)
    }

    fn map_of(&self, file: ModelFile, mut request: Request) -> Result<(Sweep, Picture), Refusal> {
        let of = self.map.clone().unwrap_or_else(|| "period".into());
        if !matches!(of.as_str(), "period" | "impacts" | "exponent") {
            request.statistics = vec![statistic(&of)?];
        }
        let sweep =
            made(&self.family.code, request, file, self.family.periods.is_some() || self.family.transient.is_some())?;
        Ok((sweep, Picture::Map { of }))
    }

    fn diagram_of(&self, file: ModelFile, request: Request) -> Result<(Sweep, Picture), Refusal> {
        let given = self.family.periods.is_some() || self.family.transient.is_some();
        let base = made(&self.family.code, request.clone(), file.clone(), given)?;
        let model = base.family.problem().model();
        let at = match self.at.as_deref() {
            Some("strobe") => At::Strobe,
            Some("impacts") => At::Impacts,
            Some(_) => At::Section,
            None if base.family.has_period() => At::Strobe,
            None => At::Impacts,
        };
        if at == At::Impacts && model.constraints.is_empty() {
            return Err(SetupError::new("there are no impacts: the model has no constraint")
                .help("give a section, such as  --at \"x':down\"")
                .into());
        }
        let of = self.of.clone().unwrap_or_else(|| match at {
            At::Impacts => "speed".into(),
            _ => model.coordinates[0].clone(),
        });
        if at == At::Impacts {
            check_at_impacts(&base, &of)?;
        }
        let mut request = base.request.clone();
        request.strobe = at == At::Strobe;
        match at {
            At::Section => request.sections = vec![self.at.clone().unwrap_or_default()],
            At::Impacts => request.impacts = Some("all".into()),
            At::Strobe => {}
        }
        if at != At::Impacts {
            request.observe = vec![of.clone()];
        }
        Ok((self.family.code.sweep(&request, file)?, Picture::Bifurcation { at, of }))
    }
}

/// The family of a request; where nothing has a period, times instead of periods.
pub fn made(code: &CodeArgs, request: Request, file: ModelFile, times_are_given: bool) -> Result<Sweep, Refusal> {
    let error = match code.sweep(&request, file.clone()) {
        Ok(sweep) => return Ok(sweep),
        Err(error) => error,
    };
    if request.period.is_some() || !error.error.message.contains("the period is not known") {
        return Err(error.into());
    }
    if !times_are_given {
        let help = "give times, such as  --transient 500 --periods 200,  or the period,  --period \"2*pi/w\"";
        return Err(SetupError::new(error.error.message.clone()).help(help).into());
    }
    let mut timed = request;
    without_period(&mut timed);
    Ok(code.sweep(&timed, file)?)
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let file = locate::model(&args.family.model)?;
    let (sweep, picture) = args.sweep(file)?;
    let name = if matches!(picture, Picture::Map { .. }) { "map" } else { "bifurcation" };
    let exponents = args.exponents || args.map.as_deref() == Some("exponent");
    run(&args.family, &sweep, &picture, name, exponents)
}
