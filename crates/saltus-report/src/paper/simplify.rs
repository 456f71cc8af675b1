//! Line simplification: removes points whose absence is invisible in print.

/// The largest distance of a removed point from the simplified line, in points (1/72 inch).
const TOLERANCE: f64 = 0.02;

/// The simplified line, which includes both ends (Ramer–Douglas–Peucker algorithm).
pub fn simplified(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let n = points.len();
    if n < 3 {
        return points.to_vec();
    }
    let mut kept = vec![false; n];
    (kept[0], kept[n - 1]) = (true, true);
    let mut pending = vec![(0, n - 1)];
    while let Some((a, b)) = pending.pop() {
        let farthest = (a + 1..b).map(|k| (k, distance(points[k], points[a], points[b])));
        let farthest = farthest.max_by(|x, y| x.1.total_cmp(&y.1)).filter(|(_, far)| *far > TOLERANCE);
        if let Some((k, _)) = farthest {
            kept[k] = true;
            pending.extend([(a, k), (k, b)]);
        }
    }
    points.iter().zip(kept).filter_map(|(p, keep)| keep.then_some(*p)).collect()
}

/// The distance of `p` from the segment between `a` and `b`.
fn distance(p: (f64, f64), a: (f64, f64), b: (f64, f64)) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (px, py) = (p.0 - a.0, p.1 - a.1);
    let length = dx * dx + dy * dy;
    let s = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    (px - s * dx).hypot(py - s * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_corners_and_bends_are_kept() {
        let straight: Vec<_> = (0..100).map(|k| (f64::from(k), 2.0 * f64::from(k))).collect();
        assert_eq!(simplified(&straight), [(0.0, 0.0), (99.0, 198.0)]);
        let corner: Vec<_> = (0..=100).map(|k| (f64::from(k), f64::from((k - 50_i32).abs()))).collect();
        assert_eq!(simplified(&corner), [(0.0, 50.0), (50.0, 0.0), (100.0, 50.0)]);
        let wave: Vec<_> = (0..10_000).map(|k| (0.02 * f64::from(k), 30.0 * (0.001 * f64::from(k)).sin())).collect();
        let few = simplified(&wave);
        assert!(few.len() < 500, "{}", few.len());
        let far = |p: &(f64, f64)| few.windows(2).map(|w| distance(*p, w[0], w[1])).fold(f64::INFINITY, f64::min);
        assert!(wave.iter().map(far).fold(0.0, f64::max) <= TOLERANCE);
    }
}
