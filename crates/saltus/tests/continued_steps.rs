//! Runs of time-stepping schemes that are cut: what goes on from a state that a run reached is that run.

use saltus::model::Builder;
use saltus::scheme::{Method, SCHEMES, Scheme};
use saltus::{Keep, Options, Problem, Run, Side, Start, Status, run_slice};

const H: f64 = 0.02;

fn problem(model: Builder) -> Problem {
    model.build().expect("a model").problem().expect("a problem")
}

fn oscillator(e: &str) -> Problem {
    let builder = Builder::new("oscillator")
        .coordinate("x", 0.3, 0.0)
        .kinetic("x'^2/2")
        .force("x", "-x - 0.1*x^3 - 0.04*x' + cos(1.27*t)")
        .restitution(e)
        .constraint("stop", "1 - x");
    problem(builder)
}

/// Two masses, one of which meets a moving wall; friction of the air makes the forces implicit.
fn pair(e: &str) -> Problem {
    let builder = Builder::new("pair")
        .coordinate("x", 0.0, 1.0)
        .coordinate("y", 0.5, 0.0)
        .kinetic("x'^2/2 + (2 + sin(x))*y'^2/2")
        .force("x", "-x + (y - x) - 0.2*x'*abs(x')")
        .force("y", "(x - y) + 0.5*sin(2*t)")
        .restitution(e)
        .constraint("wall", "0.6 - y + 0.1*sin(t)");
    problem(builder)
}

fn options(scheme: &Scheme, end: f64) -> Options {
    let mut options = Options::steps(scheme.name, H).until(end).keep(Keep::ALL);
    if scheme.name == "penalty" {
        options.settings.set("stiffness", 2e2);
    }
    options
}

fn steppers() -> impl Iterator<Item = &'static Scheme> {
    SCHEMES.iter().filter(|s| matches!(s.method, Method::Steps(_)))
}

fn restitution(scheme: &Scheme) -> &'static str {
    if scheme.name == "bernicot-lefebvre" { "0" } else { "0.8" }
}

fn last(run: &Run) -> (Vec<f64>, Vec<f64>) {
    let k = run.trajectory.len() - 1;
    (run.trajectory.q(k).to_vec(), run.trajectory.v(k, Side::Right).to_vec())
}

fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_run_that_is_cut_anywhere_is_the_run_in_one_piece() {
    for scheme in steppers() {
        for model in [oscillator, pair] {
            let problem = model(restitution(scheme));
            let whole = problem.run(&options(scheme, 500.0 * H)).expect("runs");
            assert!(!whole.trajectory.impacts.is_empty(), "{}, {}", scheme.name, problem.model().title);
            for cut in (1..499).step_by(7) {
                let what = format!("{}, {}, cut at {cut}", scheme.name, problem.model().title);
                let first = problem.run(&options(scheme, cut as f64 * H)).expect("runs");
                let second =
                    problem.resume(first.last()).expect("goes on").run(&options(scheme, 500.0 * H)).expect("runs");
                let ((q, v), (q_whole, v_whole)) = (last(&second), last(&whole));
                let off = far(&q, &q_whole).max(far(&v, &v_whole));
                assert!(off < 1e-9, "{what}: {off:e}");
                if first.warnings.iter().chain(&second.warnings).any(|w| w.contains("impact")) {
                    continue;
                }
                let times = |run: &Run| run.trajectory.impacts.iter().map(|i| i.t).collect::<Vec<f64>>();
                let (parts, one) = ([times(&first), times(&second)].concat(), times(&whole));
                assert_eq!(parts.len(), one.len(), "{what}: {parts:?} {one:?}");
                assert!(far(&parts, &one) < 1e-9, "{what}");
            }
        }
    }
}

#[test]
fn slices_of_steps_lose_no_impact() {
    for scheme in steppers() {
        for model in [oscillator, pair] {
            let problem = model(restitution(scheme));
            let end = 2000.0 * H;
            let whole = problem.run(&options(scheme, end)).expect("runs");
            for most in [17, 50, 333] {
                let (mut at, mut times): (Start, Vec<f64>) = (problem.start(), Vec::new());
                let state = loop {
                    let run = run_slice(&problem, &at, &options(scheme, end), most, &mut |_| true).expect("a slice");
                    times.extend(run.trajectory.impacts.iter().map(|i| i.t));
                    at = run.last().clone();
                    if !matches!(run.status, Status::Interrupted { .. }) {
                        break last(&run);
                    }
                };
                let what = format!("{}, {}, slices of {most}", scheme.name, problem.model().title);
                let one: Vec<f64> = whole.trajectory.impacts.iter().map(|i| i.t).collect();
                assert_eq!(times.len(), one.len(), "{what}");
                let off = far(&state.0, &last(&whole).0).max(far(&state.1, &last(&whole).1)).max(far(&times, &one));
                assert!(off < 1e-6, "{what}: {off:e}");
            }
        }
    }
}

/// The schemes that look back by a step have their memory, and go on bit for bit.
#[test]
fn what_looks_back_goes_on_bit_for_bit() {
    for scheme in steppers() {
        let problem = oscillator(restitution(scheme));
        let first = problem.run(&options(scheme, 150.0 * H)).expect("runs");
        let looks_back = matches!(&scheme.method, Method::Steps(stepping) if stepping.staggered);
        assert_eq!(first.last().reached_by().is_some_and(|by| by.memory.is_some()), looks_back, "{}", scheme.name);
        if !looks_back {
            continue;
        }
        let whole = problem.run(&options(scheme, 400.0 * H)).expect("runs");
        let second = problem.resume(first.last()).expect("goes on").run(&options(scheme, 400.0 * H)).expect("runs");
        for k in 1..second.trajectory.len() - 1 {
            let at = whole
                .trajectory
                .t
                .binary_search_by(|t| t.total_cmp(&second.trajectory.t[k]))
                .expect("the same instants");
            assert_eq!(second.trajectory.q(k), whole.trajectory.q(at), "{} at {k}", scheme.name);
            for side in [Side::Left, Side::Right] {
                assert_eq!(second.trajectory.v(k, side), whole.trajectory.v(at, side), "{} at {k}", scheme.name);
            }
        }
    }
}

/// Other steps, or another state, are another run: it begins there.
#[test]
fn a_memory_of_something_else_is_none() {
    let problem = oscillator("0.8");
    let scheme = steppers().find(|s| s.name == "paoli-schatzman").expect("it");
    let first = problem.run(&options(scheme, 150.0 * H)).expect("runs");
    let plain = Start::new(first.last().t, first.last().q.clone(), first.last().v.clone());
    let end = 160.0 * H;
    let other = options(scheme, end).step(0.5 * H);
    let (a, b) = (problem.run_from(&plain, &other), problem.run_from(first.last(), &other));
    assert_eq!(last(&a.expect("runs")), last(&b.expect("runs")));
    let mut moved = first.last().clone();
    moved.q[0] -= 0.01;
    let plain = Start::new(moved.t, moved.q.clone(), moved.v.clone());
    let (a, b) = (problem.run_from(&plain, &options(scheme, end)), problem.run_from(&moved, &options(scheme, end)));
    assert_eq!(last(&a.expect("runs")), last(&b.expect("runs")));
}

/// The final velocity is that after an impact in the last step.
#[test]
fn a_run_that_ends_with_an_impact_ends_behind_it() {
    for scheme in steppers().filter(|s| s.name != "penalty") {
        let problem = oscillator(restitution(scheme));
        let whole = problem.run(&options(scheme, 500.0 * H)).expect("runs");
        for keep in [Keep::ALL, Keep::IMPACTS] {
            for impact in whole.trajectory.impacts.iter().take(3) {
                for after in 0..4 {
                    let end = ((impact.t / H).ceil() + f64::from(after)) * H;
                    let run = problem.run(&options(scheme, end).keep(keep)).expect("runs");
                    let ((_, v), state) = (last(&run), run.last());
                    let lasting = !run.trajectory.contacts.is_empty();
                    assert!(lasting || v == state.v, "{}: {v:?} {:?} at {end}", scheme.name, state.v);
                }
            }
        }
    }
}
