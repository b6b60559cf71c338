//! `cargo xtask ledger`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use super::common::{INCOMPLETE, parse_share};
use super::qemu::{self, RunArguments};
use crate::profile::ledger::Bench;
use crate::profile::ledger_export::{self, Format};
use crate::setup::files;
use crate::setup::plural::many;
use crate::setup::progress::say;

/// Arguments of `ledger`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  done, and no commit makes a figure larger by more than --rtol
  1  done, and a commit does: it is named
  2  bad input or use, or no commit can be built
  3  the first or the last commit cannot be measured; or interrupted: the same
     command goes on from there

Examples:
  cargo xtask ledger --tf-a ../trusted-firmware-a v2.12.0..v2.13.0 --first-parent
  cargo xtask ledger --tf-a ../trusted-firmware-a HEAD~5..HEAD --format html -o ledger.html
  cargo xtask ledger --tf-a ../trusted-firmware-a v2.12.0..v2.13.0 \\
      --bisect susp_deep_serial:cache-flush")]
pub struct LedgerArguments {
    /// The commits, after A up to B; A is what the first is compared with. Names
    /// are git's.
    #[arg(value_name = "A..B")]
    pub range: String,
    /// The run. --tf-a names the checkout; --icount and samples=all are implied.
    #[command(flatten)]
    pub run: RunArguments,
    /// Follow only the first parent of a merge.
    #[arg(long)]
    pub first_parent: bool,
    /// Find the commit that changed this figure, by halves; figures are listed
    /// where there is none of this name.
    #[arg(long, value_name = "SCENARIO:PHASE")]
    pub bisect: Option<String>,
    /// Share of a figure below which a difference is no step, such as 0.02 or 2%.
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parse_share)]
    pub rtol: u32,
    /// The format.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// The file to write [default: stdout].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub(super) fn run(arguments: &LedgerArguments) -> Result<u8> {
    if let Some(output) = &arguments.output {
        files::check(
            ("-o", output),
            &[("--tf-a", arguments.run.spec.tf_a.as_deref())],
        )?;
    }
    let spec = qemu::spec(&arguments.run)?;
    let bench = Bench::new(&spec, &arguments.range, arguments.first_parent)?;
    let (range, tolerance) = (&arguments.range, f64::from(arguments.rtol) / 1e6);
    let ledger = match &arguments.bisect {
        Some(figure) => bench.bisect(range, tolerance, &figure.replace(' ', "-"))?,
        None => bench.ledger(range, tolerance)?,
    };
    let format = arguments.format;
    let write = |out: &mut dyn Write| ledger_export::write(format, &ledger, out);
    files::write_or_print(arguments.output.as_deref(), write)?;
    for step in &ledger.steps {
        let (id, title) = (step.commit.short(), &step.commit.title);
        say(&format!(
            "step: {id} {title}: {}",
            many(step.changes.len(), "figure")
        ));
    }
    if ledger.steps.is_empty() {
        say("no step");
    }
    let changes = ledger.steps.iter().flat_map(|it| &it.changes);
    let is_worse = changes.into_iter().any(|it| it.share() > tolerance);
    Ok(match (ledger.is_complete(), is_worse) {
        (false, _) => {
            say("the first or the last commit cannot be measured: see above");
            INCOMPLETE
        }
        (true, is_worse) => u8::from(is_worse),
    })
}
