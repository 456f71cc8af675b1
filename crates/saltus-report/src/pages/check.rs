//! The page of a check: findings, theorems, and the wedge of each pair of constraints with its kinetic angle.

use crate::html::{Cell, escape, number, table};
use crate::page::{Origin, Page};
use saltus::Model;
use saltus::analysis::{Check, Pair, Verdict};
use std::fmt::Write;

/// All that the page of a check shows.
pub struct CheckReport<'a> {
    /// The model.
    pub model: &'a Model,
    /// Where it comes from.
    pub origin: Origin,
    /// What was found.
    pub found: &'a Check,
}

/// Wedges drawn, at most.
const MOST: usize = 40;

/// Makes the page of a check.
pub fn check(report: &CheckReport) -> Page {
    let (model, found) = (report.model, report.found);
    let mut page = Page::new(
        &model.title,
        &format!("what can be said before any run; {} points looked at", found.points),
        &report.origin,
    );
    page.section("findings", "Findings");
    if found.stopped {
        page.list("warning", ["interrupted: the search was not finished".to_string()]);
    }
    for (verdict, kind) in [(Verdict::Bad, "warning"), (Verdict::Good, "good"), (Verdict::Note, "note")] {
        let of = found.findings.iter().filter(|f| f.verdict == verdict);
        page.list(kind, of.map(|f| format!("{}: {}", f.topic, f.text)));
    }
    page.section("theorems", "Theorems");
    let heads = ["", "scheme", "source", "what it gives, or what is missing"].map(String::from);
    let rows = found.theorems.iter().map(|t| {
        let (mark, text) = if t.covers { ("covers", t.gives.to_string()) } else { ("does not", t.fails.join("; ")) };
        vec![Cell::text(mark), Cell::text(t.scheme), Cell::text(t.source), Cell::text(text)]
    });
    page.raw(&table("theorem-table", &heads, rows, false));
    page.list("warning", found.uncovered.clone());
    page.section("wedges", "Where two constraints meet");
    if found.pairs.is_empty() {
        page.say("No two constraints were found closed together.");
    }
    let mut drawings = String::from("<div class=\"wedges\">");
    for pair in found.pairs.iter().take(MOST) {
        let names = [pair.pair.0, pair.pair.1].map(|a| model.constraints[a].name.as_str());
        drawings.push_str(&wedge(names, pair));
    }
    drawings.push_str("</div>\n");
    page.raw(&drawings);
    if found.pairs.len() > MOST {
        page.say(&format!("The first {MOST} of {} pairs.", found.pairs.len()));
    }
    if !found.pairs.is_empty() {
        page.say(
            "Each drawing shows the set K near the meeting place, with lengths and angles measured by the kinetic energy: that \
             is the geometry in which the impact law projects velocities.",
        );
    }
    page.close();
    page
}

/// The wedge between two constraints, as an SVG drawing.
fn wedge(names: [&str; 2], pair: &Pair) -> String {
    let (cx, cy, reach) = (110.0, 120.0, 95.0);
    // Opens upwards, symmetric about the vertical.
    let end = |angle: f64| {
        let half = 0.5 * angle.to_radians();
        [(cx - reach * half.sin(), cy - reach * half.cos()), (cx + reach * half.sin(), cy - reach * half.cos())]
    };
    let angle = pair.widest;
    let [(x1, y1), (x2, y2)] = end(angle);
    let large = u8::from(angle > 180.0);
    let kind = if pair.continuous { "good" } else { "warning" };
    let mut out = format!(
        "<figure class=\"wedge {kind}\"><svg viewBox=\"0 0 220 190\" role=\"img\"><path class=\"inside\" d=\"M{cx} {cy} L{x1:.1} \
         {y1:.1} A{reach} {reach} 0 {large} 1 {x2:.1} {y2:.1} Z\"/><path class=\"wall\" d=\"M{x1:.1} {y1:.1} L{cx} {cy} L{x2:.1} \
         {y2:.1}\"/>"
    );
    let narrower = (pair.widest - pair.narrowest) > 0.01;
    if narrower {
        let [(a, b), (c, d)] = end(pair.narrowest);
        let _ = write!(out, "<path class=\"narrow\" d=\"M{a:.1} {b:.1} L{cx} {cy} L{c:.1} {d:.1}\"/>");
    }
    let shown = match narrower {
        true => format!("{}° … {}°", number(pair.narrowest, 4), number(pair.widest, 4)),
        false => format!("{}°", number(angle, 4)),
    };
    let says = match pair.continuous {
        true => "the motion depends continuously on the data here",
        false => "no theorem promises that the motion depends continuously on the data here",
    };
    let _ = write!(
        out,
        "<text x=\"{cx}\" y=\"{:.0}\" text-anchor=\"middle\" class=\"angle\">{shown}</text></svg><figcaption><b>{}</b> and \
         <b>{}</b>, found {} times in {} starts: {says}.</figcaption></figure>",
        cy + 30.0,
        escape(names[0]),
        escape(names[1]),
        pair.found,
        pair.starts
    );
    out
}
