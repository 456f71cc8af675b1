//! `saltus run --sensitivity p`: how the end of the run depends on a parameter or on its start.

use crate::setup::Ready;
use crate::text::{BOLD, DIM, number, out, printable};
use saltus::analysis::{NoMap, PhaseSpace, Sensitivity, sensitivity};
use saltus::{Options, Problem, SetupError};
use saltus_io::FamilyText;

/// Makes the run again with derivatives by these names, of its state and of these expressions.
pub fn of(ready: &Ready, options: &Options, by: &[String], of: &[String]) -> Result<Found, crate::setup::Refusal> {
    let Some(plain) = ready.opened.system.as_problem() else {
        let error = SetupError::new("derivatives of the motion are not supported for structures")
            .help("a small structure can be written with coordinates and energies: docs/model-files.md");
        return Err(error.into());
    };
    let model = plain.model();
    let open = by.iter().filter(|name| model.parameter(name).is_some()).cloned().collect();
    let more = FamilyText { open, quantities: of.to_vec(), ..FamilyText::default() };
    let problem = Problem::unchecked(ready.file.family(&ready.changes, &more)?)?;
    let mut start = ready.start().clone();
    start.parameters = problem.start().parameters;
    let is_own = ready.own_start && ready.assembled.is_none();
    let names: Vec<&str> = by.iter().map(String::as_str).collect();
    let options = options.clone().keep(saltus::Keep::NOTHING);
    let mut labels = PhaseSpace::of(&problem).names().to_vec();
    labels.extend(of.iter().cloned());
    match sensitivity(&problem, &start, is_own, &names, &options) {
        Ok(all) => Ok(Found { all, labels }),
        Err(NoMap::Setup(error)) => Err(error.into()),
        Err(NoMap::Obstacle(obstacle)) => Err(SetupError::new(obstacle.to_string())
            .help("end the run before that, or change what happens there")
            .into()),
        Err(other) => Err(SetupError::new(other.to_string()).into()),
    }
}

/// The derivatives, with the names of what they are of.
pub struct Found {
    all: Sensitivity,
    labels: Vec<String>,
}

impl Found {
    pub fn print(&self) {
        out!("\n{BOLD}derivatives at t = {}{BOLD:#}\n", number(self.all.t, 8));
        let width = self.labels.iter().map(|l| l.chars().count()).max().unwrap_or(0).max(2);
        let heads: Vec<String> =
            self.all.by.iter().map(|p| format!("{:>18}", format!("d/d{}", printable(p)))).collect();
        out!("  {DIM}{:width$}  {:>18}{}{DIM:#}\n", "", "value", heads.join(""));
        for (k, label) in self.labels.iter().enumerate() {
            let row: String = self.all.derivatives.iter().map(|d| format!("{:>18}", number(d[k], 10))).collect();
            out!("  {:width$}  {:>18}{row}\n", printable(label), number(self.all.values[k], 10));
        }
    }

    pub fn json(&self) -> serde_json::Value {
        let of = |d: &Vec<f64>| self.labels.iter().cloned().zip(d.iter().map(|x| serde_json::json!(x))).collect();
        let by = self.all.by.iter().zip(&self.all.derivatives);
        let by: serde_json::Map<String, serde_json::Value> =
            by.map(|(name, d)| (name.clone(), serde_json::Value::Object(of(d)))).collect();
        serde_json::json!({ "t": self.all.t, "values": serde_json::Value::Object(of(&self.all.values)), "by": by })
    }
}
