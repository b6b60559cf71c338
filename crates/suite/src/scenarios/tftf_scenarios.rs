//! The six scenarios in TFTF's suite.

use crate::bench::tftf_suite;
use crate::bench::wake_sources::PLACEMENTS;
use crate::measure::Metric;
use crate::plan::{ActiveCpus, StateChoice, UsedStates};

use super::descriptor::Descriptor;

pub(super) const SUSPEND_DEEP_PARALLEL: Descriptor = Descriptor {
    tag: "test_rt_instr_susp_deep_parallel",
    name: "Suspend to deepest power level on all cores in parallel",
    cpus: ActiveCpus::All,
    states: UsedStates::One(StateChoice::Deepest),
    heap: |size, _| tftf_suite::heap(size, PLACEMENTS),
    ..Descriptor::SUITE
};

pub(super) const SUSPEND_DEEP_SERIAL: Descriptor = Descriptor {
    tag: "test_rt_instr_susp_deep_serial",
    name: "Suspend to deepest power level on all cores in sequence",
    first_step: Some("turn it on, and suspend it to the deepest state"),
    states: UsedStates::One(StateChoice::Deepest),
    ..Descriptor::SUITE
};

pub(super) const CPU_SUSPEND_PARALLEL: Descriptor = Descriptor {
    tag: "test_rt_instr_cpu_susp_parallel",
    name: "CPU suspend on all cores in parallel",
    cpus: ActiveCpus::All,
    states: UsedStates::One(StateChoice::Core),
    heap: |size, _| tftf_suite::heap(size, PLACEMENTS),
    ..Descriptor::SUITE
};

pub(super) const CPU_SUSPEND_SERIAL: Descriptor = Descriptor {
    tag: "test_rt_instr_cpu_susp_serial",
    name: "CPU suspend on all cores in sequence",
    first_step: Some("turn it on, and suspend it to the state at level 0"),
    states: UsedStates::One(StateChoice::Core),
    ..Descriptor::SUITE
};

pub(super) const CPU_OFF_SERIAL: Descriptor = Descriptor {
    tag: "test_rt_instr_cpu_off_serial",
    name: "CPU off on all non-lead cores in sequence and suspend lead to deepest power level",
    first_step: Some("turn it on, off and on again"),
    needs_cpu_off: true,
    states: UsedStates::One(StateChoice::Deepest),
    ..Descriptor::SUITE
};

pub(super) const PSCI_VERSION_PARALLEL: Descriptor = Descriptor {
    tag: "test_rt_instr_psci_version_parallel",
    name: "PSCI version call on all cores in parallel",
    first_step: Some("turn it on, and call PSCI_VERSION on it and on the lead"),
    cpus: ActiveCpus::All,
    columns: &[Metric::Latency],
    ..Descriptor::SUITE
};
