//! Branches of equilibria: folds, Hopf points, branch points, contacts that are lost and made.

use super::branch::{Branch, BranchPoint, Origin, Special, SpecialKind};
use super::locate::sign_change;
use super::rest::{AtRest, Rest};
use super::walk::WalkOptions;
use super::zero::{Equations, Evaluation, correct};
use crate::analysis::equilibria::{EquilibriaOptions, Equilibrium, Isolation, equilibria};
use crate::analysis::orbit::OrbitStability;
use crate::analysis::phase_space::NoMap;
use crate::linalg::{dot, max_abs};
use crate::problem::Problem;
use crate::text::number;
use crate::{Kind, SetupError};

/// Steps shorter than this are not made.
const SHORTEST: f64 = 1e-8;

/// An eigenvalue with a smaller real part, relative to the largest eigenvalue, is on the imaginary axis.
const ON_AXIS: f64 = 1e-7;

/// What a continuation of equilibria reports as it goes.
pub enum RestNews<'a> {
    /// A branch begins.
    Begins(usize, &'a Origin),
    /// An equilibrium of it.
    Point(usize, &'a BranchPoint),
    /// A special point of it.
    Special(usize, &'a Special),
}

/// A point of a branch.
#[derive(Clone)]
struct Node {
    rest: Rest,
    found: Evaluation<AtRest>,
    tangent: Vec<f64>,
}

/// What vanishes at a special point.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Sign {
    Fold,
    Hopf,
    Crossing,
    /// The reaction of the k-th closed contact.
    Lost(usize),
    /// The gap of a constraint.
    Made(usize),
}

impl Node {
    fn new(rest: &Rest, found: Evaluation<AtRest>, along: &[f64]) -> Option<Self> {
        let tangent = found.tangent(along)?;
        Some(Node { rest: rest.clone(), found, tangent })
    }

    fn ahead(&self, step: f64) -> Option<(Node, usize)> {
        let guess: Vec<f64> = self.found.z.iter().zip(&self.tangent).map(|(z, t)| z + step * t).collect();
        let mut rest = self.rest.clone();
        let (found, steps) = correct(&mut rest, &guess, &self.tangent).ok()?;
        Some((Node::new(&rest, found, &self.tangent)?, steps))
    }

    /// The equilibrium where the parameter has a value.
    fn at_value(&self, step: f64, value: f64) -> Option<(Node, usize)> {
        let mut guess: Vec<f64> = self.found.z.iter().zip(&self.tangent).map(|(z, t)| z + step * t).collect();
        let last = guess.len() - 1;
        let mut row = vec![0.0; guess.len()];
        (guess[last], row[last]) = (value / self.rest.unit, 1.0);
        let mut rest = self.rest.clone();
        let (found, steps) = correct(&mut rest, &guess, &row).ok()?;
        Some((Node::new(&rest, found, &self.tangent)?, steps))
    }

    fn value(&self) -> f64 {
        self.rest.value(&self.found.z)
    }

    fn sign(&self, of: Sign) -> f64 {
        let seen = &self.found.seen;
        match of {
            Sign::Fold => self.tangent[self.tangent.len() - 1],
            Sign::Crossing => self.found.determinant(&self.tangent),
            Sign::Lost(k) => seen.reactions.get(k).copied().unwrap_or(1.0),
            Sign::Made(a) => seen.gaps[a],
            // Π(λᵢ + λⱼ) over pairs: zero where two eigenvalues are ±iω.
            Sign::Hopf => {
                let all = &seen.eigenvalues;
                let size = all.iter().map(|z| z.0.hypot(z.1)).fold(1e-300, f64::max);
                let mut product = (1.0, 0.0);
                for (k, a) in all.iter().enumerate() {
                    for b in &all[k + 1..] {
                        let sum = ((a.0 + b.0) / size, (a.1 + b.1) / size);
                        product = (product.0 * sum.0 - product.1 * sum.1, product.0 * sum.1 + product.1 * sum.0);
                    }
                }
                product.0
            }
        }
    }

    fn signs(&self) -> Vec<Sign> {
        let lost = (0..self.rest.closed.len()).map(Sign::Lost);
        let open = (0..self.found.seen.gaps.len()).filter(|a| !self.rest.closed.contains(a)).map(Sign::Made);
        [Sign::Fold, Sign::Hopf, Sign::Crossing].into_iter().chain(lost).chain(open).collect()
    }

    fn point(&self) -> BranchPoint {
        let seen = &self.found.seen;
        let size = seen.eigenvalues.iter().map(|z| z.0.hypot(z.1)).fold(0.0, f64::max);
        let on = seen.eigenvalues.iter().filter(|z| z.0.abs() <= ON_AXIS * size).count();
        let outside = seen.eigenvalues.iter().filter(|z| z.0 > ON_AXIS * size).count();
        let model = self.rest.problem.model();
        let names: Vec<&str> = self.rest.closed.iter().map(|&a| model.constraints[a].name.as_str()).collect();
        let sequence =
            if names.is_empty() { "at rest".to_string() } else { format!("at rest, contact {}", names.join(" and ")) };
        BranchPoint {
            values: vec![self.value()],
            start: seen.start.clone(),
            period: 0.0,
            multiple: None,
            stability: OrbitStability { multipliers: seen.eigenvalues.clone(), outside, on },
            sequence,
            residual: self.found.size(),
            tangent: self.tangent.clone(),
        }
    }

    /// Where a sign vanishes within a step.
    fn root(&self, next: &Node, step: f64, of: Sign) -> Option<Node> {
        let trial = |s: f64| self.ahead(s).map(|(node, _)| (node.sign(of), node));
        sign_change(step, (self.sign(of), next.sign(of)), 1e-14, trial).map(|(_, node)| node)
    }
}

/// Follows the equilibria of a model over an open parameter, from all that are found at its present value. `on` is called with
/// everything as it is found; false stops.
pub fn continue_equilibria(
    problem: &Problem,
    parameter: &str,
    value: f64,
    options: &WalkOptions,
    on: &mut dyn FnMut(RestNews) -> bool,
) -> Result<(Vec<Branch>, Vec<String>), NoMap> {
    let model = problem.model();
    let refuse = |message: &str, help: &str| -> NoMap {
        SetupError::new(message).with_kind(Kind::Unsupported).help(help).into()
    };
    if model.depends_on_time() {
        return Err(refuse("forces or gaps depend on time: there is no rest to follow", "follow orbits: --of orbits"));
    }
    if !model.frictions.is_empty() {
        let help = "with friction there is rest over whole ranges; `saltus equilibria` finds what needs none";
        return Err(refuse("equilibria with friction are not followed", help));
    }
    let place = problem.open_index(parameter)?;
    let at = model
        .with(&[(parameter, value)])?
        .problem()
        .or_else(|_| Problem::unchecked(model.with(&[(parameter, value)])?))?;
    let all = equilibria(&at, &EquilibriaOptions::default(), &mut |_, _| true)?;
    let mut notes = all.notes.clone();
    let (mut branches, mut is_stopped): (Vec<Branch>, bool) = (Vec::new(), false);
    for found in &all.found {
        if found.isolation == Isolation::Family {
            notes.push("an equilibrium that is one of a family was left out: it has no place of its own".into());
            continue;
        }
        let rest = of(problem, place, value, options, found);
        let reactions: Vec<f64> = found.reactions.iter().chain(&found.joint_reactions).copied().collect();
        let z = rest.unknowns_of(&found.q[..model.degrees()], &found.z, &reactions, value);
        if branches.iter().any(|b| passes(b, &rest, &z, value)) {
            continue;
        }
        let mut row = vec![0.0; z.len()];
        let last = row.len() - 1;
        row[last] = 1.0;
        let mut equations = rest.clone();
        let Ok((first, _)) = correct(&mut equations, &z, &row) else { continue };
        for way in [1.0, -1.0] {
            if is_stopped {
                break;
            }
            let along: Vec<f64> = row.iter().map(|x| way * x).collect();
            let Some(node) = Node::new(&rest, first.clone(), &along) else { continue };
            let (origin, number) = (Origin::First(way > 0.0), branches.len());
            is_stopped |= !on(RestNews::Begins(number, &origin));
            branches.push(walk(node, origin, number, options, &mut is_stopped, on));
        }
    }
    Ok((branches, notes))
}

/// The equations near an equilibrium.
fn of(problem: &Problem, place: usize, value: f64, options: &WalkOptions, at: &Equilibrium) -> Rest {
    let mut parameters = problem.start().parameters;
    parameters[place] = value;
    let size = |x: f64| if x > 1e-6 { x } else { 1.0 };
    let reactions = at.reactions.iter().chain(&at.joint_reactions).fold(0.0_f64, |m, x| m.max(x.abs()));
    Rest {
        problem: problem.clone(),
        place,
        unit: options.range.1 - options.range.0,
        parameters,
        closed: at.closed.clone(),
        far: size(max_abs(&at.q[..problem.model().degrees()])),
        states: at.z.iter().map(|z| size(z.abs())).collect(),
        force: size(reactions),
    }
}

/// Whether a branch has passed an equilibrium.
fn passes(branch: &Branch, rest: &Rest, z: &[f64], value: f64) -> bool {
    let degrees = rest.problem.model().degrees();
    let near = |a: &BranchPoint, b: &BranchPoint| {
        let (x, y) = (a.values[0] - value, b.values[0] - value);
        let between = x * y <= 0.0;
        let share = if x == y { 0.0 } else { x / (x - y) };
        between
            && (0..degrees).all(|i| {
                let q = a.start.q[i] + share * (b.start.q[i] - a.start.q[i]);
                (q / rest.far - z[i]).abs() < 1e-3
            })
    };
    branch.points.windows(2).any(|pair| near(&pair[0], &pair[1]))
}

fn walk(
    first: Node,
    origin: Origin,
    number: usize,
    options: &WalkOptions,
    is_stopped: &mut bool,
    on: &mut dyn FnMut(RestNews) -> bool,
) -> Branch {
    let mut branch = Branch {
        origin,
        points: Vec::new(),
        specials: Vec::new(),
        end: String::new(),
        is_cut: false,
        left: Vec::new(),
    };
    let (mut node, mut step) = (first, 0.2 * options.step);
    let (low, high) = options.range;
    *is_stopped |= !add(&mut branch, &node, number, on);
    let (end, is_cut) = loop {
        if *is_stopped {
            break ("it was stopped".to_string(), false);
        }
        if branch.points.len() >= options.points {
            break (format!("{} points were computed", options.points), false);
        }
        if step < SHORTEST {
            break (format!("it could not be followed beyond {}", number_of(node.value())), true);
        }
        // The end of the range comes first, if the next point would be beyond.
        let slope = node.tangent[node.tangent.len() - 1] * node.rest.unit;
        let bound = if slope > 0.0 { high } else { low };
        let reaches = (bound - node.value()) / slope;
        let is_last = reaches.is_finite() && reaches >= 0.0 && reaches <= step;
        let length = if is_last { reaches } else { step };
        if is_last && length < 1e-12 {
            break ("the end of the range is reached".to_string(), false);
        }
        let outcome = if is_last { node.at_value(length, bound) } else { node.ahead(length) };
        let Some((next, steps)) = outcome else {
            step *= 0.4;
            continue;
        };
        if dot(&node.tangent, &next.tangent) < 0.97 && step > 1e3 * SHORTEST {
            step *= 0.5;
            continue;
        }
        let changes = node.signs().into_iter().filter(|&s| node.sign(s) * next.sign(s) < 0.0);
        let mut roots: Vec<(Sign, Node)> =
            changes.filter_map(|s| Some((s, node.root(&next, length, s)?))).filter(|(s, n)| is_one(*s, n)).collect();
        let ahead = |n: &Node| {
            let away: Vec<f64> = n.found.z.iter().zip(&node.found.z).map(|(a, b)| a - b).collect();
            dot(&away, &node.tangent)
        };
        roots.sort_by(|a, b| ahead(&a.1).total_cmp(&ahead(&b.1)));
        let mut turned = None;
        for (sign, at) in roots {
            let special = special(sign, &at, &node);
            *is_stopped |= !on(RestNews::Special(number, &special));
            branch.specials.push((branch.points.len(), special));
            if matches!(sign, Sign::Lost(_) | Sign::Made(_)) {
                turned = Some(other_contacts(&at, sign));
                break;
            }
        }
        match turned {
            Some(Some(other)) => {
                node = other;
                *is_stopped |= !add(&mut branch, &node, number, on);
                step = step.min(0.1 * options.step);
            }
            Some(None) => break ("beyond the change of contact there is no equilibrium near".to_string(), false),
            None => {
                node = next;
                *is_stopped |= !add(&mut branch, &node, number, on);
                if is_last && (node.value() - bound).abs() <= 1e-9 * (high - low) {
                    break ("the end of the range is reached".to_string(), false);
                }
                step = (step * if steps <= 3 { 1.4 } else { 0.8 }).min(options.step);
            }
        }
        let beyond = 1e-9 * (high - low);
        if !(low - beyond..=high + beyond).contains(&node.value()) {
            break ("the end of the range is reached".to_string(), false);
        }
    };
    (branch.end, branch.is_cut) = (end, is_cut);
    branch
}

/// Adds a point to a branch; whether to go on.
fn add(branch: &mut Branch, node: &Node, number: usize, on: &mut dyn FnMut(RestNews) -> bool) -> bool {
    let point = node.point();
    let goes_on = on(RestNews::Point(number, &point));
    branch.points.push(point);
    goes_on
}

fn number_of(x: f64) -> String {
    number(x, 10)
}

/// Whether a located sign is what it stands for.
fn is_one(sign: Sign, node: &Node) -> bool {
    let all = &node.found.seen.eigenvalues;
    let size = all.iter().map(|z| z.0.hypot(z.1)).fold(1e-300, f64::max);
    match sign {
        Sign::Hopf => all.iter().any(|z| z.1 > 1e-6 * size && z.0.abs() < 1e-6 * size),
        Sign::Crossing => all.iter().any(|z| z.0.hypot(z.1) < 1e-3 * size),
        _ => true,
    }
}

fn special(sign: Sign, at: &Node, from: &Node) -> Special {
    let model = at.rest.problem.model();
    let (kind, words) = match sign {
        Sign::Fold => {
            let way = if from.tangent[from.tangent.len() - 1] > 0.0 { "smaller" } else { "larger" };
            (SpecialKind::Fold, format!("the branch turns back to {way} values"))
        }
        Sign::Hopf => {
            let pair =
                at.found.seen.eigenvalues.iter().filter(|z| z.1 > 0.0).min_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
            let frequency = pair.map_or(f64::NAN, |z| z.1);
            (SpecialKind::Hopf, format!("oscillations branch off, with angular frequency {}", number(frequency, 8)))
        }
        Sign::Crossing => (SpecialKind::Crossing, "another branch crosses".into()),
        Sign::Lost(k) => {
            (SpecialKind::Change, format!("the contact of `{}` is lost", model.constraints[at.rest.closed[k]].name))
        }
        Sign::Made(a) => (SpecialKind::Change, format!("`{}` is touched: contact begins", model.constraints[a].name)),
    };
    Special { kind, point: at.point(), touched: Vec::new(), words }
}

/// The branch with one contact less or more, away from where it changes.
fn other_contacts(at: &Node, sign: Sign) -> Option<Node> {
    let mut rest = at.rest.clone();
    let joints = rest.problem.model().joints.len();
    let seen = &at.found.seen;
    let (degrees, count) = (rest.problem.model().degrees(), rest.closed.len());
    let (mut contacts, others) = (seen.reactions[..count].to_vec(), seen.reactions[count..count + joints].to_vec());
    let a = match sign {
        Sign::Lost(k) => {
            contacts.remove(k);
            rest.closed.remove(k)
        }
        Sign::Made(a) => {
            rest.closed.push(a);
            contacts.push(0.0);
            a
        }
        _ => return None,
    };
    contacts.extend(others);
    let states: Vec<f64> = seen.start.v[degrees..].to_vec();
    let z = rest.unknowns_of(&seen.start.q[..degrees], &states, &contacts, at.value());
    let found = rest.clone().evaluate(&z).ok()?;
    // Either way along it: the gap opens, or the contact presses.
    let measure = |node: &Node| match sign {
        Sign::Lost(_) => node.found.seen.gaps[a],
        _ => node.found.seen.reactions[rest.closed.len() - 1],
    };
    for way in [1.0, -1.0] {
        let along: Vec<f64> = (0..z.len()).map(|k| if k + 1 == z.len() { way } else { 0.0 }).collect();
        let Some(node) = Node::new(&rest, found.clone(), &along) else { continue };
        for step in [1e-3, 1e-5] {
            if let Some((next, _)) = node.ahead(step).filter(|(next, _)| measure(next) > 0.0) {
                return Some(next);
            }
        }
    }
    None
}
