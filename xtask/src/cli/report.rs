//! `cargo xtask report`.

use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Read, Write, stdin};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::arguments::ReportArguments;
use super::files;
use super::qemu::Out;
use crate::progress::say;
use crate::report::format::{Exporter, Options};
use crate::report::merge::merge;
use crate::report::model::{Report, Run};
use crate::report::read::{Input, read};

/// Exit code when a log is incomplete or damaged beyond its second copy.
const INCOMPLETE: u8 = 3;

pub(super) fn run(arguments: &ReportArguments) -> Result<u8> {
    let exporter = arguments.format;
    check_output(arguments, exporter)?;
    let mut report = read_all(&arguments.logs)?;
    if let Some(place) = arguments.run {
        let count = report.runs.len();
        if place > count {
            bail!("--run {place}: there are {count} runs");
        }
        report.runs = report.runs.drain(..).skip(place - 1).take(1).collect();
    }
    if arguments.merge {
        report.merged = Some(merge(&report.runs)?);
    }
    let options = Options {
        platform: arguments.platform.clone(),
    };
    write(&report, exporter, &options, arguments.output.as_deref())?;
    Ok(judge(&report))
}

fn check_output(arguments: &ReportArguments, exporter: &dyn Exporter) -> Result<()> {
    let Some(path) = &arguments.output else {
        if exporter.is_tree() {
            bail!(
                "--format {} writes a tree of files: name its directory by -o",
                exporter.name()
            );
        }
        return Ok(());
    };
    if exporter.is_tree() {
        if path.exists() && !path.is_dir() {
            bail!("-o {}: this is no directory", path.display());
        }
        return Ok(());
    }
    files::writable(("-o", path))?;
    for log in &arguments.logs {
        files::apart(("-o", path), ("LOG", Some(log)))?;
    }
    Ok(())
}

fn read_all(logs: &[PathBuf]) -> Result<Report> {
    let mut inputs: Vec<Input<Box<dyn Read>>> = Vec::new();
    for log in logs {
        let (name, from): (String, Box<dyn Read>) = if log == Path::new("-") {
            ("stdin".to_owned(), Box::new(stdin().lock()))
        } else {
            if log.is_dir() {
                bail!(
                    "{}: this is a directory; name the logs in it",
                    log.display()
                );
            }
            let file = File::open(log).with_context(|| log.display().to_string())?;
            (log.display().to_string(), Box::new(file))
        };
        inputs.push(Input { name, from });
    }
    Ok(read(inputs)?)
}

fn write(
    report: &Report,
    exporter: &dyn Exporter,
    options: &Options,
    output: Option<&Path>,
) -> Result<()> {
    match output {
        Some(dir) if exporter.is_tree() => {
            fs::create_dir_all(dir).with_context(|| format!("-o {}", dir.display()))?;
            exporter.write_tree(report, options, dir)
        }
        Some(path) => {
            // Whole or not at all: a report that failed is not to be found.
            let parent = path.parent().filter(|dir| !dir.as_os_str().is_empty());
            let mut bytes = tempfile::Builder::new()
                .permissions(Permissions::from_mode(0o666))
                .tempfile_in(parent.unwrap_or(Path::new(".")))
                .with_context(|| format!("-o {}", path.display()))?;
            let mut out = BufWriter::new(bytes.as_file_mut());
            exporter.write(report, options, &mut out)?;
            out.flush()?;
            drop(out);
            bytes
                .persist(path)
                .with_context(|| format!("-o {}", path.display()))?;
            Ok(())
        }
        None => {
            let mut out = BufWriter::new(Out::default());
            exporter.write(report, options, &mut out)?;
            Ok(out.flush()?)
        }
    }
}

/// Says what is wrong with the logs, and the exit code for it.
fn judge(report: &Report) -> u8 {
    let mut code = 0;
    for run in report.runs.iter().filter(|run| !run.is_complete()) {
        code = INCOMPLETE;
        let source = &run.source;
        say(&format!(
            "{} (run {}): {}",
            source.input,
            source.place,
            lacks(run)
        ));
    }
    code
}

/// What an incomplete run lacks, and what to do.
fn lacks(run: &Run) -> String {
    let mut all = Vec::new();
    if let Some(records) = &run.integrity.records {
        let shown = records.missing.iter().take(3);
        all.extend(shown.map(|missing| format!("{missing} in neither copy")));
        if records.missing.len() > 3 {
            all.push(format!("{} more gaps", records.missing.len() - 3));
        }
        if records.expected.is_none() {
            all.push("no end record".to_owned());
        }
        if records.crcs_match == Some(false) {
            all.push("the common checksum is wrong".to_owned());
        }
    } else if run.version.is_some() {
        all.push("no record".to_owned());
    }
    match &run.closing {
        Some(closing) => all.push(format!("it ends with '{}'", closing.line)),
        None => all.push("no last line: log until the board says its verdict".to_owned()),
    }
    format!("incomplete: {}", all.join("; "))
}
