//! The data of a panel, drawn, and its sample in the legend.

use super::panel::{Layer, Plot, SAMPLE_LENGTH, colour, stroke};
use super::sheet::{GREY, Sheet, Stroke};
use super::simplify::simplified;
use super::symbols::{lined, mark};

/// More rings than this would cover what they are to leave visible: they are small dots instead.
const DENSE: usize = 150;
/// The size of these, as a share of that of other dots.
const CORE: f64 = 0.5;

fn on_sheet(piece: &[(f64, f64)], at: &impl Fn((f64, f64)) -> (f64, f64)) -> Vec<(f64, f64)> {
    simplified(&piece.iter().map(|&p| at(p)).collect::<Vec<_>>())
}

impl Layer {
    /// The number of jumps.
    pub fn jumps(&self) -> usize {
        match &self.plot {
            Plot::Curve { jumps, .. } => jumps.len(),
            _ => 0,
        }
    }

    /// Draws the data; `floor` is where stems and areas stand, and `all_jumps` those of the whole panel.
    pub fn draw(&self, sheet: &mut Sheet, at: &impl Fn((f64, f64)) -> (f64, f64), floor: f64, all_jumps: usize) {
        let tint = colour(self.style);
        match &self.plot {
            Plot::Curve { pieces, jumps } => {
                for piece in pieces {
                    sheet.line(on_sheet(piece, at), stroke(self.style, 0.9));
                }
                // The more marks, the smaller they are, so that the curve stays visible.
                let radius = [(40, 1.25), (120, 0.9), (400, 0.6)].into_iter().find(|(n, _)| all_jumps <= *n);
                let radius = radius.map_or(0.4, |(_, r)| r);
                for (t, before, after) in jumps {
                    let (before_y, after_y) = (format!("{:?}", before.1), format!("{:?}", after.1));
                    sheet.begin("jump", vec![("t", format!("{t:?}")), ("before", before_y), ("after", after_y)]);
                    sheet.dot(at(*before), radius, tint, false);
                    sheet.dot(at(*after), radius, tint, true);
                    sheet.end();
                }
            }
            Plot::Lines { pieces, is_dashed, is_faint } => {
                let stroke = lined(tint, *is_dashed, *is_faint);
                pieces.iter().for_each(|piece| sheet.line(on_sheet(piece, at), stroke.clone()));
            }
            Plot::Marks(shape, points) => points.iter().for_each(|&point| mark(sheet, *shape, at(point))),
            Plot::Areas(pieces) => {
                for piece in pieces.iter().filter(|p| p.len() > 1) {
                    let line = on_sheet(piece, at);
                    let mut area = line.clone();
                    area.push((line[line.len() - 1].0, floor));
                    area.insert(0, (line[0].0, floor));
                    sheet.area(area, tint, 0.22);
                    sheet.line(line, Stroke::solid(tint, 0.7));
                }
            }
            Plot::Stems(points) => {
                let radius: f64 = if points.len() > 80 { 0.8 } else { 1.4 };
                for &(x, y) in points {
                    let head = at((x, y));
                    sheet.begin("stem", vec![("t", format!("{x:?}")), ("value", format!("{y:?}"))]);
                    sheet.line(vec![(head.0, floor), head], Stroke::solid(tint, radius.min(0.6)));
                    sheet.dot(head, radius, tint, true);
                    sheet.end();
                }
            }
            Plot::Points(points) => {
                let radius = if points.len() > 400 { 0.7 } else { 1.3 };
                for &(x, y) in points {
                    sheet.begin("point", vec![("t", format!("{x:?}")), ("value", format!("{y:?}"))]);
                    sheet.dot(at((x, y)), radius, tint, self.style == 0);
                    sheet.end();
                }
            }
            Plot::Dots(points, open) => {
                let radius = match points.len() {
                    0..=300 => 1.0,
                    301..=3000 => 0.7,
                    _ => 0.5,
                };
                sheet.begin("dots", vec![("count", points.len().to_string())]);
                for &point in points {
                    match (open, points.len() > DENSE) {
                        (false, _) => sheet.dot(at(point), radius, tint, true),
                        (true, false) => sheet.ring(at(point), 1.4 * radius, tint, 0.4 * radius.max(0.7)),
                        (true, true) => sheet.dot(at(point), CORE * radius, tint, true),
                    }
                }
                sheet.end();
            }
            Plot::Image(across, up, raster) => {
                let (a, b) = (at((across.0, up.1)), at((across.1, up.0)));
                sheet.image(a, (b.0 - a.0, b.1 - a.1), raster.clone(), true);
            }
            Plot::Swatch(_) => {}
            Plot::Bars(bars) => {
                for &(a, b, height) in bars {
                    let (low, high) = (at((a, 0.0)), at((b, height)));
                    let corners = vec![(low.0, floor), (low.0, high.1), (high.0, high.1), (high.0, floor)];
                    sheet.begin("bar", vec![("count", format!("{height}"))]);
                    sheet.area(corners.clone(), colour(1), 0.35);
                    sheet.line(corners, Stroke::solid(colour(1), 0.6));
                    sheet.end();
                }
            }
        }
    }

    /// Draws the sample of the legend.
    pub fn sample(&self, sheet: &mut Sheet, x: f64, y: f64) {
        let tint = colour(self.style);
        match &self.plot {
            Plot::Curve { .. } => sheet.line(vec![(x, y), (x + SAMPLE_LENGTH, y)], stroke(self.style, 0.9)),
            Plot::Lines { is_dashed, is_faint, .. } => {
                sheet.line(vec![(x, y), (x + SAMPLE_LENGTH, y)], lined(tint, *is_dashed, *is_faint));
            }
            Plot::Marks(shape, _) => mark(sheet, *shape, (x + SAMPLE_LENGTH - 5.0, y)),
            Plot::Areas(_) | Plot::Bars(_) => {
                let corners = |h: f64| {
                    vec![(x + 6.0, y + h), (x + 6.0, y - h), (x + SAMPLE_LENGTH, y - h), (x + SAMPLE_LENGTH, y + h)]
                };
                sheet.area(corners(2.6), tint, 0.22);
                sheet.line(vec![(x + 6.0, y - 2.6), (x + SAMPLE_LENGTH, y - 2.6)], Stroke::solid(tint, 0.7));
            }
            Plot::Stems(_) => {
                sheet.line(
                    vec![(x + SAMPLE_LENGTH - 4.0, y + 3.0), (x + SAMPLE_LENGTH - 4.0, y - 2.0)],
                    Stroke::solid(tint, 0.6),
                );
                sheet.dot((x + SAMPLE_LENGTH - 4.0, y - 2.0), 1.4, tint, true);
            }
            Plot::Points(_) => sheet.dot((x + SAMPLE_LENGTH - 4.0, y), 1.3, tint, self.style == 0),
            Plot::Dots(points, open) => {
                let centre = (x + SAMPLE_LENGTH - 4.0, y);
                match (open, points.len() > DENSE) {
                    (false, _) => sheet.dot(centre, 1.3, tint, true),
                    (true, false) => sheet.ring(centre, 1.4, tint, 0.5),
                    (true, true) => sheet.dot(centre, CORE * 1.3, tint, true),
                }
            }
            Plot::Image(..) => {}
            Plot::Swatch(colour) => {
                let (left, right) = (x + 8.0, x + SAMPLE_LENGTH);
                let corners =
                    vec![(left, y + 2.8), (left, y - 2.8), (right, y - 2.8), (right, y + 2.8), (left, y + 2.8)];
                sheet.area(corners.clone(), *colour, 1.0);
                sheet.line(corners, Stroke::solid(GREY, 0.3));
            }
        }
    }
}
