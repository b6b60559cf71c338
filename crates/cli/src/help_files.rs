//! A test of a package's list of verbs and help files, which `cargo xtask` reads instead of building
//! the package's program.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

use clap::Command;

use crate::tool_package::{ToolPackage, ToolVerb};

/// Checks that the package in `folder` lists the verbs of `command`, which is named `cargo xtask`,
/// and that its help files are up to date. If UPDATE_EXPECT is set, writes the files instead.
///
/// # Panics
/// Panics if the list or a file differs, or a file of a verb that does not exist is left.
pub fn check(command: &Command, folder: &Path) {
    let package = ToolPackage::read(folder).expect("a manifest");
    let package = package.expect("[package.metadata.xtask]");
    let verbs: Vec<ToolVerb> = command
        .get_subcommands()
        .map(|verb| ToolVerb {
            name: verb.get_name().to_owned(),
            summary: verb
                .get_about()
                .map(ToString::to_string)
                .unwrap_or_default(),
        })
        .collect();
    assert_eq!(
        package.verbs, verbs,
        "[package.metadata.xtask] of {}",
        package.name
    );
    let mut expected = BTreeSet::new();
    check_verbs(command, command, &[], &package, &mut expected);
    let help = fs::read_dir(folder.join("help")).expect("the help files");
    let found: BTreeSet<PathBuf> = help.map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(found, expected);
}

/// Checks the help files of all verbs of `inner`, which is the verb of `root` at `path`.
fn check_verbs(
    root: &Command,
    inner: &Command,
    path: &[&str],
    package: &ToolPackage,
    files: &mut BTreeSet<PathBuf>,
) {
    for verb in inner.get_subcommands() {
        let path = [path, &[verb.get_name()]].concat();
        let file = package.help_file(&path);
        let help = help_of(root, &path);
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            fs::write(&file, &help).expect("written");
        }
        let kept = fs::read_to_string(&file).unwrap_or_default();
        let name = file.display();
        assert_eq!(kept, help, "{name}: run this test with UPDATE_EXPECT=1");
        files.insert(file);
        check_verbs(root, verb, &path, package, files);
    }
}

/// Returns the help of the verb of `command` at `path`, on a terminal with 80 columns.
fn help_of(command: &Command, path: &[&str]) -> String {
    let words = ["program"].iter().chain(path).chain(&["--help"]);
    let printed = command.clone().term_width(80).try_get_matches_from(words);
    printed.expect_err("help is an error").to_string()
}
