//! Bad input from outside: the payload says what and where,
//! and ends with the right exit code.

mod common;

use std::time::Duration;

use psci_bench::image::{PARAMETER_BLOCK, ParameterBlock, TREE_MAX};
use psci_bench::model::Verdict;
use xtask::build::payload::Tree;
use xtask::qemu::run_result::RunResult;
use xtask::qemu::run_spec::{Payload, RunSpec};
use xtask::qemu::stream::Ending;
use xtask::soak::boot_fuzz::blob::{Blob, cells};

fn spec() -> RunSpec {
    RunSpec {
        smp: Some(4),
        args: Some("iterations=2 warmup=0".into()),
        timeout: Duration::from_secs(120),
        ..RunSpec::default()
    }
}

/// Runs `spec`, and expects the verdict and these words.
fn ends(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> RunResult {
    common::ends(spec, verdict).says(words).result
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

fn of_image(image: Vec<u8>) -> RunSpec {
    RunSpec {
        smp: Some(2),
        args: None,
        payload: Payload::Image(image),
        ..spec()
    }
}

/// BL33 that loads X0 with `x0` and goes on to the payload, which has no device tree
/// appended.
fn image_with_x0(x0: u64) -> RunSpec {
    let image = common::image_of(None, 4);
    RunSpec {
        payload: Payload::Image([common::loading(&[x0]), image].concat()),
        ..spec()
    }
}

#[test]
fn no_device_tree() {
    let (tree, args) = (Tree::None, None);
    let spec = RunSpec {
        tree,
        args,
        ..spec()
    };
    // TF-A hands over X0 = MPIDR & 0xffff = 0.
    ends(&spec, Verdict::BadInput, &["no device tree", "X0 = 0x0"]);
    for x0 in [
        0x103,              // An MPIDR.
        0x4000_0004,        // Not aligned.
        0x5000_0000,        // Memory without a tree.
        0x00f0_0000_0000,   // No memory at all.
        0x1_0000_0000_0000, // More than 48 bits.
        u64::MAX - 7,       // The end of the address space.
    ] {
        let words = ["no device tree", &format!("X0 = {x0:#x}"), "!Unhandled"];
        ends(&image_with_x0(x0), Verdict::BadInput, &words);
    }
}

/// QEMU leaves its own tree at the start of memory, and TF-A's BL2 adds the PSCI node.
/// The tree has no idle states.
#[test]
fn x0_that_points_to_a_tree() {
    let words = ["linux,dummy-virt", "2 passed, 4 skipped, 0 failed"];
    ends(&image_with_x0(0x4000_0000), Verdict::Pass, &words);
}

#[test]
fn a_broken_device_tree() {
    let good = common::good_tree(4, "");
    let garbage = (0..2048u32).map(|i| (i.wrapping_mul(0x9e37_79b1) >> 13) as u8);
    // The magic alone is right.
    let mut zeros = vec![0; 256];
    zeros[..4].copy_from_slice(&good[..4]);
    for tree in [good[..good.len() / 2].to_vec(), garbage.collect(), zeros] {
        let words = ["device tree appended to the image"];
        ends(&with_tree(tree), Verdict::BadInput, &words);
    }
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
        let named = match field {
            TREE_OFFSET => format!("tree_offset {value:#x},"),
            _ => format!("tree_size {value:#x};"),
        };
        let words = ["the parameter block at offset 0x40 is impossible", &named];
        ends(&of_image(image), Verdict::BadInput, &words);
    }
}

#[test]
fn bad_arguments_and_too_many_iterations_are_refused() {
    let (wrong, large) = ("iterations=5 quiet", "iterations=1000000 samples=all");
    for (args, words) in [
        (wrong, ["word 2", "key=value"]),
        (large, ["too little memory", "KiB are missing"]),
    ] {
        ends(&with_args(args), Verdict::BadInput, &words);
    }
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

fn set(tree: &mut Blob, node: &str, name: &str, value: &[u8]) {
    *tree.value(node, name).expect("it is there") = value.to_vec();
}

/// `reg` of a device with a page of registers.
fn page(base: u32) -> Vec<u8> {
    cells(&[0, base, 0, 0x1000])
}

/// Like `changed`, with the console at this address.
fn with_console(base: u32) -> RunSpec {
    changed(|tree| set(tree, "pl011@9000000", "reg", &page(base)))
}

/// The RTC is no UART, and nothing in the tree says so.
#[test]
fn a_console_that_moves_says_where_to() {
    let result = common::run(&with_console(0x901_0000));
    let text = result.text();
    let line = "console moves to pl011 at 0x9010000, by /chosen/stdout-path\r\n";
    assert!(text.ends_with(line), "{text}");
    assert_eq!(result.ending, Ending::Exited { success: true });
    let said = result.diagnosis.expect("a diagnosis");
    let moved = "console moved to pl011 at 0x9010000, by /chosen/stdout-path";
    assert!(said.contains(moved), "{said}");
}

#[test]
fn a_console_in_memory_or_nowhere_does_not_move() {
    let words = ["the console at 0x70000000 overlaps memory at 0x40000000"];
    ends(&with_console(0x7000_0000), Verdict::BadInput, &words);
    let words = ["console stays: nothing can be read at 0xf000000, by /chosen/stdout-path"];
    ends(&with_console(0xf00_0000), Verdict::Pass, &words);
    let spec = changed(|tree| {
        let node = "pl011@9000000";
        set(tree, node, "compatible", b"fsl,imx7ulp-lpuart\0");
        set(tree, node, "reg", &page(0x901_0000));
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
    let (gic, memory) = ("interrupt-controller@8000000", "memory@40000000");
    let absent = cells(&[0, 0xf00_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0xf6_0000]);
    let beyond = cells(&[1, 0, 0, 0x4000_0000]);
    let in_gic = "data abort, in the GIC's distributor, at offset 0x";
    for (node, name, value, words) in [
        (gic, "reg", absent, in_gic),
        (
            memory,
            "reg",
            beyond,
            "data abort, no memory at 0x100000000",
        ),
        (
            "psci",
            "method",
            b"hvc\0".to_vec(),
            "HVC from EL2: is the conduit smc?",
        ),
    ] {
        let spec = changed(|tree| set(tree, node, name, &value));
        let words = format!("psci-bench: INCOMPLETE: exception on the lead CPU: {words}");
        let result = ends(&spec, Verdict::Incomplete, &[&words]);
        assert_eq!(result.ending, Ending::Exited { success: true });
    }
}

#[test]
fn a_cpu_that_the_firmware_does_not_know() {
    // The machine has 4 CPUs, the tree 5.
    let tree = common::good_tree(5, "iterations=2 warmup=0");
    let words = ["CPU 1.0", "CPU_ON: firmware returned INVALID_PARAMETERS"];
    let result = ends(&with_tree(tree), Verdict::Fail, &words);
    // The others were measured all the same.
    let log = common::Log::new(&result.log);
    for t in [2, 4, 5, 6] {
        let metric = if t == 6 { "latency" } else { "powerdown" };
        let counts = log.metric(t, metric, "n");
        let complete = counts.values().filter(|n| **n == 2).count();
        assert_eq!(complete, 4, "scenario {t}: {counts:?}");
    }
}

/// CPU 0 boots, and its own node is another CPU's.
#[test]
fn a_cpu_that_is_missing_from_the_tree() {
    let mut tree = Blob::read(&common::good_tree(1, ""));
    set(&mut tree, "cpu@0", "reg", &cells(&[0, 7]));
    let words = ["no cpu node has the reg of the CPU that booted"];
    ends(&with_tree(tree.write()), Verdict::BadInput, &words);
}

/// Scenarios that do not need the state are measured.
#[test]
fn a_power_state_that_the_firmware_rejects() {
    let spec = with_args("iterations=2 warmup=0 deepest=0x1010033");
    let words = [
        "0x01010033",
        "INVALID_PARAMETERS",
        "3 passed, 0 skipped, 3 failed",
        "<RT_INSTR:test_rt_instr_cpu_susp_serial 0 3 ",
    ];
    ends(&spec, Verdict::Fail, &words);
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
    let begin = "Unhandled exception on CPU 0x0";
    let words = [begin, "EC 0x00", "x30", "exception on the lead"];
    let spec = of_image(image_that_fails_at("empty_smc"));
    let result = ends(&spec, Verdict::Incomplete, &words);
    assert_eq!(result.text().matches("Unhandled exception").count(), 1);
}

/// The lead does not go through the entry of CPU_ON.
#[test]
fn an_exception_on_another_cpu_costs_that_cpu() {
    let begin = "Unhandled exception on CPU 0x1";
    let words = [begin, "took an exception", "1 CPUs lost"];
    let spec = of_image(image_that_fails_at("secondary_ready"));
    ends(&spec, Verdict::Fail, &words);
}
