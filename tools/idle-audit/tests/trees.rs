//! The declared idle states of the boards that Linux supports.

use std::fs;
use std::path::Path;

use expect_test::expect_file;
use idle_audit::audit::{self, DeclaredBy, DeclaredSource, IdleAudit};
use idle_audit::export::{IdleFormat, IdleReport};
use report::export::DocumentFormat;
use runner::setup::linux_trees::{self, LinuxTrees};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};
use test_support::scratch::Scratch;

fn workspace() -> Workspace {
    Workspace::find().expect("the repository")
}

/// Audits all trees with idle states, without a log.
fn audits(trees: &LinuxTrees) -> Vec<IdleAudit> {
    let audits = trees.files.iter().filter_map(|file| {
        let name = file.strip_prefix(&trees.dir).unwrap_or(file);
        let blob = fs::read(file).expect("a tree");
        let name = name.display().to_string();
        let source = DeclaredSource::of_any_tree(&name, DeclaredBy::Tree, &blob)
            .expect("a well-formed tree")?;
        Some(audit::audit(&source, "", &[], 2.0).expect("an audit"))
    });
    audits.collect()
}

/// Each contradiction in the expected list is a real one.
#[test]
#[ignore = "fetches 90 MB: cargo xtask test trees"]
fn contradictions_of_linux() {
    let trees = linux_trees::fetch(&workspace()).expect("the Debian arm64 kernel");
    let report = IdleReport {
        audits: audits(&trees),
        ..IdleReport::default()
    };
    let mut text = format!("# {}\n", trees.package).into_bytes();
    let format = IdleFormat::Document(DocumentFormat::Text);
    format.write(&report, &mut text).expect("written");
    let text = String::from_utf8(text).expect("UTF-8");
    println!("{text}");
    // The table has a row per tree.
    let (text, _) = text.split_once("\nTrees\n").expect("a table");
    // The list depends on the kernel version.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/linux-idle-states.txt");
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let package = expected.lines().next();
    if package == text.lines().next() || std::env::var_os("UPDATE_EXPECT").is_some() {
        expect_file![path].assert_eq(text);
    } else {
        println!("the expected list is for a different package: {package:?}");
    }
}

/// Corrects each tree with a patch to its decompiled source. Only the wrong order of states is
/// left.
#[test]
#[ignore = "fetches 90 MB: cargo xtask test trees"]
fn contradictions_of_linux_are_corrected_by_patches() {
    let workspace = workspace();
    setup::ensure(&workspace, &[Need::Dtc]).expect("dtc");
    let trees = linux_trees::fetch(&workspace).expect("the Debian arm64 kernel");
    let audits = audits(&trees);
    let is_changed =
        |audit: &&IdleAudit| audit.states.iter().any(|state| !state.changes.is_empty());
    let changed: Vec<&IdleAudit> = audits.iter().filter(is_changed).collect();
    assert!(!changed.is_empty());
    for audit in changed {
        let scratch = Scratch::new(env!("CARGO_BIN_EXE_psci-idle-audit"));
        let tree = fs::read(trees.dir.join(&audit.source)).expect("a tree");
        scratch.write("board.dtb", &tree);
        scratch.theirs("dtc -q -I dtb -O dts board.dtb -o board.dts");
        let line = "audit-idle --tree board.dtb --dts board.dts --format patch -o idle.patch";
        scratch.assert_outcomes(&[(line, 1, "contradictory")]);
        scratch.theirs("git apply idle.patch");
        scratch.theirs("dtc -q -I dts -O dtb board.dts -o new.dtb");
        let new = scratch.read("new.dtb");
        let source =
            DeclaredSource::of_tree(&audit.source, DeclaredBy::Tree, &new).expect("idle states");
        let rest = audit::audit(&source, "", &[], 2.0).expect("an audit");
        let all = rest.judgements();
        let rest: Vec<_> = all
            .filter(|(_, judgement)| {
                judgement.verdict.calls_for_change() && !judgement.is_uncorrectable()
            })
            .collect();
        assert!(rest.is_empty(), "{}: {rest:#?}", audit.source);
    }
}
