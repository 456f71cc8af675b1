use saltus::{Problem, RunOptions, model::Builder, run, scheme};
fn main() {
    let e = std::env::args().nth(1).unwrap_or("0".into());
    let ball = Builder::new("b")
        .coordinate("y", "1", "0")
        .kinetic("y'^2/2")
        .potential("9.81*y")
        .restitution(&e)
        .constraint("floor", "y")
        .build()
        .unwrap();
    let p = Problem::new(ball).unwrap();
    let mut o = RunOptions::new(0.03, 3.0);
    o.scheme = scheme::find("event-driven").unwrap();
    o.settings.tolerance = 1e-12;
    let t0 = std::time::Instant::now();
    let r = run(&p, &o, &mut |_| true).unwrap();
    println!("{:?} steps {} {:?}", r.status, r.steps, t0.elapsed());
    for ph in r.timeline.phases.iter().take(12) {
        println!("{:?} {} {} {:?}", ph.kind, ph.start, ph.end, ph.constraints);
    }
    println!("{:?}", r.timeline.phases.last());
    println!("{:?}", r.audit);
}
