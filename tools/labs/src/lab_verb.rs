//! The `lab` verb.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use boards::{BoardFile, PackageKind, device_tree};
use clap::{Args, Subcommand};
use host::progress::say;
use runner::build::boot_arguments::parse_plan;
use runner::build::firmware::FirmwareVariant;
use runner::build::image_contents::TreeOptions;
use runner::build::tree_file::read_tree;
use runner::qemu::run_spec::RunSpec;
use runner::qemu::{prepare, timeout};
use thiserror::Error;

use super::job::{self, Engine, LabJob, folder_name};

/// The engine to write a job for.
#[derive(Debug, Subcommand)]
pub enum LabVerb {
    /// Write a job for LAVA, which runs it on QEMU.
    #[command(after_help = "\
Examples:
  {program} lab lava -o lab
  {program} lab lava --name sw --variant coherency=sw -o lab

Details: tools/labs/README.md")]
    Lava {
        #[command(flatten)]
        job: JobArguments,
        /// Address of the -o directory [default: file:// and its path].
        #[arg(long, value_name = "URL", value_parser = check_url)]
        url: Option<String>,
    },
    /// Write an environment and tests for labgrid, on QEMU or a board.
    #[command(after_help = "\
Examples:
  {program} lab labgrid -o lab
  {program} lab labgrid --board hikey960 --place rack-1 -o lab

Details: tools/labs/README.md")]
    Labgrid {
        #[command(flatten)]
        job: JobArguments,
        /// Place on the coordinator [default: the board name].
        #[arg(long, value_name = "PLACE", value_parser = check_place)]
        place: Option<String>,
    },
}

/// The job to write, for any engine.
#[derive(Debug, Args)]
pub struct JobArguments {
    /// Board in platforms/.
    #[arg(long, value_name = "NAME", default_value = "qemu")]
    pub board: String,
    /// Firmware name [default: the board file's].
    #[arg(long, value_name = "NAME", value_parser = check_name)]
    pub name: Option<String>,
    /// QEMU: TF-A variant, such as coherency=sw,pmf=sip.
    #[arg(long, value_name = "K=V,…")]
    pub variant: Option<FirmwareVariant>,
    /// QEMU: TF-A checkout to build, 2.8 or later.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// Contents of the payload's device tree.
    #[command(flatten)]
    pub tree: TreeOptions,
    /// The job fails if it skips a scenario or a CPU's row.
    #[arg(long)]
    pub deny_skipped: bool,
    /// Directory for the job folder.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// An invalid `--name`, `--place` or `--url`.
#[derive(Debug, Error)]
pub enum JobWordError {
    /// Not a valid firmware name, which is part of a folder name.
    #[error("expected up to 64 letters, digits, '-', '_', '.' and '+'")]
    Name,
    /// Empty, or not on one line.
    #[error("expected text on one line")]
    Place,
    /// Not a URL.
    #[error("expected a URL, such as https://files.example.com/lab")]
    NoUrl,
    /// A URL whose path would end at this character.
    #[error("a file name is appended, but LAVA ends the URL's path at {0:?}; use a URL without it")]
    Parts(char),
}

fn check_name(name: &str) -> Result<String, JobWordError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) || name.starts_with('.') {
        return Err(JobWordError::Name);
    }
    Ok(name.to_owned())
}

fn check_place(place: &str) -> Result<String, JobWordError> {
    if place.trim().is_empty() || place.contains(char::is_control) {
        return Err(JobWordError::Place);
    }
    Ok(place.to_owned())
}

fn check_url(url: &str) -> Result<String, JobWordError> {
    if !url.contains("://") || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err(JobWordError::NoUrl);
    }
    match path_end(url) {
        Some(end) => Err(JobWordError::Parts(end)),
        None => Ok(url.trim_end_matches('/').to_owned()),
    }
}

/// Returns the first character that would end the path of a URL. The LAVA dispatcher does not
/// decode `%` escapes, so a path cannot contain these characters.
fn path_end(url: &str) -> Option<char> {
    url.chars().find(|c| "?#".contains(*c))
}

pub fn run(verb: &LabVerb) -> Result<u8> {
    match verb {
        LabVerb::Lava { job, url } => {
            let output = absolute_path(&job.output)?;
            let url = url.clone().map_or_else(|| file_url(&output), Ok)?;
            write_job(job, &output, Engine::Lava { url })
        }
        LabVerb::Labgrid { job, place } => {
            let place = place.clone();
            write_job(job, &absolute_path(&job.output)?, Engine::Labgrid { place })
        }
    }
}

/// Returns the absolute path of the directory for jobs, which may not exist yet.
fn absolute_path(output: &Path) -> Result<PathBuf> {
    let location = || format!("-o {}", output.display());
    if !output.exists() {
        return std::path::absolute(output).with_context(location);
    }
    ensure!(output.is_dir(), "{}: not a directory", location());
    fs::canonicalize(output).with_context(location)
}

/// Returns the URL of a folder for a LAVA dispatcher on this machine.
fn file_url(folder: &Path) -> Result<String> {
    match folder.to_str() {
        Some(path) if path_end(path).is_none() => Ok(format!("file://{path}")),
        _ => bail!(
            "-o {}: LAVA cannot read a file:// URL with '?', '#' or bytes that are not UTF-8; use \
             --url",
            folder.display()
        ),
    }
}

fn write_job(arguments: &JobArguments, output: &Path, engine: Engine) -> Result<u8> {
    let args = with_end(arguments, &engine)?;
    let plan = parse_plan(Some(&args))?;
    let board = boards::load(&arguments.board)?;
    if !board.is_virtual() {
        check_board(arguments, &board, &engine)?;
    }
    let firmware = arguments.name.as_ref().unwrap_or(&board.default_firmware);
    let folder = output.join(folder_name(&engine, &board.name, firmware));
    let path = folder.display().to_string();
    ensure!(
        fs::symlink_metadata(&folder).is_err(),
        "{path} already exists; remove it, or use --name to give the new job another name"
    );
    let cpus = count_cpus(&arguments.tree, &board)?;
    job::check(&engine, &plan, cpus)?;
    let run = timeout::timeout(cpus, &plan);
    let qemu = if board.is_virtual() {
        let tree = &arguments.tree;
        Some(Box::new(prepare::prepare(&RunSpec {
            board: board.name.clone(),
            smp: Some(cpus),
            gic: tree.gic,
            variant: arguments.variant.unwrap_or_default(),
            tf_a: arguments.tf_a.clone(),
            args: Some(args.clone()),
            tree: tree.tree(),
            states: tree.all_states(),
            // The lab's machine starts QEMU.
            runs_here: false,
            timeout: run,
            ..RunSpec::default()
        })?))
    } else {
        None
    };
    let job = LabJob {
        engine,
        board: board.name.clone(),
        firmware: firmware.clone(),
        plan,
        cpus,
        run,
        deny_skipped: arguments.deny_skipped,
        qemu,
    };
    job.write(&folder)?;
    say(&path);
    if job.qemu.is_none() {
        say(&install_note(&board, &args, arguments.tree.smp));
    }
    Ok(0)
}

fn count_cpus(tree: &TreeOptions, board: &BoardFile) -> Result<u32> {
    match (&tree.dtb, tree.smp) {
        (Some(path), _) => {
            let blob = read_tree("--dtb", path)?;
            let machine =
                device_tree::machine(&blob).with_context(|| format!("--dtb {}", path.display()))?;
            Ok(u32::try_from(machine.1)?)
        }
        (None, Some(cpus)) => Ok(cpus),
        (None, None) => Ok(board.default_cpus()?),
    }
}

/// Returns the boot arguments, including the `end=` that the engine needs.
fn with_end(arguments: &JobArguments, engine: &Engine) -> Result<String> {
    let args = arguments.tree.args.as_deref().unwrap_or("");
    // The arguments are checked before `end=` is added, so that an error quotes them as the user
    // wrote them.
    parse_plan(Some(args))?;
    let mut words: Vec<&str> = args.split_whitespace().collect();
    let end = format!("end={}", engine.end());
    if !words.iter().any(|word| word.starts_with("end=")) {
        words.push(&end);
    }
    Ok(words.join(" "))
}

/// Rejects engines and options that do not apply to a job on a board, whose firmware and payload
/// the user installs.
fn check_board(arguments: &JobArguments, board: &BoardFile, engine: &Engine) -> Result<()> {
    let (name, title) = (&board.name, &board.title);
    if matches!(engine, Engine::Lava { .. }) {
        bail!(
            "jobs for LAVA run on QEMU, but {title} is a board: use `cargo xtask lab labgrid`, or \
             the monitors of a job for QEMU in the lab's own job (tools/labs/README.md)"
        );
    }
    let tree = &arguments.tree;
    let usual = TreeOptions {
        args: tree.args.clone(),
        smp: tree.smp,
        ..TreeOptions::default()
    };
    let only_for_qemu = [
        ("--variant", arguments.variant.is_some()),
        ("--tf-a", arguments.tf_a.is_some()),
        ("this option", tree.words() != usual.words()),
    ];
    if let Some((option, _)) = only_for_qemu.into_iter().find(|(_, is_given)| *is_given) {
        bail!(
            "{option} applies only to QEMU: {title} runs the payload that you install (`cargo xtask \
             boards {name}`), and here only --args and --smp describe it"
        );
    }
    Ok(())
}

/// Returns what to do before a job runs on a board.
fn install_note(board: &BoardFile, args: &str, smp: Option<u32>) -> String {
    let name = &board.name;
    let verb = match board.package.as_ref().map(|package| package.kind) {
        Some(PackageKind::Fip) => "fip pack",
        _ => "image",
    };
    let smp = smp.map_or_else(String::new, |count| format!(" --smp {count}"));
    format!(
        "before the tests run, install the payload on the board: cargo xtask {verb} --board \
         {name}{smp} --args '{args}' …"
    )
}
