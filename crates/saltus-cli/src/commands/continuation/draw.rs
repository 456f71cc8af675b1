//! Branches as charts: the diagram over the parameter, multipliers in the unit circle, some of the orbits.

use super::record::{Entry, Row};
use crate::text::number;
use saltus::analysis::SpecialKind;
use saltus::{Options, Problem, Side};
use saltus_report::chart::{Chart, Dots, Line, Mark, Pane, Quantity};

/// Multipliers beyond this are not drawn.
const FAR: (f64, f64) = (1.6, 1.13);

/// Orbits that are drawn.
const ORBITS: usize = 9;

/// Points of an orbit.
const POINTS: f64 = 400.0;

/// Colours of branches, by how often their period has doubled.
const COLOURS: [usize; 5] = [0, 2, 3, 4, 1];

/// The colour of orbits that are neither stable nor unstable.
const NEUTRAL: usize = 6;

/// Everything that is drawn.
pub struct Drawing<'a> {
    pub entries: &'a [Entry],
    pub title: String,
    pub parameter: String,
    pub unit: String,
    pub shown: String,
    /// Whether these are equilibria.
    pub are_equilibria: bool,
    /// The second parameter of curves, with its unit.
    pub second: Option<(String, String)>,
}

impl<'a> Drawing<'a> {
    /// Of the lines of a record, which begin with what they are about; None if they do not.
    pub fn new(entries: &'a [Entry]) -> Option<Self> {
        let Some(Entry::Head { title, parameters, units, shown, of, .. }) = entries.first() else { return None };
        Some(Drawing {
            entries,
            title: title.clone(),
            parameter: parameters.first()?.clone(),
            unit: units.first().cloned().unwrap_or_default(),
            shown: shown.clone(),
            are_equilibria: of == "equilibria",
            second: (of == "curves")
                .then(|| (parameters.get(1).cloned().unwrap_or_default(), units.get(1).cloned().unwrap_or_default())),
        })
    }

    /// What was simulated.
    fn simulated(&self) -> Option<Dots> {
        self.entries.iter().rev().find_map(|e| match e {
            Entry::Simulated { x, y } if !x.is_empty() => Some(Dots {
                name: "simulated".into(),
                colour: 5,
                x: x.clone(),
                y: y.clone(),
                key: x.clone(),
                ..Dots::default()
            }),
            _ => None,
        })
    }
}

/// A step of a branch: an orbit, or a special point between two.
type Place<'a> = (bool, &'a Row);

/// The rows of each branch in order, special points among them.
fn places(entries: &[Entry]) -> Vec<Vec<Place<'_>>> {
    let mut all: Vec<Vec<Place>> = Vec::new();
    for entry in entries {
        let (branch, place) = match entry {
            Entry::Point { branch, row } => (*branch, (false, row)),
            Entry::Special { branch, row, .. } => (*branch, (true, row)),
            _ => continue,
        };
        if all.len() <= branch {
            all.resize(branch + 1, Vec::new());
        }
        all[branch].push(place);
    }
    all
}

/// The orbits of each branch in order.
pub fn branches(entries: &[Entry]) -> Vec<Vec<&Row>> {
    places(entries).into_iter().map(|b| b.into_iter().filter(|p| !p.0).map(|p| p.1).collect()).collect()
}

impl Drawing<'_> {
    /// The colour of an orbit: by its multiple of the first branch's.
    fn colour(&self, row: &Row, first: usize) -> usize {
        let ratio = row.multiple.unwrap_or(1) / first.max(1);
        COLOURS[(ratio.max(1).ilog2() as usize) % COLOURS.len()]
    }

    fn note(&self, row: &Row) -> String {
        let kind = row.stability();
        let largest = row.multipliers.iter().map(|z| z.0.hypot(z.1)).fold(0.0, f64::max);
        let period = match (self.are_equilibria, row.multiple) {
            (true, _) => String::new(),
            (false, Some(n)) => format!(", period {n}"),
            (false, None) => format!(", period {}", number(row.period, 8)),
        };
        let size =
            if self.are_equilibria { String::new() } else { format!(", largest multiplier {}", number(largest, 5)) };
        format!("{} = {}{period}: {kind}{size}; {}", self.parameter, number(row.values[0], 9), row.sequence)
    }

    /// The branch diagram.
    pub fn diagram(&self) -> Chart {
        if let Some((second, unit)) = &self.second {
            return self.curves(second, unit);
        }
        let mut pane = Pane { x: self.axis(), y: Quantity::new(&self.shown, ""), ..Pane::default() };
        let all = places(self.entries);
        let first = all.iter().flatten().next().and_then(|p| p.1.multiple).unwrap_or(1);
        for rows in &all {
            self.lines(rows, first, &mut pane);
        }
        // (Stable ones on top.)
        pane.lines.sort_by_key(|line| line.is_dashed);
        pane.marks = self.marks();
        pane.dots.extend(self.simulated());
        let mut caption = "Solid: stable; dashed: unstable.".to_string();
        if pane.lines.iter().any(|line| line.name == "neutral") {
            caption.push_str(" Neutral: multipliers on the unit circle, none outside.");
        }
        if !pane.dots.is_empty() {
            caption.push_str(" Dots: motions left to settle, by simulation.");
        }
        let title = format!("{}: {} over {}", self.title, self.shown, self.parameter);
        Chart { title, caption, panes: vec![pane], ..Chart::default() }
    }

    /// Curves in the plane of two parameters.
    fn curves(&self, second: &str, unit: &str) -> Chart {
        let mut pane = Pane { x: self.axis(), y: Quantity::new(second, unit), ..Pane::default() };
        for (k, rows) in branches(self.entries).iter().enumerate() {
            let note = |r: &&Row| {
                let (x, y) = (number(r.values[0], 9), number(r.values[1], 9));
                format!("{} = {x}, {second} = {y}; {}", self.parameter, r.sequence)
            };
            pane.lines.push(Line {
                colour: COLOURS[k % COLOURS.len()],
                x: rows.iter().map(|r| r.values[0]).collect(),
                y: rows.iter().map(|r| r.values[1]).collect(),
                notes: rows.iter().map(note).collect(),
                ..Line::default()
            });
        }
        let title = format!("{}: special points over {} and {second}", self.title, self.parameter);
        Chart { title, panes: vec![pane], ..Chart::default() }
    }

    fn axis(&self) -> Quantity {
        Quantity::new(&self.parameter, &self.unit)
    }

    /// Stretches of one stability and one number of values, from special point to special point.
    fn lines(&self, places: &[Place], first: usize, pane: &mut Pane) {
        let mut stretch: Vec<Place> = Vec::new();
        for &place in places {
            let (is_special, row) = place;
            let is_like = |other: &Row| other.shown.len() == row.shown.len();
            if is_special {
                // It ends what comes before it, and begins what follows.
                stretch.extend(stretch.last().is_some_and(|p| is_like(p.1)).then_some(place));
                self.line(&stretch, first, pane);
                stretch = vec![place];
                continue;
            }
            match stretch.iter().rev().find(|p| !p.0).map(|p| p.1) {
                Some(last) if !is_like(last) || last.stability() != row.stability() => {
                    stretch.extend(is_like(last).then_some(place));
                    self.line(&stretch, first, pane);
                    stretch = vec![place];
                }
                None if stretch.first().is_some_and(|p| !is_like(p.1)) => stretch = vec![place],
                _ => stretch.push(place),
            }
        }
        self.line(&stretch, first, pane);
    }

    fn line(&self, stretch: &[Place], first: usize, pane: &mut Pane) {
        // (A special point is as stable as the orbits beside it.)
        let Some((_, row)) = stretch.iter().find(|p| !p.0).filter(|_| stretch.len() > 1) else { return };
        let rows = || stretch.iter().map(|p| p.1);
        for k in 0..row.shown.len() {
            pane.lines.push(Line {
                name: row.stability().into(),
                colour: if row.neutral { NEUTRAL } else { self.colour(row, first) },
                is_dashed: row.stability() == "unstable",
                x: rows().map(|r| r.values[0]).collect(),
                y: rows().map(|r| r.shown.get(k).copied().unwrap_or(f64::NAN)).collect(),
                notes: rows().map(|r| self.note(r)).collect(),
                ..Line::default()
            });
        }
    }

    /// Special points by their kinds.
    fn marks(&self) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        let places: Vec<&str> = SpecialKind::ALL.iter().map(|k| k.word()).collect();
        for entry in self.entries {
            let Entry::Special { kind, words, row, .. } = entry else { continue };
            let shape = places.iter().position(|k| k == kind).unwrap_or(5);
            let name = SpecialKind::ALL.get(shape).map_or(kind.as_str(), |k| k.name());
            let at = match marks.iter().position(|m| m.name == name) {
                Some(k) => k,
                None => {
                    marks.push(Mark { name: name.into(), shape, ..Mark::default() });
                    marks.len() - 1
                }
            };
            for y in &row.shown {
                marks[at].x.push(row.values[0]);
                marks[at].y.push(*y);
                marks[at].notes.push(format!("{name} at {} = {}: {words}", self.parameter, number(row.values[0], 11)));
            }
        }
        marks.sort_by_key(|m| m.shape);
        marks
    }

    /// Multipliers in the unit circle.
    pub fn multipliers(&self) -> Option<Chart> {
        let all = branches(self.entries);
        let first = all.iter().flatten().next().and_then(|r| r.multiple).unwrap_or(1);
        let mut pane =
            Pane { x: Quantity::new("Re multiplier", ""), y: Quantity::new("Im multiplier", ""), ..Pane::default() };
        let faint = |x: Vec<f64>, y: Vec<f64>| Line { is_faint: true, x, y, ..Line::default() };
        let turn = |k: i32| (f64::from(k) * std::f64::consts::TAU / 180.0).sin_cos();
        pane.lines.push(faint((0..=180).map(|k| turn(k).1).collect(), (0..=180).map(|k| turn(k).0).collect()));
        pane.lines.push(faint(vec![-FAR.0, FAR.0], vec![0.0, 0.0]));
        pane.lines.push(faint(vec![0.0, 0.0], vec![-FAR.1, FAR.1]));
        let mut beyond = 0;
        for (k, rows) in all.iter().enumerate().filter(|(_, rows)| !rows.is_empty()) {
            let mut dots = Dots { name: format!("branch {}", k + 1), ..Dots::default() };
            dots.colour = if all.len() == 1 { self.colour(rows[0], first) } else { k % 7 };
            for row in rows {
                for z in &row.multipliers {
                    if z.0.abs() > FAR.0 || z.1.abs() > FAR.1 {
                        beyond += 1;
                        continue;
                    }
                    dots.x.push(z.0);
                    dots.y.push(z.1);
                    dots.key.push(row.values[0]);
                }
            }
            pane.dots.push(dots);
        }
        if pane.dots.iter().all(|d| d.x.is_empty()) {
            return None;
        }
        let caption = match beyond {
            0 => "Multipliers of all orbits, and the unit circle.".to_string(),
            n => format!("Multipliers of all orbits, and the unit circle; {n} lie beyond the frame."),
        };
        let title = format!("{}: multipliers", self.title);
        Some(Chart { title, caption, panes: vec![pane], ..Chart::default() })
    }

    /// Some orbits in the plane of the first coordinate and its velocity.
    pub fn orbits(&self, problem: &Problem) -> Option<Chart> {
        let name = problem.model().coordinates.first()?.clone();
        let mut panes = Vec::new();
        for row in self.representatives() {
            let start = row.start.start();
            let options = Options::events(start.t + row.period).tolerance(1e-10).step(row.period / POINTS);
            let Ok(run) = problem.run_from(&start, &options) else { continue };
            let motion = &run.trajectory;
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for k in 0..motion.len() {
                for side in [Side::Left, Side::Right] {
                    x.push(motion.q(k)[0]);
                    y.push(motion.v(k, side)[0]);
                }
            }
            let word = format!("{} = {}", self.parameter, number(row.values[0], 5));
            let line = Line { is_dashed: row.stability() == "unstable", x, y, ..Line::default() };
            panes.push(Pane {
                x: Quantity::new(&name, crate::commands::atlas::unit(problem.model(), &name)),
                y: Quantity::new(format!("{name}'"), ""),
                lines: vec![line],
                heading: word,
                ..Pane::default()
            });
        }
        let title = format!("{}: orbits", self.title);
        let caption = "One period of some orbits, in the order of the branches. Dashed: unstable.".into();
        (!panes.is_empty()).then(|| Chart { title, caption, panes, is_grid: true, ..Chart::default() })
    }

    /// Orbits from the middle of the longest stretches between special points.
    fn representatives(&self) -> Vec<&Row> {
        let mut stretches: Vec<Vec<&Row>> = vec![Vec::new()];
        for entry in self.entries {
            match entry {
                Entry::Point { row, .. } => stretches.last_mut().into_iter().for_each(|s| s.push(row)),
                _ => stretches.push(Vec::new()),
            }
        }
        let mut order: Vec<usize> = (0..stretches.len()).filter(|&k| !stretches[k].is_empty()).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(stretches[k].len()));
        order.truncate(ORBITS);
        order.sort_unstable();
        order.into_iter().map(|k| stretches[k][stretches[k].len() / 2]).collect()
    }
}
