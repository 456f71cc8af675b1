//! `--points FILE`: points from a table, CSV or Parquet.

use crate::setup::Refusal;
use saltus::SetupError;
use saltus_ensemble::points::Listed;
use std::path::Path;

/// Points of more than this together are a family that should be described, not listed.
const LIMIT: u64 = 1 << 30;

/// Reads a list of points.
pub fn read(path: &Path) -> Result<Listed, Refusal> {
    let name = path.display().to_string();
    let fail = |why: String| SetupError::new(format!("`{name}`{why}"));
    if path.metadata().is_ok_and(|m| m.len() > LIMIT) {
        return Err(fail(" is larger than 1 GiB".into()).into());
    }
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
        return parquet(path, fail);
    }
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => fail(" is not there".into()),
        _ => fail(format!(" cannot be read: {e}")),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((_, header)) = lines.next() else {
        return Err(fail(" is empty".into()).help("its first line names what is varied, such as  w,e,x'").into());
    };
    let names: Vec<String> = header.split(',').map(|n| n.trim().trim_matches('"').to_string()).collect();
    if names.iter().any(String::is_empty) || names.iter().all(|n| n.parse::<f64>().is_ok()) {
        let help = "the first line names parameters and starts, such as  w,e,x'";
        return Err(fail(", line 1: there must be a name for each column".into()).help(help).into());
    }
    let mut values = Vec::new();
    for (k, line) in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != names.len() {
            let (found, needed) = (fields.len(), names.len());
            return Err(fail(format!(", line {}: {found} values for {needed} names", k + 1)).into());
        }
        for (field, column) in fields.iter().zip(&names) {
            let number = field.trim().parse::<f64>().ok().filter(|x| x.is_finite());
            let bad = || fail(format!(", line {}: `{column}` must be a finite number, not `{}`", k + 1, field.trim()));
            values.push(number.ok_or_else(bad)?);
        }
    }
    if values.is_empty() {
        return Err(fail(" has names, but no points".into()).into());
    }
    Ok(Listed { names, values })
}

fn parquet(path: &Path, fail: impl Fn(String) -> SetupError) -> Result<Listed, Refusal> {
    if !path.exists() {
        return Err(fail(" is not there".into()).into());
    }
    let read = saltus_io::table::read_parquet(path);
    let (names, values) = read.map_err(|why| {
        let error = fail(format!(" cannot be read as Parquet: {why}"));
        error.help("it must have a column of numbers for each parameter or start, plain or compressed by Snappy, or be a CSV file")
    })?;
    if let Some(k) = values.iter().position(|x| !x.is_finite()) {
        let (row, column) = (k / names.len() + 1, &names[k % names.len()]);
        return Err(fail(format!(", row {row}: `{column}` must be a finite number, not {}", values[k])).into());
    }
    match values.is_empty() {
        true => Err(fail(" has names, but no points".into()).into()),
        false => Ok(Listed { names, values }),
    }
}
