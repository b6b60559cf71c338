//! Instruction sequences that Cortex-A53 r0p0 to r0p4 may execute wrongly (Arm,
//! Cortex-A53 MPCore Software Developers Errata Notice), in compiled code and
//! in assembly: the compiler's pass does not change the latter.

use super::accesses_memory;
use super::code::Code;

/// Returns true for a 64-bit multiply-accumulate: MADD, MSUB, SMADDL, SMSUBL,
/// UMADDL or UMSUBL, without MUL and the like, whose Ra is XZR.
fn accumulates(word: u32) -> bool {
    word >> 24 == 0x9b && matches!(word >> 21 & 7, 0 | 1 | 5) && word >> 10 & 0x1f != 0x1f
}

/// Returns true for LDR or STR with an unsigned offset from register `base`.
fn is_based_on(word: u32, base: u32) -> bool {
    word >> 27 & 7 == 0b111 && word >> 24 & 3 == 0b01 && word >> 5 & 0x1f == base
}

/// The erratum whose sequence begins at `at`. Of 843419 some sequences are
/// named that are harmless, as those in which a pair is loaded.
fn erratum(code: &Code, at: u64) -> Option<u32> {
    let word = |place: u64| code.words.get(&(at + 4 * place)).copied().unwrap_or(0);
    if accesses_memory(word(0)) && accumulates(word(1)) {
        return Some(835_769);
    }
    let is_adrp = word(0) & 0x9f00_0000 == 0x9000_0000;
    let is_based = |place| is_based_on(word(place), word(0) & 0x1f);
    let follows = accesses_memory(word(1)) && (is_based(2) || is_based(3));
    (at & 0xfff >= 0xff8 && is_adrp && follows).then_some(843_419)
}

/// Each sequence by its address.
fn sequences(code: &Code) -> Vec<(u64, u32)> {
    let all = code.words.keys();
    all.filter_map(|at| Some((*at, erratum(code, *at)?)))
        .collect()
}

#[test]
fn no_sequence_of_cortex_a53s_errata() {
    let found = sequences(&Code::load());
    assert_eq!(found, [], "{} of them: {found:x?}", found.len());
}

/// So CPTR_EL2, whose layout E2H changes, traps nothing of what is in the image.
#[test]
fn no_floating_point_and_no_vectors() {
    let code = Code::load();
    // Arm ARM, C4.1: op0 is x111; loads and stores have V in bit 26.
    let is_vector = |word: u32| word >> 25 & 7 == 7 || accesses_memory(word) && word >> 26 & 1 == 1;
    let found = code.words.iter().find(|(_, word)| is_vector(**word));
    assert_eq!(found, None);
}
