//! A browser that checks HTML pages.
//!
//! Chromium opens each page in light and dark mode, wide and narrow, and a probe in the page looks
//! for problems that golden files do not reveal. It also enlarges and searches flame graphs. Each
//! finding and each error in the page is logged to the console.

use std::fs;
use std::path::Path;
use std::process::Command;

use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

/// The widths, in pixels, at which pages are opened.
const WIDTHS: [u32; 2] = [1200, 400];

/// A script that logs every problem with the page to the console, and logs a final line when it has
/// finished.
const PROBE: &str = concat!(
    include_str!("browser/probe-frames.js"),
    include_str!("browser/probe.js")
);

/// Opens `page` in a browser, and checks that the probe finds nothing wrong. Keeps the screenshots
/// `NAME-light.png` and `NAME-dark.png` in `folder`; look at them after changing the page.
pub fn check_page(name: &str, page: &str, folder: &Path) {
    let page = probed(page);
    let mut shots = Vec::new();
    for (dark, scheme) in [(false, "light"), (true, "dark")] {
        let shot = folder.join(format!("{name}-{scheme}.png"));
        // An old screenshot would prove nothing.
        if shot.exists() {
            fs::remove_file(&shot).expect("removed");
        }
        let console = console(&page, dark, &shot);
        let probed = console.iter().filter(|line| line.contains("\"probed "));
        assert_eq!(probed.count(), WIDTHS.len(), "{console:#?}");
        assert_eq!(console.len(), WIDTHS.len(), "{console:#?}");
        assert!(!console[0].contains("probed 0 texts"), "{console:#?}");
        shots.push(fs::read(&shot).expect("a screenshot"));
    }
    assert!(shots[0] != shots[1], "dark and light mode look the same");
}

/// Returns the page with the probe added, and with a content security policy that allows it.
fn probed(page: &str) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    assert_eq!(page.matches(policy).count(), 1);
    let own = format!("{policy}; script-src ");
    let (policy, open) = match page.contains(&own) {
        true => (own.as_str(), format!("{own}'nonce-probe' ")),
        false => (policy, format!("{policy}; script-src 'nonce-probe'")),
    };
    let script = format!("// <![CDATA[\n{PROBE}// ]]>\n");
    let script = format!("<script nonce=\"probe\">\n{script}</script>\n</body>");
    page.replace(policy, &open).replace("</body>", &script)
}

/// Opens `page` at every width in one window, both as HTML and as XML, and returns the console
/// output.
fn console(page: &str, dark: bool, screenshot: &Path) -> Vec<String> {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Chromium]).expect("Chromium");
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let mut window = "<!DOCTYPE html><meta name=\"color-scheme\" content=\"light dark\"><style>\
        body { margin: 0; display: flex } iframe { border: 0; height: 6000px }</style>"
        .to_owned();
    for (width, kind) in WIDTHS.into_iter().zip(["html", "xhtml"]) {
        // A strict parser reads the narrow page. If the page is not well-formed, parsing stops
        // before the probe.
        let name = format!("{width}.{kind}");
        file(&name, page);
        let style = format!("style=\"width: {width}px\"");
        window += &format!("<iframe src=\"{name}\" {style}></iframe>");
    }
    let window = file("window.html", &window);
    let total: u32 = WIDTHS.iter().sum();
    let (profile, scheme) = (dir.path().join("profile"), u8::from(!dark));
    let mut chromium = Command::new("timeout");
    chromium.args(["--kill-after=5", "120", "chromium", "--headless"]);
    // The sandbox does not work for root. The test itself generated the page, so opening it without
    // a sandbox is safe.
    chromium.args(["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    chromium.args(["--enable-logging=stderr", "--v=0"]);
    chromium.args([
        format!("--user-data-dir={}", profile.display()),
        format!("--blink-settings=preferredColorScheme={scheme}"),
        format!("--window-size={total},6000"),
        format!("--screenshot={}", screenshot.display()),
        format!("file://{}", window.display()),
    ]);
    let output = chromium.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    let lines = stderr.lines().filter(|line| line.contains("CONSOLE"));
    lines.map(str::to_owned).collect()
}
