//! What acts on a motion at its stored instants: the impulses of the constraints so far, accelerations, base shears.

/// Cumulated impulses and accelerations, one row per stored instant, from an engine that notes them.
#[derive(Clone, Debug, Default)]
pub struct History {
    m: usize,
    d: usize,
    impulses: Vec<f64>,
    accelerations: Vec<f64>,
    /// The points whose base shear is noted, and it.
    shear_points: Vec<usize>,
    shears: Vec<f64>,
    /// What stops do to the side, by name, and its impulses so far.
    side_names: Vec<String>,
    sides: Vec<f64>,
}

impl History {
    /// Fills in rows up to a number of instants.
    pub(crate) fn fill_to(
        &mut self,
        instants: usize,
        impulses: &[f64],
        accelerations: &[f64],
        shears: &[f64],
        sides: &[f64],
    ) {
        (self.m, self.d) = (impulses.len(), accelerations.len());
        while self.len() < instants {
            self.impulses.extend_from_slice(impulses);
            self.accelerations.extend_from_slice(accelerations);
            self.shears.extend_from_slice(shears);
            self.sides.extend_from_slice(sides);
        }
    }

    /// Notes base shears of these points as well.
    pub(crate) fn with_shears(&mut self, points: &[usize]) {
        self.shear_points = points.to_vec();
    }

    /// Notes what stops do to the side as well.
    pub(crate) fn with_sides(&mut self, names: &[String]) {
        self.side_names = names.to_vec();
    }

    /// What stops do to the side: the force of a round hole on each of its points, friction along each slide.
    pub fn side_names(&self) -> &[String] {
        &self.side_names
    }

    /// Its impulses from the start to stored instant k, on the structure.
    pub fn sides(&self, k: usize) -> &[f64] {
        let n = self.side_names.len();
        &self.sides[k * n..(k + 1) * n]
    }

    /// The points whose base shear is noted.
    pub fn shear_points(&self) -> &[usize] {
        &self.shear_points
    }

    /// Base shears at stored instant k, r·(K u + C u'), one for each of [`History::shear_points`].
    pub fn shears(&self, k: usize) -> &[f64] {
        let n = self.shear_points.len();
        &self.shears[k * n..(k + 1) * n]
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.accelerations.len() / self.d.max(1)
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.accelerations.is_empty()
    }

    /// Whether impulses were noted.
    pub fn has_impulses(&self) -> bool {
        !self.impulses.is_empty()
    }

    /// The impulses of all constraints from the start to stored instant k: impacts and lasting contacts together.
    pub fn impulses(&self, k: usize) -> &[f64] {
        &self.impulses[k * self.m..(k + 1) * self.m]
    }

    /// The absolute accelerations of all coordinates at stored instant k, without the impulses of impacts.
    pub fn accelerations(&self, k: usize) -> &[f64] {
        &self.accelerations[k * self.d..(k + 1) * self.d]
    }

    /// The impulse of constraint a from the start to any time; between stored instants its mean force is that of the interval.
    pub fn impulse(&self, times: &[f64], a: usize, t: f64) -> f64 {
        let at = |k: usize| self.impulses[k * self.m + a];
        let last = self.len().min(times.len()).saturating_sub(1);
        let k = times.partition_point(|&x| x <= t);
        if k == 0 {
            return at(0);
        }
        if k > last {
            return at(last);
        }
        let share = (t - times[k - 1]) / (times[k] - times[k - 1]);
        at(k - 1) + share * (at(k) - at(k - 1))
    }
}
