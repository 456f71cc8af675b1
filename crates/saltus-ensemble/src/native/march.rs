//! Steps of a scheme in compiled code: what the model and the scheme add to `march.c`, and the names of its rows.

use super::glide;
use super::rows::Rows;
use super::source::{LOG, Place, flag, record_length, signal};
use crate::lanes::{HUGE, Kind, LaneCode, LinearCode, ROOM, Row, Rule, march};
use crate::settled::{QUIET, ROUNDED};
use saltus::ImpactFinder;
use saltus::scheme::Stepping;
use std::fmt::Write;

/// So many steps of a trajectory in contact are made before others have their turn; so many free steps in one go; and as many of them count
/// as one event.
const PATIENT: usize = 256;
const FAR: usize = 1 << 14;
const FEW: usize = 64;

/// So many free steps are made side by side before anyone asks whether a constraint may act.
const BLOCK: usize = 8;

/// The rows of a trajectory, and how many numbers each is: constants of its steps first, up to `NODE`.
fn names(code: &LinearCode) -> Vec<(&'static str, usize)> {
    let (d, m, n, harmonics) = (code.d, code.m, code.size(), code.harmonics);
    let constants = [
        ("AHEAD", 2 * d * n),
        ("LOADS", d * n),
        ("TRIGGER", m * n),
        ("SLACK", m * n),
        ("GAPS", m * n),
        ("YIELDS", m * m),
        ("PUSH", 2 * d * m),
        ("PULLS", d * m),
        ("COMPLIANCE", m),
        ("BOUNCE", m),
        ("PHASE", harmonics),
        ("TURN", harmonics),
        ("TURNED", 2 * harmonics),
    ];
    let state = [("NODE", 1), ("TARGET", 1), ("BEGUN", 1), ("Z", n), ("MOST", 2 * d), ("BIG", 2 * d)];
    let contact = [
        ("HARDEST", 1),
        ("ACTED", 1),
        ("WHICH", 1),
        ("IMPULSE", 1),
        ("COUNT", 1),
        ("OPEN", 1),
        ("FIRST", 1),
        ("FINAL", 1),
        ("ENDED", 1),
        ("WHEN", 1),
        ("SUM", 1),
        ("LASTED", 1),
        ("WINDOW_Q", d),
        ("WINDOW_V", d),
        ("WINDOW_A", d),
        ("AFTER_V", d),
        ("AFTER_A", d),
    ];
    constants.into_iter().chain(state).chain(contact).collect()
}

/// How many numbers that is.
pub fn length(code: &LinearCode) -> usize {
    names(code).iter().map(|(_, length)| length).sum()
}

/// The source for a place; None if something in the model cannot be expressed.
pub fn source(code: &LaneCode, (kind, scheme): (Kind, &Stepping), place: Place) -> Option<String> {
    let linear = code.linear.as_deref()?;
    let pattern = Rule::pattern(kind, linear)?;
    let (d, m, n) = (linear.d, linear.m, linear.size());
    let mut text = format!("/* Generated from a model by Saltus. */\n{}\n", place.prelude());
    let is_moving = linear.pattern.gaps.iter().any(|row| row[2 * d + 1..].iter().any(|x| *x != 0.0));
    let numbers = [
        ("D", d),
        ("M", m.max(1)),
        ("GAPS", m),
        ("SIZE", n),
        ("HARMONICS", linear.harmonics),
        ("KIND", kind as usize),
        ("MOREAU_JEAN", Kind::MoreauJean as usize),
        ("MABROUK", Kind::Mabrouk as usize),
        ("POSITION_LEVEL", usize::from(kind.is_position_level())),
        ("MOVING", usize::from(is_moving)),
        ("LOG", LOG),
        // (Steps have no sections.)
        ("SLOTS", LOG),
        ("EVENTS", 0),
        ("LASTING", 1),
        ("RECORD", record_length(code)),
        ("PATIENT", PATIENT),
        ("BLOCK", BLOCK),
        ("FAR", FAR),
        ("FEW", FEW),
    ];
    for (name, value) in numbers {
        let _ = writeln!(text, "#define {name} {value}");
    }
    for (name, value) in [
        ("DONE", signal::DONE),
        ("START", signal::START),
        ("FULL", signal::FULL),
        ("QUIET", QUIET),
        ("ROUNDED", ROUNDED),
        ("HUGE_SIZE", HUGE),
        ("SLOW", ImpactFinder::SLOW),
        ("SUDDEN", ImpactFinder::SUDDEN),
        ("LONGEST", ImpactFinder::LONGEST as f64),
        ("STILL_PART", march::STILL),
        ("NEAR", march::NEAR),
        ("INTERVALS", march::INTERVALS as f64),
        ("RESOLVED", kind.resolved()),
        ("CLOSED", march::CLOSED),
        ("CONTACT_STEPS", scheme.contact_steps? as f64),
        ("CARRIED", scheme.carried),
        ("LEFT", if scheme.staggered { 0.5 } else { 1.0 }),
        ("RIGHT", if scheme.staggered { 0.5 } else { 0.0 }),
    ] {
        let _ = writeln!(text, "#define {name} {value:e}");
    }
    for (name, value) in
        [("HITS", flag::HITS), ("STROBES", flag::STROBES), ("TRACKS", flag::TRACKS), ("LASTS", flag::LASTS)]
    {
        let _ = writeln!(text, "#define {name} {value}");
    }
    let instant = if kind.is_position_level() { "0.5 + (1.0 - (e)) / (1.0 + (e))" } else { "-(e) / (1.0 + (e))" };
    let _ = writeln!(text, "#define IMPACT_INSTANT(e) ({instant})");
    text.push_str(&Rows::of_steps(code).definitions());
    let mut at = 0;
    for (name, length) in names(linear) {
        let _ = writeln!(text, "#define R_{name} (R_MARCH + {at})");
        at += length;
    }
    (0..code.open).for_each(|k| {
        let _ = writeln!(text, "#define g{k} S(R_P + {k})");
    });
    text.push_str("#define S(row) s[row]\n\n");
    // (What series need in front is in the first part; the steps of a scheme need no more of it.)
    let kernel = include_str!("kernel.c");
    text.push_str(kernel.split_once("/*@series@*/").map_or(kernel, |(types, _)| types));
    let free = Free { pattern: &pattern, linear, needs_gaps: march::needs_gaps(kind, linear) };
    if let Place::Processor(_) = place {
        text.push_str(&free.keep());
    }
    let coefficients = glide::coefficients(linear, &linear.series.source("g", 0, &[], true)?);
    let parts = [
        ("landing", include_str!("march_landing.c").to_string()),
        ("rule", include_str!("march_rule.c").to_string()),
        ("coefficients", coefficients),
        ("constants", free.constants()),
        ("load", free.load()),
        ("look", indented(&free.look())),
        ("track", indented(&free.track())),
        ("step", indented(&free.step())),
        ("store", free.store()),
    ];
    let mut body = include_str!("march.c").to_string();
    for (name, part) in parts {
        body = body.replace(&format!("/*@{name}@*/\n"), &part);
    }
    text.push_str(&body);
    if place == Place::Gpu {
        // (Registers for a trajectory and its matrix, and enough threads to hide latencies.)
        let blocks = if d == 1 { 4 } else { 3 };
        let _ = writeln!(text, "#define BLOCKS {blocks}");
        text.push_str(include_str!("gpu_after.cu"));
    }
    Some(text)
}

/// Lines of the innermost loop.
fn indented(text: &str) -> String {
    text.lines().map(|line| format!("                {line}\n")).collect()
}

/// The text of free steps: which coefficients are not zero is known.
struct Free<'a> {
    pattern: &'a Rule,
    linear: &'a LinearCode,
    needs_gaps: bool,
}

/// A row of constants in the state.
#[derive(Clone, Copy)]
struct Constant<'a> {
    name: &'static str,
    index: usize,
    row: &'a Row,
}

impl Free<'_> {
    fn rows(&self) -> Vec<Constant<'_>> {
        let named = |name: &'static str, rows: &'_ [Row]| -> Vec<(&'static str, usize)> {
            (0..rows.len()).map(|index| (name, index)).collect()
        };
        let mut all = named("AHEAD", &self.pattern.next);
        all.extend(named("TRIGGER", &self.pattern.trigger));
        if self.needs_gaps {
            all.extend(named("GAPS", &self.linear.pattern.gaps));
        }
        let row = |(name, index): (&'static str, usize)| match name {
            "AHEAD" => &self.pattern.next[index],
            "TRIGGER" => &self.pattern.trigger[index],
            _ => &self.linear.pattern.gaps[index],
        };
        all.into_iter().map(|(name, index)| Constant { name, index, row: row((name, index)) }).collect()
    }

    /// Columns of a row that are not zero: what does not depend on the last step first, so that little waits for it.
    fn columns(&self, row: &Row) -> Vec<usize> {
        let own = 2 * self.linear.d;
        (own..ROOM).chain((0..own).rev()).filter(|&j| row[j] != 0.0).collect()
    }

    fn product(&self, row: Constant) -> String {
        let constant = 2 * self.linear.d;
        let factor = |j: usize| format!("k_{}_{}_{j}", row.name, row.index);
        let term = |j: usize| if j == constant { factor(j) } else { format!("{} * z{j}", factor(j)) };
        let terms: Vec<String> = self.columns(row.row).into_iter().map(term).collect();
        if terms.is_empty() { "ZERO".to_string() } else { terms.join(" + ") }
    }

    fn harmonics(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let first = 2 * self.linear.d + 1;
        (0..self.linear.harmonics).map(move |k| (k, first + 2 * k, first + 2 * k + 1))
    }

    fn constants(&self) -> String {
        let (n, mut text) = (self.linear.size(), String::new());
        for row in self.rows() {
            for j in self.columns(row.row) {
                let (name, index) = (row.name, row.index);
                let _ = writeln!(text, "    const real k_{name}_{index}_{j} = S(R_{name} + {});", index * n + j);
            }
        }
        for (k, _, _) in self.harmonics() {
            let (cos, sin) = (2 * k, 2 * k + 1);
            let _ = writeln!(text, "    const real cos{k} = S(R_TURNED + {cos}), sin{k} = S(R_TURNED + {sin});");
        }
        text
    }

    fn moving(&self) -> impl Iterator<Item = usize> {
        let constant = 2 * self.linear.d;
        (0..self.linear.size()).filter(move |&j| j != constant)
    }

    fn load(&self) -> String {
        let mut text = String::new();
        self.moving().for_each(|j| _ = writeln!(text, "        real z{j} = S(R_Z + {j});"));
        (0..2 * self.linear.d).for_each(|i| _ = writeln!(text, "        real most{i} = S(R_MOST + {i});"));
        if self.needs_gaps {
            text.push_str("        real deepest = -S(R_VIOLATION);\n");
        }
        text
    }

    fn look(&self) -> String {
        let mut text = String::new();
        let rows = self.rows();
        let of = |name: &'static str| rows.iter().copied().filter(move |row| row.name == name);
        let mut lowest = None;
        for row in of("TRIGGER") {
            let ahead = self.product(row);
            let _ = match lowest {
                None => writeln!(text, "lowest = {ahead};"),
                Some(()) => writeln!(text, "lowest = smaller({ahead}, lowest);"),
            };
            lowest = Some(());
        }
        if lowest.is_none() {
            text.push_str("lowest = ALL(1.0);\n");
        }
        for row in of("GAPS") {
            let _ = writeln!(text, "deepest = smaller({}, deepest);", self.product(row));
        }
        text
    }

    fn track(&self) -> String {
        (0..2 * self.linear.d).map(|i| format!("most{i} = larger(size_of(z{i}), most{i});\n")).collect()
    }

    fn step(&self) -> String {
        let mut text = String::new();
        for row in self.rows().into_iter().filter(|row| row.name == "AHEAD") {
            let _ = writeln!(text, "const real n{} = {};", row.index, self.product(row));
        }
        for (k, c, s) in self.harmonics() {
            let _ = writeln!(text, "const real n{c} = z{c} * cos{k} - z{s} * sin{k};");
            let _ = writeln!(text, "const real n{s} = z{s} * cos{k} + z{c} * sin{k};");
        }
        self.moving().for_each(|j| _ = writeln!(text, "z{j} = n{j};"));
        text
    }

    /// How to keep a state, and to go back to it.
    fn keep(&self) -> String {
        let mut names: Vec<String> = self.moving().map(|j| format!("z{j}")).collect();
        names.extend((0..2 * self.linear.d).map(|i| format!("most{i}")));
        if self.needs_gaps {
            names.push("deepest".into());
        }
        let keep: String = names.iter().map(|name| format!("real kept_{name} = {name}; ")).collect();
        let back: String = names.iter().map(|name| format!("{name} = kept_{name}; ")).collect();
        format!("#define KEEP {}\n#define GO_BACK {}\n", keep.trim_end(), back.trim_end())
    }

    fn store(&self) -> String {
        let mut text = String::new();
        self.moving().for_each(|j| _ = writeln!(text, "        S(R_Z + {j}) = SEL(go, z{j}, S(R_Z + {j}));"));
        (0..2 * self.linear.d)
            .for_each(|i| _ = writeln!(text, "        S(R_MOST + {i}) = SEL(go, most{i}, S(R_MOST + {i}));"));
        if self.needs_gaps {
            text.push_str("        S(R_VIOLATION) = SEL(go, larger(-deepest, S(R_VIOLATION)), S(R_VIOLATION));\n");
        }
        text
    }
}
