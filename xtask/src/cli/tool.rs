//! The verbs of other packages: their programs are built when they are needed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use cli::color;
use cli::program::XTASK;
use cli::tool_package::{ToolPackage, ToolVerb};
use host::progress::say;
use host::stdout::Out;
use host::{interrupt, process, retired};
use runner::setup::workspace::Workspace;

/// The folder in the target directory for the profile in which tools are built.
const PROFILE_FOLDER: &str = "debug";

/// Checks that each verb is a word, and that only one package has it.
///
/// # Errors
/// Returns an error that names the manifest of the package with a wrong verb.
pub(super) fn check_verbs(command: &clap::Command, tools: &[ToolPackage]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for tool in tools {
        let manifest = tool.folder.join("Cargo.toml");
        for ToolVerb { name, .. } in &tool.verbs {
            if name.is_empty() || name.starts_with('-') {
                bail!("{}: {name:?} cannot be a verb", manifest.display());
            }
            let other = match command.find_subcommand(name) {
                Some(_) => Some(XTASK),
                None => seen.insert(name, &*tool.name),
            };
            if let Some(other) = other {
                bail!("{}: {other} also has the verb {name}", manifest.display());
            }
        }
    }
    Ok(())
}

/// Returns the package that has the verb in `arguments`, which start with the program name.
pub(super) fn with_verb<'t>(
    tools: &'t [ToolPackage],
    arguments: &[OsString],
) -> Option<&'t ToolPackage> {
    let word = color::verb(arguments)?;
    tools
        .iter()
        .find(|tool| tool.verbs.iter().any(|verb| verb.name == word))
}

/// Returns the verb in `arguments`, which start with the program name, unless `command` has it or an
/// earlier version had it.
pub(super) fn unknown_verb(command: &clap::Command, arguments: &[OsString]) -> Option<String> {
    let word = color::verb(arguments)?;
    let is_known = word.starts_with('-') || command.find_subcommand(word).is_some();
    let is_retired = retired::check_verb(word).is_err();
    (!is_known && !is_retired).then(|| word.to_owned())
}

/// Says that no package has `verb`, which may belong to a tool that has been removed.
pub(super) fn say_absent(verb: &str, tools: &[ToolPackage]) {
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let names = names.join(", ");
    say(&format!(
        "no tool here has the verb {verb}; there are {names}"
    ));
}

/// Prints the help that `arguments` request. Otherwise, builds the program of `tool` and replaces
/// this process with it, passing on the same arguments.
pub(super) fn run(workspace: &Workspace, tool: &ToolPackage, arguments: &[OsString]) -> Result<u8> {
    if let Some(help) = requested_help(tool, arguments) {
        let mut out = Out::default();
        out.write_all(help.as_bytes())?;
        out.flush()?;
        return Ok(0);
    }
    interrupt::watch()?;
    build(workspace, tool)?;
    let mut program = Command::new(workspace.target.join(PROFILE_FOLDER).join(&tool.program));
    program.arg0(XTASK).args(arguments.iter().skip(1));
    // exec returns only if it fails.
    Err(program.exec()).with_context(|| format!("cannot run {}", tool.program))
}

/// Builds the program of `tool`.
pub(super) fn build(workspace: &Workspace, tool: &ToolPackage) -> Result<()> {
    let mut build = process::cargo();
    build.args(["build", "--quiet", "--package", &tool.name]);
    build
        .arg("--manifest-path")
        .arg(workspace.root.join("Cargo.toml"));
    build.arg("--target-dir").arg(&workspace.target);
    if let Some(level) = tool.opt_level {
        let name = &tool.name;
        build.args([
            "--config",
            &format!("profile.dev.package.{name}.opt-level={level}"),
        ]);
    }
    let log = workspace.state().join("tool.log");
    process::run_step(&format!("building {}", tool.program), &mut build, &log)
}

/// Returns the help text that `arguments` request.
fn requested_help(tool: &ToolPackage, arguments: &[OsString]) -> Option<String> {
    let words: Vec<&str> = arguments[1..]
        .iter()
        .map(|word| word.to_str())
        .collect::<Option<_>>()?;
    let (last, verbs) = words.split_last()?;
    if !["-h", "--help"].contains(last) {
        return None;
    }
    fs::read_to_string(tool.help_file(verbs)).ok()
}
