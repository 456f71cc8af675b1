//! `trajectory.csv`, `impacts.csv` and `contacts.csv`: plain tables that open anywhere.

use saltus::ledger::Entry;
use saltus::{Impact, Ledger, Model, Side, Timeline, Trajectory};
use std::io::{self, Write};

/// A field, in quotes where it needs them.
pub(super) fn field(text: &str) -> String {
    let text = inert(text);
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A name that a spreadsheet would take for a formula, with an apostrophe before it, which makes it a text.
pub(crate) fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_string() }
}

fn columns(model: &Model, prefix: &str) -> String {
    model.coordinates.iter().map(|c| format!(",{}", field(&format!("{prefix}{c}")))).collect()
}

fn numbers(out: &mut impl Write, values: &[f64]) -> io::Result<()> {
    values.iter().try_for_each(|v| write!(out, ",{v:?}"))
}

/// One row per stored instant: t, q, both limits of the velocity and, by events, the reaction densities (right limits).
pub fn trajectory(out: &mut impl Write, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    let names = |prefix| columns(model, prefix);
    write!(out, "t{}{}{}", names(""), names("v_left_"), names("v_right_"))?;
    let m = if trajectory.has_reactions() { model.constraints.len() } else { 0 };
    for constraint in &model.constraints[..m] {
        write!(out, ",{}", field(&format!("reaction_{}", constraint.name)))?;
    }
    writeln!(out)?;
    for k in 0..trajectory.len() {
        write!(out, "{:?}", trajectory.t[k])?;
        numbers(out, trajectory.q(k))?;
        numbers(out, trajectory.v(k, Side::Left))?;
        numbers(out, trajectory.v(k, Side::Right))?;
        // Where a stretch was time-stepped there are no densities: the fields are empty.
        for reaction in if m > 0 { trajectory.reactions_at(k, m) } else { Vec::new() } {
            if reaction.is_nan() { write!(out, ",")? } else { write!(out, ",{reaction:?}")? }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The numbers of `impacts.csv` between the constraint and the state.
pub const IMPACT_NUMBERS: [&str; 9] = [
    "impulse",
    "approach",
    "energy_change",
    "law_residual",
    "uncertainty",
    "kinetic_before",
    "kinetic_after",
    "complementarity",
    "penetration",
];

/// Their values for the constraint that stands at `at` among those that acted.
pub fn impact_numbers(impact: &Impact, at: usize, entry: &Entry) -> [f64; 9] {
    [
        impact.impulses[at],
        impact.approach,
        impact.energy_change,
        impact.law_residual,
        entry.uncertainty,
        entry.kinetic_before,
        entry.kinetic_after,
        entry.complementarity,
        entry.penetration,
    ]
}

/// One row for each constraint that acts in an impact; rows of one impact share its number.
pub fn impacts(out: &mut impl Write, model: &Model, trajectory: &Trajectory, ledger: &Ledger) -> io::Result<()> {
    let names = |prefix| columns(model, prefix);
    let numbered = IMPACT_NUMBERS.join(",");
    let (before, after) = (names("v_before_"), names("v_after_"));
    writeln!(out, "impact,t,constraint,{numbered}{}{before}{after}", names(""))?;
    for (k, (impact, entry)) in trajectory.impacts.iter().zip(&ledger.impacts).enumerate() {
        for (at, &a) in impact.constraints.iter().enumerate() {
            let name = field(&model.constraints[a].name);
            write!(out, "{},{:?},{name}", k + 1, impact.t)?;
            numbers(out, &impact_numbers(&impact, at, entry))?;
            numbers(out, impact.q)?;
            numbers(out, impact.v_before)?;
            numbers(out, impact.v_after)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// One row per interval of lasting contact.
pub fn contacts(out: &mut impl Write, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    writeln!(out, "constraint,start,end,impulse")?;
    for contact in &trajectory.contacts {
        let name = field(&model.constraints[contact.constraint].name);
        writeln!(out, "{name},{:?},{:?},{:?}", contact.start, contact.end, contact.impulse)?;
    }
    Ok(())
}

/// One row per event of the user's own.
pub fn events(out: &mut impl Write, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    writeln!(out, "event,t,rising{}{}", columns(model, ""), columns(model, "v_"))?;
    for e in &trajectory.events {
        write!(out, "{},{:?},{}", field(&model.events[e.event].name), e.t, e.rising)?;
        numbers(out, &e.q)?;
        numbers(out, &e.v)?;
        writeln!(out)?;
    }
    Ok(())
}

/// One row per phase.
pub fn timeline(out: &mut impl Write, model: &Model, timeline: &Timeline) -> io::Result<()> {
    writeln!(out, "phase,start,end,constraints,impacts,error,note")?;
    for phase in &timeline.phases {
        let names: Vec<&str> = phase.constraints.iter().map(|&a| model.constraints[a].name.as_str()).collect();
        write!(out, "{},{:?},{:?},{}", phase.kind.name(), phase.start, phase.end, field(&names.join(" + ")))?;
        writeln!(out, ",{},{:?},{}", phase.impacts, phase.error, field(&phase.note))?;
    }
    Ok(())
}

/// One row per interval between impacts: the change of energy and the work of forces and moving walls in it, and what the
/// impacts at its end dissipate, and moving walls do in them.
pub fn energy(out: &mut impl Write, ledger: &Ledger) -> io::Result<()> {
    writeln!(out, "start,end,energy_change,work,wall_work,residual,impact_dissipated,impact_wall_work")?;
    for i in &ledger.intervals {
        write!(out, "{:?},{:?}", i.start, i.end)?;
        numbers(out, &[i.change, i.work, i.wall_work, i.residual(), i.dissipated, i.impact_wall_work])?;
        writeln!(out)?;
    }
    Ok(())
}
