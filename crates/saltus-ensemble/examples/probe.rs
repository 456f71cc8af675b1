use saltus::model::Builder;
use saltus::{Options, Problem};
use saltus_ensemble::*;
use std::sync::Arc;
use std::time::Instant;

fn problem(name: &str) -> (Problem, Vec<&'static str>) {
    let (b, open) = match name {
        "A" => (
            Builder::new("A")
                .parameter("w", 1.0)
                .coordinate("x", 0.0, 0.0)
                .kinetic("x'^2/2")
                .force("x", "cos(w*t) - 0.04*x' - x")
                .restitution(0.8)
                .constraint("stop", "1 - x"),
            vec!["w"],
        ),
        "B" => (
            Builder::new("B")
                .parameter("w", 1.0)
                .coordinate("x", 0.0, 0.0)
                .kinetic("x'^2/2")
                .force("x", "0.5*cos(w*t) - 0.1*x' - x - x^3")
                .restitution(0.8)
                .constraint("stop", "0.5 - x"),
            vec!["w"],
        ),
        "S" => (
            Builder::new("S")
                .parameter("w", 1.0)
                .coordinate("x", 0.0, 0.0)
                .kinetic("x'^2/2")
                .force("x", "2*cos(w*t) + 0.5 - 0.1*x' - x - x^3")
                .restitution(0.3)
                .constraint("stop", "0.2 - x"),
            vec!["w"],
        ),
        "C" => (
            Builder::new("C")
                .parameter("w", 1.0)
                .coordinate("x", 0.0, 0.0)
                .coordinate("y", 0.01, 0.1)
                .kinetic("x'^2/2 + 0.1*y'^2/2")
                .force("x", "cos(w*t) - 0.1*x' - x")
                .restitution(0.7)
                .constraint("left", "1 + y - x")
                .constraint("right", "1 - y + x"),
            vec!["w"],
        ),
        _ => (
            Builder::new("D")
                .parameter("w", 1.0)
                .coordinate("a", 0.5, 0.0)
                .coordinate("b", 0.2, 0.0)
                .kinetic("a'^2 + b'^2/2 + a'*b'*cos(a-b)")
                .potential("-2*9.81*cos(a) - 9.81*cos(b)")
                .force("a", "2*cos(w*t) - 0.1*a'")
                .force("b", "-0.1*b'")
                .restitution(0.8)
                .constraint("wall", "0.75 - sin(a) - sin(b)"),
            vec!["w"],
        ),
    };
    let model = b.build().unwrap();
    let model = model.open(&open).unwrap();
    (model.problem().unwrap(), open)
}

fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    s.split(' ').next().unwrap().parse::<f64>().unwrap() * 1e-9
}

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    for name in
        if names.is_empty() { vec!["A", "B", "S", "C", "D"].into_iter().map(String::from).collect() } else { names }
    {
        let (problem, _) = problem(&name);
        let periods = 100.0;
        let n = 512;
        let jobs: Vec<Job> = (0..n)
            .map(|k| {
                let w = 0.5 + k as f64 / n as f64;
                let w = if name == "D" { 2.0 + 2.0 * w } else { w };
                let start = problem.start_with(&[("w", w)]).unwrap();
                let t = 2.0 * std::f64::consts::PI / w;
                Job { start, from: 0.0, end: periods * t, strobe: None }
            })
            .collect();
        let wanted = Arc::new(Wanted { tolerance: 1e-10, ..Wanted::default() });
        {
            let mut w8: LaneWorker<8> = LaneWorker::new(&problem, 1e-10, &Default::default()).unwrap();
            let s = cpu();
            w8.run(&jobs, &wanted);
            println!("   W=8 {:.0}", (cpu() - s) * 1e9 / (n as f64 * periods));
            let mut w8: LaneWorker<32> = LaneWorker::new(&problem, 1e-10, &Default::default()).unwrap();
            let s = cpu();
            w8.run(&jobs, &wanted);
            println!("   W=32 {:.0}", (cpu() - s) * 1e9 / (n as f64 * periods));
        }
        let mut worker: LaneWorker = match LaneWorker::new(&problem, 1e-10, &Default::default()) {
            Ok(w) => w,
            Err(e) => {
                println!("{name}: {e}");
                continue;
            }
        };
        let started = cpu();
        let out = worker.run(&jobs, &wanted);
        let time = cpu() - started;
        let both = out.iter().filter(|o| o.engine != Engine::Lanes).count();
        let impacts: u64 = out.iter().map(|o| o.impacts).sum();
        println!(
            "{name}: {:.0} ns per trajectory-period, {} of {n} with the event engine, {:.2} impacts and {:.2} accumulations per period",
            1e9 * time / (n as f64 * periods),
            both,
            impacts as f64 / n as f64 / periods,
            out.iter().map(|o| o.accumulations).sum::<u64>() as f64 / n as f64 / periods,
        );
        // Against the event engine, ten periods.
        let jobs: Vec<Job> = jobs.iter().step_by(8).map(|j| Job { end: j.end / 10.0, ..j.clone() }).collect();
        let out = worker.run(&jobs, &wanted);
        let started = Instant::now();
        let mut off: Vec<(f64, usize)> = Vec::new();
        for (k, (job, o)) in jobs.iter().zip(&out).enumerate() {
            let run = problem
                .run_from(&job.start, &Options::events(job.end).tolerance(1e-12).keep(saltus::Keep::NOTHING))
                .unwrap();
            let last = run.last();
            let d =
                last.q.iter().zip(&o.q).chain(last.v.iter().zip(&o.v)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            off.push((if o.status.is_ok() { d } else { f64::NAN }, k));
        }
        let scalar = started.elapsed().as_secs_f64() * 1e9 / (jobs.len() as f64 * periods / 10.0);
        off.sort_by(|a, b| a.0.total_cmp(&b.0));
        println!(
            "   scalar {scalar:.0} ns; off after 10 periods: median {:.1e}, 90 % {:.1e}, worst {:.1e} (job {})",
            off[off.len() / 2].0,
            off[off.len() * 9 / 10].0,
            off[off.len() - 1].0,
            off[off.len() - 1].1
        );
    }
}
