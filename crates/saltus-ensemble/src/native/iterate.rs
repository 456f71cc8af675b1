//! What advances trajectories: compiled code, somewhere.

use super::state::State;

/// Why trajectories are not advanced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no memory for them, not even for a few; others have taken it, or nobody has.
    NoRoom { why: String, is_shared: bool },
    /// What computes them has failed: nothing is known about those under way.
    Failed(String),
}

impl Fault {
    /// The reason.
    pub fn why(self) -> String {
        match self {
            Fault::NoRoom { why, .. } | Fault::Failed(why) => why,
        }
    }
}

/// Advances many trajectories.
pub trait Iterate: Send {
    /// Room for the trajectories that are side by side, and for what they record.
    fn room(&self) -> (State, Vec<f64>);

    /// Makes room, where they are computed, for so many of them and for what `flags` ask for. For how many there is; asked before the first
    /// of them is placed, and holds for all that follow.
    ///
    /// # Errors
    /// There is none, or what computes them has failed.
    fn prepare(&mut self, wanted: usize, flags: i32) -> Result<usize, Fault>;

    /// Whether trajectories wait for those beside them, so that neighbours should have much in common.
    fn is_coupled(&self) -> bool;

    /// Whether the records of a trajectory lie one after the other; else each has its place.
    fn is_packed(&self) -> bool;

    /// Advances them until one signals, or for a while. Their records are in `log`, from the first one of each on.
    ///
    /// # Errors
    /// What computes them has failed.
    fn advance(&mut self, state: &mut State, log: &mut Vec<f64>, tolerance: f64, flags: i32) -> Result<(), Fault>;
}

/// The largest room that can be made: as wide as wanted, or half as wide, and so on, but not narrower than `least`. `is_full` tells whether
/// less may succeed where something was not made.
///
/// # Errors
/// That of the last attempt.
pub fn fitting<R, E>(
    wanted: usize,
    least: usize,
    mut make: impl FnMut(usize) -> Result<R, E>,
    is_full: impl Fn(&E) -> bool,
) -> Result<(usize, R), E> {
    let mut width = wanted.max(1);
    loop {
        match make(width) {
            Ok(room) => return Ok((width, room)),
            Err(error) if is_full(&error) && width > least => width = width.div_ceil(2).max(least),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fitting;

    #[test]
    fn rooms_are_halved_until_they_fit() {
        let made = |most: usize| {
            let mut tried = Vec::new();
            let make = |width: usize| {
                tried.push(width);
                if width <= most { Ok(()) } else { Err("full") }
            };
            let found = fitting(16_384, 1024, make, |_| true).map(|(width, ())| width);
            (found, tried)
        };
        assert_eq!(made(20_000), (Ok(16_384), vec![16_384]));
        assert_eq!(made(5000), (Ok(4096), vec![16_384, 8192, 4096]));
        assert_eq!(made(1023), (Err("full"), vec![16_384, 8192, 4096, 2048, 1024]));
        // What is not a matter of memory is not tried again; what is small from the start is not made larger.
        assert_eq!(fitting(4096, 1024, |_| Err::<(), _>("broken"), |_| false), Err("broken"));
        assert_eq!(fitting(100, 1024, |_| Err::<(), _>("full"), |_| true), Err("full"));
        assert_eq!(fitting(1500, 1024, |width| if width <= 1024 { Ok(7) } else { Err(()) }, |()| true), Ok((1024, 7)));
    }
}
