//! Runs the code that executes before the caches are on, from all three entry points, under the
//! cache model. The runs cover every instruction and all kinds of loaders and CPUs.

mod interpreter;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;

use cache_model::{AccessKind, CacheActor, CacheFault, LINE};
use hardware::image::UartKind;
use object::{Object, ObjectSection};
use runner::setup::workspace::Workspace;
use test_support::code::Code;

use interpreter::{BASE, Cpu, UART};

const ID_AA64PFR0: u32 = 0xd538_0400;
const ID_AA64PFR1: u32 = 0xd538_0420;
const ID_AA64MMFR0: u32 = 0xd538_0700;
const ID_AA64MMFR3: u32 = 0xd538_0760;
/// The ID registers of a CPU that has TCR2, SCTLR2 and GCSCR.
const WITH_ALL: [(u32, u64); 2] = [(ID_AA64MMFR3, 0x11), (ID_AA64PFR1, 1 << 44)];
const MPIDR: u32 = 0xd538_00a0;

/// Returns the words in the loaded image, by address, up to the end of the image.
fn image() -> BTreeMap<u64, u64> {
    let workspace = Workspace::find().expect("the workspace");
    let path = runner::build::payload::build(&workspace).expect("the payload builds");
    let file = fs::read(path).expect("the ELF file");
    let elf = object::File::parse(&*file).expect("an ELF file");
    let mut words = BTreeMap::new();
    for section in elf.sections() {
        if section.address() == 0 && section.name() != Ok(".text") {
            continue;
        }
        let data = section.data().expect("the section's bytes");
        for (at, word) in (BASE + section.address()..).step_by(8).zip(data.chunks(8)) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            words.insert(at, u64::from_le_bytes(bytes));
        }
    }
    words
}

/// The executed instructions and the faults found.
#[derive(Default)]
struct Result {
    executed: BTreeSet<u64>,
    faults: BTreeSet<CacheFault>,
    paths: usize,
    places: Vec<String>,
}

impl Result {
    /// Returns the bytes sent to the UART.
    fn run(&mut self, mut cpu: Cpu<'_>) -> Vec<u8> {
        self.paths += usize::from(cpu.run());
        self.executed.extend(&cpu.executed);
        for found in &cpu.findings {
            self.faults.insert(found.fault);
            self.places.push(format!("{found:x?}"));
        }
        cpu.sent
    }
}

/// The number of the UART kind whose data register is at `REGISTER`.
const CADENCE: u64 = UartKind::Cadence as u64 + 1;
const REGISTER: u64 = 0x30;

/// Sets the `marks`, `uart_width` and `uart_kind` fields, and a UART whose data register is
/// [`UART`].
fn set_marks(memory: &mut BTreeMap<u64, u64>, marks: u64, width: u64, kind: u64) {
    memory.insert(BASE + 0x50, marks << 48 | width << 40 | kind);
    memory.insert(BASE + 0x58, UART - REGISTER);
}

/// Executes the reset code at each exception level, with caches on and off, and with all kinds of
/// trees. Stops early after finding the `wanted` fault.
fn reset(
    code: &Code,
    image: &BTreeMap<u64, u64>,
    levels: RangeInclusive<u64>,
    wanted: Option<CacheFault>,
) -> Result {
    let mut result = Result::default();
    let offset = 0x60;
    let size = 0x68;
    let end = code.symbol("__image_end");
    let trees = [
        (0, 0),
        (end, 0x1238),
        (end + 0x9000, 8),
        (end + 4, 8),
        (end, 0),
        (end, 1 << 40),
    ];
    for el in levels {
        for bits in 0..8usize {
            let [is_on, e2h_stays, has_el2] = [0, 1, 2].map(|bit| bits >> bit & 1 == 1);
            for (at, len) in trees {
                let mut memory = image.clone();
                memory.insert(BASE + offset, at);
                memory.insert(BASE + size, len);
                // No marks, or marks written with 1-, 2- or 4-byte stores.
                let width = [0, 1, 2, 4][bits & 3];
                let marks = if width == 0 { 0 } else { REGISTER + 1 };
                set_marks(&mut memory, marks, width, CADENCE);
                let mut cpu = Cpu::new(code, "reset", memory);
                cpu.el = el;
                cpu.e2h_stays = e2h_stays;
                cpu.system
                    .insert(ID_AA64PFR0, if has_el2 { 0x100 } else { 0 });
                cpu.system.insert(ID_AA64MMFR0, if has_el2 { 5 } else { 6 });
                if has_el2 {
                    cpu.system.extend(WITH_ALL);
                }
                // A loader that turned its caches off has written back everything it loaded, but
                // nothing else.
                let tree = if at == end {
                    len.next_multiple_of(LINE)
                } else {
                    0
                };
                let loaded = BASE + end + tree.min(1 << 16);
                let free = loaded.next_multiple_of(4096)..loaded + (4 << 20);
                cpu.model.mark_left_dirty(free, false);
                if is_on {
                    cpu.set_caches(true);
                    cpu.model.mark_left_dirty(BASE..loaded, true);
                }
                let sent = result.run(cpu);
                let expected: &[u8] = if width == 0 { b"" } else { b"<E><C>" };
                assert_eq!(sent, expected, "EL{el}, by {width} bytes");
                if wanted.is_some_and(|fault| result.faults.contains(&fault)) {
                    return result;
                }
            }
        }
    }
    result
}

/// Executes a CPU's entry code after another CPU has written to memory through its caches.
fn again(code: &Code, image: &BTreeMap<u64, u64>, entry: &str) -> Result {
    let mut result = Result::default();
    let root = BASE + code.symbol("root_table");
    let line = root & !(LINE - 1);
    for el in 1..=2 {
        for bits in 0..8 {
            let mut cpu = Cpu::new(code, entry, image.clone());
            (cpu.el, cpu.x[0]) = (el, bits & 1);
            cpu.e2h_stays = bits >> 1 & 1 == 1;
            cpu.system
                .insert(ID_AA64MMFR0, if bits >> 2 & 1 == 1 { 5 } else { 6 });
            if bits >> 2 & 1 == 1 {
                cpu.system.extend(WITH_ALL);
            }
            cpu.system.insert(MPIDR, 0x8000_0001);
            cpu.model.mark_left_dirty(BASE..line, true);
            cpu.model
                .mark_left_dirty(line + LINE..BASE + (8 << 20), true);
            // Also write to the other words in the cache line that contains `root`.
            for at in (line..line + LINE)
                .step_by(8)
                .filter(|address| *address != root)
            {
                let other = CacheActor {
                    cpu: 1,
                    pc: 0,
                    access: AccessKind::Cached,
                };
                cpu.model.store(other, at, 8);
            }
            result.run(cpu);
        }
    }
    result
}

/// Each ID register field, with the EL1 and EL2 registers that exist if the field is nonzero. A
/// register is represented by the instruction word that reads it. TCRX corresponds to TCR2, SCTLRX
/// to SCTLR2, and GCS to GCSCR.
const UNKNOWN_AT_RESET: [(u32, u64, [u32; 2]); 3] = [
    (ID_AA64MMFR3, 1, [0xd538_2060, 0xd53c_2060]),
    (ID_AA64MMFR3, 1 << 4, [0xd538_1060, 0xd53c_1060]),
    (ID_AA64PFR1, 1 << 44, [0xd538_2500, 0xd53c_2500]),
];

/// If the field is 0, accesses to the register are UNDEFINED.
#[test]
fn registers_without_a_reset_value_are_0_where_the_cpu_has_them() {
    const GARBAGE: u64 = 0xa5a5;
    let code = Code::load();
    let image = image();
    for entry in [
        "reset",
        "secondary_entry",
        "wake_entry",
        "noting_wake_entry",
    ] {
        for (id, field, registers) in UNKNOWN_AT_RESET {
            for el in 1..=2u64 {
                let written = |value: u64| {
                    let mut cpu = Cpu::new(&code, entry, image.clone());
                    cpu.el = el;
                    cpu.system.insert(ID_AA64MMFR0, 5);
                    cpu.system.insert(id, value);
                    cpu.system
                        .extend(registers.map(|register| (register, GARBAGE)));
                    cpu.run();
                    registers.map(|register| cpu.system[&register])
                };
                let mut expected = [GARBAGE; 2];
                assert_eq!(
                    written(!(15 * field)),
                    expected,
                    "{entry}, EL{el}, {field:#x}"
                );
                expected[el as usize - 1] = 0;
                assert_eq!(written(field), expected, "{entry}, EL{el}, {field:#x}");
            }
        }
    }
}

/// After an entry at EL3, the GCSEn, TCR2En and SCTLR2En bits in SCR_EL3 must allow the next level
/// to write to these registers. Otherwise, the writes would be trapped to EL3.
#[test]
fn registers_without_a_reset_value_are_open_below_el3() {
    const SCR_EL3: u32 = 0xd53e_1100;
    const OPEN: u64 = 1 << 39 | 1 << 43 | 1 << 44;
    let code = Code::load();
    for (has_el2, level) in [(0, 1), (0x100, 2)] {
        let mut cpu = Cpu::new(&code, "reset", image());
        cpu.el = 3;
        cpu.system.insert(ID_AA64PFR0, has_el2);
        cpu.run();
        assert_eq!(cpu.el, level);
        assert_eq!(cpu.system[&SCR_EL3] & OPEN, OPEN, "EL{level}");
    }
}

/// A store outside the UART may change any device, and this code cannot handle exceptions.
#[test]
fn no_mark_is_sent_if_the_fields_of_the_uart_contradict_each_other() {
    let code = Code::load();
    let image = image();
    let geni = UartKind::Geni as u64 + 1;
    for (marks, width, kind, at, sent) in [
        (REGISTER + 1, 4, CADENCE, UART, &b"<E><C>"[..]),
        (0, 4, CADENCE, UART, b""),
        (REGISTER + 2, 4, CADENCE, UART, b""),
        (0x2500 + REGISTER + 1, 4, CADENCE, UART, b""),
        (0xffff, 4, CADENCE, UART, b""),
        (REGISTER + 1, 0, CADENCE, UART, b""),
        (REGISTER + 1, 3, CADENCE, UART, b""),
        (REGISTER + 1, 5, CADENCE, UART, b""),
        (REGISTER + 1, 0x80, CADENCE, UART, b""),
        (REGISTER + 1, 4, 0, UART, b""),
        (REGISTER + 1, 4, geni, UART, b""),
        (REGISTER + 1, 4, CADENCE | 1 << 31, UART, b""),
        (REGISTER + 1, 4, UartKind::ALL.len() as u64 + 1, UART, b""),
        (REGISTER + 1, 4, CADENCE, UART + 2, b""),
        (REGISTER + 1, 2, CADENCE, UART + 1, b""),
    ] {
        let mut memory = image.clone();
        set_marks(&mut memory, marks, width, kind);
        memory.insert(BASE + 0x58, at - REGISTER);
        let mut cpu = Cpu::new(&code, "reset", memory);
        cpu.run();
        assert_eq!(cpu.sent, sent, "{marks:#x} {width} {kind:#x} {at:#x}");
    }
}

/// Returns the addresses on all paths from `entry` until the caches are on.
fn all(code: &Code, entry: &str) -> BTreeSet<u64> {
    let mut all = BTreeSet::new();
    let followed = code.follow(entry, (), |address, word, ()| {
        all.insert(address);
        Ok((!code.turns_caches_on(address, word)).then_some(()))
    });
    followed.expect("paths");
    all
}

#[test]
fn every_instruction_before_the_caches_is_sound() {
    let code = Code::load();
    let image = image();
    for (entry, result) in [
        ("reset", reset(&code, &image, 1..=3, None)),
        ("secondary_entry", again(&code, &image, "secondary_entry")),
        ("wake_entry", again(&code, &image, "wake_entry")),
    ] {
        assert_eq!(result.places, [""; 0], "{entry}");
        let left: Vec<_> = all(&code, entry)
            .difference(&result.executed)
            .copied()
            .collect();
        assert!(left.is_empty(), "{entry}: not executed: {left:x?}");
        println!(
            "{entry}: {} instructions, {} paths",
            result.executed.len(),
            result.paths
        );
    }
}

#[test]
fn mutations_are_found() {
    use CacheFault::{Discarded, NotCleaned, NotInvalidated, Overwritten};
    const NOP: u32 = 0xd503_201f;
    let code = Code::load();
    let image = image();
    let places = |symbol: &str, is_match: &dyn Fn(u64, u32) -> bool| {
        let words = code.words.range(code.symbol(symbol)..).take(80);
        let found = words.filter(|(address, word)| is_match(**address, **word));
        found.map(|(address, _)| *address).collect::<Vec<_>>()
    };
    let word = |wanted_word: u32| move |_: u64, word: u32| word == wanted_word;
    let call = |name: &str| {
        let to = code.symbol(name);
        move |address: u64, word: u32| {
            word == 0x9400_0000 | ((to.wrapping_sub(address) >> 2) as u32 & 0x3ff_ffff)
        }
    };
    let invalidates = places("left_el3", &call("invalidate_written"));
    let barriers = places("invalidate_written", &word(0xd503_3f9f));
    let drops = places("invalidate_written", &word(0xd508_7623));
    let write_backs = places("write_image_back", &word(0xd50b_7e23));
    // The DSB after these instructions is not tested, because the DSB in invalidate_written comes
    // early enough for data. The untested DSB is needed for instruction fetches, which are not
    // modeled, so the list in `barriers` checks it.
    for (name, at, fault) in [
        (
            "no invalidate before the first store",
            invalidates[0],
            Overwritten,
        ),
        (
            "no invalidate after the last store",
            invalidates[1],
            NotInvalidated,
        ),
        ("no DSB before DC IVAC", barriers[0], NotInvalidated),
        ("no DC IVAC", drops[0], NotInvalidated),
        ("no DSB after DC IVAC", barriers[1], Overwritten),
        ("no DC CIVAC", write_backs[0], Discarded),
    ] {
        // The code at EL3, which hands over to EL2, also writes back the caches.
        for level in 2..=3 {
            let mutation = code.with(at, &[NOP]);
            let faults = reset(&mutation, &image, level..=level, Some(fault)).faults;
            assert!(faults.contains(&fault), "{name}, EL{level}: {faults:?}");
        }
    }
    // Load the channel before the caches are on.
    for entry in ["secondary_entry", "wake_entry", "noting_wake_entry"] {
        let at = places(entry, &call("cpu_setup"))[0];
        let to = code.symbol("find_channel");
        let early = 0x9400_0000 | ((to.wrapping_sub(at) >> 2) as u32 & 0x3ff_ffff);
        let faults = again(&code.with(at, &[early]), &image, entry).faults;
        assert!(faults.contains(&NotCleaned), "{entry}: {faults:?}");
    }
}
