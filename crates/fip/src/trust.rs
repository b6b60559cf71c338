//! Trusted boot: the certificates that vouch for BL33.
//!
//! ```text
//! nt-fw-key-cert    names a key: NonTrustedFirmwareContentCertPK
//! nt-fw-cert        is signed with that key, and contains the hashes of BL33 and NT_FW_CONFIG
//!                   and an anti-rollback counter
//! ```
//!
//! A different BL33 needs a new nt-fw-cert; all other certificates stay unchanged (TF-A's *Trusted
//! Board Boot* and `include/tools_share/tbbr_oid.h`). TF-A's `cert_create` signs the new
//! certificate. The firmware checks the rest of the chain of trust.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use boards::image_kinds::{IMAGE_KINDS, ImageKind, uuid_of};
use host::TmpdirContext as _;
use host::read_file;
use memchr::memmem;
use x509_cert::Certificate;
use x509_cert::der::{Decode, Encode, Reader, SliceReader};
use x509_cert::spki::AlgorithmIdentifierOwned;

use super::fip::Fip;

/// An upper bound on the size of a key file, in bytes.
const KEY_MAX: usize = 64 << 10;
/// The OID prefix of the TF-A extensions.
const TBBR: &str = "1.3.6.1.4.1.4128.2100.";
/// The anti-rollback counter.
const COUNTER: &str = "1.3.6.1.4.1.4128.2100.2";
const CONTENT_KEY: &str = "1.3.6.1.4.1.4128.2100.1101";
const BL33_HASH: &str = "1.3.6.1.4.1.4128.2100.1201";
const CONFIG_HASH: &str = "1.3.6.1.4.1.4128.2100.1202";
/// The hash algorithms by OID, with their cert_create names.
const HASHES: [(&str, &str); 3] = [
    ("2.16.840.1.101.3.4.2.1", "sha256"),
    ("2.16.840.1.101.3.4.2.2", "sha384"),
    ("2.16.840.1.101.3.4.2.3", "sha512"),
];
/// The keys that cert_create requires before it signs anything.
const KEYS: &str = "--rot-key --trusted-world-key --non-trusted-world-key --scp-fw-key \
                    --soc-fw-key --tos-fw-key --nt-fw-key";

/// Returns true if images of this kind are certificates.
pub fn is_certificate(kind: &ImageKind) -> bool {
    kind.option.ends_with("-cert")
}

/// Returns the kind of the first certificate in the package, if it contains any.
pub fn find_certificate(fip: &Fip) -> Option<&'static ImageKind> {
    let is_there = |kind: &&ImageKind| is_certificate(kind) && fip.get(kind.uuid).is_some();
    IMAGE_KINDS.iter().find(is_there)
}

/// Rejects a file given with `option` if it cannot be used for signing. cert_create would only
/// print that it failed, or would prompt for a passphrase on the terminal.
///
/// # Errors
/// Returns an error if the file cannot be read, or is not an unencrypted private key.
pub fn check_key(option: &str, key: &Path) -> Result<()> {
    let text = read_file::read(option, key, KEY_MAX)?;
    let has = |words: &str| memmem::find(&text, words.as_bytes()).is_some();
    let key = key.display();
    if !has("PRIVATE KEY-----") {
        bail!("{option} {key}: not a private key in PEM format");
    }
    if has("ENCRYPTED") {
        bail!(
            "{option} {key}: the key is encrypted; decrypt it first with `openssl pkey -in \
             {key} -out plain.pem`"
        );
    }
    Ok(())
}

/// Replaces the certificate for BL33 in the package, with the help of TF-A's `cert_create`. The new
/// certificate is signed with the key in `key`, which must be the one named in nt-fw-key-cert. The
/// extensions of the two certificates may differ only in the hashes of the images in the package.
///
/// # Errors
/// Returns an error if the package's certificates or the key cannot be used for this, if
/// `cert_create` is not installed, or if anything else would differ.
pub fn renew_certificates(fip: &mut Fip, key: &Path) -> Result<()> {
    let read = |option: &str| {
        let der = fip.get(uuid_of(option)).with_context(|| {
            format!(
                "the package has certificates but no {option}: its chain of trust does not \
                 use a non-trusted firmware key"
            )
        })?;
        Read::new(format!("{option} of the package"), der)
    };
    let old = read("nt-fw-cert")?;
    let key_certificate = read("nt-fw-key-cert")?;
    let content_key = key_certificate.extension(CONTENT_KEY)?;
    let made = sign(fip, &old, key)?;
    let new = Read::new("the new nt-fw-cert".into(), &made)?;
    if new.key != content_key {
        bail!(
            "--nt-fw-key {}: not the key named in the package's nt-fw-key-cert, so the \
             firmware would reject anything signed with it",
            key.display()
        );
    }
    let has_config = fip.get(uuid_of("nt-fw-config")).is_some();
    for (oid, value) in &old.extensions {
        let differs = oid == BL33_HASH || oid == CONFIG_HASH && has_config;
        if !differs && new.extension(oid)? != value {
            bail!(
                "{}: extension {oid} differs from the old certificate's",
                new.name
            );
        }
    }
    fip.put(uuid_of("nt-fw-cert"), made)
}

/// Returns a certificate, in DER, to replace `old`. The key has already been checked.
fn sign(fip: &Fip, old: &Read, key: &Path) -> Result<Vec<u8>> {
    let dir = tempfile::tempdir().tmpdir_context()?;
    let mut command = Command::new("cert_create");
    // Only nt-fw-key is used, but cert_create fails if any of the other key files is missing, and
    // `--new-keys` would generate any key that it cannot find.
    for option in KEYS.split_whitespace() {
        command.arg(option).arg(key);
    }
    command.args(["--hash-alg", old.hash_algorithm()?, "--tfw-nvctr", "0"]);
    command.args(["--ntfw-nvctr", &old.counter()?.to_string()]);
    for option in ["nt-fw", "nt-fw-config"] {
        if let Some(data) = fip.get(uuid_of(option)) {
            let file = dir.path().join(option);
            fs::write(&file, data).tmpdir_context()?;
            command.arg(format!("--{option}")).arg(file);
        }
    }
    let made = dir.path().join("crt");
    command.arg("--nt-fw-cert").arg(&made);
    let output = command
        .stdin(Stdio::null())
        .output()
        .context("cannot run cert_create")?;
    if !output.status.success() {
        let key = key.display();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let reason = stderr.trim();
        bail!("--nt-fw-key {key}: TF-A's cert_create cannot sign with this key: {reason}");
    }
    fs::read(&made).context("cert_create wrote no certificate")
}

/// A certificate in the format that TF-A's `cert_create` writes.
struct Read {
    name: String,
    /// The certificate's public key, a SubjectPublicKeyInfo in DER.
    key: Vec<u8>,
    /// The TF-A extensions, by OID: the keys and hashes that the certificate attests.
    extensions: Vec<(String, Vec<u8>)>,
}

impl Read {
    fn new(name: String, der: &[u8]) -> Result<Self> {
        let certificate_error = |error| anyhow!("{name}: not an X.509 certificate: {error}");
        let certificate = Certificate::from_der(der).map_err(certificate_error)?;
        let inner = certificate.tbs_certificate();
        let key = inner
            .subject_public_key_info()
            .to_der()
            .map_err(certificate_error)?;
        let all = inner.extensions().into_iter().flatten();
        let named = all.map(|extension| {
            (
                extension.extn_id.to_string(),
                extension.extn_value.as_bytes().to_vec(),
            )
        });
        let extensions = named.filter(|(oid, _)| oid.starts_with(TBBR)).collect();
        Ok(Self {
            name,
            key,
            extensions,
        })
    }

    fn extension(&self, oid: &str) -> Result<&[u8]> {
        let mut extensions = self.extensions.iter();
        let extension = extensions.find(|(extension_oid, _)| extension_oid == oid);
        let (_, value) = extension.with_context(|| format!("{}: no extension {oid}", self.name))?;
        Ok(value)
    }

    fn counter(&self) -> Result<u32> {
        let value = u32::from_der(self.extension(COUNTER)?);
        value.map_err(|error| anyhow!("{}: extension {COUNTER}: {error}", self.name))
    }

    /// Returns the cert_create name for the BL33 hash algorithm, read from a DigestInfo (RFC 8017,
    /// A.2.4).
    fn hash_algorithm(&self) -> Result<&'static str> {
        let extension_error = |error| anyhow!("{}: extension {BL33_HASH}: {error}", self.name);
        let mut reader = SliceReader::new(self.extension(BL33_HASH)?).map_err(extension_error)?;
        let algorithm = reader
            .sequence(|inner_reader| -> x509_cert::der::Result<_> {
                let algorithm = AlgorithmIdentifierOwned::decode(inner_reader)?;
                inner_reader.drain(inner_reader.remaining_len())?;
                Ok(algorithm.oid.to_string())
            })
            .map_err(extension_error)?;
        let hash = HASHES.iter().find(|(oid, _)| *oid == algorithm);
        let (_, name) = hash.with_context(|| format!("{}: unknown hash {algorithm}", self.name))?;
        Ok(name)
    }
}
