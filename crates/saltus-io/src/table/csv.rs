//! Tables as CSV.

use super::{Kind, Table, Values, word};
use crate::output::tables::field;
use std::io::{self, Write};

pub fn write(out: &mut dyn Write, table: &dyn Table) -> io::Result<()> {
    let columns = table.columns();
    let names: Vec<String> = columns.iter().map(|c| field(&c.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    // Words are quoted once, not in every row.
    let quoted: Vec<Vec<String>> = columns
        .iter()
        .map(|c| match &c.kind {
            Kind::Word(words) | Kind::Remark(words) => words.iter().map(|w| field(w)).collect(),
            _ => Vec::new(),
        })
        .collect();
    for (chunk, &rows) in table.chunks().iter().enumerate() {
        let values = (0..columns.len()).map(|c| table.read(chunk, c)).collect::<io::Result<Vec<_>>>()?;
        for row in 0..rows as usize {
            for (c, values) in values.iter().enumerate() {
                let comma = if c > 0 { "," } else { "" };
                match (values, &columns[c].kind) {
                    (Values::Numbers(x), _) => write!(out, "{comma}{:?}", x[row])?,
                    (Values::Integers(x), Kind::Integer | Kind::Number) => write!(out, "{comma}{}", x[row])?,
                    (Values::Integers(x), _) => write!(out, "{comma}{}", word(&quoted[c], x[row]))?,
                }
            }
            writeln!(out)?;
        }
    }
    Ok(())
}
