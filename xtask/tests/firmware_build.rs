//! Builds of TF-A: repeatable, cached by what went in, and TF-A untouched.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use xtask::board::Gic;
use xtask::build::firmware::{self, Platform, Variant};
use xtask::build::tf_a::TfA;
use xtask::setup::workspace::Workspace;

fn files(dir: &Path, into: &mut BTreeMap<PathBuf, (u64, SystemTime)>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let entry = entry.expect("an entry");
        let meta = entry.metadata().expect("metadata");
        if meta.is_dir() {
            files(&entry.path(), into);
        } else {
            into.insert(entry.path(), (meta.len(), meta.modified().expect("a time")));
        }
    }
}

#[test]
fn a_build_leaves_tf_a_alone_and_repeats() {
    let found = Workspace::find().expect("the repository");
    let tf_a = TfA::locate(&found, None).expect("TF-A");
    let mut before = BTreeMap::new();
    files(&tf_a.dir, &mut before);
    let platform = Platform::overlay(&found, "qemu", Gic::V3, Variant::default());
    let mut builds = Vec::new();
    for _ in 0..2 {
        // A place of its own, so that nothing is cached.
        let dir = tempfile::tempdir().expect("a temporary directory");
        let elsewhere = Workspace {
            target: dir.path().to_path_buf(),
            ..found.clone()
        };
        let firmware = firmware::build(&elsewhere, &tf_a, &platform).expect("it builds");
        let modified = || {
            fs::metadata(firmware.dir.join("bl31.bin"))
                .expect("there")
                .modified()
        };
        let first = modified().expect("a time");
        firmware::build(&elsewhere, &tf_a, &platform).expect("it is there");
        assert_eq!(modified().expect("a time"), first, "built twice");
        let read = |stage| firmware.read(stage).expect("a stage");
        builds.push(["bl1", "bl2", "bl31"].map(read));
    }
    assert!(builds[0] == builds[1], "two builds differ");
    let mut after = BTreeMap::new();
    files(&tf_a.dir, &mut after);
    assert!(before == after, "TF-A's source was written to");
}

/// A TF-A of a later version: the pinned one, under another number.
#[test]
fn a_version_after_2_15_warns_and_goes_on() {
    let found = Workspace::find().expect("the repository");
    let pinned = TfA::locate(&found, None).expect("TF-A").dir;
    let dir = tempfile::tempdir().expect("a temporary directory");
    for entry in fs::read_dir(&pinned).expect("a directory") {
        let entry = entry.expect("an entry");
        let place = dir.path().join(entry.file_name());
        std::os::unix::fs::symlink(entry.path(), place).expect("a link");
    }
    let makefile = fs::read_to_string(pinned.join("Makefile")).expect("a Makefile");
    let later = |line: &str| match line.starts_with("VERSION_MINOR") {
        true => "VERSION_MINOR := 16\n".to_owned(),
        false => format!("{line}\n"),
    };
    let path = dir.path().join("Makefile");
    fs::remove_file(&path).expect("a link");
    fs::write(&path, makefile.lines().map(later).collect::<String>()).expect("written");
    let image = dir.path().join("stub.bin");
    fs::write(&image, support::stub(support::PASS, support::End::Off)).expect("written");
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (tf_a, image) = (text(dir.path()), text(&image));
    let run = ["qemu", "--tf-a", &tf_a, "--image", &image];
    let (code, said) = support::outcome(&mut support::xtask(&run));
    assert_eq!(code, 0, "{said}");
    let warning = format!("warning: --tf-a {tf_a}: this is TF-A 2.16.");
    assert!(said.contains(&warning), "{said}");
    assert!(said.contains("it was tried with 2.12 to 2.15"), "{said}");
}

#[test]
fn every_variant_builds_and_each_is_another() {
    let workspace = Workspace::find().expect("the repository");
    let tf_a = TfA::locate(&workspace, None).expect("TF-A");
    let mut seen = Vec::new();
    for words in [
        "",
        "coherency=sw",
        "gic-reset=1",
        "pmf=sip",
        "pmf=off",
        "state-id=extended",
        "faults=1",
    ] {
        for gic in [Gic::V2, Gic::V3] {
            let variant: Variant = words.parse().expect("known words");
            let platform = Platform::overlay(&workspace, "qemu", gic, variant);
            let built = firmware::build(&workspace, &tf_a, &platform);
            let bl31 = built.and_then(|firmware| firmware.read("bl31"));
            let bl31 = bl31.unwrap_or_else(|error| panic!("{gic:?} {variant}: {error:#}"));
            assert!(!seen.contains(&bl31), "{gic:?} {variant} is like another");
            seen.push(bl31);
        }
    }
}

#[test]
fn a_build_that_fails_is_told_and_leaves_nothing() {
    let found = Workspace::find().expect("the repository");
    let tf_a = TfA::locate(&found, None).expect("TF-A");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let elsewhere = Workspace {
        target: dir.path().to_path_buf(),
        ..found.clone()
    };
    let mut platform = Platform::overlay(&found, "qemu", Gic::V3, Variant::default());
    platform.variables.push("PB_PMF=none".into());
    let error = firmware::build(&elsewhere, &tf_a, &platform).expect_err("no such variant");
    let error = format!("{error:#}");
    assert!(error.contains("PB_PMF='none' is not known"), "{error}");
    let left = fs::read_dir(dir.path().join("psci-bench/firmware")).expect("there");
    let dirs = left.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir()));
    assert_eq!(dirs.count(), 0);
}
