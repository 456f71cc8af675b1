//! The subjects of figures, and what all figures share.

use super::label::{family, name};
use super::layout::{self, Arrangement, Columns};
use super::motion::{Motion, refined};
use super::panel::{AxisLabel, Layer, Panel, Plot};
use super::sheet::{Sheet, Text};
use crate::series::differs;
use crate::{Limit, Line, Thinner, largest};
use saltus::{Side, Trajectory};

/// The subject of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// Positions over time.
    Positions,
    /// Velocities over time, broken at impacts.
    Velocities,
    /// First-order states over time.
    States,
    /// Velocity over position.
    Phase,
    /// Gaps over time.
    Gaps,
    /// Reactions in contact as areas, impulses at impacts as stems.
    Reactions,
    /// Reactions of joints over time, their impulses at impacts as stems.
    Joints,
    /// Forces of friction over time, their impulses at impacts as stems.
    Friction,
    /// Kinetic, potential and total energy over time.
    Energy,
    /// Approach speeds over time, and their histogram.
    Impacts,
    /// Power spectral densities of the coordinates.
    Spectrum,
}

impl What {
    /// All subjects.
    pub const ALL: [What; 11] = [
        What::Positions,
        What::Velocities,
        What::States,
        What::Phase,
        What::Gaps,
        What::Reactions,
        What::Joints,
        What::Friction,
        What::Energy,
        What::Impacts,
        What::Spectrum,
    ];

    /// The name of the subject.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            What::Positions => "positions",
            What::Velocities => "velocities",
            What::States => "states",
            What::Phase => "phase",
            What::Gaps => "gaps",
            What::Reactions => "reactions",
            What::Joints => "joints",
            What::Friction => "friction",
            What::Energy => "energy",
            What::Impacts => "impacts",
            What::Spectrum => "spectrum",
        }
    }

    /// Whether the figure shows constraints rather than coordinates.
    #[must_use]
    pub fn of_constraints(self) -> bool {
        matches!(self, What::Gaps | What::Reactions | What::Impacts)
    }
}

/// Options of a figure.
#[derive(Clone, Debug)]
pub struct Options {
    /// The width.
    pub columns: Columns,
    /// The indices of the coordinates to show (of the states, for states; of the constraints, for gaps, reactions and impacts;
    /// of the equations of joints and of the slips of friction for those); all if empty.
    pub chosen: Vec<usize>,
}

/// A drawn figure.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Figure {
    /// The drawing.
    pub sheet: Sheet,
    /// Notes on what is not shown.
    pub notes: Vec<String>,
}

/// The largest number of panels.
pub(super) const MAX_PANELS: usize = 6;
/// Finer than a printer resolves in a column.
pub(super) const LIMIT: Limit = Limit { points: 6000, jumps: 4000 };

/// Draws a figure of a motion. Figures of gaps and energies need the system.
pub fn draw(motion: &Motion, what: What, options: &Options) -> Result<Figure, String> {
    if motion.trajectory.len() < 2 {
        return Err("fewer than two instants in this interval".into());
    }
    let rows = motion.constraints.len() + motion.joints.len() + motion.frictions.len();
    let fine = refined(motion.trajectory, rows);
    let mut drawing = Drawing { motion, t: &fine, chosen: &options.chosen, notes: Vec::new() };
    let needs_model = |what: &str| format!("{what} need the model, which is not available for this run");
    let (panels, arrangement) = match what {
        What::Positions => (drawing.over_time(false), Arrangement::Stacked),
        What::Velocities => (drawing.over_time(true), Arrangement::Stacked),
        What::States if motion.states.is_empty() => return Err("the model has no first-order states".into()),
        What::States => (drawing.states(), Arrangement::Stacked),
        What::Phase => (drawing.phase(), Arrangement::Separate),
        What::Gaps => (drawing.gaps(motion.system.ok_or_else(|| needs_model("gaps"))?)?, Arrangement::Stacked),
        What::Reactions => (drawing.reactions()?, Arrangement::Stacked),
        What::Joints => (drawing.joints()?, Arrangement::Stacked),
        What::Friction => (drawing.friction()?, Arrangement::Stacked),
        What::Energy => match motion.system.ok_or_else(|| needs_model("energies"))?.as_problem() {
            Some(problem) => (drawing.energy(problem), Arrangement::Stacked),
            None => {
                return Err(
                    "energy histories are not available for structures; energy.csv has the energy account".into()
                );
            }
        },
        What::Impacts => (drawing.impacts()?, Arrangement::Separate),
        // From the stored instants, without refinement.
        What::Spectrum => {
            drawing.t = motion.trajectory;
            (drawing.spectrum()?, Arrangement::Separate)
        }
    };
    let notes = drawing.notes;
    let title = format!("{}: {}", motion.title, what.name());
    Ok(Figure { sheet: layout::sheet(&title, &panels, options.columns, arrangement), notes })
}

pub(super) struct Drawing<'a> {
    pub(super) motion: &'a Motion<'a>,
    /// The motion, refined.
    pub(super) t: &'a Trajectory,
    pub(super) chosen: &'a [usize],
    pub(super) notes: Vec<String>,
}

impl Drawing<'_> {
    pub(super) fn time(&self) -> AxisLabel {
        AxisLabel { name: name("t", false), unit: self.motion.units.time.clone() }
    }

    pub(super) fn span(&self) -> Option<(f64, f64)> {
        self.t.span()
    }

    /// A panel over time whose vertical axis includes zero, with a legend if asked for.
    pub(super) fn panel_with_zero(&self, y: AxisLabel, legend: bool, layers: Vec<Layer>) -> Panel {
        Panel { x: self.time(), y, span: self.span(), zero: true, legend, layers, ..Panel::default() }
    }

    /// The chosen indices, grouped by family, with at most `max` members per group.
    pub(super) fn groups(&mut self, names: &[String], max: usize) -> Vec<Vec<usize>> {
        let all: Vec<usize> = if self.chosen.is_empty() { (0..names.len()).collect() } else { self.chosen.to_vec() };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for i in all {
            let same = |g: &&mut Vec<usize>| family(&names[g[0]]) == family(&names[i]);
            match groups.iter_mut().find(same) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        let given: usize = groups.iter().map(Vec::len).sum();
        groups.truncate(MAX_PANELS);
        groups.iter_mut().for_each(|g| g.truncate(max));
        let shown: usize = groups.iter().map(Vec::len).sum();
        if shown < given {
            self.notes.push(format!("showing {shown} of {given}"));
        }
        groups
    }

    /// A thinned curve; `value` returns the left and the right limit at instant k.
    pub(super) fn curve(&self, value: impl Fn(usize) -> (f64, f64)) -> Line {
        let n = self.t.len();
        let jumps: Vec<usize> = (0..n).filter(|&k| differs(value(k).0, value(k).1)).collect();
        let sizes: Vec<(f64, f64)> = jumps.iter().map(|&k| (self.t.t[k], value(k).0 - value(k).1)).collect();
        let mut drawn = largest(&sizes, LIMIT.jumps).into_iter().map(|at| jumps[at]).peekable();
        let mut thin = Thinner::<1>::new(n, self.span().unwrap_or((0.0, 1.0)), LIMIT);
        for k in 0..n {
            let (left, right) = value(k);
            let t = self.t.t[k];
            match (drawn.next_if_eq(&k), differs(left, right)) {
                (Some(_), _) => thin.jump(t, [left], [right]),
                (None, true) => thin.pass(t, [left], [right]),
                (None, false) => thin.push(t, [left]),
            }
        }
        thin.finish()
    }

    /// Both limits of the velocity of coordinate i at instant k.
    pub(super) fn velocity(&self, k: usize, i: usize) -> (f64, f64) {
        (self.t.v(k, Side::Left)[i], self.t.v(k, Side::Right)[i])
    }

    pub(super) fn plot(line: &Line) -> Plot {
        let piece = |r: std::ops::Range<usize>| r.map(|k| (line.t[k], line.y[0][k])).collect::<Vec<_>>();
        Plot::Curve {
            pieces: line.segments().into_iter().map(piece).collect(),
            jumps: line.jumps.iter().map(|j| (j.t, (j.t, j.left[0]), (j.t, j.right[0]))).collect(),
        }
    }
}

pub(super) fn layer(name: Text, key: &str, style: usize, plot: Plot) -> Layer {
    Layer { name, key: key.to_string(), style, plot }
}

/// A thinned piece of a curve.
pub(super) fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return points };
    let mut thin = Thinner::<1>::new(points.len(), (first.0, last.0), LIMIT);
    points.iter().for_each(|&(x, y)| thin.push(x, [y]));
    let line = thin.finish();
    line.t.iter().copied().zip(line.y[0].iter().copied()).collect()
}
