//! The records that act on a structure, in the summary of a run.

use super::SHOWN;
use crate::text::{DIM, grouped, number, out, printable};
use saltus::Model;
use saltus_io::output::RecordSummary;

/// The records that act: how long they are, how fine, and their largest value.
pub(super) fn print(model: &Model) {
    let all = RecordSummary::all(model);
    for record in all.iter().take(SHOWN) {
        let [least, most] = record.dt.map(|dt| number(dt, 4));
        let dt = if least == most { least } else { format!("{least} … {most}") };
        let name = format!("record {}", printable(&record.input));
        out!(
            "{name:<20} {} {DIM}dt ={DIM:#} {dt}{DIM}, duration{DIM:#} {}{DIM}, largest{DIM:#} {} {DIM}at t ={DIM:#} {}\n",
            format!("{} values,", grouped(record.values as u64)),
            number(record.duration, 6),
            number(record.largest, 5),
            number(record.at, 5)
        );
    }
    super::more_of(all.len(), "record");
}
