//! Invalid input produces exit code 2 and a message that explains what to do. Nothing is written.

use test_support::scratch::Scratch;
use test_support::{End, PASS, stub};

use crate::PROGRAM;

/// Commands, each with parts of its error message.
#[rustfmt::skip]
const REFUSED: &[(&str, &[&str])] = &[
    ("profile --args samples=none", &["--args samples=none: a profile needs samples=all"]),
    ("profile --args end=park", &["--args end=park: a profile needs a machine that exits"]),
    ("profile --args only=fitness", &["a profile needs a scenario that suspends CPUs"]),
    ("profile saved.json --smp 2", &["PROFILE has its own run"]),
    ("profile saved.json --against .", &["PROFILE can only be compared with a JSON profile"]),
    ("profile --firmware builtin", &["a profile needs TF-A with PMF"]),
    ("profile --variant pmf=off",
        &["--variant pmf=off: a profile needs TF-A with PMF"]),
    ("profile --format speedscope --against stub",
        &["--format speedscope cannot show --against"]),
    ("profile --against stub", &["stub"]),
    ("ledger A..B", &["specify a TF-A checkout with --tf-a DIR"]),
    ("bisect susp_deep_serial:entry A..B", &["specify a TF-A checkout with --tf-a DIR"]),
    ("bisect verdict:CPU_ONE A..B", &["verdict:CPU_ONE: neither a function nor a rule", "CPU_SUSPEND, CPU_OFF"]),
    ("ledger A..B --verdicts --args only=all", &["--args only=all: verdicts come from"]),
    ("ledger A..B --verdicts --tolerance 2%", &["cannot be used with"]),
    ("ledger A..B --tf-a .", &["not a Git checkout: it contains no .git"]),
    ("profile --firmware u-boot", &["use `cargo xtask efi run --by u-boot`"]),
];

#[test]
fn commands_are_refused_by_name() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("stub", &stub(PASS, End::Off));
    scratch.assert_refused(REFUSED);
}
