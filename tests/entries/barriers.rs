//! Lists the barriers, cache and TLB maintenance, and system register writes in the assembly files,
//! in order. A missing instruction goes unnoticed in QEMU, so every change to this list must be
//! explained.

use std::collections::BTreeMap;

use test_support::code::Code;

use super::ISB;

/// Returns the name of a barrier, maintenance or system register instruction, or None for any other
/// word (Arm ARM, C4.1.66 "System instructions").
fn kind(word: u32) -> Option<&'static str> {
    match word & !0x1f {
        _ if word == ISB => Some("isb"),
        // CRm, bits 11:8, is the domain.
        w if w & !0xf00 == 0xd503_3080 => Some("dsb"),
        w if w & !0xf00 == 0xd503_30a0 => Some("dmb"),
        w if w >> 19 == 0xd508_0000 >> 19 => Some("sys"),
        w if w >> 20 == 0xd51 => Some("msr"),
        w if w & 0xfff8_f01f == 0xd500_401f & !0x1f => Some("msr-immediate"),
        _ => None,
    }
}

/// Lists these instructions by symbol. Rust symbols are omitted because they are mangled. Labels at
/// the end of a function are also omitted, because the linker may place any function after them.
fn list(code: &Code) -> String {
    let mut symbols: Vec<(u64, &str)> = code
        .symbols
        .iter()
        .map(|(name, address)| (*address, name.as_str()))
        .filter(|(address, name)| code.words.contains_key(address) && !name.starts_with('$'))
        .collect();
    symbols.sort_unstable();
    let mut parts = BTreeMap::new();
    for (place, (begin, name)) in symbols.iter().enumerate() {
        let later = symbols[place..].iter().map(|(address, _)| *address);
        let end = later.into_iter().find(|address| address > begin);
        let range = *begin..end.unwrap_or(u64::MAX);
        let mut found = String::new();
        for (_, word) in code.words.range(range) {
            if let Some(kind) = kind(*word) {
                found += &format!("  {kind} {word:08x}\n");
            }
        }
        let is_mangled = name.starts_with("_R") || name.starts_with("_ZN");
        let is_listed = !name.is_empty() && !is_mangled && !name.ends_with("_end");
        if !found.is_empty() && is_listed {
            parts.insert(name, found);
        }
    }
    let mut text = String::new();
    for (name, words) in parts {
        text += &format!("{name}\n{words}");
    }
    text
}

#[test]
fn the_list_is_as_it_was() {
    let found = list(&Code::load());
    let frozen = include_str!("../data/frozen/barriers.txt");
    assert!(found == frozen, "the list is now:\n{found}");
}

/// Checks the maintenance instructions and barriers that the model in `coherence` does not cover.
#[test]
fn each_barrier_before_the_caches_is_held() {
    const NOP: u32 = 0xd503_201f;
    let code = Code::load();
    let set_up = code.symbol("cpu_setup")..code.symbol("vector_common");
    let mut places = Vec::new();
    for (at, word) in code.words.range(set_up) {
        if matches!(kind(*word), Some("sys" | "dsb" | "isb")) {
            places.push(*at);
        }
    }
    // TLBI, IC, DSB, ISB, and an ISB after the SCTLR write, once for EL2 and once for EL1.
    assert_eq!(places.len(), 10);
    for at in places {
        let found = list(&code.with(at, &[NOP]));
        assert!(
            found != include_str!("../data/frozen/barriers.txt"),
            "{at:#x}"
        );
    }
}
