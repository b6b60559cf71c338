//! Changes within noise, and with cache flushes that moved.

use psci_bench::measure::Metric;
use psci_bench::model::{Confidence, Kind};
use psci_bench::plan::ScenarioId::{PsciVersionParallel, SuspendDeepParallel};

use super::support::with as compared_with;
use super::support::{compared, found, of_metric, outcomes, sentences};
use crate::report::analysis::compare::Comparison;
use crate::report::analysis::compare::Outcome::{Moved, Noise, Same, Worse};
use crate::report::analysis::made_up::{set_summary, suite, table};
use crate::report::log::LoggedRun;

fn shifted(by: i64, of: &[u64]) -> Vec<u64> {
    of.iter().map(|it| it.saturating_add_signed(by)).collect()
}

/// The latencies of PSCI_VERSION that one round shows, and the samples of each CPU.
fn of_one_round(shown: [u64; 4], samples: &[u64]) -> LoggedRun {
    let mut run = suite();
    run.run.scenarios.retain(|it| it.id == PsciVersionParallel);
    for (row, shown) in run.run.scenarios[0].rows.iter_mut().zip(shown) {
        set_summary(row, Metric::Latency, shown, samples);
    }
    run
}

#[test]
fn one_round_is_weighed_against_the_noise_of_its_cpus() {
    let samples: Vec<u64> = (0..20).map(|k| 300 + k * 20).collect();
    let old = of_one_round([500, 501, 502, 503], &samples);
    let unlucky = of_one_round([500, 501, 502, 1000], &samples);
    let slow = of_one_round([1000, 1001, 1002, 1003], &shifted(500, &samples));
    // The round is slower, and the samples are faster.
    let odd = of_one_round([1000, 1001, 1002, 1003], &shifted(-290, &samples));
    for (new, expected) in [(&unlucky, 0), (&slow, 4), (&odd, 0)] {
        let comparison = compared(new, &old);
        assert_eq!(comparison.regressions().count(), expected);
        let parts = ["one round of each side", "samples=all"];
        found(&comparison, Kind::NotTold, &parts);
    }
    let unlucky = compared(&unlucky, &old);
    let last = unlucky.scenarios[0].by_order.last().expect("four places");
    assert_eq!((last.outcome, last.new.figure), (Noise, 16_000.0));
    assert!(last.new.interval.is_some_and(|it| it.1 < 16_000.0));
    let comparison = compared(&slow, &old);
    let changed = found(&comparison, Kind::Changed, &["takes more in 4 of 4 rows"]);
    assert_eq!(changed.finding.confidence, Confidence::Intervals);

    let mut bare = old.clone();
    let rows = bare.run.scenarios[0].rows.iter_mut();
    rows.for_each(|row| row.statistics.clear());
    let part = "4 of 4 in test_rt_instr_psci_version_parallel";
    found(&compared(&slow, &bare), Kind::NotTold, &["no noise", part]);
}

/// Tables of Powerdown and Cache Flush, in us, of CPUs that suspend together.
fn queue(rows: &[(u64, u64)]) -> LoggedRun {
    let rows = (0u64..)
        .zip(rows)
        .map(|(core, (powerdown, flush))| vec![0, core, powerdown * 1000, 20_000, flush * 1000]);
    table(&[(SuspendDeepParallel, rows.collect())])
}

#[test]
fn change_that_a_moved_flush_does_not_explain_is_judged() {
    let old = queue(&[(100, 5), (240, 80), (455, 5), (600, 5)]);
    let with = |powerdown| queue(&[(100, 5), (240, 5), (powerdown, 80), (600, 5)]);
    let third = |it: &Comparison| {
        let all = of_metric(&it.scenarios[0].by_order, Metric::Powerdown);
        (all[2].outcome, all[2].by_flushes, all[2].delta())
    };
    // The flush makes -75 us of it, and 18 us are left: 4 %.
    let judged = compared(&with(398), &old);
    assert_eq!(third(&judged), (Worse, Some(-75_000.0), 18_000.0));
    assert_eq!(judged.regressions().count(), 1);
    let part = "takes more in 1 of 4 rows, by 18.00 us (+3.96 %): place 3.";
    found(&judged, Kind::Changed, &[part]);

    let moved = compared(&with(382), &old);
    assert_eq!(third(&moved).0, Moved);
    let part = "Powerdown differs (-16.04 %) as the cache flushes";
    found(&moved, Kind::Reordered, &[part]);
    let reordered = sentences(&moved, Kind::Reordered).concat();
    assert!(!reordered.contains("another order"));
    let strict = compared_with(&with(382), &old, |it| it.tolerance_ppm = 1000);
    assert_eq!(third(&strict.expect("comparable")).0, Worse);
    // With sound timestamps a last man's own flush is in its Powerdown.
    let old = queue(&[(50, 5), (2200, 2100), (2250, 5)]);
    let own = compared(&queue(&[(50, 5), (100, 5), (2250, 2100)]), &old);
    let order = outcomes(&own.scenarios[0].by_order, Metric::Powerdown);
    assert_eq!(order, [Same, Moved, Same]);
}
