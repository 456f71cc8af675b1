//! Packs plotly.js once per build, so that neither the library nor the pages contain its full 4.6 MB.

#[path = "src/pack.rs"]
mod pack;

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/pack.rs");
    // The crate returns script elements: plotly.js, then MathJax, which pages do not need.
    let elements = plotly::Plot::offline_js_sources();
    let script = elements.split_once('>').and_then(|(_, rest)| rest.split_once("</script>")).map(|(script, _)| script);
    // Its copyright notice stays readable.
    let notice = script.and_then(|s| s.split_once("/**")).and_then(|(_, rest)| rest.split_once("*/")).map(|(n, _)| n);
    let (Some(script), Some(notice)) = (script, notice.filter(|n| n.contains("plotly.js v") && !n.contains("--")))
    else {
        panic!("the crate plotly does not embed plotly.js as expected");
    };
    let packed = pack::pack(script.as_bytes(), 9);
    let element = format!("<!--{notice}-->\n<script type=\"text/plain\" id=\"plotly\">{packed}</script>\n");
    let out = std::env::var("OUT_DIR").expect("Cargo sets OUT_DIR");
    std::fs::write(Path::new(&out).join("plotly.html"), element).expect("OUT_DIR is writable");
}
