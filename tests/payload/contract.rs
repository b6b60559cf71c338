//! Checks a real log with the regular expressions that other log readers use: TF-A's LAVA monitor,
//! its RT_INSTR parsers and its expect script.

use fancy_regex::Regex;
use report::log::read_bytes;
use suite::model::Verdict;
use suite::plan::ScenarioId;
use suite::record::LINE_MAX;

use crate::common;

/// Returns the suite's scenarios in measurement order: the last one in TFTF order comes first.
fn suite() -> [ScenarioId; 6] {
    let mut suite = ScenarioId::SUITE;
    suite.rotate_right(1);
    suite
}

/// Returns the capture groups of each match of an expression.
fn matches(expression: &str, text: &str) -> Vec<Vec<Option<String>>> {
    let regex = Regex::new(expression).expect("a valid expression");
    let mut matches = Vec::new();
    for captures in regex.captures_iter(text) {
        let captures = captures.expect("within the step limit");
        let groups = captures.iter().skip(1);
        matches.push(
            groups
                .map(|group| Some(group?.as_str().to_owned()))
                .collect(),
        );
    }
    matches
}

/// The LAVA monitor reads the log as it grows, so it processes one test at a time.
fn check_monitor(text: &str) {
    let case = r"(?s)> Executing '(?P<test_case_id>.+?(?='))'(.*)  TEST COMPLETE\s+(?P<result>(Skipped|Passed|Failed|Crashed))";
    let pieces = text.split("> Executing").skip(1);
    let cases: Vec<_> = pieces
        .map(|piece| {
            let piece = format!("> Executing{piece}");
            let found = matches(case, &piece).remove(0);
            (found[0].clone(), found[2].clone())
        })
        .collect();
    let passed = |scenario: ScenarioId| {
        let name = scenario.name().to_owned();
        (Some(name), Some("Passed".to_owned()))
    };
    assert_eq!(cases, suite().map(passed));
}

/// As TF-A's awk scripts require, there is one line per CPU and test, in a stable order, with tabs
/// and a trailing `/>`.
fn check_rows(text: &str) {
    let row = r"<RT_INSTR:(\w+)\t(\d+)\t(\d+)\t(\d+)(?:\t(\d+))?(?:\t(\d+))?";
    let mut rows = matches(row, text).into_iter().map(|captures| {
        let figures = captures[3..].iter().flatten().count();
        (captures[..3].iter().flatten().cloned().collect(), figures)
    });
    for scenario in suite() {
        let is_call = scenario == ScenarioId::PSCI_VERSION_PARALLEL;
        for cpu in 0..8 {
            let cluster = cpu / 4;
            let core = cpu % 4;
            let expected = vec![
                scenario.tag().to_owned(),
                cluster.to_string(),
                core.to_string(),
            ];
            assert_eq!(rows.next(), Some((expected, if is_call { 1 } else { 3 })));
        }
    }
    assert_eq!(rows.next(), None);
    for line in text.lines().filter(|line| line.contains("RT_INSTR")) {
        let is_whole = line.starts_with("<RT_INSTR:") && line.ends_with("/>");
        assert!(is_whole, "{line}");
    }
}

/// Each scenario's records follow its text report. The last record precedes the summary. The
/// summary and the last line fit on a screen with 100 columns and 30 lines.
fn check_order(text: &str) {
    let parts = text.split("> Executing ");
    for part in parts.map(|part| part.split("******").next().expect("the first part")) {
        let (prose, records) = part.split_at(part.find("@PB ").expect("records"));
        let is_header = prose.contains("\r\npsci-bench ") && prose.contains("\r\n  Plan       : ");
        assert!(is_header || prose.contains("  TEST COMPLETE"), "{part}");
        let mut lines = records.lines();
        assert!(lines.all(|line| line.starts_with("@PB ")), "{part}");
    }
    let (_, end) = text.split_once("{\"end\":{\"records\":").expect("the end");
    let (_, screen) = end.split_once(".. table:: Summary: ").expect("the summary");
    assert!(!screen.contains("@PB "), "{screen}");
    let lines: Vec<&str> = screen.trim_end().lines().collect();
    assert!(lines.len() <= 20, "{screen}");
    let is_narrow = |line: &&str| line.len() <= 100 || line.starts_with("psci-bench: ");
    assert!(lines.iter().all(is_narrow), "{screen}");
}

#[test]
fn other_programs_find_their_marks() {
    let ran = common::expect_verdict(&common::spec("--smp 8 --icount", ""), Verdict::Pass)
        .says(&["Tests Failed : 0"])
        .lacks(&["Tests Passed : 0", "Panic:", "Unhandled exception on "]);
    // At 115,200 baud, the UART takes 3.6 s to send a default run's log.
    assert!(ran.result.log.len() <= 40 << 10);
    // The text as received over the UART, with CR LF line endings.
    let text = ran.result.text();
    let start = text.find("Booting trusted firmware test framework");
    let end = text.find("Exiting tests.").expect("its end");
    let own = &text[start.expect("its start")..];
    check_monitor(&text[start.expect("its start")..end]);
    check_rows(&text);
    // TF-A's expect script waits for this line.
    assert!(!matches(r"Running at NS-EL(1|2)", &text).is_empty());
    // From the payload's first line onward, the log must be ASCII with CR LF line endings and
    // short lines.
    assert!(own.is_ascii());
    for line in own.split_inclusive('\n') {
        let is_record = line.starts_with("@PB ");
        let limit = if is_record { LINE_MAX } else { 120 };
        let is_short = line.ends_with("\r\n") && line.trim_end().len() <= limit;
        assert!(is_short, "{line:?}");
    }
    check_order(own);
    let last = own.trim_end().lines().last().expect("a line");
    let pass = "psci-bench: PASS (6 passed, 0 skipped, 0 failed; ";
    assert!(last.starts_with(pass), "{last}");
}

/// Records from two runs are never read as one run, even if everything else is the same.
#[test]
fn each_run_has_its_own_identity() {
    let args = "only=psci_version_parallel iterations=1 warmup=0";
    let spec = common::spec("--smp 2", args);
    let [first, second] = [(); 2].map(|()| {
        let log = common::expect_verdict(&spec, Verdict::Pass).result.log;
        let runs = read_bytes("the UART", &log).expect("a run");
        let lacks = runs[0].lacks();
        assert!(runs.len() == 1 && lacks.is_empty(), "{lacks:?}");
        assert_eq!(runs[0].header.run, runs[0].run.id);
        runs[0].header.run.expect("the header contains an identity")
    });
    assert_ne!(first, second);
}
