//! Sets up the machine that the device tree describes: memory, CPUs, GIC, timer and firmware. If a
//! part is missing, the run ends with an error that identifies it.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::sync::atomic::AtomicU64;

use hardware::board::{Board, Cpu, CpuIndex, LabelSource, NoFrame, NoWatchdog};
use hardware::devices::its::ItsTables;
use hardware::image::BootStage;
use hardware::spec::region::Region;
use hardware::spec::ticks::Clock;
use suite::bench::Needs;
use suite::measure::{Facts, Operation, Tally};
use suite::model::{self as model, Head, Run, RunId, RunParts};
use suite::plan::{Plan, ScenarioId, Use};
use suite::record::FORMAT;

use super::firmware_answers::FirmwareAnswers;
use super::working_memory::{self, UNMAPPED, WorkingMemory};
use crate::machine::boot_marks;
use crate::machine::call::call_path::CallPath;
use crate::machine::call::overhead;
use crate::machine::cpu::cache_lines::DirtyLines;
use crate::machine::cpu::{cycle_counter, registers};
use crate::machine::ending::{give_up, or_give_up, or_refuse, refuse};
use crate::machine::gic::controller::GicDriver;
use crate::machine::gic::its::ItsDriver;
use crate::machine::memory::stacks::CpuStack;
use crate::machine::memory::stress::StressBuffer;
use crate::machine::memory::tables::TranslationTables;
use crate::machine::round::channel::{self, CpuChannel};
use crate::machine::round::lead::Lead;
use crate::machine::round::lead_watch::{LeadWatch, WATCHDOG_S};
use crate::machine::round::participant::{PARTS, Participant, RoundParts};
use crate::machine::time::timer::{self, CpuTimer};
use crate::machine::time::waiter::Waiter;
use crate::machine::timer_frame::TimerFrameDriver;
use crate::machine::watchdog::WatchdogDriver;

/// How the payload was started.
pub struct Start<'t> {
    /// Identifies the payload build.
    pub build: u32,
    /// A digest of the parts of the run that the payload cannot see; see
    /// [`ParameterBlock::digest`](hardware::image::ParameterBlock::digest).
    pub digest: u64,
    /// The bytes of the device tree.
    pub tree: &'t [u8],
    /// The regions that the device tree and the boot area occupy.
    pub used: [Region; 2],
}

/// Sets up everything, and returns the lead and the run that it will start.
pub fn prepare(
    mut tables: TranslationTables,
    board: &Board<'_>,
    plan: &Plan,
    start: &Start<'_>,
) -> (Lead, Run) {
    let needs = Needs::compute(plan, board.cpu_count, board.idle_states.count());
    let path = CallPath::new(board.conduit, board.counter_erratum, registers::midr());
    let answers = FirmwareAnswers::query(board, plan, path.counter());
    let caches = registers::read_identity(answers.is_kvm).caches;
    let outer_cache = caches.outer(board.second_level_cache);
    let dirty = plan.dirty_bytes(outer_cache);
    let its = find_used_its(board, plan);
    let its_bytes = its.map_or(0, |_| ItsTables::BYTES);
    let extra_bytes = dirty + its_bytes;
    let mut memory =
        working_memory::find_working_memory(&mut tables, board, &needs, extra_bytes, start.used);
    working_memory::map_devices(&mut tables, board);
    let (cpus, labels) = cpus(board, plan);
    let lead = find_lead(cpus);
    let channels = channels(&mut tables, &mut memory, cpus, &needs);
    let waiter = waiter(&mut tables, board, path);
    let timer_frame = timer_frame(&mut tables, board, plan, path);
    let watchdog = watchdog(&mut tables, board, plan, waiter.clock);
    let parts = RoundParts {
        no_cpu_off: answers.no_cpu_off,
        guard_timer: waiter.timer.find_guard(&board.timers),
        pmf: answers.pmf,
        waiter,
        timer_frame,
        its: ItsDriver::map(&mut tables, its, zero_words(its_bytes)),
        dirty_lines: dirty_lines(dirty),
        channels,
        lead,
        watch: LeadWatch::new(registers::mpidr(), watchdog),
        is_kvm_guest: answers.is_kvm,
    };
    let own = bring_up_lead(PARTS.call_once(|| parts));
    check_redistributors(own.parts);
    let facts = Facts {
        outer_cache,
        ..find_facts(own, board, &answers)
    };
    let counter = own.parts.waiter.path.now();
    let id = RunId::new(&RunParts {
        build: start.build,
        digest: start.digest,
        answers: answers.checksum,
        counter,
        tree: start.tree,
        facts: &facts,
    });
    let run = Run {
        id: Some(id),
        head: Some(head(board, cpus, labels)),
        facts: Some(facts),
        plan: Some(*plan),
        cpus: cpus.iter().map(model::Cpu::from).collect(),
        ..Run::default()
    };
    (Lead::new(own, facts, cpus, plan), run)
}

/// Returns the ITS, if a scenario in the plan sends LPIs.
fn find_used_its(board: &Board<'_>, plan: &Plan) -> Option<Region> {
    let sends_lpis = |id: ScenarioId| id.repeats(Operation::Lpi);
    if plan.scenarios.iter().any(sends_lpis) {
        board.its
    } else {
        None
    }
}

/// Returns the index of the calling CPU, which is the lead.
fn find_lead(cpus: &[Cpu]) -> CpuIndex {
    let own = registers::mpidr();
    let lead = cpus.iter().position(|cpu| cpu.mpidr == own);
    match lead {
        Some(index) => CpuIndex::new(index),
        None => refuse(&format_args!(
            "device tree: no cpu node has the boot CPU's reg, {own}"
        )),
    }
}

/// Checks that the helper in the plan is a CPU.
fn check_helper(cpus: &[Cpu], plan: &Plan) {
    let is_helper = |cpu: &Cpu| Some(cpu.mpidr) == plan.helper;
    if let Some(mpidr) = plan.helper
        && !cpus.iter().any(is_helper)
    {
        refuse(&format_args!("helper={mpidr}: no cpu node has this reg"));
    }
}

fn head(board: &Board<'_>, cpus: &[Cpu], labels: LabelSource) -> Head {
    Head {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_string(),
        model: board.model.to_string(),
        labels,
        cpus: cpus.len() as u16,
    }
}

/// Checks that the GIC has a redistributor for each CPU.
fn check_redistributors(parts: &RoundParts) {
    for channel in parts.channels {
        let found = parts.waiter.gic.check_redistributor(&channel.gic);
        or_refuse(found, &format!("device tree: CPU {}: ", channel.mpidr()));
    }
}

fn list<T>(len: usize, make: impl FnMut(usize) -> T) -> &'static mut [T] {
    (0..len).map(make).collect::<Vec<T>>().leak()
}

/// Returns the CPUs that the plan uses. A board's first run uses the lead and the last other CPU.
fn cpus(board: &Board<'_>, plan: &Plan) -> (&'static [Cpu], LabelSource) {
    let listed = board.cpus(registers::mpidr_counts_threads());
    let (labels, mut cpus) = or_refuse(listed, "device tree: ");
    check_helper(&cpus, plan);
    if plan.scenarios.is_first() {
        let own = registers::mpidr();
        let last_other = cpus
            .iter()
            .map(|cpu| cpu.mpidr)
            .rfind(|mpidr| *mpidr != own);
        cpus.retain(|cpu| cpu.mpidr == own || Some(cpu.mpidr) == last_other);
    }
    (cpus.leak(), labels)
}

/// Returns the channels, each with its CPU's stacks and the tally and buffer that the plan needs.
fn channels(
    tables: &mut TranslationTables,
    memory: &mut WorkingMemory,
    cpus: &[Cpu],
    needs: &Needs,
) -> &'static [CpuChannel] {
    let mut tallies = list(needs.tallies, |_| Tally::default()).iter_mut();
    list(cpus.len(), |index| {
        let stack = or_give_up(CpuStack::map(tables, &mut memory.stacks), UNMAPPED);
        let buffer = StressBuffer::new(memory.buffers.split_off(needs.buffer));
        let cpu = CpuIndex::new(index);
        CpuChannel::new(cpu, cpus[index].mpidr, stack, buffer, tallies.next())
    })
}

fn waiter(tables: &mut TranslationTables, board: &Board<'_>, path: CallPath) -> Waiter {
    if !path.is_counting() {
        give_up(&format_args!("{} does not count", path.counter().name()));
    }
    let level = registers::exception_level();
    let chosen = match &board.gic {
        Some(_) => CpuTimer::choose(path.counter(), level, &board.timers),
        None => Some(CpuTimer::UNCONNECTED),
    };
    let Some(timer) = chosen else {
        refuse(&format_args!(
            "device tree: the timer node has no interrupt for any timer that uses {}",
            path.counter().name()
        ));
    };
    let gic = or_refuse(
        GicDriver::new(tables, board.gic.as_ref()),
        "device tree: the GIC's registers: ",
    );
    or_give_up(gic.init_distributor(), "GIC: ");
    or_give_up(gic.silence_spis(), "GIC: ");
    let clock = Clock {
        hz: board
            .counter_frequency
            .choose(registers::counter_frequency()),
    };
    Waiter {
        path,
        clock,
        timer,
        gic,
    }
}

fn dirty_lines(bytes: usize) -> DirtyLines {
    DirtyLines {
        words: zero_words(bytes),
        words_per_line: registers::words_per_line(),
    }
}

fn zero_words(bytes: usize) -> &'static [AtomicU64] {
    list(bytes / size_of::<AtomicU64>(), |_| AtomicU64::new(0))
}

fn timer_frame(
    tables: &mut TranslationTables,
    board: &Board<'_>,
    plan: &Plan,
    path: CallPath,
) -> Result<TimerFrameDriver, NoFrame> {
    match plan.frame {
        Use::On => TimerFrameDriver::open(tables, board.timer_frame?, path),
        Use::Off => Err(NoFrame::Argument),
    }
}

fn watchdog(
    tables: &mut TranslationTables,
    board: &Board<'_>,
    plan: &Plan,
    clock: Clock,
) -> Result<WatchdogDriver, NoWatchdog> {
    if plan.watchdog == Use::Off {
        return Err(NoWatchdog::Argument);
    }
    let watchdog = board.watchdog.ok_or(NoWatchdog::NotInTree)?;
    WatchdogDriver::new(tables, watchdog, WATCHDOG_S, clock.believed())
}

/// Makes this CPU the lead, and sets up its timer and its part of the GIC.
fn bring_up_lead(parts: &'static RoundParts) -> Participant {
    timer::set_in_use(parts.waiter.timer);
    registers::set_lead();
    channel::publish_channels(parts.channels, parts.lead);
    let channel = &parts.channels[parts.lead.index()];
    let own = Participant { channel, parts };
    or_give_up(own.set_up(), &format!("CPU {}: ", channel.mpidr()));
    boot_marks::reach(BootStage::Gic);
    own
}

fn find_facts(own: Participant, board: &Board<'_>, answers: &FirmwareAnswers) -> Facts {
    let Participant { channel, parts } = own;
    let waiter = &parts.waiter;
    let Waiter { path, clock, .. } = waiter;
    Facts {
        frequency: clock.hz,
        counter: path.counter(),
        timer: waiter.timer.name(),
        timer_intid: waiter.timer.intid,
        // Trials determine whether the frame wakes the lead.
        frame: match &parts.timer_frame {
            Ok(_) => board.timer_frame,
            Err(reason) => Err(*reason),
        },
        exception_level: registers::exception_level(),
        e2h: registers::has_fixed_e2h(),
        gic: waiter.gic.version(),
        conduit: path.conduit(),
        psci_version: answers.psci_version,
        smccc: answers.smccc.map(u32::from),
        service: answers.service,
        state_format: answers.state_format,
        pmf: answers.pmf,
        watchdog: parts.watch.watchdog(),
        stat: answers.has_statistics,
        pmu: cycle_counter::has_pmu_v3(),
        kvm: answers.is_kvm,
        zero: registers::dc_zva_bytes().is_some(),
        os_initiated: answers.has_os_initiated,
        system_suspend: answers.has_system_suspend,
        no_cpu_off: answers.no_cpu_off,
        lead: channel.index,
        outer_cache: None,
        own: *channel
            .identity
            .get()
            .expect("the lead's identity has been read"),
        overheads: overhead::measure_overheads(*path, answers.pmf, channel.mpidr()),
    }
}
