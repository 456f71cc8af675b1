//! The order of degrees of freedom with a small profile: reverse Cuthill–McKee (Cuthill & McKee 1969, George 1971).

use super::Symmetric;

/// An order for a sum of matrices with these patterns: entry k is the old index of the new k.
///
/// ```
/// use saltus::linalg::{Symmetric, small_profile};
/// // A chain 0 – 2 – 1 – 3 whose natural numbering jumps back and forth.
/// let mut entries: Vec<_> = (0..4).map(|i| (i, i, 2.0)).collect();
/// for (i, j) in [(0, 2), (2, 1), (1, 3)] {
///     entries.extend([(i, j, -1.0), (j, i, -1.0)]);
/// }
/// let chain = Symmetric::new(4, entries);
/// assert_eq!(chain.half_bandwidth(), 2);
/// assert_eq!(chain.reordered(&small_profile(&[&chain])).half_bandwidth(), 1);
/// ```
pub fn small_profile(patterns: &[&Symmetric]) -> Vec<usize> {
    let n = patterns.iter().map(|a| a.dimension()).max().unwrap_or(0);
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); n];
    for a in patterns {
        a.entries().filter(|&(i, j, x)| i != j && x != 0.0).for_each(|(i, j, _)| neighbours[i].push(j));
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let natural = (0..n).flat_map(|i| neighbours[i].iter().map(move |&j| i.abs_diff(j))).max().unwrap_or(0);
    let mut order = Vec::with_capacity(n);
    let mut seen = vec![false; n];
    let mut starts: Vec<usize> = (0..n).collect();
    starts.sort_by_key(|&i| neighbours[i].len());
    for start in starts {
        if !seen[start] {
            let root = far_end(start, &neighbours);
            walk(root, &neighbours, &mut seen, &mut order);
        }
    }
    order.reverse();
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(k, &old)| place[old] = k);
    let width =
        (0..n).flat_map(|i| neighbours[i].iter().map(move |&j| (i, j))).map(|(i, j)| place[i].abs_diff(place[j]));
    // The order as given, where this one is no better.
    if width.max().unwrap_or(0) >= natural { (0..n).collect() } else { order }
}

/// Breadth first, neighbours with few neighbours first.
fn walk(root: usize, neighbours: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    let mut next = order.len();
    seen[root] = true;
    order.push(root);
    while next < order.len() {
        let mut fresh: Vec<usize> = neighbours[order[next]].iter().copied().filter(|&j| !seen[j]).collect();
        fresh.sort_by_key(|&j| neighbours[j].len());
        fresh.iter().for_each(|&j| seen[j] = true);
        order.extend(fresh);
        next += 1;
    }
}

/// A node about as far from others as there is: the last one reached, twice over.
fn far_end(start: usize, neighbours: &[Vec<usize>]) -> usize {
    let mut root = start;
    for _ in 0..2 {
        let (mut seen, mut order) = (vec![false; neighbours.len()], Vec::new());
        walk(root, neighbours, &mut seen, &mut order);
        root = order.last().copied().unwrap_or(root);
    }
    root
}
