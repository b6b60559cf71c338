//! What comes from outside and is not good: the payload says what and where,
//! and ends with the right exit code.

mod common;

use std::time::Duration;

use psci_bench::image::{PARAMETER_BLOCK, ParameterBlock, TREE_MAX};
use psci_bench::model::Verdict;
use xtask::board::{self, Conduit};
use xtask::build::image::Emergency;
use xtask::build::payload::{self, Tree};
use xtask::qemu::run_result::RunResult;
use xtask::qemu::run_spec::{Payload, RunSpec};
use xtask::qemu::stream::Ending;
use xtask::setup::workspace::Workspace;
use xtask::soak::boot_fuzz::blob::{Blob, cells};

fn spec() -> RunSpec {
    RunSpec {
        smp: Some(4),
        args: Some("iterations=2 warmup=0".into()),
        timeout: Duration::from_secs(120),
        ..RunSpec::default()
    }
}

/// Runs with `args`, and expects the verdict and these words.
fn ends(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> RunResult {
    let result = common::run(spec);
    let text = result.text();
    assert_eq!(result.verdict, verdict, "{:?}\n{text}", result.diagnosis);
    // Long messages are wrapped.
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(plain.contains(word), "no {word:?} in\n{text}");
    }
    result
}

fn with_args(args: &str) -> RunSpec {
    RunSpec {
        args: Some(args.into()),
        ..spec()
    }
}

fn with_tree(tree: Vec<u8>) -> RunSpec {
    RunSpec {
        tree: Tree::Raw(tree),
        args: None,
        ..spec()
    }
}

/// BL33 that loads X0 with `x0` and goes on to the payload, which has no
/// device tree appended: MOVZ, three MOVK, and a branch to the next page.
fn image_with_x0(x0: u64) -> Vec<u8> {
    let workspace = Workspace::find().expect("the workspace");
    let board = board::load(&workspace, "qemu").expect("the board");
    let emergency = Emergency::of_board(&board, Conduit::Smc);
    let image = payload::image(&workspace, None, emergency, 4).expect("an image");
    let mut stub = Vec::new();
    for (index, half) in (0..4).map(|i| (i, (x0 >> (16 * i)) as u32 & 0xffff)) {
        let base = if index == 0 { 0xd280_0000 } else { 0xf280_0000 };
        stub.extend(u32::to_le_bytes(base | index << 21 | half << 5));
    }
    stub.extend(u32::to_le_bytes(0x1400_0000 | ((4096 - 16) / 4)));
    stub.resize(4096, 0);
    stub.extend(image);
    stub
}

#[test]
fn no_device_tree() {
    let spec = RunSpec {
        tree: Tree::None,
        args: None,
        ..spec()
    };
    // TF-A hands over X0 = MPIDR & 0xffff = 0.
    ends(&spec, Verdict::BadInput, &["no device tree", "X0 = 0x0"]);
}

#[test]
fn x0_that_points_nowhere() {
    for (x0, what) in [
        (0x0, "the first page"),
        (0x103, "an MPIDR"),
        (0x4000_0004, "not aligned"),
        (0x5000_0000, "memory without a tree"),
        (0x00f0_0000_0000, "no memory at all"),
        (0x1_0000_0000_0000, "more than 48 bits"),
        (u64::MAX - 7, "the end of the address space"),
    ] {
        let spec = RunSpec {
            payload: Payload::Image(image_with_x0(x0)),
            ..spec()
        };
        let said = format!("X0 = {x0:#x}");
        let result = ends(&spec, Verdict::BadInput, &["no device tree", &said]);
        assert!(!result.text().contains("Unhandled"), "{what}");
    }
}

#[test]
fn x0_that_points_to_a_tree() {
    // QEMU leaves its own at the start of memory, and TF-A's BL2 adds to it
    // how PSCI is called. It has no idle states.
    let spec = RunSpec {
        payload: Payload::Image(image_with_x0(0x4000_0000)),
        ..spec()
    };
    let words = ["linux,dummy-virt", "2 passed, 4 skipped, 0 failed"];
    ends(&spec, Verdict::Pass, &words);
}

#[test]
fn a_broken_device_tree() {
    let good = common::good_tree(4, "");
    let truncated = good[..good.len() / 2].to_vec();
    ends(
        &with_tree(truncated),
        Verdict::BadInput,
        &["device tree appended to the image"],
    );
    let garbage = (0..2048u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13) as u8);
    ends(
        &with_tree(garbage.collect()),
        Verdict::BadInput,
        &["device tree appended"],
    );
    // The magic alone is right.
    let mut zeros = vec![0; 256];
    zeros[..4].copy_from_slice(&good[..4]);
    ends(
        &with_tree(zeros),
        Verdict::BadInput,
        &["device tree appended"],
    );
}

/// The entry code builds its tables after the tree that the parameter block names.
#[test]
fn an_impossible_parameter_block_is_reported() {
    const TREE_OFFSET: usize = PARAMETER_BLOCK + 0x20;
    const TREE_SIZE: usize = PARAMETER_BLOCK + 0x28;
    let good = common::image(2, "iterations=1 warmup=0");
    let block = ParameterBlock::read(&good).expect("a parameter block");
    for (field, value) in [
        (TREE_OFFSET, 1),
        (TREE_OFFSET, 8),
        (TREE_OFFSET, 0x2cff8),
        (TREE_OFFSET, block.tree_offset - 8),
        (TREE_OFFSET, block.tree_offset + 4),
        (TREE_OFFSET, block.tree_offset + 0x1008),
        (TREE_OFFSET, u64::MAX - 7),
        (TREE_OFFSET, u64::MAX),
        (TREE_SIZE, 0),
        (TREE_SIZE, TREE_MAX as u64 + 1),
        (TREE_SIZE, u64::MAX - 7),
        (TREE_SIZE, u64::MAX),
    ] {
        let mut image = good.clone();
        image[field..field + 8].copy_from_slice(&value.to_le_bytes());
        let spec = RunSpec {
            smp: Some(2),
            payload: Payload::Image(image),
            args: None,
            timeout: Duration::from_secs(20),
            ..spec()
        };
        let named = match field {
            TREE_OFFSET => format!("tree_offset {value:#x},"),
            _ => format!("tree_size {value:#x};"),
        };
        let words = ["the parameter block at offset 0x40 is impossible", &named];
        ends(&spec, Verdict::BadInput, &words);
    }
}

#[test]
fn words_in_bootargs() {
    for (args, words) in [
        (
            "iteration=5",
            ["word 1", "iteration=5", "unknown key"].as_slice(),
        ),
        ("iterations=5 quiet", &["word 2", "quiet", "key=value"]),
        ("iterations=0", &["word 1", "iterations=0", "from 1 to"]),
        ("method=hot", &["method=hot", "tftf, warm"]),
        ("only=suspend", &["only=suspend", "susp_deep_parallel"]),
    ] {
        ends(&with_args(args), Verdict::BadInput, words);
    }
}

#[test]
fn more_iterations_than_memory() {
    let spec = with_args("iterations=1000000 samples=all");
    ends(
        &spec,
        Verdict::BadInput,
        &["too little memory", "KiB are missing"],
    );
}

/// QEMU's tree, changed.
fn changed(change: impl FnOnce(&mut Blob)) -> RunSpec {
    let mut tree = Blob::read(&common::good_tree(2, "iterations=1 warmup=0"));
    change(&mut tree);
    RunSpec {
        smp: Some(2),
        icount: true,
        ..with_tree(tree.write())
    }
}

/// The same with other cells in a property of 4-byte cells.
fn with_cells(node: &str, name: &str, numbers: &[u32]) -> RunSpec {
    changed(|tree| *tree.value(node, name).expect("it is there") = cells(numbers))
}

fn page(base: u32) -> [u32; 4] {
    [0, base, 0, 0x1000]
}

#[test]
fn a_watchdog_at_the_distributor_is_refused() {
    let spec = changed(|tree| {
        let reg = [page(0x800_0000), page(0x800_1000)].concat();
        let compatible = b"arm,sbsa-gwdt\0".to_vec();
        let properties = [("compatible", compatible), ("reg", cells(&reg))];
        tree.append("watchdog@8000000", &properties);
    });
    let words = ["the watchdog at 0x8000000 overlaps the GIC's distributor at 0x8000000"];
    ends(&spec, Verdict::BadInput, &words);
}

#[test]
fn levels_of_two_states_exchanged_are_refused() {
    let spec = changed(|tree| {
        *tree
            .value("core-off", "psci-bench,power-level")
            .expect("it") = cells(&[2]);
        *tree
            .value("system-off", "psci-bench,power-level")
            .expect("it") = cells(&[0]);
    });
    let words = ["/cpus/idle-states/core-off psci-bench,power-level: 0x2, expected"];
    ends(&spec, Verdict::BadInput, &words);
}

/// The RTC is no UART, and nothing in the tree says so.
#[test]
fn a_console_that_moves_says_where_to() {
    let spec = with_cells("pl011@9000000", "reg", &page(0x901_0000));
    let result = common::run(&spec);
    let text = result.text();
    let line = "console moves to pl011 at 0x9010000, by /chosen/stdout-path\r\n";
    assert!(text.ends_with(line), "{text}");
    assert_eq!(result.ending, Ending::Exited { success: true });
    let said = result.diagnosis.expect("a diagnosis");
    assert!(
        said.contains("console moved to pl011 at 0x9010000, by /chosen/stdout-path"),
        "{said}"
    );
}

#[test]
fn a_console_in_memory_or_nowhere_does_not_move() {
    let spec = with_cells("pl011@9000000", "reg", &page(0x7000_0000));
    let words = ["the console at 0x70000000 overlaps memory at 0x40000000"];
    ends(&spec, Verdict::BadInput, &words);
    let spec = with_cells("pl011@9000000", "reg", &page(0xf00_0000));
    let words = ["console stays: nothing can be read at 0xf000000, by /chosen/stdout-path"];
    ends(&spec, Verdict::Pass, &words);
    let spec = changed(|tree| {
        let node = "pl011@9000000";
        *tree.value(node, "compatible").expect("it is there") = b"fsl,imx7ulp-lpuart\0".to_vec();
        *tree.value(node, "reg").expect("it is there") = cells(&page(0x901_0000));
    });
    let words = ["console stays: what is at 0x9010000, by /chosen/stdout-path, takes no byte as"];
    ends(&spec, Verdict::Pass, &words);
}

#[test]
fn an_emergency_uart_that_is_not_there_is_passed_over() {
    let good = common::image(2, "iterations=1 warmup=0 only=psci_version_parallel");
    // Nothing is at the first; the status of the second is in another page.
    for base in [0xf00_0000u64, 0x8ff_fff8] {
        let mut image = good.clone();
        image[PARAMETER_BLOCK + 0x18..][..8].copy_from_slice(&base.to_le_bytes());
        ends(&of_image(image), Verdict::Pass, &["Image at"]);
    }
}

fn of_image(image: Vec<u8>) -> RunSpec {
    RunSpec {
        smp: Some(2),
        args: None,
        payload: Payload::Image(image),
        ..spec()
    }
}

#[test]
fn a_damaged_parameter_block_is_named_or_turns_the_machine_off() {
    let mut image = common::image(2, "");
    // The conduit, behind the UART.
    image[PARAMETER_BLOCK + 0x39] = 0xff;
    let words = ["the parameter block is damaged; make the image anew"];
    ends(&of_image(image.clone()), Verdict::BadInput, &words);
    // The magic: nothing in it counts.
    image[PARAMETER_BLOCK] ^= 1;
    let result = common::run(&of_image(image));
    assert_eq!(result.ending, Ending::Exited { success: true });
    let said = result.diagnosis.expect("a diagnosis");
    assert!(said.contains("no device tree that names a UART"), "{said}");
}

#[test]
fn an_exception_names_its_place() {
    let gic = [page(0xf00_0000), page(0x80a_0000)].concat();
    let with_gic = changed(|tree| {
        let mut reg = gic.clone();
        (reg[3], reg[7]) = (0x1_0000, 0xf6_0000);
        let node = "interrupt-controller@8000000";
        *tree.value(node, "reg").expect("it is there") = cells(&reg);
    });
    let memory = changed(|tree| {
        *tree.value("memory@40000000", "reg").expect("it") = cells(&[1, 0, 0, 0x4000_0000]);
    });
    let hvc = changed(|tree| *tree.value("psci", "method").expect("it") = b"hvc\0".to_vec());
    for (spec, words) in [
        (
            with_gic,
            "data abort, in the GIC's distributor, at offset 0x",
        ),
        (memory, "data abort, no memory at 0x100000000"),
        (hvc, "HVC from EL2: is the conduit smc?"),
    ] {
        let words = format!("psci-bench: INCOMPLETE: exception on the lead CPU: {words}");
        let result = ends(&spec, Verdict::Incomplete, &[&words]);
        assert_eq!(result.ending, Ending::Exited { success: true });
    }
}

#[test]
fn a_cpu_that_the_firmware_does_not_know() {
    // The machine has 4 CPUs, the tree 5.
    let tree = common::good_tree(5, "iterations=2 warmup=0");
    let result = ends(
        &with_tree(tree),
        Verdict::Fail,
        &["CPU 1.0", "CPU_ON: firmware returned INVALID_PARAMETERS"],
    );
    // The others were measured all the same.
    let log = common::Log::new(&result.log);
    for (t, metric) in [
        (2, "powerdown"),
        (4, "powerdown"),
        (5, "powerdown"),
        (6, "latency"),
    ] {
        let counts = log.metric(t, metric, "n");
        let complete = counts.values().filter(|n| **n == 2).count();
        assert_eq!(complete, 4, "scenario {t}: {counts:?}");
    }
}

#[test]
fn a_cpu_that_is_missing_from_the_tree() {
    // The lead's own node: CPU 0 is what boots.
    let mut tree = common::good_tree(1, "");
    let node = tree
        .windows(6)
        .position(|bytes| bytes == b"cpu@0\0")
        .expect("its node");
    // reg = <0 0> follows somewhere behind: make it <0 7>.
    let reg = tree[node..]
        .windows(8)
        .position(|bytes| bytes == [0, 0, 0, 3, 0, 0, 0, 8])
        .expect("a property of 8 bytes");
    tree[node + reg + 12 + 7] = 7;
    ends(
        &with_tree(tree),
        Verdict::BadInput,
        &["no cpu node has the reg of the CPU that booted"],
    );
}

#[test]
fn a_power_state_that_the_firmware_rejects() {
    let spec = with_args("iterations=2 warmup=0 deepest=0x1010033");
    let result = ends(
        &spec,
        Verdict::Fail,
        &[
            "0x01010033",
            "INVALID_PARAMETERS",
            "3 passed, 0 skipped, 3 failed",
        ],
    );
    assert_eq!(result.exit_code(), 1);
    // What does not need that state is measured.
    assert!(
        result
            .text()
            .contains("<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t3\t")
    );
}

/// The payload with an undefined instruction where this symbol is.
fn image_that_fails_at(symbol: &str) -> Vec<u8> {
    let mut image = common::image(2, "iterations=2 warmup=0");
    let at = common::offset_of(symbol);
    image[at..at + 4].fill(0);
    image
}

#[test]
fn an_exception_on_the_lead_is_dumped_and_ends_the_run() {
    let spec = RunSpec {
        smp: Some(2),
        payload: Payload::Image(image_that_fails_at("empty_smc")),
        ..spec()
    };
    let result = ends(
        &spec,
        Verdict::Incomplete,
        &[
            "Unhandled exception on CPU 0x0",
            "EC 0x00",
            "x30",
            "exception on the lead",
        ],
    );
    assert_eq!(result.text().matches("Unhandled exception").count(), 1);
}

#[test]
fn an_exception_on_another_cpu_costs_that_cpu() {
    // The entry of CPU_ON: the lead does not go through it.
    let spec = RunSpec {
        smp: Some(2),
        payload: Payload::Image(image_that_fails_at("secondary_ready")),
        ..spec()
    };
    let words = [
        "Unhandled exception on CPU 0x1",
        "took an exception",
        "1 CPUs lost",
    ];
    ends(&spec, Verdict::Fail, &words);
}
