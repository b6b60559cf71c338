//! TF-A's source, as Debian's source package.
//!
//! The machine's own apt client fetches it, with state of its own below
//! `target/`: the user's package lists and sources stay as they are, and
//! mirrors, proxies and keys are the ones that the machine is set up with.
//! apt verifies what it fetches down from the archive's signature; on top of
//! that the package's description is pinned here by its hash.

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

/// The source package.
pub const PACKAGE: &str = "arm-trusted-firmware";
/// Its version, which Debian 13 has.
pub const VERSION: &str = "2.12.1+dfsg-1";
/// The upstream tag with the same content (but for vendors' binaries).
pub const UPSTREAM_TAG: &str = "v2.12.1";
/// The release of Debian whose archive has it.
const SUITE: &str = "trixie";
/// SHA-256 of `arm-trusted-firmware_2.12.1+dfsg-1.dsc`, which has the hashes
/// of all the rest; dpkg-source compares them.
const DSC_SHA256: &str = "1b10c0f421eb994c23b4f7fafe18f8e6b65eb70fd4195b49e40611beafcedc26";
/// Where Debian keeps the keys of its archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// The directory of the unpacked source, fetched if it is not there yet.
///
/// # Errors
/// When apt or the network fails; nothing is then left behind.
pub fn fetch(workspace: &Workspace) -> Result<PathBuf> {
    let place = workspace.state().join("tf-a").join(VERSION);
    once(&place, |partial| {
        setup::ensure(workspace, &[Need::DpkgSource])?;
        let work = tempfile::tempdir_in(workspace.state())?;
        let progress = Progress::start(&format!("fetching the source of TF-A {VERSION}"));
        download(work.path(), &progress).with_context(|| {
            format!(
                "cannot fetch Debian's source package {PACKAGE} {VERSION}. Check the network and \
                 apt's proxy, or check out the tag {UPSTREAM_TAG} of Trusted Firmware-A and pass \
                 its directory by --tf-a"
            )
        })?;
        // dpkg-source makes its directory itself, and copies archives beside it.
        let tree = work.path().join("tree");
        unpack(work.path(), &tree, &progress)?;
        Ok(fs::rename(tree, partial)?)
    })?;
    Ok(place)
}

fn download(work: &Path, progress: &Progress) -> Result<()> {
    if find("apt-get").is_none() {
        bail!("this machine has no apt-get");
    }
    let sites = sites()?;
    if sites.is_empty() {
        bail!("apt's sources on this machine name no archive of Debian");
    }
    let mut last = None;
    for site in sites {
        match download_from(&site, work, progress) {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    last.map_or(Ok(()), Err)
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

fn download_from(site: &str, work: &Path, progress: &Progress) -> Result<()> {
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
    let package = format!("{PACKAGE}={VERSION}");
    apt(&["source", "--download-only", "--only-source", &package])
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

fn unpack(work: &Path, place: &Path, progress: &Progress) -> Result<()> {
    let dsc = work.join(format!("{PACKAGE}_{VERSION}.dsc"));
    let found = hex(&Sha256::digest(
        fs::read(&dsc).context("apt fetched no .dsc")?,
    ));
    if found != DSC_SHA256 {
        bail!("{PACKAGE}_{VERSION}.dsc has the SHA-256 {found}, and not {DSC_SHA256}");
    }
    let mut command = process::clean("dpkg-source");
    command.arg("-x").arg(&dsc).arg(place).current_dir(work);
    quietly(&mut command, &work.join("unpack.log"), progress, unwatched)?;
    tf_a::version(place)?;
    Ok(())
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
