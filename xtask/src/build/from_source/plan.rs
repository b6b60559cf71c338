//! What must be built for a board, and whether it can be. Everything that can be rejected before a
//! build is rejected here.

use std::path::Path;

use anyhow::{Context, Result, bail};
use boards::{BoardFile, BuildNeed, GicVersion, PackageKind, Stock, TfAVersion};
use itertools::Itertools as _;

use super::inputs::GivenFiles;
use crate::build::checkout;
use crate::build::firmware::{FipBuild, Platform, TREES, Timestamps, Variant, overlay, stage_of};
use crate::build::package;
use crate::build::tf_a::{MBED_TLS, TfA};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The oldest TF-A version from which board firmware is built: the first whose PSCI figures are
/// published with PMF by this interface.
const OLDEST: TfAVersion = TfAVersion { major: 2, minor: 9 };

/// What the user wants to build.
#[derive(Clone, Debug)]
pub struct Wish<'w> {
    /// The board.
    pub board: &'w BoardFile,
    /// The TF-A checkout; the pinned source is used if there is none.
    pub tf_a: Option<&'w Path>,
    /// The Mbed TLS source; the Debian package is used if there is none.
    pub mbed_tls: Option<&'w Path>,
    /// True if the checkout may have uncommitted changes.
    pub allow_dirty: bool,
    /// True for a build with `DEBUG=1`.
    pub debug: bool,
    /// The GIC.
    pub gic: GicVersion,
    /// The images that are built elsewhere.
    pub given: GivenFiles,
}

/// A build that is ready to start.
#[derive(Clone, Debug)]
pub struct BuildPlan<'w> {
    /// What was asked for.
    pub wish: Wish<'w>,
    /// The TF-A platform for the board; None for an overlay platform of this project.
    pub stock: Option<&'w Stock>,
    /// The source.
    pub tf_a: TfA,
    /// Whether PMF timestamps can be read.
    pub timestamps: Timestamps,
    /// What TF-A builds.
    pub platform: Platform,
}

impl<'w> BuildPlan<'w> {
    /// Determines what must be built.
    ///
    /// # Errors
    /// Returns an error if the board firmware cannot be built from this source, or if an image is
    /// missing.
    pub fn new(workspace: &Workspace, wish: Wish<'w>) -> Result<Self> {
        let board = wish.board;
        let firmware = board.firmware(&board.default_firmware)?;
        let stock = firmware.stock.as_ref();
        package::package(board)?;
        let has_overlay = overlay(
            workspace,
            &board.name,
            &format!("psci_bench_{}", board.name),
        );
        if stock.is_none() && has_overlay.is_none() {
            bail!(
                "platforms/{}/board.toml does not say how to build TF-A; build it yourself, and \
                 use `cargo xtask fip pack`",
                board.name
            );
        }
        wish.given.check(board, stock)?;
        let tf_a = match stock {
            Some(stock) => source(workspace, &wish, stock)?,
            None => TfA::locate(workspace, wish.tf_a)?,
        };
        check_clean(&wish)?;
        let Some(stock) = stock else {
            let variant = Variant::default();
            let platform = Platform::overlay(workspace, &board.name, wish.gic, variant);
            let timestamps = Timestamps::Readable(Vec::new());
            let platform = Platform {
                debug: wish.debug,
                ..platform
            };
            return Ok(Self {
                wish,
                stock: None,
                tf_a,
                timestamps,
                platform,
            });
        };
        let timestamps = Timestamps::find(firmware.pmf, &tf_a.dir, &tf_a.version);
        let mut platform = platform(workspace, &wish, stock);
        platform.add_variables(timestamps.variables());
        let needs = needs(workspace, &wish, stock)?;
        platform.add_variables(&needs);
        Ok(Self {
            wish,
            stock: Some(stock),
            tf_a,
            timestamps,
            platform,
        })
    }

    /// Returns the files to copy from the TF-A build to the board.
    pub(super) fn files(&self) -> impl Iterator<Item = &'w boards::BuiltFile> {
        self.stock.into_iter().flat_map(|stock| &stock.files)
    }
}

/// Returns the source, if the `stock` platform can be built from it.
fn source(workspace: &Workspace, wish: &Wish<'_>, stock: &Stock) -> Result<TfA> {
    let tf_a = TfA::open(workspace, wish.tf_a)?;
    let version = &tf_a.version;
    let is = TfAVersion::parse(version).context("TF-A's version")?;
    if is < OLDEST {
        bail!("this is TF-A {version}; use version {OLDEST} or later with --tf-a");
    }
    if let Some(oldest) = stock.oldest.as_ref().filter(|oldest| is < oldest.version) {
        let (needed, because) = (oldest.version, &oldest.because);
        bail!("this is TF-A {version}, and {because}; use version {needed} or later with --tf-a");
    }
    let platform = &stock.platform;
    let is_ours = overlay(workspace, &wish.board.name, platform).is_some();
    if !is_ours && !has_platform(&tf_a.dir.join("plat"), platform, 6) {
        bail!(
            "TF-A {version} in {} has no platform {platform}; use a version that has it with --tf-a",
            tf_a.dir.display()
        );
    }
    Ok(tf_a)
}

/// Returns true if TF-A would find `platform` below `dir`, in up to `depth` folders.
fn has_platform(dir: &Path, platform: &str, depth: u32) -> bool {
    let Ok(entries) = dir.read_dir() else {
        return false;
    };
    let mut folders = entries.flatten().map(|entry| entry.path());
    folders.any(|path| {
        let is_it = path.file_name().is_some_and(|name| name == platform);
        (is_it && path.join("platform.mk").is_file())
            || (depth > 1 && has_platform(&path, platform, depth - 1))
    })
}

/// Rejects a checkout whose figures nobody could reproduce.
fn check_clean(wish: &Wish<'_>) -> Result<()> {
    let Some(dir) = wish.tf_a.filter(|dir| dir.join(".git").exists()) else {
        return Ok(());
    };
    if !wish.allow_dirty && checkout::has_changes(dir)? {
        bail!(
            "--tf-a {}: it has uncommitted changes; commit them, or add --allow-dirty",
            dir.display()
        );
    }
    Ok(())
}

/// Returns the `stock` platform, without what PMF needs.
fn platform(workspace: &Workspace, wish: &Wish<'_>, stock: &Stock) -> Platform {
    let board = wish.board;
    let mut platform = Platform::of_board(workspace, board, stock, wish.gic);
    platform.debug = wish.debug;
    if board.qemu.is_some() {
        return platform;
    }
    // The symbols of BL31 show whether timestamps can be read.
    platform.files = vec!["bl31/bl31.elf".into()];
    let images = stock.images.iter().map(|image| &image.from);
    let parts = board.package.iter().flat_map(|package| &package.parts);
    let blobs = parts.flat_map(|part| &part.blobs);
    let blobs = blobs.filter(|blob| blob.option.is_none());
    let blobs = blobs.filter_map(|blob| blob.file.as_ref());
    let files = stock.files.iter().map(|file| &file.from);
    platform
        .files
        .extend(files.chain(images).chain(blobs).cloned());
    let mut files: Vec<String> = platform.files.iter().unique().cloned().collect();
    let stages = files.iter().filter(|file| !file.starts_with(TREES));
    platform.stages = stages
        .map(|file| stage_of(file).to_owned())
        .unique()
        .collect();
    let package = board.package.as_ref();
    let is_fip = package.is_some_and(|package| package.kind == PackageKind::Fip);
    if is_fip && stock.images.is_empty() {
        platform.fip = FipBuild::Plain;
        files.push("fip.bin".into());
        let inputs = stock.inputs.iter();
        platform.inputs = inputs.filter_map(|input| input.variable.clone()).collect();
    }
    platform.files = files;
    platform
}

/// Installs or fetches what the platform needs, and returns the variables that tell make about it.
fn needs(workspace: &Workspace, wish: &Wish<'_>, stock: &Stock) -> Result<Vec<String>> {
    let mut variables = Vec::new();
    for need in &stock.needs {
        match need {
            BuildNeed::ArmNoneEabi => setup::ensure(workspace, &[Need::ArmNoneEabi])?,
            BuildNeed::MbedTls => {
                let given = wish.mbed_tls.map(std::fs::canonicalize);
                let given = given.transpose().context("--mbedtls")?;
                let dir = given.map_or_else(|| MBED_TLS.fetch(workspace), Ok)?;
                variables.push(format!("MBEDTLS_DIR={}", dir.display()));
            }
        }
    }
    if wish.mbed_tls.is_some() && !stock.needs.contains(&BuildNeed::MbedTls) {
        bail!("--mbedtls: {} does not need it", wish.board.title);
    }
    Ok(variables)
}
