//! Checks that SErrors are never unmasked before there is a stack for the register dump.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use test_support::code::Code;

/// `msr daifclr, #4`: only PSTATE.A.
const UNMASK: u32 = 0xd503_44ff;

/// Returns true for DAIFClr with PSTATE.A set, regardless of the other bits, or for DAIF accessed
/// as a register.
fn may_unmask(word: u32) -> bool {
    word & 0xffff_f0ff == 0xd503_40ff && word >> 10 & 1 == 1 || word & !0x1f == 0xd51b_4220
}

/// `mov sp, xN`.
fn sets_sp(word: u32) -> bool {
    word & 0xffff_fc1f == 0x9100_001f
}

/// `msr tpidr_elN, xM`, where the register is not XZR.
fn binds(word: u32) -> bool {
    matches!(word & !0x1f, 0xd518_d080 | 0xd51c_d040) && word & 0x1f != 0x1f
}

/// Follows every path from `entry` to the writes to SP. Returns the address of each write, and
/// whether TPIDR was written before it.
fn stacks(code: &Code, entry: &str) -> Result<BTreeSet<(u64, bool)>> {
    let mut found = BTreeSet::new();
    code.follow(entry, false, |address, word, is_bound| {
        if may_unmask(word) {
            bail!("{word:08x} at {address:#x} precedes the stack setup");
        }
        if sets_sp(word) {
            found.insert((address, is_bound));
            return Ok(None);
        }
        Ok(Some(is_bound || binds(word)))
    })?;
    Ok(found)
}

/// On CPU_ON and wake-up, SErrors are unmasked as soon as there is a stack. By then, TPIDR points
/// to the channel, where vectors.S looks up the stack. At reset, unmasking is left to the Rust
/// code, which can report SErrors on a console.
#[test]
fn serrors_are_unmasked_once_there_is_a_stack() {
    let code = Code::load();
    for entry in ["secondary_entry", "wake_entry", "noting_wake_entry"] {
        let stacks = stacks(&code, entry).expect("a stack first");
        let found: Vec<_> = stacks.into_iter().collect();
        let [(at, true)] = found[..] else {
            panic!("{entry}: SP and TPIDR are written at {found:x?}");
        };
        assert_eq!(code.word(at + 4), UNMASK, "{entry}: SErrors stay masked");
    }
    assert_eq!(stacks(&code, "_start").expect("a stack first").len(), 1);
    // SErrors are unmasked in four places: two in boot.S, one for the lead, and one after the
    // handler returns (timer_load.S).
    assert_eq!(code.places(may_unmask).len(), 4);
}
