//! Marks of special points, told apart by their shapes, and the strokes of lines.

use super::sheet::{BLACK, Colour, GREY, Sheet, Stroke};

/// The size of a mark.
const SIZE: f64 = 2.1;

/// The white of paper.
const WHITE: Colour = Colour(255, 255, 255);

/// The stroke of a line.
pub fn lined(colour: Colour, is_dashed: bool, is_faint: bool) -> Stroke {
    match (is_faint, is_dashed) {
        (true, _) => Stroke::solid(GREY, 0.5),
        (false, true) => Stroke { colour, width: 0.8, dash: &[2.6, 1.5] },
        (false, false) => Stroke::solid(colour, 1.1),
    }
}

/// Draws a mark: a disc, a square, a triangle, a diamond, a ring, a cross, a triangle upside down, by its number.
pub fn mark(sheet: &mut Sheet, shape: usize, (x, y): (f64, f64)) {
    let s = SIZE;
    let corners =
        |list: &[(f64, f64)]| -> Vec<(f64, f64)> { list.iter().map(|c| (x + s * c.0, y + s * c.1)).collect() };
    let filled = |sheet: &mut Sheet, list: &[(f64, f64)], inner: Colour| {
        let mut outline = corners(list);
        sheet.area(outline.clone(), inner, 1.0);
        outline.push(outline[0]);
        outline.push(outline[1]);
        sheet.line(outline, Stroke::solid(BLACK, 0.6));
    };
    match shape % 7 {
        0 => sheet.dot((x, y), s * 0.95, BLACK, true),
        1 => filled(sheet, &[(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)], WHITE),
        2 => filled(sheet, &[(0.0, -1.15), (1.05, 0.75), (-1.05, 0.75)], BLACK),
        3 => filled(sheet, &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)], WHITE),
        4 => {
            let ring: Vec<(f64, f64)> =
                (0..24).map(|k| (f64::from(k) * std::f64::consts::TAU / 24.0).sin_cos()).collect();
            filled(sheet, &ring, WHITE);
        }
        6 => filled(sheet, &[(0.0, 1.15), (1.05, -0.75), (-1.05, -0.75)], WHITE),
        _ => {
            for ends in [[(-1.0, -1.0), (1.0, 1.0)], [(-1.0, 1.0), (1.0, -1.0)]] {
                sheet.line(corners(&ends), Stroke::solid(BLACK, 0.9));
            }
        }
    }
}
