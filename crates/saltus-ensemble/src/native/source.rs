//! The source of a model's iteration: what the model adds to `kernel.c` and `advance.c`.

use super::glide;
use super::rows::Rows;
use super::sections;
use super::tangent;
use crate::lanes::{LaneCode, limits};
use crate::settled::QUIET;
use saltus_expr::SeriesSource;
use std::fmt::Write;

/// Records of a trajectory that wait to be read: impacts and instants of the stroboscope.
pub const LOG: usize = 32;

/// Where only the last states at a section are wanted, there is room for so many of each; two more than are wanted, because a step that
/// fails takes its own back.
pub const LASTING: usize = 34;

/// The degree of the first look at a gap; below the orders of all series.
const LOW: usize = 4;

/// What a trajectory signals.
pub mod signal {
    pub const DONE: f64 = 1.0;
    /// The last step was not sound: back to where it began.
    pub const BACK: f64 = 2.0;
    /// What happens here is not decided.
    pub const HERE: f64 = 3.0;
    /// It begins on a constraint.
    pub const START: f64 = 4.0;
    pub const ENDLESS: f64 = 5.0;
    /// There is no room for another record.
    pub const FULL: f64 = 6.0;
    /// The acceleration is another one than the last step ended with; it may be rounding.
    pub const OFF: f64 = 7.0;
}

/// What is recorded.
pub mod flag {
    pub const HITS: i32 = 1;
    pub const STROBES: i32 = 2;
    pub const TRACKS: i32 = 4;
    pub const SECTIONS: i32 = 8;
    /// The last states at each section alone.
    pub const LASTS: i32 = 16;
}

/// Numbers in a record.
pub fn record_length(code: &LaneCode) -> usize {
    4 + 2 * code.d + code.columns()
}

/// Room for records of one trajectory.
pub fn slots(code: &LaneCode) -> usize {
    LOG + code.events * LASTING
}

/// Where the code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// So many trajectories side by side in the registers of a processor.
    Processor(usize),
    /// One trajectory in each thread of a GPU.
    Gpu,
}

impl Place {
    /// What the text begins with.
    pub fn prelude(self) -> String {
        match self {
            Place::Processor(width) => format!(
                "#include <math.h>\n#define W {width}\n#define FUNCTION static inline\n#define OUTLINE static __attribute__((noinline))\n#define EXPORT\n#define CONSTANT static const\n#define UNROLL _Pragma(\"GCC unroll 32\")\n#define ROLLED\n#define PAIRED\n#define FOURFOLD\n"
            ),
            Place::Gpu => include_str!("gpu_before.cu").to_string(),
        }
    }
}

/// The source for a place; None if there is something in the model that it cannot express.
pub fn source(code: &LaneCode, place: Place) -> Option<String> {
    let n = code.order;
    let mut whole: Vec<usize> = (code.gaps..code.gaps + code.m).chain(code.own..code.own + code.events).collect();
    if !code.is_explicit {
        whole.extend(0..code.d * code.d);
    }
    whole.extend(tangent::outputs(code));
    let series = code.series.source("r", n, &whole, true)?;
    // (A gap that never changes has no crossing to look for.)
    if (code.gaps..code.gaps + code.m).any(|k| series.last_order(k).is_none()) {
        return None;
    }
    let law = code.law_series.source("m", 0, &[], true)?;
    let mut text = format!("/* Generated from a model by Saltus. */\n{}\n", place.prelude());
    let _ = writeln!(text, "#define N {n}\n#define D {}\n#define M {}", code.d, code.m.max(1));
    let _ =
        writeln!(text, "#define DEGREES {}\n#define CAN_HOLD {}", code.degrees, i32::from(code.can_hold && code.m > 0));
    let _ = writeln!(
        text,
        "#define LOW {LOW}\n#define LOG {LOG}\n#define RECORD {}\n#define K {}",
        record_length(code),
        code.columns()
    );
    for (name, value) in [
        ("DONE", signal::DONE),
        ("BACK", signal::BACK),
        ("HERE", signal::HERE),
        ("START", signal::START),
        ("ENDLESS", signal::ENDLESS),
        ("FULL", signal::FULL),
        ("OFF", signal::OFF),
        ("TRUST", limits::TRUST),
        ("STILL", limits::STILL),
        ("TOUCHES", limits::TOUCHES),
        ("SHARE", limits::SHARE),
        ("GROWTH", limits::GROWTH),
        ("BLIND", limits::BLIND),
        ("CAREFUL", limits::CAREFUL),
        ("QUIET", QUIET),
        ("ROUNDED", limits::ROUNDED),
        ("WINDOW", limits::WINDOW as f64),
        ("MANY", limits::MANY),
        ("PATIENCE", f64::from(limits::PATIENCE)),
    ] {
        let _ = writeln!(text, "#define {name} {value:e}");
    }
    let _ = writeln!(text, "#define STOP 1\n#define RELEASE 2\n#define UNCLEAR 3\n#define RETURNED 4\n#define HIT 8");
    for (name, bit) in [
        ("HITS", flag::HITS),
        ("STROBES", flag::STROBES),
        ("TRACKS", flag::TRACKS),
        ("SECTIONS", flag::SECTIONS),
        ("LASTS", flag::LASTS),
    ] {
        let _ = writeln!(text, "#define {name} {bit}");
    }
    // (What one more step may record.)
    let _ = writeln!(text, "#define EVENTS {}\n#define ROOM {}.0", code.events, 2 + 3 * code.events);
    let _ = writeln!(text, "#define LINEAR {}", i32::from(code.linear.is_some()));
    let _ = writeln!(text, "#define LASTING {LASTING}\n#define SLOTS {}", slots(code));
    text.push_str(&Rows::new(code).definitions());
    text.push_str("#define S(row) s[row]\n");
    let _ = writeln!(text, "CONSTANT double inverse[N + 2] = {{0.0, {}}};", list((1..n + 2).map(|k| 1.0 / k as f64)));
    for (name, degree) in [("over_binomial", n), ("over_low_binomial", LOW)] {
        let mut binomial = 1.0;
        let over = (0..=degree).map(|k| {
            let over = 1.0 / binomial;
            binomial *= (degree - k) as f64 / (k + 1) as f64;
            over
        });
        let _ = writeln!(text, "CONSTANT double {name}[{}] = {{{}}};", degree + 1, list(over));
    }
    text.push('\n');
    text.push_str(include_str!("kernel.c"));
    if code.events > 0 {
        text.push_str(sections::FUNCTIONS);
    }
    text.push_str(&inputs(code, "r", ["tt", "q", "v"], "S"));
    text.push_str(&inputs(code, "m", ["mt", "mq", "mv"], "S"));
    let parts = [
        ("law", law_text(code, &law)),
        (
            "flight",
            code.linear.as_deref().map_or_else(|| Some(String::new()), |linear| glide::text(linear, code.open))?,
        ),
        ("glide", code.linear.as_ref().map_or("", |_| glide::CALL).to_string()),
        ("return", code.linear.as_ref().map_or("", |_| glide::RETURN).to_string()),
        ("declarations", series.declarations.clone()),
        ("expand", flights(code, &series, place)),
        (
            "extents",
            each_gap(code, &series, |a, g| {
                format!(
                    "S(R_EXTENT + {a}) = larger({g}[0], S(R_EXTENT + {a}));\nS(R_VIOLATION) = larger(-{g}[0], S(R_VIOLATION));\nS(R_WIDEST) = larger({g}[0], S(R_WIDEST));\n"
                )
            }),
        ),
        (
            "starts",
            each_gap(code, &series, |_, g| {
                format!(
                    "{{\nmask on = go & is_new & NOT({g}[0] > 1e-9 * size_of({g}[1]) * rough);\n\
                 S(R_SIGNAL) = SEL(on, ALL(START), S(R_SIGNAL));\ngo &= NOT(on);\n}}\n"
                )
            }),
        ),
        (
            "held",
            each_gap(code, &series, |a, g| {
                format!("gap = SEL(S(R_HELD) == {a}.0, {g}[0], gap);\nrate = SEL(S(R_HELD) == {a}.0, {g}[1], rate);\n")
            }),
        ),
        (
            "bounced",
            each_gap(code, &series, |a, g| {
                let pick = |name: &str, value: &str| format!("{name} = SEL(S(R_BOUNCED) == {a}.0, {value}, {name});\n");
                let coefficient = |k: usize| format!("{g}[{k}]");
                [("rate", 1), ("half", 2), ("third", 3)].map(|(name, k)| pick(name, &coefficient(k))).concat()
                    + &pick("extent", &format!("S(R_EXTENT + {a})"))
            }),
        ),
        (
            "measures",
            each_gap(code, &series, |a, g| match code.is_affine[a] {
                true => String::new(),
                false => format!("measure({g}, N, &S(R_GAP_SCALE + {a}), last, SHARE * tolerance, 0, worst);\n"),
            }) + &sections::measures(code, &series),
        ),
        (
            "majorised",
            each_gap(code, &series, |a, g| match code.is_affine[a] {
                true => String::new(),
                false => format!("blind |= NOT(majorise({g}, N, h, steeper, &steep));\n"),
            }) + &sections::majorised(code, &series),
        ),
        ("crossings", crossings(code, &series)),
        ("jumps", sections::jumps(code, &series)),
        ("sections", sections::within(code, &series)),
        ("crossed", sections::crossed(code, &series)),
        (
            "near",
            match code.m {
                0 | 1 => String::new(),
                _ => each_gap(code, &series, |a, g| {
                    format!(
                        "{{\nreal other = value_at({g}, N, h);\nnear |= (which != {a}.0) & \
                         (other <= larger(10.0 * tolerance * larger(S(R_EXTENT + {a}), size_of(other)), \
                         TOUCHES * S(R_WIDEST)));\n}}\n"
                    )
                }),
            },
        ),
    ];
    let mut body = include_str!("advance.c").to_string();
    for (name, part) in parts.into_iter().chain(tangent::parts(code, &series)?) {
        body = body.replace(&format!("/*@{name}@*/\n"), &part);
    }
    text.push_str(&body);
    if place == Place::Gpu {
        // (Where a trajectory needs little, more blocks side by side on a multiprocessor are faster than two with all registers.)
        let blocks = match &code.linear {
            _ if code.tangent.is_some() => 1,
            Some(_) if code.d <= 2 => 3,
            None if series.arrays + 2 * code.d <= 8 => 4,
            _ => 1,
        };
        let _ = writeln!(text, "#define BLOCKS {blocks}");
        text.push_str(include_str!("gpu_after.cu"));
    }
    Some(text)
}

/// Numbers, one after the other.
pub fn list(values: impl Iterator<Item = f64>) -> String {
    values.map(|x| format!("{x:e}")).collect::<Vec<_>>().join(", ")
}

/// Names of the inputs of a series: time, positions, velocities, open parameters.
pub fn inputs(code: &LaneCode, prefix: &str, [t, q, v]: [&str; 3], state: &str) -> String {
    let mut text = format!("#define {prefix}0 {t}\n");
    let d = code.d;
    for i in 0..d {
        let _ = writeln!(text, "#define {prefix}{} {q}[{i}]\n#define {prefix}{} {v}[{i}]", 1 + i, 1 + d + i);
    }
    for k in 0..code.open {
        let _ = writeln!(text, "#define {prefix}{} {state}(R_P + {k})", code.first_open() + k);
    }
    if code.has_speed {
        let _ = writeln!(text, "#define {prefix}{} ALL(NAN)", code.first_open() + code.open);
    }
    text
}

fn each_gap(code: &LaneCode, series: &SeriesSource, text: impl Fn(usize, &str) -> String) -> String {
    (0..code.m).map(|a| text(a, &series.output("r", code.gaps + a))).collect()
}

fn law_text(code: &LaneCode, law: &SeriesSource) -> String {
    let (d, m) = (code.d, code.m);
    let mut text = law.declarations.clone();
    text.push_str(&law.orders[0]);
    let value = |k: usize| law.coefficient("m", k, Some(0));
    for k in 0..d * d {
        let _ = writeln!(text, "inertia[{k}] = {};", value(k));
    }
    for a in 0..m {
        for i in 0..d {
            let _ = writeln!(text, "slope[{a}][{i}] = {};", value(d * d + a * d + i));
        }
        let _ = writeln!(text, "rate[{a}] = {};", value(d * d + m * d + a));
        let _ = writeln!(text, "restitution[{a}] = {};", value(d * d + m * d + m + a));
    }
    if m == 0 {
        (0..d).for_each(|i| {
            let _ = writeln!(text, "slope[0][{i}] = ZERO;");
        });
        text.push_str("rate[0] = ZERO;\nrestitution[0] = ZERO;\n");
    }
    text
}

/// The series where a constraint is held, and where none is. Trajectories side by side in registers share one text: what a compiler makes
/// of another may differ in the last digit, and no trajectory depends on those beside it.
fn flights(code: &LaneCode, series: &SeriesSource, place: Place) -> String {
    let can_hold = code.can_hold && code.m > 0;
    let text = |held| expand(code, series, held);
    match place {
        Place::Processor(_) if can_hold => text(Some("if (holds) ")),
        _ if can_hold => format!("if (holds) {{\n{}}} else {{\n{}}}\n", text(Some("")), text(None)),
        _ => text(None),
    }
}

/// The series, order by order; `held`: the condition under which a constraint is, None if none is.
fn expand(code: &LaneCode, series: &SeriesSource, held: Option<&str>) -> String {
    let n = code.order;
    let mut text = String::new();
    if !code.is_explicit {
        text.push_str("real acceleration[D][N + 1], factor[D * D];\n");
    }
    // (The position of a first-order state means nothing, and nothing depends on it.)
    let positions = |k: &str| {
        (0..code.degrees).map(|i| format!("q[{i}][{k}] = inverse[{k}] * v[{i}][{k} - 1];\n")).collect::<String>()
    };
    for (k, order) in series.orders.iter().enumerate() {
        text.push_str("{\n");
        if k > 0 {
            text.push_str(&positions(&k.to_string()));
        }
        text.push_str(order);
        if k < n {
            text.push_str(&accelerations(code, series, Some(k), held));
        }
        text.push_str("}\n");
    }
    if series.orders.len() > n {
        return text;
    }
    let _ = writeln!(text, "UNROLL for (int k = {}; k <= N; k++) {{", series.orders.len());
    text.push_str(&positions("k"));
    text.push_str(&series.rest);
    text.push_str("if (k < N) {\n");
    text.push_str(&accelerations(code, series, None, held));
    text.push_str("}\n}\n");
    text
}

/// Order k of the accelerations, with the reactions of what is held.
fn accelerations(code: &LaneCode, series: &SeriesSource, order: Option<usize>, held: Option<&str>) -> String {
    let d = code.d;
    let k = order.map_or("k".to_string(), |k| k.to_string());
    let mut text = String::from("real x[D];\n");
    for i in 0..d {
        let _ = writeln!(text, "x[{i}] = {};", series.coefficient("r", code.force + i, order));
    }
    if !code.is_explicit {
        if order == Some(0) {
            for e in 0..d * d {
                let _ = writeln!(text, "factor[{e}] = {};", series.coefficient("r", e, Some(0)));
            }
            text.push_str(
                "UNROLL for (int i = 0; i < D; i++)\nUNROLL for (int j = 0; j <= i; j++) {\nreal sum = factor[i * D + j];\n\
                 UNROLL for (int l = 0; l < j; l++) sum -= factor[i * D + l] * factor[j * D + l];\n\
                 if (i == j) factor[i * D + i] = 1.0 / f_sqrt(sum); else factor[i * D + j] = sum * factor[j * D + j];\n}\n",
            );
        }
        for i in 0..d {
            for c in 0..d {
                // (A constant entry has no other coefficients.)
                if let Some(top) = series.last_order(i * d + c) {
                    let bound = if top == usize::MAX { k.clone() } else { format!("({k} < {top} ? {k} : {top})") };
                    let mass = series.output("r", i * d + c);
                    let _ = writeln!(
                        text,
                        "UNROLL for (int j = 1; j <= {bound}; j++) x[{i}] -= {mass}[j] * acceleration[{c}][{k} - j];"
                    );
                }
            }
        }
        text.push_str(
            "UNROLL for (int i = 0; i < D; i++) {\nUNROLL for (int l = 0; l < i; l++) x[i] -= factor[i * D + l] * x[l];\n\
             x[i] *= factor[i * D + i];\n}\nUNROLL for (int i = D - 1; i >= 0; i--) {\n\
             UNROLL for (int l = i + 1; l < D; l++) x[i] -= factor[l * D + i] * x[l];\nx[i] *= factor[i * D + i];\n}\n",
        );
    }
    if let Some(condition) = held {
        let _ = writeln!(text, "{condition}{{\nreal sum = ZERO;");
        for a in 0..code.m {
            let gamma = series.coefficient("r", code.gamma + a, order);
            if gamma != "ZERO" {
                let _ = writeln!(text, "sum = SEL(S(R_HELD) == {a}.0, {gamma}, sum);");
            }
        }
        for i in 0..d {
            let _ = writeln!(text, "sum += S(R_SLOPE + {i}) * x[{i}];");
        }
        let _ = writeln!(text, "lambda[{k}] = -sum * S(R_INVERSE);");
        for i in 0..d {
            let _ = writeln!(text, "x[{i}] += lambda[{k}] * S(R_PULL + {i});");
        }
        text.push_str("}\n");
    }
    for i in 0..d {
        if !code.is_explicit {
            let _ = writeln!(text, "acceleration[{i}][{k}] = x[{i}];");
        }
        let _ = writeln!(text, "v[{i}][{k} + 1] = inverse[{k} + 1] * x[{i}];");
    }
    text
}

fn crossings(code: &LaneCode, series: &SeriesSource) -> String {
    let mut text = String::new();
    for mark in &series.marks {
        let _ = writeln!(text, "keep_clear({mark}, shortest, &h, &event);");
    }
    text.push_str(&each_gap(code, series, |a, g| {
        format!("cross({g}, S(R_HELD) != {a}.0, S(R_ZEROS + {a}), ALL(HIT + {a}), &h, &event);\n")
    }));
    if code.can_hold && code.m > 0 {
        text.push_str("if (holds) examine(lambda, S(R_HELD) >= 0.0, ZERO, ALL(RELEASE), &h, &event);\n");
    }
    text
}
