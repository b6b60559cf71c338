//! A board as data: `platforms/BOARD/board.toml`.
//!
//! Says in the field's own terms what xtask has to know to make a device tree
//! for a board, to pack its firmware and to start it in QEMU. A key that is
//! not known, a value that cannot be and a contradiction are errors with file
//! and line.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use psci_bench::spec::counter::CounterErratum;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use super::firmware::Firmware;
use super::frame::Frame;
use super::gic::Gic;
use super::lab::Lab;
use super::package::Package;
use super::uart::Uart;
use super::watchdog::Watchdog;
use super::window::Window;

/// Memory that is not to be touched.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reserved {
    /// Whose it is.
    pub name: String,
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
}

impl Reserved {
    /// Where it is.
    #[must_use]
    pub fn window(&self) -> Window {
        let (base, size) = (self.base, self.size);
        Window { base, size }
    }
}

/// The instruction that calls the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Conduit {
    /// Secure Monitor Call.
    Smc,
    /// Hypervisor Call.
    Hvc,
}

/// PSCI, on the board's own firmware.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Psci {
    /// How it is called.
    pub conduit: Conduit,
}

/// INTIDs of the per-CPU timers, all of them PPIs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Timer {
    /// Secure EL1 physical timer.
    pub secure_physical: u32,
    /// Non-secure EL1 physical timer.
    pub physical: u32,
    /// EL1 virtual timer.
    pub r#virtual: u32,
    /// Non-secure EL2 physical timer.
    pub hypervisor: u32,
    /// An erratum of the counter, by its property in a device tree.
    #[serde(default, deserialize_with = "counter_erratum")]
    pub erratum: Option<CounterErratum>,
    /// What wakes a CPU where those stop.
    pub frame: Option<Spanned<Frame>>,
}

/// One of the errata that a device tree can name.
fn counter_erratum<'d, D: Deserializer<'d>>(value: D) -> Result<Option<CounterErratum>, D::Error> {
    let name = String::deserialize(value)?;
    let mut errata = CounterErratum::OF_SOCS.into_iter();
    let found = errata.find(|erratum| erratum.name() == name);
    let names = CounterErratum::OF_SOCS.map(CounterErratum::name).join(", ");
    let unknown = || D::Error::custom(format!("{name:?} is not one of {names}"));
    found.map(Some).ok_or_else(unknown)
}

impl Timer {
    /// In the order of the device tree binding.
    #[must_use]
    pub fn intids(&self) -> [u32; 4] {
        [
            self.secure_physical,
            self.physical,
            self.r#virtual,
            self.hypervisor,
        ]
    }
}

/// A GICv2's frames.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GicV2 {
    /// GICD.
    pub distributor: Window,
    /// GICC.
    pub cpu_interface: Window,
}

/// A GICv3's frames.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GicV3 {
    /// GICD.
    pub distributor: Window,
    /// GICR, in the order in which CPUs have them.
    pub redistributors: Vec<Window>,
}

/// The interrupt controller, or those there are to choose from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Controller {
    /// The version when none is asked for: 2 or 3.
    pub default: Spanned<u32>,
    /// The board with a GICv2.
    pub v2: Option<Spanned<GicV2>>,
    /// The board with a GICv3.
    pub v3: Option<Spanned<GicV3>>,
}

/// A rule that continues the list of clusters, for emulated machines.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Continues {
    /// CPUs in a cluster.
    pub cluster: u32,
    /// CPUs until Aff1 goes up by one.
    pub per_aff1: u32,
    /// CPUs in all, with those listed.
    pub count: u32,
}

/// The CPUs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cpus {
    /// Affinity fields of MPIDR_EL1, a list a cluster.
    pub clusters: Spanned<Vec<Vec<Spanned<u64>>>>,
    /// What the CPUs of each listed cluster are, as in the device tree binding:
    /// by it the payload knows errata of CPUs that it is not booted on.
    pub compatible: Option<Spanned<Vec<String>>>,
    /// How it goes on behind the list.
    pub continues: Option<Spanned<Continues>>,
}

/// How QEMU starts the board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Qemu {
    /// `-M`, without its options.
    pub machine: String,
    /// `-cpu`, unless asked otherwise.
    pub cpu: String,
    /// `-smp`, unless asked otherwise.
    pub cpus: u32,
    /// `-m`, in MiB.
    pub memory_mib: Spanned<u64>,
    /// Whether `-M` takes `secure=`, `virtualization=` and `gic-version=`. A
    /// machine that does not has EL3, EL2 and the board's default GIC.
    #[serde(default = "yes")]
    pub adjustable: bool,
    /// Further arguments.
    #[serde(default)]
    pub arguments: Vec<String>,
}

pub(super) fn yes() -> bool {
    true
}

/// A board.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Board {
    /// The name of its folder.
    pub name: Spanned<String>,
    /// What people call it.
    #[serde(deserialize_with = "super::texts::title")]
    pub title: String,
    /// Where all this was tried; see [`Board::verified`].
    pub verified: Option<Spanned<Verified>>,
    /// What people have to know of the board.
    pub note: Option<Spanned<String>>,
    /// Where the firmware loads BL33.
    pub load_address: Spanned<u64>,
    /// Which of the firmwares is meant when none is named.
    pub default_firmware: Spanned<String>,
    /// Non-secure memory.
    pub memory: Vec<Spanned<Window>>,
    /// What of it is taken.
    #[serde(default)]
    pub reserved: Vec<Spanned<Reserved>>,
    /// The console.
    pub uart: Spanned<Uart>,
    /// PSCI.
    pub psci: Psci,
    /// The per-CPU timers' interrupts, where there is a GIC.
    pub timer: Option<Spanned<Timer>>,
    /// The interrupt controller, where it is a GIC.
    pub gic: Option<Controller>,
    /// A watchdog that is not secure.
    pub watchdog: Option<Spanned<Watchdog>>,
    /// The CPUs.
    pub cpus: Cpus,
    /// The firmwares, by name.
    pub firmware: BTreeMap<String, Firmware>,
    /// What the board's loader takes.
    pub package: Option<Package>,
    /// How a lab starts it.
    pub lab: Option<Lab>,
    /// QEMU's recipe, where it emulates the board.
    pub qemu: Option<Qemu>,
}

impl Board {
    /// The firmware `name`.
    ///
    /// # Errors
    /// When the board has none of that name.
    pub fn firmware(&self, name: &str) -> Result<&Firmware> {
        let known = || self.firmware.keys().cloned().collect::<Vec<_>>().join(", ");
        self.firmware.get(name).with_context(|| {
            format!(
                "{} has no firmware {name:?}; it has: {}",
                self.name.get_ref(),
                known()
            )
        })
    }

    /// The GIC version when none is asked for; of no use where there is none.
    #[must_use]
    pub fn default_gic(&self) -> Gic {
        match self.gic.as_ref().map(|gic| gic.default.get_ref()) {
            Some(2) => Gic::V2,
            _ => Gic::V3,
        }
    }

    /// The memory-mapped timer, where there is one.
    #[must_use]
    pub fn timer_frame(&self) -> Option<&Spanned<Frame>> {
        self.timer.as_ref()?.get_ref().frame.as_ref()
    }

    /// Refuses `asked` where there is no GIC to choose.
    ///
    /// # Errors
    /// When it does.
    pub fn check_gic(&self, asked: Option<Gic>) -> Result<()> {
        match asked {
            Some(gic) if self.gic.is_none() => {
                bail!("--gic {}: {} has no GIC", gic.number(), self.title)
            }
            _ => Ok(()),
        }
    }

    /// How many CPUs there are when no number is asked for: QEMU's recipe's,
    /// else all that are listed.
    ///
    /// # Errors
    /// When there are more than can be counted.
    pub fn default_cpus(&self) -> Result<u32> {
        if let Some(qemu) = &self.qemu {
            return Ok(qemu.cpus);
        }
        let listed = self.cpus.clusters.get_ref();
        Ok(u32::try_from(listed.iter().map(Vec::len).sum::<usize>())?)
    }

    /// The first `count` CPUs, a list a cluster.
    ///
    /// # Errors
    /// When there are not so many.
    pub fn clusters(&self, count: u32) -> Result<Vec<Vec<u64>>> {
        let all = self.all_clusters();
        let have: usize = all.iter().map(Vec::len).sum();
        if count == 0 || count as usize > have {
            bail!(
                "{} has 1 to {have} CPUs, and not {count}",
                self.name.get_ref()
            );
        }
        let mut left = count as usize;
        let mut clusters = Vec::new();
        for mut cluster in all {
            cluster.truncate(left);
            left -= cluster.len();
            if !cluster.is_empty() {
                clusters.push(cluster);
            }
        }
        Ok(clusters)
    }

    /// Returns the board with the clusters that `firmware` has.
    #[must_use]
    pub fn with_clusters_of(&self, firmware: &Firmware) -> Self {
        let mut board = self.clone();
        let own = firmware.stock.as_ref().and_then(|stock| stock.cluster);
        if let (Some(own), Some(rule)) = (own, &mut board.cpus.continues) {
            rule.as_mut().cluster = own.get();
        }
        board
    }

    /// `compatible` of the CPUs of this cluster.
    #[must_use]
    pub fn cpu_compatible(&self, cluster: usize) -> &str {
        let listed = self.cpus.compatible.as_ref();
        let own = listed.and_then(|listed| listed.get_ref().get(cluster));
        own.map_or("arm,armv8", String::as_str)
    }

    /// All CPUs, listed or by rule, a list a cluster.
    #[must_use]
    pub fn all_clusters(&self) -> Vec<Vec<u64>> {
        if let Some(rule) = &self.cpus.continues {
            return rule.get_ref().clusters();
        }
        let listed = self.cpus.clusters.get_ref();
        listed
            .iter()
            .map(|cluster| cluster.iter().map(|mpidr| *mpidr.get_ref()).collect())
            .collect()
    }
}

impl Continues {
    pub(super) fn clusters(&self) -> Vec<Vec<u64>> {
        let mpidr = |n: u32| u64::from(n / self.per_aff1) << 8 | u64::from(n % self.per_aff1);
        let all: Vec<u64> = (0..self.count).map(mpidr).collect();
        all.chunks(self.cluster as usize)
            .map(<[u64]>::to_vec)
            .collect()
    }
}

/// Where the payload was run with a board file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verified {
    /// On the board itself.
    Hardware,
    /// On an emulated board.
    Emulated,
    /// Nowhere: the file was put together by reading.
    No,
}

impl Board {
    /// Where the payload was run with this file. Where it does not say, it has
    /// a recipe for QEMU, by which this project's tests run it.
    #[must_use]
    pub fn verified(&self) -> Verified {
        match &self.verified {
            Some(verified) => *verified.get_ref(),
            None => Verified::Emulated,
        }
    }
}
