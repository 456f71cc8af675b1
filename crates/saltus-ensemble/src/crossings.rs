//! States at sections, while a trajectory is computed.

use crate::Wanted;
use saltus::motion::EventHit;

/// The states kept so far: number of the section, t, q, v of each, in the order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crossings {
    rows: Vec<f64>,
    width: usize,
    /// How many of the last ones at each section are kept, and how many returns there are at most.
    last: Option<usize>,
    most: Option<u64>,
    /// Crossings of the first section, kept or not.
    pub returns: u64,
}

impl Crossings {
    pub fn new(wanted: &Wanted) -> Self {
        Crossings { last: wanted.last, most: wanted.returns.filter(|_| wanted.sections), ..Crossings::default() }
    }

    /// Adds a state at section k. Where only the last ones are wanted, others are dropped from time to time.
    pub fn push(&mut self, k: usize, t: f64, q: &[f64], v: &[f64]) {
        self.width = 2 + q.len() + v.len();
        self.returns += u64::from(k == 0);
        let mut at = self.rows.len();
        self.rows.extend([k as f64, t]);
        self.rows.extend(q.iter().chain(v));
        // (Of several sections in one step the first is not always crossed first.)
        while at >= self.width && self.rows[at - self.width + 1] > t {
            self.rows[at - self.width..at + self.width].rotate_right(self.width);
            at -= self.width;
        }
        if let Some(last) = self.last
            && self.rows.len() / self.width > 16 * (last + 4)
        {
            // (Some may be taken back.)
            self.drop_all_but(last + 2);
        }
    }

    /// Takes back what came after t: that part of the motion is computed again. The largest number of states that can be taken back is small.
    pub fn retract(&mut self, t: f64) {
        while self.width > 0 && self.rows.len() >= self.width && self.rows[self.rows.len() - self.width + 1] > t {
            self.returns -= u64::from(self.rows[self.rows.len() - self.width] == 0.0);
            self.rows.truncate(self.rows.len() - self.width);
        }
    }

    /// Whether a trajectory has returned as often as it is followed.
    pub fn is_over(&self) -> bool {
        self.most.is_some_and(|most| self.returns >= most)
    }

    /// How many returns are still to come, where they are counted.
    pub fn left(&self) -> Option<u64> {
        self.most.map(|most| most.saturating_sub(self.returns))
    }

    /// Which of the next crossings is the last return, if one of them is.
    pub fn last_return<'m>(&self, events: impl Iterator<Item = &'m EventHit>) -> Option<&'m EventHit> {
        let left = usize::try_from(self.left()?).ok()?.checked_sub(1)?;
        events.filter(|event| event.event == 0).nth(left)
    }

    /// All that is kept.
    pub fn finish(mut self) -> Vec<f64> {
        if let Some(last) = self.last {
            self.drop_all_but(last);
        }
        self.rows
    }

    /// Keeps the last states at each section.
    fn drop_all_but(&mut self, last: usize) {
        let Some(count) = self.rows.len().checked_div(self.width) else { return };
        let mut seen: Vec<usize> = Vec::new();
        let mut to = count;
        for from in (0..count).rev() {
            let k = self.rows[from * self.width] as usize;
            seen.resize(seen.len().max(k + 1), 0);
            seen[k] += 1;
            if seen[k] <= last {
                to -= 1;
                self.rows.copy_within(from * self.width..(from + 1) * self.width, to * self.width);
            }
        }
        self.rows.drain(..to * self.width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(crossings: Crossings) -> Vec<(u32, f64)> {
        crossings.finish().chunks(4).map(|row| (row[0] as u32, row[1])).collect()
    }

    #[test]
    fn the_last_of_each_section_are_kept_in_order() {
        let wanted = Wanted { sections: true, last: Some(2), returns: Some(300), ..Wanted::default() };
        let mut crossings = Crossings::new(&wanted);
        crossings.push(1, 0.5, &[0.0], &[1.0]);
        for k in 0..300 {
            assert!(!crossings.is_over());
            crossings.push(0, f64::from(k), &[0.0], &[1.0]);
            if k == 298 {
                crossings.push(1, 296.5, &[0.0], &[1.0]);
            }
        }
        assert!(crossings.is_over());
        assert_eq!(times(crossings.clone()), [(1, 0.5), (1, 296.5), (0, 298.0), (0, 299.0)]);
        crossings.retract(298.0);
        assert_eq!(crossings.returns, 299);
        assert_eq!(times(crossings), [(1, 0.5), (1, 296.5), (0, 297.0), (0, 298.0)]);
    }
}
