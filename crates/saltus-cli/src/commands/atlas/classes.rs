//! Colours of maps by what trajectories settled on.

use saltus_ensemble::atlas::{Label, Map};
use saltus_report::chart::Tint;

/// The classes of a map with their colours, and the class of each cell.
pub fn classes(map: &Map, of: &str) -> (Vec<(String, Tint)>, Vec<f64>) {
    // What distinguishes periodic motions: the period, or impacts and period.
    let kind = |label: &Label| match (label, of) {
        (Label::Periodic { period, .. }, "period") => Some((*period, 0)),
        (Label::Periodic { period, impacts, .. }, _) => Some((*period, *impacts)),
        (Label::Recurrent { impacts, .. }, _) => Some((0, *impacts)),
        _ => None,
    };
    let mut kinds: Vec<((u32, u32), usize)> = Vec::new();
    for found in map.cells.iter().filter_map(|c| kind(&c.label)) {
        match kinds.iter_mut().find(|(k, _)| *k == found) {
            Some((_, count)) => *count += 1,
            None => kinds.push((found, 1)),
        }
    }
    // The most frequent have colours of their own.
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let others = kinds.len() > Tint::CLASSES;
    kinds.truncate(Tint::CLASSES - usize::from(others));
    kinds.sort();
    let word = |(period, impacts): (u32, u32)| match (of, period) {
        ("period", p) => format!("period {p}"),
        (_, 0) => format!("{impacts} per period"),
        (_, 1) => format!("{impacts}/1"),
        (_, p) => format!("{impacts}/{p}"),
    };
    let mut classes: Vec<(String, Tint)> =
        kinds.iter().enumerate().map(|(k, (kind, _))| (word(*kind), Tint::Number(k))).collect();
    if others {
        let name = if of == "period" { "other periods" } else { "others" };
        classes.push((name.into(), Tint::Number(Tint::CLASSES - 1)));
    }
    let mut place = |name: &str, tint: Tint| {
        let found = classes.iter().position(|(n, _)| n == name);
        found.unwrap_or_else(|| {
            classes.push((name.into(), tint));
            classes.len() - 1
        })
    };
    let mut values = Vec::with_capacity(map.cells.len());
    for cell in &map.cells {
        let class = match (&cell.label, kind(&cell.label)) {
            (_, Some(found)) => kinds.iter().position(|(k, _)| *k == found).unwrap_or(kinds.len()),
            (Label::Rest, _) => place("rest", Tint::Pale),
            (Label::Neither, _) => place("not periodic", Tint::Dark),
            (Label::Failed, _) => place("failed", Tint::None),
            _ => place("cannot start", Tint::None),
        };
        values.push(class as f64);
    }
    (classes, values)
}
