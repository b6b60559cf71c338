//! OpenSSL, which verifies signatures.

use std::fs;
use std::process::Command;

use anyhow::Result;

use super::certificate::Signed;
use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process};

/// Makes sure that the signature of `signed` is its key's.
///
/// # Errors
/// When it is not, or OpenSSL cannot be installed or read the key.
pub fn verify(workspace: &Workspace, signed: &Signed) -> Result<()> {
    setup::ensure(workspace, &[Need::Openssl])?;
    let dir = tempfile::tempdir()?;
    let (body, key, signature) = (
        dir.path().join("body"),
        dir.path().join("key.der"),
        dir.path().join("signature"),
    );
    fs::write(&body, &signed.body)?;
    fs::write(&key, &signed.key)?;
    fs::write(&signature, &signed.signature)?;
    let mut command = Command::new("openssl");
    command.args(["dgst", &format!("-{}", signed.hash), "-keyform", "DER"]);
    command.arg("-verify").arg(key);
    command.arg("-signature").arg(signature);
    if let Some(salt) = signed.salt {
        command.args(["-sigopt", "rsa_padding_mode:pss"]);
        command.args(["-sigopt", &format!("rsa_pss_saltlen:{salt}")]);
    }
    process::output(command.arg(body)).map(drop)
}
