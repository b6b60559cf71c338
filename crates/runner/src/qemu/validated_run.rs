//! A requested run that the board, the firmware and QEMU support.

use anyhow::{Context, Result, bail};
use boards::BoardFile;
use host::progress::say_once;
use itertools::Itertools as _;

use super::diagnosis;
use super::loader::Loader;
use super::machine::QemuMachine;
use super::run_spec::RunSpec;
use crate::build::firmware::FirmwareVariant;
use crate::build::firmware_kind::FirmwareKind;
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
    let recipe = board
        .qemu
        .as_ref()
        .with_context(|| format!("QEMU does not emulate {}", board.title))?;
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
