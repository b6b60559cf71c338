//! Tests `.ci/release` with a stand-in for `psci-report`, whose build takes minutes.
//! `.ci/release-check` also builds the real program.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use hardware::board::Board;
use hardware::image::{PARAMETER_MAGIC, ParameterBlock};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use crate::support::PROGRAM;
use crate::support::scratch::{Scratch, files};
use crate::support::{outcome, path_with, script};

/// Returns the script with `folder` as its argument. Its `cargo xtask` is the program under test,
/// and its `cargo tree` prints `tree` if that is not empty.
fn release(scratch: &Scratch, folder: &str, tree: &str) -> Command {
    let programs = scratch.path("programs");
    fs::create_dir_all(&programs).expect("made");
    let cargo = env::var("CARGO").expect("cargo runs the tests");
    let xtask = env!("CARGO_BIN_EXE_xtask");
    let body = format!(
        "tree='{tree}'\n\
         case $1 in\n\
         xtask) shift; exec '{xtask}' \"$@\" ;;\n\
         tree) [ -z \"$tree\" ] || exec echo \"$tree\" ;;\n\
         esac\n\
         exec '{cargo}' \"$@\""
    );
    script(&programs, "cargo", &body);
    script(&programs, "psci-report", "echo \"$# arguments\"");
    let root = Workspace::find().expect("the repository").root;
    let mut command = Command::new(root.join(".ci/release"));
    command.arg(folder).current_dir(scratch.path(""));
    command
        .env("PATH", path_with(&programs))
        .env("PSCI_REPORT", "programs/psci-report");
    command
}

/// Checks a board's image, device tree and description.
fn assert_board(release: &Path, name: &str, payload: &[u8]) {
    let folder = release.join("boards").join(name);
    let tree = fs::read(folder.join(format!("{name}.dtb"))).expect("a tree");
    let board = boards::load(name).expect("a board");
    assert_eq!(Board::read(&tree).expect("a good tree").model, board.title);
    let page = fs::read_to_string(folder.join("README.txt")).expect("text");
    assert!(
        page.starts_with(&format!("{name}: ")) && page.contains("\nUART "),
        "{page}"
    );
    let images: Vec<_> = files(&folder)
        .into_iter()
        .filter(|(path, _)| {
            let ending = path.extension().unwrap_or_default();
            ending == "bin" || ending == "img"
        })
        .collect();
    let [(_, image)] = &images[..] else {
        panic!("{name}: {} images", images.len());
    };
    let block = ParameterBlock::read(image).expect("an image");
    assert_eq!(image.get(block.tree_offset as usize..), Some(&tree[..]));
    let base = ParameterBlock::read(payload).expect("an image");
    assert_eq!((block.build, block.base_size), (base.build, base.base_size));
}

/// Returns true if a release includes the EFI application.
fn has_efi(workspace: &Workspace) -> bool {
    workspace.root.join("tools/efi").is_dir()
}

/// Checks the texts of one package of each program: payload, psci-report and EFI application.
fn assert_licenses(release: &Path, has_efi: bool) {
    let folder = release.join("licenses");
    let list = fs::read_to_string(folder.join("packages.txt")).expect("text");
    let efi = has_efi.then_some("uefi-raw");
    for package in ["tock-registers", "serial2"].into_iter().chain(efi) {
        let start = format!("{package} ");
        let line = list.lines().find(|line| line.starts_with(&start));
        let (name, license) = line.expect(package).split_once(": ").expect("a license");
        assert!(
            license.contains("MIT") || license.contains("Apache-2.0"),
            "{name}"
        );
        let texts = files(&folder.join(name.replace(' ', "-")));
        assert!(!texts.is_empty(), "{name}");
    }
    for file in [
        "llvm.txt",
        "musl.txt",
        "psci-bench/LICENSE-MIT",
        "rust-standard-library.html",
    ] {
        assert!(
            !fs::read(folder.join(file)).expect(file).is_empty(),
            "{file}"
        );
    }
}

/// Checks that every file has a checksum, and that none contains a path of this machine.
fn assert_files(scratch: &Scratch, root: &Path) {
    scratch.theirs("env -C new sha256sum --check --strict SHA256SUMS");
    let sums = String::from_utf8(scratch.read("new/SHA256SUMS")).expect("text");
    let all = files(&scratch.path("new"));
    assert_eq!(sums.lines().count(), all.len() - 1, "{sums}");
    let root = root.display().to_string();
    for (path, data) in &all {
        let has_root = memchr::memmem::find(data, root.as_bytes()).is_some();
        assert!(!has_root, "{} contains {root}", path.display());
    }
}

#[test]
fn release_has_every_board_and_no_path_of_this_machine() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    let workspace = Workspace::find().expect("the repository");
    let has_efi = has_efi(&workspace);
    let mut needs = vec![Need::RustTarget, Need::Mkimage];
    if has_efi {
        needs.extend([Need::EfiTarget, Need::Mtools]);
    }
    setup::ensure(&workspace, &needs).expect("installed");
    let (code, stderr) = outcome(&mut release(&scratch, "new", ""));
    assert_eq!(code, 0, "{stderr}");
    assert_files(&scratch, &workspace.root);
    assert_licenses(&scratch.path("new"), has_efi);
    let payload = scratch.read("new/payload.bin");
    let texts = ["README.md", "boards.txt"].map(|name| {
        let text = scratch.read(&format!("new/{name}"));
        String::from_utf8(text).expect("text")
    });
    let build = ParameterBlock::read(&payload).expect("an image").build;
    assert!(
        texts[0].contains(&format!("build {build:08x},")),
        "{}",
        texts[0]
    );
    assert!(!texts[0].contains('@'), "{}", texts[0]);
    for name in boards::names() {
        assert_board(&scratch.path("new"), name, &payload);
        assert!(texts[1].contains(&format!("\n{name} ")), "{name}");
    }
    for file in ["BOOTAA64.EFI", "stick.img"] {
        let path = scratch.path("new").join(file);
        assert_eq!(path.exists(), has_efi, "{file}");
        if has_efi {
            let data = fs::read(&path).expect(file);
            let found = memchr::memmem::find(&data, &PARAMETER_MAGIC);
            assert!(found.is_some(), "{file}");
        }
    }
    scratch.theirs("new/psci-report report run.log");
    // The commands in README.md for boards whose boot file must be built with another tool.
    scratch.theirs("mkimage -f new/boards/rk3399/psci-bench-rk3399.bin.its psci-bench.itb");
    scratch.write("bl31.bin", "TF-A");
    scratch.theirs("fiptool create --soc-fw bl31.bin --nt-fw bl31.bin fip.bin");
    let hikey = "new/boards/hikey/psci-bench-hikey.bin";
    scratch.theirs(&format!(
        "fiptool update --align 512 --nt-fw {hikey} fip.bin"
    ));
    let image = scratch.read(hikey);
    assert!(memchr::memmem::find(&scratch.read("fip.bin"), &image).is_some());
}

/// A release that fails leaves nothing behind.
#[test]
fn release_needs_a_new_folder_and_all_licenses() {
    let scratch = Scratch::new(PROGRAM);
    scratch.write("full/mine", "");
    for (folder, tree, expected, words) in [
        ("--help", "", 2, "usage: .ci/release DIR"),
        ("full", "", 2, "full: already exists"),
        ("absent/new", "", 2, "/absent first"),
        (
            "new",
            "MIT|gone v1.0.0",
            1,
            "package gone 1.0.0 has no license file",
        ),
        (
            "new",
            "GPL-3.0-only|gone v1.0.0",
            1,
            "'GPL-3.0-only' is not accepted",
        ),
        (
            "new",
            "|gone v1.0.0 (*)",
            1,
            "package gone 1.0.0: license '' is not accepted",
        ),
    ] {
        let mut command = release(&scratch, folder, tree);
        let before = fs::read_dir(scratch.path("")).expect("a folder").count();
        let (code, stderr) = outcome(&mut command);
        assert_eq!(code, expected, "{folder}: {stderr}");
        assert!(stderr.contains(words), "{folder}: {stderr}");
        let after = fs::read_dir(scratch.path("")).expect("a folder").count();
        assert_eq!(before, after, "{folder}: {stderr}");
    }
}
