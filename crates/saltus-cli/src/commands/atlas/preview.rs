//! Charts as text, for people on a remote machine.

use crate::sketch::Plane;
use crate::text::{DIM, number, out, printable};
use saltus_report::chart::{Chart, Tint};

/// Signs of the classes of a map: letters, because many names of classes have numbers;
const SIGNS: &str = "abcdefghijklmnopqrstuvwxyz";
/// and of those that have no colour: what failed, or cannot start.
const NONE: char = '.';

/// Draws a chart on standard output.
pub fn print(chart: &Chart) {
    let size = terminal_size::terminal_size().map(|(w, h)| (usize::from(w.0), usize::from(h.0)));
    let (width, height) = size.map_or((80, 24), |(w, h)| (w.clamp(40, 160), h.clamp(14, 40)));
    let Some(pane) = chart.panes.first() else { return };
    let lines = match &pane.map {
        Some(map) => {
            let (columns, rows) = (width.saturating_sub(14).max(10), (height - 6).max(8));
            let ((left, right), (low, high)) = map.extent();
            let (across, up) = map.cells();
            let (across, up) = (across.sampled(columns), up.sampled(rows));
            let range = map.range();
            let mut lines = Vec::new();
            for r in 0..rows {
                let cell = |&c: &usize| sign(map.value(c, up[rows - 1 - r]), range, &map.classes);
                let label = match r {
                    0 => number(high, 4),
                    r if r + 1 == rows => number(low, 4),
                    _ => String::new(),
                };
                lines.push(format!("{label:>10} │{}", across.iter().map(cell).collect::<String>()));
            }
            let (left, right) = (number(left, 4), number(right, 4));
            let space = columns.saturating_sub(left.len() + right.len());
            lines.push(format!("{:>10} └{}", "", "─".repeat(columns)));
            lines.push(format!("{:>12}{left}{:^space$}{right}", "", pane.x.name));
            for (k, (name, _)) in map.classes.iter().enumerate() {
                lines.push(format!("{:>12}{} {name}", "", sign(k as f64, range, &map.classes)));
            }
            if map.classes.is_empty() {
                lines.push(format!("{:>12}{}: {} to {}", "", map.label, number(range.0, 4), number(range.1, 4)));
            }
            lines
        }
        None => {
            let points = || pane.dots.iter().flat_map(|d| d.x.iter().copied().zip(d.y.iter().copied()));
            Plane::new(points(), &pane.x.name, width, height - 6).lines()
        }
    };
    out!("\n{:>11} {}\n", "", printable(&pane.y.name));
    for line in lines {
        out!("{DIM}{}{DIM:#}\n", printable(&line));
    }
}

fn sign(value: f64, (low, high): (f64, f64), classes: &[(String, Tint)]) -> char {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    match (value.is_finite(), classes.get(value as usize)) {
        (false, _) => ' ',
        (true, Some((_, Tint::None))) => NONE,
        (true, Some(_)) => SIGNS.chars().nth(value as usize).unwrap_or('?'),
        (true, None) if !classes.is_empty() => '?',
        (true, None) if high > low => SHADES[((value - low) / (high - low) * 4.99) as usize % 5],
        (true, None) => SHADES[2],
    }
}
