//! The event-driven engine at tolerance 1e-12 against the references, to nine digits and more.

use super::*;
use saltus::PhaseKind;
use saltus::scheme::{Settings, find};

/// Runs a model by events with tolerance 1e-12; only events and few instants are stored.
fn exact(file: &ModelFile, set: &[(&str, f64)], end: f64) -> Run {
    let overrides: Vec<_> = set.iter().map(|(n, v)| (n.to_string(), format!("{v:?}"))).collect();
    let (problem, _) = file.problem(&overrides).expect("a valid model");
    let step = end / 100.0;
    let settings = Settings { tolerance: 1e-12, ..Settings::new(step) };
    let options =
        RunOptions { scheme: find("event-driven").expect("listed"), settings, ..RunOptions::new(step, end) };
    let run = run(&problem, &options, &mut |_| true).expect("runs");
    assert_eq!(run.status, saltus::Status::Finished);
    assert!(run.audit.max_violation < 1e-9, "{:?}", run.audit);
    run
}

fn shipped_exact(name: &str, set: &[(&str, f64)], end: f64) -> Run {
    exact(&shipped::find(name).expect("shipped").expect("parses"), set, end)
}

fn text_exact(text: &str, set: &[(&str, f64)], end: f64) -> Run {
    exact(&ModelFile::parse("test", text, Path::new("")).expect("parses"), set, end)
}

fn close(what: &str, value: f64, expected: f64, relative: f64) {
    let off = (value - expected).abs() / expected.abs().max(1e-300);
    assert!(off <= relative, "{what}: {value:.15} not {expected:.15}, off by {off:e}");
}

#[test]
fn p02_every_impact_and_the_accumulation() {
    let reference = reference("P02");
    for e in ["0", "0.1", "0.5", "0.8", "0.9", "0.99"] {
        let case = &reference["cases"][format!("q0=1,v0=0,g=9.81,e={e}").as_str()];
        let (e, zeno) = (e.parse::<f64>().expect("e"), num(&case["zeno_time"]));
        let run = shipped_exact("ball-gravity", &[("e", e)], zeno + 3.0);
        let impacts = &run.trajectory.impacts;
        let (first, w) = (num(&case["first_impact_time"]), num(&case["first_impact_speed"]));
        for (n, impact) in impacts.iter().enumerate() {
            let k = n as i32;
            let t = first + if e > 0.0 { 2.0 * w / 9.81 * (e - e.powi(k + 1)) / (1.0 - e) } else { 0.0 };
            close("impact time", impact.t, t, 1e-9);
            close("impact speed", -impact.v_before[0], w * e.powi(k), 1e-4);
        }
        assert!(impacts.len() >= if e > 0.0 { 5 } else { 1 });
        if e > 0.0 {
            let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
            close("accumulation", chatter.end, zeno, 1e-9);
            assert!(chatter.error < 1e-9 && chatter.impacts == impacts.len(), "{chatter:?}");
        }
        let contact = run.timeline.phases.last().expect("phases");
        assert_eq!((contact.kind, &contact.constraints[..]), (PhaseKind::Contact, &[0][..]));
        let reaction = run.trajectory.reactions(zeno + 2.0, Side::Left, 1).expect("known")[0];
        close("weight", reaction, 9.81, 1e-12);
        let last = run.trajectory.len() - 1;
        assert_eq!((run.trajectory.q(last), run.trajectory.v(last, Side::Left)), (&[0.0][..], &[0.0][..]));
        for obs in case["obs"].as_array().expect("obs") {
            if num(&obs["t"]) < zeno + 3.0 {
                let (q, v) = run.trajectory.at(num(&obs["t"]), Side::Left).expect("inside");
                assert!((q[0] - num(&obs["q"])).abs() < 1e-9 && (v[0] - num(&obs["v"])).abs() < 1e-8, "{e} {obs} {q:?} {v:?}");
            }
        }
    }
}
