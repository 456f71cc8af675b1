//! A self-contained HTML file: sections of text and figures, with style sheet and scripts included.

use crate::figure::Figure;
use crate::store;
use crate::text::escape;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Where a page comes from, so that it can be reproduced.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The command line.
    pub command: String,
    /// The version of Saltus.
    pub version: String,
    /// The model's name as given.
    pub model: String,
    /// The text of the model file.
    pub text: String,
    /// SHA-256 of that text.
    pub sha256: String,
}

/// A page, built section by section.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The title of the model.
    pub title: String,
    /// One line below the title.
    pub subtitle: String,
    origin: Origin,
    body: String,
    contents: Vec<(String, String)>,
    figures: Vec<Figure>,
    animation: Value,
}

impl Page {
    /// An empty page.
    #[must_use]
    pub fn new(title: &str, subtitle: &str, origin: &Origin) -> Self {
        Page { title: title.into(), subtitle: subtitle.into(), origin: origin.clone(), ..Page::default() }
    }

    /// Starts a section.
    pub fn section(&mut self, id: &str, title: &str) {
        self.contents.push((id.into(), title.into()));
        let _ = writeln!(self.body, "<h2 id=\"{id}\">{}</h2>", escape(title));
    }

    /// Adds a paragraph.
    pub fn say(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// Adds messages of one kind: `breach`, `warning`, `note` or `good`.
    pub fn list(&mut self, kind: &str, sentences: impl IntoIterator<Item = String>) {
        let items: Vec<String> = sentences.into_iter().map(|s| format!("<li>{}</li>", escape(&s))).collect();
        if !items.is_empty() {
            let _ = writeln!(self.body, "<ul class=\"messages {kind}\">{}</ul>", items.join("\n"));
        }
    }

    /// Adds tiles, each with a name and a value. (The name of what is counted is that of several.)
    pub fn tiles(&mut self, tiles: &[(&str, String)]) {
        self.body.push_str("<div class=\"tiles\">");
        for (name, value) in tiles {
            let _ =
                write!(self.body, "<div><b>{}</b><span>{}</span></div>", escape(value), escape(&counted(name, value)));
        }
        self.body.push_str("</div>\n");
    }

    /// Adds HTML, which must be escaped already.
    pub fn raw(&mut self, html: &str) {
        self.body.push_str(html);
    }

    /// Adds figures: time histories stacked above each other, with one time axis at the bottom, others side by side where there
    /// is room.
    pub fn figures(&mut self, figures: impl IntoIterator<Item = Figure>) {
        let figures: Vec<Figure> = figures.into_iter().collect();
        let stacked = figures.len() > 1 && figures.iter().all(|f| f.timed);
        let _ = writeln!(self.body, "<div class=\"figures{}\">", if stacked { " stacked" } else { "" });
        for figure in figures {
            // Stacked panels must have the same width: all of them leave room for a right axis if one has it.
            let right_axis = if figure.layout.get("yaxis2").is_some() { " data-right-axis" } else { "" };
            let choice = match figure.choice.is_null() {
                true => "",
                false => {
                    "<div class=\"choice\"><label>across <select></select></label> <label>up <select></select></label></div>"
                }
            };
            let _ = writeln!(
                self.body,
                "<figure{right_axis}><h3>{}</h3><div class=\"plot\" id=\"fig-{}\"></div>{choice}<figcaption>{}</figcaption></figure>",
                escape(&figure.title),
                figure.id,
                escape(&figure.caption)
            );
            self.figures.push(figure);
        }
        self.body.push_str("</div>\n");
    }

    /// Adds the animation, with a caption.
    pub fn animate(&mut self, animation: Value, caption: &str) {
        self.animation = animation;
        let _ = writeln!(
            self.body,
            "<figure id=\"animation\" class=\"wide\"><canvas></canvas><div class=\"controls\"><button type=\"button\" \
             id=\"play\">Play</button><input id=\"when\" type=\"range\" min=\"0\" max=\"10000\" value=\"0\" \
             aria-label=\"time\"><output id=\"now\"></output><label>speed <select id=\"speed\"></select></label>\
             <label id=\"trails\"><input type=\"checkbox\" checked> trails</label></div><figcaption>{}</figcaption></figure>",
            escape(caption)
        );
    }

    /// Ends the page with the model file and the command that reproduces the page.
    pub fn close(&mut self) {
        let origin = self.origin.clone();
        self.section("model", "Model file");
        let _ = writeln!(self.body, "<pre>{}</pre>", escape(&origin.text));
        self.section("reproduce", "Reproduce");
        let _ = writeln!(
            self.body,
            "<pre>{}</pre><p>Saltus {}. Model <code>{}</code>, SHA-256 <code class=\"hash\">{}</code>.</p>",
            escape(&origin.command),
            escape(&origin.version),
            escape(&origin.model),
            escape(&origin.sha256)
        );
    }

    /// Writes the page.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let figures: Vec<Value> = self.figures.iter().map(Figure::data).collect();
        let data = json!({ "figures": figures, "animation": self.animation });
        let contents: String =
            self.contents.iter().map(|(id, title)| format!("<a href=\"#{id}\">{}</a>", escape(title))).collect();
        // No requests are allowed: `default-src 'none'` forbids every kind of source not listed, including connections, fonts
        // and frames. Images may be data: and blob: URLs, which plotly.js creates to export figures. 'unsafe-inline' allows the
        // scripts of this file, including the script element that page.js creates from the unpacked text of plotly.js, so
        // scripts need neither blob: nor 'unsafe-eval'.
        let policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
                      base-uri 'none'; form-action 'none'";
        write!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"Saltus {}\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n",
            escape(&self.origin.version),
            escape(&self.title),
            include_str!("assets/page.css")
        )?;
        write!(
            out,
            "<header><h1>{}</h1><p>{}</p><button type=\"button\" id=\"theme\" aria-label=\"light or dark\">◐</button></header>\n\
             <nav>{contents}</nav>\n<main>\n<noscript><p>The figures need JavaScript.</p></noscript>\n{}</main>\n",
            escape(&self.title),
            escape(&self.subtitle),
            self.body
        )?;
        if !self.figures.is_empty() || !self.animation.is_null() {
            writeln!(out, "<script type=\"text/plain\" id=\"data\">{}</script>", store::packed(&data))?;
        }
        if !self.figures.is_empty() {
            out.write_all(PLOTLY.as_bytes())?;
        }
        if !self.animation.is_null() {
            writeln!(out, "<script>{}</script>", include_str!("assets/animation.js"))?;
        }
        if self.figures.iter().any(|f| !f.choice.is_null()) {
            writeln!(out, "<script>{}</script>", include_str!("assets/orbit.js"))?;
        }
        if self.figures.iter().any(|f| !f.dots.is_empty()) {
            writeln!(out, "<script>{}</script>", include_str!("assets/dots.js"))?;
        }
        if self.figures.iter().any(|f| !f.rerun.is_null()) {
            writeln!(out, "<script>{}</script>", include_str!("assets/rerun.js"))?;
        }
        writeln!(out, "<script>{}</script>", include_str!("assets/page.js"))?;
        out.write_all(b"</body>\n</html>\n")
    }
}

/// The element with plotly.js, packed by the build script.
const PLOTLY: &str = include_str!(concat!(env!("OUT_DIR"), "/plotly.html"));

/// What is counted, in the word for as many as there are.
fn counted(several: &str, value: &str) -> String {
    match (several.strip_suffix("ies"), several.strip_suffix('s')) {
        (Some(stem), _) if value == "1" => format!("{stem}y"),
        (None, Some(one)) if value == "1" => one.to_string(),
        _ => several.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_several() {
        let named = [("attractors", "1"), ("attractors", "2"), ("trajectories", "1"), ("computed in", "1 s")];
        let names = named.map(|(name, value)| counted(name, value));
        assert_eq!(names, ["attractor", "attractors", "trajectory", "computed in"]);
    }
}
