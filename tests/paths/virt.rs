//! QEMU's built-in loaders and PSCI on the `virt` machine.

use boards::{BoardFile, Conduit, GicVersion};
use runner::build::image::Emergency;
use suite::measure::Metric;
use suite::model::Verdict;
use suite::plan::ScenarioId;

use crate::common;
use crate::machine::{FEW, Machine, image, with_tree};

const PSCI_VERSION_PARALLEL: ScenarioId = ScenarioId::PSCI_VERSION_PARALLEL;
const CPU_OFF_SERIAL: ScenarioId = ScenarioId::CPU_OFF_SERIAL;
const CPU_SUSPEND_PARALLEL: ScenarioId = ScenarioId::CPU_SUSPEND_PARALLEL;
/// Returns the tree from the board file for QEMU's built-in PSCI, which has one idle state.
pub fn tree(cpus: u32, conduit: Conduit) -> Vec<u8> {
    let board = boards::load("qemu").expect("the board");
    common::builtin_tree(&board, conduit, cpus, FEW)
}

/// Boot arguments that the Raspberry Pi firmware adds to every tree.
const FIRMWARES: &str = "coherent_pool=1M 8250.nr_uarts=1 snd_bcm2835.enable_headphones=0 \
                         vc_mem.mem_base=0x3ec00000 console=tty1 rootwait";

/// `-kernel`: QEMU passes its own tree.
#[test]
fn kernel_at_el1() {
    let passed_over = format!("Ignored boot arguments for another program: {FIRMWARES}");
    let both = format!("{FIRMWARES} {FEW}");
    // The maximum number of boot arguments that Linux accepts.
    let words: String = (100..300).map(|number| format!("www{number}=1 ")).collect();
    let many = format!("{words} {FEW}");
    // 125 words of 8 characters, each followed by a space.
    let shown = format!("another program: {}...", &words[..125 * 9]);
    let only = "iterations=2 warmup=0 only=psci_version_parallel";
    for (gic, cpus, args, passed_over) in [
        (2, 8, &*both, Some(&*passed_over)),
        (3, 8, &*many, Some(&*shown)),
        (3, 512, only, None),
    ] {
        let machine = format!("virt,gic-version={gic} -cpu cortex-a57");
        let at = "Image at 0x40200000, device tree at";
        let seen = Machine::new(&machine)
            .with(&format!("-smp {cpus} -m 512"))
            .kernel(args)
            .run();
        let log = match passed_over {
            Some(words) => seen.passes(&[at, "(X0)", "linux,dummy-virt", words]),
            None => {
                seen.lacks(&["Ignored boot arguments"])
                    .passes(&[at, "(X0)", "linux,dummy-virt"])
            }
        };
        assert_eq!(log.metric(PSCI_VERSION_PARALLEL, Metric::Call).len(), cpus);
        assert_eq!(log.machine(), (1, Conduit::Hvc, gic));
    }
}

/// No tree is passed, X0 is 0, and the user chooses the load address.
#[test]
fn loaded_anywhere() {
    for (on, conduit, el, addresses) in [
        ("off", Conduit::Hvc, 1, [0x4020_0000].as_slice()),
        ("on", Conduit::Smc, 2, &[0x4123_4000, 0x8765_4000]),
    ] {
        let tree = tree(4, conduit);
        for address in addresses {
            let log = Machine::new(&format!("virt,virtualization={on},gic-version=3"))
                .with("-cpu cortex-a57 -smp 4 -m 1536")
                .loaded("Image", &with_tree(&tree), *address, ",cpu-num=0")
                .run()
                .passes(&[&format!(
                    "Image at {address:#x}, device tree appended to the image"
                )]);
            assert_eq!(log.machine(), (el, conduit, 3));
            assert_eq!(log.metric(CPU_SUSPEND_PARALLEL, Metric::Wake).len(), 4);
        }
    }
}

/// Returns a machine that enters the payload at EL2, with a tree for this board.
fn at_el2(options: &str, board: &BoardFile, cpus: u32) -> Machine {
    let image = with_tree(&common::builtin_tree(board, Conduit::Smc, cpus, FEW));
    Machine::new("virt,virtualization=on,gic-version=3")
        .with(options)
        .loaded("Image", &image, 0x4020_0000, ",cpu-num=0")
}

/// The payload boots on a Cortex-A53, as on HiKey960. If the tree specifies another CPU or an SoC
/// with a counter erratum, the workaround applies to all CPUs.
#[test]
fn the_counter_has_an_erratum() {
    let a73 = "\"arm,cortex-a73\", ".repeat(7);
    let clusters = format!("[cpus]\ncompatible = [\"arm,cortex-a53\", {a73}]\n");
    let soc = "[timer]\nerratum = \"allwinner,erratum-unknown1\"\n";
    for (table, new, named) in [
        ("[cpus]\n", &*clusters, "Cortex-A73's erratum 858921"),
        ("[timer]\n", soc, "allwinner,erratum-unknown1"),
    ] {
        let board = common::board_with(table, new);
        let seen = at_el2("-cpu cortex-a53 -smp 5 -m 1024", &board, 5).run();
        let log = seen.passes(&[&format!("CNTPCT (read twice for {named})")]);
        assert_eq!(log.metric(PSCI_VERSION_PARALLEL, Metric::Call).len(), 5);
    }
}

/// A loader at EL2 leaves an SError pending for the payload at EL1. The payload takes the SError
/// once there is a console to report it on.
#[test]
fn an_serror_is_pending() {
    const HCR_RW_AMO_VSE: u32 = 1 << 31 | 1 << 8 | 1 << 5;
    // Continues on the next page at EL1 with SP_EL1 and all exceptions masked.
    let mut stub: Vec<u8> = [
        0xd2a0_0001 | (HCR_RW_AMO_VSE >> 16) << 5, // movz x1, …, lsl #16
        0xf280_0001 | (HCR_RW_AMO_VSE & 0xffff) << 5, // movk x1, …
        0xd51c_1101,                               // msr hcr_el2, x1
        0xd280_0061,                               // movz x1, #3
        0xd51c_e101,                               // msr cnthctl_el2, x1
        0xd280_78a1,                               // movz x1, #0x3c5
        0xd51c_4001,                               // msr spsr_el2, x1
        0xb000_0001,                               // adrp x1, the next page
        0xd51c_4021,                               // msr elr_el2, x1
        0xd69f_03e0,                               // eret
    ]
    .into_iter()
    .flat_map(u32::to_le_bytes)
    .collect();
    stub.resize(4096, 0);
    stub.extend(with_tree(&tree(4, Conduit::Smc)));
    Machine::new("virt,virtualization=on,gic-version=3")
        .with("-cpu cortex-a57 -smp 4 -m 1024")
        .loaded("Image", &stub, 0x4020_0000, ",cpu-num=0")
        .run()
        .ends(
            Verdict::Incomplete,
            &["Unhandled exception on CPU 0x0 (SError, vector 7)"],
        );
}

/// Returns code that stores words to 32-bit addresses, followed by the instructions in `then`.
fn storing(stores: &[(u32, u32)], then: &[u32]) -> Vec<u32> {
    let mut code = Vec::new();
    for (address, value) in stores {
        for (register, number) in [(1, address), (2, value)] {
            code.push(0xd280_0000 | (number & 0xffff) << 5 | register); // movz
            code.push(0xf2a0_0000 | (number >> 16) << 5 | register); // movk …, lsl #16
        }
        code.push(0xb900_0022); // str w2, [x1]
    }
    code.extend(then);
    code
}

/// An earlier stage left the UART's interrupt (an SPI) enabled, and it is asserted from the first
/// byte onward. That stage also acknowledged SGI 0, which has the same priority as the payload's
/// SGI, but did not complete it.
#[test]
fn an_earlier_stage_left_the_gic_in_use() {
    const ONES: u32 = u32::MAX;
    const PRIORITIES: u32 = 0xa0a0_a0a0;
    // UARTIMSC: TXIM. GICD_IPRIORITYR8, GICD_ISENABLER1: SPI 1.
    let uart = [
        (0x900_0038, 0x20),
        (0x800_0420, PRIORITIES),
        (0x800_0104, 2),
    ];
    // GICD_CTLR, GICC_PMR, GICC_CTLR, GICD_ITARGETSR8, GICD_IPRIORITYR0, GICD_ISENABLER0, and
    // GICD_SGIR, which targets the sending CPU.
    let v2 = [
        (0x800_0000, 1),
        (0x801_0004, 0xff),
        (0x801_0000, 1),
        (0x800_0820, 0x0101_0101),
        (0x800_0400, PRIORITIES),
        (0x800_0100, 1),
        (0x800_0f00, 2 << 24),
    ];
    // movz x1, #0x801, lsl #16; ldr w2, [x1, #0xc]: GICC_IAR.
    let acknowledge_v2 = [0xd2a1_0021, 0xb940_0c22];
    // GICD_CTLR twice, GICD_IGROUPR1, GICR_WAKER, GICR_IGROUPR0, GICR_IPRIORITYR0,
    // GICR_ISENABLER0.
    let v3 = [
        (0x800_0000, 0x10),
        (0x800_0000, 0x12),
        (0x800_0084, ONES),
        (0x80a_0014, 0),
        (0x80b_0080, ONES),
        (0x80b_0400, PRIORITIES),
        (0x80b_0100, 1),
    ];
    let acknowledge_v3 = [
        0xd280_01e2, // movz x2, #0xf
        0xd51c_c9a2, // msr icc_sre_el2, x2
        0xd503_3fdf, // isb
        0xd518_cca2, // msr icc_sre_el1, x2
        0xd503_3fdf, // isb
        0xd280_1fe2, // movz x2, #0xff
        0xd518_4602, // msr icc_pmr_el1, x2
        0xd280_0022, // movz x2, #1
        0xd518_cce2, // msr icc_igrpen1_el1, x2
        0xd518_cba2, // msr icc_sgi1r_el1, x2: to Aff0 = 0
        0xd503_3fdf, // isb
        0xd538_cc02, // mrs x2, icc_iar1_el1
    ];
    let board = boards::load("qemu").expect("the board");
    for (gic, stores, acknowledge) in [
        (GicVersion::V2, v2, &acknowledge_v2[..]),
        (GicVersion::V3, v3, &acknowledge_v3),
    ] {
        let mut code = storing(&[&stores[..], &uart].concat(), acknowledge);
        // Execution continues on the next page.
        code.push(0x1400_0000 | (1024 - code.len() as u32));
        let mut stub: Vec<u8> = code.into_iter().flat_map(u32::to_le_bytes).collect();
        stub.resize(4096, 0);
        let few = format!("{FEW} only=cpu_susp_parallel");
        let tree = common::tree_under("builtin", Conduit::Smc, &board, gic, 2, &few);
        stub.extend(with_tree(&tree));
        let number = gic.number();
        let log = Machine::new(&format!("virt,virtualization=on,gic-version={number}"))
            .with("-cpu cortex-a57 -smp 2 -m 1536")
            .loaded("Image", &stub, 0x4020_0000, ",cpu-num=0")
            .run()
            .passes(&["1 passed, 0 skipped, 0 failed"]);
        assert_eq!(log.metric(CPU_SUSPEND_PARALLEL, Metric::Wake).len(), 2);
    }
}

/// Reading ICC_SRE_EL1 is undefined on a CPU without a GICv3 CPU interface.
#[test]
fn a_tree_for_a_gicv3_on_a_machine_with_a_gicv2() {
    let board = boards::load("qemu").expect("the board");
    let tree = common::tree_under("builtin", Conduit::Smc, &board, GicVersion::V3, 2, FEW);
    Machine::new("virt,virtualization=on,gic-version=2")
        .with("-cpu cortex-a57 -smp 2 -m 1536")
        .loaded("Image", &with_tree(&tree), 0x4020_0000, ",cpu-num=0")
        .run()
        .ends(
            Verdict::Incomplete,
            &["CPU 0x0: this CPU has no GICv3 system registers"],
        );
}

/// As on a board with an unknown interrupt controller, CPUs are turned on and off but not
/// suspended.
#[test]
fn a_tree_without_a_gic() {
    let board = common::changed_board(|text| {
        let mut kept = true;
        let lines = text.lines().filter(|line| {
            if line.starts_with('[') {
                kept = !line.starts_with("[gic") && !line.starts_with("[timer]");
            }
            kept
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    let seen = at_el2("-cpu cortex-a57 -smp 4 -m 1024", &board, 4)
        .recorded()
        .run();
    let log = seen.passes(&[
        "Wake-up : none: no GIC",
        "Skipped: no GIC: nothing can wake a suspended CPU",
        "2 passed, 4 skipped, 0 failed",
    ]);
    // In other tests, the exception record contains no calls. This test checks that calls would be
    // recorded: there must be at least a CPU_ON and a CPU_OFF for each sample.
    let calls = seen.calls.expect("a record");
    assert!(calls >= 2 * 2 * 3, "{calls} calls");
    assert_eq!(log.facts().gic, None);
    assert_eq!(log.metric(CPU_OFF_SERIAL, Metric::TurnOn).len(), 3);
    assert_eq!(log.metric(PSCI_VERSION_PARALLEL, Metric::Call).len(), 4);
}

/// Nothing can be measured at EL3. The error is printed on the UART that the tree or the parameter
/// block specifies. No firmware call is made, although the tree and the block specify a conduit.
#[test]
fn entered_at_el3() {
    let board = boards::load("qemu").expect("the board");
    let emergency = Emergency::of_board(&board, Conduit::Smc);
    let by_block = image(None, emergency);
    let by_tree = with_tree(&tree(4, Conduit::Smc));
    for (machine, image) in [
        ("virt,secure=on", by_tree),
        ("virt,secure=on,virtualization=on", by_block),
    ] {
        let words = [
            "ERROR: entered at EL3, so there is no PSCI firmware to measure: load psci-bench as BL33",
        ];
        Machine::new(machine)
            .with("-cpu cortex-a57 -smp 2 -m 1024")
            .loaded("Image", &image, 0x4020_0000, ",cpu-num=0")
            .recorded()
            .run()
            .parks(Verdict::Incomplete, &words);
    }
}
