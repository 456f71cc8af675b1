//! Events of the user's own in a run that is cut into slices: each slice goes on where the last one ended, and none of them shows.

use saltus::model::Builder;
use saltus::motion::Crossing;
use saltus::{Keep, Options, Problem, Start, Status, run_slice};

/// Steps of a slice. (What happens at one instant may take several, which a slice must have room for.)
const MOST: [u64; 6] = [3, 4, 5, 7, 11, 29];

/// Number, time and direction of each crossing.
type Crossings = Vec<(usize, f64, bool)>;

fn options(end: f64) -> Options {
    Options::events(end).tolerance(1e-10).keep(Keep::ALL)
}

/// All crossings of a run that is made in slices of so many steps, and whether every slice ended as it should.
fn in_slices(problem: &Problem, end: f64, most: u64) -> Crossings {
    let (mut at, mut all) = (problem.start(), Vec::new());
    let mut count = 0;
    loop {
        count += 1;
        assert!(count < 100_000, "slices of {most} lead nowhere at t = {}", at.t);
        let run = run_slice(problem, &at, &options(end), most, &mut |_| true).expect("a slice");
        all.extend(run.trajectory.events.iter().map(|e| (e.event, e.t, e.rising)));
        assert!(all.len() < 10_000, "crossings without an end: {:?}", all.last());
        at = run.last().clone();
        match run.status {
            Status::Interrupted { .. } => {}
            // (What a slice promises is measured by the little that happens in it.)
            Status::Finished | Status::Breached { .. } => return all,
            other => panic!("{other:?}"),
        }
    }
}

fn whole(problem: &Problem, end: f64) -> Crossings {
    in_slices(problem, end, u64::MAX)
}

/// A capsule that is driven from inside by a mass that hits it, and sticks and slides on the ground.
fn capsule() -> Builder {
    Builder::new("capsule")
        .coordinate("a", 0.0, 0.0)
        .coordinate("b", 0.0, 0.0)
        .kinetic("a'^2/2 + 2*b'^2")
        .force("a", "0.9*cos(0.9*t) - (a - b) - 0.1*(a' - b')")
        .force("b", "(a - b) + 0.1*(a' - b')")
        .slider("ground", "b'", 0.4, None)
        .restitution(0.6)
        .constraint("head", "0.5 - a + b")
        .event("apart", "a' - b'", Crossing::Both)
        .event("up", "a' - b'", Crossing::Up)
        .event("product", "a*a' + 0.2*b - 0.05", Crossing::Both)
}

/// Smooth, with sections that are not as accurate as the motion.
fn oscillator() -> Builder {
    Builder::new("oscillator")
        .coordinate("x", 1.0, 0.0)
        .kinetic("x'^2/2")
        .force("x", "(1 - x^2)*x' - x + 0.3*cos(1.3*t)")
        .event("turn", "x'", Crossing::Both)
        .event("curved", "x*x' + 0.3*x^3 - 0.1", Crossing::Both)
        .event("clock", "sin(1.3*t)", Crossing::Both)
        .event("down", "x", Crossing::Down)
}

/// Chatters on a moving table, rests and leaves it.
fn table() -> Builder {
    Builder::new("table")
        .coordinate("y", 0.3, 0.0)
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(0.4)
        .constraint("table", "y - 0.3*sin(6*t)")
        .event("turn", "y'", Crossing::Both)
        .event("level", "y - 0.1", Crossing::Both)
        .event("clock", "cos(6*t)", Crossing::Both)
}

/// The crossings of each event are the same, one by one. (Those of several events at one instant have no order.)
fn same(cut: &Crossings, uncut: &Crossings, what: &str) {
    for k in 0..4 {
        let of = |all: &Crossings| all.iter().copied().filter(|c| c.0 == k).collect::<Crossings>();
        let (cut, uncut) = (of(cut), of(uncut));
        let is_same = |(a, b): (&(usize, f64, bool), &(usize, f64, bool))| a.2 == b.2 && (a.1 - b.1).abs() < 1e-6;
        let first = cut.iter().zip(&uncut).find(|(a, b)| !is_same((a, b)));
        assert_eq!((cut.len(), first), (uncut.len(), None), "{what}: event {k}");
    }
}

#[test]
fn slices_do_not_show() {
    for (name, model, end) in
        [("capsule", capsule(), 120.0), ("oscillator", oscillator(), 120.0), ("table", table(), 20.0)]
    {
        let problem = model.build().expect(name).problem().expect(name);
        let uncut = whole(&problem, end);
        assert!(uncut.len() > 50, "{name}: {}", uncut.len());
        for most in MOST {
            let cut = in_slices(&problem, end, most);
            same(&cut, &uncut, &format!("{name} in slices of {most}"));
        }
    }
}

/// A start that is on a section but for rounding is on it: the motion does not cross it there.
#[test]
fn a_start_a_rounding_error_off_a_section_is_on_it() {
    let model = Builder::new("harmonic").coordinate("x", 0.0, 1.0).kinetic("x'^2/2").potential("x^2/2");
    let model = model.event("x", "x", Crossing::Both).event("turn", "x'", Crossing::Both);
    let problem = model.build().expect("a model").problem().expect("a problem");
    let count = |q: f64, v: f64| {
        let start = Start::new(0.0, vec![q], vec![v]);
        let run = problem.run_from(&start, &options(20.0)).expect("runs");
        [0, 1].map(|k| run.trajectory.events.iter().filter(|e| e.event == k).count())
    };
    for off in [0.0, 1e-17, -1e-17, 1e-15, -1e-15, 1e-11, -1e-11] {
        for sign in [1.0, -1.0] {
            assert_eq!(count(off, sign), [6, 6], "{off} {sign}");
            assert_eq!(count(sign, off), [6, 6], "{sign} {off}");
        }
    }
    // (One that is farther away than the tolerance is not.)
    assert_eq!(count(-1e-6, 1.0), [7, 6]);
}

/// A run that ends with an impact goes on behind it: what the impact crossed is crossed once.
#[test]
fn stops_at_impacts_and_crossings_do_not_show() {
    for (name, model, end) in [("capsule", capsule(), 40.0), ("table", table(), 6.0)] {
        let problem = model.build().expect(name).problem().expect(name);
        let run = problem.run_from(&problem.start(), &options(end)).expect("runs");
        let uncut: Crossings = run.trajectory.events.iter().map(|e| (e.event, e.t, e.rising)).collect();
        let impacts = run.trajectory.impacts.iter().map(|i| i.t);
        for stop in impacts.chain(uncut.iter().map(|c| c.1)) {
            let first = problem.run_from(&problem.start(), &options(stop)).expect("runs");
            let second = problem.resume(first.last()).expect("goes on").run(&options(end)).expect("runs");
            let both = first.trajectory.events.iter().chain(&second.trajectory.events);
            same(&both.map(|e| (e.event, e.t, e.rising)).collect(), &uncut, &format!("{name} stopped at {stop}"));
        }
    }
}
