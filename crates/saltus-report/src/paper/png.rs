//! Writes a sheet as PNG.

use super::font;
use super::sheet::{Anchor, Colour, Mark, Sheet, Stroke, Text};
use tiny_skia::{
    FillRule, FilterQuality, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

/// The largest image, in pixels, which bounds the memory needed.
const MAX_PIXELS: f64 = 2.0e8;

/// The PNG file, with `dpi` pixels per inch.
pub fn write(sheet: &Sheet, dpi: f64) -> Result<Vec<u8>, String> {
    let scale = dpi / 72.0;
    let (w, h) = ((sheet.width * scale).round().max(1.0), (sheet.height * scale).round().max(1.0));
    let too_large = || format!("an image of {w} × {h} pixels is too large");
    if !(w * h <= MAX_PIXELS) {
        return Err(too_large());
    }
    let mut image = Pixmap::new(w as u32, h as u32).ok_or_else(too_large)?;
    image.fill(tiny_skia::Color::WHITE);
    let transform = Transform::from_scale(scale as f32, scale as f32);
    for mark in &sheet.marks {
        match mark {
            Mark::Path { points, closed, fill, stroke } => {
                let Some(path) = path(points, *closed) else { continue };
                if let Some((colour, opacity)) = fill {
                    image.fill_path(&path, &paint(*colour, *opacity), FillRule::Winding, transform, None);
                }
                draw(&mut image, &path, stroke.as_ref(), transform);
            }
            Mark::Circle { centre, radius, fill, stroke } => {
                let Some(path) = PathBuilder::from_circle(centre.0 as f32, centre.1 as f32, *radius as f32) else {
                    continue;
                };
                if let Some(fill) = fill {
                    image.fill_path(&path, &paint(*fill, 1.0), FillRule::Winding, transform, None);
                }
                draw(&mut image, &path, stroke.as_ref(), transform);
            }
            Mark::Text { text, at, size, anchor, upwards, colour } => {
                if let Some(path) = outlines(text, *size, *anchor) {
                    let turned = if *upwards { Transform::from_rotate(-90.0) } else { Transform::identity() };
                    let placed = turned.post_translate(at.0 as f32, at.1 as f32).post_concat(transform);
                    image.fill_path(&path, &paint(*colour, 1.0), FillRule::Winding, placed, None);
                }
            }
            Mark::Image { at, size, raster, sharp } => {
                let Some(pixels) = raster.pixmap() else { continue };
                let stretch =
                    Transform::from_scale((size.0 / raster.wide as f64) as f32, (size.1 / raster.high as f64) as f32);
                let placed = stretch.post_translate(at.0 as f32, at.1 as f32).post_concat(transform);
                let quality = if *sharp { FilterQuality::Nearest } else { FilterQuality::Bicubic };
                let paint = PixmapPaint { quality, ..PixmapPaint::default() };
                image.draw_pixmap(0, 0, pixels.as_ref(), &paint, placed, None);
            }
            Mark::Begin(..) | Mark::End => {}
        }
    }
    let encoded = image.encode_png().map_err(|e| e.to_string())?;
    Ok(with_resolution(encoded, dpi))
}

fn path(points: &[(f64, f64)], closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (k, (x, y)) in points.iter().enumerate() {
        match k {
            0 => builder.move_to(*x as f32, *y as f32),
            _ => builder.line_to(*x as f32, *y as f32),
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

fn paint(Colour(r, g, b): Colour, opacity: f64) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, (opacity * 255.0).round() as u8);
    paint
}

fn draw(image: &mut Pixmap, path: &Path, stroke: Option<&Stroke>, transform: Transform) {
    let Some(stroke) = stroke else { return };
    let pen = tiny_skia::Stroke {
        width: stroke.width as f32,
        line_join: LineJoin::Round,
        dash: StrokeDash::new(stroke.dash.iter().map(|&d| d as f32).collect(), 0.0),
        ..tiny_skia::Stroke::default()
    };
    image.stroke_path(path, &paint(stroke.colour, 1.0), &pen, transform, None);
}

/// The outlines of a text, anchored at the origin.
fn outlines(text: &Text, size: f64, anchor: Anchor) -> Option<Path> {
    let width = text.width(size);
    let mut x = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    let mut pen = Pen { builder: PathBuilder::new(), x: 0.0, y: 0.0, scale: 1.0 };
    for part in &text.parts {
        let face = font::face(part.italic)?;
        let (own, up) = part.placed(size);
        pen.scale = (own / f64::from(face.units_per_em())) as f32;
        pen.y = -up as f32;
        for c in part.text.chars() {
            let glyph = font::glyph(face, c);
            pen.x = x as f32;
            font::outline(face, glyph, &mut pen);
            x += font::advance(face, glyph) * own;
        }
    }
    pen.builder.finish()
}

/// Moves and scales the outlines of glyphs to their places on the baseline.
struct Pen {
    builder: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.move_to(x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.builder.line_to(x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }
    fn close(&mut self) {
        self.builder.close();
    }
}

/// The length of the header of a PNG file: 8 bytes of signature, 25 of the first chunk.
const HEADER: usize = 33;

/// Adds the resolution to the file, so that other programs show it at its true size.
fn with_resolution(mut png: Vec<u8>, dpi: f64) -> Vec<u8> {
    let per_metre = ((dpi / 0.0254).round() as u32).to_be_bytes();
    let mut chunk = b"pHYs".to_vec();
    chunk.extend(per_metre);
    chunk.extend(per_metre);
    chunk.push(1);
    let sum = checksum(&chunk).to_be_bytes();
    let whole = 9_u32.to_be_bytes().into_iter().chain(chunk).chain(sum);
    if png.len() >= HEADER {
        png.splice(HEADER..HEADER, whole);
    }
    png
}

/// CRC-32 as in the PNG standard, bit by bit, which is fast enough for thirteen bytes.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &b| {
        (0..8).fold(crc ^ u32::from(b), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_is_crc_32() {
        assert_eq!(super::checksum(b"123456789"), 0xcbf4_3926);
    }
}
