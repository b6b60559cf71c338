//! The size of a default log from a loaded host, where every number has many digits.

use std::vec;

use crate::measure::{Instant, Reason, Rejection};
use crate::model::{Cell, Counts};
use crate::plan::Records;
use crate::testing::synthetic;
use hardware::spec::stat::Reached;

use super::whole::printed_again;

/// The maximum size in bytes of a log for eight CPUs with the default plan.
const SIZE_MAX: usize = 40 << 10;

/// The size in bytes of the lines that TF-A prints before the payload's.
const FIRMWARE: usize = 700;

/// Gives a cell as many digits and rejections as it would have under QEMU without `--icount` on a
/// loaded host.
fn spoil(cell: &mut Cell, is_parallel: bool) {
    cell.counts = Some(Counts {
        valid: 20,
        rejected: vec![(Reason::Companion, 2)],
        first: Some(Rejection::plain(Reason::Companion)),
    });
    cell.reached = Some(Reached {
        state: Some(0x0201_0222),
        due: 0x0201_0222,
        times: 1,
        residency_us: 10_563,
        most_us: Some(11_298),
    });
    for (nth, series) in (1..).zip(&mut cell.series) {
        let summary = &mut series.summary;
        summary.median += 1_234 * nth;
        summary.min = summary.median / 3;
        summary.max = summary.median + 123_456 * nth;
        summary.mad = summary.median / 7;
        series.cold = Some(summary.median + 45_678);
    }
    if let Some(shown) = &mut cell.shown {
        for (nth, instant) in (1..).zip(Instant::ALL) {
            if let Some(ticks) = shown.at(instant) {
                shown.set(instant, ticks + 4_321 * nth);
            }
        }
    }
    cell.choose_figures(is_parallel);
}

#[test]
fn default_log_of_eight_cpus_on_a_loaded_host_has_at_most_40_kb() {
    let mut run = synthetic::run_with(8, |facts| facts.stat = true);
    let identities = run.cpus.iter_mut().filter_map(|cpu| cpu.identity.as_mut());
    for (mhz, identity) in (980..).zip(identities) {
        identity.clock_mhz = Some(mhz);
    }
    for mut scenario in synthetic::all(&run) {
        let is_parallel = scenario.id.is_parallel();
        let cells = scenario.cells.iter_mut();
        cells.for_each(|cell| spoil(cell, is_parallel));
        run.scenarios.push(scenario);
    }
    let (log, _) = printed_again(&run, Records::Once);
    let size = log.len() + log.lines().count() + FIRMWARE;
    assert!(size <= SIZE_MAX, "{size}\n{log}");
}
