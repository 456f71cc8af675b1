//! What can be said about a system, a run, or runs beside each other: functions that return data.

mod check;
mod closing;
mod compare;
mod continuation;
mod converge;
mod distance;
mod equilibria;
mod execute;
mod forcing;
mod limit;
mod lyapunov;
mod multipliers;
mod orbit;
mod order;
mod pairing;
mod penetration;
mod phase_space;
mod probe;
mod rates;
mod sensitivity;
mod shocks;
mod spectrum;
mod trouble;

pub use check::{Check, CheckOptions, Coverage, Finding, Pair, Verdict, check, check_from};
pub use closing::{Orbit, Period};
pub use compare::{CompareOptions, ComparedRuns, Comparison, Way, compare, ways};
pub use continuation::{
    Branch, BranchPoint, Clock, ContinueOptions, Curve, CurveOptions, Left, News, OfParameters, Origin, RestNews,
    Special, SpecialKind, Touched, WalkOptions, continue_equilibria, continue_orbit, curve,
};
pub use converge::{ConvergeOptions, Convergence, Level, NoConvergence, Orders, Over, Reference, converge};
pub use distance::{Distance, distance};
pub use equilibria::{Equilibria, EquilibriaOptions, Equilibrium, Isolation, Stability, equilibria};
pub use execute::{Execute, Job, Timed, sequentially};
pub use forcing::{forcing_period, period_of};
pub use limit::{LongTime, long_time};
pub use lyapunov::{
    Exponent, Lyapunov, LyapunovOptions, NoExponents, Perturbations, Returns, carry_perturbations, lyapunov,
    repeating_exponents,
};
pub use multipliers::neighbour_multipliers;
pub use orbit::{NoOrbit, OrbitEvent, OrbitOptions, OrbitStability, is_same_orbit, orbit, starts_around};
pub use order::{Fit, fit};
pub use pairing::{Pairing, pairing};
pub use penetration::stiffness_for_penetration;
pub use phase_space::{NoMap, Passage, PhaseSpace};
pub use probe::{Probe, ProbeOptions, ensemble, judge, probe};
pub use rates::{HarmonicForcing, check_period};
pub use sensitivity::{Sensitivity, sensitivity};
pub use shocks::{GroupSums, Shock, Shocks, StopStatistics};
pub use spectrum::{Density, ResponseSpectrum, displacement_density, force_density, response_spectrum};
pub use trouble::trouble;
