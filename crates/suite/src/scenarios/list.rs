//! The list of scenarios.

use super::descriptor::Descriptor;
use super::{
    cold_call, contend_sweep, cpu_on, dirty_sweep, fitness, gaps, idle_states, ipi_wake, loops,
    masked_time, stress, system_suspend, tftf_scenarios, timer_latency, wake_race,
};

/// All scenarios, in the order in which they run. The first six are those in TF-A Tests' "Runtime
/// Instrumentation Validation" suite, with the same names, tags and order: CI systems look for the
/// names, and published tables are keyed by the tags.
pub const SCENARIOS: &[&Descriptor] = &[
    &tftf_scenarios::SUSPEND_DEEP_PARALLEL,
    &tftf_scenarios::SUSPEND_DEEP_SERIAL,
    &tftf_scenarios::CPU_SUSPEND_PARALLEL,
    &tftf_scenarios::CPU_SUSPEND_SERIAL,
    &tftf_scenarios::CPU_OFF_SERIAL,
    &tftf_scenarios::PSCI_VERSION_PARALLEL,
    &loops::NULL_CALL,
    &loops::SERVICE_CALL,
    &loops::SELF_SGI,
    &loops::IPI,
    &loops::EOI,
    &loops::LPI,
    &loops::MMIO_READ,
    &loops::SYSREG_TRAP,
    &loops::PMF_READ,
    &cpu_on::CPU_ON,
    &loops::EMPTY,
    &timer_latency::TIMER_LATENCY,
    &dirty_sweep::DIRTY_SWEEP,
    &contend_sweep::CONTEND_SWEEP,
    &idle_states::IDLE_STATES,
    &ipi_wake::IPI_WAKE,
    &cold_call::COLD_CALL,
    &system_suspend::SYSTEM_SUSPEND,
    &cpu_on::CPU_ON_FLOOD,
    &masked_time::MASKED_TIME,
    &gaps::GAPS,
    &wake_race::WAKE_RACE,
    &stress::STRESS,
    // Fitness is last because it may lose CPUs.
    &fitness::FITNESS,
];
