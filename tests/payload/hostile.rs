//! Invalid external input: the payload reports what is wrong and where, and exits with the correct
//! exit code.

use std::time::Duration;

use boards::GicVersion;
use device_tree::nodes::BuildNode as _;
use dtoolkit::fdt::Fdt;
use dtoolkit::memreserve::MemoryReservation;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node as _, Property as _, ToPropertyValue};
use follow::stream::MachineEnding;
use hardware::board::Region;
use hardware::image::{PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE, ParameterBlock, TREE_MAX};
use runner::build::image::enable_boot_log;
use runner::build::payload::TreeSource;
use runner::qemu::run_spec::{Payload, RunSpec};
use suite::model::Verdict;

use crate::common::{self, Ran, spec};

/// The paths of devices in QEMU's tree.
const GIC: &str = "/interrupt-controller@8000000";
const UART: &str = "/pl011@9000000";
const MEMORY: &str = "/memory@40000000";

/// Runs `spec` and expects this verdict and these strings.
fn ends(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> Ran {
    common::expect_verdict(spec, verdict).says(words)
}

fn with_tree(options: &str, tree: Vec<u8>) -> RunSpec {
    let tree = TreeSource::Raw(tree);
    RunSpec {
        tree,
        ..spec(options, "")
    }
}

fn of_image(image: Vec<u8>) -> RunSpec {
    let payload = Payload::Image(image);
    RunSpec {
        payload,
        ..spec("--smp 2", "")
    }
}

#[test]
fn no_device_tree() {
    let tree = TreeSource::None;
    let spec = RunSpec {
        tree,
        ..spec("--smp 4", "")
    };
    // TF-A passes X0 = MPIDR & 0xffff = 0.
    ends(&spec, Verdict::BadInput, &["no device tree", "X0 = 0x0"]);
    // The first address is misaligned, the second is in memory that does not contain a tree, the
    // third is not in memory, and the fourth is at the end of the address space.
    for x0 in [0x4000_0004, 0x5000_0000, 0x00f0_0000_0000, u64::MAX - 7] {
        let words = ["no device tree", &format!("X0 = {x0:#x}")];
        let image = [common::loading(&[x0]), common::image_of(None, 4)].concat();
        ends(&of_image(image), Verdict::BadInput, &words).lacks(&["Unhandled"]);
    }
}

/// A loader may add another program's arguments to a tree that it passes, but in an appended tree
/// such arguments are an error.
#[test]
fn arguments_of_another_program_in_an_appended_tree_are_refused() {
    let tree = common::good_tree(2, "coherent_pool=1M 8250.nr_uarts=1 iterations=1");
    let words = ["bootargs word 1 \"coherent_pool=1M\": unknown key"];
    ends(&with_tree("--smp 2", tree), Verdict::BadInput, &words).lacks(&["Ignored boot arguments"]);
}

#[test]
fn a_broken_device_tree_and_too_many_iterations_are_refused() {
    let mut tree = common::good_tree(4, "");
    tree.truncate(tree.len() / 2);
    let words = ["device tree appended to the image"];
    ends(&with_tree("--smp 4", tree), Verdict::BadInput, &words);
    // In the tree, the arguments are not checked before the machine starts.
    let much = common::good_tree(4, "iterations=1000000 samples=all");
    let words = ["not enough memory", "KiB short"];
    ends(&with_tree("--smp 4", much), Verdict::BadInput, &words);
}

/// The entry code places its translation tables after the tree that the parameter block points to.
#[test]
fn an_impossible_parameter_block_is_reported() {
    const TREE_OFFSET: usize = PARAMETER_BLOCK + 0x20;
    const TREE_SIZE: usize = PARAMETER_BLOCK + 0x28;
    let good = common::image(2, "iterations=1 warmup=0");
    let block = ParameterBlock::read(&good).expect("a parameter block");
    let at = block.tree_offset;
    for (field, value, named) in [
        (TREE_OFFSET, at - 8, "tree_offset"),
        (TREE_OFFSET, at + 4, "tree_offset"),
        (TREE_OFFSET, u64::MAX - 7, "tree_offset"),
        (TREE_SIZE, 0, "tree_size"),
        (TREE_SIZE, TREE_MAX as u64 + 1, "tree_size"),
        (TREE_SIZE, u64::MAX, "tree_size"),
    ] {
        let named = format!("{named} {value:#x}");
        let mut image = good.clone();
        image[field..field + 8].copy_from_slice(&value.to_le_bytes());
        let words = ["the parameter block at offset 0x40 is invalid", &named];
        ends(&of_image(image), Verdict::BadInput, &words);
    }
}

/// If a state's node is wrong, the next state is not measured in its place.
#[test]
fn a_state_that_is_left_out_is_named_and_the_deepest_is_skipped() {
    let without_parameter = changed(|tree| {
        let deepest = tree.find_node_mut("/cpus/idle-states/system-off");
        let removed = deepest
            .expect("a state")
            .remove_property("arm,psci-suspend-param");
        assert!(removed.is_some());
    });
    let words = [
        "Warning: the idle state system-off is left out: it has no arm,psci-suspend-param.",
        "test_rt_instr_susp_deep_serial: an idle state that was left out could be the right one",
        "psci-bench: PASS (4 passed, 2 skipped, 0 failed; 1 row skipped",
    ];
    ends(&without_parameter, Verdict::Pass, &words);
}

/// Linux prefers the device tree's frequency, and so do the figures.
#[test]
fn the_trees_frequency_overrides_cntfrq() {
    let mut spec = changed(|tree| {
        let timer = tree.find_node_mut("/timer").expect("a timer");
        let frequency = DeviceTreeProperty::new_unchecked("clock-frequency", 31_250_000_u32);
        timer.add_property(frequency);
    });
    spec.fault = Some("cntfrq,arg=24000000".to_owned());
    let words = [
        "31250000 Hz by the device tree's clock-frequency (CNTFRQ_EL0 is 24000000 Hz), a tick is 32.00 ns",
    ];
    ends(&spec, Verdict::Pass, &words);
}

/// The words of Linux also specify the console, because the tree has no stdout-path.
#[test]
fn arguments_of_linux_in_an_appended_tree_specify_the_console() {
    let bootargs = |argument: &str| {
        let mut tree = parsed(&common::good_tree(2, ""));
        let bootargs = format!("earlycon=pl011,mmio32,0x9000000 {argument} console=ttyAMA2 rw");
        set(&mut tree, "/chosen", "bootargs", bootargs);
        let chosen = tree.find_node_mut("/chosen").expect("/chosen");
        chosen.remove_property("stdout-path").expect("a console");
        with_tree("--smp 2 --icount", tree.to_dtb())
    };
    let words = [
        "Console pl011 at 0x9000000, set by earlycon in /chosen/bootargs",
        "Ignored boot arguments for another program: earlycon=pl011,mmio32,0x9000000 \
         console=ttyAMA2 rw",
        "psci-bench: PASS (1 passed",
    ];
    let own = "only=psci_version_parallel iterations=1";
    ends(&bootargs(own), Verdict::Pass, &words);
    let words = ["bootargs word 2 \"iteration=5\": unknown key"];
    ends(&bootargs("iteration=5"), Verdict::BadInput, &words);
}

#[test]
fn reserved_memory_or_a_hole_at_the_image_is_refused() {
    let mut reserved = parsed(&common::good_tree(2, ""));
    let reservation = MemoryReservation::new(0x6001_0000, 0x1000);
    reserved.memory_reservations.push(reservation);
    let reg = [0, 0x6000_1000, 0, 0x1000_0000_u32];
    let hole = changed(|tree| set(tree, MEMORY, "reg", reg));
    for (spec, words) in [
        (
            with_tree("--smp 2", reserved.to_dtb()),
            "reserved memory at 0x60010000 overlaps the image at 0x60000000",
        ),
        (hole, "no memory at 0x60000000, in the image at 0x60000000"),
    ] {
        ends(&spec, Verdict::BadInput, &[words]);
    }
}

fn parsed(blob: &[u8]) -> DeviceTree {
    DeviceTree::from_fdt(&Fdt::new_unchecked(blob))
}

/// Returns a run with a modified copy of QEMU's tree.
fn changed(change: impl FnOnce(&mut DeviceTree)) -> RunSpec {
    let mut tree = parsed(&common::good_tree(2, "iterations=1 warmup=0"));
    change(&mut tree);
    with_tree("--smp 2 --icount", tree.to_dtb())
}

/// Gives a property of the node at `path` a new value.
fn set(tree: &mut DeviceTree, path: &str, name: &str, value: impl ToPropertyValue) {
    let node = tree.find_node_mut(path).expect(path);
    node.property_mut(name).expect(name).set_value(value);
}

/// Returns a device of one page at an address.
fn device(name: &str, compatible: &str, base: u64) -> DeviceTreeNode {
    let registers = Region { base, size: 0x1000 };
    DeviceTreeNode::new_unchecked(name)
        .with_property("compatible", compatible)
        .with_reg(&[registers])
}

/// Changes that do not affect the run.
#[test]
fn changed_tree_is_measured() {
    let harmless: [fn(&mut DeviceTree); 3] = [
        |tree| repeat(tree, UART),
        |tree| {
            let watchdog = device("watchdog", "arm,sbsa-gwdt", 0xf00_0000);
            tree.root.add_child(watchdog);
        },
        |tree| {
            let registers = Region {
                base: 0x901_0000,
                size: 0x1000,
            };
            let frame = DeviceTreeNode::new_unchecked("frame")
                .with_property("frame-number", 0_u32)
                .with_property("interrupts", [0_u32, 5, 4])
                .with_reg(&[registers]);
            let timer = device("timer-mem", "arm,armv7-timer-mem", 0xf00_0000)
                .with_flag("ranges")
                .with_property("#address-cells", 2_u32)
                .with_property("#size-cells", 2_u32)
                .with_child(frame);
            tree.root.add_child(timer);
        },
    ];
    for change in harmless {
        ends(&changed(change), Verdict::Pass, &["6 passed"]);
    }
}

/// Changes that make a tree unusable.
#[test]
fn changed_tree_is_rejected_by_node_and_property() {
    let twice = changed(|tree| repeat(tree, "/cpus/cpu@1"));
    ends(&twice, Verdict::BadInput, &["cpu@1"]);
    let exchanged = changed(|tree| {
        let gic = tree.find_node(GIC).expect("a GIC");
        let reg = gic.property("reg").expect("a reg").value().to_vec();
        set(tree, GIC, "reg", page(0x900_0000));
        set(tree, UART, "reg", reg);
    });
    ends(&exchanged, Verdict::BadInput, &[GIC, "reg"]);
    let control = changed(|tree| set(tree, "/psci", "method", "\n"));
    ends(&control, Verdict::BadInput, &["psci", "method"]);
}

/// Repeats a node, with everything in it, after its siblings.
fn repeat(tree: &mut DeviceTree, path: &str) {
    let copy = tree.find_node(path).expect(path).clone();
    let (parent, _) = path.rsplit_once('/').expect(path);
    let parent = tree.find_node_mut(&format!("{parent}/")).expect(path);
    // dtoolkit compares names only when it adds a child.
    *parent.add_child_mut(DeviceTreeNode::new_unchecked("copy")) = copy;
}

/// Returns the `reg` value for a device with one page of registers.
fn page(base: u32) -> [u32; 4] {
    [0, base, 0, 0x1000]
}

/// Returns a run with the console at this address in QEMU's tree.
fn with_console(base: u32) -> RunSpec {
    changed(|tree| set(tree, UART, "reg", page(base)))
}

/// The RTC is not a UART, but nothing in the tree shows this.
#[test]
fn a_console_that_moves_says_where_to() {
    let result = common::run_spec(&with_console(0x901_0000));
    let text = result.text();
    let line = "console moves to pl011 at 0x9010000, set by /chosen/stdout-path\r\n";
    assert!(text.ends_with(line), "{text}");
    assert_eq!(result.ending, MachineEnding::Exited { success: true });
    let said = result.diagnosis.expect("a diagnosis");
    let moved = "console moved to pl011 at 0x9010000, set by /chosen/stdout-path";
    assert!(said.contains(moved), "{said}");
}

#[test]
fn a_console_in_memory_or_nowhere_does_not_move() {
    let words = ["the console at 0x70000000 overlaps memory at 0x40000000"];
    ends(&with_console(0x7000_0000), Verdict::BadInput, &words);
    let words = ["console stays: cannot read 0xf000000, set by /chosen/stdout-path"];
    ends(&with_console(0xf00_0000), Verdict::Pass, &words);
    let spec = changed(|tree| {
        set(tree, UART, "compatible", "fsl,imx7ulp-lpuart");
        set(tree, UART, "reg", page(0x901_0000));
    });
    let words = ["console stays: 0x9010000, set by /chosen/stdout-path, does not accept bytes as"];
    ends(&spec, Verdict::Pass, &words);
}

/// Sets the UART address in the parameter block of `image`.
fn set_emergency_uart(image: &mut [u8], base: u64) {
    image[PARAMETER_BLOCK + 0x18..][..8].copy_from_slice(&base.to_le_bytes());
}

#[test]
fn an_emergency_uart_that_is_not_there_is_passed_over() {
    let good = common::image(2, "iterations=1 warmup=0 only=psci_version_parallel");
    // No device is present at the first address. At the second address, the UART status register
    // would be on a different page.
    for base in [0xf00_0000u64, 0x8ff_fff8] {
        let mut image = good.clone();
        set_emergency_uart(&mut image, base);
        ends(&of_image(image), Verdict::Pass, &["Image at"]);
    }
}

/// Nothing can be printed, but the diagnosis shows where the output was sent.
#[test]
fn of_a_mute_end_both_uarts_are_named() {
    let mut tree = parsed(&common::good_tree(2, ""));
    set(&mut tree, UART, "reg", page(0xf00_0000));
    let mut image = common::image_of(Some(&tree.to_dtb()), 2);
    set_emergency_uart(&mut image, 0xf10_0000);
    let result = common::run_spec(&of_image(image));
    assert_eq!(result.ending, MachineEnding::Exited { success: true });
    let said = result.diagnosis.expect("a diagnosis");
    let named = "parameter block specifies pl011 at 0xf100000, and its device tree pl011 \
                 at 0xf000000, set by /chosen/stdout-path";
    assert!(said.contains(named), "{said}");
}

#[test]
fn a_gicv2_in_the_tree_of_a_gicv3_machine_is_named() {
    let board = common::changed_board(str::to_owned);
    let mut tree = parsed(&common::tree_of(&board, GicVersion::V2, 2, "iterations=1"));
    // The address given for the CPU interface belongs to a readable device, in this case a virtio
    // device.
    let reg = [0, 0x800_0000, 0, 0x1_0000, 0, 0xa00_0000, 0, 0x2000_u32];
    set(&mut tree, GIC, "reg", reg);
    let words = ["interrupt 30 does not arrive; the device tree describes a GICv2"];
    let spec = with_tree("--smp 2 --gic 3", tree.to_dtb());
    ends(&spec, Verdict::Incomplete, &words);
}

/// Returns an image that prints boot marks and runs quickly.
fn marking() -> Vec<u8> {
    let mut image = common::image(2, "iterations=1 warmup=0 only=psci_version_parallel");
    enable_boot_log(&mut image).expect("a UART");
    image
}

/// Each value damages some fields in a way that only that value does: an offset beyond the UART's
/// registers, one that is not aligned, one in another page, and a plausible one.
const DAMAGED: [u8; 4] = [0x25, 0x80, 0xff, 1];

/// Each field of the parameter block, by the offset after its last byte.
const FIELDS: [(&str, usize); 14] = [
    ("no psci-bench parameter block", 8),
    ("parameter block version", 0xc),
    ("length", 0x10),
    ("uart_kind", 0x14),
    ("uart_shift", 0x15),
    ("uart_width", 0x16),
    ("marks", 0x18),
    ("uart_base", 0x20),
    ("tree_offset", 0x28),
    ("tree_size", 0x30),
    ("base_size", 0x38),
    ("conduit", 0x3c),
    ("build", 0x40),
    ("digest", 0x48),
];

/// Boots an image in which byte `at` of the parameter block is `value`.
fn boots_damaged(good: &[u8], at: usize, value: u8) {
    let mut image = good.to_vec();
    image[PARAMETER_BLOCK + at] = value;
    let run = RunSpec {
        timeout: Duration::from_secs(20),
        ..of_image(image)
    };
    let result = common::run_spec(&run);
    let text = result.text();
    let said = result.diagnosis.unwrap_or_default();
    let field = FIELDS.iter().find(|(_, field_end)| at < *field_end);
    let (name, _) = field.expect("the block ends with its last field");
    match result.verdict {
        Verdict::Pass => {}
        Verdict::BadInput => assert!(text.contains(name), "{name} {at:#x} {value:#x}: {text}"),
        _ => panic!("{name} {at:#x} {value:#x}: {said}: {text}"),
    }
}

/// The entry code writes to the UART that the block describes, before any exception can be handled.
#[test]
fn a_damaged_parameter_block_is_refused_by_field_or_harmless() {
    let good = marking();
    for at in 0..PARAMETER_BLOCK_SIZE {
        boots_damaged(&good, at, DAMAGED[at % DAMAGED.len()]);
    }
    for at in [0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c] {
        for value in DAMAGED
            .into_iter()
            .filter(|value| *value != DAMAGED[at % DAMAGED.len()])
        {
            boots_damaged(&good, at, value);
        }
    }
}

#[test]
fn a_parameter_block_without_magic_or_conduit_is_refused() {
    let mut image = common::image(2, "");
    image[PARAMETER_BLOCK + 0x39] = 0xff;
    let words = [
        "conduit at offset 0x78: 0xff01, expected 0 to 2",
        "the parameter block is damaged; rebuild the image",
    ];
    ends(&of_image(image.clone()), Verdict::BadInput, &words);
    image[PARAMETER_BLOCK] ^= 1;
    let words = ["no psci-bench parameter block at offset 0x40"];
    ends(&of_image(image), Verdict::BadInput, &words);
}

#[test]
fn an_exception_names_its_place() {
    let absent = [0, 0xf00_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0xf6_0000_u32];
    let beyond = [1, 0, 0, 0x4000_0000_u32];
    let in_gic = "data abort, in the GIC's distributor, at offset 0x";
    let no_memory = "data abort, no memory at 0x100000000";
    let hvc = "HVC from EL2: is the conduit smc?";
    for (spec, words) in [
        (changed(|tree| set(tree, GIC, "reg", absent)), in_gic),
        (changed(|tree| set(tree, MEMORY, "reg", beyond)), no_memory),
        (changed(|tree| set(tree, "/psci", "method", "hvc")), hvc),
    ] {
        let last = "psci-bench: INCOMPLETE: exception on the lead CPU: ";
        let words = format!("exception on the lead CPU: {words}");
        let result = ends(&spec, Verdict::Incomplete, &[last, &words]).result;
        assert_eq!(result.ending, MachineEnding::Exited { success: true });
    }
}

/// The region only has room for the lead's redistributor.
#[test]
fn a_cpu_without_a_redistributor_is_named() {
    let reg = [0, 0x800_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0x2_0000_u32];
    let spec = changed(|tree| set(tree, GIC, "reg", reg));
    let words = ["device tree: CPU 0x1: no GIC redistributor has this CPU's affinity"];
    ends(&spec, Verdict::BadInput, &words);
}

/// Tests an undefined instruction on the lead, and one in code that the lead does not execute.
#[test]
fn an_exception_is_dumped_and_costs_its_cpu() {
    let on_lead = [
        "Unhandled exception on CPU 0x0",
        "EC 0x00",
        "x30",
        "exception on the lead",
    ];
    let on_other = ["exception on CPU 0x1", "took an exception", "1 CPU lost"];
    for (symbol, verdict, words, absent) in [
        ("empty_smc", Verdict::Incomplete, &on_lead[..], &[][..]),
        (
            "secondary_ready",
            Verdict::Fail,
            &on_other,
            &["exception on CPU 0x0"],
        ),
    ] {
        let mut image = common::image(2, "iterations=2 warmup=0");
        let at = common::offset_of(symbol);
        image[at..at + 4].fill(0);
        let ran = ends(&of_image(image), verdict, words).lacks(absent);
        let text = ran.result.text();
        assert_eq!(text.matches("Unhandled exception").count(), 1);
    }
}

/// CPU 0 boots, but its node describes a different CPU.
#[test]
fn a_cpu_that_is_missing_from_the_tree() {
    let mut tree = parsed(&common::good_tree(1, ""));
    set(&mut tree, "/cpus/cpu@0", "reg", 7_u64);
    let words = ["no cpu node has the boot CPU's reg"];
    let spec = with_tree("--smp 4", tree.to_dtb());
    ends(&spec, Verdict::BadInput, &words);
}
