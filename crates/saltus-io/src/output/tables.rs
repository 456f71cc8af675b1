//! `trajectory.csv`, `impacts.csv` and `contacts.csv`: plain tables that open anywhere.

use super::arrays::{self, Columns, other_impulses};
use saltus::ledger::Entry;
use saltus::{Impact, Ledger, Model, Timeline, Trajectory};
use std::io::{self, Write};

/// A field, in quotes where it needs them.
pub(crate) fn field(text: &str) -> String {
    let text = inert(text);
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// A name that a spreadsheet would take for a formula, with an apostrophe before it, which makes it a text.
pub(crate) fn inert(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_string() }
}

/// Names of columns, each after a comma.
fn listed(prefix: &str, names: &[String]) -> String {
    names.iter().map(|c| format!(",{}", field(&format!("{prefix}{c}")))).collect()
}

fn numbers(out: &mut impl Write, values: &[f64]) -> io::Result<()> {
    values.iter().try_for_each(|v| write!(out, ",{v:?}"))
}

/// One row per stored instant: t, q, states, both limits of the velocity and, by events, the reaction densities of
/// constraints, joints and friction (right limits).
pub fn trajectory(out: &mut impl Write, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    let arrays = arrays::motion(model, trajectory);
    let names: Vec<String> = arrays.iter().flat_map(|a| a.column_names(model)).map(|name| field(&name)).collect();
    writeln!(out, "{}", names.join(","))?;
    let mut row = vec![0.0; arrays.iter().map(|a| a.width).max().unwrap_or(0)];
    for k in 0..trajectory.len() {
        for (place, array) in arrays.iter().enumerate() {
            let row = &mut row[..array.width];
            array.row(k, row);
            let is_density = matches!(array.columns, Columns::Constraints | Columns::Joints | Columns::Slips);
            for (i, x) in row.iter().enumerate() {
                let comma = if place + i > 0 { "," } else { "" };
                // Where a stretch was time-stepped there are no densities: the fields are empty.
                if is_density && x.is_nan() { write!(out, "{comma}")? } else { write!(out, "{comma}{x:?}")? }
            }
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

/// The columns of `impacts.csv` that all rows of an impact share: the state around it, the impulses of joints and friction.
pub fn impact_state(model: &Model) -> Vec<String> {
    let names = |columns: Columns, prefix: &str| -> Vec<String> {
        columns.names(model).iter().map(|name| format!("{prefix}{name}")).collect()
    };
    [
        names(Columns::Coordinates, ""),
        names(Columns::Coordinates, "v_before_"),
        names(Columns::Coordinates, "v_after_"),
        names(Columns::States, ""),
        names(Columns::Joints, "joint_impulse_"),
        names(Columns::Slips, "friction_impulse_"),
    ]
    .concat()
}

/// Their values.
pub fn impact_state_values(model: &Model, impact: &Impact, out: &mut [f64]) {
    let d = model.coordinates.len();
    let known = [&impact.q[..d], &impact.v_before[..d], &impact.v_after[..d], &impact.v_before[d..]].concat();
    out[..known.len()].copy_from_slice(&known);
    other_impulses(impact, 0, &mut out[known.len()..]);
}

/// One row for each constraint that acts in an impact; rows of one impact share its number.
pub fn impacts(out: &mut impl Write, model: &Model, trajectory: &Trajectory, ledger: &Ledger) -> io::Result<()> {
    let (numbered, state) = (IMPACT_NUMBERS.join(","), impact_state(model));
    writeln!(out, "impact,t,constraint,{numbered}{}", listed("", &state))?;
    let mut values = vec![0.0; state.len()];
    for (k, (impact, entry)) in trajectory.impacts.iter().zip(&ledger.impacts).enumerate() {
        impact_state_values(model, &impact, &mut values);
        for (at, &a) in impact.constraints.iter().enumerate() {
            let name = field(&model.constraints[a].name);
            write!(out, "{},{:?},{name}", k + 1, impact.t)?;
            numbers(out, &impact_numbers(&impact, at, entry))?;
            numbers(out, &values)?;
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
    let (coordinates, states) = (Columns::Coordinates.names(model), Columns::States.names(model));
    let d = coordinates.len();
    writeln!(out, "event,t,rising{}{}{}", listed("", &coordinates), listed("v_", &coordinates), listed("", &states))?;
    for e in &trajectory.events {
        write!(out, "{},{:?},{}", field(&model.events[e.event].name), e.t, e.rising)?;
        numbers(out, &e.q[..d])?;
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
