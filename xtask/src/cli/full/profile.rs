//! `cargo xtask profile`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use host::files;
use host::log_file::LogFile;
use host::progress::say;
use host::read_file;
use report::log::read_bytes;
use report::profile::beside;
use report::profile::export::{self, ProfileFormat};
use report::profile::profile::Profile;

use crate::cli::qemu::{self, RunArguments};
use crate::profile::of_log;
use crate::profile::run::ProfiledRun;
use crate::qemu::run_spec::RunSpec;

/// The maximum size of a profile or a log, in bytes.
const FILE_MAX: usize = 1 << 30;

/// Attribute each timed call on QEMU to firmware functions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask profile
  cargo xtask profile --args only=susp_deep_serial --format html -o profile.html
  cargo xtask profile --tf-a ../new --against ../old

Details: docs/profile.md, docs/qemu.md")]
pub struct ProfileArguments {
    /// The run's options; --icount and samples=all are implied.
    #[command(flatten)]
    pub run: RunArguments,
    /// Format: text, html, folded, speedscope, json.
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(default_value_t = ProfileFormat::Text)]
    pub format: ProfileFormat,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Log the UART output; FILE.profile.json is written next to it.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Show changes from a JSON profile, a log or a TF-A checkout.
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
}

pub(super) fn run(arguments: &ProfileArguments) -> Result<u8> {
    let against = arguments.against.as_deref();
    let place = arguments.log.as_deref().map(beside::place);
    let outputs = [
        ("-o", arguments.output.as_deref()),
        ("--log", arguments.log.as_deref()),
        ("--log", place.as_deref()),
    ];
    for (nth, (option, path)) in outputs.into_iter().enumerate() {
        if let Some(path) = path {
            let run = &arguments.run;
            let inputs = [
                ("--dtb", run.dtb.as_deref()),
                ("--image", run.image.as_deref()),
            ];
            let inputs = [&inputs[..], &[("--against", against)], &outputs[nth + 1..]].concat();
            files::check((option, path), &inputs)?;
        }
    }
    if arguments.format == ProfileFormat::Speedscope && against.is_some() {
        bail!("--format speedscope cannot show --against; use html, folded or json");
    }
    let spec = qemu::spec(&arguments.run)?;
    let baseline = match against {
        Some(path) if path.is_dir() => {
            let mut older = spec.clone();
            older.tf_a = Some(path.to_path_buf());
            let (_, Some(profile)) = profile(&older, None)? else {
                bail!("--against {}: the run has no verdict", path.display());
            };
            Some(profile)
        }
        Some(path) => Some(read(path)?),
        None => None,
    };
    let is_of_log = baseline.as_ref().is_some_and(|it| !it.has_functions());
    if arguments.format == ProfileFormat::Folded && is_of_log {
        bail!("--format folded shows functions, which the --against log lacks; use text");
    }
    let (code, profile) = profile(&spec, arguments.log.as_deref())?;
    let Some(profile) = profile else {
        return Ok(code);
    };
    if let Some(place) = place {
        files::write_by(("--log", &place), |out| {
            export::write(ProfileFormat::Json, &profile, None, out)
        })?;
    }
    let (format, baseline) = (arguments.format, baseline.as_ref());
    let write = |out: &mut dyn Write| export::write(format, &profile, baseline, out);
    let print = match format {
        ProfileFormat::Text => files::write_or_print_text,
        _ => files::write_or_print,
    };
    print(arguments.output.as_deref(), write)?;
    Ok(code)
}

/// Runs QEMU. Returns the exit code, and the profile if the run ended with a verdict.
fn profile(spec: &RunSpec, log: Option<&Path>) -> Result<(u8, Option<Profile>)> {
    let prepared = ProfiledRun::prepare(spec, None)?;
    let mut log = log.map(LogFile::create).transpose()?;
    let (result, profile) = prepared.run(log.as_mut())?;
    say(&result.line());
    result.positions.iter().for_each(|position| say(position));
    log.map(LogFile::end).transpose()?;
    Ok((result.exit_code(), profile.transpose()?))
}

/// Reads a profile, or creates one from a log.
fn read(path: &Path) -> Result<Profile> {
    let at = || format!("--against {}", path.display());
    let bytes = read_file::read("--against", path, FILE_MAX)?;
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Profile::from_json(&bytes).with_context(at);
    }
    let runs = read_bytes(&path.display().to_string(), &bytes)?;
    let run = runs.last().with_context(at)?;
    if let Some(lack) = run.lacks().first() {
        bail!("{}: the log is incomplete: {lack}", at());
    }
    of_log(run, beside::log_hash(&bytes)).with_context(at)
}
