//! Branches as text and JSON.

use super::record::{Entry, Row};
use crate::text::{BOLD, DIM, count, number, out, print_json, printable};
use saltus::analysis::SpecialKind;
use serde_json::{Value, json};

/// Special points of one branch that are printed.
const SHOWN: usize = 30;

/// Branches that leave another and were not followed, of which so many are printed.
const LEFT: usize = 6;

/// Branches that were found.
pub struct Found<'a> {
    pub title: &'a str,
    pub subtitle: &'a str,
    /// What was not as a person may expect.
    pub notes: &'a [String],
    pub parameters: &'a [String],
    pub entries: &'a [Entry],
    pub files: &'a [String],
    pub seconds: f64,
}

/// The name of a kind.
pub fn kind_name(word: &str) -> &str {
    SpecialKind::ALL.iter().find(|k| k.word() == word).map_or(word, |k| k.name())
}

/// How many orbits of a branch are stable, in words.
fn stable(rows: &[&Row]) -> String {
    let count = |word: &str| rows.iter().filter(|r| r.stability() == word).count();
    if let Some(word) = ["stable", "neutral", "unstable"].into_iter().find(|word| count(word) == rows.len()) {
        return format!("all {word}");
    }
    match (count("stable"), count("neutral")) {
        (stable, 0) => format!("{stable} stable"),
        (0, neutral) => format!("{neutral} neutral, the others unstable"),
        (stable, neutral) => format!("{stable} stable, {neutral} neutral"),
    }
}

impl Found<'_> {
    pub fn print(&self, out_dir: Option<&std::path::Path>) {
        out!("{BOLD}{}{BOLD:#}\n{}\n", printable(self.title), printable(self.subtitle));
        for note in self.notes {
            out!("{}\n", printable(note));
        }
        for entry in self.entries {
            if let Entry::Branch { branch, origin } = entry {
                out!("\n{BOLD}branch {}{BOLD:#}  {DIM}from {}{DIM:#}\n", branch + 1, printable(origin));
                self.specials(*branch);
                self.end(*branch);
            }
        }
        if let (Some(dir), false) = (out_dir, self.files.is_empty()) {
            out!("\nwrote {} to {}\n", self.files.join(", "), dir.display());
        }
    }

    fn specials(&self, of: usize) {
        let mut listed = 0;
        for entry in self.entries {
            let Entry::Special { branch, kind, words, row } = entry else { continue };
            if *branch != of {
                continue;
            }
            listed += 1;
            if listed > SHOWN {
                continue;
            }
            let at = self.parameters.iter().zip(&row.values).map(|(n, x)| format!("{n} = {}", number(*x, 11)));
            let at = at.collect::<Vec<_>>().join(", ");
            out!("  {:<22} {:<15}  {}\n", printable(&at), kind_name(kind), printable(words));
        }
        if listed > SHOWN {
            out!("  and {} in the table\n", count((listed - SHOWN) as u64, "further special point"));
        }
    }

    fn end(&self, of: usize) {
        let rows: Vec<&Row> = self
            .entries
            .iter()
            .filter_map(|e| match e {
                Entry::Point { branch, row } if *branch == of => Some(row),
                _ => None,
            })
            .collect();
        let name = self.parameters.last().map_or("", String::as_str);
        let ends = rows.first().zip(rows.last()).map(|(a, b)| {
            let last = |r: &Row| number(r.values.last().copied().unwrap_or(f64::NAN), 6);
            format!("{} = {} … {}", printable(name), last(a), last(b))
        });
        let why = self.entries.iter().find_map(|e| match e {
            Entry::End { branch, why, .. } if *branch == of => Some(why.clone()),
            _ => None,
        });
        let why = why.map_or_else(String::new, |w| format!("; {}", printable(&w)));
        out!("  {} ({}), {}{why}\n", count(rows.len() as u64, "point"), stable(&rows), ends.unwrap_or_default());
        for was_tried in [false, true] {
            self.left(of, was_tried);
        }
    }

    /// Branches that leave one and were not followed.
    fn left(&self, of: usize, was_tried: bool) {
        let is_it = |e: &&Entry| matches!(e, Entry::Left { branch, tried, .. } if *branch == of && *tried == was_tried);
        let mut each: Vec<String> = Vec::new();
        for entry in self.entries.iter().filter(is_it) {
            let Entry::Left { kind, value, .. } = entry else { continue };
            each.push(format!("{} at {}", kind_name(kind), number(*value, 10)));
        }
        if each.is_empty() {
            return;
        }
        let more = each.len().saturating_sub(LEFT);
        each.truncate(LEFT);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let all = format!("{}{more}", each.join(", "));
        match was_tried {
            false => out!("  not followed: what leaves at the {all} (a larger --doublings follows it)\n"),
            true => out!("  not found within the range: what leaves at the {all}\n"),
        }
    }

    pub fn json(&self) {
        let branches: Vec<Value> = self
            .entries
            .iter()
            .filter_map(|e| match e {
                Entry::Branch { branch, origin } => Some((*branch, origin)),
                _ => None,
            })
            .map(|(of, origin)| {
                let mut value = json!({ "branch": of + 1, "from": origin });
                let mine = |b: &usize| *b == of;
                let points = self.entries.iter().filter(|e| matches!(e, Entry::Point { branch, .. } if mine(branch)));
                value["points"] = json!(points.count());
                let special = self.entries.iter().filter_map(|e| match e {
                    Entry::Special { branch, kind, words, row } if mine(branch) => Some(json!({
                        "kind": kind, "values": row.values, "meaning": words, "multipliers": row.multipliers,
                        "period": row.period, "multiple": row.multiple, "shown": row.shown,
                    })),
                    _ => None,
                });
                value["special"] = special.collect();
                let left = self.entries.iter().filter_map(|e| match e {
                    Entry::Left { branch, kind, value, tried } if mine(branch) => {
                        Some(json!({ "kind": kind, "value": value, "tried": tried }))
                    }
                    _ => None,
                });
                value["left"] = left.collect();
                for e in self.entries {
                    if let Entry::End { branch, why, cut } = e
                        && mine(branch)
                    {
                        (value["end"], value["cut"]) = (json!(why), json!(cut));
                    }
                }
                value
            })
            .collect();
        print_json(&json!({
            "title": self.title, "what": self.subtitle, "parameters": self.parameters, "notes": self.notes, "branches": branches,
            "files": self.files, "seconds": self.seconds,
        }));
    }
}
