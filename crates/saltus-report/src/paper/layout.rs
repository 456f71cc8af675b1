//! Arranges panels on a sheet as wide as one or two journal columns.

use super::panel::{Frame, Panel, SIZE, TICK_SIZE};
use super::sheet::{MM, Sheet};

/// The width of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Columns {
    /// 85 mm.
    One,
    /// 180 mm.
    Two,
}

/// The arrangement of panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Stacked, with one common time axis at the bottom.
    Stacked,
    /// Each with its own axes, side by side if there is room.
    Separate,
    /// Each with its own axes, three in a row if there is room.
    Grid,
}

/// The distance between panels and from the edges.
const MARGIN: f64 = 5.0;

/// Arranges panels on a sheet.
pub fn sheet(title: &str, panels: &[Panel], columns: Columns, arrangement: Arrangement) -> Sheet {
    let width = MM * if columns == Columns::One { 85.0 } else { 180.0 };
    let across = match (arrangement, columns) {
        (Arrangement::Separate, Columns::Two) if panels.len() > 1 => 2,
        (Arrangement::Grid, Columns::Two) => panels.len().clamp(1, 3),
        (Arrangement::Grid, Columns::One) if panels.len() > 1 => 2,
        _ => 1,
    };
    let rows = panels.len().div_ceil(across).max(1);
    let cell = (width - MARGIN * (across + 1) as f64) / across as f64;
    let height = MM
        * match (arrangement, columns, rows) {
            (Arrangement::Separate, Columns::One, 1) => 58.0,
            (Arrangement::Separate, _, _) => 50.0,
            (_, Columns::One, 1) => 46.0,
            (_, Columns::One, 2) => 32.0,
            (_, Columns::One, _) => 24.0,
            (_, Columns::Two, 1) => 62.0,
            (_, Columns::Two, 2) => 42.0,
            (_, Columns::Two, _) => 32.0,
        };
    // All panels leave room for the widest tick label, so that their frames are aligned.
    let widest = panels.iter().flat_map(|p| p.ticks(cell * 0.85, height).1.major).map(|(_, t)| t.width(TICK_SIZE));
    let left = SIZE * 1.5 + widest.fold(0.0, f64::max) + 3.0;
    let below = TICK_SIZE + 2.2 + SIZE + 2.6 + 2.0;
    let mut out = Sheet { width, title: title.to_string(), ..Sheet::default() };
    let mut y = MARGIN;
    for (r, row) in panels.chunks(across).enumerate() {
        let w = cell - left - 4.0;
        let height = row.iter().map(|p| p.aspect.map_or(height, |a| a * w) * p.share.unwrap_or(1.0));
        let height = height.fold(0.0, f64::max);
        y += row.iter().map(|p| p.above(w)).fold(0.0, f64::max);
        let numbers = arrangement != Arrangement::Stacked || r + 1 == rows;
        for (c, panel) in row.iter().enumerate() {
            let x = MARGIN + (cell + MARGIN) * c as f64;
            panel.draw(&mut out, Frame { x: x + left, y, w, h: height }, x, numbers);
        }
        y += height + if numbers { below } else { 0.0 } + MARGIN;
    }
    out.height = y;
    out
}
