//! x
use saltus::Options;
use saltus::model::Builder;
fn main() {
    for (name, state, gap) in [
        ("jump state", Some(("0", "if(t < 1, 0, 1)")), "x - z"),
        ("jump time", None, "x - max(t - 1, 0)"),
        ("down state", Some(("0", "if(t < 1, 0, -1)")), "x - z"),
        ("down time", None, "x + max(t - 1, 0)"),
        ("by x", Some(("0", "if(x < 0.5, 0, 1)")), "x - z + 1"),
    ] {
        for scheme in ["auto", "event-driven", "mabrouk", "moreau-midpoint", "paoli-schatzman"] {
            let ball = Builder::new("b").coordinate("x", 0.0, 0.0).kinetic("x'^2/2").potential("4*x").restitution(0.5);
            let ball = match state {
                Some((s, r)) => ball.state("z", s, r),
                None => ball,
            };
            let p = ball.constraint("table", gap).build().unwrap().problem().unwrap();
            let run = if scheme == "auto" || scheme == "event-driven" {
                p.run(&Options::events(4.0).scheme(scheme))
            } else {
                p.run(&Options::steps(scheme, 1e-3).until(4.0))
            };
            match run {
                Ok(run) => {
                    println!("{name} {scheme}: {:?} {:?}", run.status, run.ledger.complaints());
                    for i in run.trajectory.impacts.iter().take(2) {
                        println!("   {} {:?} {:?}", i.t, i.v_before, i.v_after)
                    }
                    for c in run.trajectory.contacts.iter() {
                        println!("   {} {}", c.start, c.end)
                    }
                }
                Err(e) => println!("{name} {scheme}: {e}"),
            }
        }
    }
}
