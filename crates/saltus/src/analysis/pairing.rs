//! Impacts of two runs, paired by time and constraints: counts differ where one run misses an impact, has one more, or stops
//! sooner to resolve an accumulation.

use crate::motion::Impacts;

/// How the impacts of a run match those of a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pairing {
    /// Pairs found.
    pub pairs: usize,
    /// Impacts of the reference, far enough from their neighbours to be told apart, that the run does not have.
    pub missing: usize,
    /// Impacts of the run that the reference does not have.
    pub extra: usize,
    /// The largest difference of the times of the first pairs.
    pub times: Option<f64>,
}

/// So many pairs, from the first, give the error of impact times.
const FIRST: usize = 10;

/// An impact: its time and its constraints.
struct At<'a> {
    t: f64,
    constraints: &'a [usize],
    /// The distance to the nearest impact of the same constraints.
    room: f64,
}

fn list(impacts: &Impacts) -> Vec<At<'_>> {
    let mut all: Vec<At> =
        impacts.iter().map(|i| At { t: i.t, constraints: i.constraints, room: f64::INFINITY }).collect();
    for k in 0..all.len() {
        let same = |j: &usize| all[*j].constraints == all[k].constraints;
        let before = (0..k).rev().take(64).find(same).map(|j| all[k].t - all[j].t);
        let after = (k + 1..all.len()).take(64).find(same).map(|j| all[j].t - all[k].t);
        all[k].room = before.into_iter().chain(after).fold(f64::INFINITY, f64::min);
    }
    all
}

/// The first impacts that have no partner: of the run, and of the reference.
pub fn unpaired(run: &Impacts, reference: &Impacts, resolution: f64) -> (Option<usize>, Option<usize>) {
    let (here, there) = (list(run), list(reference));
    let partners = partners(&here, &there);
    let mut taken = vec![false; here.len()];
    partners.iter().flatten().for_each(|&k| taken[k] = true);
    let is_clear = |at: &At| at.room >= 2.0 * resolution;
    (
        (0..here.len()).find(|&k| !taken[k] && is_clear(&here[k])),
        (0..there.len()).find(|&k| partners[k].is_none() && is_clear(&there[k])),
    )
}

/// For each impact of the reference, the one of the run with the same constraints that is nearest in time, at most half the
/// way to the next such impact apart.
fn partners(here: &[At], there: &[At]) -> Vec<Option<usize>> {
    let mut taken = vec![false; here.len()];
    let mut from = 0;
    let partner = |impact: &At| {
        let reach = (0.5 * impact.room).min(f64::MAX);
        while from < here.len() && here[from].t < impact.t - reach {
            from += 1;
        }
        let near = (from..here.len())
            .take_while(|&k| here[k].t <= impact.t + reach)
            .filter(|&k| !taken[k] && here[k].constraints == impact.constraints)
            .min_by(|&a, &b| (here[a].t - impact.t).abs().total_cmp(&(here[b].t - impact.t).abs()));
        near.into_iter().for_each(|k| taken[k] = true);
        near
    };
    there.iter().map(partner).collect()
}

/// Pairs impacts with the same constraints that are nearest in time, at most half the way to the next such impact apart.
/// Impacts closer than `resolution` to a neighbour are in an accumulation and are not counted; up to twice that they are
/// paired if they can be, and not missed.
pub fn pairing(run: &Impacts, reference: &Impacts, resolution: f64) -> Pairing {
    let (here, there) = (list(run), list(reference));
    let mut taken = vec![false; here.len()];
    let mut result = Pairing::default();
    for (impact, near) in there.iter().zip(partners(&here, &there)) {
        if impact.room < resolution {
            near.into_iter().for_each(|k| taken[k] = true);
            continue;
        }
        match near {
            Some(k) => {
                taken[k] = true;
                result.pairs += 1;
                if result.pairs <= FIRST {
                    result.times = Some(result.times.unwrap_or(0.0).max((here[k].t - impact.t).abs()));
                }
            }
            None => result.missing += usize::from(impact.room >= 2.0 * resolution),
        }
    }
    result.extra = here.iter().zip(&taken).filter(|(at, taken)| !**taken && at.room >= 2.0 * resolution).count();
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{Impact, Trajectory};

    fn impacts(all: &[(f64, usize)]) -> Impacts {
        let mut motion = Trajectory::new(1);
        for &(t, constraint) in all {
            motion.impacts.push_impact(&Impact {
                t,
                q: &[0.0],
                v_before: &[-1.0],
                v_after: &[1.0],
                constraints: &[constraint],
                impulses: &[2.0],
                others: &[],
                energy_change: 0.0,
                law_residual: 0.0,
                speed: 1.0,
                approach: -1.0,
            });
        }
        motion.impacts
    }

    #[test]
    fn a_missing_impact_shifts_nothing() {
        let reference = impacts(&[(1.0, 0), (2.0, 0), (2.5, 1), (3.0, 0), (4.0, 0)]);
        let run = impacts(&[(1.01, 0), (2.52, 1), (3.01, 0), (4.02, 0)]);
        let found = pairing(&run, &reference, 0.1);
        assert_eq!((found.pairs, found.missing, found.extra), (4, 1, 0));
        assert!((found.times.expect("pairs") - 0.02).abs() < 1e-12, "{found:?}");
        assert_eq!(unpaired(&run, &reference, 0.1), (None, Some(1)));
        assert_eq!(unpaired(&reference, &run, 0.1), (Some(1), None));
        let turned = pairing(&reference, &run, 0.1);
        assert_eq!((turned.pairs, turned.missing, turned.extra), (4, 0, 1));
    }

    #[test]
    fn other_constraints_are_no_pair_and_an_accumulation_is_not_counted() {
        let found = pairing(&impacts(&[(1.0, 1)]), &impacts(&[(1.0, 0)]), 0.1);
        assert_eq!(found, Pairing { pairs: 0, missing: 1, extra: 1, times: None });
        let fine: Vec<(f64, usize)> = (0..30).map(|k| (2.0 - 0.5f64.powi(k), 0)).collect();
        let found = pairing(&impacts(&fine[..6]), &impacts(&fine), 0.02);
        assert_eq!((found.missing, found.extra), (0, 0), "{found:?}");
    }

    proptest::proptest! {
        /// A run is paired with itself completely, and a shifted one by its shift.
        #[test]
        fn a_shift_is_found(gaps in proptest::collection::vec(0.1f64..1.0, 1..40), shift in -0.04f64..0.04) {
            let mut t = 0.0;
            let times: Vec<(f64, usize)> = gaps.iter().map(|g| { t += g; (t, 0) }).collect();
            let moved: Vec<(f64, usize)> = times.iter().map(|&(t, c)| (t + shift, c)).collect();
            let found = pairing(&impacts(&moved), &impacts(&times), 0.05);
            proptest::prop_assert_eq!((found.pairs, found.missing, found.extra), (times.len(), 0, 0));
            proptest::prop_assert!((found.times.unwrap_or(f64::NAN) - shift.abs()).abs() < 1e-12);
        }
    }
}
