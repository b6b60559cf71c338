//! States that stop the CPUs' own timers. A CPU that stays awake wakes the others with SGIs, and a
//! timer frame is used only if it wakes the lead in a trial.
//!
//! The overlay firmware stops the timers (`timer-stop=1`). QEMU has no AArch64 machine with a
//! memory-mapped generic timer, so these tests use ordinary memory instead of a timer frame.
//! Working frames are tested with fakes: `crates/hardware/src/devices/timer_frame.rs`,
//! `crates/suite/src/scenario/tests/wake.rs`, `xtask/tests/machine/sse_timer.rs`.

use boards::GicVersion;
use runner::build::payload::TreeSource;
use runner::qemu::run_spec::RunSpec;
use suite::measure::Metric;
use suite::model::{Cell, Verdict};
use suite::plan::ScenarioId;

use crate::common;

/// The number of samples requested.
const N: u32 = 3;
/// The number of CPUs in the machine, in clusters of four.
const CPUS: usize = 8;

/// Returns a run in which power-downs stop the timers.
fn spec(options: &str, args: &str) -> RunSpec {
    let all_options = format!("--icount --variant timer-stop=1 {options}");
    common::spec(&all_options, &format!("iterations={N} warmup=1 {args}"))
}

/// Returns true if a cell has a Powerdown or Latency value.
fn has_first_figure(cell: &Cell) -> bool {
    let metrics = [Metric::Powerdown, Metric::Latency];
    metrics.iter().any(|metric| cell.figure(*metric).is_some())
}

/// Checks that all scenarios have all rows (in parallel scenarios, all except the helper's, for
/// both placements) and that PSCI_STAT counts the expected level.
fn has_all_rows(log: &common::Log) {
    let text = &log.text;
    assert!(text.contains("; 0 rows skipped, 0 CPUs lost)"), "{text}");
    for id in [
        ScenarioId::SUSPEND_DEEP_PARALLEL,
        ScenarioId::CPU_SUSPEND_PARALLEL,
    ] {
        for helper in [0, 4] {
            let mut scenarios = log.scenarios(id);
            let scenario = scenarios
                .find(|scenario| scenario.helper == Some(helper.into()))
                .expect("a scenario for each helper");
            let cells = scenario.cells.iter();
            let valid: Vec<u32> = cells.map(Cell::valid).collect();
            assert_eq!(valid, [N; 7], "{id:?}, helper {helper}\n{text}");
        }
    }
    assert!(!text.contains("Warning:"), "{text}");
    let cells = ScenarioId::SUITE
        .into_iter()
        .flat_map(|scenario| log.cells(scenario));
    for reached in cells.filter_map(|(_, cell)| cell.reached) {
        assert_eq!(Some(reached.due), reached.state, "{reached:?}\n{text}");
    }
}

#[test]
fn an_awake_cpu_wakes_the_others() {
    let woken = ["one from CPU 1.0 woke the lead, because the device"];
    for (options, args) in [
        ("", "wake=together"),
        ("", "wake=staggered"),
        ("--gic 2", "wake=chain"),
    ] {
        let ran = common::expect_verdict(&spec(options, args), Verdict::Pass);
        has_all_rows(&ran.says(&woken).log());
    }
    let args = "only=idle_states,contend_sweep,dirty_sweep dirty=0,64K contend=1-8";
    let passed = ["3 passed, 0 skipped, 0 failed;"];
    common::expect_verdict(&spec("", args), Verdict::Pass).says(&passed);
}

#[test]
fn a_helper_costs_what_a_cpus_own_timer_costs() {
    let args = format!("iterations={N} warmup=1 only=cpu_susp_serial");
    let run = |options| {
        let log = common::expect_pass(&common::spec(options, &args));
        common::rt_instr(&log.text).remove("test_rt_instr_cpu_susp_serial")
    };
    let own = run("--icount").expect("rows");
    let helped = run("--icount --variant timer-stop=1").expect("rows");
    assert_eq!(own.len(), CPUS);
    for (cpu, figures) in &own {
        for (own, helped) in figures.iter().zip(&helped[cpu]) {
            let is_near = own.abs_diff(*helped) * 100 <= *own;
            assert!(is_near, "{cpu:?}: {own} {helped}");
        }
    }
}

/// Only one CPU is lost if SGIs do not wake CPU 7, or if the lead's first helper never arrives.
#[test]
fn a_fault_of_a_helper_costs_one_cpu() {
    let asleep = "Skipped: SGI did not wake CPU 0x7 from 0x00010002 ";
    for (fault, args, words) in [
        ("suspend-never", "", asleep),
        (
            "cpu-on-lost,cpu=0x1,skip=4 --smp 2",
            "only=cpu_off_serial",
            "Failed: CPU 0.1 was lost",
        ),
        ("cpu-on-lost,cpu=0x4", "", " 0 skipped, 6 failed"),
    ] {
        let spec = spec(&format!("--fault {fault}"), args);
        common::expect_verdict(&spec, Verdict::Fail).says(&[", 1 CPU lost)", words]);
    }
}

/// Returns a run with four CPUs whose device tree claims that power-downs do not stop timers.
fn undeclared(options: &str) -> RunSpec {
    let board = common::changed_board(str::to_owned);
    let tree = common::tree_of(
        &board,
        GicVersion::V3,
        4,
        &format!("iterations={N} warmup=0"),
    );
    RunSpec {
        smp: Some(4),
        args: None,
        tree: TreeSource::Raw(tree),
        ..RunSpec::parse(options).expect("options of a run")
    }
}

#[test]
fn a_timer_that_stops_undeclared_costs_no_row() {
    let warning = |state: u32| {
        format!(
            "Warning: CPU 0.3's timer did not wake it from {state:#010x}, but an SGI did: the \
             idle state lacks local-timer-stop."
        )
    };
    let words = [
        warning(0x1_0002),
        warning(0x201_0222),
        "(6 passed, 0 skipped, 0 failed;".to_owned(),
        "0 rows skipped, 0 CPUs lost)".to_owned(),
    ];
    let spec = undeclared("--icount --variant timer-stop=1");
    common::expect_verdict(&spec, Verdict::Pass).says(&words);
}

/// The last CPU's second suspend, which is its trial for the deepest state, never returns.
#[test]
fn state_without_wake_up_loses_one_cpu_and_its_rows() {
    let words = [
        "Skipped: neither its timer nor an SGI woke CPU 0x3 from 0x02010222 ",
        "Failed: CPU 0.3 was lost: timed out waiting for return from the call ",
        ", 1 CPU lost)",
    ];
    let spec = undeclared("--icount --fault suspend-never,cpu=0x3,skip=1");
    let log = common::expect_verdict(&spec, Verdict::Fail)
        .says(&words)
        .log();
    // The CPU is reported as soon as it is lost, not in the next round.
    let named = log.text.find("\nCPU 0.3 was lost: ").expect("a line");
    let next = log.text.find("> Executing 'Suspend to deepest");
    assert!(
        next.is_some_and(|next_offset| named < next_offset),
        "{}",
        log.text
    );
    let others = [
        ScenarioId::CPU_OFF_SERIAL,
        ScenarioId::CPU_SUSPEND_PARALLEL,
        ScenarioId::CPU_SUSPEND_SERIAL,
    ];
    for (ids, cpus) in [(&[ScenarioId::PSCI_VERSION_PARALLEL][..], 4), (&others, 3)] {
        for id in ids {
            let whole = log.cells(*id).filter(|(_, cell)| has_first_figure(cell));
            let skipped = usize::from(*id == ScenarioId::CPU_OFF_SERIAL);
            assert_eq!(whole.count(), cpus - skipped, "{id:?}\n{}", log.text);
        }
    }
}

/// An address between the machine's devices.
const NOTHING: u64 = 0x0a10_0000;
/// QEMU's own device tree at the start of memory. The third word of its header, read as CNTTIDR,
/// shows frame 7 as implemented.
const QEMU_TREE: u64 = 0x4000_0000;
/// Unused memory at the end of RAM.
const MEMORY: u64 = 0x7fff_0000;

#[test]
fn unusable_frame_is_named() {
    for (control, base, number, why) in [
        (NOTHING, NOTHING + 0x1000, 0, "frame is not implemented"),
        (
            QEMU_TREE,
            MEMORY,
            7,
            "frame's counter differs from the CPUs' counter",
        ),
    ] {
        // The payload must not use the memory that imitates a frame.
        let board = common::changed_board(|text| {
            let all = "base = 0x4000_0000\nsize = 0x4000_0000";
            let less = "base = 0x4020_0000\nsize = 0x3fd0_0000";
            // All of the firmware's power-down states stop the timers.
            let stops = "local-timer-stop = true\npower-state = 0x0";
            text.replace(all, less)
                .replace("memory-mib = 1024", "memory-mib = 1021")
                .replace("power-state = 0x0", stops)
                + &format!(
                    "[timer.frame]\nbase = {base}\nsize = 0x1000\ninterrupt = 92\n\
                     number = {number}\ncontrol = {{ base = {control}, size = 0x1000 }}\n"
                )
        });
        let tree = common::tree_of(
            &board,
            GicVersion::V3,
            2,
            "iterations=1 only=susp_deep_serial",
        );
        let spec = RunSpec {
            smp: Some(2),
            args: None,
            tree: TreeSource::Raw(tree),
            ..spec("", "")
        };
        let said = format!("woke the lead, because the timer {why}.");
        common::expect_verdict(&spec, Verdict::Pass).says(&[said]);
    }
}
