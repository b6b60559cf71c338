//! A requested run that the board, the firmware and QEMU support.

use anyhow::{Context, Result, bail};
use boards::{BoardFile, Firmware};
use hardware::text::plural::many;
use host::progress::say_once;
use itertools::Itertools as _;
use suite::bench::Needs;

use super::diagnosis;
use super::loader::Loader;
use super::machine::QemuMachine;
use super::run_spec::{Payload, RunSpec};
use crate::build::boot_arguments::parse_plan;
use crate::build::firmware::{FirmwareVariant, fault};
use crate::build::firmware_kind::FirmwareKind;
use crate::build::payload::TreeSource;
use crate::build::tf_a::{TF_A, TfA};
use crate::setup::Need;
use crate::setup::workspace::Workspace;

/// A validated run. Nothing has been built for it.
pub struct ValidatedRun<'a> {
    /// The repository that firmware and payload are built in.
    pub workspace: &'a Workspace,
    /// The board that QEMU emulates.
    pub board: &'a BoardFile,
    /// The options that have been validated.
    pub spec: &'a RunSpec,
    /// The machine that the options describe.
    pub machine: QemuMachine<'a>,
    /// The TF-A source that was requested instead of the pinned one.
    pub tf_a: Option<TfA>,
}

impl<'a> ValidatedRun<'a> {
    /// Validates `spec`, and warns about parts of it that might not work.
    pub fn new(
        workspace: &'a Workspace,
        board: &'a BoardFile,
        spec: &'a RunSpec,
        loader: &'static dyn Loader,
    ) -> Result<Self> {
        let machine = machine(board, spec, loader)?;
        let tf_a = locate(workspace, spec)?;
        machine.check_version(workspace)?;
        machine.check_model(workspace)?;
        if let Some(why) = &machine.recipe.no_cpu_off {
            say_once(&format!("warning: CPUs will not be turned off: {why}"));
        }
        let is_other = machine.cpu != machine.recipe.cpu;
        if let Some(doubt) =
            diagnosis::explain_doubt(spec.firmware, machine.cpu).filter(|_| is_other)
        {
            say_once(&format!("warning: {doubt}"));
        }
        Ok(Self {
            workspace,
            board,
            spec,
            machine,
            tf_a,
        })
    }

    /// Returns the packages that the run needs. Installing them all together is faster than
    /// installing them one at a time.
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = vec![Need::Qemu];
        match self.spec.firmware {
            FirmwareKind::Builtin => {}
            FirmwareKind::TfA | FirmwareKind::TfAStock => {
                needs.extend([Need::CrossCompiler, Need::Make]);
            }
        }
        needs.extend(self.machine.loader.needs());
        let is_pinned = self.spec.firmware.is_tf_a() && self.tf_a.is_none();
        if is_pinned && !TF_A.is_there(self.workspace) {
            needs.push(Need::DpkgSource);
        }
        needs
    }
}

/// Returns the TF-A source requested by `spec`, if it requests one.
fn locate(workspace: &Workspace, spec: &RunSpec) -> Result<Option<TfA>> {
    let Some(dir) = &spec.tf_a else {
        return Ok(None);
    };
    let tf_a = TfA::locate(workspace, Some(dir))?;
    let title = spec.tf_a_title.clone();
    Ok(Some(TfA {
        title: title.unwrap_or(tf_a.title),
        ..tf_a
    }))
}

/// Returns the machine requested by `spec`, if `board` supports it.
fn machine<'m>(
    board: &'m BoardFile,
    spec: &'m RunSpec,
    loader: &'static dyn Loader,
) -> Result<QemuMachine<'m>> {
    let recipe = board.qemu.as_ref().with_context(|| not_emulated(board))?;
    let machine = QemuMachine {
        recipe,
        cpu: spec.cpu.as_deref().unwrap_or(&recipe.cpu),
        cpus: spec.smp.unwrap_or(recipe.cpus),
        gic: spec.gic.unwrap_or(board.default_gic()),
        spec,
        loader,
    };
    let described = board.firmware(loader.psci_name(spec.firmware))?;
    let stock = described.stock.as_ref();
    if let Some(why) = stock.and_then(|stock| stock.not_on_qemu.as_ref()) {
        let name = spec.firmware.name();
        let others = board
            .firmware
            .keys()
            .filter(|other| *other != name)
            .join(", ");
        bail!("--firmware {name}: QEMU cannot run it, because {why}; use --firmware {others}");
    }
    board.check_gic(spec.gic)?;
    machine.check(described, board.default_gic())?;
    check_fault_cpu(board, described, spec, machine.cpus)?;
    check_memory(&machine)?;
    let variants = ["pmf=new", "pmf=off"].map(|pmf| FirmwareVariant::default().with(pmf));
    let has_own = !variants.contains(&spec.variant) || spec.fault.is_some() || spec.bl32.is_some();
    if described.stock.is_some() && has_own {
        let title = &board.title;
        bail!(
            "{title} runs TF-A's own platform, which supports neither --fault nor --bl32, nor any \
             --variant except pmf=off"
        );
    }
    Ok(machine)
}

/// Says which boards QEMU emulates, and how to measure one that it does not.
fn not_emulated(board: &BoardFile) -> String {
    let boards = boards::names().filter_map(|name| boards::load(name).ok());
    let emulated = boards
        .filter(|board| board.qemu.is_some())
        .map(|board| board.name)
        .join(", ");
    let name = &board.name;
    format!(
        "QEMU does not emulate {}; it emulates {emulated}. To measure the board itself: \
         cargo xtask fip build --board {name}",
        board.title
    )
}

/// Rejects a fault of a CPU that the machine does not have. The firmware would never trigger it.
fn check_fault_cpu(
    board: &BoardFile,
    described: &Firmware,
    spec: &RunSpec,
    cpus: u32,
) -> Result<()> {
    let Some(cpu) = spec.fault.as_deref().and_then(fault::fault_cpu) else {
        return Ok(());
    };
    let clusters = board.with_clusters_of(described).clusters(cpus)?;
    let has_cpu = clusters.iter().flatten().any(|mpidr| mpidr.number() == cpu);
    if !has_cpu {
        let known = clusters.iter().flatten().join(", ");
        bail!("--fault: no CPU has MPIDR {cpu:#x}; the MPIDRs are {known}");
    }
    Ok(())
}

/// Rejects boot arguments that need more memory than the machine has. The payload, which also needs
/// memory for other purposes, would reject them after it has been started.
fn check_memory(machine: &QemuMachine<'_>) -> Result<()> {
    let spec = machine.spec;
    if spec.payload != Payload::Build || spec.tree != TreeSource::default() {
        return Ok(());
    }
    let plan = parse_plan(spec.args.as_deref())?;
    let cpus = machine.cpus as usize;
    let needs = Needs::compute(&plan, cpus, 0);
    let size = (needs.heap as u64).saturating_add(needs.buffer.saturating_mul(cpus as u64));
    let memory_mib = machine.recipe.memory_mib;
    if size >> 20 >= memory_mib {
        bail!(
            "--args: this needs {} MiB of memory for {}, but the machine has {memory_mib} MiB; \
             reduce iterations=, footprint= or --smp",
            size >> 20,
            many(cpus, "CPU")
        );
    }
    Ok(())
}
