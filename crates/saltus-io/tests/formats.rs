//! The formats of a trajectory hold the same numbers: each file is read back by a reader that knows only the format.

use saltus::analysis::long_time;
use saltus::{Options, Run, Side};
use saltus_io::output::{Format, Record, Summary, write};
use saltus_io::{Changes, ModelFile};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

const MODEL: &str = r#"
title = "Größe, Δt"
[coordinates]
x = { position = 0.0, velocity = 1.0 }
"φ" = { position = 1.0, velocity = 0.0 }
[dynamics]
kinetic = "(x'^2 + φ'^2)/2"
potential = "9.81*φ"
[[constraint]]
name = "floor, really"
gap = "φ"
[[constraint]]
name = "wall"
gap = "2 - x"
[impact]
restitution = 0.5
"#;

fn ran(dir: &Path, formats: &[Format]) -> Run {
    let file = ModelFile::parse("two.toml", MODEL, Path::new(".")).expect("a model");
    let (problem, _) = file.problem(&[]).expect("a problem");
    let model = problem.model();
    let made = problem.run(&Options::events(3.0).step(0.01)).expect("ran");
    let summary = Summary::new(&file.name, model, &made, &long_time(&problem, &made), 0.0, false);
    let record = Record::new(&file, model, &Changes::default(), &made, true, None, summary);
    write(dir, model, &made, None, &record, formats).expect("written");
    made
}

/// What a small reader of version 5 files finds in one.
#[derive(Debug, PartialEq)]
enum Found {
    Numbers(Vec<i32>, Vec<f64>),
    Text(String),
    Cells(Vec<Found>),
    Fields(HashMap<String, Found>),
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// The element at an offset: its type, its data, and where the next one starts.
fn element(bytes: &[u8], at: usize) -> (u32, &[u8], usize) {
    let head = u32_at(bytes, at);
    if head >> 16 != 0 {
        let length = (head >> 16) as usize;
        assert!(length <= 4);
        return (head & 0xffff, &bytes[at + 4..at + 4 + length], at + 8);
    }
    let length = u32_at(bytes, at + 4) as usize;
    (head, &bytes[at + 8..at + 8 + length], (at + 8 + length).next_multiple_of(8))
}

fn variable(bytes: &[u8]) -> (String, Found) {
    let (kind, flags, at) = element(bytes, 0);
    assert_eq!((kind, flags.len()), (6, 8), "flags");
    let (kind, shape, at) = element(bytes, at);
    assert_eq!(kind, 5, "dimensions");
    let shape: Vec<i32> = shape.chunks_exact(4).map(|c| u32_at(c, 0) as i32).collect();
    let (kind, name, mut at) = element(bytes, at);
    assert_eq!(kind, 1, "name");
    let name = String::from_utf8(name.to_vec()).expect("a name");
    let count = shape.iter().product::<i32>() as usize;
    let inner = |at: &mut usize| {
        let (kind, data, next) = element(bytes, *at);
        assert_eq!(kind, 14, "a matrix inside {name}");
        *at = next;
        variable(data).1
    };
    let found = match u32_at(flags, 0) & 0xff {
        1 => Found::Cells((0..count).map(|_| inner(&mut at)).collect()),
        2 => {
            let (_, size, next) = element(bytes, at);
            let (_, names, next) = element(bytes, next);
            at = next;
            let names = names.chunks_exact(u32_at(size, 0) as usize);
            let names = names.map(|n| n.iter().take_while(|&&b| b != 0).map(|&b| char::from(b)).collect::<String>());
            Found::Fields(names.collect::<Vec<_>>().into_iter().map(|n| (n, inner(&mut at))).collect())
        }
        4 => {
            let (kind, data, _) = element(bytes, at);
            assert_eq!(kind, 16, "UTF-8");
            let text = String::from_utf8(data.to_vec()).expect("UTF-8");
            assert_eq!(text.chars().count(), count);
            Found::Text(text)
        }
        6 => {
            let (kind, data, _) = element(bytes, at);
            assert_eq!((kind, data.len()), (9, 8 * count));
            let number = |c: &[u8]| f64::from_le_bytes(c.try_into().expect("eight bytes"));
            Found::Numbers(shape, data.chunks_exact(8).map(number).collect())
        }
        class => panic!("class {class} of {name}"),
    };
    (name, found)
}

fn mat(path: &Path) -> HashMap<String, Found> {
    let bytes = fs::read(path).expect("the file");
    assert!(bytes.starts_with(b"MATLAB 5.0 MAT-file"));
    assert_eq!(&bytes[116..128], [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, b'I', b'M']);
    let (mut at, mut found) = (128, HashMap::new());
    while at < bytes.len() {
        let (kind, data, next) = element(&bytes, at);
        assert_eq!((kind, at % 8), (14, 0));
        found.extend([variable(data)]);
        at = next;
    }
    assert_eq!(at, bytes.len(), "the last element is complete");
    found
}

/// Rows of numbers as the columns MATLAB stores.
fn by_columns(rows: &[Vec<f64>]) -> Vec<f64> {
    (0..rows.first().map_or(0, Vec::len)).flat_map(|i| rows.iter().map(move |r| r[i])).collect()
}

#[test]
fn a_matlab_file_has_the_numbers_the_names_and_where_they_come_from() {
    let dir = tempfile::tempdir().expect("a directory");
    let made = ran(dir.path(), &[Format::Mat]);
    let found = mat(&dir.path().join("trajectory.mat"));
    let motion = &made.trajectory;
    let (n, k) = (motion.len(), motion.impacts.len());
    assert!(k > 5);
    let expected = |name: &str, rows: Vec<Vec<f64>>| {
        let shape = vec![rows.len() as i32, rows[0].len() as i32];
        assert_eq!(found[name], Found::Numbers(shape, by_columns(&rows)), "{name}");
    };
    expected("t", motion.t.iter().map(|&t| vec![t]).collect());
    expected("q", (0..n).map(|k| motion.q(k).to_vec()).collect());
    expected("v_left", (0..n).map(|k| motion.v(k, Side::Left).to_vec()).collect());
    expected("v_right", (0..n).map(|k| motion.v(k, Side::Right).to_vec()).collect());
    expected("impact_t", motion.impacts.iter().map(|i| vec![i.t]).collect());
    expected("impact_v_after", motion.impacts.iter().map(|i| i.v_after.to_vec()).collect());
    let impulse = |i: saltus::Impact| {
        let mut row = vec![0.0; 2];
        i.constraints.iter().zip(i.impulses).for_each(|(&a, p)| row[a] = *p);
        row
    };
    expected("impact_impulse", motion.impacts.iter().map(impulse).collect());
    assert!(matches!(&found["reaction"], Found::Numbers(shape, _) if *shape == [n as i32, 2]));
    let texts = |list: &[&str]| Found::Cells(list.iter().map(|t| Found::Text(t.to_string())).collect());
    assert_eq!(found["coordinates"], texts(&["x", "φ"]));
    assert_eq!(found["constraints"], texts(&["floor, really", "wall"]));
    let Found::Fields(meta) = &found["meta"] else { panic!("a structure") };
    assert_eq!(meta["title"], Found::Text("Größe, Δt".into()));
    assert_eq!(meta["scheme"], Found::Text("auto".into()));
    assert_eq!(meta["step"], Found::Numbers(vec![1, 1], vec![0.01]));
    assert!(matches!(&meta["model_sha256"], Found::Text(t) if t.len() == 64));
}

#[test]
fn formats_not_asked_for_are_taken_away() {
    let dir = tempfile::tempdir().expect("a directory");
    let there = |name: &str| dir.path().join(name).exists();
    let _ = ran(dir.path(), &[Format::Npz, Format::Csv, Format::Mat]);
    assert!(there("trajectory.npz") && there("trajectory.csv") && there("trajectory.mat"));
    let _ = ran(dir.path(), &[Format::Npz]);
    assert!(there("trajectory.npz") && !there("trajectory.csv") && !there("trajectory.mat") && there("impacts.csv"));
}

#[test]
fn a_wrong_format_is_answered() {
    let error = Format::find("matt").expect_err("unknown");
    assert!(error.help.as_deref().is_some_and(|h| h.contains("`mat`")), "{error:?}");
}

#[test]
fn parquet_files_have_the_numbers_and_where_they_come_from() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let dir = tempfile::tempdir().expect("a directory");
    let made = ran(dir.path(), &[Format::Parquet]);
    let motion = &made.trajectory;
    let open = |name: &str| {
        let file = fs::File::open(dir.path().join(name)).expect("the file");
        SerializedFileReader::new(file).expect("parquet")
    };
    let reader = open("trajectory.parquet");
    let meta = reader.metadata().file_metadata();
    let names: Vec<&str> = meta.schema_descr().columns().iter().map(|c| c.name()).collect();
    assert_eq!(&names[..7], ["t", "x", "φ", "v_left_x", "v_left_φ", "v_right_x", "v_right_φ"]);
    assert_eq!(&names[7..], ["reaction_floor, really", "reaction_wall"]);
    let pairs = meta.key_value_metadata().expect("pairs");
    assert!(pairs.iter().any(|p| p.key == "title" && p.value.as_deref() == Some("Größe, Δt")));
    let mut rows = 0;
    for (k, row) in reader.get_row_iter(None).expect("rows").enumerate() {
        let row = row.expect("a row");
        assert_eq!(row.get_double(0).expect("t"), motion.t[k]);
        assert_eq!(row.get_double(2).expect("φ"), motion.q(k)[1]);
        assert_eq!(row.get_double(6).expect("v"), motion.v(k, Side::Right)[1]);
        rows += 1;
    }
    assert_eq!(rows, motion.len());
    let reader = open("impacts.parquet");
    let rows: Vec<_> = reader.get_row_iter(None).expect("rows").map(|r| r.expect("a row")).collect();
    let acted: usize = motion.impacts.iter().map(|i| i.constraints.len()).sum();
    assert_eq!(rows.len(), acted);
    assert_eq!(rows[0].get_long(0).expect("number"), 1);
    assert_eq!(rows[0].get_double(1).expect("t"), motion.impacts.get(0).t);
    assert_eq!(rows[0].get_string(2).expect("name"), "floor, really");
    assert_eq!(rows[0].get_double(3).expect("impulse"), motion.impacts.get(0).impulses[0]);
}

/// A table in many chunks, more rows than a group of a Parquet file has.
#[test]
fn tables_of_many_chunks_are_whole_in_parquet() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    use saltus_io::table::{self, Column, Kind, Table, Values};
    struct Long(Vec<Column>, Vec<u64>);
    impl Table for Long {
        fn columns(&self) -> &[Column] {
            &self.0
        }
        fn chunks(&self) -> &[u64] {
            &self.1
        }
        fn read(&self, chunk: usize, column: usize) -> std::io::Result<Values> {
            let first: u64 = self.1[..chunk].iter().sum();
            let rows = first..first + self.1[chunk];
            Ok(match column {
                0 => Values::Integers(rows.map(|k| k as i64).collect()),
                1 => Values::Numbers(rows.map(|k| k as f64 / 8.0).collect()),
                _ => Values::Integers(rows.map(|k| k as i64 % 2 - 1).collect()),
            })
        }
    }
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let columns = vec![
        column("point", Kind::Integer),
        column("x'", Kind::Number),
        column("reason", Kind::Remark(vec!["why".into()])),
    ];
    let long = Long(columns, vec![30_000; 5]);
    let dir = tempfile::tempdir().expect("a directory");
    table::write(dir.path(), "points", Format::Parquet, &long, 3).expect("written");
    let file = fs::File::open(dir.path().join("points.parquet")).expect("the file");
    let reader = SerializedFileReader::new(file).expect("parquet");
    assert_eq!(reader.metadata().num_row_groups(), 3);
    let mut rows = 0;
    for (k, row) in reader.get_row_iter(None).expect("rows").enumerate() {
        let row = row.expect("a row");
        assert_eq!((row.get_long(0).expect("point"), row.get_double(1).expect("x'")), (k as i64, k as f64 / 8.0));
        assert_eq!(row.get_string(2).expect("reason"), if k % 2 == 1 { "why" } else { "" });
        rows += 1;
    }
    assert_eq!(rows, 150_000);
}

/// A text array of an npz file: its header, and its texts.
fn texts(dir: &Path, name: &str) -> (String, Vec<String>) {
    use std::io::Read;
    let file = fs::File::open(dir.join("trajectory.npz")).expect("a file");
    let mut archive = zip::ZipArchive::new(file).expect("an archive");
    let mut bytes = Vec::new();
    archive.by_name(&format!("{name}.npy")).expect("an array").read_to_end(&mut bytes).expect("read");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!((10 + length) % 64, 0);
    let header = String::from_utf8(bytes[10..10 + length].to_vec()).expect("UTF-8");
    let width: usize =
        header.split("<U").nth(1).and_then(|r| r.split('\'').next()).expect("<U").parse().expect("a number");
    let letters: Vec<char> =
        bytes[10 + length..].chunks(4).map(|c| char::from_u32(u32_at(c, 0)).expect("a letter")).collect();
    let texts = letters.chunks(width).map(|t| t.iter().collect::<String>().trim_end_matches('\0').to_string());
    (header, texts.collect())
}

#[test]
fn an_npz_file_says_what_is_in_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let _ = ran(dir.path(), &[Format::Npz]);
    let (header, coordinates) = texts(dir.path(), "coordinates");
    assert!(header.contains("'shape': (2,)") && header.contains("'descr': '<U1'"), "{header}");
    assert_eq!(coordinates, ["x", "φ"]);
    assert_eq!(texts(dir.path(), "constraints").1, ["floor, really", "wall"]);
    assert_eq!(texts(dir.path(), "coordinate_units").1, ["", ""]);
    let (header, meta) = texts(dir.path(), "meta");
    assert!(header.contains("'shape': ()"), "{header}");
    let meta: serde_json::Value = serde_json::from_str(&meta[0]).expect("JSON");
    assert_eq!((meta["title"].as_str(), meta["end"].as_f64()), (Some("Größe, Δt"), Some(3.0)));
}
