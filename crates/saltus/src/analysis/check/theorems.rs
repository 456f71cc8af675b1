//! Which theorem of which paper covers a model with which scheme.
//!
//! [V] = Paoli 2001, [S] = Paoli 2010, [T] = Paoli 2015, [B] = Brogliato 2003. All convergences are of a subsequence: the
//! motion need not be unique. A constant M reduces to the identity by a linear change of coordinates, with all products of
//! gradients taken in M⁻¹.

use super::Traits;

/// A theorem, and whether the model satisfies its hypotheses as far as was examined.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// The scheme it is about; none for existence and uniqueness.
    pub scheme: &'static str,
    /// Where it stands.
    pub source: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// Whether it covers the model.
    pub covers: bool,
    /// Which hypotheses fail.
    pub fails: Vec<&'static str>,
}

/// A hypothesis and what to say if it fails.
type Hypothesis = (bool, &'static str);

fn theorem(scheme: &'static str, source: &'static str, gives: &'static str, hypotheses: &[Hypothesis]) -> Coverage {
    let fails: Vec<&'static str> = hypotheses.iter().filter(|(holds, _)| !holds).map(|(_, what)| *what).collect();
    Coverage { scheme, source, gives, covers: fails.is_empty(), fails }
}

/// An angle this near to a right one is right, in degrees.
const RIGHT: f64 = 1e-6;

pub(super) fn coverage(t: &Traits) -> (Vec<Coverage>, Vec<String>) {
    let one = (!t.together && !t.pairs_missing, "several constraints can be closed at once");
    let still = (!t.moving, "constraints move");
    let continuous = (t.smooth_force, "the forces have corners or jumps");
    let smooth = (t.smooth_gaps, "a gap has corners");
    let one_e = (t.restitution.is_some() || t.constraints == 0, "restitutions differ");
    let inelastic = (t.inelastic, "e is not 0");
    let acute =
        (t.widest <= 90.0 + RIGHT && !t.pairs_missing, "an obtuse kinetic angle (or not all pairs were examined)");
    let right = (
        !t.together || ((t.widest - 90.0).abs() <= RIGHT && (t.narrowest - 90.0).abs() <= RIGHT),
        "kinetic angles that are not right",
    );
    let no_clock = (!t.mass_depends_on_time, "M depends on time");
    let constant = (t.mass_constant, "M is not constant");
    let no_velocity = (t.velocity_free, "forces depend on the velocity");
    let integrable = (t.smooth_force || t.rough_in_time_only, "forces jump with positions or velocities");
    let not_empty = (!t.becomes_empty, "no position is admissible at some time of the run: K(t) is empty");
    let bounded =
        (!t.unbounded_walls, "a gap or its speed ∂f/∂t is not finite, or not bounded, at some time of the run");
    let some = (t.constraints > 0, "there are no constraints");
    // Newmark's forcing and exact flight satisfy (H4) of [V]; the averaged forcing of [T] is not implemented for structures.
    let velocity_level = (!t.is_structure, "mabrouk is not implemented for structures");
    let forcing = (!t.is_structure, "structures are forced by newmark or exact, not averaged");
    let regular = (
        t.regular,
        "a mass that is not positive definite, a gradient that vanishes or a slope that is not finite was found",
    );
    let frictionless = (!t.coulomb && !t.sliders, "there is friction");
    let fixed_e = (!t.varying_restitution, "restitution depends on the approach speed");
    let stateless = (!t.states, "first-order states are not among its data");
    let unjointed = (!t.joints, "it is about schemes without joints");
    // Independent joints leave a smooth manifold with its kinetic metric, on which the theorem holds.
    let rows = (t.joints_independent, "equations of joints depend on each other");
    let plain = [frictionless, fixed_e, stateless, unjointed];
    let with = |more: &[Hypothesis]| [more, &plain].concat();
    let no_sliders = (!t.sliders, "there is dry friction of known limit as well");
    let free = (t.constraints == 0, "there are constraints");
    let constant_limits =
        (t.constant_limits, "the coefficient or limit of friction is not constant, or another while sticking");
    let mut theorems = vec![
        theorem(
            "paoli-schatzman",
            "Paoli & Schatzman 2002 ([V] §3b, [P] theorems 1–2)",
            "convergence, any e, curved K, M(q), locally in time",
            &with(&[some, one, still, continuous, smooth, no_clock, one_e, regular]),
        ),
        theorem(
            "paoli-schatzman",
            "Paoli 2005, 2010 ([S], e = 0)",
            "convergence with several constraints, M(q)",
            &with(&[some, still, continuous, smooth, no_clock, inelastic, acute, regular]),
        ),
        theorem(
            "paoli-schatzman",
            "Paoli 2010 ([S], e > 0; announced with a sketch)",
            "convergence with several constraints, one e, M(q)",
            &with(&[some, still, continuous, smooth, no_clock, one_e, right, regular]),
        ),
        theorem(
            "paoli-schatzman with forcing averaged",
            "Paoli 2015 ([T] theorem 2)",
            "convergence with moving constraints, loads only integrable in time, on the whole interval",
            &with(&[
                some,
                forcing,
                smooth,
                constant,
                no_velocity,
                integrable,
                inelastic,
                acute,
                not_empty,
                bounded,
                regular,
            ]),
        ),
        theorem(
            "mabrouk",
            "Mabrouk 1998 ([V] theorem 4.7)",
            "convergence, any e, locally in time",
            &with(&[some, velocity_level, one, still, continuous, smooth, constant, one_e, regular]),
        ),
        theorem(
            "event-driven, auto",
            "Ballard 2000 ([B] theorem 1)",
            "the motion exists and is unique (e = 0 as [B] states it, [V] §5 for other e): what is computed is *the* motion",
            &[still, continuous, smooth, no_clock, one_e, frictionless, fixed_e, stateless, rows, regular],
        ),
    ];
    if t.coulomb {
        theorems.push(theorem(
            "existence, with friction",
            "Monteiro Marques 1993 (one contact, e = 0), Stewart 1998 (the same, through Painlevé's problem)",
            "a motion exists, with impulses where Painlevé's problem asks for them; it need not be unique",
            &[
                one,
                still,
                continuous,
                smooth,
                no_clock,
                inelastic,
                constant_limits,
                stateless,
                unjointed,
                no_sliders,
                regular,
            ],
        ));
    }
    if t.sliders && !t.coulomb {
        theorems.push(theorem(
            "existence and uniqueness, with dry friction",
            "Brézis 1973 (differential inclusions with a maximal monotone operator)",
            "the motion exists and is unique while no constraint is closed",
            &[free, integrable, constant, constant_limits, stateless, unjointed, regular],
        ));
    }
    let mut uncovered = Vec::new();
    let e_positive = !t.inelastic && t.constraints > 0;
    if t.moving && e_positive {
        uncovered.push("moving constraints with e > 0: no paper proves convergence of any scheme".to_string());
    }
    if t.moving && !t.mass_constant {
        uncovered.push("moving constraints with a mass matrix that depends on q".to_string());
    }
    if t.moving && !t.velocity_free {
        uncovered.push("moving constraints with forces that depend on the velocity".to_string());
    }
    if t.together && e_positive && !right.0 {
        uncovered.push("several constraints closed at once with e > 0 at an angle that is not right: no convergence proof, and continuity in the data is not guaranteed".to_string());
    }
    if t.together && t.inelastic && !acute.0 {
        uncovered.push("several constraints closed at once at an obtuse angle: the motion depends discontinuously on its data there".to_string());
    }
    if t.restitution.is_none() && t.constraints > 1 {
        uncovered.push("constraints with different restitutions: the papers have one e for all".to_string());
    }
    if t.coulomb || t.sliders {
        uncovered.push(
            "friction: none of the convergence theorems of the schemes' papers has it; orders are measured, not proved (docs/friction-and-joints.md)"
                .to_string(),
        );
    }
    if t.joints {
        uncovered.push("convergence of time-stepping schemes with joints: measured, not proved".to_string());
    }
    if t.varying_restitution {
        uncovered.push("restitution that depends on the approach speed: the papers have a constant e".to_string());
    }
    if t.states {
        uncovered.push("first-order states: the papers have positions and velocities only".to_string());
    }
    if !t.smooth_force {
        uncovered.push("uniqueness: it is proved for analytic data only".to_string());
    }
    if !t.smooth_gaps {
        uncovered
            .push("gaps with corners (abs, min, if, sampled): the papers ask for continuous gradients".to_string());
    }
    (theorems, uncovered)
}
