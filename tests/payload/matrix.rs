//! The payload on CPU counts and firmware variants that the overlay
//! platform has: each run ends with PASS. GICs and levels are in `micro` and `timer`.

use psci_bench::measure::Metric;
use psci_bench::model::Verdict;
use psci_bench::plan::ScenarioId;
use psci_bench::spec::psci::StateFormat;

use crate::common::{self, spec};

/// Returns the number of rows in a log.
fn count_rows(log: &common::Log) -> usize {
    log.run.scenarios.iter().map(|it| it.rows.len()).sum()
}

/// Few samples: only their presence is tested.
const FEW: &str = "iterations=4 warmup=1";

/// A lone CPU has no others to turn off, but its own row.
#[test]
fn any_number_of_cpus() {
    for smp in [1, 5, 16] {
        let log = common::pass(&spec(&format!("--smp {smp}"), FEW));
        assert_eq!(log.clusters().len(), smp);
        assert_eq!(count_rows(&log), 6 * smp);
    }
}

#[test]
fn every_variant_of_the_overlay() {
    let new = "vendor-specific EL3 call 0xc7000020";
    let old = "Arm SiP call 0xc2000010";
    let all = "coherency=sw,gic-reset=1,pmf=sip,state-id=extended --gic 3";
    for (variant, pmf, format) in [
        ("coherency=sw --gic 2", new, StateFormat::Original),
        ("gic-reset=1 --gic 2", new, StateFormat::Original),
        (all, old, StateFormat::Extended),
    ] {
        let spec = spec(&format!("--variant {variant}"), FEW);
        let log = common::ends(&spec, Verdict::Pass).says(&[pmf]).log();
        assert_eq!(log.facts().state_format, format, "{variant}");
    }
}

/// Without PMF the caller's side is measured on each CPU, and PMF's part is skipped with
/// the reason.
#[test]
fn without_pmf() {
    let words = ["Skipped: no PMF timestamps", "!<RT_INSTR:"];
    let ran = common::ends(&spec("--variant pmf=off", FEW), Verdict::Pass);
    let log = ran.says(&words).log();
    for (t, metric, cpus) in [
        (ScenarioId::SuspendDeepParallel, Metric::Wake, 8),
        (ScenarioId::CpuSuspendSerial, Metric::Wake, 8),
        (ScenarioId::CpuOffSerial, Metric::TurnOn, 7),
        (ScenarioId::PsciVersionParallel, Metric::Call, 8),
    ] {
        assert_eq!(log.metric(t, metric).len(), cpus, "{t:?} {metric:?}");
    }
}

#[test]
fn every_wake_pattern_and_both_methods() {
    for (words, methods) in [
        ("wake=together method=warm", 1),
        ("wake=staggered", 1),
        ("wake=chain method=tftf,warm", 2),
    ] {
        let log = common::pass(&spec("", &format!("{FEW} {words}")));
        assert_eq!(count_rows(&log), methods * 48, "{words}");
    }
}

#[test]
fn every_cpu_model() {
    for model in ["cortex-a53", "cortex-a72", "max"] {
        common::pass(&spec(&format!("--cpu {model}"), FEW));
    }
}
