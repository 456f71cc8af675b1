//! The same for sets with curved walls and corners: disc, dome, wedge, rods, and Galperin's billiard.

use super::exact::{close, shipped_exact, text_exact};
use super::*;
use saltus::PhaseKind;

#[test]
fn p18_disc_dome_wedge_and_rods() {
    let exact = reference("P18");
    for (e, key) in [(0.5, "circle_restitution"), (0.9, "circle_restitution")] {
        let circle = if e == 0.9 { exact[key]["e_0_9"].clone() } else { exact[key].clone() };
        let (t_inf, angle) = (0.5 + num(&circle["t_inf"]), num(&circle["angle_inf"]));
        let run = shipped_exact("disc", &[("e", e)], t_inf + 1.0);
        let chatter = run.timeline.of(PhaseKind::Chatter).next().expect("an accumulation");
        close("accumulation", chatter.end, t_inf, 1e-9);
        let turned = angle + 1.0;
        assert!((position(&run, t_inf + 1.0, 0) - turned.cos()).abs() < 1e-8);
        assert!((position(&run, t_inf + 1.0, 1) - turned.sin()).abs() < 1e-8);
        close("reaction", run.trajectory.reactions(t_inf + 0.5, Side::Left, 1).expect("known")[0], 1.0, 1e-8);
    }
    let dome = &exact["dome"];
    let run = shipped_exact("dome", &[], num(&dome["t_at_y_minus1"]));
    let release = run.timeline.of(PhaseKind::Release).next().expect("detaches");
    close("detachment", release.start, num(&dome["t_detach"]), 1e-9);
    let end = run.trajectory.len() - 1;
    close("x", run.trajectory.q(end)[0], num(&dome["x_at_y_minus1"]), 1e-9);
    close("y", run.trajectory.q(end)[1], -1.0, 1e-9);
    let wedge = &exact["wedge90_gravity"];
    let text = r#"
[coordinates]
x = { position = 0.3, velocity = 0 }
y = { position = 1.5, velocity = 0 }
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "p"
gap = "(y + x)/sqrt(2)"
[[constraint]]
name = "q"
gap = "(y - x)/sqrt(2)"
[impact]
restitution = 0.6
"#;
    let run = text_exact(text, &[], 4.0);
    for (a, first, zeno) in [(0, "t1_wall_p", "zeno_p"), (1, "t1_wall_q", "zeno_q")] {
        let impact = run.trajectory.impacts.iter().find(|i| i.constraints == [a]).expect("hits");
        close("first", impact.t, num(&wedge[first]), 1e-10);
        let chatter = run.timeline.of(PhaseKind::Chatter).find(|p| p.constraints == [a]).expect("accumulates");
        close("accumulation", chatter.end, num(&wedge[zeno]), 1e-9);
    }
    let last = run.trajectory.len() - 1;
    assert!(run.trajectory.q(last).iter().all(|x| x.abs() < 1e-12), "rest at the apex: {:?}", run.trajectory.q(last));
    for row in exact["hard_rods"]["rows"].as_array().expect("rows") {
        let end = row["T"].as_f64().expect("T");
        let run = shipped_exact("hard-rods", &[], end);
        let last = run.trajectory.len() - 1;
        for (i, (x, v)) in nums(&row["x"]).iter().zip(nums(&row["v"])).enumerate() {
            assert!(
                (run.trajectory.q(last)[i] - x).abs() < 1e-9
                    && (run.trajectory.v(last, Side::Left)[i] - v).abs() < 1e-9
            );
        }
        let acted: u64 = run.trajectory.impacts.iter().map(|i| i.constraints.len() as u64).sum();
        assert_eq!(
            Some(acted),
            row["pair_collisions"].as_u64().zip(row["wall_collisions"].as_u64()).map(|(a, b)| a + b)
        );
    }
}

#[test]
fn p18_galperin_counts_the_digits_of_pi() {
    let text = r#"
[parameters]
M = 1
[coordinates]
x = { position = 1, velocity = 0 }
X = { position = 2, velocity = -1 }
[dynamics]
kinetic = "x'^2/2 + M*X'^2/2"
[[constraint]]
name = "wall"
gap = "x"
[[constraint]]
name = "pair"
gap = "X - x"
[impact]
restitution = 1
"#;
    let counts = reference("P18")["galperin"].clone();
    for (n, key) in ["100^0", "100^1", "100^2", "100^3", "100^4"].iter().enumerate() {
        let run = text_exact(text, &[("M", 100f64.powi(n as i32))], 100.0);
        assert_eq!(run.trajectory.impacts.len() as u64, counts[*key].as_u64().expect("count"), "{key}");
    }
}
