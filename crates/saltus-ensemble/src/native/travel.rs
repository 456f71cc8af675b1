//! Trajectories in compiled code with perturbations that go along.

use super::company::Account;
use super::iterate::Iterate;
use super::order::neighbours;
use super::rows::{self, Group, Rows};
use super::source::{flag, record_length, signal};
use super::state::State;
use crate::Job;
use crate::lanes::{LaneCode, limits};
use saltus::analysis::{Perturbations, carry_perturbations};
use saltus::problem::Reached;
use saltus::{Problem, Start};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A trajectory that is handed over this often is not one for compiled code.
const OFTEN: u32 = 64;

/// The event engine keeps it for this many of the last steps, and for this part of an interval, at least.
const STRETCH: f64 = 32.0;
const SHORTEST: f64 = 1e-3;

/// A trajectory along which perturbations are carried, from those of each entry of the state on.
#[derive(Clone, Debug)]
pub struct Journey {
    pub start: Start,
    /// When the counting begins, how long an interval lasts, how many there are.
    pub from: f64,
    pub interval: f64,
    pub count: usize,
}

impl Journey {
    fn end(&self) -> f64 {
        self.from + self.interval * self.count as f64
    }
}

/// What became of them.
#[derive(Clone, Debug, Default)]
pub struct Travelled {
    /// The logarithms of what each column has grown by, at the beginning of the counting and after each interval.
    pub logs: Vec<Vec<f64>>,
    /// Which columns a contact has taken.
    pub gone: Vec<bool>,
    /// The columns at the end.
    pub frame: Vec<f64>,
    /// Where the motion ends, and its impacts since the counting began.
    pub end: Option<Start>,
    pub impacts: u64,
}

/// Carries perturbations along trajectories.
pub trait Travel: Send {
    /// All of them, in their order; None for those that cannot be decided here.
    fn run(&mut self, problem: &Problem, journeys: &[Journey], stop: &AtomicBool) -> Vec<Option<Travelled>>;

    /// How many trajectories are side by side at most.
    fn width(&self) -> usize;
}

/// See [`Travel`].
pub struct Traveller<I> {
    code: Arc<LaneCode>,
    iteration: I,
    rows: Rows,
    state: State,
    log: Vec<f64>,
    tolerance: f64,
    lanes: Vec<(usize, Travelled, u32)>,
    account: Arc<Account>,
}

/// What a trajectory does next.
enum Next {
    GoesOn,
    Ended,
    Undecided,
}

impl<I: Iterate> Traveller<I> {
    pub fn new(iteration: I, code: &Arc<LaneCode>, tolerance: f64, account: &Arc<Account>) -> Self {
        let (state, log) = iteration.room();
        let lanes = vec![(0, Travelled::default(), 0); state.width];
        let (rows, code, account) = (Rows::new(code), code.clone(), account.clone());
        Traveller { rows, code, state, log, iteration, tolerance, lanes, account }
    }

    fn all(&self, group: Group, l: usize) -> Vec<f64> {
        self.rows.of(group).map(|row| self.state.get(row, l)).collect()
    }

    fn set_all(&mut self, group: Group, l: usize, values: impl IntoIterator<Item = f64>) {
        for (row, value) in self.rows.of(group).zip(values) {
            self.state.set(row, l, value);
        }
    }

    fn load(&mut self, l: usize, k: usize, journey: &Journey) -> bool {
        let Journey { start, from, interval, .. } = journey;
        let (d, n, end) = (self.code.d, self.code.columns(), journey.end());
        let fits = start.q.len() == d && start.v.len() == d && start.parameters.len() == self.code.open;
        let finite = start.q.iter().chain(&start.v).chain(&start.parameters).all(|x| x.is_finite());
        if !fits || !finite || !(end > start.t) {
            return false;
        }
        self.lanes[l] = (k, Travelled { gone: vec![false; n], ..Travelled::default() }, 0);
        (0..self.rows.shared()).filter(|&row| row != rows::RECORDS).for_each(|row| self.state.set(row, l, 0.0));
        for (row, value) in [
            (rows::ACTIVE, 1.0),
            (rows::END, end),
            (rows::FROM, *from),
            (rows::STROBE, *interval),
            (rows::LAST, end - start.t),
            (rows::WINDOW, start.t),
        ] {
            self.state.set(row, l, value);
        }
        self.set_all(Group::Parameters, l, start.parameters.iter().copied());
        self.set_all(Group::Stretch, l, vec![1.0; n]);
        self.set_all(Group::Frame, l, (0..n * n).map(|e| f64::from(u8::from(e % n == e / n))));
        self.place(l, start, journey);
        self.state.set(rows::PLACED, l, 2.0);
        true
    }

    /// A trajectory that begins in contact: the event engine begins with it. False if it cannot.
    fn begin(&mut self, l: usize, problem: &Problem, journey: &Journey) -> bool {
        if journey.start.closed().is_none_or(<[usize]>::is_empty) {
            return true;
        }
        let frame = self.all(Group::Frame, l);
        self.set_all(Group::FrameBefore, l, frame);
        self.state.set(rows::LAST, l, 0.0);
        let goes_on = matches!(self.go_on(l, problem, journey, journey.start.clone()), Some(Next::GoesOn));
        self.state.set(rows::LAST, l, journey.end() - self.state.get(rows::T, l));
        self.state.set(rows::PLACED, l, 2.0);
        goes_on
    }

    /// Puts a trajectory somewhere, free.
    fn place(&mut self, l: usize, at: &Start, journey: &Journey) {
        let next = self.state.get(rows::NEXT, l);
        self.state.set(rows::T, l, at.t);
        self.set_all(Group::Q, l, at.q.iter().copied());
        self.set_all(Group::V, l, at.v.iter().copied());
        self.set_all(Group::Shift, l, vec![0.0; self.code.columns()]);
        self.state.set(rows::PLACED, l, 1.0);
        self.state.set(rows::HELD, l, -1.0);
        self.state.set(rows::STOP, l, stop_of(journey, next));
    }

    /// Reads what a lane has recorded.
    fn drain(&mut self, l: usize) {
        let (d, length) = (self.code.d, record_length(&self.code));
        let (first, count) = (self.state.get(rows::RECORDS, l) as usize, self.state.get(rows::LOGGED, l) as usize);
        for record in self.log.chunks(length).skip(first).take(count) {
            self.lanes[l].1.logs.push(record[4 + 2 * d..].to_vec());
        }
        self.state.set(rows::LOGGED, l, 0.0);
    }

    /// What a lane signals.
    fn answer(&mut self, l: usize, problem: &Problem, journeys: &[Journey]) -> Next {
        let said = self.state.get(rows::SIGNAL, l);
        self.state.set(rows::SIGNAL, l, 0.0);
        self.drain(l);
        let journey = &journeys[self.lanes[l].0];
        let next = match said {
            signal::FULL => return Next::GoesOn,
            signal::DONE => self.finish(l, journey),
            signal::BACK | signal::OFF => self.hand_over(l, problem, journey),
            signal::HERE => {
                // (The last step ended in an impact, which is made again with it. Those that the others take back have not counted any.)
                if self.state.get(rows::T, l) >= journey.from {
                    self.state.set(rows::IMPACTS, l, self.state.get(rows::IMPACTS, l) - 1.0);
                }
                self.hand_over(l, problem, journey)
            }
            _ => None,
        };
        next.unwrap_or(Next::Undecided)
    }

    fn finish(&mut self, l: usize, journey: &Journey) -> Option<Next> {
        let (n, q, v) = (self.code.columns(), self.all(Group::Q, l), self.all(Group::V, l));
        // What a trajectory promises is what it does elsewhere.
        let size = q.iter().fold(self.state.get(rows::WIDEST, l), |m, q| m.max(q.abs()));
        let is_sound = self.state.get(rows::VIOLATION, l) <= limits::TRUST * self.tolerance * size
            && self.state.get(rows::LAW, l) <= limits::LAW;
        let frame = self.all(Group::Frame, l);
        let start = Start::new(self.state.get(rows::T, l), q, v).with_parameters(journey.start.parameters.clone());
        let closed: Vec<usize> = (0..self.code.m).filter(|&a| self.state.get(rows::HELD, l) == a as f64).collect();
        let found = &mut self.lanes[l].1;
        found.end = Some(start.reached(Reached { closed, ..Reached::default() }));
        found.impacts = self.state.get(rows::IMPACTS, l) as u64;
        found.gone = frame.chunks(n).map(|column| column.iter().all(|x| *x == 0.0)).collect();
        found.frame = frame;
        let is_whole = found.logs.len() == journey.count + 1
            && found.logs.iter().flatten().chain(&found.frame).all(|x| x.is_finite());
        (is_sound && is_whole).then_some(Next::Ended)
    }

    /// The event engine goes on from where the last step began, with the perturbations there, until nothing is in contact. None: the
    /// motion has no derivatives there, or it would go on too often.
    fn hand_over(&mut self, l: usize, problem: &Problem, journey: &Journey) -> Option<Next> {
        let d = self.code.d;
        let before = self.all(Group::Before, l);
        let closed = (0..self.code.m).filter(|&a| self.state.get(rows::HELD, l) == a as f64).collect();
        let start = Start::new(before[0], before[1..=d].to_vec(), before[1 + d..].to_vec());
        let start = start.with_parameters(journey.start.parameters.clone());
        self.go_on(l, problem, journey, start.reached(Reached { closed, ..Reached::default() }))
    }

    fn go_on(&mut self, l: usize, problem: &Problem, journey: &Journey, mut at: Start) -> Option<Next> {
        let n = self.code.columns();
        self.lanes[l].2 += 1;
        if self.lanes[l].2 > OFTEN {
            return None;
        }
        let mut carried = Perturbations { columns: self.all(Group::FrameBefore, l), logs: self.all(Group::Logs, l) };
        carried.logs.iter_mut().zip(self.all(Group::Stretch, l)).for_each(|(log, stretch)| *log += stretch.ln());
        // (Where flight is linear the pace means nothing.)
        let pace = if self.code.linear.is_none() { self.all(Group::Pace, l) } else { Vec::new() };
        let pace = pace.into_iter().fold(self.state.get(rows::LAST, l), f64::max);
        let stretch = (STRETCH * pace).max(SHORTEST * journey.interval);
        let mut next = self.state.get(rows::NEXT, l);
        loop {
            let stop = stop_of(journey, next);
            let until = if at.t + 1.001 * stretch < stop { at.t + stretch } else { stop };
            let (end, impacts) = carry_perturbations(problem, &at, until, self.tolerance, &mut carried).ok()?;
            at = end;
            if until > journey.from {
                let before = self.state.get(rows::IMPACTS, l);
                self.state.set(rows::IMPACTS, l, before + impacts as f64);
            }
            let is_closed = at.closed().is_some_and(|closed| !closed.is_empty());
            if until == stop {
                at.t = stop;
                next += 1.0;
                self.lanes[l].1.logs.push(carried.logs.clone());
                self.state.set(rows::NEXT, l, next);
            }
            let is_over = next > journey.count as f64;
            if is_over || !is_closed {
                self.set_all(Group::Frame, l, carried.columns.iter().copied());
                self.set_all(Group::Logs, l, carried.logs.iter().copied());
                self.set_all(Group::Stretch, l, vec![1.0; n]);
                self.place(l, &at, journey);
                if is_over {
                    let done = self.finish(l, journey);
                    self.lanes[l].1.end = Some(at);
                    return done;
                }
                return Some(Next::GoesOn);
            }
        }
    }
}

/// The instant at which a journey stops next.
fn stop_of(journey: &Journey, next: f64) -> f64 {
    (journey.from + next * journey.interval).min(journey.end())
}

impl<I: Iterate> Travel for Traveller<I> {
    fn width(&self) -> usize {
        self.state.width
    }

    fn run(&mut self, problem: &Problem, journeys: &[Journey], stop: &AtomicBool) -> Vec<Option<Travelled>> {
        let mut found: Vec<Option<Travelled>> = vec![None; journeys.len()];
        let like = |j: &Journey| Job { start: j.start.clone(), from: j.from, end: j.end(), strobe: None, step: None };
        let order = match self.iteration.is_coupled() {
            true => neighbours(&journeys.iter().map(like).collect::<Vec<Job>>()),
            false => (0..journeys.len()).collect(),
        };
        let mut order = order.into_iter().peekable();
        (0..self.state.width).for_each(|l| self.state.set(rows::ACTIVE, l, 0.0));
        if self.account.failure().is_some() {
            return found;
        }
        match self.iteration.prepare(self.state.width.min(journeys.len()), flag::STROBES) {
            Ok(room) => self.state.used = room.min(self.state.width).min(journeys.len()),
            Err(fault) => {
                self.account.fail(fault.why());
                return found;
            }
        }
        let (mut busy, mut free): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..self.state.used).rev().collect());
        loop {
            while let Some((&l, k)) = free.last().zip(order.peek().copied()) {
                order.next();
                if self.load(l, k, &journeys[k]) && self.begin(l, problem, &journeys[k]) {
                    free.pop();
                    busy.push(l);
                } else {
                    self.state.set(rows::ACTIVE, l, 0.0);
                }
            }
            if busy.is_empty() || stop.load(Ordering::Relaxed) {
                return found;
            }
            // (Where what computes them fails, nothing is known about what was under way.)
            let advanced = self.iteration.advance(&mut self.state, &mut self.log, self.tolerance, flag::STROBES);
            if let Err(fault) = advanced {
                self.account.fail(fault.why());
                return found;
            }
            busy.retain(|&l| {
                let next = match self.state.get(rows::SIGNAL, l) != 0.0 {
                    true => self.answer(l, problem, journeys),
                    false => Next::GoesOn,
                };
                if matches!(next, Next::GoesOn) {
                    return true;
                }
                self.state.set(rows::ACTIVE, l, 0.0);
                let (k, travelled, _) = std::mem::take(&mut self.lanes[l]);
                found[k] = matches!(next, Next::Ended).then_some(travelled);
                free.push(l);
                false
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::iterate::Fault;
    use super::super::{Made, Native};
    use super::*;
    use saltus::model::Builder;

    /// Puts something that is no number into a column before one of its turns.
    struct Spoilt<I> {
        iteration: I,
        place: usize,
        left: u32,
    }

    impl<I: Iterate> Iterate for Spoilt<I> {
        fn room(&self) -> (State, Vec<f64>) {
            self.iteration.room()
        }

        fn prepare(&mut self, wanted: usize, flags: i32) -> Result<usize, Fault> {
            self.iteration.prepare(wanted, flags)
        }

        fn is_coupled(&self) -> bool {
            false
        }

        fn is_packed(&self) -> bool {
            false
        }

        fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), Fault> {
            if self.left == 0 {
                state.set(self.place, 0, f64::NAN);
            }
            self.left = self.left.wrapping_sub(1);
            self.iteration.advance(state, log, tolerance, flags)
        }
    }

    #[test]
    fn what_is_no_number_is_not_gone() {
        let model = Builder::new("hard").coordinate("x", 0.1, 0.0).kinetic("x'^2/2").force("x", "-x - x^3 - x'/10");
        let model = model.restitution(0.8).constraint("stop", "2 - x").build();
        let problem = model.expect("a model").problem().expect("a problem");
        {
            let native = Native::compile(&problem).and_then(|native| native.with_tangents(&problem));
            let Ok(native) = native else { return };
            let Made::Library(made) = &native.made else { unreachable!("it is for the processor") };
            let place = Rows::new(&native.code).at(Group::Frame);
            let journey = Journey { start: problem.start(), from: 0.0, interval: 0.1, count: 2000 };
            for (left, is_decided) in [(3, false), (u32::MAX, true)] {
                let iteration = Spoilt { iteration: made.clone(), place, left };
                let mut traveller = Traveller::new(iteration, &native.code, 1e-10, &Arc::default());
                let found = traveller.run(&problem, std::slice::from_ref(&journey), &AtomicBool::new(false));
                let gone = found[0].as_ref().map(|found| found.gone.clone());
                assert_eq!(gone, is_decided.then(|| vec![false, false]));
            }
        }
    }
}
