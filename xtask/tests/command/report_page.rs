//! The pages that `--format html` writes in a browser: Chromium opens each page in light and dark
//! mode, wide and narrow, and a probe in the page looks for problems that golden files do not
//! reveal. It also enlarges and searches flame graphs. Each finding and each error in the page is
//! logged to the console.
//!
//! Screenshots are kept in `target/tmp`. Check them after changing the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hardware::board::Mpidr;
use report::analysis::compare::{Options as Compared, compare};
use report::analysis::history::history;
use report::export::Report;
use report::log::LoggedRun;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use suite::measure::Summary;
use suite::model::{Cpu, Failure, Series, Skip, Status};

use crate::report::steps::use_steps;
use crate::report::{edited, written};

/// The widths, in pixels, at which pages are opened.
const WIDTHS: [u32; 2] = [1200, 400];

/// A script that logs every problem with the page to the console, and logs a final line when it has
/// finished.
const PROBE: &str = concat!(
    include_str!("../data/report/probe-frames.js"),
    include_str!("../data/report/probe.js")
);

/// Returns a page with every kind of content: several runs, including one with many CPUs and markup
/// in its name; unverified rows; scenarios that did not pass; a sweep with a histogram; and a
/// comparison in which some figures rose and others fell.
fn page() -> String {
    let mut report = edited(|run| {
        let rows = run.scenarios.clone();
        use_steps(run, 100);
        run.scenarios.splice(..0, rows);
    });
    let mut wide = report.runs[0].clone();
    let head = wide.run.head.as_mut().expect("a head");
    head.model = "</h1><script>nosuch()</script>".to_owned();
    for index in 4..24u16 {
        wide.run.cpus.push(Cpu {
            mpidr: Some(Mpidr::new(0x1000 + u64::from(index))),
            cluster: index / 4 + 1,
            core: index % 4,
            ..Cpu::default()
        });
        let scenarios = wide.run.scenarios.iter_mut();
        for scenario in scenarios.filter(|scenario| !scenario.suite_cells().is_empty()) {
            let place = usize::from(index) % scenario.cells.len();
            let mut cell = scenario.cells[place].clone();
            cell.cpu = index.into();
            scenario.cells.push(cell);
        }
    }
    wide.run.scenarios[2].status = Status::Failed(Failure::NotStated);
    wide.run.scenarios[3].cells.clear();
    wide.run.scenarios[3].status = Status::Skipped(Skip::NoIdleState);
    report.runs.push(wide);
    let mut lines = report.runs[0].clone();
    lines.integrity.unverified_rows = 24;
    let suite = lines
        .run
        .scenarios
        .iter_mut()
        .filter(|scenario| scenario.id.is_suite());
    for cell in suite.flat_map(|scenario| &mut scenario.cells) {
        cell.counts = None;
        cell.shown = None;
        cell.series.iter_mut().for_each(clear);
    }
    report.runs.push(lines);
    let baseline = baseline(&report.runs[0]);
    let runs = &report.runs[..1];
    report.comparisons = compare(runs, &baseline, &Compared::default()).expect("one board");
    let page = written(&report, "html");
    for part in [
        "<li class=\"part\"><a href=\"#part",
        ">Comparison of QEMU virt, run 1 of 3 with a.log</a></li>",
        "<b class=\"bad\">worse</b>",
        "<b class=\"good\">better</b>",
        "-sweep1\"",
        "-histogram1\"",
        ": change by order (of one operation",
    ] {
        assert!(page.contains(part), "{part}");
    }
    page
}

/// Returns a page that shows a release history. Some figures rise, others fall, and one release
/// lacks a scenario and a CPU.
fn history_page() -> String {
    let mut first = edited(|run| use_steps(run, 100)).runs.remove(0);
    first
        .run
        .scenarios
        .extend(edited(|_| ()).runs[0].run.scenarios.clone());
    first.firmware.clear();
    let mut second = baseline(&first);
    let third = baseline(&second);
    let parallel = second
        .run
        .scenarios
        .iter()
        .position(|scenario| scenario.id.is_parallel());
    second
        .run
        .scenarios
        .remove(parallel.expect("a parallel scenario"));
    for scenario in second
        .run
        .scenarios
        .iter_mut()
        .filter(|scenario| scenario.id.is_suite())
    {
        scenario.cells.pop();
    }
    let mut runs = vec![first, second, third];
    for (nth, logged) in runs.iter_mut().enumerate() {
        logged.source.input = format!("v1.{nth}.log");
    }
    let report = Report {
        history: Some(history(&runs, 20_000).expect("releases of one board")),
        runs,
        ..Report::default()
    };
    let page = written(&report, "html");
    for part in [
        "<title>History of PSCI latencies of QEMU virt",
        ">n/a</text>",
        "class=\"trace c1\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    page
}

/// Clears everything in the series except its figure.
fn clear(series: &mut Series) {
    (series.summary, series.cold) = (Summary::default(), None);
}

/// Returns a run whose figures are lower than those of `run` on some CPUs and higher on others.
fn baseline(logged: &LoggedRun) -> LoggedRun {
    let mut baseline = logged.clone();
    for scenario in &mut baseline.run.scenarios {
        let is_suite = scenario.id.is_suite();
        for (nth, cell) in (0u64..).zip(&mut scenario.cells) {
            for series in &mut cell.series {
                if is_suite {
                    series.shown = series.shown.map(|figure| figure * (nth + 2) / 3);
                    clear(series);
                    continue;
                }
                series.shown = series.shown.map(|figure| figure * 2 / 3);
                let summary = &mut series.summary;
                for figure in [&mut summary.min, &mut summary.median, &mut summary.max] {
                    *figure = *figure * 2 / 3;
                }
            }
        }
    }
    baseline
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

fn screenshot(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // An old screenshot would prove nothing.
    if path.exists() {
        fs::remove_file(&path).expect("removed");
    }
    path
}

#[test]
fn a_browser_has_nothing_to_say() {
    for (name, page) in [("report", page()), ("history", history_page())] {
        let page = probed(&page);
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
        assert!(shots[0] != shots[1], "dark and light mode look the same");
    }
}
