use crate::common::{file, says};
use saltus::{Outside, Table};
use saltus_io::FileError;
use saltus_io::records::at2;

const GOOD: &str = "PEER NGA STRONG MOTION DATABASE RECORD\n\
    Imperial Valley-02, 5/19/1940, El Centro Array #9, 180\n\
    ACCELERATION TIME SERIES IN UNITS OF G\n\
    NPTS=      7, DT=   .0100 SEC,\n  \
    -.6329000E-02   .1000000E+00   .5000000E-03   .0000000E+00  -.2000000E+00\n  \
     .1000000E-01   .2000000E-01\n";

fn record(text: &str) -> Result<(Table, String), FileError> {
    let (_kept, path) = file("RSN6_IMPVALL.I_I-ELC180.AT2", text.as_bytes());
    at2(&path, "quake", Outside::Zero)
}

fn refused(from: &str, to: &str, message: &str, marked: (usize, &str), help: &str) {
    assert!(GOOD.contains(from), "{from}");
    says(record(&GOOD.replacen(from, to, 1)), message, Some(marked), help);
}

#[test]
fn headers_new_and_old() {
    for header in [
        "NPTS=      7, DT=   .0100 SEC,",
        "NPTS=7, DT=0.01SEC",
        "     7    0.0100    NPTS, DT",
        "npts = 7, dt = 1.0D-2 sec\r",
    ] {
        let text = GOOD.replace("NPTS=      7, DT=   .0100 SEC,", header);
        let (table, unit) = record(&text).expect(header);
        let (times, values) = table.points();
        assert_eq!((times.len(), times[0], unit.as_str()), (7, 0.0, "g"));
        assert!((times[6] - 0.06).abs() < 1e-15 && (values[1] - 0.980665).abs() < 1e-15);
        assert!((values[0] + 0.006329 * 9.80665).abs() < 1e-15);
    }
}

#[test]
fn units() {
    for (said, unit, value) in [
        ("HISTORY IN UNITS OF G. FILTER POINTS: HP=.1 HZ", "g", 0.980665),
        ("SERIES IN UNITS OF CM/SEC/SEC", "cm/s2", 0.001),
        ("SERIES IN UNITS OF cm/s**2", "cm/s2", 0.001),
        ("SERIES IN UNITS OF M/S2", "m/s2", 0.1),
    ] {
        let (table, found) = record(&GOOD.replace("SERIES IN UNITS OF G", said)).expect(said);
        assert_eq!(found, unit);
        assert!((table.points().1[1] - value).abs() < 1e-15, "{said}");
    }
    refused("OF G", "OF INCHES", "unknown unit `INCHES`", (3, "INCHES"), "CM/S2");
    refused("IN UNITS OF G", "", "does not say its unit", (3, "ACCELERATION TIME SERIES"), "UNITS OF G");
}

#[test]
fn other_quantities() {
    let line = "VELOCITY TIME SERIES IN UNITS OF CM/S";
    refused("ACCELERATION TIME SERIES IN UNITS OF G", line, "holds velocities", (3, line), ".VT2");
    let line = "DISPLACEMENT TIME SERIES IN UNITS OF CM";
    refused("ACCELERATION TIME SERIES IN UNITS OF G", line, "holds displacements", (3, line), ".DT2");
    refused("ACCELERATION TIME", "TIME", "does not say that", (3, "TIME SERIES IN UNITS OF G"), "four header");
}

#[test]
fn the_count_and_the_step() {
    refused("     7,", "     8,", "the header says 8 values, the file has 7: truncated?", (4, "8"), "again");
    refused("     7,", "     6,", "the header says 6 values, the file has 7", (4, "6"), "NPTS");
    refused("     7,", " 7.5,", "whole number, not `7.5`", (4, "7.5"), "four header");
    refused(".0100", "-.0100", "positive number, not `-.0100`", (4, "-.0100"), "between two samples");
    refused(".0100", "0.0", "positive number", (4, "0.0"), "seconds");
    refused(".0100 SEC,", "", "its time step (DT)", (4, "NPTS=      7, DT="), "DT= .0050");
    refused("NPTS=      7, DT=   .0100 SEC,", "hello", "how many values", (4, "hello"), "NPTS=");
    says(record("a\nb\nACCEL\n"), "within its four header lines", Some((3, "ACCEL")), "four header lines");
    let one = "a\nb\nACCELERATION IN UNITS OF G\nNPTS= 1, DT= .01 SEC\n.5\n";
    says(record(one), "at least 2 points", None, "right file");
}

#[test]
fn the_values() {
    refused(".5000000E-03", ".50O0000E-03", "not a number: `.50O0000E-03`", (5, ".50O0000E-03"), "only numbers");
    refused(".1000000E-01", "1e309", "not finite", (6, "1e309"), "again");
    refused(".1000000E-01", "NaN", "not finite", (6, "NaN"), "again");
}
