//! `masked_time` on the fake machine, whose calls hold back interrupts from 3 ticks after they
//! begin until they return.

use crate::testing::fake::FAKE_VECTOR;
use hardware::spec::counter_value::ticks_between;
use smccc::psci::{PSCI_CPU_ON_64, PSCI_STAT_COUNT_64, PSCI_VERSION};

use super::*;

#[test]
fn longest_masked_time_begins_when_the_call_masks_interrupts() {
    let standby = state("standby", 1, 0);
    let states = [standby, STATES[0], STATES[1]];
    let args = "only=masked_time iterations=3 offsets=5 calls=0x82000042-0x82000043";
    let ran = run_with(Fake::new(3).with_statistics(), args, &states);
    assert_eq!(ran.counts(), [1, 0, 0]);
    // The fake calls last 100 ticks and the function number, and CPU_ON lasts 400.
    for (variant, function, length) in [
        (Variant::new("psci_version"), PSCI_VERSION, 100),
        (Variant::new("stat_count"), PSCI_STAT_COUNT_64, 117),
        (Variant::new("standby"), PSCI_CPU_SUSPEND_64, 101),
        (Variant::new("cpu_on"), PSCI_CPU_ON_64, 400),
        (Variant::new("call"), 0x8200_0042, 166),
        (Variant::new("call"), 0x8200_0043, 167),
    ] {
        for cpu in 0..3 {
            let figure = |metric| ran.median(cpu, variant, function.into(), metric);
            assert_eq!(figure(Metric::Call), length, "{variant:?}");
            assert_eq!(figure(Metric::Masked), length - 3, "{variant:?}");
        }
    }
    let is_baseline = |cell: &&Cell| cell.step.variant == Variant::BASELINE;
    let baselines = ran.cells().filter(is_baseline);
    let figures = baselines.map(|cell| cell.figure(Metric::Entry));
    assert!(figures.eq([Some(FAKE_VECTOR); 3]));
}

#[test]
fn call_that_a_cpu_cannot_make_has_no_cell() {
    // The lead stays on, so the only other CPU has no CPU to turn on.
    let ran = run(Fake::new(2), "only=masked_time iterations=1");
    let is_cpu_on = |cell: &&Cell| cell.step.variant == Variant::new("cpu_on");
    let cpus = ran.cells().filter(is_cpu_on).map(|cell| cell.cpu.index());
    assert!(cpus.eq([0]));
    // There is no standby state.
    let is_standby = |cell: &Cell| cell.step.variant == Variant::new("standby");
    assert!(!ran.cells().any(is_standby));
    let without_gic = run(Fake::new(2).without_gic(), "only=masked_time");
    assert_eq!(without_gic.skipped(Skip::NoInterrupts), 1);
}

/// Returns the failure if CPU 1 has none of its two samples.
fn no_samples_on_cpu_1() -> Failure {
    Failure::TooFewSamples {
        cpu: 1.into(),
        valid: 0,
        requested: 2,
    }
}

/// An interrupt that is never taken is not a sample.
#[test]
fn cpu_that_takes_no_interrupt_fails() {
    let fake = Fake::new(2).with(|_, cpu, outcome| {
        if cpu.index() == 1 {
            outcome.end = ActionEnd::WokenByFallback;
            if let ActionDetails::Interrupt(interrupt) = &mut outcome.details {
                interrupt.entered = None;
            }
        }
    });
    let ran = run(fake, "only=masked_time iterations=2 warmup=0");
    assert_eq!(ran.failure(), Some(no_samples_on_cpu_1()));
    assert!(ran.rejected(Reason::WokenByFallback) > 0);
}

/// The trials of a call may fail although the baseline has its samples.
#[test]
fn rejected_trial_is_counted_by_reason() {
    let fake = Fake::new(3).with(|_, cpu, outcome| {
        // Only CPU_ON takes this long.
        if cpu.index() == 1 && ticks_between(outcome.before, outcome.returned_at) >= 400 {
            outcome.end = ActionEnd::GaveUp;
        }
    });
    let ran = run(fake, "only=masked_time iterations=2");
    assert_eq!(ran.failure(), Some(no_samples_on_cpu_1()));
    assert_eq!(ran.rejected(Reason::WrongAnswer), 1);
}
