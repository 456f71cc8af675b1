//! A progress bar for what takes longer than two seconds, and the handler of Ctrl-C.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use saltus::Progress;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static SAVING: AtomicBool = AtomicBool::new(false);

/// Asked to stop by Ctrl-C (or a scheduler's SIGTERM): the run ends and keeps what it has. A second one ends the program
/// at once, except while results are being written.
pub fn listen() {
    // If no handler can be set, Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::SeqCst) && !SAVING.load(Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
}

/// From now on results are being written, which a second Ctrl-C does not interrupt.
pub fn saving() {
    SAVING.store(true, Ordering::SeqCst);
}

/// Shows progress once two seconds have passed.
pub struct Bar {
    started: Instant,
    quiet: bool,
    bar: Option<ProgressBar>,
}

impl Bar {
    pub fn new(quiet: bool) -> Self {
        Bar { started: Instant::now(), quiet, bar: None }
    }

    /// Shows how far a run is; false means stop.
    pub fn report(&mut self, p: Progress) -> bool {
        self.advance(p.step, p.steps, p.t, p.impacts)
    }

    /// Shows how far a search is; false means stop.
    pub fn searched(&mut self, done: usize, of: usize) -> bool {
        self.advance(done as u64, of as u64, 0.0, 0)
    }

    /// Shows how far something is; false means stop.
    pub fn advance(&mut self, step: u64, steps: u64, t: f64, impacts: usize) -> bool {
        if !self.quiet && self.bar.is_none() && self.started.elapsed() > Duration::from_secs(2) {
            let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  about {eta} left") {
                bar.set_style(style);
            }
            bar.reset_elapsed();
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(step);
            bar.set_message(format!(
                "t = {}, {}",
                crate::text::number(t, 4),
                crate::text::count(impacts as u64, "impact")
            ));
        }
        !STOP.load(Ordering::SeqCst)
    }

    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
