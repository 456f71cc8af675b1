//! Mathematical expressions: from text to exact derivatives, numbers and Taylor series.
//!
//! ```text
//! text ──parse──▶ Expr ──lower──▶ Graph ──compile──▶ Program ──▶ Scalar, Lanes    (numbers)
//!        (spans)         (names)   (shared nodes,     SeriesCode ──▶ Series       (Taylor series)
//!                                   derivatives)
//! ```
//!
//! The crate contains no mechanics: `y'` is a name with a prime, and a [`Scope`] decides what
//! names mean.
//!
//! ```
//! use std::sync::Arc;
//! use saltus_expr::{ExprError, Graph, NodeId, Program, Scalar, Scope, Span, lower, parse};
//!
//! /// Every name is a symbol.
//! struct Symbols;
//! impl Scope for Symbols {
//!     fn resolve(&mut self, g: &mut Graph, name: &str, _: &[i64], velocity: bool, _: &Span)
//!         -> Result<NodeId, ExprError> {
//!         Ok(g.symbol(&format!("{name}{}", if velocity { "'" } else { "" })))
//!     }
//! }
//!
//! let mut g = Graph::new();
//! let energy = parse("x'^2/2 + 1 - cos(x)").unwrap();
//! let energy = lower(&energy, &mut g, &mut Symbols).unwrap();
//! let (x, v) = (g.symbol("x"), g.symbol("x'"));
//! let force = g.derivative(energy, x);
//! assert_eq!(g.display(force), "sin(x)");
//!
//! let program = Program::compile(&g, &[x, v], &[energy, force]).unwrap();
//! let mut run = Scalar::new(Arc::new(program));
//! run.inputs_mut().copy_from_slice(&[0.0, 3.0]);
//! run.run();
//! assert_eq!(run.output(0), 4.5);
//! ```

mod ast;
mod derive;
mod display;
mod error;
mod function;
mod graph;
mod lanes;
mod lex;
mod lower;
mod math;
mod names;
mod parse;
mod program;
mod scalar;
mod series;
mod simplify;
mod table;

pub use ast::{BinaryOp, CompareOp, Expr, ExprKind, IndexRange};
pub use error::{ExprError, Span};
pub use function::{Function1, Function2};
pub use graph::{Demands, Graph, NodeId};
pub use lanes::{LANES, Lanes};
pub use lower::{Scope, integer, lower, lower_with};
pub use math::choose;
pub use names::{is_name, is_reserved, nearest};
pub use parse::{parse, parse_at, parse_range_at, parse_target_at};
pub use program::{Instruction, MissingInput, Op, Program};
pub use scalar::Scalar;
pub use series::{Lane, Series, SeriesCode, SeriesLanes, SeriesSource};
pub use table::{Outside, Table};

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
