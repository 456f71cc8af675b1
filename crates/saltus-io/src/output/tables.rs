//! `trajectory.csv`, `impacts.csv` and `contacts.csv`: plain tables that open anywhere.

use saltus::{Ledger, Model, Side, Timeline, Trajectory};
use std::io::{self, Write};

/// A field, in quotes where it needs them.
pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_string() }
}

fn columns(model: &Model, prefix: &str, suffix: &str) -> String {
    model.coordinates.iter().map(|c| format!(",{}", field(&format!("{prefix}{c}{suffix}")))).collect()
}

fn numbers(out: &mut impl Write, values: &[f64]) -> io::Result<()> {
    values.iter().try_for_each(|v| write!(out, ",{v:?}"))
}

/// One row a stored instant: t, q, both limits of the velocity and, by events, the reaction densities (right limits).
pub fn trajectory(out: &mut impl Write, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    let names = |p, s| columns(model, p, s);
    write!(out, "t{}{}{}", names("", ""), names("v_left_", ""), names("v_right_", ""))?;
    let m = if trajectory.pieces.is_empty() { 0 } else { model.constraints.len() };
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
        for reaction in super::reactions(trajectory, k, m) {
            if reaction.is_nan() { write!(out, ",")? } else { write!(out, ",{reaction:?}")? }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// One row for each constraint that acts in an impact; rows of one impact share its number.
pub fn impacts(out: &mut impl Write, model: &Model, trajectory: &Trajectory, ledger: &Ledger) -> io::Result<()> {
    let names = |p, s| columns(model, p, s);
    writeln!(
        out,
        "impact,t,constraint,impulse,approach,energy_change,law_residual,uncertainty,kinetic_before,kinetic_after,complementarity,penetration{}{}{}",
        names("", ""),
        names("v_before_", ""),
        names("v_after_", "")
    )?;
    for (k, (impact, entry)) in trajectory.impacts.iter().zip(&ledger.impacts).enumerate() {
        for (&a, impulse) in impact.constraints.iter().zip(impact.impulses) {
            let name = field(&model.constraints[a].name);
            write!(out, "{},{:?},{name},{impulse:?}", k + 1, impact.t)?;
            numbers(out, &[impact.approach, impact.energy_change, impact.law_residual, entry.uncertainty])?;
            numbers(out, &[entry.kinetic_before, entry.kinetic_after, entry.complementarity, entry.penetration])?;
            numbers(out, impact.q)?;
            numbers(out, impact.v_before)?;
            numbers(out, impact.v_after)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// One row an interval of lasting contact.
pub fn contacts(out: &mut impl Write, model: &Model, trajectory: &Trajectory) -> io::Result<()> {
    writeln!(out, "constraint,start,end,impulse")?;
    for contact in &trajectory.contacts {
        let name = field(&model.constraints[contact.constraint].name);
        writeln!(out, "{name},{:?},{:?},{:?}", contact.start, contact.end, contact.impulse)?;
    }
    Ok(())
}

/// One row a phase.
pub fn timeline(out: &mut impl Write, model: &Model, timeline: &Timeline) -> io::Result<()> {
    writeln!(out, "phase,start,end,constraints,impacts,error,note")?;
    for phase in &timeline.phases {
        let names: Vec<&str> = phase.constraints.iter().map(|&a| model.constraints[a].name.as_str()).collect();
        write!(out, "{},{:?},{:?},{}", phase.kind.name(), phase.start, phase.end, field(&names.join(" + ")))?;
        writeln!(out, ",{},{:?},{}", phase.impacts, phase.error, field(&phase.note))?;
    }
    Ok(())
}

/// One row an interval between impacts: the change of energy and the work of the forces in it.
pub fn energy(out: &mut impl Write, ledger: &Ledger) -> io::Result<()> {
    writeln!(out, "start,end,energy_change,work,residual")?;
    for i in &ledger.intervals {
        writeln!(out, "{:?},{:?},{:?},{:?},{:?}", i.start, i.end, i.change, i.work, i.change - i.work)?;
    }
    Ok(())
}
