//! Models with a first-order state against scipy: `states.json`, made by `bench/peers/states.py` (DOP853, rtol 1e-12).

use super::exact::shipped_exact;
use super::*;

/// The first 20 impacts of a model: times, states, velocities on both sides, each to 1e-8 of the largest of its kind.
fn first_impacts(name: &str, end: f64) {
    let all: Value = serde_json::from_str(include_str!("states.json")).expect("valid JSON");
    let rows = all[name].as_array().expect("rows");
    let run = shipped_exact(name, &[], end);
    assert!(rows.len() == 20 && run.trajectory.impacts.len() >= 20);
    for kind in ["t", "q", "before", "after", "z"] {
        let values = |row: &Value| match &row[kind] {
            Value::Array(list) => list.iter().map(num).collect(),
            number => vec![num(number)],
        };
        let width = values(&rows[0]).len();
        for i in 0..width {
            let largest = rows.iter().map(|row| values(row)[i].abs()).fold(0.0, f64::max);
            // (Positions by how far they go between impacts: at a fixed seat they are zero.)
            let places = (0..run.trajectory.len()).map(|k| run.trajectory.q(k)[i].abs());
            let scale = if kind == "q" { places.fold(0.0, f64::max) } else { largest };
            for (k, row) in rows.iter().enumerate() {
                let impact = run.trajectory.impacts.get(k);
                let degrees = nums(&row["q"]).len();
                let value = match kind {
                    "t" => impact.t,
                    "q" => impact.q[i],
                    "before" => impact.v_before[i],
                    "after" => impact.v_after[i],
                    _ => impact.v_after[degrees + i],
                };
                let off = (value - values(row)[i]).abs() / scale;
                assert!(off < 1e-8, "{name}, impact {}: {kind}[{i}] is off by {off:e}", k + 1);
            }
        }
    }
}

#[test]
fn relief_valve() {
    first_impacts("valve", 45.0);
}

#[test]
fn harvester() {
    first_impacts("harvester", 1.0);
}
