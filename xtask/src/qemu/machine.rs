//! QEMU's command line, and what can be known before it is started.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::host_cpu;
use crate::board::firmware_kind::Firmware;
use crate::board::{self, Gic};
use crate::build::firmware::fault;
use crate::setup::process;

/// The program.
pub const PROGRAM: &str = "qemu-system-aarch64";
/// With `-icount`, each instruction is 2 to this power nanoseconds: at the 62.5
/// MHz of QEMU's counter, one tick.
const ICOUNT_SHIFT: u32 = 4;
/// What an instruction adds to the clock with `-icount`, in nanoseconds.
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
    /// Whose PSCI.
    pub firmware: Firmware,
    /// One global instruction clock, so that a run repeats.
    pub icount: bool,
    /// The fault that the firmware is to have.
    pub fault: Option<&'m str>,
}

impl Machine<'_> {
    /// Refuses a number of CPUs that machine or firmware cannot have.
    pub fn check_cpus(&self, firmware: &board::Firmware) -> Result<()> {
        let in_all = *firmware.max_cpus.get_ref();
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

    /// The arguments that start `file`: a flash with TF-A, an initial file
    /// system with KVM, whose kernel comes behind, else an image.
    pub fn arguments(&self, file: &Path) -> Vec<OsString> {
        let mut machine = self.recipe.machine.clone();
        let on = |yes| if yes { "on" } else { "off" };
        if self.recipe.adjustable {
            if self.firmware.is_tf_a() {
                machine.push_str(",secure=on");
            }
            machine.push_str(&format!(
                ",virtualization={},gic-version={}",
                on(self.level == Level::El2 || self.firmware == Firmware::Kvm),
                self.gic.number()
            ));
        }
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| arguments.extend(words.iter().map(OsString::from));
        add(&["-M", &machine, "-cpu", self.cpu]);
        add(&["-smp", &self.cpus.to_string()]);
        add(&["-m", &self.recipe.memory_mib.get_ref().to_string()]);
        add(&["-display", "none", "-nic", "none", "-monitor", "none"]);
        add(&["-serial", "stdio", "-no-reboot"]);
        for argument in &self.recipe.arguments {
            add(&[argument]);
        }
        if self.icount {
            add(&["-icount", &format!("shift={ICOUNT_SHIFT},sleep=off")]);
        }
        if let Some(spec) = self.fault {
            add(&["-fw_cfg", &fault::argument(spec)]);
        }
        add(&[match self.firmware {
            Firmware::TfA | Firmware::TfAStock => "-bios",
            Firmware::Builtin => "-kernel",
            Firmware::Kvm => "-initrd",
        }]);
        arguments.push(file.into());
        arguments
    }
}

/// The arguments by which the bytes of `file` are in memory, at `address`,
/// before the machine starts.
pub fn preload(file: &Path, address: u64) -> [OsString; 2] {
    // A comma in a value is written twice.
    let file = file.to_string_lossy().replace(',', ",,");
    let device = format!("loader,file={file},addr={address:#x},force-raw=on");
    ["-device".into(), device.into()]
}

/// The command that starts QEMU with `arguments`. Where it can be had, the
/// kernel ends QEMU when this process is killed: a machine that hangs would
/// otherwise use a CPU for ever. With `-icount`, all of QEMU is on one CPU of
/// the host: [`host_cpu`] says why.
pub fn command(arguments: &[OsString]) -> Command {
    let mut words: Vec<OsString> = Vec::new();
    if process::find("setpriv").is_some() {
        words.extend(["setpriv", "--pdeathsig", "KILL"].map(OsString::from));
    }
    if arguments.iter().any(|argument| argument == "-icount") {
        words.extend(host_cpu::prefix());
    }
    words.push(PROGRAM.into());
    words.extend_from_slice(arguments);
    let mut words = words.into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// The names in the list of `-cpu help`, which is indented.
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

    #[test]
    fn command_lines() {
        let workspace = Workspace::find().expect("the repository");
        let board = board::load(&workspace, "qemu").expect("a good board");
        let mut machine = Machine {
            recipe: board.qemu.as_ref().expect("a recipe"),
            cpu: "max",
            cpus: 4,
            gic: Gic::V3,
            level: Level::El2,
            firmware: Firmware::TfA,
            icount: true,
            fault: None,
        };
        let line = |machine: &Machine<'_>| {
            let words = machine.arguments(Path::new("FILE"));
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            words.join(" ")
        };
        assert_eq!(
            line(&machine),
            "-M virt,secure=on,virtualization=on,gic-version=3 -cpu max -smp 4 -m 1024 -display none \
             -nic none -monitor none -serial stdio -no-reboot -icount shift=4,sleep=off -bios FILE"
        );
        machine.fault = Some("suspend-early,cpu=0x1");
        assert!(
            line(&machine)
                .contains(" -fw_cfg name=opt/psci-bench/fault,string=suspend-early,,cpu=0x1 -bios")
        );
        machine.fault = None;
        machine.firmware = Firmware::Builtin;
        machine.level = Level::El1;
        machine.gic = Gic::V2;
        machine.icount = false;
        assert_eq!(
            line(&machine),
            "-M virt,virtualization=off,gic-version=2 -cpu max -smp 4 -m 1024 -display none \
             -nic none -monitor none -serial stdio -no-reboot -kernel FILE"
        );
    }

    #[test]
    fn a_machine_that_is_as_it_is() {
        let workspace = Workspace::find().expect("the repository");
        let board = board::load(&workspace, "qemu-sbsa").expect("a good board");
        let mut machine = Machine {
            recipe: board.qemu.as_ref().expect("a recipe"),
            cpu: "cortex-a57",
            cpus: 1,
            gic: board.default_gic(),
            level: Level::El2,
            firmware: Firmware::TfA,
            icount: false,
            fault: None,
        };
        let words = machine.arguments(Path::new("FILE"));
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        assert_eq!(
            words.join(" "),
            "-M sbsa-ref -cpu cortex-a57 -smp 1 -m 1024 -display none -nic none -monitor none \
             -serial stdio -no-reboot -global VGA.romfile= -bios FILE"
        );
        let preload = preload(Path::new("a,b"), 0x100_2000_0000);
        assert_eq!(
            preload,
            [
                "-device",
                "loader,file=a,,b,addr=0x10020000000,force-raw=on"
            ]
        );
        assert!(machine.check_options(Gic::V3).is_ok());
        machine.level = Level::El1;
        let error = machine.check_options(Gic::V3).expect_err("EL1").to_string();
        assert_eq!(error, "--el 1: QEMU's sbsa-ref always has EL2");
        (machine.level, machine.gic) = (Level::El2, Gic::V2);
        let error = machine.check_options(Gic::V3).expect_err("GICv2");
        assert_eq!(
            error.to_string(),
            "--gic 2: QEMU's sbsa-ref always has a GICv3"
        );
    }

    #[test]
    fn how_many_cpus() {
        let workspace = Workspace::find().expect("the repository");
        let board = board::load(&workspace, "qemu").expect("a good board");
        let most = |firmware: Firmware, gic| {
            let accepted = |cpus: &u32| {
                let machine = Machine {
                    recipe: board.qemu.as_ref().expect("a recipe"),
                    cpu: "max",
                    cpus: *cpus,
                    gic,
                    level: Level::El2,
                    firmware,
                    icount: false,
                    fault: None,
                };
                let firmware = board.firmware(firmware.name()).expect("a firmware");
                machine.check_cpus(firmware).is_ok()
            };
            let all: Vec<u32> = (0..600).filter(accepted).collect();
            (all.first().copied(), all.last().copied())
        };
        assert_eq!(most(Firmware::TfA, Gic::V2), (Some(1), Some(8)));
        assert_eq!(most(Firmware::TfA, Gic::V3), (Some(1), Some(32)));
        assert_eq!(most(Firmware::Builtin, Gic::V2), (Some(1), Some(8)));
        assert_eq!(most(Firmware::Builtin, Gic::V3), (Some(1), Some(512)));
    }

    #[test]
    fn models() {
        let said = "Available CPUs:\n  a64fx\n  cortex-a57\n  max (x)\n";
        assert_eq!(parse_models(said), ["a64fx", "cortex-a57", "max"]);
    }
}
