//! The payload's heap, compiled for the host, and the memory that runs take of it.

#[allow(
    dead_code,
    unused_imports,
    reason = "tests of the library use all of it"
)]
#[path = "../src/scenario/fake.rs"]
mod fake;
#[path = "../src/machine/memory/heap.rs"]
mod heap;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

// Paths in `fake` begin with `crate`.
use psci_bench::{board, image, measure, spec};

use board::IdleState;
use fake::Fake;
use heap::Heap;
use measure::{Facts, Identity, Loss, Machine, Outcome, Round, Tally};
use psci_bench::model::{Cpu, Run};
use psci_bench::output;
use psci_bench::plan::Plan;
use psci_bench::scenario::Needs;
use smccc::psci::{Error, SuspendMode};

thread_local! {
    /// The heap of this thread's run; outside of runs and in rounds, there is none.
    static HEAP: Cell<Option<&'static Heap>> = const { Cell::new(None) };
}

/// Takes the memory of a run from its heap, and all other memory from the system.
struct Switch;

#[global_allocator]
static SWITCH: Switch = Switch;

// SAFETY: each block is freed by the allocator that it is from: blocks of a heap are in
// its region, which is never freed.
unsafe impl GlobalAlloc for Switch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let heap: &dyn GlobalAlloc = HEAP.get().map_or(&System, |heap| heap);
        // SAFETY: the caller's promise.
        unsafe { heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise; no block of a heap is freed outside its run.
        unsafe { owner(block).dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        unsafe { owner(block).realloc(block, layout, size) }
    }
}

/// The allocator that a block is from.
fn owner(block: *mut u8) -> &'static dyn GlobalAlloc {
    let heap = HEAP.get().filter(|heap| heap.owns(block));
    heap.map_or(&System, |heap| heap)
}

fn memory(bytes: usize) -> &'static mut [MaybeUninit<u8>] {
    vec![MaybeUninit::uninit(); bytes].leak()
}

/// Returns a heap whose second region has so many bytes.
fn heap_of(bytes: usize) -> &'static Heap {
    let heap: &Heap = Box::leak(Box::new(Heap::new(|| true)));
    heap.add(memory(bytes));
    heap
}

/// The fake machine, whose own memory is the system's.
struct Watched {
    fake: Fake,
    heap: &'static Heap,
}

impl Watched {
    /// Calls `act` as in a round.
    fn in_round<T>(&mut self, act: impl FnOnce(&mut Fake) -> T) -> T {
        self.heap.begin_round();
        HEAP.set(None);
        let result = act(&mut self.fake);
        HEAP.set(Some(self.heap));
        self.heap.end_round();
        result
    }
}

impl Machine for Watched {
    fn facts(&self) -> &Facts {
        self.fake.facts()
    }

    fn run(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        self.in_round(|fake| fake.run(round, outcomes));
    }

    fn tally(&mut self, cpu: usize) -> Option<&mut Tally> {
        self.fake.tally(cpu)
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error> {
        self.in_round(|fake| fake.set_suspend_mode(mode))
    }

    fn lost(&self, cpu: usize) -> Option<Loss> {
        self.fake.lost(cpu)
    }

    fn identity(&self, cpu: usize) -> Option<Identity> {
        self.fake.identity(cpu)
    }

    fn mark_heap(&mut self) {
        self.heap.mark();
    }

    fn release_heap(&mut self) {
        self.heap.release();
    }
}

const STATES: [IdleState<'static>; 2] = [
    IdleState {
        name: "core-off",
        power_state: 0x0001_0002,
        level: Some(0),
        local_timer_stop: false,
    },
    IdleState {
        name: "cluster-off",
        power_state: 0x0101_0022,
        level: Some(1),
        local_timer_stop: true,
    },
];

/// Takes what is printed, and keeps nothing.
struct Nowhere;

impl std::fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        Ok(())
    }
}

/// Runs a plan in as much memory as it needs; returns the bytes that it took and those
/// that it was given.
fn run(fake: Fake, bootargs: &str, cpus: usize) -> (usize, usize) {
    let plan = Plan::parse(bootargs).expect("a plan");
    let needs = Needs::of(&plan, cpus, STATES.len());
    let heap = heap_of(needs.heap);
    let mut machine = Watched { fake, heap };
    HEAP.set(Some(heap));
    let cpu = |index: usize| Cpu {
        mpidr: Some(index as u64),
        cluster: (index / 4) as u16,
        core: (index % 4) as u16,
        ..Cpu::default()
    };
    let run = Run {
        facts: Some(*machine.facts()),
        plan: Some(plan),
        cpus: (0..cpus).map(cpu).collect(),
        ..Run::default()
    };
    let verdict = output::run_all(&mut machine, run, &STATES, &mut Nowhere);
    HEAP.set(None);
    assert!(verdict.is_ok());
    (heap.peak(), needs.heap)
}

#[test]
fn no_run_takes_more_than_was_computed() {
    let all = "only=all,system_suspend iterations=3 warmup=1 loops=8 batch=2 dirty=0,16K";
    for cpus in [1, 4, 8, 64, 512] {
        let faulty = |_: u64, cpu: usize, outcome: &mut Outcome| {
            if cpu == 1 {
                outcome.stamps.0[0] = 3;
            }
        };
        for (fake, args) in [
            (Fake::new(cpus), ""),
            (Fake::new(cpus), "iterations=5 samples=all method=tftf,warm"),
            (Fake::new(cpus).with_statistics().with_modes(), all),
            (Fake::without_pmf(cpus).with_frame(), all),
            (Fake::new(cpus).with(faulty), all),
        ] {
            let args = match cpus {
                512 => format!("{args} contend=1,512 duration=1 period=100000"),
                _ => args.into(),
            };
            let (peak, needs) = run(fake, &args, cpus);
            assert!(peak <= needs, "{cpus} CPUs, {args}: {peak} of {needs}");
        }
    }
}

fn panic_of<T: std::fmt::Debug>(act: impl FnOnce() -> T) -> String {
    let caught = catch_unwind(AssertUnwindSafe(act)).expect_err("a panic");
    let text = caught.downcast_ref::<&str>().map(|it| it.to_string());
    text.or(caught.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

fn block_of(heap: &Heap) -> *mut u8 {
    // SAFETY: the layout has a size.
    unsafe { heap.alloc(LAYOUT) }
}

fn free(heap: &Heap, block: *mut u8) {
    // SAFETY: each test gives blocks of block_of(), each once.
    unsafe { heap.dealloc(block, LAYOUT) };
}

const LAYOUT: Layout = Layout::new::<[u64; 8]>();

#[test]
fn each_use_that_is_not_allowed_ends_by_name() {
    let heap = heap_of(160);
    let fails = |heap: &Heap| panic_of(|| block_of(heap));
    let block = block_of(heap);
    assert!(heap.owns(block) && block.addr().is_multiple_of(16));
    heap.begin_round();
    assert_eq!(fails(heap), "heap: used in a round");
    heap.end_round();
    heap.mark();
    let later = block_of(heap);
    assert_eq!(fails(heap), "heap: 64 bytes asked for, 32 are free");
    let live = panic_of(|| heap.release());
    assert_eq!(live, "heap: 1 blocks of a scenario outlive it");
    free(heap, block);
    free(heap, later);
    heap.release();
    assert_eq!(heap.peak(), 128);
    let not_lead = fails(&Heap::new(|| false));
    assert_eq!(not_lead, "heap: used by a CPU that is not the lead");
}

#[test]
fn the_first_region_is_used_until_there_is_a_second() {
    let heap = Heap::new(|| true);
    let first = block_of(&heap);
    heap.add(memory(64));
    let second = block_of(&heap);
    assert!(heap.owns(first) && heap.owns(second));
    free(&heap, first);
    free(&heap, second);
    assert_eq!(heap.peak(), 64);
}
