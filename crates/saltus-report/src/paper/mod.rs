//! Static figures of a run for papers: SVG, PNG, PDF.
//!
//! [`draw`] makes a figure of a [`Motion`] as a [`Sheet`] of lines, circles and text, and [`encode`] writes a sheet in one of the
//! formats. At a jump of the velocity the curve is broken and both limits are marked.

mod above;
mod bonds;
mod chart;
mod constraints;
mod coordinates;
mod font;
mod label;
mod layer;
mod layout;
mod motion;
mod panel;
mod pdf;
mod pictures;
mod png;
mod raster;
mod sheet;
mod simplify;
mod svg;
mod symbols;
mod ticks;

pub use chart::chart;
pub use layout::Columns;
pub use motion::Motion;
pub use pictures::{Figure, Options, What, draw};
pub use sheet::Sheet;

/// The file format of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Vector graphics, for editing and for the web.
    Svg,
    /// Pixels.
    Png,
    /// Vector graphics, for LaTeX and for print.
    Pdf,
}

impl Kind {
    /// The format given by the extension of a file name.
    #[must_use]
    pub fn of(path: &std::path::Path) -> Option<Kind> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "svg" => Some(Kind::Svg),
            "png" => Some(Kind::Png),
            "pdf" => Some(Kind::Pdf),
            _ => None,
        }
    }
}

/// Encodes a figure; `dpi`, the pixels per inch, applies to PNG only.
pub fn encode(sheet: &Sheet, kind: Kind, dpi: f64) -> Result<Vec<u8>, String> {
    match kind {
        Kind::Svg => Ok(svg::write(sheet).into_bytes()),
        Kind::Png => png::write(sheet, dpi),
        Kind::Pdf => pdf::write(sheet),
    }
}
