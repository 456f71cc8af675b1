//! The check of a structure: M is constant and the gaps are linear, so that it is a matter of angles and restitutions.

use super::{Check, CheckOptions, Pair, Traits, Verdict, theorems, walls};
use crate::ledger::is_continuous;
use crate::linalg::{Symmetric, dot};
use crate::structure::{Structure, StructureFacts};
use crate::text::{count, grouped, number};

/// More pairs of stops than this are not examined.
const MAX_PAIRS: usize = 300;

pub fn check(
    structure: &Structure,
    t0: f64,
    options: &CheckOptions,
    report: &mut dyn FnMut(usize, usize) -> bool,
) -> Check {
    let model = structure.model();
    let linear = structure.linear();
    let facts = StructureFacts::new(structure);
    let mut all = Check::default();
    all.note("data", Verdict::Good, "the start is admissible: every stop is open or closed".into());
    let massless = match facts.massless {
        0 => String::new(),
        n => format!(", {n} of them massless"),
    };
    all.note(
        "mass",
        Verdict::Good,
        format!("{} degrees of freedom{massless}; M is constant and positive definite", grouped(facts.dofs as u64)),
    );
    let frequencies: Vec<String> = facts.frequencies.iter().take(5).map(|f| number(*f, 5)).collect();
    all.note("forces", Verdict::Good, format!("lowest frequencies {} Hz", frequencies.join(", ")));
    if facts.rigid > 0 {
        let names = facts.rigid_names.join(", ");
        all.note("forces", Verdict::Note, format!("{}: {names}", count(facts.rigid as u64, "rigid-body mode")));
    }
    for (a, c) in model.constraints.iter().enumerate() {
        let text = match linear.is_compliant(a) {
            true => format!("`{}` is a spring that pushes: forces, no impulses", c.name),
            false => {
                format!("`{}`: e = {}, feels a mass of {}", c.name, c.restitution, number(facts.contact_masses[a], 4))
            }
        };
        all.note("gaps", Verdict::Good, text);
    }
    let rigid: Vec<usize> = (0..model.constraints.len()).filter(|&a| !linear.is_compliant(a)).collect();
    let examined = pairs(structure, &rigid, &mut all);
    let graph = &model.graph;
    let e: Vec<f64> = rigid.iter().map(|&a| model.constraints[a].restitution).collect();
    let mut traits = Traits {
        is_structure: true,
        constraints: rigid.len(),
        together: !all.pairs.is_empty(),
        pairs_missing: !examined,
        moving: rigid.iter().any(|&a| model.is_moving(a)),
        mass_constant: true,
        mass_depends_on_time: false,
        velocity_free: linear.damping.is_none() && linear.gyroscopic.is_none(),
        smooth_force: model.signals.iter().all(|&s| graph.is_smooth(s)),
        rough_in_time_only: true,
        smooth_gaps: true,
        restitution: e.first().copied().filter(|first| e.iter().all(|x| x == first)),
        inelastic: e.iter().all(|&x| x == 0.0),
        widest: all.pairs.iter().map(|p| p.widest).fold(0.0, f64::max),
        narrowest: all.pairs.iter().map(|p| p.narrowest).fold(180.0, f64::min),
        becomes_empty: false,
        unbounded_walls: false,
        regular: true,
        joints_independent: true,
        ..Traits::default()
    };
    walls::examine_stops(structure, t0, options, &mut traits, &mut all, report);
    (all.theorems, all.uncovered) = theorems::coverage(&traits);
    if rigid.is_empty() && !model.constraints.is_empty() {
        all.uncovered.push(
            "every stop is a spring that pushes: forces are Lipschitz in the displacements, and the scheme converges as for \
             any ordinary differential equation"
                .into(),
        );
    }
    all
}

/// The kinetic angles of all pairs of rigid stops; false if there are too many. Opposite sides of a guide are never closed
/// together.
fn pairs(structure: &Structure, stops: &[usize], all: &mut Check) -> bool {
    let linear = structure.linear();
    let model = structure.model();
    if stops.len() * stops.len() > 2 * MAX_PAIRS {
        all.note("pairs", Verdict::Note, "so many stops that their angles were not examined".into());
        return false;
    }
    let n = linear.dimension();
    let ones = linear.massless().into_iter().map(|i| (i, i, 1.0));
    let Ok(factor) = Symmetric::new(n, linear.mass.entries().chain(ones).collect()).factor() else { return false };
    let solved: Vec<(Vec<f64>, Vec<f64>)> = stops
        .iter()
        .map(|&a| {
            let mut w = vec![0.0; n];
            linear.stops.add_to(a, 1.0, &mut w);
            let mut x = w.clone();
            factor.solve(&mut x);
            (w, x)
        })
        .collect();
    let product = |a: usize, b: usize| dot(&solved[a].0, &solved[b].1);
    for i in 0..stops.len() {
        for j in 0..i {
            let cos = -product(i, j) / (product(i, i) * product(j, j)).sqrt();
            if cos.abs() >= 1.0 - 1e-9 {
                continue;
            }
            let angle = cos.acos().to_degrees();
            let pair = (stops[j], stops[i]);
            let e = (model.constraints[pair.0].restitution, model.constraints[pair.1].restitution);
            let continuous = is_continuous(angle, e);
            let gamma = 1.0 / (0.5 * angle.to_radians()).sin().max(1e-300);
            let (first, second) = (&model.constraints[pair.0].name, &model.constraints[pair.1].name);
            let (verdict, meaning) = match continuous {
                true => (Verdict::Good, "the motion depends continuously on its data where both are closed"),
                false if e == (0.0, 0.0) => {
                    (Verdict::Bad, "obtuse: the motion depends discontinuously on its data where both are closed")
                }
                false => (Verdict::Bad, "not a right angle: where both are closed nothing is proved"),
            };
            all.note("pairs", verdict, format!("`{first}` and `{second}`: kinetic angle {angle:.4}°; {meaning}"));
            let at = (0.0, Vec::new());
            all.pairs.push(Pair { pair, narrowest: angle, widest: angle, at, found: 1, starts: 1, continuous, gamma });
        }
    }
    true
}
