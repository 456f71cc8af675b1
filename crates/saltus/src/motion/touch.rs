//! Touches: uninterrupted stays of a constraint at zero gap, from which the table of shocks is made.

use super::{Contact, Slide, Trajectory};

/// One uninterrupted touch of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The constraint, by its index in the model.
    pub constraint: usize,
    /// Where it begins.
    pub start: f64,
    /// Where it ends; the start for an impact without a lasting contact.
    pub end: f64,
    /// The total impulse.
    pub impulse: f64,
    /// The gap velocity at the start (negative).
    pub approach: f64,
    /// The largest force; meaningful for a stop with a stiffness.
    pub peak: f64,
    /// When that is.
    pub peak_at: f64,
    /// ∫ F |v_T| dt for what slides along it.
    pub wear: f64,
}

impl Touch {
    /// Nothing yet.
    pub(crate) fn none() -> Self {
        Touch { constraint: 0, start: 0.0, end: 0.0, impulse: 0.0, approach: 0.0, peak: 0.0, peak_at: 0.0, wear: 0.0 }
    }

    /// The force of a step of length h around an instant, after those of the two steps before: the peak is the largest of them, or that
    /// of a parabola whose means of the two ends of a step are these three, where that is a small correction and within them.
    pub(crate) fn press(&mut self, [first, middle]: [f64; 2], last: f64, at: f64, h: f64) {
        if last > self.peak {
            (self.peak, self.peak_at) = (last, at);
        }
        let (bend, slope) = (first - 2.0 * middle + last, 0.5 * (last - first));
        let is_gentle = first > 0.0 && bend < 0.0 && -bend <= 0.2 * middle && slope.abs() <= -0.5 * bend;
        let top = middle - bend / 8.0 - 0.5 * slope * slope / bend;
        if is_gentle && top > self.peak {
            (self.peak, self.peak_at) = (top, at - h - h * slope / bend);
        }
    }
}

/// The touches of a motion whose impacts and contacts are located: an impact that begins a contact is part of it.
/// `slides` says, for each constraint, what slides along it.
pub(crate) fn touches_of(motion: &Trajectory, slides: &[Slide]) -> Vec<Touch> {
    let mut touches = Vec::new();
    for (constraint, slide) in slides.iter().enumerate() {
        let own: Vec<&Contact> = motion.contacts.iter().filter(|c| c.constraint == constraint).collect();
        let touch = |start: f64, end: f64, impulse: f64, approach: f64| {
            // Without friction what slides keeps its velocity through an impact.
            let at = if slide.is_some() { motion.at(start, super::Side::Left) } else { None };
            let sliding = at.map(|(q, v)| slide.speed(&q, |p| v[p]));
            Touch {
                constraint,
                start,
                end,
                impulse,
                approach,
                peak: 0.0,
                peak_at: start,
                wear: impulse * sliding.unwrap_or(0.0),
            }
        };
        let impacts = motion.impacts.iter().filter_map(|i| {
            let k = i.constraints.iter().position(|&c| c == constraint)?;
            Some((i.t, i.impulses[k], i.approach))
        });
        let mut approaches: Vec<f64> = vec![0.0; own.len()];
        for (t, impulse, approach) in impacts {
            match own.iter().position(|c| c.start == t) {
                Some(k) => approaches[k] = f64::min(approaches[k], approach),
                None => touches.push(touch(t, t, impulse, approach)),
            }
        }
        touches.extend(own.iter().zip(approaches).map(|(c, approach)| touch(c.start, c.end, c.impulse, approach)));
    }
    touches
}
