//! Setting the machine up by its device tree: memory, CPUs, GIC, timer,
//! firmware. Whatever is missing ends the run by name.

use core::fmt::Write;
use core::sync::atomic::AtomicU64;

use crate::machine::boot::exception;
use crate::machine::boot::layout;
use crate::machine::call::call_path::CallPath;
use crate::machine::call::firmware::Firmware;
use crate::machine::call::overhead;
use crate::machine::cpu::cycle_counter;
use crate::machine::cpu::registers;
use crate::machine::ending;
use crate::machine::ending::EarlyEnd;
use crate::machine::env;
use crate::machine::env::Env;
use crate::machine::gic::controller::Gic;
use crate::machine::memory::arena::Arena;
use crate::machine::memory::dirty_lines;
use crate::machine::memory::dirty_lines::DirtyLines;
use crate::machine::memory::mmio::Registers;
use crate::machine::memory::stacks;
use crate::machine::memory::stacks::CpuStack;
use crate::machine::memory::stress::StressBuffer;
use crate::machine::memory::tables::BLOCK;
use crate::machine::memory::tables::MapError;
use crate::machine::memory::tables::PAGE;
use crate::machine::memory::tables::Pages;
use crate::machine::memory::tables::TranslationTables;
use crate::machine::round::channel::CpuChannel;
use crate::machine::round::lead::CpuState;
use crate::machine::round::lead::Lead;
use crate::machine::round::lead_watch::LeadWatch;
use crate::machine::round::lead_watch::WATCHDOG_S;
use crate::machine::round::participant;
use crate::machine::time::timer::Timer;
use crate::machine::timer_frame::TimerFrameDriver;
use crate::machine::watchdog::driver::Watchdog;
use arrayvec::ArrayVec;
use psci_bench::board::{Board, Cpu, LabelSource, NoWatchdog, Region, Room, free_memory};
use psci_bench::measure::{Clock, Counter, Facts, Outcome, Tally};
use psci_bench::model::{Point, Row, Spread, Verdict};
use psci_bench::output::{self, Run};
use psci_bench::plan::Plan;
use psci_bench::scenario::{Needs, Workspace};
use psci_bench::spec::pmf::{Interface, ReadError};
use psci_bench::spec::psci::function;

/// The working memory: stacks, and what is handed out piece by piece.
struct Memory {
    arena: Arena,
    /// The CPUs' stress buffers.
    buffers: Pages,
    /// Where the CPUs' stacks are to be.
    stacks: Room,
}

/// The machine, ready to measure.
pub struct Ready {
    conductor: Lead,
    facts: Facts,
    cpus: &'static [Cpu],
    labels: LabelSource,
    workspace: Workspace<'static>,
}

impl Ready {
    /// Runs all that the plan asks for.
    pub fn run<W: Write>(mut self, board: &Board<'_>, plan: &Plan, out: &mut W) -> Option<Verdict> {
        let run = Run {
            facts: &self.facts,
            plan,
            model: board.model,
            cpus: self.cpus,
            labels: self.labels,
            identity: env::identity_of,
            version: env!("CARGO_PKG_VERSION"),
        };
        let states = &board.idle_states;
        let verdict = output::run_all(&mut self.conductor, &run, states, self.workspace, out);
        self.conductor.dismiss_all();
        verdict.ok()
    }
}

/// Ends the run for a reason that lies in its input.
fn refuse(error: &dyn core::fmt::Display) -> ! {
    ending::end_run(&EarlyEnd::BadInput(error))
}

/// Ends the run for a reason that lies in the machine.
fn give_up(error: &dyn core::fmt::Display) -> ! {
    ending::end_run(&EarlyEnd::Machine(error))
}

/// Sets everything up. `used` are the regions of device tree and boot area.
pub fn prepare(
    mut tables: TranslationTables,
    board: &Board<'_>,
    plan: &Plan,
    used: [Region; 2],
) -> Ready {
    let Some(needs) = Needs::of(plan, board.cpu_count) else {
        refuse(&"iterations= or footprint= is too large for this many CPUs");
    };
    let firmware = Firmware {
        conduit: board.conduit,
    };
    if firmware.is_kvm(firmware.smccc()) {
        registers::set_guest_of_kvm();
    }
    let caches = registers::read_identity().caches;
    let outer_cache = caches.outer(board.second_level_cache);
    let dirty = plan.dirty_bytes(outer_cache);
    let mut memory = working_memory(&mut tables, board, &needs, dirty, used);
    map_devices(&mut tables, board);
    let (cpus, labels) = cpus(&mut memory, board);
    let own = registers::mpidr();
    let Some(lead) = cpus.iter().position(|c| c.mpidr == own) else {
        refuse(&format_args!(
            "device tree: no cpu node has the reg of the CPU that booted, {own:#x}"
        ));
    };
    let dirty = DirtyLines {
        words: take(&mut memory, dirty / size_of::<AtomicU64>(), |_| {
            AtomicU64::new(0)
        }),
        line: dirty_lines::words_per_line(),
    };
    let slots = slots(&mut tables, &mut memory, cpus, &needs);
    let env = environment(&mut tables, board, slots, lead, dirty);
    let facts = Facts {
        outer_cache,
        ..facts(env, board)
    };
    let states = take(&mut memory, cpus.len(), |_| CpuState::Off);
    Ready {
        conductor: Lead::new(env, facts, cpus, states),
        facts,
        cpus,
        labels,
        workspace: workspace(&mut memory, &needs),
    }
}

/// Maps all devices once, to say which one can not be.
fn map_devices(tables: &mut TranslationTables, board: &Board<'_>) {
    exception::register_device_name("console", board.uart.registers());
    board.devices(&mut |name, region| {
        exception::register_device_name(name, region);
        if let Err(error) = Registers::map(tables, region) {
            refuse(&format_args!(
                "device tree: the {name} at {:#x}: {error}",
                region.base
            ));
        }
    });
}

/// Refuses a tree by which the boot area, in use already, is not the
/// payload's to use.
fn check_boot_area(board: &Board<'_>, image: Region, boot_area: Region) {
    let holds = |region: &Region| board.memory.iter().any(|m| m.contains(region));
    // A tree may leave out where the image is; then it tells nothing.
    if holds(&image) && !holds(&boot_area) {
        refuse(&format_args!(
            "device tree: no memory behind the image, at {:#x}, where the boot stack is; \
             load the image lower",
            boot_area.base
        ));
    }
    if let Some(taken) = board.reserved.iter().find(|r| r.overlaps(&boot_area)) {
        refuse(&format_args!(
            "device tree: reserved memory at {:#x} overlaps the boot stack at {:#x}; load the \
             image elsewhere",
            taken.base, boot_area.base
        ));
    }
}

/// Tables that a device needs, mapped after one that ends with `last`.
fn device_tables(last: u64, region: Region) -> u64 {
    // Level 3, of which blocks leave the first and the last; then 2 and 1.
    let mut tables = 0;
    for (shift, most) in [(21, 2), (30, u64::MAX), (39, u64::MAX)] {
        let first = region.base >> shift;
        let count = ((region.end() - 1) >> shift) - first + 1;
        tables += count.min(most) - u64::from(first == last >> shift);
    }
    tables
}

/// Finds, maps and takes the working memory.
fn working_memory(
    tables: &mut TranslationTables,
    board: &Board<'_>,
    needs: &Needs,
    dirty: usize,
    used: [Region; 2],
) -> Memory {
    let cpus = board.cpu_count as u64;
    let per_cpu = stacks::BYTES_PER_CPU
        + (size_of::<CpuChannel>() + size_of::<Cpu>() + size_of::<CpuState>()) as u64;
    let data = needs.bytes().map(|bytes| (bytes + dirty) as u64);
    let buffers = needs.buffer.checked_mul(cpus);
    let tallies = (needs.tallies * size_of::<Tally>()) as u64;
    let data = data.zip(buffers);
    let data = data.and_then(|(d, b)| d.checked_add(b)?.checked_add(tallies));
    let Some(size) = data.and_then(|d| d.checked_add(cpus * per_cpu + 5 * PAGE)) else {
        refuse(&"iterations= or footprint= is too large for this many CPUs");
    };
    // Tables for all of it: of level 3, and one of each level above where it
    // begins or ends.
    let mut pool_pages = size.div_ceil(BLOCK) + 3;
    let mut last = u64::MAX;
    board.devices(&mut |_, region| {
        pool_pages += device_tables(last, region);
        last = region.end() - 1;
    });
    let size = size + pool_pages * PAGE;

    let image = layout::image();
    let mut taken: ArrayVec<Region, 80> = ArrayVec::new();
    for region in board.reserved.iter().chain(&used).chain([&image]) {
        if taken.try_push(*region).is_err() {
            give_up(&"more memory is reserved than can be kept in mind");
        }
    }
    let [_, boot_area] = used;
    check_boot_area(board, image, boot_area);
    let mut room = match free_memory::find(&board.memory, &taken, boot_area.end(), size) {
        Ok(room) => room,
        Err(error) => refuse(&error),
    };
    // The first pages hold the tables for the rest.
    let pool = mapped(Pages::map(tables, room.split_off(pool_pages * PAGE)));
    tables.set_pool(pool);
    let stacks = room.split_off(cpus * stacks::BYTES_PER_CPU);
    let mut pages = mapped(Pages::map(tables, room));
    let buffers = pages.split_off(needs.buffer * cpus);
    Memory {
        arena: Arena::new(pages),
        buffers,
        stacks,
    }
}

/// Working memory, or the end of the run.
fn mapped<T>(memory: Result<T, MapError>) -> T {
    match memory {
        Ok(memory) => memory,
        Err(error) => give_up(&format_args!("working memory: {error}")),
    }
}

const TOO_SMALL: &str = "working memory was sized too small";

/// The arena, or the end of the run: what it was sized for fits.
fn take<T>(memory: &mut Memory, count: usize, make: impl FnMut(usize) -> T) -> &'static mut [T] {
    match memory.arena.take_slice(count, make) {
        Some(slice) => slice,
        None => give_up(&TOO_SMALL),
    }
}

fn cpus(memory: &mut Memory, board: &Board<'_>) -> (&'static [Cpu], LabelSource) {
    let cpus = take(memory, board.cpu_count, |_| Cpu::default());
    match board.cpus(registers::mpidr_counts_threads(), cpus) {
        Ok(labels) => (cpus, labels),
        Err(error) => refuse(&format_args!("device tree: {error}")),
    }
}

/// The slots, and for each its stacks, and the tally and the buffer that the
/// plan needs.
fn slots(
    tables: &mut TranslationTables,
    memory: &mut Memory,
    cpus: &[Cpu],
    needs: &Needs,
) -> &'static [CpuChannel] {
    let buffer = needs.buffer;
    let mut tallies = take(memory, needs.tallies, |_| Tally::new()).iter_mut();
    let Memory {
        arena,
        buffers,
        stacks,
    } = memory;
    let slots = arena.take_slice(cpus.len(), |index| {
        let stack = mapped(CpuStack::map(tables, stacks));
        let buffer = StressBuffer::new(buffers.split_off(buffer));
        // A hypervisor may give memory at the first access only.
        buffer.write(buffer.region().size);
        CpuChannel::new(index, cpus[index].mpidr, stack, buffer, tallies.next())
    });
    slots.unwrap_or_else(|| give_up(&TOO_SMALL))
}

/// Brings up the lead's own timer and GIC, and asks the firmware what it can.
fn environment(
    tables: &mut TranslationTables,
    board: &Board<'_>,
    slots: &'static [CpuChannel],
    lead: usize,
    dirty: DirtyLines,
) -> &'static Env {
    let way = CallPath::new(board.conduit, board.counter_erratum, registers::midr());
    if !way.counts() {
        give_up(&format_args!("{} stands still", way.counter().name()));
    }
    let firmware = Firmware {
        conduit: board.conduit,
    };
    let level = registers::exception_level();
    let chosen = match &board.gic {
        Some(_) => Timer::choose(way.counter(), level, &board.timers),
        None => Some(Timer::unconnected()),
    };
    let Some(timer) = chosen else {
        refuse(&format_args!(
            "device tree: the timer node has no interrupt for a timer on {}",
            way.counter().name()
        ));
    };
    let gic = match Gic::new(tables, board.gic.as_ref()) {
        Ok(gic) => gic,
        Err(error) => refuse(&format_args!("device tree: the GIC's registers: {error}")),
    };
    if let Err(error) = gic.init_distributor() {
        give_up(&format_args!("GIC: {error}"));
    }
    let frame = board.timer_frame;
    let frame = frame.and_then(|description| TimerFrameDriver::open(tables, description, way));
    let clock = Clock {
        hz: registers::counter_frequency(),
    };
    let watchdog = board.watchdog.ok_or(NoWatchdog::NotInTree);
    let watchdog = watchdog.and_then(|it| Watchdog::new(tables, it, WATCHDOG_S, clock.believed()));
    let env = env::set_env(Env {
        way,
        firmware,
        pmf: find_pmf(way, firmware, slots[lead].mpidr),
        gic,
        timer,
        guard: timer.guard(&board.timers),
        frame,
        clock,
        slots,
        lead,
        dirty,
        stat: firmware.keeps_statistics(),
        watch: LeadWatch::new(watchdog),
    });
    layout::set_channel_directory(slots);
    env::bind(&slots[lead]);
    if let Err(unfit) = participant::set_up(env, &slots[lead]) {
        give_up(&format_args!("CPU {:#x}: {unfit}", slots[lead].mpidr));
    }
    env
}

/// PMF counts CNTPCT, and is of use only where the payload does, too.
fn find_pmf(way: CallPath, firmware: Firmware, mpidr: u64) -> Result<Interface, ReadError> {
    match way.counter() {
        Counter::Virtual => Err(ReadError::NotImplemented),
        Counter::Physical | Counter::PhysicalTwice(_) => firmware.find_pmf(mpidr),
    }
}

fn facts(env: &'static Env, board: &Board<'_>) -> Facts {
    let psci_version = match env.firmware.version() {
        Ok(version) => version,
        Err(error) => give_up(&format_args!("PSCI_VERSION: firmware returned {error}")),
    };
    let smccc = env.firmware.smccc();
    Facts {
        frequency: env.clock.hz,
        counter: env.way.counter(),
        timer: env.timer.name(),
        timer_intid: env.timer.intid,
        // Whether it wakes the lead, trials tell.
        frame: env
            .frame
            .as_ref()
            .map_err(|why| *why)
            .and(board.timer_frame),
        exception_level: registers::exception_level(),
        e2h: registers::has_fixed_e2h(),
        gic: env.gic.version(),
        conduit: env.way.conduit(),
        psci_version,
        smccc,
        service: env.firmware.service(smccc),
        state_format: env.firmware.state_format(),
        pmf: env.pmf,
        watchdog: env.watchdog(),
        stat: env.stat,
        pmu: cycle_counter::has_pmu_v3(),
        kvm: registers::is_guest_of_kvm(),
        zero: registers::dc_zva_bytes().is_some(),
        os_initiated: env.firmware.has_os_initiated(),
        system_suspend: env.firmware.features(function::SYSTEM_SUSPEND).is_ok(),
        lead: env.lead,
        outer_cache: None,
        own: env::identity_of(env.lead).unwrap_or_default(),
        overheads: overhead::measure_overheads(env),
    }
}

fn workspace(memory: &mut Memory, needs: &Needs) -> Workspace<'static> {
    Workspace {
        outcomes: take(memory, needs.outcomes, |_| Outcome::default()),
        firsts: take(memory, needs.outcomes, |_| Outcome::default()),
        kept: take(memory, needs.kept, |_| Outcome::default()),
        column: take(memory, needs.column, |_| 0),
        rows: take(memory, needs.rows, |_| Row::default()),
        points: take(memory, needs.points, |_| Point::default()),
        histograms: take(memory, needs.histograms, |_| Spread::default()),
    }
}
