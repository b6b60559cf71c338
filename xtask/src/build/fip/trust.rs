//! Trusted boot: the certificates that vouch for BL33.
//!
//! ```text
//! trusted-key-cert  is signed with the root of trust's key, and names a key:
//!                   NonTrustedWorldPK
//! nt-fw-key-cert    is signed with that key, and names another one:
//!                   NonTrustedFirmwareContentCertPK
//! nt-fw-cert        is signed with that one, and has hashes of BL33 and
//!                   NT_FW_CONFIG and a counter against rolling back
//! ```
//!
//! Each link is checked, but for the first one: which key is the root of trust's
//! is told by a hash in the board, not by the FIP.
//!
//! Who replaces BL33 and has that key needs a new nt-fw-cert, and all other
//! certificates stay as they are (TF-A's *Trusted Board Boot* and
//! `include/tools_share/tbbr_oid.h`). Signing is TF-A's `cert_create`'s; here
//! is what it has to be told, and what has to be true of what it makes.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::certificate::{NV_COUNTER, Read, Signed};
use super::write::Builder;
use crate::board::image_kinds::{KINDS, Kind, uuid_of};

const WORLD_KEY: &str = "1.3.6.1.4.1.4128.2100.303";
const CONTENT_KEY: &str = "1.3.6.1.4.1.4128.2100.1101";
const BL33_HASH: &str = "1.3.6.1.4.1.4128.2100.1201";
const CONFIG_HASH: &str = "1.3.6.1.4.1.4128.2100.1202";

/// Whether images of this kind are certificates.
#[must_use]
pub fn is_certificate(kind: &Kind) -> bool {
    kind.option.ends_with("-cert")
}

/// Which certificates are in the package.
#[must_use]
pub fn certificates(package: &Builder) -> Vec<&'static Kind> {
    let there = |kind: &&Kind| package.get(kind.uuid).is_some();
    let all = KINDS.iter().filter(|kind| is_certificate(kind));
    all.filter(there).collect()
}

/// What is to be signed.
#[derive(Debug)]
pub struct Request<'r> {
    /// BL33.
    pub image: &'r [u8],
    /// NT_FW_CONFIG, where the package has one.
    pub config: Option<&'r [u8]>,
    /// The counter against rolling back, as the old certificate has it.
    pub counter: u32,
    /// The hash algorithm, as cert_create names it.
    pub hash: &'static str,
    /// The file of the private key.
    pub key: &'r Path,
}

/// Makes BL33 of `package` and its certificate fit again: the certificate is
/// replaced by one that `sign` makes and that is then held against the old
/// one, the images and the key that nt-fw-key-cert names. `verify` says whether
/// a signature is its key's.
///
/// # Errors
/// When the package has no such chain of trust or a link of it is broken, `sign`
/// fails, or what it makes is not what the firmware would accept.
pub fn renew(
    package: &mut Builder,
    key: &Path,
    sign: impl FnOnce(&Request<'_>) -> Result<Vec<u8>>,
    verify: impl Fn(&Signed) -> Result<()>,
) -> Result<()> {
    let verify = |certificate: &Read| {
        let what = &certificate.what;
        let broken = || format!("{what}: its signature is not that of the key that it carries");
        verify(&certificate.signed).with_context(broken)
    };
    let read = |option: &str| {
        let der = package.get(uuid_of(option));
        let der = der.with_context(|| {
            format!(
                "the package has certificates and no {option}: its chain of trust is not the \
                 one that a key of the non-trusted firmware can be used with"
            )
        })?;
        Read::new(&format!("{option} of the package"), der)
    };
    let (old, vouches) = (read("nt-fw-cert")?, read("nt-fw-key-cert")?);
    let root = read("trusted-key-cert")?;
    let content_key = vouches.extension(CONTENT_KEY)?;
    let world_key = root.extension(WORLD_KEY)?;
    let image = package.get(uuid_of("nt-fw")).context("there is no BL33")?;
    let config = package.get(uuid_of("nt-fw-config"));
    let (hash, _) = old.hash(BL33_HASH)?;
    verify(&root)?;
    for (certificate, named, by) in [
        (&vouches, world_key, "trusted-key-cert"),
        (&old, content_key, "nt-fw-key-cert"),
    ] {
        if certificate.signed.key != named {
            let what = &certificate.what;
            bail!("{what}: it is not signed with the key that {by} names");
        }
        verify(certificate)?;
    }
    let made = sign(&Request {
        image,
        config,
        counter: old.counter()?,
        hash: hash.name(),
        key,
    })?;
    let new = Read::new("the new nt-fw-cert", &made)?;
    if new.signed.key != content_key {
        bail!(
            "--nt-fw-key {}: this is not the key that the package's nt-fw-key-cert names, and \
             the firmware would refuse what it signs",
            key.display()
        );
    }
    verify(&new)?;
    if new.hash(BL33_HASH)? != (hash, hash.digest(image)) {
        bail!("{}: its hash is not that of BL33", new.what);
    }
    let mut same = vec![NV_COUNTER];
    match config {
        Some(config) if new.hash(CONFIG_HASH)? != (hash, hash.digest(config)) => {
            bail!("{}: its hash is not that of nt-fw-config", new.what)
        }
        Some(_) => {}
        None => same.push(CONFIG_HASH),
    }
    let known = |oid: &str| [NV_COUNTER, BL33_HASH, CONFIG_HASH].contains(&oid);
    let others = old.extensions.iter().map(|(oid, _)| oid.as_str());
    same.extend(others.filter(|oid| !known(oid)));
    for oid in same {
        if new.extension(oid)? != old.extension(oid)? {
            bail!("{}: extension {oid} is not as in the old one", new.what);
        }
    }
    package.put(uuid_of("nt-fw-cert"), made)?;
    Ok(())
}
