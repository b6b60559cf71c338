//! Tests releases. `.ci/release` also builds `psci-report` in two clones, which takes minutes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use hardware::board::Board;
use hardware::image::ParameterBlock;
use host::folder::OutputFolder;
use xtask::release::contents::{NEEDS, contents};
use xtask::setup::workspace::Workspace;
use xtask::setup::{self, Need};

use crate::support::scratch::{Scratch, files};
use crate::support::{interrupt, path_with, script, xtask};

/// A stand-in for `psci-report`.
const PROGRAM: &[u8] = b"#!/bin/sh\necho \"$# arguments\"\n";

/// Writes a release to a new folder at `path`.
fn write_release(path: &Path) {
    let workspace = Workspace::find().expect("the repository");
    let needs = NEEDS.into_iter().filter(|need| *need != Need::ReportTarget);
    let needs: Vec<Need> = needs.chain([Need::Mkimage]).collect();
    setup::ensure(&workspace, &needs).expect("installed");
    let folder = OutputFolder::new("-o", path, None).expect("a new folder");
    let made = contents(&workspace, || Ok(PROGRAM.to_vec())).expect("contents");
    folder.write(&made).expect("written");
}

/// Returns the files below `folder`, with paths relative to it.
fn files_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let inside = |path: &Path| path.strip_prefix(folder).expect("below").to_path_buf();
    let all = files(folder).into_iter();
    all.map(|(path, data)| (inside(&path), data)).collect()
}

/// Checks a board's image and device tree.
fn assert_board(release: &Path, name: &str, payload: &[u8]) {
    let folder = release.join("boards").join(name);
    let tree = fs::read(folder.join(format!("{name}.dtb"))).expect("a tree");
    let board = boards::load(name).expect("a board");
    assert_eq!(Board::read(&tree).expect("a good tree").model, board.title);
    let images = files_in(&folder).into_iter().filter(|(path, _)| {
        let ending = path.extension().unwrap_or_default();
        ending == "bin" || ending == "img"
    });
    let images: Vec<_> = images.collect();
    let [(_, image)] = &images[..] else {
        panic!("{name}: {} images", images.len());
    };
    let block = ParameterBlock::read(image).expect("an image");
    assert_eq!(image.get(block.tree_offset as usize..), Some(&tree[..]));
    let base = ParameterBlock::read(payload).expect("an image");
    assert_eq!((block.build, block.base_size), (base.build, base.base_size));
}

#[test]
fn releases_are_equal_and_have_every_board() {
    let scratch = Scratch::new();
    let [one, two] = ["one", "two"].map(|name| scratch.path(name));
    write_release(&one);
    write_release(&two);
    let all = files_in(&one);
    assert!(all == files_in(&two));
    let payload = scratch.read("one/payload.bin");
    let texts = ["README.md", "boards.txt"].map(|name| {
        let text = scratch.read(&format!("one/{name}"));
        String::from_utf8(text).expect("text")
    });
    for name in boards::names() {
        assert_board(&one, name, &payload);
        assert!(texts[0].contains(&format!("\n## {name}: ")), "{name}");
        assert!(texts[1].contains(&format!("\n{name} ")), "{name}");
    }
    let root = Workspace::find().expect("the repository").root;
    let root = root.display().to_string();
    for (path, data) in &all {
        let has_root = memchr::memmem::find(data, root.as_bytes()).is_some();
        assert!(!has_root, "{} contains {root}", path.display());
    }
    scratch.theirs("env -C one sha256sum --check --strict SHA256SUMS");
    scratch.theirs("one/psci-report report run.log");
    // The commands in README.md for boards whose boot file must be built with another tool.
    scratch.theirs("mkimage -f one/boards/rk3399/psci-bench.its psci-bench.itb");
    scratch.write("bl31.bin", "TF-A");
    scratch.theirs("fiptool create --soc-fw bl31.bin --nt-fw bl31.bin fip.bin");
    scratch.theirs("fiptool update --align 512 --nt-fw one/boards/hikey/bl33.bin fip.bin");
    let image = scratch.read("one/boards/hikey/bl33.bin");
    assert!(memchr::memmem::find(&scratch.read("fip.bin"), &image).is_some());
}

/// Unsuitable output folders are rejected before anything is built.
#[test]
fn release_needs_a_new_folder() {
    let scratch = Scratch::empty();
    scratch.write("full/mine", "");
    for (line, words) in [
        ("release", "--output <DIR>"),
        ("release -o full", "-o full: this directory is not empty"),
        ("release -o full/mine", "is not a directory"),
        ("release -o absent/new", "/absent; create it first"),
        ("release -o /", "specify a new directory in it"),
    ] {
        scratch.refuses(line, words);
    }
}

#[test]
fn an_interrupted_release_leaves_nothing() {
    let scratch = Scratch::empty();
    let tools = tempfile::tempdir().expect("a temporary directory");
    let body = "case $1 in metadata|tree) exec cargo \"$@\";; esac; \
        touch \"$0.started\"; exec sleep 60";
    script(tools.path(), "endless-cargo", body);
    // This stub reports that all targets are installed.
    let body = "case $2 in target-libdir) echo /;; *) exec rustc \"$@\";; esac";
    script(tools.path(), "any-rustc", body);
    script(tools.path(), "mformat", "exit 0");
    let mut command = xtask(&["release", "-o", "new"]);
    command.current_dir(scratch.path("")).stderr(Stdio::piped());
    command
        .env("CARGO", tools.path().join("endless-cargo"))
        .env("RUSTC", tools.path().join("any-rustc"))
        .env("PATH", path_with(tools.path()));
    let child = command.spawn().expect("the program starts");
    let started = tools.path().join("endless-cargo.started");
    let begin = Instant::now();
    while !started.exists() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "no build has started"
        );
        thread::sleep(Duration::from_millis(10));
    }
    interrupt(&child.id().to_string());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(
        scratch.files().is_empty() && !scratch.path("new").exists(),
        "{said}"
    );
}
