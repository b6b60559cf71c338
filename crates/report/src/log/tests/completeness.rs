//! Verdicts and gaps: what can still be determined if lines are missing from a log.

use super::*;

#[test]
fn verdict_comes_from_the_end_record() {
    let log = whole_log();
    let line = log.lines().last().expect("a last line").to_owned();
    let wrong = line.replace("4 passed", "3 passed");
    assert_ne!(wrong, line);
    let records = "from the records";
    for (last, doubt, text) in [
        (line.as_str(), "", line.as_str()),
        ("", "the last line is missing", records),
        ("psci-bench: PA", "the last line is damaged", records),
        (&wrong, "contradicts the records", records),
    ] {
        let logged = read_one(log.replace(&line, last));
        assert_eq!(
            (logged.verdict(), logged.is_complete()),
            (Some(Verdict::Pass), true)
        );
        let doubts = logged.doubts();
        assert_eq!(doubts.len(), usize::from(!doubt.is_empty()));
        assert!(doubts.concat().contains(doubt), "{last}: {doubts:?}");
        assert!(logged.verdict_text().contains(text), "{last}");
    }
    let stopped = "psci-bench: INCOMPLETE: exception on CPU 0.3";
    let logged = read_one(log.replace(&line, stopped));
    assert!(logged.verdict() == Some(Verdict::Incomplete) && !logged.is_complete());
    assert!(logged.verdict_text() == stopped && logged.doubts().is_empty());
    // With one byte removed, the line is damaged or contradicts the record.
    for at in 0..line.len() {
        let mut cut = line.clone();
        cut.remove(at);
        let logged = read_one(log.replace(&line, &cut));
        assert_eq!(logged.verdict(), Some(Verdict::Pass), "{cut}");
        assert!(logged.is_complete() && logged.doubts().len() == 1, "{cut}");
    }
    let cut = read_one(log.replace(&line, "psci-bench: ICOMPLETE: exception"));
    assert!(!cut.is_complete() && cut.verdict().is_none());
    assert!(cut.lacks().concat().contains("the last line is damaged"));
}

#[test]
fn last_line_counts_without_the_end_record() {
    // The line reports success, but the record does not.
    let log = whole_log();
    let line = log.lines().last().expect("a last line");
    let mut run = synthetic_run::run();
    run.scenarios[2].status = Status::Failed(Failure::NotStated);
    run.end = Some(synthetic_run::end(&run));
    let failed_log = log_of(&run);
    let failed = failed_log.lines().last().expect("a last line");
    let logged = read_one(failed_log.replace(failed, line));
    assert_eq!(logged.verdict(), Some(Verdict::Fail));
    assert!(logged.doubts()[0].contains("contradicts the records"));
    // Without the end record, the line is used but not verified.
    let logged = read_one(without(|record| record.contains("{\"end\":")));
    assert_eq!(logged.verdict_text(), format!("{line} (not verified)"));
    let totals = logged
        .closing
        .and_then(|closing_line| closing_line.totals());
    assert_eq!(totals.map(|totals| totals.passed), Some(4));
}

#[test]
fn sound_records_that_cannot_be_read_are_lost_and_named() {
    let mut run = synthetic_run::run();
    run.head.as_mut().expect("a head").format = 9;
    let moon = "{\"moon\":{\"phase\":1}}";
    let absurd = "{\"cpus\":[60000,[[\"0x0\",0,0,0]]]}";
    let log = log_of(&run);
    let logged = read_one(with_records(&log, &[("0002", moon), ("0003", absurd)]));
    let records = logged.integrity.records.as_ref().expect("records");
    assert_eq!((records.malformed, records.missing.len()), (2, 0));
    assert!(logged.run.plan.is_none() && logged.run.cpus.len() == 4);
    let lacks = logged.lacks();
    for (lack, (seq, kind)) in lacks.iter().zip([("0002", "moon"), ("0003", "cpus")]) {
        let index = log
            .lines()
            .position(|line| line.starts_with(MARK) && line.contains(&format!(" {seq} {{")));
        let line = index.expect("a record") + 1;
        let part = format!("record {seq} ({kind}, line {line}) is intact but not");
        assert!(lack.starts_with(&part), "{lack}");
    }
    let format = format!("have format 9, but this version reads format {FORMAT}");
    assert!(lacks[2].contains(&format), "{lacks:?}");
}

/// Anything missing from a log without records is reported, and the log is incomplete.
#[test]
fn lines_that_lack_something_are_incomplete() {
    let begin = "NOTICE:  Booting trusted firmware test framework\n";
    let exit = "NOTICE:  Exiting tests.\n";
    let ids = [
        ScenarioId::CPU_SUSPEND_SERIAL,
        ScenarioId::PSCI_VERSION_PARALLEL,
    ];
    let [first, second] = ids.map(|id| format!("> Executing '{}'\n", id.name()));
    let line = |id: ScenarioId, fields| format!("<RT_INSTR:{}\t0\t{fields}/>\n", id.tag());
    let row1 = line(ids[0], "1\t106880\t17060\t5280");
    let rows = line(ids[0], "0\t106120\t17100\t5260") + &row1;
    let others = ["0\t9", "1\t8"].map(|fields| line(ids[1], fields)).concat();
    let end = |word: &str| format!("  TEST COMPLETE        {word}\n");
    let passed = end("Passed");
    let both = format!("{first}{rows}{passed}{second}{others}{passed}");
    let rest = "0 rows skipped, 0 CPUs lost";
    let pass = format!("psci-bench: PASS (2 passed, 0 skipped, 0 failed; {rest})\n");
    let tftf = |text: &str| format!("{begin}{text}{exit}");
    let whole = format!("{both}{pass}");
    let less = whole.replace(&row1, "");
    let tally = |line| tftf(&format!("{both}{line}\n"));
    let split = |replacement| tftf(&both.replacen("\t17100", replacement, 1));
    for (log, lack) in [
        (tftf(&both), ""),
        (whole.clone(), ""),
        (format!("{whole}\n{pass}"), ""),
        (split("\n\t17100"), ""),
        (split("\nINFO: x\n\t17100"), "1 damaged RT_INSTR line"),
        (split("\t17\n100"), "1 damaged RT_INSTR line; "),
        (tftf(""), "no scenarios"),
        (pass, "no scenarios"),
        (tally("Tests Failed  : 6"), "6 tests failed, but the"),
        (tally("Tests Passed  : 3"), "passed, but the log shows 2"),
        (tftf(&(first.clone() + &passed)), "no figure for test_rt_"),
        (tftf(&(first.clone() + &rows)), "serial ended"),
        (format!("{begin}{both}"), "Exiting tests."),
        (format!("psci-bench 0.1.0\n{both}{exit}"), "no last line"),
        (
            whole.replace("0 failed", "1 failed"),
            "last line is damaged",
        ),
        (whole.replace("(2", "(3"), "contradicts the scenarios: 2"),
        (
            less.clone(),
            "no row for CPU 0.1 in test_rt_instr_cpu_susp_serial",
        ),
        (whole.replace("\t171", "171"), "no row for CPU 0.0 in test_"),
        (whole.replace("\t9/>", "\t"), "1 damaged RT_INSTR line; "),
    ] {
        let logged = read_one(&log);
        let lacks = logged.lacks().join("; ");
        assert_eq!(logged.is_complete(), lack.is_empty(), "{log}{lacks}");
        assert!(lacks.contains(lack), "{log}{lacks}");
    }
    // If the line that starts a scenario is lost, the line that ends it is not assigned to
    // another scenario.
    let failed = end("Failed");
    for (lines, known, strays) in [(others.as_str(), 2, 0), ("", 1, 1)] {
        let logged = read_one(tftf(&format!("{first}{rows}{passed}{lines}{failed}")));
        let scenarios = &logged.run.scenarios;
        assert_eq!((scenarios.len(), logged.strays), (known, strays));
        assert_eq!(scenarios[0].status, Status::Passed);
    }
}

#[test]
fn rows_that_the_summary_names_may_lack() {
    let mut run = synthetic_run::run();
    run.scenarios.pop();
    run.scenarios[2].cells[3] = Cell {
        cpu: 3.into(),
        skipped: Some(Skip::NoGic),
        ..Cell::default()
    };
    run.end = Some(synthetic_run::end(&run));
    let log = synthetic_run::log(&run, Records::None);
    let line = log
        .lines()
        .find(|line| line.contains("cpu_susp_serial\t1\t0"));
    let named = ", CPU 1.1:";
    let lost = "no row for CPU 1.1 in test_rt";
    for (old, new, lack) in [
        ("", "", ""),
        ("1 row skipped", "7 rows skipped", ""),
        (named, ", CPU 0.9, 1.1:", ""),
        (named, ", CPU 1.0:", lost),
        (named, ", CPU 1.10:", lost),
        (": no GIC: ", ", no GIC, ", lost),
        (named, ", method warm, CPU 1.1:", lost),
        (line.expect("a row"), "", "no row for CPU 1.0 in test_rt"),
    ] {
        let logged = read_one(log.replacen(old, new, 1));
        let lacks = logged.lacks().join("; ");
        assert_eq!(logged.is_complete(), lack.is_empty(), "{new}: {lacks}");
        assert!(lacks.contains(lack), "{new}: {lacks}");
        assert_eq!(logged.denied().is_some(), lack != lost, "{new}");
    }
}
