//! The TF-A source, either the pinned package or the user's checkout, and the source of Mbed TLS.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use boards::{Stock, Version};
use host::hex::hex;
use host::progress::say_once;
use host::{read_file, tf_a_version};
use sha2::{Digest, Sha256};

use crate::setup::apt;
use crate::setup::source_package::SourcePackage;
use crate::setup::workspace::Workspace;

/// TF-A as packaged in Debian 13: the upstream tag v2.12.1 without vendor binaries.
pub const TF_A: SourcePackage = SourcePackage {
    package: "arm-trusted-firmware",
    title: "TF-A",
    suite: apt::TRIXIE,
    version: "2.12.1+dfsg-1",
    dsc_sha256: Some("1b10c0f421eb994c23b4f7fafe18f8e6b65eb70fd4195b49e40611beafcedc26"),
    otherwise: ", or check out tag v2.12.1 of Trusted Firmware-A and pass its directory \
                with --tf-a",
    check: |dir| version(dir).map(|_| ()),
};

/// TF-A as packaged in Debian 12, the oldest version that the overlay platform builds with. Only
/// tests use it.
pub const OLDEST_TF_A: SourcePackage = SourcePackage {
    suite: apt::BOOKWORM,
    version: "2.8.0+dfsg-1",
    dsc_sha256: Some("9724f19432f9e6565dc0d9a1a4a472596f342d3b8f85a9b78515143079fbf33d"),
    otherwise: "",
    ..TF_A
};

/// Mbed TLS, which TF-A uses to check signatures. Only tests use it. The version is not pinned,
/// because Debian removes old versions after a security update.
pub const MBED_TLS: SourcePackage = SourcePackage {
    package: "mbedtls",
    title: "Mbed TLS",
    suite: apt::TRIXIE,
    version: "3.6",
    dsc_sha256: None,
    otherwise: "",
    check: check_mbed_tls,
};

/// The oldest version that the overlay platform has been run with.
const OLDEST: Version = Version { major: 2, minor: 8 };
/// The newest version that the overlay platform has been run with.
const NEWEST: Version = Version {
    major: 2,
    minor: 15,
};
/// The oldest version with which TF-A's own platforms run on QEMU. Up to 2.10, PSCI_STAT cannot be
/// linked, because it needs PMF.
const OLDEST_STOCK: Version = Version {
    major: 2,
    minor: 11,
};

/// Folders in TF-A that are not build inputs, or that a build has written.
const NO_INPUT: [&str; 5] = ["build", "docs", ".git", "debian", ".pc"];

/// A TF-A source tree.
#[derive(Clone, Debug)]
pub struct TfA {
    /// The root of the source tree.
    pub dir: PathBuf,
    /// The version, such as "2.12.1".
    pub version: String,
    /// The name in messages: the version, or a commit.
    pub title: String,
    /// Identifies the source: the package name and version, or a hash of its files.
    pub identity: String,
}

impl TfA {
    /// Uses the user's checkout in `dir` if given, and otherwise the pinned package. Rejects a
    /// version that the overlay platform does not build with.
    pub fn locate(workspace: &Workspace, dir: Option<&Path>) -> Result<Self> {
        let tf_a = Self::open(workspace, dir)?;
        if let Some(dir) = dir {
            let location = || option(dir);
            if let Some(doubt) = doubt(&tf_a.version).with_context(location)? {
                say_once(&format!("warning: {}: {doubt}", location()));
            }
        }
        Ok(tf_a)
    }

    /// Uses the user's checkout in `dir` if given, and otherwise the pinned package. The version is
    /// not checked.
    pub fn open(workspace: &Workspace, dir: Option<&Path>) -> Result<Self> {
        let Some(dir) = dir else {
            let dir = TF_A.fetch(workspace)?;
            let identity = format!("{} {}", TF_A.package, TF_A.version);
            let version = version(&dir)?;
            return Ok(Self {
                title: version.clone(),
                version,
                identity,
                dir,
            });
        };
        let location = || option(dir);
        let dir = fs::canonicalize(dir).with_context(location)?;
        let version = version(&dir).with_context(location)?;
        // The names and contents of all files that a build may read.
        let mut hash = Sha256::new();
        hash_folder(&dir, &dir, &NO_INPUT, &mut hash)?;
        Ok(Self {
            dir,
            title: version.clone(),
            version,
            identity: hex(&hash.finalize()),
        })
    }

    /// Rejects a version in which the `stock` platform cannot run on QEMU.
    pub fn check_stock(&self, stock: &Stock) -> Result<()> {
        let version = &self.version;
        if Version::parse(version).context("TF-A's version")? < OLDEST_STOCK {
            let platform = own_name(stock);
            bail!(
                "this is TF-A {version}; for its own {platform} platform, use version \
                 {OLDEST_STOCK} or later with --tf-a"
            );
        }
        Ok(())
    }

    /// If CPUs do not come back from a power-down on the `stock` platform in this source, returns a
    /// sentence that describes what is missing.
    pub fn lacks_power_down(&self, stock: &Stock) -> Result<Option<String>> {
        let Some(proof) = &stock.power_down else {
            return Ok(None);
        };
        let path = self.dir.join(&proof.file);
        let source = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let version = &self.version;
        let since = &proof.since;
        let platform = own_name(stock);
        Ok((!source.contains(&proof.contains)).then(|| {
            format!(
                "TF-A {version}'s {platform} platform does not bring CPUs back from a power-down; \
                 use {since} or later with --tf-a"
            )
        }))
    }
}

/// Returns the name of the `stock` platform in TF-A.
fn own_name(stock: &Stock) -> &str {
    stock.platform.trim_start_matches("psci_bench_")
}

fn option(dir: &Path) -> String {
    format!("--tf-a {}", dir.display())
}

/// Returns a warning if the overlay platform has not been tested with this version, or an error if
/// the version is too old.
fn doubt(version: &str) -> Result<Option<String>> {
    let is = Version::parse(version).context("TF-A's version")?;
    if is < OLDEST {
        bail!("this is TF-A {version}, but {OLDEST} or later is needed");
    }
    Ok((is > NEWEST).then(|| {
        format!(
            "this is TF-A {version}, which has not been tested with the overlay platform; \
             versions {OLDEST} to {NEWEST} have been (platforms/qemu/tf-a/README.md). If it does \
             not build or run, use one of those"
        )
    }))
}

/// Returns the version from the Makefile in `dir`.
pub fn version(dir: &Path) -> Result<String> {
    for file in ["Makefile", "bl31/bl31.mk", "plat/qemu/qemu/platform.mk"] {
        if !dir.join(file).is_file() {
            bail!("not a TF-A source tree: it has no {file}");
        }
    }
    tf_a_version(dir)
}

/// Rejects a folder that contains a different Mbed TLS release series.
fn check_mbed_tls(dir: &Path) -> Result<()> {
    let header = dir.join("include/mbedtls/build_info.h");
    let text = fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    let version = text.split_once("MBEDTLS_VERSION_STRING ");
    if !version.is_some_and(|(_, version_text)| version_text.trim_start().starts_with("\"3.6.")) {
        bail!("{}: not Mbed TLS 3.6", header.display());
    }
    Ok(())
}

/// Hashes the names and contents of all regular files below `dir`, sorted by name, except those in
/// the `skip` folders of `root`. Does not follow symbolic links.
pub fn hash_folder(root: &Path, dir: &Path, skip: &[&str], hash: &mut Sha256) -> Result<()> {
    let mut entries = fs::read_dir(dir)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| dir.display().to_string())?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap_or(&path);
        if dir == root
            && skip
                .iter()
                .any(|skipped_name| name == Path::new(skipped_name))
        {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            hash_folder(root, &path, skip, hash)?;
        } else if kind.is_file() {
            let data = read_file::read_own(&path)?;
            hash.update(name.as_os_str().as_encoded_bytes());
            hash.update([0]);
            hash.update((data.len() as u64).to_le_bytes());
            hash.update(&data);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use boards::PowerDownProof;

    use super::*;

    #[test]
    fn versions_that_are_doubted_or_too_old() {
        for (version, is_doubted) in [("2.8", false), ("2.15.3", false), ("2.16", true)] {
            let warning = doubt(version).expect("not too old");
            assert_eq!(
                warning.is_some_and(|text| text.contains("2.8 to 2.15 have")),
                is_doubted,
                "{version}"
            );
        }
        doubt("2.7.9").expect_err("too old");
        assert_eq!(Version::parse(OLDEST_TF_A.version), Some(OLDEST));
    }

    #[test]
    fn stock_platform_of_an_old_source_is_refused() {
        let stock = Stock {
            platform: "psci_bench_qemu_sbsa".to_owned(),
            ..Stock::default()
        };
        let check = |version: &str| {
            let tf_a = TfA {
                dir: PathBuf::new(),
                version: version.to_owned(),
                title: version.to_owned(),
                identity: String::new(),
            };
            tf_a.check_stock(&stock)
        };
        check("2.11.0").expect("new enough");
        let error = check("2.10").expect_err("too old").to_string();
        let expected = "this is TF-A 2.10; for its own qemu_sbsa platform, use version 2.11 or later \
                    with --tf-a";
        assert_eq!(error, expected);
    }

    #[test]
    fn source_without_the_proof_lacks_power_down() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let tf_a = TfA {
            dir: dir.path().to_path_buf(),
            version: "2.12.1".to_owned(),
            title: "2.12.1".to_owned(),
            identity: String::new(),
        };
        let stock = Stock {
            platform: "psci_bench_qemu_sbsa".to_owned(),
            power_down: Some(PowerDownProof {
                file: "pm.c".to_owned(),
                contains: "MAGIC".to_owned(),
                since: "70147347e".to_owned(),
            }),
            ..Stock::default()
        };
        let expected = "TF-A 2.12.1's qemu_sbsa platform does not bring CPUs back from a power-down; use \
                    70147347e or later with --tf-a";
        for (source, expected) in [("assert(false);", Some(expected)), ("MAGIC1", None)] {
            fs::write(dir.path().join("pm.c"), source).expect("written");
            let lack = tf_a.lacks_power_down(&stock).expect("readable");
            assert_eq!(lack.as_deref(), expected);
        }
    }
}
