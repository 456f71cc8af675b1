//! A sheet of lines, circles and text: few primitives, so that three file formats are easy to write.
//!
//! Lengths are in points (1/72 inch), x to the right, y down.

use super::font;
use super::raster::Raster;

/// Points per millimetre.
pub const MM: f64 = 72.0 / 25.4;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Black, for axes and text.
pub const BLACK: Colour = Colour(0, 0, 0);
/// White, for the inside of open circles.
pub const WHITE: Colour = Colour(255, 255, 255);
/// Grey, for the zero line.
pub const GREY: Colour = Colour(150, 150, 150);

/// The style of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// The colour.
    pub colour: Colour,
    /// The width.
    pub width: f64,
    /// Lengths of dashes and gaps; empty for a solid line.
    pub dash: &'static [f64],
}

impl Stroke {
    /// A solid line.
    pub fn solid(colour: Colour, width: f64) -> Self {
        Stroke { colour, width, dash: &[] }
    }
}

/// Text of one style.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Whether it is in italics.
    pub italic: bool,
    /// 1 for a superscript, -1 for a subscript, 0 otherwise.
    pub shift: i8,
}

/// The size of superscripts and subscripts, as a fraction of the font size.
pub const SMALL: f64 = 0.72;
/// The rise of a superscript.
pub const RAISE: f64 = 0.36;
/// The drop of a subscript.
pub const LOWER: f64 = 0.18;

impl Span {
    /// The font size and the rise, for text of size `size`.
    pub fn placed(&self, size: f64) -> (f64, f64) {
        match self.shift {
            0 => (size, 0.0),
            s if s > 0 => (size * SMALL, size * RAISE),
            _ => (size * SMALL, -size * LOWER),
        }
    }
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    /// The spans.
    pub parts: Vec<Span>,
}

impl Text {
    /// Upright text.
    pub fn plain(text: impl Into<String>) -> Self {
        Text::default().then(text, false, 0)
    }

    /// Appends text.
    pub fn then(mut self, text: impl Into<String>, italic: bool, shift: i8) -> Self {
        self.parts.push(Span { text: text.into(), italic, shift });
        self
    }

    /// Appends another text.
    pub fn join(mut self, other: Text) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// The width at a font size.
    pub fn width(&self, size: f64) -> f64 {
        self.parts.iter().map(|p| font::width(&p.text, p.italic) * p.placed(size).0).sum()
    }
}

/// The anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A mark on the sheet.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A line through points, or a filled area.
    Path {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Whether the last point is joined to the first.
        closed: bool,
        /// The fill and its opacity.
        fill: Option<(Colour, f64)>,
        /// The outline.
        stroke: Option<Stroke>,
    },
    /// A circle.
    Circle {
        /// The centre.
        centre: (f64, f64),
        /// The radius.
        radius: f64,
        /// The fill; what lies below is seen through a circle without.
        fill: Option<Colour>,
        /// The outline.
        stroke: Option<Stroke>,
    },
    /// A text.
    Text {
        /// The text.
        text: Text,
        /// The position of the anchor on the baseline.
        at: (f64, f64),
        /// The font size.
        size: f64,
        /// The anchor.
        anchor: Anchor,
        /// Whether it is rotated to run upwards.
        upwards: bool,
        /// The colour.
        colour: Colour,
    },
    /// An image.
    Image {
        /// Its upper left corner.
        at: (f64, f64),
        /// Its width and height.
        size: (f64, f64),
        /// Its pixels.
        raster: Raster,
        /// Whether pixels have sharp edges: those of a map do.
        sharp: bool,
    },
    /// The start of a group: its class and its data, for programs that read the file.
    Begin(&'static str, Vec<(&'static str, String)>),
    /// The end of a group.
    End,
}

/// A drawing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Sheet {
    /// The width, in points (1/72 inch).
    pub width: f64,
    /// The height, in points.
    pub height: f64,
    /// The title.
    pub title: String,
    /// The marks, from back to front.
    pub marks: Vec<Mark>,
}

impl Sheet {
    /// Adds an open line.
    pub fn line(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        self.marks.push(Mark::Path { points, closed: false, fill: None, stroke: Some(stroke) });
    }

    /// Adds a filled area.
    pub fn area(&mut self, points: Vec<(f64, f64)>, colour: Colour, opacity: f64) {
        self.marks.push(Mark::Path { points, closed: true, fill: Some((colour, opacity)), stroke: None });
    }

    /// Adds a filled or an open circle.
    pub fn dot(&mut self, centre: (f64, f64), radius: f64, colour: Colour, filled: bool) {
        let stroke = Some(Stroke::solid(colour, (radius * 0.45).min(0.6)));
        self.marks.push(Mark::Circle { centre, radius, fill: Some(if filled { colour } else { WHITE }), stroke });
    }

    /// Adds a ring, through which what lies below is seen.
    pub fn ring(&mut self, centre: (f64, f64), radius: f64, colour: Colour, width: f64) {
        self.marks.push(Mark::Circle { centre, radius, fill: None, stroke: Some(Stroke::solid(colour, width)) });
    }

    /// Adds an image.
    pub fn image(&mut self, at: (f64, f64), size: (f64, f64), raster: Raster, sharp: bool) {
        self.marks.push(Mark::Image { at, size, raster, sharp });
    }

    /// Adds text.
    pub fn text(&mut self, text: Text, at: (f64, f64), size: f64, anchor: Anchor) {
        self.marks.push(Mark::Text { text, at, size, anchor, upwards: false, colour: BLACK });
    }

    /// Adds text that runs upwards.
    pub fn upwards(&mut self, text: Text, at: (f64, f64), size: f64) {
        self.marks.push(Mark::Text { text, at, size, anchor: Anchor::Middle, upwards: true, colour: BLACK });
    }

    /// Starts a group.
    pub fn begin(&mut self, class: &'static str, data: Vec<(&'static str, String)>) {
        self.marks.push(Mark::Begin(class, data));
    }

    /// Ends a group.
    pub fn end(&mut self) {
        self.marks.push(Mark::End);
    }
}
