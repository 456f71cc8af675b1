//! Output shown against output printed.
//!
//! A line `...` stands for any lines, `[..]` for anything within a line. What depends on the machine is not compared: how long a
//! run took, numbers below 1e-12 (rounding), and where the largest rounding occurred.

/// Whether these lines may be shown for what was printed.
pub fn same(shown: &[&str], real: &[&str]) -> bool {
    match shown.split_first() {
        None => real.is_empty(),
        Some((&"...", rest)) => (0..=real.len()).any(|k| same(rest, &real[k..])),
        Some((line, rest)) => {
            real.split_first().is_some_and(|(first, after)| same_line(line, first) && same(rest, after))
        }
    }
}

fn same_line(shown: &str, real: &str) -> bool {
    let (shown, real) = (portable(shown), portable(real));
    let Some((first, tail)) = shown.split_once("[..]") else { return shown == real };
    let Some(mut rest) = real.strip_prefix(first) else { return false };
    let (middle, last) = tail.rsplit_once("[..]").unwrap_or(("", tail));
    for part in middle.split("[..]") {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// A line without what depends on the machine.
fn portable(line: &str) -> String {
    let mut line = line;
    let mut end = "";
    if let Some((steps, _)) = line.split_once(" in ").filter(|_| line.ends_with(" per step")) {
        (line, end) = (steps, " in …");
    } else if let Some((depth, _)) = line.split_once(", rounding  (") {
        (line, end) = (depth, ", rounding …");
    }
    let mut text = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let length = number
            .char_indices()
            .find(|&(k, c)| !(c.is_ascii_digit() || c == '.' || c == 'e' || (c == '-' && number[..k].ends_with('e'))))
            .map_or(number.len(), |(k, _)| k);
        let (number, after) = number.split_at(length);
        let tiny = number.parse::<f64>().is_ok_and(|x| x > 0.0 && x < 1e-12);
        text.extend([before, if tiny { "tiny" } else { number }]);
        rest = after;
    }
    text + rest + end
}

/// The lines to show instead, with the same parts left out; none where it cannot be told which lines are meant.
pub fn refreshed(shown: &[&str], real: &[&str]) -> Option<Vec<String>> {
    // What is still right stays as it is, with its wildcards and times.
    let kept = |line: &str| shown.iter().find(|s| same_line(s, line)).map_or(line, |s| s).to_string();
    let chunks: Vec<&[&str]> = shown.split(|line| *line == "...").collect();
    if chunks.len() == 1 {
        return Some(real.iter().map(|line| kept(line)).collect());
    }
    let mut new = Vec::new();
    let mut from = 0;
    for (k, chunk) in chunks.iter().enumerate() {
        if k > 0 {
            new.push("...".to_string());
        }
        let latest = real.len().checked_sub(chunk.len()).filter(|latest| *latest >= from)?;
        let likeness = |start: &usize| -> usize { chunk.iter().zip(&real[*start..]).map(|(a, b)| alike(a, b)).sum() };
        let start = match k {
            0 => 0,
            _ if k + 1 == chunks.len() && !chunk.is_empty() => latest,
            _ => (from..=latest).rev().max_by_key(likeness)?,
        };
        new.extend(real[start..start + chunk.len()].iter().map(|line| kept(line)));
        from = start + chunk.len();
    }
    Some(new)
}

/// How many characters two lines have in common at the start.
fn alike(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// What is shown, what is printed; the lines that the other does not have are marked.
pub fn difference(shown: &[&str], real: &[&str]) -> String {
    let mut text = String::from("shown in the page:\n");
    for line in shown {
        let mark = if *line == "..." || real.iter().any(|r| same_line(line, r)) { ' ' } else { '-' };
        text += &format!("{mark} {line}\n");
    }
    text += "printed:\n";
    for line in real {
        let mark = if shown.iter().any(|s| same_line(s, line)) { ' ' } else { '+' };
        text += &format!("{mark} {line}\n");
    }
    text
}

#[test]
fn what_is_left_out_or_depends_on_the_machine_is_not_compared() {
    let real = [
        "title",
        "18 steps in 1 ms, 3 µs per step",
        "a = 1",
        "b = 2.5e-16",
        "violation 2e-15, rounding  (floor at t = 3)",
    ];
    let shown =
        ["title", "18 steps in 2 s, 9 µs per step", "...", "b = 1e-17", "violation 1e-16, rounding  (wall at t = 1)"];
    assert!(same(&shown, &real));
    assert!(same(&["...", "a = [..]", "..."], &real));
    assert!(same(&["...", "a[..]=[..]1", "..."], &real));
    assert!(!same(&["...", "a = 2", "..."], &real), "a number");
    assert!(!same(&["title", "a = 1", "..."], &real), "a line that is missing");
    assert!(!same(&["...", "b = 2.5e-6", "..."], &real), "rounding is smaller");
    assert!(!same(&["title", "17 steps in 2 s, 9 µs per step", "..."], &real), "the count of steps");
    assert_eq!(
        refreshed(&["...", "a = 2", "b = 1e-17", "..."], &real),
        Some(["...", "a = 1", "b = 1e-17", "..."].map(String::from).into())
    );
}
