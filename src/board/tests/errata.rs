//! What a tree tells of CPUs that need care.

use super::trees::{Model, qemu};
use crate::board::board::Board;
use crate::spec::counter::CounterErratum;

/// By any CPU that can be used, not only the first.
#[test]
fn a_cortex_a73_is_seen_wherever_it_is() {
    let has_a73 = |change: &dyn Fn(&mut Model)| {
        let mut tree = qemu(8);
        change(&mut tree);
        let blob = tree.blob();
        let board = Board::read(&blob).expect("a good tree");
        board.counter_erratum == Some(CounterErratum::CortexA73)
    };
    let is =
        |name: &'static [u8]| move |tree: &mut Model| tree.edit("/cpus/cpu@7:compatible", name);
    assert!(!has_a73(&|_| {}));
    assert!(has_a73(&is(b"arm,cortex-a73\0")));
    assert!(has_a73(&is(b"maker,big\0arm,cortex-a73\0")));
    assert!(!has_a73(&is(b"arm,cortex-a73-pmu\0arm,armv8\0")));
    // One that is not used reads nothing.
    assert!(!has_a73(&|tree| {
        is(b"arm,cortex-a73\0")(tree);
        tree.edit("/cpus/cpu@7:status", b"disabled\0");
    }));
}

/// A SoC's is named by the timer's node, and wins.
#[test]
fn an_erratum_of_the_counter_is_a_property_of_the_timer() {
    for erratum in CounterErratum::OF_SOCS {
        let mut tree = qemu(2);
        tree.edit("/cpus/cpu@1:compatible", b"arm,cortex-a73\0");
        tree.edit(&std::format!("/timer:{}", erratum.name()), b"");
        let blob = tree.blob();
        let board = Board::read(&blob).expect("a good tree");
        assert_eq!(board.counter_erratum, Some(erratum));
    }
}
