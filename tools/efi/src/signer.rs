//! Signs EFI applications.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use fip::trust::check_key;
use host::TmpdirContext as _;
use host::{process, read_file};
use memchr::memmem;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

/// The maximum size of a certificate, in bytes.
const CERTIFICATE_MAX: usize = 64 << 10;

/// A key and its certificate, which Secure Boot on the machine must accept.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'s> {
    key: &'s Path,
    certificate: &'s Path,
}

impl<'s> Signer<'s> {
    /// Checks that both files, given with `--sign`, are in PEM format.
    pub fn new(key: &'s Path, certificate: &'s Path) -> Result<Self> {
        check_key("--sign", key)?;
        let text = read_file::read("--sign", certificate, CERTIFICATE_MAX)?;
        if memmem::find(&text, b"-----BEGIN CERTIFICATE-----").is_none() {
            let path = certificate.display();
            bail!("--sign {path}: not a certificate in PEM format; the order is KEY CERT");
        }
        Ok(Self { key, certificate })
    }

    /// Returns `application` with a signature that the certificate verifies.
    pub fn sign(&self, workspace: &Workspace, application: &[u8]) -> Result<Vec<u8>> {
        setup::ensure(workspace, &[Need::Sbsign])?;
        let dir = tempfile::tempdir().tmpdir_context()?;
        let [plain, signed] = ["plain", "signed"].map(|name| dir.path().join(name));
        fs::write(&plain, application).tmpdir_context()?;
        let log = workspace.state().join("sign.log");
        let mut sbsign = process::minimal_command("sbsign");
        sbsign.arg("--key").arg(self.key);
        sbsign.arg("--cert").arg(self.certificate);
        sbsign.arg("--output").arg(&signed).arg(&plain);
        process::run_quietly(&mut sbsign, &log).context("--sign")?;
        let mut sbverify = process::minimal_command("sbverify");
        sbverify.arg("--cert").arg(self.certificate).arg(&signed);
        let verified = process::run_quietly(&mut sbverify, &log);
        verified.context("--sign: the certificate does not match the key")?;
        fs::read(&signed).tmpdir_context()
    }
}
