//! The series of the motions of W lanes: accelerations from the model, order by order, and the reactions of constraints that are held.

use super::code::MOST;
use super::group::Group;
use super::vector::{self, each};
use multiversion::multiversion;
use saltus_expr::{Lane, choose};

impl<const W: usize> Group<W> {
    /// Expands all motions about where they are.
    pub fn expand(&mut self) {
        let mut held = Lane::<W>::all(-1.0);
        for (held, mode) in held.0.iter_mut().zip(&self.modes) {
            *held = mode.held.map_or(-1.0, |a| a as f64);
        }
        expand(self, &held);
    }

    /// Order k of the accelerations where the inertia is no number by itself: M₀ a_k = g_k − Σ M_j a_{k−j}.
    fn solve(&mut self, k: usize, x: &mut [Lane<W>; MOST]) {
        let (d, n) = (self.code.d, self.code.order);
        if k == 0 {
            vector::factor(d, &|i| *self.series.coefficient(i, 0), &mut self.factor);
        }
        for i in 0..d {
            let mut r = *self.series.coefficient(self.code.force + i, k);
            for c in 0..d {
                vector::subtract_back(self.series.output(i * d + c), &self.a[c * n..(c + 1) * n], k, &mut r);
            }
            x[i] = r;
        }
        vector::solve(d, &self.factor, x);
    }
}

/// `held` is the constraint that is held in each lane, or −1.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn expand<const W: usize>(group: &mut Group<W>, held: &Lane<W>) {
    let (d, n) = (group.code.d, group.code.order);
    let holds = vector::any::<W>(&each(|l| held[l] + 1.0));
    *group.series.input_mut(0, 0) = group.t;
    let mut x = [Lane::<W>::all(0.0); MOST];
    for k in 0..=n {
        if k > 0 {
            let factor = 1.0 / k as f64;
            for i in 0..d {
                let v = &group.series.input(1 + d + i)[k - 1];
                *group.series.input_mut(1 + i, k) = each(|l| factor * v[l]);
            }
        }
        group.series.advance(k);
        if k == n {
            return;
        }
        match group.code.is_explicit {
            true => (0..d).for_each(|i| x[i] = *group.series.coefficient(i, k)),
            false => group.solve(k, &mut x),
        }
        if holds {
            hold(group, held, k, &mut x);
        }
        if !group.code.is_explicit {
            (0..d).for_each(|i| group.a[i * n + k] = x[i]);
        }
        let factor = 1.0 / (k + 1) as f64;
        for i in 0..d {
            *group.series.input_mut(1 + d + i, k + 1) = each(|l| factor * x[i][l]);
        }
    }
}

/// Adds the reactions of constraints that are held: order k.
#[inline(always)]
fn hold<const W: usize>(group: &mut Group<W>, held: &Lane<W>, k: usize, x: &mut [Lane<W>; MOST]) {
    let d = group.code.d;
    let mut sum = Lane::<W>::all(0.0);
    for a in 0..group.code.m {
        let gamma = &group.series.coefficient(group.code.gamma + a, k);
        sum = each(|l| choose(held[l] == a as f64, gamma[l], sum[l]));
    }
    for i in 0..d {
        sum = each(|l| sum[l] + group.slope[i][l] * x[i][l]);
    }
    let lambda: Lane<W> = each(|l| choose(held[l] >= 0.0, -sum[l] * group.inverse[l], 0.0));
    for i in 0..d {
        let pull = &group.pull[i];
        x[i] = each(|l| choose(held[l] >= 0.0, x[i][l] + lambda[l] * pull[l], x[i][l]));
    }
    group.lambda[k] = lambda;
}
