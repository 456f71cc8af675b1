use super::*;
use crate::model::Builder;

fn all(model: Builder) -> Equilibria {
    let problem = model.build().expect("a model").problem().expect("a problem");
    equilibria(&problem, &EquilibriaOptions::default(), &mut |_, _| true).expect("searched")
}

#[test]
fn a_particle_rests_in_a_wedge_with_the_reactions_of_statics() {
    let wedge = Builder::new("wedge")
        .coordinate("x", 0.1, 0)
        .coordinate("y", 2, 0)
        .kinetic("(x'^2 + y'^2)/2")
        .potential("10*y")
        .restitution(0)
        .constraint("left", "y*cos(0.5) + x*sin(0.5)")
        .constraint("right", "y*cos(0.3) - x*sin(0.3)");
    let found = all(wedge).found;
    assert_eq!(found.len(), 1);
    let (l, r) = (found[0].reactions[0], found[0].reactions[1]);
    // l cos(0.5) + r cos(0.3) = 10, l sin(0.5) = r sin(0.3).
    assert!(
        (l * 0.5f64.cos() + r * 0.3f64.cos() - 10.0).abs() < 1e-10
            && (l * 0.5f64.sin() - r * 0.3f64.sin()).abs() < 1e-10
    );
    assert!(matches!(found[0].stability, Stability::Stable { .. }));
}

#[test]
fn a_pendulum_against_a_wall_has_a_degenerate_contact_and_an_unstable_top() {
    let pendulum = Builder::new("pendulum")
        .coordinate("a", 1, 0)
        .kinetic("a'^2/2")
        .potential("-10*cos(a)")
        .restitution(0)
        .constraint("wall", "a");
    let found = all(pendulum).found;
    let hanging = found.iter().find(|e| e.q[0].abs() < 1e-9).expect("hangs at the wall");
    assert_eq!((&hanging.closed[..], &hanging.degenerate[..]), (&[0][..], &[0][..]));
    assert!(matches!(hanging.stability, Stability::Stable { .. }), "{hanging:?}");
    let top = found.iter().find(|e| (e.q[0] - std::f64::consts::PI).abs() < 1e-9).expect("stands");
    assert!(matches!(top.stability, Stability::Unstable { .. }));
}

#[test]
fn beads_in_a_bowl_share_its_bottom() {
    let bowl = Builder::new("beads")
        .parameter("n", "3")
        .coordinate_family("x", "i = 1..n", "i - 2", "0")
        .kinetic("sum(i = 1..n, x[i]'^2/2)")
        .potential("sum(i = 1..n, x[i]^2)")
        .restitution(0)
        .constraint_family("pair", "i = 1..n-1", "x[i+1] - x[i] - 0.5");
    let found = all(bowl).found;
    assert_eq!(found.len(), 1, "{found:?}");
    for (x, exact) in found[0].q.iter().zip([-0.5, 0.0, 0.5]) {
        assert!((x - exact).abs() < 1e-12);
    }
    assert!(found[0].reactions.iter().all(|l| (l - 1.0).abs() < 1e-10));
}
