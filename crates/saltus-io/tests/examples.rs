//! The example runs, and what it asserts holds.

#[path = "../examples/model_file.rs"]
mod model_file;

#[test]
fn the_example_model_file() {
    model_file::main().expect("it runs");
}
