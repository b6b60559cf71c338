//! The machine that QEMU is to emulate, and the checks before it is started.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::command_line::{CommandLine, PROGRAM};
use crate::board::firmware_kind::Firmware;
use crate::board::{self, Gic};
use crate::build::firmware::fault;
use crate::setup::process;

/// With `-icount`, each instruction is 2 to this power nanoseconds: at the 62.5
/// MHz of QEMU's counter, one tick.
const ICOUNT_SHIFT: u32 = 4;
/// The time that an instruction takes with `-icount`, in nanoseconds.
pub const ICOUNT_NS: u32 = 1 << ICOUNT_SHIFT;
/// GICv2 has 8 CPU interfaces.
const GIC_V2_CPUS: u32 = 8;

/// The exception level that BL33 is entered at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// EL1: the machine has no EL2.
    El1,
    /// EL2.
    El2,
}

/// A machine to start.
#[derive(Clone, Debug)]
pub struct Machine<'m> {
    /// The board's recipe.
    pub recipe: &'m board::Qemu,
    /// `-cpu`.
    pub cpu: &'m str,
    /// `-smp`.
    pub cpus: u32,
    /// Interrupt controller.
    pub gic: Gic,
    /// Level that BL33 is entered at.
    pub level: Level,
    /// The firmware that has PSCI.
    pub firmware: Firmware,
    /// One global instruction clock, so that a run repeats.
    pub icount: bool,
    /// The fault that the firmware is to have.
    pub fault: Option<&'m str>,
}

impl Machine<'_> {
    /// Refuses a number of CPUs that machine or firmware cannot have.
    pub fn check_cpus(&self, firmware: &board::Firmware) -> Result<()> {
        let in_all = firmware.max_cpus;
        let (most, why) = match self.gic {
            Gic::V2 if in_all > GIC_V2_CPUS => (GIC_V2_CPUS, "a GICv2".to_owned()),
            _ => (in_all, format!("firmware {}", self.firmware.name())),
        };
        if self.cpus == 0 || self.cpus > most {
            bail!(
                "--smp {}: with {why} there can be 1 to {most} CPUs",
                self.cpus
            );
        }
        Ok(())
    }

    /// Refuses what a machine that is not adjustable does not have; `gic` is
    /// the one it has.
    pub fn check_options(&self, gic: Gic) -> Result<()> {
        let machine = &self.recipe.machine;
        if self.recipe.adjustable {
            return Ok(());
        }
        if self.level == Level::El1 {
            bail!("--el 1: QEMU's {machine} always has EL2");
        }
        if self.gic != gic {
            bail!(
                "--gic {}: QEMU's {machine} always has a GICv{}",
                self.gic.number(),
                gic.number()
            );
        }
        Ok(())
    }

    /// Refuses a CPU model that QEMU does not have.
    pub fn check_model(&self) -> Result<()> {
        let model = self.cpu.split(',').next().unwrap_or_default();
        if model == self.recipe.cpu {
            return Ok(());
        }
        let mut command = Command::new(PROGRAM);
        command.args(["-M", &self.recipe.machine, "-cpu", "help"]);
        let said = process::output(&mut command).context("cannot ask QEMU for its CPU models")?;
        let models = parse_models(&said);
        if !models.contains(&model) {
            bail!(
                "--cpu {model}: QEMU has no such model; it has {}",
                models.join(", ")
            );
        }
        Ok(())
    }

    /// Refuses what a Linux with KVM is not for.
    pub fn check_kvm(&self) -> Result<()> {
        if self.firmware == Firmware::Kvm && self.icount {
            bail!("--icount: a guest of KVM is timed by its host, and no run of it repeats");
        }
        Ok(())
    }

    /// Returns the command line that starts `file`: a flash with TF-A, an initial
    /// file system with KVM, which needs a kernel besides, else an image.
    pub fn command_line(&self, file: PathBuf) -> CommandLine {
        let mut machine = self.recipe.machine.clone();
        if self.recipe.adjustable {
            if self.firmware.is_tf_a() {
                machine.push_str(",secure=on");
            }
            let has_el2 = self.level == Level::El2 || self.firmware == Firmware::Kvm;
            machine.push_str(&format!(
                ",virtualization={},gic-version={}",
                if has_el2 { "on" } else { "off" },
                self.gic.number()
            ));
        }
        let mut options = ["-smp", &self.cpus.to_string(), "-no-reboot"]
            .map(str::to_owned)
            .to_vec();
        options.extend_from_slice(&self.recipe.arguments);
        if self.icount {
            options.extend([
                "-icount".to_owned(),
                format!("shift={ICOUNT_SHIFT},sleep=off"),
            ]);
        }
        if let Some(spec) = self.fault {
            options.extend(["-fw_cfg".to_owned(), fault::argument(spec)]);
        }
        let option = match self.firmware {
            Firmware::TfA | Firmware::TfAStock => "-bios",
            Firmware::Builtin => "-kernel",
            Firmware::Kvm => "-initrd",
        };
        CommandLine {
            machine,
            cpu: self.cpu.to_owned(),
            memory_mib: self.recipe.memory_mib.to_string(),
            options,
            boot: (option, file),
            preload: None,
            rest: Vec::new(),
        }
    }
}

/// Returns the names in the list of `-cpu help`, which is indented.
fn parse_models(said: &str) -> Vec<&str> {
    said.lines()
        .filter(|line| line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::workspace::Workspace;

    fn board(name: &str) -> board::Board {
        let workspace = Workspace::find().expect("the repository");
        board::load(&workspace, name).expect("a good board")
    }

    fn machine(board: &board::Board) -> Machine<'_> {
        Machine {
            recipe: board.qemu.as_ref().expect("a recipe"),
            cpu: "max",
            cpus: 4,
            gic: Gic::V3,
            level: Level::El2,
            firmware: Firmware::TfA,
            icount: false,
            fault: None,
        }
    }

    #[test]
    fn command_lines() {
        let (qemu, sbsa) = (board("qemu"), board("qemu-sbsa"));
        let (mut fault, mut builtin) = (machine(&qemu), machine(&qemu));
        (fault.icount, fault.fault) = (true, Some("suspend-early,cpu=0x1"));
        (builtin.firmware, builtin.level) = (Firmware::Builtin, Level::El1);
        builtin.gic = Gic::V2;
        let icount = "-icount shift=4,sleep=off \
                      -fw_cfg name=opt/psci-bench/fault,string=suspend-early,,cpu=0x1 -bios";
        for (machine, first, last) in [
            (
                fault,
                "virt,secure=on,virtualization=on,gic-version=3",
                icount,
            ),
            (builtin, "virt,virtualization=off,gic-version=2", "-kernel"),
            (machine(&sbsa), "sbsa-ref", "-global VGA.romfile= -bios"),
        ] {
            let mut line = machine.command_line("FILE".into());
            line.preload = Some(("a,b".into(), 0x100_2000_0000));
            let words = line.arguments();
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            let attached = "-m 1024 -display none -nic none -monitor none -serial stdio";
            let loader = "-device loader,file=a,,b,addr=0x10020000000,force-raw=on";
            assert_eq!(
                words.join(" "),
                format!("-M {first} -cpu max {attached} -smp 4 -no-reboot {last} FILE {loader}")
            );
        }
    }

    #[test]
    fn a_machine_that_is_not_adjustable_refuses_options() {
        let sbsa = board("qemu-sbsa");
        let mut machine = machine(&sbsa);
        assert!(machine.check_options(Gic::V3).is_ok());
        for (level, gic, always) in [
            (Level::El1, Gic::V3, "has EL2"),
            (Level::El2, Gic::V2, "has a GICv3"),
        ] {
            (machine.level, machine.gic) = (level, gic);
            let error = machine.check_options(Gic::V3).expect_err("refused");
            let expected = format!("QEMU's sbsa-ref always {always}");
            assert!(error.to_string().ends_with(&expected), "{error}");
        }
    }

    #[test]
    fn cpus_are_limited_by_firmware_and_gic() {
        let board = board("qemu");
        for (firmware, gic, most) in [
            (Firmware::TfA, Gic::V2, 8),
            (Firmware::TfA, Gic::V3, 32),
            (Firmware::Builtin, Gic::V2, 8),
            (Firmware::Builtin, Gic::V3, 512),
        ] {
            let described = board.firmware(firmware.name()).expect("a firmware");
            let mut machine = machine(&board);
            (machine.gic, machine.firmware) = (gic, firmware);
            for (cpus, is_accepted) in [(0, false), (1, true), (most, true), (most + 1, false)] {
                machine.cpus = cpus;
                assert_eq!(machine.check_cpus(described).is_ok(), is_accepted);
            }
        }
    }

    #[test]
    fn models_are_indented() {
        let said = "Available CPUs:\n  a64fx\n  cortex-a57\n  max (x)\n";
        assert_eq!(parse_models(said), ["a64fx", "cortex-a57", "max"]);
    }
}
