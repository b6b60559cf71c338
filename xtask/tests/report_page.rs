//! `cargo xtask report --format html` in a browser: Chromium opens the page,
//! in light and dark, wide and narrow, and a probe in it looks for what no
//! golden file shows. Each finding is a line on the console, and so is every
//! error of the page itself.
//!
//! The screenshots are kept in `target/tmp`: look at them after a change.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::points;
use xtask::report::analysis::compare::{Options as Compared, compare};
use xtask::report::export::{self, Options, Report};
use xtask::report::log::read_bytes;
use xtask::report::model::{Cpu, Status, Why};
use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need};

/// Four CPUs on QEMU under `--icount`, `iterations=2 samples=all`.
const QEMU: &[u8] = include_bytes!("data/report/qemu-4cpu.log");

/// The widths that pages are opened at.
const WIDTHS: [u32; 2] = [1200, 400];

/// Says on the console what is wrong with the page, and at last that it has
/// looked.
const PROBE: &str = r##"
<script>
// <![CDATA[
addEventListener("load", () => {
  const say = (what) => console.error("probe: " + what);
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) {
    say("the page is " + root.scrollWidth + " wide in a window of " + innerWidth);
  }
  const box = (it) => it.getBoundingClientRect();
  let texts = 0;
  for (const svg of document.querySelectorAll("svg")) {
    const outer = box(svg);
    const all = [...svg.querySelectorAll("text")].map((it) => [it.textContent, box(it)]);
    all.forEach(([a, x], place) => {
      texts += 1;
      if (x.width < 1 || x.height < 1) say("no room for the text " + a);
      if (x.left < outer.left || x.right > outer.right || x.bottom > outer.bottom) {
        say("the text " + a + " is cut off");
      }
      for (const [b, y] of all.slice(place + 1)) {
        // A line's height is more than its letters take.
        if (x.left < y.right && y.left < x.right && x.top + 4 < y.bottom && y.top + 4 < x.bottom) {
          say("the texts " + a + " and " + b + " lie on each other");
        }
      }
    });
  }
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((it) => {
      const c = it / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const page = luminance(getComputedStyle(document.body).backgroundColor);
  for (const it of document.querySelectorAll("h1, p, dt, dd, a, td, th, li, .badge, b, svg text")) {
    const style = getComputedStyle(it);
    const own = luminance(it.closest("svg") ? style.fill : style.color);
    const ratio = (Math.max(own, page) + 0.05) / (Math.min(own, page) + 0.05);
    if (ratio < 4.5) say("contrast of " + ratio.toFixed(1) + ": " + it.textContent);
  }
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  if (new Set(ids).size != ids.length) say("an id is there twice");
  for (const it of document.querySelectorAll("a[href^='#']")) {
    if (!ids.includes(it.getAttribute("href").slice(1))) say("no place for the link " + it.href);
  }
  console.info("probed " + texts + " texts");
});
// ]]>
</script>
</body>"##;

/// A page that has all there can be: several runs, one of them of many CPUs
/// and of a name that is markup; rows that are not verified, scenarios that
/// did not pass, and a comparison in which figures fell and rose.
fn page() -> String {
    let mut report = Report::from(read_bytes("a.log", QEMU).expect("there is a run"));
    let mut wide = report.runs[0].clone();
    wide.model = Some("</h1><script>nosuch()</script>".to_owned());
    for index in 4..24 {
        wide.cpus.push(Cpu {
            mpidr: Some(index as u64),
            cluster: index / 4,
            core: index % 4,
            ..Cpu::default()
        });
        for test in &mut wide.tests {
            let mut row = test.rows[index as usize % 4].clone();
            row.cpu = index as usize;
            test.rows.push(row);
        }
    }
    wide.tests[3].status = Status::Failed;
    wide.tests[4].rows.clear();
    wide.tests[4].status = Status::Skipped;
    wide.tests[4].why = Some(Why {
        word: "no-state".to_owned(),
        ..Why::default()
    });
    report.runs.push(wide);
    let mut lines = report.runs[0].clone();
    lines.integrity.unverified_rows = 24;
    for row in lines.tests.iter_mut().flat_map(|test| &mut test.rows) {
        row.verified = false;
        row.event = None;
        row.summaries.clear();
    }
    report.runs.push(lines);
    let mut baseline = report.runs[0].clone();
    for test in &mut baseline.tests {
        for (nth, row) in test.rows.iter_mut().enumerate() {
            for (_, figure) in &mut row.figures {
                *figure = *figure * (nth as u64 + 2) / 3;
            }
        }
    }
    let runs = &report.runs[..1];
    report.comparisons = compare(runs, &baseline, &Compared::default()).expect("one board");
    let page = html(&report);
    assert!(page.contains("<b class=\"bad\">worse</b>"));
    assert!(page.contains("<b class=\"good\">better</b>"));
    page
}

fn html(report: &Report) -> String {
    let exporter = export::by_name("html").expect("a format");
    let mut out = Vec::new();
    let result = exporter.write(report, &Options::default(), &mut out);
    result.expect("a Vec takes all");
    String::from_utf8(out).expect("UTF-8")
}

/// The page with the probe in it, which its policy has to let in.
fn probed(page: &str) -> String {
    let policy = "default-src 'none'; style-src 'unsafe-inline'";
    assert_eq!(page.matches(policy).count(), 1);
    let open = format!("{policy}; script-src 'unsafe-inline'");
    page.replace(policy, &open).replace("</body>", PROBE)
}

/// Opens `page` at all widths in one window, as HTML and as XML, and returns
/// what came to the console.
fn console(page: &str, dark: bool, screenshot: &Path) -> Vec<String> {
    let workspace = Workspace::find().expect("the workspace");
    setup::ensure(&workspace, &[Need::Chromium]).expect("Chromium");
    let dir = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).expect("written");
        path
    };
    let mut frames = String::new();
    for (width, kind) in WIDTHS.into_iter().zip(["html", "xhtml"]) {
        // A strict parser reads the narrow one: what is not well-formed ends
        // before the probe.
        let name = format!("{width}.{kind}");
        file(&name, page);
        frames.push_str(&format!(
            "<iframe src=\"{name}\" style=\"width: {width}px\"></iframe>"
        ));
    }
    let window = file(
        "window.html",
        &format!(
            "<!DOCTYPE html><meta name=\"color-scheme\" content=\"light dark\">\
             <style>body {{ margin: 0; display: flex }} iframe {{ border: 0; height: 6000px }}\
             </style>{frames}"
        ),
    );
    let total: u32 = WIDTHS.iter().sum();
    let mut chromium = Command::new("timeout");
    chromium.args(["--kill-after=5", "120", "chromium", "--headless"]);
    // No sandbox, as root has none: the page is this test's own.
    chromium.args(["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    chromium.args(["--enable-logging=stderr", "--v=0"]);
    chromium.arg(format!(
        "--user-data-dir={}",
        dir.path().join("profile").display()
    ));
    let scheme = u8::from(!dark);
    chromium.arg(format!("--blink-settings=preferredColorScheme={scheme}"));
    chromium.arg(format!("--window-size={total},6000"));
    chromium.arg(format!("--screenshot={}", screenshot.display()));
    chromium.arg(format!("file://{}", window.display()));
    let output = chromium.output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let lines = said.lines().filter(|line| line.contains("CONSOLE"));
    lines.map(str::to_owned).collect()
}

fn screenshot(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // One of another time proves nothing.
    if path.exists() {
        fs::remove_file(&path).expect("removed");
    }
    path
}

/// Opens `page` in light and dark; whatever it says is an error.
fn nothing_to_say(page: &str, name: &str) {
    let page = probed(page);
    let mut shots = Vec::new();
    for (dark, scheme) in [(false, "light"), (true, "dark")] {
        let shot = screenshot(&format!("{name}-{scheme}.png"));
        let console = console(&page, dark, &shot);
        let looked = console.iter().filter(|line| line.contains("\"probed "));
        assert_eq!(looked.count(), WIDTHS.len(), "{console:#?}");
        assert_eq!(console.len(), WIDTHS.len(), "{console:#?}");
        assert!(!console[0].contains("probed 0 texts"), "{console:#?}");
        shots.push(fs::read(&shot).expect("a screenshot"));
    }
    assert!(shots[0] != shots[1], "dark is as light");
}

#[test]
fn a_browser_has_nothing_to_say() {
    nothing_to_say(&page(), "report");
}

/// Sweeps and histograms, beside a baseline.
#[test]
fn nor_of_points() {
    let mut report = Report::from(read_bytes("a.log", &points::log(120)).expect("a run"));
    let baseline = read_bytes("b.log", &points::log(100)).expect("there is a run");
    report.comparisons =
        compare(&report.runs, &baseline[0], &Compared::default()).expect("one board");
    // What is drawn comes first, where the screenshot has it.
    report.runs[0].tests.rotate_left(2);
    let page = html(&report);
    for figure in ["-sweep1\"", "-sweep3\"", "-histogram2\""] {
        assert!(page.contains(figure), "no {figure}");
    }
    nothing_to_say(&page, "points");
}

/// The tests above can fail.
#[test]
fn a_browser_names_what_is_broken() {
    let whole = html(&read_bytes("a.log", QEMU).expect("there is a run").into());
    let broken = probed(&whole)
        .replacen("<main>", "<main><script>nosuch();</script>", 1)
        .replacen("<main>", "<main><img src=\"http://localhost/a.png\"/>", 1)
        .replacen("<main>", "<main><p style=\"width: 1500px\">wide</p>", 1)
        .replacen("<main>", "<main><p style=\"color: #888\">pale</p>", 1)
        .replacen("</svg>", "<text x=\"70\" y=\"14\">over</text></svg>", 1)
        .replacen("id=\"run1-method\"", "id=\"run1\"", 1);
    let said = console(&broken, false, &screenshot("report-broken.png")).join("\n");
    for what in [
        "nosuch is not defined",
        "Content Security Policy",
        "probe: the page is 15",
        "probe: contrast of ",
        " and over lie on each other",
        "probe: an id is there twice",
    ] {
        assert!(said.contains(what), "{what:?} is not in:\n{said}");
    }
    // What a lenient parser forgives.
    let unclosed = probed(&whole).replacen("<main>", "<main><p>", 1);
    let said = console(&unclosed, false, &screenshot("report-broken.png"));
    let looked = said.iter().filter(|line| line.contains("\"probed "));
    assert_eq!(looked.count(), 1, "{said:#?}");
}
