//! Source that Debian has packaged: TF-A's, and what its builds want.
//!
//! The machine's own apt client fetches it, with state of its own below
//! `target/`: the user's package lists and sources stay as they are, and
//! mirrors, proxies and keys are the ones that the machine is set up with.
//! apt verifies what it fetches down from the archive's signature; what this
//! project is measured with is also pinned here, by the hash of its
//! description.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::process::{self, find, quietly, unwatched};
use crate::progress::Progress;
use crate::setup::{self, Need};
use crate::tf_a;
use crate::workspace::{Workspace, once};

/// A source package.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its name in Debian.
    pub package: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its version; of one that is not pinned, the series.
    pub version: &'static str,
    /// SHA-256 of its `.dsc`, which has the hashes of all the rest;
    /// dpkg-source compares them. Without, it is whatever the archive has.
    pub dsc_sha256: Option<&'static str>,
    /// What else to do where it cannot be fetched.
    pub otherwise: &'static str,
    /// Whether a directory is a source tree of it.
    check: fn(&Path) -> Result<()>,
}

/// TF-A, as Debian 13 has it. Its content is that of the upstream tag v2.12.1,
/// but for vendors' binaries.
pub const TF_A: Source = Source {
    package: "arm-trusted-firmware",
    title: "TF-A",
    version: "2.12.1+dfsg-1",
    dsc_sha256: Some("1b10c0f421eb994c23b4f7fafe18f8e6b65eb70fd4195b49e40611beafcedc26"),
    otherwise: ", or check out the tag v2.12.1 of Trusted Firmware-A and pass its directory by \
                --tf-a",
    check: |dir| tf_a::version(dir).map(|_| ()),
};

/// Mbed TLS, which TF-A checks signatures with. Tests alone use it, and Debian
/// takes a version away when it has a security update of it: not pinned.
pub const MBED_TLS: Source = Source {
    package: "mbedtls",
    title: "Mbed TLS",
    version: "3.6",
    dsc_sha256: None,
    otherwise: "",
    check: |dir| mbed_tls_version(dir).map(|_| ()),
};

/// The version of the Mbed TLS in `dir`.
///
/// # Errors
/// When it is none, or one that TF-A 2.12 does not build with.
pub fn mbed_tls_version(dir: &Path) -> Result<String> {
    let header = dir.join("include/mbedtls/build_info.h");
    let text = fs::read_to_string(&header).with_context(|| header.display().to_string())?;
    let version = text
        .split_once("MBEDTLS_VERSION_STRING ")
        .and_then(|(_, rest)| rest.split('"').nth(1));
    match version {
        Some(version) if version.starts_with("3.6.") => Ok(version.to_owned()),
        other => bail!("this is not Mbed TLS 3.6: {other:?}"),
    }
}

/// The release of Debian whose archive has it.
const SUITE: &str = "trixie";
/// Where Debian keeps the keys of its archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

impl Source {
    /// Where its unpacked source is, or is to be.
    fn place(&self, workspace: &Workspace) -> PathBuf {
        let name = self.title.to_lowercase().replace(' ', "-");
        workspace.state().join(name).join(self.version)
    }

    /// The directory of the unpacked source, fetched if it is not there yet.
    ///
    /// # Errors
    /// When apt or the network fails; nothing is then left behind.
    pub fn fetch(&self, workspace: &Workspace) -> Result<PathBuf> {
        let place = self.place(workspace);
        once(&place, |partial| {
            setup::ensure(workspace, &[Need::DpkgSource])?;
            let work = tempfile::tempdir_in(workspace.state())?;
            let (title, version) = (self.title, self.version);
            let progress = Progress::start(&format!("fetching the source of {title} {version}"));
            self.download(work.path(), &progress).with_context(|| {
                format!(
                    "cannot fetch Debian's source package {} {version}. Check the network and \
                     apt's proxy{}",
                    self.package, self.otherwise
                )
            })?;
            // dpkg-source makes its directory itself, and copies archives
            // beside it.
            let tree = work.path().join("tree");
            self.unpack(work.path(), &tree, &progress)?;
            Ok(fs::rename(tree, partial)?)
        })?;
        Ok(place)
    }

    fn download(&self, work: &Path, progress: &Progress) -> Result<()> {
        if find("apt-get").is_none() {
            bail!("this machine has no apt-get");
        }
        let sites = sites()?;
        if sites.is_empty() {
            bail!("apt's sources on this machine name no archive of Debian");
        }
        let mut last = None;
        for site in sites {
            match self.download_from(&site, work, progress) {
                Ok(()) => return Ok(()),
                Err(error) => last = Some(error),
            }
        }
        last.map_or(Ok(()), Err)
    }

    fn download_from(&self, site: &str, work: &Path, progress: &Progress) -> Result<()> {
        for dir in ["lists/partial", "cache/archives/partial", "parts"] {
            fs::create_dir_all(work.join(dir))?;
        }
        let keys = if Path::new(KEYRING).is_file() {
            format!("[signed-by={KEYRING}] ")
        } else {
            String::new()
        };
        let sources = format!("deb-src {keys}{site} {SUITE} main\n");
        fs::write(work.join("sources.list"), sources)?;
        fs::write(work.join("apt.conf"), configuration(work))?;
        let apt = |arguments: &[&str]| {
            let mut command = Command::new("apt-get");
            command.arg("-c").arg(work.join("apt.conf")).args(arguments);
            command.env("LC_ALL", "C").current_dir(work);
            quietly(&mut command, &work.join("apt.log"), progress, watch)
        };
        apt(&["update"])?;
        let package = match self.dsc_sha256 {
            Some(_) => format!("{}={}", self.package, self.version),
            None => self.package.to_owned(),
        };
        apt(&["source", "--download-only", "--only-source", &package])
    }

    fn unpack(&self, work: &Path, place: &Path, progress: &Progress) -> Result<()> {
        let dsc = description(work).context("apt fetched no .dsc")?;
        if let Some(pinned) = self.dsc_sha256 {
            let found = hex(&Sha256::digest(fs::read(&dsc)?));
            if found != pinned {
                let name = dsc.file_name().unwrap_or_default().display();
                bail!("{name} has the SHA-256 {found}, and not {pinned}");
            }
        }
        let mut command = process::clean("dpkg-source");
        command.arg("-x").arg(&dsc).arg(place).current_dir(work);
        quietly(&mut command, &work.join("unpack.log"), progress, unwatched)?;
        (self.check)(place)
    }
}

/// The one source package's description in `dir`.
fn description(dir: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(dir).ok()?.filter_map(Result::ok);
    let mut paths = files.map(|entry| entry.path());
    paths.find(|path| path.extension().is_some_and(|ending| ending == "dsc"))
}

/// The archives of Debian that the machine's apt is set up with.
///
/// apt tells the origin of those whose lists it has fetched. Where it has
/// fetched none yet, the name of the release has to tell.
fn sites() -> Result<Vec<String>> {
    let format = "$(SITE)|$(RELEASE)|$(ORIGIN)";
    let mut sites = Vec::new();
    for more in [None, Some("--no-release-info")] {
        let mut command = Command::new("apt-get");
        command
            .args(["indextargets", "--format", format])
            .args(more);
        sites = parse_sites(&process::output(&mut command)?);
        if !sites.is_empty() {
            break;
        }
    }
    Ok(sites)
}

fn parse_sites(said: &str) -> Vec<String> {
    const CODENAMES: [&str; 6] = ["bullseye", "bookworm", "trixie", "forky", "duke", "sid"];
    let mut sites: Vec<String> = Vec::new();
    for line in said.lines() {
        let mut fields = line.split('|');
        let (Some(site), Some(release), Some(origin)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        // Updates and security have archives of their own, without SUITE.
        let debian = match origin {
            "Debian" => !release.contains('-') && !release.contains('/'),
            "" | "$(ORIGIN)" => CODENAMES.contains(&release),
            _ => false,
        };
        if debian && !sites.iter().any(|s| s == site) {
            sites.push(site.to_owned());
        }
    }
    sites
}

/// apt's settings for state of our own. It is read after the machine's, so
/// that it wins, and so that hooks of the machine's updates can be cleared.
fn configuration(work: &Path) -> String {
    let work = work.display();
    format!(
        "Dir::State::Lists \"{work}/lists\";\n\
         Dir::Etc::SourceList \"{work}/sources.list\";\n\
         Dir::Etc::SourceParts \"/dev/null\";\n\
         Dir::Cache \"{work}/cache\";\n\
         Dir::Cache::pkgcache \"\";\n\
         Dir::Cache::srcpkgcache \"\";\n\
         APT::Sandbox::User \"root\";\n\
         APT::Status-Fd \"1\";\n\
         APT::Update::Error-Mode \"any\";\n\
         Acquire::Languages \"none\";\n\
         Acquire::Retries \"2\";\n\
         Acquire::http::Timeout \"30\";\n\
         Acquire::https::Timeout \"30\";\n\
         #clear APT::Update::Pre-Invoke;\n\
         #clear APT::Update::Post-Invoke;\n\
         #clear APT::Update::Post-Invoke-Success;\n"
    )
}

/// apt's status lines: `dlstatus:ITEM:PERCENT:WHAT`.
fn watch(line: &str, progress: &Progress) -> bool {
    let mut fields = line.split(':');
    if fields.next() != Some("dlstatus") {
        return true;
    }
    if let Some(Ok(percent)) = fields.nth(1).map(str::parse) {
        progress.percent(percent);
    }
    false
}

/// `bytes` in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_archives_of_debian_are_asked() {
        let said = "http://one/debian|bookworm|Debian\n\
                    http://one/debian|bookworm|Debian\n\
                    http://one/security|bookworm-security|Debian\n\
                    http://other/tools|stable|Tools\n\
                    http://two/ubuntu|noble|Ubuntu\n";
        assert_eq!(parse_sites(said), ["http://one/debian"]);
        assert_eq!(parse_sites("http://x|stable|Debian\n"), ["http://x"]);
        assert_eq!(parse_sites("http://x|trixie|$(ORIGIN)\n"), ["http://x"]);
        assert!(parse_sites("http://x|stable|$(ORIGIN)\n").is_empty());
        assert_eq!(
            parse_sites("http://x|trixie|\nhttp://y|jammy|\n"),
            ["http://x"]
        );
        assert!(parse_sites("").is_empty());
    }
}
