//! What a GPU does, on the processor, in the place of one: the code of its thread for one trajectory after the other, with the same memory
//! as a kernel. To test what is around a GPU on any machine, to measure it, and to see what happens where a GPU fails.

use super::gpu::Spent;
use super::iterate::{Fault, Iterate};
use super::library::Iteration;
use super::rows::{self, Group, Rows};
use super::source::{LASTING, LOG, flag, signal};
use super::state::State;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// See the module.
#[derive(Clone)]
pub struct StandIn {
    iteration: Iteration,
    rows: Rows,
    /// How many trajectories a worker takes at a time.
    pub width: usize,
    /// Launches that are left before it fails.
    left: Arc<AtomicU64>,
    pub spent: Arc<Mutex<Spent>>,
    /// The numbers and the records of each trajectory that a GPU would keep.
    own: Vec<f64>,
    logs: Vec<Vec<f64>>,
    /// All numbers of one trajectory: those of the thread that is at work.
    thread: State,
}

impl StandIn {
    pub fn new(iteration: Iteration, rows: Rows, width: usize, fails_after: Option<u64>) -> Self {
        let left = Arc::new(AtomicU64::new(fails_after.unwrap_or(u64::MAX)));
        let (thread, _) = iteration.room();
        StandIn { iteration, rows, width, left, spent: Arc::default(), own: Vec::new(), logs: Vec::new(), thread }
    }

    /// How it fails.
    pub fn fails_after(&self) -> Option<u64> {
        Some(self.left.load(Ordering::SeqCst)).filter(|&left| left < u64::MAX)
    }

    /// What one thread of the kernel does (`gpu_after.cu`).
    fn thread(
        (iteration, rows, state): (&mut Iteration, Rows, &mut State),
        (line, own, log): (&mut [f64], &mut [f64], &mut Vec<f64>),
        packed: &mut Vec<f64>,
        tolerance: f64,
        flags: i32,
    ) -> Result<(), Fault> {
        if !(line[rows::ACTIVE] > 0.0) || line[rows::SIGNAL] != 0.0 {
            return Ok(());
        }
        let (shared, length) = (line.len(), log.len() / iteration.slots());
        state.numbers()[..shared].copy_from_slice(line);
        state.numbers()[shared..].copy_from_slice(own);
        iteration.advance(state, log, tolerance, flags)?;
        let s = state.numbers();
        let first = packed.len() / length;
        let logged = s[rows::LOGGED] as usize;
        packed.extend_from_slice(&log[..logged * length]);
        let has_ended = s[rows::SIGNAL] != 0.0 && s[rows::SIGNAL] != signal::FULL;
        if flags & flag::LASTS != 0 && has_ended {
            for (k, row) in rows.of(Group::Crossed).enumerate() {
                let crossed = s[row] as usize;
                for n in crossed.saturating_sub(LASTING)..crossed {
                    let place = LOG + k * LASTING + n % LASTING;
                    packed.extend_from_slice(&log[place * length..(place + 1) * length]);
                }
            }
        }
        if packed.len() > first * length {
            s[rows::RECORDS] = first as f64;
        }
        line.copy_from_slice(&s[..shared]);
        own.copy_from_slice(&s[shared..]);
        Ok(())
    }
}

impl Iterate for StandIn {
    fn room(&self) -> (State, Vec<f64>) {
        (State::by_trajectories(self.rows.shared(), self.width), Vec::new())
    }

    fn prepare(&mut self, wanted: usize, _: i32) -> Result<usize, Fault> {
        let width = wanted.min(self.width);
        self.own.resize(width * (self.rows.count() - self.rows.shared()), 0.0);
        self.logs.resize_with(width, || self.iteration.room().1);
        Ok(width)
    }

    fn is_coupled(&self) -> bool {
        true
    }

    fn is_packed(&self) -> bool {
        true
    }

    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), Fault> {
        let less = |left: u64| if left == u64::MAX { Some(left) } else { left.checked_sub(1) };
        if self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_err() {
            return Err(Fault::Failed("the GPU's driver says: this one was to fail".into()));
        }
        let begun = Instant::now();
        let StandIn { iteration, rows, own, logs, thread, .. } = self;
        let (shared, kept) = (rows.shared(), rows.count() - rows.shared());
        log.clear();
        for (l, line) in state.numbers().chunks_exact_mut(shared).enumerate() {
            let own = &mut own[l * kept..(l + 1) * kept];
            Self::thread((iteration, *rows, thread), (line, own, &mut logs[l]), log, tolerance, flags)?;
        }
        if let Ok(mut spent) = self.spent.lock() {
            spent.seconds += begun.elapsed().as_secs_f64();
            spent.launches += 1;
        }
        Ok(())
    }
}
