use crate::common::{Member, archive, floats, npy, read_bytes, says, wholes};
use saltus_io::FileError;
use saltus_io::matrix::SparseMatrix;

/// [[4, -1, 0], [0, 0, 2]], compressed by rows.
fn good() -> Vec<Member> {
    vec![
        ("format", npy("|S3", "()", b"csr")),
        ("shape", wholes(&[2, 3])),
        ("indptr", npy("<i4", "(3,)", &[0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])),
        ("indices", wholes(&[0, 1, 2])),
        ("data", floats(&[4.0, -1.0, 2.0])),
    ]
}

fn matrix(bytes: &[u8]) -> Result<SparseMatrix, FileError> {
    read_bytes("k.npz", bytes, "the stiffness matrix")
}

/// The good archive with another array in place of one.
fn refused(name: &str, bytes: Vec<u8>, message: &str, help: &str) {
    let mut members = good();
    members.iter_mut().filter(|m| m.0 == name).for_each(|m| m.1 = bytes.clone());
    says(matrix(&archive(&members, zip::CompressionMethod::Stored)), message, None, help);
}

#[test]
fn files_that_scipy_has_written() {
    let chain = [(0, 0, 4.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 4.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 4.0)];
    for bytes in [&include_bytes!("../matrices/scipy-csr.npz")[..], include_bytes!("../matrices/scipy-coo.npz")] {
        let matrix = matrix(bytes).expect("written by SciPy");
        assert_eq!((matrix.rows, matrix.columns, matrix.lines), (3, 3, None));
        assert_eq!(matrix.entries, chain);
    }
}

#[test]
fn rows_columns_and_both_compressions() {
    let expected = [(0, 0, 4.0), (0, 1, -1.0), (1, 2, 2.0)];
    for method in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let rows = matrix(&archive(&good(), method)).expect("by rows");
        assert_eq!((rows.rows, rows.columns, &rows.entries[..]), (2, 3, &expected[..]));
        let mut columns = good();
        columns[0].1 = npy("<U3", "()", b"c\0\0\0s\0\0\0c\0\0\0");
        columns[2].1 = wholes(&[0, 1, 2, 3]);
        columns[3].1 = wholes(&[0, 0, 1]);
        assert_eq!(matrix(&archive(&columns, method)).expect("by columns").entries, expected);
    }
}

#[test]
fn other_archives() {
    let other = archive(&[("K", floats(&[1.0])), ("M", floats(&[1.0]))], zip::CompressionMethod::Stored);
    says(matrix(&other), "not a sparse matrix of SciPy: the archive holds the arrays `K`, `M`", None, "save_npz");
    says(matrix(&archive(&[], zip::CompressionMethod::Stored)), "the archive holds nothing", None, "save_npz");
    let part = archive(&good()[..4], zip::CompressionMethod::Stored);
    says(matrix(&part), "no array `data`, only `format`, `shape`", None, "again");
    refused("format", npy("|S3", "()", b"bsr"), "the layout `bsr`", "use .tocsr()");
    refused("shape", wholes(&[7]), "needs two axes, this one has 1", "reshape");
    refused("shape", wholes(&[0, 3]), "has the size 0 × 3", "right file");
}

#[test]
fn arrays_that_do_not_fit() {
    refused("indices", wholes(&[0, 3, 2]), "element 1 of the array `indices` is 3, not an index from 0 to 2", "again");
    refused("indices", wholes(&[0, -1, 2]), "is -1, not an index", "again");
    refused("indices", floats(&[0.0, 1.0, 2.0]), "type '<f8' is not supported", "again");
    refused("indptr", wholes(&[0, 3, 2]), "must not decrease, but 2 follows 3 at element 2", "again");
    refused("indptr", wholes(&[0, 1, 2]), "goes from 0 to 2, not from 0 to the 3 entries", "again");
    refused("indptr", wholes(&[0, 3]), "has 2 elements, not the 3", "again");
    refused("data", floats(&[1.0, 2.0]), "2 values do not fit 3 row and 3 column", "again");
    refused("data", floats(&[1.0, f64::NAN, 2.0]), "not finite: (1, 2) is NaN", "division by zero");
    refused("data", npy("<c16", "(3,)", &[0; 48]), "type '<c16' is not supported; use `.astype(float)`", "again");
}

#[test]
fn damaged_archives() {
    let whole = archive(&good(), zip::CompressionMethod::Deflated);
    for length in (2..whole.len()).step_by(7) {
        let _ = matrix(&whole[..length]).expect_err("truncated");
    }
    says(matrix(&whole[..whole.len() / 2]), "is it truncated?", None, "again");
    for at in (2..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        // Some bytes, such as dates, do not matter; none may panic.
        let _ = matrix(&bytes);
    }
    let mut bytes = archive(&good(), zip::CompressionMethod::Stored);
    let at = bytes.windows(8).position(|w| w == 4.0f64.to_le_bytes()).expect("the value 4");
    bytes[at] = 1;
    says(matrix(&bytes), "the array `data` is damaged", None, "again");
}

#[test]
fn a_small_archive_of_gigabytes_is_refused_before_it_is_unpacked() {
    use std::io::{Cursor, Write};
    // 64 MiB of zeros, packed once and copied: 4 GiB in 4 MiB.
    let packed = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    let mut once = zip::ZipWriter::new(Cursor::new(Vec::new()));
    once.start_file("data.npy", packed).expect("begins");
    (0..64).for_each(|_| once.write_all(&vec![0; 1 << 20]).expect("written"));
    let mut once = once.finish_into_readable().expect("an archive");
    let mut bomb = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for k in 0..64 {
        let name = ["data.npy", "indices.npy", "indptr.npy"].get(k).map_or(format!("{k}.npy"), |s| s.to_string());
        bomb.raw_copy_file_rename(once.by_index(0).expect("there"), name).expect("copied");
    }
    let bytes = bomb.finish().expect("an archive").into_inner();
    assert!(bytes.len() < 8 << 20, "{}", bytes.len());
    let began = std::time::Instant::now();
    says(matrix(&bytes), "would take 4096 MiB unpacked", None, "reduce the model");
    assert!(began.elapsed().as_secs_f64() < 1.0, "{:?}", began.elapsed());
}
