//! Faults that TF-A with the overlay platform can be told to have, so that the
//! payload's answer to them can be tested on a firmware that is otherwise real.
//!
//! The firmware reads its fault from QEMU's command line and refuses what it
//! does not understand. That costs a run until its time is up: what can be
//! refused before is refused here.

/// The file under which QEMU hands the specification to the firmware.
pub const FILE: &str = "opt/psci-bench/fault";

/// The faults, in the order of the firmware's own list
/// (`include/psci_bench_fault_list.h` of the overlay platform).
pub const FAULTS: [&str; 42] = [
    "cpu-on-internal-failure",
    "cpu-on-denied",
    "cpu-on-already-on",
    "cpu-on-pending",
    "cpu-on-invalid-address",
    "cpu-on-lost",
    "cpu-on-late",
    "cpu-on-wrong-context",
    "cpu-off-denied",
    "cpu-off-returns-success",
    "affinity-never-off",
    "affinity-error",
    "suspend-invalid-parameters",
    "suspend-denied",
    "suspend-internal-failure",
    "suspend-not-supported",
    "suspend-abandoned-2.12",
    "suspend-abandoned-2.13",
    "suspend-early",
    "suspend-never",
    "suspend-late",
    "suspend-wrong-context",
    "suspend-shallow",
    "suspend-bad-return",
    "gic-enables-lost",
    "spurious-sgi",
    "smc-hang",
    "pmf-absent",
    "pmf-sip-only",
    "pmf-fid-left",
    "pmf-bad-tid",
    "pmf-fails-later",
    "pmf-stale",
    "pmf-disorder",
    "pmf-before-call",
    "pmf-future",
    "pmf-counter-stopped",
    "pmf-zero",
    "cntfrq",
    "serror",
    "e2h-set",
    "interrupt-storm",
];

/// The keys of a specification, and whether their numbers are hexadecimal
/// without being marked so.
const KEYS: [(&str, bool); 4] = [
    ("cpu", true),
    ("skip", false),
    ("count", false),
    ("arg", false),
];

/// The longest specification that the firmware takes.
const LENGTH_MAX: usize = 127;

/// Checks `NAME[,cpu=MPIDR][,skip=N][,count=N][,arg=N]`, and gives it back.
///
/// # Errors
/// What is not good about it, with what would be.
pub fn check(spec: &str) -> Result<String, String> {
    let mut words = spec.split(',');
    let name = words.next().unwrap_or_default();
    if !FAULTS.contains(&name) {
        return Err(format!(
            "there is no fault {name:?}; there are {}",
            FAULTS.join(", ")
        ));
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

/// The value of QEMU's `-fw_cfg` that arms `spec`: there a comma is doubled.
#[must_use]
pub fn argument(spec: &str) -> String {
    format!("name={FILE},string={}", spec.replace(',', ",,"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::workspace::Workspace;
    use std::fs;

    #[test]
    fn the_firmware_has_the_same_list() {
        let workspace = Workspace::find().expect("the repository");
        let list = "tf-a/plat/psci_bench_qemu/include/psci_bench_fault_list.h";
        let list = fs::read_to_string(workspace.board("qemu").join(list)).expect("readable");
        let words: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
        assert_eq!(words, FAULTS);
    }

    #[test]
    fn every_fault_is_explained() {
        let workspace = Workspace::find().expect("the repository");
        let readme = workspace.board("qemu").join("tf-a/README.md");
        let readme = fs::read_to_string(readme).expect("readable");
        for fault in FAULTS {
            assert!(readme.contains(&format!("| `{fault}` |")), "{fault}");
        }
    }

    #[test]
    fn specifications() {
        for good in [
            "cpu-on-denied",
            "cpu-on-late,cpu=0x103,skip=2,count=1,arg=500",
            "smc-hang,arg=0x0f,cpu=1f",
        ] {
            assert_eq!(check(good), Ok(good.to_owned()));
        }
        for (bad, what) in [
            (
                "",
                "there is no fault \"\"; there are cpu-on-internal-failure, ",
            ),
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
            assert!(error.contains(what), "{bad}: {error}");
        }
    }

    #[test]
    fn a_comma_is_doubled() {
        assert_eq!(
            argument("cpu-on-late,cpu=0x3"),
            "name=opt/psci-bench/fault,string=cpu-on-late,,cpu=0x3"
        );
    }
}
