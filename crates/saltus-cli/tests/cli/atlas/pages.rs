//! Pages of the atlas in a browser: what they show, and the commands that they give are commands.

use crate::program::Scratch;
use crate::report::browser::Browser;

#[test]
fn pages_show_the_command_that_runs_a_point_again() {
    let Some(browser) = Browser::find("the pages of bifurcation, section and basins") else { return };
    let here = Scratch::new();
    let chaos = ["section", "oscillator", "--set", "c=0", "--set", "s=0", "--set", "w=2.8", "--start", "x=-0.3"];
    let pages: [(Vec<&str>, &str, &str); 4] = [
        (
            vec![
                "bifurcation",
                "oscillator",
                "--over",
                "w=0.7:0.9:6",
                "--transient",
                "60",
                "--periods",
                "12",
                "--out",
                "few",
            ],
            "few/bifurcation.html",
            "w = 0.7, x = ",
        ),
        ([&chaos[..], &["--periods", "5000", "--out", "many"]].concat(), "many/section.html", "x = "),
        (
            vec![
                "bifurcation",
                "oscillator",
                "--over",
                "w=0.7:0.9:5",
                "--over",
                "A=0.3:0.5:4",
                "--transient",
                "60",
                "--out",
                "map",
            ],
            "map/map.html",
            "w = 0.7, A = 0.3, period ",
        ),
        (
            vec![
                "basins",
                "oscillator",
                "--set",
                "w=2.5",
                "--start",
                "x=-1.5:0.9:20",
                "--start",
                "x'=-1.5:1.5:20",
                "--out",
                "b",
            ],
            "b/basins.html",
            "x = -1.5, x' = -1.5, period ",
        ),
    ];
    for (args, page, values) in pages {
        let made = here.saltus(&args);
        assert!(made.succeeded(), "{made:?}");
        let opened = browser.open(&here.join(page), here.path());
        opened.is_clean(page);
        let figure = opened.figure("atlas");
        let shown = figure["rerun"]["values"].as_str().unwrap_or_else(|| panic!("{page}: {figure}"));
        assert!(shown.starts_with(values), "{page}: {shown}");
        let command = figure["rerun"]["command"].as_str().expect("a command");
        // As a shell takes it: words, the last ones perhaps in quotes.
        let words: Vec<String> = command.split(' ').skip(1).map(|w| w.trim_matches('"').to_string()).collect();
        let ran = here.saltus(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(ran.succeeded(), "{page}: {command}\n{ran:?}");
        if page.starts_with("many") {
            // Drawn by the page's own script: all of them, as they are fewer than can be told apart.
            assert!(figure["dots"][0].as_u64().is_some_and(|n| n > 4900), "{}", figure["dots"]);
        }
    }
}
