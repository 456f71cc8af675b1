//! A beam along which stops stand side by side: waves bring it to one after the other, step by step.

use saltus::structure::beam::{End, Section};
use saltus::structure::{Beam, Builder, Structure};
use saltus::{Options, Status};

/// A tube of 2 m, held at both ends, driven in the middle, with `count` stops on one side or on both.
fn tube(count: usize, e: f64, both: bool) -> Structure {
    let mut made = Builder::new("tube");
    let (outer, inner): (f64, f64) = (0.02, 0.016);
    let area = std::f64::consts::FRAC_PI_4 * (outer.powi(2) - inner.powi(2));
    let inertia = std::f64::consts::PI / 64.0 * (outer.powi(4) - inner.powi(4));
    let section = Section { rigidity: 2.1e11 * inertia, mass_per_length: 7800.0 * area };
    let beam = Beam::hermite(2.0, section, 80).ends(End::Clamped, End::Clamped).rayleigh(2.0, 1e-5);
    let part = made.part(beam.part());
    let middle = made.point("middle", part.at(1.0));
    made.force(&middle, "300*sin(2*pi*25*t)");
    for i in 1..=count {
        let point = made.point(&format!("s{i}"), part.at(2.0 * i as f64 / (count + 1) as f64));
        made.stop(&format!("above{i}"), 1e-3 - &point, e);
        if both {
            made.stop(&format!("below{i}"), &point + 1e-3, e);
        }
    }
    made.build().expect("a structure")
}

#[test]
fn many_stops_are_hit_one_after_the_other() {
    for (scheme, e, both, h, end) in [
        ("moreau-jean", 0.5, true, 1e-4, 0.1),
        ("paoli-schatzman", 0.0, false, 1e-4, 0.2),
        ("paoli-schatzman", 0.5, false, 1e-4, 0.2),
        ("paoli-schatzman", 0.0, false, 2e-5, 0.1),
        ("paoli-schatzman", 0.5, true, 1e-4, 0.1),
        ("moreau-jean", 0.0, false, 2e-5, 0.1),
    ] {
        let run = tube(78, e, both).run(&Options::steps(scheme, h).until(end)).expect("runs");
        assert_eq!(run.status, Status::Finished, "{scheme} {e} {both} {h}");
        assert!(run.trajectory.impacts.len() > 20, "{scheme} {e} {both} {h}: {}", run.trajectory.impacts.len());
        // Stops of one impact were hit within the steps that it takes, at most eight of them (one with moreau-jean).
        let fastest = run.trajectory.impacts.iter().map(|i| i.approach.abs()).fold(1.0, f64::max);
        let steps = if scheme == "moreau-jean" { 3.0 } else { 9.0 };
        for impact in run.trajectory.impacts.iter() {
            for &a in impact.constraints {
                let (point, sign) = if both { (1 + a / 2, if a % 2 == 0 { -1.0 } else { 1.0 }) } else { (1 + a, -1.0) };
                let gap = 1e-3 + sign * impact.q[point];
                assert!(gap.abs() <= steps * h * fastest, "{scheme} {e} {both} {h}: {gap} at {}", impact.t);
            }
        }
    }
}
