//! `cargo xtask fip build`.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use host::folder::OutputFolder;
use host::progress::say;
use host::stdout::Out;
use runner::build::boot_arguments::parse_plan;
use runner::build::from_source::{
    BuildPlan, BuildRequest, GivenFiles, MARK, MakeVariable, commands, contents,
};
use runner::build::image;
use runner::build::image_contents::TreeOptions;
use runner::setup::workspace::Workspace;

/// Build TF-A with PMF, and write everything that a board boots to a folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo xtask fip build --board juno --scp-fw juno-bl2.bin -o sd
  cargo xtask fip build --board rk3588 --tf-a ~/tf-a -o out
  cargo xtask fip build --board qemu --dry-run -o out

Details: docs/fip.md")]
pub struct BuildArguments {
    /// Board in platforms/.
    #[arg(long, value_name = "NAME")]
    pub board: String,
    /// Folder to write; replaced if written by this command.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Print the equivalent commands without running them.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub source: SourceArguments,
    #[command(flatten)]
    pub inputs: InputArguments,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    #[command(flatten)]
    pub tree: TreeOptions,
}

/// TF-A source and build options.
#[derive(Debug, Args)]
pub struct SourceArguments {
    /// TF-A source tree, 2.9 or later [default: 2.12.1].
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// Build even if files in --tf-a are not committed.
    #[arg(long, requires = "tf_a")]
    pub allow_dirty: bool,
    /// Mbed TLS source tree, if the platform needs it.
    #[arg(long, value_name = "DIR")]
    pub mbedtls: Option<PathBuf>,
    /// Build TF-A with DEBUG=1, and print the payload's boot marks.
    #[arg(long)]
    pub debug: bool,
    /// Variable for TF-A's makefile; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub make: Vec<MakeVariable>,
}

/// The images that TF-A does not build.
#[derive(Debug, Args)]
pub struct InputArguments {
    /// SCP firmware, for boards that need it.
    #[arg(long, value_name = "FILE")]
    pub scp_fw: Option<PathBuf>,
    /// MCP firmware, for N1SDP.
    #[arg(long, value_name = "FILE")]
    pub mcp_fw: Option<PathBuf>,
    /// DDR firmware, for STM32MP25.
    #[arg(long, value_name = "FILE")]
    pub ddr_fw: Option<PathBuf>,
    /// OP-TEE's header, for STM32MP25.
    #[arg(long, value_name = "FILE")]
    pub tos_fw: Option<PathBuf>,
    /// OP-TEE, for STM32MP25.
    #[arg(long, value_name = "FILE")]
    pub tos_fw_extra1: Option<PathBuf>,
    /// Device tree for BL33, for STM32MP25.
    #[arg(long, value_name = "FILE")]
    pub hw_config: Option<PathBuf>,
}

impl InputArguments {
    fn given(&self) -> GivenFiles {
        let all = [
            ("scp-fw", &self.scp_fw),
            ("mcp-fw", &self.mcp_fw),
            ("ddr-fw", &self.ddr_fw),
            ("tos-fw", &self.tos_fw),
            ("tos-fw-extra1", &self.tos_fw_extra1),
            ("hw-config", &self.hw_config),
        ];
        let files = all
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.clone()?)));
        GivenFiles {
            files: files.collect(),
        }
    }
}

pub(super) fn run(arguments: &BuildArguments) -> Result<()> {
    let workspace = Workspace::find()?;
    let board = boards::load(&arguments.board)?;
    let (source, tree, out) = (&arguments.source, &arguments.tree, &arguments.output);
    let folder = OutputFolder::new("--output", out, MARK)?;
    board.check_gic(tree.gic)?;
    parse_plan(tree.args.as_deref())?;
    let payload = image::released("--payload", arguments.payload.as_deref())?;
    let request = BuildRequest {
        board: &board,
        tf_a: source.tf_a.as_deref(),
        mbed_tls: source.mbedtls.as_deref(),
        allow_dirty: source.allow_dirty,
        debug: source.debug,
        make: source.make.clone(),
        gic: tree.gic.unwrap_or(board.default_gic()),
        cpus: tree.smp.map_or_else(|| board.default_cpus(), Ok)?,
        given: arguments.inputs.given(),
    };
    let plan = BuildPlan::new(&workspace, request)?;
    say(&plan.timestamps.describe());
    let mut tree = tree.clone();
    if let Some(lack) = &plan.lacks_power_down {
        say(&format!("warning: {lack}"));
        tree.no_power_down = tree.states.core.is_none();
    }
    if arguments.dry_run {
        tree.check(&board)?;
        let mut image = tree.words();
        if let Some(payload) = &arguments.payload {
            image.extend(["--base".to_owned(), payload.display().to_string()]);
        }
        if source.debug {
            image.push("--bootlog".to_owned());
        }
        let lines = commands(&workspace, &plan, out, &image)?;
        return Ok(writeln!(Out::default(), "{}", lines.join("\n"))?);
    }
    let make_image = || {
        let mut image = tree.make_image(&workspace, &board, payload)?;
        if source.debug {
            image::enable_boot_log(&mut image)?;
        }
        Ok(image)
    };
    let files = contents(&workspace, &plan, make_image)?;
    folder.write(&files)?;
    say_result(out, files.len());
    Ok(())
}

fn say_result(out: &Path, files: usize) {
    let page = out.join("README.md");
    say(&format!(
        "{}: {files} files; {} explains what to do with each",
        out.display(),
        page.display()
    ));
}
