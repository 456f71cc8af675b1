//! Thinning of long curves for display, so that no extremum and no jump is lost.
//!
//! Time is divided into equal bins, about as many as a screen has columns; of each bin the first and the last value and the
//! smallest and largest of every channel are kept, in their order. A jump ends a bin: the left limit, a break (not a number)
//! and the right limit are kept, so that nothing is ever drawn across it.

/// How much may be shown of one curve.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Points, those at jumps apart; shorter curves are shown whole.
    pub points: usize,
    /// Jumps drawn as such; where there are more, the largest of each stretch of time are, and the others are part of the curve.
    pub jumps: usize,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { points: 4000, jumps: 5000 }
    }
}

/// A jump that is drawn as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump<const C: usize> {
    /// Its instant.
    pub t: f64,
    /// The values before it.
    pub left: [f64; C],
    /// The values after it.
    pub right: [f64; C],
}

/// A curve with `C` channels over time, thinned.
#[derive(Clone, Debug)]
pub struct Curve<const C: usize> {
    /// The instants shown; twice where the curve jumps, with a break between.
    pub t: Vec<f64>,
    /// The values there; not a number at a break.
    pub y: [Vec<f64>; C],
    /// The jumps drawn.
    pub jumps: Vec<Jump<C>>,
    /// How many instants there were.
    pub given: usize,
    /// How many jumps there were.
    pub jumps_given: usize,
}

/// One function of time.
pub type Line = Curve<1>;

impl<const C: usize> Curve<C> {
    /// How many instants are shown (breaks do not count, an instant with a jump counts once).
    pub fn shown(&self) -> usize {
        self.t.len() - 2 * self.breaks()
    }

    fn breaks(&self) -> usize {
        if C == 0 { 0 } else { self.y[0].iter().filter(|y| y.is_nan()).count() }
    }

    /// The stretches between breaks, as ranges of the points.
    pub fn segments(&self) -> Vec<std::ops::Range<usize>> {
        let mut ranges = Vec::new();
        let mut start = 0;
        for k in 0..=self.t.len() {
            if k == self.t.len() || self.y[0][k].is_nan() {
                if k > start {
                    ranges.push(start..k);
                }
                start = k + 1;
            }
        }
        ranges
    }
}

#[derive(Clone, Copy)]
struct Point<const C: usize> {
    order: usize,
    t: f64,
    y: [f64; C],
}

/// Takes a curve point by point, in order of time, and keeps what is to be shown.
pub struct Thinner<const C: usize> {
    start: f64,
    width: f64,
    /// Everything is kept: there is little enough.
    whole: bool,
    bin: f64,
    /// First, last, then the smallest and largest of each channel.
    held: Vec<Point<C>>,
    order: usize,
    curve: Curve<C>,
}

impl<const C: usize> Thinner<C> {
    /// For a curve of `count` points between two times.
    pub fn new(count: usize, span: (f64, f64), limit: Limit) -> Self {
        let bins = (limit.points / (2 * C + 2)).max(1) as f64;
        Thinner {
            start: span.0,
            width: ((span.1 - span.0) / bins).max(f64::MIN_POSITIVE),
            whole: count <= limit.points,
            bin: -1.0,
            held: Vec::with_capacity(2 * C + 2),
            order: 0,
            curve: Curve {
                t: Vec::new(),
                y: std::array::from_fn(|_| Vec::new()),
                jumps: Vec::new(),
                given: 0,
                jumps_given: 0,
            },
        }
    }

    /// The next instant, at which the curve is continuous.
    #[inline]
    pub fn push(&mut self, t: f64, y: [f64; C]) {
        self.curve.given += 1;
        self.take(t, y);
    }

    /// The next instant, at which it jumps but the jump is not drawn as one.
    pub fn pass(&mut self, t: f64, left: [f64; C], right: [f64; C]) {
        self.curve.jumps_given += 1;
        self.push(t, left);
        self.take(t, right);
    }

    /// The next instant, at which it jumps.
    pub fn jump(&mut self, t: f64, left: [f64; C], right: [f64; C]) {
        self.curve.jumps_given += 1;
        self.push(t, left);
        self.split(t);
        self.curve.jumps.push(Jump { t, left, right });
        // Kept whatever follows: it is the first of what is held.
        self.take(t, right);
    }

    /// The next instant, which must be shown: a corner.
    pub fn mark(&mut self, t: f64, y: [f64; C]) {
        self.push(t, y);
        self.flush();
    }

    /// A break in the curve: what follows is not joined to what was.
    pub fn split(&mut self, t: f64) {
        self.flush();
        self.emit(t, [f64::NAN; C]);
    }

    /// The curve.
    pub fn finish(mut self) -> Curve<C> {
        self.flush();
        self.curve
    }

    #[inline]
    fn take(&mut self, t: f64, y: [f64; C]) {
        if self.whole {
            self.emit(t, y);
            return;
        }
        let bin = ((t - self.start) / self.width).floor();
        if bin != self.bin {
            self.flush();
            self.bin = bin;
        }
        self.order += 1;
        let point = Point { order: self.order, t, y };
        if self.held.is_empty() {
            self.held.resize(2 * C + 2, point);
            return;
        }
        self.held[1] = point;
        for c in 0..C {
            // A value that is not a number is shown as a break; it is no extremum.
            if y[c] < self.held[2 + 2 * c].y[c] {
                self.held[2 + 2 * c] = point;
            }
            if y[c] > self.held[3 + 2 * c].y[c] {
                self.held[3 + 2 * c] = point;
            }
        }
    }

    fn flush(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        held.sort_by_key(|p| p.order);
        held.dedup_by_key(|p| p.order);
        for point in held.drain(..) {
            self.emit(point.t, point.y);
        }
        self.held = held;
    }

    fn emit(&mut self, t: f64, y: [f64; C]) {
        self.curve.t.push(t);
        for (channel, y) in self.curve.y.iter_mut().zip(y) {
            channel.push(y);
        }
    }
}

/// Of events with a size, in order of time: all, or the largest of each stretch of time if there are more than `most`.
pub fn largest(events: &[(f64, f64)], most: usize) -> Vec<usize> {
    if events.len() <= most {
        return (0..events.len()).collect();
    }
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Vec::new() };
    let width = ((last.0 - first.0) / most.max(1) as f64).max(f64::MIN_POSITIVE);
    let mut kept: Vec<usize> = Vec::new();
    let mut bin = -1.0;
    for (k, &(t, size)) in events.iter().enumerate() {
        let here = ((t - first.0) / width).floor().min(most as f64 - 1.0);
        if here != bin {
            kept.push(k);
            bin = here;
        } else if let Some(held) = kept.last_mut()
            && size.abs() > events[*held].1.abs()
        {
            *held = k;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_curve_is_shown_whole_and_a_jump_breaks_it() {
        let mut thin = Thinner::<1>::new(4, (0.0, 3.0), Limit::default());
        thin.push(0.0, [0.0]);
        thin.push(1.0, [-1.0]);
        thin.jump(2.0, [-2.0], [1.0]);
        thin.push(3.0, [1.5]);
        let line = thin.finish();
        assert_eq!(line.t, [0.0, 1.0, 2.0, 2.0, 2.0, 3.0]);
        assert_eq!(line.segments(), [0..3, 4..6]);
        assert_eq!((line.shown(), line.given, line.jumps.len()), (4, 4, 1));
        assert_eq!(line.jumps[0], Jump { t: 2.0, left: [-2.0], right: [1.0] });
    }

    #[test]
    fn a_long_curve_keeps_its_extremes_its_ends_and_every_jump() {
        let n = 200_000;
        let limit = Limit { points: 400, jumps: 100 };
        let mut thin = Thinner::<1>::new(n, (0.0, 1.0), limit);
        let value = |k: usize| {
            if k == 77_777 {
                9.0
            } else if k == 123_456 {
                -8.0
            } else {
                (k as f64 * 0.01).sin()
            }
        };
        for k in 0..n {
            let t = k as f64 / (n - 1) as f64;
            match k % 20_011 {
                20_010 => thin.jump(t, [value(k)], [-value(k)]),
                _ => thin.push(t, [value(k)]),
            }
        }
        let line = thin.finish();
        assert!(line.t.len() < 400 + 60, "{}", line.t.len());
        assert!(line.y[0].contains(&9.0) && line.y[0].contains(&-8.0));
        assert_eq!((line.t[0], *line.t.last().expect("some")), (0.0, 1.0));
        assert_eq!(line.jumps.len(), n / 20_011);
        for jump in &line.jumps {
            let at = line.t.iter().position(|&t| t == jump.t).expect("there");
            assert_eq!(line.t[at + 2], jump.t);
            assert_eq!((line.y[0][at], line.y[0][at + 2]), (jump.left[0], jump.right[0]));
            assert!(line.y[0][at + 1].is_nan());
        }
        assert!(line.t.windows(2).all(|w| w[0] <= w[1]));
    }

    #[test]
    fn of_many_events_the_largest_of_each_stretch_are_kept() {
        let events: Vec<(f64, f64)> = (0..10_000).map(|k| (k as f64, if k == 5_555 { 100.0 } else { 1.0 })).collect();
        let kept = largest(&events, 50);
        assert!(kept.len() <= 50 && kept.contains(&5_555));
        assert_eq!(largest(&events[..7], 50), (0..7).collect::<Vec<_>>());
    }
}
