//! The boot times in reports, against an independent count: the plugin's, of all instructions.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use follow::RunWatcher;
use object::{Object, ObjectSection, ObjectSymbol};
use profiler::profiled_run::build_plugin;
use report::analysis::boot_time::boot_times;
use report::log::{BootPoint, BootTimestamp, LoggedRun, read_complete};
use runner::qemu::prepare;
use runner::qemu::run_spec::RunSpec;
use runner::setup::newer_qemu;
use runner::setup::workspace::Workspace;

#[path = "../../plugin/src/record_format.rs"]
#[allow(dead_code)]
mod record_format;

/// QEMU's flash and secure memory, which contain all of TF-A, but not the payload.
const BLOCKS: &str = "0-10000000";
/// An address at which no instruction can be, so that the plugin looks for no power-down.
const NO_POWER_DOWN: &str = "1-1";

/// `mrs x0, cntpct_el0`; the register number is in bits 4:0.
const READ_COUNTER: u32 = 0xd53b_e020;

/// An execution of a block of instructions.
struct BlockExecution {
    address: u64,
    /// The number of instructions that all CPUs had executed before it.
    count: u64,
    len: u64,
}

/// Runs QEMU with the instruction clock, and returns the run, the plugin's record, and the folder of
/// TF-A's ELF files.
fn run(spec: &RunSpec) -> (LoggedRun, Vec<u8>, PathBuf) {
    let workspace = Workspace::find().expect("the workspace");
    let mut prepared = prepare::prepare(spec).expect("a run");
    prepared.set_path(newer_qemu(&workspace).expect("a QEMU"));
    let dir = tempfile::tempdir().expect("a directory");
    let out = dir.path().join("record");
    let mut plugin = OsString::from(build_plugin(&workspace).expect("the plugin"));
    plugin.push(format!(",blocks={BLOCKS},level={NO_POWER_DOWN},out="));
    plugin.push(&out);
    prepared.add_plugin(&plugin);
    let interrupt = AtomicBool::new(false);
    let result = prepared.run(&interrupt, &mut RunWatcher::default());
    let logged = read_complete(&result.expect("a result").log).expect("a complete run");
    let elf = prepared.bl31().expect("an ELF file");
    let elves = elf.parent().expect("a folder").to_owned();
    (logged, fs::read(out).expect("a record"), elves)
}

/// Returns the executions in a record.
fn executions(record: &[u8]) -> Vec<BlockExecution> {
    let (words, rest) = record.as_chunks::<8>();
    assert!(rest.is_empty());
    let numbers: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let (events, _) = numbers.as_chunks::<3>();
    let mut blocks = HashMap::new();
    let mut executions = Vec::new();
    for [first, a, b] in events {
        let number = first >> 32;
        match *first as u8 {
            record_format::BLOCK => {
                blocks.insert(number, (*a, *b));
            }
            record_format::EXECUTION => {
                let (address, len) = blocks[&number];
                executions.push(BlockExecution {
                    address,
                    count: a + b,
                    len,
                });
            }
            _ => {}
        }
    }
    executions
}

/// The functions of one of TF-A's stages, and its code.
struct Stage {
    /// The function that takes the stage's timestamps.
    main: Range<u64>,
    /// The address of the code, and its bytes.
    code: (u64, Vec<u8>),
}

impl Stage {
    fn read(elves: &Path, name: &str) -> Self {
        let elf = fs::read(elves.join(name).with_extension("elf")).expect("an ELF file");
        let file = object::File::parse(&*elf).expect("an ELF file");
        let main = format!("{name}_main");
        let symbol = file.symbols().find(|symbol| symbol.name() == Ok(&main));
        let symbol = symbol.expect("the symbol");
        let main = symbol.address()..symbol.address() + symbol.size();
        let mut sections = file.sections();
        let is_of_main = |section: &object::Section<'_, '_>| {
            let code = section.address()..section.address() + section.size();
            code.contains(&main.start)
        };
        let section = sections.find(is_of_main).expect("a section");
        let bytes = section.data().expect("its contents").to_vec();
        Self {
            main,
            code: (section.address(), bytes),
        }
    }

    /// Returns true if the instruction at `address` is in the main function and reads the counter.
    fn reads_counter(&self, address: u64) -> bool {
        let (base, bytes) = &self.code;
        self.main.contains(&address) && {
            let offset = (address - base) as usize;
            let word = bytes[offset..offset + 4].try_into().expect("four bytes");
            u32::from_le_bytes(word) & !0x1f == READ_COUNTER
        }
    }
}

/// Returns the name of the stage that takes a timestamp.
fn stage_of(timestamp: &BootTimestamp) -> &'static str {
    match timestamp.point {
        BootPoint::Bl1Entry
        | BootPoint::Bl1LoadStart
        | BootPoint::Bl1LoadEnd
        | BootPoint::Bl1Exit => "bl1",
        BootPoint::Bl2Entry
        | BootPoint::Bl2LoadStart
        | BootPoint::Bl2LoadEnd
        | BootPoint::Bl2Exit => "bl2",
        BootPoint::Bl31Entry | BootPoint::Bl31Exit => "bl31",
    }
}

/// Each tick of the clock is an instruction, so a timestamp is the number of instructions up to and
/// including the one that reads the counter.
#[test]
fn boot_timestamps_are_the_number_of_executed_instructions() {
    let spec = RunSpec {
        args: Some("only=psci_version_parallel iterations=1".to_owned()),
        ..RunSpec::parse("--icount --smp 2").expect("options")
    };
    let (logged, record, elves) = run(&spec);
    let executions = executions(&record);
    let points: Vec<BootPoint> = logged
        .boot
        .iter()
        .map(|timestamp| timestamp.point)
        .collect();
    assert_eq!(
        points,
        [
            BootPoint::Bl1Entry,
            BootPoint::Bl1Exit,
            BootPoint::Bl2Entry,
            BootPoint::Bl2Exit,
            BootPoint::Bl31Entry,
            BootPoint::Bl31Exit,
        ]
    );
    for timestamp in &logged.boot {
        let stage = Stage::read(&elves, stage_of(timestamp));
        let before = timestamp.ticks - 1;
        let index = executions.partition_point(|execution| execution.count <= before) - 1;
        let execution = &executions[index];
        let place = before - execution.count;
        let address = execution.address + 4 * place;
        assert!(place < execution.len, "{timestamp:?}");
        assert!(stage.reads_counter(address), "{timestamp:?}: {address:#x}");
    }
    let times = boot_times(&logged);
    let total = times.last().expect("the total");
    // A tick is 16 ns.
    assert_eq!(total.ns, Some(16 * total.ticks));
}
