//! The period of harmonic forcing as a function of open parameters.

use crate::text::number;
use crate::{Model, Problem, SetupError};
use saltus_expr::{Graph, NodeId, Program, Scalar};
use std::f64::consts::TAU;
use std::sync::Arc;

/// A period that holds more than this many of the fastest oscillation is not recognised.
const MOST: f64 = 64.0;

/// What drives a system, where all of it is sines and cosines of phases that grow in proportion to time.
///
/// ```
/// use saltus::{analysis::HarmonicForcing, model::Builder};
/// let model = Builder::new("driven").parameter("w", 3.0).coordinate("x", 0.0, 0.0).kinetic("x'^2/2")
///     .force("x", "sin(w*t) + cos(2*w*t + 1)").build()?.open(&["w"])?;
/// let mut forcing = HarmonicForcing::of(&model).unwrap();
/// assert_eq!(forcing.period(&[5.0]), Some(std::f64::consts::TAU / 5.0));
/// # Ok::<(), saltus::SetupError>(())
/// ```
#[derive(Clone, Debug)]
pub struct HarmonicForcing {
    rates: Scalar,
    count: usize,
    open: usize,
}

impl HarmonicForcing {
    /// That of a model; None if nothing depends on time, or something does in another way.
    pub fn of(model: &Model) -> Option<Self> {
        let mut graph = model.graph.clone();
        let mut phases: Vec<NodeId> = Vec::new();
        for node in driven(model) {
            phases.extend(graph.harmonics_in(node, model.t)?);
        }
        phases.sort_unstable();
        phases.dedup();
        let moving: Vec<NodeId> = [model.t].iter().chain(&model.q).chain(&model.v).copied().collect();
        let mut rates: Vec<NodeId> = phases.iter().map(|&phase| graph.derivative(phase, model.t)).collect();
        rates.sort_unstable();
        rates.dedup();
        if rates.is_empty() || rates.iter().any(|&rate| graph.depends_on_any(rate, &moving)) {
            return None;
        }
        Self::compile(&graph, model, &rates)
    }

    fn compile(graph: &Graph, model: &Model, rates: &[NodeId]) -> Option<Self> {
        let inputs: Vec<NodeId> = model.open.iter().map(|p| p.symbol).collect();
        let program = Program::compile(graph, &inputs, rates).ok()?;
        Some(HarmonicForcing { rates: Scalar::new(Arc::new(program)), count: rates.len(), open: inputs.len() })
    }

    /// The period for values of the open parameters; None if it is infinite, or too long to be recognised.
    pub fn period(&mut self, parameters: &[f64]) -> Option<f64> {
        self.rates.inputs_mut()[..self.open].copy_from_slice(parameters.get(..self.open)?);
        self.rates.run();
        let mut all: Vec<f64> = (0..self.count).map(|k| self.rates.output(k).abs()).filter(|x| *x != 0.0).collect();
        all.sort_by(f64::total_cmp);
        let (least, most) = (*all.first()?, *all.last()?);
        if !most.is_finite() {
            return None;
        }
        // The largest base of which all rates are multiples.
        let is_whole = |x: f64| x.round() >= 1.0 && (x - x.round()).abs() <= 1e-12 * x;
        let base =
            (1..=MOST as u32).map(|k| least / f64::from(k)).find(|b| all.iter().all(|rate| is_whole(rate / b)))?;
        (most / base <= MOST).then_some(TAU / base)
    }
}

/// Refuses a period that is none of what drives a model, as far as that is known: neither its period nor a multiple of it.
pub fn check_period(problem: &Problem, parameters: &[f64], given: f64) -> Result<(), SetupError> {
    let own = HarmonicForcing::of(problem.model()).and_then(|mut forcing| forcing.period(parameters));
    let Some(own) = own else { return Ok(()) };
    let times = given / own;
    match times.round() >= 1.0 && (times - times.round()).abs() <= 1e-9 * times {
        true => Ok(()),
        false => {
            let (given, own) = (number(given, 8), number(own, 8));
            Err(SetupError::new(format!("{given} is not a period of what drives the model, which has {own}"))
                .help("leave --period out, or give it as an expression of parameters, such as  --period \"2*pi/w\""))
        }
    }
}

/// Everything that may depend on time.
fn driven(model: &Model) -> Vec<NodeId> {
    let frictions = model.frictions.iter().flat_map(|f| f.slips.iter().map(|s| s.value).chain([f.kinetic, f.sticking]));
    let joints = model.joints.iter().map(|j| j.equation);
    let gaps = model.constraints.iter().map(|c| c.gap);
    model.force.iter().chain(&model.mass).copied().chain(gaps).chain(joints).chain(frictions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Builder;

    fn period(force: &str, gap: &str) -> Option<f64> {
        let model = Builder::new("driven").parameter("w", 3.0).coordinate("x", 0.0, 0.0).kinetic("x'^2/2");
        let model = model.force("x", force).restitution(0.5).constraint("wall", gap).build().expect("a model");
        HarmonicForcing::of(&model).and_then(|mut forcing| forcing.period(&[]))
    }

    #[test]
    fn all_that_moves_has_a_part_in_the_period() {
        let near = |found: Option<f64>, rate: f64| (found.expect("a period") - TAU / rate).abs() < 1e-14;
        assert!(near(period("sin(w*t)", "2 - x"), 3.0));
        assert!(near(period("x'*cos(2*w*t) + sin(3*w*t)", "2 - x"), 3.0));
        assert!(near(period("1 + cos(w*t)^2", "2 - x"), 3.0));
        assert!(near(period("sin(w*t)", "2 - x + 0.1*sin(w*t/2)"), 1.5));
        // Nothing moves; incommensurate; grows; a phase that also depends on the position; a chirp.
        for force in ["-x", "sin(t) + sin(sqrt(2)*t)", "t*sin(w*t)", "sin(w*t + x)", "sin(t^2)"] {
            let found = period(force, "2 - x");
            assert_eq!(found, if force == "sin(w*t + x)" { Some(TAU / 3.0) } else { None }, "{force}");
        }
    }
}
