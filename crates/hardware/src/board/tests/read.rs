//! Trees that are accepted.

use std::format;

use super::edited_tree::Edit::{self, Add, AddEach, Remove, Reserve, Set, Unset};
use super::edited_tree::Tree::{self, Devices, Juno, Qemu};
use super::edited_tree::Value::{Bytes, Cells, Empty, Text, Texts};

/// Unordered clusters, cores and threads at several levels, with decimal phandles.
const NESTED_CPU_MAP: &str = "cpu-map {
    socket1 { cluster0 {
        cluster1 { core1 { cpu = <4096>; }; core0 { cpu = <4097>; }; };
        cluster0 { core0 { cpu = <4098>; }; };
    }; };
    socket0 {
        cluster10 { core3 { cpu = <4099>; }; };
        cluster2 {
            core7 { thread0 { cpu = <4100>; }; thread1 { cpu = <4101>; }; };
            core10 { thread1 { cpu = <4103>; }; thread0 { cpu = <4102>; }; };
        };
        cluster3 { };
    };
}";

/// A duplicate of a state in the tree, two disabled states, and a state without a power_state.
const DOMAIN_IDLE_STATES: &str = r#"domain-idle-states {
    again {
        phandle = <0x33>;
        compatible = "domain-idle-state";
        arm,psci-suspend-param = <0x1010000>;
        psci-bench,power-level = <1>;
        local-timer-stop;
    };
    off {
        phandle = <0x34>;
        compatible = "domain-idle-state";
        arm,psci-suspend-param = <5>;
        status = "disabled";
    };
    unlisted-off { compatible = "domain-idle-state"; status = "disabled"; };
    no-psci { phandle = <0x35>; compatible = "domain-idle-state"; };
}"#;

const ITS: &str = "its@8080000 {
    compatible = \"arm,gic-v3-its\";
    reg = <0 0x8080000 0 0x20000>;
};";

/// Trees, edits, and expected lines in the resulting description.
#[rustfmt::skip]
pub const READ: &[(Tree, &[Edit<'static>], &[&str])] = &[
    (Qemu(8), &[],
        &[
            "model: linux,dummy-virt",
            "uart: Pl011 0x9000000 shift 2 width 4",
            "GIC: V3, stride None",
            "devices: GIC's distributor 0x8000000+0x10000, GIC's redistributors \
             0x80a0000+0xf60000",
            "timers: 30 27 26",
            "conduit: Smc",
            "memory: 0x40000000+0x40000000",
            "reserved: none",
            "idle states: none",
            "bootargs: iterations=5 warmup=1",
            "cache: None",
            "labels: CpuMap 0=0.0.0 1=0.1.0 2=0.2.0 3=0.3.0 4=1.0.0 5=1.1.0 6=1.2.0 7=1.3.0",
        ]),
    (Juno, &[Reserve(0x8000_0000, 0x1_0000)],
        &[
            "model: arm,juno",
            "uart: Pl011 0x7ff80000 shift 2 width 4",
            "GIC: V2",
            "devices: GIC's distributor 0x2c010000+0x1000, GIC's CPU interface \
             0x2c02f000+0x1000, watchdog 0x7ff0f000+0x1000",
            "memory: 0x80000000+0x7f000000, 0x880000000+0x180000000",
            "reserved: 0x80000000+0x10000, 0xfee00000+0x200000",
            "idle states: cpu-sleep-0 0x10000 level 0 stops timers, cluster-sleep-0 0x1010000",
            "bootargs:",
            "labels: CpuMap 0=0.0.0 1=0.1.0 100=1.0.0 101=1.1.0 102=1.2.0 103=1.3.0",
            "labels with MT: CpuMap 0=0.0.0 1=0.1.0 100=1.0.0 101=1.1.0 102=1.2.0 103=1.3.0",
        ]),

    // Labels: an unordered nested map, no map, Aff3, and a disabled CPU.
    (Qemu(8), &[Remove("/cpus/cpu-map"), Add("/cpus", NESTED_CPU_MAP)],
        &["labels: CpuMap 0=3.1.0 1=3.0.0 2=2.0.0 3=1.3.0 4=0.7.0 5=0.7.1 6=0.10.0 7=0.10.1"]),
    (Qemu(4), &[
        Remove("/cpus/cpu-map"), Set("/cpus/cpu@0", "reg", Cells(&[0x1_0100])),
        Set("/cpus/cpu@1", "reg", Cells(&[0])), Set("/cpus/cpu@2", "reg", Cells(&[0x1_0000])),
        Set("/cpus/cpu@3", "reg", Cells(&[0x100])),
    ],
        &[
            "labels: Mpidr 0=0.0.0 100=1.0.0 10000=256.0.0 10100=257.0.0",
            "labels with MT: Mpidr 0=0.0.0 100=0.1.0 10000=1.0.0 10100=1.1.0",
        ]),
    (Qemu(4), &[
        Set("/cpus", "#address-cells", Cells(&[2])), Set("/cpus/cpu@0", "reg", Cells(&[0, 0])),
        Set("/cpus/cpu@1", "reg", Cells(&[1, 1])), Set("/cpus/cpu@2", "reg", Cells(&[0, 2])),
        Set("/cpus/cpu@3", "reg", Cells(&[0xff, 3])),
        Set("/cpus/cpu@2", "status", Text("disabled")),
        Set("/cpus/cpu@2", "enable-method", Text("spin-table")),
    ], &["labels: CpuMap 0=0.0.0 100000001=0.1.0 ff00000003=0.3.0"]),
    // With an Aff3, the cluster consists of Aff3 and Aff2.
    (Qemu(2), &[
        Remove("/cpus/cpu-map"), Set("/cpus", "#address-cells", Cells(&[2])),
        Set("/cpus/cpu@0", "reg", Cells(&[0, 0x1_0002])),
        Set("/cpus/cpu@1", "reg", Cells(&[1, 0x302])),
    ], &[
        "labels: Mpidr 10002=1.2.0 100000302=256.770.0",
        "labels with MT: Mpidr 10002=1.0.2 100000302=256.3.2",
    ]),
    (Qemu(1), &[Unset("/cpus/cpu@0", "enable-method")], &["labels: CpuMap 0=0.0.0"]),
    (Qemu(4), &[Unset("/cpus/cpu@0", "enable-method"), Unset("/cpus/cpu@3", "enable-method")],
        &["labels: CpuMap 0=0.0.0 1=0.1.0 2=0.2.0 3=0.3.0"]),

    // PSCI versions from 0.2.
    (Qemu(1), &[Set("/psci", "compatible", Text("arm,psci-0.2"))], &["conduit: Smc"]),
    (Qemu(1), &[Set("/psci", "compatible", Text("arm,psci-1.3"))], &["conduit: Smc"]),
    (Qemu(1), &[Set("/psci", "compatible", Texts(&["arm,psci", "arm,psci-2.0"]))],
        &["conduit: Smc"]),

    // The console, specified by path or alias.
    (Qemu(1), &[Set("/chosen", "stdout-path", Text("serial0"))],
        &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[Set("/chosen", "stdout-path", Text("serial0:115200n8"))],
        &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[Set("/chosen", "stdout-path", Text("/pl011@9000000:1500000"))],
        &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[Set("/chosen", "stdout-path", Text("/pl011"))],
        &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[Unset("/chosen", "stdout-path")], &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"), Remove("/aliases"),
        Set("/chosen", "linux,stdout-path", Text("/pl011:115200")),
    ], &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Juno, &[
        Set("/aliases", "soc", Text("/bus@7f000000")),
        Set("/chosen", "stdout-path", Text("soc/apb/uart@80000")),
    ], &["uart: Pl011 0x7ff80000 shift 2 width 4"]),

    // The console, specified by the boot arguments of an operating system. Its node may be disabled
    // or absent.
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "serial@9040000 { compatible = \"ns16550a\"; reg = <0 0x9040000 0 0x1000>; reg-shift = <2>; \
             status = \"disabled\"; }"),
        Set("/chosen", "bootargs", Text("earlycon=uart8250,mmio32,0x9040000 console=ttyAMA0 rw")),
    ], &[
        "uart: Ns16550 0x9040000 shift 2 width 1",
        "console by: earlycon in /chosen/bootargs",
    ]),
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon=uart8250,mmio32,0xfeb50000,1500000n8 earlycon")),
    ], &[
        "uart: Ns16550 0xfeb50000 shift 2 width 4",
        "console by: earlycon in /chosen/bootargs",
    ]),
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("console=tty0 console=uart,mmio,0xfeb50000")),
    ], &[
        "uart: Ns16550 0xfeb50000 shift 0 width 1",
        "console by: console in /chosen/bootargs",
    ]),
    // The first registers of an LPUART are not those that Linux's driver uses.
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Set("/pl011@9000000", "compatible", Texts(&["fsl,imx93-lpuart", "fsl,imx7ulp-lpuart"])),
        Set("/chosen", "bootargs", Text("quiet earlycon=lpuart32,0x9000010")),
    ], &[
        "uart: Lpuart 0x9000000 shift 2 width 4",
        "console by: earlycon in /chosen/bootargs",
    ]),
    (Juno, &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon=pl011,0x7ff80000")),
    ], &["uart: Pl011 0x7ff80000 shift 2 width 4", "console by: earlycon in /chosen/bootargs"]),
    (Juno, &[
        Unset("/chosen", "stdout-path"),
        Set("/aliases", "serial3", Text("/bus@7f000000/apb/uart@80000")),
        Set("/chosen", "bootargs", Text("console=ttyAMA3,115200n8 console=ttyUSB0,9600 console=tty1")),
    ], &["uart: Pl011 0x7ff80000 shift 2 width 4", "console by: console in /chosen/bootargs"]),
    // The last one that specifies a UART.
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "serial@9040000 { compatible = \"ns16550a\"; reg = <0 0x9040000 0 0x1000>; }"),
        Set("/aliases", "serial2", Text("/serial@9040000")),
        Set("/chosen", "bootargs", Text("console=ttyAMA0 console=ttyS2,1500000n8 console=ttyFIQ0,1500000")),
    ], &["uart: Ns16550 0x9040000 shift 0 width 1", "console by: console in /chosen/bootargs"]),
    (Qemu(1), &[
        Set("/chosen", "bootargs", Text("earlycon=uart8250,mmio32,0xfeb50000 console=ttyS2")),
    ], &["uart: Pl011 0x9000000 shift 2 width 4", "console by: /chosen/stdout-path"]),
    // Words that specify no UART.
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Set("/chosen", "bootargs", Text("earlycon earlycon=efifb console=tty0 console=hvc0 console=ttyGS0")),
    ], &["console by: alias serial0"]),

    // Rockchip's FIQ debugger, whose UART is disabled for other drivers.
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "serial@feb50000 { compatible = \"snps,dw-apb-uart\"; reg = <0 0xfeb50000 0 0x100>; \
             reg-shift = <2>; reg-io-width = <4>; status = \"disabled\"; }"),
        Set("/aliases", "serial2", Text("/serial@feb50000")),
        Add("/", "fiq-debugger { compatible = \"rockchip,fiq-debugger\"; rockchip,serial-id = <2>; }"),
        Set("/chosen", "bootargs", Text("console=ttyFIQ0 root=PARTUUID=614e0000-0000 rw rootwait")),
    ], &[
        "uart: Ns16550 0xfeb50000 shift 2 width 4",
        "console by: rockchip,serial-id of the FIQ debugger",
    ]),
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "fiq-debugger { compatible = \"rockchip,fiq-debugger\"; rockchip,serial-id = <0xffffffff>; }"),
    ], &["console by: alias serial0"]),
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "fiq-debugger { compatible = \"rockchip,fiq-debugger\"; rockchip,serial-id = <7>; status = \"disabled\"; }"),
    ], &["console by: alias serial0"]),

    // Zephyr's console, by path and by phandle.
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"), Remove("/aliases"),
        Set("/chosen", "zephyr,console", Text("/pl011@9000000")),
    ], &["uart: Pl011 0x9000000 shift 2 width 4", "console by: /chosen/zephyr,console"]),
    (Qemu(1), &[
        Unset("/chosen", "stdout-path"),
        Add("/", "serial@9040000 { compatible = \"ns16550a\"; reg = <0 0x9040000 0 0x1000>; phandle = <0x44>; }"),
        Set("/chosen", "zephyr,console", Cells(&[0x44])),
    ], &["uart: Ns16550 0x9040000 shift 0 width 1", "console by: /chosen/zephyr,console"]),

    // UART types, with the `compatible` strings from Linux device trees. Only a 16550 has reg-shift
    // and reg-io-width.
    (Qemu(1), &[Set("/pl011@9000000", "compatible", Texts(&["vendor,x", "ns16550a"]))],
        &["uart: Ns16550 0x9000000 shift 0 width 1"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "reg-shift", Cells(&[2])),
        Set("/pl011@9000000", "reg-io-width", Cells(&[4])),
        Set("/pl011@9000000", "reg-offset", Cells(&[0x100])),
    ], &["uart: Ns16550 0x9000100 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "compatible", Text("ns16550a")),
        Set("/pl011@9000000", "reg-shift", Cells(&[1])),
        Set("/pl011@9000000", "reg-io-width", Cells(&[2])),
    ], &["uart: Ns16550 0x9000000 shift 1 width 2"]),
    (Qemu(1), &[Set("/pl011@9000000", "compatible", Text("brcm,bcm2835-aux-uart"))],
        &["uart: Ns16550 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[Set("/pl011@9000000", "reg-shift", Cells(&[7]))],
        &["uart: Pl011 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Text("arm,sbsa-uart")),
    ], &["uart: Sbsa 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Texts(&["xlnx,zynqmp-uart", "cdns,uart-r1p12"])),
    ], &["uart: Cadence 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Texts(&["xlnx,xuartps", "cdns,uart-r1p8"])),
    ], &["uart: Cadence 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Texts(&["fsl,imx8mp-uart", "fsl,imx6q-uart"])),
    ], &["uart: Imx 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Texts(&["fsl,imx53-uart", "fsl,imx21-uart"])),
    ], &["uart: Imx 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Texts(&["fsl,imx93-lpuart", "fsl,imx8ulp-lpuart", "fsl,imx7ulp-lpuart"])),
    ], &["uart: Lpuart 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Texts(&["fsl,imx8qm-lpuart", "fsl,imx8qxp-lpuart"])),
    ], &["uart: Lpuart 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Text("st,stm32h7-uart")),
    ], &["uart: Stm32 0x9000000 shift 2 width 4"]),
    (Qemu(1), &[
        Set("/pl011@9000000", "reg-shift", Cells(&[7])),
        Set("/pl011@9000000", "compatible", Text("qcom,geni-debug-uart")),
    ], &["uart: Geni 0x9000000 shift 2 width 4"]),

    // Memory without device_type, in the order in which it is looked for.
    (Qemu(1), &[], &["memory by: device_type"]),
    (Qemu(1), &[
        Add("/", "sram@1000 { compatible = \"mmio-sram\"; reg = <0 0x1000 0 0x1000>; }"),
        Add("/", "memory@1000 { reg = <0 0x1000 0 0x1000>; }"),
        Set("/chosen", "zephyr,sram", Text("/sram@1000")),
    ], &["memory: 0x40000000+0x40000000", "memory by: device_type"]),
    (Qemu(1), &[Unset("/memory@40000000", "device_type")],
        &["memory: 0x40000000+0x40000000", "memory by: node name"]),
    (Qemu(1), &[
        Remove("/memory@40000000"),
        Add("/", "memory { reg = <0 0x80000000 0 0x1000 1 0 0 0x2000>; }"),
    ], &["memory: 0x80000000+0x1000, 0x100000000+0x2000", "memory by: node name"]),
    (Qemu(1), &[
        Unset("/memory@40000000", "device_type"),
        Add("/", "sram { phandle = <0x33>; compatible = \"mmio-sram\"; reg = <0 0x80000000 0 0x8000>; }"),
        Set("/chosen", "zephyr,sram", Cells(&[0x33])),
    ], &["memory: 0x80000000+0x8000", "memory by: /chosen/zephyr,sram"]),
    (Qemu(1), &[
        Remove("/memory@40000000"),
        Add("/", "dram@80000000 { compatible = \"mmio-dram\"; reg = <0 0x80000000 0 0x8000>; }"),
        Add("/", "memory@1000 { compatible = \"mmio-sram\"; reg = <0 0x1000 0 0x1000>; }"),
    ], &["memory: 0x80000000+0x8000", "memory by: compatible mmio-dram"]),
    (Qemu(1), &[
        Remove("/memory@40000000"),
        Add("/", "memory@1000 { compatible = \"zephyr,memory-region\", \"mmio-sram\"; reg = <0 0x1000 0 0x1000>; }"),
        Add("/", "sram@2000 { compatible = \"mmio-sram\"; reg = <0 0x2000 0 0x1000>; }"),
        Add("/", "soc { ranges; #address-cells = <1>; #size-cells = <1>; \
             memory@80000000 { compatible = \"mmio-sram\"; reg = <0x80000000 0x8000>; }; }"),
    ], &["memory: 0x80000000+0x8000", "memory by: compatible mmio-sram and node name"]),

    // GIC and timers. A redistributor region is limited to the size needed for 512 CPUs.
    (Qemu(1), &[
        Set("/intc@8000000", "#redistributor-regions", Cells(&[2])),
        Set("/intc@8000000", "redistributor-stride", Cells(&[0, 0x4_0000])),
        Set("/intc@8000000", "reg", Cells(&[0, 0x800_0000, 0, 0x1_0000, 0, 0x80a_0000, 0, 0x8_0000, 0x40, 0, 0, 0x4000_0000])),
    ],
        &[
            "GIC: V3, stride Some(262144)",
            "devices: GIC's distributor 0x8000000+0x10000, GIC's redistributors \
             0x80a0000+0x80000, GIC's redistributors 0x4000000000+0x8000000",
        ]),
    // The first ITS is used if its frame has 64 KiB. With a GICv2, it is ignored.
    (Qemu(1), &[Add("/", ITS), Add("/", "its@1 { compatible = \"arm,gic-v3-its\"; };")],
        &[
            "devices: GIC's distributor 0x8000000+0x10000, GIC's redistributors \
             0x80a0000+0xf60000, ITS 0x8080000+0x10000",
            "ITS: 0x8080000+0x10000",
        ]),
    (Qemu(1), &[Add("/", ITS), Set("/its@8080000", "status", Text("disabled"))], &["ITS: none"]),
    (Qemu(1), &[Add("/", ITS), Set("/its@8080000", "reg", Cells(&[0, 0x808_1000, 0, 0x2_0000]))],
        &["ITS: none"]),
    (Qemu(1), &[Add("/", ITS), Set("/its@8080000", "reg", Cells(&[0, 0x808_0000, 0, 0x1000]))],
        &["ITS: none"]),
    (Qemu(1), &[Add("/", ITS), Unset("/its@8080000", "reg")], &["ITS: none"]),
    (Juno, &[Add("/", ITS)], &["ITS: none"]),
    (Qemu(1), &[
        Set("/timer", "interrupt-names", Texts(&["phys", "virt", "hyp-phys", "hyp-virt"])),
        Set("/timer", "interrupts", Cells(&[1, 14, 4, 1, 11, 4, 1, 10, 4, 1, 12, 4])),
    ], &["timers: 30 27 26"]),
    (Qemu(1), &[
        Unset("/timer", "interrupts"),
        Set("/timer", "interrupt-names", Texts(&["sec-phys", "virt"])),
        Set("/timer", "interrupts-extended", Cells(&[0x8005, 1, 13, 4, 0x8005, 1, 11, 4])),
    ], &["timers: - 27 -"]),
    (Qemu(1), &[
        Set("/intc@8000000", "#interrupt-cells", Cells(&[4])),
        Set("/timer", "interrupts", Cells(&[1, 13, 4, 0, 1, 14, 4, 0])),
    ], &["timers: 30 - -"]),
    (Qemu(4), &[Remove("/intc@8000000"), Set("/timer", "interrupts", Cells(&[0, 4, 1, 4]))],
        &[
            "GIC: none",
            "timers: - - -",
            "labels: CpuMap 0=0.0.0 1=0.1.0 2=0.2.0 3=0.3.0",
        ]),
    (Qemu(4), &[Remove("/intc@8000000"), Remove("/timer")], &["GIC: none", "timers: - - -"]),
    (Devices(2), &[Remove("/intc@8000000")],
        &["frame: the device tree has no timer frame (arm,armv7-timer-mem)"]),

    // The counter's frequency. A frequency of 0 is a placeholder.
    (Devices(2), &[
        Set("/timer", "clock-frequency", Cells(&[24_000_000])),
        Set("/timer@2a810000", "clock-frequency", Cells(&[25_000_000])),
    ], &["counter: CounterFrequency { declared: Some(24000000), fallback: Some(25000000) }"]),
    (Devices(2), &[Set("/timer", "clock-frequency", Cells(&[0]))],
        &["counter: CounterFrequency { declared: None, fallback: None }"]),

    // Idle states. States with the same value are merged. Extended-format values do not contain a
    // level.
    // A power domain, or the one around it, that the tree does not have.
    (Juno, &[Set("/cpus/cpu@101", "power-domains", Cells(&[0x40]))],
        &["left out: cpu@101 NoDomain(64)"]),
    (Juno, &[
        Add("/", "power { #power-domain-cells = <0>; phandle = <0x40>; power-domains = <0x41>; }"),
        Set("/cpus/cpu@101", "power-domains", Cells(&[0x40])),
        Set("/cpus/cpu@102", "power-domains", Cells(&[0x40])),
    ], &["left out: power NoDomain(65)"]),
    (Juno, &[
        Add("/cpus", DOMAIN_IDLE_STATES),
        Add("/", "power { #power-domain-cells = <0>; phandle = <0x40>; \
             domain-idle-states = <0x33 0x34 0x35 0x36 0x37>; }"),
        Set("/cpus/cpu@101", "power-domains", Cells(&[0x40])),
        Add("/", "idle-states { \
             system { phandle = <0x36>; compatible = \"arm,idle-state\"; \
             arm,psci-suspend-param = <0x4100c244>; }; \
             unlisted { compatible = \"arm,idle-state\"; arm,psci-suspend-param = <9>; }; }"),
    ], &[
        "idle states: cpu-sleep-0 0x10000 level 0 stops timers, cluster-sleep-0 0x1010000 level 1 \
         stops timers, system 0x4100c244 partly",
        "left out: off Disabled, no-psci NoParameter, unlisted NotListed, power NoNode(55)",
        "order: cpu-sleep-0 > , cluster-sleep-0 > cpu-sleep-0, \
         system > cpu-sleep-0 cluster-sleep-0, \
         off > cpu-sleep-0 cluster-sleep-0 < system, \
         no-psci > cpu-sleep-0 cluster-sleep-0 < system, unlisted >  < , \
         power > cpu-sleep-0 cluster-sleep-0 system <",
    ]),
    (Juno, &[
        Set("/cpus/idle-states/cluster-sleep-0", "psci-bench,power-level", Cells(&[2])),
        Set("/cpus/idle-states/cluster-sleep-0", "arm,psci-suspend-param", Cells(&[0x4000_0022])),
    ],
        &["idle states: cpu-sleep-0 0x10000 level 0 stops timers, cluster-sleep-0 0x40000022 \
           level 2"]),
    // A state may be anywhere, but its compatible string must be right.
    (Juno, &[
        Remove("/cpus/idle-states/cluster-sleep-0"),
        Add("/firmware/psci", "suspend { deep { phandle = <0x32>; compatible = \"arm,idle-state\"; \
            arm,psci-suspend-param = <0x1010000>; }; }"),
        Set("/cpus/idle-states/cpu-sleep-0", "compatible", Text("arm,idle_state")),
    ], &["idle states: deep 0x1010000", "left out: cpu-sleep-0 NotCompatible",
         "order: deep > , cpu-sleep-0 >  < deep"]),
    // The order comes from the lists, not from the nodes.
    (Juno, &[
        Set("/cpus/idle-states/cpu-sleep-0", "phandle", Cells(&[0x32])),
        Set("/cpus/idle-states/cluster-sleep-0", "phandle", Cells(&[0x31])),
    ], &["order: cpu-sleep-0 > cluster-sleep-0, cluster-sleep-0 >"]),
    // Lists that contradict each other, or the latencies, show nothing.
    (Juno, &[Set("/cpus/cpu@101", "cpu-idle-states", Cells(&[0x32, 0x31]))],
        &["order: cpu-sleep-0 > , cluster-sleep-0 >"]),
    (Juno, &[
        Set("/cpus/idle-states/cpu-sleep-0", "psci-bench,power-level", Cells(&[1])),
        Set("/cpus/idle-states/cpu-sleep-0", "arm,psci-suspend-param", Cells(&[0x4000_0001])),
        Set("/cpus/idle-states/cpu-sleep-0", "exit-latency-us", Cells(&[300])),
        Set("/cpus/idle-states/cluster-sleep-0", "exit-latency-us", Cells(&[299])),
    ], &["order: cpu-sleep-0 > , cluster-sleep-0 >"]),
    // No list contains both, so the latencies decide if they agree.
    (Juno, &[
        Set("/cpus/cpu@0", "cpu-idle-states", Cells(&[0x31])),
        Set("/cpus/cpu@1", "cpu-idle-states", Cells(&[0x32])),
        Unset("/cpus/cpu@100", "cpu-idle-states"), Unset("/cpus/cpu@101", "cpu-idle-states"),
        Unset("/cpus/cpu@102", "cpu-idle-states"), Unset("/cpus/cpu@103", "cpu-idle-states"),
        Set("/cpus/idle-states/cpu-sleep-0", "entry-latency-us", Cells(&[100])),
        Set("/cpus/idle-states/cluster-sleep-0", "entry-latency-us", Cells(&[100])),
        Set("/cpus/idle-states/cpu-sleep-0", "min-residency-us", Cells(&[300])),
        Set("/cpus/idle-states/cluster-sleep-0", "min-residency-us", Cells(&[301])),
    ], &["order: cpu-sleep-0 > , cluster-sleep-0 > cpu-sleep-0"]),
    (Juno, &[
        Set("/cpus/cpu@0", "cpu-idle-states", Cells(&[0x31])),
        Set("/cpus/cpu@1", "cpu-idle-states", Cells(&[0x32])),
        Unset("/cpus/cpu@100", "cpu-idle-states"), Unset("/cpus/cpu@101", "cpu-idle-states"),
        Unset("/cpus/cpu@102", "cpu-idle-states"), Unset("/cpus/cpu@103", "cpu-idle-states"),
        Set("/cpus/idle-states/cpu-sleep-0", "entry-latency-us", Cells(&[101])),
        Set("/cpus/idle-states/cluster-sleep-0", "entry-latency-us", Cells(&[100])),
        Set("/cpus/idle-states/cpu-sleep-0", "min-residency-us", Cells(&[300])),
        Set("/cpus/idle-states/cluster-sleep-0", "min-residency-us", Cells(&[301])),
    ], &["order: cpu-sleep-0 > , cluster-sleep-0 >"]),

    // Names and strings.
    (Qemu(1), &[
        Set("/chosen", "linux,a-property-with-more-than-31-characters", Empty),
        Set("/timer", "a-name-that-is-longer-than-the-thirty-one-characters-of-the-specification", Bytes(&[0x01, 0x02, 0x03])),
    ], &["model: linux,dummy-virt"]),
    (Qemu(1), &[Set("/", "model", Bytes(&[0xff, 0xfe, 0x00]))], &["model: linux,dummy-virt"]),
    (Qemu(1), &[Unset("/", "model"), Unset("/", "compatible")], &["model:"]),
    (Qemu(1), &[Set("/chosen", "bootargs", Texts(&["iterations=2", "", ""]))],
        &["bootargs: iterations=2"]),
    (Qemu(1), &[Set("/chosen", "bootargs", Empty)], &["bootargs:"]),
    (Devices(2), &[
        Set("/watchdog@2a440000", "reg", Cells(&[0, 0x4800_0000, 0, 0x1000])),
        Reserve(0x4800_0000, 0x1000),
    ], &["watchdog: SBSA watchdog at 0x48000000, Sbsa"]),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x2a46_0000, 0, 0x1000]))],
        &["watchdog: SBSA watchdog at 0x2a460000, Sbsa"]),

    // The largest L2 cache.
    (Qemu(1), &[
        AddEach(2, "/", |number| format!("l2-cache{number:x} {{ compatible = \"cache\"; cache-level = <2>; cache-size = \
             <0x{number:x}0000>; }}")),
    ], &["cache: Some(65536)"]),
    (Qemu(1), &[
        Add("/", "l3-cache { compatible = \"cache\"; cache-level = <3>; cache-size = <0x10000>; \
             }"),
    ], &["cache: None"]),

    // Counter errata from any usable CPU or from the timer node, which takes precedence.
    (Qemu(8), &[], &["erratum: None"]),
    (Qemu(8), &[Set("/cpus/cpu@7", "compatible", Text("arm,cortex-a73"))],
        &["erratum: Some(CortexA73)"]),
    (Qemu(8), &[Set("/cpus/cpu@7", "compatible", Texts(&["maker,big", "arm,cortex-a73"]))],
        &["erratum: Some(CortexA73)"]),
    (Qemu(8), &[Set("/cpus/cpu@7", "compatible", Texts(&["arm,cortex-a73-pmu", "armv8"]))],
        &["erratum: None"]),
    (Qemu(8), &[
        Set("/cpus/cpu@7", "compatible", Text("arm,cortex-a73")),
        Set("/cpus/cpu@7", "status", Text("disabled")),
    ], &["erratum: None"]),
    (Qemu(2), &[
        Set("/cpus/cpu@1", "compatible", Text("arm,cortex-a73")),
        Set("/timer", "fsl,erratum-a008585", Empty),
    ], &["erratum: Some(Nxp)"]),
    (Qemu(2), &[
        Set("/cpus/cpu@1", "compatible", Text("arm,cortex-a73")),
        Set("/timer", "hisilicon,erratum-161010101", Empty),
    ], &["erratum: Some(HiSilicon)"]),
    (Qemu(2), &[
        Set("/cpus/cpu@1", "compatible", Text("arm,cortex-a73")),
        Set("/timer", "allwinner,erratum-unknown1", Empty),
    ], &["erratum: Some(Allwinner)"]),

    // The first enabled timer frame, or the reason why it is not available.
    (Qemu(2), &[], &["frame: the device tree has no timer frame (arm,armv7-timer-mem)"]),
    (Devices(2), &[],
        &[
            "frame: 1 of 0x2a810000, timer frame at 0x2a830000, interrupt 92",
            "devices: GIC's distributor 0x8000000+0x10000, GIC's redistributors \
             0x80a0000+0xf60000, timer's control frame 0x2a810000+0x1000, timer frame \
             0x2a830000+0x1000, watchdog 0x2a440000+0x1000",
        ]),
    (Devices(2), &[Set("/timer@2a810000/frame@0", "status", Text("okay"))],
        &["frame: 0 of 0x2a810000, timer frame at 0x2a820000, interrupt 91"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "interrupts", Cells(&[0, 987, 4]))],
        &["frame: 1 of 0x2a810000, timer frame at 0x2a830000, interrupt 1019"]),
    (Devices(2), &[Set("/timer@2a810000", "status", Text("disabled"))],
        &["frame: the device tree has no timer frame (arm,armv7-timer-mem)"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "status", Text("disabled"))],
        &["frame: the device tree has no timer frame (arm,armv7-timer-mem)"]),
    (Devices(2), &[Remove("/timer@2a810000/frame@0"), Remove("/timer@2a810000/frame@10000")],
        &["frame: the device tree has no timer frame (arm,armv7-timer-mem)"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "frame-number", Cells(&[8]))],
        &["frame: the device tree's timer frame has no usable frame-number"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "frame-number", Empty)],
        &["frame: the device tree's timer frame has no usable frame-number"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "interrupts", Cells(&[1, 13, 4]))],
        &["frame: the device tree's timer frame has no usable interrupts"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "interrupts", Cells(&[0, 988, 4]))],
        &["frame: the device tree's timer frame has no usable interrupts"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "interrupts", Cells(&[0]))],
        &["frame: the device tree's timer frame has no usable interrupts"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "interrupts", Empty)],
        &["frame: the device tree's timer frame has no usable interrupts"]),
    (Devices(2), &[Unset("/timer@2a810000/frame@10000", "interrupts")],
        &["frame: the device tree's timer frame has no usable interrupts"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "reg", Cells(&[0x1_0000, 0xfff]))],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "reg", Cells(&[0x1_0800, 0x1000]))],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "reg", Cells(&[0x1_0000]))],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Set("/timer@2a810000/frame@10000", "reg", Cells(&[0x2_0000, 0x1000]))],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Unset("/timer@2a810000/frame@10000", "reg")],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Set("/timer@2a810000", "reg", Cells(&[0, 0x2a81_0000, 0, 0xfff]))],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Set("/timer@2a810000", "reg", Cells(&[0x1_0000, 0, 0, 0x1000]))],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Unset("/timer@2a810000", "reg")],
        &["frame: the device tree's timer frame has no usable reg"]),
    (Devices(2), &[Unset("/timer@2a810000", "ranges")],
        &["frame: the device tree's timer frame has no usable reg"]),

    // The watchdog. Unusable watchdogs are ignored.
    (Qemu(4), &[], &["watchdog: none"]),
    (Devices(2), &[], &["watchdog: SBSA watchdog at 0x2a440000, Sbsa"]),
    (Devices(2), &[Set("/watchdog@2a440000", "status", Text("disabled"))], &["watchdog: none"]),
    (Devices(2), &[Set("/watchdog@2a440000", "compatible", Text("arm,sbsa-gwdt2"))],
        &["watchdog: none"]),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x2a44_0000, 0, 0xfff]))],
        &["watchdog: none"]),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x2a44_0800, 0, 0x1000]))],
        &["watchdog: none"]),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0x1_0000, 0, 0, 0x1000]))],
        &["watchdog: none"]),
    (Devices(2), &[Set("/watchdog@2a440000", "reg", Cells(&[0, 0x2a44_0000, 0]))],
        &["watchdog: none"]),
    (Devices(2), &[Unset("/watchdog@2a440000", "reg")], &["watchdog: none"]),
    (Juno, &[], &["watchdog: SP805 at 0x7ff0f000, Sp805 { clock: 32768 }"]),
    (Juno, &[
        Set("/bus@7f000000/apb/watchdog@f000", "clock-names", Texts(&["wdogclk", "apb_pclk"])),
    ], &["watchdog: SP805 at 0x7ff0f000, Sp805 { clock: 32768 }"]),
    (Juno, &[Unset("/bus@7f000000/apb/watchdog@f000", "clock-names")],
        &["watchdog: SP805 at 0x7ff0f000, Sp805 { clock: 32768 }"]),
    (Juno, &[
        Set("/bus@7f000000/apb/watchdog@f000", "clock-names", Texts(&["apb_pclk", "wdog_clk"])),
    ], &["watchdog: none"]),
    (Juno, &[Set("/bus@7f000000/apb/watchdog@f000", "clocks", Cells(&[0x23, 0x21]))],
        &["watchdog: none"]),
    (Juno, &[Set("/bus@7f000000/apb/watchdog@f000", "clocks", Bytes(&[0x00, 0x00, 0x00]))],
        &["watchdog: none"]),
    (Juno, &[Set("/bus@7f000000/apb/watchdog@f000", "clocks", Empty)], &["watchdog: none"]),
    (Juno, &[Unset("/bus@7f000000/apb/watchdog@f000", "clocks")], &["watchdog: none"]),
    (Juno, &[Set("/refclk32khz", "compatible", Text("arm,scpi-clocks"))], &["watchdog: none"]),
    (Juno, &[Set("/refclk32khz", "clock-frequency", Cells(&[0]))], &["watchdog: none"]),
    (Juno, &[Set("/refclk32khz", "clock-frequency", Empty)], &["watchdog: none"]),
    (Juno, &[Unset("/refclk32khz", "clock-frequency")], &["watchdog: none"]),
    (Juno, &[Set("/refclk32khz", "status", Text("disabled"))], &["watchdog: none"]),
    (Juno, &[Unset("/refclk32khz", "phandle")], &["watchdog: none"]),
    (Juno, &[
        Unset("/bus@7f000000/apb", "ranges"),
        Add("/", "serial@1000 { compatible = \"arm,pl011\"; reg = <0 0x1000 0 0x1000>; }"),
        Set("/chosen", "stdout-path", Text("/serial@1000")),
    ], &["watchdog: none"]),
    (Juno, &[
        Add("/", "serial@1000 { compatible = \"arm,pl011\"; reg = <0 0x1000 0 0x1000>; }"),
        Set("/chosen", "stdout-path", Text("/serial@1000")),
    ], &["watchdog: SP805 at 0x7ff0f000, Sp805 { clock: 32768 }"]),
];
