//! Random models against an independent integrator: a motion that Saltus calls finished is the motion.
//!
//! The oracle shares no code with Saltus. [`exact`] solves linear bodies in closed form for as long as one likes;
//! [`integrator`] solves all others by collocation. Every model is solved three times, twice with everything changed by
//! 1e-9: where that change has grown too much, nothing is compared any more. What Saltus says about itself (breaches,
//! failures, stretches of time stepping) is counted; a silent mismatch fails.
//!
//! `SALTUS_ORACLE_MODELS=10000` runs more of them, `SALTUS_ORACLE_FIRST=5000` others, `SALTUS_SEED=7 … one_model -- --ignored --nocapture` tells one in full.

mod collocation;
mod compare;
mod dice;
mod exact;
mod expression;
mod families;
mod integrator;
mod model;

use compare::{Verdict, judge};
use families::{FAMILIES, case};
use std::time::{Duration, Instant};

#[derive(Default, Clone)]
struct Tally {
    models: usize,
    agree: usize,
    alarms: Vec<(u64, String)>,
    said: Vec<(u64, String)>,
    wrong: Vec<(u64, String)>,
    unknown: usize,
    samples: usize,
    compared: usize,
    worst: f64,
    time: Duration,
    other: Duration,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.models += other.models;
        self.agree += other.agree;
        self.unknown += other.unknown;
        self.samples += other.samples;
        self.compared += other.compared;
        self.worst = self.worst.max(other.worst);
        self.time += other.time;
        self.other += other.other;
        for (list, more) in
            [(&mut self.alarms, &other.alarms), (&mut self.said, &other.said), (&mut self.wrong, &other.wrong)]
        {
            list.extend(more.iter().cloned());
        }
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

fn tally(seeds: impl Iterator<Item = u64>) -> Vec<Tally> {
    let mut all = vec![Tally::default(); FAMILIES.len()];
    for seed in seeds {
        let (family, parts, end) = case(seed);
        let tally = &mut all[family];
        let judged = judge(seed, &parts, end);
        tally.models += 1;
        tally.samples += judged.samples;
        tally.compared += judged.compared;
        tally.time += judged.time;
        tally.other += judged.other;
        match judged.verdict {
            Verdict::Agrees => {
                tally.agree += 1;
                tally.worst = tally.worst.max(judged.worst);
            }
            Verdict::FalseAlarm(text) => tally.alarms.push((seed, text)),
            Verdict::SaidSo(text) => tally.said.push((seed, text)),
            Verdict::Wrong(text) => tally.wrong.push((seed, text)),
            Verdict::Unknown => tally.unknown += 1,
        }
    }
    all
}

#[test]
fn finished_motions_are_those_of_an_independent_integrator() {
    let started = Instant::now();
    let first = number("SALTUS_ORACLE_FIRST", 0);
    let end = first + number("SALTUS_ORACLE_MODELS", 1200);
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 32)) as u64;
    let parts: Vec<Vec<Tally>> = std::thread::scope(|scope| {
        let part = |k: u64| scope.spawn(move || tally((first..end).filter(move |seed| seed / 9 % threads == k)));
        let running: Vec<_> = (0..threads).map(part).collect();
        running.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    let mut wrong = Vec::new();
    let (mut models, mut alarms, mut said) = (0, 0, 0);
    println!("family        models  agree  alarm  said  wrong  unknown  compared  worst     Saltus  oracle");
    for (family, name) in FAMILIES.iter().enumerate() {
        let mut all = Tally::default();
        parts.iter().for_each(|part| all.add(&part[family]));
        println!(
            "{name:12} {:7} {:6} {:6} {:5} {:6} {:8} {:8.1}% {:9.1e} {:7.1?} {:7.1?}",
            all.models,
            all.agree,
            all.alarms.len(),
            all.said.len(),
            all.wrong.len(),
            all.unknown,
            100.0 * all.compared as f64 / all.samples.max(1) as f64,
            all.worst,
            all.time,
            all.other,
        );
        models += all.models;
        alarms += all.alarms.len();
        said += all.said.len();
        for (kind, list) in [("false alarm", &all.alarms), ("said so", &all.said), ("WRONG", &all.wrong)] {
            for (seed, text) in list.iter().take(8) {
                println!("    {kind} {seed}: {text}");
            }
        }
        wrong.extend(all.wrong);
    }
    println!(
        "{models} models in {:.1?}: {} wrong in silence, {alarms} false alarms, {said} said so",
        started.elapsed(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
#[ignore = "a tool to look at one model"]
fn one_model() {
    let seed = std::env::var("SALTUS_SEED").expect("a seed").parse().expect("a number");
    let (family, parts, end) = case(seed);
    println!("{} up to {end:e}", FAMILIES[family]);
    compare::tell(seed, &parts, end);
}
