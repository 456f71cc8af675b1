use std::sync::Arc;

use saltus_expr::{Function1, Graph, NodeId, Op, Outside, Program, Scalar, Table, lower, parse};

use crate::common::{NAMES, Symbols, node, smooth, try_node};
use proptest::prelude::*;

fn compile(g: &mut Graph, inputs: &[&str], outputs: &[NodeId]) -> Program {
    let inputs: Vec<NodeId> = inputs.iter().map(|name| g.symbol(name)).collect();
    Program::compile(g, &inputs, outputs).unwrap()
}

#[test]
fn a_missing_input_is_named() {
    let mut g = Graph::new();
    let n = node(&mut g, "x + omega");
    let x = g.symbol("x");
    let error = Program::compile(&g, &[x], &[n]).unwrap_err();
    assert_eq!(error.name, "omega");
    assert_eq!(error.to_string(), "`omega` is used but is not an input");
}

#[test]
fn trivial_outputs() {
    let mut g = Graph::new();
    let (x, two) = (g.symbol("x"), g.constant(2.0));
    let program = compile(&mut g, &["x", "y"], &[x, two, x]);
    assert!(program.instructions().is_empty());
    assert_eq!((program.inputs(), program.outputs()), (2, 3));
    let mut out = [0.0; 3];
    Scalar::new(Arc::new(program)).eval(&[7.0, 8.0], &mut out);
    assert_eq!(out, [7.0, 2.0, 7.0]);
    let empty = compile(&mut g, &[], &[]);
    Scalar::new(Arc::new(empty)).run();
}

#[test]
fn powers_share_their_squares() {
    let mut g = Graph::new();
    let n = [node(&mut g, "x^4"), node(&mut g, "x^5"), node(&mut g, "x^2")];
    let program = compile(&mut g, &["x"], &n);
    assert_eq!(program.instructions().len(), 3);
    let n = node(&mut g, "x^-3");
    let program = compile(&mut g, &["x"], &[n]);
    assert_eq!(program.instructions().len(), 3);
    let mut out = [0.0];
    Scalar::new(Arc::new(program)).eval(&[2.0], &mut out);
    assert_eq!(out, [0.125]);
}

#[test]
fn products_and_sums_are_fused() {
    let mut g = Graph::new();
    let n = node(&mut g, "x*y + z");
    let program = compile(&mut g, &NAMES, &[n]);
    assert_eq!(program.instructions().len(), 1);
    assert_eq!(program.instructions()[0].op, Op::MulAdd);
    let n = node(&mut g, "3/x");
    let program = compile(&mut g, &NAMES, &[n]);
    assert_eq!(program.instructions().len(), 1);
    assert_eq!(program.constants(), [3.0]);
    // A product that is also an output is kept.
    let n = [node(&mut g, "x*y"), node(&mut g, "x*y + z")];
    let program = compile(&mut g, &NAMES, &n);
    assert_eq!(program.instructions().len(), 2);
}

#[test]
fn registers_are_reused() {
    let mut g = Graph::new();
    let text = (1..=200).map(|k| format!("sin(x + {k})*cos(y*{k})")).collect::<Vec<_>>().join(" + ");
    let n = node(&mut g, &text);
    let program = compile(&mut g, &NAMES, &[n]);
    let temporaries = program.registers() - program.inputs() - program.constants().len();
    assert!(program.instructions().len() >= 800);
    assert!(temporaries <= 8, "{temporaries}");
}

#[test]
fn tables_are_evaluated() {
    let mut g = Graph::new();
    let table = Arc::new(Table::new("f", vec![0.0, 2.0], vec![0.0, 6.0], Outside::Zero).unwrap());
    let x = g.symbol("x");
    let n = g.table(table.clone(), x);
    assert_eq!(g.table(table, x), n);
    let program = compile(&mut g, &["x"], &[n]);
    assert_eq!(program.tables().len(), 1);
    let mut run = Scalar::new(Arc::new(program));
    let mut out = [0.0];
    run.eval(&[0.5], &mut out);
    assert_eq!(out, [1.5]);
    run.eval(&[2.5], &mut out);
    assert_eq!(out, [0.0]);
}

#[test]
fn a_hundred_thousand_terms() {
    let mut g = Graph::new();
    let expr = parse("sum(i = 1..100000, k*(x[i] - x[i-1])^2/2 + sin(x[i]))").unwrap();
    let n = lower(&expr, &mut g, &mut Symbols).unwrap();
    let x = g.symbol("x[500]");
    let d = g.derivative(n, x);
    let expected = node(&mut g, "k*(x[500]-x[499]) - k*(x[501]-x[500]) + cos(x[500])");
    assert_eq!(d, expected);
    let names: Vec<NodeId> = (0..=100_000).map(|i| g.symbol(&format!("x[{i}]"))).collect();
    let k = g.symbol("k");
    let program = Program::compile(&g, &[&[k], names.as_slice()].concat(), &[n, d]).unwrap();
    assert!(program.registers() < names.len() + 30);
    let mut run = Scalar::new(Arc::new(program));
    run.inputs_mut()[0] = 2.0;
    run.inputs_mut()[1] = 3.0;
    run.run();
    assert_eq!((run.output(0), run.output(1)), (9.0, 1.0));
}

#[test]
fn deep_graphs_compile() {
    let mut g = Graph::new();
    let x = g.symbol("x");
    let mut n = x;
    for _ in 0..200_000 {
        n = g.unary(Function1::Sin, n);
        n = g.add(n, x);
    }
    let d = g.derivative(n, x);
    let program = compile(&mut g, &["x"], &[n, d]);
    let mut run = Scalar::new(Arc::new(program));
    run.run();
    assert_eq!(run.output(0), 0.0);
    assert!(g.depends_on(n, x));
    assert_eq!(g.symbols_in(n), ["x"]);
}

proptest! {
    /// Register reuse does not mix up values: each output equals that of its own program.
    #[test]
    fn outputs_are_independent(
        texts in prop::collection::vec(smooth(), 1..6),
        at in [-2.0..2.0_f64, -2.0..2.0, -2.0..2.0],
    ) {
        let mut g = Graph::new();
        let mut nodes: Vec<NodeId> = texts.iter().filter_map(|t| try_node(&mut g, t)).collect();
        let x = g.symbol("x");
        for k in 0..nodes.len() {
            nodes.push(g.derivative(nodes[k], x));
        }
        let all = compile(&mut g, &NAMES, &nodes);
        let mut out = vec![0.0; nodes.len()];
        let mut run = Scalar::new(Arc::new(all));
        run.eval(&at, &mut out);
        let first = out.clone();
        run.eval(&at, &mut out);
        for (k, &n) in nodes.iter().enumerate() {
            let mut own = [0.0];
            Scalar::new(Arc::new(compile(&mut g, &NAMES, &[n]))).eval(&at, &mut own);
            // Fusion depends on which values are shared: `c*(1/d)` may round differently.
            let close = (out[k] - own[0]).abs() <= 1e-9 * (1.0 + own[0].abs());
            prop_assert!(close || (out[k].is_nan() && own[0].is_nan()) || out[k] == own[0]);
            prop_assert_eq!(out[k].to_bits(), first[k].to_bits(), "a second run differs");
        }
    }
}
