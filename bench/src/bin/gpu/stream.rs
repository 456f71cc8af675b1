//! Final states of very many trajectories of the first problem, 100 periods each, in memory one after the other.

use super::problems::PROBLEMS;
use saltus_ensemble::{Block, Code, Native, Plan, Request};
use saltus_io::ModelFile;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

pub fn stream(trajectories: u64) {
    let (_, text, low, high) = PROBLEMS[0];
    let request = Request {
        over: vec![format!("w={low}:{high}:{trajectories}")],
        periods: Some("100".into()),
        code: Code::Lanes,
        ..Request::default()
    };
    let file = ModelFile::parse("model.toml", text, Path::new(".")).expect("parses");
    let begun = Instant::now();
    let sweep = request.sweep(file).expect("a sweep");
    let problem = sweep.family.problem();
    let native = Native::compile_gpu(problem).expect("a GPU");
    let ready = begun.elapsed().as_secs_f64();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = Plan {
        family: &sweep.family,
        wanted: sweep.wanted.clone(),
        native: Some(native.clone()),
        threads,
        stop: Arc::default(),
    };
    let mut states: Vec<[f64; 2]> = Vec::with_capacity(trajectories as usize);
    let mut trouble = 0;
    let digest = |block: Block| {
        let is_whole = |o: &&saltus_ensemble::Outcome| o.status.as_ref().is_ok_and(|status| status.is_complete());
        let whole = block.outcomes.iter().filter(is_whole).count();
        let states: Vec<[f64; 2]> = block.outcomes.iter().map(|o| [o.q[0], o.v[0]]).collect();
        (states, block.outcomes.len() - whole)
    };
    let begun = Instant::now();
    let mut deliver = |(part, failed): (Vec<[f64; 2]>, usize)| {
        trouble += failed;
        states.extend(part);
        Ok::<(), std::convert::Infallible>(())
    };
    let all = 0..trajectories;
    let mut handed = 0;
    let whole = plan.run(std::slice::from_ref(&all), &digest, &mut deliver, &mut |progress| handed = progress.scalar);
    let (Ok(whole), seconds) = (whole, begun.elapsed().as_secs_f64());
    let spent = native.spent().unwrap_or_default();
    println!(
        "{} final states{}, {trouble} failed, {handed} handed over; ready in {ready:.2} s, computed in {seconds:.3} s on {threads} threads; \
         kernels {:.3} s, all together, in {} launches, at most {} steps in one: {:.2} times as long",
        states.len(),
        if whole { "" } else { " (stopped)" },
        spent.seconds,
        spent.launches,
        spent.longest,
        seconds / spent.seconds
    );
}
