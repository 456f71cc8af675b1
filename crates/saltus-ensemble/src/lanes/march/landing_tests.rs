//! Plain landings against the finder of a run, on random models.

use super::super::super::code::LaneCode;
use super::super::node::complete;
use super::super::rule::{Kind, Rule};
use super::*;
use crate::lanes::linear::ROOM;
use saltus::Problem;
use saltus::model::Builder;
use saltus::scheme::{self, Method};

/// Numbers in [0, 1) that look random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }

    fn chance(&mut self, p: f64) -> bool {
        self.next() < p
    }
}

/// One or two masses, pushed against walls that may move: bounces, chatter, contact that lasts and ends, blows into it.
fn random_problem(random: &mut Random) -> Problem {
    let mut model = Builder::new("random").coordinate("x", 0.0, random.between(-1.0, 1.0));
    let is_pair = random.chance(0.5);
    let mut kinetic = format!("{}*x'^2/2", random.between(0.5, 2.0));
    let push = if random.chance(0.4) { random.between(0.2, 1.0) } else { 0.0 };
    let force = format!(
        "{push} + {}*cos({}*t + 0.3) - {}*x' - {}*x",
        random.between(0.3, 2.0),
        random.between(0.4, 3.0),
        random.between(0.0, 0.3),
        random.between(0.3, 3.0)
    );
    if is_pair {
        model = model.coordinate("y", 0.0, random.between(-1.0, 1.0));
        kinetic += &format!(" + {}*y'^2/2 + {}*x'*y'", random.between(0.5, 2.0), random.between(-0.3, 0.3));
        let own = format!("{}*sin(1.7*t) - {}*y' - 2*y", random.between(0.3, 2.0), random.between(0.0, 0.3));
        model = model.force("y", own.as_str());
    }
    model = model.kinetic(kinetic.as_str()).force("x", force.as_str());
    let e = if random.chance(0.2) { 0.0 } else { random.between(0.0, 1.0) };
    let moving = if random.chance(0.5) { " + 0.1*sin(2*t)" } else { "" };
    model = model.restitution(e).constraint("wall", format!("{} - x{moving}", random.between(0.1, 0.4)).as_str());
    if is_pair && random.chance(0.7) {
        model = model.constraint("other", format!("{} + y", random.between(0.1, 0.4)).as_str());
    }
    model.build().and_then(|model| model.problem()).expect("compiles")
}

#[test]
fn landings_are_those_of_the_finder() {
    let mut random = Random(7);
    let (mut impacts, mut shared, mut in_contact) = ([0; 3], 0, 0);
    for _ in 0..150 {
        let problem = random_problem(&mut random);
        let code = LaneCode::new(&problem).expect("smooth").linear.expect("linear");
        let linear = code.at(&[]).expect("numbers");
        let start = problem.start();
        for (k, name) in ["moreau-jean", "mabrouk", "paoli-schatzman"].into_iter().enumerate() {
            let (scheme, kind, h) =
                (scheme::find(name).expect("there"), Kind::named(name).expect("known"), random.between(3e-3, 3e-2));
            let Method::Steps(stepping) = scheme.method else { panic!("it makes steps") };
            let rule = Rule::new(kind, &linear, h).expect("a step");
            let at = problem.instance(&start).expect("an instance");
            let mut finder = ImpactFinder::new(&at, &scheme, h).expect("steps");
            let mut resumed: Option<ImpactFinder> = None;
            let mut landing = Landing::new(&stepping, h, code.d).expect("impacts take a few steps");
            let mut node = Node::new(code.d, code.m);
            let (mut z, n) = ([0.0; ROOM], linear.size());
            z[..code.d].copy_from_slice(&start.q);
            z[code.d..2 * code.d].copy_from_slice(&start.v);
            if kind.is_position_level() {
                z[code.d..2 * code.d].iter_mut().for_each(|u| *u *= h);
            }
            z[2 * code.d] = 1.0;
            for step in 0..4000_u64 {
                for (j, &[phase, rate]) in linear.phases.iter().enumerate() {
                    let angle = phase + rate * (step as f64 * h);
                    (z[2 * code.d + 2 + 2 * j], z[2 * code.d + 1 + 2 * j]) = angle.sin_cos();
                }
                let Some(acts) = rule.react(kind, &z[..n]) else { break };
                let mut now = z;
                for (x, row) in now.iter_mut().zip(&rule.next) {
                    *x = dot(row, &z);
                }
                if let Some((a, multiplier)) = acts {
                    now.iter_mut().zip(&rule.push[a]).for_each(|(x, p)| *x += multiplier * p);
                }
                node.index = if kind.is_position_level() { step } else { step + 1 };
                node.t = node.index as f64 * h;
                let impulse = complete((kind, h), &linear, (&z, &now), acts, &mut node);
                let lasts = match &resumed {
                    Some(resumed) => resumed.would_last(&node),
                    None => landing.would_last(impulse),
                };
                assert_eq!(lasts, finder.would_last(&node), "{name}");
                finder.note(&node);
                if resumed.is_none() {
                    match landing.note(&linear, &node, impulse) {
                        Ok(found) => {
                            agree(name, found.as_ref(), &finder);
                            assert_eq!(landing.is_idle(), finder.is_idle(), "{name} at {step}");
                            impacts[k] += usize::from(found.is_some());
                        }
                        Err(NotPlain) => {
                            let mut other = ImpactFinder::new(&at, &scheme, h).expect("steps");
                            other.resume(landing.underway());
                            landing.clear();
                            resumed = Some(other);
                            shared += 1;
                        }
                    }
                }
                if let Some(other) = &mut resumed {
                    other.note(&node);
                    assert_eq!(other.impacts().len(), finder.impacts().len(), "{name}");
                    for (a, b) in other.impacts().iter().zip(finder.impacts().iter()) {
                        assert_eq!((a.t, a.speed, a.impulses), (b.t, b.speed, b.impulses), "{name}");
                    }
                    assert_eq!(other.is_idle(), finder.is_idle(), "{name}");
                    other.forget();
                    if other.is_idle() {
                        resumed = None;
                    }
                }
                finder.forget();
                in_contact += usize::from(acts.is_some());
                z = now;
            }
            finder.finish(&node);
            if resumed.is_none() {
                agree(name, landing.finish(&linear).expect("plain").as_ref(), &finder);
            }
        }
    }
    assert!(impacts.iter().all(|&n| n > 2000) && shared > 20, "{impacts:?} impacts, {shared} with several constraints");
    assert!(in_contact > 3 * impacts.iter().sum::<usize>(), "{in_contact} steps in contact");
}

fn agree(name: &str, found: Option<&Landed>, finder: &ImpactFinder) {
    assert_eq!(usize::from(found.is_some()), finder.impacts().len(), "{name}: {found:?}");
    let Some((found, impact)) = found.zip(finder.impacts().iter().next()) else { return };
    let near =
        |what: &str, a: f64, b: f64, scale: f64| assert!((a - b).abs() <= 1e-10 * scale, "{name}: {what} {a} and {b}");
    assert_eq!(impact.constraints, [found.constraint], "{name}");
    near("instant", found.t, impact.t, 1.0 + impact.t);
    near("speed", found.speed, impact.speed, 1.0);
    near("impulse", found.impulse, impact.impulses[0], 1.0);
    near("residual", found.residual * found.speed, impact.law_residual * impact.speed, 1.0);
    near("approach", found.approach, -impact.approach, 1.0);
}
