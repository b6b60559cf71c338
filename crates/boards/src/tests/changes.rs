//! Changes to a made-up board file, and whether the result is rejected or accepted.

/// Strings in the file and their replacements. Each string occurs exactly once.
type Changes = &'static [(&'static str, &'static str)];

/// Rejected changes, with the expected line number and message.
#[rustfmt::skip]
pub const REFUSED: &[(Changes, &str)] = &[
    // Top-level keys.
    (&[("title =", "titel =")],
        "2: unknown field `titel`, expected one of `name`, `title`, `verified`, `note`, \
         `load-address`, `default-firmware`, `memory`, `reserved`, `uart`, `psci`, `timer`, \
         `gic`, `watchdog`, `cpus`, `firmware`, `package`, `publish`, `qemu`, `tool`"),
    (&[("title = \"A made-up board\"", "")], "1: missing field `title`"),
    (&[("level = 1", "")], "70: missing field `level`"),
    (&[("max-cpus = 16", "")], "62: missing field `max-cpus`"),
    (&[("[psci]\nconduit = \"smc\"", "")], "1: missing field `psci`"),
    (&[("[qemu]", "[qemu")], "98: unclosed table, expected `]`"),
    (&[("conduit = \"smc\"", "conduit = \"svc\"")],
        "21: unknown variant `svc`, expected `smc` or `hvc`"),
    (&[("interrupt = 92", "irq = 92")],
        "32: unknown field `irq`, expected one of `base`, `size`, `interrupt`, `control`, \
         `number`"),
    (&[("number = 1", "")], "29: missing field `number`"),
    (&[("\nclock = 24_000_000", "")], "49: missing field `clock`"),
    (&[("kind = \"sp805\"", "kind = \"sp806\"")],
        "50: unknown variant `sp806`, expected one of `sp805`, `sbsa-gwdt`, `imx`"),
    (&[("kind = \"sp805\"", "kind = \"sbsa-gwdt\"")],
        "49: unknown field `clock`, expected one of `control`, `refresh`, `interrupt`"),
    (&[("kind = \"fip\"", "kind = \"zip\"")],
        "87: unknown variant `zip`, expected one of `fip`, `raw`, `fit`, `vendor`"),
    (&[("align = 512", "aligned = 512")],
        "91: unknown field `aligned`, expected one of `kind`, `file`, `folder`, `install`, \
         `requires`, `align`, `blobs`, `parts`, `tool`"),
    (&[("54464222-", "54464222")],
        "93: UUID parsing failed: invalid group count: expected 5, found 4"),
    (&[("title =", "verified = \"yes\"\ntitle =")],
        "2: unknown variant `yes`, expected one of `hardware`, `emulated`, `simulated`, `no`"),
    (&[("[gic]\n", "erratum = \"none\"\n[gic]\n")],
        "36: unknown field `erratum`, expected one of `base`, `size`, `interrupt`, `control`, \
         `number`"),

    // Strings.
    (&[("A made-up board", "")],
        "2: title: \"\": expected one line of printable ASCII, at most 100 characters"),
    (&[("A made-up board", "  ")],
        "2: title: \"  \": expected one line of printable ASCII, at most 100 characters"),
    (&[("A made-up board", "a\\nb")],
        "2: title: \"a\\nb\": expected one line of printable ASCII, at most 100 characters"),
    (&[("A made-up board", "a\\u0000")],
        "2: title: \"a\\0\": expected one line of printable ASCII, at most 100 characters"),
    (&[("A made-up board", "café")],
        "2: title: \"café\": expected one line of printable ASCII, at most 100 characters"),
    (&[("title =", "note = \"\"\ntitle =")],
        "2: note: \"\": expected one line of printable ASCII, at most 600 characters"),
    (&[("title =", "note = \"two\\nlines\"\ntitle =")],
        "2: note: \"two\\nlines\": expected one line of printable ASCII, at most 600 \
         characters"),
    (&[("It is not measured.", "café")],
        "83: firmware.tf-a-stock.note: \"café\": expected one line of printable ASCII, at \
         most 600 characters"),
    (&[("\"tee\"", "\"\"")],
        "11: reserved[0].name: \"\": expected a node name: up to 31 letters, digits and dashes"),
    (&[("\"tee\"", "\"a/b\"")],
        "11: reserved[0].name: \"a/b\": expected a node name: up to 31 letters, digits and dashes"),
    (&[("\"tee\"", "\"a\\u0000b\"")],
        "11: reserved[0].name: \"a\\0b\": expected a node name: up to 31 letters, digits and \
         dashes"),
    (&[("\"tee\"", "\"01234567890123456789012345678901\"")],
        "11: reserved[0].name: \"01234567890123456789012345678901\": expected a node name: up to \
         31 letters, digits and dashes"),
    (&[("\"core-off\"", "\"core off\"")],
        "66: firmware.tf-a.idle-state[0].name: \"core off\": expected a node name: up to 31 \
         letters, digits and dashes"),
    (&[("\"fip.bin\"", "\"../fip.bin\"")],
        "88: package.file: \"../fip.bin\": expected only letters, digits, '-', '_' and '.'"),
    (&[("\"scp_fw.bin\"", "\".scp\"")],
        "95: package.parts[0].file: \".scp\": expected only letters, digits, '-', '_' and '.'"),
    (&[("In flash.", "  ")],
        "89: package.install: \"  \": expected a sentence or two on one line"),
    (&[("doimage", "do\\nimage")],
        "92: package.tool: \"do\\nimage\": expected a sentence or two on one line"),
    (&[("continues", "compatible = [\"arm,cortex-a53\", \"arm\"]\ncontinues")],
        "60: cpus.compatible[1]: \"arm\": expected a vendor and a CPU name, such as \
         \"arm,cortex-a53\""),
    (&[("continues", "compatible = [\"arm,cortex-a53\"]\ncontinues")],
        "60: cpus.compatible: expected one name per cluster"),

    // The `verified` key.
    (&[("[qemu]\nmachine = \"virt\"\ncpu = \"cortex-a57\"\ncpus = 2\nmemory-mib = 1024", "")],
        "1: verified: missing; without [qemu] it must be \"hardware\", \"simulated\" or \"no\""),
    (&[
        ("title =", "verified = \"emulated\"\ntitle ="),
        ("[qemu]\nmachine = \"virt\"\ncpu = \"cortex-a57\"\ncpus = 2\nmemory-mib = 1024", ""),
    ], "2: verified: \"emulated\" requires a [qemu] table"),
    (&[
        ("title =", "verified = \"no\"\ntitle ="),
        ("[qemu]\nmachine = \"virt\"\ncpu = \"cortex-a57\"\ncpus = 2\nmemory-mib = 1024", ""),
    ], "63: firmware.tf-a: pmf is missing; it must be \"linked\", \"unlinked\" or \"none\""),

    // Memory and devices.
    (&[("base = 0x0900_0000", "base = 0x0800_f000")],
        "15: uart: the console at 0x800f000 overlaps the GIC's distributor at 0x8000000"),
    (&[("base = 0x0900_0000", "base = 0x1000_0000")],
        "15: uart: the console at 0x10000000 overlaps the watchdog at 0x10000000"),
    (&[("base = 0x0900_0000", "base = 0x1_0000_0000_0000")],
        "15: uart: the console: 0x8 bytes at 0x1000000000000 exceed 48-bit \
         addresses"),
    (&[("base = 0x4000_0000", "base = 0x1_0000_0000_0000")],
        "6: memory[0]: 0x40000000 bytes at 0x1000000000000 is not a valid range: expected a \
         nonzero size and 48-bit addresses"),
    (&[("base = 0x080a_0000", "base = 0x1_0000_0000_0000")],
        "43: gic.v3: the GIC's redistributors: 0x400000 bytes at 0x1000000000000 exceed \
         48-bit addresses"),
    (&[("base = 0x0801_0000", "base = 0x1_0000_0000_0000")],
        "39: gic.v2: the GIC's CPU interface: 0x1000 bytes at 0x1000000000000 exceed 48-bit \
         addresses"),
    (&[("registers = { base = 0x1000_0000", "registers = { base = 0x1_0000_0000_0000")],
        "49: watchdog: expected at least 4 KiB, aligned to 4 KiB, and, for an SP805, a clock"),
    (&[("0x2a81_0000", "0x4000_0000")],
        "29: timer.frame: the timer's control frame at 0x40000000 overlaps memory at 0x40000000: \
         correct the memory node, or reserve that part"),
    (&[("0x2a83_0000", "0x900_0000")],
        "15: uart: the console at 0x9000000 overlaps the timer frame at 0x9000000"),
    (&[("size = 0x4000_0000", "size = 0xffff_ffff_0000")],
        "6: memory[0]: 0xffffffff0000 bytes at 0x40000000 is not a valid range: expected a nonzero \
         size and 48-bit addresses"),
    (&[("base = 0x0900_0000\nsize = 0x1000", "base = 0x0900_0000\nsize = 0")],
        "15: uart: /serial@9000000 reg: the region at 0x9000000 is empty"),
    (&[("[uart]", "[[memory]]\nbase = 0x100\nsize = 0\n[uart]")],
        "15: memory[1]: 0x0 bytes at 0x100 is not a valid range: expected a nonzero size and \
         48-bit addresses"),
    (&[("[uart]", "[[memory]]\nbase = 0x7fff_f000\nsize = 0x2000\n[uart]")],
        "15: memory[1]: overlaps memory[0]"),
    (&[("base = 0x7000_0000\nsize = 0x1000", "base = 0x7000_0000\nsize = 0")],
        "10: reserved[0]: 0x0 bytes at 0x70000000 is not a valid range: expected a nonzero size \
         and 48-bit addresses"),
    (&[("base = 0x7000_0000", "base = 0x7fff_f800")],
        "10: reserved[0]: not within a single memory range"),
    (&[("[uart]", "[[reserved]]\nname = \"other\"\nbase = 0x7000_0000\nsize = 1\n[uart]")],
        "15: reserved[1]: overlaps reserved[0]"),

    // The load address. There must be enough memory above the load address for the image, its heap
    // and 16 CPU stacks.
    (&[("0x6000_0000", "0x8000_0000")], "3: load-address: 0x80000000 is not in memory"),
    (&[("0x6000_0000", "0x6000_0010")], "3: load-address: 0x60000010 is not aligned to 4 KiB"),
    (&[("0x6000_0000", "0x6fff_f000")],
        "3: load-address: the image overlaps memory reserved for tee"),
    (&[("0x6000_0000", "0x7fff_0000")],
        "3: load-address: 64 KiB of memory at this address, but the payload needs 1608 KiB"),
    (&[("0x6000_0000", "0x1_0000_0000_0000")], "3: load-address: 0x1000000000000 is not in memory"),

    // The UART.
    (&[("kind = \"ns16550\"", "kind = \"pl011\"\nreg-shift = 2")],
        "15: uart: reg-shift and reg-io-width require kind = \"ns16550\""),
    (&[("kind = \"ns16550\"", "kind = \"pl011\"\nreg-io-width = 4")],
        "15: uart: reg-shift and reg-io-width require kind = \"ns16550\""),
    (&[("kind = \"ns16550\"", "kind = \"ns16550\"\nreg-shift = 5")],
        "15: uart: /serial@9000000 reg-shift: 0x5, expected 0 to 4"),
    (&[("kind = \"ns16550\"", "kind = \"ns16550\"\nreg-shift = 1\nreg-io-width = 4")],
        "15: uart: /serial@9000000 reg-io-width: 0x4, expected at most the register spacing"),
    (&[
        ("kind = \"ns16550\"\nbase = 0x0900_0000\nsize = 0x1000", "kind = \"imx\"\nbase = 0x0900_0000\nsize = 0x80"),
    ], "15: uart: /serial@9000000 reg: 0x80, expected a size that covers all registers"),

    // Timers.
    (&[("= 30", "= 32")], "23: timer: expected four different PPI INTIDs from 16 to 31"),
    (&[("= 30", "= 27")], "23: timer: expected four different PPI INTIDs from 16 to 31"),
    (&[("= 92", "= 30")], "32: timer.frame.interrupt: INTID 30 is not an SPI (32 to 1019)"),
    (&[("= 92", "= 1020")],
        "32: timer.frame.interrupt: INTID 1020 is not an SPI (32 to 1019)"),
    (&[("number = 1", "number = 8")],
        "29: timer.frame: the device tree's timer frame has no usable frame-number"),
    (&[("base = 0x2a83_0000\nsize = 0x1000", "base = 0x2a83_0000\nsize = 0xfff")],
        "29: timer.frame: the device tree's timer frame has no usable reg"),

    // The interrupt controller.
    (&[
        ("[gic]\ndefault = 3\n\n[gic.v2]\ndistributor = { base = 0x0800_0000, size = 0x1_0000 }\ncpu-interface = { base = 0x0801_0000, size = 0x1_0000 }\n\n[gic.v3]\ndistributor = { base = 0x0800_0000, size = 0x1_0000 }\nredistributors = [\n    { base = 0x080a_0000, size = 0x40_0000 },\n]\n", ""),
    ], "23: timer: INTIDs require a [gic] table"),
    (&[
        ("[timer]\nsecure-physical = 29\nphysical = 30\nvirtual = 27\nhypervisor = 26\n\n[timer.frame]\nbase = 0x2a83_0000\nsize = 0x1000\ninterrupt = 92\ncontrol = { base = 0x2a81_0000, size = 0x1000 }\nnumber = 1\n", ""),
    ], "24: gic: a [gic] table requires a [timer] table"),
    (&[("default = 3", "default = 4")], "37: expected 2 or 3"),
    (&[
        ("default = 3\n\n[gic.v2]\n", "default = 2\n\n[gic.v3]\n"),
        ("cpu-interface = { base = 0x0801_0000, size = 0x1_0000 }\n\n[gic.v3]\ndistributor = { base = 0x0800_0000, size = 0x1_0000 }\n", ""),
    ], "37: gic.default: expected a version that this file describes"),
    (&[("0x0800_0000, size = 0x1_0000 }\ncpu", "0x0800_0000, size = 0x10 }\ncpu")],
        "39: gic.v2: /interrupt-controller@8000000 reg: 0x10, expected a size that covers the \
         GIC's registers"),
    (&[("size = 0x1_0000 }\nredistributors", "size = 0x10 }\nredistributors")],
        "43: gic.v3: /interrupt-controller@8000000 reg: 0x10, expected a size that covers the \
         GIC's registers"),
    (&[("size = 0x40_0000", "size = 0x41_0000")],
        "45: gic.v3.redistributors: expected a multiple of 128 KiB, the size of one redistributor"),
    (&[("size = 0x40_0000", "size = 0x2_0000")],
        "45: gic.v3.redistributors: the redistributors cover only 1 of 16 CPUs"),
    (&[("base = 0x080a_0000", "base = 0x080a_1000")],
        "43: gic.v3: /interrupt-controller@8000000 reg: 0x80a1000, expected an aligned GIC \
         frame"),
    (&[("    { base = 0x080a_0000, size = 0x40_0000 },\n", "")],
        "45: gic.v3.redistributors: the redistributors cover only 0 of 16 CPUs"),
    (&[("size = 0x40_0000 },\n]\n", "size = 0x40_0000 },\n]\nits = { base = 0x0808_8000, size = 0x1_0000 }\n")],
        "48: gic.v3.its: expected a base that is a multiple of 64 KiB, and at least 64 KiB"),
    (&[("size = 0x40_0000 },\n]\n", "size = 0x40_0000 },\n]\nits = { base = 0x080b_0000, size = 0x1_0000 }\n")],
        "48: gic.v3.its: the ITS at 0x80b0000 overlaps the GIC's redistributors at 0x80a0000"),

    // The watchdog.
    (&[("interrupt = 48", "interrupt = 31")],
        "53: watchdog.interrupt: INTID 31 is not an SPI (32 to 1019)"),
    (&[("24_000_000", "0")],
        "49: watchdog: expected at least 4 KiB, aligned to 4 KiB, and, for an SP805, a clock"),
    (&[("0x1000_0000, size = 0x1000", "0x1000_0000, size = 0x800")],
        "49: watchdog: expected at least 4 KiB, aligned to 4 KiB, and, for an SP805, a clock"),

    // CPUs.
    (&[
        ("continues = { cluster = 2, per-aff1 = 16, count = 32 }", ""),
        ("max-cpus = 16", "max-cpus = 4"),
        (", cluster = 16", ""),
        ("0x002,", "0x001,"),
    ], "56: cpus.clusters: MPIDR 0x1 appears twice; each CPU needs its own"),
    (&[
        ("continues = { cluster = 2, per-aff1 = 16, count = 32 }", ""),
        ("max-cpus = 16", "max-cpus = 4"),
        (", cluster = 16", ""),
        ("0x002,", "0x8000_0002,"),
    ], "58: MPIDR 0x80000002, expected only affinity field bits, 0xff00ffffff"),
    (&[("    [0x002, 0x003],", "    [],")], "56: cpus.clusters: a cluster has no CPUs"),
    (&[("    [0x000, 0x001],\n    [0x002, 0x003],\n", "")],
        "56: cpus.clusters: a cluster has no CPUs"),
    (&[("cluster = 2", "cluster = 4")],
        "60: cpus.continues: the clusters in cpus.clusters do not follow this rule"),
    (&[("cluster = 2", "cluster = 0")],
        "60: cpus.continues: expected cluster >= 1, per-aff1 from 1 to 256, and count <= 512"),
    (&[("per-aff1 = 16", "per-aff1 = 257")],
        "60: cpus.continues: expected cluster >= 1, per-aff1 from 1 to 256, and count <= 512"),
    (&[("count = 32", "count = 513")],
        "60: cpus.continues: expected cluster >= 1, per-aff1 from 1 to 256, and count <= 512"),
    (&[("count = 32", "count = 2")],
        "60: cpus.continues: the clusters in cpus.clusters do not follow this rule"),
    (&[
        ("continues = { cluster = 2, per-aff1 = 16, count = 32 }", ""),
        ("max-cpus = 16", "max-cpus = 4"),
    ], "84: firmware.tf-a-stock.stock.cluster: requires cpus.continues"),

    // TF-A platforms.
    (&[("fip-base = 0x4_0000, ", "")],
        "84: firmware.tf-a-stock.stock: fip-base is missing; it is required for QEMU's flash"),
    (&[("option = \"scp-fw\"", "option = \"nt-fw\"")],
        "84: firmware.tf-a-stock.stock.inputs[0].option: expected one of scp-fw, mcp-fw, ddr-fw, \
         tos-fw, tos-fw-extra1, hw-config"),
    (&[("max-size = 9", "max-size = 0")],
        "84: firmware.tf-a-stock.stock.inputs[0].max-size: expected at least 1"),
    (&[("a/bl1.bin", "../bl1.bin")],
        "84: firmware.tf-a-stock.stock.files[0].to: expected a relative path without \"..\""),
    (&[("a/bl1.bin", "/bl1.bin")],
        "84: firmware.tf-a-stock.stock.files[0].to: expected a relative path without \"..\""),
    (&[("option = \"soc-fw\"", "option = \"bl31\"")],
        "84: firmware.tf-a-stock.stock.images: fiptool has no option --bl31"),
    (&[("\"2.14\"", "\"two\"")],
        "84: \"two\" is not a version such as \"2.12\""),
    (&[("because = \"it was not there\"", "because = \"\"")],
        "84: firmware.tf-a-stock.stock.oldest.because: \"\": expected a sentence or two on one \
         line"),

    (&[("plat/pm.c", "/plat/pm.c")],
        "84: firmware.tf-a-stock.stock.power-down.file: expected a relative path without \"..\""),
    (&[("\"MAGIC\"", "\"\"")],
        "84: firmware.tf-a-stock.stock.power-down.contains: \"\": expected a sentence or two on one \
         line"),

    (&[("images = [{ option = \"soc-fw\", from = \"bl31.bin\" }]", "loads = [{ from = \"../bl31.bin\", address = 0 }]")],
        "84: firmware.tf-a-stock.stock.loads[0].from: expected a relative path without \"..\""),
    (&[("fip-base = 0x4_0000, ", "not-on-qemu = \"\", ")],
        "84: firmware.tf-a-stock.stock.not-on-qemu: \"\": expected a sentence or two on one line"),

    // Firmware.
    (&[("default-firmware = \"tf-a\"", "default-firmware = \"uefi\"")],
        "4: default-firmware: no [firmware.uefi] table"),
    (&[("max-cpus = 16", "max-cpus = 99999")],
        "63: firmware.tf-a.max-cpus: expected 2 (the default number of CPUs) to 32 (all CPUs)"),
    (&[("max-cpus = 16", "max-cpus = 0")],
        "63: firmware.tf-a.max-cpus: expected 2 (the default number of CPUs) to 32 (all CPUs)"),
    (&[("max-cpus = 16", "max-cpus = 1")],
        "63: firmware.tf-a.max-cpus: expected 2 (the default number of CPUs) to 32 (all CPUs)"),
    (&[("note = \"It is not measured.\"", "")],
        "81: firmware.tf-a-stock: no idle-state: add a note explaining why"),
    (&[("max-cpus = 16", "max-cpus = 16\ncpu-off = false")],
        "62: firmware.tf-a: cpu-off = false: add a note explaining why"),
    (&[("0x0101_0022", "0x0001_0022")],
        "70: firmware.tf-a.idle-state[1]: /cpus/idle-states/cluster-off \
         psci-bench,power-level: 0x1, expected the power level in \
         arm,psci-suspend-param"),
    (&[("0x0101_0022", "0x0111_0022")],
        "72: firmware.tf-a.idle-state[1].power-state: 0x1110022 sets bits that are reserved in the \
         original format"),
    (&[("0x4000_0022", "0xc000_0022")],
        "78: firmware.tf-a.idle-state[2].power-state: 0xc0000022 sets bits that are reserved in \
         the extended format"),
    (&[("0x4000_0022", "0x22")],
        "75: firmware.tf-a.idle-state[2]: /cpus/idle-states/cluster-off psci-bench,power-level: \
         0x1, expected 0 for a standby state"),
    (&[("name = \"cluster-off\"", "name = \"core-off\"")],
        "70: firmware.tf-a.idle-state[1]: another idle state has the same name or power-state"),
    (&[("0x0101_0022\nlevel = 1", "0x0001_0002\nlevel = 0")],
        "70: firmware.tf-a.idle-state[1]: another idle state has the same name or power-state"),
    (&[("level = 1", "level = 4")],
        "70: firmware.tf-a.idle-state[1]: /cpus/idle-states/cluster-off \
         psci-bench,power-level: 0x4, expected 0 to 3"),

    // Packages.
    (&[("512", "3")], "91: package.align: expected a power of two up to 1 MiB"),
    (&[("512", "0x20_0000")], "91: package.align: expected a power of two up to 1 MiB"),
    (&[("\"tb-fw\"", "\"tb-fw\", \"bl2\"")], "90: package.requires: fiptool has no option --bl2"),
    (&[("\"tb-fw\"", "\"tb-fw\", \"tb-fw\"")], "90: package.requires: tb-fw appears twice"),
    (&[("\"tb-fw\"", "\"nt-fw\"")], "90: package.requires: nt-fw is the payload; remove it"),
    (&[("\"tb-fw\"", "")], "87: package.kind: \"fip\" requires a list of images: requires = \
                            [\"tb-fw\", …]"),
    (&[("54464222-a4cf-4bf8-b1b6-cee7dade539e", "9766fd3d-89be-e849-ae5d-78a140608213")],
        "93: package.blobs: 9766fd3d-89be-e849-ae5d-78a140608213 is scp-fw, which belongs \
         in requires"),
    (&[("54464222-a4cf-4bf8-b1b6-cee7dade539e", "00000000-0000-0000-0000-000000000000")],
        "93: package.blobs: an all-zero UUID marks the end of the list and cannot identify an \
         image"),
    (&[
        ("\"MCP RAM\" }", "\"MCP RAM\" }, { uuid = \"54464222-a4cf-4bf8-b1b6-cee7dade539e\", title = \"\" }"),
    ], "93: package.blobs: the UUID 54464222-a4cf-4bf8-b1b6-cee7dade539e appears twice"),
    (&[(", requires = [\"scp-fw\"]", "")],
        "95: package.parts[0]: empty; add requires or blobs"),
    (&[("scp_fw.bin", "fip.bin")], "94: package.parts: two files are named fip.bin"),
    (&[("kind = \"fip\"", "kind = \"raw\"")],
        "90: package.requires: not allowed for this kind of package"),
    (&[("kind = \"fip\"", "kind = \"raw\""), ("requires = [\"tb-fw\"]", "")],
        "91: package.align: not allowed for this kind of package"),
    (&[("kind = \"fip\"", "kind = \"fit\""), ("requires = [\"tb-fw\"]", ""), ("align = 512", "")],
        "93: package.blobs: not allowed for this kind of package"),
    (&[
        ("kind = \"fip\"", "kind = \"raw\""),
        ("requires = [\"tb-fw\"]", ""),
        ("align = 512", ""),
        ("blobs = [{ uuid = \"54464222-a4cf-4bf8-b1b6-cee7dade539e\", title = \"MCP RAM\" }]", ""),
    ], "94: package.parts: not allowed for this kind of package"),
    (&[
        ("kind = \"fip\"", "kind = \"raw\""),
        ("requires = [\"tb-fw\"]", ""),
        ("align = 512", ""),
        ("blobs = [{ uuid = \"54464222-a4cf-4bf8-b1b6-cee7dade539e\", title = \"MCP RAM\" }]", ""),
        ("parts = [\n    { file = \"scp_fw.bin\", requires = [\"scp-fw\"] },\n]", ""),
    ], "92: package.tool: not allowed for this kind of package"),
    (&[
        ("kind = \"fip\"", "kind = \"vendor\""),
        ("requires = [\"tb-fw\"]", ""),
        ("align = 512", ""),
        ("blobs = [{ uuid = \"54464222-a4cf-4bf8-b1b6-cee7dade539e\", title = \"MCP RAM\" }]", ""),
        ("parts = [\n    { file = \"scp_fw.bin\", requires = [\"scp-fw\"] },\n]", ""),
        ("tool = \"doimage\"", ""),
    ], "87: package.kind: \"vendor\" requires the vendor's tool: tool = …"),

    // QEMU.
    (&[("cpus = 2", "cpus = 0")], "101: qemu.cpus: expected at least 1"),
    (&[("memory-mib = 1024", "memory-mib = 1023\nmemory-base = 0x4000_0000")],
        "103: qemu.memory-base: a memory range is outside the machine's memory"),
    (&[("memory-mib = 1024", "memory-mib = 1024\nserial = 32")],
        "103: qemu.serial: expected at most 31"),
    (&[("memory-mib = 1024", "memory-mib = 1024\nsince = \"new\"")],
        "103: \"new\" is not a version such as \"2.12\""),
    (&[("memory-mib = 1024", "memory-mib = 1024\nno-cpu-off = \"\"")],
        "103: qemu.no-cpu-off: \"\": expected a sentence or two on one line"),
    (&[("memory-mib = 1024", "memory-mib = 512")],
        "102: qemu.memory-mib: the memory ranges total 1024 MiB"),
    (&[("memory-mib = 1024", "memory-mib = 0x1000_0000_0400")],
        "102: qemu.memory-mib: the memory ranges total 1024 MiB"),
];

/// Accepted changes, with values at the limits.
#[rustfmt::skip]
pub const ACCEPTED: &[Changes] = &[
    &[("memory-mib = 1024", "memory-mib = 2048\nmemory-base = 0x0")],
    &[("fip-base = 0x4_0000, ", "not-on-qemu = \"it lacks a register\", ")],
    &[("In flash.", "Über")],
    &[("base = 0x0900_0000", "base = 0xffff_ffff_f000")],
    &[("0x6000_0000", "0x7fe6_e000")],
    &[("0x6000_0000", "0x6ff0_0000")],
    &[("title =", "verified = \"hardware\"\ntitle =")],
    &[("title =", "verified = \"emulated\"\ntitle =")],
    &[("size = 0x40_0000", "size = 0x20_0000")],
    &[("interrupt = 48", "interrupt = 1019")],
    &[("number = 1", "number = 7")],
    &[("align = 512", "align = 0x10_0000")],
    &[
        ("\"sp805\"", "\"sbsa-gwdt\""),
        ("registers", "control"),
        ("clock = 24_000_000", "refresh = { base = 0x2000, size = 0x1000 }"),
    ],
];
