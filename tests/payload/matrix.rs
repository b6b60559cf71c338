//! Runs the payload with various CPU counts, with each variant of the overlay platform, and with
//! each combination of firmware, GIC and exception level. Every run must end with PASS.

use hardware::board::{GicVersion, Mpidr};
use hardware::image::Conduit;
use hardware::spec::psci::StateFormat;
use runner::build::firmware_kind::FirmwareKind;
use runner::qemu::Level;
use runner::qemu::run_spec::RunSpec;
use suite::measure::{Counter, Metric};
use suite::model::Verdict;
use suite::plan::{ActiveCpus, ScenarioId, Variant};

use crate::common::{self, Log, spec};
use crate::timer;

/// Returns the number of rows in a log.
fn count_rows(log: &common::Log) -> usize {
    log.run
        .scenarios
        .iter()
        .map(|scenario| scenario.suite_cells().len())
        .sum()
}

/// Boot arguments that request only a few samples, because tests only check that samples are
/// present.
const FEW: &str = "iterations=4 warmup=1";

/// A machine with one CPU has no other CPUs to turn off, but its CPU still has a row.
#[test]
fn cpu_counts_cpu_models_and_every_variant_of_the_overlay() {
    let new = "vendor-specific EL3 call 0xc7000020";
    let old = "Arm SiP call 0xc2000010";
    let all = "--variant coherency=sw,gic-reset=1,pmf=sip,state-id=extended --gic 3 --cpu max";
    for (smp, options, pmf, format) in [
        (
            1,
            "--variant coherency=sw --gic 2 --cpu cortex-a53",
            new,
            StateFormat::Original,
        ),
        (
            5,
            "--variant gic-reset=1 --gic 2 --cpu cortex-a72",
            new,
            StateFormat::Original,
        ),
        (16, all, old, StateFormat::Extended),
    ] {
        let spec = spec(&format!("--smp {smp} --icount {options}"), FEW);
        let log = common::expect_verdict(&spec, Verdict::Pass)
            .says(&[pmf])
            .log();
        assert_eq!(log.facts().state_format, format, "{options}");
        assert_eq!((log.clusters().len(), count_rows(&log)), (smp, 6 * smp));
    }
}

#[test]
fn every_wake_pattern_and_both_methods() {
    for (words, methods) in [
        ("wake=together method=warm", 1),
        ("wake=staggered", 1),
        ("wake=chain method=tftf,warm", 2),
    ] {
        let log = common::expect_pass(&spec("", &format!("{FEW} {words}")));
        assert_eq!(count_rows(&log), methods * 48, "{words}");
    }
}

/// Runs only a few batches, because only the presence and magnitude of figures are tested. A suite
/// scenario and CPU_ON show that the CPUs are still in the expected state.
#[test]
fn loops_and_timers_on_every_machine() {
    let args = "only=micro,timer_latency,susp_deep_serial,dirty_sweep dirty=0 loops=6400 batch=64 \
                iterations=4 stress=idle,mixed period=10000";
    for (firmware, gic, level) in common::machines() {
        let log = common::expect_pass(&RunSpec {
            gic: Some(gic),
            level,
            firmware,
            ..spec("--smp 2 --icount", args)
        });
        let machine = format!("{firmware:?} {level:?} {gic:?}\n{}", log.text);
        let is_guest = firmware == FirmwareKind::Builtin && level == Level::El1;
        let (conduit, counter) = if is_guest {
            (Conduit::Hvc, Counter::Virtual)
        } else {
            (Conduit::Smc, Counter::Physical)
        };
        let facts = log.facts();
        let found = (facts.conduit, facts.counter, facts.exception_level);
        let el = if level == Level::El1 { 1 } else { 2 };
        assert_eq!(found, (conduit, counter, el), "{machine}");
        check_loops(&log, gic, &machine);
        let has_pmf = firmware == FirmwareKind::TfA;
        let lacks = "Skipped: PMF's timestamps cannot be read";
        for said in ["SMCCC_VERSION.", lacks] {
            assert_eq!(log.text.contains(said), !has_pmf, "{machine}");
        }
        let turn_on = log.of_metric(ScenarioId::named("cpu_on"), Metric::TurnOn);
        assert_eq!(turn_on.count(), 2, "{machine}");
        let hows = [ActiveCpus::Alone, ActiveCpus::All];
        let loads = [Variant::new("idle"), Variant::new("mixed")];
        assert_eq!(
            timer::check_expiries(&log, 2, &hows, &loads, 100),
            0,
            "{machine}"
        );
        // This interval consists of the branch and the counter read. Instructions executed by idle
        // CPUs are also counted.
        let lead = Mpidr::new(0);
        let entry = log
            .alone(
                ScenarioId::named("timer_latency"),
                Variant::new("idle"),
                Metric::Entry,
                lead,
            )
            .expect("samples");
        assert!(entry.min <= 2 && entry.median <= 2, "{entry:?} {machine}");
    }
}

/// Checks the figures of the loops, in instructions.
fn check_loops(log: &Log, gic: GicVersion, machine: &str) {
    let least_time = |scenario, variant| {
        let summary = log
            .alone(scenario, variant, Metric::Time, Mpidr::new(0))
            .expect("samples");
        let p99 = summary.p99.expect("enough samples");
        let figures = [summary.min, summary.median, p99, summary.max];
        assert!(figures.is_sorted(), "{figures:?} {machine}");
        summary.min
    };
    for variant in [Variant::new("psci_version"), Variant::new("unknown")] {
        assert!(least_time(ScenarioId::named("null_call"), variant) > 3 * 64);
    }
    // One tick is one instruction. Each iteration consists of the operation and two loop
    // instructions, and a few more instructions surround the 64 iterations.
    let an_sgi = if gic == GicVersion::V2 { 7 } else { 9 };
    for (scenario, variant, instructions) in [
        (ScenarioId::named("sysreg_trap"), Variant::new("pmselr"), 3),
        (ScenarioId::named("eoi"), Variant::new("eoi"), 3),
        (
            ScenarioId::named("mmio_read"),
            Variant::new("distributor"),
            3,
        ),
        (ScenarioId::named("mmio_read"), Variant::new("uart"), 3),
        (ScenarioId::named("self_sgi"), Variant::new("sgi"), an_sgi),
    ] {
        let own = instructions * 64;
        let found = least_time(scenario, variant);
        assert!(
            (own..own + 16).contains(&found),
            "{variant:?}: {found} {machine}"
        );
    }
    let has_its = gic == GicVersion::V3;
    assert_eq!(
        log.text
            .contains("Skipped: the device tree has no usable ITS"),
        !has_its
    );
    if has_its {
        let found = least_time(ScenarioId::named("lpi"), Variant::new("lpi"));
        assert!(
            (10 * 64..10 * 64 + 16).contains(&found),
            "LPI: {found} {machine}"
        );
    }
    // Each CPU sends and receives an SGI, and polls while the other one does.
    let mut round_trips = Vec::new();
    for (_, of_cell) in log.of_metric(ScenarioId::named("ipi"), Metric::Time) {
        if of_cell.cell.step.cpus == ActiveCpus::Near {
            round_trips.push(of_cell.series.summary.min);
        }
    }
    assert_eq!(round_trips.len(), 2, "{machine}");
    let two_sgis = 2 * an_sgi * 64;
    assert!(
        round_trips.iter().all(|ticks| *ticks > two_sgis),
        "{round_trips:?} {machine}"
    );
}

/// The time from CPU_OFF to OFF as measured by the lead matches the time reported by the firmware.
/// The lead's measurement does not include the remainder of its nap (50 us, or 3125 instructions).
/// The difference is due to the call that detected OFF and to the caller's own instructions.
#[test]
fn off_is_seen_when_it_is() {
    let args = "only=cpu_off_serial,cpu_on,cpu_on_flood iterations=2 warmup=1";
    let log = common::expect_pass(&common::spec("--smp 4 --icount", args));
    let by_firmware = log.metric(ScenarioId::CPU_OFF_SERIAL, Metric::Powerdown);
    for cpu in (1..4).map(Mpidr::new) {
        let told = by_firmware[&cpu].median;
        for scenario in [
            ScenarioId::named("cpu_on"),
            ScenarioId::named("cpu_on_flood"),
        ] {
            let by_lead = log.alone(scenario, Variant::new("joins"), Metric::TurnOff, cpu);
            let seen = by_lead.expect("samples").median;
            // With this clock, the lead polls without pausing and takes every other turn. During
            // the firmware's measurement, the lead sleeps.
            let is_soon = seen < 2 * told + 1_000 && seen > told;
            assert!(is_soon, "{scenario} {cpu}: {seen}, {told:?}");
        }
    }
}
