//! Branches of equilibria.

use super::Args;
use super::first::Prepared;
use super::record::{self, Entry, Row, Writer};
use crate::progress;
use crate::setup::Refusal;
use crate::text::number;
use saltus::SetupError;
use saltus::analysis::{NoMap, RestNews, WalkOptions, continue_equilibria};

/// Follows all equilibria; the lines of the record.
pub fn follow(args: &Args, prepared: &mut Prepared) -> Result<(Vec<Entry>, Writer), Refusal> {
    let axis = prepared.axes[0].clone();
    let walk = WalkOptions { range: (axis.low, axis.high), step: args.step, points: args.points as usize };
    let mut writer = Writer::new(args.out.as_deref(), &[])?;
    let mut entries = vec![super::head(prepared, "equilibria")];
    writer.write(&entries[0]);
    let (problem, shown) = (&prepared.problem, &prepared.shown);
    let states = problem.model().states.len();
    let value = prepared.start.parameters[0];
    let mut bar = progress::Bar::new(args.model.json);
    let mut done = 0;
    let found = continue_equilibria(problem, &axis.name, value, &walk, &mut |news| {
        let entry = match news {
            RestNews::Begins(branch, origin) => {
                let words = record::origin(origin, &axis.name).replace("the first orbit", "an equilibrium");
                Entry::Branch { branch, origin: words }
            }
            RestNews::Point(branch, point) => {
                done += 1;
                bar.counted(done, args.points, &format!("{} = {}", axis.name, number(point.values[0], 6)));
                let values = shown.at_rest(problem, &point.start);
                Entry::Point { branch, row: Row::new(point, states, values) }
            }
            RestNews::Special(branch, special) => {
                record::special(branch, special, states, shown.at_rest(problem, &special.point.start))
            }
        };
        let is_written = writer.write(&entry);
        entries.push(entry);
        is_written && !progress::is_stopped()
    });
    bar.finish();
    let (branches, notes) = found.map_err(|e| match e {
        NoMap::Setup(error) => error,
        other => SetupError::new(other.to_string()),
    })?;
    if branches.is_empty() {
        let what = if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
        let message = format!("there is no equilibrium to follow at {} = {}{what}", axis.name, number(value, 6));
        return Err(SetupError::new(message).help("begin at another value of the parameter (--set)").into());
    }
    for (branch, one) in branches.iter().enumerate() {
        let entry = Entry::End { branch, why: one.end.clone(), cut: one.is_cut };
        writer.write(&entry);
        entries.push(entry);
    }
    Ok((entries, writer))
}
