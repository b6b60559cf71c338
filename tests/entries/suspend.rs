//! Checks the steps that a CPU performs around a timed call, based on the calls in the linked
//! image. For a suspend, pending interrupts are drained after the wait for the start. After the
//! wake-up, the CPU makes its first firmware call before doing anything else, and the GIC CPU
//! interface is set up again. If a call is timed with the caller's cache lines evicted, the
//! eviction happens just before the call.

use std::collections::BTreeMap;

use test_support::code::{Code, Flow, flow};

/// `blr xN`: the timed call, or the call to the `start` closure if that call is indirect.
fn is_indirect(word: u32) -> bool {
    word & 0xffff_fc1f == 0xd63f_0000
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Indirect,
    Drain,
    Timed,
    Evict,
    Suspend,
    SetUpAgain,
}

/// Returns the address of the only function whose symbol contains `part`. In a mangled symbol,
/// each name is preceded by its length, and the hash by `17h`.
fn named(code: &Code, part: &str) -> u64 {
    let mut found = code.symbols.iter().filter(|(name, _)| name.contains(part));
    let (_, at) = found.next().expect(part);
    assert!(found.next().is_none(), "several symbols contain {part}");
    *at
}

/// Returns the calls of known kinds in the function whose symbol contains `function`, in address
/// order.
fn calls(code: &Code, function: &str) -> Vec<Call> {
    let mut callees = BTreeMap::new();
    for (name, at) in &code.symbols {
        if name.contains("11Participant13execute_order28_") {
            callees.insert(*at, Call::Indirect);
        }
    }
    for (part, call) in [
        ("9GicDriver16drain_interrupts17h", Call::Drain),
        ("8CallPath9time_call17h", Call::Timed),
        ("8CallPath12time_suspend17h", Call::Suspend),
        ("11cache_lines5evict17h", Call::Evict),
        ("11Participant12set_up_again17h", Call::SetUpAgain),
    ] {
        callees.insert(named(code, part), call);
    }
    let begin = named(code, function);
    let end = code
        .symbols
        .values()
        .filter(|address| **address > begin)
        .min();
    let body = code.words.range(begin..*end.expect("a symbol after it"));
    body.filter_map(|(address, word)| match flow(*word) {
        _ if is_indirect(*word) => Some(Call::Indirect),
        Flow::Call(offset) => {
            let target = address.wrapping_add_signed(offset);
            callees.get(&target).copied()
        }
        _ => None,
    })
    .collect()
}

#[test]
fn interrupts_are_drained_after_the_wait_and_the_gic_is_set_up_after_the_call() {
    use Call::{Drain, Indirect, SetUpAgain, Suspend, Timed};
    let code = Code::load();
    let own = calls(&code, "11Participant7suspend17h");
    let expected = [Indirect, Drain, Suspend, Timed, SetUpAgain];
    assert!(own.starts_with(&expected), "{own:?}");
    assert_eq!(calls(&code, "8CallPath12time_suspend17h"), [Indirect]);
}

/// Covers the cache lines of the timed function, its stack frame and its results.
#[test]
fn the_callers_lines_are_evicted_right_before_the_call() {
    const DC_CIVAC: u32 = 0xd50b_7e20;
    const IC_IVAU: u32 = 0xd50b_7520;
    let code = Code::load();
    let calls = calls(&code, "8CallPath17time_call_evicted17h");
    assert_eq!(calls, [Call::Evict, Call::Evict, Call::Indirect]);
    let evict = named(&code, "11cache_lines5evict17h");
    let end = code
        .symbols
        .values()
        .filter(|address| **address > evict)
        .min();
    let range = evict..*end.expect("a symbol after it");
    let address_of = |instruction: u32| {
        let all = code.places(|word| word & !0x1f == instruction);
        all.into_iter()
            .filter(|address| range.contains(address))
            .collect::<Vec<u64>>()
    };
    let [clean] = address_of(DC_CIVAC)[..] else {
        panic!("expected exactly one DC CIVAC")
    };
    assert_eq!(address_of(IC_IVAU), [clean + 4]);
    assert_eq!(code.word(clean) & 0x1f, code.word(clean + 4) & 0x1f);
}

/// `call_path.rs` defines the sizes of these functions and their stack frames as constants.
#[test]
fn timed_functions_are_as_long_as_what_is_evicted() {
    const PUSH_FRAME: u32 = 0xa9bd_7bfd; // stp x29, x30, [sp, #-48]!
    let code = Code::load();
    let bytes = ["smc", "smc_twice", "hvc"].map(|path| {
        let name = format!("timed_{path}");
        let words = code.between(&name, &format!("{name}_function_end"));
        assert_eq!(words[0], PUSH_FRAME, "{name}");
        4 * words.len()
    });
    assert_eq!(bytes.into_iter().max(), Some(72), "{bytes:?}");
}
