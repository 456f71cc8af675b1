//! `--points FILE`: points from a table, CSV or Parquet.

use crate::setup::Refusal;
use crate::text::count;
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
        std::io::ErrorKind::NotFound => fail(" does not exist".into()),
        _ => fail(format!(" cannot be read: {e}")),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // (Line ends of old programs are a character of their own.)
    let old = (!text.contains('\n') && text.contains('\r')).then(|| text.replace('\r', "\n"));
    let text = old.as_deref().unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((_, header)) = lines.next() else {
        return Err(fail(" is empty".into()).help("its first line names what is varied, such as  w,e,x'").into());
    };
    if !header.contains(',') && header.contains([';', '\t']) {
        let between = if header.contains(';') { "semicolons" } else { "tabs" };
        let help = "use commas, and points in numbers, such as  w,e  and below it  0.5,0.7";
        return Err(fail(format!(", line 1: there are {between} between the columns")).help(help).into());
    }
    let names: Vec<String> = header.split(',').map(|n| unquoted(n).to_string()).collect();
    if names.iter().any(String::is_empty) || names.iter().all(|n| n.parse::<f64>().is_ok()) {
        let help = "the first line names parameters and starts, such as  w,e,x'";
        return Err(fail(", line 1: there must be a name for each column".into()).help(help).into());
    }
    let mut values = Vec::new();
    for (k, line) in lines {
        let fields: Vec<&str> = line.split(',').collect();
        if fields.len() != names.len() {
            let (found, needed) = (count(fields.len() as u64, "value"), count(names.len() as u64, "name"));
            return Err(fail(format!(", line {}: {found} for {needed}", k + 1)).into());
        }
        for (field, column) in fields.iter().zip(&names) {
            let number = unquoted(field).parse::<f64>().ok().filter(|x| x.is_finite());
            let bad = || fail(format!(", line {}: `{column}` must be a finite number, not `{}`", k + 1, field.trim()));
            values.push(number.ok_or_else(bad)?);
        }
    }
    if values.is_empty() {
        return Err(fail(" has column names but no points".into()).into());
    }
    Ok(Listed { names, values })
}

/// A field without the quotes that some programs put around it.
fn unquoted(field: &str) -> &str {
    let field = field.trim();
    field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(field).trim()
}

fn parquet(path: &Path, fail: impl Fn(String) -> SetupError) -> Result<Listed, Refusal> {
    if !path.exists() {
        return Err(fail(" does not exist".into()).into());
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
        true => Err(fail(" has column names but no points".into()).into()),
        false => Ok(Listed { names, values }),
    }
}
