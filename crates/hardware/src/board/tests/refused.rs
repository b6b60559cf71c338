//! Trees that are rejected.

use std::format;

use super::edited_tree::Edit::{self, Add, AddEach, Remove, Reserve, Set, Unset};
use super::edited_tree::Tree::{self, Devices, Juno, Qemu};
use super::edited_tree::Value::{Bytes, Cells, Empty, Text, Texts};

/// Trees, edits and expected error messages.
#[rustfmt::skip]
pub const REFUSED: &[(Tree, &[Edit<'static>], &str)] = &[
    // Missing or invalid nodes and properties.
    (Qemu(4), &[Remove("/psci"), Set("/cpus/cpu@2", "enable-method", Text("spin-table"))],
        "no enabled node compatible with arm,psci-0.2 or later, and CPUs with enable-method = \
         \"spin-table\": use the running board's tree if the boot loader adds the node"),
    (Qemu(4), &[Remove("/psci")],
        "no enabled node compatible with arm,psci-0.2 or later: use the running board's tree if \
         the boot loader adds the node"),
    (Qemu(4), &[Unset("/psci", "method")], "/psci method: missing"),
    (Qemu(4), &[Remove("/pl011@9000000")],
        "/chosen stdout-path: no node has the path \"/pl011@9000000\""),
    (Qemu(4), &[Unset("/pl011@9000000", "reg")], "/pl011@9000000 reg: missing"),
    (Qemu(4), &[Unset("/pl011@9000000", "compatible")], "/pl011@9000000 compatible: missing"),
    (Qemu(4), &[Unset("/intc@8000000", "reg")], "/intc@8000000 reg: missing"),
    (Qemu(4), &[Unset("/intc@8000000", "#interrupt-cells")],
        "/intc@8000000 #interrupt-cells: missing"),
    (Qemu(4), &[Remove("/timer")], "no node compatible with arm,armv8-timer"),
    (Qemu(4), &[Unset("/timer", "interrupts")], "/timer interrupts: missing"),
    (Qemu(4), &[Set("/memory@40000000", "reg", Cells(&[0, 0x4000_0000, 0, 0]))],
        "no memory node has a size: the boot loader should fill it in"),
    (Qemu(4), &[Unset("/memory@40000000", "reg")],
        "no memory node has a size: the boot loader should fill it in"),
    (Qemu(4), &[Unset("/memory@40000000", "reg"), Unset("/memory@40000000", "device_type")],
        "no memory node has a size: the boot loader should fill it in"),
    (Qemu(4), &[Remove("/memory@40000000")],
        "no enabled memory node: none has device_type = \"memory\", and no child of the root is \
         called memory"),
    (Qemu(4), &[Set("/memory@40000000", "status", Text("disabled"))],
        "/memory@40000000 status: \"disabled\", expected okay, because no other memory is enabled"),
    (Qemu(4), &[
        Unset("/memory@40000000", "device_type"), Set("/memory@40000000", "status", Text("fail")),
    ], "/memory@40000000 status: \"fail\", expected okay, because no other memory is enabled"),
    // On-chip memory in a tree of Linux.
    (Qemu(4), &[
        Remove("/memory@40000000"),
        Add("/", "sram@10f000 { compatible = \"mmio-sram\"; reg = <0 0x10f000 0 0x100>; }"),
    ],
        "no enabled memory node: none has device_type = \"memory\", and no child of the root is \
         called memory; mmio-sram is used only if /chosen/zephyr,sram refers to it"),
    // Names of memory that is not the board's: a reserved region, and a part of on-chip memory.
    (Juno, &[
        Remove("/memory@80000000"),
        Add("/reserved-memory", "memory@80000000 { reg = <0 0x80000000 0 0x1000>; }"),
        Add("/", "memory@2e000000 { compatible = \"arm,juno-sram-ns\"; reg = <0 0x2e000000 0 0x8000>; }"),
    ],
        "no enabled memory node: none has device_type = \"memory\", and no child of the root is \
         called memory"),
    (Qemu(1), &[Remove("/memory@40000000"), Set("/chosen", "zephyr,sram", Cells(&[0x77]))],
        "/chosen zephyr,sram: no node has the phandle 0x77"),
    (Qemu(1), &[Remove("/memory@40000000"), Set("/chosen", "zephyr,sram", Text("/dram"))],
        "/chosen zephyr,sram: no node has the path \"/dram\""),
    (Qemu(4), &[Remove("/cpus")], "no node /cpus"),
    (Qemu(4), &[Unset("/cpus", "#address-cells")], "/cpus #address-cells: missing"),
    (Qemu(4), &[Unset("/cpus/cpu@2", "reg")], "/cpus/cpu@2 reg: missing"),
    (Qemu(4), &[Unset("/cpus/cpu@2", "phandle")],
        "/cpus/cpu-map/cluster0/core2 cpu: no CPU has the phandle 0x1002"),
    (Qemu(4), &[Remove("/cpus/cpu-map/cluster0/core1")],
        "/cpus cpu-map: the CPU with MPIDR 0x1 is missing"),
    (Qemu(4), &[Remove("/cpus/cpu-map/cluster0")],
        "/cpus cpu-map: the CPU with MPIDR 0x0 is missing"),
    (Qemu(1), &[Remove("/chosen"), Remove("/aliases")],
        "no stdout-path in /chosen and no alias serial0, so the console is unknown"),
    (Qemu(1), &[Set("/cpus/cpu@0", "status", Text("disabled"))],
        "no enabled CPU under /cpus"),

    // The firmware.
    (Qemu(4), &[Set("/psci", "compatible", Text("arm,psci"))],
        "/psci compatible: PSCI 0.1 with the function IDs of 0.2; if the firmware implements 0.2: \
         fdtput -t s TREE /psci compatible arm,psci-0.2"),
    (Juno, &[
        Set("/firmware/psci", "compatible", Text("arm,psci")),
        Set("/firmware/psci", "cpu_suspend", Cells(&[0x8400_0001])),
        Set("/firmware/psci", "cpu_on", Cells(&[0x8400_0003])),
    ],
        "/firmware/psci compatible: PSCI 0.1 with the function IDs of 0.2; if the firmware \
         implements 0.2: fdtput -t s TREE /firmware/psci compatible arm,psci-0.2"),
    (Qemu(4), &[
        Set("/psci", "compatible", Text("arm,psci")),
        Set("/psci", "cpu_off", Cells(&[0x95c1_ba5f])),
    ], "/psci compatible: PSCI 0.1 with its own function IDs; arm,psci-0.2 or later is needed"),
    (Qemu(4), &[
        Set("/psci", "compatible", Text("arm,psci")), Set("/psci", "cpu_on", Bytes(&[0x84])),
    ], "/psci compatible: PSCI 0.1 with its own function IDs; arm,psci-0.2 or later is needed"),
    (Qemu(4), &[Set("/psci", "compatible", Text("arm,psci")), Unset("/psci", "cpu_on")],
        "/psci compatible: PSCI 0.1 with its own function IDs; arm,psci-0.2 or later is needed"),
    (Qemu(4), &[Set("/psci", "compatible", Text("arm,psci-x"))],
        "/psci compatible: \"arm,psci-x\", expected arm,psci-0.2 or later"),
    (Qemu(4), &[Set("/psci", "compatible", Text("arm,psci-0.1"))],
        "/psci compatible: PSCI 0.1 with the function IDs of 0.2; if the firmware implements 0.2: \
         fdtput -t s TREE /psci compatible arm,psci-0.2"),
    (Qemu(4), &[Set("/psci", "compatible", Texts(&["vendor,board", "Arm,PSCI-1.0"]))],
        "/psci compatible: \"Arm,PSCI-1.0\", expected arm,psci-0.2 or later"),
    (Qemu(4), &[Set("/psci", "method", Text("svc"))], "/psci method: \"svc\", expected smc or hvc"),
    (Qemu(4), &[Set("/psci", "method", Bytes(&[0x73, 0x6d, 0x63]))],
        "/psci method: not a string of printable ASCII characters"),
    (Qemu(4), &[Set("/psci", "status", Text("disabled"))],
        "no enabled node compatible with arm,psci-0.2 or later: use the running board's tree if \
         the boot loader adds the node"),

    // The console.
    (Qemu(1), &[Set("/pl011@9000000", "compatible", Bytes(&[0xc3, 0x00]))],
        "/pl011@9000000 compatible: not a string of printable ASCII characters"),
    (Qemu(4), &[Set("/pl011@9000000", "status", Text("disabled"))],
        "/pl011@9000000 status: \"disabled\", expected okay because the console needs it"),
    (Qemu(4), &[Set("/", "status", Text("disabled"))],
        "/ status: \"disabled\", expected okay because the console needs it"),
    (Qemu(4), &[Set("/pl011@9000000", "reg", Cells(&[0, 0x900_0000, 0, 0x40]))],
        "/pl011@9000000 reg: 0x40, expected a size that covers all registers"),
    (Qemu(4), &[Set("/pl011@9000000", "reg", Cells(&[0, 0x900_0000, 0, 0]))],
        "/pl011@9000000 reg: the region at 0x9000000 is empty"),
    (Qemu(4), &[Set("/pl011@9000000", "reg", Cells(&[0, 0x900_0002, 0, 0x1000]))],
        "/pl011@9000000 reg: 0x9000002, expected an address aligned to reg-io-width"),
    (Qemu(4), &[Set("/pl011@9000000", "reg", Cells(&[0xffff_ffff, 0xffff_f000, 0, 0x1001]))],
        "/pl011@9000000 reg: 0x1001 bytes at 0xfffffffffffff000 exceed 64-bit addresses"),
    (Qemu(4), &[Set("/pl011@9000000", "reg", Cells(&[0, 0x900_0000, 0x1000]))],
        "/pl011@9000000 reg: 12 bytes, expected complete pairs of address and size"),
    (Qemu(4), &[Set("/pl011@9000000", "reg", Empty)],
        "/pl011@9000000 reg: 0 bytes, expected more entries"),
    (Qemu(4), &[Set("/pl011@9000000", "reg-offset", Cells(&[0xffff_ffff]))],
        "/pl011@9000000 reg: 0x1000, expected a size that covers all registers"),
    (Qemu(4), &[Set("/pl011@9000000", "reg-offset", Bytes(&[0x00]))],
        "/pl011@9000000 reg-offset: 1 bytes, expected 4"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "reg-shift", Cells(&[5])),
    ], "/pl011@9000000 reg-shift: 0x5, expected 0 to 4"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "reg-shift", Cells(&[0x100])),
    ], "/pl011@9000000 reg-shift: 0x100, expected 0 to 4"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "reg-io-width", Cells(&[3])),
    ], "/pl011@9000000 reg-io-width: 0x3, expected 1, 2 or 4"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "reg-io-width", Cells(&[2])),
    ], "/pl011@9000000 reg-io-width: 0x2, expected at most the register spacing"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "big-endian", Empty),
    ], "/pl011@9000000 big-endian: not supported"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("fsl,imx6q-uart")),
        Set("/pl011@9000000", "reg", Cells(&[0, 0x900_0000, 0, 0x80])),
    ], "/pl011@9000000 reg: 0x80, expected a size that covers all registers"),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("st,stm32h7-uart")),
        Set("/pl011@9000000", "reg", Cells(&[0, 0x900_0001, 0, 0x400])),
    ], "/pl011@9000000 reg: 0x9000001, expected an address aligned to reg-io-width"),
    (Qemu(4), &[Set("/chosen", "stdout-path", Text("serial1:9600"))],
        "/chosen stdout-path: no node has the path \"serial1\""),
    (Qemu(4), &[
        Set("/chosen", "stdout-path", Text("serial0:115200n8")),
        Set("/aliases", "serial0", Text("/soc/uart@9000000")),
    ], "/aliases: the path of serial0 is \"/soc/uart@9000000\", which no node has"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"), Set("/aliases", "serial0", Text("/soc/uart@9000000")),
    ], "/aliases: the path of serial0 is \"/soc/uart@9000000\", which no node has"),
    (Qemu(4), &[Unset("/chosen", "stdout-path"), Set("/aliases", "serial0", Bytes(&[0xff, 0x00]))],
        "/aliases (an alias): not a string of printable ASCII characters"),

    // If a property specifies a UART that is not there, or a disabled one, alias serial0 is not
    // used instead.
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Set("/pl011@9000000", "status", Text("disabled")),
    ], "no stdout-path in /chosen and alias serial0 is disabled, so the console is unknown"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon=meson,0xfe07a000 iterations=1")),
    ], "/chosen bootargs: earlycon=meson,0xfe07a000: no UART node has this address"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon=uart8250,io,0x3f8")),
    ],
        "/chosen bootargs: earlycon=uart8250,io,0x3f8: only memory-mapped, little-endian \
         UARTs are supported"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon=pl011,mmio32,9000000")),
    ], "/chosen bootargs: earlycon=pl011,mmio32,9000000: expected 0x and an address"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon=uart,mmio32,0xfeb50001")),
    ], "/chosen bootargs: earlycon=uart,mmio32,0xfeb50001: the address is not aligned"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "serial@9040000 { compatible = \"amlogic,meson-uart\"; reg = <0 0x9040000 0 0x18>; }"),
        Set("/chosen", "bootargs", Text("earlycon=meson,0x9040000")),
        Unset("/serial@9040000", "compatible"),
    ], "/serial@9040000 compatible: missing"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("console=ttyS2,1500000n8")),
    ], "/chosen bootargs: console=ttyS2,1500000n8: no UART has the alias serial2"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"), Set("/chosen", "bootargs", Text("console=ttyS0")),
    ], "/chosen bootargs: console=ttyS0: alias serial0 is a different kind of UART"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"), Set("/chosen", "bootargs", Text("console=ttyAMA0")),
        Set("/pl011@9000000", "status", Text("disabled")),
    ], "/chosen bootargs: console=ttyAMA0: alias serial0 is disabled"),
    (Qemu(4), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "fiq-debugger { compatible = \"rockchip,fiq-debugger\"; rockchip,serial-id = <2>; }"),
    ], "/fiq-debugger rockchip,serial-id: no UART has the alias serial2"),
    (Qemu(4), &[Unset("/chosen", "stdout-path"), Set("/chosen", "zephyr,console", Cells(&[0x99]))],
        "/chosen zephyr,console: no node has the phandle 0x99"),

    // Buses between the root and the console.
    (Juno, &[Set("/bus@7f000000/apb", "ranges", Cells(&[0, 3, 0xf0_0000, 0x1_0000]))],
        "/bus@7f000000/apb ranges: no entry covers 0x1000 bytes at 0x80000"),
    (Juno, &[Set("/bus@7f000000/apb", "ranges", Cells(&[0, 3, 0xf0_0000, 0x8_0800]))],
        "/bus@7f000000/apb ranges: no entry covers 0x1000 bytes at 0x80000"),
    (Juno, &[Set("/bus@7f000000/apb", "ranges", Cells(&[0, 3, 0xf0_0000]))],
        "/bus@7f000000/apb ranges: 12 bytes, expected complete entries of two addresses and a \
         size"),
    (Juno, &[Set("/bus@7f000000/apb", "ranges", Cells(&[0, 0xffff_ffff, 0xffff_0000, 0x10_0000]))],
        "/bus@7f000000/apb ranges: 0x100000 bytes at 0xffffffffffff0000 exceed 64-bit addresses"),
    (Juno, &[Set("/bus@7f000000/apb", "#address-cells", Cells(&[3]))],
        "/bus@7f000000/apb #address-cells: 0x3, expected 1 or 2 (PCI devices are not supported)"),
    (Juno, &[Set("/bus@7f000000/apb", "#size-cells", Cells(&[0]))],
        "/bus@7f000000/apb #size-cells: 0x0, expected 1 or 2"),
    (Juno, &[Set("/bus@7f000000/apb", "status", Text("disabled"))],
        "/bus@7f000000/apb status: \"disabled\", expected okay because the console needs it"),
    (Juno, &[Unset("/bus@7f000000", "ranges")],
        "/bus@7f000000 ranges: missing, so the CPUs cannot reach devices on this bus"),

    // The boot arguments.
    (Qemu(4), &[Set("/chosen", "bootargs", Bytes(&[0x71, 0x75, 0x69, 0x65, 0x74, 0xe9, 0x00]))],
        "/chosen bootargs: not a string of printable ASCII characters"),
    (Qemu(1), &[Set("/chosen", "bootargs", Texts(&["iterations=2", "iterations=9"]))],
        "/chosen bootargs: text follows the NUL at offset 12"),

    // GIC and timers.
    (Qemu(4), &[
        Set("/intc@8000000", "reg", Cells(&[0, 0x800_1000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0x2_0000])),
    ], "/intc@8000000 reg: 0x8001000, expected an aligned GIC frame"),
    (Qemu(4), &[
        Set("/intc@8000000", "reg", Cells(&[0, 0x800_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0x1_0000])),
    ], "/intc@8000000 reg: 0x10000, expected a size that covers the GIC's registers"),
    (Qemu(4), &[Set("/intc@8000000", "#redistributor-regions", Cells(&[9]))],
        "/intc@8000000 #redistributor-regions: 0x9, expected 1 to 8"),
    (Qemu(4), &[Set("/intc@8000000", "#redistributor-regions", Cells(&[2]))],
        "/intc@8000000 reg: 32 bytes, expected more entries"),
    (Qemu(4), &[Set("/intc@8000000", "redistributor-stride", Cells(&[0, 0x2_1000]))],
        "/intc@8000000 redistributor-stride: 0x21000, expected a multiple of 64 KiB, at least \
         128 KiB"),
    (Qemu(4), &[Set("/intc@8000000", "redistributor-stride", Cells(&[0, 0, 0x2_0000]))],
        "/intc@8000000 redistributor-stride: 12 bytes, expected 8"),
    (Qemu(4), &[Set("/intc@8000000", "#interrupt-cells", Cells(&[1]))],
        "/intc@8000000 #interrupt-cells: 0x1, expected 3 or 4"),
    (Qemu(4), &[Set("/timer", "interrupts", Cells(&[1, 13, 4, 1, 14]))],
        "/timer interrupts: 20 bytes, expected complete GIC interrupt specifiers"),
    (Qemu(4), &[Set("/timer", "interrupts", Cells(&[1, 13, 4, 0, 14, 4]))],
        "/timer interrupts: 0x0, expected interrupt type 1 (PPI)"),
    (Qemu(4), &[Set("/timer", "interrupts", Cells(&[1, 13, 4, 1, 16, 4]))],
        "/timer interrupts: 0x10, expected a PPI from 0 to 15"),
    (Qemu(4), &[Set("/timer", "interrupts", Cells(&[1, 13, 4]))],
        "/timer interrupts: 12 bytes, expected a non-secure timer"),
    (Qemu(4), &[Set("/timer", "interrupts-extended", Cells(&[9, 1, 13, 4, 9, 1, 14, 4]))],
        "/timer interrupts-extended: 0x9, expected the GIC's phandle"),

    // The CPUs and their labels.
    (Qemu(4), &[Set("/cpus", "#address-cells", Cells(&[3]))],
        "/cpus #address-cells: 0x3, expected 1 or 2"),
    (Qemu(4), &[Set("/cpus/cpu@1", "reg", Cells(&[0, 1]))],
        "/cpus/cpu@1 reg: 8 bytes, expected as many cells as #address-cells"),
    (Qemu(4), &[Set("/cpus/cpu@1", "reg", Cells(&[0x8000_0001]))],
        "/cpus/cpu@1 reg: 0x80000001, expected only affinity field bits, 0xff00ffffff"),
    (Qemu(4), &[Set("/cpus/cpu@3", "reg", Cells(&[1]))],
        "/cpus reg (of the CPUs): MPIDR 0x1 is used twice"),
    (Qemu(4), &[Set("/cpus/cpu@3", "enable-method", Text("spin-table"))],
        "/cpus/cpu@3 enable-method: \"spin-table\", expected psci"),
    (Qemu(4), &[Set("/cpus/cpu-map/cluster0/core2", "cpu", Cells(&[0x1001]))],
        "/cpus/cpu-map/cluster0/core2 cpu: phandle 0x1001 is used twice"),
    (Qemu(4), &[Set("/cpus/cpu-map/cluster0/core2", "cpu", Cells(&[0x8005]))],
        "/cpus/cpu-map/cluster0/core2 cpu: no CPU has the phandle 0x8005"),
    (Qemu(4), &[Add("/cpus/cpu-map/cluster0", "core { }")],
        "/cpus/cpu-map/cluster0: \"core\", expected a kind and a number, such as core0"),
    (Qemu(4), &[Add("/cpus/cpu-map/cluster0", "core01 { }")],
        "/cpus/cpu-map/cluster0: \"core01\", expected a kind and a number, such as core0"),
    (Qemu(4), &[Add("/cpus/cpu-map/cluster0", "core+1 { }")],
        "/cpus/cpu-map/cluster0: \"core+1\", expected a kind and a number, such as core0"),
    (Qemu(4), &[Add("/cpus/cpu-map/cluster0", "core65535 { }")],
        "/cpus/cpu-map/cluster0: \"core65535\", expected a kind and a number, such as \
         core0"),
    (Qemu(4), &[Add("/cpus/cpu-map/cluster0", "core-a-very-long-name { }")],
        "/cpus/cpu-map/cluster0: \"core-a-very-long-name\", expected a kind and a \
         number, such as core0"),
    (Qemu(4), &[
        Add("/cpus/cpu-map/cluster0/core1", "thread0 { }"),
        Unset("/cpus/cpu-map/cluster0/core1", "cpu"),
    ], "/cpus/cpu-map/cluster0/core1/thread0 cpu: missing"),
    (Qemu(4), &[
        Remove("/cpus/cpu-map/cluster0/core1"),
        Add("/cpus/cpu-map/cluster0", "core0 { cpu = <0x1001>; }"),
    ], "/cpus/cpu-map/cluster0: two nodes are named core0"),
    (Qemu(8), &[
        Remove("/cpus/cpu-map/cluster1"),
        Add("/cpus/cpu-map", "cluster0 { core0 { cpu = <0x1004>; }; }"),
    ], "/cpus/cpu-map: two nodes are named cluster0"),
    (Qemu(2), &[
        Unset("/cpus/cpu-map/cluster0/core1", "cpu"),
        Add("/cpus/cpu-map/cluster0/core1", "thread3 { cpu = <0x1001>; }"),
        Add("/cpus/cpu-map/cluster0/core1", "thread3 { cpu = <0x1001>; }"),
    ], "/cpus/cpu-map/cluster0/core1: two nodes are named thread3"),
    (Qemu(2), &[Add("/cpus/cpu-map/cluster0/core1", "thread0 { cpu = <0x1000>; }")],
        "/cpus/cpu-map/cluster0/core1 cpu: the core also has threads"),
    (Qemu(2), &[Set("/cpus/cpu@1", "phandle", Cells(&[0x1000]))],
        "/cpus/cpu@1 phandle: 0x1000 is also the phandle of another CPU"),

    // Too many entries.
    (Qemu(4), &[
        AddEach(32, "/", |number| format!("memory@{number:x} {{ device_type = \"memory\"; reg = <1 0x{number:x}000 0 0x1000>; }}")),
    ], "/memory@1f reg: more than 32 entries"),
    (Qemu(4), &[
        AddEach(65, "/", |number| format!("memory@{number:x} {{ device_type = \"memory\"; reg = <0 0 0 0 0 0 0 0>; }}")),
    ], "/memory@2a reg: more than 32 entries"),
    (Juno, &[
        AddEach(64, "/reserved-memory", |number| format!("r@{number:x} {{ reg = <0 0x{number:x}000 0 0x1000>; }}")),
    ], "/reserved-memory/r@3f reg: more than 64 entries"),
    (Qemu(1), &[Reserve(0xffff_ffff_ffff_ffff, 1)],
        "/ (memory reservation block): 0x1 bytes at 0xffffffffffffffff exceed 64-bit addresses"),
    (Qemu(513), &[], "/cpus: more than 512 entries"),
    (Qemu(2), &[AddEach(2047, "/cpus/cpu-map", |number| format!("cluster1{number:x} {{ }}"))],
        "/cpus/cpu-map: more than 2048 entries"),
    (Juno, &[
        Set("/cpus/cpu@0", "cpu-idle-states", Cells(&[
            0x31, 0x32, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5a, 0x5b,
            0x5c, 0x5d, 0x5e,
        ])),
        AddEach(15, "/cpus/idle-states", |number| format!("s{number:x} {{ phandle = <{}>; \
             compatible = \"arm,idle-state\"; arm,psci-suspend-param = <0x{number:x}>; }}", 0x50 + number)),
    ], "/cpus/idle-states/se arm,psci-suspend-param: more than 16 entries"),
    (Qemu(1), &[
        Add("/", "a-rather-long-name-of-a-bus@12345678 { a-rather-long-name-of-a-bus@12345678 { \
             pl011@9000000 { }; }; }"),
        Set("/chosen", "stdout-path", Text("/a-rather-long-name-of-a-bus@12345678/a-rather-long-name-of-a-bus@12345678/\
            pl011@9000000")),
    ], "...345678/a-rather-long-name-of-a-bus@12345678/pl011@9000000 compatible: missing"),

    (Juno, &[Set("/firmware/psci", "psci-bench,shortest-sleep-us", Cells(&[1_000_001]))],
        "/firmware/psci psci-bench,shortest-sleep-us: 1000001, expected 0 to 1000000"),

    // Idle state levels that contradict other properties.
    (Juno, &[Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[4]))],
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x4, expected 0 to 3"),
    (Juno, &[
        Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[1])),
        Set("/cpus/idle-states/cluster-sleep-0", "arm,psci-suspend-param", Cells(&[0x1_0000])),
    ],
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x1, expected the same level as \
         the other node with this power_state"),
    (Juno, &[Set("/cpus/idle-states/cpu-sleep-0", "psci-bench,power-level", Cells(&[1]))],
        "/cpus/idle-states/cpu-sleep-0 psci-bench,power-level: 0x1, expected the power level \
         in arm,psci-suspend-param"),
    (Juno, &[Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[0]))],
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x0, expected the power \
         level in arm,psci-suspend-param"),
    (Juno, &[
        Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[1])),
        Set("/cpus/idle-states/cpu-sleep-0", "arm,psci-suspend-param", Cells(&[0x101_0000])),
        Set("/cpus/idle-states/cluster-sleep-0", "arm,psci-suspend-param", Cells(&[0x1_0000])),
    ],
        "/cpus/idle-states/cpu-sleep-0 psci-bench,power-level: 0x0, expected the power level \
         in arm,psci-suspend-param"),
    (Juno, &[
        Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[1])),
        Set("/cpus/idle-states/cluster-sleep-0", "arm,psci-suspend-param", Cells(&[1])),
    ],
        "/cpus/idle-states/cluster-sleep-0 psci-bench,power-level: 0x1, expected 0 for a standby \
         state"),
    (Qemu(1), &[Set("/timer", "clock-frequency", Cells(&[0, 24_000_000]))],
        "/timer clock-frequency: 8 bytes, expected 4"),

    // Levels that the latencies contradict, in both formats.
    (Juno, &[
        Set("/cpus/idle-states/cpu-sleep-0", "min-residency-us", Cells(&[2000])),
        Set("/cpus/idle-states/cluster-sleep-0", "min-residency-us", Cells(&[300])),
    ],
        "/cpus/idle-states/cpu-sleep-0: the power level is lower than that of cluster-sleep-0, but \
         the latencies and residencies are greater; correct the levels or the latencies"),
    (Juno, &[
        Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[0])),
        Set("/cpus/idle-states/cluster-sleep-0", "arm,psci-suspend-param", Cells(&[0x4000_0022])),
        Set("/cpus/idle-states/cluster-sleep-0", "entry-latency-us", Cells(&[300])),
        Set("/cpus/idle-states/cpu-sleep-0", "psci-bench,power-level", Cells(&[1])),
        Set("/cpus/idle-states/cpu-sleep-0", "arm,psci-suspend-param", Cells(&[0x4000_0002])),
        Set("/cpus/idle-states/cpu-sleep-0", "entry-latency-us", Cells(&[200])),
    ],
        "/cpus/idle-states/cluster-sleep-0: the power level is lower than that of cpu-sleep-0, but \
         the latencies and residencies are greater; correct the levels or the latencies"),
    (Juno, &[Set("/cpus/cpu@0", "cpu-idle-states", Bytes(&[0, 0, 0]))],
        "/cpus/cpu@0 cpu-idle-states: 3 bytes, expected a multiple of 4"),

    // Overlapping registers.
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x800_0000, 0, 0x1000]))],
        "the watchdog at 0x8000000 overlaps the GIC's distributor at 0x8000000"),
    (Qemu(1), &[
        Add("/", "its { compatible = \"arm,gic-v3-its\"; reg = <0 0x8000000 0 0x20000>; };"),
    ], "the ITS at 0x8000000 overlaps the GIC's distributor at 0x8000000"),
    (Qemu(1), &[
        Add("/", "its { compatible = \"arm,gic-v3-its\"; reg = <0 0x40000000 0 0x20000>; };"),
    ], "the ITS at 0x40000000 overlaps memory at 0x40000000: correct the memory node, or reserve \
        that part"),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x80b_0000, 0, 0x1000]))],
        "the watchdog at 0x80b0000 overlaps the GIC's redistributors at 0x80a0000"),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x2a83_0000, 0, 0x1000]))],
        "the watchdog at 0x2a830000 overlaps the timer frame at 0x2a830000"),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x900_0000, 0, 0x1000]))],
        "the console at 0x9000000 overlaps the watchdog at 0x9000000"),
    (Devices(2), &[Set("/timer@2a810000", "ranges", Cells(&[0x1_0000, 0, 0x800_f000, 0x1000]))],
        "the timer frame at 0x800f000 overlaps the GIC's distributor at 0x8000000"),
    (Devices(2), &[Set("/timer@2a810000", "ranges", Cells(&[0x1_0000, 0, 0x2a81_0000, 0x1000]))],
        "the timer frame at 0x2a810000 overlaps the timer's control frame at 0x2a810000"),
    (Devices(2), &[Set("/timer@2a810000", "reg", Cells(&[0, 0x900_0000, 0, 0x1000]))],
        "the console at 0x9000000 overlaps the timer's control frame at 0x9000000"),
    (Devices(2), &[
        Set("/intc@8000000", "reg", Cells(&[0, 0x800_0000, 0, 0x1_0000, 0, 0x800_0000, 0, 0xf6_0000])),
    ], "the GIC's redistributors at 0x8000000 overlaps the GIC's distributor at 0x8000000"),
    (Juno, &[
        Set("/interrupt-controller@2c010000", "reg", Cells(&[0, 0x2c01_0000, 0, 0x1000, 0, 0x2c01_0000, 0, 0x2000])),
    ], "the GIC's CPU interface at 0x2c010000 overlaps the GIC's distributor at 0x2c010000"),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x4800_0000, 0, 0x1000]))],
        "the watchdog at 0x48000000 overlaps memory at 0x40000000: correct the memory node, or \
         reserve that part"),
    (Qemu(1), &[Set("/intc@8000000", "redistributor-stride", Bytes(&[0x00, 0x01, 0x02]))],
        "/intc@8000000 redistributor-stride: 3 bytes, expected 8"),
    // A power_state that is invalid in both formats.
    (Juno, &[
        Set("/cpus/idle-states/cpu-sleep-0", "arm,psci-suspend-param", Cells(&[0xffff_ffff])),
    ],
        "/cpus/idle-states/cpu-sleep-0 arm,psci-suspend-param: 0xffffffff, expected a power_state \
         that is valid in one of the two formats"),
    // A node whose `status` lacks its terminating NUL.
    (Qemu(4), &[Set("/cpus/cpu@1", "status", Bytes(&[0x6f, 0x6b, 0x61, 0x79]))],
        "/cpus/cpu@1 status: the string has no final NUL"),
];
