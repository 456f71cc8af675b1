//! Perturbations that travel with a motion: first derivatives with respect to where it starts and to open parameters.
//!
//! A column is (δq, δv, δp) at one instant. Along a piece of the motion it is a Taylor series itself ([`transport`]). At an
//! event it is first seen at the perturbed instant of the event, τ + δτ: there a jump acts on it ([`kick`]), and δτ is
//! undone with the velocities and accelerations after the event. Between the two it is *pending*, so that everything which
//! happens at one instant (an impact, the accumulation it ends, the contact that begins) acts on it in turn.
//! [`occur`] says which event does what.

mod kick;
mod occur;
mod stroke;
mod transport;

use crate::SetupError;
use crate::linalg::FactoredLu;
use crate::motion::{Obstacle, Variation};
use crate::problem::{Evaluator, Instance, Part, VariationalCode};
use saltus_expr::Series;

pub(super) use occur::Crossed;
pub(crate) use stroke::{GapSlopes, Stroke};

/// The perturbations of one run, and how to carry them on.
pub(super) struct Vary {
    instance: Instance,
    d: usize,
    /// Entries of a column: δq, δv, δp, and δτ while it is pending.
    width: usize,
    columns: usize,
    x: Vec<f64>,
    /// The largest entry of the columns when they were given.
    seeded: f64,
    is_pending: bool,
    has_begun: bool,
    /// The rows held in the last piece.
    held: Vec<usize>,
    /// The acceleration at its end, while the velocity is the one there.
    acceleration: Option<Vec<f64>>,
    series: Series,
    kick: Evaluator,
    kicks: Vec<f64>,
    /// U of all rows at the point last looked at, and what friction holds there.
    rates: Vec<f64>,
    holds: Vec<f64>,
    restitution: Evaluator,
    restitutions: Vec<f64>,
    approach: usize,
    matrix: Vec<f64>,
    factored: FactoredLu,
    right: Vec<f64>,
    room: Vec<f64>,
    base: Vec<f64>,
    terms: Vec<f64>,
    /// The perturbed reactions of the rows held at the end of the last piece, one list for each column; and their own values
    /// and rates.
    pulled: Vec<f64>,
    reactions: Vec<(f64, f64)>,
    pub obstacle: Option<Obstacle>,
}

impl Vary {
    pub fn new(at: &Instance, seed: &Variation, order: usize) -> Result<Self, SetupError> {
        let code = at.problem().variational()?;
        let (d, open) = (at.dimension(), at.model().open.len());
        if seed.width() != 2 * d + open {
            return Err(SetupError::length("a column of perturbations", 2 * d + open, seed.width()));
        }
        let (kick, restitution) =
            (Evaluator::new(&code.kick, at.cells()), Evaluator::new(&code.restitution, at.cells()));
        let mut vary = Vary {
            d,
            width: 2 * d + open + 1,
            columns: 0,
            x: Vec::new(),
            seeded: 0.0,
            is_pending: false,
            has_begun: false,
            held: Vec::new(),
            acceleration: None,
            series: Series::new(code.flow.clone(), order),
            kicks: code.kick.buffer(0),
            rates: code.kick.buffer(1),
            holds: code.kick.buffer(2),
            kick,
            restitutions: code.restitution.buffer(0),
            restitution,
            approach: at.problem().approach(),
            matrix: Vec::new(),
            factored: FactoredLu::default(),
            right: Vec::new(),
            room: Vec::new(),
            base: Vec::new(),
            terms: Vec::new(),
            pulled: Vec::new(),
            reactions: Vec::new(),
            obstacle: None,
            instance: at.clone(),
        };
        vary.set(seed);
        Ok(vary)
    }

    /// Other columns from here on.
    pub fn set(&mut self, columns: &Variation) {
        self.columns = columns.len();
        self.is_pending = false;
        self.x.clear();
        for k in 0..columns.len() {
            self.x.extend_from_slice(columns.column(k));
            self.x.push(0.0);
        }
        self.seeded = crate::linalg::max_abs(&self.x);
    }

    /// The columns at an instant; none may be pending.
    pub fn get(&self, t: f64, acceleration: &[f64]) -> Variation {
        let mut all = Variation::new(self.d, self.width - 1 - 2 * self.d);
        (all.t, all.acceleration) = (t, acceleration.to_vec());
        for k in 0..self.columns {
            all.push_zero();
            all.column_mut(k).copy_from_slice(&self.column(k)[..self.width - 1]);
        }
        all
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.x[k * self.width..(k + 1) * self.width]
    }

    fn code(&self) -> Result<&VariationalCode, SetupError> {
        self.instance.problem().variational()
    }

    fn stop(&mut self, t: f64, what: impl Into<String>) {
        if self.obstacle.is_none() {
            self.obstacle = Some(Obstacle { t, what: what.into() });
        }
    }

    /// The perturbation of what a part of the derivatives at a point says, row `row`, in column `k`.
    fn along(&self, part: &Part, row: usize, k: usize) -> f64 {
        let x = self.column(k);
        let entries = part.places.iter().enumerate().filter(|(_, (r, _))| *r == row);
        entries.map(|(n, &(_, c))| self.kicks[part.first + n] * x[c]).sum()
    }
}
