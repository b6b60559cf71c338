//! Runs that lost something, and what is still known of them.

use psci_bench::measure::Metric;
use psci_bench::model::Verdict;
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::record::crc::Crc32;

use super::reader::read_bytes;
use crate::report::model::{Run, Term};

const QEMU: &[u8] = include_bytes!("../../../tests/data/report/qemu-4cpu.log");

fn text() -> String {
    String::from_utf8_lossy(QEMU).into_owned()
}

fn run(log: &str) -> Run {
    let mut runs = read_bytes("a.log", log.as_bytes()).expect("a run");
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// The log with other records, whose checksums are right.
fn edited(edit: impl Fn(&str) -> String) -> String {
    let mut log = String::new();
    let mut crcs = Crc32::default();
    for line in text().lines() {
        let Some((body, _)) = line.rsplit_once(' ').filter(|_| line.starts_with("@PB ")) else {
            log.push_str(&format!("{line}\n"));
            continue;
        };
        let mut body = edit(body);
        let end = body.split_once(" crcs=").map(|(end, _)| end.to_owned());
        if let Some(end) = &end {
            body = format!("{end} crcs={:#010x}", crcs.value());
        }
        let crc = Crc32::of(format!("{body} ").as_bytes());
        match end {
            Some(_) => crcs = Crc32::default(),
            None => crcs.update(&crc.to_be_bytes()),
        }
        log.push_str(&format!("{body} {crc:08x}\n"));
    }
    log
}

/// The log without the records, in both copies, of which `is_lost` holds.
fn without(is_lost: impl Fn(&str) -> bool) -> String {
    let text = text();
    let kept = text
        .lines()
        .filter(|it| !it.starts_with("@PB ") || !is_lost(it));
    kept.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_records_tell_the_verdict() {
    let whole = run(&edited(str::to_owned));
    assert!(whole.is_complete() && whole.doubts().is_empty());
    let line = whole.closing.expect("it is there").line;

    // A byte less: it is damaged, or says something else.
    for at in 0..line.len() {
        let mut cut = line.clone();
        cut.remove(at);
        let run = run(&text().replace(&line, &cut));
        assert_eq!(run.verdict(), Some(Verdict::Pass), "{cut}");
        assert!(run.is_complete(), "{cut}");
        assert_eq!(run.doubts().len(), 1, "{cut}");
    }
    // Broken at a blank, which a terminal leaves out.
    let broken = line.replace("; 48 samples, ", ";\r\n48 samples,\r\n");
    assert_ne!(line, broken);
    let joined = run(&text().replace(&line, &broken));
    assert!(joined.is_complete() && joined.doubts().is_empty());
    let counted = line.replace(", 0 CPUs", ", 0 rows skipped, 0 CPUs");
    let lost = run(&text().replace(&line, ""));
    assert!(lost.is_complete());
    assert_eq!(
        lost.verdict_said(),
        format!("{counted}, by the records"),
        "{:?}",
        lost.doubts()
    );

    // The line says that all went well, and the records do not.
    let failed = edited(|body| {
        body.replace(
            "t=3 by=tftf tag=test_rt_instr_cpu_susp_parallel status=passed",
            "t=3 by=tftf tag=test_rt_instr_cpu_susp_parallel status=failed",
        )
    });
    let failed = run(&failed);
    assert_eq!(failed.verdict(), Some(Verdict::Fail));
    assert!(
        failed.doubts()[0].contains("contradicts the records"),
        "{:?}",
        failed.doubts()
    );
    assert!(
        failed
            .verdict_said()
            .contains("FAIL (5 passed, 0 skipped, 1 failed;")
    );
    let wrong = run(&text().replace("48 samples", "4 samples"));
    assert!(
        wrong.doubts()[0].contains("48 samples"),
        "{:?}",
        wrong.doubts()
    );

    // A scenario counts once, by however many helpers it was measured.
    let placed = |status: &str| {
        let placed = edited(|body| {
            body.replace("t=3 by=tftf ", "t=1 by=tftf helper=0 ")
                .replace(
                    "tag=test_rt_instr_cpu_susp_parallel status=passed",
                    &format!("tag=test_rt_instr_susp_deep_parallel status={status}"),
                )
        });
        run(&placed)
    };
    let said = placed("passed").verdict_said();
    assert!(
        said.contains("PASS (5 passed, 0 skipped, 0 failed;"),
        "{said}"
    );
    let said = placed("failed").verdict_said();
    assert!(
        said.contains("FAIL (4 passed, 0 skipped, 1 failed;"),
        "{said}"
    );

    // It did not reach its end, and says so.
    let stopped = "psci-bench: INCOMPLETE: exception on CPU 0.3";
    for line_of_it in [stopped, "psci-bench: ICOMPLETE: exception on CPU 0.3"] {
        let stopped = run(&text().replace(&line, line_of_it));
        assert!(!stopped.is_complete(), "{line_of_it}");
        assert!(stopped.doubts().is_empty());
    }
    // Records that are not whole vouch for nothing.
    let lossy = run(&without(|it| it.contains(" cold t=1 ")));
    assert!(!lossy.is_complete());
    assert_eq!(lossy.verdict_said(), format!("{line} (not verified)"));
}

#[test]
fn a_lost_row_is_told_by_other_records() {
    let whole = run(&text());
    let metric = Term::Known(Metric::Powerdown);
    for (what, derived) in [(" row t=1 by=tftf mpidr=0x2", 1), (" row t=", 24)] {
        let lossy = run(&without(|it| it.contains(what)));
        assert_eq!(lossy.integrity.derived_rows, derived, "{what}");
        assert_eq!(
            (
                lossy.integrity.unverified_rows,
                lossy.integrity.rt_instr_wrong
            ),
            (0, 0)
        );
        let pairs = lossy.tests.iter().zip(&whole.tests);
        for (row, known) in pairs.flat_map(|(a, b)| a.rows.iter().zip(&b.rows)) {
            assert_eq!(
                (&row.figures, row.verified),
                (&known.figures, true),
                "{what}"
            );
        }
    }
    // The line of it is damaged, and not believed.
    let log = without(|it| it.contains(" row t=1 by=tftf mpidr=0x0"));
    let log = log.replace("\t2328944\t", "\t1\t");
    let lossy = run(&log);
    assert_eq!(lossy.integrity.rt_instr_wrong, 1);
    assert_eq!(lossy.tests[0].rows[0].figure(&metric), Some(145_559));
    // All that tells it is lost.
    let log: String = log
        .lines()
        .filter(|it| !it.starts_with("@PB 0019"))
        .map(|it| format!("{it}\n"))
        .collect();
    let lossy = run(&log);
    let row = &lossy.tests[0].rows[0];
    assert_eq!(
        (row.figure(&metric), lossy.is_doubtful(row)),
        (Some(1), true)
    );
}

#[test]
fn figures_are_of_one_side() {
    // Without its own record and rows, a test is told by the rest.
    for scenario in ["t=1 by=tftf", "t=2 by=tftf", "t=6 by=tftf"] {
        let is_lost = |it: &str| {
            it.contains(&format!(" row {scenario}")) || it.contains(&format!(" test {scenario}"))
        };
        let lossy = run(&without(is_lost));
        let place = usize::from(scenario.as_bytes()[2] - b'1');
        let (own, whole) = (&lossy.tests[place], &run(&text()).tests[place]);
        assert_eq!(own.columns(), whole.columns(), "{scenario}");
        assert_eq!(own.rows[3].figures, whole.rows[3].figures, "{scenario}");
    }
    let id = ScenarioId::SuspendDeepParallel;
    assert!(run(&text()).test(id, Method::Tftf).is_some());
}

#[test]
fn lines_do_not_move_a_cursor() {
    let log = text().replace("BL31: v2.12.1", "BL31: v2.\u{9b}2J\u{1}12.1");
    let run = run(&log);
    let version = run.firmware_version().unwrap_or_default();
    assert!(version.starts_with("v2..2J.12.1"), "{version:?}");
}

#[test]
fn a_tftf_log_that_is_cut() {
    let log = "NOTICE:  Booting trusted firmware test framework\n\
        > Executing 'CPU suspend on all cores in sequence'\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t0\t106120\t17100\t5260/>\n\
        <RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t1\t106880\t17060\t5280/>\n";
    let cut = run(log);
    assert!(!cut.is_complete());
    assert!(
        cut.end_lacks().contains("Exiting tests."),
        "{}",
        cut.end_lacks()
    );
    assert_eq!((cut.cpus.len(), cut.threads()), (2, 1));
    assert!(
        cut.doubts()[0].contains("1 RT_INSTR line says again"),
        "{:?}",
        cut.doubts()
    );
}
