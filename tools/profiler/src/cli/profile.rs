//! `cargo xtask profile`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use hardware::text::keywords::Word as _;
use host::log_file::LogFile;
use host::progress::say;
use host::{files, read_file};
use itertools::Itertools as _;
use report::log::read_bytes;
use runner::qemu::ICOUNT_NS;
use runner::qemu::run_arguments::RunArguments;
use runner::qemu::run_spec::RunSpec;

use crate::attribution::attribute_log;
use crate::profile::event::Event;
use crate::profile::export::{self, ProfileFormat};
use crate::profile::profile::{Profile, log_hash};
use crate::profiled_run::ProfiledRun;

/// The maximum size of a profile or a log, in bytes.
const FILE_MAX: usize = 1 << 30;

/// Attribute each timed call on QEMU to firmware functions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask profile --args only=susp_deep_serial --format html -o profile.html
  cargo xtask profile --tf-a ../new --against ../old
  cargo xtask profile saved.json --format html -o profile.html

Details: tools/profiler/README.md, docs/qemu.md")]
pub struct ProfileArguments {
    /// Show this saved JSON profile instead of running QEMU.
    #[arg(value_name = "PROFILE", conflicts_with = "log")]
    pub saved: Option<PathBuf>,
    /// The run's options; --icount and samples=all are implied.
    #[command(flatten)]
    pub run: RunArguments,
    /// Event to count, such as dsb.
    #[arg(long, value_name = "EVENT", value_parser = parse_event)]
    pub unit: Option<Event>,
    /// Text (default), html, folded, speedscope or json.
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    #[arg(default_value_t = ProfileFormat::Text, hide_default_value = true)]
    pub format: ProfileFormat,
    /// File to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// UART log; FILE.profile.json is also written.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Show changes from a profile, log or TF-A checkout.
    #[arg(long, value_name = "PATH")]
    pub against: Option<PathBuf>,
}

/// Returns the path of the profile that is written next to a log.
fn profile_path(log: &Path) -> PathBuf {
    log.with_added_extension("profile.json")
}

pub(super) fn run(arguments: &ProfileArguments) -> Result<u8> {
    let profile_path = arguments.log.as_deref().map(profile_path);
    check_outputs(arguments, profile_path.as_deref())?;
    if arguments.format == ProfileFormat::Speedscope && arguments.against.is_some() {
        bail!("--format speedscope cannot show --against; use html, folded or json");
    }
    if arguments.format == ProfileFormat::Json && arguments.unit.is_some() {
        bail!("--format json contains all events; omit --unit");
    }
    if arguments.saved.is_some() {
        check_saved(arguments)?;
    }
    let spec = arguments.run.to_spec()?;
    let baseline = match arguments.against.as_deref() {
        Some(path) => Some(baseline(&spec, path)?),
        None => None,
    };
    let is_of_log = baseline
        .as_ref()
        .is_some_and(|profile| !profile.has_functions());
    if arguments.format == ProfileFormat::Folded && is_of_log {
        bail!("--format folded shows functions, which the --against log lacks; use text");
    }
    let (code, profile) = match &arguments.saved {
        Some(path) => (0, Some(read_saved(path)?)),
        None => profile(&spec, arguments.log.as_deref())?,
    };
    let Some(profile) = profile else {
        return Ok(code);
    };
    if let Some(profile_path) = profile_path {
        files::write_by(("--log", &profile_path), |out| {
            export::write(ProfileFormat::Json, &profile, None, out)
        })?;
    }
    let (profile, baseline) = match arguments.unit {
        Some(event) => (
            profile.count_event(event)?,
            baseline
                .map(|profile| profile.count_event(event))
                .transpose()?,
        ),
        None => (profile, baseline),
    };
    let (format, baseline) = (arguments.format, baseline.as_ref());
    let write = |out: &mut dyn Write| export::write(format, &profile, baseline, out);
    let print = match format {
        ProfileFormat::Text => files::write_or_print_text,
        _ => files::write_or_print,
    };
    print(arguments.output.as_deref(), write)?;
    Ok(code)
}

pub(super) fn parse_event(name: &str) -> Result<Event> {
    let event = Event::from_word(name);
    event.with_context(|| {
        let known = Event::ALL.iter().map(|event| event.name()).join(", ");
        format!("unknown event; the events are {known}")
    })
}

/// Rejects an output file that cannot be written, or that is also an input or another output.
fn check_outputs(arguments: &ProfileArguments, profile_path: Option<&Path>) -> Result<()> {
    let outputs = [
        ("-o", arguments.output.as_deref()),
        ("--log", arguments.log.as_deref()),
        ("--log", profile_path),
    ];
    let inputs = [
        ("--dtb", arguments.run.dtb.as_deref()),
        ("--image", arguments.run.image.as_deref()),
        ("--bl32", arguments.run.bl32.as_deref()),
        ("--against", arguments.against.as_deref()),
        ("PROFILE", arguments.saved.as_deref()),
    ];
    for (nth, (option, path)) in outputs.into_iter().enumerate() {
        if let Some(path) = path {
            files::check_output((option, path), &[&inputs, &outputs[nth + 1..]].concat())?;
        }
    }
    Ok(())
}

/// Rejects options that describe a run, because a saved profile is from an earlier run.
fn check_saved(arguments: &ProfileArguments) -> Result<()> {
    if !arguments.run.are_defaults() {
        bail!("PROFILE has its own run: omit the options that describe a run, or omit PROFILE");
    }
    if let Some(path) = arguments.against.as_deref().filter(|path| path.is_dir()) {
        let checkout = path.display();
        bail!("--against {checkout}: PROFILE can only be compared with a JSON profile or a log");
    }
    Ok(())
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

/// Returns the profile that `--against` specifies. If `path` is a checkout, runs `spec` with it.
fn baseline(spec: &RunSpec, path: &Path) -> Result<Profile> {
    if !path.is_dir() {
        return read_baseline(path);
    }
    let older = RunSpec {
        tf_a: Some(path.to_path_buf()),
        ..spec.clone()
    };
    let (_, profile) = profile(&older, None)?;
    profile.with_context(|| format!("--against {}: the run has no verdict", path.display()))
}

fn read_saved(path: &Path) -> Result<Profile> {
    let bytes = read_file::read("PROFILE", path, FILE_MAX)?;
    Profile::from_json(&bytes).with_context(|| path.display().to_string())
}

/// Reads a profile, or creates one from a log.
fn read_baseline(path: &Path) -> Result<Profile> {
    let location = || format!("--against {}", path.display());
    let bytes = read_file::read("--against", path, FILE_MAX)?;
    if bytes.trim_ascii_start().starts_with(b"{") {
        return Profile::from_json(&bytes).with_context(location);
    }
    let runs = read_bytes(&path.display().to_string(), &bytes)?;
    let logged = runs.last().with_context(location)?;
    if let Some(lack) = logged.lacks().first() {
        bail!("{}: the log is incomplete: {lack}", location());
    }
    attribute_log(logged, log_hash(&bytes), ICOUNT_NS).with_context(location)
}
