//! Panels put together on a sheet of the width of one or two columns of a journal.

use super::panel::{Frame, LEGEND_ROW, Panel, SIZE, TICK_SIZE};
use super::sheet::{MM, Sheet};

/// The width of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// 85 mm.
    One,
    /// 180 mm.
    Two,
}

/// How panels are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// One above the other, with one time axis below them all.
    Shared,
    /// Each with its own axes; side by side where there is room.
    Apart,
}

/// The distance between panels and to the edges.
const EDGE: f64 = 5.0;

/// Puts panels on a sheet.
pub fn sheet(title: &str, panels: &[Panel], columns: Columns, stack: Stack) -> Sheet {
    let width = MM * if columns == Columns::One { 85.0 } else { 180.0 };
    let across = match (stack, columns) {
        (Stack::Apart, Columns::Two) if panels.len() > 1 => 2,
        _ => 1,
    };
    let rows = panels.len().div_ceil(across).max(1);
    let cell = (width - EDGE * (across + 1) as f64) / across as f64;
    let height = MM
        * match (stack, columns, rows) {
            (Stack::Apart, Columns::One, 1) => 58.0,
            (Stack::Apart, _, _) => 50.0,
            (_, Columns::One, 1) => 46.0,
            (_, Columns::One, 2) => 32.0,
            (_, Columns::One, _) => 24.0,
            (_, Columns::Two, 1) => 62.0,
            (_, Columns::Two, 2) => 42.0,
            (_, Columns::Two, _) => 32.0,
        };
    // Numbers and names to the left of the frames: as wide as the widest, so that frames stand in line.
    let widest = panels.iter().flat_map(|p| p.ticks(cell * 0.85, height).1.major).map(|(_, t)| t.width(TICK_SIZE));
    let left = SIZE * 1.5 + widest.fold(0.0, f64::max) + 3.0;
    let below = TICK_SIZE + 2.2 + SIZE + 2.6 + 2.0;
    let mut out = Sheet { width, title: title.to_string(), ..Sheet::default() };
    let mut y = EDGE;
    for (r, row) in panels.chunks(across).enumerate() {
        let w = cell - left - 4.0;
        let legend = row.iter().map(|p| p.legend_rows(w).len()).max().unwrap_or(0);
        y += LEGEND_ROW * legend as f64 + if legend > 0 { 2.0 } else { 0.0 };
        let numbers = stack == Stack::Apart || r + 1 == rows;
        for (c, panel) in row.iter().enumerate() {
            let x = EDGE + (cell + EDGE) * c as f64;
            panel.draw(&mut out, Frame { x: x + left, y, w, h: height }, x, numbers);
        }
        y += height + if numbers { below } else { 0.0 } + EDGE;
    }
    out.height = y;
    out
}
