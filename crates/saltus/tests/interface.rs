//! The interface as its users write it: a parameter study, a control loop, a structure, errors, a scheme from outside.

use saltus::model::Builder;
use saltus::motion::Crossing;
use saltus::problem::Instance;
use saltus::scheme::{Node, Scheme, Settings, Stepper, Stepping};
use saltus::structure::{self, Beam, beam::Section};
use saltus::{Keep, Kind, Model, Options, Reason, SetupError, Side, Stop};
use std::error::Error;
use std::f64::consts::TAU;
use std::sync::Arc;

fn family() -> Result<Arc<Model>, SetupError> {
    Builder::new("osc")
        .parameter("w", 1.0)
        .parameter("e", 0.8)
        .coordinate("x", 0.0, 0.0)
        .kinetic("x'^2/2")
        .potential("x^2/2")
        .port("u")
        .force("x", "cos(w*t) - 0.1*x' + u")
        .constraint("stop", "1 - x")
        .restitution("e")
        .event("section", "x'", Crossing::Down)
        .build()
}

/// Crossings up and down alternate, and each is found once, in a motion that is known to the tolerance only.
#[test]
fn a_section_is_crossed_once_in_its_direction() -> Result<(), Box<dyn Error>> {
    for (tolerance, start) in [(1e-10, 0.0), (1e-8, 0.1), (1e-6, 0.3)] {
        let model = Builder::new("osc")
            .coordinate("x", start, 0.0)
            .kinetic("x'^2/2")
            .potential("x^2/2")
            .force("x", "cos(t/2) - 0.1*x'")
            .constraint("stop", "1 - x")
            .restitution(0.8)
            .event("up", "x", Crossing::Up)
            .event("down", "x", Crossing::Down)
            .event("both", "x", Crossing::Both)
            .build()?;
        let run = model.problem()?.run(&Options::events(300.0).tolerance(tolerance))?;
        let of = |k: usize| run.trajectory.events.iter().filter(move |e| e.event == k).collect::<Vec<_>>();
        let (up, down, both) = (of(0), of(1), of(2));
        assert!(up.len() > 20 && up.len().abs_diff(down.len()) <= 1 && both.len() == up.len() + down.len());
        assert!(up.iter().all(|e| e.v[0] > 0.0 && e.rising) && down.iter().all(|e| e.v[0] < 0.0 && !e.rising));
        assert!(both.windows(2).all(|pair| pair[0].rising != pair[1].rising && pair[1].t - pair[0].t > 0.1));
    }
    Ok(())
}

#[test]
fn a_study_of_one_motion() -> Result<(), Box<dyn Error>> {
    let problem = family()?.problem()?;
    let run = problem.run(&Options::events(20.0 * TAU).tolerance(1e-10))?.ok()?;
    let mut motion = run.trajectory.cursor(Side::Right);
    let (mut q, mut v) = ([0.0], [0.0]);
    let mut times = 0;
    for t in run.times(1000) {
        motion.read(t, &mut q, &mut v)?;
        assert!(q[0] <= 1.0 + 1e-9);
        times += 1;
    }
    assert_eq!(times, 1001);
    let mut hits = 0;
    for hit in &run.trajectory.impacts {
        assert!((hit.v_after[0] + 0.8 * hit.v_before[0]).abs() < 1e-9 && hit.impulses[0] > 0.0);
        hits += 1;
    }
    assert!(hits > 10);
    // What is stored is a choice; clock and active set travel with the state.
    let lean = Options::events(30.0 * TAU).keep(Keep::EVENTS | Keep::IMPACTS);
    let later = problem.resume(run.last())?.run(&lean)?;
    let whole = problem.run(&Options::events(30.0 * TAU))?;
    assert_eq!(later.trajectory.len(), 2, "start and end only");
    assert!((later.last().q[0] - whole.last().q[0]).abs() < 1e-7);
    assert_eq!(run.trajectory.events.len() + later.trajectory.events.len(), whole.trajectory.events.len());
    Ok(())
}

#[test]
fn a_control_loop() -> Result<(), Box<dyn Error>> {
    let problem = family()?.problem()?;
    for (options, within) in [(Options::steps("mabrouk", 1e-4), 1e-3), (Options::events(f64::INFINITY), 1e-8)] {
        let mut sim = problem.engine(&options)?;
        while sim.t() < 10.0 {
            let push = -0.5 * sim.q()[0] - 0.2 * sim.v()[0];
            sim.set("u", push)?;
            match sim.advance_to(sim.t() + 1e-2)? {
                Stop::Time => {}
                Stop::Event { name, .. } if name == "section" => break,
                _ => {}
            }
        }
        // Runge–Kutta steps of 1e-4 with the same held pushes: x' falls through zero at this time, at this place.
        let (t, x) = (1.759_438_488, 0.611_887_062);
        assert!((sim.t() - t).abs() < within && (sim.q()[0] - x).abs() < within, "t = {}, q = {:?}", sim.t(), sim.q());
        assert_eq!(sim.set("w2", 1.0).expect_err("no such port").kind(), Kind::UnknownName { name: "w2".into() });
        let run = sim.finish();
        assert_eq!(run.ledger.complaints(), Vec::<String>::new());
        assert!(!run.trajectory.events.is_empty());
    }
    Ok(())
}

#[test]
fn a_structure() -> Result<(), Box<dyn Error>> {
    let mut s = structure::Builder::new("strip");
    let section = Section { rigidity: 0.2, mass_per_length: 0.5 };
    let beam = s.part(Beam::hermite(0.3, section, 30).clamped_free().rayleigh(0.5, 1e-5));
    let tip = s.point("tip", beam.at(0.3));
    s.parameter("F", 1.0);
    s.force(&tip, "F*sin(60*t)");
    s.stop("stop", 0.002 - &tip, 0.0);
    let run = s.build()?.run(&Options::steps("paoli-schatzman", 1e-4).until(0.2))?.ok()?;
    assert!(!run.trajectory.impacts.is_empty());
    // Mistakes of a builder are errors, not panics.
    let mut wrong = structure::Builder::new("wrong");
    let beam = wrong.part(Beam::hermite(-1.0, section, 0));
    wrong.point("tip", beam.at(7.0));
    assert!(wrong.build().is_err());
    Ok(())
}

#[test]
fn errors_are_for_code_as_well() -> Result<(), Box<dyn Error>> {
    let family = family()?;
    match family.with(&[("e", 1.5)]).map_err(|e| e.kind()) {
        Err(Kind::OutOfRange { value, .. }) => assert_eq!(value, 1.5),
        other => panic!("{other:?}"),
    }
    let problem = family.problem()?;
    let outside = saltus::Start::new(0.0, vec![1.5], vec![0.0]);
    match problem.run_from(&outside, &Options::events(1.0)).map_err(|e| e.kind()) {
        Err(Kind::Inadmissible { constraint, gap }) => assert_eq!((constraint.as_str(), gap), ("stop", -0.5)),
        other => panic!("{other:?}"),
    }
    let short = saltus::Start::new(0.0, vec![], vec![0.0]);
    assert!(matches!(problem.run_from(&short, &Options::events(1.0)).map_err(|e| e.kind()), Err(Kind::Length { .. })));
    Ok(())
}

/// Stands still.
struct Still(u64);

impl Stepper for Still {
    fn advance(&mut self, node: &mut Node) -> Result<(), Reason> {
        (node.index, node.t) = (self.0, self.0 as f64 * 0.1);
        self.0 += 1;
        Ok(())
    }
}

fn my_start(_: &Instance, _: f64, _: &Settings) -> Result<Box<dyn Stepper>, SetupError> {
    Ok(Box::new(Still(0)))
}

#[test]
fn a_scheme_from_outside() -> Result<(), Box<dyn Error>> {
    let mine = Scheme::stepping("mine", Stepping { start: my_start, ..Stepping::velocity() });
    let run = family()?.problem()?.run(&Options::steps(mine, 0.1).until(1.0))?;
    assert_eq!((run.scheme.name, run.steps), ("mine", 10));
    Ok(())
}

/// Where two polynomials meet, the time may lie between them by rounding; it is still read from one of them.
#[test]
fn polynomials_hold_where_they_meet() {
    let spring = Builder::new("spring").coordinate("x", 1.0, 0.0).kinetic("x'^2/2");
    let problem = spring.potential("x^2/2").build().and_then(|m| m.problem()).expect("a model");
    let run = problem.run(&Options::events(300.0).step(300.0)).expect("a run");
    let motion = &run.trajectory;
    assert!(motion.len() < 5 && motion.pieces.len() > 40);
    for &t in motion.pieces.starts() {
        for t in [t.next_down().max(0.0), t, t.next_up()] {
            for side in [Side::Left, Side::Right] {
                let (q, v) = motion.at(t, side).expect("inside");
                assert!((q[0] - t.cos()).abs() < 1e-7 && (v[0] + t.sin()).abs() < 1e-7, "t = {t}: {q:?} {v:?}");
            }
        }
    }
}
