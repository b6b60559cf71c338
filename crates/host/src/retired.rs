//! The verbs, formats and kinds of firmware of earlier versions, and what to use instead.

use anyhow::{Result, bail};

/// The verbs.
const VERBS: &[(&str, &str)] = &[
    ("fuzz", "`cargo fuzz run TARGET`, see fuzz/README.md"),
    (
        "matrix",
        "`history RUN…`, which takes runs of several boards",
    ),
    (
        "merge",
        "`report LOG…`, which prints the tables of all runs",
    ),
    (
        "overhead",
        "`compare PLAIN PMF`, which shows the cost of PMF if only the second run's firmware has it",
    ),
    (
        "qemu-overhead",
        "`qemu --variant pmf=off --log plain.log`, `qemu --log pmf.log` and `compare plain.log \
         pmf.log`",
    ),
    ("release", "`.ci/release`, a script"),
    ("soak", "`qemu --repeat N --keep DIR`"),
];
/// The verbs that belong to another program now: the verb, the program, and its folder.
const MOVED_VERBS: &[(&str, &str, &str)] = &[
    ("audit", "psci-tf-a-pages", "tools/tf-a-pages"),
    ("audit-idle", "psci-idle-audit", "tools/idle-audit"),
    ("publish", "psci-tf-a-pages", "tools/tf-a-pages"),
];
/// The verb that has formats for idle states.
const IDLE_AUDIT: &str = "`audit-idle` of psci-idle-audit (tools/idle-audit in the repository)";
/// The formats.
const FORMATS: &[(&str, &str)] = &[
    ("bug", "--format md"),
    ("dt", IDLE_AUDIT),
    ("dts", IDLE_AUDIT),
    ("patch", IDLE_AUDIT),
    ("perfetto", "--format html, which has a timeline"),
];

/// The kinds of firmware of `cargo xtask qemu`.
const FIRMWARE: &[(&str, &str)] = &[
    ("kvm", "`cargo xtask guest run` (tools/guest)"),
    ("efi", "`cargo xtask efi run` (tools/efi)"),
    (
        "efi-acpi",
        "`cargo xtask efi run --by edk2-acpi` (tools/efi)",
    ),
    ("u-boot", "`cargo xtask efi run --by u-boot` (tools/efi)"),
];

/// Checks a verb that the program does not have.
///
/// # Errors
/// Returns an error that names the successor if the verb no longer exists, or the program that has
/// it now.
pub fn check_verb(verb: &str) -> Result<()> {
    if let Some(successor) = successor(VERBS, verb) {
        bail!("{verb} no longer exists; use {successor}");
    }
    if let Some((_, program, folder)) = MOVED_VERBS.iter().find(|(moved, ..)| *moved == verb) {
        bail!("{verb} is a verb of {program} ({folder} in the repository)");
    }
    Ok(())
}

/// Returns what to use instead of a format that no longer exists.
pub fn format_successor(format: &str) -> Option<&'static str> {
    successor(FORMATS, format)
}

/// Returns what to use instead of a kind of firmware that no longer exists.
pub fn firmware_successor(name: &str) -> Option<&'static str> {
    successor(FIRMWARE, name)
}

fn successor(retired: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let entry = retired
        .iter()
        .find(|(retired_name, _)| *retired_name == name);
    entry.map(|(_, successor)| *successor)
}
