//! Tests of the crate from outside, one module for each stage from text to numbers.

mod common;
mod derive;
mod display;
mod graph;
mod lanes;
mod lower;
mod parse;
mod program;
mod series;
mod simplify;
