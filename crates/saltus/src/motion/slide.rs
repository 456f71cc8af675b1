//! What slides along a stop, and how fast.

/// The coordinates that move along a stop: those named, and along a round hole the way around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slide {
    /// Coordinates whose velocities are slips: none, one in the plane, two in space.
    pub along: Vec<usize>,
    /// The two coordinates that a round hole surrounds, and its centre.
    pub around: Option<([usize; 2], [f64; 2])>,
}

impl Slide {
    /// Whether anything slides.
    pub fn is_some(&self) -> bool {
        !self.along.is_empty() || self.around.is_some()
    }

    /// The speed of the slip at a state.
    pub fn speed(&self, q: &[f64], v: impl Fn(usize) -> f64) -> f64 {
        let along = self.along.iter().fold(0.0_f64, |speed, &p| speed.hypot(v(p)));
        let Some(([y, z], centre)) = self.around else { return along };
        let (y_off, z_off) = (q[y] - centre[0], q[z] - centre[1]);
        let far = y_off.hypot(z_off);
        if far == 0.0 { along } else { along.hypot((y_off * v(z) - z_off * v(y)) / far) }
    }
}
