//! A motion as polynomials: what an engine with dense output leaves behind, accurate to its tolerance everywhere.

/// The pieces of a motion, one after the other, each a polynomial in the time since its start.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    d: usize,
    starts: Vec<f64>,
    ends: Vec<f64>,
    /// Coefficients of each coordinate of a piece, and where those of the piece begin.
    terms: Vec<usize>,
    places: Vec<usize>,
    coefficients: Vec<f64>,
    /// (constraint, terms, place of the coefficients) of the reactions, and where those of a piece begin. Joints and slips have
    /// their rows behind the constraints.
    reactions: Vec<(usize, usize, usize)>,
    reaction_places: Vec<usize>,
}

impl Pieces {
    pub(crate) fn new(d: usize) -> Self {
        Pieces { d, ..Pieces::default() }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// The instants at which the pieces begin, in order.
    pub fn starts(&self) -> &[f64] {
        &self.starts
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        8 * (self.coefficients.len() + 5 * self.starts.len() + 3 * self.reactions.len())
    }

    /// Appends a piece from its polynomials; terms that vanish at its end are left out.
    pub(crate) fn push<'a>(
        &mut self,
        start: f64,
        length: f64,
        position: impl Fn(usize) -> &'a [f64],
        reactions: impl Iterator<Item = (usize, &'a [f64])>,
    ) {
        // However short a piece is, it has a velocity.
        let terms = (0..self.d).map(|i| needed(position(i), length).max(position(i).len().min(2))).max().unwrap_or(1);
        self.starts.push(start);
        self.ends.push(start + length);
        self.terms.push(terms);
        self.places.push(self.coefficients.len());
        for i in 0..self.d {
            self.coefficients.extend_from_slice(&position(i)[..terms]);
        }
        self.reaction_places.push(self.reactions.len());
        for (constraint, c) in reactions {
            let terms = needed(c, length);
            self.reactions.push((constraint, terms, self.coefficients.len()));
            self.coefficients.extend_from_slice(&c[..terms]);
        }
    }

    /// The same pieces seen through linear functions of the coordinates, one per row.
    pub(crate) fn mapped(&self, rows: &crate::linalg::Rows) -> Pieces {
        let mut mapped = Pieces::new(rows.len());
        for k in 0..self.len() {
            let (terms, place) = (self.terms[k], self.places[k]);
            mapped.starts.push(self.starts[k]);
            mapped.ends.push(self.ends[k]);
            mapped.terms.push(terms);
            mapped.places.push(mapped.coefficients.len());
            for r in 0..rows.len() {
                let (columns, values) = rows.row(r);
                for j in 0..terms {
                    let sum = columns.iter().zip(values).map(|(&i, w)| w * self.coefficients[place + i * terms + j]);
                    mapped.coefficients.push(sum.sum());
                }
            }
            mapped.reaction_places.push(mapped.reactions.len());
            let to = self.reaction_places.get(k + 1).copied().unwrap_or(self.reactions.len());
            for &(constraint, terms, at) in &self.reactions[self.reaction_places[k]..to] {
                mapped.reactions.push((constraint, terms, mapped.coefficients.len()));
                mapped.coefficients.extend_from_slice(&self.coefficients[at..at + terms]);
            }
        }
        mapped
    }

    /// The piece that holds a time; where two meet, the earlier for a limit from the left.
    pub(crate) fn find(&self, t: f64, left: bool) -> Option<usize> {
        let after = self.starts.partition_point(|&s| if left { s < t } else { s <= t });
        let k = after.checked_sub(1).or(if left && !self.is_empty() { Some(0) } else { None })?;
        // The end of a piece and the start of the next are the same instant, but for rounding.
        let rounding = 4.0 * f64::EPSILON * t.abs();
        (t >= self.starts[k] && t <= self.ends[k] + rounding).then_some(k)
    }

    /// The interval of piece k.
    pub(crate) fn span(&self, k: usize) -> (f64, f64) {
        (self.starts[k], self.ends[k])
    }

    /// Whether any constraint acts in piece k.
    pub(crate) fn has_reactions(&self, k: usize) -> bool {
        self.reaction_places.get(k + 1).copied().unwrap_or(self.reactions.len()) > self.reaction_places[k]
    }

    /// Position and velocity of piece k.
    pub(crate) fn read(&self, k: usize, t: f64, q: &mut [f64], v: &mut [f64]) {
        let (s, terms) = (t - self.starts[k], self.terms[k]);
        let place = self.places[k];
        for i in 0..self.d {
            let c = &self.coefficients[place + i * terms..place + (i + 1) * terms];
            (q[i], v[i]) = value_and_slope(c, s);
        }
    }

    /// The second derivatives of piece k.
    pub(crate) fn accelerations(&self, k: usize, t: f64, out: &mut [f64]) {
        let (s, terms, place) = (t - self.starts[k], self.terms[k], self.places[k]);
        for (i, out) in out.iter_mut().enumerate() {
            let c = &self.coefficients[place + i * terms..place + (i + 1) * terms];
            let twice = c.iter().enumerate().skip(2).rev().map(|(j, c)| (j * (j - 1)) as f64 * c);
            *out = twice.fold(0.0, |sum, c| sum * s + c);
        }
    }

    /// The constraints that act in piece k, each with its impulse ∫λ dt.
    pub(crate) fn impulses(&self, k: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let h = self.ends[k] - self.starts[k];
        let to = self.reaction_places.get(k + 1).copied().unwrap_or(self.reactions.len());
        self.reactions[self.reaction_places[k]..to].iter().map(move |&(constraint, terms, place)| {
            let c = &self.coefficients[place..place + terms];
            (constraint, c.iter().enumerate().rev().fold(0.0, |sum, (j, c)| sum * h + c / (j + 1) as f64) * h)
        })
    }

    /// The coefficients of coordinate i in piece k, lowest power first: for tests that change a motion.
    #[doc(hidden)]
    pub fn coefficients_mut(&mut self, k: usize, i: usize) -> &mut [f64] {
        let (terms, place) = (self.terms[k], self.places[k]);
        &mut self.coefficients[place + i * terms..place + (i + 1) * terms]
    }

    /// Writes the reaction densities of piece k to `out`: one entry per constraint and, as far as there is room, one for each
    /// joint and slip.
    pub(crate) fn reactions(&self, k: usize, t: f64, out: &mut [f64]) {
        let s = t - self.starts[k];
        let to = self.reaction_places.get(k + 1).copied().unwrap_or(self.reactions.len());
        for &(constraint, terms, place) in &self.reactions[self.reaction_places[k]..to] {
            if let Some(out) = out.get_mut(constraint) {
                *out = value(&self.coefficients[place..place + terms], s);
            }
        }
    }
}

/// The value of a polynomial at s.
#[inline]
pub(crate) fn value(c: &[f64], s: f64) -> f64 {
    c.iter().rev().fold(0.0, |sum, c| sum * s + c)
}

/// The value and the slope of a polynomial at s.
#[inline]
pub(crate) fn value_and_slope(c: &[f64], s: f64) -> (f64, f64) {
    let (mut value, mut slope) = (0.0, 0.0);
    for c in c.iter().rev() {
        slope = slope * s + value;
        value = value * s + c;
    }
    (value, slope)
}

/// How many terms of a polynomial matter on [0, length].
fn needed(c: &[f64], length: f64) -> usize {
    let (mut largest, mut power, mut needed) = (0.0_f64, 1.0, 1);
    for (k, c) in c.iter().enumerate() {
        let term = c.abs() * power;
        largest = largest.max(term);
        if term > 1e-18 * largest {
            needed = k + 1;
        }
        power *= length;
    }
    needed
}
