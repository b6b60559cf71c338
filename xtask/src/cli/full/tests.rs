//! The definition of the commands, their help, and the commands that the docs show.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory, Parser as _};
use host::process;
use host::progress::note;

use crate::build::tf_a::{MBED_TLS, TF_A};
use crate::cli::main::XtaskArguments;
use crate::qemu::kvm_host::KERNEL;
use crate::setup::workspace::Workspace;
use crate::setup::{self, linux_trees};

#[test]
fn the_definition_is_sound() {
    XtaskArguments::command().debug_assert();
}

/// The examples of the help of each command.
fn examples(command: &Command) -> Vec<String> {
    let own = command.get_after_help().map(ToString::to_string);
    let inner = command.get_subcommands().flat_map(examples);
    own.into_iter().chain(inner).collect()
}

/// Checks the long help of `command` and of all commands within it, on a terminal of 72 columns.
fn check_help(command: Command) {
    let mut command = command.term_width(72);
    let inner: Vec<Command> = command.get_subcommands().cloned().collect();
    inner.into_iter().for_each(check_help);
    let name = command.get_name().to_owned();
    assert!(examples(&command).concat().contains("Example"), "{name}");
    let help = command.render_long_help().to_string();
    for line in help.lines() {
        // A line of one word cannot be wrapped.
        let is_short = line.chars().count() <= 72 || line.split_whitespace().count() == 1;
        assert!(is_short, "{name}: {line}");
    }
    for link in ["[`", "crate::", "super::", "Self::"] {
        assert!(!help.contains(link), "{name}: {link} in\n{help}");
    }
}

#[test]
fn help_is_wrapped_has_examples_and_no_links_of_rustdoc() {
    check_help(XtaskArguments::command());
    let help = XtaskArguments::command().render_help().to_string();
    assert!(
        help.starts_with("psci-bench measures what PSCI calls cost"),
        "{help}"
    );
    assert_eq!(help.matches("\n  cargo xtask ").count(), 3, "{help}");
}

#[test]
fn readme_lists_all_that_is_installed() {
    let root = Workspace::find().expect("the workspace").root;
    let readme = fs::read_to_string(root.join("README.md")).expect("a text");
    let sources = [TF_A.package, MBED_TLS.package, linux_trees::META, KERNEL];
    for name in setup::installed().chain(sources) {
        assert!(readme.contains(&format!("`{name}`")), "{name}");
    }
}

/// Returns the place of this system's column in the table of docs/hosts.md.
fn column(heading: &str) -> Option<usize> {
    let release = fs::read_to_string("/etc/os-release").ok()?;
    let value = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key));
        line.map(|value| value.trim_matches('"'))
    };
    let name = format!("Debian {}", value("VERSION_ID=")?);
    let is_debian = value("ID=") == Some("debian");
    let place = heading.split('|').position(|cell| cell.trim() == name);
    place.filter(|_| is_debian)
}

/// Returns the version of a Debian package, without its epoch; None if it is not installed.
fn package_version(package: &str) -> Option<String> {
    let mut query = std::process::Command::new("dpkg-query");
    let query = query.args(["-W", "-f", "${Version}", package]);
    let version = process::output(query).ok()?;
    let (_, version) = version.split_once(':').unwrap_or(("", &version));
    Some(version.to_owned()).filter(|version| !version.is_empty())
}

#[test]
fn documented_versions_are_those_of_this_host() {
    let root = Workspace::find().expect("the workspace").root;
    let text = fs::read_to_string(root.join("docs/hosts.md")).expect("a text");
    let mut rows = text.lines().filter(|line| line.starts_with("| "));
    let heading = rows.next().expect("a table");
    let Some(column) = column(heading) else {
        note("docs/hosts.md has no column of this system: its versions are not compared");
        return;
    };
    for row in rows.filter(|row| row.contains('`')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (package, documented) = (cells[2].trim_matches('`'), cells[column]);
        // What a test needs is installed before it; other commands need less.
        let Some(found) = package_version(package) else {
            continue;
        };
        let rest = found.strip_prefix(documented);
        let is_same =
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()));
        assert!(
            is_same,
            "{package}: {found} is installed, and {documented} is documented"
        );
    }
}

/// The blocks of shell commands in the README and in docs/.
fn shell_blocks(root: &Path) -> Vec<String> {
    let docs = fs::read_dir(root.join("docs")).expect("the folder");
    let docs = docs.map(|entry| entry.expect("an entry").path());
    let is_text = |path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "md");
    let mut blocks = Vec::new();
    for path in docs.filter(is_text).chain([root.join("README.md")]) {
        let text = fs::read_to_string(path).expect("a text");
        let parts = text.split("\n```sh\n").skip(1);
        blocks.extend(parts.filter_map(|it| Some(it.split_once("```")?.0.to_owned())));
    }
    blocks
}

/// The words of a line of shell, without its comment.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" # ").next().expect("a split has a part");
    let parts = line.split(['"', '\'']).enumerate();
    let words = parts.flat_map(|(nth, part)| match nth % 2 {
        1 => vec![part],
        _ => part.split_whitespace().collect(),
    });
    words.map(str::to_owned).collect()
}

#[test]
fn documented_commands_are_accepted() {
    let root = Workspace::find().expect("the workspace").root;
    let mut texts = shell_blocks(&root);
    texts.extend(examples(&XtaskArguments::command()));
    let mut count = 0;
    let mut refused = Vec::new();
    for text in texts {
        for line in text.replace("\\\n", " ").lines() {
            let Some((_, line)) = line.split_once("cargo xtask ") else {
                continue;
            };
            count += 1;
            let words = words(line);
            let is_one = !words.iter().any(|it| it == "cargo" || it == "xtask");
            let parsed =
                XtaskArguments::try_parse_from(["xtask".to_owned()].into_iter().chain(words));
            if !is_one || parsed.is_err() {
                refused.push(format!(
                    "{line}: {:?}",
                    parsed.err().map(|it| it.to_string())
                ));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(count > 100, "{count}");
}
