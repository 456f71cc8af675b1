use crate::common::{read_bytes, says};
use saltus_io::FileError;
use saltus_io::matrix::SparseMatrix;

fn matrix(text: &str) -> Result<SparseMatrix, FileError> {
    read_bytes("K_STIF1.mtx", text.as_bytes(), "the stiffness matrix")
}

fn refused(text: &str, message: &str, marked: (usize, &str), help: &str) {
    says(matrix(text), message, Some(marked), help);
}

const CHAIN: [(usize, usize, f64); 4] = [(0, 0, 2e9), (0, 1, -1e9), (1, 0, -1e9), (1, 1, 1e9)];

#[test]
fn coordinates_full_lower_and_upper() {
    for text in [
        "** written by Abaqus\n1,1, 2.000000000000000e+09\n2,1,-1.000000000000000e+09\n2,2, 1.00000000000e+09\n",
        "      1       1  2.000000000000000e+09\r\n      1       2 -1.0E+09\r\n      2       2  1.0D+09\r\n",
        "1 1 2e9\n1 2 -1e9\n2 1 -1e9\n2 2 1e9\n",
    ] {
        let matrix = matrix(text).expect(text);
        assert_eq!((matrix.rows, matrix.columns, matrix.entries), (2, 2, CHAIN.to_vec()));
        assert_eq!(matrix.labels, None);
    }
    assert_eq!(matrix("1,1,1.0\n3,3,1.0\n").expect("a diagonal").rows, 3);
}

#[test]
fn nodes_and_degrees_of_freedom() {
    let text = "*MATRIX INPUT, NAME=K\n12,3, 12,3, 1.0e+09\n7,1, 7,1, 2.0e+09\n12,3, 7,1,-1.0e+09\n";
    let matrix = matrix(text).expect("good");
    assert_eq!(matrix.labels, Some(vec!["n7.d1".to_string(), "n12.d3".to_string()]));
    assert_eq!(matrix.entries, CHAIN);
    assert_eq!(matrix.lines, Some(vec![3, 4, 4, 2]));
}

#[test]
fn a_half_in_another_order_of_the_nodes() {
    // Abaqus numbers the nodes it adds last; here they come first, and the lower half is spread over both.
    let matrix = matrix("1,1,1,1,4.0\n2,1,1,1,-1.0\n2,1,2,1,4.0\n-1,1,2,1,-2.0\n-1,1,-1,1,4.0\n").expect("good");
    assert_eq!(matrix.labels.as_ref().map(|l| l[0].as_str()), Some("n-1.d1"));
    assert_eq!((matrix.get(0, 2), matrix.get(2, 0), matrix.get(1, 2), matrix.get(2, 1)), (-2.0, -2.0, -1.0, -1.0));
}

#[test]
fn an_unsymmetric_matrix_stays_so() {
    let three = matrix("1,1,4.0\n1,2,1.0\n2,1,3.0\n").expect("good");
    assert_eq!((three.get(0, 1), three.get(1, 0)), (1.0, 3.0));
    let five = matrix("1,1,1,2,1.0\n1,2,1,1,3.0\n2,1,1,1,7.0\n").expect("good");
    assert_eq!((five.get(0, 1), five.get(1, 0), five.get(0, 2)), (1.0, 3.0, 0.0));
}

#[test]
fn mistakes() {
    refused("** K\n0,0,4.0\n", "seems to count from 0", (2, "0"), "add 1");
    refused("1,1,4.0\n2,-1,4.0\n", "column of an entry", (2, "-1"), "in this order");
    refused("1,1,4.0\n2,1\n", "three numbers", (2, "2,1"), "one entry a line");
    refused("1,1,NaN\n", "not finite", (1, "NaN"), "division by zero");
    refused("1,1,4.0\n2,2,*****\n", "not a number", (2, "*****"), "point");
    refused("4 -1\n-1 4\n", "three numbers a line", (1, "4 -1"), "FORMAT=COORDINATE");
    refused("** nothing\n", "no entries", (1, "** nothing"), "again");
    refused("** K\n*USER ELEMENT,NODES=2\n1.0\n", "element by element", (2, "*USER ELEMENT,NODES=2"), "leave");
    refused("99999999,1,4.0\n", "not supported", (1, "99999999"), "right file");
    refused("3 3 2\n1 1 4\n3 3 4\n", "without its header", (1, "3 3 2"), "put");
}

#[test]
fn mistakes_in_five_columns() {
    let after = |line: &str, message: &str, marked: &str| {
        refused(&format!("1,1,1,1,4.0\n{line}\n"), message, (2, marked), "");
    };
    after("2,1,1,4.0", "five numbers", "2,1,1,4.0");
    after("x,1,1,1,4.0", "a node in the stiffness matrix", "x");
    after("2,0,1,1,4.0", "degree of freedom (from 1)", "0");
    after("2,1,1,1.5,4.0", "degree of freedom", "1.5");
    after("2,1,1,1,inf", "not finite", "inf");
}
