//! Holds the expressions by which other programs read a log against a real
//! one: TF-A's LAVA monitor, its RT_INSTR parsers, its expect script.

mod common;

use std::collections::BTreeSet;

use fancy_regex::Regex;
use psci_bench::plan::ScenarioId;
use xtask::qemu::run_spec::RunSpec;

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("a sound expression")
}

#[test]
fn other_programs_find_what_they_look_for() {
    let spec = RunSpec {
        args: Some("iterations=3".into()),
        ..RunSpec::default()
    };
    let result = common::run(&spec);
    // As it came over the UART: the line ends are CR LF.
    let text = result.text();
    let log = common::Log::new(&result.log);

    let start = text.find("Booting trusted firmware test framework");
    let end = text.find("Exiting tests.");
    let (start, end) = (start.expect("its start"), end.expect("its end"));
    assert!(start < end);
    // The monitor reads as the log grows, so that it sees one test at a time.
    let monitored = &text[start..end];
    let case = expression(
        r"(?s)> Executing '(?P<test_case_id>.+?(?='))'(.*)  TEST COMPLETE\s+(?P<result>(Skipped|Passed|Failed|Crashed))",
    );
    let mut cases = Vec::new();
    for piece in monitored.split("> Executing").skip(1) {
        let piece = format!("> Executing{piece}");
        let found = case.captures(&piece).expect("no blow-up");
        let found = found.unwrap_or_else(|| panic!("no test case in {piece}"));
        let group = |name| found.name(name).map_or("", |m| m.as_str()).to_string();
        cases.push((group("test_case_id"), group("result")));
    }
    let expected = ScenarioId::SUITE.map(|s| (s.name().to_string(), "Passed".to_string()));
    assert_eq!(cases, expected);

    // One line a CPU and test, in a stable order, real tabs.
    let row = expression(r"<RT_INSTR:(\w+)\t(\d+)\t(\d+)\t(\d+)(?:\t(\d+))?(?:\t(\d+))?");
    let mut seen = BTreeSet::new();
    for scenario in ScenarioId::SUITE {
        let rows: Vec<(u32, u32, usize)> = row
            .captures_iter(&text)
            .map(|found| found.expect("no blow-up"))
            .filter(|found| {
                found
                    .get(1)
                    .is_some_and(|tag| tag.as_str() == scenario.tag())
            })
            .map(|found| {
                let number = |i| {
                    found
                        .get(i)
                        .and_then(|n| n.as_str().parse().ok())
                        .unwrap_or(99)
                };
                let figures = (4..=6).filter(|i| found.get(*i).is_some());
                (number(2), number(3), figures.count())
            })
            .collect();
        let figures = match scenario {
            ScenarioId::PsciVersionParallel => 1,
            _ => 3,
        };
        let expected: Vec<(u32, u32, usize)> =
            (0..8).map(|cpu| (cpu / 4, cpu % 4, figures)).collect();
        assert_eq!(rows, expected, "{}", scenario.tag());
        seen.insert(scenario.tag());
    }
    assert_eq!(row.captures_iter(&text).count(), 8 * seen.len());
    // Each is a whole line, closed as the awk scripts want it.
    for line in text.lines().filter(|line| line.contains("RT_INSTR")) {
        assert!(
            line.starts_with("<RT_INSTR:") && line.ends_with("/>"),
            "{line}"
        );
    }

    // The expect script.
    let level = expression(r"Running at NS-EL(1|2)");
    assert!(level.is_match(&text).expect("no blow-up"));
    assert!(text.contains("Tests Failed  : 0"));
    for bad in ["Tests Passed  : 0", "Panic:", "Unhandled exception on "] {
        assert!(!text.contains(bad), "{bad}");
    }

    // The UART's contract: ASCII, 120 columns, CR LF, from our first line on.
    let own = &text[start..];
    assert!(own.is_ascii());
    for line in own.split_inclusive('\n') {
        assert!(line.ends_with("\r\n"), "{line:?}");
        assert!(line.trim_end().len() <= 120, "{line:?}");
    }
    assert!(own.trim_end().lines().last().is_some_and(|last| {
        last.starts_with("psci-bench: PASS (6 passed, 0 skipped, 0 failed; ")
    }));
    assert_eq!(log.all("cpu").len(), 8);
}
