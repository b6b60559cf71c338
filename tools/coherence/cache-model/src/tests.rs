use super::*;

/// An address in the middle of a cache line.
const AT: u64 = 0x1010;
const OFF: AccessKind = AccessKind::Uncached;
const ON: AccessKind = AccessKind::Cached;

/// One CPU's step in a sequence.
#[derive(Clone, Copy, Debug)]
enum Step {
    Store(AccessKind),
    Load(AccessKind),
    Do(Maintenance),
    Barrier,
    Flush(u32),
    Caches(bool),
    Reset,
    LeaveDirty,
}

use CacheFault::{Discarded, NotCleaned, NotInvalidated, Overwritten, PoweredOff};
use Maintenance::{Clean, CleanInvalidate, Invalidate};
use Step::{Barrier, Caches, Do, Flush, LeaveDirty, Load, Reset, Store};

/// Returns the faults for all loads. Each load is 8 bytes.
fn faults(steps: &[(u32, Step)]) -> Vec<CacheFault> {
    let mut model = CacheModel::new(2);
    let mut found = Vec::new();
    for (pc, (cpu, step)) in (0..).zip(steps.iter().copied()) {
        let actor = |access| CacheActor { cpu, pc, access };
        match step {
            Store(access) => model.store(actor(access), AT, 8),
            Load(access) => {
                let finding = model.load(actor(access), AT, 8);
                found.extend(finding.map(|finding| finding.fault));
            }
            Do(operation) => model.maintain(cpu, operation, AT + 3),
            Barrier => model.barrier(cpu),
            Flush(level) => model.flush(cpu, level),
            Caches(is_on) => model.set_caches(cpu, is_on),
            Reset => model.reset(cpu),
            LeaveDirty => model.mark_left_dirty(0x1000..0x2000, false),
        }
    }
    found
}

/// Steps, and the faults of their loads.
type Sequence = (&'static [(u32, Step)], &'static [CacheFault]);

const SEQUENCES: &[Sequence] = &[
    // Data passed to a CPU whose caches are off.
    (&[(0, Store(ON)), (1, Load(OFF))], &[NotCleaned]),
    (
        &[(0, Store(ON)), (0, Do(Clean)), (1, Load(OFF))],
        &[NotCleaned],
    ),
    (
        &[(0, Store(ON)), (0, Do(Clean)), (0, Barrier), (1, Load(OFF))],
        &[],
    ),
    (
        &[(0, Store(ON)), (0, Do(Clean)), (1, Barrier), (1, Load(OFF))],
        &[NotCleaned],
    ),
    (
        &[(0, Do(Clean)), (0, Store(ON)), (0, Barrier), (1, Load(OFF))],
        &[NotCleaned],
    ),
    (&[(0, Store(ON)), (1, Load(ON))], &[]),
    // Data passed from a CPU whose caches are off.
    (
        &[(0, Caches(true)), (1, Store(OFF)), (0, Load(ON))],
        &[NotInvalidated],
    ),
    (&[(1, Store(OFF)), (0, Caches(true)), (0, Load(ON))], &[]),
    (
        &[
            (0, Caches(true)),
            (1, Store(OFF)),
            (1, Do(Invalidate)),
            (1, Barrier),
            (0, Load(ON)),
        ],
        &[NotInvalidated],
    ),
    (
        &[
            (0, Caches(true)),
            (1, Store(OFF)),
            (1, Barrier),
            (1, Do(Invalidate)),
            (1, Barrier),
            (0, Load(ON)),
        ],
        &[],
    ),
    // A line that an earlier stage left dirty, invalidated before and after the store.
    (
        &[(0, LeaveDirty), (0, Store(OFF)), (0, Load(OFF))],
        &[Overwritten],
    ),
    (
        &[
            (0, LeaveDirty),
            (0, Store(OFF)),
            (0, Do(Invalidate)),
            (0, Barrier),
            (0, Load(ON)),
        ],
        &[Overwritten],
    ),
    (
        &[
            (0, LeaveDirty),
            (0, Do(Invalidate)),
            (0, Barrier),
            (0, Store(OFF)),
            (0, Load(OFF)),
        ],
        &[],
    ),
    (&[(0, LeaveDirty), (0, Store(ON)), (0, Load(ON))], &[]),
    (&[(0, LeaveDirty), (0, Load(OFF))], &[NotCleaned]),
    (
        &[
            (0, LeaveDirty),
            (0, Do(Invalidate)),
            (0, Barrier),
            (0, Load(ON)),
        ],
        &[],
    ),
    // An invalidate instead of a clean.
    (
        &[
            (0, Store(ON)),
            (0, Do(Invalidate)),
            (0, Barrier),
            (0, Load(ON)),
        ],
        &[Discarded],
    ),
    (
        &[
            (0, Store(ON)),
            (0, Do(CleanInvalidate)),
            (0, Barrier),
            (0, Load(ON)),
        ],
        &[],
    ),
    // Power-down without a flush, after flushing the CPU's own cache, and after flushing the
    // cluster's cache.
    (&[(0, Store(ON)), (0, Reset), (1, Load(ON))], &[PoweredOff]),
    (
        &[(0, Store(ON)), (0, Flush(1)), (0, Reset), (1, Load(ON))],
        &[],
    ),
    (
        &[(0, Store(ON)), (0, Flush(1)), (0, Reset), (0, Load(OFF))],
        &[NotCleaned],
    ),
    (
        &[
            (0, Store(ON)),
            (0, Flush(1)),
            (0, Flush(2)),
            (0, Reset),
            (0, Load(OFF)),
        ],
        &[],
    ),
    (
        &[(0, Store(ON)), (0, Flush(1)), (2, Flush(2)), (0, Load(OFF))],
        &[NotCleaned],
    ),
    // The cluster's cache is flushed first.
    (
        &[(0, Store(ON)), (1, Flush(2)), (0, Flush(1)), (0, Load(OFF))],
        &[NotCleaned],
    ),
    // A missing barrier, and a store after the invalidate.
    (
        &[(0, Store(ON)), (0, Do(Invalidate)), (0, Load(ON))],
        &[Discarded],
    ),
    (
        &[
            (0, Store(ON)),
            (0, Do(Invalidate)),
            (0, Store(ON)),
            (0, Load(ON)),
        ],
        &[],
    ),
    // A load moved the line to another CPU's cache.
    (
        &[
            (0, Store(ON)),
            (1, Load(ON)),
            (0, Flush(1)),
            (1, Reset),
            (0, Load(ON)),
        ],
        &[PoweredOff],
    ),
];

#[test]
fn loads_that_may_be_wrong_are_found() {
    for (steps, expected) in SEQUENCES {
        assert_eq!(faults(steps), *expected, "{steps:?}");
    }
}

#[test]
fn finding_names_byte_reader_and_writer() {
    let mut model = CacheModel::default();
    let writer = CacheActor {
        cpu: 0,
        pc: 4,
        access: AccessKind::Cached,
    };
    model.store(writer, 0x103c, 8);
    model.store(CacheActor { pc: 8, ..writer }, 0x1038, 4);
    let reader = CacheActor {
        cpu: 1,
        pc: 12,
        access: OFF,
    };
    let found = model.load(reader, 0x1040, 4);
    let expected = CacheFinding {
        fault: NotCleaned,
        address: 0x1040,
        reader,
        writer: Some(writer),
    };
    assert_eq!(found, Some(expected));
    assert_eq!(model.load(reader, 0x1044, 4), None);
}
