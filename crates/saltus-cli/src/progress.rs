//! A progress bar for what takes longer than two seconds, and the handler of Ctrl-C.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use saltus::Progress;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

static STOP: AtomicBool = AtomicBool::new(false);
static NOTICED: AtomicBool = AtomicBool::new(false);
static SAVING: AtomicBool = AtomicBool::new(false);

/// The exit code of a command that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// A command that has not noticed a signal after this time is ended.
const PATIENCE: Duration = Duration::from_millis(800);

/// What a command that has noticed a signal may take to show what it has.
const CLOSING: Duration = Duration::from_secs(20);

/// Listens to Ctrl-C and to a scheduler's SIGTERM: the command stops and keeps what it has. Not everything that takes long
/// can be asked to stop; a command that does not react is ended, and so is any by a second signal, except while
/// results are being written.
pub fn listen() {
    // If no handler can be set, Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(|| match STOP.swap(true, Ordering::SeqCst) {
        false => drop(std::thread::spawn(wait_for_the_end)),
        true if !SAVING.load(Ordering::SeqCst) => leave(),
        true => {}
    });
}

/// Ends a command that does not end by itself in due time.
fn wait_for_the_end() {
    let mut deadline = Instant::now() + PATIENCE;
    let mut has_noticed = false;
    while Instant::now() < deadline {
        let notices = NOTICED.load(Ordering::SeqCst) && !has_noticed;
        if notices || SAVING.load(Ordering::SeqCst) {
            deadline = Instant::now() + CLOSING;
        }
        has_noticed |= notices;
        std::thread::sleep(Duration::from_millis(20));
    }
    leave();
}

fn leave() -> ! {
    crate::text::mutter("interrupted");
    std::process::exit(INTERRUPTED.into());
}

/// Whether a signal asked the command to stop; what follows only shows and saves what there is.
pub fn is_stopped() -> bool {
    let stopped = STOP.load(Ordering::SeqCst);
    NOTICED.fetch_or(stopped, Ordering::SeqCst);
    stopped
}

/// Asks everything that runs to stop, or takes that back.
pub fn stop(whether: bool) {
    STOP.store(whether, Ordering::SeqCst);
}

/// How far something is, for a caller who looks at it from another thread.
#[derive(Debug, Default)]
pub struct Gauge {
    done: AtomicU64,
    of: AtomicU64,
}

impl Gauge {
    /// How much is done, of how much; (0, 0) before that is known.
    pub fn read(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed))
    }

    fn set(&self, done: u64, of: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }
}

thread_local! {
    static GAUGE: RefCell<Option<Arc<Gauge>>> = const { RefCell::new(None) };
}

/// Shows on a gauge how far this thread's bars are while something is done.
pub fn gauged<T>(gauge: &Arc<Gauge>, act: impl FnOnce() -> T) -> T {
    let before = GAUGE.replace(Some(gauge.clone()));
    let done = act();
    GAUGE.set(before);
    done
}

/// Writes results, which no signal interrupts.
pub fn saving<T>(write: impl FnOnce() -> T) -> T {
    SAVING.store(true, Ordering::SeqCst);
    let written = write();
    SAVING.store(false, Ordering::SeqCst);
    written
}

/// Shows progress once two seconds have passed.
pub struct Bar {
    started: Instant,
    quiet: bool,
    bar: Option<ProgressBar>,
    gauge: Option<Arc<Gauge>>,
}

impl Bar {
    pub fn new(quiet: bool) -> Self {
        Bar { started: Instant::now(), quiet, bar: None, gauge: GAUGE.with_borrow(Option::clone) }
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
        self.appear(steps);
        if let Some(gauge) = &self.gauge {
            gauge.set(step, steps);
        }
        let message = || format!("t = {}, {}", crate::text::number(t, 4), crate::text::count(impacts as u64, "impact"));
        self.show(step, message);
        !is_stopped()
    }

    /// Shows how far something is that is counted, with some words about it.
    pub fn counted(&mut self, done: u64, of: u64, words: &str) {
        self.appear(of);
        if let Some(gauge) = &self.gauge {
            gauge.set(done, of);
        }
        self.show(done, || words.to_string());
    }

    fn show(&self, step: u64, message: impl Fn() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position(step);
            bar.set_message(message());
        }
    }

    /// The bar itself, once it is time.
    fn appear(&mut self, steps: u64) {
        if !self.quiet && self.bar.is_none() && self.started.elapsed() > Duration::from_secs(2) {
            let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  about {eta} left") {
                bar.set_style(style);
            }
            bar.reset_elapsed();
            self.bar = Some(bar);
        }
    }

    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Shows how far the preparation of a run is, on a terminal, once two seconds have passed: what it is, its memory, the time left.
pub fn watch_set_up() {
    let started = Instant::now();
    let mut bar: Option<ProgressBar> = None;
    saltus::preparing::watch(Some(Box::new(move |stage| {
        if stage.done >= 1.0 {
            if let Some(bar) = bar.take() {
                bar.finish_and_clear();
            }
            return;
        }
        if bar.is_none() && started.elapsed() > Duration::from_secs(2) {
            let new = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("set-up: {msg}  {bar:24} {percent:>3} %  about {eta} left")
            {
                new.set_style(style);
            }
            bar = Some(new);
        }
        if let Some(bar) = &bar {
            bar.set_message(format!("{}, {:.0} MB", stage.what, stage.bytes / 1e6));
            bar.set_position((1000.0 * stage.done) as u64);
        }
    })));
}

/// Shows the progress of a sweep once two seconds have passed.
pub struct SweepBar {
    started: Instant,
    quiet: bool,
    bar: Option<ProgressBar>,
    gauge: Option<Arc<Gauge>>,
}

impl SweepBar {
    pub fn new(quiet: bool) -> Self {
        SweepBar { started: Instant::now(), quiet, bar: None, gauge: GAUGE.with_borrow(Option::clone) }
    }

    /// Shows how far a sweep is: rate, time left, share of the event engine.
    pub fn report(&mut self, p: &saltus_ensemble::Progress) {
        if let Some(gauge) = &self.gauge {
            gauge.set(p.done, p.total);
        }
        if !self.quiet && self.bar.is_none() && self.started.elapsed() > Duration::from_secs(2) {
            let bar = ProgressBar::with_draw_target(Some(p.total), ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}") {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        let Some(bar) = &self.bar else { return };
        let rate = p.done as f64 / p.seconds.max(1e-9);
        let left = match p.done {
            0 => String::new(),
            _ => format!(", about {} left", crate::text::duration((p.total - p.done) as f64 / rate)),
        };
        let share = 100.0 * p.scalar as f64 / p.done.max(1) as f64;
        let number = crate::text::number;
        bar.set_position(p.done);
        bar.set_message(format!("{} per second, event engine used in {} %{left}", number(rate, 3), number(share, 2)));
    }

    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
