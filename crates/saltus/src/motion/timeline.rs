//! The phases of a motion in order: flight, impact, chatter, contact, release.

/// What a phase is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PhaseKind {
    /// No constraint acts.
    Flight,
    /// Constraints act with reaction densities.
    Contact,
    /// An instant at which the velocity jumps.
    Impact,
    /// Infinitely many impacts that accumulate at the end of the phase, where contact begins.
    Chatter,
    /// An instant at which a reaction has fallen to zero and its constraint opens.
    Release,
    /// An instant at which a gap touches zero and opens again, without an impact.
    Graze,
    /// A stretch crossed by a time-stepping scheme.
    Stepped,
    /// An instant at which friction begins to stick; the note is its name.
    Stick,
    /// An instant at which friction begins to slide; the note is its name.
    Slip,
    /// An instant at which friction that slides begins to slide the other way; the note is its name.
    Reversal,
}

impl PhaseKind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Flight => "flight",
            PhaseKind::Contact => "contact",
            PhaseKind::Impact => "impact",
            PhaseKind::Chatter => "chatter",
            PhaseKind::Release => "release",
            PhaseKind::Graze => "graze",
            PhaseKind::Stepped => "stepped",
            PhaseKind::Stick => "stick",
            PhaseKind::Slip => "slip",
            PhaseKind::Reversal => "reversal",
        }
    }

    /// Whether it is a change of friction, whose name is the note.
    pub fn is_of_friction(self) -> bool {
        matches!(self, PhaseKind::Stick | PhaseKind::Slip | PhaseKind::Reversal)
    }
}

/// A phase of a motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What it is.
    pub kind: PhaseKind,
    /// Where it begins.
    pub start: f64,
    /// Where it ends; the same as the start for an instant.
    pub end: f64,
    /// The constraints concerned, by their index in the model.
    pub constraints: Vec<usize>,
    /// For chatter: how many of its impacts were computed one by one.
    pub impacts: usize,
    /// For chatter: the estimated error of its end.
    pub error: f64,
    /// For a stretch crossed by time stepping: why.
    pub note: String,
}

impl Phase {
    /// A phase of some constraints.
    pub(crate) fn new(kind: PhaseKind, start: f64, end: f64, constraints: &[usize]) -> Self {
        let constraints = constraints.to_vec();
        Phase { kind, start, end, constraints, impacts: 0, error: 0.0, note: String::new() }
    }
}

/// The phases of a run in order.
///
/// Instants stand between the phases they end and begin. Empty for schemes that step over events without locating them.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The phases.
    pub phases: Vec<Phase>,
}

impl Timeline {
    /// The phases of one kind.
    pub fn of(&self, kind: PhaseKind) -> impl Iterator<Item = &Phase> {
        self.phases.iter().filter(move |p| p.kind == kind)
    }

    /// A graze within the last phase, which it divides.
    pub(crate) fn graze(&mut self, t: f64, constraint: usize) {
        let Some(last) = self.phases.last_mut() else { return };
        let rest = Phase { start: t, ..last.clone() };
        last.end = t;
        self.phases.push(Phase::new(PhaseKind::Graze, t, t, &[constraint]));
        self.phases.push(rest);
    }

    /// Removes a release: its constraint was pressed closed again at the same instant.
    pub(crate) fn unrelease(&mut self, t: f64, constraint: usize) {
        let is_it = |p: &Phase| p.kind == PhaseKind::Release && p.start == t && p.constraints == [constraint];
        if let Some(k) = self.phases.iter().rposition(is_it) {
            self.phases.remove(k);
        }
    }

    /// Appends an instant, or an interval that is no continuation of the one before.
    pub(crate) fn push(&mut self, phase: Phase) {
        self.phases.push(phase);
    }

    /// Continues a flight or a contact of these constraints up to `end`; a new phase if another kind came before.
    pub(crate) fn extend(&mut self, kind: PhaseKind, start: f64, end: f64, constraints: &[usize]) {
        let Some(last) = self.phases.last_mut() else {
            self.phases.push(Phase::new(kind, start, end, constraints));
            return;
        };
        if last.kind == kind && last.constraints == constraints {
            last.end = end;
            return;
        }
        // Contact begins where the chatter before it ends, a little after the last impact that was computed one by one.
        let chatter = last.kind == PhaseKind::Chatter && kind == PhaseKind::Contact;
        let start = if chatter { last.end.clamp(start, end) } else { start };
        self.phases.push(Phase::new(kind, start, end, constraints));
    }
}
