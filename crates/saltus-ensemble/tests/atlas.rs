//! Diagrams and basins against what is known in closed form, and against independent references.

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
}
