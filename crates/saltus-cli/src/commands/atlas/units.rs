//! Units of the columns of a family's tables.

use saltus::Model;

/// The unit of a column; empty where the model gives none, or where none is known.
pub fn unit(model: &Model, name: &str) -> String {
    let units = &model.units;
    let bare = name.strip_prefix("start_").unwrap_or(name);
    if let Some(stem) = bare.strip_suffix('\'') {
        return model.coordinates.iter().position(|c| c == stem).map(|i| units.velocity(i)).unwrap_or_default();
    }
    if let Some(i) = model.coordinates.iter().position(|c| c == bare) {
        return units.position(i).to_string();
    }
    if let Some(i) = model.states.iter().position(|s| s.name == bare) {
        return units.states.get(i).cloned().unwrap_or_default();
    }
    // Least and largest value, mean and root mean square have the unit of what they are of.
    let inner = ["min(", "max(", "mean(", "rms("].iter().find_map(|f| name.strip_prefix(f)?.strip_suffix(')'));
    match (name, inner) {
        (_, Some(inner)) => unit(model, inner),
        ("t", _) => units.time.clone(),
        ("impulse", _) => units.impulse.clone(),
        ("violation", _) => units.length.clone(),
        ("speed", _) if units.time.is_empty() => String::new(),
        ("speed", _) if units.length.is_empty() => match unit_of_gaps(model) {
            Some(unit) => format!("{unit}/{}", units.time),
            None => String::new(),
        },
        ("speed", _) => format!("{}/{}", units.length, units.time),
        _ => units.parameter(name).to_string(),
    }
}

/// The unit of all gaps, where it follows from coordinates: gaps that grow as fast as these do, like `s - x`.
fn unit_of_gaps(model: &Model) -> Option<&str> {
    let mut graph = model.graph.clone();
    let mut found: Option<&str> = None;
    for constraint in &model.constraints {
        for (i, &q) in model.q.iter().enumerate().take(model.degrees()) {
            let slope = graph.derivative(constraint.gap, q);
            if graph.is_zero(slope) {
                continue;
            }
            let own = model.units.position(i);
            let grows = graph.value(slope).is_some_and(|slope| slope.abs() == 1.0);
            if !grows || own.is_empty() || found.is_some_and(|unit| unit != own) {
                return None;
            }
            found = Some(own);
        }
    }
    found
}
