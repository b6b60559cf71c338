//! The `audit-idle` verb.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use boards::{BoardFile, StateFormat};
use clap::{ArgGroup, Args};
use device_tree::acpi::to_tree_of_cpus;
use hardware::text::plural::many;
use host::exit_code::{BAD, FAILED, INCOMPLETE};
use host::progress::say;
use report::cli::chosen_runs::read_all;
use report::cli::output::{OutputArguments, WithFormats};
use report::cli::report_verdict::all_complete;
use report::log::LoggedRun;
use runner::build::acpi_files::AcpiFiles;
use runner::build::tree_file::read_tree;

use super::dts_file::read_source;
use super::tree_files::TreeFiles;
use crate::audit::{DeclaredBy, DeclaredSource, IdleAudit, Unaudited, UnauditedTree, audit};
use crate::export::{self, IdleFormat, IdleReport};

impl WithFormats for AuditIdleArguments {
    type Format = IdleFormat;

    fn formats() -> Vec<IdleFormat> {
        IdleFormat::all()
    }
}

/// Arguments of `audit-idle`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("source").required(true).multiple(true)
    .args(["logs", "tree", "acpi", "board"]))]
#[command(override_usage = "{program} audit-idle [OPTIONS] [LOG]...")]
#[command(after_help = "\
Examples:
  {program} audit-idle idle.log
  {program} audit-idle idle.log --tree board.dtb
  {program} audit-idle idle.log --tree board.dtb --dts board.dts \\
      --format patch -o idle.patch
  {program} audit-idle --tree board.dtb           # without measurements
  {program} audit-idle idle.log --format dt       # a node, as measured

Exit codes: 1 a value is too small or contradictory; 2 a tree cannot be
            audited, even if others can; 3 a log is incomplete
Details: tools/idle-audit/README.md")]
pub struct AuditIdleArguments {
    /// Logs of one board with only=idle_states; - is stdin.
    #[arg(value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Device tree blob, or, without logs, a folder of .dtb files.
    #[arg(long, value_name = "FILE", conflicts_with = "acpi")]
    tree: Vec<PathBuf>,
    /// ACPI table, output of acpidump, or folder of tables.
    #[arg(long, value_name = "FILE")]
    acpi: Vec<PathBuf>,
    /// Board of the logs [default: the tree's; without a tree, the logs'].
    #[arg(long, value_name = "BOARD")]
    board: Option<String>,
    /// Largest ratio of a value to the measured worst case.
    #[arg(long, value_name = "FACTOR", default_value = "2", value_parser = parse_margin)]
    margin: f64,
    /// The tree's source, for --format patch.
    #[arg(long, value_name = "FILE", requires = "tree")]
    dts: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArguments<Self>,
}

/// Parses a factor.
fn parse_margin(text: &str) -> Result<f64, &'static str> {
    text.parse::<f64>()
        .ok()
        .filter(|factor| (1.0..=1000.0).contains(factor))
        .ok_or("expected a factor from 1 to 1000, such as 1.5")
}

impl AuditIdleArguments {
    /// Writes the audit and returns the exit code.
    pub(super) fn run(&self) -> Result<u8> {
        self.output.check("LOG", &self.logs)?;
        self.output.check("--tree", &self.tree)?;
        self.output.check("--acpi", &self.acpi)?;
        self.output.check("--dts", self.dts.as_slice())?;
        let dts = self.dts.as_deref().map(read_source).transpose()?;
        let runs = read_all(&self.logs)?;
        if !self.logs.is_empty() && runs.is_empty() {
            bail!("the logs contain no runs");
        }
        if *self.output.format() == IdleFormat::Node {
            return self.write_node(runs);
        }
        let (audits, unaudited_trees) = match self.trees()? {
            None => (vec![self.audit_one(&runs)?], Vec::new()),
            Some(trees) => audit_trees(&trees, self.margin),
        };
        let report = IdleReport {
            audits,
            unaudited_trees,
            dts,
            runs,
        };
        let refused = report.refused_trees().count();
        if report.audits.is_empty() && refused == 0 {
            let count = report.unaudited_trees.len();
            bail!("--tree: none of the {count} trees declares an idle state");
        }
        self.write(&report)?;
        say(&export::summary(&report));
        if refused > 0 {
            Ok(BAD)
        } else if !all_complete(&report.runs) {
            Ok(INCOMPLETE)
        } else if report.audits.iter().any(IdleAudit::has_broken) {
            Ok(FAILED)
        } else {
            Ok(0)
        }
    }

    fn write(&self, report: &IdleReport) -> Result<()> {
        let format = *self.output.format();
        self.output.write_with(|out| format.write(report, out))
    }

    /// Writes the worst cases of the run as a node. Nothing is compared with it.
    fn write_node(&self, runs: Vec<LoggedRun>) -> Result<u8> {
        if !self.tree.is_empty() || !self.acpi.is_empty() || self.board.is_some() {
            bail!("--format dt has only measured values; remove --tree, --acpi and --board");
        }
        self.write(&IdleReport {
            runs,
            ..IdleReport::default()
        })?;
        Ok(0)
    }

    /// Returns the trees if there may be several.
    fn trees(&self) -> Result<Option<TreeFiles>> {
        match self.tree.as_slice() {
            [] => Ok(None),
            [tree] if !tree.is_dir() => Ok(None),
            _ if !self.logs.is_empty() => {
                bail!("--tree: logs can be compared with only one tree")
            }
            paths => {
                let files = TreeFiles::find(paths)?;
                if files.overlays > 0 {
                    let overlays = many(files.overlays, "overlay");
                    say(&format!(
                        "note: {overlays} not audited; use fdtoverlay to apply overlays to a tree"
                    ));
                }
                Ok(Some(files))
            }
        }
    }

    /// Audits one tree, the ACPI tables, or the board file.
    fn audit_one(&self, runs: &[LoggedRun]) -> Result<IdleAudit> {
        let chosen = self.board.as_deref().map(boards::load).transpose()?;
        let (source, board_name) = if let [tree] = self.tree.as_slice() {
            let blob = read_tree("--tree", tree)?;
            let name = tree.display().to_string();
            let source = DeclaredSource::of_tree(&name, DeclaredBy::Tree, &blob)?;
            let board_name = chosen.map_or(source.board.clone(), |board| board.title);
            (source, board_name)
        } else if self.acpi.is_empty() {
            let board = chosen.map_or_else(|| board_of(runs), Ok)?;
            let facts = runs.iter().find_map(|logged| logged.run.facts);
            let format = facts.map_or(StateFormat::default(), |facts| facts.state_format);
            let cpus = match runs.iter().map(|logged| logged.run.cpus.len()).max() {
                Some(cpus) => u32::try_from(cpus)?,
                None => board.default_cpus()?,
            };
            (DeclaredSource::of_board(&board, cpus, format)?, board.title)
        } else {
            let tree = AcpiFiles::read(&self.acpi)?.convert(to_tree_of_cpus)?;
            let name = self.acpi[0].display().to_string();
            let source = DeclaredSource::of_tree(&name, DeclaredBy::Acpi, &tree)?;
            let board_name = chosen.map_or(source.board.clone(), |board| board.title);
            (source, board_name)
        };
        audit(&source, &board_name, runs, self.margin)
    }
}

/// Returns the board file of the board in the logs.
fn board_of(runs: &[LoggedRun]) -> Result<BoardFile> {
    const HINT: &str = "specify its device tree with --tree";
    let title = runs
        .iter()
        .find_map(LoggedRun::board)
        .with_context(|| format!("the logs do not name a board; {HINT}"))?;
    for name in boards::names() {
        let board = boards::load(name)?;
        if board.title == title {
            return Ok(board);
        }
    }
    bail!("no board file describes {title}; {HINT}")
}

/// Audits several trees. One that cannot be audited does not keep the others from being audited.
fn audit_trees(files: &TreeFiles, margin: f64) -> (Vec<IdleAudit>, Vec<UnauditedTree>) {
    let (mut audits, mut unaudited) = (Vec::new(), Vec::new());
    for tree in &files.trees {
        let name = tree.display().to_string();
        match audit_tree(tree, &name, margin) {
            Ok(Some(audit)) => audits.push(audit),
            Ok(None) => unaudited.push(UnauditedTree {
                source: name,
                why: Unaudited::NoStates,
            }),
            Err(error) => {
                let text = format!("{error:#}");
                let reason = text.strip_prefix(&format!("{name}: ")).unwrap_or(&text);
                unaudited.push(UnauditedTree {
                    why: Unaudited::Refused(reason.to_owned()),
                    source: name,
                });
            }
        }
    }
    let unreadable = files.unreadable.iter();
    unaudited.extend(unreadable.map(|(folder, error)| UnauditedTree {
        source: folder.display().to_string(),
        why: Unaudited::Refused(error.to_string()),
    }));
    (audits, unaudited)
}

/// Audits a tree without logs. Returns None if it declares no idle states.
fn audit_tree(tree: &Path, name: &str, margin: f64) -> Result<Option<IdleAudit>> {
    let blob = read_tree("", tree)?;
    let source = DeclaredSource::of_any_tree(name, DeclaredBy::Tree, &blob)?;
    source
        .map(|source| audit(&source, "", &[], margin))
        .transpose()
}
