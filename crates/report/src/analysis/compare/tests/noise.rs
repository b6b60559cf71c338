//! Changes within noise.

use suite::measure::{Metric, Summary};
use suite::model::{Evidence, FindingKind};
use suite::plan::ScenarioId;

use super::support::{compared, found, try_compare};
use crate::analysis::compare::CHANGED;
use crate::analysis::compare::ChangeOutcome::Noise;
use crate::analysis::synthetic::{set_summary, suite};
use crate::log::LoggedRun;

fn shifted(by: i64, samples: &[u64]) -> Vec<u64> {
    samples
        .iter()
        .map(|sample| sample.saturating_add_signed(by))
        .collect()
}

/// Returns a run in which the displayed round has these PSCI_VERSION latencies and every CPU has
/// these samples.
fn with_one_round(shown: [u64; 4], samples: &[u64]) -> LoggedRun {
    let mut logged = suite();
    logged
        .run
        .scenarios
        .retain(|scenario| scenario.id == ScenarioId::PSCI_VERSION_PARALLEL);
    for (cell, shown) in logged.run.scenarios[0].cells.iter_mut().zip(shown) {
        set_summary(cell, Metric::Latency, shown, samples);
    }
    logged
}

#[test]
fn one_round_is_weighed_against_the_noise_of_its_cpus() {
    let samples: Vec<u64> = (0..20).map(|number| 300 + number * 20).collect();
    let old = with_one_round([500, 501, 502, 503], &samples);
    let unlucky = with_one_round([500, 501, 502, 1000], &samples);
    let slow = with_one_round([1000, 1001, 1002, 1003], &shifted(500, &samples));
    // The round is slower, but the samples are faster.
    let odd = with_one_round([1000, 1001, 1002, 1003], &shifted(-290, &samples));
    for (new, expected) in [(&unlucky, 0), (&slow, 4), (&odd, 0)] {
        let comparison = compared(new, &old);
        assert_eq!(comparison.regressions().count(), expected);
        let parts = ["only one round is compared on each side", "samples=all"];
        found(&comparison, FindingKind::NOT_TOLD, &parts);
    }
    let within_noise = compared(&unlucky, &old);
    let order = &within_noise.scenarios[0].by_order;
    let last = order.last().expect("four positions");
    assert_eq!((last.outcome, last.new.figure), (Noise, 16_000.0));
    assert!(
        last.new
            .interval
            .is_some_and(|(_, upper_bound)| upper_bound < 16_000.0)
    );
    let comparison = compared(&slow, &old);
    let changed = found(&comparison, CHANGED, &["takes longer in 4 of 4 rows"]);
    assert_eq!(changed.finding.evidence, Evidence::Intervals);

    let mut bare = old.clone();
    for cell in &mut bare.run.scenarios[0].cells {
        for series in &mut cell.series {
            series.summary = Summary::default();
        }
    }
    let part = "4 of 4 in test_rt_instr_psci_version_parallel";
    found(
        &compared(&slow, &bare),
        FindingKind::NOT_TOLD,
        &["not compared with the noise", part],
    );
}

/// Nothing distinguishes a change from the load of the host, so no change counts, and the report says
/// why. A clock that counts instructions has no noise.
#[test]
fn an_emulators_times_count_if_no_cpu_waits_for_the_host() {
    let with_host_cpus = |mut logged: LoggedRun, host_cpus| {
        logged.run.plan.as_mut().expect("a plan").host_cpus = host_cpus;
        logged
    };
    let samples: Vec<u64> = (0..20).map(|number| 300 + number * 20).collect();
    let old = || with_one_round([500, 501, 502, 503], &samples);
    let slow = || with_one_round([1000, 1001, 1002, 1003], &shifted(500, &samples));
    let cpus = old().run.cpus.len() as u32;
    for (host_cpus, is_judged) in [
        (None, true),
        (Some(0), true),
        (Some(cpus), true),
        (Some(cpus - 1), false),
    ] {
        let new = with_host_cpus(slow(), host_cpus);
        let old = with_host_cpus(old(), host_cpus);
        let comparison = compared(&new, &old);
        let has_regressions = comparison.regressions().count() > 0;
        assert_eq!(has_regressions, is_judged, "{host_cpus:?}");
        let why = comparison.why_not_judged(&new.run);
        assert_eq!(why.is_none(), is_judged, "{why:?}");
        assert!(is_judged || comparison.counts().noise > 0);
    }
    let [real, counting] = [Some(cpus), Some(0)].map(|count| with_host_cpus(suite(), count));
    let error = try_compare(&real, &counting, "").expect_err("other clocks");
    let error = error.to_string();
    assert!(error.contains("--across clocks compares"), "{error}");
    assert!(try_compare(&real, &counting, "clocks").is_ok());
    assert!(try_compare(&real, &suite(), "").is_ok());
}
