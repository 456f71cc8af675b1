//! A sheet with marks on it: the little that a figure needs, so that three formats are easy to write.
//!
//! Lengths are in points (1/72 inch), x to the right, y down.

use super::font;

/// Points in a millimetre.
pub const MM: f64 = 72.0 / 25.4;

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8);

/// Black, for axes and letters.
pub const BLACK: Colour = Colour(0, 0, 0);
/// White, for what lies on top of lines.
pub const WHITE: Colour = Colour(255, 255, 255);
/// Grey, for what should not draw the eye.
pub const GREY: Colour = Colour(150, 150, 150);

/// How a line is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width.
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

/// Letters of one style.
#[derive(Clone, Debug, PartialEq)]
pub struct Letters {
    /// What they say.
    pub text: String,
    /// Slanted, for a name that is one letter.
    pub italic: bool,
    /// 1 for an exponent, -1 for an index, 0 else.
    pub shift: i8,
}

/// Size of indices and exponents, and how far they are moved, as parts of the size of letters.
pub const SMALL: f64 = 0.72;
/// How far an exponent is raised.
pub const RAISE: f64 = 0.36;
/// How far an index is lowered.
pub const LOWER: f64 = 0.18;

impl Letters {
    /// Their size where the text has size `size`, and how far they are moved up.
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
    /// Its parts.
    pub parts: Vec<Letters>,
}

impl Text {
    /// Upright letters.
    pub fn plain(text: impl Into<String>) -> Self {
        Text::default().then(text, false, 0)
    }

    /// With more letters behind it.
    pub fn then(mut self, text: impl Into<String>, italic: bool, shift: i8) -> Self {
        self.parts.push(Letters { text: text.into(), italic, shift });
        self
    }

    /// With another text behind it.
    pub fn join(mut self, other: Text) -> Self {
        self.parts.extend(other.parts);
        self
    }

    /// How wide it is.
    pub fn width(&self, size: f64) -> f64 {
        self.parts.iter().map(|p| font::width(&p.text, p.italic) * p.placed(size).0).sum()
    }
}

/// Which part of a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A mark on the sheet.
#[derive(Clone, Debug)]
pub enum Mark {
    /// A line through points, or the area inside it.
    Path {
        /// The points.
        points: Vec<(f64, f64)>,
        /// Whether the last is joined to the first.
        closed: bool,
        /// What it is filled with, and how opaque that is.
        fill: Option<(Colour, f64)>,
        /// How its line is drawn.
        stroke: Option<Stroke>,
    },
    /// A disc or a ring.
    Circle {
        /// Its centre.
        centre: (f64, f64),
        /// Its radius.
        radius: f64,
        /// What it is filled with.
        fill: Colour,
        /// Its rim.
        stroke: Option<Stroke>,
    },
    /// A text; turned by a quarter if it runs upwards.
    Text {
        /// What it says.
        text: Text,
        /// Where its base line is.
        at: (f64, f64),
        /// The size of its letters.
        size: f64,
        /// Which part stands there.
        anchor: Anchor,
        /// Whether it runs upwards.
        upwards: bool,
        /// Its colour.
        colour: Colour,
    },
    /// What the marks up to the matching end are: a class, and where it helps the numbers behind it.
    Begin(&'static str, Vec<(&'static str, String)>),
    /// The end of such a group.
    End,
}

/// A sheet.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// What it shows, in a sentence.
    pub title: String,
    /// The marks, from the back to the front.
    pub marks: Vec<Mark>,
}

impl Sheet {
    /// An open line.
    pub fn line(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        self.marks.push(Mark::Path { points, closed: false, fill: None, stroke: Some(stroke) });
    }

    /// A filled area.
    pub fn area(&mut self, points: Vec<(f64, f64)>, colour: Colour, opacity: f64) {
        self.marks.push(Mark::Path { points, closed: true, fill: Some((colour, opacity)), stroke: None });
    }

    /// A disc; a ring if its inside is white.
    pub fn dot(&mut self, centre: (f64, f64), radius: f64, colour: Colour, filled: bool) {
        let stroke = Some(Stroke::solid(colour, (radius * 0.45).min(0.6)));
        self.marks.push(Mark::Circle { centre, radius, fill: if filled { colour } else { WHITE }, stroke });
    }

    /// A text.
    pub fn text(&mut self, text: Text, at: (f64, f64), size: f64, anchor: Anchor) {
        self.marks.push(Mark::Text { text, at, size, anchor, upwards: false, colour: BLACK });
    }

    /// A text that runs upwards.
    pub fn upwards(&mut self, text: Text, at: (f64, f64), size: f64) {
        self.marks.push(Mark::Text { text, at, size, anchor: Anchor::Middle, upwards: true, colour: BLACK });
    }

    /// Opens a group.
    pub fn begin(&mut self, class: &'static str, data: Vec<(&'static str, String)>) {
        self.marks.push(Mark::Begin(class, data));
    }

    /// Closes it.
    pub fn end(&mut self) {
        self.marks.push(Mark::End);
    }
}
