//! Signatures, which TF-A's `cert_create` makes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use memchr::memmem;

use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, read_file, temporary};

/// More bytes than a key has.
const KEY_MAX: usize = 64 << 10;

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
const KEYS: &str = "--rot-key --trusted-world-key --non-trusted-world-key --scp-fw-key \
                    --soc-fw-key --tos-fw-key --nt-fw-key";

/// Refuses a file that cert_create cannot sign with: it would print only that it has failed,
/// or ask the terminal for a passphrase.
pub(crate) fn check_key(key: &Path) -> Result<()> {
    let text = read_file::read("--nt-fw-key", key, KEY_MAX)?;
    let (has, key) = (
        |words: &str| memmem::find(&text, words.as_bytes()).is_some(),
        key.display(),
    );
    if !has("PRIVATE KEY-----") {
        bail!("--nt-fw-key {key}: this is no private key in PEM form");
    }
    if has("ENCRYPTED") {
        bail!(
            "--nt-fw-key {key}: this key is encrypted, and a passphrase is not asked for: give \
             the key as `openssl pkey -in {key} -out plain.pem` decrypts it"
        );
    }
    Ok(())
}

/// Makes the non-trusted firmware content certificate for `request`, as DER. The key has been
/// checked.
pub(super) fn sign(workspace: &Workspace, request: &Request<'_>) -> Result<Vec<u8>> {
    setup::ensure(workspace, &[Need::CertCreate])?;
    let dir = temporary(tempfile::tempdir())?;
    let [image, config, out] = ["nt-fw", "nt-fw-config", "crt"].map(|it| dir.path().join(it));
    temporary(fs::write(&image, request.image))?;
    let mut command = Command::new("cert_create");
    // Only nt-fw-key is used. Without a file for each of the others it stops,
    // and with `--new-keys` it would also make up one that it cannot find.
    for option in KEYS.split_whitespace() {
        command.arg(option).arg(request.key);
    }
    command.args(["--hash-alg", request.hash, "--tfw-nvctr", "0"]);
    command.args(["--ntfw-nvctr", &request.counter.to_string()]);
    command.arg("--nt-fw").arg(image);
    if let Some(data) = request.config {
        temporary(fs::write(&config, data))?;
        command.arg("--nt-fw-config").arg(config);
    }
    command.arg("--nt-fw-cert").arg(&out);
    let output = command.stdin(Stdio::null()).output();
    let output = output.context("cannot run cert_create")?;
    if !output.status.success() {
        let (key, said) = (
            request.key.display(),
            String::from_utf8_lossy(&output.stderr),
        );
        let said = said.trim();
        bail!("--nt-fw-key {key}: TF-A's cert_create signs nothing with it: {said}");
    }
    fs::read(&out).context("cert_create made no certificate")
}
