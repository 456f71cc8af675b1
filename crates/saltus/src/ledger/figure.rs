//! The worst of many measurements against what each may be.

use super::Property;

/// A property that is measured at many places: the place counts at which the figure is the largest part of what is allowed.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    name: &'static str,
    what: &'static str,
    measured: &'static str,
    figure: f64,
    allowed: f64,
    share: f64,
    t: Option<f64>,
    constraint: Option<usize>,
}

impl Figure {
    pub fn new(name: &'static str, what: &'static str, measured: &'static str) -> Self {
        Figure { name, what, measured, figure: 0.0, allowed: f64::MAX, share: -1.0, t: None, constraint: None }
    }

    /// A measurement at a time. What is not a number is worse than anything.
    #[inline]
    pub fn note(&mut self, figure: f64, allowed: f64, t: f64) {
        self.note_of(figure, allowed, t, None);
    }

    /// A measurement of a constraint.
    #[inline]
    pub fn note_of(&mut self, figure: f64, allowed: f64, t: f64, constraint: Option<usize>) {
        // Nearly all: no worse than the worst so far.
        if !(figure <= self.share * allowed) {
            self.worse(figure, allowed, t, constraint);
        }
    }

    #[cold]
    fn worse(&mut self, figure: f64, allowed: f64, t: f64, constraint: Option<usize>) {
        let share = match figure == 0.0 {
            true => 0.0,
            false if figure.is_nan() || allowed.is_nan() => f64::INFINITY,
            false => figure / allowed,
        };
        if share > self.share {
            (self.share, self.figure, self.allowed, self.t, self.constraint) =
                (share, figure, allowed, Some(t), constraint);
        }
    }

    /// What came out.
    pub fn property(self) -> Property {
        Property {
            name: self.name,
            what: self.what,
            figure: self.figure,
            allowed: self.allowed,
            measured: self.measured,
            holds: self.share <= 1.0,
            t: self.t.filter(|_| self.figure != 0.0),
            constraint: self.constraint,
        }
    }
}

/// The larger, not-a-number being the largest.
pub(super) fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// What is left of a size beyond what may be; not a number stays that.
pub(super) fn beyond(size: f64, allowed: f64) -> f64 {
    if size <= allowed { 0.0 } else { size - allowed }
}

/// What a model has besides constraints: what it does not have is not listed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Has {
    pub joints: bool,
    pub friction: bool,
    pub states: bool,
}

/// What is measured along a trajectory, whatever made it.
pub(super) struct Checks {
    /// Times increase, numbers are numbers.
    pub order: Figure,
    pub continuous: Figure,
    pub derivative: Figure,
    pub inside: Figure,
    pub closed: Figure,
    pub explained: Figure,
    pub matched: Figure,
    pub forces: Figure,
    pub totals: Figure,
    pub claims: Figure,
    pub joints: Figure,
    pub friction: Figure,
    pub states: Figure,
    /// The largest value and the largest rate of an equation of a joint, away from impacts.
    pub joint_residuals: (f64, f64),
}

impl Checks {
    pub fn new() -> Self {
        Checks {
            order: Figure::new("C0", "time goes forward and numbers are finite", "time going back, or not a number"),
            continuous: Figure::new("C1", "positions do not jump", "largest jump of a position"),
            derivative: Figure::new("C2", "velocities are the rates of positions", "largest difference"),
            inside: Figure::new("P2", "every position is in K(t)", "deepest gap below zero"),
            closed: Figure::new("C3", "gaps are closed at impacts and in contacts", "largest gap"),
            explained: Figure::new("C4", "impulses explain jumps of velocity", "largest difference, of the fastest"),
            matched: Figure::new("C5", "impacts, contacts and phases are those of the motion", "largest difference"),
            forces: Figure::new(
                "C6",
                "forces explain the motion between events",
                "velocity unexplained, of the fastest",
            ),
            totals: Figure::new("C7", "totals are the sums of their parts", "largest difference"),
            claims: Figure::new("C8", "claimed uncertainties are honoured", "largest difference"),
            joints: Figure::new("C9", "joints hold, in positions and velocities", "largest difference"),
            friction: Figure::new(
                "C10",
                "friction obeys Coulomb's law",
                "largest distance from it; with time steps, of all friction",
            ),
            joint_residuals: (0.0, 0.0),
            states: Figure::new("C11", "states change at their rates, and by nothing else", "largest difference"),
        }
    }

    /// P2 by itself, and the others.
    pub fn properties(self, has: Has) -> (Property, Vec<Property>) {
        let Checks {
            order, continuous, derivative, inside, closed, explained, matched, forces, totals, claims, ..
        } = self;
        let others = [order, continuous, derivative, closed, explained, matched, forces, totals, claims];
        let mut others = others.map(Figure::property).to_vec();
        let laws = [(has.joints, self.joints), (has.friction, self.friction), (has.states, self.states)];
        others.extend(laws.into_iter().filter(|(has, _)| *has).map(|(_, figure)| figure.property()));
        (inside.property(), others)
    }
}
