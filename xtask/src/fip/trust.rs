//! Trusted boot: the certificate that vouches for BL33.
//!
//! ```text
//! nt-fw-key-cert  names a key: NonTrustedFirmwareContentCertPK
//! nt-fw-cert      is signed with that key, and has hashes of BL33 and
//!                 NT_FW_CONFIG and a counter against rolling back
//! ```
//!
//! Who replaces BL33 and has that key needs a new nt-fw-cert, and all other
//! certificates stay as they are (TF-A's *Trusted Board Boot* and
//! `include/tools_share/tbbr_oid.h`). Signing is TF-A's `cert_create`'s; here
//! is what it has to be told, and what has to be true of what it makes.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::asn1::{ObjectIdentifier, OctetString};
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::spki::AlgorithmIdentifierOwned;

use super::{Builder, KINDS, Kind, Uuid, called};

/// Below this are TF-A's own extensions.
const TBBR: &str = "1.3.6.1.4.1.4128.2100.";
const NV_COUNTER: &str = "1.3.6.1.4.1.4128.2100.2";
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

/// The hash algorithms of TF-A's certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    fn of_oid(oid: ObjectIdentifier) -> Option<Self> {
        Some(match oid.to_string().as_str() {
            "2.16.840.1.101.3.4.2.1" => Self::Sha256,
            "2.16.840.1.101.3.4.2.2" => Self::Sha384,
            "2.16.840.1.101.3.4.2.3" => Self::Sha512,
            _ => return None,
        })
    }

    /// As cert_create's option has it.
    fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    fn digest(self, data: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha256 => Sha256::digest(data).to_vec(),
            Self::Sha384 => Sha384::digest(data).to_vec(),
            Self::Sha512 => Sha512::digest(data).to_vec(),
        }
    }
}

/// What of a certificate matters here.
#[derive(Debug)]
struct Read {
    /// What to call it in errors.
    what: String,
    /// Its SubjectPublicKeyInfo: a content certificate is signed by itself.
    key: Vec<u8>,
    /// TF-A's extensions, by OID.
    extensions: Vec<(String, Vec<u8>)>,
}

impl Read {
    fn new(what: &str, der: &[u8]) -> Result<Self> {
        let wrong = |error| anyhow!("{what}: no X.509 certificate: {error}");
        let certificate = Certificate::from_der(der).map_err(wrong)?;
        let inner = certificate.tbs_certificate();
        let all = inner.extensions().into_iter().flatten();
        let named = all.map(|e| (e.extn_id.to_string(), e.extn_value.as_bytes().to_vec()));
        Ok(Self {
            what: what.to_owned(),
            key: inner.subject_public_key_info().to_der().map_err(wrong)?,
            extensions: named.filter(|(oid, _)| oid.starts_with(TBBR)).collect(),
        })
    }

    fn extension(&self, oid: &str) -> Result<&[u8]> {
        let found = self.extensions.iter().find(|(name, _)| name == oid);
        let (_, value) = found.with_context(|| format!("{}: no extension {oid}", self.what))?;
        Ok(value)
    }

    fn counter(&self) -> Result<u32> {
        let value = u32::from_der(self.extension(NV_COUNTER)?);
        value.map_err(|error| anyhow!("{}: extension {NV_COUNTER}: {error}", self.what))
    }

    /// A DigestInfo (RFC 8017, A.2.4).
    fn hash(&self, oid: &str) -> Result<(Hash, Vec<u8>)> {
        let wrong = |error| anyhow!("{}: extension {oid}: {error}", self.what);
        let mut reader = SliceReader::new(self.extension(oid)?).map_err(wrong)?;
        let (algorithm, digest) = reader
            .sequence(|inner| -> x509_cert::der::Result<_> {
                let algorithm = AlgorithmIdentifierOwned::decode(inner)?;
                Ok((algorithm.oid, OctetString::decode(inner)?))
            })
            .map_err(wrong)?;
        let hash = Hash::of_oid(algorithm);
        let hash = hash.with_context(|| format!("{}: unknown hash {algorithm}", self.what))?;
        Ok((hash, digest.as_bytes().to_vec()))
    }
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

fn uuid(option: &str) -> Uuid {
    called(option).map_or(Uuid::NIL, |kind| kind.uuid)
}

/// Makes BL33 of `package` and its certificate fit again: the certificate is
/// replaced by one that `sign` makes and that is then held against the old
/// one, the images and the key that nt-fw-key-cert names.
///
/// # Errors
/// When the package has no such chain of trust, `sign` fails, or what it makes
/// is not what the firmware would accept.
pub fn renew(
    package: &mut Builder,
    key: &Path,
    sign: impl FnOnce(&Request<'_>) -> Result<Vec<u8>>,
) -> Result<()> {
    let read = |option: &str| {
        let der = package.get(uuid(option));
        let der = der.with_context(|| {
            format!(
                "the package has certificates and no {option}: its chain of trust is not the \
                 one that a key of the non-trusted firmware can be used with"
            )
        })?;
        Read::new(&format!("{option} of the package"), der)
    };
    let (old, vouches) = (read("nt-fw-cert")?, read("nt-fw-key-cert")?);
    let image = package.get(uuid("nt-fw")).context("there is no BL33")?;
    let config = package.get(uuid("nt-fw-config"));
    let (hash, _) = old.hash(BL33_HASH)?;
    let made = sign(&Request {
        image,
        config,
        counter: old.counter()?,
        hash: hash.name(),
        key,
    })?;
    let new = Read::new("the new nt-fw-cert", &made)?;
    if new.key != vouches.extension(CONTENT_KEY)? {
        bail!(
            "--nt-fw-key {}: this is not the key that the package's nt-fw-key-cert names, and \
             the firmware would refuse what it signs",
            key.display()
        );
    }
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
    package.put(uuid("nt-fw-cert"), made)?;
    Ok(())
}
