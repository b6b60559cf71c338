//! What a tree tells of CPUs that need care.

use super::trees::{Model, qemu};
use crate::board::Board;

/// By any CPU that can be used, not only the first.
#[test]
fn a_cortex_a73_is_seen_wherever_it_is() {
    let has_a73 = |change: &dyn Fn(&mut Model)| {
        let mut tree = qemu(8);
        change(&mut tree);
        let blob = tree.blob();
        Board::read(&blob).expect("a good tree").has_cortex_a73
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
