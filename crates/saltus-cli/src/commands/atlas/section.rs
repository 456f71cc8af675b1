//! `saltus section MODEL`: Poincaré sections of long motions.

use super::args::FamilyArgs;
use super::bifurcation::made;
use super::run::run;
use crate::locate;
use crate::setup::Refusal;
use saltus::SetupError;
use saltus_ensemble::Request;
use saltus_ensemble::atlas::{At, Picture, check_at_impacts};
use saltus_ensemble::points::Listed;
use std::process::ExitCode;

/// Draw a Poincaré section of a long motion: once per period, at a surface, or at impacts.
///
/// At impacts the section is the impact map: the phase of the forcing and the speed of each
/// impact. Millions of points are possible; the page shows as many as can be distinguished, and
/// zooms. Several starts (--start x=-2:2:5) are drawn together.
///
/// Examples:
///
///   saltus section oscillator --set w=2.8 --set c=0 --set s=0 --periods 100000 --out attractor
///
///   saltus section oscillator --set w=2.8 --set c=0 --set s=0 --at impacts --periods 100000 --out impacts
///
///   saltus section double-pendulum --at "th1:up" --x th2 --y "th2'" --periods 500 --out plane
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    #[command(flatten)]
    pub family: FamilyArgs,
    /// Where to sample the motion: `strobe` (once per period), `impacts`, or zeros of an expression, "x':down"
    /// [default: strobe]
    #[arg(long, value_name = "WHERE", help_heading = "What is shown")]
    at: Option<String>,
    /// End each motion at its N-th crossing of the --at surface after the transient; --periods limits the time
    #[arg(long, value_name = "N", requires = "at", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Time")]
    returns: Option<u64>,
    /// Horizontal axis: an expression of t, x, x'; at impacts of speed, impulse, phase, t [default: the first coordinate, or phase]
    #[arg(long, value_name = "EXPR", help_heading = "What is shown")]
    x: Option<String>,
    /// Vertical axis [default: its velocity, or speed]
    #[arg(long, value_name = "EXPR", help_heading = "What is shown")]
    y: Option<String>,
}

pub fn main(args: &Args) -> Result<ExitCode, Refusal> {
    let file = locate::model(&args.family.model)?;
    let base = args.family.request()?;
    let mut request = Request {
        settled: true,
        transient: base.transient.clone().or_else(|| Some("200".into())),
        periods: base.periods.clone().or_else(|| Some("20000".into())),
        ..base
    };
    if request.over.is_empty() {
        // One motion: a list of one point that changes nothing.
        let model = file.family(&request.changes(), &saltus_io::FamilyText::default())?;
        let name = model.coordinates[0].clone();
        let value = model.q0[0];
        request.start.retain(|(given, _)| *given != name);
        request.listed = Some(Listed { names: vec![name], values: vec![value] });
    }
    let given = args.family.periods.is_some() || args.family.transient.is_some();
    let sweep = made(&args.family.code, request, file.clone(), given)?;
    let model = sweep.family.problem().model();
    let at = match args.at.as_deref() {
        Some("strobe") | None => At::Strobe,
        Some("impacts") => At::Impacts,
        Some(_) => At::Section,
    };
    let has_period = sweep.family.has_period();
    if at == At::Strobe && !has_period {
        let message = "a stroboscope needs a period, and none was found in the forcing";
        let help =
            "give a surface, such as  --at \"x':down\",  impacts,  --at impacts,  or the period,  --period \"2*pi/w\"";
        return Err(SetupError::new(message).help(help).into());
    }
    if at == At::Impacts && model.constraints.is_empty() {
        return Err(SetupError::new("there are no impacts: the model has no constraint").into());
    }
    if args.returns.is_some() && at != At::Section {
        let help = "give one, such as  --at \"x':down\",  or leave --returns out";
        return Err(SetupError::new("--returns needs a surface (--at)").help(help).into());
    }
    let first = model.coordinates[0].clone();
    let (x, y) = match at {
        At::Impacts if has_period => ("phase".to_string(), "speed".to_string()),
        At::Impacts => ("t".to_string(), "speed".to_string()),
        _ => (first.clone(), format!("{first}'")),
    };
    let (x, y) = (args.x.clone().unwrap_or(x), args.y.clone().unwrap_or(y));
    let mut request = sweep.request.clone();
    request.strobe = at == At::Strobe;
    match at {
        At::Section => {
            request.sections = vec![args.at.clone().unwrap_or_default()];
            request.returns = args.returns;
        }
        At::Impacts => request.impacts = Some("all".into()),
        At::Strobe => {}
    }
    if at != At::Impacts {
        request.observe = vec![x.clone(), y.clone()];
    }
    let sweep = args.family.code.sweep(&request, file)?;
    if at == At::Impacts {
        // (Before anything is computed.)
        check_at_impacts(&sweep, &x)?;
        check_at_impacts(&sweep, &y)?;
    }
    run(&args.family, &sweep, &Picture::Section { at, x, y }, "section", false)
}
