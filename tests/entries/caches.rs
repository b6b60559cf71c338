//! Checks when the reset code skips writing back the image, and that a translation table's memory
//! is cleared before the table is linked. The `coherence` module checks the cache maintenance.

use test_support::code::{Code, Flow, flow};

use super::accesses_memory;

const DSB_ISHST: u32 = 0xd503_3a9f;

/// If the image is entered with caches on, as with U-Boot's `go`, the image is written back to
/// memory before the caches are turned off. Memory is not accessed from that point until the ISB.
/// Only SCTLR.M and SCTLR.C determine whether the write-back is skipped.
#[test]
fn caches_that_are_on_at_reset_are_written_back_first() {
    let code = Code::load();
    let target = |address: u64| match flow(code.word(address)) {
        Flow::Either(offset) | Flow::Jump(offset) | Flow::Call(offset) => {
            Some(address.wrapping_add_signed(offset))
        }
        Flow::On | Flow::Return => None,
    };
    let off = code.symbol("caches_are_off");
    let passes_over = code
        .words
        .keys()
        .filter(|address| target(**address) == Some(off));
    let gate = code.symbol("write_image_back") - 4;
    assert_eq!(passes_over.collect::<Vec<_>>(), [&gate]);
    // mov x10, #(C | M); tst x9, x10; b.eq.
    let test = [gate - 8, gate - 4].map(|address| code.word(address));
    assert_eq!(test, [0xd280_00aa, 0xea0a_013f]);
    assert_eq!(code.word(gate) & 0xff00_001f, 0x5400_0000);
    let is_read = |word: u32| matches!(word, 0xd538_1009 | 0xd53c_1009 | 0xd53e_1009);
    let entry = code.between("reset", "write_image_back");
    assert_eq!(entry.iter().filter(|word| is_read(**word)).count(), 3);
    // This code consists of three SCTLR writes and an ISB, as the list in `barriers` shows.
    let turning = code.between("turn_caches_off", "caches_are_off");
    assert!(!turning.iter().any(|word| accesses_memory(*word)));
}

/// The function that clears the table pool calls memset and then executes a barrier.
#[test]
fn a_table_is_zero_before_it_is_linked() {
    let code = Code::load();
    let mut symbols = code.symbols.iter();
    let zero = symbols.find(|(name, _)| name.contains("6tables5Pages4zero"));
    let (_, begin) = zero.expect("the function that clears pages");
    let mut words = code.words.range(begin..).map(|(_, word)| *word);
    let call = words.find(|word| !matches!(flow(*word), Flow::On));
    assert!(matches!(call.map(flow), Some(Flow::Call(_))), "memset");
    assert_eq!(words.next(), Some(DSB_ISHST));
}
