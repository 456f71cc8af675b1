//! Tables as CSV.

use super::ahead::in_order;
use super::{Kind, Table, Values, word};
use crate::output::tables::field;
use std::io::{self, Write};
use std::ops::Range;

pub fn write(out: &mut dyn Write, table: &dyn Table, threads: usize) -> io::Result<()> {
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
    in_order(threads, table.chunks().len(), |chunk| rows(table, &quoted, chunk), |text| out.write_all(&text))
}

/// The rows of a chunk.
fn rows(table: &dyn Table, quoted: &[Vec<String>], chunk: usize) -> io::Result<Vec<u8>> {
    let columns = table.columns();
    let values = (0..columns.len()).map(|c| table.read(chunk, c)).collect::<io::Result<Vec<_>>>()?;
    let count = table.chunks()[chunk] as usize;
    let mut text = Vec::with_capacity(12 * count * columns.len());
    // (Where the number of each column stands that was written last: it is often the same again.)
    let mut last: Vec<Option<(u64, Range<usize>)>> = vec![None; columns.len()];
    for row in 0..count {
        for (c, values) in values.iter().enumerate() {
            if c > 0 {
                text.push(b',');
            }
            match (values, &columns[c].kind) {
                (Values::Numbers(x), _) => {
                    let bits = x[row].to_bits();
                    if let Some((_, place)) = last[c].as_ref().filter(|(last, _)| *last == bits) {
                        text.extend_from_within(place.clone());
                        continue;
                    }
                    let start = text.len();
                    number(&mut text, x[row]);
                    last[c] = Some((bits, start..text.len()));
                }
                (Values::Integers(x), Kind::Integer | Kind::Number) => {
                    text.extend_from_slice(itoa::Buffer::new().format(x[row]).as_bytes());
                }
                (Values::Integers(x), _) => text.extend_from_slice(word(&quoted[c], x[row]).as_bytes()),
            }
        }
        text.push(b'\n');
    }
    Ok(text)
}

/// The shortest text that reads back as the same number, as `{:?}` writes it.
fn number(text: &mut Vec<u8>, x: f64) {
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format(x);
    // (The crate writes no exponent below 1e-4 yet, and a sign before those above 1e16; of two texts that are as near it takes the even
    // one. There are two only where sixteen digits or more leave less than one: of numbers with few binary places.)
    let places = x * 67_108_864.0;
    let is_tie = shortest.len() > 16 && places == places.trunc();
    match is_tie || (1e-5..1e-4).contains(&x.abs()) || x.abs() >= 1e16 {
        true => text.extend_from_slice(format!("{x:?}").as_bytes()),
        false => text.extend_from_slice(shortest.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_ever() {
        let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = || {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            bits
        };
        let edges = [1e-5, 1e-4, 1e15, 1e16, 1e17, 0.1, 1.0, 123.0, 5e-324, f64::MAX, f64::MIN_POSITIVE, f64::EPSILON];
        let around = edges.into_iter().flat_map(|x: f64| [x.next_down(), x, x.next_up(), -x]);
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        let any = (0..200_000).map(|_| f64::from_bits(next())).collect::<Vec<_>>();
        let usual = any
            .iter()
            .map(|x| (x.to_bits() >> 11) as f64 / (1u64 << 53) as f64 * 10f64.powi((x.to_bits() % 24) as i32 - 12));
        let dyadic = any.iter().map(|x| (x.to_bits() >> 9) as f64 / 2f64.powi((x.to_bits() % 80) as i32));
        let mut text = Vec::new();
        for x in around.chain(special).chain(dyadic.collect::<Vec<_>>()).chain(usual.collect::<Vec<_>>()).chain(any) {
            text.clear();
            number(&mut text, x);
            assert_eq!(String::from_utf8_lossy(&text), format!("{x:?}"));
        }
    }
}
