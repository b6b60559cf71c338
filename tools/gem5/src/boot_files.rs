//! What the machine boots: BL1 and the FIP that contains the payload.

use std::path::PathBuf;

use anyhow::Result;
use boards::BoardFile;
use clap::Args;
use host::folder::FolderFile;
use host::progress::say;
use runner::build::boot_arguments::parse_plan;
use runner::build::from_source::{BuildPlan, BuildRequest, GivenFiles, MakeVariable, contents};
use runner::build::image_contents::TreeOptions;
use runner::setup::workspace::Workspace;
use suite::plan::Plan;

use super::clusters::Clusters;

/// The board file of the machine.
const BOARD: &str = "gem5-fvp";

/// TF-A and the payload.
#[derive(Clone, Debug, Args)]
pub(crate) struct BootArguments {
    /// Boot arguments, such as 'iterations=100'.
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// TF-A source tree, 2.9 or later [default: 2.12.1].
    #[arg(long, value_name = "DIR")]
    pub(crate) tf_a: Option<PathBuf>,
    /// Variable for TF-A's makefile; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) make: Vec<MakeVariable>,
}

/// The board that the machine simulates, and what it measures.
#[derive(Clone, Debug)]
pub(crate) struct BootFiles {
    board: BoardFile,
    /// The payload's plan.
    pub(crate) plan: Plan,
}

impl BootFiles {
    /// Checks `arguments` for a machine with these clusters.
    ///
    /// # Errors
    /// Returns an error if the boot arguments are invalid.
    pub(crate) fn new(arguments: &BootArguments, clusters: &Clusters) -> Result<Self> {
        let mut board = boards::load(BOARD)?;
        board.cpus.clusters = clusters.mpidrs();
        let plan = parse_plan(arguments.args.as_deref())?;
        Ok(Self { board, plan })
    }

    /// Returns the number of CPUs.
    pub(crate) fn cpus(&self) -> usize {
        self.board.cpus.clusters.iter().flatten().count()
    }

    /// Builds TF-A and the payload, and returns `bl1.bin` and `fip.bin`.
    ///
    /// # Errors
    /// Returns an error if one of them cannot be built.
    pub(crate) fn build(
        &self,
        workspace: &Workspace,
        arguments: &BootArguments,
    ) -> Result<Vec<FolderFile>> {
        let plan = BuildPlan::new(
            workspace,
            BuildRequest {
                board: &self.board,
                tf_a: arguments.tf_a.as_deref(),
                mbed_tls: None,
                allow_dirty: false,
                debug: false,
                make: arguments.make.clone(),
                gic: self.board.default_gic(),
                cpus: self.board.default_cpus()?,
                given: GivenFiles::default(),
            },
        )?;
        say(&plan.timestamps.describe());
        let tree = TreeOptions {
            args: arguments.args.clone(),
            ..TreeOptions::default()
        };
        contents(workspace, &plan, || {
            tree.make_image(workspace, &self.board, None)
        })
    }
}
