//! What goes into an image besides the payload: by a board's file, or by the
//! user's device tree.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use psci_bench::image::TREE_MAX;

use super::device_tree::{self, Choices};
use super::firmware::Variant;
use super::image::{self, Emergency};
use super::payload::{self, Tree};
use crate::board::firmware_kind::Firmware;
use crate::board::{Board, Conduit, Gic, GivenStates};
use crate::setup::read_file;
use crate::setup::workspace::Workspace;

/// The wishes for the device tree of an image.
#[derive(Clone, Debug, Args)]
pub struct TreeWish {
    /// Append this device tree instead of one made of the board file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["smp", "gic"])]
    pub dtb: Option<PathBuf>,
    /// Boot arguments, such as 'iterations=100 method=warm'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// How many CPUs [default: as the board file says].
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// Which GIC, 2 or 3 [default: as the board file says].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<Gic>,
    /// Its idle states.
    #[command(flatten)]
    pub states: GivenStates,
}

impl TreeWish {
    /// Returns the device tree that is asked for.
    pub fn tree(&self) -> Tree {
        self.dtb.clone().map_or(Tree::Board, Tree::File)
    }

    /// Builds the payload, unless `base` is one, and the image of it for `board`.
    pub fn make_image(
        &self,
        workspace: &Workspace,
        board: &Board,
        base: Option<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        board.check_gic(self.gic)?;
        let wish = ImageWish {
            cpus: self.smp.map_or_else(|| board.default_cpus(), Ok)?,
            gic: self.gic.unwrap_or(board.default_gic()),
            firmware: Firmware::TfA,
            conduit: board.psci.conduit,
            variant: Variant::default(),
            states: self.states,
            args: self.args.as_deref(),
            emulated: false,
        };
        make_image(workspace, board, &wish, &self.tree(), base)
    }
}

/// What an image's device tree is to say.
#[derive(Clone, Copy, Debug)]
pub struct ImageWish<'w> {
    /// How many CPUs.
    pub cpus: u32,
    /// Which interrupt controller.
    pub gic: Gic,
    /// On which firmware.
    pub firmware: Firmware,
    /// Called how.
    pub conduit: Conduit,
    /// Of which variant.
    pub variant: Variant,
    /// The idle states of the tree that is made of the board file.
    pub states: GivenStates,
    /// The boot arguments.
    pub args: Option<&'w str>,
    /// Whether it is for a machine with this GIC, which the user's tree has to
    /// describe then, and not for the machine of that tree.
    pub emulated: bool,
}

/// What goes into an image besides the payload.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The device tree that is appended.
    pub tree: Option<Vec<u8>>,
    /// What the image knows without.
    pub emergency: Emergency,
    /// How many CPUs it is for.
    pub cpus: usize,
}

/// Builds the payload, unless `base` is one, and the image of it for `board`
/// with `tree`.
///
/// # Errors
/// When the tree cannot be used, or the payload does not build.
pub fn make_image(
    workspace: &Workspace,
    board: &Board,
    wish: &ImageWish<'_>,
    tree: &Tree,
    base: Option<Vec<u8>>,
) -> Result<Vec<u8>> {
    let Contents {
        tree,
        emergency,
        cpus,
    } = contents(board, wish, tree)?;
    let base = base.map_or_else(|| payload::flat(workspace), Ok)?;
    image::assemble(base, tree.as_deref(), emergency, cpus)
}

/// What goes into the image for `board` with `tree`.
///
/// # Errors
/// When the tree cannot be used.
pub fn contents(board: &Board, wish: &ImageWish<'_>, tree: &Tree) -> Result<Contents> {
    let most = *board.firmware(wish.firmware.name())?.max_cpus.get_ref();
    if wish.cpus == 0 || wish.cpus > most {
        bail!(
            "--smp {}: {} can have 1 to {most} CPUs",
            wish.cpus,
            board.title
        );
    }
    let of_board = Emergency::of_board(board, wish.conduit);
    let (tree, emergency, cpus) = match tree {
        Tree::Board => {
            let firmware = board.firmware(wish.firmware.name())?;
            let state_id = wish.variant.state_id;
            let mut idle_states = wish.states.choose(board, firmware, state_id)?;
            if wish.variant.timer_stop {
                let stop = idle_states.iter_mut().filter(|state| state.is_powerdown());
                stop.for_each(|state| state.local_timer_stop = true);
            }
            let choices = Choices {
                cpus: wish.cpus,
                gic: wish.gic,
                conduit: wish.conduit,
                idle_states: &idle_states,
                bootargs: wish.args.unwrap_or(""),
            };
            let grouped = board.with_clusters_of(firmware);
            (
                Some(device_tree::build(&grouped, &choices)?),
                of_board,
                wish.cpus as usize,
            )
        }
        Tree::File(path) => {
            let blob = read_file::read("--dtb", path, TREE_MAX)?;
            let at = || format!("--dtb {}", path.display());
            let blob = device_tree::adapt(&blob, wish.args).with_context(at)?;
            let (gic, cpus) = device_tree::machine(&blob).with_context(at)?;
            if let Some(gic) = gic.filter(|gic| wish.emulated && *gic != wish.gic) {
                let (its, ours) = (gic.number(), wish.gic.number());
                bail!(
                    "{} describes a GICv{its}, and the machine has a GICv{ours}: use --gic {its}",
                    at()
                );
            }
            let emergency = Emergency::of_tree(&blob);
            (Some(blob), emergency, cpus)
        }
        Tree::Raw(_) | Tree::None if wish.args.is_some() && wish.firmware.is_tf_a() => {
            bail!("boot arguments need a device tree to be in")
        }
        Tree::Raw(bytes) => (Some(bytes.clone()), of_board, wish.cpus as usize),
        Tree::None => (None, of_board, wish.cpus as usize),
    };
    Ok(Contents {
        tree,
        emergency,
        cpus,
    })
}
