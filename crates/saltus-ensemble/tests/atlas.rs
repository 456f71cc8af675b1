//! Diagrams and basins against what is known in closed form, and against independent references.

use saltus_ensemble::atlas::basins::{BasinPlan, Basins, Kind, REFUSED};
use saltus_ensemble::atlas::{At, Diagram, Label, Map, Tables, Transition};
use saltus_ensemble::store::Store;
use saltus_ensemble::{Block, Plan, Request, Sweep};
use saltus_io::ModelFile;
use saltus_io::output::Format;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn shipped(name: &str) -> ModelFile {
    saltus_io::shipped::find(name).expect("shipped").expect("a model")
}

fn model(text: &str) -> ModelFile {
    ModelFile::parse("test", text, Path::new(".")).expect("a model")
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
}

/// Runs a family into a directory and reads its tables back.
fn computed(dir: &Path, sweep: &Sweep) -> Tables {
    let mut store = Store::create(dir, sweep, (1, 1), false).expect("a store");
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads: 2, stop };
    let missing = store.missing();
    let layout = store.layout();
    let digest = |block: Block| layout.piece(&sweep.family, block);
    plan.run(&missing, &digest, &mut |piece| store.take(piece), &mut |_| {}).expect("runs");
    store.flush().expect("written");
    store.tables(&[Format::Npz], 2).expect("tables");
    Tables::open(dir).expect("read back")
}

fn diagram(file: ModelFile, set: &[(&str, &str)], over: &str, at: At) -> (Diagram, Vec<Transition>) {
    let request = Request {
        set: pairs(set),
        over: vec![over.into()],
        transient: Some("400".into()),
        periods: Some("160".into()),
        strobe: at == At::Strobe,
        impacts: (at == At::Impacts).then(|| "all".into()),
        settled: true,
        ..Request::default()
    };
    let sweep = request.sweep(file).expect("a family");
    let dir = tempfile::tempdir().expect("a directory");
    let tables = computed(&dir.path().join("family"), &sweep);
    let of =
        if at == At::Impacts { "speed".to_string() } else { sweep.family.problem().model().coordinates[0].clone() };
    let diagram = Diagram::read(&tables, at, &of).expect("a diagram");
    let transitions = diagram.transitions();
    (diagram, transitions)
}

/// A diagram with the times that the command line has if none are given.
fn slow_diagram(text: &str, over: &str) -> (Diagram, Vec<Transition>) {
    let request = Request {
        over: vec![over.into()],
        transient: Some("200".into()),
        periods: Some("120".into()),
        strobe: true,
        settled: true,
        ..Request::default()
    };
    let sweep = request.sweep(model(text)).expect("a family");
    let dir = tempfile::tempdir().expect("a directory");
    let tables = computed(&dir.path().join("family"), &sweep);
    let diagram = Diagram::read(&tables, At::Strobe, "x").expect("a diagram");
    let transitions = diagram.transitions();
    (diagram, transitions)
}

/// The change that leaves period 1 for period 2, with the grid's step.
fn doubling(transitions: &[Transition]) -> &Transition {
    let is = |t: &&Transition| t.before.period() == Some(1) && t.after.period() == Some(2);
    transitions.iter().find(is).unwrap_or_else(|| panic!("no doubling: {transitions:?}"))
}

#[test]
fn the_bouncing_ball_doubles_its_period_where_it_should() {
    // P03, n = 1, e = 0.5: G at the period doubling.
    let exact = 1.526_823_700_519_060_9;
    let (_, transitions) = diagram(shipped("ball-table"), &[], "G=1.48:1.58:41", At::Impacts);
    let found = doubling(&transitions);
    assert!(found.from <= exact && exact <= found.to && found.to - found.from < 0.0051, "{found:?}");
}

#[test]
fn the_oscillator_against_a_stop_at_its_rest_doubles_its_period_where_it_should() {
    // P04, undamped, s = 0, r = 0.8: w at the period doubling.
    let exact = 2.653_347_727_855_323;
    let set = [("c", "0"), ("s", "0"), ("e", "0.8")];
    let (_, transitions) = diagram(shipped("oscillator"), &set, "w=2.6:2.7:41", At::Strobe);
    let found = doubling(&transitions);
    assert!(found.from <= exact && exact <= found.to && found.to - found.from < 0.0051, "{found:?}");
}

#[test]
fn impacts_begin_where_the_oscillator_grazes() {
    // P05: c = 0.1, w = 0.8, s = 1, r = 0.8.
    let exact = 0.368_781_778_291_715_5;
    let set = [("c", "0.1"), ("w", "0.8"), ("e", "0.8")];
    let (_, transitions) = diagram(shipped("oscillator"), &set, "A=0.36:0.38:41", At::Strobe);
    let quiet = Label::Periodic { period: 1, impacts: 0, travels: false, chatters: false };
    let found = transitions.iter().find(|t| t.before == quiet).expect("a change");
    // (Just below it motions are chaotic for long before they are quiet: a point or two may not have settled.)
    assert!(found.from <= exact && exact <= found.to && found.to - found.from < 1.6e-3, "{found:?}");
    // The stable orbit behind it has one impact in two periods (P05: n = 2).
    assert_eq!(found.after, Label::Periodic { period: 2, impacts: 1, travels: false, chatters: false });
}

#[test]
fn impact_speeds_in_a_diagram_are_those_of_the_exact_orbits() {
    // P10: stops on both sides, z = 0.05, F = 1, s = 0.5, r = 0.7.
    let text = "[parameters]\nz = 0.05\nw = 1.0\nF = 1.0\ns = 0.5\ne = 0.7\n\
        [coordinates]\nx = { position = 0.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n\
        [dynamics.force]\nx = \"F*cos(w*t) - 2*z*x'\"\n[[constraint]]\nname = \"right\"\ngap = \"s - x\"\n\
        [[constraint]]\nname = \"left\"\ngap = \"s + x\"\n[impact]\nrestitution = \"e\"\n";
    let (diagram, _) = diagram(model(text), &[], "w=1.0,1.8,2.0", At::Impacts);
    let branch = &diagram.branches[0];
    let exact = [0.908_670_512_146_167_7, 0.913_292_732_104_981_4, 0.955_109_474_724_808];
    for (w, speed) in [1.0, 1.8, 2.0].into_iter().zip(exact) {
        let at: Vec<f64> = (0..branch.x.len()).filter(|&k| branch.x[k] == w).map(|k| branch.y[k]).collect();
        assert!(at.len() > 300, "{w}: {}", at.len());
        assert!(at.iter().all(|y| (y - speed).abs() < 1e-8), "{w}: {:?}, not {speed}", &at[..2]);
    }
    let two = Label::Periodic { period: 1, impacts: 2, travels: false, chatters: false };
    assert!(branch.places.iter().all(|p| p.label == two && p.rate == 2.0), "{:?}", branch.places);
}

#[test]
fn without_forcing_and_impacts_returns_to_a_section_tell_the_period() {
    // Van der Pol's oscillator; for a = 1 its period is 6.6632868593231301896996820305 (Amore 2008).
    let text = "[parameters]\na = 1.0\n[coordinates]\nx = { position = 0.5, velocity = 0.0 }\n[dynamics]\n\
        kinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[dynamics.force]\nx = \"(a - x^2)*x'\"\n";
    let request = Request {
        over: vec!["a=-1,1".into()],
        transient: Some("150".into()),
        end: Some("300".into()),
        sections: vec!["x':down".into()],
        settled: true,
        ..Request::default()
    };
    let sweep = request.sweep(model(text)).expect("a family");
    let dir = tempfile::tempdir().expect("a directory");
    let tables = computed(&dir.path().join("cycle"), &sweep);
    let diagram = Diagram::read(&tables, At::Section, "x").expect("a diagram");
    let labels: Vec<Label> = diagram.branches[0].places.iter().map(|p| p.label).collect();
    assert_eq!(labels[0], Label::Rest);
    let Label::Recurrent { time, impacts: 0 } = labels[1] else { panic!("{labels:?}") };
    assert!((time - 6.663_286_859_323_13).abs() < 1e-7, "{time}");
}

#[test]
fn maps_have_labels_and_statistics_in_the_right_cells() {
    let request = Request {
        over: vec!["w=0.5:0.7:3".into(), "A=0.1,0.2".into()],
        transient: Some("150".into()),
        periods: Some("40".into()),
        settled: true,
        statistics: vec!["x".into()],
        ..Request::default()
    };
    let sweep = request.sweep(shipped("oscillator")).expect("a family");
    let dir = tempfile::tempdir().expect("a directory");
    let tables = computed(&dir.path().join("map"), &sweep);
    let map = Map::read(&tables, "max(x)").expect("a map");
    assert_eq!((map.x.len(), map.y.len()), (3, 2));
    for (j, a) in [0.1f64, 0.2].into_iter().enumerate() {
        for (k, w) in [0.5f64, 0.6, 0.7].into_iter().enumerate() {
            // No impact: the amplitude of the linear oscillator, c = 0.1.
            let exact = a / ((1.0 - w * w).powi(2) + (0.1 * w).powi(2)).sqrt();
            let cell = &map.cells[j * 3 + k];
            assert!((cell.value - exact).abs() < 1e-7, "{} {exact}", cell.value);
            assert_eq!(cell.label.period(), Some(1));
        }
    }
}

fn basins(file: ModelFile, set: &[(&str, &str)], over: &[&str], refine: bool, timed: Option<(&str, &str)>) -> Basins {
    let request = Request {
        set: pairs(set),
        over: over.iter().map(|s| s.to_string()).collect(),
        periods: timed.is_none().then(|| "60".into()),
        end: timed.map(|t| t.0.into()),
        sections: timed.iter().map(|t| t.1.to_string()).collect(),
        ..Request::default()
    };
    let sweep = request.sweep(file).expect("a family");
    let stop = Arc::new(AtomicBool::new(false));
    let plan = BasinPlan { sweep: &sweep, threads: 2, most: 1500, refine, keep: None, resume: false, stop };
    plan.run(&mut |_| {}).expect("starts").expect("whole")
}

const THREE: [(&str, &str); 2] = [("w", "5.7"), ("A", "3.09")];

#[test]
fn three_attractors_of_the_oscillator_and_labels_that_do_not_depend_on_the_grid() {
    let coarse = basins(shipped("oscillator"), &THREE, &["x=-2:1:40", "x'=-3:3:40"], false, None);
    let names: Vec<&str> = coarse.attractors.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["period 1, 0 impacts", "period 4, 1 impact", "period 5, 1 impact"]);
    // The orbit without impacts is the linear one: x = Re(A e^{iwt}/(1 − w² + icw)) at t = 0.
    let (w, c, a) = (5.7f64, 0.1, 3.09);
    let size = (1.0 - w * w).powi(2) + (c * w).powi(2);
    let exact = [a * (1.0 - w * w) / size, a * w * (c * w) / size];
    let state = &coarse.attractors[0].cycle[0];
    assert!((state[0] - exact[0]).abs() < 1e-7 && (state[1] - exact[1]).abs() < 1e-7, "{state:?} {exact:?}");
    // Twice as fine: every second start is one of before.
    let fine = basins(shipped("oscillator"), &THREE, &["x=-2:1:79", "x'=-3:3:79"], false, None);
    assert_eq!(fine.attractors.len(), 3);
    let (mut same, mut all) = (0, 0);
    for k in 1..39 {
        for j in 1..39 {
            let label = |b: &Basins, n: usize, k: usize, j: usize| b.labels[k * n + j];
            let here = label(&coarse, 40, k, j);
            let around = [(0, 1), (2, 1), (1, 0), (1, 2)].map(|(a, b)| label(&fine, 79, 2 * k + a - 1, 2 * j + b - 1));
            if here == REFUSED || around.iter().any(|l| *l != around[0]) {
                continue;
            }
            all += 1;
            same += usize::from(here == label(&fine, 79, 2 * k, 2 * j));
        }
    }
    assert!(all > 700 && same * 1000 >= all * 999, "{same} of {all}");
    // Shares are those of all admissible starts, and their intervals contain them.
    assert!((coarse.shares.iter().map(|s| s.share).sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(coarse.shares.iter().all(|s| s.low <= s.share && s.share <= s.high));
    // Starts on the stop that move into it are not admissible; one on it that leaves is.
    assert_eq!(coarse.labels.iter().filter(|l| **l == REFUSED).count(), 20);
    assert!(fine.uncertainty.is_some_and(|u| u.exponent > 0.2 && u.exponent < 0.8));
}

#[test]
fn a_refinement_finds_the_same_basins_with_fewer_starts() {
    let axes = ["x=-1.5:0.9:97", "x'=-1.5:1.5:97"];
    let set = [("w", "2.5"), ("A", "1")];
    let all = basins(shipped("oscillator"), &set, &axes, false, None);
    let few = basins(shipped("oscillator"), &set, &axes, true, None);
    let names = |b: &Basins| b.attractors.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&all), names(&few));
    let differ = all.labels.iter().zip(&few.labels).filter(|(a, b)| a != b).count();
    assert!(differ * 500 <= all.labels.len(), "{differ}");
    let computed = few.computed.iter().filter(|c| **c).count();
    assert!(computed * 10 < 8 * few.labels.len(), "{computed}");
}

#[test]
fn places_of_rest_are_told_apart_by_where_they_are() {
    // A double well; the wall behind the right one is never reached at rest.
    let text = "[coordinates]\nx = { position = 0.5, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
        potential = \"x^4/4 - x^2/2\"\n[dynamics.force]\nx = \"-0.3*x'\"\n[[constraint]]\nname = \"wall\"\ngap = \"2 - x\"\n\
        [impact]\nrestitution = 0.7\n[run]\nend = 30\n";
    let found = basins(model(text), &[], &["x=-1.6:1.9:24", "x'=-1:1:3"], false, Some(("30", "x':down")));
    let places: Vec<f64> = found.attractors.iter().map(|a| a.cycle[0][0]).collect();
    assert_eq!(found.attractors.len(), 2, "{:?}", found.attractors);
    assert!(found.attractors.iter().all(|a| a.kind == Kind::Rest { closed: vec![], many: false }));
    assert!(places.iter().all(|x| (x.abs() - 1.0).abs() < 1e-6) && places[0] * places[1] < 0.0, "{places:?}");
    // A ball on a floor: rest in contact, from everywhere.
    let ball =
        basins(shipped("ball-gravity"), &[("e", "0.5")], &["y=0.1:2:12", "y'=-3:3:5"], false, Some(("4", "y':down")));
    assert_eq!(ball.attractors.len(), 1, "{:?}", ball.attractors);
    assert_eq!(ball.attractors[0].name, "rest on floor");
}

#[test]
fn motions_of_which_each_start_has_its_own_are_a_family_and_no_attractors() {
    // A block on a belt: below the speed of the belt it oscillates about μ g/k for ever, with the amplitude of its start; beyond it
    // sticks and slips. Exactly: 4 (x − 0.1962)² + x'² < 0.2², half of 0.0314 in area.
    let axes = ["x=0.05:0.35:13", "x'=-0.3:0.15:10"];
    let found = basins(shipped("belt"), &[], &axes, false, Some(("16", "x':down")));
    let names: Vec<&str> = found.attractors.iter().map(|a| a.name.as_str()).collect();
    assert!(names.len() == 2 && names[1] == "neutral oscillation, 0 impacts", "{names:?}");
    assert!(found.attractors[0].kind.attracts() && !found.attractors[1].kind.attracts());
    for k in 0..13 {
        for j in 0..10 {
            let (x, v) = (0.05 + 0.3 * k as f64 / 12.0, -0.3 + 0.45 * j as f64 / 9.0);
            let inside = 4.0 * (x - 0.08 * 9.81 / 4.0_f64).powi(2) + v * v < 0.04;
            assert_eq!(found.labels[k * 10 + j] == 1, inside, "{x} {v}");
        }
    }
    // A ball that loses nothing: each height for itself, one family.
    let ball = basins(shipped("ball-gravity"), &[("e", "1")], &["y=0.2:2:9"], false, Some(("4", "y':down")));
    let names: Vec<&str> = ball.attractors.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["neutral oscillation, 1 impact"]);
    // Two of which the one drives nothing, with periods that depend on the amplitude and have no common one: neighbours part with the
    // time, and that is no chaos.
    let text = "[coordinates]\nx = { position = 0.5, velocity = 0.0 }\ny = { position = 0.8, velocity = 0.0 }\n[dynamics]\n\
        kinetic = \"x'^2/2 + y'^2/2\"\npotential = \"x^4/4 + 2*y^4/4\"\n[run]\nend = 30\n";
    let shear = basins(model(text), &[], &["x=0.5:1.5:4", "y=0.6:1.4:3"], false, Some(("30", "x':down")));
    assert!(shear.attractors.iter().all(|a| !matches!(a.kind, Kind::Chaotic { .. })), "{:?}", shear.attractors);
    // A damped mass between two stops rests wherever it comes to rest.
    let text = "[coordinates]\nx = { position = 0.5, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\n\
        [dynamics.force]\nx = \"-0.5*x'\"\n[[constraint]]\nname = \"left\"\ngap = \"1 + x\"\n[[constraint]]\nname = \"right\"\n\
        gap = \"1 - x\"\n[impact]\nrestitution = 0.7\n[run]\nend = 30\n";
    let free = basins(model(text), &[], &["x=-0.9:0.9:7", "x'=-1:1.1:4"], false, Some(("30", "x':down")));
    let names: Vec<&str> = free.attractors.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["rest, a set of places"]);
}

#[test]
fn basins_that_are_interrupted_go_on_and_are_the_same() {
    let request = Request {
        set: pairs(&THREE),
        over: vec!["x=-2:1:90".into(), "x'=-3:3:90".into()],
        periods: Some("60".into()),
        ..Request::default()
    };
    let sweep = request.sweep(shipped("oscillator")).expect("a family");
    for refine in [false, true] {
        let dir = tempfile::tempdir().expect("a directory");
        let plan = |resume: bool, stop: &Arc<AtomicBool>| BasinPlan {
            sweep: &sweep,
            threads: 2,
            most: 1500,
            refine,
            keep: Some(dir.path()),
            resume,
            stop: stop.clone(),
        };
        let never = Arc::new(AtomicBool::new(false));
        let whole = plan(false, &never).run(&mut |_| {}).expect("starts").expect("whole");
        let (mut rounds, mut found) = (0, None);
        while found.is_none() {
            // (Later and later, so that it ends.)
            let (stop, mut calls) = (Arc::new(AtomicBool::new(false)), 0);
            let raise = stop.clone();
            let mut watch = |_: &_| {
                calls += 1;
                if calls > 6 * (rounds + 1) {
                    raise.store(true, std::sync::atomic::Ordering::Relaxed);
                }
            };
            found = plan(rounds > 0, &stop).run(&mut watch).expect("starts");
            rounds += 1;
            assert!(rounds < 100, "it does not end");
        }
        let found = found.expect("whole");
        assert!(rounds > 2, "{rounds}");
        assert_eq!((found.labels, found.computed, found.attractors), (whole.labels, whole.computed, whole.attractors));
    }
}

#[test]
fn chaos_has_the_rate_of_an_independent_computation() {
    // P04: c = 0, s = 0, w = 2.8, r = 0.8, F = 1: largest exponent 0.14188 ± 0.00004 per unit of time.
    let set = [("c", "0"), ("s", "0"), ("w", "2.8"), ("e", "0.8")];
    let found = basins(shipped("oscillator"), &set, &["x=-0.6:-0.1:8", "x'=-0.4:0.4:4"], false, None);
    assert_eq!(found.attractors.len(), 1, "{:?}", found.attractors);
    let Kind::Chaotic { exponent, error } = found.attractors[0].kind else { panic!("{:?}", found.attractors) };
    assert!((exponent - 0.141_875).abs() < 4.0 * error && error < 0.01, "{exponent} ± {error}");
}

#[test]
fn what_grows_is_unbounded_and_what_never_settles_is_not_resolved() {
    let oscillator = |force: &str, stiffness: &str| {
        format!(
            "[coordinates]\nx = {{ position = 0.0, velocity = 0.0 }}\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \
             \"{stiffness}*x^2/2\"\n[dynamics.force]\nx = \"{force}\"\n[[constraint]]\nname = \"wall\"\ngap = \"5 - x\"\n\
             [impact]\nrestitution = 1\n"
        )
    };
    // Away from an unstable equilibrium; the wall is on the other side.
    let escape = model(&oscillator("0.1*cos(t)", "(-1)"));
    let found = basins(escape, &[], &["x=-2:-1:4", "x'=-1:0:3"], false, None);
    assert_eq!(found.attractors.len(), 1, "{:?}", found.attractors);
    assert_eq!(found.attractors[0].kind, Kind::Unbounded);
    // Undamped and not in resonance: every start has a motion of its own.
    let free = model(&oscillator("0.1*cos(t)", "2.0"));
    let found = basins(free, &[], &["x=-1:1:4", "x'=-0.5:0.5:2"], false, None);
    assert_eq!(found.attractors.len(), 1, "{:?}", found.attractors);
    assert_eq!(found.attractors[0].name, "not resolved");
}

#[test]
fn what_settles_slowly_has_the_label_of_its_limit_everywhere() {
    // Little damping and no impacts: the one limit is the forced oscillation, although a free one of a few per cent is still there after
    // 320 periods, with a turn near a third, a half or two fifths from one stroboscope to the next.
    let (diagram, transitions) = slow_diagram(
        "[parameters]\nw = 2\n[coordinates]\nx = { position = 0.4, velocity = 0.0 }\n[dynamics]\n\
            kinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[dynamics.force]\nx = \"cos(w*t) - 0.012*x'\"\n",
        "w=1.5:3.4:96",
    );
    assert!(transitions.is_empty(), "{transitions:?}");
    let one = Label::Periodic { period: 1, impacts: 0, travels: false, chatters: false };
    assert!(diagram.branches[0].places.iter().all(|place| place.label == one));
}

#[test]
fn a_motion_that_travels_is_periodic() {
    // A rotor driven at the pace of its forcing: one turn a period, wherever it starts.
    let text = "[coordinates]\nth = { position = 0.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"th'^2/2\"\n\
        [dynamics.force]\nth = \"0.5*(1 - th') + 0.2*sin(t)\"\n";
    let request = Request {
        over: vec!["th=0:3:4".into()],
        transient: Some("20".into()),
        periods: Some("40".into()),
        settled: true,
        strobe: true,
        ..Request::default()
    };
    let sweep = request.sweep(model(text)).expect("a family");
    let dir = tempfile::tempdir().expect("a directory");
    let tables = computed(&dir.path().join("rotor"), &sweep);
    let travels = Label::Periodic { period: 1, impacts: 0, travels: true, chatters: false };
    assert_eq!(tables.labels().expect("labels"), [travels; 4]);
    let found = basins(model(text), &[], &["th=0:3:4", "th'=-1:2:3"], false, None);
    assert_eq!(found.attractors.len(), 1, "{:?}", found.attractors);
    assert_eq!(found.attractors[0].name, "period 1, 0 impacts, travelling");
}
