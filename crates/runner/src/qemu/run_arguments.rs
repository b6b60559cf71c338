//! The options that define a run, for all programs that start runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use follow::stream::TIMEOUT_MAX_S;
use host::{files, read_file};

use super::run_spec::{Payload, RunSpec};
use super::timeout;
use crate::build::boot_arguments::parse_plan;
use crate::build::firmware::FirmwareVariant;
use crate::build::firmware_kind::FirmwareKind;
use crate::build::payload::TreeSource;
use crate::build::{bl32, flash};

/// The options that define a run.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The machine and its firmware.
    #[command(flatten)]
    pub spec: RunSpec,
    /// Time limit in seconds [default: the plan's].
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..=TIMEOUT_MAX_S))]
    pub timeout: Option<u64>,
    /// Append this device tree instead of the board's.
    #[arg(long, value_name = "FILE")]
    pub dtb: Option<PathBuf>,
    /// Run this file as BL33 (its device tree is kept).
    #[arg(long, value_name = "FILE", conflicts_with_all = ["args", "dtb", "state_format", "core"])]
    pub image: Option<PathBuf>,
    /// Run this file as BL32 (OP-TEE's tee-raw.bin).
    #[arg(long, value_name = "FILE")]
    pub bl32: Option<PathBuf>,
}

impl RunArguments {
    /// Returns true if no option differs from its default.
    pub fn are_defaults(&self) -> bool {
        let files = [&self.dtb, &self.image, &self.bl32];
        let has_files = files.iter().any(|option| option.is_some());
        self.spec == RunSpec::default() && self.timeout.is_none() && !has_files
    }

    /// Rejects a log file that cannot be written or is one of the inputs to the run.
    ///
    /// # Errors
    /// Returns an error that names the input, or says why the file cannot be written.
    pub fn check_log(&self, log: &Path) -> Result<()> {
        let inputs = [
            ("--dtb", self.dtb.as_deref()),
            ("--image", self.image.as_deref()),
            ("--bl32", self.bl32.as_deref()),
        ];
        files::check_output(("--log", log), &inputs)
    }

    /// Returns the requested run.
    ///
    /// # Errors
    /// Returns an error if an option does not apply to the firmware, a boot argument is invalid, or
    /// an input file cannot be read.
    pub fn to_spec(&self) -> Result<RunSpec> {
        self.check_firmware()?;
        let mut spec = self.spec.clone();
        let plan = parse_plan(spec.args.as_deref())?;
        spec.timeout = match self.timeout {
            Some(seconds) => Duration::from_secs(seconds),
            None => timeout::timeout(spec.cpus()?, &plan),
        };
        if let Some(path) = &self.dtb {
            spec.tree = TreeSource::File(path.clone());
        }
        if self.bl32.is_some() && spec.variant.has("pabandon=1") {
            bail!(
                "--bl32: TF-A's OP-TEE dispatcher does not support abandoned power-downs; remove \
                 pabandon=1 from --variant"
            );
        }
        spec.bl32 = self.bl32.as_deref().map(bl32::read).transpose()?;
        if let Some(path) = &self.image {
            spec.payload = Payload::Image(read_file::read("--image", path, flash::IMAGE_MAX)?);
        }
        Ok(spec)
    }

    /// Rejects options that do not apply to the firmware.
    fn check_firmware(&self) -> Result<()> {
        let spec = &self.spec;
        let (firmware, name) = (spec.firmware, spec.firmware.name());
        let has_variant = spec.variant != FirmwareVariant::default();
        let is_built = firmware == FirmwareKind::TfA;
        for (option, is_lost) in [
            ("--variant", has_variant && !is_built),
            ("--fault", spec.fault.is_some() && !is_built),
            ("--bl32", self.bl32.is_some() && !is_built),
            ("--tf-a", spec.tf_a.is_some() && !firmware.is_tf_a()),
        ] {
            if is_lost {
                let built = "TF-A built for --firmware tf-a";
                bail!("{option} applies to {built}, not to --firmware {name}");
            }
        }
        Ok(())
    }
}
