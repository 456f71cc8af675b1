//! Velocities of the trapezoidal rule at the nodes, for the energy of schemes that keep it there.

/// The velocity at the last node.
pub(super) struct Nodal {
    h: f64,
    pub v: Vec<f64>,
}

impl Nodal {
    pub fn new(v0: &[f64], h: f64) -> Self {
        Nodal { h, v: v0.to_vec() }
    }

    /// To the next node: u^{n+1} − u^n = ½h (v^n + v^{n+1}).
    pub fn fly(&mut self, step: &[f64], massless: &[usize]) {
        for (v, step) in self.v.iter_mut().zip(step) {
            *v = 2.0 / self.h * step - *v;
        }
        massless.iter().for_each(|&i| self.v[i] = 0.0);
    }
}
