//! Runs the CI fragments for firmware projects as plain scripts.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use report::synthetic_run;
use suite::model::{Failure, Run, Status};
use suite::plan::Records;

use crate::tools::{output, tools};

#[test]
fn a_regression_fails_the_script() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let baseline = dir.path().join("baseline.log");
    let run = |update: &str, out: &str, variant: &str| {
        let mut script = tools.script("regression.sh");
        script.arg(&baseline).current_dir(dir.path());
        script.args(["--smp", "2", "--args", "iterations=2 only=susp_deep_serial"]);
        script.args(["--variant", variant]);
        script.env("UPDATE", update).env("OUT", out);
        output(&mut script)
    };
    run("", "none", "coherency=hw").ends(2, "UPDATE=1 stores one");
    let kept = run("1", "kept", "coherency=hw");
    assert_eq!((kept.code, baseline.is_file()), (0, true), "{}", kept.err);
    run("", "same", "coherency=hw").ends(0, "");
    // Software cache maintenance makes the firmware slower.
    run("", "slower", "coherency=sw").ends(1, "regression");
    // A baseline must not be compared with itself or with the results of an earlier run.
    let kept = fs::read(&baseline).expect("kept");
    let own = dir.path().join("own/run.log");
    fs::create_dir(own.parent().expect("a folder")).expect("made");
    symlink(&baseline, &own).expect("linked");
    run("", "own", "coherency=sw").ends(2, "set OUT to another");
    let mut script = tools.script("regression.sh");
    script.arg(&baseline).arg("--help").current_dir(dir.path());
    script.env("UPDATE", "1").env("OUT", "slower");
    output(&mut script).ends(2, "the run wrote no log");
    assert!(fs::read(&baseline).expect("kept") == kept);
    assert!(!dir.path().join("slower/junit.xml").exists());
    run("", "slower", "coherency=sw").ends(1, "");
    for (file, text) in [
        ("slower/comparison.md", "worse"),
        ("slower/junit.xml", "<failure"),
        ("same/run.log", "psci-bench: PASS"),
    ] {
        let content = fs::read_to_string(dir.path().join(file)).expect(file);
        assert!(content.contains(text), "{file}");
    }
}

/// The engine does nothing, so only the script is tested.
#[test]
fn cells_wherever_they_are() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let job = |place: &str| {
        let place = dir.path().join(place);
        fs::create_dir_all(&place).expect("made");
        let mark = r#"{"engine": "labgrid", "board": "juno", "firmware": "v1"}"#;
        fs::write(place.join("manifest.json"), mark).expect("written");
        place
    };
    let run = |jobs: &str, arguments: &[&str]| {
        let mut script = tools.script("lab.sh");
        script.args(arguments).current_dir(dir.path());
        output(script.env("PYTEST", "echo").env("JOBS", jobs))
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
    let mut script = tools.script("lab.sh");
    script.arg(&near).env("PYTEST", "echo");
    output(script.env("XTASK", "/nonexistent")).ends(2, "the host tool (XTASK) does not run");
    assert!(!near.join("results").exists());
    let mark = fs::read_to_string(near.join("manifest.json")).expect("a mark");
    for (engine, words) in [("lava", "no job.yaml"), ("other", "neither lava nor")] {
        fs::write(near.join("manifest.json"), mark.replace("labgrid", engine)).expect("written");
        output(tools.script("lab.sh").arg(&near)).ends(2, words);
    }
}

/// Returns the log of the synthetic run after applying `edit`.
fn log(edit: impl FnOnce(&mut Run)) -> String {
    let mut run = synthetic_run::run();
    edit(&mut run);
    run.end = Some(synthetic_run::end(&run));
    synthetic_run::log(&run, Records::Once)
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
    let mut script = tools().script("lab.sh");
    script.arg(&job).env("LAVA_RUN", "sh ../engine");
    output(script.env("PYTEST", "sh ../engine")).ends(code, why);
    let kept = fs::read_to_string(job.join("results/exit-code"));
    assert_eq!(kept.expect("an exit code"), format!("{code}\n"));
}

#[test]
fn job_passes_only_if_its_engine_and_its_verdict_do() {
    let good = log(|_| ());
    let failed = log(|run| run.scenarios[2].status = Status::Failed(Failure::NotStated));
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
    let good = log(|_| ());
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

/// A host tool that appends each call to a file (for `qemu`, along with the TF-A source that it
/// would build), and writes the output file named in the call.
const STUB: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> CALLS
case $1 in
qemu) cat "$6/file" >> CALLS; echo log > "${10}"; exit "$QEMU" ;;
compare) code=$COMPARE ;;
ledger) code=$LEDGER ;;
esac
while [ "$1" != -o ]; do shift; done
echo report > "$2"
exit "${code:-0}"
"#;

/// Creates a repository in which `upstream` has moved on since `change` branched off. Returns the
/// common ancestor and the head of `change`.
fn create_fork(fork: &Path) -> [String; 2] {
    fs::create_dir(fork).expect("made");
    let git = |words: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        command.arg("-C").arg(fork).args(words);
        output(&mut command).ends(0, "").out.trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch=change"]);
    let commit = |title: &str| {
        fs::write(fork.join("file"), title).expect("written");
        git(&["add", "file"]);
        git(&["commit", "--quiet", "--message", title]);
        git(&["rev-parse", "HEAD"])
    };
    let base = commit("base");
    git(&["branch", "upstream"]);
    let head = commit("head");
    git(&["switch", "--quiet", "upstream"]);
    commit("upstream");
    git(&["switch", "--quiet", "change"]);
    [base, head]
}

/// A stub stands in for the host tool, so this tests only the script.
#[test]
fn a_fork_is_compared_with_the_commit_that_it_is_based_on() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let fork = dir.path().join("fork");
    let [base, head] = create_fork(&fork);
    let stub = dir.path().join("stub");
    let calls = dir.path().join("calls");
    let text = STUB.replace("CALLS", &calls.display().to_string());
    fs::write(&stub, text).expect("written");
    fs::set_permissions(&stub, fs::Permissions::from_mode(0o755)).expect("executable");
    let run = |codes: [&str; 3], branch: &str| {
        let mut script = tools.script("tf-a-fork.sh");
        script
            .args(["fork", branch, "--smp", "2"])
            .current_dir(dir.path());
        script.env("XTASK", &stub).env("OUT", "results");
        script.envs(["QEMU", "COMPARE", "LEDGER"].into_iter().zip(codes));
        output(&mut script)
    };
    run(["0", "0", "0"], "upstream").ends(0, "");
    let notes = fs::read_to_string(&calls).expect("notes");
    let range = format!("ledger {base}..{head} ");
    for board in ["qemu", "qemu-sbsa"] {
        for part in [
            &*range,
            &format!("{board}/base.log --smp 2\nbase"),
            &format!("{board}/new.log --smp 2\nhead"),
            &format!("{board}/verdicts.json --verdicts --smp 2\n"),
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        for name in ["comparison", "ledger", "verdicts"] {
            for format in ["html", "json"] {
                let file = format!("results/{board}/{name}.{format}");
                assert!(dir.path().join(&file).is_file(), "{file}");
            }
        }
    }
    run(["0", "1", "0"], "upstream").ends(1, "");
    run(["0", "1", "3"], "upstream").ends(3, "");
    run(["1", "0", "0"], "upstream").ends(1, "no figures are compared");
    let results = dir.path().join("results/qemu");
    assert!(!results.join("ledger.json").exists());
    assert!(results.join("verdicts.json").is_file());
    run(["0", "0", "0"], "change").ends(2, "nothing to compare");
    run(["0", "0", "0"], "nosuch").ends(2, "no commit in common");
}

#[test]
fn the_fragments_call_the_scripts() {
    let tools = tools();
    for (name, command) in [
        ("github.yml", "psci-bench/docs/ci/regression.sh "),
        ("gitlab.yml", "psci-bench/docs/ci/regression.sh "),
        ("tf-a-fork.github.yml", "psci-bench/docs/ci/tf-a-fork.sh "),
        ("tf-a-fork.gitlab.yml", "psci-bench/docs/ci/tf-a-fork.sh "),
        ("release.github.yml", ".ci/release "),
        ("release.gitlab.yml", ".ci/release "),
    ] {
        let text = fs::read_to_string(tools.root.join("docs/ci").join(name)).expect(name);
        let yaml: serde_json::Value = serde_saphyr::from_str(&text).expect(name);
        assert!(yaml.is_object());
        assert!(text.contains(command), "{name}");
    }
    for name in ["lab.sh", "regression.sh", "tf-a-fork.sh"] {
        let mut check = Command::new("sh");
        output(check.arg("-n").arg(tools.root.join("docs/ci").join(name))).ends(0, "");
        output(&mut tools.script(name)).ends(2, "usage: ");
    }
}
