//! The parts of a structure, built.

use super::{BaseText, DampingText, Kind, KindName, LoadText, PartText, PointText, StructureText};
use saltus::structure::bar::{BarMass, bar, building};
use saltus::structure::beam::{End, Section, differences, hermite};
use saltus::structure::{Assembly, Damping, Hole, InitialState, Layout, Load, Location, Part, Place, Rub, StopLaw};
use saltus::{Model, SetupError, Span};
use std::sync::Arc;

/// The numbers of a structure, now that parameters are known.
struct Numbers<'a>(&'a Model);

impl Numbers<'_> {
    fn get(&self, key: &str) -> Option<(f64, Span)> {
        self.0.settings.iter().find(|s| s.name == key).map(|s| (s.value, s.span.clone()))
    }

    fn list(&self, key: &str) -> Vec<f64> {
        (0..).map_while(|i| self.get(&format!("{key}.{i}"))).map(|(x, _)| x).collect()
    }

    fn whole(&self, key: &str, least: usize) -> Result<Option<usize>, SetupError> {
        let Some((x, span)) = self.get(key) else { return Ok(None) };
        if x.fract() == 0.0 && x >= least as f64 && x < 1e12 {
            return Ok(Some(x as usize));
        }
        let what = key.rsplit('.').next().unwrap_or(key);
        let from = if least == 0 { "" } else { ", counted from 1" };
        Err(SetupError::new(format!("`{what}` must be a whole number{from}, not {x}")).at(span, "not a count"))
    }
}

impl StructureText {
    /// Where the structure is described, for mistakes of the whole.
    pub fn place(&self) -> Span {
        self.parts.first().map_or(0..0, |p| p.span.clone())
    }

    /// Builds the parts and says where everything is.
    pub fn assemble(&self, model: Arc<Model>, wants_start: bool) -> Result<Assembly, SetupError> {
        let numbers = Numbers(&model);
        let parts =
            self.parts.iter().enumerate().map(|(k, p)| self.part(p, k, &numbers)).collect::<Result<Vec<_>, _>>()?;
        let points = self
            .points
            .iter()
            .enumerate()
            .map(|(k, p)| self.point(p, k, &parts, &numbers))
            .collect::<Result<Vec<_>, _>>()?;
        let find = |name: &str, span: &Span| {
            model.coordinates.iter().position(|c| c == name).ok_or_else(|| {
                let known = model.coordinates.iter().map(String::as_str);
                SetupError::unknown(format!("`{name}` is not a point"), name, known, "the points are")
                    .at(span.clone(), "not a point")
            })
        };
        let mut loads = Vec::new();
        for load in &self.loads {
            loads.push(match load {
                LoadText::Point(name, span) => Load::Force(points[find(name, span)?].clone()),
                LoadText::Base(base) => self.base(base, &parts)?,
                LoadText::Vector(forces, of, span) => {
                    let part = part_of(of.as_ref(), &parts, span)?;
                    if forces.len() != parts[part].dimension() {
                        let n = parts[part].dimension();
                        let message = format!(
                            "the vector of loads has {} numbers, but there are {n} degrees of freedom",
                            forces.len()
                        );
                        return Err(SetupError::new(message).at(span.clone(), "of another size"));
                    }
                    Load::Vector { part, forces: forces.clone() }
                }
            });
        }
        // The stop a constraint was written as: itself, or the family it belongs to.
        let written = |name: &str| {
            self.stops.iter().position(|s| {
                name == s.name || name.strip_prefix(s.name.as_str()).is_some_and(|rest| rest.starts_with('['))
            })
        };
        let (mut springs, mut slides, mut laws) = (Vec::new(), Vec::new(), Vec::new());
        for constraint in &model.constraints {
            let Some(k) = written(&constraint.name) else {
                springs.push(None);
                slides.push(None);
                laws.push(StopLaw::default());
                continue;
            };
            let number = |key: &str| numbers.get(&format!("stop{k}.{key}"));
            let positive = |key: &str, what: &str| match number(key) {
                Some((x, span)) if !(x > 0.0) => Err(SetupError::new(format!("{what} must be positive, not {x}"))
                    .at(span, "leave it out for a rigid stop")),
                given => Ok(given.map(|(x, _)| x)),
            };
            let (linear, hertz) =
                (positive("stiffness", "the stiffness of a stop")?, positive("hertz", "the stiffness of Hertz' law")?);
            for key in ["damping", "friction"] {
                if let Some((x, span)) = number(key).filter(|(x, _)| !(*x >= 0.0)) {
                    let error = SetupError::new(format!("the {key} of a stop must not be negative, as {x} is"));
                    return Err(error.at(span, "negative"));
                }
            }
            let own =
                self.stops[k].slides.iter().map(|(name, span)| find(name, span)).collect::<Result<Vec<_>, _>>()?;
            springs.push(linear.or(hertz));
            slides.push(own.first().copied());
            laws.push(StopLaw {
                damping: number("damping").map_or(0.0, |x| x.0),
                is_hertz: hertz.is_some(),
                friction: number("friction").map(|(coefficient, _)| Rub { coefficient, slides: own }),
                hole: match &self.stops[k].around {
                    Some([y, z]) => Some(Hole {
                        points: [find(&y.0, &y.1)?, find(&z.0, &z.1)?],
                        centre: [number("centre.0"), number("centre.1")].map(|x| x.map_or(0.0, |x| x.0)),
                    }),
                    None => None,
                },
                group: self.stops[k].group.clone(),
            });
        }
        let is_given = self.start.is_some() || wants_start;
        let start = match is_given {
            false => InitialState::default(),
            true => InitialState {
                displacement: numbers.get("start.displacement").map_or(0.0, |x| x.0),
                velocity: numbers.get("start.velocity").map_or(0.0, |x| x.0),
                at_equilibrium: self.start.as_ref().is_some_and(|s| s.equilibrium) && !wants_start,
                displacements: self.start.as_ref().filter(|_| !wants_start).and_then(|s| s.shapes[0].clone()),
                velocities: self.start.as_ref().filter(|_| !wants_start).and_then(|s| s.shapes[1].clone()),
            },
        };
        Ok(Assembly { parts, points, loads, springs, slides, laws, start, model })
    }

    /// What a motion of the base moves.
    fn base(&self, text: &BaseText, parts: &[Part]) -> Result<Load, SetupError> {
        let named: Vec<usize> = text
            .of
            .iter()
            .map(|(name, span)| part_of(Some(&(name.clone(), span.clone())), parts, span))
            .collect::<Result<_, _>>()?;
        let moved = if named.is_empty() { (0..parts.len()).collect() } else { named.clone() };
        if let Some((direction, span)) = &text.direction {
            let &[part] = &moved[..] else {
                return Err(SetupError::new("a direction is that of one part")
                    .at(span.clone(), "there are several")
                    .help("say which one with  of = \"name\""));
            };
            let r = direction.resolve(parts[part].dimension(), span.clone())?;
            return Ok(Load::BaseAlong(vec![(part, Some(r))]));
        }
        if let Some(part) = moved.iter().map(|&k| &parts[k]).find(|p| p.translation().is_none()) {
            let name = if part.name.is_empty() { "the matrices" } else { &part.name };
            return Err(SetupError::new(format!("it is not known which degrees of freedom of {name} move with the base"))
                .at(text.span.clone(), "the base moves")
                .help("add to [structure]  direction = \"all\"  if every degree of freedom is a displacement along the motion, else  direction = { first = 1, every = 3 },  a list, or a file with a vector"));
        }
        Ok(if named.is_empty() { Load::Base } else { Load::BaseAlong(named.into_iter().map(|k| (k, None)).collect()) })
    }

    fn part(&self, text: &PartText, k: usize, numbers: &Numbers) -> Result<Part, SetupError> {
        let at =
            |error: SetupError| if error.span.is_some() { error } else { error.at(text.span.clone(), "this part") };
        let mut part = match &text.kind {
            Kind::Matrices(m) => Part {
                name: String::new(),
                what: m.files.clone(),
                mass: m.mass.clone(),
                stiffness: m.stiffness.clone(),
                damping: Damping::None,
                gyroscopic: m.gyroscopic.clone(),
                circulatory: m.circulatory.clone(),
                layout: Layout::Matrices { direction: m.direction.clone(), nodes: m.nodes.clone() },
                carried: None,
                is_lumped_body: false,
            },
            Kind::Built(kind) => self.built(text, *kind, k, numbers).map_err(at)?,
        };
        part.name.clone_from(&text.name);
        let list = |key: &str| numbers.list(&format!("{k}.{key}"));
        part.damping = match (&text.damping, &text.kind) {
            (DampingText::Matrix, Kind::Matrices(m)) => m.damping.clone().map_or(Damping::None, Damping::Matrix),
            (DampingText::None | DampingText::Matrix, _) => Damping::None,
            (DampingText::Rayleigh, _) => {
                let ab = list("rayleigh");
                Damping::Rayleigh(ab[0], ab[1])
            }
            (DampingText::Ratio, _) => {
                // ζ = a/2ω + bω/2 at both frequencies.
                let (ratio, f) = (list("ratio")[0], list("between"));
                let (w1, w2) = (std::f64::consts::TAU * f[0], std::f64::consts::TAU * f[1]);
                if !(w1 > 0.0 && w2 > 0.0 && ratio >= 0.0) {
                    return Err(at(SetupError::new(
                        "a damping ratio and the two frequencies (Hz) where it holds must be positive",
                    )));
                }
                Damping::Rayleigh(2.0 * ratio * w1 * w2 / (w1 + w2), 2.0 * ratio / (w1 + w2))
            }
            (DampingText::Modal, _) => Damping::Modal(list("modal")),
        };
        if let Damping::Rayleigh(a, b) = part.damping
            && !(a >= 0.0 && b >= 0.0 && a.is_finite() && b.is_finite())
        {
            return Err(at(SetupError::new(format!("the Rayleigh coefficients {a} and {b} must not be negative"))));
        }
        Ok(part)
    }

    fn built(&self, text: &PartText, kind: KindName, k: usize, numbers: &Numbers) -> Result<Part, SetupError> {
        let key = |name: &str| format!("{k}.{name}");
        if kind == KindName::Building {
            return building(&numbers.list(&key("masses")), &numbers.list(&key("stiffnesses")));
        }
        let want = |name: &str| {
            numbers
                .get(&key(name))
                .map(|x| x.0)
                .ok_or_else(|| SetupError::new(format!("the structure needs a `{name}`")))
        };
        let length = want("length")?;
        let elements = numbers.whole(&key("elements"), 1)?;
        let elements = elements.ok_or_else(|| SetupError::new("the structure needs a number of `elements`"))?;
        let section = section(&want, kind == KindName::Bar)?;
        match kind {
            KindName::Differences => {
                if let Some((_, span)) = text.ends.first() {
                    return Err(SetupError::new("the differences of [V] (3.9) are those of a clamped–free beam")
                        .at(span.clone(), "cannot be chosen")
                        .help("take  kind = \"beam\"  for other ends"));
                }
                differences(length, section, elements)
            }
            KindName::Beam => {
                let words = [
                    ("clamped", End::Clamped),
                    ("pinned", End::Pinned),
                    ("free", End::Free),
                    ("sliding", End::Sliding),
                ];
                let end = |i: usize, default| chosen("an end", text.ends.get(i), &words, default);
                let lumped = chosen("the mass", text.mass.as_ref(), &[("consistent", false), ("lumped", true)], false)?;
                hermite(length, section, elements, (end(0, End::Clamped)?, end(1, End::Free)?), lumped)
            }
            _ => {
                let fixed = |i: usize| chosen("an end", text.ends.get(i), &[("free", false), ("fixed", true)], false);
                let massless = |left, right| BarMass::Massless { left, right };
                let words = [
                    ("lumped", BarMass::Lumped),
                    ("consistent", BarMass::Consistent),
                    ("massless left", massless(true, false)),
                    ("massless right", massless(false, true)),
                    ("massless both", massless(true, true)),
                ];
                let (left, right) = (fixed(0)?, fixed(1)?);
                let mass = chosen("the mass", text.mass.as_ref(), &words, BarMass::Lumped)?;
                bar(length, section, elements, (left, right), mass)
            }
        }
    }

    fn point(&self, text: &PointText, k: usize, parts: &[Part], numbers: &Numbers) -> Result<Location, SetupError> {
        let part = part_of(text.of.as_ref(), parts, &text.span)?;
        let value = |key: &str| numbers.get(&format!("point{k}.{key}")).map_or(0.0, |x| x.0);
        let whole = |key: &str| numbers.whole(&format!("point{k}.{key}"), 1).map(|x| x.unwrap_or(0));
        let place = match text.keys.as_slice() {
            ["x"] => Place::X(value("x")),
            ["dof"] => Place::Dof(whole("dof")?),
            ["floor"] => Place::Floor(whole("floor")?),
            ["rotation"] => Place::Rotation(value("rotation")),
            ["dofs", "weights"] => {
                let (dofs, weights) =
                    (numbers.list(&format!("point{k}.dofs")), numbers.list(&format!("point{k}.weights")));
                if dofs.len() != weights.len() {
                    return Err(SetupError::new(format!(
                        "{} degrees of freedom but {} weights",
                        dofs.len(),
                        weights.len()
                    ))
                    .at(text.span.clone(), "one weight for each"));
                }
                for i in 0..dofs.len() {
                    numbers.whole(&format!("point{k}.dofs.{i}"), 1)?;
                }
                Place::Combination(dofs.iter().map(|&dof| dof as usize).zip(weights).collect())
            }
            ["base_shear"] => match &text.direction {
                None => Place::Shear,
                Some((direction, span)) => Place::ShearAlong(direction.resolve(parts[part].dimension(), span.clone())?),
            },
            ["from", "to"] => Place::Span(value("from"), value("to")),
            _ => {
                return Err(SetupError::new("this is not one place")
                    .at(text.span.clone(), "not understood")
                    .help("a point is one of  { x = … },  { dof = … },  { floor = … },  { rotation = … },  { from = …, to = … },  { dofs = […], weights = […] },  { base_shear = true }"));
            }
        };
        parts[part].row(&place).map_err(|e| e.at(text.span.clone(), "not there"))?;
        Ok(Location { part, place })
    }
}

/// The part of a name; the only one where none is named.
fn part_of(name: Option<&(String, Span)>, parts: &[Part], span: &Span) -> Result<usize, SetupError> {
    match name {
        Some((name, span)) => parts.iter().position(|p| p.name == *name).ok_or_else(|| {
            let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).filter(|n| !n.is_empty()).collect();
            SetupError::new(format!("there is no part `{name}`"))
                .at(span.clone(), "not known")
                .help(format!("the parts are: {}", names.join(", ")))
        }),
        None if parts.len() > 1 => Err(SetupError::new("which part is this on?")
            .at(span.clone(), "there are several")
            .help("name the parts, and add  of = \"…\"  here")),
        None => Ok(0),
    }
}

/// What a word stands for; the default where none is given.
fn chosen<T: Copy>(
    what: &str,
    given: Option<&(String, Span)>,
    words: &[(&str, T)],
    default: T,
) -> Result<T, SetupError> {
    let Some((word, span)) = given else { return Ok(default) };
    words.iter().find(|(name, _)| name == word).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let (last, others) = names.split_last().unwrap_or((&"", &[]));
        SetupError::new(format!("{what} cannot be `{word}`"))
            .at(span.clone(), "not known")
            .help(format!("it is {} or {last}", others.join(", ")))
    })
}

/// Rigidity and mass per length: given, or from material and section.
fn section(want: &dyn Fn(&str) -> Result<f64, SetupError>, axial: bool) -> Result<Section, SetupError> {
    if let (Ok(rigidity), Ok(mass_per_length)) = (want("rigidity"), want("mass_per_length")) {
        return Ok(Section { rigidity, mass_per_length: mass_per_length + want("added_mass").unwrap_or(0.0) });
    }
    let help = "give  rigidity  and  mass_per_length,  or  young  and  density  with a tube's  outer  and  inner  diameters, or with  area  and (for a beam)  inertia";
    let helped = |e: SetupError| e.help(help);
    let (young, density) = (want("young").map_err(helped)?, want("density").map_err(helped)?);
    let (area, inertia) = match want("outer") {
        Ok(outer) => {
            let inner = want("inner").unwrap_or(0.0);
            if !(inner >= 0.0 && inner < outer) {
                return Err(SetupError::new(format!(
                    "a tube of outer diameter {outer} cannot have the inner one {inner}"
                )));
            }
            Section::tube(outer, inner)
        }
        Err(_) => (want("area").map_err(helped)?, if axial { 0.0 } else { want("inertia").map_err(helped)? }),
    };
    let added = want("added_mass").unwrap_or(0.0);
    Ok(Section { rigidity: young * if axial { area } else { inertia }, mass_per_length: density * area + added })
}
