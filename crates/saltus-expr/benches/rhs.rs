//! The cost of one right-hand side: hand-written, by `Scalar`, and by `Lanes`.
//!
//! Targets, per trajectory on one core: `Scalar` takes at most 5 times as long as the hand-written
//! code, and `Lanes` has at least 6 times the throughput of `Scalar`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use saltus_expr::{ExprError, Graph, Lanes, NodeId, Program, Scalar, Scope, Span, lower, parse};

const TEXT: &str = "-2*z*x' - x - k*x^3 + F*cos(w*t) + b*sin(x)";
const STATES: usize = 1024;
const REPEATS: usize = 401;

/// x, x' and t are variables, the rest parameters with values.
struct Names;

impl Scope for Names {
    fn resolve(
        &mut self,
        graph: &mut Graph,
        name: &str,
        _: &[i64],
        velocity: bool,
        span: &Span,
    ) -> Result<NodeId, ExprError> {
        Ok(match (name, velocity) {
            ("x", false) => graph.symbol("x"),
            ("x", true) => graph.symbol("x'"),
            ("t", false) => graph.symbol("t"),
            ("z", false) => graph.constant(0.05),
            ("k", false) => graph.constant(0.3),
            ("F", false) => graph.constant(0.7),
            ("w", false) => graph.constant(1.1),
            ("b", false) => graph.constant(0.2),
            _ => return Err(ExprError::new("no such name", span.clone(), "here")),
        })
    }
}

#[inline(never)]
fn by_hand(x: f64, v: f64, t: f64) -> f64 {
    let (z, k, f, w, b) = (0.05, 0.3, 0.7, 1.1, 0.2);
    -2.0 * z * v - x - k * x * x * x + f * (w * t).cos() + b * x.sin()
}

/// Median nanoseconds per state of a pass over all states.
fn median(mut pass: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            pass();
            start.elapsed().as_nanos() as f64 / STATES as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}

fn lanes<const W: usize>(program: &Arc<Program>, states: &[[f64; 3]]) -> f64 {
    let mut run = Lanes::<W>::new(program.clone());
    // As in an ensemble, the states are already stored by lanes.
    let blocks: Vec<[[f64; W]; 3]> = states
        .chunks_exact(W)
        .map(|chunk| std::array::from_fn(|k| std::array::from_fn(|lane| chunk[lane][k])))
        .collect();
    median(|| {
        for block in black_box(&blocks) {
            for (k, values) in block.iter().enumerate() {
                *run.input_mut(k) = *values;
            }
            run.run();
            black_box(run.output(0));
        }
    })
}

fn main() {
    let mut graph = Graph::new();
    let expr = parse(TEXT).expect("the text is valid");
    let rhs = lower(&expr, &mut graph, &mut Names).expect("its names are known");
    let inputs = ["x", "x'", "t"].map(|name| graph.symbol(name));
    let program = Arc::new(Program::compile(&graph, &inputs, &[rhs]).expect("its symbols are inputs"));
    let states: Vec<[f64; 3]> = (0..STATES)
        .map(|k| {
            let s = k as f64;
            [(0.37 * s).sin() * 3.0, (0.91 * s).cos(), 0.01 * s]
        })
        .collect();

    let hand: fn(f64, f64, f64) -> f64 = black_box(by_hand);
    let hand = median(|| {
        for &[x, v, t] in black_box(&states) {
            black_box(hand(x, v, t));
        }
    });
    let mut run = Scalar::new(program.clone());
    let scalar = median(|| {
        for state in black_box(&states) {
            run.inputs_mut().copy_from_slice(state);
            run.run();
            black_box(run.output(0));
        }
    });
    println!("{TEXT}");
    println!("{} instructions, {} registers", program.instructions().len(), program.registers());
    println!("by hand    {hand:6.2} ns");
    println!("Scalar     {scalar:6.2} ns   {:5.2} x by hand", scalar / hand);
    for (width, time) in
        [(8, lanes::<8>(&program, &states)), (16, lanes::<16>(&program, &states)), (32, lanes::<32>(&program, &states))]
    {
        println!("Lanes<{width:>2}>  {time:6.2} ns   {:5.2} x the throughput of Scalar", scalar / time);
    }
}
