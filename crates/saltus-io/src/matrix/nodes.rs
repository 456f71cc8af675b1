//! Where the nodes of a mesh are, and which degrees of freedom move them: what is needed to draw matrices.

use super::{LIMIT, text, whole};
use crate::FileError;
use crate::lines::Source;
use saltus::structure::DrawnNode;
use std::path::Path;

/// More nodes than this are not drawn: then every second one, or every third, and so on.
const MOST: usize = 4000;

/// Reads a text with a line for each node: `x y` and the numbers of the degrees of freedom that move it along x and y, or `x y z` and
/// three of them; 0 where it is held. Commas and blanks separate; comments after `#`. `n`: how many degrees of freedom there are.
///
/// # Errors
/// What is wrong with the file, and where.
pub fn nodes(path: &Path, n: usize) -> Result<Vec<DrawnNode>, FileError> {
    let source = Source::open(path, "file of nodes", LIMIT)?;
    let mut found: Vec<(Vec<f64>, Vec<Option<usize>>)> = Vec::new();
    let what = "the file of nodes";
    for line in source.written() {
        let comment = line.text.find('#').map_or(usize::MAX, |at| line.start + at);
        let fields: Vec<_> = line.fields().take_while(|(span, _)| span.start < comment).collect();
        if fields.is_empty() {
            continue;
        }
        let expected = found.first().map_or(fields.len(), |(at, _)| 2 * at.len());
        if fields.len() != expected || ![4, 6].contains(&fields.len()) {
            let message = format!("a line of {what} has {} numbers", fields.len());
            let help =
                "in the plane x, y and two degrees of freedom, in space x, y, z and three; 0 where a node is held";
            return Err(source.fail(line.span(), message, "not four and not six, or not as the first line", help));
        }
        let half = fields.len() / 2;
        let at = fields[..half].iter().map(|f| text::value(&source, f.clone(), what)).collect::<Result<Vec<_>, _>>()?;
        let mut dofs = Vec::with_capacity(half);
        for (span, field) in &fields[half..] {
            dofs.push(match field.parse::<usize>() {
                Ok(0) => None,
                Ok(k) if k <= n => Some(k - 1),
                _ => {
                    let message = format!("`{field}` in {what} is no degree of freedom");
                    let help = format!("degrees of freedom count from 1 to {n}; 0 where a node is held");
                    return Err(source.fail(span.clone(), message, "not one of them", &help));
                }
            });
        }
        found.push((at, dofs));
    }
    if found.iter().any(|(at, _)| at.iter().any(|x| !x.is_finite())) || found.is_empty() {
        return Err(whole(path, format!("{what} has no finite positions"), "write a line for each node"));
    }
    let view = view(&found);
    // A picture needs no more.
    let stride = found.len().div_ceil(MOST);
    Ok(found.into_iter().step_by(stride).map(|(at, dofs)| seen(&view, &at, &dofs)).collect())
}

/// The two directions of the picture: the plane in which the nodes lie, or from the side and above.
fn view(nodes: &[(Vec<f64>, Vec<Option<usize>>)]) -> [Vec<f64>; 2] {
    let dimension = nodes[0].0.len();
    let is_flat = |k: usize| nodes.iter().all(|(at, _)| at[k] == nodes[0].0[k]);
    let unit = |k: usize| (0..dimension).map(|i| f64::from(u8::from(i == k))).collect::<Vec<f64>>();
    match dimension {
        3 if is_flat(2) => [unit(0), unit(1)],
        3 if is_flat(1) => [unit(0), unit(2)],
        3 if is_flat(0) => [unit(1), unit(2)],
        3 => [vec![0.87, -0.5, 0.0], vec![0.25, 0.43, 0.87]],
        _ => [unit(0), unit(1)],
    }
}

fn seen(view: &[Vec<f64>; 2], at: &[f64], dofs: &[Option<usize>]) -> DrawnNode {
    let place = |k: usize| view[k].iter().zip(at).map(|(v, x)| v * x).sum();
    let moved = |k: usize| {
        let terms = view[k].iter().zip(dofs).filter(|(v, _)| **v != 0.0);
        terms.filter_map(|(v, dof)| Some(((*dof)?, *v))).collect()
    };
    DrawnNode { at: [place(0), place(1)], moves: [moved(0), moved(1)] }
}
