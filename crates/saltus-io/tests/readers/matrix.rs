use crate::common::{file, read_bytes, says};
use proptest::prelude::*;
use saltus_io::matrix::{Format, read, symmetric};
use saltus_io::records::at2;
use std::path::Path;

fn refused(name: &str, bytes: &[u8], message: &str, marked: Option<(usize, &str)>, help: &str) {
    says(read_bytes(name, bytes, "the mass matrix"), message, marked, help);
}

#[test]
fn the_format_is_told_by_name_and_content() {
    let market = b"%%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n";
    for (name, bytes, format) in [
        ("k.mtx", &market[..], Format::MatrixMarket),
        ("k.txt", &market[..], Format::MatrixMarket),
        ("K_STIF1.MTX", b"2,1, 5.0\n", Format::Abaqus),
    ] {
        assert_eq!(read_bytes(name, bytes, "it").expect(name).format, format);
    }
    refused("k.txt", b"\n4 -1\n-1 4\n", "no format", Some((2, "4 -1")), "%%MatrixMarket");
}

#[test]
fn other_files_are_named() {
    refused("k.mtx.gz", &[0x1f, 0x8b, 8, 0], "the file of the mass matrix is compressed", None, "gunzip");
    refused("k.mat", b"MATLAB 5.0 MAT-file\0\0", "a MATLAB", None, "save_npz");
    refused("k.npz", b"hello", "not an npz archive", None, "save_npz");
    refused("k.npy", b"hello", "not a NumPy array", None, "mmwrite");
    refused("k.mtx", b" \n", "is empty", None, "again");
    let missing = read(Path::new("/nowhere/k.npz"), "it").expect_err("no file");
    assert!(missing.error.message.contains("there is no such file"), "{missing}");
    let (kept, _) = file("k", b"");
    assert!(read(kept.path(), "it").expect_err("a directory").error.message.contains("is a directory"));
}

#[test]
fn a_sum_that_overflows_is_not_finite() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1e308\n1 1 1e308\n";
    refused("k.mtx", text, "not finite: (1, 1) is inf", None, "overflow");
}

#[test]
fn entries_are_sorted_summed_and_mirrored() {
    let matrix = read_bytes("k.mtx", b"** K\n2,1,1.0\n1,1,3.0\n2,1,2.0\n", "it").expect("a half");
    assert_eq!(matrix.entries, [(0, 0, 3.0), (0, 1, 3.0), (1, 0, 3.0)]);
    assert_eq!(matrix.lines, Some(vec![3, 2, 2]));
    assert_eq!((matrix.get(0, 1), matrix.get(1, 1)), (3.0, 0.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn no_text_panics(
        head in "(\u{feff}|%%MatrixMarket matrix (array|coordinate) real (general|symmetric)\n)?",
        body in "([0-9]{1,2}[ ,]|-|1e9|é|\u{a0}|\\*|%|x|\n){0,40}",
    ) {
        let (_kept, path) = file("k.mtx", (head + &body).as_bytes());
        let failures = [
            read(&path, "it").and_then(|matrix| symmetric(&matrix, &path, "it")).err(),
            at2(&path, "it", saltus::Outside::Zero).err(),
        ];
        for failure in failures.into_iter().flatten() {
            if let Some(span) = failure.error.span.clone() {
                prop_assert!(failure.text.get(span).is_some(), "{:?}", failure.error);
            }
        }
    }
}
