//! TF-A, built with the overlay platform of `platforms/BOARD/tf-a`.
//!
//! A build is kept under a hash of all that went into it: the overlay's
//! files, the variant, TF-A's source, the compiler and the arguments. TF-A's
//! own tree is not written to.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::thread;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use super::fip::Fip;
use crate::board::Stock;
use crate::build::tf_a::{self, TfA};
use crate::setup;
use crate::setup::process::{self, quietly};
use crate::setup::progress::Progress;
use crate::setup::source_package::hex;
use crate::setup::workspace::{Workspace, once};

/// Version of the interrupt controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gic {
    /// GICv2.
    V2,
    /// GICv3.
    V3,
}

impl Gic {
    /// 2 or 3.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::V2 => 2,
            Self::V3 => 3,
        }
    }
}

impl FromStr for Gic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "2" => Ok(Self::V2),
            "3" => Ok(Self::V3),
            other => Err(format!("{other:?} is not a GIC version: use 2 or 3")),
        }
    }
}

/// How the firmware keeps caches coherent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coherency {
    /// The hardware does (HW_ASSISTED_COHERENCY=1).
    #[default]
    Hardware,
    /// The firmware does, as on Juno.
    Software,
}

/// How the firmware answers for PMF's time stamps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pmf {
    /// At the vendor-specific EL3 function IDs.
    #[default]
    New,
    /// At the older SiP function IDs.
    Sip,
    /// Not at all.
    Off,
}

/// The layout of CPU_SUSPEND's power_state that the firmware takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StateId {
    /// The original format.
    #[default]
    Original,
    /// The extended format.
    Extended,
}

/// The key of [`Variant::os_initiated`].
const OSI: &str = "osi";

/// A variant of the overlay platform. `Display` and `FromStr` have the form
/// `coherency=hw,gic-reset=0,pmf=new,state-id=original,timer-stop=0,faults=0,osi=0`;
/// what is left out is as here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// `coherency=hw|sw`.
    pub coherency: Coherency,
    /// `gic-reset=0|1`: the GIC's local enables are lost on power-down.
    pub gic_reset: bool,
    /// `pmf=new|sip|off`.
    pub pmf: Pmf,
    /// `state-id=original|extended`.
    pub state_id: StateId,
    /// `timer-stop=0|1`: a CPU's own timers stop in a power-down.
    pub timer_stop: bool,
    /// `faults=0|1`: it can be told to have a fault ([`super::fault`]).
    pub faults: bool,
    /// `osi=0|1`: CPU_SUSPEND's OS-initiated mode (TF-A's PSCI_OS_INIT_MODE).
    pub os_initiated: bool,
}

impl Variant {
    /// The value of each key, in the order of the fields.
    fn values(self) -> [(&'static str, &'static str); 7] {
        [
            (
                "coherency",
                match self.coherency {
                    Coherency::Hardware => "hw",
                    Coherency::Software => "sw",
                },
            ),
            ("gic-reset", if self.gic_reset { "1" } else { "0" }),
            (
                "pmf",
                match self.pmf {
                    Pmf::New => "new",
                    Pmf::Sip => "sip",
                    Pmf::Off => "off",
                },
            ),
            (
                "state-id",
                match self.state_id {
                    StateId::Original => "original",
                    StateId::Extended => "extended",
                },
            ),
            ("timer-stop", if self.timer_stop { "1" } else { "0" }),
            ("faults", if self.faults { "1" } else { "0" }),
            (OSI, if self.os_initiated { "1" } else { "0" }),
        ]
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.values().map(|(key, value)| format!("{key}={value}"));
        f.write_str(&words.join(","))
    }
}

impl FromStr for Variant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut variant = Self::default();
        for word in text.split(',').filter(|word| !word.is_empty()) {
            match word {
                "coherency=hw" => variant.coherency = Coherency::Hardware,
                "coherency=sw" => variant.coherency = Coherency::Software,
                "gic-reset=0" => variant.gic_reset = false,
                "gic-reset=1" => variant.gic_reset = true,
                "pmf=new" => variant.pmf = Pmf::New,
                "pmf=sip" => variant.pmf = Pmf::Sip,
                "pmf=off" => variant.pmf = Pmf::Off,
                "state-id=original" => variant.state_id = StateId::Original,
                "state-id=extended" => variant.state_id = StateId::Extended,
                "timer-stop=0" => variant.timer_stop = false,
                "timer-stop=1" => variant.timer_stop = true,
                "faults=0" => variant.faults = false,
                "faults=1" => variant.faults = true,
                "osi=0" => variant.os_initiated = false,
                "osi=1" => variant.os_initiated = true,
                other => {
                    return Err(format!(
                        "{other:?} is no variant: use coherency=hw|sw, gic-reset=0|1, \
                         pmf=new|sip|off, state-id=original|extended, timer-stop=0|1, \
                         faults=0|1, osi=0|1, with commas between"
                    ));
                }
            }
        }
        Ok(variant)
    }
}

/// What BL33 is handed, where that is not only the number of its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handoff {
    /// What a Linux kernel is: the device tree's address in X0.
    Kernel,
    /// A transfer list, as the Firmware Handoff specification has it.
    TransferList,
}

/// What is built from it: a platform, its makefile variables and, when it is
/// not one of TF-A's own, where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// `PLAT`.
    pub name: String,
    /// The directory that stands for TF-A's `plat/` beside it.
    pub root: Option<PathBuf>,
    /// Further `NAME=value` arguments of make.
    pub variables: Vec<String>,
    /// Whether TF-A's build makes a FIP, too.
    pub fip: Option<FipBuild>,
}

/// A FIP that TF-A's build makes, with a stand-in for BL33.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FipBuild {
    /// Without certificates.
    Plain,
    /// With certificates, which BL1 and BL2 check (TRUSTED_BOARD_BOOT).
    Trusted,
}

/// The file of the key of the non-trusted firmware, beside a trusted FIP.
pub const NT_FW_KEY: &str = "nt_fw_key.pem";

impl Platform {
    /// The overlay platform of the board `board`.
    #[must_use]
    pub fn overlay(workspace: &Workspace, board: &str, gic: Gic, variant: Variant) -> Self {
        let mut variables = vec![format!("PB_GIC={}", gic.number())];
        for (key, value) in variant.values() {
            if key == OSI {
                // TF-A's own, and no option of the overlay's.
                if variant.os_initiated {
                    variables.push("PSCI_OS_INIT_MODE=1".into());
                }
                continue;
            }
            let key = key.to_uppercase().replace('-', "_");
            variables.push(format!("PB_{key}={value}"));
        }
        Self {
            name: format!("psci_bench_{board}"),
            root: Some(workspace.board(board).join("tf-a").join("plat")),
            variables,
            fip: None,
        }
    }

    /// The same platform, which hands BL33 something else.
    #[must_use]
    pub fn handing_over(mut self, what: Handoff) -> Self {
        self.variables.push(match what {
            Handoff::Kernel => "ARM_LINUX_KERNEL_AS_BL33=1".into(),
            Handoff::TransferList => "TRANSFER_LIST=1".into(),
        });
        self
    }

    /// A platform of TF-A's own, as it is, for `gic`. `load_address` is the
    /// board's.
    #[must_use]
    pub fn stock(stock: &Stock, load_address: u64, gic: Gic) -> Self {
        let gic = gic.number().to_string();
        let variables = stock.variables.iter();
        let variables = variables.map(|variable| variable.replace("{gic}", &gic));
        let preloaded = stock
            .preloaded
            .then(|| format!("PRELOADED_BL33_BASE={load_address:#x}"));
        Self {
            name: stock.platform.clone(),
            root: None,
            variables: variables.chain(preloaded).collect(),
            fip: None,
        }
    }
}

/// A finished build.
#[derive(Clone, Debug)]
pub struct Firmware {
    /// Where `bl1.bin`, `bl2.bin`, `bl31.bin` and their ELF files are, and
    /// `fip.bin` if it was asked for.
    pub dir: PathBuf,
}

/// The boot stages that are built.
const STAGES: [&str; 3] = ["bl1", "bl2", "bl31"];

impl Firmware {
    /// The file of one of the stages.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, stage: &str) -> Result<Vec<u8>> {
        let path = self.dir.join(stage).with_extension("bin");
        fs::read(&path).with_context(|| path.display().to_string())
    }
}

/// Builds `platform` with `tf_a`, unless that has been done before.
///
/// # Errors
/// When the compiler is missing and cannot be installed, or the build fails.
pub fn build(workspace: &Workspace, tf_a: &TfA, platform: &Platform) -> Result<Firmware> {
    setup::ensure(workspace, &setup::FIRMWARE)?;
    let fip = platform.fip.map(|fip| Fip::prepare(workspace, fip));
    let fip = fip.transpose()?;
    let key = key(tf_a, platform, fip.as_ref())?;
    let name = format!("{}-{}", platform.name, key.get(..16).unwrap_or(&key));
    let dir = workspace.state().join("firmware").join(name);
    once(&dir, |partial| {
        make(workspace, tf_a, platform, fip.as_ref(), partial)
    })?;
    Ok(Firmware { dir })
}

/// The arguments that do not depend on where things are.
fn arguments(tf_a: &TfA, platform: &Platform) -> Vec<String> {
    let mut arguments = vec![
        format!("PLAT={}", platform.name),
        "CROSS_COMPILE=aarch64-linux-gnu-".into(),
        "DEBUG=0".into(),
        // Neither the time nor the repository round it may get into it.
        "BUILD_MESSAGE_TIMESTAMP=\"reproducible\"".into(),
        format!("BUILD_STRING=psci-bench-{}", tf_a.version),
    ];
    arguments.extend(platform.variables.iter().cloned());
    arguments
}

fn key(tf_a: &TfA, platform: &Platform, fip: Option<&Fip>) -> Result<String> {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    part(&tf_a.identity);
    for argument in arguments(tf_a, platform) {
        part(&argument);
    }
    if let Some(fip) = fip {
        part(&fip.identity);
    }
    for program in ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-ld"] {
        let said = process::output(process::clean(program).arg("--version"))?;
        part(said.lines().next().unwrap_or_default());
    }
    if let Some(root) = &platform.root {
        tf_a::add(root, root, &mut hash).context("cannot read the overlay platform")?;
    }
    Ok(hex(&hash.finalize()))
}

fn make(
    workspace: &Workspace,
    tf_a: &TfA,
    platform: &Platform,
    fip: Option<&Fip>,
    place: &Path,
) -> Result<()> {
    let scratch = tempfile::tempdir_in(workspace.state())?;
    let overlay = platform.root.as_deref().unwrap_or(scratch.path());
    for path in [&tf_a.dir, overlay, scratch.path()] {
        if path.to_string_lossy().contains(char::is_whitespace) {
            bail!(
                "{}: make cannot build in a directory with a space in its name",
                path.display()
            );
        }
    }
    let mut what = format!("building TF-A {} for {}", tf_a.version, platform.name);
    if !platform.variables.is_empty() {
        what = format!("{what} ({})", platform.variables.join(" "));
    }
    let progress = Progress::start(&what);
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let mut command: Command = process::clean("make");
    command.arg("-C").arg(&tf_a.dir).arg(format!("-j{jobs}"));
    command.args(arguments(tf_a, platform));
    if let Some(root) = &platform.root {
        // TF-A joins this and the platform's name without a slash.
        command.arg(format!("TF_PLATFORM_ROOT={}/", root.display()));
    }
    command.arg(format!("BUILD_BASE={}", scratch.path().display()));
    command.args(STAGES);
    if let Some(fip) = fip {
        command.args(fip.arguments(scratch.path(), place)?);
    }
    let log = place.with_extension("log");
    quietly(&mut command, &log, &progress, watch)
        .with_context(|| format!("TF-A did not build; all it said is in {}", log.display()))?;
    let built = scratch.path().join(&platform.name).join("release");
    for stage in STAGES {
        for (from, to) in [
            (format!("{stage}.bin"), format!("{stage}.bin")),
            (format!("{stage}/{stage}.elf"), format!("{stage}.elf")),
        ] {
            let from = built.join(from);
            if fs::copy(&from, place.join(to)).is_err() {
                bail!("TF-A's build made no {}", from.display());
            }
        }
    }
    if fip.is_some() {
        let from = built.join("fip.bin");
        fs::copy(&from, place.join("fip.bin")).with_context(|| from.display().to_string())?;
    }
    Ok(())
}

/// make's lines: `  CC      lib/psci/psci_main.c`.
fn watch(line: &str, progress: &Progress) -> bool {
    let mut words = line.split_whitespace();
    if let (Some(_), Some(file), None) = (words.next(), words.next(), words.next()) {
        progress.detail(file);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_comes_back() {
        let text = "coherency=sw,gic-reset=1,pmf=sip,state-id=extended,timer-stop=1,faults=1,osi=1";
        let variant: Variant = text.parse().expect("known words");
        assert_eq!(variant.to_string(), text);
        assert_eq!("".parse(), Ok(Variant::default()));
        let off = "pmf=off".parse::<Variant>().expect("a known word");
        assert_eq!(
            off.to_string(),
            "coherency=hw,gic-reset=0,pmf=off,state-id=original,timer-stop=0,faults=0,osi=0"
        );
        let error = "pmf=none".parse::<Variant>().expect_err("unknown");
        assert!(
            error.contains("\"pmf=none\"") && error.contains("pmf=new|sip|off"),
            "{error}"
        );
    }

    #[test]
    fn makefile_variables() {
        let workspace = Workspace::find().expect("the repository");
        let variant = "coherency=sw,gic-reset=1".parse().expect("known words");
        let platform = Platform::overlay(&workspace, "qemu", Gic::V2, variant);
        assert_eq!(
            platform.variables,
            [
                "PB_GIC=2",
                "PB_COHERENCY=sw",
                "PB_GIC_RESET=1",
                "PB_PMF=new",
                "PB_STATE_ID=original",
                "PB_TIMER_STOP=0",
                "PB_FAULTS=0"
            ]
        );
        let osi = "osi=1".parse().expect("a known word");
        let platform = Platform::overlay(&workspace, "qemu", Gic::V2, osi);
        let last = platform.variables.last().map(String::as_str);
        assert_eq!(last, Some("PSCI_OS_INIT_MODE=1"));
    }
}
