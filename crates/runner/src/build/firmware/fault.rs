//! The faults in the overlay platform, which test how the payload reacts when real firmware
//! misbehaves.
//!
//! The firmware reads its fault from the QEMU command line and rejects one that it cannot parse.
//! The run would then continue until it times out, so an invalid fault is rejected here first.

use std::sync::LazyLock;

use itertools::Itertools as _;
use regex::Regex;
use thiserror::Error;

/// The name under which QEMU passes the specification to the firmware.
pub const FILE: &str = "opt/psci-bench/fault";

/// The firmware's list of faults, a header file in which only fault names are quoted.
const LIST: &str = include_str!(
    "../../../../../platforms/qemu/tf-a/plat/psci_bench_qemu/include/psci_bench_fault_list.h"
);

/// The syntax of the conditions that follow the fault name. The CPU is hexadecimal, with or without
/// a prefix.
static CONDITIONS: LazyLock<Regex> = LazyLock::new(|| {
    let keys = r"cpu=(0[xX])?[0-9a-fA-F]{1,16}|(skip|count|arg|function)=([0-9]{1,19}|0[xX][0-9a-fA-F]{1,16})";
    Regex::new(&format!("^(,({keys}))*$")).expect("an expression that a test compiles")
});

/// The maximum length of a specification that the firmware accepts.
const LENGTH_MAX: usize = 127;

fn faults() -> impl Iterator<Item = &'static str> {
    LIST.split('"').skip(1).step_by(2)
}

/// A specification that the firmware would reject.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FaultError {
    /// There is no fault with this name.
    #[error("unknown fault {0:?}; the faults are {known}", known = faults().join(", "))]
    Unknown(String),
    /// The conditions for the fault with this name are invalid.
    #[error(
        "{0:?} takes cpu=MPIDR, skip=N, count=N, arg=N and function=N, each at most once, separated \
         by commas; count must not be 0"
    )]
    Conditions(String),
}

/// Checks and returns `NAME[,cpu=MPIDR][,skip=N][,count=N][,arg=N][,function=N]`.
///
/// # Errors
/// Returns an error if the firmware would reject the specification.
pub fn check_fault(spec: &str) -> Result<String, FaultError> {
    let (name, conditions) = spec.split_at(spec.find(',').unwrap_or(spec.len()));
    if !faults().any(|fault| fault == name) {
        return Err(FaultError::Unknown(name.to_owned()));
    }
    let mut keys = conditions.split(',').map(|word| word.split('=').next());
    let is_good = CONDITIONS.is_match(conditions) && keys.all_unique();
    if !is_good || conditions.split(',').contains(&"count=0") || spec.len() > LENGTH_MAX {
        return Err(FaultError::Conditions(name.to_owned()));
    }
    Ok(spec.to_owned())
}

/// Returns the MPIDR of the CPU to which the fault in a checked specification is limited.
pub fn fault_cpu(spec: &str) -> Option<u64> {
    let number = spec.split(',').find_map(|word| word.strip_prefix("cpu="))?;
    let digits = number.strip_prefix("0x").or(number.strip_prefix("0X"));
    u64::from_str_radix(digits.unwrap_or(number), 16).ok()
}

/// Returns the value for the QEMU `-fw_cfg` option that arms `spec`, with each comma doubled.
pub fn argument(spec: &str) -> String {
    format!("name={FILE},string={}", spec.replace(',', ",,"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::setup::workspace::Workspace;

    #[test]
    fn every_fault_is_explained() {
        let workspace = Workspace::find().expect("the repository");
        let path = workspace.board("qemu").join("tf-a/README.md");
        let readme = fs::read_to_string(path).expect("readable");
        assert!(faults().count() > 40);
        for fault in faults() {
            assert!(readme.contains(&format!("| `{fault}` |")), "{fault}");
        }
    }

    #[test]
    fn the_cpu_of_a_fault_is_hexadecimal() {
        for (spec, cpu) in [
            ("smc-hang,arg=0x0f,cpu=1f,skip=2", Some(0x1f)),
            ("cpu-on-denied,cpu=0x103", Some(0x103)),
            ("cpu-on-denied,cpu=0", Some(0)),
            ("cpu-on-denied", None),
        ] {
            assert_eq!(fault_cpu(spec), cpu, "{spec}");
        }
    }

    #[test]
    fn specifications_are_checked_before_a_run() {
        for good in [
            "cpu-on-denied",
            "smc-hang,arg=0x0f,cpu=1f,skip=2,count=1",
            "stall,function=0,arg=200",
        ] {
            assert_eq!(check_fault(good), Ok(good.to_owned()));
        }
        let error = check_fault("cpu-on-Denied")
            .expect_err("unknown")
            .to_string();
        assert!(error.contains("unknown fault") && error.contains("interrupt-storm"));
        for bad in [
            "",
            "cpus=1",
            "cpu=",
            "skip=ff",
            "skip=+1",
            "skip=1,skip=2",
            "count=0",
        ] {
            let error = check_fault(&format!("cpu-on-denied,{bad}"))
                .expect_err(bad)
                .to_string();
            assert!(error.contains("takes cpu=MPIDR"), "{bad}: {error}");
        }
    }
}
