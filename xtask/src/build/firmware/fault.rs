//! The faults of the overlay platform, by which the payload's answer to them can be tested on
//! a firmware that is otherwise real.
//!
//! The firmware reads its fault from QEMU's command line and refuses one that it does not
//! understand. That costs a run until its time is up, so it is refused here before.

/// The file under which QEMU hands the specification to the firmware.
pub const FILE: &str = "opt/psci-bench/fault";

/// The firmware's own list, in which only the faults are in quotes.
const LIST: &str = include_str!(
    "../../../../platforms/qemu/tf-a/plat/psci_bench_qemu/include/psci_bench_fault_list.h"
);

/// The keys of a specification; the bool is true for a hexadecimal number without a prefix.
const KEYS: [(&str, bool); 4] = [
    ("cpu", true),
    ("skip", false),
    ("count", false),
    ("arg", false),
];

/// The longest specification that the firmware takes.
const LENGTH_MAX: usize = 127;

fn faults() -> impl Iterator<Item = &'static str> {
    LIST.split('"').skip(1).step_by(2)
}

/// Checks `NAME[,cpu=MPIDR][,skip=N][,count=N][,arg=N]`, and returns it.
pub fn check(spec: &str) -> Result<String, String> {
    let mut words = spec.split(',');
    let name = words.next().unwrap_or_default();
    if !faults().any(|fault| fault == name) {
        let known = faults().collect::<Vec<_>>().join(", ");
        return Err(format!("there is no fault {name:?}; there are {known}"));
    }
    let mut seen = Vec::new();
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let Some((key, hexadecimal)) = KEYS.iter().find(|known| known.0 == key) else {
            return Err(format!(
                "{word:?} says nothing about a fault: use cpu=MPIDR, skip=N, count=N, arg=N"
            ));
        };
        if seen.contains(key) {
            return Err(format!("{key}= is given twice"));
        }
        seen.push(*key);
        let (digits, radix) = match value.strip_prefix("0x").or(value.strip_prefix("0X")) {
            Some(digits) => (digits, 16),
            None => (value, if *hexadecimal { 16 } else { 10 }),
        };
        // from_str_radix takes a sign.
        let good = digits.chars().all(|digit| digit.is_digit(radix));
        match u64::from_str_radix(digits, radix) {
            Ok(0) if *key == "count" => return Err("count=0 would never strike".into()),
            Ok(_) if good => {}
            _ => return Err(format!("{word:?}: {value:?} is no number")),
        }
    }
    if spec.len() > LENGTH_MAX {
        return Err(format!("longer than {LENGTH_MAX} characters"));
    }
    Ok(spec.to_owned())
}

/// Returns the value of QEMU's `-fw_cfg` that arms `spec`: a comma is doubled there.
pub fn argument(spec: &str) -> String {
    format!("name={FILE},string={}", spec.replace(',', ",,"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::workspace::Workspace;
    use std::fs;

    #[test]
    fn every_fault_is_explained() {
        let workspace = Workspace::find().expect("the repository");
        let readme = workspace.board("qemu").join("tf-a/README.md");
        let readme = fs::read_to_string(readme).expect("readable");
        assert_eq!(faults().count(), 42);
        for fault in faults() {
            assert!(readme.contains(&format!("| `{fault}` |")), "{fault}");
        }
    }

    #[test]
    fn specifications_are_checked_before_a_run() {
        for good in [
            "cpu-on-denied",
            "cpu-on-late,cpu=0x103,skip=2,count=1,arg=500",
            "smc-hang,arg=0x0f,cpu=1f",
        ] {
            assert_eq!(check(good), Ok(good.to_owned()));
        }
        for (bad, expected) in [
            ("", "there is no fault \"\"; there are cpu-on-internal-"),
            ("cpu-on-Denied", "interrupt-storm"),
            ("cpu-on-denied,", "says nothing about a fault"),
            ("cpu-on-denied,cpus=1", "use cpu=MPIDR"),
            ("cpu-on-denied,cpu=", "is no number"),
            ("cpu-on-denied,skip=ff", "is no number"),
            ("cpu-on-denied,skip=+1", "is no number"),
            ("cpu-on-denied,skip=1,skip=2", "skip= is given twice"),
            ("cpu-on-denied,count=0", "never strike"),
        ] {
            let error = check(bad).expect_err(bad);
            assert!(error.contains(expected), "{bad}: {error}");
        }
    }
}
