//! States that stop the CPUs' own timers: a CPU that stays awake wakes the
//! others by SGI, and a timer frame is relied on only if it wakes the lead in a
//! trial.
//!
//! The overlay firmware stops the timers (`timer-stop=1`). No AArch64 machine of
//! QEMU has a memory-mapped generic timer: what stands for one here is memory.
//! A frame that works is shown with fakes: `src/devices/timer_frame.rs`,
//! `src/scenario/tests/wake.rs`, `xtask/tests/machine/sse_timer.rs`.

use std::collections::BTreeMap;

use psci_bench::model::{Row, Verdict};
use psci_bench::plan::ScenarioId::{self, CpuSuspendParallel, SuspendDeepParallel};
use xtask::board::device_tree::{self, Choices};
use xtask::board::{Gic, StateFormat};
use xtask::qemu::run_spec::{Payload, RunSpec};

use crate::common;

/// Samples asked for.
const N: u32 = 3;
/// CPUs of the machine, in clusters of four.
const CPUS: u32 = 8;

/// A run in which a power-down stops the timers.
fn spec(options: &str, args: &str) -> RunSpec {
    let options = format!("--icount --variant timer-stop=1 {options}");
    common::spec(&options, &format!("iterations={N} warmup=1 {args}"))
}

/// The figures of a scenario's `RT_INSTR` lines, by cluster and core.
fn rt_instr(text: &str, tag: &str) -> BTreeMap<[u64; 2], Vec<u64>> {
    let mut rows = common::rt_instr(&text.replace('\r', ""));
    rows.remove(&format!("test_rt_instr_{tag}")).expect("rows")
}

/// All scenarios have all rows, in parallel over both placements of the helper,
/// and PSCI_STAT counts the level that is due.
fn has_all_rows(log: &common::Log) {
    let text = &log.text;
    assert!(text.contains("6 passed, 0 skipped, 0 failed;"), "{text}");
    assert!(text.contains(", 0 rows skipped, 0 CPUs lost)"), "{text}");
    for scenario in ["susp_deep", "cpu_susp"] {
        for order in ["parallel", "serial"] {
            let rows = rt_instr(text, &format!("{scenario}_{order}"));
            assert_eq!(rows.len(), CPUS as usize, "{scenario} {order}\n{text}");
        }
    }
    for t in [SuspendDeepParallel, CpuSuspendParallel] {
        for helper in [0, 4] {
            let part = log.scenarios(t).find(|it| it.helper == Some(helper));
            let rows = part.iter().flat_map(|it| &it.rows);
            let valid: Vec<u32> = rows.map(Row::valid).collect();
            assert_eq!(valid, [N; 7], "{t:?}, helper {helper}\n{text}");
        }
    }
    assert!(!text.contains("Warning:"), "{text}");
    let reached = text.matches("* Reached, by PSCI_STAT_COUNT").count();
    assert_eq!(reached, 6, "{text}");
    let rows = ScenarioId::SUITE.into_iter().flat_map(|t| log.rows(t));
    for reached in rows.filter_map(|(_, row)| row.reached) {
        assert_eq!(Some(reached.due), reached.state, "{reached:?}\n{text}");
    }
}

#[test]
fn an_awake_cpu_wakes_the_others() {
    let words = ["one from CPU 1.0 woke the lead, as the device"];
    for (options, args) in [
        ("", "wake=together"),
        ("", "wake=staggered"),
        ("--gic 2", "wake=chain"),
    ] {
        let ran = common::ends(&spec(options, args), Verdict::Pass);
        has_all_rows(&ran.says(&words).log());
    }
    let args = "only=idle_states,contend_sweep,dirty_sweep dirty=0,64K contend=1-8";
    let words = ["3 passed, 0 skipped, 0 failed;"];
    common::ends(&spec("", args), Verdict::Pass).says(&words);
}

#[test]
fn a_helper_costs_what_a_cpus_own_timer_costs() {
    let args = format!("iterations={N} warmup=1 only=cpu_susp_serial");
    let run = |options| {
        let log = common::pass(&common::spec(options, &args));
        rt_instr(&log.text, "cpu_susp_serial")
    };
    let (own, helped) = (run("--icount"), run("--icount --variant timer-stop=1"));
    assert_eq!(own.len(), CPUS as usize);
    for (cpu, figures) in &own {
        for (own, helped) in figures.iter().zip(&helped[cpu]) {
            let is_near = own.abs_diff(*helped) * 100 <= *own;
            assert!(is_near, "{cpu:?}: {own} {helped}");
        }
    }
}

/// SGIs do not wake CPU 1, or the lead's first helper never arrives: one CPU is lost.
#[test]
fn a_fault_of_a_helper_costs_one_cpu() {
    let asleep = "Skipped: SGI did not wake CPU 0x1 from 0x00010002 ";
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
        common::ends(&spec, Verdict::Fail).says(&[", 1 CPU lost)", words]);
    }
}

/// Runs with this timer frame in the device tree, in which a power-down stops the timers.
fn run_with(frame: &str, words: &[&str]) {
    // The memory that stands for a frame is not the payload's to use.
    let board = common::changed_board(|text| {
        let all = "base = 0x4000_0000\nsize = 0x4000_0000";
        assert!(text.contains(all));
        let text = text.replace(all, "base = 0x4020_0000\nsize = 0x3fd0_0000");
        text.replace("memory-mib = 1024", "memory-mib = 1021") + "\n" + frame
    });
    let firmware = board.firmware("tf-a").expect("its firmware");
    let mut states = firmware.idle_states(StateFormat::Original);
    let powerdowns = states.iter_mut().filter(|state| state.is_powerdown());
    powerdowns.for_each(|state| state.local_timer_stop = true);
    let choices = Choices {
        cpus: CPUS,
        gic: Gic::V3,
        conduit: board.psci.conduit,
        idle_states: &states,
        bootargs: &format!("iterations={N} warmup=1"),
    };
    let tree = device_tree::build(&board, &choices).expect("a tree");
    let spec = RunSpec {
        payload: Payload::Image(common::image_with(&tree, CPUS)),
        args: None,
        ..spec("", "")
    };
    has_all_rows(&common::ends(&spec, Verdict::Pass).says(words).log());
}

fn frame(control: u64, base: u64, number: u8) -> String {
    format!(
        "[timer.frame]\nbase = {base}\nsize = 0x1000\ninterrupt = 92\nnumber = {number}\n\
         control = {{ base = {control}, size = 0x1000 }}\n"
    )
}

/// Between the machine's devices.
const NOTHING: u64 = 0x0a10_0000;
/// Secondary flash, erased: it reads as zeros.
const ZEROS: u64 = 0x0400_0000;
/// The GIC's ITS: bit 0 of what is at 0x8 is set, and 0x40 is RAZ/WI, as
/// CNTTIDR and CNTACR0 are for a frame that is Secure.
const ITS: u64 = 0x0808_0000;
/// QEMU's own device tree, which begins the memory: the header's third word, read
/// as CNTTIDR, says that frame 7 is implemented.
const QEMU_TREE: u64 = 0x4000_0000;
/// Memory at whose end nothing lies.
const MEMORY: u64 = 0x7fff_0000;

#[test]
fn a_frame_that_can_not_be_used_is_named() {
    for (control, base, number, why) in [
        (NOTHING, NOTHING + 0x1000, 0, "is not implemented"),
        (ZEROS, ZEROS + 0x1000, 0, "is not implemented"),
        (ITS, ZEROS, 0, "cannot be accessed"),
        (QEMU_TREE, MEMORY, 7, "counts otherwise than the CPUs"),
    ] {
        let said = format!("woke the lead, as the timer frame {why}.");
        run_with(&frame(control, base, number), &[&said]);
    }
}
