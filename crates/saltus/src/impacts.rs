//! The impacts of a run: instants at which the velocity jumps. [`crate::watch`] finds them.

/// All impacts of a run, in order, stored side by side.
#[derive(Clone, Debug, Default)]
pub struct Impacts {
    d: usize,
    times: Vec<f64>,
    q: Vec<f64>,
    v_before: Vec<f64>,
    v_after: Vec<f64>,
    energy_change: Vec<f64>,
    residual: Vec<f64>,
    speed: Vec<f64>,
    approach: Vec<f64>,
    starts: Vec<usize>,
    constraints: Vec<usize>,
    impulses: Vec<f64>,
}

/// One impact.
#[derive(Clone, Copy, Debug)]
pub struct Impact<'a> {
    /// Its instant.
    pub t: f64,
    /// The position there.
    pub q: &'a [f64],
    /// The velocity before it.
    pub v_before: &'a [f64],
    /// The velocity after it.
    pub v_after: &'a [f64],
    /// The constraints that acted, by their index in the model.
    pub constraints: &'a [usize],
    /// Their impulses.
    pub impulses: &'a [f64],
    /// The change of kinetic energy.
    pub energy_change: f64,
    /// |v⁺ − law(v⁻)| / |v| in the kinetic metric, |v| being this impact's `speed`.
    pub law_residual: f64,
    /// |v| in the kinetic metric, the larger of before and after: √(2 × kinetic energy).
    pub speed: f64,
    /// The gap velocity of the constraint that closes fastest, before the impact (negative).
    pub approach: f64,
}

/// The numbers of an impact.
pub(crate) struct Measured {
    pub t: f64,
    pub energy_change: f64,
    pub residual: f64,
    pub speed: f64,
    pub approach: f64,
}

impl Impacts {
    pub(crate) fn push(
        &mut self,
        measured: &Measured,
        q: &[f64],
        v_before: &[f64],
        v_after: &[f64],
        impulses: impl Iterator<Item = (usize, f64)>,
    ) {
        self.d = q.len();
        self.times.push(measured.t);
        self.energy_change.push(measured.energy_change);
        self.residual.push(measured.residual);
        self.speed.push(measured.speed);
        self.approach.push(measured.approach);
        self.q.extend_from_slice(q);
        self.v_before.extend_from_slice(v_before);
        self.v_after.extend_from_slice(v_after);
        self.starts.push(self.constraints.len());
        for (constraint, impulse) in impulses {
            self.constraints.push(constraint);
            self.impulses.push(impulse);
        }
    }

    /// Appends the impacts of a run that was taken up at a later time.
    pub(crate) fn append(&mut self, later: &Impacts, by: f64) {
        for i in later.iter() {
            let Impact { energy_change, law_residual: residual, speed, approach, .. } = i;
            let measured = Measured { t: by + i.t, energy_change, residual, speed, approach };
            let impulses = i.constraints.iter().copied().zip(i.impulses.iter().copied());
            self.push(&measured, i.q, i.v_before, i.v_after, impulses);
        }
    }

    /// The same impacts seen through linear functions of the coordinates.
    pub(crate) fn mapped(&self, rows: &crate::linalg::Rows) -> Impacts {
        let map = |all: &[f64]| -> Vec<f64> {
            all.chunks_exact(self.d.max(1)).flat_map(|x| (0..rows.len()).map(move |r| rows.dot(r, x))).collect()
        };
        let (q, v_before, v_after) = (map(&self.q), map(&self.v_before), map(&self.v_after));
        Impacts { d: rows.len(), q, v_before, v_after, ..self.clone() }
    }

    /// Number of impacts.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Impact `k`.
    pub fn get(&self, k: usize) -> Impact<'_> {
        let d = self.d;
        let acted = self.starts[k]..self.starts.get(k + 1).copied().unwrap_or(self.constraints.len());
        Impact {
            t: self.times[k],
            q: &self.q[k * d..(k + 1) * d],
            v_before: &self.v_before[k * d..(k + 1) * d],
            v_after: &self.v_after[k * d..(k + 1) * d],
            constraints: &self.constraints[acted.clone()],
            impulses: &self.impulses[acted],
            energy_change: self.energy_change[k],
            law_residual: self.residual[k],
            speed: self.speed[k],
            approach: self.approach[k],
        }
    }

    /// All impacts in order.
    pub fn iter(&self) -> impl Iterator<Item = Impact<'_>> {
        (0..self.len()).map(|k| self.get(k))
    }
}
