//! The discrete Fourier transform.

use std::f64::consts::TAU;

/// The discrete Fourier transform Σ xₖ e^{−2πijk/n} in place; the length is a power of two.
pub fn fourier(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits.max(1));
        if bits > 0 && j > i {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut size = 2;
    while size <= n {
        let half = size / 2;
        for k in 0..half {
            let (sin, cos) = (-TAU * k as f64 / size as f64).sin_cos();
            for start in (0..n).step_by(size) {
                let (a, b) = (start + k, start + k + half);
                let (x, y) = (re[b] * cos - im[b] * sin, re[b] * sin + im[b] * cos);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                re[a] += x;
                im[a] += y;
            }
        }
        size *= 2;
    }
}
