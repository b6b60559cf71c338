//! Reads the linked image as a CPU would: what the three entries do before
//! MMU and caches are on, what is in the timed regions, and from where on
//! SErrors are taken.
//!
//! Until SCTLR is written, a load may see memory that a cache of another CPU
//! has newer, and a store may be lost under a line that is written back
//! later. QEMU has no caches and shows none of it, so the instructions
//! themselves are held against a list.

mod barriers;
mod caches;
mod code;
mod errata;
mod loops;
mod serrors;
mod suspend;

use std::collections::BTreeMap;

use code::{Code, Flow, flow};

/// Returns true for a word that loads or stores (Arm ARM, C4.1: op0 is x1x0).
fn accesses_memory(word: u32) -> bool {
    word >> 25 & 0b0101 == 0b0100
}

/// Returns true for `msr sctlr_el1` or `msr sctlr_el2`.
fn writes_sctlr(word: u32) -> bool {
    matches!(word & !0x1f, 0xd518_1000 | 0xd51c_1000)
}

/// Returns true for a word that turns MMU and caches on: any write of SCTLR but those by
/// which the entry at EL3 sees to it that they are off at the next level, where
/// it goes on with the path ([`leaving_el3_keeps_them_off`]), and those by which
/// reset turns them off.
fn turns_caches_on(code: &Code, at: u64, word: u32) -> bool {
    let leaving = code.symbol("leave_el3")..code.symbol("left_el3");
    let turning_off = code.symbol("turn_caches_off")..code.symbol("caches_are_off");
    writes_sctlr(word) && !leaving.contains(&at) && !turning_off.contains(&at)
}

/// The loads and stores of reset, each once: it has to relocate, to build tables, and to
/// read where an appended tree is, and it invalidates what it wrote.
const RESET_MAY: [(&str, u32); 13] = [
    ("ldr x7, [x5], #8: a word of the RELR table", 0xf840_84a7),
    ("ldr x9, [x8]: a pointer", 0xf940_0109),
    ("str x9, [x8], #8: the pointer, relocated", 0xf800_8509),
    ("ldr x9, [x10]: a pointer", 0xf940_0149),
    ("str x9, [x10]: the pointer, relocated", 0xf900_0149),
    ("ldr x19, [x3, #0x20]: tree_offset", 0xf940_1073),
    ("ldr x5, [x3, #0x28]: tree_size", 0xf940_1465),
    ("stp xzr, xzr, [x5], #16: clears the tables", 0xa881_7cbf),
    ("str x25, [x5, #…]: where the root is", STORE_ROOT),
    LOAD_ROOT,
    ("ldr x6, [x3, x5, lsl #3]: a table descriptor", 0xf865_7866),
    ("str x6, [x3, x5, lsl #3]: a table descriptor", 0xf825_7866),
    ("str x6, [x3, x5, lsl #3]: a page descriptor", 0xf825_7866),
];

/// The load of all entries, written with caches off and never since.
const LOAD_ROOT: (&str, u32) = ("ldr x11, [x11, #…]: where the root is", 0xf940_016b);
const STORE_ROOT: u32 = 0xf900_00b9;

/// `word` without the offset into its page, which the linker chose.
fn without_offset(code: &Code, word: u32) -> u32 {
    let offset = (code.symbol("root_table") & 0xfff) as u32 / 8;
    let is_root = |plain: u32| word == plain | offset << 10;
    let known = [LOAD_ROOT.1, STORE_ROOT];
    known.into_iter().find(|w| is_root(*w)).unwrap_or(word)
}

/// Holds what comes before the SCTLR write against a list: all of it, and
/// nothing else.
fn check(code: &Code, entry: &str, may: &[(&str, u32)]) -> Result<(), String> {
    let (mut accesses, mut met) = (BTreeMap::new(), false);
    code.follow(entry, (), |at, word, ()| {
        let is_end = turns_caches_on(code, at, word);
        met |= is_end;
        if accesses_memory(word) {
            accesses.insert(at, word);
        }
        Ok((!is_end).then_some(()))
    })?;
    if !met {
        return Err("no write of SCTLR".into());
    }
    let mut left: Vec<u32> = may.iter().map(|(_, word)| *word).collect();
    for (at, word) in accesses {
        let word = without_offset(code, word);
        match left.iter().position(|allowed| *allowed == word) {
            Some(place) => left.swap_remove(place),
            None => return Err(format!("{word:08x} at {at:#x} is not on the list")),
        };
    }
    if left.is_empty() {
        Ok(())
    } else {
        Err(format!("the list has {left:08x?} too much"))
    }
}

const ISB: u32 = 0xd503_3fdf;
const SMC: u32 = 0xd400_0003;
const HVC: u32 = 0xd400_0002;
const CNTPCT: u32 = 0xd53b_e020;
const CNTVCT: u32 = 0xd53b_e040;

/// The timed region of one way: the counter is read into x19 (and x20)
/// before, into x4 (and x5) after.
fn timed_region(call: u32, counter: u32, twice: bool) -> Vec<u32> {
    let reads = |first: u32, second: u32| {
        let mut words = vec![counter | first];
        words.extend(twice.then_some(counter | second));
        words
    };
    let mut region = vec![ISB];
    region.extend(reads(19, 20));
    region.extend([call, ISB]);
    region.extend(reads(4, 5));
    region
}

fn check_timed(code: &Code) -> Result<(), String> {
    for (way, call, counter, twice) in [
        ("smc", SMC, CNTPCT, false),
        ("smc_twice", SMC, CNTPCT, true),
        ("hvc", HVC, CNTVCT, false),
    ] {
        for what in ["timed", "suspend"] {
            let name = format!("{what}_{way}");
            let found = code.between(&format!("{name}_begin"), &format!("{name}_end"));
            if found != timed_region(call, counter, twice) {
                return Err(format!("{name}: {found:08x?}"));
            }
        }
    }
    Ok(())
}

/// Checks the words ahead of a suspend's timed region: the read that is kept for the way
/// back by the entry point, behind an ISB as the region's own, and its store.
fn check_kept(code: &Code) -> Result<(), String> {
    // mov x20, x19; stp x19, x20, [sp, #104].
    const PAIR: u32 = 0xaa13_03f4;
    const KEEP: u32 = 0xa906_d3f3;
    for (way, expected) in [
        ("smc", [ISB, CNTPCT | 19, PAIR, KEEP]),
        ("smc_twice", [ISB, CNTPCT | 19, CNTPCT | 20, KEEP]),
        ("hvc", [ISB, CNTVCT | 19, PAIR, KEEP]),
    ] {
        let name = format!("suspend_{way}");
        let found = code.between(&format!("{name}_kept"), &format!("{name}_begin"));
        if found != expected {
            return Err(format!("{name}: {found:08x?}"));
        }
    }
    Ok(())
}

#[test]
fn reset_touches_only_what_is_on_its_list() {
    assert_eq!(check(&Code::load(), "_start", &RESET_MAY), Ok(()));
}

/// EL3 is left by one ERET, to the word behind it, where the path of the other
/// levels joins; the next level's SCTLR has M, C and I clear.
#[test]
fn leaving_el3_keeps_them_off() {
    const ERET: u32 = 0xd69f_03e0;
    let code = Code::load();
    let leaving = code.between("leave_el3", "left_el3");
    let places: Vec<usize> = (0..leaving.len())
        .filter(|at| leaving[*at] == ERET)
        .collect();
    assert_eq!(places, [leaving.len() - 1]);
    let mut value = 0;
    let mut written = 0;
    for word in leaving {
        // MOVZ and MOVK of 16 bits into X9 (Arm ARM, C6.2).
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
            assert_eq!(value >> 23 & 1, 1, "a RES1 bit, so it was read: {value:#x}");
            written += 1;
        }
        assert!(!accesses_memory(word), "{word:08x}");
    }
    // One for EL2, one for EL1.
    assert_eq!(written, 2);
}

#[test]
fn cpu_on_and_wake_up_load_one_word_before_the_caches_are_on() {
    let code = Code::load();
    for entry in ["secondary_entry", "wake_entry"] {
        assert_eq!(check(&code, entry, &[LOAD_ROOT]), Ok(()), "{entry}");
    }
}

/// Which counter, and then the counter: what a timer's handler begins with.
const TBNZ_X18: u32 = 0x3700_0012;

/// The vector for an IRQ on SP_EL0 reads the counter that X18 says, into X16 and
/// X17, before anything else.
fn check_timer_vector(code: &Code) -> Result<(), String> {
    let begin = code.symbol("timer_vector");
    if begin != code.symbol("vectors") + 0x80 {
        return Err("it is not the vector of an IRQ on SP_EL0".into());
    }
    let word = |place: u64| code.word(begin + 4 * place);
    let handler = code.symbol("timer_interrupt").wrapping_sub(begin) as i64;
    let goes_on = |place: u64| match flow(word(place)) {
        Flow::Jump(offset) => offset + 4 * place as i64 == handler,
        _ => false,
    };
    let physical = [CNTPCT | 16, CNTPCT | 17];
    let found = [word(1), word(2)];
    if word(0) != TBNZ_X18 | 4 << 5 || found != physical || word(4) != CNTVCT | 16 {
        return Err(format!("{:08x?}", [word(0), found[0], found[1], word(4)]));
    }
    // mov x17, x16
    if !goes_on(3) || word(5) != 0xaa10_03f1 || !goes_on(6) {
        return Err("it does not go on to the handler".into());
    }
    Ok(())
}

/// `msr spsel, #0` and `msr daifclr, #2`: without them no IRQ is taken.
const SP_EL0: u32 = 0xd500_40bf;
const UNMASK: u32 = 0xd503_42ff;

/// The handler's interrupts are let in at one place, on SP_EL0, so that one that
/// came anywhere else would have the vector that dumps.
#[test]
fn interrupts_are_taken_at_one_place() {
    let code = Code::load();
    // DAIFClr with bit 1, whichever others; DAIF as a register.
    let unmasks = code.places(|word| word & 0xffff_f0ff == 0xd503_40ff && word >> 9 & 1 == 1);
    let writes = code.places(|word| word & !0x1f == 0xd51b_4220);
    assert_eq!(
        (unmasks.len(), writes.len()),
        (1, 0),
        "{unmasks:x?} {writes:x?}"
    );
    assert_eq!(code.word(unmasks[0]), UNMASK);
    assert_eq!(code.places(|word| word == SP_EL0), [unmasks[0] - 4]);
    assert!(unmasks[0] > code.symbol("stress_loop"));
    assert!(unmasks[0] < code.symbol("timer_interrupt"));
}

#[test]
fn a_timers_handler_begins_with_the_counter() {
    assert_eq!(check_timer_vector(&Code::load()), Ok(()));
}

/// Each load is made of what it is named for.
#[test]
fn loads_are_what_they_are_named_for() {
    let code = Code::load();
    // DC by address: op1, CRm and op2 of the operation, whatever register.
    let dc = |op1: u32, crm: u32, op2: u32| {
        move |word: u32| word & !0x1f == 0xd508_7000 | op1 << 16 | crm << 8 | op2 << 5
    };
    // Pairs of X registers, offset addressing: STP and STNP.
    let stp = |word: u32| word >> 22 == 0x2a4 && word >> 10 & 0x1f != 0x1f;
    let stnp = |word: u32| word >> 22 == 0x2a0;
    let within = |name: &str, next: &str, is: &dyn Fn(u32) -> bool| {
        let words = code.between(name, next);
        words.into_iter().filter(|word| is(*word)).count()
    };
    assert_eq!(within("stress_write", "stress_zero", &stp), 4);
    assert_eq!(within("stress_zero", "stress_nontemporal", &dc(3, 4, 1)), 1);
    assert_eq!(within("stress_nontemporal", "stress_clean", &stnp), 4);
    let cleaned = |is: &dyn Fn(u32) -> bool| within("stress_clean", "stress_end", is);
    assert_eq!(cleaned(&dc(3, 10, 1)), 1, "DC CVAC");
    assert_eq!(cleaned(&dc(3, 14, 1)), 1, "DC CIVAC");
}

#[test]
fn a_timed_region_is_the_call_and_nothing_else() {
    assert_eq!(check_timed(&Code::load()), Ok(()));
}

/// Without the ISB the read could be ahead of the agreed start.
#[test]
fn what_a_resumed_suspend_has_ahead_of_its_call_is_four_instructions() {
    assert_eq!(check_kept(&Code::load()), Ok(()));
}

/// The checks themselves: a load put in anywhere must not get past them.
#[test]
fn a_load_put_in_is_found() {
    const LOAD: u32 = 0xf940_0000; // ldr x0, [x0]
    let code = Code::load();
    let with_load = |address: u64| code.with(address, &[LOAD]);
    // `mov x21, x0` in both entries, and the first word of what all share.
    let mov = 0xaa00_03f5;
    for entry in ["secondary_entry", "wake_entry"] {
        let begin = code.symbol(entry);
        let mut own = code.words.range(begin..).take(12);
        let (at, _) = own.find(|(_, word)| **word == mov).expect("mov x21, x0");
        let broken = check(&with_load(*at), entry, &[LOAD_ROOT]);
        assert!(broken.is_err(), "{entry}");
    }
    let mut words = code.words.iter();
    let shared = words.find(|(at, word)| turns_caches_on(&code, **at, **word));
    let (sctlr, _) = shared.expect("a write of SCTLR");
    // Before it: isb, dsb, ic, tlbi.
    let broken = with_load(sctlr - 16);
    assert!(check(&broken, "_start", &RESET_MAY).is_err(), "reset");
    let timed = with_load(code.symbol("timed_smc_begin") + 8);
    assert!(check_timed(&timed).is_err(), "in place of the call");
    let vector = with_load(code.symbol("timer_vector"));
    assert!(check_timer_vector(&vector).is_err(), "ahead of the counter");
    let timed = with_load(code.symbol("suspend_hvc_begin"));
    assert!(check_timed(&timed).is_err(), "ahead of the call");
}
