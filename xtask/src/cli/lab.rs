//! `cargo xtask lab`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, bail};
use clap::Args;
use psci_bench::image::TREE_MAX;
use psci_bench::plan::Plan;

use super::common::{interruption, plan};
use crate::board::{self, Board, PackageKind};
use crate::build::firmware::{Variant, fault};
use crate::build::image_contents::TreeWish;
use crate::build::{device_tree, image, package};
use crate::lab::cell::{self, Cell, Content, JobOptions};
use crate::lab::content::Base;
use crate::lab::place::{self, Place};
use crate::lab::{Engine, Names};
use crate::qemu::run_spec::RunSpec;
use crate::qemu::{prepare, timeout};
use crate::report::jobs::cell::is_plain;
use crate::report::jobs::check_name;
use crate::setup::progress::say;
use crate::setup::read_file;
use crate::setup::workspace::Workspace;

/// A file, and what the firmware in it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The name, if one is given.
    pub name: Option<String>,
    /// The file.
    pub path: PathBuf,
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A path may have a `=`: what is before it is a name if it can be one.
        let (name, path) = match text.split_once('=') {
            Some((name, path)) if !name.contains('/') => (Some(check_name(name)?), path),
            _ => (None, text),
        };
        if path.is_empty() {
            return Err("there is no file's name".to_owned());
        }
        let path = PathBuf::from(path);
        Ok(Self { name, path })
    }
}

/// Arguments of `lab`.
#[derive(Debug, Args)]
#[command(after_help = "\
Exit codes:
  0  done
  2  bad input or use, or something could not be fetched or built; no cell is
     half written

Examples:
  cargo xtask lab -o lab                                # QEMU, for LAVA
  cargo xtask lab --engine labgrid -o lab               # and for labgrid
  cargo xtask lab --board juno --base v2.12=old.zip --base v2.13=new.zip \\
      --url https://files.example.com/lab -o lab        # two firmware builds
  cargo xtask lab --board n1sdp --base n1sdp-recovery.zip --tags rack-2 -o lab
  cargo xtask lab --board hikey960 --engine labgrid --place hikey960-1 \\
      --base fip.bin -o lab
  cargo xtask lab --variant coherency=hw --variant coherency=sw -o lab
  docs/ci/lab.sh lab                                    # run them all here
  cargo xtask report --matrix lab                       # one report of them all")]
pub struct LabArguments {
    /// The board, a folder of platforms/; several with commas between.
    #[arg(
        long,
        value_name = "NAME,…",
        default_value = "qemu",
        value_delimiter = ','
    )]
    pub board: Vec<String>,
    /// The lab engine.
    #[arg(long, value_name = "ENGINE", default_value = "lava")]
    pub engine: Engine,
    /// Put the payload into this recovery image (a zip), or FIP, of the
    /// board's; several make a cell each. NAME is what the firmware in it is
    /// called in reports [default: the file's name].
    #[arg(long, value_name = "[NAME=]ZIP|FIP")]
    pub base: Vec<NamedFile>,
    /// On QEMU: how TF-A is built, as in `cargo xtask qemu`; several make a
    /// cell each.
    #[arg(long, value_name = "KEY=VALUE,…", conflicts_with = "base")]
    pub variant: Vec<Variant>,
    /// On QEMU: build this checkout of TF-A.
    #[arg(long, value_name = "DIR", conflicts_with = "base")]
    pub tf_a: Option<PathBuf>,
    /// On QEMU: the fault that TF-A is to have, as in `cargo xtask qemu`.
    #[arg(long, value_name = "FAULT", value_parser = fault::check, conflicts_with = "base")]
    pub fault: Option<String>,
    /// On QEMU: count instructions instead of time.
    #[arg(long, conflicts_with = "base")]
    pub icount: bool,
    /// Name of the firmware in reports, if there is only one.
    #[arg(long, value_name = "NAME", value_parser = check_name)]
    pub name: Option<String>,
    /// Contents of the payload's device tree. `end=` is as the engine needs it,
    /// unless --args says otherwise; with --dtb, --args take the place of the
    /// boot arguments in it.
    #[command(flatten)]
    pub tree: TreeWish,
    /// Use this released payload instead of building one.
    #[arg(long, value_name = "FILE")]
    pub payload: Option<PathBuf>,
    /// Key of the non-trusted firmware, for a --base that is signed.
    #[arg(long, value_name = "PEM")]
    pub nt_fw_key: Option<PathBuf>,
    /// The jobs.
    #[command(flatten)]
    pub job: JobOptions,
    /// Replace cells that are there, as long as they have no results and nothing
    /// else that is not from here.
    #[arg(long)]
    pub force: bool,
    /// The directory to write the cells to, each a folder.
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// The source of a cell's firmware.
enum Source<'a> {
    /// TF-A that is built, in this variant.
    Built(Variant),
    /// The user's file.
    Given(&'a NamedFile),
    /// None: the board takes the image as it is.
    None,
}

/// A cell that is asked for.
struct Wish<'a> {
    board: &'a Board,
    names: Names,
    source: Source<'a>,
    place: Place,
}

pub(super) fn run(arguments: &LabArguments) -> Result<u8> {
    let workspace = Workspace::find()?;
    let args = with_end(arguments)?;
    let plan = plan(Some(&args))?;
    let boards = arguments.board.iter();
    let boards = boards.map(|name| board::load(&workspace, name));
    let boards = boards.collect::<Result<Vec<_>>>()?;
    check(arguments, &boards)?;
    let wishes = wishes(arguments, &boards)?;
    let tree = TreeWish {
        args: Some(args),
        ..arguments.tree.clone()
    };
    let mut ready = Vec::new();
    let mut notes = Vec::new();
    // Everything long, and most that can be wrong, is before anything is written.
    for wish in wishes {
        let board = wish.board;
        notes.push(wish.place.path.display().to_string());
        let cell = cell(&workspace, arguments, wish, &tree, plan)?;
        if let Content::Loose { file, .. } = &cell.content {
            let install = &package::package(board)?.install;
            notes.push(format!(
                "{file} goes onto the board before its tests run. {install}"
            ));
        }
        ready.push(cell.ready()?);
    }
    place::put(&ready, &*interruption()?)?;
    notes.iter().for_each(|note| say(note));
    Ok(0)
}

/// Returns the cells, each with a name and a place of its own.
fn wishes<'a>(arguments: &'a LabArguments, boards: &'a [Board]) -> Result<Vec<Wish<'a>>> {
    let mut named = Vec::new();
    for board in boards {
        for source in sources(arguments, board)? {
            named.push((board, name(arguments, board, &source)?, source));
        }
    }
    if arguments.name.is_some() && named.len() > 1 {
        bail!(
            "--name: there are {} cells: give each a name, as in --base NAME=FILE",
            named.len()
        );
    }
    let mut folders = HashSet::new();
    let mut names = named.iter().map(|(_, names, _)| names.folder());
    if let Some(folder) = names.find(|folder| !folders.insert(folder.clone())) {
        bail!("two cells are called {folder}: give each a name, as in --base NAME=FILE");
    }
    let wish = |(board, names, source): (&'a Board, Names, _)| {
        let place = Place::of(&arguments.output, &names, board, arguments.force)?;
        for (option, file) in inputs(arguments) {
            place.apart(option, file)?;
        }
        Ok(Wish {
            board,
            names,
            source,
            place,
        })
    };
    named.into_iter().map(wish).collect()
}

/// Builds what the board of a cell starts from.
fn cell<'a>(
    workspace: &Workspace,
    arguments: &'a LabArguments,
    wish: Wish<'a>,
    tree: &TreeWish,
    plan: Plan,
) -> Result<Cell<'a>> {
    let board = wish.board;
    let cpus = cpus(arguments, board)?;
    cell::check(arguments.engine, &plan, cpus)?;
    let run = timeout::timeout(cpus, &plan);
    let image = || {
        let released = image::released("--payload", arguments.payload.as_deref())?;
        tree.make_image(workspace, board, released)
    };
    let content = match wish.source {
        Source::Built(variant) => Content::Qemu(Box::new(prepare::prepare(&RunSpec {
            board: board.name.clone(),
            smp: Some(cpus),
            gic: tree.gic,
            variant,
            fault: arguments.fault.clone(),
            tf_a: arguments.tf_a.clone(),
            icount: arguments.icount,
            args: tree.args.clone(),
            tree: tree.tree(),
            states: tree.states,
            timeout: run,
            ..RunSpec::default()
        })?)),
        Source::Given(base) => Base {
            board,
            path: &base.path,
            engine: arguments.engine,
            key: arguments.nt_fw_key.as_deref(),
        }
        .content(workspace, image)?,
        Source::None => Content::Loose {
            data: image()?,
            file: package::package(board)?.file.clone(),
        },
    };
    Ok(Cell {
        names: wish.names,
        place: wish.place,
        board,
        plan,
        cpus,
        run,
        options: &arguments.job,
        content,
    })
}

/// Returns the files and folders that are read.
fn inputs(arguments: &LabArguments) -> impl Iterator<Item = (&'static str, &Path)> {
    let bases = arguments
        .base
        .iter()
        .map(|base| ("--base", Some(&base.path)));
    let others = [
        ("--payload", arguments.payload.as_ref()),
        ("--dtb", arguments.tree.dtb.as_ref()),
        ("--nt-fw-key", arguments.nt_fw_key.as_ref()),
        ("--tf-a", arguments.tf_a.as_ref()),
    ];
    let all = bases.chain(others);
    all.filter_map(|(option, file)| Some((option, file?.as_path())))
}

/// Returns the boot arguments, with the end that the engine needs.
fn with_end(arguments: &LabArguments) -> Result<String> {
    let args = arguments.tree.args.as_deref().unwrap_or_default();
    // A word that is wrong is named as the user has written it.
    plan(Some(args))?;
    let says = args.split_whitespace().any(|word| word.starts_with("end="));
    Ok(match (says, args.trim()) {
        (true, args) => args.to_owned(),
        (false, "") => format!("end={}", arguments.engine.end()),
        (false, args) => format!("{args} end={}", arguments.engine.end()),
    })
}

fn check(arguments: &LabArguments, boards: &[Board]) -> Result<()> {
    if arguments.base.len() > 1 && boards.len() > 1 {
        bail!(
            "--base: with several files there can be one --board: call this again for the others"
        );
    }
    let (job, ours) = (&arguments.job, arguments.engine);
    for (engine, option, is_given) in [
        (Engine::Lava, "--url", job.url.is_some()),
        (Engine::Lava, "--device-type", job.device_type.is_some()),
        (Engine::Lava, "--tags", !job.tags.is_empty()),
        (Engine::Labgrid, "--place", job.place.is_some()),
    ] {
        if is_given && engine != ours {
            bail!("{option} is about {engine}, and this is for {ours}");
        }
    }
    if arguments.nt_fw_key.is_some() && arguments.base.is_empty() {
        bail!("--nt-fw-key signs BL33 of a FIP, and there is no --base with one");
    }
    let out = arguments.output.as_path();
    if out.exists() && !out.is_dir() {
        bail!("-o {}: this is no directory", out.display());
    }
    Ok(())
}

/// Returns the sources of firmware for `board`, a cell each.
fn sources<'a>(arguments: &'a LabArguments, board: &Board) -> Result<Vec<Source<'a>>> {
    let (name, title) = (&board.name, &board.title);
    if board.qemu.is_some() {
        if let Some(base) = arguments.base.first() {
            let base = base.path.display();
            let tf_a = "TF-A that is built here: use --tf-a DIR or --variant";
            bail!("--base {base}: {title} starts from {tf_a}");
        }
        if arguments.payload.is_some() {
            bail!("--payload: {title} runs the payload that is built here");
        }
        return Ok(match arguments.variant.as_slice() {
            [] => vec![Source::Built(Variant::default())],
            variants => variants.iter().copied().map(Source::Built).collect(),
        });
    }
    let on_qemu = [
        ("--variant", !arguments.variant.is_empty()),
        ("--tf-a", arguments.tf_a.is_some()),
        ("--fault", arguments.fault.is_some()),
        ("--icount", arguments.icount),
    ];
    if let Some((option, _)) = on_qemu.iter().find(|option| option.1) {
        bail!("{option} is about QEMU, which does not emulate {title}");
    }
    match (package::package(board)?.kind, arguments.base.as_slice()) {
        (PackageKind::Fip, []) => bail!(
            "{title} boots a FIP: give the one that it boots now, or its recovery image, by --base"
        ),
        (PackageKind::Fip, bases) => Ok(bases.iter().map(Source::Given).collect()),
        (_, [base, ..]) => bail!(
            "--base {}: {title} takes no FIP (see `cargo xtask boards {name}`)",
            base.path.display()
        ),
        (PackageKind::Raw, []) => Ok(vec![Source::None]),
        (kind, []) => bail!(
            "{title} takes {kind:?}, which its own tool makes: use `cargo xtask image --board \
             {name}`, and the labgrid files of another board as an example"
        ),
    }
}

/// Returns the name of the cell.
fn name(arguments: &LabArguments, board: &Board, source: &Source<'_>) -> Result<Names> {
    let usual = || match source {
        Source::Built(variant) => {
            let mut name = match arguments.variant.as_slice() {
                [] => board.default_firmware.clone(),
                // Only what differs from the usual one, which a name has room for.
                _ => variant_name(*variant),
            };
            // Firmware with a fault is other firmware.
            if let Some(fault) = &arguments.fault {
                name.push('_');
                name.push_str(&fault.replace(',', "_").replace('=', "-"));
            }
            name
        }
        Source::Given(NamedFile {
            name: Some(name), ..
        }) => name.clone(),
        Source::Given(NamedFile { path, .. }) => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            stem.chars()
                .map(|c| if is_plain(c) { c } else { '_' })
                .collect()
        }
        Source::None => board.default_firmware.clone(),
    };
    let firmware = arguments.name.clone().unwrap_or_else(usual);
    let firmware = check_name(&firmware)
        .map_err(|why| anyhow::anyhow!("the firmware's name {firmware:?}: {why}; use --name"))?;
    Ok(Names {
        engine: arguments.engine,
        board: board.name.clone(),
        firmware,
    })
}

fn variant_name(variant: Variant) -> String {
    let (usual, all) = (Variant::default().to_string(), variant.to_string());
    let words = all
        .split(',')
        .filter(|word| !usual.split(',').any(|it| it == *word));
    let words: Vec<String> = words.map(|word| word.replace('=', "-")).collect();
    match words.is_empty() {
        true => "default".to_owned(),
        false => words.join("_"),
    }
}

fn cpus(arguments: &LabArguments, board: &Board) -> Result<u32> {
    match (&arguments.tree.dtb, arguments.tree.smp) {
        (Some(path), _) => {
            let blob = read_file::read("--dtb", path, TREE_MAX)?;
            let at = || format!("--dtb {}", path.display());
            let (_, cpus) = device_tree::machine(&blob).with_context(at)?;
            Ok(u32::try_from(cpus)?)
        }
        (None, Some(cpus)) => Ok(cpus),
        (None, None) => board.default_cpus(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_files() {
        for (text, name, path) in [
            ("a.zip", None, "a.zip"),
            ("v2.13=a=b.zip", Some("v2.13"), "a=b.zip"),
            ("./a=b.zip", None, "./a=b.zip"),
        ] {
            let file: NamedFile = text.parse().expect("good");
            assert_eq!((file.name.as_deref(), &*file.path), (name, Path::new(path)));
        }
        for bad in ["=a.zip", "a b=a.zip", "a="] {
            assert!(bad.parse::<NamedFile>().is_err(), "{bad}");
        }
    }
}
