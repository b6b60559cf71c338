//! Profiles runs under real TF-A.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use follow::RunWatcher;
use host::process;
use profiler::profile::difference;
use profiler::profile::event::Event;
use profiler::profile::profile::{Profile, ProfilePhase};
use profiler::profiled_run::ProfiledRun;
use runner::build::tf_a::TfA;
use runner::qemu::prepare;
use runner::qemu::run_spec::RunSpec;
use runner::setup::newer_qemu;
use runner::setup::workspace::Workspace;
use suite::measure::Metric;
use suite::plan::{ScenarioId, Variant};
use test_support::scratch::Scratch;
use test_support::{called, command};

use crate::PROGRAM;

const ARGS: &str = "iterations=5 samples=all";

fn succeeds(path: &OsString, words: &[&str]) {
    let (code, _, stderr) = called(
        command(PROGRAM, words)
            .args(["--args", ARGS])
            .env("PATH", path),
    );
    assert_eq!(code, 0, "{words:?}: {stderr}");
}

/// Returns the JSON that `cargo xtask profile` prints for a saved profile. QEMU is not in PATH.
fn shown(json: &Path) -> Vec<u8> {
    let mut profile = command(PROGRAM, &["profile", "--format", "json"]);
    let output = profile.arg(json).env("PATH", "").output();
    output.expect("the program starts").stdout
}

/// Returns the log of a run without the plugin, with the QEMU in `path`.
fn plain_log(path: &OsString, options: &str) -> Vec<u8> {
    let mut spec = RunSpec::parse(options).expect("options");
    spec.args = Some(ARGS.to_owned());
    let mut prepared = prepare::prepare(&spec).expect("a run");
    prepared.set_path(path.clone());
    let interrupt = AtomicBool::new(false);
    let result = prepared.run(&interrupt, &mut RunWatcher::default());
    result.expect("a result").log
}

#[test]
fn all_phases_are_attributed_and_the_log_stays_as_it_is() {
    let path = newer_qemu(&Workspace::find().expect("the workspace")).expect("a QEMU");
    for coherency in ["sw", "hw"] {
        let scratch = Scratch::new(PROGRAM);
        let log = scratch.path("run.log");
        let options = format!("--icount --smp 8 --variant coherency={coherency}");
        let profile = format!("profile {options} --log {}", log.display());
        let words: Vec<&str> = profile.split(' ').collect();
        // QEMU runs are repeatable except in rare cases, described in the docs of
        // runner::qemu::host_cpu.
        let is_same = (0..3).any(|_| {
            succeeds(&path, &words);
            plain_log(&path, &options) == fs::read(&log).expect("a log")
        });
        assert!(is_same, "{options}: the plugin changed the log");
        let json = log.with_added_extension("profile.json");
        let text = fs::read(&json).expect("a profile");
        assert_eq!(shown(&json), text, "the saved profile changed");
        let phases = Profile::from_json(&text).expect("a profile").merged();
        // Five scenarios with five phases each, and one phase for PSCI_VERSION.
        assert_eq!(phases.len(), 26);
        for phase in phases {
            assert_eq!(phase.samples, 40, "{}", phase.figure_name());
            // No other CPU is running.
            if phase.scenario.ends_with("susp_serial") || phase.scenario.ends_with("deep_serial") {
                assert_eq!(phase.own(), phase.elapsed, "{}", phase.figure_name());
            }
            let least = match &*phase.name {
                // Nothing but the code that finds the timestamp's memory.
                "reset" => 10,
                _ => 100,
            };
            assert!(phase.own() <= phase.elapsed && phase.own() > least * phase.samples);
            check_caches(&phase);
        }
    }
}

/// Checks the events that every TF-A has: a CPU comes up with its caches off, and turns the data
/// cache off to power down.
fn check_caches(phase: &ProfilePhase) {
    let events = phase.events();
    let occur = |event: Event| events[event] > 0;
    let (is_cold, is_uncached) = match &*phase.name {
        "reset" => (true, false),
        "wake-up" => (true, true),
        "to low power" => (false, true),
        _ => (false, false),
    };
    let name = phase.figure_name();
    assert_eq!(occur(Event::FetchLine), is_cold, "{name}");
    assert_eq!(occur(Event::FetchJump), is_cold, "{name}");
    assert_eq!(occur(Event::FetchBranch), is_cold, "{name}");
    if phase.name != "cache flush" {
        assert_eq!(occur(Event::Uncached), is_uncached, "{name}");
    }
    assert!(events[Event::L2Fetch] <= events[Event::L1Fetch], "{name}");
    assert!(events[Event::L2Data] <= events[Event::L1Data], "{name}");
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
    let names: Vec<String> = merged.iter().map(|figure| figure.figure_name()).collect();
    for figure in [
        "idle_states/serial/0x00010002:wake-up",
        "idle_states/parallel/0x01010022:cache-flush",
        "idle_states/osi/0x02010222:entry",
        "cold_call/version_warm:PSCI",
        "contend_sweep/deepest/all/4:entry",
    ] {
        assert!(
            names.iter().any(|name| name == figure),
            "{figure}: {names:?}"
        );
    }
}

/// TF-A runs with interrupts masked throughout, so a call holds back an interrupt for exactly as
/// many ticks as the firmware executes instructions, within PMF's window and outside it.
#[test]
fn masked_time_is_the_number_of_instructions_in_the_whole_call() {
    let args = "only=psci_version_parallel,masked_time iterations=5";
    let spec = RunSpec {
        args: Some(args.to_owned()),
        ..RunSpec::parse("--smp 3").expect("valid options")
    };
    let prepared = ProfiledRun::prepare(&spec, None).expect("prepared");
    let (result, profile) = prepared.run(None).expect("a run");
    let calls = profile.expect("a verdict").expect("a profile").whole_calls;
    let run = report::log::read_complete(&result.log)
        .expect("a complete run")
        .run;
    let masked: Vec<_> = run
        .scenarios
        .iter()
        .filter(|scenario| scenario.id == ScenarioId::named("masked_time"))
        .flat_map(|scenario| scenario.all_series())
        .filter(|series| series.series.metric == Metric::Masked)
        // The CPU that is turned on runs during the call.
        .filter(|series| series.cell.step.variant != Variant::new("cpu_on"))
        .collect();
    // PSCI_VERSION, AFFINITY_INFO, PSCI_STAT_COUNT and CPU_SUSPEND to standby on three CPUs.
    assert_eq!(masked.len(), 4 * 3);
    for it in masked {
        let ticks = it.series.summary.median;
        let equal = calls.range(ticks - 2..=ticks + 2).map(|(_, count)| count);
        // Each CPU makes the call at 32 offsets, and for five samples.
        let (equal, variant) = (equal.sum::<u64>(), it.cell.step.variant);
        assert!(equal >= 3 * (32 + 5), "{variant:?} {ticks}: {calls:?}");
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

/// Inserts `text` behind the first `end` after `begin` in a file.
fn insert(root: &Path, file: &str, [begin, end]: [&str; 2], text: &str) {
    let path = root.join(file);
    let source = fs::read_to_string(&path).expect("the TF-A source");
    let begin = source.find(begin).expect("the function");
    let end = begin + source[begin..].find(end).expect("the place") + end.len();
    fs::write(path, [&source[..end], text, &source[end..]].concat()).expect("written");
}

/// Inserts instructions after the declarations in a C function.
fn seed(root: &Path, file: &str, function: &str, instructions: &str) {
    let text = format!("\t__asm__ volatile(\"{instructions}\");\n");
    insert(root, file, [function, "\n\n"], &text);
}

/// Returns the functions that the seeds change in a phase, and by how much: in instructions, or in
/// events of one kind.
fn seeded_functions(event: Option<Event>, phase: &str) -> Vec<(&'static str, f64)> {
    match (event, phase) {
        (None, "entry") => vec![("psci_cpu_suspend_start", 208.0)],
        (Some(Event::Dsb), "entry") => vec![("psci_cpu_suspend_start", 2.0)],
        (Some(Event::Isb), "entry") => vec![("psci_cpu_suspend_start", 1.0)],
        (Some(Event::L1Fetch), "entry") => vec![("psci_cpu_suspend_start", 13.0)],
        (None, "wake-up") => vec![("psci_warmboot_entrypoint", 160.0), ("reset_handler", 17.0)],
        (Some(Event::Fetch), "wake-up") => vec![("reset_handler", 17.0)],
        (Some(Event::FetchLine), "wake-up") => vec![("reset_handler", 2.0)],
        (Some(Event::FetchJump | Event::FetchBranch | Event::Uncached), "wake-up") => {
            vec![("reset_handler", 1.0)]
        }
        (Some(Event::L1Fetch), "wake-up") => vec![("psci_warmboot_entrypoint", 10.0)],
        _ => Vec::new(),
    }
}

/// The seeds have sizes of whole lines, so that the lines of all other code remain the same.
#[test]
fn seeded_regressions_are_named_exactly() {
    let workspace = Workspace::find().expect("the workspace");
    let source = TfA::locate(&workspace, None).expect("TF-A").dir;
    let scratch = Scratch::new(PROGRAM);
    let root = scratch.path("tf-a");
    process::output(Command::new("cp").arg("-r").args([&source, &root])).expect("copied");
    seed(
        &root,
        "lib/psci/psci_suspend.c",
        "int psci_cpu_suspend_start(",
        ".rept 205\\n\\tnop\\n\\t.endr\\n\\tdsb ish\\n\\tdsb sy\\n\\tisb",
    );
    seed(
        &root,
        "lib/psci/psci_common.c",
        "void psci_warmboot_entrypoint(void)",
        ".rept 160\\n\\tnop\\n\\t.endr",
    );
    // A CPU executes this function with its caches off: a branch to the line after the next one,
    // a load, and another line.
    insert(
        &root,
        "lib/cpus/aarch64/cpu_helpers.S",
        ["func reset_handler", "x30\n"],
        "\tb\t8f\n\t.skip\t124\n8:\tldr\twzr, 8b\n\t.rept\t15\n\tnop\n\t.endr\n",
    );
    let old = profile(&spec(None), None).expect("a profile");
    let new = profile(&spec(Some(root)), None).expect("a profile");
    // Whether a line is in the L2 cache depends on the CPUs that have run before.
    let events = Event::ALL
        .into_iter()
        .filter(|event| *event != Event::L2Fetch);
    for unit in events.map(Some).chain([None]) {
        let counts_of = |profile: &Profile| match unit {
            Some(event) => profile.count_event(event).expect("functions"),
            None => profile.clone(),
        };
        let changes = difference::changes(&counts_of(&old), &counts_of(&new));
        // Two scenarios with five phases each.
        assert_eq!(changes.len(), 10);
        for change in changes {
            let (_, phase) = change.figure_name.rsplit_once(':').expect("a phase");
            let found: Vec<_> = change
                .functions
                .iter()
                .map(|function| (&*function.name, function.new - function.old))
                .collect();
            assert_eq!(
                found,
                seeded_functions(unit, phase),
                "{unit:?} {}",
                change.figure_name
            );
        }
    }
}
