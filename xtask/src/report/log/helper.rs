//! What lines without a checksum tell of a scenario that was measured once for
//! each of two helpers.

use psci_bench::plan::ScenarioId;

use super::reader::read_bytes;
use crate::report::model::{Run, Test};

/// A run of two CPUs on QEMU whose timers stop.
const HELPER: &str = include_str!("../../../tests/data/report/qemu-helper.log");

fn run(log: &str) -> Run {
    let mut runs = read_bytes("a.log", log.as_bytes()).expect("a run");
    runs.remove(0)
}

/// The parallel test of the deepest state whose helper is `cpu`.
fn by(run: &Run, cpu: usize) -> &Test {
    let own =
        |it: &&Test| it.scenario.is(ScenarioId::SuspendDeepParallel) && it.helper == Some(cpu);
    run.tests.iter().find(own).expect("it was measured")
}

#[test]
fn findings_are_of_the_placement_that_they_follow() {
    let run = run(HELPER);
    for (cpu, other) in [(0, 1), (1, 0)] {
        let findings = &by(&run, cpu).findings;
        let has = |cpu: usize| {
            let text = format!("CPU 0.{cpu} stays awake");
            findings.iter().any(|finding| finding.contains(&text))
        };
        assert!(has(cpu) && !has(other), "{findings:?}");
    }
}

#[test]
fn the_helper_has_no_row_in_a_damaged_log() {
    for helper in [0, 1] {
        // Without the records of the other placement, and one more.
        let lost = format!("t=1 by=tftf helper={} ", 1 - helper);
        let kept = |line: &&str| !line.contains(&lost) && !line.contains(" cpu n=");
        let log: Vec<&str> = HELPER.lines().filter(kept).collect();
        let run = run(&log.join("\n"));
        assert!(!run.integrity.is_whole());
        let rows = &by(&run, helper).rows;
        assert!(rows.iter().all(|row| row.cpu != helper), "{rows:?}");
        assert_eq!(run.integrity.rt_instr_wrong, 0);
    }
}

#[test]
fn a_lost_row_goes_to_the_placement_that_its_line_is_of() {
    let lost = "row t=1 by=tftf helper=0 mpidr=0x1 ";
    let kept = |line: &&str| !line.contains(lost) && !line.contains(" helper=0 mpidr=0x1 ");
    let log: Vec<&str> = HELPER.lines().filter(kept).collect();
    let run = run(&log.join("\n"));
    let row = by(&run, 0).row(1).expect("its line came through");
    assert!(!row.verified && !row.figures.is_empty());
    assert_eq!(row.helper, Some(0));
    assert!(by(&run, 1).row(1).is_none());
}
