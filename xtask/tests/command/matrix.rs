//! Tests `cargo xtask matrix`: compares the output for good and bad jobs from both engines byte for
//! byte, and checks the exit codes. Missing, damaged or unreadable jobs are never green.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use run::model::{Failure, Status};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::report::{edited_log, log};
use crate::support::{assert_report, called, xtask};

/// Returns a LAVA log that contains the lines from the board and the LAVA results.
fn lava(uart: &str, results: &[Value]) -> String {
    let entry = |level: &str, msg: Value| {
        let dt = "2026-01-02T10:11:12.345678";
        format!("- {{\"dt\": \"{dt}\", \"lvl\": \"{level}\", \"msg\": {msg}}}\n")
    };
    let said = uart
        .lines()
        .map(|line| entry("target", line.trim_end().into()));
    let found = results
        .iter()
        .map(|result| entry("results", result.clone()));
    said.chain(found).collect()
}

fn result(suite: &str, case: &str, result: &str) -> Value {
    json!({"definition": suite, "case": case, "result": result})
}

/// Returns the LAVA result for a finished job.
fn over() -> Value {
    result("lava", "job", "pass")
}

/// Returns the figures in the `RT_INSTR` lines of a log by tag, cluster, core and metric. Engine
/// results must contain all of these figures.
fn figures(log: &str) -> Vec<[&str; 5]> {
    let mut all = Vec::new();
    for line in log.lines().filter_map(|it| it.strip_prefix("<RT_INSTR:")) {
        let words: Vec<&str> = line.trim_end_matches("/>").split('\t').collect();
        let metrics = match words.len() {
            4 => &["latency"][..],
            _ => &["powerdown", "wakeup", "cache-flush"],
        };
        for (metric, value) in metrics.iter().zip(&words[3..]) {
            all.push([words[0], words[1], words[2], *metric, *value]);
        }
    }
    all
}

/// Returns the file that pytest writes for a log.
fn junit(log: &str) -> String {
    let mut out = "<testsuites><testsuite>".to_owned();
    for [tag, cluster, core, metric, value] in figures(log) {
        let metric = metric.replace('-', "_");
        out.push_str(&format!(
            "<testcase classname='t' name='test_scenario[{tag}]'><properties>\
             <property name='{cluster}.{core} {metric} ns' value='{value}'/></properties></testcase>"
        ));
    }
    out + "<testcase classname='t' name='test_verdict'/></testsuite></testsuites>"
}

/// Returns the LAVA results for a log, except the result for the job itself.
fn measured(log: &str) -> Vec<Value> {
    let mut all = vec![result("psci-bench", "psci_bench", "pass")];
    for [tag, cluster, core, metric, value] in figures(log) {
        let tag = tag.trim_start_matches("test_rt_instr_");
        let mut one = result(metric, &format!("{tag}_{cluster}_{core}"), "pass");
        one["measurement"] = format!("{value}.0").into();
        one["units"] = "ns".into();
        all.push(one);
    }
    all
}

/// Returns a TFTF log in which one scenario passed.
fn tftf() -> String {
    "NOTICE:  Booting trusted firmware test framework\r\n\
     > Executing 'CPU suspend on all cores in sequence'\r\n\
     <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t100\t200\t300/>\r\n\
     \x20 TEST COMPLETE                Passed\r\nNOTICE:  Exiting tests.\r\n"
        .to_owned()
}

fn report(path: &Path, words: &[&str]) -> (i32, String, String) {
    let mut command = xtask(&["matrix"]);
    called(command.arg(path).args(words))
}

/// A folder with cells.
struct Lab(TempDir);

impl Lab {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// Returns a folder with a good job for each engine.
    fn of_good_jobs() -> Self {
        let lab = Self::new();
        let mut all = measured(log());
        all.extend([result("psci-bench", "a_case", "pass"), over()]);
        let (good, ended) = (lava(log(), &all), over().to_string());
        let files = [("lava.log", good.as_str()), ("result.yaml", &ended)];
        lab.cell(["lava", "qemu", "v2.12"], &files);
        let (newer, junit) = (log().replace("v2.12.1", "v2.13.0"), junit(log()));
        let files = [
            ("uart.log", newer.as_str()),
            ("junit.xml", &junit),
            ("pytest.out", log()),
        ];
        lab.cell(["labgrid", "qemu", "v2.13"], &files);
        lab
    }

    /// Writes a cell for this engine, board and firmware, with result files.
    fn cell(&self, names: [&str; 3], files: &[(&str, &str)]) -> PathBuf {
        let cell = self.0.path().join(names.join("-"));
        fs::create_dir_all(cell.join("results")).expect("made");
        let [engine, board, firmware] = names;
        let mark = json!({
            "schema": "psci-bench-lab-cell", "version": 1,
            "engine": engine, "board": board, "firmware": firmware,
        });
        fs::write(cell.join("cell.json"), mark.to_string()).expect("written");
        for (name, text) in files {
            fs::write(cell.join("results").join(name), text).expect("written");
        }
        cell
    }

    /// Writes a labgrid cell with a log and pytest results.
    fn run(&self, board: &str, firmware: &str, log: &str, junit: &str) -> PathBuf {
        let files = [("uart.log", log), ("junit.xml", junit)];
        self.cell(["labgrid", board, firmware], &files)
    }

    fn report(&self, words: &[&str]) -> (i32, String, String) {
        let (code, out, said) = report(self.0.path(), words);
        let text = |text: String| text.replace(&self.0.path().display().to_string(), "SET");
        (code, text(out), text(said))
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.report(&["--format", "json"]).1).expect("JSON")
    }

    /// Checks the exit code, and that both the report and stderr contain `why`.
    #[track_caller]
    fn assert_ends(&self, code: i32, why: &str) {
        let (found, out, said) = self.report(&[]);
        assert_eq!(found, code, "{why}: {said}");
        assert!(
            said.contains(why) && out.contains(why),
            "{why}: {said}\n{out}"
        );
    }
}

#[test]
fn good_jobs_are_side_by_side() {
    let lab = Lab::of_good_jobs();
    let (code, text, said) = lab.report(&[]);
    assert_eq!((code, said.as_str()), (0, ""));
    assert_report("matrix.txt", &text);
    // An unreadable path is reported.
    let qemu = lab.0.path().join("labgrid-qemu-v2.13");
    symlink("nowhere", qemu.join("gone")).expect("made");
    lab.assert_ends(3, "/gone: not read");
    // A lab folder that is specified twice is counted once.
    let again = qemu.to_str().expect("UTF-8");
    assert_eq!(lab.report(&[again]).1, lab.report(&[]).1);
}

#[test]
fn bad_jobs_are_named() {
    let lab = Lab::of_good_jobs();
    // A failing test case in an otherwise good job.
    let failing = lava(log(), &[result("psci-bench", "a_case", "fail"), over()]);
    let failing = lab.cell(["lava", "qemu", "failing"], &[("lava.log", &failing)]);
    lab.assert_ends(1, "failed: psci-bench/a_case not passed\n");
    assert_eq!(report(&failing, &[]).0, 1);
    // Jobs that did not end, contain no run, or have no files.
    let half = &log()[..log().len() / 2];
    let mut late = result("lava", "job", "fail");
    late["error_msg"] = "lava-test-monitor timed out".into();
    for (name, text) in [
        ("half", lava(half, &[late])),
        ("mute", lava("NOTICE:  BL1", &[over()])),
        ("lost", lava(log(), &[])),
    ] {
        lab.cell(["lava", "juno", name], &[("lava.log", &text)]);
    }
    lab.cell(["labgrid", "juno", "none"], &[]);
    let (code, text, said) = lab.report(&["--format", "md"]);
    assert_eq!(code, 3, "{said}");
    let lines = text.lines().filter(|line| !line.contains(". ")).take(32);
    let jobs: String = lines.flat_map(|line| [line, "\n"]).collect();
    assert_report("matrix.md", &jobs);
}

/// An unreadable file in a cell makes its job incomplete but does not affect other jobs. An
/// unreadable file that is named on the command line is an error.
#[test]
fn what_is_no_job() {
    let lab = Lab::new();
    lab.run("good", "x", log(), &junit(log()));
    let cell = lab.cell(["lava", "a", "b"], &[("junit.xml", "<testsuites/>")]);
    lab.assert_ends(3, "no test case");
    assert!(lab.report(&[]).1.contains("good: runs"));
    let (code, out, said) = report(&cell.join("results/junit.xml"), &[]);
    assert_eq!((code, out.as_str()), (2, ""), "{said}");
    let mark = fs::read_to_string(cell.join("cell.json")).expect("a mark");
    for (old, new, expected) in [
        ("schema", "x", "missing field `schema`"),
        ("psci-bench-lab-cell", "x", "found \"x\" 1"),
        ("\"b\"", "\"a|b\"", "firmware \"a|b\": expected up to"),
    ] {
        fs::write(cell.join("cell.json"), mark.replace(old, new)).expect("written");
        lab.assert_ends(3, expected);
        assert!(lab.report(&[]).1.contains("good: runs"));
    }
}

/// The result does not depend on file names or on how many files have the same contents.
#[test]
fn what_two_files_say_counts_once() {
    let lab = Lab::new();
    let mut all = measured(log());
    all.push(over());
    let of_lava = lava(log(), &all);
    let files = [("lava.log", &*of_lava), ("lava.yaml", &of_lava)];
    let of_both = lab.cell(["lava", "qemu", "x"], &files);
    lab.assert_ends(0, "are identical down to the last tick");
    let json = lab.json();
    let job = &json["matrix"]["jobs"][0];
    assert_eq!(
        (&job["measurements"], &job["runs"]),
        (&28.into(), &json!([0]))
    );
    fs::remove_dir_all(of_both).expect("removed");
    // A measurement is missing from LAVA's results. A log without engine results is not compared
    // against anything.
    let less = lava(log(), &[&all[..1], &all[2..]].concat());
    let cell = lab.cell(["lava", "qemu", "x"], &[("lava.log", &less)]);
    lab.assert_ends(3, "the engine has 27 of the 28 measurements");
    assert_eq!(report(&cell.join("results/lava.log"), &[]).0, 0);
    // A truncated result.
    let cut = of_lava.replace("\"result\":\"pass\"}}\n", "\"res\n");
    fs::write(cell.join("results/lava.log"), cut).expect("written");
    lab.assert_ends(3, "of LAVA's log cannot be read");
}

/// Inputs are not overwritten.
#[test]
fn results_are_not_written_to() {
    let lab = Lab::new();
    let results = lab.run("qemu", "x", log(), &junit(log())).join("results");
    let (link, new) = (lab.0.path().join("link"), results.join("report.txt"));
    fs::hard_link(results.join("uart.log"), &link).expect("made");
    for path in [&results.join("uart.log"), &link, &new] {
        let (code, _, said) = lab.report(&["-o", path.to_str().expect("UTF-8")]);
        assert!(code == 2 && said.contains("-o SET/"), "{said}");
    }
    assert_eq!(fs::read_to_string(link).expect("there"), log());
    assert!(!new.exists());
}

/// Failures are recognized from the records, from TFTF lines, and from the engine's counts.
#[test]
fn what_failed_is_not_green() {
    let lab = Lab::new();
    let failed = edited_log(|run| run.scenarios[2].status = Status::Failed(Failure::NotStated));
    let at = failed.rfind("psci-bench: ").expect("a last line");
    let no_last = failed[..at].to_owned();
    let records = "psci-bench: FAIL (3 passed, 0 skipped, 1 failed";
    let good = "<testsuite>";
    let counts = "<testsuite errors='3' failures='2'>";
    let missing = "<testsuite tests='99'>";
    for (log, suite, expected, why) in [
        (
            log(),
            counts,
            1,
            "declares 5 failures and errors, but contains 0",
        ),
        (log(), missing, 3, "declares 99 test cases, but contains 29"),
        // Figures found only in `RT_INSTR` lines are marked and explained in a note.
        (&tftf(), good, 0, ""),
        (&failed, good, 1, records),
        (&no_last, good, 1, records),
    ] {
        lab.run("qemu", "x", log, &junit(log).replace(good, suite));
        lab.assert_ends(expected, why);
        let marked = "figures with a ? are from RT_INSTR lines";
        assert_eq!(lab.report(&[]).1.contains(marked), log == tftf());
    }
    let json = lab.json();
    assert_eq!(json["matrix"]["jobs"][0]["outcome"], "failed");
    assert_eq!(json["runs"][0]["verdict"], "fail");
    // A job that no longer runs any tests.
    let skipped = "<testsuite><testcase name='a'><skipped/></testcase></testsuite>";
    lab.run("qemu", "x", log(), skipped);
    lab.assert_ends(3, "nothing was run: 1 test case");
}

/// Each run is attributed to its own board and firmware.
#[test]
fn several_boards() {
    let lab = Lab::new();
    let juno = edited_log(|run| run.head.as_mut().expect("a head").model = "Juno r2".into());
    let newer = log().replace("v2.12.1", "v2.13.0");
    let path = lab.0.path().join("log");
    fs::write(&path, format!("{}\n{juno}\n{newer}", log())).expect("written");
    let (code, out, said) = report(&path, &["--format", "json"]);
    assert_eq!((code, said.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&out).expect("JSON");
    let boards = json["matrix"]["boards"].as_array().expect("a list").iter();
    let boards: Vec<_> = boards
        .map(|it| json!([it["name"], it["columns"]]))
        .collect();
    let (old, new) = ("v2.12.1(release):v2.12.1", "v2.13.0(release):v2.13.0");
    let expected = [
        json!(["Juno r2", [[1, old]]]),
        json!(["QEMU virt", [[0, old], [2, new]]]),
    ];
    assert_eq!(boards, expected);
    // A cell whose log is from another board does not appear in the tables for its own board.
    let first = lab.run("juno", "v1", log(), &junit(log()));
    for firmware in ["v2", "v3"] {
        lab.run("juno", firmware, &juno, &junit(&juno));
    }
    for board in ["juno (QEMU virt): runs", "juno (Juno r2): runs"] {
        assert!(lab.report(&[]).1.contains(board), "{board}");
    }
    // A log is from another job if its CPU count does not match that of the cell.
    let text = fs::read_to_string(first.join("cell.json")).expect("there");
    for (cpus, expected) in [("4", 0), ("8", 3), ("\"4\"", 3)] {
        let own = text.replacen('{', &format!("{{\"cpus\": {cpus}, "), 1);
        fs::write(first.join("cell.json"), own).expect("written");
        let (code, _, said) = lab.report(&[]);
        assert_eq!(code, expected, "{said}");
        let why = "the log is from another job: 4 CPUs, but the cell has 8";
        assert_eq!(said.contains(why), cpus == "8", "{said}");
    }
}
