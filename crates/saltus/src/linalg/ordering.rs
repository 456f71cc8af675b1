//! The order of degrees of freedom: with a small profile, reverse Cuthill–McKee (Cuthill & McKee 1969, George 1971); with little fill,
//! nested dissection down to small parts and minimum degree in them, for meshes in two and three dimensions.

use super::dissection::{Graph, dissected};
use super::sparse::{column_counts, elimination_tree};
use super::{Symmetric, WIDEST};

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

/// An order in which the degrees of freedom of a structure are solved.
pub(crate) struct SolverOrder {
    /// Entry k is the old index of the new k.
    pub order: Vec<usize>,
    /// The entries of its factor, where that is sparse and not a profile.
    pub sparse: Option<f64>,
}

/// A profile narrower on average than this times √n is that of something long and thin.
const THIN: f64 = 0.7;

/// A sparse factor is worth it where it has fewer entries than this part of a profile.
const WORTH: f64 = 0.8;

/// The order for a sum of matrices with these patterns: one with a small profile, or one with little fill where that is much less.
pub(crate) fn solver_order(patterns: &[&Symmetric]) -> SolverOrder {
    let order = small_profile(patterns);
    let terms: Vec<(f64, &Symmetric)> = patterns.iter().map(|a| (1.0, *a)).collect();
    let union = Symmetric::pattern(&terms).reordered(&order);
    let profile = profile(&union);
    // A long and thin mesh (a tower, a tube) has no better order than along its length.
    let n = union.dimension() as f64;
    if union.half_bandwidth() <= WIDEST || profile < THIN * n * n.sqrt() {
        return SolverOrder { order, sparse: None };
    }
    let own = fill_reducing(&[&union]);
    let sparse = union.reordered(&own);
    let counts = column_counts(&sparse, &elimination_tree(&sparse), WORTH * profile);
    match counts {
        None => SolverOrder { order, sparse: None },
        Some(counts) => SolverOrder {
            order: own.iter().map(|&k| order[k]).collect(),
            sparse: Some(counts.iter().sum::<usize>() as f64),
        },
    }
}

/// Entries between the first of each row and the diagonal.
fn profile(a: &Symmetric) -> f64 {
    let first = |i: usize| a.row(i).next().map_or(i, |(j, _)| j.min(i));
    (0..a.dimension()).map(|i| (i - first(i)) as f64).sum()
}

/// The entries of the factor of a matrix in the order of its rows, as [`Symmetric::factor`] will store them; and whether it is sparse.
pub(crate) fn factor_entries(a: &Symmetric) -> (f64, bool) {
    let profile = profile(a);
    if a.half_bandwidth() <= WIDEST {
        return (profile, false);
    }
    match column_counts(a, &elimination_tree(a), WORTH * profile) {
        Some(counts) => (counts.iter().sum::<usize>() as f64, true),
        None => (profile, false),
    }
}

/// An order for a sum of matrices with these patterns in which a sparse factor has few entries: entry k is the old index of the new k.
///
/// ```
/// use saltus::linalg::{Symmetric, fill_reducing};
/// // A star: eliminated first, its centre would fill everything.
/// let mut entries: Vec<_> = (0..9).map(|i| (i, i, 9.0)).collect();
/// for i in 1..9 {
///     entries.extend([(0, i, -1.0), (i, 0, -1.0)]);
/// }
/// let order = fill_reducing(&[&Symmetric::new(9, entries)]);
/// assert!(order.iter().position(|&i| i == 0) >= Some(7));
/// ```
pub fn fill_reducing(patterns: &[&Symmetric]) -> Vec<usize> {
    let terms: Vec<(f64, &Symmetric)> = patterns.iter().map(|a| (1.0, *a)).collect();
    let union = Symmetric::pattern(&terms);
    let (graph, members) = compressed(&union);
    let order = dissected(&graph, &minimum_degree);
    let order: Vec<usize> = order.into_iter().flat_map(|node| members[node].iter().copied()).collect();
    // Children before parents, one subtree after the other: columns of one pattern are neighbours.
    let parent = elimination_tree(&union.reordered(&order));
    postorder(&parent).into_iter().map(|k| order[k]).collect()
}

/// The graph of a matrix in which rows with one pattern (the degrees of freedom of a node) are one, and those rows.
fn compressed(pattern: &Symmetric) -> (Graph, Vec<Vec<usize>>) {
    let n = pattern.dimension();
    let mut groups: std::collections::HashMap<Vec<usize>, usize> = std::collections::HashMap::new();
    let (mut members, mut of) = (Vec::<Vec<usize>>::new(), vec![0; n]);
    for i in 0..n {
        let row: Vec<usize> = pattern.row(i).map(|(j, _)| j).collect();
        let next = members.len();
        let group = *groups.entry(row).or_insert(next);
        if group == next {
            members.push(Vec::new());
        }
        members[group].push(i);
        of[i] = group;
    }
    let mut graph = Graph { starts: vec![0], ..Graph::default() };
    let mut seen = vec![usize::MAX; members.len()];
    for (g, rows) in members.iter().enumerate() {
        for other in pattern.row(rows[0]).map(|(j, _)| of[j]) {
            if other != g && seen[other] != g {
                seen[other] = g;
                graph.neighbours.push(other as u32);
                graph.edges.push((rows.len() * members[other].len()) as u32);
            }
        }
        graph.starts.push(graph.neighbours.len());
        graph.weights.push(rows.len() as u32);
    }
    (graph, members)
}

/// Minimum degree (Tinney & Walker 1967) on a graph of few nodes; a larger one is left as it is.
fn minimum_degree(graph: &Graph) -> Vec<usize> {
    let n = graph.len();
    if n > u128::BITS as usize {
        return (0..n).collect();
    }
    let mut around: Vec<u128> = (0..n)
        .map(|v| graph.neighbours[graph.starts[v]..graph.starts[v + 1]].iter().fold(0, |set, &u| set | 1 << u))
        .collect();
    let each = |mut set: u128| {
        std::iter::from_fn(move || {
            (set != 0).then(|| {
                let u = set.trailing_zeros() as usize;
                set &= set - 1;
                u
            })
        })
    };
    let (mut left, mut order): (Vec<usize>, Vec<usize>) = ((0..n).collect(), Vec::with_capacity(n));
    while !left.is_empty() {
        let degree = |v: usize| each(around[v]).map(|u| graph.weights[u]).sum::<u32>();
        let at = (0..left.len()).min_by_key(|&k| (degree(left[k]), left[k])).unwrap_or(0);
        let v = left.swap_remove(at);
        order.push(v);
        // Its neighbours become neighbours of each other.
        let own = around[v];
        each(own).for_each(|u| around[u] = (around[u] | own) & !(1 << v) & !(1 << u));
    }
    order
}

/// The nodes of a forest, each after all of its children.
fn postorder(parent: &[usize]) -> Vec<usize> {
    let n = parent.len();
    let (mut first, mut next) = (vec![n; n + 1], vec![n; n]);
    for k in (0..n).rev() {
        let p = parent[k].min(n);
        (next[k], first[p]) = (first[p], k);
    }
    let (mut order, mut stack) = (Vec::with_capacity(n), Vec::new());
    let mut root = first[n];
    while root < n {
        stack.push(root);
        while let Some(&k) = stack.last() {
            match first[k] {
                child if child < n => {
                    first[k] = next[child];
                    stack.push(child);
                }
                _ => {
                    order.push(k);
                    stack.pop();
                }
            }
        }
        root = next[root];
    }
    order
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
