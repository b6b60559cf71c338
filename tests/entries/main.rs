//! Checks the instructions in the linked image: entry points, timed regions, and SError unmasking.
//!
//! Until SCTLR is written, a load may return a stale value when another CPU's cache holds a newer
//! one, and a store may be overwritten by a line that is written back later. QEMU does not model
//! caches and therefore cannot detect this, so the instructions themselves are checked against a
//! list.

mod barriers;
mod caches;
mod devices;
mod errata;
mod loops;
mod serrors;
mod suspend;

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use test_support::code::{Code, Flow, flow, writes_sctlr};

/// Returns true for a word that loads or stores (Arm ARM, C4.1: op0 is x1x0).
fn accesses_memory(word: u32) -> bool {
    word >> 25 & 0b0101 == 0b0100
}

/// The loads and stores in the reset path, each listed once. The reset code must relocate the
/// image, build translation tables, find an appended tree, and invalidate everything it wrote.
const RESET_MAY: [(&str, u32); 19] = [
    ("ldr x7, [x5], #8: a word of the RELR table", 0xf840_84a7),
    ("ldr x9, [x8]: a pointer", 0xf940_0109),
    ("str x9, [x8], #8: the pointer, relocated", 0xf800_8509),
    ("ldr x9, [x10]: a pointer", 0xf940_0149),
    ("str x9, [x10]: the pointer, relocated", 0xf900_0149),
    ("ldr x19, [x3, #0x20]: tree_offset", 0xf940_1073),
    ("ldr x5, [x3, #0x28]: tree_size", 0xf940_1465),
    ("ldr x2, [x1, #0x10]: the register for marks", 0xf940_0822),
    (
        "ldrh w5, [x5]: the marks field of a kind of UART",
        0x7940_00a5,
    ),
    ("ldr x1, [x1, #0x18]: the UART's base", 0xf940_0c21),
    ("strb w5, [x1]: a byte to the UART", 0x3900_0025),
    ("strh w5, [x1]: a byte to the UART", 0x7900_0025),
    ("str w5, [x1]: a byte to the UART", 0xb900_0025),
    ("stp xzr, xzr, [x5], #16: clears the tables", 0xa881_7cbf),
    ("str x25, [x5, #…]: the root's address", STORE_ROOT),
    LOAD_ROOT,
    ("ldr x6, [x3, x5, lsl #3]: a table descriptor", 0xf865_7866),
    ("str x6, [x3, x5, lsl #3]: a table descriptor", 0xf825_7866),
    ("str x6, [x3, x5, lsl #3]: a page descriptor", 0xf825_7866),
];

/// The load that every entry point performs. The value that it loads was written once, with caches
/// off.
const LOAD_ROOT: (&str, u32) = ("ldr x11, [x11, #…]: the root's address", 0xf940_016b);
const STORE_ROOT: u32 = 0xf900_00b9;

/// Returns `word` without its page offset, which the linker chooses.
fn without_offset(code: &Code, word: u32) -> u32 {
    let offset = (code.symbol("root_table") & 0xfff) as u32 / 8;
    let is_root = |base_word: u32| word == base_word | offset << 10;
    let known = [LOAD_ROOT.1, STORE_ROOT];
    known
        .into_iter()
        .find(|known_word| is_root(*known_word))
        .unwrap_or(word)
}

/// Compares the accesses before the SCTLR write against a list. The code must contain all accesses
/// in the list and no others.
fn check(code: &Code, entry: &str, may: &[(&str, u32)]) -> Result<()> {
    let mut accesses = BTreeMap::new();
    let mut turns_on = false;
    code.follow(entry, (), |address, word, ()| {
        let is_end = code.turns_caches_on(address, word);
        turns_on |= is_end;
        if accesses_memory(word) {
            accesses.insert(address, word);
        }
        Ok((!is_end).then_some(()))
    })?;
    if !turns_on {
        bail!("SCTLR is never written");
    }
    let mut left: Vec<u32> = may.iter().map(|(_, word)| *word).collect();
    for (at, found) in accesses {
        let word = without_offset(code, found);
        match left.iter().position(|allowed_word| *allowed_word == word) {
            Some(place) => left.swap_remove(place),
            None => bail!("{word:08x} at {at:#x} is not on the list"),
        };
    }
    match left[..] {
        [] => Ok(()),
        _ => bail!("not found in the code: {left:08x?}"),
    }
}

const ISB: u32 = 0xd503_3fdf;
const SMC: u32 = 0xd400_0003;
const HVC: u32 = 0xd400_0002;
const CNTPCT: u32 = 0xd53b_e020;
const CNTVCT: u32 = 0xd53b_e040;

/// The call paths, each with its call instruction and its counter. The last value is true if the
/// counter is read twice.
const PATHS: [(&str, u32, u32, bool); 3] = [
    ("smc", SMC, CNTPCT, false),
    ("smc_twice", SMC, CNTPCT, true),
    ("hvc", HVC, CNTVCT, false),
];

/// The counter is read into x19 (and x20) before the call and into x4 (and x5) after it. The
/// suspend path saves the first value in case the CPU returns through the entry point, and uses the
/// same ISB as the timed region; without the ISB, the counter could be read before the agreed
/// start.
#[test]
fn a_timed_region_is_the_call_and_nothing_else() {
    const COPY: u32 = 0xaa13_03f4; // mov x20, x19
    const KEEP: u32 = 0xa906_d3f3; // stp x19, x20, [sp, #104]
    let code = Code::load();
    for (path, call, counter, twice) in PATHS {
        let read = |first_register: u32, second_register: u32| {
            let second_register = twice.then_some(counter | second_register);
            [counter | first_register]
                .into_iter()
                .chain(second_register)
        };
        let before = [ISB].into_iter().chain(read(19, 20));
        let region: Vec<u32> = before.chain([call, ISB]).chain(read(4, 5)).collect();
        for what in ["timed", "suspend"] {
            let name = format!("{what}_{path}");
            let found = code.between(&format!("{name}_begin"), &format!("{name}_end"));
            assert_eq!(found, region, "{name}");
        }
        let second = if twice { counter | 20 } else { COPY };
        let kept = code.between(
            &format!("suspend_{path}_kept"),
            &format!("suspend_{path}_begin"),
        );
        assert_eq!(kept, [ISB, counter | 19, second, KEEP], "{path}");
    }
}

/// The counter is read into x22 (and x23) before the call, and into x24 (and x25) after it. After
/// interrupts are unmasked, the only instruction before this region is the branch to it.
#[test]
fn an_interrupted_call_is_the_call_and_nothing_else() {
    const BR_X21: u32 = 0xd61f_02a0;
    let code = Code::load();
    for (path, call, counter, twice) in PATHS {
        let read = |first_register: u32, second_register: u32| {
            let second_register = twice.then_some(counter | second_register);
            [counter | first_register]
                .into_iter()
                .chain(second_register)
        };
        let before = [ISB].into_iter().chain(read(22, 23));
        let region: Vec<u32> = before.chain([call, ISB]).chain(read(24, 25)).collect();
        let name = format!("interrupted_{path}");
        let found = code.between(&name, &format!("{name}_end"));
        assert_eq!(found, region, "{name}");
    }
    let entry = code.between("interrupted_call", "interrupted_smc");
    let [.., select, unmask, branch] = entry[..] else {
        panic!("{entry:x?}")
    };
    assert_eq!([select, unmask, branch], [SP_EL0, UNMASK, BR_X21]);
}

#[test]
fn reset_touches_only_what_is_on_its_list() {
    check(&Code::load(), "_start", &RESET_MAY).expect("nothing else");
}

/// The code leaves EL3 with a single ERET to the next instruction, where it joins the path from the
/// other levels. M, C and I are clear in the next level's SCTLR.
#[test]
fn leaving_el3_keeps_them_off() {
    const ERET: u32 = 0xd69f_03e0;
    let code = Code::load();
    let leaving = code.between("leave_el3", "left_el3");
    let first = leaving.iter().position(|word| *word == ERET);
    assert_eq!(first, Some(leaving.len() - 1));
    let mut value = 0;
    let mut written = 0;
    for word in leaving {
        // MOVZ and MOVK, each of which moves 16 bits into X9 (Arm ARM, C6.2).
        let bits = u64::from(word >> 5 & 0xffff);
        let shift = 16 * (word >> 21 & 3);
        match word & 0xff80_001f {
            0xd280_0009 => value = bits << shift,
            0xf280_0009 => value = value & !(0xffff << shift) | bits << shift,
            _ => {}
        }
        if writes_sctlr(word) {
            assert_eq!(word & 0x1f, 9, "from X9");
            assert_eq!(value & (1 | 1 << 2 | 1 << 12), 0, "{value:#x}");
            assert_eq!(value >> 23 & 1, 1, "RES1 bit 23 is clear: {value:#x}");
            written += 1;
        }
        assert!(!accesses_memory(word), "{word:08x}");
    }
    // There is one SCTLR write for EL2 and one for EL1.
    assert_eq!(written, 2);
}

#[test]
fn cpu_on_and_wake_up_load_one_word_before_the_caches_are_on() {
    let code = Code::load();
    for entry in ["secondary_entry", "wake_entry", "noting_wake_entry"] {
        check(&code, entry, &[LOAD_ROOT]).expect(entry);
    }
}

/// The IRQ vector for SP_EL0 starts by reading the counter selected by X28 into X16 and X17. The
/// firmware preserves X28 in a call.
#[test]
fn a_timers_handler_begins_with_the_counter() {
    const TBNZ_X28: u32 = 0x3700_001c | 4 << 5; // Branches to the fifth word.
    const COPY: u32 = 0xaa10_03f1; // mov x17, x16
    let code = Code::load();
    let begin = code.symbol("timer_vector");
    assert_eq!(begin, code.symbol("vectors") + 0x80, "an IRQ on SP_EL0");
    let first_seven = code.words.range(begin..).take(7);
    let words: Vec<u32> = first_seven.map(|(_, word)| *word).collect();
    let reads = [words[0], words[1], words[2], words[4], words[5]];
    let expected = [TBNZ_X28, CNTPCT | 16, CNTPCT | 17, CNTVCT | 16, COPY];
    assert_eq!(reads, expected);
    let handler = code.symbol("timer_interrupt") as i64 - begin as i64;
    for place in [3, 6] {
        let is_jump =
            |target: i64| matches!(flow(words[place]), Flow::Jump(offset) if offset == target);
        assert!(is_jump(handler - 4 * place as i64), "word {place}");
    }
}

/// `msr spsel, #0` and `msr daifclr, #2`. Without these two instructions, no IRQs are taken.
const SP_EL0: u32 = 0xd500_40bf;
const UNMASK: u32 = 0xd503_42ff;

/// Interrupts for the handler are unmasked in only two places, on SP_EL0: around a memory load and
/// around a call. An interrupt taken anywhere else would use the vector that dumps the registers.
#[test]
fn interrupts_are_taken_at_two_places() {
    let code = Code::load();
    // DAIFClr with bit 1 set, regardless of the other bits, or DAIF accessed as a register.
    let unmasks = code.places(|word| word & 0xffff_f0ff == 0xd503_40ff && word >> 9 & 1 == 1);
    let writes = code.places(|word| word & !0x1f == 0xd51b_4220);
    assert!(writes.is_empty(), "{writes:x?}");
    let places = [
        code.symbol("interrupted_call")..code.symbol("interrupted_smc"),
        code.symbol("stress_loop")..code.symbol("timer_interrupt"),
    ];
    assert_eq!(unmasks.len(), places.len(), "{unmasks:x?}");
    for (unmask, place) in unmasks.iter().zip(&places) {
        assert!(place.contains(unmask), "{unmasks:x?}");
        assert_eq!(code.word(*unmask), UNMASK);
    }
    let selects = code.places(|word| word == SP_EL0);
    assert!(selects.iter().map(|address| address + 4).eq(unmasks));
}

/// Each memory load performs the operations that it is named after. The list in `barriers` covers
/// the cache maintenance.
#[test]
fn loads_store_as_they_are_named() {
    // STP and STNP of X register pairs with offset addressing.
    const STP: u32 = 0x2a4;
    const STNP: u32 = 0x2a0;
    let code = Code::load();
    for (name, next, pair) in [
        ("stress_write", "stress_zero", STP),
        ("stress_nontemporal", "stress_clean", STNP),
    ] {
        let words = code.between(name, next);
        let stores = words.iter().filter(|word| **word >> 22 == pair);
        assert_eq!(stores.count(), 4, "{name}");
    }
}
