//! Exponents as text, JSON and a table.

use super::{Outcome, Point};
use crate::commands::sweep::gpu::OnGpu;
use crate::text::{BOLD, DIM, count, number, out, print_json, printable, wrapped};
use saltus::Problem;
use saltus::analysis::{Exponent, Lyapunov};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

/// How the head of a table ends.
pub const ENDING: &str = "dimension,impacts_per_period,kind";
/// How the row of a point ends that was not run.
pub const NOT_RUN: &str = ",not run";

pub struct Shown<'a> {
    pub problem: &'a Problem,
    pub names: &'a [String],
    pub points: &'a [Point],
    pub outcomes: &'a [Outcome],
    /// With compiled code: how many points the event engine computed from their start.
    pub scalar: Option<u64>,
    /// What a GPU did.
    pub on_gpu: Option<OnGpu>,
}

/// What the motion is, in a word.
fn kind(found: &Lyapunov) -> &'static str {
    match &found.repeats {
        Some(_) if !found.advance.is_empty() => "travelling",
        Some(_) => "periodic",
        None if found.runs_away() => "running away",
        None if found.is_chaotic() => "chaotic",
        None if found.largest().value == f64::NEG_INFINITY => "merging",
        None => "undecided",
    }
}

/// A value with its error, to the digits that mean something.
fn shown(e: &Exponent) -> String {
    if e.value == f64::NEG_INFINITY {
        return "−∞".into();
    }
    let digits = match e.error > 0.0 && e.error.is_finite() {
        true => ((e.value.abs() / e.error).log10().floor() + 3.0).clamp(2.0, 12.0) as usize,
        false => 12,
    };
    format!("{} ± {}", number(e.value, digits), number(e.error, 2))
}

impl Shown<'_> {
    pub fn print(&self, out_path: Option<&Path>) {
        out!("{BOLD}{}{BOLD:#}\n", printable(&self.problem.model().title));
        if self.names.is_empty() {
            if let Some(Some(Ok(found))) = self.outcomes.first() {
                self.print_one(found);
            } else {
                out!("interrupted\n");
            }
        } else {
            self.print_points();
        }
        if let Some(n) = self.scalar.filter(|n| *n > 0) {
            out!(
                "\n{DIM}{} of {} computed by the event engine alone{DIM:#}\n",
                n,
                count(self.points.len() as u64, "point")
            );
        }
        self.on_gpu.iter().flat_map(OnGpu::lines).for_each(|line| out!("{DIM}{line}{DIM:#}\n"));
        if let Some(path) = out_path {
            out!("\nwrote {}\n", path.display());
        }
    }

    fn print_one(&self, found: &Lyapunov) {
        let block = found.time / found.blocks as f64;
        let impacts = match found.impacts {
            0 => "no impact".to_string(),
            n if n == found.blocks => "one impact in each".to_string(),
            n => format!("{} impacts in each", number(n as f64 / found.blocks as f64, 6)),
        };
        out!("  {} of {}, {impacts}\n\n", count(found.blocks as u64, "period"), number(block, 8));
        for (k, e) in found.exponents.iter().enumerate() {
            out!("  λ{}  {}\n", k + 1, shown(e));
        }
        out!("\n  sum {}\n", sum(found));
        out!("  Kaplan–Yorke dimension {}\n\n", number(found.kaplan_yorke(), 6));
        let lost = found.exponents.iter().filter(|e| e.value == f64::NEG_INFINITY).count();
        let mut sentence = match &found.repeats {
            Some((n, multipliers)) => {
                let each = multipliers.iter().map(complex).collect::<Vec<_>>().join(", ");
                let period = if *n == 1 { "a period".to_string() } else { format!("{n} periods") };
                let on = match self.advanced(found).as_slice() {
                    [] => String::new(),
                    all => {
                        let each = all.iter().map(|(name, by)| format!("{} in {}", number(*by, 8), printable(name)));
                        format!(", further on by {}", each.collect::<Vec<_>>().join(" and "))
                    }
                };
                format!(
                    "The motion repeats itself after {period}{on}: the exponents are those of its multipliers, {each}."
                )
            }
            None if found.runs_away() => {
                "The motion runs away: it grows as fast as its neighbours part. That is no chaos.".into()
            }
            None if found.is_chaotic() => {
                "Chaotic: neighbours part exponentially, in the second half of the time as in the first.".into()
            }
            None if found.largest().value == f64::NEG_INFINITY => "Neighbouring motions merge in finite time.".into(),
            None => "Neither periodic nor clearly chaotic: try more --periods or a longer --transient.".into(),
        };
        if lost > 0 {
            let directions = if lost == 1 { "a direction" } else { "directions" };
            sentence += &format!(" Contact permanently removes {directions}: −∞.");
        }
        out!("{}\n", wrapped(&sentence, 0, 100));
    }

    /// The coordinates that a travelling motion advances in, and by how much.
    fn advanced(&self, found: &Lyapunov) -> Vec<(String, f64)> {
        let far = found.advance.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let names = self.problem.model().coordinates.iter().cloned();
        names.zip(found.advance.iter().copied()).filter(|(_, by)| by.abs() > 1e-9 * far).collect()
    }

    fn print_points(&self) {
        let n = self.outcomes.iter().flatten().flatten().map(|l| l.exponents.len()).max().unwrap_or(0);
        let heads: String = self.names.iter().map(|name| format!("{:>12}", printable(name))).collect();
        let lambdas: String = (1..=n).map(|k| format!("{:>32}", format!("λ{k}"))).collect();
        out!("  {DIM}{heads}{lambdas}{:>10}  {DIM:#}\n", "D");
        for (point, outcome) in self.points.iter().zip(self.outcomes) {
            let values: String = point.values.iter().map(|x| format!("{:>12}", number(*x, 8))).collect();
            match outcome {
                Some(Ok(found)) => {
                    let each: String = found.exponents.iter().map(|e| format!("{:>32}", shown(e))).collect();
                    out!("  {values}{each}{:>10}  {}\n", number(found.kaplan_yorke(), 4), kind(found));
                }
                Some(Err(why)) => out!("  {values}  {}\n", printable(why)),
                None => out!("  {values}  not run: interrupted\n"),
            }
        }
    }

    pub fn json(&self) {
        let model = self.problem.model();
        if self.names.is_empty() {
            let mut object = match self.outcomes.first() {
                Some(Some(Ok(found))) => self.of(found),
                _ => json!({ "error": { "message": "interrupted" } }),
            };
            object["title"] = json!(model.title);
            return print_json(&object);
        }
        let rows: Vec<Value> = self
            .points
            .iter()
            .zip(self.outcomes)
            .map(|(point, outcome)| {
                let mut row = match outcome {
                    Some(Ok(found)) => self.of(found),
                    Some(Err(why)) => json!({ "error": { "message": why } }),
                    None => json!({ "error": { "message": "interrupted" } }),
                };
                for (name, x) in self.names.iter().zip(&point.values) {
                    row["at"][name] = json!(x);
                }
                row
            })
            .collect();
        let mut object = json!({ "title": model.title, "over": self.names, "points": rows });
        if let Some(n) = self.scalar {
            object["scalar_share"] = json!(n as f64 / self.points.len().max(1) as f64);
        }
        if let Some(on_gpu) = &self.on_gpu {
            object["gpu"] = on_gpu.json();
        }
        print_json(&object);
    }

    /// (JSON has no −∞: null.)
    fn of(&self, found: &Lyapunov) -> Value {
        let exponents: Vec<Value> =
            found.exponents.iter().map(|e| json!({ "value": finite(e.value), "error": finite(e.error) })).collect();
        let advance: serde_json::Map<_, _> =
            self.advanced(found).into_iter().map(|(name, by)| (name, json!(by))).collect();
        json!({
            "exponents": exponents, "sum": finite(found.sum()), "dimension": found.kaplan_yorke(), "kind": kind(found),
            "time": found.time, "periods": found.blocks, "impacts": found.impacts,
            "multipliers": found.repeats.as_ref().map(|(_, m)| m.iter().map(|z| [z.0, z.1]).collect::<Vec<_>>()),
            "repeats_after": found.repeats.as_ref().map(|(n, _)| n), "advance": advance,
        })
    }

    /// Whether points were not run.
    pub fn is_partial(&self) -> bool {
        self.outcomes.iter().any(Option::is_none)
    }

    pub fn write(&self, file: &mut dyn Write) -> std::io::Result<()> {
        let n = self.outcomes.iter().flatten().flatten().map(|l| l.exponents.len()).max().unwrap_or(0);
        let lambdas = (1..=n).flat_map(|k| [format!("exponent_{k}"), format!("error_{k}")]);
        let heads: Vec<String> = self.names.iter().cloned().chain(lambdas).collect();
        writeln!(file, "{}", heads.iter().map(String::as_str).chain([ENDING]).collect::<Vec<_>>().join(","))?;
        for (point, outcome) in self.points.iter().zip(self.outcomes) {
            let mut cells: Vec<String> = point.values.iter().map(|x| format!("{x:?}")).collect();
            let found = outcome.as_ref().and_then(|o| o.as_ref().ok());
            for k in 0..n {
                let e = found.and_then(|l| l.exponents.get(k));
                cells.extend([
                    e.map_or("nan".into(), |e| format!("{:?}", e.value)),
                    e.map_or("nan".into(), |e| format!("{:?}", e.error)),
                ]);
            }
            match found {
                Some(l) => {
                    let impacts = l.impacts as f64 / l.blocks as f64;
                    writeln!(file, "{},{:?},{impacts:?},{}", cells.join(","), l.kaplan_yorke(), kind(l))?;
                }
                None => {
                    let kind = if outcome.is_none() { NOT_RUN } else { ",none" };
                    cells.extend(["nan".to_string(), "nan".to_string()]);
                    writeln!(file, "{}{kind}", cells.join(","))?;
                }
            }
        }
        Ok(())
    }
}

fn sum(found: &Lyapunov) -> String {
    let sum = found.sum();
    if sum == f64::NEG_INFINITY { "−∞".into() } else { number(sum, 10) }
}

pub fn complex(z: &(f64, f64)) -> String {
    match z.1 == 0.0 {
        true => number(z.0, 10),
        false => format!("{} {} {}i", number(z.0, 10), if z.1 < 0.0 { "-" } else { "+" }, number(z.1.abs(), 10)),
    }
}

fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}
