//! Looks for instruction sequences that Cortex-A53 r0p0 to r0p4 may execute incorrectly (Arm,
//! Cortex-A53 MPCore Software Developers Errata Notice). Both compiled code and assembly are
//! searched, because the compiler's workaround does not cover assembly.

use test_support::code::Code;

use super::accesses_memory;

/// Returns true for a 64-bit multiply-accumulate: MADD, MSUB, SMADDL, SMSUBL, UMADDL or UMSUBL, but
/// not MUL and similar aliases, whose Ra is XZR.
fn accumulates(word: u32) -> bool {
    word >> 24 == 0x9b && matches!(word >> 21 & 7, 0 | 1 | 5) && word >> 10 & 0x1f != 0x1f
}

/// Returns true for LDR or STR with an unsigned offset from register `base`.
fn is_based_on(word: u32, base: u32) -> bool {
    word >> 27 & 7 == 0b111 && word >> 24 & 3 == 0b01 && word >> 5 & 0x1f == base
}

/// Returns the erratum whose sequence starts at `at`. For 843419, some harmless sequences also
/// match, such as those that load a pair.
fn erratum(code: &Code, at: u64) -> Option<u32> {
    let word = |index: u64| code.words.get(&(at + 4 * index)).copied().unwrap_or(0);
    if accesses_memory(word(0)) && accumulates(word(1)) {
        return Some(835_769);
    }
    let is_adrp = word(0) & 0x9f00_0000 == 0x9000_0000;
    let is_based = |index| is_based_on(word(index), word(0) & 0x1f);
    let follows = accesses_memory(word(1)) && (is_based(2) || is_based(3));
    (at & 0xfff >= 0xff8 && is_adrp && follows).then_some(843_419)
}

/// Returns all erratum sequences in a program, by address.
fn errata(code: &Code) -> Vec<(u64, u32)> {
    let places = code.words.keys();
    let found = places.filter_map(|address| Some((*address, erratum(code, *address)?)));
    found.collect()
}

#[test]
fn no_sequence_of_cortex_a53s_errata() {
    assert_eq!(errata(&Code::load()), []);
}

/// DC CVAC, CVAU, CVAP and CVADP may lose stores on Cortex-A53 r0p0 to r0p2 (819472, 824069,
/// 827319). DC CIVAC must be used instead.
#[test]
fn no_line_is_cleaned_without_being_invalidated() {
    // SYS #3, C7, CRm, #1, where CRm is 10, 11, 12 or 13.
    let cleans =
        |word: u32| word & 0xffff_f0e0 == 0xd50b_7020 && matches!(word >> 8 & 0xf, 10..=13);
    assert_eq!(Code::load().places(cleans), [0; 0]);
}

/// Checks that the scan finds erratum sequences.
#[test]
fn planted_sequence_is_found() {
    const LDR_X1: u32 = 0xf940_0041; // ldr x1, [x2]
    const ADRP_X0: u32 = 0x9000_0000;
    const LDR_X3_X0: u32 = 0xf940_0403; // ldr x3, [x0, #8]
    let plain = Code::load();
    for (at, words, number) in [
        (0x1000, [LDR_X1, 0x9b02_0c20, 0], Some(835_769)), // madd x0, x1, x2, x3
        (0x1000, [LDR_X1, 0x9ba2_8c20, 0], Some(835_769)), // umsubl x0, w1, w2, x3
        (0x1000, [LDR_X1, 0x9b02_7c20, 0], None),          // mul x0, x1, x2
        (0x1ff8, [ADRP_X0, LDR_X1, LDR_X3_X0], Some(843_419)),
        (0x1ff4, [ADRP_X0, LDR_X1, LDR_X3_X0], None),
    ] {
        let code = plain.with(at, &words);
        assert_eq!(erratum(&code, at), number, "{words:08x?}");
    }
}

/// The image contains no floating-point or vector instructions, so CPTR_EL2, whose layout depends
/// on E2H, never causes a trap.
#[test]
fn no_floating_point_and_no_vectors() {
    let code = Code::load();
    // Arm ARM, C4.1: op0 is x111. In loads and stores, V is bit 26.
    let is_vector = |word: u32| word >> 25 & 7 == 7 || accesses_memory(word) && word >> 26 & 1 == 1;
    let found = code.words.iter().find(|(_, word)| is_vector(**word));
    assert_eq!(found, None);
}
