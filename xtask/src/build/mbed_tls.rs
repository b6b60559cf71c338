//! Mbed TLS's source, which TF-A's trusted boot is built with.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::setup::source_package::Source;

/// Mbed TLS, with which TF-A checks signatures. Only tests use it. It is not pinned, because
/// Debian removes a version when it has a security update.
pub const MBED_TLS: Source = Source {
    package: "mbedtls",
    title: "Mbed TLS",
    version: "3.6",
    dsc_sha256: None,
    otherwise: "",
    check,
};

/// Refuses a folder that has another series.
fn check(dir: &Path) -> Result<()> {
    let header = dir.join("include/mbedtls/build_info.h");
    let text = fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    let version = text.split_once("MBEDTLS_VERSION_STRING ");
    if !version.is_some_and(|(_, rest)| rest.trim_start().starts_with("\"3.6.")) {
        bail!("{}: this is not Mbed TLS 3.6", header.display());
    }
    Ok(())
}
