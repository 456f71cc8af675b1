//! Sections in compiled code: what the model adds to `sections.c`.

use crate::lanes::LaneCode;
use saltus::motion::Crossing;
use saltus_expr::SeriesSource;

/// Crossings within steps and at impacts.
pub const FUNCTIONS: &str = include_str!("sections.c");

/// The state where a step begins.
const HERE: &str = "state_here(q, v, state);";

/// An expression that is watched: its series, and the sections that it is of, in one direction or another.
struct Watched {
    series: String,
    sections: Vec<usize>,
    is_affine: bool,
    /// Whether impacts may take it to the other side.
    is_of_speed: bool,
}

impl Watched {
    /// Where what is known of it is among the rows of its kind.
    fn row(&self) -> usize {
        self.sections[0]
    }
}

/// All expressions that can vanish: those that are constant have no crossing.
fn watched(code: &LaneCode, series: &SeriesSource) -> Vec<Watched> {
    let mut all: Vec<Watched> = Vec::new();
    for k in (0..code.events).filter(|k| series.last_order(code.own + k).is_some()) {
        let name = series.output("r", code.own + k);
        match all.iter_mut().find(|watched| watched.series == name) {
            Some(known) => known.sections.push(k),
            None => all.push(Watched {
                series: name,
                sections: vec![k],
                is_affine: code.is_section_affine[k],
                is_of_speed: code.is_section_of_speed[k],
            }),
        }
    }
    all
}

fn each(all: &[Watched], text: impl Fn(usize, &Watched) -> String) -> String {
    all.iter().enumerate().map(|(u, watched)| text(u, watched)).collect()
}

/// Whether a crossing counts: `rises` says where it is one from below.
fn counts(code: &LaneCode, k: usize, rises: &str) -> String {
    match code.crossings[k] {
        Crossing::Both => "NOT(NONE)".into(),
        Crossing::Up => format!("({rises})"),
        Crossing::Down => format!("NOT({rises})"),
    }
}

/// Which expression is that of the first section, whose returns may end a trajectory. (The first one, if it is no constant.)
fn has_returns(all: &[Watched]) -> bool {
    all.first().is_some_and(|watched| watched.sections[0] == 0)
}

/// How well the expressions are known, where they are not as accurate as the motion.
pub fn measures(code: &LaneCode, series: &SeriesSource) -> String {
    curved(code, series, |p, row| {
        format!("measure({p}, N, &S(R_OWN_SCALE + {row}), last, SHARE * tolerance, 0, worst);\n")
    })
}

/// Whether their terms lie below a line, for the first step.
pub fn majorised(code: &LaneCode, series: &SeriesSource) -> String {
    curved(code, series, |p, _| format!("blind |= NOT(majorise({p}, N, h, steeper, &steep));\n"))
}

/// Something for the series of each expression that is less accurate than the motion, where sections are asked for.
fn curved(code: &LaneCode, series: &SeriesSource, text: impl Fn(&str, usize) -> String) -> String {
    let all = each(&watched(code, series), |_, watched| match watched.is_affine {
        true => String::new(),
        false => text(&watched.series, watched.row()),
    });
    if all.is_empty() { all } else { format!("if (flags & SECTIONS) {{\n{all}}}\n") }
}

/// Records crossings of all sections of an expression, at a time `t` and in a `state`.
fn note(code: &LaneCode, watched: &Watched, which: &str, rises: &str, t: &str, state: &str) -> String {
    let one = |&k: &usize| {
        let counts = counts(code, k, rises);
        let returned = if k == 0 { "S(R_LEFT) = SEL(counts, S(R_LEFT) - 1.0, S(R_LEFT));\n" } else { "" };
        format!(
            "{{\nmask counts = {which} & {counts} & (t >= S(R_FROM));\n\
             note_section(log, s, flags, counts, {k}, t, state);\n{returned}}}\n"
        )
    };
    let notes: String = watched.sections.iter().map(one).collect();
    format!("real t = {t}, state[2 * D];\n{state}\n{notes}")
}

/// The same side for all sections of an expression, whose rows the processor reads and writes one by one.
fn set_sides(watched: &Watched, rows: &str, side: &str) -> String {
    let others = watched.sections[1..].iter().map(|k| format!("S({rows} + {k}) = S({rows} + {});\n", watched.row()));
    format!("S({rows} + {}) = {side};\n{}", watched.row(), others.collect::<String>())
}

/// After the expansion: impacts across a section.
pub fn jumps(code: &LaneCode, series: &SeriesSource) -> String {
    let all = watched(code, series);
    if all.is_empty() {
        return String::new();
    }
    let jumps = each(&all, |_, watched| {
        if !watched.is_of_speed {
            return String::new();
        }
        let (p, row) = (&watched.series, watched.row());
        let side = format!("S(R_SIDE + {row})");
        let notes = note(code, watched, "jumped", &format!("{side} < 0.0"), "S(R_T)", HERE);
        let sides = set_sides(watched, "R_SIDE", &format!("SEL(jumped, -{side}, {side})"));
        format!(
            "{{\nmask jumped = bounced & has_jumped({p}, {side}, S(R_ENDED + {row}), S(R_ROUNDING + {row}));\n\
             if (ANY(jumped)) {{\n{notes}{sides}}}\n}}\n"
        )
    });
    let reach = each(&all, |_, watched| {
        let (p, row) = (&watched.series, watched.row());
        format!("S(R_REACH + {row}) = SEL(go, larger(size_of({p}[0]), S(R_REACH + {row})), S(R_REACH + {row}));\n")
    });
    format!(
        "if (flags & SECTIONS) {{\nmask bounced = go & (S(R_BOUNCED) >= 0.0);\nif (ANY(bounced)) {{\n{jumps}\
         mask returned = bounced & NOT(S(R_LEFT) > 0.0);\n\
         S(R_SIGNAL) = SEL(returned, ALL(DONE), S(R_SIGNAL));\ngo &= NOT(returned);\n}}\n{reach}}}\n"
    )
}

/// Before the step is made: crossings within it. One that is the last return ends it.
pub fn within(code: &LaneCode, series: &SeriesSource) -> String {
    let all = watched(code, series);
    if all.is_empty() {
        return String::new();
    }
    let watch = each(&all, |u, watched| {
        // (In contact what does not move has a series of rounding alone: it is measured by what was there before. So is the difference of
        // numbers that agree at an impact.)
        let (p, row) = (&watched.series, watched.row());
        format!(
            "side[{u}] = S(R_SIDE + {row});\n\
             at_once[{u}] = watch({p}, go, tolerance, S(R_SPAN), S(R_REACH + {row}), SEL(is_held, ALL(tolerance), SEL(leaves, ALL(ROUNDED), ZERO)) * S(R_REACH + {row}), blur, late, \
             &side[{u}], &first[{u}], &noise[{u}], &h, &event);\n"
        )
    });
    let seek = each(&all, |u, watched| {
        let p = &watched.series;
        let nothing = format!("at_end({p}, h, noise[{u}], blur, SEL(event >= (double)HIT, late, ZERO))");
        format!("within[{u}] = seek({p}, go, side[{u}], first[{u}], {nothing}, h, &root[{u}]);\n")
    });
    let cut = each(&all, |u, _| format!("within[{u}] &= NOT(ends) | (root[{u}] <= h);\n"));
    let returns = match has_returns(&all) {
        true => format!(
            "mask first_counts = at_once[0] & {} & (S(R_T) >= S(R_FROM));\n\
             mask next_counts = within[0] & {} & (S(R_T) + root[0] >= S(R_FROM));\n\
             real left = SEL(first_counts, S(R_LEFT) - 1.0, S(R_LEFT));\n\
             mask ends_here = first_counts & NOT(left > 0.0), ends = ends_here | (next_counts & NOT(left > 1.0));\n\
             if (ANY(ends)) {{\nh = SEL(ends, SEL(ends_here, ZERO, root[0]), h);\n\
             event = SEL(ends, ALL(RETURNED), event);\n{cut}}}\n",
            counts(code, 0, "side[0] > 0.0"),
            counts(code, 0, "side[0] < 0.0")
        ),
        false => String::new(),
    };
    let late = |a: usize| {
        let gap = series.output("r", code.gaps + a);
        format!("late = SEL(event == (double)(HIT + {a}), lateness({gap}, h), late);\n")
    };
    let late: String = (0..code.m).map(late).collect();
    let n = all.len();
    format!(
        "real late = ZERO, blur = 4.0 * EPSILON * (size_of(S(R_T)) + h), side[{n}], first[{n}], noise[{n}], root[{n}];\nmask at_once[{n}], within[{n}];\n\
         if (flags & SECTIONS) {{\n\
         S(R_SPAN) = SEL(h > 0.0, larger(h, smaller(0.5 * S(R_SPAN), fits)), S(R_SPAN));\n\
         mask leaves = NONE;\nUNROLL for (int a = 0; a < M; a++) leaves |= S(R_ZEROS + a) > 0.0;\n{late}{watch}{seek}{returns}}}\n"
    )
}

/// When the step has been made: what is recorded of them.
pub fn crossed(code: &LaneCode, series: &SeriesSource) -> String {
    let all = watched(code, series);
    if all.is_empty() {
        return String::new();
    }
    let at_once = each(&all, |u, watched| {
        let which = format!("acts & at_once[{u}]");
        let notes = note(code, watched, &which, &format!("side[{u}] > 0.0"), "S(R_BEFORE)", HERE);
        format!("if (ANY({which})) {{\n{notes}}}\n")
    });
    let later = each(&all, |u, watched| {
        let (which, p, row) = (format!("acts & within[{u}]"), &watched.series, watched.row());
        let (time, state) = (format!("S(R_BEFORE) + root[{u}]"), format!("state_at(q, v, root[{u}], state);"));
        let notes = note(code, watched, &which, &format!("side[{u}] < 0.0"), &time, &state);
        // (Where the step is not made, the sides are those from before it.)
        let before = set_sides(
            watched,
            "R_SIDE_BEFORE",
            &format!("SEL(acts, side[{u}], SEL(go & NOT(waits), S(R_SIDE + {row}), S(R_SIDE_BEFORE + {row})))"),
        );
        let sides = set_sides(watched, "R_SIDE", &format!("SEL(acts, side[{u}], S(R_SIDE + {row}))"));
        let values = match watched.is_of_speed {
            true => format!(
                "if (ANY(hits)) note_value({p}, hits, h, blur, late, &S(R_ENDED + {row}), &S(R_ROUNDING + {row}), &S(R_REACH + {row}));\n"
            ),
            false => String::new(),
        };
        format!(
            "{before}if (ANY({which})) {{\n{notes}side[{u}] = SEL(within[{u}], -side[{u}], side[{u}]);\n}}\n{sides}{values}"
        )
    });
    let returns = match has_returns(&all) {
        true => {
            "mask returned = acts & (event == (double)RETURNED);\nif (ANY(returned)) {\n\
             S(R_END) = SEL(returned, S(R_T), S(R_END));\nS(R_STOP) = SEL(returned, S(R_T), S(R_STOP));\n\
             S(R_ARRIVED) = SEL(returned, ALL(1.0), S(R_ARRIVED));\nS(R_SMOOTH) = SEL(returned & forward, ALL(1.0), S(R_SMOOTH));\n}\n"
        }
        false => "",
    };
    format!("if (flags & SECTIONS) {{\n{at_once}{later}{returns}}}\n")
}
