//! What an image contains besides the payload, taken from a board file or the user's device tree.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use boards::device_tree::{self, Choices};
use boards::{BoardFile, Conduit, GicVersion};
use clap::Args;
use hardware::board::{Board, Footprint, Region};
use hardware::board::{Gic, MemorySource};
use hardware::image::ParameterBlock;
use hardware::text::plural::many;
use host::progress::say_once;
use suite::model::LeftOutState;
use suite::plan::Plan;

use super::firmware::FirmwareVariant;
use super::image::{self, Emergency};
use super::payload::{self, TreeSource};
use super::tree_file::read_tree;
use crate::build::GivenStates;
use crate::build::firmware_kind::FirmwareKind;
use crate::setup::workspace::Workspace;

/// The options for the device tree in an image.
#[derive(Clone, Debug, Default, Args)]
pub struct TreeOptions {
    /// Append this device tree instead of the board's.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["smp", "gic"])]
    pub dtb: Option<PathBuf>,
    /// Boot arguments, such as 'iterations=100'.
    #[arg(long, allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Number of CPUs [default: the board file's].
    #[arg(long, value_name = "N")]
    pub smp: Option<u32>,
    /// GIC version [default: the board file's].
    #[arg(long, value_name = "2|3")]
    pub gic: Option<GicVersion>,
    /// The idle states in the device tree.
    #[command(flatten)]
    pub states: GivenStates,
    /// Leave out the board file's power-down states.
    #[arg(long, conflicts_with_all = ["dtb", "core"])]
    pub no_power_down: bool,
}

impl TreeOptions {
    /// Returns the requested device tree.
    pub fn tree(&self) -> TreeSource {
        self.dtb.clone().map_or(TreeSource::Board, TreeSource::File)
    }

    /// Returns the options for the idle states.
    pub fn all_states(&self) -> GivenStates {
        GivenStates {
            no_power_down: self.no_power_down,
            ..self.states
        }
    }

    /// Returns these options as arguments for `cargo xtask image`.
    pub fn words(&self) -> Vec<String> {
        let Self {
            dtb,
            args,
            smp,
            gic,
            states,
            no_power_down,
        } = self;
        let options = [
            ("--dtb", dtb.as_ref().map(|dtb| dtb.display().to_string())),
            ("--args", args.clone()),
            ("--smp", smp.map(|smp| smp.to_string())),
            ("--gic", gic.map(|gic| gic.number().to_string())),
            (
                "--state-format",
                states.state_format.map(|format| format.name().to_owned()),
            ),
            ("--core", states.core.map(|state| format!("{state:#x}"))),
            (
                "--deepest",
                states.deepest.map(|state| format!("{state:#x}")),
            ),
        ];
        let given = options
            .into_iter()
            .filter_map(|(option, value)| Some([option.to_owned(), value?]));
        let flags = no_power_down.then(|| "--no-power-down".to_owned());
        given.flatten().chain(flags).collect()
    }

    /// Builds the payload, unless `base` supplies one, and its image for `board`, which loads it at
    /// the board file's address.
    pub fn make_image(
        &self,
        workspace: &Workspace,
        board: &BoardFile,
        base: Option<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        let image = self.make_image_for_any_board(workspace, board, base)?;
        check_place(&image, board.load_address, &self.tree())?;
        Ok(image)
    }

    /// Does the same as [`Self::make_image`], but `dtb` may be for another board than `board`,
    /// whose load address is unknown.
    pub fn make_image_for_any_board(
        &self,
        workspace: &Workspace,
        board: &BoardFile,
        base: Option<Vec<u8>>,
    ) -> Result<Vec<u8>> {
        make_image(workspace, board, &self.options(board)?, &self.tree(), base)
    }

    /// Checks that an image with these options can be made for `board`.
    pub fn check(&self, board: &BoardFile) -> Result<()> {
        contents(board, &self.options(board)?, &self.tree())?;
        Ok(())
    }

    fn options(&self, board: &BoardFile) -> Result<ImageOptions<'_>> {
        board.check_gic(self.gic)?;
        Ok(ImageOptions {
            cpus: self.smp.map_or_else(|| board.default_cpus(), Ok)?,
            gic: self.gic.unwrap_or(board.default_gic()),
            firmware: FirmwareKind::TfA.name(),
            conduit: board.psci.conduit,
            variant: FirmwareVariant::default(),
            states: self.all_states(),
            args: self.args.as_deref(),
            emulated: false,
        })
    }
}

/// The options for the device tree in an image, with all defaults resolved.
pub struct ImageOptions<'w> {
    /// The number of CPUs, from 1 to the limit of the firmware.
    pub cpus: u32,
    /// The GIC version, which is ignored if the board has no GIC.
    pub gic: GicVersion,
    /// The name that board files use for the firmware that the image runs under.
    pub firmware: &'w str,
    /// The conduit for PSCI calls.
    pub conduit: Conduit,
    /// The firmware variant, which decides the state format and whether timers stop.
    pub variant: FirmwareVariant,
    /// The idle states for a tree built from the board file.
    pub states: GivenStates,
    /// Boot arguments.
    pub args: Option<&'w str>,
    /// True if the image is for an emulated machine with this GIC, which the user's tree must
    /// describe. False if the image is for the machine that the tree describes.
    pub emulated: bool,
}

/// What an image contains besides the payload: the device tree, and a UART and a conduit in case
/// the tree cannot be used.
pub struct Contents {
    /// The device tree; None if the image has none.
    pub tree: Option<Vec<u8>>,
    /// The contents of the parameter block.
    pub emergency: Emergency,
    /// The number of CPUs that the image has room for.
    pub cpus: usize,
}

/// Builds the payload, unless `base` supplies one, and its image for `board` with `tree`.
pub(crate) fn make_image(
    workspace: &Workspace,
    board: &BoardFile,
    options: &ImageOptions<'_>,
    tree: &TreeSource,
    base: Option<Vec<u8>>,
) -> Result<Vec<u8>> {
    let contents = contents(board, options, tree)?;
    if let (TreeSource::File(path), Some(tree)) = (tree, &contents.tree) {
        warn_of_choices(path, tree)?;
    }
    let base = base.map_or_else(|| payload::flat(workspace), Ok)?;
    let tree = contents.tree.as_deref();
    image::assemble(base, tree, contents.emergency, contents.cpus)
}

/// Names the idle states in the user's tree that the payload does not use, and the console if
/// stdout-path does not specify it.
fn warn_of_choices(path: &Path, tree: &[u8]) -> Result<()> {
    let board = Board::read(tree)?;
    let uart = board.uart;
    let by = board.uart_by;
    if !by.is_stdout_path() {
        say_once(&format!(
            "--dtb {}: console {uart}, set by {by}",
            path.display()
        ));
    }
    for state in &board.idle_states.left_out {
        let sentence = LeftOutState::from(state).sentence();
        say_once(&format!("warning: --dtb {}: {sentence}", path.display()));
    }
    Ok(())
}

/// Checks that the tree appended to `image`, if it is the user's, has room for the payload at
/// `load_address`. The payload checks the same after it has been loaded.
pub(crate) fn check_place(image: &[u8], load_address: u64, tree: &TreeSource) -> Result<()> {
    let TreeSource::File(path) = tree else {
        return Ok(());
    };
    let footprint = Footprint::of_image(&ParameterBlock::read(image)?, load_address);
    let tree = image::appended_tree(image)?;
    let checked = footprint.map_or(Ok(()), |footprint| {
        Board::read(tree)?.check_footprint(&footprint)
    });
    checked.with_context(|| format!("--dtb {}", path.display()))
}

/// Returns the contents of the image for `board` with `tree`.
pub fn contents(
    board: &BoardFile,
    options: &ImageOptions<'_>,
    tree: &TreeSource,
) -> Result<Contents> {
    let cpus = options.cpus;
    let most = board.firmware(options.firmware)?.max_cpus;
    if cpus == 0 || cpus > most {
        bail!("--smp {cpus}: {} can have 1 to {most} CPUs", board.title);
    }
    let tree = match tree {
        TreeSource::Board => Some(tree_of_board(board, options)?),
        TreeSource::File(path) => {
            let blob = read_tree("--dtb", path)?;
            return file_contents(&blob, options)
                .with_context(|| format!("--dtb {}", path.display()));
        }
        TreeSource::Raw(_) | TreeSource::None
            if options.args.is_some() && options.firmware.starts_with("tf-a") =>
        {
            bail!("boot arguments require a device tree")
        }
        TreeSource::Raw(bytes) => Some(bytes.clone()),
        TreeSource::None => None,
    };
    Ok(Contents {
        tree,
        emergency: Emergency::of_board(board, options.conduit),
        cpus: cpus as usize,
    })
}

/// The memory added to a tree that does not describe any. None of the devices that the payload uses
/// is at the end of the first 4 GiB.
const PLACEHOLDER: Region = Region {
    base: 0xffff_f000,
    size: 0x1000,
};

/// Returns `blob` (the user's tree) with `bootargs` set, for an EFI application that will replace
/// its memory nodes. A tree without memory nodes is given one page, because the payload cannot read
/// a tree that has none.
pub fn adapt_without_memory(blob: &[u8], bootargs: Option<&str>) -> Result<Vec<u8>> {
    let adapt = |memory| ::device_tree::adapt(blob, bootargs, memory);
    // The EFI application will also replace the memory nodes.
    let replaced = adapt(Some(&[PLACEHOLDER]))?;
    Ok(adapt(None).unwrap_or(replaced))
}

/// Checks the boot arguments in the user's tree as the payload does.
fn check_bootargs(board: &Board<'_>) -> Result<()> {
    let plan = Plan::parse_from_tree(board.bootargs);
    plan.map_err(|error| anyhow!("{error}; correct /chosen/bootargs, or use --args"))?;
    Ok(())
}

/// Checks the user's tree, and describes what the payload reads from it.
pub fn summary(blob: &[u8]) -> Result<String> {
    let board = device_tree::read(blob)?;
    check_bootargs(&board)?;
    let gic = match board.gic {
        Some(Gic::V2 { .. }) => "GICv2",
        Some(Gic::V3 { .. }) => "GICv3",
        None => "no GIC",
    };
    let cpus = many(board.cpu_count, "CPU");
    let states = many(board.idle_states.usable.len(), "idle state");
    let console = format!("console {}, set by {}", board.uart, board.uart_by);
    let memory = match board.memory_source {
        MemorySource::DeviceType => String::new(),
        source => format!("; memory nodes recognized by {source}"),
    };
    let left_out: String = board
        .idle_states
        .left_out
        .iter()
        .map(|state| format!("\n{}", LeftOutState::from(state).sentence()))
        .collect();
    Ok(format!(
        "found {cpus}, {gic}, {states}; {console}{memory}{left_out}"
    ))
}

fn file_contents(blob: &[u8], options: &ImageOptions<'_>) -> Result<Contents> {
    let blob = ::device_tree::adapt(blob, options.args, None)?;
    let (gic, cpus) = device_tree::machine(&blob)?;
    check_bootargs(&Board::read(&blob)?)?;
    if let Some(gic) = gic.filter(|gic| options.emulated && *gic != options.gic) {
        let its = gic.number();
        let ours = options.gic.number();
        bail!("the tree describes a GICv{its}, but the machine has a GICv{ours}: use --gic {its}");
    }
    Ok(Contents {
        emergency: Emergency::of_tree(&blob),
        tree: Some(blob),
        cpus,
    })
}

fn tree_of_board(board: &BoardFile, options: &ImageOptions<'_>) -> Result<Vec<u8>> {
    let firmware = board.firmware(options.firmware)?;
    let mut idle_states = options
        .states
        .choose(board, firmware, options.variant.state_format())?;
    if options.variant.has("timer-stop=1") {
        let stop = idle_states.iter_mut().filter(|state| state.is_powerdown());
        stop.for_each(|state| state.local_timer_stop = true);
    }
    let recipe = board.qemu.as_ref();
    let lacks_cpu_off = recipe.is_some_and(|recipe| recipe.no_cpu_off.is_some());
    let choices = Choices {
        cpus: options.cpus,
        gic: options.gic,
        conduit: options.conduit,
        cpu_off: firmware.cpu_off && !(options.emulated && lacks_cpu_off),
        idle_states: &idle_states,
    };
    let board = board.with_clusters_of(firmware);
    device_tree::build(&board, &choices, options.args.unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use hardware::board::Board as Read;

    use super::*;

    /// Returns Juno's tree with these boot arguments and a reserved region, in a file.
    fn given(bootargs: &str, reserved: u64) -> (tempfile::TempDir, TreeSource) {
        let board = boards::load("juno").expect("a board");
        let choices = Choices {
            cpus: 2,
            gic: board.default_gic(),
            conduit: board.psci.conduit,
            cpu_off: true,
            idle_states: &[],
        };
        let mut tree = device_tree::build(&board, &choices, bootargs).expect("a tree");
        // The memory reservation block is at the end of the tree.
        let place = (tree.len() as u32).next_multiple_of(8);
        tree.resize(place as usize, 0);
        tree.extend([reserved, 0x1000, 0, 0].map(u64::to_be_bytes).concat());
        let size = tree.len() as u32;
        tree[4..8].copy_from_slice(&size.to_be_bytes());
        tree[16..20].copy_from_slice(&place.to_be_bytes());
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("given.dtb");
        std::fs::write(&path, tree).expect("written");
        (dir, TreeSource::File(path))
    }

    #[test]
    fn a_given_tree_must_leave_memory_at_the_load_address() {
        let board = boards::load("juno").expect("a board");
        let at = board.load_address;
        for (reserved, is_free) in [
            (at - 0x1000, true),
            (at + 0x1000, false),
            (at + 0x8000, false),
        ] {
            let (_dir, source) = given("", reserved);
            let options = TreeOptions::default();
            let made = contents(
                &board,
                &options.options(&board).expect("the options"),
                &source,
            )
            .expect("contents");
            let flat = image::tests::blank(0x4000);
            let tree = made.tree.as_deref();
            let image = image::assemble(flat, tree, made.emergency, 2).expect("an image");
            let checked = check_place(&image, at, &source).map_err(|error| format!("{error:#}"));
            assert_eq!(checked.is_ok(), is_free, "{reserved:#x}: {checked:?}");
            let error = checked.err().unwrap_or_default();
            let named = format!("reserved memory at {reserved:#x} overlaps the ");
            assert!(is_free || error.contains(&named), "{error}");
        }
    }

    #[test]
    fn boot_arguments_of_a_given_tree_are_checked() {
        let board = boards::load("juno").expect("a board");
        for (bootargs, expected) in [
            ("console=ttyS0,115200 root=/dev/sda1", None),
            ("iterations=3", None),
            ("iteration=3", Some("word 1 \"iteration=3\": unknown key")),
            (
                "rw iterations=0",
                Some("word 2 \"iterations=0\": iterations takes"),
            ),
        ] {
            let (_dir, source) = given(bootargs, 0);
            let options = TreeOptions::default();
            let made = contents(
                &board,
                &options.options(&board).expect("the options"),
                &source,
            );
            let error = made.err().map(|error| format!("{error:#}"));
            assert_eq!(error.is_some(), expected.is_some(), "{error:?}");
            let parts = [expected.unwrap_or(""), "use --args"];
            assert!(error.is_none_or(|error| parts.iter().all(|part| error.contains(part))));
        }
    }

    /// On Poplar, CPUs do not come back after CPU_OFF.
    #[test]
    fn the_trees_of_images_forbid_cpu_off_where_board_files_do() {
        for (name, cpu_off) in [("poplar", false), ("juno", true)] {
            let board = boards::load(name).expect("a board");
            let options = ImageOptions {
                cpus: 2,
                gic: board.default_gic(),
                firmware: FirmwareKind::TfA.name(),
                conduit: board.psci.conduit,
                variant: FirmwareVariant::default(),
                states: GivenStates::default(),
                args: None,
                emulated: false,
            };
            let made = contents(&board, &options, &TreeSource::Board).expect("contents");
            let tree = made.tree.expect("a tree");
            let read = Read::read(&tree).expect("a good tree");
            assert_eq!(read.forbids_cpu_off, !cpu_off, "{name}");
        }
    }
}
