//! The data of a page: JSON, and long arrays of numbers as bytes that compress well.
//!
//! Each number is stored as the difference of its bits from those of its predecessor. The differences are stored by columns: the
//! first bytes of all differences, then the second bytes, and so on. For a smooth curve the last columns are mostly zeros. The
//! values are exact.

use crate::pack::pack;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Shorter arrays stay in the JSON.
const SHORTEST: usize = 16;

/// Packs data for a page: the JSON, a zero byte and the stored arrays.
pub fn packed(data: &Value) -> String {
    let mut store = Store::default();
    let mut bytes = store.stripped(data).to_string().into_bytes();
    bytes.push(0);
    bytes.append(&mut store.bytes);
    pack(&bytes, 6)
}

#[derive(Default)]
struct Store {
    bytes: Vec<u8>,
    /// The offset of each stored array; curves of a run often share their times.
    offsets: HashMap<Vec<u8>, usize>,
}

impl Store {
    /// The same data with every long array of numbers replaced by a reference, `{"f64": [offset, count]}`.
    fn stripped(&mut self, value: &Value) -> Value {
        match value {
            Value::Array(items) => match numbers(items) {
                Some(numbers) => self.store(&numbers),
                None => items.iter().map(|item| self.stripped(item)).collect(),
            },
            Value::Object(fields) => fields.iter().map(|(key, field)| (key.clone(), self.stripped(field))).collect(),
            other => other.clone(),
        }
    }

    fn store(&mut self, numbers: &[f64]) -> Value {
        // Single precision if that is exact.
        let short = numbers.iter().all(|&x| f64::from(x as f32) == x || x.is_nan());
        let (name, columns) = match short {
            true => ("f32", columns(differences32(numbers))),
            false => ("f64", columns(differences64(numbers))),
        };
        let end = self.bytes.len();
        let offset = *self.offsets.entry(columns).or_insert_with_key(|columns| {
            self.bytes.extend(columns);
            end
        });
        json!({ name: [offset, numbers.len()] })
    }
}

/// The values of a long array that contains only numbers; null stands for NaN.
fn numbers(items: &[Value]) -> Option<Vec<f64>> {
    if items.len() < SHORTEST {
        return None;
    }
    items.iter().map(|item| if item.is_null() { Some(f64::NAN) } else { item.as_f64() }).collect()
}

/// The differences of the bits of successive numbers.
fn differences64(numbers: &[f64]) -> impl Iterator<Item = [u8; 8]> + Clone {
    numbers
        .iter()
        .scan(0_u64, |last, x| Some(x.to_bits().wrapping_sub(std::mem::replace(last, x.to_bits())).to_le_bytes()))
}

/// The same in single precision.
fn differences32(numbers: &[f64]) -> impl Iterator<Item = [u8; 4]> + Clone {
    numbers
        .iter()
        .map(|&x| (x as f32).to_bits())
        .scan(0_u32, |last, bits| Some(bits.wrapping_sub(std::mem::replace(last, bits)).to_le_bytes()))
}

fn columns<const N: usize>(words: impl Iterator<Item = [u8; N]> + Clone) -> Vec<u8> {
    (0..N).flat_map(|k| words.clone().map(move |word| word[k])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_stored_once_and_exactly() {
        let times: Vec<f64> = (0..20).map(|k| 0.1 * f64::from(k)).collect();
        let broken: Vec<Option<f64>> = (0..20).map(|k| (k != 7).then_some(f64::from(k))).collect();
        let data = json!({ "a": { "x": times, "y": broken }, "b": [{ "x": times }], "range": [0.0, 0.1], "name": "x" });
        let mut store = Store::default();
        let stripped = store.stripped(&data);
        assert_eq!(
            stripped,
            json!({
                "a": { "x": { "f64": [0, 20] }, "y": { "f32": [160, 20] } }, "b": [{ "x": { "f64": [0, 20] } }],
                "range": [0.0, 0.1], "name": "x",
            })
        );
        assert_eq!(store.bytes.len(), 160 + 80);
        // Decoded as in the page's script.
        let difference = |k: usize| u64::from_le_bytes(std::array::from_fn(|column| store.bytes[20 * column + k]));
        let word = |k: usize| f64::from_bits((0..=k).map(difference).fold(0, u64::wrapping_add));
        assert_eq!((0..20).map(word).collect::<Vec<_>>(), times);
    }
}
