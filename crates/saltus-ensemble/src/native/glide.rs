//! Linear flight in compiled code: its constants as rows of numbers, and the text that computes with them.

use crate::lanes::{LinearCode, Row};
use std::fmt::Write;
use std::sync::Arc;

/// What is given for a trajectory: the interval of the grid, the harmonics, the propagator, and the rows of the gaps.
pub struct Layout {
    code: Arc<LinearCode>,
    rows: Vec<(Of, Vec<usize>)>,
}

/// How many numbers that is.
pub fn length(code: &LinearCode) -> usize {
    rows(code).iter().map(|(_, columns)| columns.len()).sum::<usize>() + 1 + 4 * code.harmonics
}

/// A row of coefficients of z, and what it is of.
#[derive(Clone, Copy)]
enum Of {
    Ahead(usize),
    Gap(usize),
    Slope(usize),
    Doubt(usize),
}

/// All rows, with the columns that are not zero.
fn rows(code: &LinearCode) -> Vec<(Of, Vec<usize>)> {
    let columns = |row: Row| (0..row.len()).filter(|&j| row[j] != 0.0).collect::<Vec<_>>();
    let mut all: Vec<(Of, Vec<usize>)> =
        (0..2 * code.d).map(|i| (Of::Ahead(i), columns(code.ahead_pattern(i)))).collect();
    for a in 0..code.m {
        all.push((Of::Gap(a), columns(code.pattern.gaps[a])));
        all.push((Of::Slope(a), columns(code.slope_pattern(a))));
        all.push((Of::Doubt(a), columns(code.doubt_pattern(a))));
    }
    all
}

impl Layout {
    pub fn new(code: &Arc<LinearCode>) -> Self {
        Layout { code: code.clone(), rows: rows(code) }
    }

    /// The numbers of a trajectory; None where its flight has no grid.
    pub fn numbers(&self, open: &[f64]) -> Option<Vec<f64>> {
        let linear = self.code.at(open)?;
        let h = linear.interval()?;
        let mut all = vec![h];
        for &[phase, rate] in &linear.phases {
            all.extend([phase, rate, (rate * h).cos(), (rate * h).sin()]);
        }
        for (of, columns) in &self.rows {
            let row = match *of {
                Of::Ahead(i) => linear.ahead(i, h),
                Of::Gap(a) => linear.gaps[a],
                // (Rates are compared with values over a third of the interval.)
                Of::Slope(a) => linear.derivative(&linear.gaps[a], false).map(|x| x * h / 3.0),
                Of::Doubt(a) => linear.doubt(a, h),
            };
            all.extend(columns.iter().map(|&j| row[j]));
        }
        all.iter().all(|x| x.is_finite()).then_some(all)
    }
}

/// The part of the iteration that glides.
pub fn text(code: &LinearCode) -> String {
    let (d, size) = (code.d, code.size());
    let (mut constants, mut begin, mut step) = (String::new(), String::new(), String::new());
    let mut at = 1;
    for j in 0..code.harmonics {
        let (c, s) = (2 * d + 1 + 2 * j, 2 * d + 2 + 2 * j);
        let _ =
            writeln!(begin, "sine_and_cosine(S(R_LINEAR + {at}) + S(R_LINEAR + {}) * now, &z[{s}], &z[{c}]);", at + 1);
        let _ = writeln!(
            constants,
            "const real k{} = S(R_LINEAR + {}), k{} = S(R_LINEAR + {});",
            at + 2,
            at + 2,
            at + 3,
            at + 3
        );
        let _ = writeln!(step, "next[{c}] = k{} * z[{c}] - k{} * z[{s}];", at + 2, at + 3);
        let _ = writeln!(step, "next[{s}] = k{} * z[{s}] + k{} * z[{c}];", at + 2, at + 3);
        at += 4;
    }
    let _ = writeln!(step, "next[{}] = z[{}];", 2 * d, 2 * d);
    for (of, columns) in rows(code) {
        let sum = |z: &str, sizes: bool| {
            let term = |(k, j): (usize, &usize)| match sizes {
                true => format!("k{} * size_of({z}[{j}])", at + k),
                false => format!("k{} * {z}[{j}]", at + k),
            };
            let terms: Vec<String> = columns.iter().enumerate().map(term).collect();
            if terms.is_empty() { "ZERO".to_string() } else { terms.join(" + ") }
        };
        match of {
            Of::Ahead(i) => {
                let _ = writeln!(step, "next[{i}] = {};", sum("z", false));
            }
            Of::Gap(a) => {
                let _ = writeln!(begin, "gap[{a}] = {};", sum("z", false));
                let _ = writeln!(step, "then[{a}] = {};", sum("next", false));
            }
            Of::Slope(a) => {
                let _ = writeln!(begin, "rise[{a}] = {};", sum("z", false));
                let _ = writeln!(step, "fall[{a}] = {};", sum("next", false));
            }
            Of::Doubt(a) => {
                let _ = writeln!(step, "doubt[{a}] = {};", sum("z", true));
            }
        }
        for k in 0..columns.len() {
            let _ = writeln!(constants, "const real k{} = S(R_LINEAR + {});", at + k, at + k);
        }
        at += columns.len();
    }
    let mut text = format!("#define SIZE {size}\n#define GAPS {}\n{}", code.m, include_str!("glide.c"));
    for (name, part) in [("constants", constants), ("begin", begin), ("step", step)] {
        text = text.replace(&format!("/*@{name}@*/\n"), &part);
    }
    text
}
