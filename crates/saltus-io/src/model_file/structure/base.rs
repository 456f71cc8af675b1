//! `[base]` and `direction`: what moves the ground, and what goes along.

use super::super::tree::{self, Value};
use super::super::{Failure, Reader, get, need};
use super::{BaseText, LoadText};
use crate::matrix;
use saltus::{SetupError, Span};

/// Which degrees of freedom go along with the base.
#[derive(Clone, Debug)]
pub(super) enum DirectionText {
    All,
    List(Vec<usize>),
    Every { first: usize, every: usize },
    Vector(Vec<f64>),
}

const FORMS: &str = "\"all\", a list such as [1, 4, 7], { first = 1, every = 3 }, or a file with a vector";

impl DirectionText {
    /// The displacements of n degrees of freedom when the base moves by one.
    pub fn resolve(&self, n: usize, span: Span) -> Result<Vec<f64>, SetupError> {
        let bad = |why: String| SetupError::new(why).at(span.clone(), FORMS);
        let chosen: Vec<usize> = match self {
            DirectionText::All => return Ok(vec![1.0; n]),
            DirectionText::Vector(values) if values.len() == n => return Ok(values.clone()),
            DirectionText::Vector(values) => {
                let message = format!(
                    "the direction of the base has {} numbers, but there are {n} degrees of freedom",
                    values.len()
                );
                return Err(bad(message));
            }
            DirectionText::List(list) => list.clone(),
            DirectionText::Every { first, every } => (*first..=n).step_by(*every).collect(),
        };
        if chosen.is_empty() {
            return Err(bad(format!("this direction moves none of the {n} degrees of freedom")));
        }
        let mut r = vec![0.0; n];
        for i in chosen {
            match i.checked_sub(1).and_then(|i| r.get_mut(i)) {
                Some(x) => *x = 1.0,
                None => return Err(bad(format!("there is no degree of freedom {i}: they count from 1 to {n}"))),
            }
        }
        Ok(r)
    }
}

impl Reader<'_> {
    /// Which degrees of freedom move with the base: all, a list of them, every so many, or a file with weights.
    pub(super) fn direction(&mut self, value: &Value) -> Result<DirectionText, Failure> {
        let bad = |why: &str| -> Failure { SetupError::new(why).at(value.span(), FORMS).into() };
        let whole =
            |v: &Value| v.get_ref().as_integer().and_then(|i| usize::from_str_radix(i.as_str(), i.radix()).ok());
        if let Some(word) = value.get_ref().as_str() {
            if word == "all" {
                return Ok(DirectionText::All);
            }
            let path = self.data_file(word);
            let read = matrix::vector(&path, "the direction of the base", None);
            return Ok(DirectionText::Vector(read.map_err(|e| Failure::in_file(e, value))?));
        }
        match (value.get_ref().as_array(), value.get_ref().as_table()) {
            (Some(list), _) => match list.iter().map(whole).collect::<Option<Vec<usize>>>() {
                Some(list) => Ok(DirectionText::List(list)),
                None => Err(bad("a direction is a list of whole numbers, counted from 1")),
            },
            (_, Some(table)) => {
                tree::only(table, "a direction", &["first", "every"])?;
                let of = |key: &str| get(table, key).and_then(whole).filter(|&i| i > 0);
                match (of("first"), of("every")) {
                    (Some(first), Some(every)) => Ok(DirectionText::Every { first, every }),
                    _ => Err(bad("a direction has a `first` and an `every`, whole numbers from 1")),
                }
            }
            _ => Err(bad("the direction says which degrees of freedom move with the base")),
        }
    }

    /// `[base]`, or several `[[base]]`, each with its direction or the part it moves.
    pub(in crate::model_file) fn base(&mut self, value: &Value) -> Result<(), Failure> {
        let list = tree::sections(value, "the motion of the base is a [base] section", "acceleration = \"ag(t)\"")?;
        let several = list.len() > 1;
        for value in list {
            let table = tree::table(value, "[base]", "acceleration = \"ag(t)\"")?;
            tree::only(table, "[base]", &["acceleration", "direction", "of"])?;
            let acceleration = need(table, "acceleration", value.span(), "[base]", "acceleration = \"ag(t)\"")?;
            self.description.signals.push(tree::text(self.text, acceleration, "the acceleration of the base")?);
            let direction = match get(table, "direction") {
                Some(v) => Some((self.direction(v)?, v.span())),
                None => None,
            };
            let of = match get(table, "of") {
                Some(v) => tree::list(v)
                    .into_iter()
                    .map(|v| Ok((tree::string(v, "the name of a part")?, v.span())))
                    .collect::<Result<Vec<_>, SetupError>>()?,
                None => Vec::new(),
            };
            if several && of.is_empty() && direction.is_none() {
                return Err(SetupError::new("the base moves in several ways: along what is this one?")
                    .at(acceleration.span(), "no direction")
                    .help("add  direction = …  (of matrices), or  of = \"name\",  the part that it moves")
                    .into());
            }
            let base = BaseText { span: acceleration.span(), of, direction };
            self.structure.get_or_insert_default().loads.push(LoadText::Base(base));
        }
        Ok(())
    }
}
