//! `--format patch` and `--format dts`: git applies them, dtc compiles the result, and an audit of
//! the result finds nothing wrong.

use std::fs;

use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use super::{Edit, edit, edited, scratch};
use crate::support::scratch::Scratch;

/// Returns a folder with a tree with a lie of each kind, and the tree's source.
fn lies() -> Scratch {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::Dtc]).expect("dtc");
    let scratch = scratch();
    let lies = edited(|tree| {
        for (state, property, what) in [
            ("core-standby", "exit-latency-us", Edit::Us(3)),
            ("core-off", "local-timer-stop", Edit::Present),
            ("core-off", "wakeup-latency-us", Edit::Us(20)),
            ("cluster-off", "min-residency-us", Edit::Us(200)),
            ("system-off", "entry-latency-us", Edit::Absent),
        ] {
            edit(tree, state, property, what);
        }
    });
    scratch.write("lies.dtb", &lies);
    fs::create_dir(scratch.path("dts")).expect("made");
    scratch.theirs("dtc -q -I dtb -O dts lies.dtb -o dts/lies.dts");
    scratch
}

const AUDIT: &str = "audit-idle idle.log --tree lies.dtb";
const COMPILE: &str = "dtc -q -I dts -O dtb dts/lies.dts -o new.dtb";

#[test]
fn patch_is_applied_and_compiled() {
    let scratch = lies();
    let lines = [(AUDIT, 1, "contradictory")];
    scratch.assert_outcomes(&lines);
    let patch = format!("{AUDIT} --dts dts/lies.dts --format patch -o idle.patch");
    scratch.assert_outcomes(&[(&patch, 1, "")]);
    let text = String::from_utf8(scratch.read("idle.patch")).expect("UTF-8");
    let added: Vec<&str> = text.lines().filter(|line| line.starts_with('+')).collect();
    assert_eq!(added.len(), 1 + 4, "{text}");
    assert!(
        text.contains("* core-standby, exit-latency-us, 3 to 6: too small by 0.87"),
        "{text}"
    );
    scratch.theirs("git apply --check idle.patch");
    scratch.theirs("git apply idle.patch");
    scratch.theirs(COMPILE);
    scratch.assert_outcomes(&[(
        "audit-idle idle.log --tree new.dtb",
        0,
        "24 right, 4 cannot",
    )]);
    // Nothing is left to patch.
    let again = "audit-idle idle.log --tree new.dtb --dts dts/lies.dts --format patch -o none";
    scratch.assert_outcomes(&[(again, 0, "")]);
    assert_eq!(scratch.read("none"), b"");
}

#[test]
fn changes_can_be_appended_to_the_source() {
    let scratch = lies();
    let line = format!("{AUDIT} --format dts");
    let (code, changes, stderr) = scratch.called(&line);
    assert_eq!(code, 1, "{stderr}");
    for part in [
        "&{/cpus/idle-states/core-off} {",
        "/delete-property/ local-timer-stop;",
    ] {
        assert!(changes.contains(part), "{changes}");
    }
    let source = [scratch.read("dts/lies.dts"), changes.into_bytes()].concat();
    scratch.write("dts/lies.dts", &source);
    scratch.theirs(COMPILE);
    scratch.assert_outcomes(&[(
        "audit-idle idle.log --tree new.dtb",
        0,
        "24 right, 4 cannot",
    )]);
}

#[test]
fn source_of_another_tree_is_refused() {
    let scratch = lies();
    let patch = "audit-idle idle.log --tree lies.dtb --format patch --dts";
    let source = String::from_utf8(scratch.read("dts/lies.dts")).expect("UTF-8");
    for (name, text, words) in [
        (
            "other.dts",
            source.replace("exit-latency-us = <0x03>", "exit-latency-us = <0x04>"),
            "other.dts: /cpus/idle-states/core-standby exit-latency-us: 4 in the source",
        ),
        (
            "less.dts",
            source.replace("core-off {", "core-gone {"),
            "less.dts: does not contain the node /cpus/idle-states/core-off",
        ),
        (
            "cut.dts",
            source[..source.len() - 3].to_owned(),
            "cut.dts: line ",
        ),
        (
            "bytes.dts",
            "\u{e4}/dts-v1/;".to_owned(),
            "does not contain the node",
        ),
    ] {
        scratch.write(name, &text);
        scratch.refuses(&format!("{patch} {name}"), words);
    }
}
