//! Runs with a fake gem5: a script that plays a recorded UART log.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use cli::documented::accepted_examples;
use cli::program::XTASK;
use runner::build::tf_a::TF_A;
use runner::setup::workspace::Workspace;
use tempfile::TempDir;
use test_support::CommandOutput;

/// A gem5 source tree with a fake gem5.
struct Fake {
    folder: TempDir,
}

impl Fake {
    /// Creates the source tree. `script` is what gem5 does after it has checked its arguments.
    fn new(script: &str) -> Self {
        let fake = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        fake.write("gem5/configs/example/arm/devices.py", "");
        let check = "for last; do :; done\n\
                     test -s bl1.bin && test -s fip.bin && test -s machine.py || exit 9\n\
                     test \"$last\" = \"$PWD/fip.bin\" || exit 8\n";
        let build = fake.path("gem5/build/ARM");
        fs::create_dir_all(&build).expect("created");
        test_support::script(&build, "gem5.opt", &format!("{check}{script}"));
        fake
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }

    /// Runs `gem5 --gem5` with this tree and with `words`.
    fn run(&self, words: &str) -> CommandOutput {
        let mut command = command(self.folder.path());
        command
            .args(["--gem5", "gem5"])
            .args(words.split_whitespace());
        CommandOutput::of(&mut command)
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_psci-gem5"));
    command.arg("gem5").current_dir(folder);
    command
}

/// The UART output of a run on the real gem5, with two CPUs in two clusters.
const LOG: &str = include_str!("data/uart.log");

/// gem5 does not exit when the payload turns the machine off, so the program ends it.
#[test]
fn a_run_ends_at_the_last_line() {
    let fake =
        Fake::new("echo 'gem5 Simulator System'\ncat \"${0%/*}/uart.log\"\nexec sleep 600\n");
    fake.write("gem5/build/ARM/uart.log", LOG);
    let words = "--clusters 2,1 --args iterations=1 --log run.log --keep kept --timeout 300 \
                 --gem5-option --debug-flags=FVPBasePwrCtrl";
    let seen = fake.run(words);
    let seen = seen
        .ends(0, "gem5 with 3 CPUs, under TF-A's fvp platform")
        .ends(
            0,
            "next:\n  cargo xtask report run.log\npsci-gem5: PASS after ",
        );
    assert!(seen.out.contains("psci-bench: PASS"), "{}", seen.out);
    let kept = fs::read_to_string(fake.path("run.log")).expect("the log");
    assert!(kept.contains("gem5 Simulator System"), "{kept}");
    for file in ["bl1.bin", "fip.bin", "machine.py", "README.md"] {
        assert!(fake.path("kept").join(file).is_file(), "{file}");
    }
    let again = fake.run(words);
    again.ends(2, "--keep ");
}

#[test]
fn a_run_without_a_last_line_is_incomplete() {
    let fake = Fake::new("echo 'fatal: no such thing' >&2\nexit 1\n");
    fake.run("--clusters 1 --args iterations=1").ends(
        3,
        "s: gem5 exited before the closing line; no scenario was started; gem5's last messages:\n\
         fatal: no such thing",
    );
    let fake = Fake::new("echo 'NOTICE:  Booting Trusted Firmware'\nexec sleep 600\n");
    fake.run("--clusters 1 --args iterations=1 --timeout 1")
        .ends(3, "s: no closing line within 1 s (--timeout)");
}

#[test]
fn what_is_missing_is_said_before_anything_is_built() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |words: &[&str]| {
        let mut command = command(folder.path());
        CommandOutput::of(command.args(words))
    };
    run(&[]).ends(
        2,
        "--gem5 DIR is missing: the source tree of gem5, in which `scons",
    );
    run(&["--gem5", "gone"]).ends(2, "--gem5 gone: no such directory");
    run(&["--gem5", "."]).ends(2, "--gem5 .: not the source tree of gem5");
    let devices = folder.path().join("configs/example/arm");
    fs::create_dir_all(&devices).expect("created");
    fs::write(devices.join("devices.py"), "").expect("written");
    run(&["--gem5", "."]).ends(
        2,
        "--gem5 .: gem5 is not built; run `scons build/ARM/gem5.opt`",
    );
    let fake = Fake::new("");
    for (words, expected) in [
        (
            "--clusters 5",
            "expected the number of CPUs in one or two clusters",
        ),
        ("--l2 1", "expected a number and a unit"),
        ("--args iterations=x", "iterations"),
        ("--make PLAT=qemu", "PLAT is set by this command"),
        ("--log gone/run.log", "--log gone/run.log"),
        ("--tf-a gone", "--tf-a gone: No such file"),
    ] {
        fake.run(words).ends(2, expected);
    }
}

/// The examples name a gem5 and a TF-A next to the current folder.
#[test]
fn documented_commands_run() {
    let fake = Fake::new("cat \"${0%/*}/uart.log\"\n");
    fake.write("gem5/build/ARM/uart.log", LOG);
    fs::create_dir(fake.path("work")).expect("created");
    let workspace = Workspace::find().expect("the repository");
    let source = TF_A.fetch(&workspace).expect("the source of TF-A");
    symlink(source, fake.path("trusted-firmware-a")).expect("a link");
    let examples = accepted_examples(&gem5::command(XTASK), &workspace.root);
    assert!(examples.len() > 2, "{examples:?}");
    for example in examples {
        let mut command = Command::new(env!("CARGO_BIN_EXE_psci-gem5"));
        command.args(&example.words).current_dir(fake.path("work"));
        let seen = CommandOutput::of(&mut command);
        assert_eq!(seen.code, 0, "{}: {}", example.line, seen.err);
    }
}
