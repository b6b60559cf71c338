//! The steps of a CPU around a timed suspend, from the calls in the linked image: pending
//! interrupts are drained after waiting for the start, and the GIC's CPU interface is set up again
//! after the call.

use super::code::{Code, Flow, flow};

/// `blr xN`: the timed call, or the start if its closure is not called by name.
fn is_indirect(word: u32) -> bool {
    word & 0xffff_fc1f == 0xd63f_0000
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Indirect,
    Drain,
    SetUpAgain,
}

/// Returns the calls of these kinds in `Participant::suspend`, by address.
fn calls(code: &Code) -> Vec<Call> {
    let named = |part: &str| {
        let mut found = code.symbols.iter().filter(|(name, _)| name.contains(part));
        let (_, at) = found.next().expect(part);
        assert!(found.next().is_none(), "two symbols like {part}");
        *at
    };
    // In a symbol, the length precedes a name, and `17h` precedes its hash.
    let begin = named("11Participant7suspend17h");
    let drain = named("9GicDriver5drain17h");
    let again = named("11Participant12set_up_again17h");
    let closures = code.symbols.iter();
    let closures = closures.filter(|(name, _)| name.contains("11Participant13execute_order28_"));
    let closures: Vec<u64> = closures.map(|(_, at)| *at).collect();
    let end = code.symbols.values().filter(|at| **at > begin).min();
    let body = code.words.range(begin..*end.expect("a symbol after it"));
    body.filter_map(|(at, word)| match flow(*word) {
        _ if is_indirect(*word) => Some(Call::Indirect),
        Flow::Call(offset) => match at.wrapping_add_signed(offset) {
            target if closures.contains(&target) => Some(Call::Indirect),
            target if target == drain => Some(Call::Drain),
            target if target == again => Some(Call::SetUpAgain),
            _ => None,
        },
        _ => None,
    })
    .collect()
}

#[test]
fn interrupts_are_drained_after_the_wait_and_the_gic_is_set_up_after_the_call() {
    let calls = calls(&Code::load());
    use Call::{Drain, Indirect, SetUpAgain};
    let expected = [Indirect, Drain, Indirect, SetUpAgain];
    assert!(calls.starts_with(&expected), "{calls:?}");
}
