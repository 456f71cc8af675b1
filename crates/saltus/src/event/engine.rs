//! The engine as runs see it.

use super::{EventEngine, Touch};
use crate::Reason;
use crate::engine::Engine;
use crate::motion::{Obstacle, Variation};
use crate::problem::Cells;
use crate::record::Recorder;

impl Engine for EventEngine {
    fn advance(&mut self, until: f64) -> Result<(), Reason> {
        self.end = until;
        if self.crossing.is_some() {
            return self.step_across();
        }
        if self.end - self.t <= self.shortest() {
            self.t = self.end;
            return Ok(());
        }
        match self.step() {
            Err(Reason::Painleve { constraint }) if self.safety_net => self.jam(&constraint),
            Err(reason) if self.can_cross(&reason) => self.cross(reason),
            outcome => outcome,
        }
    }

    fn t(&self) -> f64 {
        self.crossing.as_ref().map_or(self.t, |c| c.engine().t())
    }

    fn is_at(&self, until: f64) -> bool {
        self.crossing.is_none() && self.t >= until
    }

    fn state(&self) -> (&[f64], &[f64]) {
        match &self.crossing {
            Some(crossing) => crossing.engine().state(),
            None => (&self.q, &self.v),
        }
    }

    fn full_state(&self) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
        let closed = (0..self.touch.len()).filter(|&a| self.touch[a] != Touch::Open).collect();
        (self.q.clone(), self.v.clone(), closed)
    }

    fn sides(&self) -> Vec<i8> {
        self.own_sides()
    }

    fn is_at_rest(&self) -> bool {
        self.at_rest
    }

    fn steps(&self) -> (u64, u64) {
        let share = match self.final_end.is_finite() {
            true => (self.t() - self.t0) / (self.final_end - self.t0),
            false => 0.0,
        };
        ((1e6 * share) as u64, 1_000_000)
    }

    fn recorder(&mut self) -> &mut Recorder {
        &mut self.record.out
    }

    fn impacts(&self) -> usize {
        self.record.made()
    }

    fn cells(&self) -> &Cells {
        self.instance.cells()
    }

    fn variation(&mut self) -> Option<Result<Variation, Obstacle>> {
        self.vary.as_ref()?;
        // (What happened at this instant is complete with the accelerations after it.)
        if self.flow.expand(self.t, &self.q, &self.v, &self.rubbing.rows, self.fresh).is_ok() {
            self.vary_along(0.0);
        }
        let vary = self.vary.as_ref()?;
        let a: Vec<f64> = (0..self.q.len()).map(|i| self.flow.acceleration(i)[0]).collect();
        Some(match &vary.obstacle {
            Some(obstacle) => Err(obstacle.clone()),
            None => Ok(vary.get(self.t, &a)),
        })
    }

    fn set_variation(&mut self, columns: &Variation) {
        if let Some(vary) = &mut self.vary {
            vary.set(columns);
        }
    }

    fn port_changed(&mut self) {
        self.fresh = true;
        let _ = self.evaluate(true).and_then(|()| self.choose());
    }

    fn finish(&mut self) {
        self.abandon_crossing();
        let (q, v) = (self.q.clone(), self.v.clone());
        self.record.close(self.t, &q, &v);
        if self.rubbing.reduced.0 > 0 {
            let (count, least) = self.rubbing.reduced;
            let times = if count == 1 { "in one impact".to_string() } else { format!("in {count} impacts") };
            self.record.out.notes.push(format!(
                "{times} the restitution was reduced (at most to {} of what is given): with friction it would have created energy",
                crate::text::number(least, 3)
            ));
        }
        if self.switched > 0 {
            let times = if self.switched == 1 { "once".to_string() } else { format!("{} times", self.switched) };
            self.record
                .out
                .notes
                .push(format!("forces or gaps switched {times}; each switch was located like an impact"));
        }
    }
}
