//! Invalid input produces exit code 2 and a message that explains what to do. Nothing is written.

use std::fs;

use boards::GicVersion;
use test_support::scratch::Scratch;
use test_support::tree_with;

use crate::tools::PROGRAM;

/// Commands, and a part of the message for each.
#[rustfmt::skip]
const REFUSED: &[(&str, &str)] = &[
    ("lab lava -o a", "not a directory"),
    ("lab lava --board jupiter -o set", "unknown board \"jupiter\""),
    ("lab lava --board juno -o set", "jobs for LAVA run on QEMU, but Arm Juno"),
    ("lab lava --board juno -o set", "use `cargo xtask lab labgrid`"),
    ("lab labgrid --board juno --variant coherency=hw -o set", "only --args and --smp"),
    ("lab labgrid --board juno --dtb v3.dtb -o set", "only --args and --smp"),
    ("lab lava --core 0x1 -o nowhere", "--core 0x1: not a power-down state in the original"),
    ("lab lava --args method=warm -o set", "method=tftf,warm"),
    ("lab lava --args itterations=3 -o set", "itterations"),
    ("lab lava --smp 32 -o set", "--smp 24 or less"),
    ("lab lava --smp 0 -o set", "--smp 0"),
    ("lab labgird -o set", "labgird"),
    ("lab lava --name a/b -o set", "up to 64 letters"),
    ("lab lava --place bench -o set", "unexpected argument '--place'"),
    ("lab labgrid --url https://h/a -o set", "unexpected argument '--url'"),
    ("lab lava --args only=help -o set", "so no job can pass"),
    ("lab lava --args only=null_call -o set", "at least one scenario from"),
    ("lab lava --url https://h/a?b#c -o set", "ends the URL's path at '?'"),
    ("lab lava --url h/a -o set", "expected a URL, such as https://"),
];

#[test]
fn invalid_commands_are_refused() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("a", "a");
    scratch.write("v3.dtb", &tree_with(GicVersion::V3, ""));
    for (line, part) in REFUSED {
        scratch.refuses(line, part);
    }
    for (words, part) in [
        (
            &["lab", "lava", "--url", "https://h/a b", "-o", "set"],
            "expected a URL",
        ),
        (
            &["lab", "labgrid", "--place", " ", "-o", "set"],
            "expected text on one line",
        ),
    ] {
        let stderr = scratch.refused_words(words);
        assert!(stderr.contains(part), "{words:?}: {stderr}");
    }
}

#[test]
fn existing_job_is_kept() {
    let scratch = Scratch::new(PROGRAM);
    let rpi4 = "lab labgrid --board rpi4 -o set";
    scratch.ours(rpi4);
    scratch.refuses(rpi4, "labgrid-rpi4-tf-a already exists");
    scratch.ours(&format!("{rpi4} --name other"));
    let jobs = fs::read_dir(scratch.path("set")).expect("there");
    assert_eq!(jobs.count(), 2);
    // With a `file://` URL, LAVA would look for a file named `re`, because it ends the path at `#`.
    scratch.refuses("lab lava -o re#al", "use --url");
}
