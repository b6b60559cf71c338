//! `cargo xtask lab`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow, bail};
use boards::device_tree;
use boards::{BoardFile, PackageKind};
use clap::{Args, Subcommand};
use hardware::image::TREE_MAX;
use host::progress::say;
use host::read_file;
use itertools::Itertools as _;
use run::plan::Plan;
use thiserror::Error;

use crate::build::firmware::{Variant, fault};
use crate::build::image_contents::TreeWish;
use crate::build::{image, package};
use crate::cli::common::plan;
use crate::lab::cell::{
    self, Content, EngineOptions, JobOptions, LabCell, LabgridOptions, LavaOptions,
};
use crate::lab::cell_folder::{self, CellFolder};
use crate::lab::content::content;
use crate::lab::mark::{BadName, check_name, is_plain};
use crate::lab::{Engine, Names};
use crate::qemu::run_spec::RunSpec;
use crate::qemu::{prepare, timeout};
use crate::setup::workspace::Workspace;

/// A file, and the name of its firmware if the user gave one.
#[derive(Clone, Debug)]
pub struct NamedFile {
    name: Option<String>,
    path: PathBuf,
}

impl NamedFile {
    fn name(&self) -> String {
        let plain = |c| if is_plain(c) { c } else { '_' };
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        self.name
            .clone()
            .unwrap_or_else(|| stem.chars().map(plain).collect())
    }
}

/// An argument that is neither FILE nor NAME=FILE.
#[derive(Debug, Error)]
pub enum NamedFileError {
    /// The name is not a valid firmware name.
    #[error(transparent)]
    Name(#[from] BadName),
    /// The argument is a name without a file.
    #[error("the file name is missing")]
    NoFile,
}

impl FromStr for NamedFile {
    type Err = NamedFileError;

    fn from_str(text: &str) -> Result<Self, NamedFileError> {
        // A path may contain `=`, so the part before it is treated as a name only if it contains no
        // `/`.
        let (name, path) = match text.split_once('=') {
            Some((name, path)) if !name.contains('/') => (Some(check_name(name)?), path),
            _ => (None, text),
        };
        if path.is_empty() {
            return Err(NamedFileError::NoFile);
        }
        let path = PathBuf::from(path);
        Ok(Self { name, path })
    }
}

/// The engine to write jobs for.
#[derive(Debug, Subcommand)]
pub enum LabVerb {
    /// Write jobs for LAVA, one for each board and firmware.
    #[command(after_help = "\
Examples:
  cargo xtask lab lava -o lab
  cargo xtask lab lava --board juno --base v2.12=a.zip --base v2.13=b.zip -o lab
  cargo xtask lab lava --variant coherency=hw --variant coherency=sw -o lab

Details: docs/labs.md")]
    Lava {
        #[command(flatten)]
        cells: CellsArguments,
        #[command(flatten)]
        options: LavaOptions,
    },
    /// Write environments and tests for labgrid, by board and firmware.
    #[command(after_help = "\
Examples:
  cargo xtask lab labgrid -o lab
  cargo xtask lab labgrid --board hikey960 --base fip.bin --place rack-1 -o lab

Details: docs/labs.md")]
    Labgrid {
        #[command(flatten)]
        cells: CellsArguments,
        #[command(flatten)]
        options: LabgridOptions,
    },
}

/// The cells to write, for any engine.
#[derive(Debug, Args)]
pub struct CellsArguments {
    /// Boards in platforms/.
    #[arg(
        long,
        value_name = "NAME,…",
        default_value = "qemu",
        value_delimiter = ','
    )]
    pub board: Vec<String>,
    /// Firmware for the payload; one job per file.
    #[arg(long, value_name = "[NAME=]ZIP|FIP")]
    pub base: Vec<NamedFile>,
    /// QEMU: TF-A variant; one job per variant.
    #[arg(long, value_name = "K=V,…")]
    pub variant: Vec<Variant>,
    /// QEMU: TF-A checkout to build, 2.8 or later.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
    /// QEMU: fault in TF-A.
    #[arg(long, value_name = "FAULT", value_parser = fault::check)]
    pub fault: Option<String>,
    /// QEMU: count instructions instead of time.
    #[arg(long)]
    pub icount: bool,
    /// Firmware name in reports.
    #[arg(long, value_name = "NAME", value_parser = check_name)]
    pub name: Option<String>,
    /// Contents of the payload's device tree.
    #[command(flatten)]
    pub tree: TreeWish,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// Non-trusted firmware key, for a signed --base.
    #[arg(long, value_name = "PEM")]
    pub nt_fw_key: Option<PathBuf>,
    /// The jobs.
    #[command(flatten)]
    pub job: JobOptions,
    /// Replace job folders that have no results.
    #[arg(long)]
    pub force: bool,
    /// Directory for the job folders.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// The source of the firmware for a cell.
enum CellFirmware<'a> {
    /// TF-A, built with this variant.
    Built(Variant),
    Given(&'a Path),
    /// The board boots the image itself.
    None,
}

struct CellWish<'a> {
    board: &'a BoardFile,
    names: Names,
    source: CellFirmware<'a>,
    place: CellFolder,
}

pub(super) fn run(verb: &LabVerb) -> Result<u8> {
    match verb {
        LabVerb::Lava { cells, options } => write_cells(cells, EngineOptions::Lava(options)),
        LabVerb::Labgrid { cells, options } => write_cells(cells, EngineOptions::Labgrid(options)),
    }
}

fn write_cells(arguments: &CellsArguments, engine: EngineOptions<'_>) -> Result<u8> {
    let workspace = Workspace::find()?;
    let args = with_end(arguments, engine.engine())?;
    let plan = plan(Some(&args))?;
    let boards = arguments.board.iter();
    let boards = boards.map(|name| boards::load(name));
    let boards = boards.collect::<Result<Vec<_>>>()?;
    check(arguments, &boards)?;
    let wishes = wishes(arguments, engine.engine(), &boards)?;
    let tree = TreeWish {
        args: Some(args),
        ..arguments.tree.clone()
    };
    let mut ready = Vec::new();
    let mut notes = Vec::new();
    // Everything that is slow or can fail is done before anything is written.
    for wish in wishes {
        let board = wish.board;
        notes.push(wish.place.path.display().to_string());
        let cell = cell(&workspace, (arguments, engine), wish, &tree, plan)?;
        if let Content::Loose(_) = &cell.content {
            let package = package::package(board)?;
            let (file, install) = (&package.file, &package.install);
            let note = format!("copy {file} to the board before its tests run. {install}");
            notes.push(note);
        }
        ready.push(cell.ready()?);
    }
    cell_folder::put(&ready)?;
    notes.iter().for_each(|note| say(note));
    Ok(0)
}

/// Returns the cells, each with a unique name and folder.
fn wishes<'a>(
    arguments: &'a CellsArguments,
    engine: Engine,
    boards: &'a [BoardFile],
) -> Result<Vec<CellWish<'a>>> {
    let mut wishes = Vec::new();
    for board in boards {
        for (usual, source) in sources(arguments, board)? {
            let firmware = arguments.name.as_deref().unwrap_or(&usual);
            let firmware = check_name(firmware)
                .map_err(|why| anyhow!("the firmware name {firmware:?}: {why}; use --name"))?;
            let names = Names {
                engine,
                board: board.name.clone(),
                firmware,
            };
            let place = CellFolder::of(&arguments.output, &names, arguments.force)?;
            wishes.push(CellWish {
                board,
                names,
                source,
                place,
            });
        }
    }
    let each = match arguments.base.is_empty() {
        true => "specify each --board and --variant only once",
        false => "give each firmware a name with --base NAME=FILE",
    };
    if arguments.name.is_some() && wishes.len() > 1 {
        bail!(
            "--name needs a single cell, but there are {}: {each}",
            wishes.len()
        );
    }
    let mut folders = wishes.iter().map(|wish| wish.names.folder()).duplicates();
    if let Some(folder) = folders.next() {
        bail!("two cells are called {folder}: {each}");
    }
    Ok(wishes)
}

/// Builds the file that a cell's board boots from.
fn cell<'a>(
    workspace: &Workspace,
    (arguments, engine): (&'a CellsArguments, EngineOptions<'a>),
    wish: CellWish<'a>,
    tree: &TreeWish,
    plan: Plan,
) -> Result<LabCell<'a>> {
    let board = wish.board;
    let cpus = match &arguments.tree.dtb {
        Some(path) => {
            let blob = read_file::read("--dtb", path, TREE_MAX)?;
            let machine = device_tree::machine(&blob);
            let machine = machine.with_context(|| format!("--dtb {}", path.display()))?;
            u32::try_from(machine.1)?
        }
        None => arguments
            .tree
            .smp
            .map_or_else(|| board.default_cpus(), Ok)?,
    };
    cell::check(engine.engine(), &plan, cpus)?;
    let run = timeout::timeout(cpus, &plan);
    let image = || {
        let released = image::released("--payload", arguments.payload.as_deref())?;
        tree.make_image(workspace, board, released)
    };
    let content = match wish.source {
        CellFirmware::Built(variant) => Content::Qemu(Box::new(prepare::prepare(&RunSpec {
            board: board.name.clone(),
            smp: Some(cpus),
            gic: tree.gic,
            variant,
            fault: arguments.fault.clone(),
            tf_a: arguments.tf_a.clone(),
            icount: arguments.icount,
            args: tree.args.clone(),
            tree: tree.tree(),
            states: tree.all_states(),
            timeout: run,
            ..RunSpec::default()
        })?)),
        CellFirmware::Given(base) => {
            let of = (board, engine.engine());
            content(workspace, of, base, arguments.nt_fw_key.as_deref(), image)?
        }
        CellFirmware::None => Content::Loose(image()?),
    };
    Ok(LabCell {
        names: wish.names,
        place: wish.place,
        board,
        plan,
        cpus,
        run,
        options: &arguments.job,
        engine,
        content,
    })
}

/// Returns the boot arguments, including the `end=` that the engine needs.
fn with_end(arguments: &CellsArguments, engine: Engine) -> Result<String> {
    let args = arguments.tree.args.as_deref().unwrap_or("");
    // The arguments are checked before `end=` is added, so that an error quotes them as the user
    // wrote them.
    plan(Some(args))?;
    let mut words: Vec<&str> = args.split_whitespace().collect();
    let end = format!("end={}", engine.end());
    if !words.iter().any(|word| word.starts_with("end=")) {
        words.push(&end);
    }
    Ok(words.join(" "))
}

fn check(arguments: &CellsArguments, boards: &[BoardFile]) -> Result<()> {
    if let Some(twice) = arguments.board.iter().duplicates().next() {
        bail!("--board {twice}: named twice");
    }
    if arguments.base.len() > 1 && boards.len() > 1 {
        bail!("--base: several files need a single --board; run this again for the other boards");
    }
    if arguments.nt_fw_key.is_some() && arguments.base.is_empty() {
        bail!("--nt-fw-key signs the BL33 in a FIP; specify the FIP with --base");
    }
    let out = arguments.output.as_path();
    if out.exists() && !out.is_dir() {
        bail!("-o {}: not a directory", out.display());
    }
    Ok(())
}

/// Returns the firmware sources for `board`, one for each cell, with their default names.
fn sources<'a>(
    arguments: &'a CellsArguments,
    board: &BoardFile,
) -> Result<Vec<(String, CellFirmware<'a>)>> {
    let (name, title) = (&board.name, &board.title);
    let is_built = board.is_virtual();
    let (base, payload) = (!arguments.base.is_empty(), arguments.payload.is_some());
    for (option, given) in [("--base", base), ("--payload", payload)] {
        if given && is_built {
            let built = "TF-A and a payload built here; use --tf-a DIR or --variant";
            bail!("{option}: {title} boots {built}");
        }
    }
    for (option, given) in [
        ("--variant", !arguments.variant.is_empty()),
        ("--tf-a", arguments.tf_a.is_some()),
        ("--fault", arguments.fault.is_some()),
        ("--icount", arguments.icount),
    ] {
        if given && !is_built {
            bail!("{option} applies only to QEMU, but lab jobs for {title} run on the board");
        }
    }
    let usual = board.default_firmware.clone();
    if is_built {
        // The fault is part of the name, because firmware with a fault is treated as different
        // firmware.
        let fault = arguments
            .fault
            .as_ref()
            .map_or_else(String::new, |fault| format!("_{}", as_name(fault)));
        let built = |(name, variant)| (format!("{name}{fault}"), CellFirmware::Built(variant));
        let variants = arguments.variant.iter();
        let mut cells: Vec<_> = variants.map(|it| built((variant_name(*it), *it))).collect();
        if cells.is_empty() {
            cells.push(built((usual, Variant::default())));
        }
        return Ok(cells);
    }
    match (package::package(board)?.kind, arguments.base.as_slice()) {
        (PackageKind::Fip, []) => {
            bail!("{title} boots a FIP: specify its current FIP or its recovery image with --base")
        }
        (PackageKind::Fip, bases) => {
            let given = |base: &'a NamedFile| (base.name(), CellFirmware::Given(&base.path));
            Ok(bases.iter().map(given).collect())
        }
        (_, [base, ..]) => bail!(
            "--base {}: {title} does not boot a FIP (see `cargo xtask boards {name}`)",
            base.path.display()
        ),
        (PackageKind::Raw, []) => Ok(vec![(usual, CellFirmware::None)]),
        (kind, []) => bail!(
            "{title} boots a {kind:?} file, which a board-specific tool creates; use `cargo xtask \
             image --board {name}`, with another board's labgrid files as an example"
        ),
    }
}

/// Converts a variant or a fault to a form that is allowed in a name.
fn as_name(words: &str) -> String {
    words.replace(',', "_").replace('=', "-")
}

/// Returns the settings that differ from the default variant, in a form that is allowed in a name.
fn variant_name(variant: Variant) -> String {
    let (usual, all) = (Variant::default().to_string(), variant.to_string());
    let words = all.split(',').zip(usual.split(','));
    let words = words
        .filter(|(word, usual)| word != usual)
        .map(|(word, _)| word)
        .join(",");
    as_name(if words.is_empty() { "default" } else { &words })
}
