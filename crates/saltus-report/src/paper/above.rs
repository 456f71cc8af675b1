//! What stands above the frame of a panel: the legend, the colours of a map, words for intervals.

use super::panel::{Bar, Frame, Panel, SAMPLE_LENGTH, TICK_SIZE, entry_width};
use super::raster::Raster;
use super::sheet::{Anchor, BLACK, GREY, Sheet, Stroke, Text};
use super::ticks::{Ticks, minus};

/// The height of a legend row.
const LEGEND_ROW: f64 = 10.0;

impl Panel {
    /// The height of the rows above the frame.
    pub fn above(&self, w: f64) -> f64 {
        let legend = LEGEND_ROW * (self.legend_rows(w).len() + usize::from(self.bar.is_some())) as f64;
        legend + if legend > 0.0 { 2.0 } else { 0.0 } + self.span_row()
    }

    fn span_row(&self) -> f64 {
        if self.spans.is_empty() && self.heading.is_empty() { 0.0 } else { LEGEND_ROW }
    }

    /// Intervals with their words, where there is room for them.
    pub fn spans_above(&self, sheet: &mut Sheet, frame: Frame, tx: &Ticks) {
        if !self.heading.is_empty() {
            let at = (frame.x + 0.5 * frame.w, frame.y - 3.0);
            sheet.text(Text::plain(minus(&self.heading)), at, TICK_SIZE, Anchor::Middle);
        }
        if self.spans.is_empty() {
            return;
        }
        sheet.begin("spans", Vec::new());
        for (from, to, word) in &self.spans {
            let place = |x: f64| frame.x + frame.w * tx.place(x).clamp(0.0, 1.0);
            let (a, b) = (place(*from), place(*to));
            let text = Text::plain(word);
            if b - a >= text.width(TICK_SIZE) + 1.5 {
                sheet.text(text, (0.5 * (a + b), frame.y - 4.2), TICK_SIZE, Anchor::Middle);
            }
            if b - a > 1.2 {
                sheet.line(vec![(a + 0.4, frame.y - 2.0), (b - 0.4, frame.y - 2.0)], Stroke::solid(GREY, 0.8));
            }
        }
        sheet.end();
    }

    /// The colours of a map of numbers, from the least to the largest.
    fn colour_bar(&self, sheet: &mut Sheet, frame: Frame, y: f64) {
        let Some(Bar { label, range: (low, high), has_sign }) = &self.bar else { return };
        let (left, width, steps) = (frame.x + 2.0, 0.35 * frame.w, 64);
        let name = Text::plain(label);
        let least = Text::plain(minus(&saltus::text::number(*low, 3)));
        let x = left + name.width(TICK_SIZE) + 8.0 + least.width(TICK_SIZE) + 3.0;
        sheet.begin("legend", Vec::new());
        sheet.text(name.clone(), (left, y), TICK_SIZE, Anchor::Start);
        sheet.text(least, (x - 3.0, y), TICK_SIZE, Anchor::End);
        let pixels = (0..steps).flat_map(|k| {
            let value = low + (high - low) * k as f64 / (steps - 1) as f64;
            let c = crate::chart::number_colour(value, (*low, *high), *has_sign);
            [c.0, c.1, c.2, 255]
        });
        let strip = Raster { wide: steps, high: 1, rgba: std::sync::Arc::new(pixels.collect()) };
        sheet.image((x, y - 5.4), (width, 5.6), strip, true);
        if *has_sign && *low < 0.0 && *high > 0.0 {
            let zero = x + width * low / (low - high);
            sheet.line(vec![(zero, y - 6.2), (zero, y + 1.0)], Stroke::solid(BLACK, 0.5));
            sheet.text(Text::plain("0"), (zero + 1.2, y - 0.6), TICK_SIZE - 1.6, Anchor::Start);
        }
        let most = Text::plain(minus(&saltus::text::number(*high, 3)));
        sheet.text(most, (x + width + 3.0, y), TICK_SIZE, Anchor::Start);
        sheet.end();
    }

    pub fn legend_above(&self, sheet: &mut Sheet, frame: Frame) {
        let rows = self.legend_rows(frame.w);
        let count = rows.len();
        let lowest = frame.y - 4.5 - self.span_row();
        self.colour_bar(sheet, frame, lowest - LEGEND_ROW * count as f64);
        for (k, row) in rows.into_iter().enumerate() {
            let y = lowest - LEGEND_ROW * (count - 1 - k) as f64;
            let mut x = frame.x + 2.0;
            sheet.begin("legend", Vec::new());
            for layer in row {
                layer.sample(sheet, x, y - TICK_SIZE * 0.35);
                sheet.text(layer.name.clone(), (x + SAMPLE_LENGTH + 3.0, y), TICK_SIZE, Anchor::Start);
                x += entry_width(layer);
            }
            sheet.end();
        }
    }
}
