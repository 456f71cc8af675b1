//! Thinning of long curves for display without losing an extremum or a jump.
//!
//! Time is divided into equal bins, about as many as a screen has columns. From each bin the first and the last point and those
//! with the smallest and the largest value of every channel are kept, in order. A jump ends a bin: the left limit, a break (NaN)
//! and the right limit are kept, so no line is drawn across it.

/// How much of a curve is shown.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The largest number of points, not counting those at jumps; shorter curves are not thinned.
    pub points: usize,
    /// The largest number of jumps drawn as jumps. If there are more, the largest in each interval of time are drawn, and the
    /// curve passes through the others.
    pub jumps: usize,
}

impl Default for Limit {
    fn default() -> Self {
        Limit { points: 4000, jumps: 5000 }
    }
}

/// A jump drawn as one.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Jump<const C: usize> {
    /// The time.
    pub t: f64,
    /// The values before the jump.
    pub left: [f64; C],
    /// The values after the jump.
    pub right: [f64; C],
}

/// A thinned curve with `C` channels over time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Curve<const C: usize> {
    /// The times; at a jump the same time three times, for the left limit, the break and the right limit.
    pub t: Vec<f64>,
    /// The values; NaN at a break.
    pub y: [Vec<f64>; C],
    /// The jumps that are drawn.
    pub jumps: Vec<Jump<C>>,
    /// The number of instants before thinning.
    pub given: usize,
    /// The number of jumps before thinning.
    pub jumps_given: usize,
}

/// A curve with one channel.
pub type Line = Curve<1>;

impl<const C: usize> Curve<C> {
    /// The number of instants shown; an instant with a jump counts once.
    #[must_use]
    pub fn shown(&self) -> usize {
        // A value that is not a number looks like a break.
        self.t.len().saturating_sub(2 * self.breaks())
    }

    fn breaks(&self) -> usize {
        if C == 0 { 0 } else { self.y[0].iter().filter(|y| y.is_nan()).count() }
    }

    /// The index ranges of the points between breaks.
    #[must_use]
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

/// Thins a curve that is given point by point, in order of time.
pub struct Thinner<const C: usize> {
    start: f64,
    width: f64,
    /// Whether all points are kept.
    keep_all: bool,
    bin: f64,
    /// The first and the last point of the bin, then those with the smallest and the largest value of each channel.
    held: Vec<Point<C>>,
    order: usize,
    curve: Curve<C>,
}

impl<const C: usize> Thinner<C> {
    /// A thinner for a curve of `count` points between two times.
    #[must_use]
    pub fn new(count: usize, span: (f64, f64), limit: Limit) -> Self {
        let bins = (limit.points / (2 * C + 2)).max(1) as f64;
        Thinner {
            start: span.0,
            width: ((span.1 - span.0) / bins).max(f64::MIN_POSITIVE),
            keep_all: count <= limit.points,
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

    /// Adds an instant at which the curve is continuous.
    #[inline]
    pub fn push(&mut self, t: f64, y: [f64; C]) {
        self.curve.given += 1;
        self.take(t, y);
    }

    /// Adds an instant with a jump that is not drawn as one.
    pub fn pass(&mut self, t: f64, left: [f64; C], right: [f64; C]) {
        self.curve.jumps_given += 1;
        self.push(t, left);
        self.take(t, right);
    }

    /// Adds an instant with a jump.
    pub fn jump(&mut self, t: f64, left: [f64; C], right: [f64; C]) {
        self.curve.jumps_given += 1;
        self.push(t, left);
        self.split(t);
        self.curve.jumps.push(Jump { t, left, right });
        // The right limit is the first point of a bin, so it is always kept.
        self.take(t, right);
    }

    /// Adds an instant that is always kept, such as a corner of the curve.
    pub fn mark(&mut self, t: f64, y: [f64; C]) {
        self.push(t, y);
        self.flush();
    }

    /// Breaks the curve.
    pub fn split(&mut self, t: f64) {
        self.flush();
        self.emit(t, [f64::NAN; C]);
    }

    /// Returns the thinned curve.
    #[must_use]
    pub fn finish(mut self) -> Curve<C> {
        self.flush();
        self.curve
    }

    #[inline]
    fn take(&mut self, t: f64, y: [f64; C]) {
        if self.keep_all {
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
            // Comparisons with NaN are false: a NaN is never an extremum.
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

/// Selects events, given as (time, size) in order of time: all of them, or the largest in each of `max` equal intervals of time
/// if there are more than `max`.
#[must_use]
pub fn largest(events: &[(f64, f64)], max: usize) -> Vec<usize> {
    if events.len() <= max {
        return (0..events.len()).collect();
    }
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Vec::new() };
    let width = ((last.0 - first.0) / max.max(1) as f64).max(f64::MIN_POSITIVE);
    let mut kept: Vec<usize> = Vec::new();
    let mut bin = -1.0;
    for (k, &(t, size)) in events.iter().enumerate() {
        let here = ((t - first.0) / width).floor().min(max as f64 - 1.0);
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
