//! Who makes what a machine boots.

use anyhow::Result;

use super::boot::Boot;
use super::payload_image::builtin;
use super::tf_a::tf_a;
use crate::build::firmware_kind::FirmwareKind;
use crate::qemu::loader::{FirmwareLoader, Loader};
use crate::qemu::validated_run::ValidatedRun;

/// A loader that makes what the machine boots, which includes the loader.
pub trait BootBuilder: Loader {
    /// Builds what the machine boots.
    ///
    /// # Errors
    /// Returns an error if something cannot be built.
    fn build_boot(&self, run: &ValidatedRun<'_>) -> Result<Boot>;
}

impl BootBuilder for FirmwareLoader {
    fn build_boot(&self, run: &ValidatedRun<'_>) -> Result<Boot> {
        match run.spec.firmware {
            FirmwareKind::Builtin => builtin(run),
            FirmwareKind::TfA | FirmwareKind::TfAStock => tf_a(run),
        }
    }
}
