//! The order in which trajectories are given to a GPU: threads side by side do the same as long as their trajectories have much in
//! common, and wait for each other where they do not.

use crate::Job;

/// The most quantities that are looked at.
const MOST: usize = 4;

/// Jobs in an order in which neighbours differ little, in all that varies: along a curve that fills the space of parameters and starts
/// (Z-order).
pub fn neighbours(jobs: &[Job]) -> Vec<usize> {
    let Some(first) = jobs.first() else { return Vec::new() };
    let (open, d) = (first.start.parameters.len(), first.start.q.len());
    let count = open + d + first.start.v.len();
    let value = |k: usize, i: usize| {
        let start = &jobs[k].start;
        let (list, place) = match i {
            i if i < open => (&start.parameters, i),
            i if i < open + d => (&start.q, i - open),
            i => (&start.v, i - open - d),
        };
        list.get(place).copied().unwrap_or(f64::NAN)
    };
    let mut varied = [(0, 0.0, 0.0); MOST];
    let mut found = 0;
    for i in 0..count {
        let widen = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
        let (low, high) = (0..jobs.len()).map(|k| value(k, i)).fold((f64::INFINITY, f64::NEG_INFINITY), widen);
        if high > low && found < MOST {
            varied[found] = (i, low, high);
            found += 1;
        }
    }
    let varied = &varied[..found];
    let bits = 64 / found.max(2);
    let cells = (1_u64 << bits) as f64;
    let key = |k: usize| {
        let mut places = [0; MOST];
        for (at, &(i, low, high)) in places.iter_mut().zip(varied) {
            // (No difference is too large for it: halves of numbers do not overflow.)
            let share = (0.5 * value(k, i) - 0.5 * low) / (0.5 * high - 0.5 * low);
            *at = ((share * cells) as u64).min((1 << bits) - 1);
        }
        match &places[..found] {
            [place] => *place,
            places => (0..bits)
                .rev()
                .fold(0_u64, |key, bit| places.iter().fold(key, |key, place| (key << 1) | ((place >> bit) & 1))),
        }
    };
    let mut order: Vec<(u64, usize)> = (0..jobs.len()).map(|k| (key(k), k)).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, k)| k).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus::Start;

    fn job(p: f64, x: f64) -> Job {
        let start = Start::new(0.0, vec![x], vec![1.0]).with_parameters(vec![p, 3.0]);
        Job { start, from: 0.0, end: 1.0, strobe: None, step: None }
    }

    #[test]
    fn what_is_mixed_is_put_in_order() {
        let jobs: Vec<Job> = (0..101).map(|k| job(f64::from(k * 37 % 101), 0.5)).collect();
        let order = neighbours(&jobs);
        assert!(order.iter().enumerate().all(|(place, &k)| jobs[k].start.parameters[0] == place as f64));
        let sorted: Vec<Job> = order.iter().map(|&k| jobs[k].clone()).collect();
        assert_eq!(neighbours(&sorted), (0..101).collect::<Vec<_>>());
    }

    #[test]
    fn neighbours_are_near_in_all_that_varies() {
        // A grid of 32 × 32 points, mixed: blocks of 64 must be squares of 8 × 8, whatever the scales.
        let jobs: Vec<Job> =
            (0..1024).map(|k| k * 593 % 1024).map(|k| job(f64::from(k / 32), 1e-9 * f64::from(k % 32))).collect();
        for block in neighbours(&jobs).chunks(64) {
            let spread = |value: &dyn Fn(&Job) -> f64| {
                let all = block.iter().map(|&k| value(&jobs[k]));
                all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
            };
            assert!(spread(&|job| job.start.parameters[0]) < 8.5);
            assert!(spread(&|job| 1e9 * job.start.q[0]) < 8.5);
        }
        assert!(neighbours(&[]).is_empty());
        assert_eq!(neighbours(&[job(f64::NAN, 1.0), job(1e308, -1e308), job(-1e308, 1.0)]).len(), 3);
    }
}
