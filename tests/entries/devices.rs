//! Loads from devices must have acquire semantics because of Cortex-A57 erratum 832075
//! (`src/machine/memory/mmio.rs`). Such loads occur in only three places, which are checked here.
//! `tests/house` checks that there are no other such loads.

use test_support::code::Code;

use super::accesses_memory;

/// LDARB, LDARH, 32-bit LDAR and 64-bit LDAR, with the register fields masked out.
const ACQUIRES: [u32; 4] = [0x08df_fc00, 0x48df_fc00, 0x88df_fc00, 0xc8df_fc00];

/// Returns the loads and stores in `words`, except SP-relative ones.
fn accesses(words: &[u32]) -> Vec<u32> {
    let accesses = words.iter().copied().filter(|word| accesses_memory(*word));
    accesses.filter(|word| word >> 5 & 0x1f != 31).collect()
}

#[test]
fn loads_from_devices_acquire() {
    let code = Code::load();
    // The compiler may inline the driver's loads anywhere, so the source states which they are.
    let source = include_str!("../../src/machine/memory/mmio.rs");
    let loads = source.split("load!(\"").skip(1);
    let names = loads.filter_map(|load| load.split(' ').next());
    assert!(names.eq(["ldarb", "ldarh", "ldar", "ldar"]));
    for acquire in ACQUIRES {
        let is_it = |word: &u32| word & !0x3ff == acquire;
        assert!(code.words.values().any(is_it), "{acquire:#x}");
    }

    let probe = code.between("probe", "probe_byte");
    let probe_byte: Vec<u32> = code
        .words
        .range(code.symbol("probe_byte")..)
        .map(|(_, word)| *word)
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
