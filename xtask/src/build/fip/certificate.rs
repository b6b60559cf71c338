//! The certificates of trusted boot, as TF-A's `cert_create` makes them: each
//! carries the public key that it is signed with, and in extensions of TF-A's
//! the keys and hashes that it vouches for. OpenSSL verifies signatures.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::asn1::OctetString;
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::spki::AlgorithmIdentifierOwned;

use crate::setup::workspace::Workspace;
use crate::setup::{self, Need, process, temporary};

/// Below this are TF-A's own extensions.
pub(super) const TBBR: &str = "1.3.6.1.4.1.4128.2100.";
/// The counter against rolling back.
pub(super) const NV_COUNTER: &str = "1.3.6.1.4.1.4128.2100.2";

/// A hash algorithm of TF-A's certificates: its name for cert_create, its OID, its function.
pub(super) type Hash = (&'static str, &'static str, fn(&[u8]) -> Vec<u8>);

const HASHES: [Hash; 3] = [
    ("sha256", "2.16.840.1.101.3.4.2.1", digest::<Sha256>),
    ("sha384", "2.16.840.1.101.3.4.2.2", digest::<Sha384>),
    ("sha512", "2.16.840.1.101.3.4.2.3", digest::<Sha512>),
];

fn digest<D: Digest>(data: &[u8]) -> Vec<u8> {
    D::digest(data).to_vec()
}

/// The parts of a certificate that are checked.
#[derive(Debug)]
pub(super) struct Read<'d> {
    pub(super) what: String,
    der: &'d [u8],
    /// The public key, a SubjectPublicKeyInfo in DER.
    pub(super) key: Vec<u8>,
    /// TF-A's extensions, by OID.
    pub(super) extensions: Vec<(String, Vec<u8>)>,
}

impl<'d> Read<'d> {
    pub(super) fn new(what: String, der: &'d [u8]) -> Result<Self> {
        let wrong = |error| anyhow!("{what}: no X.509 certificate: {error}");
        let certificate = Certificate::from_der(der).map_err(wrong)?;
        let inner = certificate.tbs_certificate();
        let key = inner.subject_public_key_info().to_der().map_err(wrong)?;
        let all = inner.extensions().into_iter().flatten();
        let named = all.map(|e| (e.extn_id.to_string(), e.extn_value.as_bytes().to_vec()));
        let extensions = named.filter(|(oid, _)| oid.starts_with(TBBR)).collect();
        Ok(Self {
            what,
            der,
            key,
            extensions,
        })
    }

    pub(super) fn extension(&self, oid: &str) -> Result<&[u8]> {
        let found = self.extensions.iter().find(|(name, _)| name == oid);
        let (_, value) = found.with_context(|| format!("{}: no extension {oid}", self.what))?;
        Ok(value)
    }

    pub(super) fn counter(&self) -> Result<u32> {
        let value = u32::from_der(self.extension(NV_COUNTER)?);
        value.map_err(|error| anyhow!("{}: extension {NV_COUNTER}: {error}", self.what))
    }

    /// Reads a DigestInfo (RFC 8017, A.2.4).
    pub(super) fn hash(&self, oid: &str) -> Result<(Hash, Vec<u8>)> {
        let wrong = |error| anyhow!("{}: extension {oid}: {error}", self.what);
        let mut reader = SliceReader::new(self.extension(oid)?).map_err(wrong)?;
        let info = reader.sequence(|inner| -> x509_cert::der::Result<_> {
            let algorithm = AlgorithmIdentifierOwned::decode(inner)?;
            Ok((algorithm.oid.to_string(), OctetString::decode(inner)?))
        });
        let (algorithm, digest) = info.map_err(wrong)?;
        let hash = HASHES.into_iter().find(|hash| hash.1 == algorithm);
        let hash = hash.with_context(|| format!("{}: unknown hash {algorithm}", self.what))?;
        Ok((hash, digest.as_bytes().to_vec()))
    }

    /// Checks that the signature is that of the key in the certificate. TF-A does not check
    /// dates, and OpenSSL does not know TF-A's critical extensions.
    pub(super) fn verify(&self, workspace: &Workspace) -> Result<()> {
        setup::ensure(workspace, &[Need::Openssl])?;
        let file = temporary(tempfile::NamedTempFile::new())?;
        temporary(fs::write(file.path(), self.der))?;
        let mut command = Command::new("openssl");
        let options = "verify -check_ss_sig -no_check_time -ignore_critical -trusted";
        command.args(options.split(' '));
        command.args([file.path(), file.path()]);
        let what = "its signature is not that of the key that it carries";
        process::output(&mut command).with_context(|| format!("{}: {what}", self.what))?;
        Ok(())
    }
}
