//! What `check`, `compare`, `converge`, `probe` and the long-time behaviour say, against what is known.

use saltus::analysis::{
    CheckOptions, CompareOptions, ConvergeOptions, EquilibriaOptions, LongTime, Over, ProbeOptions, Verdict, check,
    compare, converge, equilibria, long_time, probe, sequentially, trouble,
};
use saltus::model::Builder;
use saltus::{Options, Problem};
use saltus_io::{ModelFile, shipped};
use std::path::Path;

fn read(text: &str) -> Problem {
    ModelFile::parse("model", text, Path::new(".")).expect("parses").problem(&[]).expect("valid").0
}

fn found(text: &str) -> Vec<(Vec<f64>, &'static str, &'static str)> {
    let all = equilibria(&read(text), &EquilibriaOptions::default(), &mut |_, _| true).expect("searched");
    all.found.into_iter().map(|e| (e.q, e.stability.kind(), e.isolation.kind())).collect()
}

#[test]
fn equilibria_of_files() {
    let morse = "[coordinates]\nx={position=1.3}\n[dynamics]\nkinetic=\"x'^2/2\"\npotential=\"(1-exp(-2*(x-1)))^2\"\n";
    let morse = found(morse);
    assert_eq!(morse.len(), 1, "{morse:?}");
    assert!((morse[0].0[0] - 1.0).abs() < 1e-9 && morse[0].1 == "stable");
    let quarth = found(
        "[coordinates]\nx={position=0.1}\ny={position=0.1}\n[dynamics]\nkinetic=\"(x'^2+y'^2)/2\"\npotential=\"x^2-y^4\"\n",
    );
    assert_eq!(quarth.len(), 1, "{quarth:?}");
    assert!(quarth[0].0.iter().all(|x| x.abs() < 1e-12), "{quarth:?}");
    assert_eq!((quarth[0].1, quarth[0].2), ("unstable", "degenerate"));
}

/// A particle at 0.5 with some gaps: what is said about moving walls, and whether Paoli 2015 covers it.
fn walls(gaps: &[&str], end: f64) -> (Option<(Verdict, String)>, bool) {
    let model = Builder::new("walls").coordinate("x", 0.5, 0).kinetic("x'^2/2").restitution(0);
    let model = gaps.iter().enumerate().fold(model, |m, (k, gap)| m.constraint(&format!("wall {k}"), *gap));
    let problem = model.build().expect("a model").problem().expect("a problem");
    let found = check(&problem, &CheckOptions::new(end), &mut |_, _| true);
    let said = found.findings.iter().find(|f| f.topic == "walls").map(|f| (f.verdict, f.text.clone()));
    let covers = found.theorems.iter().any(|t| t.source.starts_with("Paoli 2015") && t.covers);
    (said, covers)
}

#[test]
fn walls_that_close_or_have_poles_are_not_covered() {
    for (gaps, end, word) in [
        (&["x + 1 - t", "1 - t - x"][..], 2.0, "t = 1 "),
        (&["x + 1 - t", "1 - 0.4*t - x"], 2.0, "t = 1.42857"),
        (&["x + sqrt(t)"], 2.0, "not a finite number at t = 0"),
        (&["x + tan(t)"], 2.0, "t = 1.5708"),
        (&["x + 3 + log(1.5 - t)"], 2.0, "not a finite number"),
        (&["x + 1/(t - 1.234567)^2"], 2.0, "t = 1.23457"),
        (&["x + sqrt(sqrt((t - 0.777)^2))"], 2.0, "t = 0.777"),
    ] {
        let (said, covers) = walls(gaps, end);
        let (verdict, text) = said.expect("something about the walls");
        assert!(verdict == Verdict::Bad && text.contains(word) && !covers, "{gaps:?}: {text}, {covers}");
    }
    // The same before it goes wrong, and walls that are quick but finite.
    for (gaps, end) in [
        (&["x + 1 - t", "1 - t - x"][..], 0.9),
        (&["x + sqrt(t + 0.001)"], 2.0),
        (&["x + tan(t)"], 1.5),
        (&["x - 0.1*sin(50*t)"], 2.0),
        (&["x - 0.3*tanh(100*(t - 1))"], 2.0),
        (&["x + 0.1*atan(1000*(t - 1))", "4 + sin(t) - x"], 2.0),
    ] {
        let (said, covers) = walls(gaps, end);
        assert!(said.as_ref().is_some_and(|(v, _)| *v == Verdict::Good) && covers, "{gaps:?}: {said:?}, {covers}");
    }
    // Nothing moves: nothing is said.
    assert_eq!(walls(&["x"], 2.0).0, None);
}

#[test]
fn one_gradient_has_one_wording() {
    for gap in ["y^3", "y^2", "y^5", "1 - cos(y)"] {
        let model = Builder::new("gap").coordinate("y", 1, 0).kinetic("y'^2/2").restitution(0.5).constraint("g", gap);
        let problem = model.build().expect("a model").problem().expect("a problem");
        let found = check(&problem, &CheckOptions::new(1.0), &mut |_, _| true);
        let said: Vec<_> = found.findings.iter().filter(|f| f.topic == "gaps" && f.text.contains("gradient")).collect();
        assert_eq!(said.len(), 1, "{gap}: {said:?}");
        assert!(said[0].verdict == Verdict::Bad && said[0].text.contains("vanishes"), "{gap}: {said:?}");
        assert!(found.theorems.iter().all(|t| !t.covers));
    }
}

/// Two balls that bounce between walls without loss, with speeds 1 and a/b: periodic, with 2 (a + b) impacts per period 2 b.
fn boxes(a: u32, b: u32) -> Problem {
    let model = Builder::new("boxes")
        .coordinate("x", 0.3, 1)
        .coordinate("y", 0.4, f64::from(a) / f64::from(b))
        .kinetic("(x'^2 + y'^2)/2")
        .restitution(1)
        .constraint("a", "x")
        .constraint("b", "1 - x")
        .constraint("c", "y")
        .constraint("d", "1 - y");
    model.build().expect("a model").problem().expect("a problem")
}

#[test]
fn a_period_may_have_any_number_of_impacts() {
    for (a, b) in [(3, 2), (16, 15), (31, 30), (101, 100)] {
        let problem = boxes(a, b);
        let run = problem.run(&Options::events(2.0 * f64::from(b) * 4.5).step(1.0)).expect("runs");
        let LongTime::Periodic { period, impacts, .. } = long_time(&problem, &run) else { panic!("periodic: {a}/{b}") };
        assert_eq!(impacts, 2 * (a + b) as usize);
        assert!((period - 2.0 * f64::from(b)).abs() < 1e-6, "{period}");
    }
    // Not seen often enough.
    let problem = boxes(31, 30);
    let run = problem.run(&Options::events(150.0).step(1.0)).expect("runs");
    assert_eq!(long_time(&problem, &run), LongTime::Neither);
}

#[test]
fn what_drifts_is_not_periodic_and_what_breaks_its_ledger_settles_on_nothing() {
    let drifting = Builder::new("drift")
        .coordinate("x", 0.0, 1)
        .coordinate("y", 0.5, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*y")
        .restitution(1)
        .constraint("floor", "y");
    let drifting = drifting.build().expect("a model").problem().expect("a problem");
    let run = drifting.run(&Options::events(30.0).step(0.1)).expect("runs");
    assert!(run.trajectory.impacts.len() > 20);
    assert_eq!(long_time(&drifting, &run), LongTime::Neither);
    let oscillator = shipped::find("oscillator").expect("shipped").expect("parses").problem(&[]).expect("valid").0;
    let mut run = oscillator.run(&Options::events(600.0).step(0.1)).expect("runs");
    assert_eq!(long_time(&oscillator, &run).kind(), "periodic");
    run.ledger.balance.closure = 1.0;
    assert!(trouble(&run).is_some());
    assert_eq!(long_time(&oscillator, &run), LongTime::Neither);
}

#[test]
fn a_large_perturbation_that_splits_is_called_a_split() {
    let wedge = shipped::find("wedge").expect("shipped").expect("parses");
    let overrides = [("angle".to_string(), "120".to_string())];
    let wedge = wedge.problem(&overrides).expect("valid").0;
    for (size, starts) in [(1e-6, 12), (1e-4, 12), (1e-3, 12), (1e-2, 16)] {
        let how = ProbeOptions { starts, size, seed: 1 };
        let said =
            probe(&wedge, &wedge.start(), &Options::events(2.0), &how, &mut sequentially(&wedge)).expect("probed");
        assert!(said.splits, "{size}: {}", said.sentence);
    }
    // A single ball does not split, however large the perturbation.
    let ball = shipped::find("ball-gravity").expect("shipped").expect("parses").problem(&[]).expect("valid").0;
    for size in [1e-6, 1e-3, 1e-2] {
        let how = ProbeOptions { starts: 12, size, seed: 1 };
        let said = probe(&ball, &ball.start(), &Options::events(0.8), &how, &mut sequentially(&ball)).expect("probed");
        assert!(!said.splits, "{size}: {}", said.sentence);
    }
}

fn ball(e: f64) -> Problem {
    let model = Builder::new("ball").coordinate("y", 1, -1).kinetic("y'^2/2").restitution(e).constraint("floor", "y");
    model.build().expect("a model").problem().expect("a problem")
}

#[test]
fn rounding_has_no_order() {
    let ball = ball(0.5);
    let base = Options::steps("mabrouk", 0.01).until(2.0);
    let how = ConvergeOptions { over: Over::Step, levels: 5, ratio: 2.0, base };
    let said = converge(&ball, &ball.start(), &how, &mut sequentially(&ball)).map_err(|_| "no study").expect("a study");
    // The impulse of a free ball, 1.5, is exact with every step.
    assert!(said.orders.impulse.is_none() && said.orders.equal[3], "{:?}", said.orders);
    assert!(said.levels.iter().all(|l| l.impulse < 1e-10 && l.unmatched == 0 && l.times.is_some()));
}

#[test]
fn impacts_are_paired_by_time() {
    // Two bodies that hit in turn; a coarse step exchanges the order of close impacts, and counts differ near the rest.
    let model = Builder::new("two")
        .coordinate("x", 1, 0)
        .coordinate("y", 1.02, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("9.81*(x + y)")
        .restitution(0.6)
        .constraint("a", "x")
        .constraint("b", "y");
    let two = model.build().expect("a model").problem().expect("a problem");
    let base = Options::steps("paoli-schatzman", 0.01).until(1.9);
    let how = ConvergeOptions { over: Over::Step, levels: 5, ratio: 2.0, base };
    let said = converge(&two, &two.start(), &how, &mut sequentially(&two)).map_err(|_| "no study").expect("a study");
    for l in &said.levels {
        assert!(l.times.is_some_and(|t| t < 10.0 * l.size) && l.unmatched == 0, "{l:?}");
    }
    let order = said.orders.times.expect("an order").order;
    assert!((order - 1.0).abs() < 0.4, "{order}");
}

#[test]
fn a_run_with_a_bad_ledger_is_no_reference() {
    let ball = ball(0.5);
    let schemes = ["event-driven", "mabrouk", "paoli-schatzman"].map(str::to_string).to_vec();
    let how = CompareOptions { schemes, steps: vec![1e-3, 5e-4], base: Options::events(2.0) };
    let mut honest = sequentially(&ball);
    let said = compare(&ball, &ball.start(), &how, &mut honest).expect("compared");
    assert_eq!(said.groups, [[0, 1, 2]]);
    // The same with a run by events that fell through the floor.
    let mut fallen = |jobs: &[saltus::analysis::Job]| {
        let mut outcomes = sequentially(&ball)(jobs);
        for timed in outcomes.iter_mut().flatten().filter(|t| t.run.by_events()) {
            if let Some(p) = timed.run.ledger.properties.iter_mut().find(|p| p.name == "P2") {
                (p.figure, p.holds) = (1.0, false);
            }
        }
        outcomes
    };
    let said = compare(&ball, &ball.start(), &how, &mut fallen).expect("compared");
    assert_eq!(said.groups, [[1, 2]]);
    assert!(said.sentences.iter().any(|s| s.starts_with("event-driven: not used")), "{:?}", said.sentences);
    assert!(!said.sentences.iter().any(|s| s.contains("chaotic")), "{:?}", said.sentences);
    let how =
        ConvergeOptions { over: Over::Step, levels: 3, ratio: 2.0, base: Options::steps("mabrouk", 0.01).until(2.0) };
    let said = converge(&ball, &ball.start(), &how, &mut fallen).map_err(|_| "no study").expect("a study");
    assert!(!matches!(said.reference, saltus::analysis::Reference::Events));
    assert!(said.warnings.iter().any(|w| w.contains("not used as the reference")), "{:?}", said.warnings);
}

#[test]
fn a_chattering_motion_is_periodic_with_the_forcing() {
    // A ball that chatters to rest on a shaken table and is thrown again in every period.
    let bounce = read(
        "[parameters]\nA=6e-4\nw=\"2*pi*25\"\n[coordinates]\ny={position=1e-2}\n[dynamics]\nkinetic=\"y'^2/2\"\n\
         potential=\"9.81*y\"\n[[constraint]]\nname=\"table\"\ngap=\"y - A*sin(w*t)\"\n[impact]\nrestitution=0.3\n[run]\nend=2\n",
    );
    let mut run = bounce.run(&Options::events(2.0).step(1e-3)).expect("runs");
    // The question here is the motion, not the account.
    run.ledger.balance.closure = 0.0;
    let LongTime::Periodic { period, forcing, .. } = long_time(&bounce, &run) else {
        panic!("periodic: {:?} {:?}", long_time(&bounce, &run), trouble(&run))
    };
    let forcing = forcing.expect("forced");
    assert!((period - 0.04 * forcing as f64).abs() < 1e-6, "{period} {forcing}");
}

#[test]
fn what_flies_is_not_at_rest() {
    // Thrown out of a singular well by a step that is too coarse: slow only next to the speed inside it.
    let flying = read(
        "[coordinates]\ny={position=1}\n[dynamics]\nkinetic=\"y'^2/2\"\npotential=\"-1/y\"\n[[constraint]]\ngap=\"y\"\n\
         [impact]\nrestitution=0.5\n[run]\nstep=1e-3\nend=3.0\n",
    );
    let run = flying.run(&Options::steps("paoli-schatzman", 1e-3).until(3.0)).expect("runs");
    assert_ne!(long_time(&flying, &run).kind(), "rest");
}
