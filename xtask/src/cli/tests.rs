//! Tests the command definitions, their help, and the commands shown in the docs.

use std::fs;
use std::path::Path;

use boards::image_kinds::{IMAGE_KINDS, ImageKind};
use cli::documented::{accepted_examples, page_examples, pages};
use cli::help_style::check_help;
use cli::program::XTASK;
use cli::tool_package::{ToolPackage, ToolVerb};
use host::exit_code::EXIT_CODES;
use host::process;
use host::progress::note;
use runner::build::tf_a::{MBED_TLS, TF_A};
use runner::setup::workspace::Workspace;
use runner::setup::{self, linux_trees};

use super::main::command;
use super::tool;

#[test]
fn the_definition_is_sound() {
    command().debug_assert();
}

#[test]
fn help_of_each_verb_fits_a_terminal() {
    check_help(&command());
}

#[test]
fn help_begins_with_the_purpose_and_has_the_exit_codes_once() {
    let help = command().render_help().to_string();
    assert!(help.starts_with("Measures what PSCI calls cost"), "{help}");
    assert_eq!(help.matches("\n  cargo xtask ").count(), 2, "{help}");
    assert_eq!(help.matches(EXIT_CODES).count(), 1, "{help}");
}

/// The heading in docs/setup.md between what is installed and the versions that have been tested.
const TESTED_HOSTS: &str = "## Tested hosts";

/// The help shows only the options, so docs/fip.md describes the images.
#[test]
fn images_of_packages_are_documented() {
    let root = Workspace::find().expect("the workspace").root;
    let page = fs::read_to_string(root.join("docs/fip.md")).expect("text");
    for ImageKind { option, title, .. } in IMAGE_KINDS.iter() {
        let row = format!("\n| `--{option}` | {title} |\n");
        assert!(page.contains(&row), "{row}");
    }
}

#[test]
fn setup_page_lists_all_that_is_installed() {
    let root = Workspace::find().expect("the workspace").root;
    let page = fs::read_to_string(root.join("docs/setup.md")).expect("text");
    let (listed, _) = page.split_once(TESTED_HOSTS).expect("a heading");
    let sources = [TF_A.package, MBED_TLS.package, linux_trees::META];
    for name in setup::installed().chain(sources) {
        assert!(listed.contains(&format!("`{name}`")), "{name}");
    }
}

/// Returns the index of this system's column in the table of hosts in docs/setup.md.
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

/// Returns the version of a Debian package without the epoch, or None if it is not installed.
fn package_version(package: &str) -> Option<String> {
    let mut query = std::process::Command::new("dpkg-query");
    query.args(["-W", "-f", "${Version}", package]);
    let full_version = process::output(&mut query).ok()?;
    let (_, version) = full_version.split_once(':').unwrap_or(("", &full_version));
    Some(version.to_owned()).filter(|version| !version.is_empty())
}

#[test]
fn documented_versions_are_those_of_this_host() {
    let root = Workspace::find().expect("the workspace").root;
    let page = fs::read_to_string(root.join("docs/setup.md")).expect("text");
    let (_, hosts) = page.split_once(TESTED_HOSTS).expect("a heading");
    let mut rows = hosts.lines().filter(|line| line.starts_with("| "));
    let heading = rows.next().expect("a table");
    let Some(column) = column(heading) else {
        note("docs/setup.md has no column for this system, so its versions are not compared");
        return;
    };
    for row in rows.filter(|row| row.contains('`')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let (package, documented) = (cells[2].trim_matches('`'), cells[column]);
        // `cargo xtask test` installs all of these packages, but other commands install only some
        // of them.
        let Some(found) = package_version(package) else {
            continue;
        };
        let rest = found.strip_prefix(documented);
        let is_same =
            rest.is_some_and(|suffix| !suffix.starts_with(|letter: char| letter.is_ascii_digit()));
        assert!(
            is_same,
            "{package}: {found} is installed, and {documented} is documented"
        );
    }
}

/// Returns the verb of each `cargo xtask VERB` that `text` shows in backticks.
fn verbs_in(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.windows(3).filter(|words| {
        let is_program = words[0].ends_with("`cargo") && words[1] == "xtask";
        is_program && words[2].starts_with(|letter: char| letter.is_ascii_lowercase())
    });
    let is_of_verb = |c: char| c.is_ascii_lowercase() || c == '-';
    let verb = |words: &[&str]| words[2].chars().take_while(|c| is_of_verb(*c)).collect();
    pairs.map(verb).collect()
}

/// Returns the verbs in the README's table of tools, which also lists tools that have been removed.
fn verbs_of_listed_tools(readme: &str) -> Vec<String> {
    let rows = readme.lines().filter(|line| line.contains("](tools/"));
    let verbs = rows.filter_map(|row| row.split('|').nth(2));
    verbs
        .flat_map(|verbs| verbs.split('`').skip(1).step_by(2))
        .map(str::to_owned)
        .collect()
}

/// A misspelt verb in a shell block is the verb of no package.
#[test]
fn documented_verbs_exist() {
    let root = Workspace::find().expect("the workspace").root;
    let packages = ToolPackage::find_all(&root).expect("the packages");
    let readme = fs::read_to_string(root.join("README.md")).expect("text");
    let listed = verbs_of_listed_tools(&readme);
    assert!(listed.len() > 7, "{listed:?}");
    let command = command();
    let is_known = |verb: &str| {
        let mut others = packages.iter().flat_map(|package| &package.verbs);
        verb.starts_with('-')
            || command.find_subcommand(verb).is_some()
            || others.any(|other| other.name == verb)
            || listed.iter().any(|other| other == verb)
    };
    for (path, page) in pages(&root) {
        for example in page_examples(&page, XTASK) {
            let verb = example.words.first();
            assert!(
                verb.is_none_or(|verb| is_known(verb)),
                "{}: {}",
                path.display(),
                example.line
            );
        }
    }
    assert!(!is_known("proflie"));
}

#[test]
fn a_verb_belongs_to_one_package() {
    let root = Workspace::find().expect("the workspace").root;
    let command = command();
    let mut packages = ToolPackage::find_all(&root).expect("the packages");
    tool::check_verbs(&command, &packages).expect("different verbs");
    let verb = |name: &str| ToolVerb {
        name: name.into(),
        summary: String::new(),
    };
    let last = packages.len() - 1;
    for (name, expected) in [
        ("report", "report also has the verb report"),
        ("qemu", "cargo xtask also has the verb qemu"),
        ("--help", "\"--help\" cannot be a verb"),
        ("", "\"\" cannot be a verb"),
    ] {
        packages[last].verbs = [verb(name)].into();
        let error = tool::check_verbs(&command, &packages).expect_err(name);
        assert!(
            error
                .to_string()
                .ends_with(&format!("Cargo.toml: {expected}")),
            "{error}"
        );
    }
}

/// clap must accept each command in the help and on the pages, and each verb on a page of the core
/// must be one of the core, or of a tool in the page's list of tools.
/// xtask/tests/command/examples.rs runs the commands that need no board, QEMU or network. The
/// examples of other packages' verbs are tested in those packages.
#[test]
fn documented_commands_are_accepted() {
    let root = Workspace::find().expect("the workspace").root;
    let tools_folder = root.join("tools");
    let mut packages = ToolPackage::find_all(&root).expect("the packages");
    // A tool can be removed, and its own tests check its README.
    packages.retain(|package| !package.folder.starts_with(&tools_folder));
    let command = command();
    for (path, page) in pages(&root) {
        if Path::new(&path).starts_with(&tools_folder) {
            continue;
        }
        for verb in verbs_in(&page) {
            let mut others = packages.iter().flat_map(|package| &package.verbs);
            let is_known =
                command.find_subcommand(&verb).is_some() || others.any(|other| other.name == verb);
            let word = format!("`{verb}`");
            let mut tools = page.lines().filter(|line| line.contains("](tools/"));
            let is_listed = tools.any(|row| row.starts_with("| [") && row.contains(&word));
            assert!(is_known || is_listed, "{}: {verb}", path.display());
        }
    }
    let examples = accepted_examples(&command, &root);
    assert!(examples.len() > 60, "{}", examples.len());
}
