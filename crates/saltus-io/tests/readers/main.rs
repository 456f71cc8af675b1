//! Matrices and records of other programs, and every mistake in them.

mod abaqus;
mod common;
mod market;
mod matrix;
mod npy;
mod npz;
mod records;
mod symmetry;
