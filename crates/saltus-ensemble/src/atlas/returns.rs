//! What motions settled on where nothing is forced and impacts do not tell: from their returns to a section.

use super::{Label, Observer, Tables};
use crate::Settled;
use crate::settled::Tracker;
use saltus::SetupError;

/// States this close, relative to the extent of all motions, are one.
const SAME: f64 = 1e-6;

/// Improves the labels of trajectories that did not settle as far as their impacts show.
pub fn improve(tables: &Tables, observer: &Observer, labels: &mut [Label]) -> Result<(), SetupError> {
    let model = tables.sweep.family.problem().model();
    let (degrees, d) = (model.degrees(), model.dimension());
    // Positions and velocities, one column each; positions of first-order states mean nothing.
    let names = |stem: &dyn Fn(&String) -> String| model.coordinates.iter().map(stem).collect::<Vec<_>>();
    let (q, v) = (names(&|c| c.clone()), names(&|c| format!("{c}'")));
    let states: Vec<String> = model.states.iter().map(|s| s.name.clone()).collect();
    let read = |table: &saltus_io::table::SavedTable| {
        let zero = vec![0.0; table.numbers("t")?.len()];
        let mut columns = q.iter().map(|c| table.numbers(c)).collect::<Result<Vec<_>, SetupError>>()?;
        columns.resize(d, zero);
        for name in v.iter().chain(&states) {
            columns.push(table.numbers(name)?);
        }
        Ok::<_, SetupError>(columns)
    };
    let (returns, ends) = (read(&observer.table)?, read(&tables.points)?);
    let (times, impacts, end) =
        (observer.table.numbers("t")?, tables.points.numbers("impacts")?, tables.points.numbers("t")?);
    let largest =
        |i: usize| returns[i].iter().chain(&ends[i]).filter(|x| x.is_finite()).fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut extent: Vec<f64> = (0..2 * d).map(largest).collect();
    for range in [0..degrees, d..d + degrees] {
        let most = extent[range.clone()].iter().copied().fold(0.0, f64::max);
        extent[range].fill(most);
    }
    let at = |columns: &[Vec<f64>], row: usize| columns.iter().map(|c| c[row]).collect::<Vec<f64>>();
    let mut first = 0;
    while first < observer.point.len() {
        let point = observer.point[first];
        let rows = observer.point[first..].iter().take_while(|p| **p == point).count();
        let label = &mut labels[point as usize];
        if *label == Label::Neither && rows >= 8 {
            let mut tracker = Tracker::scaled(degrees, d, &extent);
            for row in first..first + rows {
                let state = at(&returns, row);
                tracker.strobe(times[row], &state[..d], &state[d..], 0);
            }
            let last = first + rows - 1;
            if let Settled::Periodic { intervals, .. } = tracker.repeats(&|_| false) {
                let time = times[last] - times[last - intervals as usize];
                let (here, there) = (at(&returns, last), at(&ends, point as usize));
                // Returns to an equilibrium, with amplitudes that vanish: nothing moves between them.
                let rests = (0..2 * d).all(|i| (here[i] - there[i]).abs() <= SAME * extent[i]);
                let spent = end[point as usize] - times[first];
                let hits = (impacts[point as usize] * time / spent).round() as u32;
                *label = if rests { Label::Rest } else { Label::Recurrent { time, impacts: hits } };
            }
        }
        first += rows;
    }
    Ok(())
}
