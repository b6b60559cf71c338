//! Loads from devices must have acquire semantics because of Cortex-A57 erratum 832075
//! (`src/machine/memory/mmio.rs`). Such loads occur in only three places, which are checked here.
//! `tests/house` checks that there are no other such loads.

use super::accesses_memory;
use super::code::Code;

/// LDARB, LDARH and 32-bit LDAR, with the register fields masked out.
const ACQUIRES: [u32; 3] = [0x08df_fc00, 0x48df_fc00, 0x88df_fc00];

/// Returns the loads and stores in `words`, except SP-relative ones.
fn accesses(words: &[u32]) -> Vec<u32> {
    let accesses = words.iter().copied().filter(|word| accesses_memory(*word));
    accesses.filter(|word| word >> 5 & 0x1f != 31).collect()
}

/// Returns the words in the function whose symbol contains both parts.
fn function(code: &Code, parts: [&str; 2]) -> Vec<u32> {
    let is_it = |name: &str| parts.iter().all(|part| name.contains(part));
    let mut symbols = code.symbols.iter().filter(|(name, _)| is_it(name));
    let (_, begin) = symbols.next().expect("the function");
    assert!(symbols.next().is_none(), "two symbols like {parts:?}");
    let end = code.symbols.values().filter(|at| *at > begin).min();
    let range = begin..end.expect("a symbol after it");
    code.words.range(range).map(|(_, word)| *word).collect()
}

#[test]
fn loads_from_devices_acquire() {
    let code = Code::load();
    let read = function(&code, ["mmio..Mmio$u20$as$u20$", "4read17h"]);
    // The address and size arguments are 64-bit, but no device register is.
    let is_narrow = |word: &u32| word >> 30 != 3;
    let narrow = accesses(&read).into_iter().filter(is_narrow);
    let mut found: Vec<u32> = narrow.map(|word| word & !0x3ff).collect();
    found.sort_unstable();
    assert_eq!(found, ACQUIRES);

    let probe = code.between("probe", "probe_byte");
    let probe_byte: Vec<u32> = code
        .words
        .range(code.symbol("probe_byte")..)
        .map(|it| *it.1)
        .collect();
    assert_eq!(accesses(&probe), [ACQUIRES[2] | 2 << 5 | 1]);
    assert_eq!(accesses(&probe_byte[..1]), [ACQUIRES[0] | 2 << 5 | 1]);

    // GICC_IAR. One store is to GICD_SGIR and two are to GICC_EOIR.
    let sgi = accesses(&code.between("loop_sgi_v2", "loop_sgi_v2_end"));
    let [send, acknowledge, ends @ ..] = &sgi[..] else {
        panic!("{sgi:08x?}")
    };
    assert_eq!(*acknowledge, ACQUIRES[2] | 22 << 5 | 9);
    // 32-bit STR with an unsigned offset.
    let is_store = |word: &u32| word >> 22 == 0x2e4;
    assert!(ends.iter().chain([send]).all(is_store), "{sgi:08x?}");
}
