//! Linear flight in compiled code: the text that computes its constants, which are rows of numbers, and the text that computes with them.

use super::source::list;
use crate::lanes::{LinearCode, ROUNDING, Row};
use saltus_expr::SeriesSource;
use std::fmt::Write;

/// The pace of a motion times the interval of the grid, and the order of the series about a grid point, which is good for half an interval.
/// Where impacts are many, short intervals pay: the series of each is short.
fn interval(code: &LinearCode) -> (f64, usize) {
    if code.m > 1 { (0.4, 10) } else { (0.6, 11) }
}

/// So many intervals of the grid are made at a time.
const BURST: usize = 32;

/// So many intervals and impacts are made before others have their turn.
const PATIENT: f64 = 128.0;

/// A gap that closes within this part of an interval from the end of the flight may close before or after it.
const MARGIN: f64 = 1e-2;

/// Linear flight, before anything else; those that are still at it do nothing else in this turn. (A caller who wants to stop does not wait
/// for long flights.)
pub const CALL: &str = include_str!("glide_call.c");

/// At the end of a turn.
pub const RETURN: &str =
    "if (keeps) UNROLL for (int row = 0; row < ROWS; row++) S(row) = SEL(still, saved[row], S(row));\n";

/// How many numbers the constants of a trajectory are: the interval of the grid, the harmonics, the propagator, and the rows of the gaps.
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
    Acceleration(usize),
    /// M⁻¹∇f of a gap, by coordinates.
    Pull(usize),
    /// 1/∇f·M⁻¹∇f, and the restitution.
    Law(usize),
}

/// All rows, with the columns that are not zero.
fn rows(code: &LinearCode) -> Vec<(Of, Vec<usize>)> {
    let columns = |row: Row| (0..row.len()).filter(|&j| row[j] != 0.0).collect::<Vec<_>>();
    let mut all: Vec<(Of, Vec<usize>)> =
        (0..2 * code.d).map(|i| (Of::Ahead(i), columns(code.ahead_pattern(i)))).collect();
    for a in 0..code.m {
        all.push((Of::Gap(a), columns(code.pattern.gaps[a])));
        all.push((Of::Slope(a), columns(code.slope_pattern(a))));
        // (One number for all that is not larger than 1.)
        let doubt = columns(code.doubt_pattern(a));
        let own = doubt.iter().copied().filter(|&j| j < 2 * code.d);
        all.push((Of::Doubt(a), own.chain(doubt.iter().any(|&j| j >= 2 * code.d).then_some(2 * code.d)).collect()));
        all.push((Of::Pull(a), (0..code.d).collect()));
        all.push((Of::Law(a), vec![0, 1]));
    }
    all.extend((0..code.d).map(|i| (Of::Acceleration(i), columns(code.pattern.accelerations[i]))));
    all
}

/// The parts of the text that depend on the model.
#[derive(Default)]
struct Parts {
    /// How the constants are computed.
    numbers: String,
    /// Their names.
    constants: String,
    begin: String,
    step: String,
    /// The constants of the gap that closes.
    chosen: String,
    /// That gap, of a term of the series; that term made the next one.
    own_first: String,
    own: String,
    term: String,
    /// The harmonics where a flight or a part of it ends.
    phases: String,
    /// At an impact: the rate of that gap and the sizes of what it is made of; all gaps; what the impulse does; the rates of all gaps after it.
    rate: String,
    at: String,
    jump: String,
    after: String,
}

/// The part of the iteration that glides; None if its coefficients cannot be expressed.
pub fn text(code: &LinearCode, open: usize) -> Option<String> {
    let d = code.d;
    let mut parts = Parts::default();
    let (mut rates, mut turned) = (String::new(), String::new());
    let mut at = 1;
    for j in 0..code.harmonics {
        let _ = writeln!(
            parts.numbers,
            "number[{at}] = phase[{j}]; number[{}] = turn[{j}]; sine_and_cosine(turn[{j}] * h, &number[{}], &number[{}]);",
            at + 1,
            at + 3,
            at + 2
        );
        let (c, s) = (2 * d + 1 + 2 * j, 2 * d + 2 + 2 * j);
        let _ = writeln!(parts.begin, "sine_and_cosine(k{at} + k{} * now, &z[{s}], &z[{c}]);", at + 1);
        let _ = writeln!(parts.phases, "turned(near[{c}], near[{s}], k{} * s1, &there[{c}], &there[{s}]);", at + 1);
        let _ = writeln!(parts.step, "next[{c}] = k{} * z[{c}] - k{} * z[{s}];", at + 2, at + 3);
        let _ = writeln!(parts.step, "next[{s}] = k{} * z[{s}] + k{} * z[{c}];", at + 2, at + 3);
        let _ = writeln!(rates, "const real w{j} = factor * k{}, c{j} = term[{c}];", at + 1);
        let _ = writeln!(turned, "term[{c}] = -w{j} * term[{s}]; term[{s}] = w{j} * c{j};");
        at += 4;
    }
    let _ = writeln!(parts.step, "next[{}] = z[{}];", 2 * d, 2 * d);
    let all = rows(code);
    let mut choices = Choices::default();
    for (of, columns) in &all {
        let row = Constants { at, columns, constant: 2 * d };
        choices.add(*of, row);
        parts.add(*of, row, &mut rates);
        parts.compute(*of, row, code.size());
        at += columns.len();
    }
    choices.text(d, &mut parts);
    for k in 1..at {
        let _ = writeln!(parts.constants, "const real k{k} = S(R_LINEAR + {k});");
    }
    for i in 0..d {
        let _ = writeln!(turned, "term[{i}] = factor * term[{}];", d + i);
    }
    for i in 0..d {
        let _ = writeln!(turned, "term[{}] = factor * a{i};", d + i);
    }
    let _ = writeln!(turned, "term[{}] = ZERO;", 2 * d);
    parts.term = format!("{{\n{rates}{turned}}}\n");
    let (interval, terms) = interval(code);
    let mut text = format!(
        "#define SIZE {}\n#define GAPS {}\n#define HARMONICS {}\n#define NUMBERS {at}\n#define TERMS {terms}\n#define MARGIN {MARGIN:e}\n\
         #define BURST {BURST}\n#define PATIENT {PATIENT:e}\n#define INTERVAL {interval:e}\n#define ROUNDING {ROUNDING:e}\n\
         CONSTANT double over[TERMS + 2] = {{0.0, {}}};\nCONSTANT double over_squares[TERMS + 4] = {{0.0, {}}};\n{}{}",
        code.size(),
        code.m,
        code.harmonics,
        list((1..terms + 2).map(|k| 1.0 / k as f64)),
        list((1..terms + 4).map(|k| 1.0 / (k * (k + 1)) as f64)),
        include_str!("constants.c"),
        include_str!("glide.c")
    );
    for k in 0..open {
        text.insert_str(0, &format!("#define g{k} S(R_P + {k})\n"));
    }
    let coefficients = coefficients(code, &code.series.source("g", 0, &[], true)?);
    let Parts { numbers, constants, begin, step, chosen, own_first, own, term, phases, rate, at, jump, after } = parts;
    let parts = [("coefficients", coefficients), ("numbers", numbers), ("constants", constants), ("begin", begin)];
    let parts = parts.into_iter().chain([
        ("step", step),
        ("chosen", chosen),
        ("own_first", own_first),
        ("own", own),
        ("term", term),
        ("phases", phases),
    ]);
    for (name, part) in parts.chain([("rate", rate), ("at", at), ("jump", jump), ("after", after)]) {
        text = text.replace(&format!("/*@{name}@*/\n"), &part);
    }
    Some(text)
}

/// What the constants are computed from: inertia, the coefficients of forces and gaps, rates and phases of the harmonics, restitutions.
pub fn coefficients(code: &LinearCode, series: &SeriesSource) -> String {
    let (d, m, n, harmonics) = (code.d, code.m, code.size(), code.harmonics);
    let last = d * d + (d + m) * n;
    let mut text = series.declarations.clone() + &series.orders[0];
    let mut put = |target: String, k: usize| {
        let _ = writeln!(text, "{target} = {};", series.coefficient("g", k, Some(0)));
    };
    (0..d * d).for_each(|k| put(format!("mass[{k}]"), k));
    for j in 0..n {
        (0..d).for_each(|i| put(format!("acceleration[{i}][{j}]"), d * d + i * n + j));
        (0..m).for_each(|a| put(format!("gaps[{a}][{j}]"), d * d + (d + a) * n + j));
    }
    for k in 0..harmonics {
        put(format!("turn[{k}]"), last + k);
        put(format!("phase[{k}]"), last + harmonics + k);
    }
    (0..m).for_each(|a| put(format!("restitution[{a}]"), last + 2 * harmonics + a));
    text
}

/// A row of constants: the number of the first, and the columns that they belong to. One column is that of the number 1.
#[derive(Clone, Copy)]
struct Constants<'a> {
    at: usize,
    columns: &'a [usize],
    constant: usize,
}

impl Constants<'_> {
    /// Terms that are added up.
    fn total(self, with_constant: bool, term: impl Fn(usize, usize) -> String) -> String {
        let terms = self.columns.iter().enumerate().filter(|(_, j)| with_constant || **j != self.constant);
        let terms: Vec<String> = terms.map(|(k, &j)| term(self.at + k, j)).collect();
        if terms.is_empty() { "ZERO".to_string() } else { terms.join(" + ") }
    }

    /// The product with z; for coefficients of a series after the first the number 1 does not count.
    fn product(self, z: &str, with_constant: bool) -> String {
        self.total(with_constant, |k, j| format!("k{k} * {z}[{j}]"))
    }
}

impl Parts {
    /// How the constants of a row are computed.
    fn compute(&mut self, of: Of, Constants { at, columns, constant }: Constants, size: usize) {
        let text = &mut self.numbers;
        let first = match of {
            Of::Ahead(i) => {
                let unit = format!("for (int j = 0; j < SIZE; j++) x[j] = j == {i} ? ALL(1.0) : ZERO;");
                format!("{unit}\nafter(acceleration, turn, x, h, 0);")
            }
            // (Rates are compared with values over a third of the interval.)
            Of::Slope(a) => format!("derivative(acceleration, turn, gaps[{a}], x, 0);"),
            Of::Doubt(a) => format!("bound(acceleration, turn, gaps[{a}], h, x);"),
            Of::Gap(_) | Of::Acceleration(_) | Of::Pull(_) | Of::Law(_) => String::new(),
        };
        let _ = writeln!(text, "{first}");
        for (k, &j) in columns.iter().enumerate() {
            let value = match of {
                Of::Doubt(_) if j == constant => {
                    (constant..size).map(|j| format!("x[{j}]")).collect::<Vec<_>>().join(" + ")
                }
                Of::Ahead(_) | Of::Doubt(_) => format!("x[{j}]"),
                Of::Slope(_) => format!("x[{j}] * h * (1.0 / 3.0)"),
                Of::Gap(a) => format!("gaps[{a}][{j}]"),
                Of::Acceleration(i) => format!("acceleration[{i}][{j}]"),
                Of::Pull(a) => format!("pull[{a}][{j}]"),
                Of::Law(a) if j == 0 => format!("1.0 / compliance[{a}]"),
                Of::Law(a) => format!("restitution[{a}]"),
            };
            let _ = writeln!(text, "number[{}] = {value};", at + k);
        }
    }

    /// What a row adds.
    fn add(&mut self, of: Of, row: Constants, rates: &mut String) {
        let sum = |z: &str| row.product(z, true);
        let _ = match of {
            Of::Ahead(i) => writeln!(self.step, "next[{i}] = {};", sum("z")),
            Of::Gap(a) => {
                let _ = writeln!(self.begin, "gap[{a}] = {};", sum("z"));
                let _ = writeln!(self.step, "then[{a}] = {};", sum("next"));
                writeln!(self.at, "if (a == {a}) own = {};", sum("there"))
            }
            Of::Slope(a) => {
                let _ = writeln!(self.begin, "rise[{a}] = {};", sum("z"));
                let _ = writeln!(self.step, "fall[{a}] = {};", sum("next"));
                writeln!(self.after, "if (a == {a}) rises = {};", sum("there"))
            }
            // (A bound of sizes: its own numbers are positive.)
            Of::Doubt(a) => {
                let sizes = row.total(true, |k, j| {
                    if j == row.constant { format!("k{k}") } else { format!("k{k} * size_of(z[{j}])") }
                });
                writeln!(self.step, "doubt[{a}] = {sizes};")
            }
            Of::Acceleration(i) => writeln!(
                rates,
                "real a{i};\nif (k == 0) a{i} = {}; else a{i} = {};",
                sum("term"),
                row.product("term", false)
            ),
            Of::Pull(_) | Of::Law(_) => Ok(()),
        };
    }
}

/// For each gap, where the constants of a column are: of the gap, of its rate, of what an impulse does and of its law.
#[derive(Default)]
struct Choices([Vec<Vec<(usize, usize)>>; 4]);

impl Choices {
    fn add(&mut self, of: Of, row: Constants) {
        let kind = match of {
            Of::Gap(_) => 0,
            Of::Slope(_) => 1,
            Of::Pull(_) => 2,
            Of::Law(_) => 3,
            Of::Ahead(_) | Of::Doubt(_) | Of::Acceleration(_) => return,
        };
        self.0[kind].push(row.columns.iter().enumerate().map(|(k, &j)| (j, row.at + k)).collect());
    }

    /// Names the constants of the gap that closes, and what is computed with them.
    fn text(&self, d: usize, parts: &mut Parts) {
        let mut columns: [Vec<usize>; 4] = Default::default();
        for (kind, gaps) in self.0.iter().enumerate() {
            let all = &mut columns[kind];
            all.extend(gaps.iter().flatten().map(|(j, _)| *j));
            all.sort_unstable();
            all.dedup();
            for j in all {
                let of = |row: &Vec<(usize, usize)>| {
                    row.iter().find(|(column, _)| column == j).map_or("ZERO".into(), |(_, k)| format!("k{k}"))
                };
                // (The first one where it is no other.)
                let others = gaps.iter().enumerate().skip(1);
                let chosen = others.fold(of(&gaps[0]), |chosen, (a, row)| match of(row) {
                    own if own == chosen => chosen,
                    own => format!("SEL(which == {a}.0, {own}, {chosen})"),
                });
                let name = match (kind, *j) {
                    (3, 0) => "given".to_string(),
                    (3, _) => "e".to_string(),
                    _ => format!("{}{j}", ["own", "slope", "pull"][kind]),
                };
                let _ = writeln!(parts.chosen, "const real {name} = {chosen};");
            }
        }
        if self.0[3].is_empty() {
            parts.chosen.push_str("const real given = ZERO, e = ZERO;\n");
        }
        let total = |terms: Vec<String>| if terms.is_empty() { "ZERO".to_string() } else { terms.join(" + ") };
        let own = |with_constant: bool| {
            let terms = columns[0].iter().filter(|&&j| with_constant || j != 2 * d);
            total(terms.map(|j| format!("own{j} * term[{j}]")).collect())
        };
        let _ = writeln!(parts.own_first, "own = {};", own(true));
        let _ = writeln!(parts.own, "own = {};", own(false));
        let products = || columns[1].iter().map(|j| format!("slope{j} * there[{j}]"));
        let _ = writeln!(parts.rate, "rate = {};", total(products().collect()));
        let sizes = products().map(|product| format!("size_of({product})"));
        let _ = writeln!(parts.rate, "size = {};", total(sizes.collect()));
        for i in &columns[2] {
            let _ = writeln!(parts.jump, "there[{}] += SEL(hits, impulse * pull{i}, ZERO);", d + i);
        }
    }
}
