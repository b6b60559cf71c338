//! Cache maintenance of the entry at reset: dirty lines that an earlier stage
//! left, and stale ones that this entry could leave itself; and the order of a
//! store to a translation table's memory and of the one that links it.

use super::code::{Code, Flow, flow, signed};
use super::{accesses_memory, writes_sctlr};

const ISB: u32 = 0xd503_3fdf;
const DSB_SY: u32 = 0xd503_3f9f;
const DSB_ISHST: u32 = 0xd503_3a9f;
/// `dc ivac` and `dc civac`, by X3.
const IVAC: u32 = 0xd508_7623;
const CIVAC: u32 = 0xd50b_7e23;

/// The progress of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lines {
    /// Nothing has been done; caches are off, as far as the path knows.
    Untouched,
    /// The image is being written back.
    Cleaning,
    /// The image has been written back.
    Clean,
    /// MMU and caches have been turned off, not yet followed by an ISB.
    TurnedOff,
    /// Lines are being dropped.
    Dropping,
    /// No line is left of what is to be written, or has been.
    Dropped,
    /// Stores have been made since.
    Stored,
}

/// Returns true for a store, of the loads and stores that the entry has.
fn stores(word: u32) -> bool {
    // STP; STR with any way of addressing: LDR has bit 22.
    accesses_memory(word) && word >> 22 & 1 == 0
}

/// The state after `word`, which is at `at`.
fn step(code: &Code, at: u64, word: u32, lines: Lines) -> Result<Lines, String> {
    use Lines::{Clean, Cleaning, Dropped, Dropping, Stored, TurnedOff, Untouched};
    let turning_off = code.symbol("turn_caches_off")..code.symbol("caches_are_off");
    let next = match (word, lines) {
        (ISB, TurnedOff) => Untouched,
        (CIVAC, Untouched | Cleaning) => Cleaning,
        (DSB_SY, Cleaning) => Clean,
        (IVAC, Untouched | Stored | Dropping | Dropped) => Dropping,
        (DSB_SY, Dropping) => Dropped,
        (w, Clean) if writes_sctlr(w) && turning_off.contains(&at) => TurnedOff,
        (w, Dropped | Stored) if stores(w) => Stored,
        (w, _) if matches!(w, IVAC | CIVAC) || stores(w) || writes_sctlr(w) => {
            return Err(format!("{word:08x} at {at:#x} when lines are {lines:?}"));
        }
        (_, same) => same,
    };
    Ok(next)
}

/// Lines are dropped from the constants' page to the end of the boot area,
/// which is the farthest address that is counted from X27; the image is written back
/// from its first byte to X27.
#[test]
fn the_lines_of_all_that_is_written_are_dropped() {
    let code = Code::load();
    let begin = code.symbol("invalidate_written");
    let words = code.words.range(begin..).take(12);
    let words: Vec<(u64, u32)> = words.map(|(a, w)| (*a, *w)).collect();
    let adr_x3 = words.iter().find(|(_, w)| w & 0x1f00_001f == 0x1000_0003);
    let (at, adr) = adr_x3.expect("an address in X3");
    let immediate = signed((adr >> 5 & 0x7_ffff) << 2 | adr >> 29 & 3, 21);
    let from = match adr >> 31 {
        0 => at.wrapping_add_signed(immediate),
        _ => (at & !0xfff).wrapping_add_signed(immediate << 12),
    };
    let constants = code.symbol("__constants_start");
    assert!((constants - 4095..=constants).contains(&from), "{from:#x}");
    // ADD of X27 and an immediate, shifted by 12 where bit 22 is set.
    let sum = |word: u32| {
        let is = word & 0xff80_03e0 == 0x9100_0360;
        is.then_some((word >> 10 & 0xfff) << (12 * (word >> 22 & 1)))
    };
    let entry = code.symbol("_start")..code.symbol("secondary_entry");
    let farthest = code.words.range(entry).filter_map(|(_, w)| sum(*w)).max();
    let end = words
        .iter()
        .find_map(|(_, w)| sum(*w).filter(|_| w & 0x1f == 5));
    assert!(end.is_some() && end == farthest, "{end:x?} {farthest:x?}");
    // mov x3, x4; mov x5, x27.
    let back = code.between("write_image_back", "turn_caches_off");
    assert_eq!(back[..2], [0xaa04_03e3, 0xaa1b_03e5]);
}

/// On every path from `_start` to where SCTLR turns the caches on.
#[test]
fn reset_drops_lines_before_its_first_store_and_after_its_last() {
    let code = Code::load();
    let leaving_el3 = code.symbol("leave_el3")..code.symbol("left_el3");
    let mut met = false;
    let followed = code.follow("_start", Lines::Untouched, |at, word, lines| {
        if super::turns_caches_on(&code, at, word) {
            met = true;
            return match lines {
                Lines::Dropped => Ok(None),
                _ => Err(format!("caches on at {at:#x} when lines are {lines:?}")),
            };
        }
        match leaving_el3.contains(&at) {
            true => Ok(Some(lines)),
            false => step(&code, at, word, lines).map(Some),
        }
    });
    assert_eq!((followed, met), (Ok(()), true));
}

/// Entered with caches on, as by U-Boot's go: the image is in memory before they
/// are turned off, and nothing is between that and an ISB. SCTLR's M and C alone
/// decide whether that is passed over.
#[test]
fn caches_that_are_on_at_reset_are_written_back_first() {
    let code = Code::load();
    let target = |at: u64| match flow(code.word(at)) {
        Flow::Either(offset) | Flow::Jump(offset) | Flow::Call(offset) => {
            Some(at.wrapping_add_signed(offset))
        }
        Flow::On | Flow::Return => None,
    };
    let off = code.symbol("caches_are_off");
    let passes_over = code.words.keys().filter(|at| target(**at) == Some(off));
    let gate = code.symbol("write_image_back") - 4;
    assert_eq!(passes_over.collect::<Vec<_>>(), [&gate]);
    // mov x10, #(C | M); tst x9, x10; b.eq.
    let test = [gate - 8, gate - 4].map(|at| code.word(at));
    assert_eq!(test, [0xd280_00aa, 0xea0a_013f]);
    assert_eq!(code.word(gate) & 0xff00_001f, 0x5400_0000);
    let is_read = |word: u32| matches!(word, 0xd538_1009 | 0xd53c_1009);
    let entry = code.between("left_el3", "write_image_back");
    assert_eq!(entry.iter().filter(|word| is_read(**word)).count(), 2);
    // Two writes of SCTLR and an ISB, by the list of `barriers`.
    let turning = code.between("turn_caches_off", "caches_are_off");
    assert!(!turning.iter().any(|word| accesses_memory(*word)));
}

/// The function that clears the tables' pool: memset, and then a barrier.
#[test]
fn a_table_is_zero_before_it_is_linked() {
    let code = Code::load();
    let mut symbols = code.symbols.iter();
    let zero = symbols.find(|(name, _)| name.contains("6tables5Pages4zero"));
    let (_, begin) = zero.expect("a function that clears pages");
    let mut words = code.words.range(begin..).map(|(_, word)| *word);
    let call = words.find(|word| !matches!(flow(*word), Flow::On));
    assert!(matches!(call.map(flow), Some(Flow::Call(_))), "memset");
    assert_eq!(words.next(), Some(DSB_ISHST));
}
