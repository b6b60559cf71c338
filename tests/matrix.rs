//! The payload on every machine, firmware and CPU count that the overlay
//! platform has: each must end with PASS.

mod common;

use std::time::Duration;

use psci_bench::model::Verdict;
use xtask::board::Gic;
use xtask::board::firmware_kind::Firmware;
use xtask::build::firmware::Variant;
use xtask::qemu::Level;
use xtask::qemu::run_spec::RunSpec;

/// Few samples: what is tested is that they are to be had.
fn spec() -> RunSpec {
    RunSpec {
        args: Some("iterations=4 warmup=1".into()),
        timeout: Duration::from_secs(180),
        ..RunSpec::default()
    }
}

fn pass(spec: &RunSpec) -> common::Log {
    common::pass(spec)
}

#[test]
fn any_number_of_cpus() {
    for smp in [1, 2, 5, 8, 16, 32] {
        let log = pass(&RunSpec {
            smp: Some(smp),
            ..spec()
        });
        assert_eq!(log.clusters().len(), smp as usize);
        // A row for each CPU and scenario; a lone CPU has no others to turn
        // off, but its own row.
        assert_eq!(log.all("row").len(), 6 * smp as usize);
    }
}

#[test]
fn both_gics_and_both_exception_levels() {
    for gic in [Gic::V2, Gic::V3] {
        for level in [Level::El1, Level::El2] {
            let log = pass(&RunSpec {
                gic: Some(gic),
                level,
                ..spec()
            });
            let expected = match level {
                Level::El1 => "Running at NS-EL1",
                Level::El2 => "Running at NS-EL2",
            };
            assert!(log.text.contains(expected), "{gic:?} {level:?}");
        }
    }
}

#[test]
fn every_cpu_model() {
    for model in ["cortex-a53", "cortex-a57", "cortex-a72", "max"] {
        pass(&RunSpec {
            cpu: Some(model.into()),
            ..spec()
        });
    }
}

#[test]
fn every_variant_of_the_overlay() {
    for (variant, gic) in [
        ("coherency=sw", Gic::V3),
        ("coherency=sw", Gic::V2),
        ("gic-reset=1", Gic::V3),
        ("gic-reset=1", Gic::V2),
        ("pmf=sip", Gic::V3),
        ("state-id=extended", Gic::V3),
        (
            "coherency=sw,gic-reset=1,pmf=sip,state-id=extended",
            Gic::V3,
        ),
    ] {
        let parsed: Variant = variant.parse().expect("a variant");
        let log = pass(&RunSpec {
            variant: parsed,
            gic: Some(gic),
            ..spec()
        });
        let pmf = if variant.contains("pmf=sip") {
            "Arm SiP call 0xc2000010"
        } else {
            "vendor-specific EL3 call 0xc7000020"
        };
        assert!(log.text.contains(pmf), "{variant}: {pmf}");
        let format = if variant.contains("extended") {
            "extended"
        } else {
            "original"
        };
        let facts = log.all("facts").iter();
        let said = facts.filter_map(|f| f.get("state_format")).next();
        assert_eq!(said.map(String::as_str), Some(format), "{variant}");
    }
}

/// Without PMF the caller's side is measured, and PMF's part is skipped with
/// the reason.
#[test]
fn without_pmf() {
    let log = pass(&RunSpec {
        variant: "pmf=off".parse().expect("a variant"),
        ..spec()
    });
    assert!(
        log.text.contains("Skipped: no PMF timestamps"),
        "{}",
        log.text
    );
    assert!(!log.text.contains("<RT_INSTR:"));
    // All six have samples of the caller's side on each CPU.
    for (t, metric) in [
        (1, "wake"),
        (2, "wake"),
        (3, "wake"),
        (4, "wake"),
        (5, "turnon"),
        (6, "call"),
    ] {
        let lead_has_none = usize::from(metric == "turnon");
        assert_eq!(
            log.metric(t, metric, "n").len(),
            8 - lead_has_none,
            "{t} {metric}"
        );
    }
}

#[test]
fn builtin_psci_by_smc_and_by_hvc() {
    for (level, conduit, counter) in [(Level::El2, "smc", "CNTPCT"), (Level::El1, "hvc", "CNTVCT")]
    {
        for gic in [Gic::V2, Gic::V3] {
            let log = pass(&RunSpec {
                firmware: Firmware::Builtin,
                level,
                gic: Some(gic),
                ..spec()
            });
            let fact = |key: &str| log.all("facts").iter().find_map(|f| f.get(key).cloned());
            assert_eq!(fact("conduit").as_deref(), Some(conduit));
            assert_eq!(fact("counter").as_deref(), Some(counter));
            assert!(!log.text.contains("<RT_INSTR:"));
        }
    }
}

#[test]
fn every_wake_pattern_and_both_methods() {
    for args in [
        "iterations=4 warmup=1 wake=together method=warm",
        "iterations=4 warmup=1 wake=staggered",
        "iterations=4 warmup=1 wake=chain",
        "iterations=3 warmup=0 method=tftf,warm",
    ] {
        let log = pass(&RunSpec {
            args: Some(args.into()),
            ..spec()
        });
        let methods = if args.contains("tftf,warm") { 2 } else { 1 };
        assert_eq!(log.all("row").len(), methods * 48, "{args}");
    }
}

#[test]
fn one_scenario_alone() {
    let result = common::run(&RunSpec {
        args: Some("only=cpu_susp_serial iterations=2 warmup=0".into()),
        ..spec()
    });
    assert_eq!(result.verdict, Verdict::Pass);
    let executed = result.text().matches("> Executing").count();
    assert_eq!(executed, 1);
}

/// As many CPUs as QEMU has, which is as many as the payload takes.
#[test]
fn five_hundred_and_twelve_cpus() {
    let log = pass(&RunSpec {
        smp: Some(512),
        firmware: Firmware::Builtin,
        args: Some("only=psci_version_parallel iterations=2 warmup=0".into()),
        ..spec()
    });
    assert_eq!(log.metric(6, "call", "n").len(), 512);
}
