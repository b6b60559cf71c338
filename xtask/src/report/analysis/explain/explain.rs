//! What figures show, in findings: data first, a sentence of it second.
//!
//! ```text
//! finding ── the data
//! last_man ─ who was last down in each cluster, and what his flush cost
//! queue ──── the lock queue's step, and how well a straight line fits
//! wakeups ── which wake-ups waited for others
//! counts ─── what was left out, and which CPUs were lost
//! figures ── the tick against the figure; outliers
//! points ─── net of the loop; contention and dirty lines as straight lines
//! ```
//!
//! The words are those of the payload's own findings (`src/output/findings`).
//! What needs instants is never guessed from the size of a figure: a table of
//! figures alone has a finding that says what can not be told of it.

use super::finding::Finding;
use crate::report::model::{Run, Test};

/// What `test` of `run` shows by itself.
#[must_use]
pub fn explain(run: &Run, test: &Test) -> Vec<Finding> {
    let each = [
        super::last_man::last_man,
        super::queue::queue,
        super::wakeups::waited,
        super::figures::resolution,
        super::figures::outliers,
        super::counts::not_counted,
        super::counts::lost,
        super::points::net,
        super::points::contention,
        super::points::dirty,
    ];
    let has_records = run.integrity.records.is_some();
    let all = each.iter().flat_map(|find| find(run, test));
    all.map(|it| it.with_doubts(|_| has_records)).collect()
}

#[cfg(test)]
mod tests {
    use psci_bench::measure::Metric;

    use super::*;
    use crate::report::analysis::explain::finding::{Confidence, Kind};
    use crate::report::log::read_bytes;

    const QEMU: &[u8] = include_bytes!("../../../../tests/data/report/qemu-4cpu.log");

    const FACTS: &[u8] = include_bytes!("../../../../tests/data/report/qemu-facts.log");

    fn run() -> Run {
        read_bytes("a.log", QEMU).expect("a run").remove(0)
    }

    fn facts() -> Run {
        read_bytes("a.log", FACTS).expect("a run").remove(0)
    }

    #[test]
    fn what_the_payload_says_is_said_in_its_words() {
        let mut told = 0;
        // The first log is of a payload that counted a last man's flush as a step.
        let mut lasts = [("49.14", "0.0", "0.1, 0.2, 0.3, 0.0")].into_iter();
        for (run, test) in [&run(), &facts()]
            .iter()
            .flat_map(|it| it.tests.iter().map(move |test| (it, test)))
        {
            let ours = explain(run, test);
            for own in &test.findings {
                // What is added comes behind the payload's sentence.
                let same = |it: &&Finding| it.sentence.starts_with(own.as_str());
                if ours.iter().any(|it| same(&it)) {
                    told += 1;
                } else if own.starts_with("Lock queue") {
                    let ours = ours.iter().find(|it| it.kind == Kind::LockQueue);
                    let ours = ours.map(|it| it.sentence.as_str()).unwrap_or_default();
                    let (step, last, order) = lasts.next().expect("a log for each");
                    assert_eq!(
                        ours,
                        format!(
                            "Lock queue: powerdown grows by {step} us with each place in the \
                             order of ENTER_HW_LOW_PWR (4 CPUs, R2 99 %), without the longer \
                             cache flush of CPU {last}, which those behind wait for. They go \
                             down one after another; no figure is farther from the line than \
                             1.74 us. In this order: CPU {order}."
                        )
                    );
                } else {
                    assert!(
                        own.starts_with("Reached, by PSCI_STAT_COUNT: "),
                        "{own}\n{ours:#?}"
                    );
                }
            }
        }
        assert_eq!(told, 1 + 3);
    }

    #[test]
    fn the_tick_is_told_in_its_words() {
        let payload =
            include_str!("../../../../../src/output/tests/expected/psci_version_parallel.txt");
        let own = payload
            .lines()
            .find_map(|line| line.strip_prefix("* Resolution: "));
        let mut run = run();
        let test = run.tests.last_mut().expect("PSCI_VERSION");
        for (place, row) in test.rows.iter_mut().enumerate() {
            row.figures[0].1 = 3 + place as u64 % 3;
        }
        let test = run.tests.last().expect("PSCI_VERSION");
        let ours = explain(&run, test)
            .into_iter()
            .find(|it| it.kind == Kind::Resolution);
        let ours = ours.expect("few ticks").sentence;
        assert!(
            ours.starts_with(&format!("Resolution: {}", own.expect("it has one"))),
            "{ours}"
        );
        assert!(
            ours.ends_with("only many in a row tell what one costs."),
            "{ours}"
        );
    }

    #[test]
    fn who_was_last_and_what_it_cost() {
        let run = run();
        let deep = run.tests.first().expect("it is there");
        let last = explain(&run, deep)
            .into_iter()
            .find(|it| it.kind == Kind::LastMan);
        let last = last.expect("there are timestamps");
        assert_eq!(last.confidence, Confidence::Stamps);
        assert_eq!(
            last.sentence,
            "Last man down in cluster 0, by ENTER_HW_LOW_PWR: CPU 0.0, cache flush 2133.81 us; \
             the others' 35.18 us. It cost him 2098.62 us more than their median. Of 2 rounds: \
             CPU 0.0 in 2."
        );
        assert_eq!(
            last.rows(),
            "Cache Flush in test_rt_instr_susp_deep_parallel: CPU 0.0, 0.1, 0.2, 0.3"
        );

        // Without one CPU's instants it may be that one.
        let mut lossy = run.clone();
        lossy.tests[0].rows[2].event = None;
        let told = explain(&lossy, &lossy.tests[0]);
        assert!(told.iter().all(|it| it.kind != Kind::LastMan), "{told:#?}");
        assert!(told.iter().any(|it| {
            it.sentence
                .contains("CPU 0.2 in cluster 0 has no timestamps")
        }));

        let serial = explain(&run, &run.tests[1]);
        let reached = serial
            .iter()
            .find(|it| it.kind == Kind::LastMan)
            .expect("PSCI_STAT");
        assert_eq!(reached.confidence, Confidence::Counts);
        assert!(
            reached
                .sentence
                .contains("CPU 0.0 reached 0x02010222, cache flush 2133.81 us")
        );
    }

    #[test]
    fn outliers_are_far_and_counted() {
        let mut run = run();
        let test = &mut run.tests[3];
        assert!(!test.is_parallel());
        let row = &mut test.rows[1];
        let mut values: Vec<u64> = (0..20).map(|k| 1000 + k % 3).chain([9000]).collect();
        let summary = psci_bench::measure::Summary::of(&mut values);
        for it in row
            .summaries
            .iter_mut()
            .filter(|it| it.0.is(Metric::Powerdown))
        {
            it.1 = summary;
        }
        let (cpu, test) = (row.cpu, &run.tests[3]);
        let far: Vec<Finding> = explain(&run, test)
            .into_iter()
            .filter(|it| it.kind == Kind::Outlier)
            .collect();
        assert_eq!(far.len(), 1, "{far:#?}");
        assert!(
            far[0]
                .sentence
                .starts_with("Outliers: of 21 samples at least one of Powerdown on CPU 0.1"),
            "{}",
            far[0]
        );
        assert_eq!(far[0].basis[0].cpu, cpu);
    }
}
