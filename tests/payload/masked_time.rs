//! How long calls hold back interrupts, under real firmware with the instruction clock.

use std::collections::BTreeMap;

use hardware::board::Mpidr;
use runner::build::firmware_kind::FirmwareKind;
use runner::qemu::Level;
use runner::qemu::run_spec::RunSpec;
use suite::measure::Metric;
use suite::plan::{ScenarioId, Variant};

use crate::common::{self, Log, spec};

/// The longest time that each call holds back an interrupt on each CPU, in ticks.
type Figures = BTreeMap<(Variant, Mpidr), u64>;

/// Returns the medians for a metric. All samples of a cell are equal, and each cell has samples.
fn figures(log: &Log, metric: Metric) -> Figures {
    let mut figures = BTreeMap::new();
    for (mpidr, of_cell) in log.of_metric(ScenarioId::named("masked_time"), metric) {
        let summary = &of_cell.series.summary;
        assert!(
            summary.n > 0 && summary.min == summary.max,
            "{mpidr} {of_cell:?}"
        );
        figures.insert((of_cell.cell.step.variant, mpidr), summary.median);
    }
    figures
}

/// Two runs whose seeded stalls differ by 100 us, or 6,250 ticks, differ in the figures for the
/// stalled function on the stalled CPU, and in nothing else.
#[test]
fn a_stall_is_found_in_its_function_and_on_its_cpu() {
    let seeded_log = |fault: &str| {
        let options = format!("--smp 6 --icount --fault {fault}");
        let args = "only=masked_time iterations=3";
        figures(&common::expect_pass(&spec(&options, args)), Metric::Masked)
    };
    for (function, variant) in [
        (0, Variant::new("psci_version")),
        (1, Variant::new("standby")),
        (4, Variant::new("affinity_info")),
    ] {
        let victim = Mpidr::new(5);
        let stall = |us| seeded_log(&format!("stall,function={function},cpu={victim},arg={us}"));
        let long = stall(200);
        let short = stall(100);
        assert!(long.keys().eq(short.keys()));
        for (key, ticks) in &long {
            let expected: u64 = if *key == (variant, victim) { 6_250 } else { 0 };
            let more = ticks - short[key];
            assert!(expected.abs_diff(more) <= 2, "{key:?}: {more}");
        }
        // Fault injection takes a few instructions on its own.
        let others = long[&(variant, Mpidr::new(4))];
        let more = long[&(variant, victim)] - others;
        assert!((12_500..12_600).contains(&more), "{variant:?}: {more}");
    }
}

/// TF-A runs with interrupts masked throughout, so a call holds back an interrupt for as long as it
/// lasts, except for the instructions outside the firmware.
#[test]
fn a_call_to_tf_a_masks_interrupts_throughout() {
    let args = "only=masked_time iterations=4 calls=0x84000001";
    for options in [
        "--smp 16 --gic 3 --variant coherency=sw",
        "--smp 8 --gic 2 --el 1",
    ] {
        let log = common::expect_pass(&spec(&format!("--icount {options}"), args));
        let cpus = log.clusters().len();
        let masked = figures(&log, Metric::Masked);
        let calls = figures(&log, Metric::Call);
        assert!(masked.keys().eq(calls.keys()));
        // Each of six functions on each CPU.
        assert_eq!(masked.len(), 6 * cpus, "{options}");
        for (key, ticks) in &masked {
            let outside = calls[key] - ticks;
            let (variant, _) = key;
            // The CPU that is turned on runs during the call.
            let is_alone = *variant != Variant::new("cpu_on");
            assert!(
                !is_alone || outside <= 4,
                "{options}: {key:?} {ticks} {outside}"
            );
        }
        let baseline = figures(&log, Metric::Entry);
        assert!(baseline.values().all(|ticks| *ticks <= 4), "{baseline:?}");
        // The other CPUs are off or asleep while one is measured.
        for ((variant, cpu), ticks) in &masked {
            let lead = masked[&(*variant, Mpidr::new(0))];
            let differs = ticks.abs_diff(lead) > 4;
            assert!(
                !differs || *variant == Variant::new("cpu_on"),
                "{variant:?} {cpu}"
            );
        }
    }
}

#[test]
fn every_machine_takes_the_interrupts() {
    for (firmware, gic, level) in common::machines() {
        let log = common::expect_pass(&RunSpec {
            gic: Some(gic),
            level,
            firmware,
            ..spec("--smp 3 --icount", "only=masked_time iterations=3")
        });
        let masked = figures(&log, Metric::Masked);
        let version = |cpu| masked[&(Variant::new("psci_version"), Mpidr::new(cpu))];
        // The emulator's own PSCI takes no time.
        let least = match (firmware, level) {
            (FirmwareKind::TfA, Level::El1 | Level::El2) => 100,
            _ => 0,
        };
        let found = [0, 1, 2].map(version);
        assert!(found.iter().all(|ticks| *ticks >= least), "{found:?}");
    }
}
