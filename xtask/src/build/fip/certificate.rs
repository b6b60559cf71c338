//! The certificates of trusted boot, as TF-A's `cert_create` makes them: each
//! carries the public key that it is signed with, and in extensions of TF-A's
//! the keys and hashes that it vouches for.

use anyhow::{Context, Result, anyhow, bail};
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::Certificate;
use x509_cert::der::asn1::{ContextSpecific, ObjectIdentifier, OctetString};
use x509_cert::der::{Decode, Encode, Reader, SliceReader, TagNumber};
use x509_cert::spki::AlgorithmIdentifierOwned;

/// Below this are TF-A's own extensions.
const TBBR: &str = "1.3.6.1.4.1.4128.2100.";
/// The counter against rolling back.
pub(super) const NV_COUNTER: &str = "1.3.6.1.4.1.4128.2100.2";
/// RFC 4055, section 3.1.
const RSA_PSS: &str = "1.2.840.113549.1.1.10";

/// A hash algorithm of TF-A's certificates.
#[derive(Debug)]
pub(super) struct Hash {
    /// The name that cert_create and OpenSSL use.
    pub name: &'static str,
    oid: &'static str,
    /// The OID of ECDSA with it (RFC 5758, section 3.2).
    ecdsa: &'static str,
    pub digest: fn(&[u8]) -> Vec<u8>,
}

static HASHES: [Hash; 3] = [
    Hash {
        name: "sha256",
        oid: "2.16.840.1.101.3.4.2.1",
        ecdsa: "1.2.840.10045.4.3.2",
        digest: |data| Sha256::digest(data).to_vec(),
    },
    Hash {
        name: "sha384",
        oid: "2.16.840.1.101.3.4.2.2",
        ecdsa: "1.2.840.10045.4.3.3",
        digest: |data| Sha384::digest(data).to_vec(),
    },
    Hash {
        name: "sha512",
        oid: "2.16.840.1.101.3.4.2.3",
        ecdsa: "1.2.840.10045.4.3.4",
        digest: |data| Sha512::digest(data).to_vec(),
    },
];

impl Hash {
    /// Returns the algorithm of which `field` is `oid`.
    fn find(oid: ObjectIdentifier, field: fn(&Self) -> &'static str) -> Option<&'static Self> {
        let oid = oid.to_string();
        HASHES.iter().find(|hash| field(hash) == oid)
    }
}

/// A signature, and the key that it claims to be made with.
#[derive(Debug)]
pub(super) struct Signed {
    pub body: Vec<u8>,
    pub signature: Vec<u8>,
    /// The hash algorithm, as OpenSSL names it.
    pub hash: &'static str,
    /// With RSASSA-PSS, the length of the salt in bytes; otherwise it is ECDSA.
    pub salt: Option<u32>,
    /// The public key, a SubjectPublicKeyInfo in DER.
    pub key: Vec<u8>,
}

/// The parts of a certificate that are checked.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) what: String,
    pub(super) signed: Signed,
    /// TF-A's extensions, by OID.
    pub(super) extensions: Vec<(String, Vec<u8>)>,
}

impl Read {
    pub(super) fn new(what: &str, der: &[u8]) -> Result<Self> {
        let wrong = |error| anyhow!("{what}: no X.509 certificate: {error}");
        let certificate = Certificate::from_der(der).map_err(wrong)?;
        let inner = certificate.tbs_certificate();
        let body = SliceReader::new(der)
            .and_then(|mut reader| {
                reader.sequence(|inner| {
                    let body = inner.tlv_bytes()?.to_vec();
                    inner.drain(inner.remaining_len())?;
                    Ok(body)
                })
            })
            .map_err(wrong)?;
        let algorithm = certificate.signature_algorithm();
        if inner.signature() != algorithm {
            bail!("{what}: it names two signature algorithms");
        }
        let made = signature_algorithm(algorithm);
        let (hash, salt) = made.with_context(|| {
            format!(
                "{what}: signed by {}, and not as TF-A has it, by RSASSA-PSS or ECDSA with SHA-2",
                algorithm.oid
            )
        })?;
        let signature = certificate.signature().as_bytes();
        let signature = signature.with_context(|| format!("{what}: no whole signature"))?;
        let all = inner.extensions().into_iter().flatten();
        let named = all.map(|e| (e.extn_id.to_string(), e.extn_value.as_bytes().to_vec()));
        Ok(Self {
            what: what.to_owned(),
            signed: Signed {
                body,
                signature: signature.to_vec(),
                hash: hash.name,
                salt,
                key: inner.subject_public_key_info().to_der().map_err(wrong)?,
            },
            extensions: named.filter(|(oid, _)| oid.starts_with(TBBR)).collect(),
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
    pub(super) fn hash(&self, oid: &str) -> Result<(&'static Hash, Vec<u8>)> {
        let wrong = |error| anyhow!("{}: extension {oid}: {error}", self.what);
        let mut reader = SliceReader::new(self.extension(oid)?).map_err(wrong)?;
        let (algorithm, digest) = reader
            .sequence(|inner| -> x509_cert::der::Result<_> {
                let algorithm = AlgorithmIdentifierOwned::decode(inner)?;
                Ok((algorithm.oid, OctetString::decode(inner)?))
            })
            .map_err(wrong)?;
        let hash = Hash::find(algorithm, |hash| hash.oid);
        let hash = hash.with_context(|| format!("{}: unknown hash {algorithm}", self.what))?;
        Ok((hash, digest.as_bytes().to_vec()))
    }
}

/// Returns the hash of a signature and the length of RSASSA-PSS's salt, if TF-A makes such
/// signatures.
fn signature_algorithm(
    algorithm: &AlgorithmIdentifierOwned,
) -> Option<(&'static Hash, Option<u32>)> {
    if algorithm.oid.to_string() != RSA_PSS {
        return Some((Hash::find(algorithm.oid, |hash| hash.ecdsa)?, None));
    }
    // RSASSA-PSS-params: the hash is SHA-1 and the salt 20 bytes by default.
    let parameters = algorithm.parameters.as_ref()?.to_der().ok()?;
    let mut reader = SliceReader::new(&parameters).ok()?;
    let parameters = reader.sequence(|inner| -> x509_cert::der::Result<_> {
        let hash = ContextSpecific::decode_explicit(inner, TagNumber(0))?;
        let _mask: Option<ContextSpecific<AlgorithmIdentifierOwned>> =
            ContextSpecific::decode_explicit(inner, TagNumber(1))?;
        let salt = ContextSpecific::decode_explicit(inner, TagNumber(2))?;
        inner.drain(inner.remaining_len())?;
        Ok((hash, salt))
    });
    let (hash, salt) = parameters.ok()?;
    let hash: AlgorithmIdentifierOwned = hash.map(|field| field.value)?;
    let salt = salt.map_or(20, |field| field.value);
    Some((Hash::find(hash.oid, |hash| hash.oid)?, Some(salt)))
}
