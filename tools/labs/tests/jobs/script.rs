//! Runs `lab.sh` with other programs in place of the engines.

use std::fs;
use std::os::unix::fs::symlink;

use report::synthetic_run::edited_log;
use suite::model::{Failure, Status};
use test_support::CommandOutput;

use crate::tools::script;

/// The engine does nothing, so only the script is tested.
#[test]
fn cells_wherever_they_are() {
    let dir = tempfile::tempdir().expect("a directory");
    let job = |place: &str| {
        let place = dir.path().join(place);
        fs::create_dir_all(&place).expect("made");
        let mark = r#"{"engine": "labgrid", "board": "juno", "firmware": "v1"}"#;
        fs::write(place.join("manifest.json"), mark).expect("written");
        place
    };
    let run = |jobs: &str, arguments: &[&str]| {
        let mut command = script();
        command.args(arguments).current_dir(dir.path());
        CommandOutput::of(command.env("PYTEST", "echo").env("JOBS", jobs))
    };
    let odd = "a 'b' \\c [d]*\n\"e";
    let far = job(&format!("{odd}/1/2/3/4/5"));
    let inner = job(&format!("{odd}/1/2/3/4/5/inner"));
    symlink("1/2/3", dir.path().join(odd).join("link")).expect("linked");
    let near = job(&format!("{odd}/near"));
    let hidden = job(&format!("{odd}/.job-x"));
    run("-1", &[odd]).ends(2, "1 or more");
    run("2", &[odd, "--format"]).ends(2, "usage: ");
    // Nothing runs. Each of these jobs is still listed, exactly once.
    let listed = run("2", &[odd]).ends(3, "");
    assert_eq!(
        listed.err.matches(": incomplete: ").count(),
        3,
        "{}",
        listed.err
    );
    assert!(far.join("results/pytest.out").is_file() && near.join("results").is_dir());
    assert!(!hidden.join("results").exists());
    run("2", &[odd]).ends(2, "already exists");
    assert!(inner.join("results").is_dir());
    fs::remove_dir_all(near.join("results")).expect("removed");
    let mut command = script();
    command.arg(&near).env("PYTEST", "echo");
    CommandOutput::of(command.env("XTASK", "/nonexistent"))
        .ends(2, "the host tool (XTASK) does not run");
    assert!(!near.join("results").exists());
    let mark = fs::read_to_string(near.join("manifest.json")).expect("a mark");
    for (engine, words) in [("lava", "no job.yaml"), ("other", "neither lava nor")] {
        fs::write(near.join("manifest.json"), mark.replace("labgrid", engine)).expect("written");
        CommandOutput::of(script().arg(&near)).ends(2, words);
    }
}

/// Returns the log that LAVA writes for a UART log, with results in the suites `definition`.
fn lava(uart: &str, results: &[(&str, &str)]) -> String {
    let entry = |level: &str, message: &str| {
        format!("- {{\"dt\": \"x\", \"lvl\": \"{level}\", \"msg\": {message}}}\n")
    };
    let lines = uart.lines().map(|line| {
        let line = serde_json::Value::from(line.trim_end());
        entry("target", &line.to_string())
    });
    let results = results.iter().map(|(definition, result)| {
        let found = format!(
            "{{\"case\": \"a_case\", \"definition\": \"{definition}\", \"result\": \"{result}\"}}"
        );
        entry("results", &found)
    });
    lines.chain(results).collect()
}

/// An engine that writes a UART log and its own output, and ends with the given exit code.
const ENGINE: &str = "cp ../uart results/uart.log; cat ../out; exit $(cat ../code)";

/// Checks the exit code of a job, and the reason that the script gives, with [`ENGINE`] as its
/// engine.
#[track_caller]
fn assert_ends(engine: &str, (log, ending): (&str, &str), code: i32, why: &str) {
    let dir = tempfile::tempdir().expect("a directory");
    let job = dir.path().join("job");
    fs::create_dir(&job).expect("made");
    for (file, text) in [
        (
            "job/manifest.json",
            &*format!("{{\"engine\": \"{engine}\"}}"),
        ),
        ("job/job.yaml", ""),
        ("uart", log),
        ("out", if engine == "lava" { log } else { "" }),
        ("code", ending),
        ("engine", ENGINE),
    ] {
        fs::write(dir.path().join(file), text).expect("written");
    }
    let mut command = script();
    command.arg(&job).env("LAVA_RUN", "sh ../engine");
    CommandOutput::of(command.env("PYTEST", "sh ../engine")).ends(code, why);
    let kept = fs::read_to_string(job.join("results/exit-code"));
    assert_eq!(kept.expect("an exit code"), format!("{code}\n"));
}

#[test]
fn job_passes_only_if_its_engine_and_its_verdict_do() {
    let good = edited_log(|_| ());
    let failed = edited_log(|run| run.scenarios[2].status = Status::Failed(Failure::NotStated));
    let half = &good[..good.len() / 2];
    for (log, ending, code, why) in [
        (&*good, "0", 0, ": passed\n"),
        (&good, "1", 1, "pytest ended with exit code 1"),
        (&failed, "0", 1, ": failed: psci-bench: FAIL (3 passed, "),
        (half, "0", 3, ": incomplete: "),
        ("nothing", "0", 3, ": incomplete: "),
    ] {
        assert_ends("labgrid", (log, ending), code, why);
    }
    let passed = lava(&failed, &[("psci-bench", "pass")]);
    assert_ends("lava", (&passed, "0"), 1, ": failed: psci-bench: FAIL");
}

#[test]
fn job_passes_only_if_all_results_of_lava_do() {
    let good = edited_log(|_| ());
    let failed = "a_case not passed";
    let (pass, no_job) = (("psci-bench", "pass"), ("lava", "fail"));
    for (results, ending, code, why) in [
        (&[pass][..], "0", 0, ": passed\n"),
        (&[("psci-bench", "skip")], "0", 0, ": passed\n"),
        (&[("psci-bench", "fail")], "0", 1, failed),
        (&[("psci-bench", "unknown")], "0", 1, failed),
        (&[pass], "1", 1, "lava-run ended with exit code 1"),
        // Of LAVA's own steps, only the job itself counts.
        (&[pass, no_job], "0", 0, ": passed\n"),
        (&[no_job], "0", 3, "LAVA has no test results"),
        (&[], "0", 3, "LAVA has no test results"),
    ] {
        assert_ends("lava", (&lava(&good, results), ending), code, why);
    }
    let cut = lava(&good, &[pass]).replace("\"pass\"}}\n", "\"pa");
    assert_ends("lava", (&cut, "0"), 1, failed);
}

#[test]
fn usage_is_shown_without_a_folder() {
    CommandOutput::of(&mut script()).ends(2, "usage: ");
}
