//! TF-A builds are reproducible, are cached by input, and do not modify the source tree.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use boards::GicVersion;
use runner::build::firmware::{self, FirmwareBuild, FirmwareVariant, Platform};
use runner::build::tf_a::TfA;
use runner::setup::workspace::Workspace;

/// Adds the size and modification time of each file below `dir` to `into`.
fn files(dir: &Path, into: &mut BTreeMap<PathBuf, (u64, SystemTime)>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let meta = fs::symlink_metadata(&path).expect("metadata");
        if meta.is_dir() {
            files(&path, into);
        } else {
            into.insert(path, (meta.len(), meta.modified().expect("a time")));
        }
    }
}

/// Returns the workspace, a second workspace with an empty cache, and TF-A.
fn places(dir: &Path) -> (Workspace, Workspace, TfA) {
    let found = Workspace::find().expect("the repository");
    let tf_a = TfA::locate(&found, None).expect("TF-A");
    let elsewhere = Workspace {
        target: dir.to_path_buf(),
        ..found.clone()
    };
    (found, elsewhere, tf_a)
}

/// A build in a second place is compared with this one in the next test.
#[test]
fn a_build_leaves_tf_a_alone_and_is_made_again_only_if_damaged() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (found, elsewhere, tf_a) = places(dir.path());
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    files(&tf_a.dir, &mut before);
    let platform = Platform::overlay(&found, "qemu", GicVersion::V3, FirmwareVariant::default());
    let build = || firmware::build(&elsewhere, &tf_a, &platform).expect("it builds");
    let read_stages = |firmware: &FirmwareBuild| {
        ["bl1", "bl2", "bl31"].map(|stage| firmware.read(stage).expect("a stage"))
    };
    let firmware = build();
    let bl31 = firmware.dir.join("bl31.bin");
    let time = || {
        let built = fs::metadata(&bl31).expect("there");
        built.modified().expect("a time")
    };
    let (good, first) = (read_stages(&firmware), time());
    build();
    assert_eq!(time(), first, "built twice");
    // A cached file that has been damaged must not be run.
    fs::write(&bl31, &good[2][..1000]).expect("written");
    fs::remove_file(firmware.dir.join("bl1.elf")).expect("removed");
    assert!(read_stages(&build()) == good, "the two builds differ");
    assert!(firmware.dir.join("bl1.elf").exists());
    files(&tf_a.dir, &mut after);
    assert!(before == after, "the build wrote to the TF-A source tree");
}

/// Makefiles split paths at spaces, and expand `$` and `#`.
#[test]
fn a_build_in_a_path_with_a_space_is_the_same() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let place = dir.path().join("a b$c#d");
    let (found, elsewhere, tf_a) = places(&place);
    fs::create_dir_all(elsewhere.state()).expect("made");
    let linked = [
        ("tf-a", &tf_a.dir),
        ("platforms", &found.root.join("platforms")),
    ];
    let [source, platforms] = linked.map(|(name, target)| {
        let link = place.join(name);
        symlink(target, &link).expect("made");
        link
    });
    let platform = Platform::overlay(&found, "qemu", GicVersion::V3, FirmwareVariant::default());
    let usual = firmware::build(&found, &tf_a, &platform).expect("it builds");
    let tf_a = TfA {
        dir: source,
        ..tf_a
    };
    let platform = Platform {
        root: Some(platforms.join("qemu/tf-a/plat")),
        ..platform
    };
    let built = firmware::build(&elsewhere, &tf_a, &platform).expect("it builds");
    for stage in ["bl1", "bl2", "bl31"] {
        let read = |firmware: &FirmwareBuild| firmware.read(stage).expect("a stage");
        assert!(read(&built) == read(&usual), "{stage}");
    }
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
        "cpu-on-race=500",
    ] {
        for gic in [GicVersion::V2, GicVersion::V3] {
            let variant: FirmwareVariant = words.parse().expect("known words");
            let platform = Platform::overlay(&workspace, "qemu", gic, variant);
            let built = firmware::build(&workspace, &tf_a, &platform);
            let bl31 = built
                .and_then(|firmware| firmware.read("bl31"))
                .expect("it builds");
            assert!(
                !seen.contains(&bl31),
                "{gic:?} {variant}: same BL31 as another build"
            );
            seen.push(bl31);
        }
    }
}

#[test]
fn a_build_that_fails_is_told_and_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (found, elsewhere, tf_a) = places(dir.path());
    let mut platform =
        Platform::overlay(&found, "qemu", GicVersion::V3, FirmwareVariant::default());
    platform.variables.push("PB_PMF=none".into());
    let built = firmware::build(&elsewhere, &tf_a, &platform);
    let error = format!("{:#}", built.expect_err("no such variant"));
    assert!(error.contains("PB_PMF='none' is not known"), "{error}");
    let left = fs::read_dir(dir.path().join("psci-bench/firmware")).expect("there");
    let dirs = left.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().is_dir()));
    assert_eq!(dirs.count(), 0);
}
