//! The platform that TF-A is built for.

use std::path::PathBuf;

use boards::{BoardFile, GicVersion, Stock};

use super::firmware_variant::FirmwareVariant;
use crate::setup::workspace::Workspace;

/// Whether the TF-A build produces a FIP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FipBuild {
    /// The build produces only the boot stages, without a FIP.
    #[default]
    None,
    /// A FIP with a placeholder for BL33.
    Plain,
    /// A FIP with a placeholder for BL33 and with certificates, which BL1 and BL2 check.
    Trusted,
}

/// A platform, its makefile variables, and what to build for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// `PLAT`.
    pub name: String,
    /// The folder that replaces TF-A's `plat/`, if the platform is not in TF-A.
    pub root: Option<PathBuf>,
    /// Additional `NAME=value` arguments for make.
    pub variables: Vec<String>,
    /// Additional arguments that only affect BL31. BL1 and BL2 are built without them, once for all
    /// platforms that differ only in these arguments.
    pub bl31_variables: Vec<String>,
    /// True for a build with `DEBUG=1`.
    pub debug: bool,
    /// The boot stages to build, such as "bl31".
    pub stages: Vec<String>,
    /// The files to keep: paths in the build folder.
    pub files: Vec<String>,
    /// Whether to build a FIP.
    pub fip: FipBuild,
    /// The variables that name the FIP images built elsewhere. TF-A puts placeholders for these
    /// images into the FIP.
    pub inputs: Vec<String>,
}

impl Platform {
    /// Returns the overlay platform for `board`.
    pub fn overlay(
        workspace: &Workspace,
        board: &str,
        gic: GicVersion,
        variant: FirmwareVariant,
    ) -> Self {
        let mut variables = vec![format!("PB_GIC={}", gic.number())];
        let mut bl31_variables = Vec::new();
        for (key, value) in variant.values().filter(|(key, _)| *key != "osi") {
            // BL1 and BL2 contain CPU-specific code that depends on the `coherency` key.
            let is_of_all = key == "coherency";
            let variables = if is_of_all {
                &mut variables
            } else {
                &mut bl31_variables
            };
            let key = key.to_uppercase().replace('-', "_");
            variables.push(format!("PB_{key}={value}"));
        }
        if variant.has("osi=1") {
            bl31_variables.push("PSCI_OS_INIT_MODE=1".into());
        }
        Self {
            name: format!("psci_bench_{board}"),
            root: Some(workspace.board(board).join("tf-a").join("plat")),
            variables,
            bl31_variables,
            ..Self::of_flash()
        }
    }

    /// Returns an unnamed platform whose three stages go into QEMU's flash.
    fn of_flash() -> Self {
        let stages = ["bl1", "bl2", "bl31"].map(str::to_owned).to_vec();
        let files = stages
            .iter()
            .flat_map(|stage| [format!("{stage}.bin"), format!("{stage}/{stage}.elf")]);
        Self {
            files: files.collect(),
            stages,
            ..Self::default()
        }
    }

    /// Returns the board name, and the variables that differ from those of the default variant.
    pub(super) fn special(&self, workspace: &Workspace) -> String {
        let usual: Vec<_> =
            Self::overlay(workspace, "", GicVersion::V3, FirmwareVariant::default())
                .all_variables()
                .cloned()
                .collect();
        let board = self.name.trim_start_matches("psci_bench_");
        let special = self
            .all_variables()
            .filter(|variable| !usual.contains(variable));
        special.fold(board.to_owned(), |text, argument| {
            format!("{text}, {argument}")
        })
    }

    /// Returns the name of the folder that TF-A builds in.
    pub(crate) fn mode(&self) -> &'static str {
        if self.debug { "debug" } else { "release" }
    }

    /// Returns the make arguments for building BL31.
    pub(super) fn all_variables(&self) -> impl Iterator<Item = &String> {
        self.variables.iter().chain(&self.bl31_variables)
    }

    /// Returns one of TF-A's platforms for `gic`, set up to boot from QEMU's flash. `load_address`
    /// is the board's load address.
    pub fn stock(stock: &Stock, load_address: u64, gic: GicVersion) -> Self {
        let gic = gic.number().to_string();
        let variables = stock
            .variables
            .iter()
            .map(|variable| variable.replace("{gic}", &gic));
        let preloaded = stock
            .preloaded
            .then(|| format!("PRELOADED_BL33_BASE={load_address:#x}"));
        let whole = Self {
            name: stock.platform.clone(),
            variables: variables.chain(preloaded).collect(),
            ..Self::of_flash()
        };
        if stock.loads.is_empty() {
            return whole;
        }
        let is_loaded = |stage: &str| stock.loads.iter().any(|load| stage_of(&load.from) == stage);
        whole.only_stages(is_loaded)
    }

    /// Returns `board`'s `stock` platform, set up to boot from QEMU's flash.
    pub fn of_board(
        workspace: &Workspace,
        board: &BoardFile,
        stock: &Stock,
        gic: GicVersion,
    ) -> Self {
        Self {
            root: overlay(workspace, &board.name, &stock.platform),
            ..Self::stock(stock, board.load_address, gic)
        }
    }

    /// Adds arguments for make.
    pub fn add_variables(&mut self, variables: &[String]) {
        self.variables.extend_from_slice(variables);
    }

    /// Returns the platform with only the stages that `is_one` accepts, and their files.
    pub(super) fn only_stages(&self, is_one: impl Fn(&str) -> bool) -> Self {
        let mut part = self.clone();
        part.stages.retain(|stage| is_one(stage));
        part.files.retain(|file| is_one(stage_of(file)));
        part
    }
}

/// Returns the folder that contains `platform`, if this project adds it to TF-A.
pub(crate) fn overlay(workspace: &Workspace, board: &str, platform: &str) -> Option<PathBuf> {
    let root = workspace.board(board).join("tf-a").join("plat");
    root.join(platform).is_dir().then_some(root)
}

/// Returns the stage that the file at `path` in the build folder belongs to: `bl31` for
/// `bl31/bl31.elf`.
pub(crate) fn stage_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makefile_variables() {
        let workspace = Workspace::find().expect("the repository");
        let variables = |variant: &str| {
            let variant = variant.parse().expect("known words");
            let platform = Platform::overlay(&workspace, "qemu", GicVersion::V2, variant);
            [
                platform.variables.join(" "),
                platform.bl31_variables.join(" "),
            ]
            .join(" | ")
        };
        assert_eq!(
            variables("coherency=sw,gic-reset=1"),
            "PB_GIC=2 PB_COHERENCY=sw | PB_GIC_RESET=1 PB_PMF=new PB_STATE_ID=original \
             PB_TIMER_STOP=0 PB_POWER_CHANNEL=0 PB_FAULTS=0 PB_PABANDON=0 PB_CPU_ON_ANSWER=success PB_CPU_ON_RACE=0"
        );
        assert!(variables("osi=1").ends_with(" PSCI_OS_INIT_MODE=1"));
    }
}
