//! Images inside figures: maps, and dots where they are very many.

use super::sheet::Colour;
use std::sync::Arc;

/// An image: rows from the top, red, green, blue and opacity of each pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// Pixels across.
    pub wide: usize,
    /// Pixels down.
    pub high: usize,
    /// The pixels.
    pub rgba: Arc<Vec<u8>>,
}

/// Pixels per point of rasterised dots: 500 per inch.
pub const FINENESS: f64 = 500.0 / 72.0;

/// An image in the making.
pub struct Canvas {
    wide: usize,
    high: usize,
    rgba: Vec<u8>,
}

impl Canvas {
    /// A transparent canvas for an area in points.
    pub fn new(w: f64, h: f64) -> Self {
        let (wide, high) = ((w * FINENESS).ceil().max(1.0) as usize, (h * FINENESS).ceil().max(1.0) as usize);
        Canvas { wide, high, rgba: vec![0; 4 * wide * high] }
    }

    /// Adds a disc at a place in points; `opacity` below 1 adds up where discs overlap.
    pub fn disc(&mut self, (x, y): (f64, f64), radius: f64, colour: Colour, opacity: f64) {
        let (x, y, r) = (x * FINENESS, y * FINENESS, radius * FINENESS);
        let reach = |at: f64, size: usize| {
            let (low, high) = ((at - r).floor().max(0.0), (at + r).ceil().min(size as f64));
            if low < high { low as usize..high as usize } else { 0..0 }
        };
        for row in reach(y, self.high) {
            for column in reach(x, self.wide) {
                let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
                let inside = (r + 0.5 - dx.hypot(dy)).clamp(0.0, 1.0);
                if inside > 0.0 {
                    self.blend(4 * (row * self.wide + column), colour, inside * opacity);
                }
            }
        }
    }

    fn blend(&mut self, at: usize, Colour(r, g, b): Colour, share: f64) {
        let pixel = &mut self.rgba[at..at + 4];
        let under = f64::from(pixel[3]) / 255.0 * (1.0 - share);
        let whole = share + under;
        for (channel, new) in pixel.iter_mut().zip([r, g, b]) {
            *channel = ((f64::from(new) * share + f64::from(*channel) * under) / whole).round() as u8;
        }
        pixel[3] = (255.0 * whole).round() as u8;
    }

    /// The image.
    pub fn finish(self) -> Raster {
        Raster { wide: self.wide, high: self.high, rgba: Arc::new(self.rgba) }
    }
}

impl Raster {
    /// The image as a PNG file.
    pub fn png(&self) -> Option<Vec<u8>> {
        self.pixmap()?.encode_png().ok()
    }

    /// The same for drawing.
    pub fn pixmap(&self) -> Option<tiny_skia::Pixmap> {
        let mut pixmap = tiny_skia::Pixmap::new(u32::try_from(self.wide).ok()?, u32::try_from(self.high).ok()?)?;
        for (out, p) in pixmap.pixels_mut().iter_mut().zip(self.rgba.chunks_exact(4)) {
            *out = tiny_skia::ColorU8::from_rgba(p[0], p[1], p[2], p[3]).premultiply();
        }
        Some(pixmap)
    }
}

/// Bytes in base 64.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0_u32, |w, &b| w << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for k in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * k) & 63) as usize];
            out.push(if k <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_as_everybody_writes_it() {
        assert_eq!(base64(b"saltus"), "c2FsdHVz");
        assert_eq!((base64(b"a").as_str(), base64(b"ab").as_str()), ("YQ==", "YWI="));
    }

    #[test]
    fn discs_cover_what_they_should() {
        let mut canvas = Canvas::new(10.0, 5.0);
        canvas.disc((5.0, 2.5), 1.0, Colour(10, 20, 30), 1.0);
        canvas.disc((-3.0, 80.0), 1.0, Colour(1, 1, 1), 1.0);
        let image = canvas.finish();
        let covered: f64 = image.rgba.chunks_exact(4).map(|p| f64::from(p[3]) / 255.0).sum();
        let area = std::f64::consts::PI * FINENESS * FINENESS;
        assert!((covered / area - 1.0).abs() < 0.2, "{covered} {area}");
        let centre = 4 * (image.high / 2 * image.wide + image.wide / 2);
        assert_eq!(image.rgba[centre..centre + 4], [10, 20, 30, 255]);
    }
}
