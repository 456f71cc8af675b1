//! Writes a sheet as PDF, with embedded fonts, so that text can be searched.

use super::font;
use super::raster::Raster;
use super::sheet::{Anchor, Colour, Mark, Sheet, Stroke, Text};
use pdf_writer::types::{CidFontType, FontFlags, LineJoinStyle, SystemInfo, UnicodeCmap};
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};
use std::collections::BTreeMap;
use ttf_parser::Face;

/// Glyphs are numbered as in the font files.
const SYSTEM_INFO: SystemInfo = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The glyphs that are used, with their characters.
type Used = BTreeMap<u16, char>;

/// The PDF file.
pub fn write(sheet: &Sheet) -> Result<Vec<u8>, String> {
    let mut page = Page {
        content: Content::new(),
        height: sheet.height,
        used: [Used::new(), Used::new()],
        opacities: Vec::new(),
        images: Vec::new(),
    };
    page.content.set_line_join(LineJoinStyle::RoundJoin);
    for mark in &sheet.marks {
        page.mark(mark).ok_or("the embedded font is invalid")?;
    }
    let mut pdf = Pdf::new();
    let (catalog, tree, leaf, stream, info) = (Ref::new(1), Ref::new(2), Ref::new(3), Ref::new(4), Ref::new(5));
    pdf.catalog(catalog).pages(tree);
    pdf.pages(tree).kids([leaf]).count(1);
    pdf.document_info(info).title(TextStr(&sheet.title)).producer(TextStr("Saltus"));
    let first = |italic: usize| 10 + 10 * italic as i32;
    let mut leaf_page = pdf.page(leaf);
    leaf_page.media_box(Rect::new(0.0, 0.0, sheet.width as f32, sheet.height as f32)).parent(tree).contents(stream);
    let mut resources = leaf_page.resources();
    let mut fonts = resources.fonts();
    for italic in 0..2 {
        if !page.used[italic].is_empty() {
            fonts.pair(Name(NAMES[italic].0), Ref::new(first(italic)));
        }
    }
    fonts.finish();
    let mut states = resources.ext_g_states();
    for (k, opacity) in page.opacities.iter().enumerate() {
        states
            .insert(Name(format!("A{k}").as_bytes()))
            .start::<pdf_writer::writers::ExtGraphicsState>()
            .non_stroking_alpha(*opacity as f32);
    }
    states.finish();
    let image_ref = |k: usize| (Ref::new(100 + 2 * k as i32), Ref::new(101 + 2 * k as i32));
    let mut objects = resources.x_objects();
    for k in 0..page.images.len() {
        objects.pair(Name(format!("I{k}").as_bytes()), image_ref(k).0);
    }
    objects.finish();
    resources.finish();
    leaf_page.finish();
    pdf.stream(stream, &compressed(&page.content.finish())).filter(Filter::FlateDecode);
    for (k, (raster, sharp)) in page.images.iter().enumerate() {
        embed_image(&mut pdf, raster, *sharp, image_ref(k));
    }
    for italic in 0..2 {
        if let (false, Some(face)) = (page.used[italic].is_empty(), font::face(italic == 1)) {
            embed(&mut pdf, face, italic, first(italic), &page.used[italic]);
        }
    }
    Ok(pdf.finish())
}

/// The name of each face as a resource of the page and as a font.
const NAMES: [(&[u8], &[u8]); 2] = [(b"F0", b"NotoSans-Regular"), (b"F1", b"NotoSans-Italic")];

fn compressed(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
}

/// Embeds an image, its opacity as a mask.
fn embed_image(pdf: &mut Pdf, raster: &Raster, sharp: bool, (colours, mask): (Ref, Ref)) {
    let (wide, high) = (raster.wide as i32, raster.high as i32);
    let rgb: Vec<u8> = raster.rgba.chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    let opacity: Vec<u8> = raster.rgba.chunks_exact(4).map(|p| p[3]).collect();
    let rgb = compressed(&rgb);
    let mut image = pdf.image_xobject(colours, &rgb);
    image.filter(Filter::FlateDecode);
    image.width(wide).height(high).interpolate(!sharp);
    image.color_space().device_rgb();
    image.bits_per_component(8).s_mask(mask);
    image.finish();
    let opacity = compressed(&opacity);
    let mut image = pdf.image_xobject(mask, &opacity);
    image.filter(Filter::FlateDecode);
    image.width(wide).height(high);
    image.color_space().device_gray();
    image.bits_per_component(8);
    image.finish();
}

/// Embeds a font: the widths and characters of the used glyphs, and the font file.
fn embed(pdf: &mut Pdf, face: &Face, italic: usize, first: i32, used: &Used) {
    let [font, descendant, descriptor, unicode, file] = [0, 1, 2, 3, 4].map(|k| Ref::new(first + k));
    let name = Name(NAMES[italic].1);
    pdf.type0_font(font)
        .base_font(name)
        .encoding_predefined(Name(b"Identity-H"))
        .descendant_font(descendant)
        .to_unicode(unicode);
    let scale = 1000.0 / f32::from(face.units_per_em());
    let mut cid = pdf.cid_font(descendant);
    cid.subtype(CidFontType::Type2).base_font(name).system_info(SYSTEM_INFO).font_descriptor(descriptor);
    cid.default_width(0.0).cid_to_gid_map_predefined(Name(b"Identity"));
    let mut widths = cid.widths();
    for &glyph in used.keys() {
        widths.consecutive(glyph, [font::advance(face, ttf_parser::GlyphId(glyph)) as f32 * 1000.0]);
    }
    widths.finish();
    cid.finish();
    let b = face.global_bounding_box();
    let corner = |x: i16| f32::from(x) * scale;
    let flags = FontFlags::NON_SYMBOLIC | if italic == 1 { FontFlags::ITALIC } else { FontFlags::empty() };
    pdf.font_descriptor(descriptor)
        .name(name)
        .flags(flags)
        .bbox(Rect::new(corner(b.x_min), corner(b.y_min), corner(b.x_max), corner(b.y_max)))
        .italic_angle(if italic == 1 { -12.0 } else { 0.0 })
        .ascent(corner(face.ascender()))
        .descent(corner(face.descender()))
        .cap_height(corner(face.capital_height().unwrap_or(face.ascender())))
        .stem_v(80.0)
        .font_file2(file);
    let mut map = UnicodeCmap::new(Name(b"Saltus"), SYSTEM_INFO);
    used.iter().for_each(|(&glyph, &c)| map.pair(glyph, c));
    pdf.cmap(unicode, &map.finish());
    let bytes = font::bytes(italic == 1);
    pdf.stream(file, &compressed(bytes)).filter(Filter::FlateDecode).pair(Name(b"Length1"), bytes.len() as i32);
}

struct Page {
    content: Content,
    height: f64,
    used: [Used; 2],
    opacities: Vec<f64>,
    images: Vec<(Raster, bool)>,
}

impl Page {
    /// Writes a mark; None if the embedded font is invalid.
    fn mark(&mut self, mark: &Mark) -> Option<()> {
        match mark {
            Mark::Path { points, closed, fill, stroke } => {
                self.content.save_state();
                self.set_style(fill.map(|f| f.0), stroke.as_ref());
                if let Some((_, opacity)) = fill
                    && *opacity < 1.0
                {
                    self.set_opacity(*opacity);
                }
                for (k, &at) in points.iter().enumerate() {
                    let (x, y) = self.at(at);
                    match k {
                        0 => self.content.move_to(x, y),
                        _ => self.content.line_to(x, y),
                    };
                }
                if *closed {
                    self.content.close_path();
                }
                self.paint(fill.is_some(), stroke.is_some());
            }
            Mark::Circle { centre, radius, fill, stroke } => {
                self.content.save_state();
                self.set_style(*fill, stroke.as_ref());
                self.circle(*centre, *radius);
                self.paint(fill.is_some(), stroke.is_some());
            }
            Mark::Text { text, at, size, anchor, upwards, colour } => {
                self.text(text, *at, *size, *anchor, *upwards, *colour)?;
            }
            Mark::Image { at, size, raster, sharp } => {
                let name = format!("I{}", self.images.len());
                let (x, y) = self.at((at.0, at.1 + size.1));
                self.content.save_state();
                self.content.transform([size.0 as f32, 0.0, 0.0, size.1 as f32, x, y]);
                self.content.x_object(Name(name.as_bytes()));
                self.content.restore_state();
                self.images.push((raster.clone(), *sharp));
            }
            Mark::Begin(..) | Mark::End => {}
        }
        Some(())
    }

    fn at(&self, (x, y): (f64, f64)) -> (f32, f32) {
        (hundredth(x), hundredth(self.height - y))
    }

    fn set_style(&mut self, fill: Option<Colour>, stroke: Option<&Stroke>) {
        if let Some(colour) = fill {
            let [r, g, b] = rgb(colour);
            self.content.set_fill_rgb(r, g, b);
        }
        if let Some(stroke) = stroke {
            let [r, g, b] = rgb(stroke.colour);
            self.content.set_stroke_rgb(r, g, b).set_line_width(stroke.width as f32);
            self.content.set_dash_pattern(stroke.dash.iter().map(|&d| d as f32), 0.0);
        }
    }

    fn set_opacity(&mut self, opacity: f64) {
        let k = self.opacities.iter().position(|&o| o == opacity).unwrap_or_else(|| {
            self.opacities.push(opacity);
            self.opacities.len() - 1
        });
        self.content.set_parameters(Name(format!("A{k}").as_bytes()));
    }

    fn paint(&mut self, fill: bool, stroke: bool) {
        match (fill, stroke) {
            (true, true) => self.content.fill_nonzero_and_stroke(),
            (true, false) => self.content.fill_nonzero(),
            (false, true) => self.content.stroke(),
            (false, false) => self.content.end_path(),
        };
        self.content.restore_state();
    }

    /// Four cubic arcs.
    fn circle(&mut self, (x, y): (f64, f64), r: f64) {
        let k = 0.552_284_75 * r;
        let (x0, y0) = self.at((x + r, y));
        self.content.move_to(x0, y0);
        let arcs = [
            [(x + r, y + k), (x + k, y + r), (x, y + r)],
            [(x - k, y + r), (x - r, y + k), (x - r, y)],
            [(x - r, y - k), (x - k, y - r), (x, y - r)],
            [(x + k, y - r), (x + r, y - k), (x + r, y)],
        ];
        for arc in arcs {
            let [(x1, y1), (x2, y2), (x3, y3)] = arc.map(|p| self.at(p));
            self.content.cubic_to(x1, y1, x2, y2, x3, y3);
        }
        self.content.close_path();
    }

    fn text(
        &mut self,
        text: &Text,
        at: (f64, f64),
        size: f64,
        anchor: Anchor,
        upwards: bool,
        colour: Colour,
    ) -> Option<()> {
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => text.width(size) / 2.0,
            Anchor::End => text.width(size),
        };
        let place = if upwards { (at.0, at.1 + back) } else { (at.0 - back, at.1) };
        let (x, y) = self.at(place);
        let [r, g, b] = rgb(colour);
        self.content.begin_text().set_fill_rgb(r, g, b);
        let turned = if upwards { [0.0, 1.0, -1.0, 0.0, x, y] } else { [1.0, 0.0, 0.0, 1.0, x, y] };
        self.content.set_text_matrix(turned);
        for part in &text.parts {
            let face = font::face(part.italic)?;
            let (own, up) = part.placed(size);
            let which = usize::from(part.italic);
            let mut shown = Vec::new();
            for c in part.text.chars() {
                let glyph = font::glyph(face, c).0;
                self.used[which].insert(glyph, c);
                shown.extend(glyph.to_be_bytes());
            }
            self.content.set_font(Name(NAMES[which].0), own as f32).set_rise(up as f32).show(Str(&shown));
        }
        self.content.end_text();
        Some(())
    }
}

fn rgb(Colour(r, g, b): Colour) -> [f32; 3] {
    [r, g, b].map(|c| f32::from(c) / 255.0)
}

/// Rounds to a hundredth of a point, which keeps the file small.
fn hundredth(x: f64) -> f32 {
    ((x * 100.0).round() / 100.0) as f32
}
