//! A trajectory drawn as text: coordinates over time, impacts marked on the axis. For people on a remote machine.

use crate::text::{CYAN, DIM, count, number, out, printable};
use saltus::{Model, Trajectory};

/// At most this many coordinates are drawn.
const PANELS: usize = 4;

/// The characters to draw with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Braille patterns: two by four dots a character.
    Braille,
    /// `'`, `.` and `:`, one by two dots a character.
    Ascii,
}

impl Ink {
    /// Dots across and down in a character.
    fn dots(self) -> (usize, usize) {
        match self {
            Ink::Braille => (2, 4),
            Ink::Ascii => (1, 2),
        }
    }

    /// The character with some of its dots set: bit `x + across * y`.
    fn glyph(self, set: u8) -> char {
        match self {
            Ink::Braille => {
                // The order of the dots in Unicode, rows of two from the top.
                const PLACES: [u8; 8] = [0, 3, 1, 4, 2, 5, 6, 7];
                let pattern = (0..8).filter(|i| set >> i & 1 == 1).map(|i| 1 << PLACES[i]).sum::<u32>();
                if pattern == 0 { ' ' } else { char::from_u32(0x2800 + pattern).unwrap_or(' ') }
            }
            Ink::Ascii => [' ', '\'', '.', ':'][usize::from(set & 3)],
        }
    }

    /// Corner, line and impact mark of the time axis, and the line of the other axis.
    fn axis(self) -> (char, char, char, char) {
        match self {
            Ink::Braille => ('└', '─', '▴', '│'),
            Ink::Ascii => ('+', '-', '^', '|'),
        }
    }
}

/// Draws the first coordinates of a trajectory on standard output.
pub fn print(model: &Model, trajectory: &Trajectory, ascii: bool) {
    let ink = if ascii || !understands_unicode(|name| std::env::var(name).ok()) { Ink::Ascii } else { Ink::Braille };
    let size = terminal_size::terminal_size().map(|(w, h)| (usize::from(w.0), usize::from(h.0)));
    let (width, height) = size.unwrap_or((80, 20));
    out!("\n");
    for line in lines(model, trajectory, ink, width.clamp(40, 200), height.clamp(12, 60)) {
        match line {
            Line::Curve { label, axis, dots } => out!("{DIM}{label}{axis}{DIM:#}{CYAN}{dots}{CYAN:#}\n"),
            Line::Plain(text) => out!("{DIM}{text}{DIM:#}\n"),
            Line::Title(text) => out!("{text}\n"),
        }
    }
}

/// Whether the terminal shows more than ASCII, from what its environment says; nothing said is a yes.
fn understands_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    if variable("TERM").is_some_and(|t| t == "dumb") {
        return false;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|v| !v.is_empty());
    locale.is_none_or(|l| l.to_lowercase().replace('-', "").contains("utf8"))
}

/// A line of the drawing.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// What a panel shows.
    Title(String),
    /// A row of a panel.
    Curve {
        /// The number at this height, if it has one, set to the right.
        label: String,
        /// The axis.
        axis: char,
        /// The curve.
        dots: String,
    },
    /// An axis or its numbers.
    Plain(String),
}

/// The drawing, line by line.
pub fn lines(model: &Model, trajectory: &Trajectory, ink: Ink, width: usize, height: usize) -> Vec<Line> {
    let (n, d) = (trajectory.len(), trajectory.dimension());
    let (Some(&start), Some(&end)) = (trajectory.t.first(), trajectory.t.last()) else { return Vec::new() };
    if n < 2 || !(end > start) {
        return vec![Line::Plain("nothing to draw: the run has one instant only".into())];
    }
    let panels = d.min(PANELS);
    let rows = (height.saturating_sub(2) / panels.max(1)).saturating_sub(2).clamp(4, 16);
    let ranges: Vec<(f64, f64)> = (0..panels).map(|i| range((0..n).map(|k| trajectory.q(k)[i]))).collect();
    let labels: Vec<[String; 3]> = ranges.iter().map(|&(a, b)| [b, (a + b) / 2.0, a].map(|x| number(x, 4))).collect();
    let margin = labels.iter().flatten().map(|l| l.chars().count()).max().unwrap_or(0) + 1;
    let cells = width.saturating_sub(margin + 2).max(10);
    let (corner, dash, mark, bar) = ink.axis();
    let mut drawing = Vec::new();
    for i in 0..panels {
        drawing.push(Line::Title(format!("{:margin$} {}", "", printable(&model.coordinates[i]))));
        let points = (0..n).map(|k| (trajectory.t[k], trajectory.q(k)[i]));
        let curve = curve(ink, points, (start, end), ranges[i], cells, rows);
        for (row, dots) in curve.into_iter().enumerate() {
            let label = match row {
                0 => labels[i][0].as_str(),
                r if r == rows - 1 => &labels[i][2],
                r if r == rows / 2 && rows > 6 => &labels[i][1],
                _ => "",
            };
            drawing.push(Line::Curve { label: format!("{label:>margin$} "), axis: bar, dots });
        }
        let mut axis = vec![dash; cells];
        for impact in trajectory.impacts.iter() {
            axis[place(impact.t, start, end, cells)] = mark;
        }
        drawing.push(Line::Plain(format!("{:margin$} {corner}{}", "", axis.into_iter().collect::<String>())));
    }
    let (left, right) = (number(start, 4), number(end, 6));
    let middle = format!("t, {mark} {}", count(trajectory.impacts.len() as u64, "impact"));
    let between = cells.saturating_sub(left.chars().count() + right.chars().count());
    drawing.push(Line::Plain(format!("{:margin$}  {left}{middle:^between$}{right}", "")));
    if d > panels {
        drawing.push(Line::Plain(format!("{:margin$}  and {}", "", count((d - panels) as u64, "more coordinate"))));
    }
    drawing
}

/// The interval that numbers lie in, of some width.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|x| x.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    if low > high {
        return (-1.0, 1.0);
    }
    // What rounding leaves of a constant would fill the panel otherwise.
    let least = 1e-12 * low.abs().max(high.abs()).max(1e-300);
    if high - low > least { (low, high) } else { (low - low.abs().max(1.0) / 2.0, high + high.abs().max(1.0) / 2.0) }
}

/// In which of `cells` a value of [from, to] lies.
fn place(x: f64, from: f64, to: f64, cells: usize) -> usize {
    (((x - from) / (to - from) * cells as f64).floor().max(0.0) as usize).min(cells - 1)
}

/// A curve through points, as rows of characters from the top.
fn curve(
    ink: Ink,
    points: impl Iterator<Item = (f64, f64)>,
    (start, end): (f64, f64),
    (low, high): (f64, f64),
    cells: usize,
    rows: usize,
) -> Vec<String> {
    let (across, down) = ink.dots();
    let (wide, tall) = (cells * across, rows * down);
    let mut set = vec![0_u8; cells * rows];
    let mut dot = |x: usize, y: usize| {
        let y = tall - 1 - y;
        set[y / down * cells + x / across] |= 1 << (x % across + across * (y % down));
    };
    let mut last: Option<(usize, usize)> = None;
    for (t, q) in points {
        if !q.is_finite() {
            last = None;
            continue;
        }
        let (x, y) = (place(t, start, end, wide), place(q, low, high, tall));
        let (x0, y0) = last.unwrap_or((x, y));
        // A line of dots without holes: as many as it is long in its longer direction.
        let long = x.abs_diff(x0).max(y.abs_diff(y0)).max(1);
        for k in 0..=long {
            let between =
                |a: usize, b: usize| (a as f64 + (b as f64 - a as f64) * k as f64 / long as f64).round() as usize;
            dot(between(x0, x), between(y0, y));
        }
        last = Some((x, y));
    }
    set.chunks(cells).map(|row| row.iter().map(|&s| ink.glyph(s)).collect::<String>().trim_end().to_string()).collect()
}

/// Dots in a plane, as text.
pub struct Plane {
    lines: Vec<String>,
}

impl Plane {
    /// Draws points into so many columns and rows.
    pub fn new(points: impl Iterator<Item = (f64, f64)> + Clone, name: &str, width: usize, height: usize) -> Self {
        let ink = if understands_unicode(|name| std::env::var(name).ok()) { Ink::Braille } else { Ink::Ascii };
        let finite = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let (xs, ys) = (range(finite.clone().map(|p| p.0)), range(finite.clone().map(|p| p.1)));
        let (cells, rows) = (width.saturating_sub(14).max(10), height.max(4));
        let (across, down) = ink.dots();
        let mut set = vec![0_u8; cells * rows];
        for (x, y) in finite {
            let (x, y) = (place(x, xs.0, xs.1, cells * across), place(y, ys.0, ys.1, rows * down));
            let y = rows * down - 1 - y;
            set[y / down * cells + x / across] |= 1 << (x % across + across * (y % down));
        }
        let (corner, dash, _, bar) = ink.axis();
        let mut lines = Vec::new();
        for (r, row) in set.chunks(cells).enumerate() {
            let label = match r {
                0 => number(ys.1, 4),
                r if r + 1 == rows => number(ys.0, 4),
                _ => String::new(),
            };
            let dots: String = row.iter().map(|&s| ink.glyph(s)).collect();
            lines.push(format!("{label:>10} {bar}{}", dots.trim_end()));
        }
        lines.push(format!("{:>10} {corner}{}", "", dash.to_string().repeat(cells)));
        let (left, right) = (number(xs.0, 4), number(xs.1, 4));
        let space = cells.saturating_sub(left.chars().count() + right.chars().count());
        lines.push(format!("{:>12}{left}{name:^space$}{right}", ""));
        Plane { lines }
    }

    /// The drawing, line by line.
    pub fn lines(self) -> Vec<String> {
        self.lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball() -> (std::sync::Arc<Model>, Trajectory) {
        let text = "[coordinates]\ny = { position = 1.0, velocity = -1.0 }\n[dynamics]\nkinetic = \"y'^2/2\"\n\
                    [[constraint]]\nname = \"floor\"\ngap = \"y\"\n[impact]\nrestitution = 1\n";
        let file = saltus_io::ModelFile::parse("test", text, std::path::Path::new(".")).expect("a model");
        let (problem, _) = file.problem(&[]).expect("a problem");
        let run = problem.run(&saltus::Options::events(4.0).step(0.01)).expect("ran");
        (problem.model().clone(), run.trajectory)
    }

    #[test]
    fn dots_stand_where_the_numbers_are() {
        let v = [(0.0, 4.0), (2.0, 0.0), (4.0, 4.0)];
        let drawn = curve(Ink::Ascii, v.into_iter(), (0.0, 4.0), (0.0, 4.0), 8, 4);
        assert_eq!(drawn, ["'.     :", " '.   :", "  '. :", "   ':"], "{drawn:#?}");
        let flat = curve(Ink::Braille, [(0.0, 0.0), (1.0, 0.0)].into_iter(), (0.0, 1.0), (0.0, 1.0), 3, 2);
        assert_eq!(flat, ["", "⣀⣀⣀"]);
        let high = curve(Ink::Braille, [(0.0, 1.0), (1.0, 1.0)].into_iter(), (0.0, 1.0), (0.0, 1.0), 3, 1);
        assert_eq!(high, ["⠉⠉⠉"]);
        // Nothing is drawn across what is not a number.
        let hole = [(0.0, 0.0), (0.5, f64::NAN), (1.0, 0.0)];
        assert_eq!(curve(Ink::Ascii, hole.into_iter(), (0.0, 1.0), (0.0, 1.0), 5, 1), [".   ."]);
    }

    #[test]
    fn a_ball_and_its_impacts() {
        let (model, motion) = ball();
        let drawing = lines(&model, &motion, Ink::Braille, 60, 20);
        let text: Vec<String> = drawing
            .iter()
            .map(|l| match l {
                Line::Title(t) | Line::Plain(t) => t.clone(),
                Line::Curve { label, axis, dots } => format!("{label}{axis}{dots}"),
            })
            .collect();
        assert!(text.iter().all(|l| l.chars().count() <= 60), "{text:#?}");
        assert_eq!(text[0].trim(), "y");
        // It starts at 1, meets the floor once, at a quarter of the time, and flies up to 3.
        assert!(text[1].trim_start().starts_with("3 │") && text[1].ends_with(|c| c != ' '), "{text:#?}");
        let axis = &text[text.len() - 2];
        let at = axis.chars().skip_while(|&c| c != '└').skip(1).position(|c| c == '▴').expect("a mark");
        let cells = axis.chars().skip_while(|&c| c != '└').count() - 1;
        assert_eq!(axis.matches('▴').count(), 1);
        assert!(at.abs_diff(cells / 4) <= 1, "{at} of {cells}");
        assert!(text[text.len() - 1].contains("1 impact"), "{text:#?}");
    }

    #[test]
    fn a_terminal_says_what_it_understands() {
        let with = |pairs: &'static [(&str, &str)]| {
            understands_unicode(move |name| pairs.iter().find(|p| p.0 == name).map(|p| p.1.to_string()))
        };
        assert!(with(&[]) && with(&[("LANG", "de_DE.UTF-8")]) && with(&[("LC_ALL", ""), ("LANG", "C.utf8")]));
        assert!(
            !with(&[("TERM", "dumb")]) && !with(&[("LANG", "C")]) && !with(&[("LC_ALL", "POSIX"), ("LANG", "x.UTF-8")])
        );
    }

    #[test]
    fn constants_and_nothing_have_a_range() {
        assert_eq!(range([2.0, 2.0].into_iter()), (1.0, 3.0));
        assert_eq!(range([0.0].into_iter()), (-0.5, 0.5));
        assert_eq!(range([f64::NAN].into_iter()), (-1.0, 1.0));
    }
}
