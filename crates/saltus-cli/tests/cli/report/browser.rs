//! A headless Chromium, driven by its command line alone.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Browser(PathBuf);

/// What a page was after its script had run.
pub struct Opened {
    pub dom: String,
    pub read: Value,
    log: String,
    requests: Vec<String>,
}

impl Browser {
    /// The browser on the path. Without one the test says what it skips, unless `SALTUS_NEED_BROWSER=1` insists.
    pub fn find(skipped: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut all = std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name)));
        let found = all.find(|file| file.is_file());
        if found.is_none() {
            assert!(std::env::var_os("SALTUS_NEED_BROWSER").is_none_or(|v| v != "1"), "no browser on the path");
            eprintln!("skipped, no Chromium on the path: {skipped}");
        }
        found.map(Browser)
    }

    /// Opens a page and reads it when its script is done.
    pub fn open(&self, page: &Path, scratch: &Path) -> Opened {
        let stem = page.file_stem().expect("a name").to_string_lossy().into_owned();
        let (dom, log) = self.dump(page, scratch);
        let start = dom.find("id=\"readback\">").unwrap_or_else(|| panic!("{stem} was not read back: {log}"));
        let text = &dom[start + "id=\"readback\">".len()..];
        let read = serde_json::from_str(&text[..text.find("</script>").expect("an end")]).expect("JSON");
        let requests = requests(&scratch.join(format!("net-{stem}.json")));
        Opened { dom, read, log, requests }
    }

    /// Opens a page on a screen of this width, smaller than a browser's window can be: in a frame.
    pub fn open_narrow(&self, page: &Path, width: u32, scratch: &Path) -> Value {
        let stem = page.file_stem().expect("a name").to_string_lossy().into_owned();
        let frame = scratch.join(format!("{stem}-narrow.html"));
        let html = format!(
            "<!DOCTYPE html><body><script>onmessage = (e) => {{ const out = document.createElement('script'); \
             out.type = 'application/json'; out.id = 'answer'; out.textContent = e.data; document.body.append(out); }};</script>\
             <iframe src=\"file://{}#readback\" style=\"border:0;width:{width}px;height:4000px\"></iframe></body>",
            page.display()
        );
        std::fs::write(&frame, html).expect("written");
        let (dom, log) = self.dump(&frame, scratch);
        let start = dom.find("id=\"answer\">").unwrap_or_else(|| panic!("{stem} was not read back: {log}"));
        let text = &dom[start + "id=\"answer\">".len()..];
        serde_json::from_str(&text[..text.find("</script>").expect("an end")]).expect("JSON")
    }

    /// Opens a page; its final HTML and the log of the browser.
    pub fn dump(&self, page: &Path, scratch: &Path) -> (String, String) {
        let stem = page.file_stem().expect("a name").to_string_lossy().into_owned();
        let profile = scratch.join(format!("profile-{stem}"));
        let net = scratch.join(format!("net-{stem}.json"));
        let out = Command::new(&self.0)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                "--disable-sync",
            ])
            .args(["--dump-dom", "--virtual-time-budget=120000", "--enable-logging=stderr", "--window-size=1300,5000"])
            // The browser's own curiosity about updates and the time stays at home.
            .arg("--host-resolver-rules=MAP * ~NOTFOUND")
            .arg(format!("--screenshot={}", scratch.join(format!("{stem}.png")).display()))
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--log-net-log={}", net.display()))
            .arg(format!("file://{}#readback", page.display()))
            .output()
            .expect("the browser starts");
        let picture = std::fs::metadata(scratch.join(format!("{stem}.png"))).map_or(0, |m| m.len());
        assert!(picture > 20_000, "{stem}: a picture of {picture} bytes");
        let _ = std::fs::remove_dir_all(profile);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&out.stdout), text(&out.stderr))
    }
}

/// All addresses that the page asked for over a network; what the browser asks for by itself has no origin.
fn requests(net: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(net).unwrap_or_default();
    assert!(text.contains("\"events\""), "no log of the network");
    let of_page = |line: &&str| line.contains("\"initiator\":") && !line.contains("\"initiator\":\"not an origin\"");
    let address = |line: &str| line.split("\"url\":\"").nth(1).and_then(|u| u.split('"').next()).map(String::from);
    text.lines().filter(of_page).filter_map(address).filter(|u| u.starts_with("http") || u.starts_with("ws")).collect()
}

impl Opened {
    /// No error in the console, nothing asked for over a network.
    pub fn is_clean(&self, name: &str) {
        let said: Vec<&str> = self.log.lines().filter(|l| l.contains("CONSOLE")).collect();
        assert!(said.is_empty(), "{name}: {said:?}");
        assert_eq!(self.read["errors"], Value::Array(Vec::new()), "{name}");
        assert!(self.requests.is_empty(), "{name}: {:?}", self.requests);
    }

    /// A figure of the page.
    pub fn figure(&self, id: &str) -> &Value {
        let all = self.read["figures"].as_array().expect("figures");
        all.iter().find(|f| f["id"] == id).unwrap_or(&Value::Null)
    }

    /// The rows of a table.
    pub fn table(&self, id: &str) -> &[Value] {
        self.read["tables"][id].as_array().map_or(&[], Vec::as_slice)
    }

    /// Writes the picture of each figure into a directory; how many there are.
    pub fn screenshots(&self, dir: &Path) -> usize {
        std::fs::create_dir_all(dir).expect("a directory");
        let figures = self.read["figures"].as_array().expect("figures");
        for figure in figures {
            let id = figure["id"].as_str().expect("a name");
            let image = figure["image"].as_str().and_then(|i| i.strip_prefix("data:image/png;base64,"));
            let png = decode(image.unwrap_or_else(|| panic!("{id} has no picture")));
            assert!(png.starts_with(b"\x89PNG") && png.len() > 3000, "{id}: {} bytes", png.len());
            assert!(figure["drawn"].as_u64().unwrap_or(0) > 0, "{id} has nothing drawn");
            std::fs::write(dir.join(format!("{id}.png")), png).expect("written");
        }
        figures.len()
    }
}

fn decode(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut out, mut word, mut bits) = (Vec::new(), 0u32, 0);
    for d in text.bytes().filter_map(digit) {
        (word, bits) = (word << 6 | u32::from(d), bits + 6);
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
        }
    }
    out
}
