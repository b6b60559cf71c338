//! Boards described by static tables, and the errors for missing or invalid tables.

use std::collections::BTreeMap;

use device_tree::acpi::{Memory, Tables, to_tree};

use crate::machine::{
    Field, bytes, convert, describe, gicc, gicd, gicr, its, madt, seal, table, tables, write,
};

/// Indices in [`tables`].
const FADT: usize = 0;
const MADT: usize = 1;
const GTDT: usize = 2;
const SPCR: usize = 3;

/// Checks that the board description contains every string in `words`.
fn check(tables: &[Vec<u8>], words: &[&str]) {
    let found = describe(tables);
    for word in words {
        assert!(found.contains(word), "{word:?} in\n{found}");
    }
}

#[test]
fn tables_make_the_board() {
    check(
        &tables(),
        &[
            "model: \"PSCIB MADE-UP\"",
            "kind: Pl011, base: 9000000",
            "V3 { distributor: Region { base: 8000000, size: 10000 }",
            "[Region { base: 80a0000, size: 100000 }]",
            "its: Some(Region { base: 8080000, size: 10000 })",
            "physical: Some(1e), virtual_: Some(1b), hypervisor: Some(1a)",
            "TimerFrame { control: 2a000000, number: 1, base: 2b010000, intid: 3d }",
            "Watchdog { kind: Sbsa, base: 2c010000 }",
            "conduit: Smc",
            "memory: [Region { base: 40000000, size: 40000000 }]",
            "bootargs: \"iterations=3\"",
            "second_level_cache: Some(400000)",
            "cpu_count: 4, counter_erratum: None",
            "CpuMap, [(0, 0, 0, 0), (100, 1, 0, 0), (101, 1, 1, 0), (10000, 1, 1, 1)]",
            "[\"no idle states: the AML has no readable _LPI",
        ],
    );
    let [one, other] = [(); 2].map(|()| convert(&tables()).expect("good tables").tree);
    assert_eq!(one, other);
}

/// Each row contains a table's signature, its changed fields (None removes the table), and part of
/// the expected board description or error.
#[rustfmt::skip]
const ROWS: &[(&str, Option<&[Field]>, &str)] = &[
    ("FACP", Some(&[(0x81, 2, 3)]), "conduit: Hvc"),
    ("FACP", Some(&[(0x10, 8, 0x20_2042_3201_0107)]), "model: \"PSCIB 2B\""),
    ("FACP", Some(&[(0x81, 2, 0)]), "error: FACP (file 1), offset 0x81: bit 0 of the flags"),
    ("FACP", Some(&[(0x81, 2, 2)]),
        "error: FACP (file 1), offset 0x81: bit 0 of the flags"),
    ("FACP", None, "error: no ACPI table FACP, which describes the PSCI conduit: use"),
    ("APIC", Some(&[(0x38, 4, 8)]), "cpu_count: 3"),
    ("APIC", Some(&[(0x38, 4, 8)]), "CpuMap, [(100, 0, 0, 0), (101, 0, 1, 0), (10000, 0, 1, 1)]"),
    ("APIC", Some(&[(0x2d, 1, 0)]),
        "error: APIC (file 2), offset 0x2c: entry length 0, expected 2 to"),
    ("APIC", Some(&[(0x2d, 1, 0x4b)]),
        "error: APIC (file 2), offset 0x2c: 75 bytes, expected at least 76"),
    ("APIC", Some(&[(0x70, 8, 0x8000_0000)]),
        "error: APIC (file 2), offset 0x2c: MPIDR 0x80000000, expected only affi"),
    ("APIC", Some(&[(0x70, 8, 0x100)]),
        "error: APIC (file 2), offset 0x2c: two enabled CPUs have MPIDR 0x100"),
    ("APIC", None, "error: no ACPI table APIC, which describes the CPUs and the GIC"),
    ("GTDT", Some(&[(0x48, 4, 0), (0x30, 4, 0)]),
        "physical: Some(1e), virtual_: Some(1b), hypervisor: None"),
    ("GTDT", Some(&[(0xa0, 4, 0)]), "number: 0, base: 2b000000, intid: 3c"),
    ("GTDT", Some(&[(0xc8, 4, 1)]), "timer_frame: Err(NotInTree), watchdog: Some"),
    ("GTDT", Some(&[(0xb8, 4, 0x1f)]), "timer_frame: Err(NotInTree), watchdog: Some"),
    ("GTDT", Some(&[(0xe4, 4, 4)]), "watchdog: None"),
    ("GTDT", Some(&[(0x58, 4, 0)]), "timer_frame: Err(NotInTree), watchdog: None"),
    ("GTDT", Some(&[(0xa, 6, 0x2020_4953_4948), (0x10, 8, 0x2020_2037_3050_4948)]),
        "counter_erratum: Some(HiSilicon)"),
    ("GTDT", Some(&[(0x38, 4, 0x20)]),
        "error: GTDT (file 3), offset 0x38: interrupt 32, expected a PPI (16"),
    ("GTDT", Some(&[(0x40, 4, 0x1e)]),
        "\"GTDT (file 3), offset 0x40: the physical timer and the virtual timer have interrupt 30, \
         but each needs its own\""),
    ("GTDT", Some(&[(0x30, 4, 0x1a)]),
        "\"GTDT (file 3), offset 0x48: the secure timer and the EL2 timer have interrupt 26, but"),
    ("GTDT", None, "error: no ACPI table GTDT, which describes the timers"),
    ("SPCR", Some(&[(0x24, 1, 0xe)]), "kind: Sbsa"),
    ("SPCR", Some(&[(0x24, 1, 0)]), "kind: Ns16550, base: 9000000, reg_shift: 0, io_width: 1"),
    ("SPCR", Some(&[(0x24, 1, 0x12), (0x29, 1, 0x20)]),
        "kind: Ns16550, base: 9000000, reg_shift: 2, io_width: 1"),
    ("SPCR", Some(&[(0x24, 1, 1), (0x2b, 1, 3)]),
        "kind: Ns16550, base: 9000000, reg_shift: 2, io_width: 4"),
    // Qualcomm's tables specify an invalid access size.
    ("SPCR", Some(&[(0x24, 1, 0x11)]), "kind: Geni, base: 9000000"),
    ("SPCR", Some(&[(0x24, 1, 0x13), (0x29, 1, 0x20), (0x2b, 1, 0x20)]), "kind: Geni, base: 9000000"),
    ("SPCR", Some(&[(0x24, 1, 2)]),
        "error: SPCR (file 4), offset 0x24: UART type 0x2, expected 0x3 (PL011)"),
    ("SPCR", Some(&[(0x28, 1, 1)]),
        "error: SPCR (file 4), offset 0x28: the UART is in address space 1, exp"),
    ("SPCR", Some(&[(0x24, 1, 0), (0x2b, 1, 4)]),
        "error: SPCR (file 4), offset 0x2b: access size 4, expected 0 to 3"),
    ("SPCR", Some(&[(0x24, 1, 0), (0x29, 1, 7)]),
        "error: SPCR (file 4), offset 0x29: bit width 7, expected 0, 8"),
    ("SPCR", None, "error: no console: no SPCR table has an address, and no"),
    ("PPTT", Some(&[(0x5c, 4, 0x4d)]),
        "the CPU with UID 0x0 is missing: CPUs are labeled by MPIDR"),
    ("PPTT", Some(&[(0x54, 4, 0b1000)]),
        "PPTT (file 5), offset 0x54: UID 0x0 is a CPU's, but bit 1 of the flags (0x8) is 0, which \
         means that the UID is not valid: CPUs are labeled by MPIDR"),
    // A CPU whose parent is another CPU, itself, or its child.
    ("PPTT", Some(&[(0x70, 4, 0x50)]),
        "PPTT (file 5), offset 0x50: UID 0x0 is a CPU's, but the processor at offset 0x68 has this \
         one as its parent: CPUs are"),
    ("PPTT", Some(&[(0x58, 4, 0x50)]),
        "PPTT (file 5), offset 0x58: this processor is its own parent: CPUs are"),
    ("PPTT", Some(&[(0x70, 4, 0x50), (0x58, 4, 0x68)]),
        "PPTT (file 5), offset 0x58: this processor is an ancestor of itself: CPUs are"),
    // Clusters whose parents are themselves, or each other.
    ("PPTT", Some(&[(0x2c, 4, 0x24)]),
        "PPTT (file 5), offset 0x2c: this processor is its own parent: CPUs are"),
    ("PPTT", Some(&[(0x2c, 4, 0x38), (0x40, 4, 0x24)]),
        "PPTT (file 5), offset 0x2c: this processor is an ancestor of itself: CPUs are"),
    ("PPTT", Some(&[(0xf8, 4, 0)]), "second_level_cache: Some(100000)"),
    ("PPTT", None, "[\"no ACPI table PPTT: CPUs are labeled by MPIDR\""),
];

#[test]
fn fields_are_used_or_refused() {
    for (signature, fields, expected) in ROWS {
        let mut tables = tables();
        let is_it = |table: &Vec<u8>| table.starts_with(signature.as_bytes());
        let changed = tables.iter().position(is_it).expect("the table");
        if let Some(fields) = fields {
            write(&mut tables[changed], fields);
            seal(&mut tables[changed]);
        } else {
            tables.remove(changed);
        }
        check(&tables, &[expected]);
    }
}

#[test]
fn controllers_are_read_by_version() {
    let two = &[0x10_0000, 0x14_0000][..];
    let adjacent = (0..8).rev().map(|index| 0x10_0000 + index * 0x2_0000);
    let nine: Vec<u64> = adjacent.chain([0x80_0000]).collect();
    let many: Vec<u64> = (1..10).map(|index| index << 20).collect();
    let range = |index: u64| gicr(0x100_0000 + (index << 18), 0x4_0000);
    let ranges: Vec<_> = [gicd(3)].into_iter().chain((0..9).map(range)).collect();
    let merged = "[Region { base: 100000, size: 100000 }, Region { base: 800000, size: 20000 }]";
    for (gic, redistributors, expected) in [
        (
            &[gicd(2)][..],
            &[0][..],
            "cpu_interface: Region { base: 8010000, size: 1000 }",
        ),
        (
            &[gicd(0)],
            &[0],
            "V2 { distributor: Region { base: 8000000, size: 1000 }",
        ),
        (&[gicd(3)], &nine, merged),
        (&[gicd(3), vec![0x0f, 4, 0, 0]], two, "offset 0xe4: 4 bytes"),
        (
            &[gicd(4)],
            two,
            "[Region { base: 100000, size: 40000 }, Region { base: 140000, size: 40000 }]",
        ),
        (&ranges, &[0], "[Region { base: 1000000, size: 240000 }]"),
        (
            &[gicd(3)],
            &many,
            "offset 0x2fc: 9 redistributor regions, expected 1 to 8",
        ),
        (
            &[gicd(3)],
            &[0],
            "offset 0x7c: 0 redistributor regions, expected 1 to 8",
        ),
        (
            &[gicd(5)],
            &[0],
            "offset 0x7c: GIC version 5, expected 0 to 4",
        ),
        (&[], &[0], "offset 0x2c: no GIC distributor (entry 0x0c)"),
        (
            &[],
            &[],
            "offset 0x2c: no enabled CPU: every GICC has flag bit 0 clear",
        ),
        (&ranges, &[0; 512], "cpu_count: 200"),
        (
            &ranges,
            &[0; 513],
            "offset 0xa02c: more than 512 enabled CPUs",
        ),
    ] {
        let cpus = redistributors.iter().zip(0..);
        let entries = cpus.map(|(base, uid)| gicc(uid, uid, 0x801_0000, *base));
        let mut tables = tables();
        tables[MADT] = madt(&entries.chain(gic.iter().cloned()).collect::<Vec<_>>());
        check(&tables, &[expected]);
    }
}

#[test]
fn contradictory_controllers_are_refused() {
    let without_base = bytes(24, &[(0, 1, 0x0c), (1, 1, 24), (20, 1, 3)]);
    let range = gicr(0x80a_0000, 0x10_0000);
    let cpu = |uid, interface, redistributor| gicc(uid, uid, interface, redistributor);
    let one = cpu(0, 0x801_0000, 0);
    let other = cpu(1, 0x801_0000, 0);
    let interface = "error: APIC (file 2), offset 0x7c: the GICC address of CPU 0x1 is 0x8020000, \
                     but another CPU's is 0x8010000; a GICv2 has only one: use a device tree";
    for (entries, expected) in [
        (
            vec![one.clone(), gicd(3), gicd(3), range.clone()],
            "error: APIC (file 2), offset 0x94: a second GIC distributor: use a device tree",
        ),
        (
            vec![one.clone(), gicd(2), other.clone(), gicd(3), range.clone()],
            "error: APIC (file 2), offset 0xe4: a second GIC distributor: use a device tree",
        ),
        (
            vec![one.clone(), without_base, range],
            "error: APIC (file 2), offset 0x84: the GIC distributor is at address 0: use a device",
        ),
        (vec![one.clone(), cpu(1, 0x802_0000, 0), gicd(2)], interface),
        (
            vec![one.clone(), cpu(1, 0, 0), gicd(1)],
            "offset 0x7c: a GICv2 requires a GICC address, but CPU 0x1 has none",
        ),
        (
            vec![cpu(0, 0, 0), other.clone(), gicd(2)],
            "offset 0x2c: a GICv2 requires a GICC address, but CPU 0x0 has none",
        ),
        (
            vec![cpu(0, 0, 0x80a_0000), cpu(1, 0, 0), gicd(3)],
            "offset 0x7c: CPU 0x1 has no redistributor, but other CPUs have one: use a device tree",
        ),
        (
            vec![one.clone(), gicd(3), gicr(0, 0x10_0000)],
            "offset 0x94: a redistributor range at address 0: use a device tree",
        ),
        (
            vec![one, gicd(3), gicr(0x80a_0000, 0x10_0000), its(0)],
            "offset 0xa4: the ITS is ignored because it is at address 0",
        ),
    ] {
        let mut tables = tables();
        tables[MADT] = madt(&entries);
        check(&tables, &[expected]);
    }
}

#[test]
fn dbg2_names_the_console_without_spcr() {
    let device = |kind| {
        let head = [
            (1, 2, 22),
            (3, 1, 1),
            (12, 2, kind),
            (14, 2, 3),
            (18, 2, 22),
        ];
        [bytes(22, &head), bytes(12, &[(4, 8, 0x900_0000)])].concat()
    };
    // The second device's address is in the remainder of the table.
    let parts = [bytes(22, &[(1, 2, 22), (12, 2, 0x8003)]), device(0x8000)];
    let dbg2 = table("DBG2", 44, &[(36, 4, 44), (40, 4, 2)], &parts);
    let mut tables = tables();
    // An SPCR without an address
    write(&mut tables[SPCR], &[(44, 8, 0)]);
    seal(&mut tables[SPCR]);
    tables.push(dbg2);
    check(&tables, &["kind: Pl011, base: 9000000"]);
    tables[SPCR] = tables.pop().expect("DBG2");
    check(&tables, &["kind: Pl011, base: 9000000"]);
    write(&mut tables[SPCR], &[(40, 4, 1)]);
    seal(&mut tables[SPCR]);
    check(&tables, &["error: no console: no SPCR table"]);
}

#[test]
fn tables_are_checked() {
    let mut tables = tables();
    tables[GTDT][60] ^= 4;
    let at = "error: GTDT (file 3), offset 0x";
    check(
        &tables,
        &[&format!(
            "{at}9: the sum of all 232 bytes is 0x4, expected 0"
        )],
    );
    for (length, error) in [
        (35, "35 bytes, expected 36 to 16777216"),
        (1 << 30, "1073741824 bytes"),
        (300, "only 232 of 300 bytes can be read"),
    ] {
        write(&mut tables[GTDT], &[(4, 4, length)]);
        check(&tables, &[&format!("{at}4: {error}")]);
    }
}

/// Tables at physical addresses.
#[derive(Default)]
struct Machine(BTreeMap<u64, Vec<u8>>);

impl<'m> Memory<'m> for &'m Machine {
    fn bytes(&self, address: u64, size: u64) -> Option<&'m [u8]> {
        let (base, bytes) = self.0.range(..=address).next_back()?;
        let first = usize::try_from(address - base).ok()?;
        bytes.get(first..)?.get(..usize::try_from(size).ok()?)
    }
}

const RSDP: u64 = 0x1000;
const XSDT: u64 = 0x2000;

/// Returns an RSDP. The RSDP checksums are valid unless `change`, which is applied last, breaks
/// them.
fn rsdp(change: Option<(usize, usize, u64)>) -> Vec<u8> {
    let signature = u64::from_le_bytes(*b"RSD PTR ");
    let mut rsdp = bytes(
        36,
        &[(0, 8, signature), (15, 1, 2), (20, 4, 36), (24, 8, XSDT)],
    );
    for (at, end) in [(8, 20), (32, 36)] {
        rsdp[at] = rsdp[..end]
            .iter()
            .fold(0, |sum: u8, byte| sum.wrapping_sub(*byte));
    }
    write(&mut rsdp, change.as_slice());
    rsdp
}

#[test]
fn tables_are_found_by_the_rsdp() {
    let mut machine = Machine::default();
    let mut tables = tables();
    let dsdt = table("DSDT", 36, &[], &[]);
    write(&mut tables[FADT], &[(40, 4, 0x6666), (140, 8, 0xa000)]);
    seal(&mut tables[FADT]);
    let addresses = (0..).map(|index| 0x3000 + index * 0x1000);
    let placed: Vec<(u64, Vec<u8>)> = addresses.zip(tables).collect();
    let mut pointers: Vec<_> = placed
        .iter()
        .map(|(address, _)| address.to_le_bytes().to_vec())
        .collect();
    pointers.push(vec![0; 8]);
    machine.0.extend(placed);
    machine
        .0
        .extend([(XSDT, table("XSDT", 36, &[], &pointers)), (0xa000, dsdt)]);
    for (change, error) in [
        (None, ""),
        (Some((0, 1, 0)), "does not start with \"RSD PTR \""),
        (
            Some((15, 1, 0)),
            "revision 0 has no XSDT: use a device tree instead",
        ),
        (Some((20, 4, 20)), "the length is not 36 bytes"),
        (Some((9, 1, 1)), "a checksum is wrong"),
        (Some((33, 1, 1)), "a checksum is wrong"),
    ] {
        machine.0.insert(RSDP, rsdp(change));
        match Tables::find(&&machine, RSDP) {
            Err(found) => assert_eq!(found.to_string(), format!("RSDP (at 0x1000): {error}")),
            Ok(tables) => {
                assert_eq!(error, "");
                let made = to_tree(&tables, "arm,armv8").expect("a tree");
                let null = "XSDT lists a table at 0x0, which is not in readable memory";
                assert_eq!(made.notes[0], null);
            }
        }
    }
    machine.0.insert(RSDP, rsdp(None));
    for (at, error) in [
        (
            0xa000,
            "FACP lists a table at 0xa000, which is not in readable memory",
        ),
        (XSDT, "RSDP (at 0x1000): no XSDT at 0x2000"),
        (RSDP, "RSDP (at 0x1000): not in readable memory"),
    ] {
        machine.0.remove(&at);
        let found = Tables::find(&&machine, RSDP);
        let message = match found.and_then(|tables| to_tree(&tables, "arm,armv8")) {
            Ok(made) => made.notes.join("|"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(error), "{message}");
    }
}
