//! The example commands in the help texts, the README and docs/. Commands that do not need a board,
//! QEMU or the network are run on the logs in docs/samples and on made-up files.
//! `xtask/src/cli/tests.rs` parses all example commands with clap.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use cli::documented::{Example, accepted_examples};
use report::cli::example_files::make_example_files;
use runner::setup::workspace::Workspace;

use crate::support::{outcome, path_with, script, xtask};

/// Subcommands whose examples are not run here, with the reason for each.
const ONLY_READ: &[(&str, &str)] = &[
    ("qemu", "boots QEMU"),
    ("test", "runs all tests, including this one"),
    ("setup", "installs packages"),
    (
        "image",
        "builds the payload; see tests/command/refused.rs and tests/payload",
    ),
    (
        "payload",
        "builds the payload; see tests/command/fip_pack.rs",
    ),
    ("fip build", "builds TF-A; see tests/command/fip_build.rs"),
    (
        "fip pack",
        "builds the payload; see tests/command/fip_pack.rs",
    ),
    ("fip create --nt-fw", "abbreviates a list of images"),
    ("tree", "needs a machine's ACPI tables; see tests/acpi"),
    ("boards my-board", "needs the user's board file"),
    ("follow", "needs a board unless it reads stdin"),
];

/// Files for commands to add to a FIP.
const IMAGES: [&str; 11] = [
    "bl1.bin",
    "bl2.bin",
    "bl31.bin",
    "bl32.bin",
    "bl33.bin",
    "scp_bl2.bin",
    "scp_ram.bin",
    "mcp_ram.bin",
    "fw.dtb",
    "tb_fw.dtb",
    "hw.dtb",
];
/// Creates a FIP for commands to read.
const FIP: &str = "fip create --out fip.bin --nt-fw bl33.bin \
    --blob uuid=54464222-a4cf-4bf8-b1b6-cee7dade539e,file=mcp_ram.bin";

/// Returns true if an example is only parsed, not run.
fn is_only_read(example: &Example) -> bool {
    let line = format!("{} ", example.words.join(" "));
    let is_listed = ONLY_READ
        .iter()
        .any(|(words, _)| line.starts_with(&format!("{words} ")));
    // A file on stdin stands in for the board.
    is_listed && example.input.is_none()
}

/// Creates the folder that examples run in, with all the files that they refer to.
fn make_files(parent: &Path) -> PathBuf {
    make_example_files(parent);
    let work = parent.join("work");
    for name in IMAGES {
        fs::write(work.join(name), name).expect("written");
    }
    work
}

/// Creates the FIPs that the examples use.
fn make_fips(work: &Path) {
    let words: Vec<&str> = FIP.split_whitespace().collect();
    let (code, stderr) = outcome(xtask(&words).current_dir(work));
    assert_eq!(code, 0, "{stderr}");
    for name in ["fip-pmf.bin", "fip-plain.bin"] {
        fs::copy(work.join("fip.bin"), work.join(name)).expect("copied");
    }
}

#[test]
fn documented_commands_run() {
    let root = Workspace::find().expect("the workspace").root;
    let folder = tempfile::tempdir().expect("a directory");
    let work = make_files(folder.path());
    // Replaces the browser.
    script(folder.path(), "xdg-open", "exit 0");
    let mut count = 0;
    for example in &accepted_examples(&xtask::cli::command(), &root) {
        if is_only_read(example) {
            continue;
        }
        count += 1;
        if example.words[0] == "fip" {
            make_fips(&work);
        }
        let words: Vec<&str> = example.words.iter().map(String::as_str).collect();
        let mut command = xtask(&words);
        command
            .current_dir(&work)
            .env("PATH", path_with(folder.path()));
        command.env("TMPDIR", folder.path());
        command.stdin(match &example.input {
            Some(name) => {
                let input = work.join(name.trim_start_matches('/'));
                File::open(input).expect("one of the files").into()
            }
            None => Stdio::null(),
        });
        let (code, stderr) = outcome(&mut command);
        assert_eq!(code, 0, "{}: {stderr}", example.line);
    }
    assert!(count > 15, "{count}");
}
