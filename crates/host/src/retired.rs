//! The verbs and formats of earlier versions, and what to use instead.

use std::ffi::OsString;

use anyhow::{Result, bail};

/// The verbs.
const VERBS: &[(&str, &str)] = &[
    ("fuzz", "`cargo fuzz run TARGET`, see fuzz/README.md"),
    (
        "matrix",
        "`history RUN…`, which takes runs of several boards, or docs/ci/lab.sh for lab jobs",
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

/// Checks a command line whose verb is unknown. It starts with the program name.
///
/// # Errors
/// Returns an error that names the successor if the verb no longer exists, or the program that has
/// it now.
pub fn check_verb(arguments: &[OsString]) -> Result<()> {
    let Some(verb) = arguments.get(1).and_then(|word| word.to_str()) else {
        return Ok(());
    };
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

fn successor(retired: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let found = retired
        .iter()
        .find(|(retired_name, _)| *retired_name == name);
    found.map(|(_, successor)| *successor)
}
