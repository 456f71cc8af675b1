use std::sync::Arc;

use saltus_expr::{Function1, Function2, Graph, Lanes, Outside, Program, Scalar, Table};

use crate::common::{NAMES, any_expression, try_node};
use proptest::prelude::*;

/// Asserts that all outputs of all lanes are bit-identical to scalar runs (any NaN equals any NaN).
fn agree<const W: usize>(program: &Arc<Program>, states: &[[f64; 3]]) {
    let mut lanes = Lanes::<W>::new(program.clone());
    let mut scalar = Scalar::new(program.clone());
    for chunk in states.chunks_exact(W) {
        for (k, _) in NAMES.iter().enumerate() {
            *lanes.input_mut(k) = std::array::from_fn(|lane| chunk[lane][k]);
        }
        lanes.run();
        for (lane, state) in chunk.iter().enumerate() {
            scalar.inputs_mut().copy_from_slice(state);
            scalar.run();
            for k in 0..program.outputs() {
                let (a, b) = (lanes.output(k)[lane], scalar.output(k));
                assert!(
                    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                    "width {W}, output {k} at {state:?}: {a:e} and {b:e}"
                );
            }
        }
    }
}

fn agree_everywhere(texts: &[String], states: &[[f64; 3]]) {
    let mut g = Graph::new();
    let inputs = NAMES.map(|name| g.symbol(name));
    let mut nodes: Vec<_> = texts.iter().filter_map(|text| try_node(&mut g, text)).collect();
    for k in 0..nodes.len() {
        nodes.push(g.derivative(nodes[k], inputs[0]));
    }
    let program = Arc::new(Program::compile(&g, &inputs, &nodes).unwrap());
    agree::<1>(&program, states);
    agree::<3>(&program, states);
    agree::<8>(&program, states);
    agree::<16>(&program, states);
    agree::<32>(&program, states);
}

#[test]
fn every_operation_on_special_values() {
    let mut texts: Vec<String> = Function1::ALL.iter().map(|f| format!("{}(x)", f.name())).collect();
    texts.extend(Function2::ALL.iter().map(|f| format!("{}(x, y)", f.name())));
    for op in ["<", "<=", ">", ">=", "==", "!="] {
        texts.push(format!("if(x {op} y, x*y, z - x)"));
    }
    for text in ["x^y", "x^7", "1/x", "x/y - z", "z - x*y", "x*y - z", "-x*y", "x^2.5", "2^x"] {
        texts.push(text.to_owned());
    }
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e-310,
        -5e-324,
        1e6,
        1.000001e6,
        -1e7,
        1e300,
        f64::MAX,
        709.8,
        -745.0,
        -800.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        3.25,
        -2.75,
    ];
    let mut states = Vec::new();
    for (k, &x) in special.iter().enumerate() {
        for (l, &y) in special.iter().enumerate() {
            states.push([x, y, special[(k * 7 + l * 3) % special.len()]]);
        }
    }
    agree_everywhere(&texts, &states);
}

#[test]
fn tables_agree() {
    let mut g = Graph::new();
    let table = Table::new("f", vec![-1.0, 0.0, 2.0], vec![1.0, 3.0, 6.0], Outside::Zero).unwrap();
    let inputs = NAMES.map(|name| g.symbol(name));
    let n = g.table(Arc::new(table), inputs[0]);
    let d = g.derivative(n, inputs[0]);
    let program = Arc::new(Program::compile(&g, &inputs, &[n, d]).unwrap());
    let states: Vec<_> = (0..64).map(|k| [f64::from(k) * 0.1 - 2.0, 0.0, 0.0]).collect();
    agree::<8>(&program, &states);
    agree::<16>(&program, &states);
}

proptest! {
    #[test]
    fn lanes_are_bit_identical_to_scalar(
        texts in prop::collection::vec(any_expression(), 1..4),
        mut states in prop::collection::vec([-9.0..9.0_f64, -9.0..9.0, -9.0..9.0], 32),
        far in prop::option::of((0..32_usize, any::<f64>())),
    ) {
        if let Some((lane, value)) = far {
            states[lane][0] = value;
        }
        agree_everywhere(&texts, &states);
    }
}
