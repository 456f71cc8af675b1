//! The impacts of a run: instants at which the velocity jumps.

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
    other_starts: Vec<usize>,
    others: Vec<(usize, f64)>,
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
    /// The impulses of joints and of friction, by their rows: the equations of joints, then the slips of frictions in the
    /// order of the model.
    pub others: &'a [(usize, f64)],
    /// The change of kinetic energy, ½ Σ P (∇f·v⁺ + ∇f·v⁻) over everything that acts: what the impact dissipates, and the
    /// work of moving walls.
    pub energy_change: f64,
    /// The largest |U⁺ − law(U⁻)|/√D of an active constraint, relative to this impact's `speed`: U is a gap velocity, D the
    /// diagonal entry of the Delassus matrix, so that 1/D is the mass the constraint feels.
    pub law_residual: f64,
    /// The largest |U|/√D of an active constraint, before or after: ½ speed² is the kinetic energy of that mass.
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
    /// Removes all of them.
    pub(crate) fn clear(&mut self) {
        let Impacts { d: _, times, q, v_before, v_after, energy_change, residual, speed, approach, .. } = self;
        [times, q, v_before, v_after, energy_change, residual, speed, approach].into_iter().for_each(Vec::clear);
        [&mut self.starts, &mut self.constraints, &mut self.other_starts].into_iter().for_each(Vec::clear);
        self.impulses.clear();
        self.others.clear();
    }

    pub(crate) fn push(
        &mut self,
        measured: &Measured,
        q: &[f64],
        v_before: &[f64],
        v_after: &[f64],
        impulses: impl Iterator<Item = (usize, f64)>,
    ) {
        self.push_with(measured, q, v_before, v_after, impulses, std::iter::empty());
    }

    /// With the impulses of joints and friction.
    pub(crate) fn push_with(
        &mut self,
        measured: &Measured,
        q: &[f64],
        v_before: &[f64],
        v_after: &[f64],
        impulses: impl Iterator<Item = (usize, f64)>,
        others: impl Iterator<Item = (usize, f64)>,
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
        self.other_starts.push(self.others.len());
        self.others.extend(others);
    }

    /// Appends the impacts of another part of the motion.
    pub(crate) fn append(&mut self, later: &Impacts) {
        later.iter().for_each(|i| self.push_impact(&i));
    }

    /// Appends an impact, for instance one read back from a file.
    pub fn push_impact(&mut self, i: &Impact) {
        let Impact { t, energy_change, law_residual: residual, speed, approach, .. } = *i;
        let measured = Measured { t, energy_change, residual, speed, approach };
        let impulses = i.constraints.iter().copied().zip(i.impulses.iter().copied());
        self.push_with(&measured, i.q, i.v_before, i.v_after, impulses, i.others.iter().copied());
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
        let others = self.other_starts[k]..self.other_starts.get(k + 1).copied().unwrap_or(self.others.len());
        Impact {
            t: self.times[k],
            q: &self.q[k * d..(k + 1) * d],
            v_before: &self.v_before[k * d..(k + 1) * d],
            v_after: &self.v_after[k * d..(k + 1) * d],
            constraints: &self.constraints[acted.clone()],
            impulses: &self.impulses[acted],
            others: &self.others[others],
            energy_change: self.energy_change[k],
            law_residual: self.residual[k],
            speed: self.speed[k],
            approach: self.approach[k],
        }
    }

    /// How many of them are not later than a time, where they are in order.
    pub(crate) fn count_until(&self, t: f64) -> usize {
        self.times.partition_point(|&x| x <= t)
    }

    /// How many of them are earlier than a time, where they are in order.
    pub(crate) fn count_before(&self, t: f64) -> usize {
        self.times.partition_point(|&x| x < t)
    }

    /// All impacts in order.
    pub fn iter(&self) -> impl Iterator<Item = Impact<'_>> {
        (0..self.len()).map(|k| self.get(k))
    }
}

/// The impacts of a motion in order; see [`Impacts::iter`].
#[derive(Clone, Debug)]
pub struct ImpactIter<'a> {
    impacts: &'a Impacts,
    next: usize,
}

impl<'a> Iterator for ImpactIter<'a> {
    type Item = Impact<'a>;

    fn next(&mut self) -> Option<Impact<'a>> {
        let k = self.next;
        self.next += 1;
        (k < self.impacts.len()).then(|| self.impacts.get(k))
    }
}

impl<'a> IntoIterator for &'a Impacts {
    type Item = Impact<'a>;
    type IntoIter = ImpactIter<'a>;

    fn into_iter(self) -> ImpactIter<'a> {
        ImpactIter { impacts: self, next: 0 }
    }
}
