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
//! Each link is checked except the first one: a hash in the board, not the FIP, names the
//! root of trust's key.
//!
//! Another BL33 needs a new nt-fw-cert, and all other certificates stay as they are (TF-A's
//! *Trusted Board Boot* and `include/tools_share/tbbr_oid.h`). TF-A's `cert_create` signs;
//! here are its input and the checks of its output.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::certificate::{Hash, NV_COUNTER, Read, TBBR};
use super::fip::Fip;
use super::sign::{Request, sign};
use crate::board::image_kinds::{KINDS, Kind, uuid_of};
use crate::setup::workspace::Workspace;

const WORLD_KEY: &str = "1.3.6.1.4.1.4128.2100.303";
const CONTENT_KEY: &str = "1.3.6.1.4.1.4128.2100.1101";
const BL33_HASH: &str = "1.3.6.1.4.1.4128.2100.1201";
const CONFIG_HASH: &str = "1.3.6.1.4.1.4128.2100.1202";

/// Images with the certificate that has their hash, and the extension that it is in.
const VOUCHED: [(&str, &str, &str); 4] = [
    ("tb-fw", "tb-fw-cert", "201"),
    ("scp-fw", "scp-fw-cert", "801"),
    ("soc-fw", "soc-fw-cert", "603"),
    ("tos-fw", "tos-fw-cert", "1001"),
];

/// Describes the images of the package, BL33 apart, that are not those of their certificates.
pub(crate) fn mismatches(package: &Fip) -> Vec<String> {
    let describe = |(name, certificate, oid): (&str, &str, &str)| {
        let [image, der] = [name, certificate].map(|option| package.get(uuid_of(option)));
        let (image, der) = (image?, der?);
        let of_other = format!("{name} is not the image that {certificate} has the hash of");
        let read = Read::new(certificate.into(), der);
        match read.and_then(|read| read.hash(&format!("{TBBR}{oid}"))) {
            Ok((hash, digest)) => (digest != (hash.2)(image)).then_some(of_other),
            Err(error) => Some(format!("{error:#}")),
        }
    };
    VOUCHED.into_iter().filter_map(describe).collect()
}

/// Returns true if images of this kind are certificates.
pub(crate) fn is_certificate(kind: &Kind) -> bool {
    kind.option.ends_with("-cert")
}

/// Returns a certificate that is in the package, if there are any.
pub(crate) fn certificate(package: &Fip) -> Option<&'static Kind> {
    let is_there = |kind: &&Kind| is_certificate(kind) && package.get(kind.uuid).is_some();
    KINDS.iter().find(is_there)
}

/// Renews the certificate of the package's BL33: replaces it by one that is signed with the
/// key in the file `key`. The new one is held against the old one, the images and the key
/// that nt-fw-key-cert names.
pub(crate) fn renew(workspace: &Workspace, package: &mut Fip, key: &Path) -> Result<()> {
    let (old, hash, content_key) = chain(workspace, package)?;
    let image = package.get(uuid_of("nt-fw")).context("there is no BL33")?;
    let config = package.get(uuid_of("nt-fw-config"));
    let request = Request {
        image,
        config,
        counter: old.counter()?,
        hash: hash.0,
        key,
    };
    let made = sign(workspace, &request)?;
    let new = Read::new("the new nt-fw-cert".into(), &made)?;
    if new.key != content_key {
        bail!(
            "--nt-fw-key {}: this is not the key that the package's nt-fw-key-cert names, and \
             the firmware would refuse what it signs",
            key.display()
        );
    }
    new.verify(workspace)?;
    let images = [
        ("BL33", BL33_HASH, Some(image)),
        ("nt-fw-config", CONFIG_HASH, config),
    ];
    let mut same = vec![NV_COUNTER];
    for (name, oid, image) in images {
        let Some(image) = image else {
            same.push(oid);
            continue;
        };
        let (its, digest) = new.hash(oid)?;
        if its.0 != hash.0 || digest != (hash.2)(image) {
            bail!("{}: its hash is not that of {name}", new.what);
        }
    }
    let known = |oid: &str| [NV_COUNTER, BL33_HASH, CONFIG_HASH].contains(&oid);
    let others = old.extensions.iter().map(|(oid, _)| oid.as_str());
    same.extend(others.filter(|oid| !known(oid)));
    for oid in same {
        if new.extension(oid)? != old.extension(oid)? {
            bail!("{}: extension {oid} is not as in the old one", new.what);
        }
    }
    package.put(uuid_of("nt-fw-cert"), made)
}

/// Checks the chain of trust down to nt-fw-cert, and returns that certificate, the hash that it
/// has of BL33, and the key that nt-fw-key-cert names for it.
fn chain<'p>(workspace: &Workspace, package: &'p Fip) -> Result<(Read<'p>, Hash, Vec<u8>)> {
    let read = |option: &str| {
        let der = package.get(uuid_of(option)).with_context(|| {
            format!(
                "the package has certificates and no {option}: its chain of trust is not the \
                 one that a key of the non-trusted firmware can be used with"
            )
        })?;
        Read::new(format!("{option} of the package"), der)
    };
    let (content, key) = (read("nt-fw-cert")?, read("nt-fw-key-cert")?);
    let root = read("trusted-key-cert")?;
    let content_key = key.extension(CONTENT_KEY)?;
    let (hash, _) = content.hash(BL33_HASH)?;
    root.verify(workspace)?;
    for (certificate, named, by) in [
        (&key, root.extension(WORLD_KEY)?, "trusted-key-cert"),
        (&content, content_key, "nt-fw-key-cert"),
    ] {
        if certificate.key != named {
            let what = &certificate.what;
            bail!("{what}: it is not signed with the key that {by} names");
        }
        certificate.verify(workspace)?;
    }
    let content_key = content_key.to_vec();
    Ok((content, hash, content_key))
}
