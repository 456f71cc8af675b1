//! How a structure looks in a report: its parts deflected, its stops where they are, all magnified alike.

use saltus::structure::{Hole, Layout, Location, Part, Place};
use saltus::{Run, Side, Structure};
use saltus_report::Shape;

/// More lines between nodes than this are not drawn: dots show enough.
const MOST_LINES: usize = 4000;

/// Where something is in the picture at rest, and the direction in which a displacement of one moves it.
#[derive(Clone, Copy)]
struct Spot {
    at: [f64; 2],
    along: [f64; 2],
}

/// The parts and stops of a structure at the stored instants.
pub fn shapes(structure: &Structure, run: &Run) -> Vec<Shape> {
    let parts = structure.parts();
    let size = parts.iter().map(extent).fold(0.0, f64::max);
    let largest = run.shapes.iter().flat_map(|(_, u)| u).fold(0.0_f64, |m, u| m.max(u.abs()));
    if !(size > 0.0 && largest > 0.0) {
        return Vec::new();
    }
    // Magnified to a sixth of the size, by a round factor, which is easier to read.
    let wanted = size / 6.0 / largest;
    let power = 10f64.powf(wanted.log10().floor());
    let factor = [5.0, 2.0, 1.0].into_iter().map(|x| x * power).find(|x| *x <= wanted).unwrap_or(power);
    let slopes = structure.stop_slopes();
    let offsets = offsets(structure, &slopes, factor, size);
    let t: Vec<f64> = run.shapes.iter().map(|(t, _)| *t).collect();
    let mut drawn = Vec::new();
    let mut at = 0;
    for (part, offset) in parts.iter().zip(&offsets) {
        let count = part.outline().len();
        let range = at..at + count;
        at = range.end;
        if count == 0 {
            continue;
        }
        let frames: Vec<&[f64]> = run.shapes.iter().map(|(_, u)| &u[range.clone()]).collect();
        drawn.push(body(part, *offset, &t, &frames, factor));
    }
    if parts.iter().any(|p| matches!(p.layout, Layout::Floors)) {
        drawn.push(ground(&offsets, size));
    }
    drawn.extend(stops(structure, run, &slopes, &offsets, factor, size));
    drawn
}

/// The size of a part in the picture.
fn extent(part: &Part) -> f64 {
    match &part.layout {
        Layout::Line { nodes, .. } => nodes.iter().fold(0.0_f64, |m, x| m.max(x.abs())),
        Layout::Floors => part.dimension() as f64,
        Layout::Matrices { nodes, .. } => {
            let range = |k: usize| {
                let (low, high) =
                    nodes.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), n| (l.min(n.at[k]), h.max(n.at[k])));
                if high >= low { high - low } else { 0.0 }
            };
            range(0).max(range(1))
        }
    }
}

/// Where the parts stand: beams one above the other; buildings side by side, at the distance at which they touch when they do.
fn offsets(structure: &Structure, slopes: &[Vec<(usize, f64)>], factor: f64, size: f64) -> Vec<[f64; 2]> {
    let parts = structure.parts();
    let mut signals = structure.signals();
    signals.evaluate(0.0);
    let mut placed: Vec<[f64; 2]> = Vec::with_capacity(parts.len());
    for (k, part) in parts.iter().enumerate() {
        if !matches!(part.layout, Layout::Floors) {
            placed.push([0.0, -0.5 * size * k as f64]);
            continue;
        }
        // The nearest stop between this building and one that stands already.
        let mut best: Option<(f64, f64)> = None;
        for (a, terms) in slopes.iter().enumerate() {
            let [(p, s), (q, r)] = terms[..] else { continue };
            let place = |p: usize| structure.places().get(p).map(|l| l.part);
            let (mine, other, slope) = match (place(p), place(q)) {
                (Some(i), Some(j)) if i == k && j < k => (i, j, s),
                (Some(i), Some(j)) if j == k && i < k => (j, i, r),
                _ => continue,
            };
            let gap = signals.offsets[a] / slope.abs();
            if mine == k && matches!(parts[other].layout, Layout::Floors) && best.is_none_or(|b| gap < b.0) {
                // It opens when this one moves to the side of its slope.
                best = Some((gap, placed[other][0] + slope.signum() * factor * gap));
            }
        }
        let rightmost = placed.iter().map(|o| o[0]).fold(f64::NEG_INFINITY, f64::max);
        let free = if placed.is_empty() { 0.0 } else { rightmost + 0.5 * size };
        placed.push([best.map_or(free, |b| b.1), 0.0]);
    }
    placed
}

fn body(part: &Part, offset: [f64; 2], t: &[f64], frames: &[&[f64]], factor: f64) -> Shape {
    let outline: Vec<f64> = part.outline().into_iter().map(|(x, _)| x).collect();
    let name = if part.name.is_empty() { part.what.clone() } else { part.name.clone() };
    let moved = |u: &[f64], at: f64| -> Vec<f64> { u.iter().map(|u| at + factor * u).collect() };
    let shape = Shape { name, t: t.to_vec(), factor, ..Shape::default() };
    match &part.layout {
        Layout::Line { .. } => Shape {
            x: vec![outline.iter().map(|x| offset[0] + x).collect()],
            y: frames.iter().map(|u| moved(u, offset[1])).collect(),
            ..shape
        },
        Layout::Floors => {
            Shape { x: frames.iter().map(|u| moved(u, offset[0])).collect(), y: vec![outline], has_dots: true, ..shape }
        }
        Layout::Matrices { nodes, .. } => {
            let axis = |u: &[f64], k: usize| -> Vec<f64> {
                nodes.iter().enumerate().map(|(i, n)| offset[k] + n.at[k] + factor * u[2 * i + k]).collect()
            };
            let lines = lines(part);
            Shape {
                x: frames.iter().map(|u| axis(u, 0)).collect(),
                y: frames.iter().map(|u| axis(u, 1)).collect(),
                has_dots: lines.len() < MOST_LINES / 4 || lines.is_empty(),
                lines: Some(lines),
                ..shape
            }
        }
    }
}

/// Nodes that K couples; none where they are too many.
fn lines(part: &Part) -> Vec<[usize; 2]> {
    let Layout::Matrices { nodes, .. } = &part.layout else { return Vec::new() };
    let mut of = vec![usize::MAX; part.dimension()];
    for (k, node) in nodes.iter().enumerate() {
        node.moves.iter().flatten().for_each(|(dof, _)| of[*dof] = k);
    }
    let mut pairs: Vec<[usize; 2]> = part
        .stiffness
        .entries()
        .filter(|&(i, j, x)| i < j && x != 0.0 && of[i] != of[j] && of[i].max(of[j]) < nodes.len())
        .map(|(i, j, _)| [of[i].min(of[j]), of[i].max(of[j])])
        .collect();
    // A held node has no entries in K: it is joined to the nearest one that moves.
    let moves = |k: &usize| nodes[*k].moves.iter().any(|m| !m.is_empty());
    let far = |a: usize, b: usize| (nodes[a].at[0] - nodes[b].at[0]).hypot(nodes[a].at[1] - nodes[b].at[1]);
    if nodes.len() < MOST_LINES / 4 {
        for held in (0..nodes.len()).filter(|k| !moves(k)) {
            let nearest = (0..nodes.len()).filter(moves).min_by(|&a, &b| far(held, a).total_cmp(&far(held, b)));
            pairs.extend(nearest.map(|other| [held.min(other), held.max(other)]));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.len() > MOST_LINES { Vec::new() } else { pairs }
}

/// What buildings stand on.
fn ground(offsets: &[[f64; 2]], size: f64) -> Shape {
    let (low, high) = offsets.iter().fold((0.0_f64, 0.0_f64), |(l, h), o| (l.min(o[0]), h.max(o[0])));
    Shape {
        name: "ground".into(),
        x: vec![vec![low - 0.3 * size, high + 0.3 * size]],
        y: vec![vec![0.0, 0.0]],
        is_wall: true,
        factor: 1.0,
        ..Shape::default()
    }
}

/// Where a point is drawn.
fn spot(structure: &Structure, offsets: &[[f64; 2]], location: &Location) -> Option<Spot> {
    let part = structure.parts().get(location.part)?;
    let offset = offsets.get(location.part)?;
    let straight = |at: [f64; 2], along: [f64; 2]| Some(Spot { at: [offset[0] + at[0], offset[1] + at[1]], along });
    match (&part.layout, &location.place) {
        (Layout::Line { .. }, Place::X(x)) => straight([*x, 0.0], [0.0, 1.0]),
        (Layout::Line { .. }, Place::Span(from, to)) => straight([0.5 * (from + to), 0.0], [0.0, 1.0]),
        (Layout::Line { nodes, values, .. }, Place::Dof(k)) => {
            let node = values.iter().position(|v| v.map(|i| i + 1) == Some(*k))?;
            straight([nodes[node], 0.0], [0.0, 1.0])
        }
        (Layout::Floors, Place::Floor(k) | Place::Dof(k)) => straight([0.0, *k as f64], [1.0, 0.0]),
        (Layout::Matrices { nodes, .. }, Place::Dof(k)) => nodes.iter().find_map(|node| {
            let share = |axis: usize| node.moves[axis].iter().find(|(dof, _)| dof + 1 == *k).map_or(0.0, |m| m.1);
            let along = [share(0), share(1)];
            if along == [0.0, 0.0] { None } else { straight(node.at, along) }
        }),
        _ => None,
    }
}

/// A bar where each stop lets its point come to: that of a moving wall, or of another part, moves.
fn stops(
    structure: &Structure,
    run: &Run,
    slopes: &[Vec<(usize, f64)>],
    offsets: &[[f64; 2]],
    factor: f64,
    size: f64,
) -> Vec<Shape> {
    let mut signals = structure.signals();
    let times: Vec<f64> = run.shapes.iter().map(|(t, _)| *t).collect();
    let mut bars = Vec::new();
    for (a, terms) in slopes.iter().enumerate() {
        if let Some(hole) = &structure.laws()[a].hole {
            signals.evaluate(run.start.t);
            let radius = signals.offsets[a] + hole.eccentricity();
            bars.extend(round(structure, a, hole, radius, offsets, factor, size));
            continue;
        }
        let found =
            terms.iter().find_map(|&(p, s)| Some((p, s, spot(structure, offsets, structure.places().get(p)?)?)));
        let Some((point, slope, spot)) = found.filter(|(_, s, _)| *s != 0.0) else { continue };
        let is_fixed = terms.len() == 1 && !structure.model().is_moving(a);
        let is_floor = spot.along == [1.0, 0.0] && matches!(structure.places()[point].place, Place::Floor(_));
        let half = if is_floor { 0.3 } else { 0.02 * size };
        let length = spot.along[0].hypot(spot.along[1]).max(1e-300);
        let across = [spot.along[1] / length * half, -spot.along[0] / length * half];
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for &t in times.iter().take(if is_fixed { 1 } else { usize::MAX }) {
            signals.evaluate(t);
            let others: f64 = match run.trajectory.at(t, Side::Right) {
                Some((q, _)) => terms.iter().filter(|(p, _)| *p != point).map(|&(p, s)| s * q[p]).sum(),
                None => 0.0,
            };
            let reach = -factor * (signals.offsets[a] + others) / slope;
            let centre = |k: usize| spot.at[k] + reach * spot.along[k];
            x.push(vec![centre(0) - across[0], centre(0) + across[0]]);
            y.push(vec![centre(1) - across[1], centre(1) + across[1]]);
        }
        let t = if is_fixed { Vec::new() } else { times.clone() };
        let name = structure.model().constraints[a].name.clone();
        bars.push(Shape { name, t, x, y, is_wall: true, stop: Some(a), factor: 1.0, ..Shape::default() });
    }
    bars
}

/// A round hole: a circle around a node that is drawn in both of its directions, else the bars between which it is seen from the side.
fn round(
    structure: &Structure,
    a: usize,
    hole: &Hole,
    radius: f64,
    offsets: &[[f64; 2]],
    factor: f64,
    size: f64,
) -> Vec<Shape> {
    let spots = hole.points.map(|p| spot(structure, offsets, structure.places().get(p)?));
    let name = structure.model().constraints[a].name.clone();
    let shape = |x: Vec<f64>, y: Vec<f64>| Shape {
        name: name.clone(),
        x: vec![x],
        y: vec![y],
        is_wall: true,
        stop: Some(a),
        factor: 1.0,
        ..Shape::default()
    };
    match spots {
        // Both directions are in the plane of the picture.
        [Some(one), Some(two)] if one.at == two.at && one.along != two.along => {
            let corner = |k: usize| {
                let (sin, cos) = (k as f64 * std::f64::consts::TAU / 48.0).sin_cos();
                let (y, z) = (factor * (hole.centre[0] + radius * cos), factor * (hole.centre[1] + radius * sin));
                [0, 1].map(|i| one.at[i] + y * one.along[i] + z * two.along[i])
            };
            let (x, y) = (0..=48).map(corner).map(|[x, y]| (x, y)).unzip();
            vec![shape(x, y)]
        }
        _ => {
            let sides = spots.into_iter().zip(hole.centre).filter_map(|(spot, centre)| Some((spot?, centre)));
            sides
                .flat_map(|(spot, centre)| {
                    let length = spot.along[0].hypot(spot.along[1]).max(1e-300);
                    let across = [spot.along[1], -spot.along[0]].map(|x| 0.02 * size * x / length);
                    [-radius, radius].map(|side| {
                        let middle = [0, 1].map(|i| spot.at[i] + factor * (centre + side) * spot.along[i]);
                        shape(
                            vec![middle[0] - across[0], middle[0] + across[0]],
                            vec![middle[1] - across[1], middle[1] + across[1]],
                        )
                    })
                })
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::structure::beam::Section;
    use saltus::structure::{Beam, Builder, InitialState, bar};
    use saltus::{Keep, Options};

    #[test]
    fn buildings_stand_and_touch_where_they_hit() {
        let mut made = Builder::new("two buildings");
        let a = made.part(bar::building(&[1.0, 1.0], &[400.0, 400.0]));
        let b = made.part(bar::building(&[2.0, 2.0], &[900.0, 900.0]));
        let (left, right) = (made.point("left", a.floor(2)), made.point("right", b.floor(2)));
        made.stop("joint", format!("0.02 + {} - {}", right.name(), left.name()), 0.0);
        made.start(InitialState { velocity: 0.5, ..InitialState::default() });
        let structure = made.build().expect("a structure");
        let run = structure
            .run(&Options::steps("paoli-schatzman", 1e-3).until(2.0).keep(Keep::ALL | Keep::SHAPES))
            .expect("runs");
        assert!(!run.touches.is_empty());
        let shapes = shapes(&structure, &run);
        let [a, b, ground, joint] = &shapes[..] else { panic!("{} shapes", shapes.len()) };
        // Upright: floors are levels, and move sideways.
        assert_eq!((&a.y, &b.y), (&vec![vec![0.0, 1.0, 2.0]], &vec![vec![0.0, 1.0, 2.0]]));
        assert!(ground.is_wall && joint.stop == Some(0));
        let distance: Vec<f64> = a.x.iter().zip(&b.x).map(|(a, b)| b[2] - a[2]).collect();
        let least = distance.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        assert!(least.abs() < 1e-9 * a.factor, "they come as near as {least}");
        assert!((b.x[0][0] - a.x[0][0] - 0.02 * a.factor).abs() < 1e-12);
        // The bar of the stop rides on the other building.
        for (bar, b) in joint.x.iter().zip(&b.x) {
            assert!((0.5 * (bar[0] + bar[1]) - b[2]).abs() < 1e-9 * a.factor, "{bar:?} {b:?}");
        }
    }

    #[test]
    fn both_sides_of_a_guide_are_bars_that_the_tube_touches() {
        let mut made = Builder::new("tube");
        let section = Section { rigidity: 5.0, mass_per_length: 1.0 };
        let beam = made.part(Beam::hermite(2.0, section, 10).clamped_free());
        let tip = made.point("tip", beam.at(2.0));
        made.force(&tip, "3*sin(4*t)");
        made.stop("above", 0.05 - &tip, 0.0);
        made.stop("below", 0.05 + &tip, 0.0);
        let structure = made.build().expect("a structure");
        let run = structure
            .run(&Options::steps("paoli-schatzman", 1e-3).until(3.0).keep(Keep::ALL | Keep::SHAPES))
            .expect("runs");
        let shapes = shapes(&structure, &run);
        let [tube, above, below] = &shapes[..] else { panic!("{} shapes", shapes.len()) };
        let far = 0.05 * tube.factor;
        assert!((above.y[0][0] - far).abs() < 1e-12 && (below.y[0][0] + far).abs() < 1e-12);
        assert!(above.t.is_empty() && above.x[0][0] < 2.0 && above.x[0][1] > 2.0);
        let highest = tube.y.iter().fold(f64::NEG_INFINITY, |m, y| m.max(y[y.len() - 1]));
        assert!((highest - far).abs() < 1e-9 * tube.factor, "{highest} {far}");
    }
}
