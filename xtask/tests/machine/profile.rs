//! Profiles runs under real TF-A.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use host::process;
use report::profile::difference;
use report::profile::event::Event;
use report::profile::profile::Profile;
use xtask::build::tf_a::TfA;
use xtask::profile::run::ProfiledRun;
use xtask::qemu::run_spec::RunSpec;
use xtask::setup::newer_qemu;
use xtask::setup::workspace::Workspace;

use crate::support::scratch::Scratch;
use crate::support::{called, xtask};

const ARGS: &str = "iterations=5 samples=all";

fn succeeds(path: &OsString, words: &[&str]) {
    let (code, _, said) = called(xtask(words).args(["--args", ARGS]).env("PATH", path));
    assert_eq!(code, 0, "{words:?}: {said}");
}

/// Returns the JSON that `cargo xtask profile` prints for a saved profile. QEMU is not in PATH.
fn shown(json: &Path) -> Vec<u8> {
    let mut profile = xtask(&["profile", "--format", "json"]);
    let output = profile.arg(json).env("PATH", "").output();
    output.expect("the program starts").stdout
}

#[test]
fn all_phases_are_attributed_and_the_log_stays_as_it_is() {
    let installed = std::env::var_os("PATH").expect("PATH");
    let newer = newer_qemu(&Workspace::find().expect("the workspace")).expect("a QEMU");
    for (path, coherency) in [(&installed, "sw"), (&newer, "hw")] {
        let scratch = Scratch::empty();
        let (plain, log) = (scratch.path("plain.log"), scratch.path("run.log"));
        let variant = format!("coherency={coherency}");
        let run = |verb, log: &Path| {
            let log = log.to_str().expect("UTF-8");
            succeeds(
                path,
                &[
                    verb,
                    "--icount",
                    "--smp",
                    "8",
                    "--variant",
                    &variant,
                    "--log",
                    log,
                ],
            );
        };
        // QEMU runs are repeatable except in rare cases, described in the docs of
        // xtask::qemu::host_cpu.
        let is_same = (0..3).any(|_| {
            run("qemu", &plain);
            run("profile", &log);
            fs::read(&plain).expect("a log") == fs::read(&log).expect("a log")
        });
        assert!(is_same, "{path:?} {variant}: the plugin changed the log");
        let json = log.with_added_extension("profile.json");
        let text = fs::read(&json).expect("a profile");
        assert_eq!(shown(&json), text, "the saved profile changed");
        let phases = Profile::from_json(&text).expect("a profile").merged();
        // Five scenarios with four phases each, and one phase for PSCI_VERSION.
        assert_eq!(phases.len(), 21);
        for phase in phases {
            assert_eq!(phase.samples, 40, "{}", phase.figure_name());
            // No other CPU is running.
            if phase.scenario.ends_with("susp_serial") || phase.scenario.ends_with("deep_serial") {
                assert_eq!(phase.own(), phase.elapsed, "{}", phase.figure_name());
            }
            assert!(phase.own() <= phase.elapsed && phase.own() > 100 * phase.samples);
        }
    }
}

fn spec(tf_a: Option<PathBuf>) -> RunSpec {
    let args = Some("only=susp_deep_serial,cpu_susp_parallel iterations=2".to_owned());
    RunSpec {
        args,
        tf_a,
        ..RunSpec::default()
    }
}

/// The phases of each state add up to PMF's ticks in both modes, as they do in the suite.
#[test]
fn each_step_of_a_sweep_is_profiled() {
    let args = "only=idle_states,cold_call,contend_sweep iterations=2";
    let options = "--smp 4 --variant osi=1";
    let spec = RunSpec {
        args: Some(args.to_owned()),
        ..RunSpec::parse(options).expect("valid options")
    };
    let merged = profile(&spec, None).expect("a profile").merged();
    let names: Vec<String> = merged.iter().map(|it| it.figure_name()).collect();
    for figure in [
        "idle_states/serial/0x00010002:wake-up",
        "idle_states/parallel/0x01010022:cache-flush",
        "idle_states/osi/0x02010222:entry",
        "cold_call/version_warm:PSCI",
        "contend_sweep/deepest/all/4:entry",
    ] {
        assert!(names.iter().any(|it| it == figure), "{figure}: {names:?}");
    }
}

fn profile(spec: &RunSpec, lose: Option<u64>) -> anyhow::Result<Profile> {
    let prepared = ProfiledRun::prepare(spec, lose).expect("prepared");
    let (result, profile) = prepared.run(None)?;
    profile.unwrap_or_else(|| panic!("{}", result.line()))
}

#[test]
fn lost_block_is_refused() {
    for lose in [1, 1000, 100_000] {
        let error = profile(&spec(None), Some(lose))
            .map(|_| ())
            .expect_err("refused");
        let error = format!("{error:#}");
        assert!(error.contains("the record lacks a block"), "{error}");
    }
}

/// Inserts instructions after the declarations in a function.
fn seed(root: &Path, file: &str, function: &str, instructions: &str) {
    let path = root.join(file);
    let text = fs::read_to_string(&path).expect("the TF-A source");
    let begin = text.find(function).expect("the function");
    let end = begin
        + text[begin..]
            .find("\n\n")
            .expect("the end of its declarations");
    let seeded = format!("\n\t__asm__ volatile(\"{instructions}\");\n");
    fs::write(path, [&text[..end], &seeded, &text[end..]].concat()).expect("written");
}

#[test]
fn seeded_regressions_are_named_exactly() {
    let workspace = Workspace::find().expect("the workspace");
    let source = TfA::locate(&workspace, None).expect("TF-A").dir;
    let scratch = Scratch::empty();
    let root = scratch.path("tf-a");
    process::output(Command::new("cp").arg("-r").args([&source, &root])).expect("copied");
    seed(
        &root,
        "lib/psci/psci_suspend.c",
        "int psci_cpu_suspend_start(",
        ".rept 197\\n\\tnop\\n\\t.endr\\n\\tdsb ish\\n\\tdsb sy\\n\\tisb",
    );
    seed(
        &root,
        "lib/psci/psci_common.c",
        "void psci_warmboot_entrypoint(void)",
        ".rept 150\\n\\tnop\\n\\t.endr",
    );
    let old = profile(&spec(None), None).expect("a profile");
    let new = profile(&spec(Some(root)), None).expect("a profile");
    let changes = difference::changes(&old, &new);
    // Two scenarios with four phases each.
    assert_eq!(changes.len(), 8);
    for change in changes {
        let expected = match change.figure.rsplit(':').next() {
            Some("entry") => vec![("psci_cpu_suspend_start", 200.0)],
            Some("wake-up") => vec![("psci_warmboot_entrypoint", 150.0)],
            _ => Vec::new(),
        };
        let found = change
            .functions
            .iter()
            .map(|it| (&*it.name, it.new - it.old));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{}", change.figure);
    }
    for event in Event::ALL {
        let count = match event {
            Event::Dsb => 2.0,
            Event::Isb => 1.0,
            _ => 0.0,
        };
        let counted = |profile: &Profile| profile.count_event(event).expect("functions");
        for change in difference::changes(&counted(&old), &counted(&new)) {
            let is_seeded = count > 0.0 && change.figure.ends_with(":entry");
            let expected = is_seeded.then_some(("psci_cpu_suspend_start", count));
            let found = change.functions.iter();
            let found = found.map(|it| (&*it.name, it.new - it.old));
            assert!(found.eq(expected), "{event:?}: {change:?}");
        }
    }
}
