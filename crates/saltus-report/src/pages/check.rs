//! The page of a model check: findings, theorems and the kinetic angle of each pair of constraints.

use super::Report;
use crate::html::{Cell, table};
use crate::page::Page;
use crate::text::{escape, number};
use saltus::analysis::{Check, Pair, Verdict};
use std::fmt::Write;

/// The contents of the page of a model check.
pub type CheckReport<'a> = Report<'a, Check>;

/// The largest number of angles drawn.
const MAX_ANGLES: usize = 40;

/// Creates the page of a model check.
#[must_use]
pub fn check(report: &CheckReport) -> Page {
    let (model, found) = (report.model, report.found);
    let mut page = Page::new(&model.title, &format!("model check, {} points sampled", found.points), &report.origin);
    page.section("findings", "Findings");
    if found.stopped {
        page.list("warning", ["The check was interrupted before it was complete.".to_string()]);
    }
    for (verdict, kind) in [(Verdict::Bad, "warning"), (Verdict::Good, "good"), (Verdict::Note, "note")] {
        let of = found.findings.iter().filter(|f| f.verdict == verdict);
        page.list(kind, of.map(|f| format!("{}: {}", f.topic, f.text)));
    }
    page.section("theorems", "Theorems");
    let heads = ["", "scheme", "source", "guarantee, or unmet conditions"];
    let rows = found.theorems.iter().map(|t| {
        let (mark, text) =
            if t.covers { ("applies", t.gives.to_string()) } else { ("does not apply", t.fails.join("; ")) };
        vec![Cell::text(mark), Cell::text(t.scheme), Cell::text(t.source), Cell::text(text)]
    });
    page.raw(&table("theorem-table", &heads, rows, false));
    page.list("warning", found.uncovered.clone());
    page.section("angles", "Kinetic angles");
    if found.pairs.is_empty() {
        page.say("No point with two active constraints was found.");
    }
    let mut drawings = String::from("<div class=\"angles\">");
    for pair in found.pairs.iter().take(MAX_ANGLES) {
        let names = [pair.pair.0, pair.pair.1].map(|a| model.constraints[a].name.as_str());
        drawings.push_str(&angle_drawing(names, pair));
    }
    drawings.push_str("</div>\n");
    page.raw(&drawings);
    if found.pairs.len() > MAX_ANGLES {
        page.say(&format!("Showing the first {MAX_ANGLES} of {} pairs.", found.pairs.len()));
    }
    if !found.pairs.is_empty() {
        page.say(
            "Each drawing shows the admissible set K near a point where two constraints are active. Lengths and angles are those \
             of the kinetic metric, in which the impact law projects velocities.",
        );
    }
    page.close();
    page
}

/// The angle between two constraints, as an SVG drawing.
fn angle_drawing(names: [&str; 2], pair: &Pair) -> String {
    let (cx, cy, reach) = (110.0, 120.0, 95.0);
    // The angle opens upwards and is symmetric about the vertical.
    let end = |angle: f64| {
        let half = 0.5 * angle.to_radians();
        [(cx - reach * half.sin(), cy - reach * half.cos()), (cx + reach * half.sin(), cy - reach * half.cos())]
    };
    let angle = pair.widest;
    let [(x1, y1), (x2, y2)] = end(angle);
    let large = u8::from(angle > 180.0);
    let kind = if pair.continuous { "good" } else { "warning" };
    let mut out = format!(
        "<figure class=\"angle {kind}\"><svg viewBox=\"0 0 220 190\" role=\"img\"><path class=\"inside\" d=\"M{cx} {cy} L{x1:.1} \
         {y1:.1} A{reach} {reach} 0 {large} 1 {x2:.1} {y2:.1} Z\"/><path class=\"boundary\" d=\"M{x1:.1} {y1:.1} L{cx} {cy} L{x2:.1} \
         {y2:.1}\"/>"
    );
    let varies = (pair.widest - pair.narrowest) > 0.01;
    if varies {
        let [(a, b), (c, d)] = end(pair.narrowest);
        let _ = write!(out, "<path class=\"narrowest\" d=\"M{a:.1} {b:.1} L{cx} {cy} L{c:.1} {d:.1}\"/>");
    }
    let shown = match varies {
        true => format!("{}° … {}°", number(pair.narrowest, 4), number(pair.widest, 4)),
        false => format!("{}°", number(angle, 4)),
    };
    let consequence = match pair.continuous {
        true => "the motion depends continuously on the data",
        false => "continuous dependence on the data is not guaranteed",
    };
    let _ = write!(
        out,
        "<text x=\"{cx}\" y=\"{:.0}\" text-anchor=\"middle\" class=\"value\">{shown}</text></svg><figcaption><b>{}</b> and \
         <b>{}</b>, found {} times in {} starts: {consequence}.</figcaption></figure>",
        cy + 30.0,
        escape(names[0]),
        escape(names[1]),
        pair.found,
        pair.starts
    );
    out
}
