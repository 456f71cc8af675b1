//! What the figures show: positions, velocities, phase portraits, gaps, reactions, energy, impacts, spectra.

use super::label::{family, name};
use super::layout::{self, Columns, Stack};
use super::motion::Motion;
use super::panel::{AxisLabel, Layer, MOST, Panel, Plot};
use super::sheet::{Sheet, Text};
use super::ticks::Scale;
use crate::{Limit, Line, Spectrum, Thinner, largest, welch};
use saltus::Problem;

/// What a figure shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Coordinates over time.
    Positions,
    /// Their velocities over time, with gaps at impacts.
    Velocities,
    /// Velocity over position.
    Phase,
    /// Distances to the obstacles over time.
    Gaps,
    /// Forces of the obstacles as areas, impulses as stems.
    Reactions,
    /// Kinetic, potential and total energy over time.
    Energy,
    /// Approach speeds over time, and how often each occurs.
    Impacts,
    /// Power spectral densities of the coordinates.
    Spectrum,
}

impl What {
    /// All of them.
    pub const ALL: [What; 8] = [
        What::Positions,
        What::Velocities,
        What::Phase,
        What::Gaps,
        What::Reactions,
        What::Energy,
        What::Impacts,
        What::Spectrum,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            What::Positions => "positions",
            What::Velocities => "velocities",
            What::Phase => "phase",
            What::Gaps => "gaps",
            What::Reactions => "reactions",
            What::Energy => "energy",
            What::Impacts => "impacts",
            What::Spectrum => "spectrum",
        }
    }

    /// Whether it shows constraints rather than coordinates.
    pub fn of_constraints(self) -> bool {
        matches!(self, What::Gaps | What::Reactions | What::Impacts)
    }
}

/// How a figure is drawn.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its width.
    pub columns: Columns,
    /// The coordinates, or for gaps, reactions and impacts the constraints, to show; all if there are none.
    pub chosen: Vec<usize>,
}

/// A figure.
pub struct Figure {
    /// It.
    pub sheet: Sheet,
    /// What was left out, in sentences.
    pub notes: Vec<String>,
}

/// Panels beyond this are left out.
const PANELS: usize = 6;
/// More than a printer resolves in a column.
const LIMIT: Limit = Limit { points: 6000, jumps: 4000 };

/// Draws a figure of a motion; gaps and energies need the problem.
pub fn draw(motion: &Motion, problem: Option<&Problem>, what: What, options: &Options) -> Result<Figure, String> {
    if motion.t.len() < 2 {
        return Err("there are fewer than two instants in this interval".into());
    }
    let mut drawing = Drawing { m: &motion.refined(), chosen: &options.chosen, notes: Vec::new() };
    let needs = |what: &str| format!("{what} need the model, which this run does not have");
    let (panels, stack) = match what {
        What::Positions => (drawing.over_time(false), Stack::Shared),
        What::Velocities => (drawing.over_time(true), Stack::Shared),
        What::Phase => (drawing.phase(), Stack::Apart),
        What::Gaps => (drawing.gaps(problem.ok_or_else(|| needs("gaps"))?)?, Stack::Shared),
        What::Reactions => (drawing.reactions()?, Stack::Shared),
        What::Energy => (drawing.energy(problem.ok_or_else(|| needs("energies"))?), Stack::Shared),
        What::Impacts => (drawing.impacts()?, Stack::Apart),
        // The spectrum is that of the instants as they were stored.
        What::Spectrum => {
            drawing.m = motion;
            (drawing.spectrum()?, Stack::Apart)
        }
    };
    let notes = drawing.notes;
    let title = format!("{}: {}", motion.title, what.name());
    Ok(Figure { sheet: layout::sheet(&title, &panels, options.columns, stack), notes })
}

struct Drawing<'a> {
    m: &'a Motion,
    chosen: &'a [usize],
    notes: Vec<String>,
}

impl Drawing<'_> {
    fn time(&self) -> AxisLabel {
        AxisLabel { name: name("t", false), unit: self.m.units.time.clone() }
    }

    fn span(&self) -> Option<(f64, f64)> {
        Some((*self.m.t.first()?, *self.m.t.last()?))
    }

    /// The chosen names, families together, as many as fit.
    fn groups(&mut self, names: &[String], most: usize) -> Vec<Vec<usize>> {
        let all: Vec<usize> = if self.chosen.is_empty() { (0..names.len()).collect() } else { self.chosen.to_vec() };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for i in all {
            let same = |g: &&mut Vec<usize>| family(&names[g[0]]) == family(&names[i]);
            match groups.iter_mut().find(same) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        let given: usize = groups.iter().map(Vec::len).sum();
        groups.truncate(PANELS);
        groups.iter_mut().for_each(|g| g.truncate(most));
        let shown: usize = groups.iter().map(Vec::len).sum();
        if shown < given {
            self.notes.push(format!("{shown} of {given} are shown"));
        }
        groups
    }

    /// A function of the instants as a curve: `value` gives its limits at instant k.
    fn curve(&self, value: impl Fn(usize) -> (f64, f64)) -> Line {
        let n = self.m.t.len();
        let differ = |(a, b): (f64, f64)| (a - b).abs() > 1e-13 * (a.abs() + b.abs());
        let jumps: Vec<usize> = (0..n).filter(|&k| differ(value(k))).collect();
        let sizes: Vec<(f64, f64)> = jumps.iter().map(|&k| (self.m.t[k], value(k).0 - value(k).1)).collect();
        let mut drawn = largest(&sizes, LIMIT.jumps).into_iter().map(|at| jumps[at]).peekable();
        let mut thin = Thinner::<1>::new(n, self.span().unwrap_or((0.0, 1.0)), LIMIT);
        for k in 0..n {
            let (left, right) = value(k);
            let t = self.m.t[k];
            match (drawn.next_if_eq(&k), differ((left, right))) {
                (Some(_), _) => thin.jump(t, [left], [right]),
                (None, true) => thin.pass(t, [left], [right]),
                (None, false) => thin.push(t, [left]),
            }
        }
        thin.finish()
    }

    fn plot(line: &Line) -> Plot {
        let piece = |r: std::ops::Range<usize>| r.map(|k| (line.t[k], line.y[0][k])).collect::<Vec<_>>();
        Plot::Curve {
            pieces: line.segments().into_iter().map(piece).collect(),
            jumps: line.jumps.iter().map(|j| (j.t, (j.t, j.left[0]), (j.t, j.right[0]))).collect(),
        }
    }

    fn unit(&self, i: usize, velocity: bool) -> String {
        if velocity { self.m.units.velocity(i) } else { self.m.units.position(i).to_string() }
    }

    /// What a panel of several is called: the family's name, or their own.
    fn shared_name(names: &[String], group: &[usize], dash: bool) -> Text {
        match group {
            [one] => name(&names[*one], dash),
            _ => name(family(&names[group[0]]), dash).then("i", true, -1),
        }
    }

    fn over_time(&mut self, velocity: bool) -> Vec<Panel> {
        let (m, d) = (self.m, self.m.dimension());
        let groups = self.groups(&m.coordinates, MOST);
        let panel = |group: Vec<usize>| Panel {
            x: self.time(),
            y: AxisLabel {
                name: Self::shared_name(&m.coordinates, &group, velocity),
                unit: self.unit(group[0], velocity),
            },
            span: self.span(),
            scale: Scale::Linear,
            zero: false,
            legend: group.len() > 1,
            layers: group
                .iter()
                .enumerate()
                .map(|(style, &i)| {
                    let line = match velocity {
                        true => self.curve(|k| (m.v_left[k * d + i], m.v_right[k * d + i])),
                        false => self.curve(|k| (m.q[k * d + i], m.q[k * d + i])),
                    };
                    layer(name(&m.coordinates[i], velocity), &m.coordinates[i], style, Self::plot(&line))
                })
                .collect(),
        };
        groups.into_iter().map(panel).collect()
    }

    fn phase(&mut self) -> Vec<Panel> {
        let (m, d) = (self.m, self.m.dimension());
        let all: Vec<usize> = self.groups(&m.coordinates, PANELS).into_iter().flatten().take(PANELS).collect();
        let panel = |&i: &usize| {
            let n = m.t.len();
            let mut thin = Thinner::<2>::new(n, self.span().unwrap_or((0.0, 1.0)), LIMIT);
            for k in 0..n {
                let (q, left, right) = (m.q[k * d + i], m.v_left[k * d + i], m.v_right[k * d + i]);
                match (left - right).abs() > 1e-13 * (left.abs() + right.abs()) {
                    true => thin.jump(m.t[k], [q, left], [q, right]),
                    false => thin.push(m.t[k], [q, left]),
                }
            }
            let curve = thin.finish();
            let piece = |r: std::ops::Range<usize>| r.map(|k| (curve.y[0][k], curve.y[1][k])).collect::<Vec<_>>();
            let point = |y: [f64; 2]| (y[0], y[1]);
            let plot = Plot::Curve {
                pieces: curve.segments().into_iter().map(piece).collect(),
                jumps: curve.jumps.iter().map(|j| (j.t, point(j.left), point(j.right))).collect(),
            };
            Panel {
                x: AxisLabel { name: name(&m.coordinates[i], false), unit: self.unit(i, false) },
                y: AxisLabel { name: name(&m.coordinates[i], true), unit: self.unit(i, true) },
                span: None,
                scale: Scale::Linear,
                zero: false,
                legend: false,
                layers: vec![layer(name(&m.coordinates[i], false), &m.coordinates[i], 0, plot)],
            }
        };
        all.iter().map(panel).collect()
    }

    fn gaps(&mut self, problem: &Problem) -> Result<Vec<Panel>, String> {
        let (m, d, c) = (self.m, self.m.dimension(), problem.constraints());
        if c == 0 {
            return Err("the model has no constraints, so there are no gaps".into());
        }
        let mut gaps = problem.gaps();
        let mut rows = Vec::with_capacity(m.t.len() * c);
        for (k, &t) in m.t.iter().enumerate() {
            gaps.evaluate(t, &m.q[k * d..(k + 1) * d]);
            rows.extend_from_slice(&gaps.values);
        }
        let groups = self.groups(&m.constraints, MOST);
        let panel = |group: Vec<usize>| Panel {
            x: self.time(),
            y: AxisLabel { name: Text::plain("gap"), unit: m.units.length.clone() },
            span: self.span(),
            scale: Scale::Linear,
            zero: true,
            legend: c > 1,
            layers: (group.iter().enumerate())
                .map(|(style, &a)| {
                    let line = self.curve(|k| (rows[k * c + a], rows[k * c + a]));
                    layer(Text::plain(&m.constraints[a]), &m.constraints[a], style, Self::plot(&line))
                })
                .collect(),
        };
        Ok(groups.into_iter().map(panel).collect())
    }

    fn energy(&mut self, problem: &Problem) -> Vec<Panel> {
        let (m, d) = (self.m, self.m.dimension());
        let mut energy = problem.energy();
        let mut read = |velocity: &[f64]| -> Vec<(f64, f64)> {
            let row = |v: &[f64], k: usize| v[k * d..(k + 1) * d].to_vec();
            (0..m.t.len()).map(|k| energy.both(m.t[k], &row(&m.q, k), &row(velocity, k))).collect()
        };
        let (left, right) = (read(&m.v_left), read(&m.v_right));
        let mut layers = Vec::new();
        let mut add = |what: &str, style: usize, of: &dyn Fn((f64, f64)) -> f64| {
            let line = self.curve(|k| (of(left[k]), of(right[k])));
            layers.push(layer(Text::plain(what), what, style, Self::plot(&line)));
        };
        if problem.model().potential.is_some() {
            add("total", 0, &|e| e.0 + e.1);
            add("kinetic", 1, &|e| e.0);
            add("potential", 2, &|e| e.1);
        } else {
            add("kinetic", 0, &|e| e.0);
        }
        let y = AxisLabel { name: Text::plain("energy"), unit: m.units.energy.clone() };
        let legend = layers.len() > 1;
        vec![Panel { x: self.time(), y, span: self.span(), scale: Scale::Linear, zero: true, legend, layers }]
    }

    fn reactions(&mut self) -> Result<Vec<Panel>, String> {
        let m = self.m;
        let acted = |a: &usize| {
            m.impacts.iter().any(|i| i.impulses.iter().any(|p| p.0 == *a)) || m.contacts.iter().any(|c| c.0 == *a)
        };
        let all: Vec<usize> = self.groups(&m.constraints, usize::MAX).into_iter().flatten().filter(acted).collect();
        let shown: Vec<usize> = all.iter().copied().take(MOST).collect();
        if shown.is_empty() {
            return Err("no constraint acted in this interval, so there are no reactions".into());
        }
        if shown.len() < all.len() {
            self.notes.push(format!("{} of {} constraints that acted are shown", shown.len(), all.len()));
        }
        let panel = |label: &str, unit: &str, layers: Vec<Layer>| Panel {
            x: self.time(),
            y: AxisLabel { name: Text::plain(label), unit: unit.to_string() },
            span: self.span(),
            scale: Scale::Linear,
            zero: true,
            legend: m.constraints.len() > 1,
            layers,
        };
        // Colours rather than black: an area in black would be a grey one.
        let made = |plot: &dyn Fn(usize) -> Plot| -> Vec<Layer> {
            let one =
                |(k, &a): (usize, &usize)| layer(Text::plain(&m.constraints[a]), &m.constraints[a], k + 1, plot(a));
            shown.iter().enumerate().map(one).collect()
        };
        let mut panels = Vec::new();
        let densities = made(&|a| Plot::Areas(self.densities(a)));
        if densities.iter().any(|l| matches!(&l.plot, Plot::Areas(pieces) if !pieces.is_empty())) {
            panels.push(panel("reaction", &m.units.force, densities));
        }
        if !m.impacts.is_empty() {
            let stems = |a: usize| {
                let of = |i: &super::Hit| i.impulses.iter().find(|p| p.0 == a).map(|p| (i.t, p.1));
                Plot::Stems(m.impacts.iter().filter_map(of).collect())
            };
            panels.push(panel("impulse", &m.units.impulse, made(&stems)));
        }
        Ok(panels)
    }

    /// The density of a constraint in contact, piece by piece; the mean of each contact where only that is known.
    fn densities(&self, a: usize) -> Vec<Vec<(f64, f64)>> {
        let (m, c) = (self.m, self.m.constraints.len());
        if m.reaction.is_empty() {
            let of = m.contacts.iter().filter(|k| k.0 == a && k.2 > k.1);
            return of.map(|&(_, s, e, p)| vec![(s, p / (e - s)), (e, p / (e - s))]).collect();
        }
        let mut pieces: Vec<Vec<(f64, f64)>> = Vec::new();
        let mut on = false;
        let mut last = 0.0;
        for k in 0..m.t.len() {
            let r = m.reaction[k * c + a];
            let acts = r.is_finite() && r != 0.0;
            if acts && !on {
                pieces.push(Vec::new());
            }
            if let Some(piece) = pieces.last_mut() {
                match (acts, on) {
                    (true, _) => piece.push((m.t[k], r)),
                    // Where it lets go the stored right limit is zero: the left one is about what it was before.
                    (false, true) => piece.push((m.t[k], last)),
                    _ => {}
                }
            }
            (on, last) = (acts, r);
        }
        pieces.into_iter().map(thinned).collect()
    }

    fn impacts(&mut self) -> Result<Vec<Panel>, String> {
        let m = self.m;
        let wanted = |i: &&super::Hit| self.chosen.is_empty() || i.impulses.iter().any(|p| self.chosen.contains(&p.0));
        let hits: Vec<&super::Hit> = m.impacts.iter().filter(wanted).collect();
        if hits.is_empty() {
            return Err("there are no impacts in this interval".into());
        }
        let speed = AxisLabel { name: Text::plain("approach speed"), unit: rate(&m.units.length, &m.units.time) };
        let mut layers: Vec<Layer> = Vec::new();
        for hit in &hits {
            let a = hit.impulses.first().map_or(0, |p| p.0);
            let key = m.constraints.get(a).map_or("", String::as_str);
            let at = layers.iter().position(|l| l.key == key).unwrap_or_else(|| {
                layers.push(layer(Text::plain(key), key, layers.len(), Plot::Points(Vec::new())));
                layers.len() - 1
            });
            if let Plot::Points(points) = &mut layers[at].plot {
                points.push((hit.t, hit.approach));
            }
        }
        if layers.len() > MOST {
            self.notes.push(format!("{} constraints share {MOST} styles", layers.len()));
        }
        let legend = layers.len() > 1;
        let over_time = Panel {
            x: self.time(),
            y: speed.clone(),
            span: self.span(),
            scale: Scale::Linear,
            zero: true,
            legend,
            layers,
        };
        let speeds: Vec<f64> = hits.iter().map(|h| h.approach).collect();
        let often = Panel {
            x: speed,
            y: AxisLabel { name: Text::plain("impacts"), unit: String::new() },
            span: None,
            scale: Scale::Linear,
            zero: true,
            legend: false,
            layers: vec![layer(Text::plain("impacts"), "impacts", 0, Plot::Bars(histogram(&speeds)))],
        };
        Ok(vec![over_time, often])
    }

    fn spectrum(&mut self) -> Result<Vec<Panel>, String> {
        let (m, d) = (self.m, self.m.dimension());
        let per = |unit: &str| if m.units.time.is_empty() { String::new() } else { format!("{unit}/{}", m.units.time) };
        let mut panels = Vec::new();
        for i in self.groups(&m.coordinates, PANELS).into_iter().flatten().take(PANELS) {
            let x: Vec<f64> = (0..m.t.len()).map(|k| m.q[k * d + i]).collect();
            let spectrum = spectrum(&m.t, &x).ok_or("a spectrum needs at least 64 instants")?;
            let top = spectrum.density.iter().copied().fold(0.0, f64::max);
            // Twelve decades below the largest is rounding. Thinned by ratios, as the axis shows them.
            let points = spectrum.frequency.iter().zip(&spectrum.density).filter(|(_, p)| **p >= top * 1e-12);
            let points = thinned(points.map(|(f, p)| (f.ln(), *p)).collect());
            let points: Vec<(f64, f64)> = points.into_iter().map(|(f, p)| (f.exp(), p)).collect();
            let unit = match (m.units.position(i), m.units.time.as_str()) {
                ("", _) | (_, "") => String::new(),
                (unit, time) => format!("{unit}² {time}"),
            };
            let power = Text::plain("power density of ").join(name(&m.coordinates[i], false));
            panels.push(Panel {
                x: AxisLabel { name: Text::plain("frequency"), unit: per("1") },
                y: AxisLabel { name: power, unit },
                span: None,
                scale: Scale::Log,
                zero: false,
                legend: false,
                layers: vec![layer(
                    name(&m.coordinates[i], false),
                    &m.coordinates[i],
                    0,
                    Plot::Curve { pieces: vec![points], jumps: Vec::new() },
                )],
            });
        }
        Ok(panels)
    }
}

/// The unit of a rate, where both units are known.
fn rate(unit: &str, time: &str) -> String {
    if unit.is_empty() || time.is_empty() { String::new() } else { format!("{unit}/{time}") }
}

fn layer(name: Text, key: &str, style: usize, plot: Plot) -> Layer {
    Layer { name, key: key.to_string(), style, plot }
}

/// The spectrum of samples in order of time, zero frequency left out; nothing for fewer than 64.
fn spectrum(t: &[f64], x: &[f64]) -> Option<Spectrum> {
    let n = t.len();
    let (first, last) = (*t.first()?, *t.last()?);
    if n < 64 || !(last > first) || x.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // Equal spacing, as many as were stored: instants of impacts are few among them.
    let h = (last - first) / (n - 1) as f64;
    let mut k = 0;
    let even = (0..n).map(|i| {
        let at = first + h * i as f64;
        while k + 2 < n && t[k + 1] < at {
            k += 1;
        }
        let width = t[k + 1] - t[k];
        let s = if width > 0.0 { ((at - t[k]) / width).clamp(0.0, 1.0) } else { 0.0 };
        x[k] + s * (x[k + 1] - x[k])
    });
    // Windows of about a quarter: several to average over, long enough to tell frequencies apart.
    let window = (2 * n / 9).next_power_of_two().clamp(64, 1 << 20).min(1 << n.ilog2());
    let mut spectrum = welch(&even.collect::<Vec<_>>(), h, window)?;
    spectrum.frequency.remove(0);
    spectrum.density.remove(0);
    Some(spectrum)
}

/// A piece of curve with no more points than can be seen.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return points };
    let mut thin = Thinner::<1>::new(points.len(), (first.0, last.0), LIMIT);
    points.iter().for_each(|&(x, y)| thin.push(x, [y]));
    let line = thin.finish();
    line.t.iter().copied().zip(line.y[0].iter().copied()).collect()
}

/// Counts in bins of equal width, about the square root of the number many.
fn histogram(values: &[f64]) -> Vec<(f64, f64, f64)> {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let high = finite().fold(0.0, f64::max);
    let low = finite().fold(0.0, f64::min);
    let bins = ((values.len() as f64).sqrt().ceil() as usize).clamp(5, 40);
    let width = if high > low { (high - low) / bins as f64 } else { 1.0 };
    let mut counts = vec![0.0; bins];
    finite().for_each(|x| counts[(((x - low) / width) as usize).min(bins - 1)] += 1.0);
    counts.iter().enumerate().map(|(k, &n)| (low + width * k as f64, low + width * (k + 1) as f64, n)).collect()
}
