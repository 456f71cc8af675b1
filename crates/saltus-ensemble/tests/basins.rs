//! Basins of attraction, against motions that are followed one by one, and against what is known in closed form.

use saltus_ensemble::atlas::basins::{BasinPlan, Basins, Kind, REFUSED};
use saltus_ensemble::{Block, Plan, Request, Settled};
use saltus_io::ModelFile;
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
    assert!(found.attractors.iter().all(|a| a.kind == Kind::Rest { closed: vec![], many: false, unstable: false }));
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
                if calls > 2 * (rounds + 1) {
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

/// What each start of a family settles on when it is followed by itself.
fn followed(file: ModelFile, set: &[(&str, &str)], over: &[&str], transient: &str) -> Vec<Option<Settled>> {
    let request = Request {
        set: pairs(set),
        over: over.iter().map(|s| s.to_string()).collect(),
        transient: Some(transient.into()),
        periods: Some("40".into()),
        settled: true,
        ..Request::default()
    };
    let sweep = request.sweep(file).expect("a family");
    let stop = Arc::new(AtomicBool::new(false));
    let plan = Plan { family: &sweep.family, wanted: sweep.wanted.clone(), native: None, threads: 2, stop };
    let mut all = vec![None; sweep.family.len() as usize];
    let digest = |block: Block| {
        let settled = |o: &saltus_ensemble::Outcome| match &o.status {
            Ok(status) if status.is_complete() => o.settled,
            _ => None,
        };
        (block.first, block.outcomes.iter().map(settled).collect::<Vec<_>>())
    };
    let mut take = |(first, found): (u64, Vec<Option<Settled>>)| -> Result<(), std::convert::Infallible> {
        all[first as usize..][..found.len()].copy_from_slice(&found);
        Ok(())
    };
    let all_of_them = 0..sweep.family.len();
    plan.run(std::slice::from_ref(&all_of_them), &digest, &mut take, &mut |_| {}).expect("runs");
    all
}

/// How many intervals of the stroboscope a start's attractor has.
fn periods(found: &Basins, label: u16) -> Option<u32> {
    match found.attractors.get(label as usize)?.kind {
        Kind::Periodic { periods, .. } => periods,
        _ => None,
    }
}

/// Labels of periodic attractors are those of motions that are followed by themselves.
fn agree(found: &Basins, alone: &[Option<Settled>]) {
    for (point, (&label, alone)) in found.labels.iter().zip(alone).enumerate() {
        let alone = match alone {
            Some(Settled::Periodic { intervals, .. }) => Some(*intervals),
            _ => None,
        };
        assert_eq!(periods(found, label), alone, "start {point}, {:?}", found.attractors);
    }
}

#[test]
fn attractors_are_told_apart_however_far_the_starts_reach() {
    for reach in ["3", "20", "30"] {
        let over = [format!("x=-{reach}:1:9"), format!("x'=-{reach}:{reach}:9")];
        let over = over.each_ref().map(String::as_str);
        let found = basins(shipped("oscillator"), &THREE, &over, false, None);
        let alone = followed(shipped("oscillator"), &THREE, &over, "600");
        agree(&found, &alone);
    }
    // A few periodic motions in the midst of chaos.
    let set = [("s", "0"), ("c", "0.02"), ("e", "0.9"), ("w", "3.1")];
    let over = ["x=-20:0:10", "x'=-20:20:10"];
    let found = basins(shipped("oscillator"), &set, &over, false, None);
    let alone = followed(shipped("oscillator"), &set, &over, "3000");
    let is_chaotic = |k: u16| matches!(found.attractors.get(k as usize).map(|a| &a.kind), Some(Kind::Chaotic { .. }));
    let chaotic = found.labels.iter().filter(|k| is_chaotic(**k)).count();
    let neither = alone.iter().filter(|s| **s == Some(Settled::Neither)).count();
    // (Transients of chaos are long: a start may settle later than it was followed alone.)
    assert!(neither > 80 && chaotic.abs_diff(neither) <= 5, "{chaotic} {neither} {:?}", found.attractors);
}

const WELL: &str = r#"
[parameters]
a = 0.5
X = 0
F = 0
[coordinates]
y = { position = "X + 0.001", velocity = 0.0 }
[dynamics]
kinetic = "y'^2/2"
potential = "((y-X)^2-a^2)^2/4"
[dynamics.force]
y = "F*cos(t)-0.3*y'"
[run]
end = 100
"#;

#[test]
fn basins_do_not_depend_on_what_a_coordinate_is_counted_from() {
    let labels = |offset: f64| {
        let over = [format!("y={}:{}:10", offset - 1.0, offset + 1.0), "y'=-1:1:10".into()];
        let set = offset.to_string();
        let found =
            basins(model(WELL), &[("X", &set)], &over.each_ref().map(|s| s.as_str()), false, Some(("100", "y'")));
        assert_eq!(found.attractors.len(), 2, "{offset}: {:?}", found.attractors);
        // (Which of two equal ones comes first is not told.)
        let left = |k: u16| found.attractors[k as usize].cycle[0][0] < offset;
        found.labels.iter().map(|&k| left(k)).collect::<Vec<bool>>()
    };
    let plain = labels(0.0);
    assert!(plain.iter().any(|l| *l) && plain.iter().any(|l| !*l));
    for offset in [30.0, -4096.0] {
        assert_eq!(labels(offset), plain, "{offset}");
    }
    // Wells that are near each other, seen from afar.
    let near = basins(model(WELL), &[("a", "0.02")], &["y=-1:1:10", "y'=-1:1:6"], false, Some(("3000", "y'")));
    assert_eq!(near.attractors.len(), 2, "{:?}", near.attractors);
}

#[test]
fn what_repels_is_no_attractor() {
    // The grid meets the saddle between the wells.
    let found = basins(model(WELL), &[], &["y=-1:1:9", "y'=-1:1:9"], false, Some(("100", "y'")));
    let names: Vec<&str> = found.attractors.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(found.attractors.iter().filter(|a| a.kind.attracts()).count(), 2, "{names:?}");
    assert!(names[2].starts_with("unstable rest") && found.shares[2].count == 1, "{names:?}");
}

#[test]
fn orbits_that_mirror_each_other_are_two() {
    let text = "[coordinates]\nx = { position = 0.1, velocity = 0.0 }\n[parameters]\nw = 0.634\n[dynamics]\nkinetic = \
                \"x'^2/2\"\npotential = \"x^2/2\"\n[dynamics.force]\nx = \"cos(w*t) - 0.1*x'\"\n[[constraint]]\nname = \
                \"right\"\ngap = \"0.5 - x\"\n[[constraint]]\nname = \"left\"\ngap = \"0.5 + x\"\n[impact]\nrestitution = 0.7\n";
    // Just past the bifurcation that breaks the symmetry: 0.02 apart.
    let found = basins(model(text), &[], &["x=-0.5:0.5:8", "x'=-2:2:8"], false, None);
    // (A start beside the boundary may take longer than it is followed.)
    assert_eq!(found.attractors.iter().filter(|a| a.kind.attracts()).count(), 2, "{:?}", found.attractors);
    assert!(found.shares[..2].iter().all(|s| s.share > 0.25), "{:?}", found.shares);
}

#[test]
fn starts_that_escape_do_not_hide_what_the_others_do() {
    let text = "[coordinates]\nx = { position = 0.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \
                \"x^2/2 - x^3/3\"\n[dynamics.force]\nx = \"-0.1*x' + 0.05*sin(0.9*t)\"\n[[constraint]]\nname = \"l\"\ngap = \
                \"x + 0.5\"\n[impact]\nrestitution = 0.5\n";
    for high in ["1.0", "1.5", "3"] {
        let over = [format!("x=-0.5:{high}:12"), "x'=-1:1:12".into()];
        let over = over.each_ref().map(|s| s.as_str());
        let found = basins(model(text), &[], &over, false, None);
        let names: Vec<&str> = found.attractors.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["period 1, 0 impacts", "unbounded"], "{high}");
        agree(&found, &followed(model(text), &[], &over, "300"));
    }
}

#[test]
fn what_still_grows_is_not_said_to_have_no_bound() {
    // In resonance, to an amplitude of 1e4: far from there after 1500 periods.
    let text = "[coordinates]\nx = { position = 0.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \
                \"x^2/2\"\n[dynamics.force]\nx = \"cos(t) - 1e-4*x'\"\n";
    let found = basins(model(text), &[], &["x=-1:1:3", "x'=-1:1:2"], false, None);
    let names: Vec<&str> = found.attractors.iter().map(|a| a.name.as_str()).collect();
    assert!(names.iter().all(|name| ["still growing", "not resolved"].contains(name)), "{names:?}");
    let found = basins(model(text), &[], &["x=0:1e-3:2"], false, None);
    assert_eq!((found.attractors.len(), &found.attractors[0].kind), (1, &Kind::Growing), "{:?}", found.attractors);
}

#[test]
fn a_motion_that_travels_attracts_from_everywhere() {
    // A rotor driven at the pace of its forcing: one turn a period, wherever it starts.
    let text = "[coordinates]\nth = { position = 0.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"th'^2/2\"\n\
        [dynamics.force]\nth = \"0.5*(1 - th') + 0.2*sin(t)\"\n";
    let found = basins(model(text), &[], &["th=0:3:4", "th'=-1:2:3"], false, None);
    assert_eq!(found.attractors.len(), 1, "{:?}", found.attractors);
    assert_eq!(found.attractors[0].name, "period 1, 0 impacts, travelling");
}

/// How many starts are of each attractor, by name.
fn counted(found: &Basins) -> Vec<(String, usize)> {
    let of = |k: usize| found.labels.iter().filter(|label| usize::from(**label) == k).count();
    found.attractors.iter().enumerate().map(|(k, a)| (a.name.clone(), of(k))).filter(|(_, n)| *n > 0).collect()
}

/// An orbit whose impact is just at the stroboscope, where rounding puts it before or after. (Counts by the map of a bouncing ball.)
#[test]
fn impacts_at_the_stroboscope() {
    let axes = ["y=2:8:10", "y'=-2:2:3"];
    for off in ["", "+1e-12", "+1e-13", "-1e-15", "+1e-15", "+1e-9"] {
        let phase = format!("0.634215868925774158{off}");
        let found = basins(shipped("ball-table"), &[("phase", &phase)], &axes, false, None);
        let counts = counted(&found);
        assert_eq!(counts, [("period 1, chatter".to_string(), 18), ("period 1, 1 impact".to_string(), 12)], "{off}");
    }
}

/// A spring with negative damping, which a stop holds back: seen at the largest positions, which are its impacts.
#[test]
fn cycles_seen_at_their_impacts() {
    let text = |force: &str, stops: &str| {
        format!(
            "[parameters]\nc = 1.0\ne = 0.5\n[coordinates]\nx = {{ position = 0.1, velocity = 0.0 }}\n[dynamics]\n\
             kinetic = \"x'^2/2\"\n[dynamics.force]\nx = \"{force}\"\n{stops}[impact]\nrestitution = \"e\"\n[run]\nend = 60\n"
        )
    };
    let one = text("-x + c*x'", "[[constraint]]\ngap = \"0.5 - x\"\n");
    let timed = Some(("60", "x':down"));
    let set = [("c", "0.1"), ("e", "0.6")];
    let found = basins(model(&one), &set, &["x=-1:0.4:10", "x'=-2:2:10"], false, timed);
    let Kind::Periodic { unstable, time, .. } = &found.attractors[0].kind else { panic!("{:?}", found.attractors) };
    assert!(!unstable && (time - 4.614437763).abs() < 1e-8 && counted(&found).len() == 1, "{:?}", found.attractors);
    // Between two stops, over a hill: with what drives it on, a cycle and two places of rest (by brute force); without, each start has its own orbit.
    let two = text("x + c*x'", "[[constraint]]\ngap = \"1 - x\"\n[[constraint]]\ngap = \"1.5 + x\"\n");
    let axes = ["x=-1.4:0.9:20", "x'=-2:2:20"];
    for (c, e) in [("1", "0.5"), ("2", "0.3"), ("2", "0.5"), ("0.7", "0.8")] {
        let found = basins(model(&two), &[("c", c), ("e", e)], &axes, false, timed);
        assert!(found.attractors.iter().all(|a| a.kind.attracts()), "{c} {e}: {:?}", counted(&found));
        if (c, e) == ("1", "0.5") {
            assert_eq!(counted(&found).iter().map(|(_, n)| *n).collect::<Vec<_>>(), [338, 43, 19]);
        }
    }
    let found = basins(model(&two), &[("c", "0"), ("e", "1")], &axes, false, timed);
    // (Two starts are on the way to the top of the hill.)
    let is_orbit = |kind: &Kind| matches!(kind, Kind::Periodic { .. });
    assert!(!found.attractors.iter().any(|a| a.kind.attracts() || is_orbit(&a.kind)), "{:?}", counted(&found));
}

/// What the starts are like says nothing of the motions: those side by side in a place that none of them stays in.
#[test]
fn starts_beside_one_another_show_how_far_motions_go() {
    let found = basins(shipped("oscillator"), &[], &["x=-1e-6:0:3"], false, None);
    assert_eq!(counted(&found), [("period 1, 1 impact".to_string(), 3)]);
    let force = |force: &str| {
        format!(
            "[coordinates]\nx = {{ position = 0.5, velocity = 0.0 }}\n[dynamics]\nkinetic = \"x'^2/2\"\n[dynamics.force]\n\
             x = \"{force}\"\n[run]\nend = 30\n"
        )
    };
    let well = basins(model(&force("x - x^3 - 0.3*x'")), &[], &["x=-1e-7:1e-7:20"], false, Some(("30", "x':down")));
    let places: Vec<f64> = well.attractors.iter().map(|a| a.cycle[0][0].abs()).collect();
    assert!(places.len() == 2 && places.iter().all(|x| (x - 1.0).abs() < 1e-6), "{:?}", counted(&well));
    // What grows without bound does so from there as well.
    let grows = basins(model(&force("-x + 0.5*x'")), &[], &["x=-1e-7:1e-7:20"], false, Some(("30", "x':down")));
    assert!(
        grows.attractors.iter().all(|a| matches!(a.kind, Kind::Unbounded | Kind::Growing)),
        "{:?}",
        counted(&grows)
    );
}

/// A driven pendulum that goes over in either direction is in one chaotic set, wherever its angle has come to.
#[test]
fn a_chaotic_set_of_angles_is_one() {
    let text = "[coordinates]\na = { position = 0.1, velocity = 0.0 }\n[dynamics]\nkinetic = \"a'^2/2\"\npotential = \"-cos(a)\"\n\
        [dynamics.force]\na = \"-0.5*a' + 1.15*cos(0.667*t)\"\n[run]\nend = 30\n";
    let found = basins(model(text), &[], &["a=-3.1:3.1:12", "a'=-4:4:12"], false, None);
    assert_eq!(found.attractors.iter().filter(|a| a.kind.attracts()).count(), 1, "{:?}", counted(&found));
    assert!(matches!(found.attractors[0].kind, Kind::Chaotic { exponent, .. } if (0.08..0.12).contains(&exponent)));
}

/// The middle of oscillations that go on for ever attracts nothing.
#[test]
fn a_centre_is_no_attractor() {
    let text = "[coordinates]\nx = { position = 1.0, velocity = 0.0 }\n[dynamics]\nkinetic = \"x'^2/2\"\npotential = \"x^2/2\"\n[run]\nend = 30\n";
    let found = basins(model(text), &[], &["x=-3:3:5", "x'=-3:3:5"], false, Some(("30", "x':down")));
    assert_eq!(counted(&found), [("neutral oscillation, 0 impacts".to_string(), 25)]);
}
