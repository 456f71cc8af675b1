//! The source of what perturbations do: their series along a flight, beside that of the motion, and what impacts do to them.

use super::source::inputs;
use crate::lanes::{LaneCode, TangentCode};
use saltus_expr::SeriesSource;
use std::fmt::Write;

/// The last terms of the series of perturbations are kept below this part of what these are: exponents need no more, and the order is that
/// of the motion.
const LAST: f64 = 1e-13;

/// The outputs of the motion of which all coefficients are kept.
pub fn outputs(code: &LaneCode) -> Vec<usize> {
    let tangent = code.tangent.as_ref();
    tangent.map_or_else(Vec::new, |t| t.forces.iter().chain(&t.masses).map(|entry| entry.2).collect())
}

/// What is put into the iteration; nothing where no perturbations go along. None if it cannot be expressed.
pub fn parts(code: &LaneCode, series: &SeriesSource) -> Option<Vec<(&'static str, String)>> {
    let Some(tangent) = &code.tangent else { return Some(Vec::new()) };
    let law = tangent.law.source("u", 0, &[], true)?;
    let mut functions = format!("#define TURNS {}\n", if tangent.turns.is_empty() { 0 } else { code.d * code.d });
    functions.push_str(&inputs(code, "u", ["mt", "mq", "mv"], "S"));
    functions.push_str(&include_str!("tangent.c").replace("/*@second@*/\n", &second(code, tangent, &law)));
    let jump = |of: &str, mask: &str, e: &str, first: i32| {
        format!("if (ANY({mask})) strike(s, {mask}, {of}, inertia, chosen, pull, compliance, rate, {e}, {first});\n")
    };
    Some(vec![
        ("tangent", functions),
        ("straighten", "straighten(s, go & NOT(S(R_BOUNCED) >= 0.0), v);\n".into()),
        (
            "logs",
            "UNROLL for (int c = 0; c < K; c++) state[2 * D + c] = S(R_LOGS + c) + f_log(S(R_STRETCH + c));\n".into(),
        ),
        ("settle", jump("S(R_BOUNCED)", "closes", "ZERO", 0)),
        ("after", "straighten(s, bounced & go & NOT(waits), v);\n".into()),
        ("perturbed", flow(code, tangent, series)),
        ("perturbed_measures", MEASURES.replace("LAST_TERM", &format!("{LAST:e}"))),
        ("carry", CARRY.into()),
        ("strike", jump("which", "hits", "e", 1)),
    ])
}

/// How far the series of the columns reach.
const MEASURES: &str = "\
UNROLL for (int c = 0; c < K; c++) {
    real size = ALL(1e-290), most[3] = {ZERO, ZERO, ZERO};
    UNROLL for (int i = 0; i < D; i++) {
        const real *p = dv[c][i];
        size = larger(size, larger(larger(size_of(p[0]), size_of(p[1]) * last), size_of(p[2]) * last * last));
        UNROLL for (int k = 0; k < 3; k++) most[k] = larger(most[k], size_of(p[N - k]));
    }
    real over = quick_inverse(LAST_TERM * size);
    most[1] *= 0.125;
    most[2] *= 1.0 / 64.0;
    UNROLL for (int k = 0; k < 3; k++) worst[k] = SEL(most[k] * over <= worst[k], worst[k], most[k] * over);
}
";

/// The columns at the end of the step.
const CARRY: &str = "\
UNROLL for (int c = 0; c < K; c++) {
    UNROLL for (int e = 0; e < K; e++) S(R_FRAME_BEFORE + c * K + e) = SEL(go, FRAME(c, e), S(R_FRAME_BEFORE + c * K + e));
    UNROLL for (int i = 0; i < D; i++) {
        real place = inverse[N + 1] * dv[c][i][N], speed = ZERO;
        UNROLL for (int k = N; k >= 0; k--) {
            speed = speed * h + dv[c][i][k];
            if (i < DEGREES) place = place * h + dq[c][i][k];
        }
        if (i < DEGREES) FRAME(c, i < DEGREES ? i : 0) = SEL(h > 0.0, place, FRAME(c, i < DEGREES ? i : 0));
        FRAME(c, DEGREES + i) = SEL(h > 0.0, speed, FRAME(c, DEGREES + i));
    }
}
";

/// Second derivatives of the gap that is hit, and derivatives of the inertia.
fn second(code: &LaneCode, tangent: &TangentCode, law: &saltus_expr::SeriesSource) -> String {
    let d = code.d;
    let mut text = law.declarations.clone();
    text.push_str(&law.orders[0]);
    text.push_str(
        "UNROLL for (int j = 0; j <= D; j++) {\nwave[j] = ZERO;\nUNROLL for (int i = 0; i < D; i++) bend[i][j] = ZERO;\n\
         UNROLL for (int i = 0; i < TURNS; i++) turn[i][j] = ZERO;\n}\n",
    );
    let value = |k: usize| law.coefficient("u", k, Some(0));
    for &(row, j, k) in &tangent.bends {
        let (a, i) = (row / d, row % d);
        let _ = writeln!(text, "bend[{i}][{j}] = SEL(which == {a}.0, {}, bend[{i}][{j}]);", value(k));
    }
    for &(a, j, k) in &tangent.waves {
        let _ = writeln!(text, "wave[{j}] = SEL(which == {a}.0, {}, wave[{j}]);", value(k));
    }
    for &(i, j, k) in &tangent.turns {
        let _ = writeln!(text, "turn[{i}][{j}] = {};", value(k));
    }
    text
}

/// The series of all columns.
fn flow(code: &LaneCode, tangent: &TangentCode, series: &SeriesSource) -> String {
    let d = code.d;
    let mut text = String::from("real dq[K][D][N + 1], dv[K][D][N + 1];\n");
    // ∂g/∂(q, v) − ∂M/∂q a, where there is an inertia: entries that need a series of their own.
    let mut sums: Vec<(usize, usize)> = tangent.masses.iter().map(|&(of, j, _)| (of / d, j)).collect();
    sums.sort_unstable();
    sums.dedup();
    for &(i, j) in &sums {
        let _ = writeln!(text, "real sum_{i}_{j}[N];\nUNROLL for (int k = 0; k < N; k++) {{\nreal sum = ZERO;");
        if let Some(&(_, _, output)) = tangent.forces.iter().find(|entry| (entry.0, entry.1) == (i, j)) {
            let name = series.output("r", output);
            let _ = match series.last_order(output) {
                None => writeln!(text, "if (k == 0) sum = {name};"),
                Some(usize::MAX) => writeln!(text, "sum = {name}[k];"),
                Some(top) => writeln!(text, "if (k <= {top}) sum = {name}[k];"),
            };
        }
        for &(of, by, output) in &tangent.masses {
            if (of / d, by) == (i, j) {
                let acceleration = |at: &str| format!("((double)({at} + 1) * v[{}][{at} + 1])", of % d);
                text.push_str(&product(series, output, "sum -= ", &acceleration));
            }
        }
        let _ = writeln!(text, "sum_{i}_{j}[k] = sum;\n}}");
    }
    if !code.is_explicit {
        text.push_str("real root[D * D];\n");
        for e in 0..d * d {
            let _ = writeln!(text, "root[{e}] = {};", series.coefficient("r", e, Some(0)));
        }
        text.push_str(
            "UNROLL for (int i = 0; i < D; i++)\nUNROLL for (int j = 0; j <= i; j++) {\nreal sum = root[i * D + j];\n\
             UNROLL for (int l = 0; l < j; l++) sum -= root[i * D + l] * root[j * D + l];\n\
             if (i == j) root[i * D + i] = 1.0 / f_sqrt(sum); else root[i * D + j] = sum * root[j * D + j];\n}\n",
        );
    }
    text.push_str(
        "UNROLL for (int c = 0; c < K; c++) {\nUNROLL for (int i = 0; i < D; i++) {\n\
         dq[c][i][0] = i < DEGREES ? FRAME(c, i < DEGREES ? i : 0) : ZERO;\ndv[c][i][0] = FRAME(c, DEGREES + i);\n}\n}\n\
         ROLLED for (int c = 0; c < K; c++) {\nUNROLL for (int k = 0; k < N; k++) {\nreal x[D];\nUNROLL for (int i = 0; i < D; i++) x[i] = ZERO;\n",
    );
    let unknown =
        |j: usize| move |at: &str| if j < d { format!("dq[c][{j}][{at}]") } else { format!("dv[c][{}][{at}]", j - d) };
    for &(i, j, output) in tangent.forces.iter().filter(|entry| !sums.contains(&(entry.0, entry.1))) {
        text.push_str(&product(series, output, &format!("x[{i}] += "), &unknown(j)));
    }
    for &(i, j) in &sums {
        let other = unknown(j)("k - l");
        let _ = writeln!(text, "UNROLL for (int l = 0; l <= k; l++) x[{i}] += sum_{i}_{j}[l] * {other};");
    }
    if !code.is_explicit {
        for e in (0..d * d).filter(|&e| series.last_order(e).is_some()) {
            let (name, top) = (series.output("r", e), series.last_order(e).unwrap_or(0));
            let bound = if top == usize::MAX { "k".into() } else { format!("(k < {top} ? k : {top})") };
            let _ = writeln!(
                text,
                "UNROLL for (int l = 1; l <= {bound}; l++) x[{}] -= {name}[l] * (double)(k - l + 1) * dv[c][{}][k - l + 1];",
                e / d,
                e % d
            );
        }
        text.push_str(
            "UNROLL for (int i = 0; i < D; i++) {\nUNROLL for (int l = 0; l < i; l++) x[i] -= root[i * D + l] * x[l];\n\
             x[i] *= root[i * D + i];\n}\nUNROLL for (int i = D - 1; i >= 0; i--) {\n\
             UNROLL for (int l = i + 1; l < D; l++) x[i] -= root[l * D + i] * x[l];\nx[i] *= root[i * D + i];\n}\n",
        );
    }
    // What is held has constant slopes, on which the reaction acts.
    text.push_str(
        "if (holds) {\nreal sum = ZERO;\nUNROLL for (int i = 0; i < D; i++) sum += S(R_SLOPE + i) * x[i];\nsum *= S(R_INVERSE);\n\
         UNROLL for (int i = 0; i < D; i++) x[i] -= sum * S(R_PULL + i);\n}\n\
         UNROLL for (int i = 0; i < D; i++) {\ndv[c][i][k + 1] = inverse[k + 1] * x[i];\n\
         dq[c][i][k + 1] = inverse[k + 1] * dv[c][i][k];\n}\n}\n}\n",
    );
    text
}

/// Adds order k of the product of an output with another series, of which `other` names the coefficients.
fn product(series: &SeriesSource, output: usize, add: &str, other: &dyn Fn(&str) -> String) -> String {
    let name = series.output("r", output);
    match series.last_order(output) {
        None => format!("{add}{name} * {};\n", other("k")),
        Some(top) => {
            let bound = if top == usize::MAX { "k".into() } else { format!("(k < {top} ? k : {top})") };
            format!("UNROLL for (int l = 0; l <= {bound}; l++) {add}{name}[l] * {};\n", other("(k - l)"))
        }
    }
}
