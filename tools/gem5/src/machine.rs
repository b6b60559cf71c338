//! The machine, as arguments of its configuration `machine.py`.

use std::ffi::OsString;
use std::path::Path;

use clap::{Args, ValueEnum};
use thiserror::Error;

use super::clusters::Clusters;
use super::installation::Gem5;

/// The configuration, which gem5 executes.
pub(crate) const CONFIGURATION: &str = include_str!("machine.py");

/// A CPU model of gem5. `Atomic` executes one instruction a cycle and has no caches. The others have
/// caches and a pipeline that executes in order, `Hpi` with the latencies of a small Arm core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CpuModel {
    Atomic,
    Minor,
    Hpi,
}

/// The simulated machine.
#[derive(Clone, Debug, Args)]
pub(crate) struct MachineArguments {
    /// CPU model.
    #[arg(long, value_enum, value_name = "MODEL", default_value_t = CpuModel::Hpi)]
    pub(crate) cpu: CpuModel,
    /// CPUs in each of one or two clusters.
    #[arg(long, value_name = "N,N", default_value = "4,4")]
    pub(crate) clusters: Clusters,
    /// CPU clock.
    #[arg(long, value_name = "HZ", default_value = "1GHz", value_parser = quantity)]
    pub(crate) clock: String,
    /// Size of each CPU's L1 data cache and of its L1 instruction cache.
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = quantity)]
    pub(crate) l1: String,
    /// Size of each cluster's L2 cache.
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = quantity)]
    pub(crate) l2: String,
    /// Latency of the memory.
    #[arg(long, value_name = "TIME", default_value = "80ns", value_parser = quantity)]
    pub(crate) memory_latency: String,
}

impl MachineArguments {
    /// Returns the arguments of `machine.py`, for a machine that boots the files in `folder`.
    pub(crate) fn words(&self, gem5: &Gem5, folder: &Path) -> Vec<OsString> {
        let path = |name: &str| folder.join(name).into_os_string();
        let cpu = self.cpu.to_possible_value().expect("no model is hidden");
        let options: [(&str, OsString); 9] = [
            ("--gem5", gem5.folder.clone().into_os_string()),
            ("--cpu", cpu.get_name().into()),
            ("--clusters", self.clusters.to_string().into()),
            ("--clock", self.clock.clone().into()),
            ("--l1", self.l1.clone().into()),
            ("--l2", self.l2.clone().into()),
            ("--memory-latency", self.memory_latency.clone().into()),
            ("--bl1", path("bl1.bin")),
            ("--fip", path("fip.bin")),
        ];
        let words = options
            .into_iter()
            .map(|(option, value)| [option.into(), value]);
        words.flatten().collect()
    }
}

/// Text that is not a number with a unit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected a number and a unit, such as 1GHz, 32KiB or 80ns")]
struct QuantityError;

/// Accepts a number with a unit, such as 1GHz; gem5 knows which units there are.
fn quantity(text: &str) -> Result<String, QuantityError> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let unit = text.trim_start_matches(is_number);
    let has_both = unit.len() < text.len() && !unit.is_empty();
    let is_good = has_both && unit.chars().all(|c| c.is_ascii_alphabetic());
    is_good.then(|| text.to_owned()).ok_or(QuantityError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_a_number_and_a_unit() {
        for good in ["1GHz", "1.5GHz", "32KiB", "80ns"] {
            assert_eq!(quantity(good).as_deref(), Ok(good));
        }
        for bad in ["", "32", "KiB", "32 KiB", "32K;", "-1ns"] {
            assert!(quantity(bad).is_err(), "{bad}");
        }
    }
}
