//! Writes a sheet as SVG. Text stays text.

use super::font;
use super::raster::base64;
use super::sheet::{Anchor, Colour, MM, Mark, Sheet, Stroke, Text};
use crate::text::{decimals, escape};
use std::fmt::Write;

/// The SVG file.
pub fn write(sheet: &Sheet) -> String {
    let mut out = String::new();
    let (w, h) = (sheet.width, sheet.height);
    let _ = write!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}mm\" height=\"{}mm\" \
         viewBox=\"0 0 {} {}\" font-family=\"{}\">\n<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        short(w / MM),
        short(h / MM),
        short(w),
        short(h),
        font::FAMILY,
        escape(&sheet.title)
    );
    for mark in &sheet.marks {
        write_mark(&mut out, mark);
    }
    out.push_str("</svg>\n");
    out
}

fn write_mark(out: &mut String, mark: &Mark) {
    let _ = match mark {
        Mark::Path { points, closed, fill, stroke } => {
            let mut d = String::with_capacity(points.len() * 14);
            for (k, (x, y)) in points.iter().enumerate() {
                let _ = write!(d, "{}{} {}", if k == 0 { 'M' } else { 'L' }, short(*x), short(*y));
            }
            if *closed {
                d.push('Z');
            }
            writeln!(out, "<path d=\"{d}\"{}{}/>", filled(*fill), stroked(stroke.as_ref()))
        }
        Mark::Circle { centre, radius, fill, stroke } => writeln!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}/>",
            short(centre.0),
            short(centre.1),
            short(*radius),
            filled(fill.map(|colour| (colour, 1.0))),
            stroked(stroke.as_ref())
        ),
        Mark::Text { text, at, size, anchor, upwards, colour } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn = if *upwards {
                format!(" transform=\"rotate(-90 {} {})\"", short(at.0), short(at.1))
            } else {
                String::new()
            };
            writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{turn}>{}</text>",
                short(at.0),
                short(at.1),
                short(*size),
                hex(*colour),
                spans(text, *size)
            )
        }
        Mark::Image { at, size, raster, sharp } => match raster.png() {
            Some(png) => writeln!(
                out,
                "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\"{} \
                 href=\"data:image/png;base64,{}\"/>",
                short(at.0),
                short(at.1),
                short(size.0),
                short(size.1),
                if *sharp { " style=\"image-rendering:pixelated\"" } else { "" },
                base64(&png)
            ),
            None => Ok(()),
        },
        Mark::Begin(class, data) => {
            let data: String = data.iter().map(|(k, v)| format!(" data-{k}=\"{}\"", escape(v))).collect();
            writeln!(out, "<g class=\"{class}\"{data}>")
        }
        Mark::End => writeln!(out, "</g>"),
    };
}

fn spans(text: &Text, size: f64) -> String {
    let mut out = String::new();
    let mut height = 0.0;
    for part in &text.parts {
        let (own, up) = part.placed(size);
        if !part.italic && part.shift == 0 && height == 0.0 {
            out.push_str(&escape(&part.text));
            continue;
        }
        let italic = if part.italic { " font-style=\"italic\"" } else { "" };
        let smaller = if part.shift != 0 { format!(" font-size=\"{}\"", short(own)) } else { String::new() };
        let moved = if up != height { format!(" dy=\"{}\"", short(height - up)) } else { String::new() };
        height = up;
        let _ = write!(out, "<tspan{italic}{smaller}{moved}>{}</tspan>", escape(&part.text));
    }
    out
}

fn filled(fill: Option<(Colour, f64)>) -> String {
    match fill {
        None => " fill=\"none\"".into(),
        Some((colour, 1.0)) => format!(" fill=\"{}\"", hex(colour)),
        Some((colour, opacity)) => format!(" fill=\"{}\" fill-opacity=\"{}\"", hex(colour), short(opacity)),
    }
}

fn stroked(stroke: Option<&Stroke>) -> String {
    let Some(stroke) = stroke else { return String::new() };
    let dash: Vec<String> = stroke.dash.iter().map(|d| short(*d)).collect();
    let dash = if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{}\"", dash.join(" ")) };
    let (colour, width) = (hex(stroke.colour), short(stroke.width));
    format!(" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash}")
}

fn hex(Colour(r, g, b): Colour) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A length in points, to a hundredth, which is finer than any printer.
fn short(x: f64) -> String {
    decimals(x, 2)
}
