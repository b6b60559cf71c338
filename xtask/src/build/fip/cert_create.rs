//! TF-A's `cert_create`, which signs.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::trust::Request;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process};

/// The keys that it wants to be told before it signs anything.
const KEYS: [&str; 7] = [
    "rot-key",
    "trusted-world-key",
    "non-trusted-world-key",
    "scp-fw-key",
    "soc-fw-key",
    "tos-fw-key",
    "nt-fw-key",
];

/// The non-trusted firmware content certificate for `request`, as DER.
///
/// # Errors
/// When cert_create cannot be installed, or refuses the key.
pub fn sign(workspace: &Workspace, request: &Request<'_>) -> Result<Vec<u8>> {
    let key = || format!("--nt-fw-key {}", request.key.display());
    // It would say no more than that it has failed.
    let file = fs::metadata(request.key).with_context(key)?;
    if !file.is_file() {
        bail!("{}: this is not a file", key());
    }
    setup::ensure(workspace, &[Need::CertCreate])?;
    let dir = tempfile::tempdir()?;
    let write = |name: &str, data: &[u8]| -> Result<PathBuf> {
        let path = dir.path().join(name);
        fs::write(&path, data)?;
        Ok(path)
    };
    let out = dir.path().join("nt_fw_content.crt");
    let mut command = Command::new("cert_create");
    // Only nt-fw-key is used. Without a file for each of the others it stops,
    // and with `--new-keys` it would also make up one that it cannot find.
    for option in KEYS {
        command.arg(format!("--{option}")).arg(request.key);
    }
    command.args(["--hash-alg", request.hash, "--tfw-nvctr", "0"]);
    command.args(["--ntfw-nvctr", &request.counter.to_string()]);
    command.arg("--nt-fw").arg(write("nt-fw", request.image)?);
    if let Some(config) = request.config {
        let path = write("nt-fw-config", config)?;
        command.arg("--nt-fw-config").arg(path);
    }
    command.arg("--nt-fw-cert").arg(&out);
    process::output(&mut command).with_context(|| {
        let what = "TF-A's cert_create signs nothing with it";
        format!("{}: {what}; is it a private key in PEM form?", key())
    })?;
    fs::read(&out).context("cert_create made no certificate")
}
