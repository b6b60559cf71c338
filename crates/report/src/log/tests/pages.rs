//! Pages with one column for the CPU, as up to v2.8.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use suite::measure::Metric;
use suite::plan::ScenarioId;
use tempfile::TempDir;

use crate::analysis::findings::explanations;
use crate::analysis::history::history;
use crate::log::{LoggedRun, tables};

const SENTENCE: &str = "In the results below, CPUs 0-1 refer to CPUs in the little cluster (A53)\n\
                        and CPU 2 refers to CPUs in the big cluster (A57).\n\n";
const SUSPEND: &str = "CPU, ``PSCI_ENTRY`` (us), ``PSCI_EXIT`` (us), ``CFLUSH_OVERHEAD`` (us)";
const DEEP: &str = "``CPU_SUSPEND`` to deepest power level on all CPUs in sequence";
const OFF: &str = "``CPU_OFF`` on all non-lead CPUs in sequence then ``CPU_SUSPEND`` on lead CPU to \
                   deepest power level";

/// Returns a heading and a grid table. Entries are separated by commas.
fn table(heading: &str, names: &str, rows: &[&str]) -> String {
    let line = |row: &str| -> String {
        let entries = row.split(',').map(|text| format!("| {:<26}", text.trim()));
        entries.collect::<String>() + "|\n"
    };
    let rule =
        |mark: &str| format!("+{}", mark.repeat(27)).repeat(names.split(',').count()) + "+\n";
    let body: String = rows.iter().map(|row| line(row) + &rule("-")).collect();
    let underline = "~".repeat(heading.len());
    format!(
        "{heading}\n{underline}\n\nSome text.\n\n{}{}{}{body}\nMore text.\n\n",
        rule("-"),
        line(names),
        rule("=")
    )
}

/// A page in a folder of its own.
struct WrittenPage {
    folder: TempDir,
    path: PathBuf,
}

impl WrittenPage {
    fn new(release: &str, name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(release).join(name);
        fs::create_dir(path.parent().expect("a folder")).expect("made");
        let title = "PSCI Performance Measurements\n=============================\n\n";
        fs::write(&path, format!("{title}{text}")).expect("written");
        Self { folder, path }
    }

    fn read(&self) -> Result<LoggedRun> {
        assert!(self.folder.path().exists());
        tables::read(&self.path)
    }
}

fn figures(logged: &LoggedRun, id: ScenarioId, metric: Metric) -> Vec<(String, u64)> {
    let mut scenarios = logged.run.scenarios.iter();
    let scenario = scenarios.find(|scenario| scenario.id == id);
    let cells = scenario.expect("a scenario").cells.iter();
    let figures = cells.map(|cell| {
        let ticks = cell.figure(metric).expect("a figure");
        (logged.run.label(cell.cpu).to_string(), ticks)
    });
    figures.collect()
}

fn labeled<const N: usize>(figures: [(&str, u64); N]) -> Vec<(String, u64)> {
    figures
        .map(|(label, ticks)| (label.to_owned(), ticks))
        .to_vec()
}

fn old_layout() -> String {
    let others = "Domain | Frequency\n";
    let version = table(
        "``PSCI_VERSION`` on all CPUs in parallel",
        "CPU, TOTAL TIME (ns)",
        &["0, 3020", "1, 2940", "2, 520"],
    );
    let clocks = table("Method", "CPU, Frequency (MHz)", &["A57, 900"]);
    format!(
        "{others}{clocks}{SENTENCE}{}{}{version}",
        table(
            DEEP,
            SUSPEND,
            &["0, 114, 20, 94", "1, 115, 21, 95", "2, 21, 17, 6"]
        ),
        table(
            OFF,
            SUSPEND,
            &["0, 110, 28, 93", "1, 111, 29, 92", "2, 20, 23, 7"]
        ),
    )
}

#[test]
fn each_figure_of_the_old_layout_belongs_to_its_cpu_and_scenario() {
    let page = WrittenPage::new("v2.8", "psci-performance-juno.rst", &old_layout());
    let logged = page.read().expect("tables");
    assert_eq!(logged.board(), Some("juno"));
    assert!(logged.is_complete() && !logged.header.has_unknown_clusters);
    assert_eq!(logged.run.scenarios.len(), 3);
    for (id, metric, us) in [
        (
            ScenarioId::SUSPEND_DEEP_SERIAL,
            Metric::Powerdown,
            [114, 115, 21],
        ),
        (
            ScenarioId::SUSPEND_DEEP_SERIAL,
            Metric::Wakeup,
            [20, 21, 17],
        ),
        (
            ScenarioId::SUSPEND_DEEP_SERIAL,
            Metric::CacheFlush,
            [94, 95, 6],
        ),
        (ScenarioId::CPU_OFF_SERIAL, Metric::Wakeup, [28, 29, 23]),
    ] {
        let [first, second, third] = us.map(|us| us * 1000);
        let expected = labeled([("1.0", first), ("1.1", second), ("0.0", third)]);
        assert_eq!(figures(&logged, id, metric), expected, "{id} {metric:?}");
    }
    assert_eq!(
        figures(&logged, ScenarioId::PSCI_VERSION_PARALLEL, Metric::Latency),
        labeled([("1.0", 3020), ("1.1", 2940), ("0.0", 520)])
    );
}

#[test]
fn history_reads_the_old_layout() {
    let old = WrittenPage::new("v2.8", "psci-performance-juno.rst", &old_layout());
    let directive =
        ".. table:: ``CPU_SUSPEND`` latencies (us) to deepest power level in serial (v2.9)\n\n"
            .to_owned()
            + table(
                "",
                "Cluster, Core, Powerdown, Wakekup, Cache Flush",
                &[
                    "0, 0, 22.5, 18.0, 6.0",
                    "1, 0, 120.0, 22.0, 95.0",
                    "1, 1, 121.0, 23.0, 96.0",
                ],
            )
            .split_once("Some text.\n\n")
            .expect("a table")
            .1;
    // Later pages show the old tables, with comments.
    let newer_text = format!(
        "{directive}Annotated Historic Results\n----\n\n{}",
        old_layout()
    );
    let newer = WrittenPage::new("v2.9", "psci-performance-juno.rst", &newer_text);
    let runs = [&old, &newer].map(|page| page.read().expect("tables"));
    let history = history(&runs, 20_000).expect("a history");
    assert_eq!(history.releases[1], "v2.9");
    let wakeup = figures(&runs[1], ScenarioId::SUSPEND_DEEP_SERIAL, Metric::Wakeup);
    assert_eq!(
        wakeup,
        labeled([("0.0", 18_000), ("1.0", 22_000), ("1.1", 23_000)])
    );
    assert_eq!(runs[1].run.scenarios.len(), 1);
}

/// A page may name the clusters itself, or not at all.
#[test]
fn cpu_without_a_known_cluster_is_marked() {
    let rows = |cpus: [&str; 3]| {
        let rows = cpus.map(|cpu| format!("{cpu}, 114, 20, 94"));
        table(DEEP, SUSPEND, &rows.each_ref().map(String::as_str))
    };
    for (text, labels, is_unknown) in [
        (rows(["0", "1", "2"]), ["0.0", "0.1", "0.2"], true),
        (
            rows(["Cluster 0 core 0", "Cluster 1 core 0", "Cluster 1 core 1"]),
            ["0.0", "1.0", "1.1"],
            false,
        ),
        (rows(["0.1", "1.0", "1.3"]), ["0.1", "1.0", "1.3"], false),
        (
            format!(
                "CPU 0 is in cluster 1, CPUs 1 to 2 are in cluster 0.\n\n{}",
                rows(["0", "1", "2"])
            ),
            ["1.0", "0.0", "0.1"],
            false,
        ),
        // This board's types of CPUs are unknown.
        (
            format!("{SENTENCE}{}", rows(["0", "1", "2"])),
            ["0.0", "0.1", "0.2"],
            true,
        ),
    ] {
        let page = WrittenPage::new("v2.8", "example.rst", &text);
        let logged = page.read().expect("tables");
        let wakeup = figures(&logged, ScenarioId::SUSPEND_DEEP_SERIAL, Metric::Wakeup);
        let read_labels = wakeup.iter().map(|(label, _)| label.as_str());
        assert!(read_labels.eq(labels), "{text}");
        assert_eq!(logged.header.has_unknown_clusters, is_unknown, "{text}");
        assert!(explanations(&logged).is_empty());
    }
}

#[test]
fn damaged_table_of_the_old_layout_is_refused_with_its_place() {
    let row = &["0, 114, 20, 94"][..];
    let swapped = "CPU, ``PSCI_EXIT`` (us), ``PSCI_ENTRY`` (us), ``CFLUSH_OVERHEAD`` (us)";
    let mixed = "CPU, ``PSCI_ENTRY`` (us), ``PSCI_EXIT`` (ns), ``CFLUSH_OVERHEAD`` (us)";
    let unit = "CPU, ``PSCI_ENTRY``, ``PSCI_EXIT``, ``CFLUSH_OVERHEAD``";
    for (text, part) in [
        (table(DEEP, swapped, row), ":9:1: the columns are"),
        (
            table(DEEP, mixed, row),
            ":9:1: neither the title nor the columns' names specify a unit",
        ),
        (
            table(DEEP, unit, row),
            ":9:1: neither the title nor the columns' names specify a unit",
        ),
        (
            table("Some heading", SUSPEND, row),
            "the title does not say which scenario",
        ),
        (
            table(DEEP, SUSPEND, &["A57, 114, 20, 94"]),
            ":12:3: \"A57\" is not a CPU on this page",
        ),
        (
            table(DEEP, SUSPEND, &["0, -1, 20, 94"]),
            ":12:31: \"-1\" is not a valid latency",
        ),
        (
            table(
                DEEP,
                "CPU, ``PSCI_ENTRY`` (us), ``PSCI_EXIT`` (us)",
                &["0, 1, 2"],
            ),
            ":9:1: 3 columns, expected CPU, Powerdown, Wakeup, Cache Flush",
        ),
        (
            format!("{SENTENCE}{}", table(DEEP, SUSPEND, &["3, 114, 20, 94"])),
            "\"3\" is not a CPU on this page",
        ),
        (
            table(
                DEEP,
                SUSPEND,
                &["0, 114, 20, 94", "cluster 0 core 0, 115, 20, 94"],
            ),
            ":14:3: \"cluster 0 core 0\" is a CPU that already has a row in this table",
        ),
        (
            table(DEEP, SUSPEND, row).repeat(2),
            "a second table for the same scenario",
        ),
        (
            table("Method", "CPU, Frequency (MHz)", &["A57, 900"]),
            "no table of PSCI latencies",
        ),
    ] {
        let page = WrittenPage::new("v2.8", "psci-performance-juno.rst", &text);
        let message = format!("{:#}", page.read().expect_err(part));
        assert!(message.contains(part), "{message}");
    }
}

/// A tab before a column's name neither hides the column from one reader only nor stops the search
/// for the next table.
#[test]
fn table_without_latencies_is_passed_over() {
    let odd = table("Some heading", SUSPEND, &["0, 1, 2, 3"]).replace("| CPU", "|\tCPU");
    let page = WrittenPage::new("v2.8", "example.rst", &format!("{odd}{}", old_layout()));
    let logged = page.read().expect("the tables after it");
    assert_eq!(logged.run.scenarios.len(), 3);
}
