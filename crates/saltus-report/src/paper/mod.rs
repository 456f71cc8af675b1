//! Static figures of a run for papers: SVG, PNG, PDF.
//!
//! A [`Motion`] and a choice of [`What`] make panels, panels make a sheet of marks, and a sheet is written in any of the
//! formats. A velocity is drawn with a gap at every jump and both limits marked; nothing is drawn across it.

mod constraints;
mod coordinates;
mod font;
mod label;
mod layout;
mod motion;
mod panel;
mod pdf;
mod pictures;
mod png;
mod sheet;
mod simplify;
mod svg;
mod ticks;

pub use layout::Columns;
pub use motion::{Hit, Motion};
pub use pictures::{Figure, Options, Source, What, draw};
pub use sheet::Sheet;

/// The format of a figure's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Vectors, for editing and for the web.
    Svg,
    /// Dots.
    Png,
    /// Vectors, for LaTeX and printers.
    Pdf,
}

impl Kind {
    /// The format that a file name asks for by its ending.
    pub fn of(path: &std::path::Path) -> Option<Kind> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Kind::Svg),
            "png" => Some(Kind::Png),
            "pdf" => Some(Kind::Pdf),
            _ => None,
        }
    }
}

/// The bytes of a figure's file; `dpi`, the dots an inch, matter for PNG only.
pub fn encode(sheet: &Sheet, kind: Kind, dpi: f64) -> Result<Vec<u8>, String> {
    match kind {
        Kind::Svg => Ok(svg::write(sheet).into_bytes()),
        Kind::Png => png::write(sheet, dpi),
        Kind::Pdf => pdf::write(sheet),
    }
}
