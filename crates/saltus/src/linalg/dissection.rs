//! Nested dissection (George 1973): a graph falls apart when a separator is taken out; its parts are eliminated first, the separator
//! last. Separators by multilevel bisection: heavy-edge matching, greedy growth, refinement (Karypis & Kumar 1998, SIAM J. Sci. Comput. 20, 359).

use super::Dice;
use std::collections::BinaryHeap;

/// Parts smaller than this are not divided.
const SMALL: usize = 120;
/// A graph is made coarser down to this size.
const COARSE: usize = 120;
/// The heavier half has at most this part of the weight.
const UNEVEN: f64 = 0.56;
/// Attempts to grow a half on the coarsest graph, and passes of refinement.
const ATTEMPTS: usize = 8;
const PASSES: usize = 6;

/// An undirected graph with weights of its nodes and edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub starts: Vec<usize>,
    pub neighbours: Vec<u32>,
    pub edges: Vec<u32>,
    pub weights: Vec<u32>,
}

impl Graph {
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    fn around(&self, v: usize) -> impl Iterator<Item = (usize, u32)> + '_ {
        let range = self.starts[v]..self.starts[v + 1];
        self.neighbours[range.clone()].iter().map(|&u| u as usize).zip(self.edges[range].iter().copied())
    }

    /// The graph on some of the nodes; `place` is a buffer, usize::MAX everywhere.
    fn part(&self, nodes: &[usize], place: &mut [usize]) -> Graph {
        nodes.iter().enumerate().for_each(|(k, &v)| place[v] = k);
        let mut part = Graph { starts: vec![0], ..Graph::default() };
        for &v in nodes {
            for (u, edge) in self.around(v).filter(|&(u, _)| place[u] != usize::MAX) {
                part.neighbours.push(place[u] as u32);
                part.edges.push(edge);
            }
            part.starts.push(part.neighbours.len());
            part.weights.push(self.weights[v]);
        }
        nodes.iter().for_each(|&v| place[v] = usize::MAX);
        part
    }

    /// Pairs of nodes become one, those with heavy edges first; where each node goes.
    fn coarser(&self, dice: &mut Dice) -> (Graph, Vec<usize>) {
        let n = self.len();
        let (mut mate, mut to) = (vec![usize::MAX; n], vec![usize::MAX; n]);
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, (dice.between(0.0, (k + 1) as f64) as usize).min(k));
        }
        let mut count = 0;
        for &v in &order {
            if mate[v] != usize::MAX {
                continue;
            }
            let free = self.around(v).filter(|&(u, _)| mate[u] == usize::MAX && u != v);
            let best = free.max_by_key(|&(u, edge)| (edge, std::cmp::Reverse(self.weights[u]))).map_or(v, |(u, _)| u);
            (mate[v], mate[best]) = (best, v);
            (to[v], to[best]) = (count, count);
            count += 1;
        }
        let mut members = vec![(usize::MAX, usize::MAX); count];
        for v in 0..n {
            let pair = &mut members[to[v]];
            if pair.0 == usize::MAX { pair.0 = v } else { pair.1 = v }
        }
        let mut coarse = Graph { starts: vec![0], ..Graph::default() };
        let mut seen = vec![usize::MAX; count];
        for (c, &(a, b)) in members.iter().enumerate() {
            let first = coarse.neighbours.len();
            let both = [a, b].into_iter().filter(|&v| v != usize::MAX);
            let mut weight = 0;
            for v in both {
                weight += self.weights[v];
                for (u, edge) in self.around(v) {
                    let u = to[u];
                    if u == c {
                        continue;
                    }
                    if seen[u] == usize::MAX || seen[u] < first {
                        seen[u] = coarse.neighbours.len();
                        coarse.neighbours.push(u as u32);
                        coarse.edges.push(edge);
                    } else {
                        coarse.edges[seen[u]] += edge;
                    }
                }
            }
            coarse.starts.push(coarse.neighbours.len());
            coarse.weights.push(weight);
        }
        (coarse, to)
    }

    fn total(&self) -> u64 {
        self.weights.iter().map(|&w| u64::from(w)).sum()
    }

    fn cut(&self, side: &[bool]) -> u64 {
        let across =
            |v: usize| self.around(v).filter(|&(u, _)| side[u] != side[v]).map(|(_, e)| u64::from(e)).sum::<u64>();
        (0..self.len()).map(across).sum::<u64>() / 2
    }

    /// Two halves: true and false.
    fn bisected(&self, dice: &mut Dice) -> Vec<bool> {
        if self.len() > COARSE {
            let (coarse, to) = self.coarser(dice);
            if 10 * coarse.len() < 9 * self.len() {
                let halves = coarse.bisected(dice);
                let mut side: Vec<bool> = to.iter().map(|&c| halves[c]).collect();
                self.refine(&mut side);
                return side;
            }
        }
        let grown = (0..ATTEMPTS).map(|_| {
            let mut side = self.grown((dice.between(0.0, self.len() as f64) as usize).min(self.len() - 1));
            self.refine(&mut side);
            side
        });
        grown.min_by_key(|side| self.cut(side)).unwrap_or_default()
    }

    /// Half of the weight, breadth first from a node.
    fn grown(&self, seed: usize) -> Vec<bool> {
        let (n, half) = (self.len(), self.total() / 2);
        let (mut side, mut seen) = (vec![false; n], vec![false; n]);
        let (mut queue, mut weight, mut next) = (std::collections::VecDeque::from([seed]), 0, 0);
        seen[seed] = true;
        while weight < half {
            let Some(v) = queue.pop_front() else {
                // Another component.
                while next < n && seen[next] {
                    next += 1;
                }
                if next == n {
                    break;
                }
                seen[next] = true;
                queue.push_back(next);
                continue;
            };
            side[v] = true;
            weight += u64::from(self.weights[v]);
            for (u, _) in self.around(v) {
                if !seen[u] {
                    seen[u] = true;
                    queue.push_back(u);
                }
            }
        }
        side
    }

    /// Moves nodes across while that makes the cut smaller (Fiduccia & Mattheyses 1982): a pass goes on through worse ones and keeps
    /// the best it has seen.
    fn refine(&self, side: &mut [bool]) {
        let n = self.len();
        let most = (UNEVEN * self.total() as f64) as u64;
        let mut gains = vec![0_i64; n];
        for _ in 0..PASSES {
            let mut heap = BinaryHeap::new();
            let mut moved = vec![false; n];
            for v in 0..n {
                let (mut inner, mut outer) = (0_i64, 0_i64);
                for (u, edge) in self.around(v) {
                    if side[u] == side[v] { inner += i64::from(edge) } else { outer += i64::from(edge) }
                }
                gains[v] = outer - inner;
                if outer > 0 {
                    heap.push((gains[v], v));
                }
            }
            let mut weights = [0_u64; 2];
            (0..n).for_each(|v| weights[usize::from(side[v])] += u64::from(self.weights[v]));
            let excess = |weights: &[u64; 2]| weights[0].max(weights[1]).saturating_sub(most);
            let (mut gain, mut best, mut kept) = (0_i64, (excess(&weights), 0_i64), 0);
            let (mut list, mut poor) = (Vec::new(), 0);
            while let Some((value, v)) = heap.pop() {
                if moved[v] || value != gains[v] {
                    continue;
                }
                let (from, weight) = (usize::from(side[v]), u64::from(self.weights[v]));
                let heavier = weights[from] >= weights[1 - from];
                if weights[1 - from] + weight > most && !heavier {
                    continue;
                }
                moved[v] = true;
                side[v] = !side[v];
                weights[from] -= weight;
                weights[1 - from] += weight;
                gain += value;
                list.push(v);
                for (u, edge) in self.around(v).filter(|&(u, _)| !moved[u]) {
                    gains[u] += if side[u] == side[v] { -2 } else { 2 } * i64::from(edge);
                    heap.push((gains[u], u));
                }
                let now = (excess(&weights), -gain);
                if now < (best.0, -best.1) {
                    (best, kept, poor) = ((now.0, gain), list.len(), 0);
                } else {
                    poor += 1;
                    if poor > 60 + n / 20 {
                        break;
                    }
                }
            }
            list[kept..].iter().for_each(|&v| side[v] = !side[v]);
            if kept == 0 {
                break;
            }
        }
    }
}

/// An order of elimination: entry k is the node that is eliminated as number k. `leaf` orders a part that is not divided.
pub(super) fn dissected(graph: &Graph, leaf: &dyn Fn(&Graph) -> Vec<usize>) -> Vec<usize> {
    let mut dice = Dice::new(11);
    let mut order = Vec::with_capacity(graph.len());
    let mut place = vec![usize::MAX; graph.len()];
    // Parts wait on a stack; the order is written from its end.
    let mut stack = vec![(0..graph.len()).collect::<Vec<usize>>()];
    while let Some(nodes) = stack.pop() {
        let part = graph.part(&nodes, &mut place);
        let own = match nodes.len() > SMALL {
            true => separated(&part, &mut dice),
            false => None,
        };
        match own {
            None => order.extend(leaf(&part).into_iter().rev().map(|k| nodes[k])),
            Some((separator, halves)) => {
                order.extend(separator.into_iter().map(|k| nodes[k]));
                stack.extend(halves.into_iter().map(|half| half.into_iter().map(|k| nodes[k]).collect()));
            }
        }
    }
    order.reverse();
    order
}

/// A separator and the two halves it leaves; none where there is no small one.
fn separated(graph: &Graph, dice: &mut Dice) -> Option<(Vec<usize>, [Vec<usize>; 2])> {
    let n = graph.len();
    let side = graph.bisected(dice);
    // The nodes of one half at the cut, from the side where they weigh less.
    let border = |which: bool| -> Vec<usize> {
        (0..n).filter(|&v| side[v] == which && graph.around(v).any(|(u, _)| side[u] != which)).collect()
    };
    let weight = |nodes: &[usize]| nodes.iter().map(|&v| u64::from(graph.weights[v])).sum::<u64>();
    let (a, b) = (border(true), border(false));
    let separator = if weight(&a) <= weight(&b) { a } else { b };
    let mut is_between = vec![false; n];
    separator.iter().for_each(|&v| is_between[v] = true);
    let half = |which: bool| (0..n).filter(|&v| !is_between[v] && side[v] == which).collect::<Vec<_>>();
    let halves = [half(true), half(false)];
    (halves.iter().all(|half| !half.is_empty()) && 3 * separator.len() < n).then_some((separator, halves))
}
