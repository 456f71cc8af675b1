//! Curves of special points over two parameters.

use super::Args;
use super::first::Prepared;
use super::record::{Entry, Row, Writer};
use crate::progress;
use crate::setup::Refusal;
use crate::text::number;
use saltus::SetupError;
use saltus::analysis::{ContinueOptions, CurveOptions, News, Special, SpecialKind, WalkOptions, continue_orbit, curve};

/// Finds special points over the first parameter, and follows the curves through them.
pub fn follow(args: &Args, prepared: &mut Prepared, word: &str) -> Result<(Vec<Entry>, Writer), Refusal> {
    let kind = SpecialKind::ALL.into_iter().find(|k| k.word() == word).unwrap_or(SpecialKind::Fold);
    let first = prepared.orbit(args)?;
    let Some(clock) = prepared.clock.clone() else { return Err(Refusal::Interrupted) };
    let [one, two] = [prepared.axes[0].clone(), prepared.axes[1].clone()];
    let walk = WalkOptions { range: (one.low, one.high), step: args.step, points: args.points as usize };
    let doublings = args.doublings as usize;
    let options = ContinueOptions { walk, doublings, tolerance: args.tol, directions: (true, true) };
    let mut writer = Writer::new(args.out.as_deref(), &[])?;
    let mut entries = vec![super::head(prepared, "curves")];
    writer.write(&entries[0]);
    let problem = &prepared.problem;
    let mut bar = progress::Bar::new(args.model.json);
    let mut seen: Vec<Special> = Vec::new();
    let mut done = 0;
    let branches = continue_orbit(problem, clock.clone(), &first, &one.name, &options, &mut |news| {
        done += 1;
        bar.counted(done, args.points, "looking for special points");
        if let News::Special(_, special) = news
            && special.kind == kind
            && !seen.iter().any(|s| is_same(s, special))
        {
            seen.push(special.clone());
        }
        !progress::is_stopped()
    });
    branches.map_err(|e| SetupError::new(e.to_string()))?;
    if seen.is_empty() {
        bar.finish();
        let message = format!(
            "there is no {} over {} = {} … {}, with {} = {}",
            kind.name(),
            one.name,
            number(one.low, 6),
            number(one.high, 6),
            two.name,
            number(prepared.start.parameters[1], 6)
        );
        let help = format!("widen the range of {}, or fix {} elsewhere with --set", one.name, two.name);
        return Err(SetupError::new(message).help(help).into());
    }
    let axes = [(one.name.clone(), one.low, one.high), (two.name.clone(), two.low, two.high)];
    let options = CurveOptions { axes, step: args.step, points: args.points as usize, tolerance: args.tol };
    let states = problem.model().states.len();
    let mut branch = 0;
    for special in &seen {
        if progress::is_stopped() {
            break;
        }
        // (A curve that was followed may pass through several of them.)
        let at = special.point.values[0];
        let has_passed = entries.windows(2).any(|pair| match pair {
            [Entry::Point { row: a, branch: x }, Entry::Point { row: b, branch: y }] if x == y => {
                let (side, other) = (a.values[1] - special_second(prepared), b.values[1] - special_second(prepared));
                let share = if side == other { 0.0 } else { side / (side - other) };
                let value = a.values[0] + share * (b.values[0] - a.values[0]);
                side * other <= 0.0 && (value - at).abs() < 1e-3 * (one.high - one.low)
            }
            _ => false,
        });
        if has_passed {
            continue;
        }
        let found = curve(problem, clock.clone(), special, &options, &mut |_| {
            done += 1;
            bar.counted(done, args.points, "following a curve");
            !progress::is_stopped()
        });
        let origin = format!("{} at {} = {}", kind.name(), one.name, number(at, 10));
        let mut more = vec![Entry::Branch { branch, origin }];
        match found {
            Ok(found) => {
                more.extend(found.points.iter().map(|p| Entry::Point { branch, row: Row::new(p, states, Vec::new()) }));
                more.push(Entry::End { branch, why: found.ends.join("; "), cut: false });
            }
            Err(reason) => more.push(Entry::End { branch, why: reason.to_string(), cut: true }),
        }
        branch += 1;
        for entry in more {
            writer.write(&entry);
            entries.push(entry);
        }
    }
    bar.finish();
    Ok((entries, writer))
}

/// The value of the second parameter at which special points were looked for.
fn special_second(prepared: &Prepared) -> f64 {
    prepared.start.parameters[1]
}

fn is_same(a: &Special, b: &Special) -> bool {
    let near = |x: f64, y: f64| (x - y).abs() <= 1e-7 * (1.0 + x.abs());
    near(a.point.values[0], b.point.values[0]) && near(a.point.period, b.point.period)
}
