//! Works out what to build for a board, and whether it can be built. Everything that can be
//! rejected before a build is rejected here.

use std::path::Path;

use anyhow::{Context, Result, bail};
use boards::{BoardFile, BuildNeed, GicVersion, PackageKind, Pmf, Stock, Version};
use itertools::Itertools as _;

use super::inputs::GivenFiles;
use super::make_variable::MakeVariable;
use crate::build::firmware::{
    FipBuild, FirmwareVariant, Platform, TREES, Timestamps, overlay, stage_of,
};
use crate::build::tf_a::{MBED_TLS, TfA};
use crate::build::{checkout, package};
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need};

/// The oldest TF-A version that this tool has been tested with.
const OLDEST: Version = Version { major: 2, minor: 9 };

/// What the user wants to build.
#[derive(Clone, Debug)]
pub struct BuildRequest<'w> {
    /// The board for which TF-A is built.
    pub board: &'w BoardFile,
    /// The TF-A checkout. If None, the pinned source is used.
    pub tf_a: Option<&'w Path>,
    /// The Mbed TLS source. If None, the Debian package is used.
    pub mbed_tls: Option<&'w Path>,
    /// True if uncommitted changes in the checkout are allowed.
    pub allow_dirty: bool,
    /// True for a build with `DEBUG=1`.
    pub debug: bool,
    /// Variables for make, added to those that the board needs.
    pub make: Vec<MakeVariable>,
    /// The GIC version that TF-A and the device tree use.
    pub gic: GicVersion,
    /// The number of CPUs in the device tree.
    pub cpus: u32,
    /// The images that are built elsewhere.
    pub given: GivenFiles,
}

/// A build that is ready to start.
#[derive(Clone, Debug)]
pub struct BuildPlan<'w> {
    /// The user's request.
    pub request: BuildRequest<'w>,
    /// The TF-A platform for the board; None for an overlay platform of this project.
    pub stock: Option<&'w Stock>,
    /// The source tree that is built.
    pub tf_a: TfA,
    /// The commit of the checkout, as `git describe` shows it, or None if the source is not a Git
    /// checkout.
    pub source: Option<String>,
    /// Whether PMF timestamps can be read.
    pub timestamps: Timestamps,
    /// If CPUs do not come back from a power-down, a sentence that describes what the source lacks.
    pub lacks_power_down: Option<String>,
    /// What TF-A builds.
    pub platform: Platform,
}

impl<'w> BuildPlan<'w> {
    /// Determines what must be built.
    ///
    /// # Errors
    /// Returns an error if the board firmware cannot be built from this source, or if an image is
    /// missing.
    pub fn new(workspace: &Workspace, request: BuildRequest<'w>) -> Result<Self> {
        let board = request.board;
        let firmware = board.firmware(&board.default_firmware)?;
        let stock = firmware.stock.as_ref();
        package::require_package(board)?;
        request.given.check(board, stock)?;
        let mut plan = match stock {
            Some(stock) => Self::with_stock(workspace, request, stock, firmware.pmf)?,
            None => Self::with_overlay(workspace, request)?,
        };
        plan.platform.debug = plan.request.debug;
        // The user's variables come last, so they replace the board's.
        let variables = plan.request.make.iter().map(MakeVariable::to_string);
        plan.platform.add_variables(&variables.collect::<Vec<_>>());
        Ok(plan)
    }

    /// Plans a build of the board's TF-A platform.
    fn with_stock(
        workspace: &Workspace,
        request: BuildRequest<'w>,
        stock: &'w Stock,
        pmf: Option<Pmf>,
    ) -> Result<Self> {
        let tf_a = source(workspace, &request, stock)?;
        let source = commit(&request)?;
        let lacks_power_down = tf_a.lacks_power_down(stock)?;
        let timestamps = Timestamps::find(pmf, &tf_a.dir, &tf_a.version);
        let mut platform = platform(workspace, &request, stock);
        platform.add_variables(timestamps.variables());
        platform.add_variables(&needs(workspace, &request, stock)?);
        Ok(Self {
            request,
            stock: Some(stock),
            tf_a,
            source,
            timestamps,
            lacks_power_down,
            platform,
        })
    }

    /// Plans a build of the overlay platform, which always has PMF.
    fn with_overlay(workspace: &Workspace, request: BuildRequest<'w>) -> Result<Self> {
        let name = &request.board.name;
        if overlay(workspace, name, &format!("psci_bench_{name}")).is_none() {
            bail!(
                "platforms/{name}/board.toml does not specify how to build TF-A; build it \
                 yourself, and use `cargo xtask fip pack`"
            );
        }
        if request.mbed_tls.is_some() {
            bail!("--mbedtls: {} does not need Mbed TLS", request.board.title);
        }
        let tf_a = TfA::locate(workspace, request.tf_a)?;
        let source = commit(&request)?;
        let platform = Platform::overlay(workspace, name, request.gic, FirmwareVariant::default());
        Ok(Self {
            request,
            stock: None,
            tf_a,
            source,
            timestamps: Timestamps::Readable(Vec::new()),
            lacks_power_down: None,
            platform,
        })
    }

    /// Returns the files to copy from the TF-A build to the board.
    pub(super) fn files(&self) -> impl Iterator<Item = &'w boards::BuiltFile> {
        self.stock.into_iter().flat_map(|stock| &stock.files)
    }
}

/// Returns the source, if the `stock` platform can be built from it.
fn source(workspace: &Workspace, request: &BuildRequest<'_>, stock: &Stock) -> Result<TfA> {
    let tf_a = TfA::open(workspace, request.tf_a)?;
    let version = &tf_a.version;
    let is = Version::parse(version).context("TF-A's version")?;
    if is < OLDEST {
        bail!("this is TF-A {version}; use version {OLDEST} or later with --tf-a");
    }
    if let Some(oldest) = stock
        .oldest
        .as_ref()
        .filter(|oldest_stock| is < oldest_stock.version)
    {
        let needed = oldest.version;
        let because = &oldest.because;
        bail!("this is TF-A {version}, and {because}; use version {needed} or later with --tf-a");
    }
    let platform = &stock.platform;
    let is_ours = overlay(workspace, &request.board.name, platform).is_some();
    if !is_ours && !has_platform(&tf_a.dir.join("plat"), platform, 6) {
        bail!(
            "TF-A {version} in {} has no {platform} platform; use --tf-a with a version that \
             has it",
            tf_a.dir.display()
        );
    }
    Ok(tf_a)
}

/// Returns true if TF-A would find `platform` below `dir`, up to `depth` folders deep.
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

/// Returns the commit of the checkout, if there is one. Rejects uncommitted changes, which would
/// make figures impossible to reproduce, unless they are allowed.
fn commit(request: &BuildRequest<'_>) -> Result<Option<String>> {
    let Some(dir) = request.tf_a.filter(|dir| dir.join(".git").exists()) else {
        return Ok(None);
    };
    if !request.allow_dirty && checkout::has_changes(dir)? {
        bail!(
            "--tf-a {}: uncommitted changes; commit them, or add --allow-dirty",
            dir.display()
        );
    }
    checkout::describe(dir).map(Some)
}

/// Returns the `stock` platform, without the changes that PMF needs.
fn platform(workspace: &Workspace, request: &BuildRequest<'_>, stock: &Stock) -> Platform {
    let board = request.board;
    let mut platform = Platform::of_board(workspace, board, stock, request.gic);
    if board.is_virtual() {
        return platform;
    }
    // The symbols of BL31 show whether timestamps can be read.
    platform.files = vec!["bl31/bl31.elf".into()];
    let images = stock.images.iter().map(|image| &image.from);
    let parts = board.package.iter().flat_map(|package| &package.parts);
    let blobs = parts
        .flat_map(|part| &part.blobs)
        .filter(|blob| blob.option.is_none())
        .filter_map(|blob| blob.file.as_ref());
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

/// Installs or fetches what the platform needs, and returns the variables that pass it to make.
fn needs(workspace: &Workspace, request: &BuildRequest<'_>, stock: &Stock) -> Result<Vec<String>> {
    let mut variables = Vec::new();
    for need in &stock.needs {
        match need {
            BuildNeed::ArmNoneEabi => setup::ensure(workspace, &[Need::ArmNoneEabi])?,
            BuildNeed::MbedTls => {
                let given = request
                    .mbed_tls
                    .map(std::fs::canonicalize)
                    .transpose()
                    .context("--mbedtls")?;
                let dir = given.map_or_else(|| MBED_TLS.fetch(workspace), Ok)?;
                variables.push(format!("MBEDTLS_DIR={}", dir.display()));
            }
        }
    }
    if request.mbed_tls.is_some() && !stock.needs.contains(&BuildNeed::MbedTls) {
        bail!("--mbedtls: {} does not need Mbed TLS", request.board.title);
    }
    Ok(variables)
}
