//! From the tables of a directory to its picture, as a chart.

use super::classes::classes;
use super::unit;
use crate::text::{count, grouped};
use saltus::{Model, SetupError};
use saltus_ensemble::Sweep;
use saltus_ensemble::atlas::{At, Branch, Diagram, Label, Map, Picture, Section, Tables};
use saltus_ensemble::points::Slot;
use saltus_report::chart::{self, Chart, Dots, Pane, Quantity, Rerun, Span};
use saltus_report::paper::{Columns, Kind};
use std::path::Path;

/// A picture that was read back.
pub struct Drawn {
    /// The chart.
    pub chart: Chart,
    /// What it shows, in a line.
    pub subtitle: String,
    /// The diagram, where it is one.
    pub diagram: Option<Diagram>,
    /// How many values are not numbers, or infinite, and cannot be shown; of how many.
    pub left_out: (u64, u64),
}

impl Drawn {
    /// A chart, with what cannot be shown of it.
    pub fn new(chart: Chart, subtitle: String, diagram: Option<Diagram>) -> Self {
        let left_out = chart.panes.first().map_or((0, 0), left_out);
        Drawn { chart, subtitle, diagram, left_out }
    }
}

/// How many values of a pane are not numbers, and how many there are. (Classes of a map say themselves what has none.)
fn left_out(pane: &Pane) -> (u64, u64) {
    let count = |all: &mut dyn Iterator<Item = bool>| {
        all.fold((0, 0), |(out, n): (u64, u64), is_shown| (out + u64::from(!is_shown), n + 1))
    };
    match &pane.map {
        Some(map) if map.has_sign || !map.classes.is_empty() => (0, map.values.len() as u64),
        Some(map) => count(&mut map.values.iter().map(|x| x.is_finite())),
        None => {
            let dots = pane.dots.iter().flat_map(|d| d.x.iter().zip(&d.y));
            count(&mut dots.map(|(x, y)| x.is_finite() && y.is_finite()))
        }
    }
}

/// What is said where no value is left.
pub fn no_numbers((out, all): (u64, u64)) -> Option<SetupError> {
    let be = if out == 1 { "is not a number" } else { "are not numbers" };
    let message = format!("there is nothing to draw: {} of {} {be}", grouped(out), count(all, "value"));
    let help = "choose an expression that is a number along the motion";
    (out > 0 && out == all).then(|| SetupError::new(message).help(help))
}

/// What is said where values are left out.
pub fn without((out, all): (u64, u64)) -> Option<String> {
    let be = if out == 1 { "is not a number and is" } else { "are not numbers and are" };
    (out > 0).then(|| format!("{} of {} {be} left out", grouped(out), count(all, "value")))
}

/// A dot: where it is, and its trajectory.
type Dot = (f64, f64, u64);

/// Groups of dots with colours of their own.
const GROUPS: usize = 6;

/// Reads and draws the picture of a directory.
pub fn drawn(dir: &Path, picture: &Picture, tables: &Tables) -> Result<Drawn, SetupError> {
    let mut drawn = match picture {
        Picture::Bifurcation { at, of } => diagram(tables, *at, of)?,
        Picture::Map { of } => map(tables, of)?,
        Picture::Section { at, x, y } => section(tables, *at, x, y)?,
        Picture::Basins => return Err(SetupError::new("basins have no table of points")),
    };
    if drawn.chart.rerun.command.is_empty() {
        drawn.chart.rerun.command =
            format!("saltus sweep rerun {} --point {{key}}", crate::report::quoted(&dir.display().to_string()));
    }
    Ok(drawn)
}

/// How many trajectories, in words.
pub fn trajectories(n: u64) -> String {
    if n == 1 { "1 trajectory".into() } else { format!("{} trajectories", grouped(n)) }
}

/// Where a quantity is taken, in words.
fn place(at: At) -> &'static str {
    match at {
        At::Strobe => "once a period",
        At::Impacts => "at impacts",
        At::Section => "at the section",
    }
}

fn axis(model: &Model, name: &str) -> Quantity {
    let shown = match name {
        "speed" => "impact speed",
        "phase" => "phase (periods)",
        name => name.strip_prefix("start_").unwrap_or(name),
    };
    Quantity::new(shown, unit(model, name))
}

/// A list whose largest step is this many times its least is shown on a logarithmic axis, if it is positive.
const UNEVEN: f64 = 10.0;

/// Whether an axis of a family is logarithmic.
pub fn is_log<'a>(sweep: &Sweep, k: usize, values: impl IntoIterator<Item = &'a f64>) -> bool {
    let text = sweep.request.over.get(k).map_or("", String::as_str);
    if text.contains("=log:") {
        return true;
    }
    let mut sorted: Vec<f64> = values.into_iter().copied().collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let steps = || sorted.windows(2).map(|pair| pair[1] - pair[0]);
    let (least, most) = (steps().fold(f64::INFINITY, f64::min), steps().fold(0.0, f64::max));
    text.contains(',') && sorted.first().is_some_and(|x| *x > 0.0) && most >= UNEVEN * least
}

fn diagram(tables: &Tables, at: At, of: &str) -> Result<Drawn, SetupError> {
    let family = &tables.sweep.family;
    let model = family.problem().model();
    let diagram = Diagram::read(tables, at, of)?;
    let x = axis(model, &diagram.parameter);
    let is_log = is_log(&tables.sweep, 0, diagram.branches.iter().flat_map(|b| &b.places).map(|p| &p.value));
    let groups = groups(tables, &diagram);
    let dots = |pick: fn(&Branch) -> Vec<Dot>| -> Vec<Dots> {
        let mut all: Vec<Dots> = groups
            .names
            .iter()
            .enumerate()
            .map(|(k, name)| Dots {
                name: name.clone(),
                colour: groups.colour(k),
                are_open: groups.are_open(k),
                ..Dots::default()
            })
            .collect();
        for (b, branch) in diagram.branches.iter().enumerate() {
            for (x, y, point) in pick(branch) {
                let group = &mut all[groups.of(b, point)];
                group.x.push(x);
                group.y.push(y);
                group.key.push(point as f64);
            }
        }
        all
    };
    let main = dots(|b: &Branch| (0..b.x.len()).map(|k| (b.x[k], b.y[k], b.point[k])).collect());
    let mut band = dots(|b: &Branch| b.places.iter().map(|p| (p.value, p.rate, p.point)).collect());
    let exponents = tables.exponents()?;
    // (Three panes have little room for words.)
    let per = match (family.has_period(), &exponents) {
        (_, Some(_)) => "impacts",
        (true, None) => "impacts/period",
        (false, None) => "impacts/time",
    };
    let title = format!("{}: {of} {} over {}", tables.manifest.title, place(at), x.name);
    // (Without a period, what is not seen in the impacts is not known.)
    let spans = match diagram.branches.len() <= 2 && family.has_period() {
        true => spans(&diagram.branches[0]),
        false => Vec::new(),
    };
    let caption = format!(
        "{}.{} Below: impacts per period{}.",
        trajectories(family.len()),
        if spans.is_empty() { "" } else { " Above: the period, in periods of the forcing; – where there is none." },
        match (family.has_period(), &exponents) {
            (true, None) => " of the forcing",
            (true, Some(_)) => " of the forcing, and the largest Lyapunov exponent, where it is finite",
            (false, None) => "",
            (false, Some(_)) => ", and the largest Lyapunov exponent, where it is finite",
        }
    );
    let (has_band, below) = (family.problem().constraints() > 0, band.clone());
    let chatter = chatter(&band);
    let caption = if chatter.is_none() { caption } else { format!("{caption} {CHATTER}") };
    let infinity = chatter.as_ref().and_then(|rings| rings.y.first().copied());
    band.extend(chatter);
    let mut panes = vec![Pane { x: x.clone(), y: axis(model, of), is_log, dots: main, spans, ..Pane::default() }];
    if has_band {
        let y = Quantity::new(per, "");
        panes.push(Pane {
            x: x.clone(),
            y,
            is_log,
            is_band: true,
            has_zero: true,
            infinity,
            dots: band,
            ..Pane::default()
        });
    }
    if let Some(exponents) = &exponents {
        let mut dots = below;
        for group in &mut dots {
            group.y = group.key.iter().map(|&point| exponents.largest[point as usize]).collect();
            // (−∞, where contact takes every perturbation away, and what has none are not shown.)
            let keep: Vec<usize> = (0..group.y.len()).filter(|&k| group.y[k].is_finite()).collect();
            let pick = |values: &[f64]| keep.iter().map(|&k| values[k]).collect::<Vec<f64>>();
            (group.x, group.y, group.key) = (pick(&group.x), pick(&group.y), pick(&group.key));
        }
        let y = Quantity::new("exponent", "");
        panes.push(Pane { x: x.clone(), y, is_log, is_band: true, has_zero: true, dots, ..Pane::default() });
    }
    let subtitle = format!("Bifurcation diagram: {of} {} over {}", place(at), diagram.parameter);
    let ends = chart::range(diagram.branches.iter().flat_map(|b| &b.places).map(|p| &p.value));
    let chart = Chart { title, caption, panes, ends, ..Chart::default() };
    Ok(Drawn::new(chart, subtitle, Some(diagram)))
}

/// What is said where impacts accumulate.
const CHATTER: &str = "At ∞: chatter, infinitely many impacts in a finite time.";

/// The number of their colour, which none of several groups has.
const RING: usize = 0;

/// The dots that stand for infinitely many impacts, above all others; None if there are none.
pub fn chatter(band: &[Dots]) -> Option<Dots> {
    let most = chart::range(band.iter().flat_map(|d| &d.y)).map_or(0.0, |(_, high)| high);
    let mut rings = Dots { name: "chatter".into(), colour: RING, are_open: true, ..Dots::default() };
    for dots in band {
        for k in (0..dots.x.len()).filter(|&k| dots.y[k] == f64::INFINITY) {
            rings.x.push(dots.x[k]);
            rings.y.push(if most > 0.0 { 1.25 * most } else { 1.0 });
            rings.key.extend(dots.key.get(k));
        }
    }
    (!rings.x.is_empty()).then_some(rings)
}

/// How the dots of a diagram are grouped.
struct Groups {
    names: Vec<String>,
    /// The group of each trajectory, where it is not that of the branch.
    by_label: Option<Vec<usize>>,
}

impl Groups {
    fn of(&self, branch: usize, point: u64) -> usize {
        match &self.by_label {
            Some(groups) => groups[point as usize],
            None => branch.min(self.names.len() - 1),
        }
    }

    /// The way down is drawn over the way up, and does not hide it.
    fn are_open(&self, k: usize) -> bool {
        let is_down = |name: &String| name == "down" || name.starts_with("down,");
        self.by_label.is_none() && is_down(&self.names[k]) && !self.names.iter().all(is_down)
    }

    fn colour(&self, k: usize) -> usize {
        if self.names.len() > 1 { k + 1 } else { 0 }
    }
}

/// By branch if there are few of them; by what trajectories settled on where each parameter has many starts.
fn groups(tables: &Tables, diagram: &Diagram) -> Groups {
    let starts = tables.sweep.family.slots().iter().any(|slot| !matches!(slot, Slot::Parameter(_)));
    let branches = &diagram.branches;
    if !starts && branches.len() <= GROUPS {
        return Groups { names: branches.iter().map(|b| b.name.clone()).collect(), by_label: None };
    }
    let mut found: Vec<(Label, usize)> = Vec::new();
    let labels: Vec<(u64, Label)> = branches.iter().flat_map(|b| b.places.iter().map(|p| (p.point, p.label))).collect();
    for (_, label) in &labels {
        match found.iter_mut().find(|(l, _)| l.is_like(label)) {
            Some((_, count)) => *count += 1,
            None => found.push((*label, 1)),
        }
    }
    found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    found.truncate(GROUPS - 1);
    let mut names: Vec<String> = found.iter().map(|(label, _)| label.to_string()).collect();
    let mut by_label = vec![names.len(); labels.len()];
    for (point, label) in &labels {
        if let Some(k) = found.iter().position(|(l, _)| l.is_like(label)) {
            by_label[*point as usize] = k;
        }
    }
    if by_label.contains(&names.len()) {
        names.push("others".into());
    }
    Groups { names, by_label: Some(by_label) }
}

/// Intervals of one period.
fn spans(branch: &Branch) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for place in &branch.places {
        let word = match place.label {
            Label::Rest => "rest".to_string(),
            Label::Periodic { period, .. } => period.to_string(),
            _ => "–".to_string(),
        };
        match spans.last_mut().filter(|s| s.word == word) {
            Some(span) => span.to = place.value,
            None => spans.push(Span { from: place.value, to: place.value, word }),
        }
    }
    spans
}

fn map(tables: &Tables, of: &str) -> Result<Drawn, SetupError> {
    let model = tables.sweep.family.problem().model();
    let found = Map::read(tables, of)?;
    let label = match of {
        "period" => "period".to_string(),
        "impacts" => "impacts per periods".to_string(),
        "exponent" => "largest exponent".to_string(),
        column => match unit(model, column) {
            unit if unit.is_empty() => column.to_string(),
            unit => format!("{column} ({unit})"),
        },
    };
    let (classes, values) = match of {
        "period" | "impacts" => classes(&found, of),
        _ => (Vec::new(), found.cells.iter().map(|c| c.value).collect()),
    };
    let stride = Some(found.y.len());
    let [x, y] = [&found.names[0], &found.names[1]].map(|name| axis(model, name));
    let title = format!("{}: {label} over {} and {}", tables.manifest.title, x.name, y.name);
    let subtitle = format!("Map of the {label} over {} and {}", x.name, y.name);
    let log = (is_log(&tables.sweep, 0, &found.x), is_log(&tables.sweep, 1, &found.y));
    let has_sign = of == "exponent";
    let cells = chart::Map { x: found.x, y: found.y, values, classes, label, log, has_sign };
    let caption = format!("{}.", trajectories(tables.sweep.family.len()));
    let panes = vec![Pane { x, y, map: Some(cells), ..Pane::default() }];
    let chart = Chart { title, caption, panes, rerun: Rerun { command: String::new(), stride }, ..Chart::default() };
    Ok(Drawn::new(chart, subtitle, None))
}

fn section(tables: &Tables, at: At, x: &str, y: &str) -> Result<Drawn, SetupError> {
    let family = &tables.sweep.family;
    let model = family.problem().model();
    let found = Section::read(tables, at, x, y)?;
    let mut dots: Vec<Dots> = Vec::new();
    let many = family.len() > GROUPS as u64;
    for k in 0..found.x.len() {
        let point = found.point[k] as usize;
        let group = if many { 0 } else { point };
        while dots.len() <= group {
            let next = dots.len() as u64;
            let values = family.points().names().into_iter().zip(family.values(next));
            let words: Vec<String> =
                values.map(|(n, value)| format!("{n} = {}", saltus::text::number(value, 4))).collect();
            let (name, colour) = match many || family.len() == 1 {
                true => (String::new(), 0),
                false => (words.join(", "), dots.len() + 1),
            };
            dots.push(Dots { name, colour, ..Dots::default() });
        }
        dots[group].x.push(found.x[k]);
        dots[group].y.push(found.y[k]);
        dots[group].key.push(if family.len() > 1 { found.point[k] as f64 } else { found.t[k] });
    }
    let title = format!("{}: {y} over {x}, {}", tables.manifest.title, place(at));
    let subtitle = format!("Poincaré section: {y} over {x}, {}", place(at));
    let size = |values: &[f64]| chart::range(values).map_or(0.0, |(low, high)| low.abs().max(high.abs()));
    let is_one = |own: &[f64], other: &[f64]| chart::range(own).is_none_or(|r| chart::coincide(r, size(other)));
    let one = found.x.len() > 1 && is_one(&found.x, &found.y) && is_one(&found.y, &found.x);
    let caption = format!(
        "{} of {}.{}",
        count(found.x.len() as u64, "point"),
        trajectories(family.len()),
        if one { " All points coincide." } else { "" }
    );
    let panes = vec![Pane { x: axis(model, x), y: axis(model, y), dots, ..Pane::default() }];
    let rerun =
        Rerun { command: if family.len() == 1 { from_here(tables, at, x, y) } else { String::new() }, stride: None };
    Ok(Drawn::new(Chart { title, caption, panes, rerun, ..Chart::default() }, subtitle, None))
}

/// The command that runs one motion from the state under the pointer, if the axes give it, else up to there.
fn from_here(tables: &Tables, at: At, x: &str, y: &str) -> String {
    let model = tables.sweep.family.problem().model();
    let quoted = crate::report::quoted;
    let mut words = vec!["saltus run".to_string(), quoted(&tables.manifest.model)];
    let request = &tables.sweep.request;
    words.extend(request.set.iter().map(|(name, value)| format!("--set {}", quoted(&format!("{name}={value}")))));
    let (q, v) = (&model.coordinates[0], format!("{}'", model.coordinates[0]));
    if model.degrees() == 1 && model.states.is_empty() && x == q && y == v && at != At::Impacts {
        words.push(format!("--start \"t={{key}},{q}={{x}},{v}={{y}}\" --end {{key}}+{}", unit_of_time(tables)));
        return words.join(" ");
    }
    let mut starts: Vec<String> = request.start.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let listed = request.listed.iter().flat_map(|l| l.names.iter().zip(&l.values));
    starts.extend(listed.map(|(name, value)| format!("{name}={value:?}")));
    if !starts.is_empty() {
        words.push(format!("--start {}", quoted(&starts.join(","))));
    }
    words.push("--end {key}".into());
    words.join(" ")
}

/// How long a motion is run from a point of a section: ten periods, or a hundredth of the time.
fn unit_of_time(tables: &Tables) -> f64 {
    let job = tables.sweep.family.maker().job(0, None).job;
    job.strobe.map_or(0.01 * (job.end - job.start.t), |period| 10.0 * period)
}

/// Writes the figure and the page of a chart into a directory; the names of the files.
pub fn save(dir: &Path, name: &str, chart: &Chart, page: &saltus_report::Page) -> Result<Vec<String>, SetupError> {
    let unwritten = |e: saltus_io::output::WriteError| SetupError::new(e.to_string());
    let (figure, html) = (format!("{name}.svg"), format!("{name}.html"));
    let drawn = saltus_report::paper::chart(chart, Columns::Two).map_err(SetupError::new)?;
    let bytes = saltus_report::paper::encode(&drawn.sheet, Kind::Svg, 300.0).map_err(SetupError::new)?;
    saltus_io::output::write_file(&dir.join(&figure), |out| out.write_all(&bytes)).map_err(unwritten)?;
    crate::report::save(&dir.join(&html), page)?;
    Ok(vec![figure, html])
}
