//! The last states of a trajectory.

/// The last states, up to some number of them, and the number of impacts up to each: one list of numbers, in which a state takes the
/// place of the oldest one.
#[derive(Clone, Debug)]
pub struct Lasts {
    most: usize,
    /// The place of the oldest.
    oldest: usize,
    impacts: Vec<u64>,
    numbers: Vec<f64>,
}

impl Lasts {
    /// None yet, and never more than so many.
    pub fn new(most: usize) -> Self {
        Lasts { most, oldest: 0, impacts: Vec::new(), numbers: Vec::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.impacts.len()
    }

    /// One more.
    pub fn push(&mut self, q: &[f64], v: &[f64], impacts: u64) {
        if self.len() < self.most {
            self.impacts.push(impacts);
            self.numbers.extend(q.iter().chain(v));
            return;
        }
        let width = q.len() + v.len();
        self.impacts[self.oldest] = impacts;
        let state = &mut self.numbers[self.oldest * width..(self.oldest + 1) * width];
        state[..q.len()].copy_from_slice(q);
        state[q.len()..].copy_from_slice(v);
        self.oldest = (self.oldest + 1) % self.most;
    }

    fn place(&self, k: usize) -> usize {
        (self.oldest + k) % self.most
    }

    /// State k, from the oldest on.
    pub fn at(&self, k: usize) -> &[f64] {
        let width = self.numbers.len() / self.len();
        &self.numbers[self.place(k) * width..(self.place(k) + 1) * width]
    }

    /// Puts another velocity into state k, which so many more impacts are before.
    pub fn move_on(&mut self, k: usize, v: &[f64], impacts: u64) {
        let (width, place) = (self.numbers.len() / self.len(), self.place(k));
        self.numbers[(place + 1) * width - v.len()..(place + 1) * width].copy_from_slice(v);
        self.impacts[place] += impacts;
    }

    /// The number of impacts up to state k.
    pub fn impacts(&self, k: usize) -> u64 {
        self.impacts[self.place(k)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_ones_are_forgotten() {
        let mut lasts = Lasts::new(3);
        for k in 0..8u64 {
            lasts.push(&[k as f64], &[-(k as f64)], 2 * k);
            let first = k.saturating_sub(2);
            assert_eq!(lasts.len() as u64, k + 1 - first);
            for (place, of) in (first..=k).enumerate() {
                assert_eq!(lasts.at(place), [of as f64, -(of as f64)]);
                assert_eq!(lasts.impacts(place), 2 * of);
            }
        }
        lasts.move_on(1, &[0.5], 3);
        assert_eq!((lasts.at(0), lasts.at(1), lasts.impacts(1)), (&[5.0, -5.0][..], &[6.0, 0.5][..], 15));
    }
}
