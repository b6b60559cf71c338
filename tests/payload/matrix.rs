//! The payload on CPU counts and firmware variants that the overlay
//! platform has: each run ends with PASS. GICs and levels are in `micro` and `timer`.

use std::time::Duration;

use psci_bench::measure::Metric;
use psci_bench::model::Verdict;
use psci_bench::plan::ScenarioId;
use psci_bench::spec::psci::StateFormat;
use xtask::board::Gic;
use xtask::qemu::run_spec::RunSpec;

use crate::common;

/// Few samples: only their presence is tested.
fn spec(args: &str) -> RunSpec {
    RunSpec {
        args: Some(args.into()),
        timeout: Duration::from_secs(180),
        ..RunSpec::default()
    }
}

/// The number of rows in a log.
fn count_rows(log: &common::Log) -> usize {
    log.run.scenarios.iter().map(|it| it.rows.len()).sum()
}

const FEW: &str = "iterations=4 warmup=1";

/// A lone CPU has no others to turn off, but its own row.
#[test]
fn any_number_of_cpus() {
    for smp in [1, 5, 16] {
        let log = common::pass(&RunSpec {
            smp: Some(smp),
            ..spec(FEW)
        });
        assert_eq!(log.clusters().len(), smp as usize);
        assert_eq!(count_rows(&log), 6 * smp as usize);
    }
}

#[test]
fn every_variant_of_the_overlay() {
    let (new, old) = (
        "vendor-specific EL3 call 0xc7000020",
        "Arm SiP call 0xc2000010",
    );
    let all = "coherency=sw,gic-reset=1,pmf=sip,state-id=extended";
    for (variant, gic, pmf, format) in [
        ("coherency=sw", Gic::V2, new, StateFormat::Original),
        ("gic-reset=1", Gic::V2, new, StateFormat::Original),
        (all, Gic::V3, old, StateFormat::Extended),
    ] {
        let spec = RunSpec {
            variant: variant.parse().expect("a variant"),
            gic: Some(gic),
            ..spec(FEW)
        };
        let log = common::ends(&spec, Verdict::Pass).says(&[pmf]).log();
        assert_eq!(log.facts().state_format, format, "{variant}");
    }
}

/// Without PMF the caller's side is measured on each CPU, and PMF's part is skipped with
/// the reason.
#[test]
fn without_pmf() {
    let spec = RunSpec {
        variant: "pmf=off".parse().expect("a variant"),
        ..spec(FEW)
    };
    let words = ["Skipped: no PMF timestamps", "!<RT_INSTR:"];
    let log = common::ends(&spec, Verdict::Pass).says(&words).log();
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
        let args = format!("{FEW} {words}");
        let log = common::pass(&spec(&args));
        assert_eq!(count_rows(&log), methods * 48, "{args}");
    }
}

#[test]
fn every_cpu_model() {
    for model in ["cortex-a53", "cortex-a72", "max"] {
        common::pass(&RunSpec {
            cpu: Some(model.into()),
            ..spec(FEW)
        });
    }
}
