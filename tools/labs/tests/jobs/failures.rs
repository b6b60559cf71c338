//! Jobs that must not be green: one with a failing test case, one that ends without a last line,
//! and boards that hang or never stop printing. LAVA reports the first job as successful,
//! but the script does not.

use std::fs;
use std::path::Path;

use boards::GicVersion;
use runner::build::firmware::{self, FirmwareVariant, Platform};
use runner::build::flash;
use runner::build::tf_a::{self, TfA};
use runner::setup::workspace::Workspace;
use test_support::scratch::files;
use test_support::{CommandOutput, End, FAIL, stub, tree_with};

use crate::tools::{lab, results, tools};

const FRAME: &str = "NOTICE:  Booting trusted firmware test framework\r\n\
                     NOTICE:  Running at NS-EL2\r\n\
                     > Executing 'PSCI version call on all cores in parallel'\r\n";
const ROW: &str = "<RT_INSTR:test_rt_instr_psci_version_parallel\t0\t0\t4711/>\r\n";

/// Returns a flash image with TF-A and a BL33 that prints `text` and then ends the run as specified
/// by `end`.
fn flash(text: &str, end: End) -> Vec<u8> {
    let workspace = Workspace::find().expect("the repository");
    tf_a::TF_A.fetch(&workspace).expect("the TF-A source");
    let tf_a = TfA::locate(&workspace, None).expect("the TF-A source");
    let platform = Platform::overlay(
        &workspace,
        "qemu",
        GicVersion::V3,
        FirmwareVariant::default(),
    );
    let firmware = firmware::build(&workspace, &tf_a, &platform).expect("TF-A");
    let (flash, _) = flash::build(&firmware, None, stub(text, end)).expect("a flash");
    flash
}

/// Creates a job that uses this stub as its board, with a time limit of ten seconds.
fn job(set: &Path, engine: &str, name: &str, text: &str, end: End) {
    let plan = "--smp 2 --args only=psci_version_parallel";
    lab(engine, set, &format!("--name {name} {plan}"));
    let job = set.join(format!("{engine}-qemu-{name}"));
    fs::write(job.join("firmware.bin"), flash(text, end)).expect("written");
    for file in ["job.yaml", "test_psci_bench.py"] {
        let path = job.join(file);
        if let Ok(text) = fs::read_to_string(&path) {
            let text = text.replace("{minutes: 10}", "{seconds: 10}");
            fs::write(path, text.replace("LIMIT = 600", "LIMIT = 10")).expect("written");
        }
    }
}

/// Checks the LAVA result, the exit code, and the reason that `stderr` gives for each job separately.
fn check_cells(set: &Path, stderr: &str) {
    for (job, lava, code, why) in [
        ("lava-qemu-failing", "pass", 1, "psci-bench: FAIL"),
        ("lava-qemu-unended", "fail", 3, "Connection closed"),
        ("lava-qemu-hanging", "fail", 3, "monitor timed out"),
        ("lava-qemu-early", "pass", 3, "psci_bench not passed"),
        ("labgrid-qemu-failing", "", 1, "psci-bench: FAIL"),
        ("labgrid-qemu-unended", "", 3, "pytest ended with"),
        ("labgrid-qemu-hanging", "", 3, "no last line within 10 s"),
        ("labgrid-qemu-repeating", "", 3, "no last line within 10 s"),
    ] {
        let job = set.join(job);
        let shown = job.display();
        if !lava.is_empty() {
            let result =
                fs::read_to_string(job.join("results/lava/result.yaml")).expect("the LAVA result");
            let is_as_expected = result.contains(&format!("result: {lava}"));
            assert!(is_as_expected, "{shown}: {result}");
        }
        let kept = fs::read_to_string(job.join("results/exit-code"));
        assert_eq!(kept.expect("an exit code"), format!("{code}\n"), "{stderr}");
        let outcome = if code == 1 { "failed" } else { "incomplete" };
        let name = format!("{shown}: {outcome}: ");
        let line = stderr.lines().find(|line| line.starts_with(&name));
        let is_named = line.is_some_and(|line| line.contains(why));
        assert!(is_named, "{shown}: {why}: {stderr}");
    }
}

#[test]
fn nothing_that_failed_looks_green() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path().join("set");
    let summary = "Tests Failed  : 1\r\n\r\nNOTICE:  Exiting tests.\r\n\r\n";
    let fail = FAIL.replace("5 passed", "0 passed");
    // Results are found even if firmware messages appear between them.
    let failing = format!(
        "{FRAME}WARNING: late\r\n{ROW}  TEST COMPLETE                    Failed\r\n{summary}{fail}\r\n"
    );
    let unended = format!("{FRAME}{ROW}  TEST COMPLETE                    Passed\r\n");
    for engine in ["lava", "labgrid"] {
        job(&set, engine, "failing", &failing, End::Off);
        job(&set, engine, "unended", &unended, End::Off);
        job(&set, engine, "hanging", FRAME, End::Hang);
    }
    job(&set, "labgrid", "repeating", FRAME, End::Repeat);
    let early = "psci-bench: INCOMPLETE: bad input: no node /cpus\r\n";
    job(&set, "lava", "early", early, End::Off);
    let mut script = tools.script();
    let run = CommandOutput::of(script.arg(&set).env("JOBS", "8")).ends(3, "");

    check_cells(&set, &run.err);
    let results = results(&set.join("lava-qemu-failing/results/lava.log"));
    let found: Vec<(&str, &str)> = results
        .iter()
        .map(|result| (result.case.as_str(), result.outcome.as_str()))
        .collect();
    let expected = [
        ("psci_version_call_on_all_cores_in_parallel", "fail"),
        ("psci_version_parallel_0_0", "pass"),
        ("psci_bench", "fail"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_skipped_fails_a_job_that_denies_it() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let tree = dir.path().join("tree.dtb");
    fs::write(&tree, tree_with(GicVersion::V3, "iterations=1")).expect("written");
    let (strict, lax) = (dir.path().join("strict"), dir.path().join("lax"));
    for engine in ["lava", "labgrid"] {
        let skips = format!("--name skips --args iterations=1 --dtb {}", tree.display());
        lab(engine, &lax, &skips);
        lab(engine, &strict, &format!("{skips} --deny-skipped"));
        let whole = "--smp 2 --args iterations=1 --name whole --deny-skipped";
        lab(engine, &strict, whole);
    }
    CommandOutput::of(tools.script().arg(&lax)).ends(0, "");
    let run = CommandOutput::of(tools.script().arg(&strict)).ends(1, "");
    // The engines detect the failure themselves, and the report detects it from the records.
    for (engine, case) in [
        ("lava", "psci_bench not passed"),
        ("labgrid", "::test_nothing_is_skipped - "),
    ] {
        let failed = format!("{engine}-qemu-skips: failed: ");
        let mut lines = run.err.lines();
        let Some(line) = lines.find(|line| line.contains(&failed)) else {
            panic!("{engine}: {}", run.err);
        };
        assert!(line.contains(case), "{line}");
        let denied = "--deny-skipped forbids: test_rt_instr_susp_deep_parallel: no-idle-state; ";
        assert!(line.contains(denied), "{line}");
    }
    for engine in ["lava", "labgrid"] {
        let whole = format!("{engine}-qemu-whole: passed\n");
        assert!(run.err.contains(&whole), "{}", run.err);
    }
    let path = strict.join("labgrid-qemu-skips/results/junit.xml");
    let junit = fs::read_to_string(path).expect("the pytest results");
    let skipped = "Skipped: test_rt_instr_cpu_off_serial, CPU 0.0: ";
    assert!(junit.contains(skipped), "{junit}");
}

/// A copied job would run the firmware of the original under a different name. If an engine hangs,
/// the results from the others must still be reported.
#[test]
fn a_copy_and_an_engine_that_hangs() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let set = dir.path().join("set");
    lab("lava", &set, "--smp 2 --name old");
    let (old, new) = (set.join("lava-qemu-old"), set.join("lava-qemu-new"));
    fs::create_dir(&new).expect("made");
    for file in files(&old) {
        let name = file.0.file_name().expect("a name");
        fs::write(new.join(name), file.1).expect("written");
    }
    let run = CommandOutput::of(tools.script().arg(&set)).ends(2, "");
    let why = "lava-qemu-new: this job uses the files of another folder";
    assert!(run.err.contains(why), "{}", run.err);

    fs::remove_dir_all(&new).expect("removed");
    let manifest = fs::read_to_string(old.join("manifest.json")).expect("there");
    assert!(manifest.contains("\"minutes\": 10"), "{manifest}");
    let without_time = manifest.replace("\"minutes\": 10", "\"minutes\": 0");
    fs::write(old.join("manifest.json"), without_time).expect("written");
    let mut run = tools.script();
    run.arg(&set)
        .env("GRACE", "1")
        .env("LAVA_RUN", "sleep 60 #");
    CommandOutput::of(&mut run).ends(3, "lava-run ended with exit code");
}
