//! The letters of figures: Noto Sans, carried along, so that a figure is the same on every machine.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The name that formats with fonts of their own are told.
pub const FAMILY: &str = "'Noto Sans', 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// The file of a face.
pub fn bytes(italic: bool) -> &'static [u8] {
    if italic { notosans::ITALIC_TTF } else { notosans::REGULAR_TTF }
}

static FACES: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| [false, true].map(|italic| Face::parse(bytes(italic), 0).ok()));

/// A face. Always there, since its file is part of the program.
pub fn face(italic: bool) -> Option<&'static Face<'static>> {
    FACES[usize::from(italic)].as_ref()
}

/// The glyph of a character; a box for what the face does not have.
pub fn glyph(face: &Face, c: char) -> GlyphId {
    face.glyph_index(c).unwrap_or(GlyphId(0))
}

/// How far a glyph advances, for letters of size one.
pub fn advance(face: &Face, glyph: GlyphId) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(500)) / f64::from(face.units_per_em())
}

/// How wide a text is, for letters of size one.
pub fn width(text: &str, italic: bool) -> f64 {
    match face(italic) {
        Some(face) => text.chars().map(|c| advance(face, glyph(face, c))).sum(),
        None => 0.55 * text.chars().count() as f64,
    }
}

/// Draws a glyph's outline; coordinates are in units of the face, y up.
pub fn outline(face: &Face, glyph: GlyphId, builder: &mut dyn OutlineBuilder) {
    let _ = face.outline_glyph(glyph, builder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_that_figures_need_are_there() {
        for italic in [false, true] {
            let face = face(italic).expect("a face");
            for c in "abcxyzθφωαβγλμΔΩ0123456789−·×′()[],.²³".chars() {
                assert_ne!(glyph(face, c).0, 0, "{c}");
            }
        }
        assert!((width("00", false) - 2.0 * width("0", false)).abs() < 1e-12 && width("0", false) > 0.5);
    }
}
