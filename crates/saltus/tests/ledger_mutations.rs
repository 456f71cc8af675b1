//! The ledger notices what is wrong: correct runs are corrupted in many ways, and each way leaves a breach.

use saltus::model::Builder;
use saltus::structure::{self, Damping, Part, bar};
use saltus::{
    Contact, Impact, Impacts, Options, Phase, PhaseKind, Recorded, Run, Side, Simulation, Status, Trajectory,
};

/// A correct run, to be made again and again.
struct Case {
    name: &'static str,
    begin: Box<dyn Fn() -> Simulation>,
    end: f64,
    /// Corruptions smaller than this are within the accuracy of the scheme.
    size: f64,
}

impl Case {
    fn run(&self, alter: &mut dyn FnMut(Recorded)) -> Run {
        let mut simulation = (self.begin)();
        simulation.advance_to(self.end).expect("runs");
        simulation.finish_altered(alter)
    }
}

/// What an impact consists of.
#[derive(Clone)]
struct Hit {
    t: f64,
    q: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    constraints: Vec<usize>,
    impulses: Vec<f64>,
    energy_change: f64,
    rest: [f64; 3],
}

fn hits(motion: &Trajectory) -> Vec<Hit> {
    let hit = |i: Impact| Hit {
        t: i.t,
        q: i.q.to_vec(),
        before: i.v_before.to_vec(),
        after: i.v_after.to_vec(),
        constraints: i.constraints.to_vec(),
        impulses: i.impulses.to_vec(),
        energy_change: i.energy_change,
        rest: [i.law_residual, i.speed, i.approach],
    };
    motion.impacts.iter().map(hit).collect()
}

fn set_hits(motion: &mut Trajectory, hits: &[Hit]) {
    motion.impacts = Impacts::default();
    for h in hits {
        motion.impacts.push_impact(&Impact {
            t: h.t,
            q: &h.q,
            v_before: &h.before,
            v_after: &h.after,
            constraints: &h.constraints,
            impulses: &h.impulses,
            others: &[],
            energy_change: h.energy_change,
            law_residual: h.rest[0],
            speed: h.rest[1],
            approach: h.rest[2],
        });
    }
}

/// Changes the fastest impact; false if there is none.
fn with_hit(r: &mut Recorded, change: impl FnOnce(&mut Hit)) -> bool {
    let mut list = hits(r.trajectory);
    let Some(hit) = list.iter_mut().min_by(|a, b| a.rest[2].total_cmp(&b.rest[2])) else { return false };
    change(hit);
    set_hits(r.trajectory, &list);
    true
}

/// Changes stored instants: index, position, velocity before and after.
fn with_instants(r: &mut Recorded, mut change: impl FnMut(usize, &mut Vec<f64>, &mut Vec<f64>, &mut Vec<f64>)) -> bool {
    let old = std::mem::take(r.trajectory);
    let mut new = Trajectory::new(old.dimension()).with_states(old.dimension() - old.degrees());
    for k in 0..old.len() {
        let (mut q, mut left, mut right) =
            (old.q(k).to_vec(), old.v(k, Side::Left).to_vec(), old.v(k, Side::Right).to_vec());
        change(k, &mut q, &mut left, &mut right);
        new.push_instant(old.t[k], &q, &left, &right).expect("in order");
    }
    (new.impacts, new.contacts, new.events, new.pieces) = (old.impacts, old.contacts, old.events, old.pieces);
    *r.trajectory = new;
    true
}

/// The stored instant in the middle of free flight at which the first coordinate is fastest, and how fast.
fn fastest(motion: &Trajectory) -> (usize, usize, f64) {
    let free = |k: &usize| {
        let near = |x: usize| motion.jumps().binary_search(&x).is_ok();
        !near(*k) && !near(k - 1) && !near(k + 1)
    };
    let speeds = (1..motion.len() - 1).filter(free).flat_map(|k| (0..motion.degrees()).map(move |i| (k, i)));
    let best = speeds.max_by(|a, b| {
        let v = |x: &(usize, usize)| motion.v(x.0, Side::Left)[x.1].abs();
        v(a).total_cmp(&v(b))
    });
    let (k, i) = best.expect("an instant in flight");
    (k, i, motion.v(k, Side::Left)[i].abs())
}

/// A phase of a kind, with some length.
fn phase(phases: &mut [Phase], kind: PhaseKind) -> Option<&mut Phase> {
    phases.iter_mut().find(|p| p.kind == kind && (p.end > p.start || kind == PhaseKind::Impact))
}

/// A way to corrupt what was recorded; false where it does not apply. `s` is the size that must be noticed.
type Corruption = fn(&mut Recorded, f64) -> bool;

#[rustfmt::skip]
const CORRUPTIONS: &[(&str, Corruption)] = &[
    ("an impact later", |r, s| { let span = r.trajectory.t[r.trajectory.len() - 1]; with_hit(r, |h| h.t += s * span) }),
    ("an impact earlier", |r, s| { let span = r.trajectory.t[r.trajectory.len() - 1]; with_hit(r, |h| h.t -= s * span) }),
    ("an impulse dropped", |r, _| with_hit(r, |h| h.impulses.fill(0.0))),
    ("an impulse scaled", |r, s| with_hit(r, |h| h.impulses.iter_mut().for_each(|p| *p *= 1.0 + s))),
    ("an impulse that pulls", |r, _| with_hit(r, |h| h.impulses.iter_mut().for_each(|p| *p = -*p))),
    ("an impact dropped", |r, _| { let mut l = hits(r.trajectory); if l.is_empty() { return false } l.remove(0); set_hits(r.trajectory, &l); true }),
    ("an impact dropped with its phase", |r, _| {
        let mut l = hits(r.trajectory);
        let Some(k) = r.timeline.phases.iter().position(|p| p.kind == PhaseKind::Impact) else { return false };
        l.remove(0); r.timeline.phases.remove(k); set_hits(r.trajectory, &l); true
    }),
    ("an impact twice", |r, _| { let mut l = hits(r.trajectory); if l.is_empty() { return false } let h = l[0].clone(); l.insert(0, h); set_hits(r.trajectory, &l); true }),
    ("v- and v+ swapped", |r, _| with_hit(r, |h| std::mem::swap(&mut h.before, &mut h.after))),
    ("v+ off the law", |r, s| with_hit(r, |h| h.after.iter_mut().for_each(|v| *v *= 1.0 + 3.0 * s))),
    ("a wrong constraint", |r, _| { let m = r.audit.impulses.len(); if m < 2 { return false } with_hit(r, |h| h.constraints[0] = (h.constraints[0] + 1) % m) }),
    ("an impact elsewhere", |r, s| with_hit(r, |h| h.q.iter_mut().for_each(|q| *q += s.max(1e-3)))),
    ("a wrong change of energy", |r, s| with_hit(r, |h| h.energy_change -= s.max(1e-3) * h.before.iter().map(|v| v * v).sum::<f64>())),
    ("an impact that is not a number", |r, _| with_hit(r, |h| h.after[0] = f64::NAN)),
    ("a jump of q at one instant", |r, s| { let (k, i, _) = fastest(r.trajectory); with_instants(r, |n, q, _, _| if n == k { q[i] += s.max(1e-3) }) }),
    ("a jump of q for good", |r, s| { let (k, i, _) = fastest(r.trajectory); with_instants(r, |n, q, _, _| if n >= k { q[i] += s.max(1e-3) }) }),
    ("a velocity with the wrong sign", |r, _| { let (k, i, v) = fastest(r.trajectory); if v == 0.0 { return false } with_instants(r, |n, _, l, h| if n == k { l[i] = -l[i]; h[i] = -h[i] }) }),
    ("an instant that is not a number", |r, _| { let (k, i, _) = fastest(r.trajectory); with_instants(r, |n, q, _, _| if n == k { q[i] = f64::NAN }) }),
    ("a state at one instant", |r, s| { let (k, i) = (r.trajectory.len() / 3, r.trajectory.degrees()); i < r.trajectory.dimension() && with_instants(r, |n, _, l, h| if n == k { l[i] *= 1.0 + s; h[i] = l[i] }) }),
    ("a state for good", |r, s| { let (k, i) = (r.trajectory.len() / 3, r.trajectory.degrees()); i < r.trajectory.dimension() && with_instants(r, |n, _, l, h| if n >= k { l[i] *= 1.0 + s; h[i] *= 1.0 + s }) }),
    ("a state that does not change", |r, _| { let i = r.trajectory.degrees(); i < r.trajectory.dimension() && { let z = r.trajectory.states(0)[0]; with_instants(r, |_, _, l, h| { l[i] = z; h[i] = z }) } }),
    ("a state with half its rate", |r, _| {
        // By events its polynomials are what counts, with time steps the instants.
        let i = r.trajectory.degrees();
        if i == r.trajectory.dimension() { return false }
        let z = r.trajectory.states(0)[0];
        for k in 0..r.trajectory.pieces.len() {
            let c = r.trajectory.pieces.coefficients_mut(k, i);
            if let Some(c) = c.get_mut(1) { *c = z + 0.5 * (*c - z) }
            c.iter_mut().skip(2).for_each(|c| *c *= 0.5);
        }
        with_instants(r, |_, _, l, h| { l[i] = z + 0.5 * (l[i] - z); h[i] = z + 0.5 * (h[i] - z) })
    }),
    ("another start", |r, s| with_instants(r, |n, q, _, _| if n == 0 { q[0] += 1e-2 * s })),
    ("time going back", |r, _| { let k = r.trajectory.len() / 2; r.trajectory.t.swap(k, k + 1); true }),
    ("two instants at one time", |r, _| { let k = r.trajectory.len() / 2; r.trajectory.t[k] = r.trajectory.t[k + 1]; true }),
    ("a jump of q in a piece", |r, s| { let n = r.trajectory.pieces.len(); if n == 0 { return false } r.trajectory.pieces.coefficients_mut(n / 2, 0)[0] += s; true }),
    ("a bulge in a piece", |r, _| {
        // The ends stay where they are: only the forces, the velocities, the gaps or the account can tell.
        let p = &mut r.trajectory.pieces;
        let Some(k) = (0..p.len()).find(|&k| p.coefficients_mut(k, 0).len() > 2) else { return false };
        let c = p.coefficients_mut(k, 0);
        c[1] += 1e-3; c[2] -= 1e-3; true
    }),
    ("a dip out of K between samples", |r, _| {
        // The first flight goes deep down, and comes back to where it was at its end.
        let Some(t1) = r.trajectory.impacts.iter().next().map(|i| i.t) else { return false };
        let p = &mut r.trajectory.pieces;
        if p.is_empty() { return false }
        let c = p.coefficients_mut(0, 0);
        if c.len() < 3 { return false }
        c[1] -= 20.0 * t1; c[2] += 20.0; true
    }),
    ("a piece that is not a number", |r, _| { let n = r.trajectory.pieces.len(); if n == 0 { return false } r.trajectory.pieces.coefficients_mut(n / 2, 0)[1] = f64::NAN; true }),
    ("a drift in contact", |r, s| {
        let Some(c) = r.trajectory.contacts.iter().max_by(|a, b| (a.end - a.start).total_cmp(&(b.end - b.start))).cloned() else { return false };
        let last = r.trajectory.t.iter().position(|&t| t > 0.5 * (c.start + c.end)).unwrap_or(0);
        let t: Vec<f64> = r.trajectory.t.clone();
        let rate = 1e3 * s;
        with_instants(r, |n, q, _, _| if n >= last && t[n] <= c.end { q[0] -= rate * (t[n] - t[last - 1]) })
    }),
    ("a contact with an open gap", |r, _| {
        let Some(t1) = r.trajectory.impacts.iter().next().map(|i| i.t) else { return false };
        r.trajectory.contacts.insert(0, Contact { constraint: 0, start: 0.1 * t1, end: 0.6 * t1, impulse: 0.0 }); true
    }),
    ("a contact dropped", |r, _| !r.trajectory.pieces.is_empty() && !r.trajectory.contacts.is_empty() && { r.trajectory.contacts.remove(0); true }),
    ("a contact that ends too late", |r, _| {
        if r.trajectory.pieces.is_empty() { return false }
        let last = r.trajectory.t[r.trajectory.len() - 1];
        let Some(c) = r.trajectory.contacts.iter_mut().find(|c| c.end < 0.9 * last) else { return false };
        c.end += 0.5 * (c.end - c.start); true
    }),
    ("a wrong impulse of a contact", |r, s| !r.trajectory.pieces.is_empty() && r.trajectory.contacts.first_mut().map(|c| c.impulse *= 1.0 + s).is_some()),
    ("a wrong total impulse", |r, s| !r.trajectory.pieces.is_empty() && { r.audit.impulses[0] *= 1.0 + s; r.audit.impulses[0] != 0.0 }),
    ("a wrong energy at the end", |r, s| {
        match r.accounts.last_mut() { Some((_, a)) => a.kinetic += (1.0 + s) * (a.kinetic + a.potential + a.lost), None => r.audit.energy_end += 3.0 * s * (r.audit.energy_start.abs() + r.audit.energy_lost_at_impacts.abs()) } true
    }),
    ("a wrong energy at the start", |r, s| r.accounts.is_empty() && { r.audit.energy_start += 5.0 * s * (r.audit.energy_start.abs() + r.audit.energy_lost_at_impacts.abs()); true }),
    ("a wrong work of walls", |r, _| { if r.audit.contact_work == 0.0 { return false } r.audit.contact_work += 0.5 * (r.audit.energy_lost_at_impacts.abs() + r.audit.energy_start.abs()); true }),
    ("a loss that was not", |r, _| r.accounts.last_mut().map(|(_, a)| a.lost += 0.5 * (a.lost.abs() + a.kinetic + a.potential.abs())).is_some()),
    ("a claimed error that is not a number", |r, _| phase(&mut r.timeline.phases, PhaseKind::Chatter).map(|p| p.error = f64::NAN).is_some()),
    ("a claimed error of nothing", |r, _| phase(&mut r.timeline.phases, PhaseKind::Chatter).map(|p| p.error = 0.0).is_some()),
    ("a wrong limit of an accumulation", |r, _| phase(&mut r.timeline.phases, PhaseKind::Chatter).map(|p| p.end += 0.1 * (p.end - p.start)).is_some()),
    ("an accumulation dropped", |r, _| { let n = r.timeline.phases.len(); r.timeline.phases.retain(|p| p.kind != PhaseKind::Chatter); r.timeline.phases.len() < n }),
    ("a flight dropped", |r, _| { let k = r.timeline.phases.iter().position(|p| p.kind == PhaseKind::Flight && p.end > p.start); k.map(|k| r.timeline.phases.remove(k)).is_some() }),
];

fn cases() -> Vec<Case> {
    let events = |name, system: saltus::Problem, end: f64| Case {
        name,
        begin: Box::new(move || system.engine(&Options::events(end)).expect("begins")),
        end,
        size: 1e-4,
    };
    let steps = |name, system: saltus::Problem, scheme: &'static str, h: f64, end: f64| Case {
        name,
        begin: Box::new(move || system.engine(&Options::steps(scheme, h).until(end)).expect("begins")),
        end,
        size: 0.2,
    };
    let ball = || {
        let ball = Builder::new("ball").coordinate("y", 1.0, 0.0).kinetic("y'^2/2").potential("9.81*y");
        ball.restitution(0.5).constraint("floor", "y").build().expect("a model").problem().expect("compiles")
    };
    let table = || {
        let table = Builder::new("table").coordinate("y", 0.02, 0.0).kinetic("y'^2/2").potential("9.81*y");
        let table = table.restitution(0.3).constraint("table", "y - 6e-4*sin(2*pi*25*t)");
        table.build().expect("a model").problem().expect("compiles")
    };
    let pair = || {
        let pair = Builder::new("pair").coordinate("a", 0.0, 3.0).coordinate("b", 1.0, 0.0);
        let pair = pair.kinetic("a'^2 + b'^2/2").potential("2*a^2 + (b - 1)^2").force("a", "cos(2*t)");
        let pair = pair.restitution(0.7).constraint("between", "b - a").constraint("wall", "1.4 - b");
        pair.build().expect("a model").problem().expect("compiles")
    };
    let pendulum = || {
        let energy = "a'^2 + b'^2/2 + a'*b'*cos(a - b)";
        let pendulum = Builder::new("pendulum").coordinate("a", 1.2, 0.0).coordinate("b", 0.5, 0.0);
        let pendulum = pendulum.kinetic(energy).potential("-9.81*(2*cos(a) + cos(b))");
        let pendulum =
            pendulum.restitution(0.6).constraint("knee", "a - b + 0.8").constraint("wall", "sin(a) + sin(b) + 0.5");
        pendulum.build().expect("a model").problem().expect("compiles")
    };
    let valve = || {
        let valve = Builder::new("valve").coordinate("x", 0.0, 0.5).state("p", 2.0, "1.5 - p*(0.2 + max(x, 0))");
        let valve = valve.kinetic("x'^2/2").potential("2*x^2").force("x", "p - 1 - 0.1*x'");
        valve.restitution(0.6).constraint("seat", "x").build().expect("a model").problem().expect("compiles")
    };
    let mut cases = vec![
        events("valve", valve(), 8.0),
        events("ball", ball(), 2.0),
        events("moving table", table(), 0.5),
        events("two masses", pair(), 12.0),
        events("double pendulum", pendulum(), 3.0),
    ];
    for scheme in ["mabrouk", "moreau-jean", "paoli-schatzman"] {
        cases.push(steps("ball, stepped", ball(), scheme, 1e-3, 2.0));
        cases.push(steps("two masses, stepped", pair(), scheme, 1e-3, 12.0));
        cases.push(steps("double pendulum, stepped", pendulum(), scheme, 1e-3, 3.0));
    }
    for scheme in ["mabrouk", "moreau-jean", "moreau-midpoint", "paoli-schatzman"] {
        cases.push(steps("valve, stepped", valve(), scheme, 1e-3, 8.0));
    }
    cases.push(steps("moving table, stepped", table(), "mabrouk", 1e-5, 0.5));
    cases.extend(towers());
    cases
}

/// A structure by events and with time steps.
fn towers() -> Vec<Case> {
    let tower = || {
        let mut tower = structure::Builder::new("tower");
        let part = bar::building(&[1.0, 1.0], &[40.0, 30.0]).expect("a building");
        let part = tower.part(Part { damping: Damping::Rayleigh(0.1, 1e-3), ..part });
        let (_, roof) = (tower.point("u1", part.floor(1)), tower.point("u2", part.floor(2)));
        tower.force(&roof, "5*sin(3*t)");
        tower.stop("stop", "0.1 - u2", 0.5);
        tower.build().expect("a structure")
    };
    let (a, b) = (tower(), tower());
    vec![
        Case {
            name: "tower",
            begin: Box::new(move || a.engine(&Options::events(10.0).scheme("event-driven")).expect("begins")),
            end: 10.0,
            size: 1e-4,
        },
        Case {
            name: "tower, stepped",
            begin: Box::new(move || b.engine(&Options::steps("paoli-schatzman", 1e-3).until(10.0)).expect("begins")),
            end: 10.0,
            size: 0.2,
        },
    ]
}

#[test]
fn correct_runs_have_no_breach() {
    for case in cases() {
        let run = case.run(&mut |_| {});
        assert_eq!(run.status, Status::Finished, "{}: {:#?}", case.name, run.ledger.complaints());
        assert!(!run.trajectory.impacts.is_empty(), "{}", case.name);
    }
}

#[test]
fn every_corruption_is_noticed() {
    let cases = cases();
    let (mut unseen, mut seen) = (Vec::new(), 0);
    for (what, corrupt) in CORRUPTIONS {
        let mut applied = 0;
        for case in &cases {
            let mut applies = false;
            let run = case.run(&mut |mut recorded| applies = corrupt(&mut recorded, case.size));
            if !applies {
                continue;
            }
            applied += 1;
            if run.status == Status::Finished {
                unseen.push(format!("{what}: {} with {}", case.name, run.scheme.name));
            } else {
                assert!(matches!(run.status, Status::Breached { .. }), "{what}: {:?}", run.status);
                assert!(run.ok().is_err());
                seen += 1;
            }
        }
        assert!(applied > 0, "{what} applies to no case");
    }
    println!("{} corruptions, noticed in {seen} runs", CORRUPTIONS.len());
    assert!(unseen.is_empty(), "unnoticed:\n{}", unseen.join("\n"));
}

#[test]
fn a_stepped_stretch_may_be_several_phases() {
    // A force that is stiff is crossed by steps.
    let run = |alter: &dyn Fn(&mut Vec<Phase>)| {
        let block = Builder::new("block").coordinate("x", 1.0, 1.0).kinetic("x'^2/2");
        let block = block.force("x", "-1e8*(x' - cos(t))").build().expect("a model").problem().expect("a problem");
        let mut simulation = block.engine(&Options::events(3.0).scheme("auto")).expect("begins");
        simulation.advance_to(3.0).expect("runs");
        simulation.finish_altered(&mut |r: Recorded| alter(&mut r.timeline.phases))
    };
    let stepped = |p: &Phase| p.kind == PhaseKind::Stepped;
    let divide = |phases: &mut Vec<Phase>| {
        let k = phases.iter().position(stepped).expect("a stretch");
        let (whole, t) = (phases[k].clone(), 0.5 * (phases[k].start + phases[k].end));
        phases[k].end = t;
        // As where friction begins to slide in the middle of it.
        phases.insert(k + 1, Phase { kind: PhaseKind::Slip, start: t, end: t, ..whole.clone() });
        phases.insert(k + 2, Phase { start: t, ..whole });
    };
    assert_eq!(run(&|_| {}).status, Status::Finished);
    assert_eq!(run(&divide).status, Status::Finished);
    let gap = |phases: &mut Vec<Phase>| {
        divide(phases);
        let k = phases.iter().rposition(stepped).expect("a stretch");
        phases.remove(k);
    };
    assert!(matches!(run(&gap).status, Status::Breached { .. }));
}
