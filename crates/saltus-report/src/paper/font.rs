//! The font of figures: Noto Sans, embedded, so that figures look the same on every machine.

use std::sync::LazyLock;
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The font family of SVG files, in which text stays text.
pub const FAMILY: &str = "'Noto Sans', 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// The font file.
pub fn bytes(italic: bool) -> &'static [u8] {
    if italic { notosans::ITALIC_TTF } else { notosans::REGULAR_TTF }
}

static FACES: LazyLock<[Option<Face<'static>>; 2]> =
    LazyLock::new(|| [false, true].map(|italic| Face::parse(bytes(italic), 0).ok()));

/// The upright or the italic face; None if the embedded file is invalid, which a test rules out.
pub fn face(italic: bool) -> Option<&'static Face<'static>> {
    FACES[usize::from(italic)].as_ref()
}

/// The glyph of a character; a box if the font does not have it.
pub fn glyph(face: &Face, c: char) -> GlyphId {
    face.glyph_index(c).unwrap_or(GlyphId(0))
}

/// The advance of a glyph at font size one.
pub fn advance(face: &Face, glyph: GlyphId) -> f64 {
    f64::from(face.glyph_hor_advance(glyph).unwrap_or(500)) / f64::from(face.units_per_em())
}

/// The width of a text at font size one.
pub fn width(text: &str, italic: bool) -> f64 {
    match face(italic) {
        Some(face) => text.chars().map(|c| advance(face, glyph(face, c))).sum(),
        None => 0.55 * text.chars().count() as f64,
    }
}

/// Draws the outline of a glyph; coordinates are in font units, y up.
pub fn outline(face: &Face, glyph: GlyphId, builder: &mut dyn OutlineBuilder) {
    let _ = face.outline_glyph(glyph, builder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_the_characters_of_figures() {
        for italic in [false, true] {
            let face = face(italic).expect("a face");
            for c in "abcxyzθφωαβγλμΔΩ0123456789−·×′()[],.²³∞".chars() {
                assert_ne!(glyph(face, c).0, 0, "{c}");
            }
        }
        assert!((width("00", false) - 2.0 * width("0", false)).abs() < 1e-12 && width("0", false) > 0.5);
    }
}
