//! Checks how much memory runs allocate from the payload's heap.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::atomic::AtomicU64;

use hardware::board::{CpuIndex, IdleState, IdleStates, Mpidr, StateSet};
use hardware::devices::its::NoLpi;
use hardware::spec::pmf::Stamp;
use smccc::psci::{Error, SuspendMode};
use suite::bench::Needs;
use suite::measure::{
    EntryState, Facts, Identity, Loss, Machine, Outcome, RecentCall, Round, Tally,
};
use suite::model::{Cpu, Run};
use suite::plan::{Plan, ScenarioId};
use suite::testing::fake::Fake;
use sync::Heap;

/// A heap and the address range of its region.
#[derive(Clone, Copy)]
struct Memory {
    heap: &'static Heap,
    base: usize,
    end: usize,
}

thread_local! {
    /// The memory of this thread's run, or None outside runs and during rounds.
    static MEMORY: Cell<Option<Memory>> = const { Cell::new(None) };
    /// The peak number of bytes in use.
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// Allocates a run's memory from the run's heap, and all other memory from the system.
struct Switch;

#[global_allocator]
static SWITCH: Switch = Switch;

// SAFETY: each block is freed by the allocator that allocated it. Blocks from the heap are in its
// region, which is never freed.
unsafe impl GlobalAlloc for Switch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        note_peak(unsafe { of(MEMORY.get()).alloc(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: guaranteed by the caller; heap blocks are never freed outside their run.
        unsafe { owner(block).dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: guaranteed by the caller.
        note_peak(unsafe { owner(block).realloc(block, layout, size) }, size)
    }
}

fn note_peak(block: *mut u8, size: usize) -> *mut u8 {
    if let Some(memory) = MEMORY.get()
        && memory.has(block)
    {
        PEAK.set(PEAK.get().max(block.addr() + size - memory.base));
    }
    block
}

fn of(memory: Option<Memory>) -> &'static dyn GlobalAlloc {
    memory.map_or(&System, |memory| memory.heap)
}

/// Returns the allocator that a block belongs to.
fn owner(block: *mut u8) -> &'static dyn GlobalAlloc {
    of(MEMORY.get().filter(|memory| memory.has(block)))
}

impl Memory {
    fn new(bytes: usize) -> Self {
        let heap: &Heap = Box::leak(Box::new(Heap::new(|| true)));
        let memory = vec![MaybeUninit::uninit(); bytes].leak();
        let base = memory.as_ptr().addr();
        heap.add(memory);
        let end = base + bytes;
        Self { heap, base, end }
    }

    fn has(&self, block: *mut u8) -> bool {
        (self.base..self.end).contains(&block.addr())
    }
}

/// The fake machine, whose own memory is allocated from the system.
struct Watched {
    fake: Fake,
    heap: &'static Heap,
}

impl Watched {
    /// Calls `act` within a round.
    fn in_round<T>(&mut self, act: impl FnOnce(&mut Fake) -> T) -> T {
        self.heap.begin_round();
        let memory = MEMORY.take();
        let result = act(&mut self.fake);
        MEMORY.set(memory);
        self.heap.end_round();
        result
    }
}

impl Machine for Watched {
    fn facts(&self) -> &Facts {
        self.fake.facts()
    }

    fn run_round(&mut self, round: &Round, outcomes: &mut [Outcome]) {
        self.in_round(|fake| fake.run_round(round, outcomes));
    }

    fn tally(&mut self, cpu: CpuIndex) -> Option<&mut Tally> {
        self.fake.tally(cpu)
    }

    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error> {
        self.in_round(|fake| fake.set_suspend_mode(mode))
    }

    fn call_firmware(&mut self, function: u32, arguments: [u64; 3]) -> u64 {
        self.in_round(|fake| fake.call_firmware(function, arguments))
    }

    fn enable_lpi(&mut self) -> Result<(), NoLpi> {
        self.in_round(Fake::enable_lpi)
    }

    fn set_cpu_on_after(&mut self, ticks: u64) {
        self.fake.set_cpu_on_after(ticks);
    }

    fn take_secure_interrupt(&mut self) -> Option<CpuIndex> {
        None
    }

    fn second_cpu_on(&self) -> Option<i32> {
        self.fake.second_cpu_on()
    }

    fn entry_point(&self) -> u64 {
        self.fake.entry_point()
    }

    fn recent_call(&self, cpu: CpuIndex, age: usize) -> Option<RecentCall> {
        self.fake.recent_call(cpu, age)
    }

    fn entry_state(&self, cpu: CpuIndex) -> Option<EntryState> {
        self.fake.entry_state(cpu)
    }

    fn lost(&self, cpu: CpuIndex) -> Option<Loss> {
        self.fake.lost(cpu)
    }

    fn identity(&self, cpu: CpuIndex) -> Option<Identity> {
        self.fake.identity(cpu)
    }
}

/// Idle states of the core and of the cluster, in turn.
fn idle_states() -> Vec<IdleState<'static>> {
    let state = |number: u32| IdleState {
        name: "power-down",
        power_state: 0x0001_0002 | (number % 2) << 24 | number << 4,
        level: Some((number % 2) as u8),
        local_timer_stop: number % 2 == 1,
        deeper_than: StateSet::all_before(0),
        is_on_all_cpus: true,
    };
    (0..8).map(state).collect()
}

/// Discards all printed output.
struct Nowhere;

impl std::fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> std::fmt::Result {
        Ok(())
    }
}

/// Runs a plan. Returns the peak heap usage and the size calculated in advance, both in bytes.
fn run(fake: Fake, bootargs: &str, cpus: usize) -> (usize, usize) {
    let plan = Plan::parse(bootargs).expect("a plan");
    let states = idle_states();
    let needs = Needs::compute(&plan, cpus, states.len()).heap;
    let memory = Memory::new(2 * needs);
    let heap = memory.heap;
    let mut machine = Watched { fake, heap };
    PEAK.set(0);
    MEMORY.set(Some(memory));
    let cpu = |index: usize| Cpu {
        mpidr: Some(Mpidr::new(index as u64)),
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
    let verdict = suite::run_all(
        &mut machine,
        run,
        &IdleStates::from(&states[..]),
        &mut Nowhere,
        heap,
        &AtomicU64::new(0),
    );
    MEMORY.set(None);
    assert!(verdict.is_ok());
    (PEAK.get(), needs)
}

const COMMON: &str = "calls=0x82000000 warmup=1 loops=8 batch=2 dirty=0,16K";

/// Each scenario runs alone, because the largest one hides what the others take.
#[test]
fn no_scenario_takes_more_than_was_computed() {
    for cpus in [1, 8, 64] {
        for id in ScenarioId::ALL {
            let args = format!("{COMMON} iterations=3 only={}", id.tag());
            check(Fake::new(cpus).with_statistics().with_modes(), &args, cpus);
        }
    }
}

#[test]
fn no_run_takes_more_than_was_computed() {
    let all =
        format!("{COMMON} iterations=3 only=all,system_suspend,fitness,masked_time,wake_race");
    for cpus in [1, 8, 512] {
        let faulty = |_: u64, cpu: CpuIndex, outcome: &mut Outcome| {
            if cpu.index() == 1
                && let Ok(stamps) = &mut outcome.stamps
            {
                stamps.set(Stamp::EnterPsci, 3);
            }
        };
        for (fake, args) in [
            (Fake::new(cpus), ""),
            (Fake::new(cpus), "iterations=5 samples=all method=tftf,warm"),
            (Fake::new(cpus).with_statistics().with_modes(), &all),
            (Fake::without_pmf(cpus).with_frame(), &all),
            (Fake::new(cpus).with(faulty), &all),
        ] {
            let args = match cpus {
                512 => format!("{args} contend=1,512 duration=1 period=100000"),
                _ => args.into(),
            };
            check(fake, &args, cpus);
        }
    }
}

fn check(fake: Fake, args: &str, cpus: usize) {
    let (peak, needs) = run(fake, args, cpus);
    assert!(
        peak <= needs,
        "{cpus} CPUs, {args}: {peak} bytes used, {needs} calculated"
    );
}
