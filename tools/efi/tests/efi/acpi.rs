//! Machines described by ACPI tables: QEMU's own tables, and modified ones passed through fw_cfg.

use std::fs;
use std::sync::LazyLock;
use std::thread;

use device_tree::acpi::{self, Memory, Tables};
use device_tree::adapt;
use efi::application::build;
use hardware::board::{Board, Region};
use runner::qemu;
use suite::model::Verdict;
use suite::plan::ScenarioId;

use crate::common::{Log, compile_asl, workspace};
use crate::machine::{Machine, with_tree};
use crate::paths::{ALL, STATES, application, edk2, under_tf_a};

/// The memory region of QEMU's `virt` machine.
const RAM: Region = Region {
    base: 0x4000_0000,
    size: 256 << 20,
};
const HEADER: usize = 36;

/// A machine's memory at the moment it was turned off.
struct Ram(Vec<u8>);

impl<'m> Memory<'m> for &'m Ram {
    fn bytes(&self, address: u64, size: u64) -> Option<&'m [u8]> {
        let first = address.checked_sub(RAM.base)? as usize;
        self.0.get(first..)?.get(..size as usize)
    }
}

impl Ram {
    /// Returns the address of the RSDP, which leads to all other tables.
    fn rsdp(&self) -> u64 {
        let marks = memchr::memmem::find_iter(&self.0, b"RSD PTR ");
        let mut places = marks.map(|offset| RAM.base + offset as u64);
        let is_whole = |place: &u64| Tables::find(&self, *place).is_ok();
        places.find(is_whole).expect("an RSDP")
    }

    fn number(&self, address: u64, size: u64) -> u64 {
        let bytes = (&self).bytes(address, size).expect("memory");
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn table(&self, address: u64) -> Vec<u8> {
        let size = self.number(address + 4, 4);
        (&self).bytes(address, size).expect("a table").to_vec()
    }

    /// Returns all tables, starting with the DSDT.
    fn tables(&self) -> Vec<Vec<u8>> {
        let xsdt = self.table(self.number(self.rsdp() + 24, 8));
        let (addresses, _) = xsdt[HEADER..].as_chunks::<8>();
        let mut tables = Vec::new();
        for address in addresses {
            tables.push(self.table(u64::from_le_bytes(*address)));
        }
        let fadt = tables.iter().find(|table| table.starts_with(b"FACP"));
        let dsdt = fadt.expect("a FADT")[140..148].try_into().expect("8 bytes");
        tables.insert(0, self.table(u64::from_le_bytes(dsdt)));
        tables
    }
}

/// Runs the payload on a machine described by ACPI tables, and returns the machine's memory.
fn ram_after_run(properties: &str, more: &str) -> Ram {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("ram");
    let memory = format!(
        "-m 256 -object memory-backend-file,id=ram,size=256M,share=on,mem-path={}",
        file.display()
    );
    edk2(&format!("{properties},acpi=on,memory-backend=ram"))
        .with(&memory)
        .with(more)
        .file("-kernel", "BOOTAA64.EFI", &application(None))
        .option("-append", STATES)
        .run()
        .passes(&[ALL]);
    Ram(fs::read(file).expect("the memory"))
}

/// Returns the device tree that QEMU generates for a machine.
fn device_tree(properties: &str, more: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("tree");
    let machine = format!("virt,{properties},acpi=on,dumpdtb={}", file.display());
    let line = format!("-display none -nic none -M {machine} -cpu cortex-a57 -m 256 {more}");
    let words: Vec<_> = line.split_whitespace().map(Into::into).collect();
    let status = qemu::command(&words).status().expect("QEMU runs");
    assert!(status.success());
    fs::read(file).expect("the tree")
}

/// Returns everything about a board that ACPI tables can describe.
fn shared(tree: &[u8]) -> String {
    let board = Board::read(tree).expect("a board");
    let devices = (&board.uart, &board.gic, &board.timers, &board.timer_frame);
    let (labels, cpus) = board.cpus(false).expect("CPUs");
    let rest = (board.watchdog, board.conduit, board.cpu_count, labels);
    let counter = (board.counter_erratum, board.second_level_cache);
    format!("{devices:#?}\n{rest:#?}\n{counter:#?}\n{cpus:#?}")
}

#[test]
fn tables_and_device_tree_give_the_same_board() {
    for (gic, el2, clusters) in [(2, "on", 2), (3, "on", 2), (3, "off", 1)] {
        let properties = format!("gic-version={gic},virtualization={el2}");
        let cores = 4 / clusters;
        let more = format!("-smp 4,sockets=1,clusters={clusters},cores={cores},threads=1");
        let ram = ram_after_run(&properties, &more);
        let tables = Tables::find(&&ram, ram.rsdp()).expect("the tables");
        let made = with_memory(&tables, "");
        assert_eq!(shared(&made), shared(&device_tree(&properties, &more)));
    }
}

/// Returns the device tree built from tables, with memory and boot arguments.
fn with_memory(tables: &Tables<'_>, bootargs: &str) -> Vec<u8> {
    let made = acpi::to_tree(tables, "arm,cortex-a57").expect("a tree");
    adapt(&made.tree, Some(bootargs), Some(&[RAM])).expect("the tree is usable")
}

/// Returns a DSDT that declares four CPUs in two containers, with these states.
fn states(core: u32, cluster: u32) -> Vec<u8> {
    let path = workspace().root.join("tests/data/acpi/nested.asl");
    let template = fs::read_to_string(path).expect("the source");
    let source = template
        .replace("CORE,", &format!("{core:#x},"))
        .replace("CLUSTER,", &format!("{cluster:#x},"));
    compile_asl(&source)
}

/// The names of the fw_cfg files that contain the tables and the pointer to them.
const FILE: &str = "etc/acpi/tables";
const RSDP: &str = "etc/acpi/rsdp";

/// The 128-byte commands that QEMU uses to control how the firmware places the tables
/// (hw/acpi/bios-linker-loader.c in QEMU).
#[derive(Default)]
struct Linker(Vec<u8>);

impl Linker {
    fn add(&mut self, number: u32, names: &[&str], numbers: &[usize], last: &[u8]) {
        let end = self.0.len() + 128;
        self.0.extend(number.to_le_bytes());
        for name in names {
            let name_end = self.0.len() + 56;
            self.0.extend(name.as_bytes());
            self.0.resize(name_end, 0);
        }
        for number in numbers {
            self.0.extend((*number as u32).to_le_bytes());
        }
        self.0.extend(last);
        self.0.resize(end, 0);
    }

    fn allocate(&mut self, file: &str, zone: u8) {
        self.add(1, &[file], &[16], &[zone]);
    }

    /// Adds the address of the tables to the 8-byte value at `at`.
    fn pointer(&mut self, file: &str, at: usize) {
        self.add(2, &[file, FILE], &[at], &[8]);
    }

    fn checksum(&mut self, file: &str, at: usize, start: usize, size: usize) {
        self.add(3, &[file], &[at, start, size], &[]);
    }
}

/// Passes these tables, starting with the DSDT, to EDK2 through QEMU's fw_cfg.
fn with_tables(machine: Machine, tables: &[Vec<u8>]) -> Machine {
    let mut blob = Vec::new();
    let mut places = Vec::new();
    for table in tables {
        places.push(blob.len());
        blob.extend(table);
        blob.resize(blob.len().next_multiple_of(16), 0);
    }
    let mut linker = Linker::default();
    linker.allocate(FILE, 1);
    linker.allocate(RSDP, 2);
    let xsdt = blob.len();
    let others = &places[1..];
    blob.extend(b"XSDT");
    blob.extend((HEADER as u32 + 8 * others.len() as u32).to_le_bytes());
    blob.resize(xsdt + HEADER, 1);
    for place in others {
        linker.pointer(FILE, blob.len());
        blob.extend((*place as u64).to_le_bytes());
    }
    let fadt = tables.iter().position(|table| table.starts_with(b"FACP"));
    if let Some(index) = fadt {
        let place = places[index];
        let size = tables[index].len();
        blob[place + 140..][..8].copy_from_slice(&(places[0] as u64).to_le_bytes());
        blob[place + 9] = 0;
        linker.pointer(FILE, place + 140);
        linker.checksum(FILE, place + 9, place, size);
    }
    let mut rsdp = b"RSD PTR \0TESTER\x02\0\0\0\0\x24\0\0\0".to_vec();
    rsdp.extend((xsdt as u64).to_le_bytes());
    rsdp.extend([0; 4]);
    linker.pointer(RSDP, 24);
    linker.checksum(RSDP, 8, 0, 20);
    linker.checksum(RSDP, 32, 0, 36);
    machine
        .firmware_file(FILE, &blob)
        .firmware_file(RSDP, &rsdp)
        .firmware_file("etc/table-loader", &linker.0)
}

/// Returns QEMU's tables for a machine with a GICv3, with the DSDT replaced.
fn changed_tables(dsdt: Vec<u8>) -> Vec<Vec<u8>> {
    static TABLES: LazyLock<Vec<Vec<u8>>> =
        LazyLock::new(|| ram_after_run("gic-version=3,virtualization=on", "").tables());
    let mut tables = TABLES.clone();
    tables[0] = dsdt;
    tables.iter_mut().for_each(|table| update_checksum(table));
    tables
}

#[test]
fn nested_idle_states_are_found() {
    let tables = changed_tables(states(0x1_0001, 0x10));
    let machine = edk2("gic-version=3,virtualization=on,acpi=off")
        .file("-kernel", "BOOTAA64.EFI", &application(None))
        .option("-append", "iterations=2 warmup=0");
    let log = with_tables(machine, &tables)
        .run()
        .passes(&["with the device tree built from ACPI tables at", ALL]);
    check_states(&log, 0x1_0001, 0x1_0011);
}

/// The device tree that was built from the tables is passed to the application, under firmware that
/// powers CPUs down.
#[test]
fn nested_idle_states_power_cpus_down() {
    let changed = changed_tables(states(0x1_0002, 0x200_0220));
    let files: Vec<&[u8]> = changed.iter().map(Vec::as_slice).collect();
    let tables = Tables::of_files(&files).expect("tables");
    let image = with_tree(&with_memory(&tables, "iterations=2 warmup=0"));
    let application = build(&workspace(), &image, None).expect("the application");
    let log = under_tf_a("on", &application, "")
        .run()
        .passes(&["with the application's device tree", ALL]);
    check_states(&log, 0x1_0002, 0x201_0222);
}

/// Checks which states a run's scenarios used.
fn check_states(log: &Log, core: u32, deepest: u32) {
    for (id, expected) in [
        (ScenarioId::CPU_SUSPEND_SERIAL, core),
        (ScenarioId::SUSPEND_DEEP_SERIAL, deepest),
    ] {
        let states = log
            .scenarios(id)
            .map(|scenario| scenario.conditions.as_ref()?.power_state);
        assert_eq!(states.collect::<Vec<_>>(), [Some(expected)]);
    }
}

fn update_checksum(table: &mut [u8]) {
    let sum = table.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    table[9] = table[9].wrapping_sub(sum);
}

/// If something that measurements require is missing, an error is printed and EFI continues.
#[test]
fn the_shell_comes_back_from_bad_tables() {
    let script = "fs0:\r\napp.efi\r\necho The shell is back\r\nreset -s\r\n";
    let application = application(None);
    let good = changed_tables(states(0x1_0001, 0x10));
    let tables_without = |names: &[&[u8]]| {
        let is_kept = |table: &&Vec<u8>| !names.iter().any(|name| table.starts_with(name));
        good.iter().filter(is_kept).cloned().collect::<Vec<_>>()
    };
    let changed_tables = |name: &[u8], offset: usize, byte: u8| {
        let mut tables = good.clone();
        let table = tables
            .iter_mut()
            .find(|table| table.starts_with(name))
            .expect("the table");
        table[offset] = byte;
        update_checksum(table);
        tables
    };
    let rows = [
        (tables_without(&[b"FACP"]), "no ACPI table FACP"),
        // Sets the length of the first structure to 0.
        (changed_tables(b"APIC", 45, 0), "entry length 0"),
    ];
    let check = |tables: &[Vec<u8>], expected_text: &str| {
        let machine = edk2("gic-version=3,virtualization=on,acpi=off").stick(&[
            ("app.efi", &application),
            ("startup.nsh", script.as_bytes()),
        ]);
        let seen = with_tables(machine, tables).run();
        seen.ends(
            Verdict::BadInput,
            &[
                "psci-bench: INCOMPLETE: bad input: the device tree built from ACPI tables at",
                expected_text,
                "Nothing was measured. Returning to EFI.",
                "The shell is back",
            ],
        );
    };
    // The shell spends most of its time waiting for a key press.
    thread::scope(|scope| {
        for (tables, expected) in &rows {
            scope.spawn(|| check(tables, expected));
        }
    });
}
