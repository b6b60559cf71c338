//! The command line.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use clap::{Command, Parser, Subcommand};
use cli::help_reader::read_verb;
use cli::program::{self, XTASK};
use cli::tool_package::ToolPackage;
use host::exit_code;
use host::interrupt;
use runner::build::checkout;
use runner::setup::workspace::Workspace;

use super::boards::BoardsArguments;
use super::fip::verbs::FipVerb;
use super::image::ImageArguments;
use super::payload::PayloadArguments;
use super::qemu::QemuArguments;
use super::scenarios::ScenariosArguments;
use super::test::TestArguments;
use super::tree::TreeVerb;
use super::{boards, fip, image, payload, qemu, repeat, scenarios, test, tool, tree};

/// The help template, which mentions `--help` instead of listing it as an option.
const HELP: &str = "\
{about}

{usage-heading} {usage}

Verbs (VERB --help shows a verb's options):
{subcommands}{after-help}";

/// Measures what PSCI calls cost on AArch64; start with `cargo xtask qemu`.
#[derive(Parser)]
#[command(
    subcommand_value_name = "VERB",
    help_template = HELP,
    after_help = "\
Examples:
  cargo xtask qemu                               # the six tables, on QEMU
  cargo xtask report run.log --open              # tables and charts of a log

{exit-codes}",
)]
pub struct XtaskArguments {
    /// The verb.
    #[command(subcommand)]
    pub verb: XtaskVerb,
}

/// A verb of this program.
#[derive(Subcommand)]
pub enum XtaskVerb {
    Qemu(Box<QemuArguments>),
    Test(TestArguments),
    /// Install what the tests need, and fetch TF-A's source.
    #[command(after_help = "\
Examples:
  cargo xtask setup
  PSCI_BENCH_NO_INSTALL=1 cargo xtask setup     # only print what is missing

docs/setup.md lists what is installed. Other verbs also install what they
need. With PSCI_BENCH_NO_INSTALL=1 they only print the commands, and the exit
code is 2.")]
    Setup,
    Boards(BoardsArguments),
    Scenarios(ScenariosArguments),
    Image(ImageArguments),
    Payload(PayloadArguments),
    /// Make, inspect and change Firmware Image Packages.
    #[command(after_help = "\
Examples:
  cargo xtask fip info fip.bin
  cargo xtask fip pack --board juno --base fip.bin -o new.bin

Details: docs/fip.md")]
    Fip {
        /// The `fip` verb.
        #[command(subcommand)]
        verb: FipVerb,
    },
    /// Make device trees, and print what the payload reads from one.
    #[command(after_help = "\
Examples:
  cargo xtask tree from-acpi /sys/firmware/acpi/tables
  cargo xtask tree from-acpi tables -o board.dtb
  cargo xtask tree show board.dtb

Details: docs/first-boot.md, Device trees")]
    Tree {
        /// The `tree` verb.
        #[command(subcommand)]
        verb: TreeVerb,
    },
}

/// Returns the definition of this program's own verbs.
pub fn command() -> Command {
    program::with_completions(program::command::<XtaskArguments>(XTASK))
}

/// Returns `command` with the checkout's commit in its version if `arguments`, which start with the
/// program name, ask for it. This program is not built again for each commit.
fn with_commit(command: Command, arguments: &[OsString], root: &Path) -> Command {
    let is_asked = arguments
        .iter()
        .any(|word| word == "--version" || word == "-V");
    // Sources without .git may be in a folder of another repository.
    if !is_asked || !root.join(".git").exists() {
        return command;
    }
    let commit = checkout::abbreviated_commit(root).ok();
    command.version(program::version(commit.as_deref()))
}

/// Returns `command` with the verbs of other packages added, so that its help lists them and shells
/// complete them.
fn with_tools(command: Command, tools: &[ToolPackage]) -> Command {
    let verbs = tools
        .iter()
        .flat_map(|tool| tool.verbs.iter().map(|verb| read_verb(tool, verb)));
    verbs.fold(command, Command::subcommand)
}

/// Runs the tool with `arguments`, which start with the program name, and returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let found = Workspace::find().and_then(|workspace| {
        let tools = ToolPackage::find_all(&workspace.root)?;
        tool::check_verbs(&command(), &tools)?;
        Ok((workspace, tools))
    });
    let (workspace, tools) = match found {
        Ok(found) => found,
        Err(error) => return exit_code::from_result(Err(error)),
    };
    if let Some(tool) = tool::with_verb(&tools, &arguments) {
        return exit_code::from_result(tool::run(&workspace, tool, &arguments));
    }
    let command = with_tools(command(), &tools);
    let command = with_commit(command, &arguments, &workspace.root);
    let unknown = tool::unknown_verb(&command, &arguments);
    let code = program::run_command(command, arguments, run);
    if let Some(verb) = unknown {
        tool::say_absent(&verb, &tools);
    }
    code
}

fn run(arguments: XtaskArguments) -> Result<u8> {
    interrupt::watch()?;
    match arguments.verb {
        XtaskVerb::Qemu(arguments) => match arguments.repeat {
            Some(count) => repeat::run(&arguments, count),
            None => qemu::run(&arguments),
        },
        XtaskVerb::Test(arguments) => test::run(&arguments),
        XtaskVerb::Setup => test::run_setup(),
        XtaskVerb::Boards(arguments) => boards::run(&arguments),
        XtaskVerb::Scenarios(arguments) => scenarios::run(&arguments),
        XtaskVerb::Image(arguments) => image::run(&arguments),
        XtaskVerb::Payload(arguments) => payload::run(&arguments),
        XtaskVerb::Fip { verb } => fip::verbs::run(verb),
        XtaskVerb::Tree { verb } => tree::run(verb),
    }
}
