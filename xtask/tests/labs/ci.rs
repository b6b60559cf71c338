//! The fragments for a firmware's continuous integration, as a plain script.

use std::fs;

use crate::tools::{said, tools};

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
        said(&mut script)
    };
    let none = run("", "none", "coherency=hw");
    assert_eq!(none.code, 2, "{}", none.err);
    assert!(none.err.contains("UPDATE=1 keeps one"), "{}", none.err);
    let kept = run("1", "kept", "coherency=hw");
    assert_eq!((kept.code, baseline.is_file()), (0, true), "{}", kept.err);
    let same = run("", "same", "coherency=hw");
    assert_eq!(same.code, 0, "{}", same.err);
    // Software cache maintenance takes the firmware longer.
    let slower = run("", "slower", "coherency=sw");
    assert_eq!(slower.code, 1, "{}", slower.err);
    assert!(slower.err.contains("regression"), "{}", slower.err);
    // Not compared with itself, and not with what an earlier run has left.
    let kept = fs::read(&baseline).expect("kept");
    let own = dir.path().join("own/run.log");
    fs::create_dir(own.parent().expect("a folder")).expect("made");
    std::os::unix::fs::symlink(&baseline, &own).expect("linked");
    let itself = run("", "own", "coherency=sw");
    assert_eq!(itself.code, 2, "{}", itself.err);
    assert!(itself.err.contains("OUT is another"), "{}", itself.err);
    for update in ["", "1"] {
        let mut script = tools.script("regression.sh");
        script.arg(&baseline).arg("--help").current_dir(dir.path());
        script.env("UPDATE", update).env("OUT", "slower");
        let stale = said(&mut script);
        assert_eq!(stale.code, 2, "{}", stale.err);
        assert!(stale.err.contains("no log of a run"), "{}", stale.err);
    }
    assert!(fs::read(&baseline).expect("kept") == kept);
    assert!(!dir.path().join("slower/junit.xml").exists());
    let slower = run("", "slower", "coherency=sw");
    assert_eq!(slower.code, 1, "{}", slower.err);
    for (file, text) in [
        ("slower/comparison.md", "worse"),
        ("slower/junit.xml", "<failure"),
        ("same/run.log", "psci-bench: PASS"),
    ] {
        let content = fs::read_to_string(dir.path().join(file)).expect(file);
        assert!(content.contains(text), "{file}");
    }
}

#[test]
fn the_fragments_call_the_script() {
    let tools = tools();
    for name in ["github.yml", "gitlab.yml"] {
        let text = fs::read_to_string(tools.root.join("docs/ci").join(name)).expect(name);
        let yaml: serde_json::Value = serde_saphyr::from_str(&text).expect(name);
        assert!(yaml.is_object());
        assert!(text.contains("psci-bench/docs/ci/regression.sh "), "{name}");
    }
    for name in ["lab.sh", "regression.sh"] {
        let mut check = std::process::Command::new("sh");
        let checked = said(check.arg("-n").arg(tools.root.join("docs/ci").join(name)));
        assert_eq!(checked.code, 0, "{}", checked.err);
        let used = said(&mut tools.script(name));
        assert_eq!(used.code, 2, "{}", used.err);
        assert!(used.err.starts_with("usage: "), "{}", used.err);
    }
}
