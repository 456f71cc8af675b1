//! Mistakes in the models of structures: what is wrong, in which file and place, and what to do.

#[path = "common/mistakes.rs"]
mod common;

use common::place;
use saltus_io::{FileError, ModelFile};
use std::fs;
use std::path::Path;

const BEAM: &str = r#"
[parameters]
L = 1.0

[structure]
kind = "beam"
length = "L"
elements = 10
rigidity = 1.0
mass_per_length = 1.0
ends = ["clamped", "free"]
damping = { ratio = 0.02, between = [0.5, 3.0] }

[points]
tip = { x = "L" }
mid = { x = 0.5 }

[loads]
tip = "sin(t)"

[[constraint]]
name = "stop"
gap = "0.1 - tip"
restitution = 0.0
"#;

fn load(text: &str, base: &Path) -> Result<(), FileError> {
    ModelFile::parse("beam.toml", text, base)?.system().map(|_| ())
}

fn mistake(from: &str, to: &str, message: &str, marked: &str) {
    assert!(BEAM.contains(from), "{from}");
    let error = load(&BEAM.replacen(from, to, 1), Path::new("")).expect_err(&format!("`{to}` should be refused"));
    let text = place(&error, message);
    assert!(text.contains(marked), "marked `{text}`, wanted `{marked}`: {:?}", error.error);
}

#[test]
fn the_good_one_is_good() {
    load(BEAM, Path::new("")).expect("no mistake here");
}

#[test]
fn mistakes_in_the_sections() {
    mistake("kind = \"beam\"", "kind = \"baem\"", "no kind of structure called `baem`", "baem");
    mistake("elements = 10", "elements = 2.5", "must be a whole number", "2.5");
    mistake("elements = 10", "elements = 0", "must be a whole number", "0");
    mistake("\"clamped\"", "\"glued\"", "an end cannot be `glued`", "glued");
    mistake("rigidity = 1.0", "rigidity = -1.0", "rigidity must be a positive number", "structure");
    mistake("rigidity = 1.0\n", "", "needs a `young`", "structure");
    mistake("{ ratio = 0.02, between = [0.5, 3.0] }", "{ ratio = 0.02 }", "this damping is not understood", "ratio");
    mistake("{ x = 0.5 }", "{ x = 1.5 }", "the abscissa 1.5 is not on the beam", "1.5");
    mistake("{ x = 0.5 }", "{ floor = 1 }", "no place given by floor", "floor");
    mistake("{ x = 0.5 }", "{ dof = 0 }", "counted from 1", "0");
    mistake("{ x = 0.5 }", "{ dof = 99 }", "there is no degree of freedom 99", "99");
    mistake("[loads]\ntip", "[loads]\ntop", "`top` is not a point", "top");
    mistake("\"sin(t)\"", "\"sin(t) - tip\"", "a function of time and parameters alone", "sin(t) - tip");
    mistake("0.1 - tip", "0.1 - tip^2", "not linear in the displacements", "0.1 - tip^2");
    mistake("0.1 - tip", "tip - 0.1", "starts inside the stop `stop`", "tip - 0.1");
    mistake("0.1 - tip", "0.1 - top", "unknown name `top`", "top");
    mistake("restitution = 0.0", "restitution = 1.5", "outside [0, 1]", "1.5");
    mistake("restitution = 0.0", "stiffness = -5.0", "must be positive", "-5.0");
    mistake("gap = \"0.1 - tip\"", "point = \"tip\"", "a `gap`, or a `point`", "constraint");
    mistake("restitution = 0.0", "restitution = 0.5\nstiffness = 5.0", "restitution has no effect", "0.5");
    mistake("mid = { x = 0.5 }", "mid = { for = \"i = 1..2\", x = 0.5 }", "needs its index in the name", "i = 1..2");
    mistake(
        "mid = { x = 0.5 }",
        "\"m{i}\" = { for = \"i = 1..n\", x = 0.5 }",
        "range must be two whole numbers",
        "i = 1..n",
    );
    mistake("[loads]", "[start]\nequilibrium = true\ndisplacement = 1\n[loads]", "has its own displacements", "1");
    mistake("[loads]", "[start]\ndisplacements = \"nowhere.npy\"\n[loads]", "cannot", "nowhere.npy");
}

#[test]
fn mistakes_in_laws_and_loads() {
    mistake("restitution = 0.0", "restitution = 0.0\ndamping = 5.0", "a rigid stop has none", "5.0");
    mistake("restitution = 0.0", "stiffness = 1.0\ndamping = -5.0", "must not be negative", "-5.0");
    mistake("restitution = 0.0", "stiffness = 1.0\nhertz = 5.0", "not both", "5.0");
    mistake("restitution = 0.0", "hertz = -5.0", "must be positive", "-5.0");
    mistake("restitution = 0.0", "restitution = 0.0\nfriction = 0.3", "needs the point that slides", "0.3");
    mistake("restitution = 0.0", "restitution = 0.0\nfriction = -0.3\nslide = \"mid\"", "must not be negative", "-0.3");
    mistake(
        "restitution = 0.0",
        "restitution = 0.0\nfriction = 0.3\nslip = \"mid'\"",
        "not supported at the stops",
        "mid'",
    );
    mistake("restitution = 0.0", "restitution = 0.0\nslide = [\"mid\", \"tip\"]", "one point slides", "mid");
    mistake("{ x = 0.5 }", "{ dofs = [1, 2], weights = [1] }", "2 degrees of freedom but 1 weights", "dofs");
    mistake("{ x = 0.5 }", "{ dofs = 3, weights = [1] }", "is a list", "3");
    mistake("restitution = 0.0", "restitution = 0.0\ncentre = [1, 2]", "is that of a round hole", "[1, 2]");
    mistake("restitution = 0.0", "restitution = 0.0\ngroup = \" \"", "needs a name", " ");
    let psd = |text: &str| format!("[inputs]\nf = {text}\n[loads]");
    for (text, message, marked) in [
        ("{ psd = [[1, 1]], duration = 9 }", "at least two corners", "[1, 1]"),
        ("{ psd = [[2, 1], [1, 1]], duration = 9 }", "must not decrease", "[1, 1]"),
        ("{ psd = [[1, 1], [9, 1]] }", "needs a `duration`", "psd"),
        ("{ psd = [[1, 1], [9, 1]], duration = -1 }", "positive number", "-1"),
        ("{ psd = [[1, 1], [9, 1]], duration = 0.1 }", "must be longer", "psd"),
        ("{ psd = [[1, 1], [9, 1]], duration = 9, seed = 0.5 }", "whole number", "0.5"),
        ("{ psd = 3, duration = 9 }", "list of corners", "3"),
    ] {
        mistake("[loads]", &psd(text), message, marked);
    }
    mistake("{ x = 0.5 }", "{ base_shear = false }", "is true, or left out", "false");
    mistake(
        "[loads]",
        "[[base]]\nacceleration = 1\n[[base]]\nacceleration = 2\n[loads]",
        "along what is this one",
        "1",
    );
    mistake("[loads]", "[base]\nacceleration = 1\nof = \"x\"\n[loads]", "there is no part `x`", "x");
    mistake("tip = \"sin(t)\"", "w = { vector = \"no.npy\", value = \"t\" }", "cannot", "no.npy");
}

/// Three directions of the base, and a vector of loads, are the sum of what each does.
#[test]
fn bases_and_vectors_add_up() {
    let dir = tempfile::tempdir().expect("a directory");
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
    put("M.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1.0\n2 2 2.0\n3 3 3.0\n");
    put(
        "K.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 9.0\n2 1 -1.0\n2 2 8.0\n3 2 -2.0\n3 3 7.0\n",
    );
    put("b.txt", "0.5 0 -1\n");
    let end = |more: &str| {
        let text = format!(
            "[structure]\nmass = \"M.mtx\"\nstiffness = \"K.mtx\"\n[points]\na = 1\nb = 2\nc = 3\n\
             both = {{ dofs = [1, 3], weights = [1, 2] }}\n{more}\n\
             [[constraint]]\nname = \"far\"\ngap = \"100 - a\"\nrestitution = 0\n"
        );
        let opened = ModelFile::parse("m.toml", &text, dir.path()).expect("read").system().expect("built");
        let structure = opened.system.as_structure().expect("a structure").clone();
        let run = structure.run(&saltus::Options::steps("paoli-schatzman", 1e-2).until(1.0)).expect("runs");
        let last = run.trajectory.q(run.trajectory.len() - 1).to_vec();
        assert!((last[3] - last[0] - 2.0 * last[2]).abs() < 1e-12);
        last
    };
    let one = |k: usize, a: &str| format!("[[base]]\nacceleration = \"{a}\"\ndirection = [{k}]\n");
    let vector = "[loads]\nwave = { vector = \"b.txt\", value = \"3*sin(4*t)\" }\n";
    let parts = [one(1, "sin(3*t)"), one(2, "cos(2*t)"), one(3, "t"), vector.to_string()];
    let whole = end(&parts.concat());
    let sum: Vec<Vec<f64>> = parts.iter().map(|part| end(part)).collect();
    for k in 0..3 {
        let total: f64 = sum.iter().map(|x| x[k]).sum();
        assert!((whole[k] - total).abs() < 1e-12 && total.abs() > 1e-3, "{k}: {whole:?} {sum:?}");
    }
    // Loads of the same forces at the points.
    let points = end("[loads]\na = \"1.5*sin(4*t)\"\nc = \"-3*sin(4*t)\"\n");
    assert!(points.iter().zip(&sum[3]).all(|(a, b)| (a - b).abs() < 1e-14), "{points:?} {:?}", sum[3]);
}

/// Points, loads, guides and slides of a family, written out.
#[test]
fn families_over_points() {
    let text = BEAM
        .replace("mid = { x = 0.5 }", "\"s{i}\" = { for = \"i = 1..4\", x = \"0.2*{i}*L\" }")
        .replace("tip = \"sin(t)\"", "\"s{i}\" = { for = \"i = 1..4\", value = \"{i}*sin(t)\" }")
        .replace("gap = \"0.1 - tip\"", "for = \"i = 1..4\"\npoint = \"s{i}\"\nslide = \"s{i}\"\nwithin = \"0.1*{i}\"");
    let opened = ModelFile::parse("beam.toml", &text, Path::new("")).expect("read").system().expect("built");
    let model = opened.system.model();
    assert_eq!(model.coordinates, ["tip", "s1", "s2", "s3", "s4"]);
    let names: Vec<&str> = model.constraints.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["stop-[1]", "stop+[1]", "stop-[2]", "stop+[2]", "stop-[3]", "stop+[3]", "stop-[4]", "stop+[4]"]);
    let structure = opened.system.as_structure().expect("a structure");
    assert!(structure.slides()[6..].iter().all(|slide| slide.along == [4]));
    let mut gaps = structure.gaps();
    gaps.evaluate(0.0, &[0.0, 0.0, 0.0, 0.0, 0.05], &[0.0; 5]);
    let expected = [0.1, 0.1, 0.2, 0.2, 0.3, 0.3, 0.45, 0.35];
    assert!(gaps.values.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{:?}", gaps.values);
    let mut signals = structure.signals();
    signals.evaluate(1.0);
    assert!((signals.loads[3] - 4.0 * 1.0_f64.sin()).abs() < 1e-12, "{:?}", signals.loads);
}

/// A direction, or a start, from any file with a vector in it.
#[test]
fn vectors_from_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let put = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).expect("written");
    put("M.mtx", MASS.as_bytes());
    put("K.mtx", STIFFNESS.as_bytes());
    put("r.txt", b"# direction\n1.0, 0.5\n");
    put("lines.txt", b"1.0 # the first\n0.5\n");
    put("r.mtx", b"%%MatrixMarket matrix array real general\n2 1\n1.0\n0.5\n");
    put("short.txt", b"1.0\n");
    put("word.txt", b"1.0\nx.5\n");
    let npy = |shape: &str| {
        let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend([1.0_f64, 0.5].iter().flat_map(|x| x.to_le_bytes()));
        bytes
    };
    put("r.npy", &npy("(2,)"));
    put("column.npy", &npy("(2, 1)"));
    let text = |direction: &str, more: &str| {
        format!(
            "[structure]\nmass = \"M.mtx\"\nstiffness = \"K.mtx\"\ndirection = \"{direction}\"\n[points]\nu = 2\n\
             [base]\nacceleration = \"sin(t)\"\n{more}\n[[constraint]]\nname = \"stop\"\ngap = \"1 - u\"\nrestitution = 0\n"
        )
    };
    for file in ["r.txt", "lines.txt", "r.mtx", "r.npy", "column.npy"] {
        let opened = ModelFile::parse("m.toml", &text(file, ""), dir.path()).expect(file).system().expect(file);
        let part = &opened.system.as_structure().expect("a structure").parts()[0];
        assert_eq!(part.translation(), Some(vec![1.0, 0.5]), "{file}");
        let start = format!("[start]\ndisplacements = \"{file}\"\nvelocities = \"{file}\"\n");
        let opened = ModelFile::parse("m.toml", &text("all", &start), dir.path()).expect(file).system().expect(file);
        let mut q = opened.start.q.clone();
        q.sort_by(f64::total_cmp);
        assert_eq!((q, opened.start.v.iter().sum::<f64>()), (vec![0.5, 1.0], 1.5), "{file}");
    }
    for (file, message) in [("short.txt", "has 1 numbers, but there are 2"), ("word.txt", "not a number")] {
        let error = load(&text(file, ""), dir.path()).expect_err(message);
        assert!(error.error.message.contains(message), "{:?}", error.error);
    }
}

/// Writes M, K and a model beside them, and gives the refusal.
fn with_files(mass: &str, stiffness: &str, more: &str) -> Result<(), FileError> {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join("M.mtx"), mass).expect("written");
    fs::write(dir.path().join("K.mtx"), stiffness).expect("written");
    fs::write(dir.path().join("r.at2"), RECORD).expect("written");
    let text = format!(
        "[structure]\nmass = \"M.mtx\"\nstiffness = \"K.mtx\"\n{more}\n[points]\nu = 2\n\
         [[constraint]]\nname = \"stop\"\ngap = \"1 - u\"\nrestitution = 0\n"
    );
    load(&text, dir.path())
}

const RECORD: &str = "PEER\nSYNTHETIC\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 4, DT= .0100 SEC,\n .1 .2\n .3\n";
const HEAD: &str = "%%MatrixMarket matrix coordinate real symmetric\n";
const MASS: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.0\n2 2 1.0\n";
const STIFFNESS: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2.0\n2 1 -1.0\n2 2 1.0\n";

fn refused(mass: &str, stiffness: &str, more: &str, message: &str, line: Option<usize>) {
    let error = with_files(mass, stiffness, more).expect_err(message);
    let shown = format!("{}: {:?}", error.name, error.error);
    assert!(error.error.message.contains(message), "wanted `{message}`: {shown}");
    if let Some(line) = line {
        assert!(error.name.ends_with(".mtx") || error.name.ends_with(".at2"), "{shown}");
        assert_eq!(error.line_column().map(|p| p.0), Some(line), "{shown}");
    }
    assert!(error.error.span.is_some(), "no place: {shown}");
}

#[test]
fn mistakes_in_matrices_are_named_with_file_and_line() {
    with_files(MASS, STIFFNESS, "").expect("these are good");
    let three = format!("{HEAD}3 3 3\n1 1 1.0\n2 2 1.0\n3 3 1.0\n");
    refused(&three, STIFFNESS, "", "mass matrix is 3 × 3, but the stiffness matrix 2 × 2", None);
    refused(MASS, &format!("{HEAD}2 2 3\n0 0 2.0\n1 0 -1.0\n1 1 1.0\n"), "", "", Some(3));
    refused(MASS, &STIFFNESS.replace("2 1 -1.0", "2 1 nan"), "", "finite", Some(4));
    refused(MASS, &STIFFNESS.replace("2 2 1.0\n", ""), "", "truncated", Some(4));
    let half = STIFFNESS.replace("symmetric", "general");
    refused(MASS, &half, "", "half", Some(1));
    refused(MASS, &STIFFNESS.replace("2 2 1.0", "2 2 0.1"), "", "the stiffness matrix is indefinite", None);
    refused(&MASS.replace("2 2 1.0", "2 2 -1.0"), STIFFNESS, "", "the mass of degree of freedom 2", None);
    refused(MASS, STIFFNESS, "[inputs]\nag = \"r.at2\"\n[base]\nacceleration = \"ag(t)\"", "4 values", Some(4));
    let still = "direction = [3]\n";
    refused(MASS, STIFFNESS, still, "there is no degree of freedom 3", None);
    refused(MASS, STIFFNESS, "[base]\nacceleration = \"sin(t)\"", "which degrees of freedom", None);
}

#[test]
fn what_would_not_fit_into_memory_is_refused_with_the_figure() {
    let beam = |elements: &str| {
        format!(
            "[structure]\nkind = \"beam\"\nlength = 1\nelements = {elements}\nrigidity = 1\nmass_per_length = 1\n\
             [points]\ntip = {{ x = 1 }}\n[[constraint]]\nname = \"stop\"\ngap = \"1 - tip\"\nrestitution = 0\n"
        )
    };
    let error = load(&beam("10000000"), Path::new(".")).expect_err("44 GiB");
    assert!(error.error.message.contains("would take about 43.8 GiB"), "{:?}", error.error);
    // A chain of pendula, each coupled to all: d³ terms.
    let chain = "[coordinates]\nth = { for = \"i = 1..300\", position = \"0\" }\n[dynamics]\n\
                 kinetic = \"sum(k = 1..300, sum(i = 1..k, cos(th[i])*th[i]')^2 + sum(i = 1..k, sin(th[i])*th[i]')^2)/2\"\n\
                 [[constraint]]\nname = \"wall\"\ngap = \"1 - th[1]\"\nrestitution = 0\n";
    let error = load(chain, Path::new(".")).expect_err("some 8 GiB");
    assert!(error.error.message.contains("300 coordinates that are all coupled would take about"), "{:?}", error.error);
    // A size line that the entries do not bear out; entries that fill a factor.
    let empty = format!("{HEAD}1900000 1900000 2\n1 1 1.0\n1900000 1900000 1.0\n");
    let error = with_files(&empty, &empty, "").expect_err("empty rows");
    assert!(error.error.message.contains("nearly all rows are empty"), "{:?}", error.error);
    let n = 60_000;
    let (mut mass, mut stiffness) = (format!("{HEAD}{n} {n} {n}\n"), format!("{HEAD}{n} {n} {}\n", 3 * n - 2));
    let mut far = 1_u64;
    for i in 1..=n {
        mass += &format!("{i} {i} 1.0\n");
        stiffness += &format!("{i} {i} 10.0\n");
        if i > 1 {
            // Anywhere before: no order makes such a pattern narrow.
            for _ in 0..2 {
                far = far.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                stiffness += &format!("{i} {} -1.0\n", 1 + (far >> 33) % (i - 1));
            }
        }
    }
    let error = with_files(&mass, &stiffness, "").expect_err("a factor of many GiB");
    assert!(error.error.message.contains("would take about"), "{:?}", error.error);
}

/// Damping and stiffness may be unsymmetric where the model says so; a mass matrix never.
#[test]
fn unsymmetric_matrices_are_meant_to_be_so() {
    let dir = tempfile::tempdir().expect("a directory");
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
    put("M.mtx", MASS);
    put("K.mtx", STIFFNESS);
    put("C.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 0.5\n1 2 -3\n2 1 1\n");
    put("G.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 1.5\n");
    let load = |keys: &str| {
        let text = format!(
            "[structure]\n{keys}\n[points]\nu = 2\n[[constraint]]\nname = \"stop\"\ngap = \"1 - u\"\nrestitution = 0\n"
        );
        ModelFile::parse("m.toml", &text, dir.path()).and_then(|file| file.system())
    };
    let refused = |keys: &str, message: &str| {
        let error = load(keys).err().unwrap_or_else(|| panic!("`{keys}` should be refused"));
        place(&error, message);
    };
    let files = "mass = \"M.mtx\"\nstiffness = \"K.mtx\"\n";
    refused(&format!("{files}damping = \"C.mtx\""), "the damping matrix is not symmetric");
    refused(&format!("{files}damping = \"G.mtx\""), "the damping matrix is not symmetric");
    refused(&format!("{files}unsymmetric = true"), "has no effect");
    refused(&format!("{files}unsymmetric = 1"), "true or false");
    refused("mass = \"C.mtx\"\nstiffness = \"K.mtx\"\nunsymmetric = true", "the mass matrix is not symmetric");
    for (name, symmetric, skew) in [("C.mtx", -1.0, -2.0), ("G.mtx", 0.0, -1.5)] {
        let opened = load(&format!("{files}damping = \"{name}\"\nunsymmetric = true")).expect("read");
        let linear = opened.system.as_structure().expect("a structure").linear();
        let gyroscopic = linear.gyroscopic.as_ref().expect("an antisymmetric part");
        let (_, x) = gyroscopic.row(0).next().expect("an entry");
        // (The order of the solver may have turned the sign.)
        assert_eq!(x.abs(), f64::abs(skew), "{name}");
        let beside = linear.damping.as_ref().map_or(0.0, |c| c.at(0, 1));
        assert_eq!(beside, symmetric, "{name}");
        assert!(linear.circulatory.is_none());
    }
}

/// Where nodes are, for pictures.
#[test]
fn nodes_of_matrices() {
    let dir = tempfile::tempdir().expect("a directory");
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("written");
    put("nodes.txt", "# x, y, dofs\n0, 0, 0, 0\n1.5, 0, 1, 2  # the tip\n");
    put("space.txt", "0 0 0 0 0 0\n1 0 2 1 0 2\n");
    put("five.txt", "0 0 1 2 0\n");
    put("third.txt", "0 0 1 3\n");
    let read = |name: &str| saltus_io::matrix::nodes(&dir.path().join(name), 2);
    let nodes = read("nodes.txt").expect("read");
    assert_eq!(nodes[0].moves, [vec![], vec![]]);
    assert_eq!((nodes[1].at, &nodes[1].moves), ([1.5, 0.0], &[vec![(0, 1.0)], vec![(1, 1.0)]]));
    // In one plane of space, that plane.
    let nodes = read("space.txt").expect("read");
    assert_eq!((nodes[1].at, &nodes[1].moves), ([1.0, 2.0], &[vec![(0, 1.0)], vec![(1, 1.0)]]));
    for (name, message) in [("five.txt", "has 5 numbers"), ("third.txt", "no degree of freedom")] {
        assert!(read(name).expect_err(name).to_string().contains(message), "{name}");
    }
}
