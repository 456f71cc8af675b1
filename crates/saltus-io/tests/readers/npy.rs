use crate::common::{floats, npy, read_bytes, says, with_header};
use saltus_io::FileError;
use saltus_io::matrix::SparseMatrix;

fn matrix(bytes: &[u8]) -> Result<SparseMatrix, FileError> {
    read_bytes("k.npy", bytes, "the mass matrix")
}

#[test]
fn both_orders_and_all_types() {
    let bytes = |values: [f32; 4]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
    let single = matrix(&npy("<f4", "(2, 2)", &bytes([1.0, 2.0, 0.0, 4.0]))).expect("single precision");
    assert_eq!(single.entries, [(0, 0, 1.0), (0, 1, 2.0), (1, 1, 4.0)]);
    let big = matrix(&npy(">i4", "(1, 2)", &[0, 0, 0, 7, 255, 255, 255, 255])).expect("big-endian");
    assert_eq!((big.rows, big.columns, &big.entries[..]), (1, 2, &[(0, 0, 7.0), (0, 1, -1.0)][..]));
    let values: Vec<u8> = [0i64, 3, 1, 4, 2, 5].iter().flat_map(|v| v.to_le_bytes()).collect();
    let header = "{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }";
    let fortran = matrix(&with_header(header, &values)).expect("by columns");
    assert_eq!((fortran.get(0, 2), fortran.get(1, 0), fortran.get(1, 2)), (2.0, 3.0, 5.0));
}

#[test]
fn mistakes() {
    let refused = |bytes: &[u8], message: &str| says(matrix(bytes), message, None, "");
    refused(&floats(&[1.0, 2.0]), "needs an array with two axes, this one has 1");
    refused(&npy("<f8", "(0, 0)", &[]), "has the size 0 × 0");
    refused(&npy("<f8", "(2, 1)", &[0; 15]), "it is truncated: 15 of 16 bytes are there");
    refused(&npy("<f8", "(1, 1)", &f64::NAN.to_le_bytes()), "not finite: (1, 1) is NaN");
    refused(&npy("|O", "(1, 1)", &[0; 8]), "not an array of plain numbers");
    refused(&npy("<c8", "(1, 1)", &[0; 8]), "type '<c8' is not supported; use `.astype(float)`");
    refused(&npy("<f8", "(-1, 1)", &[0; 8]), "the size `-1`");
    refused(&npy("<f8", "(99999999999, 99999999999)", &[0; 8]), "too large");
    refused(&npy("|S99999999999", "(1, 1)", &[0; 8]), "truncated");
    refused(&npy("<f8", "(((((((((1, 1)", &[0; 8]), "not an array of plain numbers");
    refused(&with_header(&" ".repeat(9999), &[]), "too long");
    refused(&with_header("{'shape': (1, 1)}", &[]), "dict is missing key");
}

#[test]
fn truncated_anywhere() {
    let good = npy("<f8", "(1, 1)", &1.0f64.to_le_bytes());
    for length in 0..good.len() {
        assert!(matrix(&good[..length]).is_err(), "{length}");
    }
    assert!(matrix(&good).is_ok());
}
