//! Friction and joints in the engine: which friction sticks and which slides, from the complementarity problem of the
//! accelerations with Coulomb's law in it, and the events at which that changes.
//!
//! At an instant, friction with slip slides against it. Where there is no slip, the problem decides: either no slip
//! acceleration, with a force within its limit while sticking, or slip begins, and the force is that of sliding. Joints are
//! held always. Where the problem has no solution or several (Painlevé), the run ends there and says so; with the safety net
//! an impulse stops the slip: an *impact without collision* ([`impact`]).

mod impact;

use super::flow::Grip;
use super::{EventEngine, STILL};
use crate::contact::{Coulomb, FrictionImpactLaw, Law, Status, Why};
use crate::linalg::{Delassus, add};
use crate::motion::{Phase, PhaseKind};
use crate::problem::{Frictions, Gaps, Instance, Restitutions};
use crate::{Reason, SetupError};

/// Slip that begins in space has a direction at once, that of its acceleration, and keeps it until it is large enough to have one
/// itself: in steps that begin with this part of the present pace, each so many times as long as the one before.
const LAUNCH: f64 = 1e-7;
const LONGER: f64 = 4.0;

/// Slip has stopped where it is below this many tolerances of the velocities it is made of.
const STOPPED: f64 = 30.0;

/// Friction on the edge between sticking and sliding may exceed its limit by this part of it.
pub(super) const EDGE: f64 = 1e-9;

/// Coefficients of friction below this count as zero.
const LEAST: f64 = 1e-14;

/// What the engine knows about friction and joints.
pub(super) struct Rubbing {
    /// Whether the model has any.
    pub is_there: bool,
    /// The rows of the joints held: those that do not follow from the others.
    pub joints: Vec<usize>,
    /// All rows held at present: constraints, joints, slips that stick.
    pub rows: Vec<usize>,
    /// Friction that is zero whatever happens.
    pub never: Vec<bool>,
    /// Friction that has broken loose since time last advanced, and in which direction.
    pub loose: Vec<Option<[f64; 2]>>,
    /// Friction that can neither stick nor slide clearly since time last advanced: on the edge. It sticks until its limit is
    /// clearly exceeded.
    pub edge: Vec<bool>,
    /// What the timeline says that each does at present.
    told: Vec<Grip>,
    /// Slip in space that has come to a stop, to the tolerance.
    stopped: Vec<bool>,
    /// How long the last step was in which slip took up its direction.
    launch: f64,
    /// The largest slip speeds of late, and what time, which is rounded, makes of them.
    pub scale: Vec<f64>,
    noise: Vec<f64>,
    /// How many impacts had their restitution reduced, and the smallest factor.
    pub reduced: (usize, f64),
    pub restitutions: Option<Restitutions>,
    /// For checks at other points than those expanded about.
    pub checked: (Gaps, Frictions),
    pub q: Vec<f64>,
    pub v: Vec<f64>,
    kernel: Coulomb,
    law: FrictionImpactLaw,
    delassus: Delassus,
    problem: Blocks,
}

/// A problem in blocks: rows, laws, W = D P + b.
#[derive(Default)]
struct Blocks {
    rows: Vec<usize>,
    laws: Vec<Law>,
    /// The friction of each law, and whether it slides.
    of: Vec<Option<usize>>,
    d: Vec<f64>,
    b: Vec<f64>,
    p: Vec<f64>,
    /// M⁻¹ of what a unit of each unknown pulls with.
    pulls: Vec<f64>,
}

impl Blocks {
    fn clear(&mut self) {
        self.rows.clear();
        self.laws.clear();
        self.of.clear();
    }

    fn push(&mut self, law: Law, friction: Option<usize>, rows: impl Iterator<Item = usize>) {
        self.laws.push(law);
        self.of.push(friction);
        self.rows.extend(rows);
    }

    /// Where block k begins among the unknowns.
    fn place(&self, k: usize) -> usize {
        self.laws[..k].iter().map(|law| law.unknowns()).sum()
    }
}

fn never(graph: &saltus_expr::Graph, friction: &crate::model::Friction) -> bool {
    graph.is_zero(friction.kinetic) && graph.is_zero(friction.sticking)
}

impl Rubbing {
    pub fn new(at: &Instance) -> Result<Self, SetupError> {
        let model = at.model();
        let (d, n) = (at.dimension(), model.frictions.len());
        let slips: usize = model.frictions.iter().map(|f| f.slips.len()).sum();
        let rows = at.constraints() + model.joints.len() + slips;
        Ok(Rubbing {
            is_there: model.has_joints_or_friction(),
            joints: Vec::new(),
            rows: Vec::with_capacity(rows),
            never: model.frictions.iter().map(|f| never(&model.graph, f)).collect(),
            loose: vec![None; n],
            edge: vec![false; n],
            told: vec![Grip::Off; n],
            stopped: vec![false; n],
            launch: 0.0,
            scale: vec![0.0; n],
            noise: vec![0.0; n],
            reduced: (0, 1.0),
            restitutions: at.restitutions(),
            checked: (at.joints(), at.frictions()),
            q: vec![0.0; d],
            v: vec![0.0; d],
            kernel: Coulomb::new(rows),
            law: FrictionImpactLaw::new(rows),
            delassus: Delassus::new(rows, d),
            problem: Blocks::default(),
        })
    }
}

impl EventEngine {
    /// Slip speeds below this are no slip.
    pub(super) fn no_slip(&self, f: usize) -> f64 {
        STILL * self.rubbing.scale[f] + self.rubbing.noise[f]
    }

    /// The direction of slip is lost in the errors of velocities below this: slip has stopped.
    fn stop_speed(&self, f: usize) -> f64 {
        (STOPPED * self.tol * self.rubbing.scale[f]).max(self.no_slip(f))
    }

    fn slides_in_space(&self, f: usize) -> bool {
        let friction = &self.flow.friction;
        friction.elements[f].slips == 2 && matches!(friction.grip[f], Grip::Slide(_))
    }

    /// Notes slip in space that has come to a stop at the end of a step; whether there is any.
    pub(super) fn slip_stops(&mut self) -> Result<bool, Reason> {
        let count = self.rubbing.scale.len();
        if !(0..count).any(|f| self.slides_in_space(f)) {
            return Ok(false);
        }
        self.evaluate(false)?;
        self.measure_slips();
        if self.flow.friction.is_launching {
            self.flow.friction.is_launching = self.begins_to_slide();
            return Ok(false);
        }
        let mut any = false;
        for f in 0..count {
            if !self.slides_in_space(f) {
                continue;
            }
            self.rubbing.stopped[f] = self.slip_speed(f) <= self.stop_speed(f) && self.rubbing.loose[f].is_none();
            any |= self.rubbing.stopped[f];
        }
        Ok(any)
    }

    /// Slip in the plane that has been found to stop is zero: what rounding of time and of the root leave of it is taken away,
    /// or it would be slip in the direction that has just ended.
    pub(super) fn no_slip_remains(&mut self, f: usize) -> Result<(), Reason> {
        if self.flow.friction.elements[f].slips != 1 {
            return Ok(());
        }
        self.evaluate(false)?;
        self.measure_slips();
        let first = self.flow.friction.elements[f].first;
        let (row, slip) = (self.flow.slip_row(first), self.flow.friction.slip[first]);
        if slip == 0.0 || slip.abs() > self.stop_speed(f) {
            return Ok(());
        }
        let Self { flow, buffers, v, .. } = self;
        let pull = &mut buffers.y;
        pull.fill(0.0);
        flow.gradients.add_to(row, 1.0, pull);
        flow.metric.solve(pull);
        let along = flow.gradients.dot(row, pull);
        if along > 0.0 {
            add(v, -slip / along, pull);
        }
        Ok(())
    }

    /// The slip speed of friction f at the point last evaluated.
    pub(super) fn slip_speed(&self, f: usize) -> f64 {
        let element = &self.flow.friction.elements[f];
        let slip = &self.flow.friction.slip[element.first..element.first + element.slips];
        slip.iter().map(|u| u * u).sum::<f64>().sqrt()
    }

    /// Brings the scales of slips up to date at the point last evaluated.
    pub(super) fn measure_slips(&mut self) {
        let tick = 4.0 * f64::EPSILON * self.t.abs();
        for f in 0..self.rubbing.scale.len() {
            let (first, count) = (self.flow.friction.elements[f].first, self.flow.friction.elements[f].slips);
            let mut noise = 0.0_f64;
            for s in first..first + count {
                let row = self.flow.slip_row(s);
                let size = self.flow.gradients.dot_abs(row, &self.v) + self.flow.partial_t[row].abs();
                if size.is_finite() {
                    self.rubbing.scale[f] = self.rubbing.scale[f].max(size);
                }
                let moved = tick * (self.flow.gamma[row].abs() + self.flow.gradients.dot_abs(row, &self.flow.free));
                noise = noise.max(if moved.is_finite() { moved } else { 0.0 });
            }
            self.rubbing.noise[f] = noise;
        }
    }

    /// The rows of the joints that do not follow from others, at the point last evaluated.
    fn find_joints(&mut self) {
        let model = self.instance.model();
        let (m, j) = (model.constraints.len(), model.joints.len());
        self.rubbing.joints.clear();
        if j > 0 {
            let Self { rubbing, flow, .. } = self;
            rubbing.delassus.set(&flow.metric, &flow.gradients, m..m + j);
            rubbing.joints.extend(rubbing.delassus.independent().iter().map(|&k| m + k));
        }
    }

    /// The rows held with these constraints: joints and slips that stick besides.
    pub(super) fn rows_with(&mut self, constraints: &[usize]) -> Vec<usize> {
        if !self.rubbing.is_there {
            return constraints.to_vec();
        }
        self.find_joints();
        let mut rows = constraints.to_vec();
        rows.extend(&self.rubbing.joints);
        for (f, element) in self.flow.friction.elements.iter().enumerate() {
            let presses = element.constraint.is_none_or(|a| constraints.contains(&a));
            if self.flow.friction.grip[f] == Grip::Stick && presses {
                rows.extend((element.first..element.first + element.slips).map(|s| self.flow.slip_row(s)));
            }
        }
        // Rows that follow from those before them have no reaction of their own: joints first, then constraints, then slips.
        let m = constraints.len();
        let order: Vec<usize> =
            (m..m + self.rubbing.joints.len()).chain(0..m).chain(m + self.rubbing.joints.len()..rows.len()).collect();
        let Self { rubbing, flow, .. } = self;
        rubbing.delassus.set(&flow.metric, &flow.gradients, order.iter().map(|&k| rows[k]));
        let mut kept: Vec<usize> = rubbing.delassus.independent().iter().map(|&k| rows[order[k]]).collect();
        kept.sort_unstable();
        kept
    }

    /// The force of a block's unknowns, in the order of its rows.
    fn fill_problem(&mut self) {
        let d = self.q.len();
        let Self { rubbing, flow, buffers, .. } = self;
        let problem = &mut rubbing.problem;
        let n = problem.rows.len();
        problem.d.resize(n * n, 0.0);
        problem.b.resize(n, 0.0);
        problem.p.clear();
        problem.p.resize(n, 0.0);
        problem.pulls.resize(n * d, 0.0);
        for k in 0..n {
            let w = &mut problem.pulls[k * d..(k + 1) * d];
            w.fill(0.0);
            flow.add_direction(problem.rows[k], 1.0, w);
            flow.metric.solve(w);
            for (j, &row) in problem.rows.iter().enumerate() {
                problem.d[j * n + k] = flow.gradients.dot(row, w);
            }
        }
        for (j, &row) in problem.rows.iter().enumerate() {
            problem.b[j] = flow.gap_acceleration(row, &buffers.x);
        }
    }

    /// The accelerations with the members listed in the buffers, joints and friction: into `x`; reactions of the members into
    /// `lambda`; grips into the flow.
    pub(super) fn accelerations(&mut self) -> Result<(), Reason> {
        self.measure_slips();
        self.find_joints();
        let count = self.rubbing.scale.len();
        // Slip slides; what has broken loose at this instant as well; the others are to be decided.
        let mut undecided = vec![false; count];
        for f in 0..count {
            let presses = match self.flow.friction.elements[f].constraint {
                Some(a) => self.buffers.members.contains(&a),
                None => true,
            };
            let none = if self.rubbing.stopped[f] { self.stop_speed(f) } else { self.no_slip(f) };
            let slides = self.slip_speed(f) > none;
            let idle = self.rubbing.never[f];
            self.flow.friction.grip[f] = match (presses, slides, self.rubbing.loose[f]) {
                (false, ..) => Grip::Off,
                (true, true, _) => Grip::Slide(self.direction_of_slip(f)),
                (true, false, Some(direction)) => Grip::Slide(direction),
                (true, false, None) if idle => Grip::Off,
                (true, false, None) => {
                    undecided[f] = true;
                    Grip::Stick
                }
            };
        }
        for _ in 0..2 * count + 2 {
            self.flow.friction.is_launching = self.begins_to_slide();
            self.flow.weigh_point();
            self.solve_accelerations(&undecided)?;
            // Friction that begins to slide: with the coefficient of sliding from now on.
            let mut changed = false;
            for k in 0..self.rubbing.problem.laws.len() {
                let Some(f) = self.rubbing.problem.of[k].filter(|&f| undecided[f]) else { continue };
                match self.rubbing.kernel.status(k) {
                    Status::Slip(direction) => {
                        undecided[f] = false;
                        changed = true;
                        self.flow.friction.grip[f] = Grip::Slide(direction);
                    }
                    Status::Open => self.flow.friction.grip[f] = Grip::Off,
                    Status::Stick => self.flow.friction.grip[f] = Grip::Stick,
                }
            }
            if !changed {
                break;
            }
        }
        Ok(())
    }

    fn direction_of_slip(&self, f: usize) -> [f64; 2] {
        let element = &self.flow.friction.elements[f];
        let u = &self.flow.friction.slip[element.first..element.first + element.slips];
        match *u {
            [u] => [u.signum(), 0.0],
            [x, y] => [x / x.hypot(y), y / x.hypot(y)],
            _ => [0.0; 2],
        }
    }

    /// Whether slip in space begins here: its direction is given.
    fn begins_to_slide(&self) -> bool {
        let begins = |f: usize| {
            let friction = &self.flow.friction;
            matches!(friction.grip[f], Grip::Slide(_))
                && friction.elements[f].slips == 2
                && self.slip_speed(f) <= self.stop_speed(f)
        };
        (0..self.rubbing.scale.len()).any(begins)
    }

    fn solve_accelerations(&mut self, undecided: &[bool]) -> Result<(), Reason> {
        {
            let Self { rubbing, flow, buffers, .. } = self;
            // The free acceleration, with dry friction that slides.
            buffers.y.fill(0.0);
            flow.add_sliders(&mut buffers.y);
            flow.metric.solve(&mut buffers.y);
            buffers.x.copy_from_slice(&flow.free);
            add(&mut buffers.x, 1.0, &buffers.y);
            let problem = &mut rubbing.problem;
            problem.clear();
            for &row in &rubbing.joints {
                problem.push(Law::Joint, None, std::iter::once(row));
            }
            for &a in &buffers.members {
                let friction = self.instance.model().constraints[a].friction;
                match friction.filter(|&f| undecided[f]) {
                    Some(f) => {
                        let element = &flow.friction.elements[f];
                        let more = if rubbing.edge[f] { 1.0 + EDGE } else { 1.0 };
                        // (Where it is zero for a moment only, it holds as good as nothing.)
                        let mu = (more * flow.friction.sticking[f]).max(LEAST);
                        let law = Law::Coulomb { mu, tangents: element.slips };
                        let slips = (element.first..element.first + element.slips).map(|s| flow.slip_row(s));
                        problem.push(law, Some(f), std::iter::once(a).chain(slips));
                    }
                    None => problem.push(Law::Unilateral, friction, std::iter::once(a)),
                }
            }
            for (f, element) in flow.friction.elements.iter().enumerate() {
                if element.constraint.is_none() && undecided[f] {
                    let more = if rubbing.edge[f] { 1.0 + EDGE } else { 1.0 };
                    let law = Law::Dry { limit: more * flow.friction.sticking[f] };
                    problem.push(law, Some(f), std::iter::once(flow.slip_row(element.first)));
                }
            }
        }
        self.fill_problem();
        let d = self.q.len();
        let Self { rubbing, buffers, .. } = self;
        let Blocks { d: matrix, b, laws, p, pulls, rows, .. } = &mut rubbing.problem;
        if let Err(error) = rubbing.kernel.solve(matrix, b, laws, p) {
            let place = rubbing.problem.place(error.block);
            let constraint = self.flow.row_name(self.rubbing.problem.rows[place]);
            let slides = !matches!(self.rubbing.problem.laws[error.block], Law::Joint | Law::Dry { .. });
            return Err(match (slides, error.kind) {
                (true, Why::NoneExists | Why::Several) => Reason::Painleve { constraint },
                _ => Reason::Laws { constraint },
            });
        }
        for k in 0..rows.len() {
            add(&mut buffers.x, p[k], &pulls[k * d..(k + 1) * d]);
        }
        buffers.lambda.clear();
        for &a in &buffers.members {
            let place = rows.iter().position(|&row| row == a);
            buffers.lambda.push(place.map_or(0.0, |k| p[k]));
        }
        Ok(())
    }

    /// After the working set has been chosen: rows held, friction of constraints that do not press is off, changes are noted.
    pub(super) fn grip(&mut self) {
        for f in 0..self.rubbing.scale.len() {
            let pressed = self.flow.friction.elements[f].constraint.is_none_or(|a| self.working.contains(&a));
            if !pressed {
                self.flow.friction.grip[f] = Grip::Off;
            }
        }
        self.rubbing.stopped.fill(false);
        self.flow.friction.is_launching = self.begins_to_slide();
        let working = std::mem::take(&mut self.working);
        let rows = self.rows_with(&working);
        self.working = working;
        self.rubbing.rows = rows;
        for f in 0..self.rubbing.told.len() {
            let is = self.flow.friction.grip[f];
            // (An impact, or the end of an accumulation, may have changed it before.)
            let kind = match (std::mem::replace(&mut self.rubbing.told[f], is), is) {
                (Grip::Stick, Grip::Slide(_)) | (Grip::Off, Grip::Slide(_)) => PhaseKind::Slip,
                (Grip::Slide(a), Grip::Slide(b)) if a[0] * b[0] + a[1] * b[1] < 0.0 => PhaseKind::Reversal,
                (Grip::Slide(_) | Grip::Off, Grip::Stick) => PhaseKind::Stick,
                _ => continue,
            };
            let constraints: Vec<usize> = self.flow.friction.elements[f].constraint.into_iter().collect();
            let mut phase = Phase::new(kind, self.t, self.t, &constraints);
            phase.note = self.instance.model().frictions[f].name.clone();
            self.record.phase(phase);
            self.record.mark(self.t, &self.q, &self.v);
        }
    }

    /// The longest step while slip in space takes up its direction.
    pub(super) fn launch(&mut self) -> f64 {
        if !self.flow.friction.is_launching {
            self.rubbing.launch = 0.0;
            return f64::INFINITY;
        }
        let first = LAUNCH * if self.pace > 0.0 { self.pace } else { self.end - self.t };
        self.rubbing.launch = (LONGER * self.rubbing.launch).max(first.max(4.0 * self.shortest()));
        self.rubbing.launch
    }
}
