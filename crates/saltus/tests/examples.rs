//! The examples run, and what they assert holds.

#[path = "../examples/ball.rs"]
mod ball;
#[path = "../examples/beam.rs"]
mod beam;
#[path = "../examples/double_pendulum.rs"]
mod double_pendulum;
#[path = "../examples/oscillator.rs"]
mod oscillator;
#[path = "../examples/own_scheme.rs"]
mod own_scheme;

#[test]
fn the_example_ball() {
    ball::main().expect("it runs");
}

#[test]
fn the_example_beam() {
    beam::main().expect("it runs");
}

#[test]
fn the_example_double_pendulum() {
    double_pendulum::main().expect("it runs");
}

#[test]
fn the_example_oscillator() {
    oscillator::main().expect("it runs");
}

#[test]
fn the_example_own_scheme() {
    own_scheme::main().expect("it runs");
}
