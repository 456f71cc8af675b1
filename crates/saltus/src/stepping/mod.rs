//! The contract of a time-stepping run in progress ([`Stepper`], [`Node`]), and of settings ([`Setting`]). Knows no
//! particular scheme.

mod blocks;
mod settings;

pub(crate) use blocks::{Blocks, Label};

pub use settings::{Choice, Domain, Setting, SettingValue, Settings, Systems};

use crate::Reason;

/// An instant t_n of the discrete motion, complete with both velocities and all impulses.
///
/// A velocity here is a pair: its jump v⁺ − v⁻ is that of the impulses, zero where there is no contact.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// n.
    pub index: u64,
    /// t_n.
    pub t: f64,
    /// The position (for a structure, of its points).
    pub q: Vec<f64>,
    /// The left limit of the velocity.
    pub v_left: Vec<f64>,
    /// The right limit of the velocity.
    pub v_right: Vec<f64>,
    /// The acceleration without the impulses.
    pub acceleration: Vec<f64>,
    /// The impulse of each constraint, in the order of the model.
    pub impulses: Vec<f64>,
    /// The impulses of everything else: the equations of joints, then the slips of frictions in the order of the model.
    /// Empty where the model has neither.
    pub others: Vec<f64>,
    /// Whether any constraint acts.
    pub contact: bool,
}

impl Node {
    /// Buffers for `d` coordinates and `m` constraints.
    pub fn new(d: usize, m: usize) -> Self {
        let zero = || vec![0.0; d];
        Node {
            q: zero(),
            v_left: zero(),
            v_right: zero(),
            acceleration: zero(),
            impulses: vec![0.0; m],
            ..Node::default()
        }
    }
}

/// Energy, and what has changed it since the start, up to just before a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Kinetic energy.
    pub kinetic: f64,
    /// Potential energy.
    pub potential: f64,
    /// Work of the loads.
    pub work: f64,
    /// Energy dissipated by damping.
    pub dissipated: f64,
    /// Energy lost at the constraints.
    pub lost: f64,
}

impl Account {
    /// Adds work and losses.
    pub(crate) fn add(&mut self, other: &Account) {
        self.work += other.work;
        self.dissipated += other.dissipated;
        self.lost += other.lost;
    }

    /// Kinetic and potential energy.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// A time-stepping run in progress. A step allocates nothing.
pub trait Stepper {
    /// Makes a step and fills in the node it completes: t_0, t_1, … on successive calls.
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason>;

    /// The position of the node that the next call would complete, if it is known already.
    fn pending(&self) -> Option<&[f64]> {
        None
    }

    /// Position and velocity of all degrees of freedom, where nodes hold only some of them.
    fn state(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        None
    }

    /// What it would need to make the step of the last node again, where position and velocity do not tell; see
    /// [`Memory`](crate::problem::Memory). (The engine fills in the state.)
    fn memory(&self) -> Option<crate::problem::Memory> {
        None
    }

    /// Whether it goes on from such a memory: the first node is then one that another run has completed.
    fn goes_on(&self) -> bool {
        false
    }

    /// What a unit impulse of each constraint adds to the velocities of a node, one row per constraint; None: M⁻¹∇f.
    fn responses(&self) -> Option<Vec<f64>> {
        None
    }

    /// The energy account of a scheme that keeps one itself, up to just before the last node.
    fn account(&mut self) -> Option<Account> {
        None
    }

    /// The forces of damping on the supports at the last node, one for each point that is a base shear.
    fn drags(&self, _out: &mut [f64]) {}

    /// The impulses at the last node of what stops do besides pressing: friction along slides, and both components in round holes
    /// ([`crate::motion::History::sides`]).
    fn sides(&self, _out: &mut [f64]) {}

    /// The velocity at the last node where its contacts last, where it is not the mean of both limits: false, or filled in.
    fn contact_velocity(&self, _out: &mut [f64]) -> bool {
        false
    }

    /// What friction at the stops of a structure has done so far.
    fn rubbed(&self) -> Vec<crate::motion::Rubbed> {
        Vec::new()
    }

    /// What a user should know about the steps that were made.
    fn warning(&mut self) -> Option<String> {
        None
    }

    /// The displacements by which the system is drawn at the last node, where nodes do not hold them.
    fn shape(&self) -> Option<Vec<f64>> {
        None
    }
}
