//! Reports as a person gets them: written by the command, opened in a browser, read from the page.

pub mod browser;
mod paths;
mod planes;

use crate::program::Scratch;
use browser::{Browser, Opened};
use serde_json::Value;

/// Runs `saltus` with `--json` and a report; what it printed.
fn reported(here: &Scratch, args: &[&str], report: &str) -> Value {
    let answer = here.saltus(&[args, &["--json", "--report", report]].concat());
    assert!(answer.succeeded(), "{answer:?}");
    answer.json()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map(|list| list.iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()).unwrap_or_default()
}

fn is(value: &Value, role: &str, name: &str) -> bool {
    value["role"] == role && value["name"] == name
}

/// The traces of a figure with a role, and the name where one is given.
fn traces<'a>(page: &'a Opened, figure: &str, role: &'a str, name: &'a str) -> Vec<&'a Value> {
    let figure = page.figure(figure);
    let Some(all) = figure["traces"].as_array() else { return Vec::new() };
    all.iter().filter(|t| t["role"] == role && (name.is_empty() || is(t, role, name))).collect()
}

/// The same number, but for the last digit that reading JSON may change.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * a.abs()
}

/// The same velocities: where friction sticks after an impact, rounding of what was faster before is taken away.
fn same_speed(a: f64, b: f64, largest: f64) -> bool {
    same(a, b) || (a - b).abs() <= 1e-13 * largest
}

/// The same numbers, or both missing.
fn agree(a: Option<f64>, b: Option<f64>) -> bool {
    a.zip(b).is_some_and(|(a, b)| same(a, b))
}

/// Whether a trace has a point, number by number.
fn has(trace: &Value, x: f64, y: f64) -> bool {
    numbers(&trace["x"]).iter().zip(numbers(&trace["y"])).any(|(&a, b)| same(a, x) && same(b, y))
}

/// A jump worth drawing, by the rule of the report.
fn jumps(before: f64, after: f64) -> bool {
    (before - after).abs() > 1e-13 * (before.abs() + after.abs())
}

/// Names as figures have them: coordinates with a prime and, where units differ, a unit.
fn velocity_trace<'a>(page: &'a Opened, role: &'a str, coordinate: &str, k: usize) -> Option<&'a Value> {
    let figure = page.figure("velocities");
    let lines: Vec<&Value> = figure["traces"].as_array()?.iter().filter(|t| t["role"] == "velocity").collect();
    let name = lines.get(k)?["name"].as_str()?;
    assert!(name.starts_with(&format!("{coordinate}′")), "{name} is not {coordinate}");
    let wanted = if role == "velocity" { name.to_string() } else { format!("{name} {role} an impact") };
    figure["traces"].as_array()?.iter().find(|t| t["role"] == role && t["name"] == wanted.as_str())
}

/// Holds the page of a run against what the command said of the run.
fn compare(model: &str, said: &Value, page: &Opened) {
    let coordinates: Vec<&str> =
        said["coordinates"].as_array().expect("list").iter().filter_map(Value::as_str).collect();
    let last = &said["final"];
    assert!(!traces(page, "positions", "position", "").is_empty(), "{model}: no positions");
    for (i, line) in traces(page, "positions", "position", "").iter().enumerate() {
        let (x, y) = (numbers(&line["x"]), numbers(&line["y"]));
        assert!(agree(x.last().copied(), last["t"].as_f64()), "{model}");
        assert!(agree(y.last().copied(), last["q"][i].as_f64()), "{model}: {}", coordinates[i]);
    }
    let impacts = said["impacts"]["first"].as_array().expect("list");
    let change = |impact: &Value| {
        let (before, after) = (numbers(&impact["v_before"]), numbers(&impact["v_after"]));
        before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let hardest = impacts.iter().map(change).fold(0.0, f64::max);
    for impact in impacts {
        // At the end of an accumulation what is left of the velocity is taken away at once, with the last impact.
        if change(impact) < 1e-3 * hardest {
            continue;
        }
        let t = impact["t"].as_f64().expect("a time");
        let (all_before, all_after) = (numbers(&impact["v_before"]), numbers(&impact["v_after"]));
        let largest = all_before.iter().zip(&all_after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        for (i, name) in coordinates.iter().enumerate() {
            let (before, after) = (all_before[i], all_after[i]);
            // A structure by steps: the impact is where the motion meets the stop, the jump at the nodes beside it; velocities
            // before and after it are some steps apart, in which elastic forces act on all points.
            let nodes = said["structure"].is_object() && said["tolerance"].is_null();
            if !jumps(before, after) || (nodes && (before - after).abs() < 0.05 * largest) {
                continue;
            }
            let near = |a: f64| (a - t).abs() <= 2.0 * said["step"].as_f64().unwrap_or(0.0);
            for (role, v) in [("before", before), ("after", after)] {
                let marks =
                    velocity_trace(page, role, name, i).unwrap_or_else(|| panic!("{model}: no marks of {name}"));
                let marked = numbers(&marks["x"])
                    .iter()
                    .zip(numbers(&marks["y"]))
                    .any(|(&a, b)| same(a, t) && same_speed(b, v, largest))
                    || (nodes && numbers(&marks["x"]).into_iter().any(near));
                assert!(marked, "{model}: {name} {role} t = {t} is not {v}");
            }
            // The line itself: left limit, a break, right limit, all at the same instant; never a slope.
            let line = velocity_trace(page, "velocity", name, i).expect("a line");
            let (x, y) = (numbers(&line["x"]), numbers(&line["y"]));
            let broken = (0..x.len().saturating_sub(2)).any(|k| {
                if nodes {
                    return near(x[k]) && (x[k + 1], x[k + 2]) == (x[k], x[k]) && y[k + 1].is_nan();
                }
                same(x[k], t)
                    && same_speed(y[k], before, largest)
                    && (x[k + 1], x[k + 2]) == (x[k], x[k])
                    && y[k + 1].is_nan()
                    && same_speed(y[k + 2], after, largest)
            });
            assert!(broken, "{model}: no break of {name} at t = {t}");
        }
        let names = impact["constraints"].as_array().expect("names");
        for (name, p) in names.iter().zip(numbers(&impact["impulse"])) {
            let heads = traces(page, "reactions", "impulse", name.as_str().expect("a name"));
            assert!(heads.iter().any(|h| has(h, t, p)), "{model}: no stem at t = {t} of height {p}");
            let stems = traces(page, "reactions", "stem", name.as_str().expect("a name"));
            assert!(stems.iter().any(|s| has(s, t, 0.0) && has(s, t, p)), "{model}: no stick at t = {t}");
        }
    }
    // The table has a row an impact; the readback sorted it by its first column, the number.
    let count = said["impacts"]["count"].as_u64().expect("a count") as usize;
    let rows = page.table("impact-table");
    assert_eq!(rows.len(), count.min(2000), "{model}");
    for (row, impact) in rows.iter().zip(impacts) {
        let cell = |k: usize| row[k].as_str().expect("a cell").parse::<f64>().expect("a number");
        assert!(agree(Some(cell(1)), impact["t"].as_f64()), "{model}");
        let impulse: f64 = numbers(&impact["impulse"]).iter().sum();
        assert!((cell(4) - impulse).abs() <= 1e-14 * impulse, "{model}");
        assert!(agree(Some(cell(5)), impact["energy_change"].as_f64()), "{model}");
    }
    if let Some(total) = traces(page, "energy", "energy", "total").first() {
        let end = numbers(&total["y"]).last().copied().expect("some");
        let said = said["audit"]["energy_end"].as_f64().expect("energy");
        assert!((end - said).abs() <= 1e-12 * said.abs().max(1.0), "{model}: {end} {said}");
    }
    // Time histories share one time axis: the same range at the same place.
    let figures = page.read["figures"].as_array().expect("list");
    let axes: Vec<_> =
        figures.iter().filter(|f| f["timed"] == true).map(|f| (&f["range"], &f["left"], &f["width"])).collect();
    assert!(axes.len() >= 3 && axes.iter().all(|axis| axis == &axes[0]), "{model}: {axes:?}");
    // Hovering over a curve shows that instant in the animation and in every time history.
    let linked = &page.read["linked"];
    let t = linked["t"].as_f64().expect("a time");
    let shown = linked["now"].as_str().and_then(|s| s.split_whitespace().nth(2)).and_then(|s| s.parse::<f64>().ok());
    // The nearest point of any curve within some pixels is hovered.
    let near = 0.01 * last["t"].as_f64().expect("an end");
    assert!(shown.is_some_and(|shown| (shown - t).abs() <= near), "{model}: {linked}");
    assert!(linked["cursors"].as_u64().unwrap_or(0) >= 3, "{model}: {linked}");
    fits(model, &page.read["size"]);
    let seen = &page.read["animated"];
    assert!(seen["shapes"].as_u64().unwrap_or(0) > 0, "{model} is not drawn");
    assert!((0..2).all(|k| seen["pixels"][k].as_u64().unwrap_or(0) > 50), "{model}: {seen}");
}

/// Nothing is wider than the window, no toolbar covers a text, no label is cut off.
fn fits(page: &str, size: &Value) {
    assert!(size["content"].as_f64() <= size["width"].as_f64(), "{page} scrolls sideways: {size}");
    assert_eq!(size["covered"], Value::Array(Vec::new()), "{page}");
}

#[test]
fn reports_of_all_shipped_models_open_and_carry_the_numbers_of_the_run() {
    let Some(browser) = Browser::find("the reports of all shipped models") else { return };
    let here = Scratch::new();
    let models = saltus_io::shipped::MODELS;
    assert!(models.len() >= 21);
    // Two at a time: a browser is mostly one thread.
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, _)) = models.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
                    let report = format!("{name}.html");
                    let said = reported(&here, &["run", name], &report);
                    let page = browser.open(&here.join(report), here.path());
                    page.is_clean(name);
                    let shots = page.screenshots(&here.join(name));
                    assert!(shots >= 4, "{name}: {shots} figures");
                    compare(name, &said, &page);
                    if *name == "oscillator" {
                        planes::oscillator(&page);
                    }
                }
            });
        }
    });
}

#[test]
fn the_other_commands_have_pages_too() {
    let Some(browser) = Browser::find("the pages of compare, converge, check and equilibria") else { return };
    let here = Scratch::new();
    let open = |args: &[&str]| {
        let report = format!("{}.html", args[0]);
        let said = reported(&here, args, &report);
        let page = browser.open(&here.join(report), here.path());
        page.is_clean(args[0]);
        page.screenshots(&here.join(args[0]));
        (said, page)
    };
    let (said, page) = open(&["compare", "ball", "--schemes", "event-driven,mabrouk,moreau-jean"]);
    let overlays = traces(&page, "overlay-1", "overlay", "");
    assert_eq!(overlays.len(), 3);
    for (line, scheme) in overlays.iter().zip(said["schemes"].as_array().expect("list")) {
        assert!(agree(numbers(&line["y"]).last().copied(), scheme["final"]["q"][0].as_f64()));
    }
    assert_eq!(page.table("distance-table").len(), 3);
    // The differences from the exact motion: the largest is that of the table.
    let differences = traces(&page, "differences", "difference", "");
    assert_eq!(differences.len(), 2);
    for line in differences {
        let shown = numbers(&line["y"]).into_iter().filter(|y| y.is_finite()).fold(0.0, f64::max);
        let row = page.table("distance-table").iter().find(|r| r[0] == "event-driven" && r[1] == line["name"]);
        let told = row.and_then(|r| r[2].as_str()?.parse::<f64>().ok()).expect("a row");
        assert!((shown - told).abs() <= 1e-9 * told, "{shown} {told}");
    }
    let (said, page) = open(&["converge", "ball-gravity", "--step", "0.01", "--end", "1", "--levels", "3"]);
    let errors = traces(&page, "orders", "error", "");
    let wanted: Vec<f64> =
        said["levels"].as_array().expect("list").iter().filter_map(|l| l["position"].as_f64()).collect();
    let shown = numbers(&errors[0]["y"]);
    assert!(shown.len() == wanted.len() && shown.iter().zip(&wanted).all(|(a, b)| same(*a, *b)), "{shown:?}");
    assert!(!traces(&page, "orders", "fit", "").is_empty());
    let (said, page) = open(&["check", "wedge"]);
    let angle = said["pairs"][0]["widest"].as_f64().expect("an angle");
    assert!(page.dom.contains(&format!("{}°</text>", (angle * 10.0).round() / 10.0)), "{angle}");
    let (said, page) = open(&["equilibria", "ball-gravity"]);
    let dots = traces(&page, "landscape", "equilibrium", "");
    assert_eq!(numbers(&dots[0]["x"]).len(), said["equilibria"].as_array().expect("list").len());
}

#[test]
fn text_from_a_model_is_text() {
    let here = Scratch::new();
    let nasty = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>";
    let model = format!(
        "title = \"{nasty}\"\n[coordinates]\ny = {{ position = 1.0, velocity = -1.0, unit = \"<b>m</b>\" }}\n[dynamics]\n\
         kinetic = \"y'^2/2\"\n[[constraint]]\nname = \"{nasty}\"\ngap = \"y\"\nrestitution = 0.5\n[run]\nstep = 0.1\nend = 2.0\n\
         [[draw]]\ntext = \"{nasty}\"\nat = [0, \"y\"]\n"
    );
    here.write("nasty.toml", model);
    reported(&here, &["run", "nasty.toml"], "nasty.html");
    let page = here.read("nasty.html");
    assert!(!page.contains("<img src=x") && !page.contains("<script>document.title") && !page.contains("<b>m</b>"));
    let Some(browser) = Browser::find("a model with HTML in its texts") else { return };
    let opened = browser.open(&here.join("nasty.html"), here.path());
    opened.is_clean("nasty");
    assert!(!opened.dom.contains("<title>taken"));
    assert_eq!(opened.table("impact-table")[0][2], nasty);
}

#[test]
fn an_old_browser_gets_a_sentence_and_the_tables() {
    let Some(browser) = Browser::find("a report in a browser that cannot unpack it") else { return };
    let here = Scratch::new();
    let report = here.join("page.html");
    reported(&here, &["run", "ball"], "page.html");
    let page = std::fs::read_to_string(&report).expect("there");
    let old = page.replacen("<style>", "<script>delete window.DecompressionStream</script><style>", 1);
    std::fs::write(&report, old).expect("written");
    let (dom, log) = browser.dump(&report, here.path());
    assert!(dom.contains("<li>This browser is too old to show the figures"), "{log}");
    assert!(
        dom.contains("id=\"impact-table\"") && !dom.contains("class=\"main-svg") && !log.contains("CONSOLE"),
        "{log}"
    );
}
