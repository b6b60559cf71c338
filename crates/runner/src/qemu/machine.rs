//! The machine that QEMU emulates, and the checks that run before it is started.

use std::process::Command;

use anyhow::{Context, Result, bail};
use boards::GicVersion;
use host::process;

use super::command_line::{CommandLine, PROGRAM};
use super::diagnosis::POWER_DOWN;
use super::loader::{ICOUNT_SHIFT, Loader};
use super::run_spec::{Level, RunSpec};
use crate::build::firmware::fault;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The duration of an instruction with `-icount`, in nanoseconds.
pub const ICOUNT_NS: u32 = 1 << ICOUNT_SHIFT;
const GIC_V2_CPUS: u32 = 8;
/// The CPU models on QEMU's `virt` that support only AArch32.
const NARROW: [&str; 2] = ["cortex-a7", "cortex-a15"];

/// The machine for a run, with the defaults of the board file filled in.
#[derive(Clone, Debug)]
pub struct QemuMachine<'m> {
    /// The QEMU options for the board.
    pub recipe: &'m boards::Qemu,
    /// `-cpu`.
    pub cpu: &'m str,
    /// `-smp`.
    pub cpus: u32,
    /// The GIC version that QEMU emulates.
    pub gic: GicVersion,
    /// The options that the machine was made for.
    pub spec: &'m RunSpec,
    /// What starts the payload.
    pub loader: &'static dyn Loader,
}

impl QemuMachine<'_> {
    /// Rejects options that the machine, or the firmware in `described`, does not support. If the
    /// machine's GIC version is fixed, `gic` specifies it.
    pub fn check(&self, described: &boards::Firmware, gic: GicVersion) -> Result<()> {
        let cpus = self.cpus;
        let in_all = described.max_cpus;
        let name = self.loader.psci_name(self.spec.firmware);
        let (most, why) = match self.gic {
            GicVersion::V2 if in_all > GIC_V2_CPUS => (GIC_V2_CPUS, "a GICv2".to_owned()),
            _ => (in_all, format!("the {name} firmware")),
        };
        if cpus == 0 || cpus > most {
            bail!("--smp {cpus}: {why} supports 1 to {most} CPUs");
        }
        let model = self.model();
        if NARROW.contains(&model) {
            let wide = POWER_DOWN.join(", ");
            bail!("--cpu {model}: this CPU lacks AArch64, which the payload needs; use {wide}");
        }
        let machine = &self.recipe.machine;
        if !self.recipe.adjustable && self.spec.level == Level::El1 {
            bail!("--el 1: QEMU's {machine} always has EL2");
        }
        if !self.recipe.adjustable && self.gic != gic {
            let wished = self.gic.number();
            let own = gic.number();
            bail!("--gic {wished}: QEMU's {machine} always has a GICv{own}");
        }
        Ok(())
    }

    fn model(&self) -> &str {
        self.cpu
            .split(',')
            .next()
            .expect("split always returns at least one part")
    }

    /// Rejects a CPU model that QEMU does not support.
    pub fn check_model(&self, workspace: &Workspace) -> Result<()> {
        let model = self.model();
        if model == self.recipe.cpu {
            return Ok(());
        }
        setup::ensure(workspace, &[Need::Qemu])?;
        let mut command = Command::new(PROGRAM);
        command.args(["-M", &self.recipe.machine, "-cpu", "help"]);
        let listing =
            process::output_once(&mut command).context("cannot list QEMU's CPU models")?;
        // Each line below a heading is indented and starts with a model name.
        let models: Vec<_> = listing
            .lines()
            .filter(|line| line.starts_with(' '))
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        if !models.contains(&model) {
            let known = models.join(", ");
            bail!("--cpu {model}: no such CPU model; QEMU has {known}");
        }
        Ok(())
    }

    /// Rejects a QEMU version that is too old to emulate the machine.
    pub fn check_version(&self, workspace: &Workspace) -> Result<()> {
        let Some(since) = self.recipe.since else {
            return Ok(());
        };
        setup::ensure(workspace, &[Need::Qemu])?;
        let version = setup::qemu_version()?;
        let machine = &self.recipe.machine;
        if version < since {
            bail!(
                "QEMU {version} has no {machine} machine, which needs version {since} or \
                 later. Install that version, and put it first in PATH"
            );
        }
        Ok(())
    }

    /// Returns the command line of the machine, which does not name any file yet.
    pub fn command_line(&self) -> CommandLine {
        let mut machine = self.recipe.machine.clone();
        if self.recipe.adjustable {
            if self.spec.firmware.is_tf_a() {
                machine.push_str(",secure=on");
            }
            let has_el2 = self.spec.level == Level::El2 || self.loader.uses_el2();
            let el2 = if has_el2 { "on" } else { "off" };
            let gic = self.gic.number();
            machine.push_str(&format!(",virtualization={el2},gic-version={gic}"));
            machine.push_str(self.loader.machine_properties());
        }
        let smp = self.cpus.to_string();
        let mut options = ["-smp", &smp, "-no-reboot"].map(str::to_owned).to_vec();
        options.extend_from_slice(&self.recipe.arguments);
        if self.spec.icount {
            let icount = format!("shift={},sleep=off", self.loader.icount_shift());
            options.extend(["-icount".to_owned(), icount]);
        }
        if let Some(spec) = &self.spec.fault {
            options.extend(["-fw_cfg".to_owned(), fault::argument(spec)]);
        }
        CommandLine {
            machine,
            cpu: self.cpu.to_owned(),
            memory_mib: self.recipe.memory_mib.to_string(),
            options,
            serial: self.recipe.serial,
            boot: None,
            preload: Vec::new(),
            rest: Vec::new(),
        }
    }
}
