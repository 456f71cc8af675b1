//! A panel: axes and the data drawn in them.

use super::raster::{Canvas, Raster};
use super::sheet::{Anchor, BLACK, Colour, GREY, Sheet, Stroke, Text};
use super::ticks::{MARGINS, NO_MARGINS, Scale, Ticks, minus};

/// The font size of labels, in points.
pub const SIZE: f64 = 8.0;
/// The font size of tick labels and legends.
pub const TICK_SIZE: f64 = 7.0;

/// Colours that colour-blind readers can distinguish (Okabe and Ito), alternating in brightness; dashes distinguish curves in
/// greyscale.
const STYLES: [(Colour, &[f64]); 7] = [
    (Colour(0, 0, 0), &[]),
    (Colour(0, 114, 178), &[4.0, 1.6]),
    (Colour(213, 94, 0), &[6.0, 1.6, 1.2, 1.6]),
    (Colour(0, 158, 115), &[1.4, 1.4]),
    (Colour(204, 121, 167), &[8.0, 2.0]),
    (Colour(86, 180, 233), &[3.0, 1.2, 1.2, 1.2, 1.2, 1.2]),
    (Colour(230, 159, 0), &[2.4, 2.4]),
];

/// The number of styles.
pub const MAX_STYLES: usize = STYLES.len();

/// The colour of a style.
pub fn colour(style: usize) -> Colour {
    STYLES[style % MAX_STYLES].0
}

/// The stroke of a style.
pub fn stroke(style: usize, width: f64) -> Stroke {
    let (colour, dash) = STYLES[style % MAX_STYLES];
    Stroke { colour, width, dash }
}

/// The label of an axis: a name, a power of ten if the ticks need one, and a unit.
#[derive(Clone, Debug, Default)]
pub struct AxisLabel {
    /// The name.
    pub name: Text,
    /// The unit; may be empty.
    pub unit: String,
}

impl AxisLabel {
    /// An upright label.
    pub fn plain(name: &str, unit: impl Into<String>) -> Self {
        AxisLabel { name: Text::plain(name), unit: unit.into() }
    }

    /// The printed label.
    fn text(&self, power: i32) -> Text {
        let unit = &self.unit;
        match (power, unit.is_empty()) {
            (0, true) => self.name.clone(),
            (0, false) => self.name.clone().then(format!(" ({unit})"), false, 0),
            (p, bare) => {
                let text = self.name.clone().then(" (10", false, 0).then(minus(&p.to_string()), false, 1);
                text.then(if bare { ")".to_string() } else { format!(" {unit})") }, false, 0)
            }
        }
    }
}

/// A point in the coordinates of the axes.
type Point = (f64, f64);

/// Data to draw, in the coordinates of the axes.
#[derive(Clone, Debug)]
pub enum Plot {
    /// A curve in pieces, with jumps between them.
    Curve {
        /// The pieces.
        pieces: Vec<Vec<(f64, f64)>>,
        /// The jumps: time, point before, point after.
        jumps: Vec<(f64, Point, Point)>,
    },
    /// Lines, solid or dashed; faint ones are thin and grey.
    Lines {
        /// The pieces.
        pieces: Vec<Vec<(f64, f64)>>,
        /// Whether they are dashed.
        is_dashed: bool,
        /// Whether they are thin and grey.
        is_faint: bool,
    },
    /// Marks of a shape.
    Marks(usize, Vec<(f64, f64)>),
    /// Areas between curves and zero.
    Areas(Vec<Vec<(f64, f64)>>),
    /// Stems from zero, with round heads.
    Stems(Vec<(f64, f64)>),
    /// Points.
    Points(Vec<(f64, f64)>),
    /// Dots, possibly very many; rings if `true`.
    Dots(Vec<(f64, f64)>, bool),
    /// Bars: left edge, right edge, height.
    Bars(Vec<(f64, f64, f64)>),
    /// A map: the ends of both axes, and its pixels.
    Image((f64, f64), (f64, f64), Raster),
    /// A colour in the legend, of a class of a map.
    Swatch(Colour),
}

/// Data with a name and a style.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The name in the legend.
    pub name: Text,
    /// The name in the model.
    pub key: String,
    /// The index of the style.
    pub style: usize,
    /// The data.
    pub plot: Plot,
}

/// A panel.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// The label of the horizontal axis.
    pub x: AxisLabel,
    /// The label of the vertical axis.
    pub y: AxisLabel,
    /// The range of the horizontal axis; that of the data if None.
    pub span: Option<(f64, f64)>,
    /// The range of the vertical axis, to which margins are added; that of the data if None.
    pub rise: Option<(f64, f64)>,
    /// The scale of both axes.
    pub scale: Scale,
    /// Whether the vertical axis includes zero.
    pub zero: bool,
    /// The height at which infinity is shown, above all numbers.
    pub infinity: Option<f64>,
    /// Whether there is a legend.
    pub legend: bool,
    /// The layers, the first one on top.
    pub layers: Vec<Layer>,
    /// Intervals of the horizontal axis with a word each, above the frame.
    pub spans: Vec<(f64, f64, String)>,
    /// Words above the frame; may be empty.
    pub heading: String,
    /// The height as a share of the usual one, if it is another.
    pub share: Option<f64>,
    /// The height as a share of the width, if it follows from that.
    pub aspect: Option<f64>,
    /// The colours of a map of numbers.
    pub bar: Option<Bar>,
    /// Whether each axis of a chart is logarithmic.
    pub log: (bool, bool),
    /// Whether the vertical axis means nothing.
    pub is_strip: bool,
}

/// The colours of a map of numbers.
#[derive(Clone, Debug)]
pub struct Bar {
    /// What the numbers are.
    pub label: String,
    /// The least and the largest.
    pub range: (f64, f64),
    /// Whether colours part at zero.
    pub has_sign: bool,
}

/// The frame of a panel on the sheet.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Panel {
    /// The ranges of the data.
    fn extent(&self) -> ((f64, f64), (f64, f64)) {
        let empty = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut xs, mut ys) = (empty, empty);
        let grow = |range: &mut (f64, f64), v: f64| {
            if v.is_finite() {
                *range = (range.0.min(v), range.1.max(v));
            }
        };
        for layer in &self.layers {
            let mut point = |(x, y): (f64, f64)| {
                grow(&mut xs, x);
                if self.scale == Scale::Linear || y > 0.0 {
                    grow(&mut ys, y);
                }
            };
            match &layer.plot {
                Plot::Curve { pieces, jumps } => {
                    pieces.iter().flatten().copied().for_each(&mut point);
                    jumps.iter().flat_map(|j| [j.1, j.2]).for_each(&mut point);
                }
                Plot::Areas(pieces) | Plot::Lines { pieces, .. } => {
                    pieces.iter().flatten().copied().for_each(&mut point)
                }
                Plot::Marks(_, points) | Plot::Stems(points) | Plot::Points(points) | Plot::Dots(points, _) => {
                    points.iter().copied().for_each(&mut point)
                }
                Plot::Image(across, up, _) => [(across.0, up.0), (across.1, up.1)].into_iter().for_each(&mut point),
                Plot::Swatch(_) => {}
                Plot::Bars(bars) => bars.iter().flat_map(|b| [(b.0, b.2), (b.1, b.2)]).for_each(&mut point),
            }
        }
        if self.zero {
            grow(&mut ys, 0.0);
        }
        (xs, ys)
    }

    /// The ticks of both axes for a frame of this size.
    pub fn ticks(&self, w: f64, h: f64) -> (Ticks, Ticks) {
        let (xs, ys) = self.extent();
        let count = w / 40.0;
        let scale = if self.log.0 { Scale::Log } else { self.scale };
        let x = match (scale, self.span) {
            (Scale::Log, span) => {
                let (a, b) = span.unwrap_or(xs);
                Ticks::log(a, b, count, false)
            }
            (Scale::Linear, Some((a, b))) => Ticks::linear(a, b, count, NO_MARGINS),
            (Scale::Linear, None) => Ticks::linear(xs.0, xs.1, count, MARGINS),
        };
        let rows = (h / 24.0).clamp(2.0, 7.0);
        // Stems, bars and areas stand on the frame if they start from zero.
        let on_frame = self.layers.iter().all(|l| !matches!(l.plot, Plot::Curve { .. })) && ys.0 == 0.0;
        let y = match self.scale {
            Scale::Linear if self.log.1 => Ticks::log(ys.0, ys.1, rows, false),
            Scale::Linear if self.rise.is_some() => {
                let (low, high) = self.rise.unwrap_or(ys);
                Ticks::linear(low, high, rows, MARGINS)
            }
            Scale::Linear if self.layers.iter().any(|l| matches!(l.plot, Plot::Image(..))) => {
                Ticks::linear(ys.0, ys.1, rows, NO_MARGINS)
            }
            Scale::Linear => Ticks::linear(ys.0, ys.1, rows, if on_frame { (0.0, MARGINS.1) } else { MARGINS }),
            Scale::Log => Ticks::log(ys.0, ys.1, rows, true),
        };
        if let Some(top) = self.infinity {
            let is_number = |x: f64| x <= NUMBERS * top;
            let major = y.major.into_iter().filter(|(x, _)| is_number(*x)).chain([(top, Text::plain("∞"))]).collect();
            let minor = y.minor.into_iter().filter(|x| is_number(*x)).collect();
            return (x, Ticks { major, minor, ..y });
        }
        if self.is_strip {
            return (x, Ticks { major: Vec::new(), minor: Vec::new(), ..y });
        }
        (x, y)
    }

    /// The rows of the legend in a given width.
    pub fn legend_rows(&self, w: f64) -> Vec<Vec<&Layer>> {
        let mut rows: Vec<Vec<&Layer>> = Vec::new();
        let mut used = f64::INFINITY;
        for layer in
            self.layers.iter().filter(|l| self.legend && !matches!(l.plot, Plot::Image(..)) && !l.key.is_empty())
        {
            let width = entry_width(layer);
            if used + width > w {
                rows.push(Vec::new());
                used = 0.0;
            }
            used += width;
            if let Some(row) = rows.last_mut() {
                row.push(layer);
            }
        }
        rows
    }

    /// Draws the panel, with its label at `left`; `numbers` is whether the horizontal axis has labels.
    pub fn draw(&self, sheet: &mut Sheet, frame: Frame, left: f64, numbers: bool) {
        let (tx, ty) = self.ticks(frame.w, frame.h);
        let data = vec![("x", plain_text(&self.x)), ("y", plain_text(&self.y))];
        sheet.begin("panel", data);
        let at = |(x, y): (f64, f64)| (frame.x + frame.w * tx.place(x), frame.y + frame.h * (1.0 - ty.place(y)));
        let base = at((tx.range.0, 0.0)).1;
        if ty.scale == Scale::Linear && ty.range.0 < 0.0 && ty.range.1 > 0.0 {
            sheet.line(vec![(frame.x, base), (frame.x + frame.w, base)], Stroke::solid(GREY, 0.4));
        }
        let floor =
            if self.scale == Scale::Linear { base.clamp(frame.y, frame.y + frame.h) } else { frame.y + frame.h };
        let many = self.raster_dots(sheet, frame, &at);
        // Of dots the last group is on top, as on pages.
        let (dots, others): (Vec<&Layer>, Vec<&Layer>) =
            self.layers.iter().partition(|l| matches!(l.plot, Plot::Dots(..)));
        for layer in others.into_iter().rev().chain(dots.into_iter().filter(|_| !many)) {
            sheet.begin("layer", vec![("name", layer.key.clone())]);
            layer.draw(sheet, &at, floor, self.layers.iter().map(Layer::jumps).sum());
            sheet.end();
        }
        self.axes(sheet, frame, left, numbers, &tx, &ty);
        self.spans_above(sheet, frame, &tx);
        self.legend_above(sheet, frame);
        sheet.end();
    }

    /// Draws dots as one image if they are very many; whether it did.
    fn raster_dots(&self, sheet: &mut Sheet, frame: Frame, at: &impl Fn((f64, f64)) -> (f64, f64)) -> bool {
        let dots = |layer: &Layer| match &layer.plot {
            Plot::Dots(points, _) => points.len(),
            _ => 0,
        };
        let count: usize = self.layers.iter().map(dots).sum();
        if count <= MANY {
            return false;
        }
        let (radius, opacity) = match count {
            0..=20_000 => (0.42, 1.0),
            20_001..=60_000 => (0.32, 1.0),
            60_001..=250_000 => (0.22, 0.9),
            _ => (0.14, 0.6),
        };
        let mut canvas = Canvas::new(frame.w, frame.h);
        for layer in &self.layers {
            if let Plot::Dots(points, open) = &layer.plot {
                // (Rings this small are dots that are smaller still: what is below them is seen.)
                let radius = if *open { 0.6 * radius } else { radius };
                for &point in points {
                    let (x, y) = at(point);
                    canvas.disc((x - frame.x, y - frame.y), radius, colour(layer.style), opacity);
                }
            }
        }
        sheet.begin("dots", vec![("count", count.to_string())]);
        sheet.image((frame.x, frame.y), (frame.w, frame.h), canvas.finish(), false);
        sheet.end();
        true
    }

    fn axes(&self, sheet: &mut Sheet, frame: Frame, left: f64, numbers: bool, tx: &Ticks, ty: &Ticks) {
        let Frame { x, y, w, h } = frame;
        let (right, bottom) = (x + w, y + h);
        let thin = || Stroke::solid(BLACK, 0.5);
        sheet.begin("axes", Vec::new());
        sheet.line(vec![(x, y), (right, y), (right, bottom), (x, bottom), (x, y), (right, y)], thin());
        let ticks = |t: &Ticks| {
            let major = t.major.iter().map(|(v, _)| (t.place(*v), 3.2)).collect::<Vec<_>>();
            let all = major.into_iter().chain(t.minor.iter().map(|v| (t.place(*v), 1.6)));
            all.filter(|(p, _)| *p > 1e-6 && *p < 1.0 - 1e-6).collect::<Vec<_>>()
        };
        for (place, length) in ticks(tx) {
            let px = x + w * place;
            sheet.line(vec![(px, bottom), (px, bottom - length)], thin());
            sheet.line(vec![(px, y), (px, y + length)], thin());
        }
        for (place, length) in ticks(ty) {
            let py = bottom - h * place;
            sheet.line(vec![(x, py), (x + length, py)], thin());
            sheet.line(vec![(right, py), (right - length, py)], thin());
        }
        for (v, text) in &ty.major {
            let py = bottom - h * ty.place(*v);
            sheet.text(text.clone(), (x - 3.0, py + TICK_SIZE * 0.35), TICK_SIZE, Anchor::End);
        }
        sheet.upwards(self.y.text(ty.power), (left + SIZE * 0.8, y + h / 2.0), SIZE);
        if numbers {
            for (v, text) in &tx.major {
                let px = x + w * tx.place(*v);
                sheet.text(text.clone(), (px, bottom + TICK_SIZE + 2.2), TICK_SIZE, Anchor::Middle);
            }
            let below = bottom + TICK_SIZE + 2.2 + SIZE + 2.6;
            sheet.text(self.x.text(tx.power), (x + w / 2.0, below), SIZE, Anchor::Middle);
        }
        sheet.end();
    }
}

/// The share of the height of infinity up to which an axis has numbers.
const NUMBERS: f64 = 0.82;
/// More dots than this are drawn as an image.
const MANY: usize = 8000;
/// The length of a line in the legend.
pub const SAMPLE_LENGTH: f64 = 18.0;

pub fn entry_width(layer: &Layer) -> f64 {
    SAMPLE_LENGTH + 3.0 + layer.name.width(TICK_SIZE) + 10.0
}

/// A label as plain text, for programs that read the file.
fn plain_text(label: &AxisLabel) -> String {
    label.text(0).parts.iter().map(|p| p.text.as_str()).collect()
}
