//! Sobol's sequence with the direction numbers of Joe and Kuo (2008), dimensions 1 to 21.

/// Bits of a number.
const BITS: usize = 32;

/// Degree and inner coefficients of a primitive polynomial, and the first direction numbers.
type Direction = (u32, u32, &'static [u32]);

const DIRECTIONS: [Direction; 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// How many dimensions there are.
pub const DIMENSIONS: usize = DIRECTIONS.len() + 1;

/// The numbers that make up a dimension of the sequence.
pub fn directions(dimension: usize) -> [u32; BITS] {
    let mut v = [0u32; BITS];
    let Some((degree, inner, first)) = dimension.checked_sub(1).map(|k| DIRECTIONS[k]) else {
        for (k, v) in v.iter_mut().enumerate() {
            *v = 1 << (BITS - 1 - k);
        }
        return v;
    };
    let s = degree as usize;
    for k in 0..BITS {
        v[k] = match k < s {
            true => first[k] << (BITS - 1 - k),
            false => {
                let start = v[k - s] ^ (v[k - s] >> s);
                (1..s).filter(|j| (inner >> (s - 1 - j)) & 1 == 1).fold(start, |x, j| x ^ v[k - j])
            }
        };
    }
    v
}

/// Entry `k` of the sequence of some directions, as bits behind the point.
pub fn entry(directions: &[u32; BITS], k: u64) -> u32 {
    let gray = k ^ (k >> 1);
    (0..BITS).filter(|j| (gray >> j) & 1 == 1).fold(0, |x, j| x ^ directions[j])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entries_are_those_of_the_literature() {
        let at = |dimension: usize| -> Vec<f64> {
            let v = directions(dimension);
            (0..8).map(|k| f64::from(entry(&v, k)) / 2f64.powi(32)).collect()
        };
        assert_eq!(at(0), [0.0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125]);
        assert_eq!(at(1), [0.0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625]);
        assert_eq!(at(2), [0.0, 0.5, 0.25, 0.75, 0.625, 0.125, 0.875, 0.375]);
    }

    #[test]
    fn every_dimension_meets_every_interval_once() {
        // 2^10 entries of any dimension: one in each of 2^10 equal intervals. Two dimensions next to each other fill 2^5 × 2^5
        // boxes evenly enough that none is empty with four times as many entries.
        for dimension in 0..DIMENSIONS {
            let v = directions(dimension);
            let mut seen = vec![0; 1024];
            (0..1024).for_each(|k| seen[(entry(&v, k) >> 22) as usize] += 1);
            assert!(seen.iter().all(|&n| n == 1), "dimension {dimension}");
        }
        for dimension in 1..DIMENSIONS {
            let (a, b) = (directions(dimension - 1), directions(dimension));
            let mut seen = [0; 1024];
            (0..1 << 16).for_each(|k| seen[((entry(&a, k) >> 27 << 5) | (entry(&b, k) >> 27)) as usize] += 1);
            assert!(seen.iter().all(|&n| n == 64), "dimensions {} and {dimension}", dimension - 1);
        }
    }
}
