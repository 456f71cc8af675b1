//! What distinguishes the dots of a sweep.

use super::Tables;
use crate::text::number;
use saltus::SetupError;
use saltus_io::table::SavedTable;
use saltus_report::chart::Dots;

/// Values of a second axis, and groups in all, that have colours of their own.
const VALUES: usize = 6;

/// The groups, without dots, and that of each row: by the way up and down, and by the values of a second axis, if they are few;
/// else by constraints or sections, if there are several.
pub fn groups(
    tables: &Tables,
    name: &str,
    table: &SavedTable,
    place: &[usize],
    axes: &[String],
) -> Result<(Vec<Dots>, Vec<usize>), SetupError> {
    let (second, known) = second(tables, place, axes)?.unzip();
    let known: Vec<String> = known.unwrap_or_default();
    let points = tables.named("points").filter(|points| points.has("direction"));
    let ways = match points {
        Some(points) => {
            let all = points.texts("direction")?;
            Some(place.iter().map(|&p| all.get(p).cloned().unwrap_or_default()).collect::<Vec<_>>())
        }
        None => None,
    };
    let bare = ways.is_none() && second.is_none();
    let places = match name {
        "impacts" if bare => Some(table.texts("constraint")?),
        "sections" if bare => Some(table.texts("section")?),
        _ => None,
    };
    let varies = |words: &Option<Vec<String>>| {
        words.as_ref().is_some_and(|words| words.windows(2).any(|pair| pair[0] != pair[1]))
    };
    let chosen: Vec<Vec<String>> =
        [ways.clone(), second.clone(), places].into_iter().filter(varies).flatten().collect();
    let has_ways = varies(&ways);
    let mut found: Vec<(Vec<&str>, usize)> = Vec::new();
    // The words of the second axis, in its order: colours are the same in all figures of a sweep.
    let mut values: Vec<&str> = known.iter().map(String::as_str).collect();
    let mut of = Vec::with_capacity(place.len());
    for k in 0..place.len() {
        let words = || chosen.iter().map(|words| words[k].as_str());
        let at = found.iter().position(|(w, _)| w.iter().copied().eq(words())).unwrap_or_else(|| {
            let word = second.as_ref().map_or("", |s| s[k].as_str());
            let value = values.iter().position(|v| *v == word).unwrap_or_else(|| {
                values.push(word);
                values.len() - 1
            });
            found.push((words().collect(), value));
            found.len() - 1
        });
        of.push(at);
    }
    let count = found.len();
    let dots = found.iter().enumerate().map(|(k, (words, value))| Dots {
        name: words.join(", "),
        colour: match count {
            0 | 1 => 0,
            // One colour for each, or for each value of the second axis, with rings for the way down.
            2..=VALUES if has_ways || second.is_none() => k + 1,
            _ => value + 1,
        },
        are_open: has_ways && words.first() == Some(&"down"),
        ..Dots::default()
    });
    Ok((dots.collect(), of))
}

/// The word of each row, and all words in their order.
type Words = (Vec<String>, Vec<String>);

/// The values of the second axis, if they are few.
fn second(tables: &Tables, place: &[usize], axes: &[String]) -> Result<Option<Words>, SetupError> {
    let (Some(axis), Some(all)) = (axes.get(1), tables.named("points")) else { return Ok(None) };
    let values = all.numbers(axis)?;
    let mut distinct: Vec<f64> = values.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    if distinct.len() > VALUES {
        return Ok(None);
    }
    let bare = axis.strip_prefix("start_").unwrap_or(axis);
    let named = |x: &f64| format!("{bare} = {}", number(*x, 4));
    let word = |&p: &usize| values.get(p).map_or_else(String::new, named);
    Ok(Some((place.iter().map(word).collect(), distinct.iter().map(named).collect())))
}
