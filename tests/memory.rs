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
        match HEAP.get() {
            // SAFETY: the caller's promise.
            Some(heap) => unsafe { heap.alloc(layout) },
            // SAFETY: the caller's promise.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match HEAP.get() {
            Some(heap) if heap.owns(block) => {
                // SAFETY: the caller's promise; the block is this heap's.
                unsafe { heap.dealloc(block, layout) }
            }
            // SAFETY: the caller's promise; no block of a heap is freed outside its run.
            _ => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match HEAP.get() {
            Some(heap) if heap.owns(block) => {
                // SAFETY: the caller's promise; the block is this heap's.
                unsafe { heap.realloc(block, layout, size) }
            }
            // SAFETY: as above.
            _ => unsafe { System.realloc(block, layout, size) },
        }
    }
}

/// Returns a heap whose second region has so many bytes.
fn heap_of(bytes: usize) -> &'static Heap {
    let heap: &Heap = Box::leak(Box::new(Heap::new(|| true)));
    heap.add(Box::leak(
        vec![MaybeUninit::uninit(); bytes].into_boxed_slice(),
    ));
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

fn panic_of(act: impl FnOnce()) -> String {
    let caught = catch_unwind(AssertUnwindSafe(act)).expect_err("a panic");
    match caught.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => other
            .downcast::<&str>()
            .map_or(String::new(), |it| it.to_string()),
    }
}

#[test]
fn each_use_that_is_not_allowed_ends_by_name() {
    let layout = Layout::new::<[u64; 8]>();
    let heap = heap_of(160);
    // SAFETY: the layout has a size; the block is freed below.
    let block = unsafe { heap.alloc(layout) };
    assert!(heap.owns(block) && block.addr() % 16 == 0);
    heap.begin_round();
    let in_round = panic_of(|| {
        // SAFETY: the layout has a size.
        unsafe { heap.alloc(layout) };
    });
    assert_eq!(in_round, "heap: used in a round");
    heap.end_round();
    heap.mark();
    // SAFETY: the layout has a size.
    let later = unsafe { heap.alloc(layout) };
    let too_many = panic_of(|| {
        // SAFETY: the layout has a size.
        unsafe { heap.alloc(layout) };
    });
    assert_eq!(too_many, "heap: 64 bytes asked for, 32 are free");
    assert_eq!(
        panic_of(|| heap.release()),
        "heap: 1 blocks of a scenario outlive it"
    );
    // SAFETY: both blocks are this heap's, of this layout, and not freed yet.
    unsafe { heap.dealloc(block, layout) };
    // SAFETY: as above.
    unsafe { heap.dealloc(later, layout) };
    heap.release();
    assert_eq!(heap.peak(), 128);

    let other = Heap::new(|| false);
    let not_lead = panic_of(|| {
        // SAFETY: the layout has a size.
        unsafe { other.alloc(layout) };
    });
    assert_eq!(not_lead, "heap: used by a CPU that is not the lead");
}
