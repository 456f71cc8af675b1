//! The one recorder: what every engine writes to.

use super::Keep;
use crate::linalg::max_abs;
use crate::motion::{
    BaseShear, Contact, EventHit, Followed, Measured, Phase, Pieces, Rubbed, Timeline, Touch, Trajectory,
};
use crate::stepping::Account;
use crate::{Kind, SetupError};

/// What was checked along the way.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The deepest gap below zero at any instant, as a positive number; zero if there is none.
    pub max_violation: f64,
    /// Which constraint that was, and when.
    pub worst: Option<(usize, f64)>,
    /// At how many instants a gap was below zero by more than rounding.
    pub infeasible: u64,
    /// Energy at the start: kinetic plus potential.
    pub energy_start: f64,
    /// Energy at the end of what was computed.
    pub energy_end: f64,
    /// Energy lost at impacts (positive) or gained (negative), summed.
    pub energy_lost_at_impacts: f64,
    /// The largest deviation of an impact from the law, relative to the fastest impact.
    pub worst_law_residual: f64,
    /// The total impulse of each constraint: impacts, landings and contacts together.
    pub impulses: Vec<f64>,
    /// Work of moving constraints in the lasting contacts of time steps, −Σ P ∂f/∂t: in contact ∇f·v = −∂f/∂t.
    pub contact_work: f64,
    /// The total impulses of joints and frictions, by their rows.
    pub others: Vec<f64>,
    /// Energy that friction turned into heat in time steps, those of impacts apart.
    pub friction_loss: f64,
    /// Steps in which some constraint acted.
    pub contact_steps: u64,
    /// Landings too slow to count as impacts at this step: they are part of contacts.
    pub landings: u64,
    /// With time steps of a structure: the largest change of each velocity in a step at whose ends nothing jumps.
    pub changes: Vec<f64>,
    /// By events: where accumulations of impacts were ended, in order of time; kept with the impacts.
    pub settlings: Vec<Settling>,
}

/// Where infinitely many impacts are ended by their limit: what is left of the gap velocities is taken away at once, by
/// impulses of the constraints that hold from there on.
#[derive(Clone, Debug, PartialEq)]
pub struct Settling {
    /// When.
    pub t: f64,
    /// The limit of the impacts; until there, reactions give what the impulses take away.
    pub limit: f64,
    /// How many impacts had been recorded by then.
    pub impacts: usize,
    /// The constraints whose impacts accumulate.
    pub listed: Vec<usize>,
    /// The constraints that hold.
    pub constraints: Vec<usize>,
    /// Their impulses.
    pub impulses: Vec<f64>,
    /// The impulses of joints and of friction that sticks, by their rows.
    pub others: Vec<(usize, f64)>,
    /// Whether the impacts that are left out would follow at this very instant.
    pub at_once: bool,
}

/// Largest, smallest and root mean square of an observed coordinate over a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    /// The largest value.
    pub max: f64,
    /// The smallest value.
    pub min: f64,
    /// The root mean square over time.
    pub rms: f64,
}

/// Polynomials are kept as long as they take no more than this.
const MAX_PIECE_BYTES: usize = 1 << 30;

/// More memory than this for one trajectory is asked for only by mistake.
const MAX_BYTES: u64 = 8 << 30;

/// Deflected shapes that are kept.
const MAX_SHAPES: u64 = 1_500;

/// Marks of the energy account that are kept.
const MAX_MARKS: usize = 20_000;

/// What an engine leaves behind.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub trajectory: Trajectory,
    pub timeline: Timeline,
    pub audit: Audit,
    pub keep: Keep,
    pub steps: u64,
    /// Touches, where shocks are wanted, and ∫F²dt of each constraint.
    pub touches: Vec<Touch>,
    /// What friction did at stops.
    pub rubbed: Vec<Rubbed>,
    pub squared_forces: Vec<f64>,
    /// Base shears over all steps.
    pub shears: Vec<BaseShear>,
    pub shapes: Vec<(f64, Vec<f64>)>,
    /// What is kept at every step.
    pub followed: Followed,
    shape_stride: u64,
    next_shape: u64,
    /// The energy account at its marks, from a scheme that keeps one.
    pub accounts: Vec<(f64, Account)>,
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
    /// Events of the user's own since they were last taken.
    pub fresh_events: Vec<EventHit>,
    /// Running extremes: max, min, ∫x²dt, and the last squares.
    extremes: Vec<(f64, f64, f64, f64)>,
    last_seen: Option<f64>,
    first_seen: f64,
    is_dense: bool,
    compliant: Vec<bool>,
}

impl Recorder {
    /// For `d` coordinates; `compliant` says which constraints are springs, whose compression is no violation.
    pub fn new(d: usize, compliant: &[bool], keep: Keep) -> Self {
        let m = compliant.len();
        Recorder {
            trajectory: Trajectory::new(d),
            timeline: Timeline::default(),
            audit: Audit { impulses: vec![0.0; m], ..Audit::default() },
            keep,
            steps: 0,
            touches: Vec::new(),
            rubbed: Vec::new(),
            squared_forces: vec![0.0; m],
            shears: Vec::new(),
            shapes: Vec::new(),
            followed: Followed::default(),
            shape_stride: 1,
            next_shape: 0,
            accounts: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
            fresh_events: Vec::new(),
            extremes: Vec::new(),
            last_seen: None,
            first_seen: 0.0,
            is_dense: keep.has(Keep::PIECES),
            compliant: compliant.to_vec(),
        }
    }

    /// Reserves memory for a number of stored instants.
    pub fn reserve(&mut self, instants: u64, every: u64) -> Result<(), SetupError> {
        if !self.keep.has(Keep::INSTANTS) {
            return Ok(());
        }
        let d = self.trajectory.dimension();
        check_memory(d, instants, every)?;
        match usize::try_from(instants).is_ok_and(|n| self.trajectory.reserve(n)) {
            true => Ok(()),
            false => Err(too_large(d, instants, every)),
        }
    }

    /// Keeps some coordinates at each of a number of steps.
    pub fn follow(&mut self, points: &[usize], steps: u64) -> Result<(), SetupError> {
        let d = self.trajectory.dimension();
        if let Some(p) = points.iter().find(|&&p| p >= d) {
            return Err(SetupError::new(format!("there is no coordinate {p} to follow: there are {d}")));
        }
        if !points.is_empty() && Trajectory::bytes(points.len(), steps) > MAX_BYTES {
            let gib = Trajectory::bytes(points.len(), steps) as f64 / (1u64 << 30) as f64;
            return Err(SetupError::new(format!("following points at {steps} steps would take {gib:.1} GiB"))
                .with_kind(Kind::TooLarge)
                .help("ask for the spectra of fewer points at a time, or for a shorter run"));
        }
        self.followed = Followed::new(points);
        Ok(())
    }

    /// Draws a shape every so many of the steps to come.
    pub fn set_shape_stride(&mut self, steps: u64) {
        self.shape_stride = (steps / MAX_SHAPES).max(1);
    }

    /// Whether the shape at a node is to be kept.
    pub fn wants_shape(&mut self, index: u64, is_last: bool) -> bool {
        let is_due = index >= self.next_shape;
        if is_due {
            self.next_shape = index + self.shape_stride;
        }
        (is_due || is_last) && self.keep.has(Keep::SHAPES)
    }

    /// Checks the gaps at an instant; the first that is not a finite number is an error.
    #[inline(always)]
    pub fn check(&mut self, t: f64, q: &[f64], gaps: &[f64]) -> Result<(), usize> {
        let mut outside = false;
        for (a, &f) in gaps.iter().enumerate() {
            if f < 0.0 && self.compliant[a] {
                continue;
            }
            if f < -self.audit.max_violation {
                self.audit.max_violation = -f;
                self.audit.worst = Some((a, t));
            }
            outside |= f < -1e-12 && f < -1e-12 * self.reach(q);
            if !f.is_finite() {
                return Err(a);
            }
        }
        self.audit.infeasible += u64::from(outside);
        Ok(())
    }

    /// The largest displacement at an instant.
    fn reach(&self, q: &[f64]) -> f64 {
        match self.trajectory.history.shear_points() {
            [] => max_abs(q),
            forces => (0..q.len()).filter(|i| !forces.contains(i)).fold(0.0, |most, i| most.max(q[i].abs())),
        }
    }

    /// Stores an instant at which the velocity is continuous.
    pub fn instant(&mut self, t: f64, q: &[f64], v: &[f64]) {
        if self.keep.has(Keep::INSTANTS) || self.trajectory.is_empty() {
            self.trajectory.push(t, q, v);
        }
    }

    /// Stores an instant at which the velocity may jump.
    pub fn jump(&mut self, t: f64, q: &[f64], v_left: &[f64], v_right: &[f64]) {
        if self.keep.has(Keep::INSTANTS) || self.trajectory.is_empty() {
            self.trajectory.push_jump(t, q, v_left, v_right);
        }
    }

    /// Stores the last state.
    pub fn last_instant(&mut self, t: f64, q: &[f64], v_left: &[f64], v_right: &[f64]) {
        if self.trajectory.t.last().is_none_or(|&last| last < t) {
            self.trajectory.push_jump(t, q, v_left, v_right);
        }
    }

    /// An impact, with the impulses of constraints and of joints and friction by rows.
    pub fn impact(
        &mut self,
        measured: &Measured,
        q: &[f64],
        v_before: &[f64],
        v_after: &[f64],
        impulses: impl Iterator<Item = (usize, f64)>,
        others: impl Iterator<Item = (usize, f64)>,
    ) {
        if self.keep.has(Keep::IMPACTS) {
            self.trajectory.impacts.push_with(measured, q, v_before, v_after, impulses, others);
        }
    }

    /// An interval of contact.
    pub fn contact(&mut self, contact: Contact) {
        if self.keep.has(Keep::CONTACTS) {
            self.trajectory.contacts.push(contact);
        }
    }

    /// A phase.
    pub fn phase(&mut self, phase: Phase) {
        if self.keep.has(Keep::TIMELINE) {
            self.timeline.push(phase);
        }
    }

    /// An event of the user's own.
    pub fn event(&mut self, hit: EventHit) {
        if self.keep.has(Keep::EVENTS) {
            self.trajectory.events.push(hit.clone());
        }
        if self.fresh_events.len() < 64 {
            self.fresh_events.push(hit);
        }
    }

    /// A piece of the motion as polynomials.
    pub fn piece<'a>(
        &mut self,
        start: f64,
        length: f64,
        position: impl Fn(usize) -> &'a [f64],
        reactions: impl Iterator<Item = (usize, &'a [f64])>,
    ) {
        if !self.is_dense {
            return;
        }
        self.trajectory.pieces.push(start, length, position, reactions);
        if self.trajectory.pieces.bytes() > MAX_PIECE_BYTES {
            self.trajectory.pieces = Pieces::new(self.trajectory.dimension());
            self.is_dense = false;
            self.notes
                .push("the polynomials of the motion took too much memory and were dropped; instants are kept".into());
        }
    }

    /// Brings largest and smallest values and root mean squares up to date.
    pub fn extremes(&mut self, t: f64, q: &[f64]) {
        let Some(last) = self.last_seen else {
            self.extremes = q.iter().map(|&x| (x, x, 0.0, x * x)).collect();
            (self.first_seen, self.last_seen) = (t, Some(t));
            return;
        };
        for ((max, min, integral, square), &x) in self.extremes.iter_mut().zip(q) {
            (*max, *min) = (max.max(x), min.min(x));
            *integral += 0.5 * (t - last) * (*square + x * x);
            *square = x * x;
        }
        self.last_seen = Some(t);
    }

    /// What [`Recorder::extremes`] has seen.
    pub fn extremes_seen(&self) -> Vec<Extremes> {
        let span = (self.last_seen.unwrap_or(0.0) - self.first_seen).max(f64::MIN_POSITIVE);
        let of = |&(max, min, integral, _): &(f64, f64, f64, f64)| Extremes { max, min, rms: (integral / span).sqrt() };
        self.extremes.iter().map(of).collect()
    }

    /// Whether there is room for another mark of the energy account.
    pub fn wants_account(&self) -> bool {
        self.accounts.len() < MAX_MARKS
    }
}

/// Rejects a trajectory that would not fit into memory.
fn check_memory(d: usize, instants: u64, every: u64) -> Result<(), SetupError> {
    match Trajectory::bytes(d, instants) <= MAX_BYTES {
        true => Ok(()),
        false => Err(too_large(d, instants, every)),
    }
}

fn too_large(d: usize, instants: u64, every: u64) -> SetupError {
    let bytes = Trajectory::bytes(d, instants);
    let gib = bytes as f64 / (1u64 << 30) as f64;
    let enough = (bytes / (1 << 28)).saturating_mul(every).max(2);
    SetupError::new(format!("storing {instants} instants would take {gib:.1} GiB"))
        .with_kind(Kind::TooLarge)
        .help(format!("store fewer, for example with every = {enough} (--every {enough}); impacts are always kept"))
}
