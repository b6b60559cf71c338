//! The contents of a board file, `platforms/BOARD/board.toml`.
//!
//! The file contains everything xtask needs to build a board's device tree, package its firmware
//! and start it in QEMU. Errors for unknown keys, impossible values and contradictions include the
//! file, line and key path.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use hardware::board::{GicVersion, Mpidr, Region};
use hardware::image::Conduit;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::devices::{Frame, GicChoice, Timer, UartEntry, WatchdogEntry};
use super::firmware::{Firmware, yes};
use super::package::Package;
use super::publish::Publish;
use super::version::Version;

/// Memory that the payload must not touch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserved {
    pub name: String,
    pub base: u64,
    pub size: u64,
}

impl Reserved {
    pub fn region(&self) -> Region {
        Region {
            base: self.base,
            size: self.size,
        }
    }
}

/// The PSCI implementation that the board's firmware provides.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Psci {
    /// The instruction that calls the firmware.
    pub conduit: Conduit,
    /// How long a suspend must at least last, in microseconds, for the board's power controller to
    /// finish a power-down, if it is not the payload's default.
    pub shortest_sleep_us: Option<u32>,
}

/// A rule that extends the cluster list on emulated machines.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Continues {
    /// The number of CPUs in each cluster.
    pub cluster: u32,
    /// The number of CPUs after which Aff1 is incremented.
    pub per_aff1: u32,
    /// The total number of CPUs, including those listed.
    pub count: u32,
}

impl Continues {
    pub(super) fn clusters(&self) -> Vec<Vec<Mpidr>> {
        let mpidr = |index: u32| {
            let [aff1, aff0] = [index / self.per_aff1, index % self.per_aff1].map(u64::from);
            Mpidr::new(aff1 << 8 | aff0)
        };
        let all: Vec<Mpidr> = (0..self.count).map(mpidr).collect();
        let clusters = all.chunks(self.cluster as usize);
        clusters.map(<[Mpidr]>::to_vec).collect()
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpus {
    /// The CPUs in each cluster.
    pub clusters: Vec<Vec<Mpidr>>,
    /// The `compatible` strings for the CPUs in each listed cluster. The payload uses them to look
    /// up errata for secondary CPUs.
    pub compatible: Option<Vec<String>>,
    pub continues: Option<Continues>,
}

/// The QEMU options for this board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Qemu {
    /// The `-M` value, without the adjustable properties.
    pub machine: String,
    /// The default `-cpu`.
    pub cpu: String,
    /// The default `-smp`.
    pub cpus: u32,
    /// `-m`, in MiB.
    pub memory_mib: u64,
    /// True if `-M` accepts `secure=`, `virtualization=` and `gic-version=`. Otherwise the machine
    /// always has EL3, EL2 and the board's default GIC.
    #[serde(default = "yes")]
    pub adjustable: bool,
    /// Additional options.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// The first QEMU version that has this machine, if newer than the oldest supported version.
    pub since: Option<Version>,
    /// The start address of the machine's memory, if `memory` lists only part of it.
    pub memory_base: Option<u64>,
    /// The index of the board's UART in the machine's list of serial ports.
    #[serde(default)]
    pub serial: u32,
    /// A clause that explains why CPUs do not come back after CPU_OFF on the emulated machine.
    pub no_cpu_off: Option<String>,
    /// True if the board also exists as hardware, in which case it can have packages.
    #[serde(default)]
    pub has_board: bool,
}

/// How a board file has been verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verified {
    /// The payload has been run on the board itself.
    Hardware,
    /// The payload has been run on an emulated board.
    Emulated,
    /// The payload has been run on a board that gem5 simulates.
    Simulated,
    /// The payload has not been run yet. The file is based on documentation and source code.
    No,
}

/// A complete board file.
///
/// One that [`crate::load`] or [`crate::parse`] returned has passed all checks, one of which reads
/// its device trees as the payload does. That does not prove that the board is as the file says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BoardFile {
    /// The name of the board's folder in `platforms/`.
    pub name: String,
    /// The human-readable name.
    pub title: String,
    /// How this file has been verified.
    pub verified: Option<Verified>,
    /// A remark shown in the board description.
    pub note: Option<String>,
    /// The address at which the firmware loads BL33.
    pub load_address: u64,
    /// The key in `firmware` of the variant that commands use.
    pub default_firmware: String,
    /// Non-secure memory.
    pub memory: Vec<Region>,
    /// Memory ranges that are already in use.
    #[serde(default)]
    pub reserved: Vec<Reserved>,
    /// The UART to which the payload prints, and the emergency UART of an image for this board.
    pub uart: UartEntry,
    /// The PSCI implementation that the board's firmware provides.
    pub psci: Psci,
    /// The per-CPU timer interrupts. Present if and only if the board has a GIC.
    pub timer: Option<Timer>,
    /// The interrupt controller, if it is a GIC.
    pub gic: Option<GicChoice>,
    /// A watchdog that firmware may leave running.
    pub watchdog: Option<WatchdogEntry>,
    /// The CPUs that the board has, which can be more than a firmware supports.
    pub cpus: Cpus,
    /// The firmware variants, by name.
    pub firmware: BTreeMap<String, Firmware>,
    /// The file that the board's loader reads.
    pub package: Option<Package>,
    /// Board details for a TF-A documentation page.
    pub publish: Option<Publish>,
    /// The QEMU options, if QEMU emulates the board.
    pub qemu: Option<Qemu>,
    /// The tables of the tools in `tools/`, by name. Only the tool itself reads its table.
    #[serde(default)]
    tool: BTreeMap<String, toml::Table>,
}

impl BoardFile {
    /// Returns the firmware called `name`.
    pub fn firmware(&self, name: &str) -> Result<&Firmware> {
        self.firmware.get(name).with_context(|| {
            let known: Vec<&str> = self.firmware.keys().map(String::as_str).collect();
            let board = &self.name;
            format!(
                "{board} has no firmware {name:?}; available: {}",
                known.join(", ")
            )
        })
    }

    /// Reads the table `[tool.NAME]`, or returns None if there is none.
    ///
    /// # Errors
    /// Returns an error if the table has unknown or missing keys or impossible values.
    pub fn tool_table<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let table = self.tool.get(name).cloned();
        let read = table.map(T::deserialize).transpose();
        read.with_context(|| format!("platforms/{}/board.toml: [tool.{name}]", self.name))
    }

    /// Returns the default GIC version. The value is meaningless if the board has no GIC.
    pub fn default_gic(&self) -> GicVersion {
        self.gic.as_ref().map_or(GicVersion::V3, |gic| gic.default)
    }

    /// Returns the memory-mapped timer.
    pub fn timer_frame(&self) -> Option<&Frame> {
        self.timer.as_ref()?.frame.as_ref()
    }

    /// Returns an error if a GIC version is requested but the board has no GIC.
    pub fn check_gic(&self, requested: Option<GicVersion>) -> Result<()> {
        match requested {
            Some(gic) if self.gic.is_none() => {
                bail!("--gic {}: {} has no GIC", gic.number(), self.title)
            }
            _ => Ok(()),
        }
    }

    /// Returns the default number of CPUs: QEMU's default if the board has QEMU options, otherwise
    /// the total number of listed CPUs.
    pub fn default_cpus(&self) -> Result<u32> {
        match &self.qemu {
            Some(qemu) => Ok(qemu.cpus),
            None => Ok(u32::try_from(self.cpus.clusters.iter().flatten().count())?),
        }
    }

    /// Returns true if the board exists only as a QEMU machine, which boots TF-A from flash.
    pub fn is_virtual(&self) -> bool {
        self.qemu.as_ref().is_some_and(|qemu| !qemu.has_board)
    }

    /// Returns the start address of the emulated machine's memory.
    pub fn memory_base(&self) -> u64 {
        let emulated = self.qemu.as_ref().and_then(|qemu| qemu.memory_base);
        let first = self.memory.first();
        emulated.unwrap_or(first.map_or(0, |range| range.base))
    }

    /// Returns the largest number of CPUs that any firmware variant supports.
    pub(super) fn most_cpus(&self) -> u32 {
        let limits = self.firmware.values().map(|firmware| firmware.max_cpus);
        limits.max().unwrap_or(1)
    }

    /// Returns the first `count` CPUs, grouped by cluster.
    pub fn clusters(&self, count: u32) -> Result<Vec<Vec<Mpidr>>> {
        let mut clusters = self.all_clusters();
        let cpu_count = clusters.iter().flatten().count();
        let mut remaining = count as usize;
        if count == 0 || remaining > cpu_count {
            bail!("{} supports 1 to {cpu_count} CPUs, not {count}", self.name);
        }
        for cluster in &mut clusters {
            cluster.truncate(remaining);
            remaining -= cluster.len();
        }
        clusters.retain(|cluster| !cluster.is_empty());
        Ok(clusters)
    }

    /// Returns a copy of the board with the cluster size that `firmware` uses.
    pub fn with_clusters_of(&self, firmware: &Firmware) -> Self {
        let mut board = self.clone();
        let size = firmware.stock.as_ref().and_then(|stock| stock.cluster);
        if let (Some(size), Some(rule)) = (size, &mut board.cpus.continues) {
            rule.cluster = size.get();
        }
        board
    }

    /// Returns the `compatible` strings for this cluster's CPUs.
    pub fn cpu_compatible(&self, cluster: usize) -> &str {
        let names = self.cpus.compatible.as_ref();
        let name = names.and_then(|names| names.get(cluster));
        name.map_or("arm,armv8", String::as_str)
    }

    /// Returns all CPUs, grouped by cluster, including those added by the `continues` rule.
    pub fn all_clusters(&self) -> Vec<Vec<Mpidr>> {
        match &self.cpus.continues {
            Some(rule) => rule.clusters(),
            None => self.cpus.clusters.clone(),
        }
    }

    /// Returns how this file has been verified. The default is emulation because a file without
    /// this key has QEMU options, and this project's tests run it under QEMU.
    pub fn verified(&self) -> Verified {
        self.verified.unwrap_or(Verified::Emulated)
    }
}
