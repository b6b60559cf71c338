//! Signatures, which TF-A's `cert_create` makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process};

/// A certificate that is to be signed.
#[derive(Debug)]
pub(super) struct Request<'r> {
    pub image: &'r [u8],
    /// NT_FW_CONFIG, if the package has one.
    pub config: Option<&'r [u8]>,
    /// The counter against rolling back, as the old certificate has it.
    pub counter: u32,
    /// The hash algorithm, as cert_create names it.
    pub hash: &'static str,
    pub key: &'r Path,
}

/// The keys that cert_create needs before it signs anything.
const KEYS: [&str; 7] = [
    "rot-key",
    "trusted-world-key",
    "non-trusted-world-key",
    "scp-fw-key",
    "soc-fw-key",
    "tos-fw-key",
    "nt-fw-key",
];

/// Makes the non-trusted firmware content certificate for `request`, as DER.
pub(super) fn sign(workspace: &Workspace, request: &Request<'_>) -> Result<Vec<u8>> {
    let key = || format!("--nt-fw-key {}", request.key.display());
    // cert_create itself would print only that it has failed.
    let file = fs::metadata(request.key).with_context(key)?;
    if !file.is_file() {
        bail!("{}: this is not a file", key());
    }
    setup::ensure(workspace, &[Need::CertCreate])?;
    let dir = tempfile::tempdir()?;
    let [image, config, out] = ["nt-fw", "nt-fw-config", "crt"].map(|it| dir.path().join(it));
    fs::write(&image, request.image)?;
    let mut command = Command::new("cert_create");
    // Only nt-fw-key is used. Without a file for each of the others it stops,
    // and with `--new-keys` it would also make up one that it cannot find.
    for option in KEYS {
        command.arg(format!("--{option}")).arg(request.key);
    }
    command.args(["--hash-alg", request.hash, "--tfw-nvctr", "0"]);
    command.args(["--ntfw-nvctr", &request.counter.to_string()]);
    command.arg("--nt-fw").arg(image);
    if let Some(data) = request.config {
        fs::write(&config, data)?;
        command.arg("--nt-fw-config").arg(config);
    }
    command.arg("--nt-fw-cert").arg(&out);
    process::output(&mut command).with_context(|| {
        let what = "TF-A's cert_create signs nothing with it";
        format!("{}: {what}; is it a private key in PEM form?", key())
    })?;
    fs::read(&out).context("cert_create made no certificate")
}
