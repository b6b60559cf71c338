//! The machine's own apt client, with state of its own.
//!
//! Packages are fetched, and not installed. apt gets package lists and sources of its own below
//! `target/`, so that the user's stay unchanged; mirrors, proxies and keys are the machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use super::process::{self, find, quietly};
use super::progress::Progress;

/// The archive of one release of Debian.
pub(crate) struct Archive {
    /// `deb-src` for source packages, `deb` for others.
    pub kind: &'static str,
    pub suite: &'static str,
    /// The architecture, if it is not this machine's.
    pub foreign: Option<&'static str>,
}

pub(crate) const SOURCES: Archive = Archive {
    kind: "deb-src",
    suite: "trixie",
    foreign: None,
};

pub(crate) const ARM64: Archive = Archive {
    kind: "deb",
    suite: "trixie",
    foreign: Some("arm64"),
};

/// The file in which Debian keeps the keys of its archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Calls `fetch`, which fetches to the folder `work`, with one site of `archive` after the
/// other until it succeeds.
pub(crate) fn fetch<T>(
    work: &Path,
    progress: &Progress,
    archive: &Archive,
    fetch: impl Fn(&Apt<'_>) -> Result<T>,
) -> Result<T> {
    if find("apt-get").is_none() {
        bail!("this machine has no apt-get");
    }
    let apt = Apt { work, progress };
    let mut last = anyhow!("apt's sources on this machine name no archive of Debian");
    for site in sites()? {
        apt.configure(archive, &site)?;
        match apt.get(&["update"]).and_then(|()| fetch(&apt)) {
            Ok(fetched) => return Ok(fetched),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Returns the packages that were fetched to the folder `work`.
pub(crate) fn packages(work: &Path) -> Result<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for dir in [work.to_path_buf(), work.join("cache/archives")] {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "deb") {
                packages.push(path);
            }
        }
    }
    Ok(packages)
}

/// Unpacks all packages that were fetched to the folder `work` into the folder `root`.
pub(crate) fn unpack(work: &Path, root: &Path) -> Result<()> {
    for package in packages(work)? {
        let mut unpack = process::clean("dpkg-deb");
        process::output(unpack.arg("-x").arg(package).arg(root))?;
    }
    Ok(())
}

/// apt with its state in a folder.
pub(crate) struct Apt<'w> {
    work: &'w Path,
    progress: &'w Progress,
}

impl Apt<'_> {
    /// Writes the configuration with `site` as the only source.
    fn configure(&self, archive: &Archive, site: &str) -> Result<()> {
        let work = self.work;
        for dir in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(work.join(dir))?;
        }
        let mut options = Vec::new();
        let mut settings = configuration(work);
        if let Some(architecture) = archive.foreign {
            // Nothing is installed on a machine of that architecture.
            let status = work.join("status");
            fs::write(&status, "")?;
            options.push(format!("arch={architecture}"));
            settings += &format!(
                "APT::Architecture \"{architecture}\";\n\
                 #clear APT::Architectures;\n\
                 APT::Architectures {{ \"{architecture}\"; }};\n\
                 Dir::State::status \"{}\";\n",
                status.display()
            );
        }
        if Path::new(KEYRING).is_file() {
            options.push(format!("signed-by={KEYRING}"));
        }
        let options = match options.is_empty() {
            true => String::new(),
            false => format!("[{}] ", options.join(" ")),
        };
        let (kind, suite) = (archive.kind, archive.suite);
        let sources = format!("{kind} {options}{site} {suite} main\n");
        fs::write(work.join("sources.list"), sources)?;
        Ok(fs::write(work.join("apt.conf"), settings)?)
    }

    pub(crate) fn get(&self, arguments: &[&str]) -> Result<()> {
        let log = self.work.join("apt.log");
        let mut command = self.command("apt-get", arguments);
        quietly(&mut command, &log, self.progress, watch)
    }

    /// Downloads the package on which the package `meta` depends, and returns `NAME VERSION`.
    /// Both change with the archive, so that they cannot be given here.
    pub(crate) fn download_dependency(&self, meta: &str) -> Result<String> {
        let show = ["show", "--no-all-versions", meta];
        let printed = process::output(&mut self.command("apt-cache", &show))?;
        let (name, version) = parse_dependency(&printed)
            .with_context(|| format!("{meta} depends on no package of one version:\n{printed}"))?;
        self.get(&["download", &format!("{name}={version}")])?;
        Ok(format!("{name} {version}"))
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        let configuration = self.work.join("apt.conf");
        command.arg("-c").arg(configuration).args(arguments);
        command.env("LC_ALL", "C").current_dir(self.work);
        command
    }
}

/// Returns the sites of Debian's archive that the machine's apt is set up with.
///
/// apt prints the origin of a site only after it has fetched the site's lists; before that,
/// the name of the release decides.
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
        let [Some(site), Some(release), Some(origin)] = [0; 3].map(|_| fields.next()) else {
            continue;
        };
        // Updates and security have archives of their own, without the release's suite.
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

/// Returns name and version in `Depends: NAME (= VERSION)`.
fn parse_dependency(said: &str) -> Option<(&str, &str)> {
    let depends = said
        .lines()
        .find_map(|line| line.strip_prefix("Depends: "))?;
    let (name, rest) = depends.split_once(" (= ")?;
    Some((name, rest.split_once(')')?.0))
}

/// Returns apt's settings for state of its own. apt reads them after the machine's, so that
/// they win and can clear hooks of the machine's updates.
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

/// Reads apt's status lines: `dlstatus:ITEM:PERCENT:WHAT`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_that_is_depended_on() {
        let said = "Package: linux-image-arm64\n\
                    Depends: linux-image-6.12.1+deb13-arm64 (= 6.12.1-1)\n";
        let expected = ("linux-image-6.12.1+deb13-arm64", "6.12.1-1");
        assert_eq!(parse_dependency(said), Some(expected));
        assert_eq!(parse_dependency("Depends: linux-image\n"), None);
        assert_eq!(parse_dependency(""), None);
    }

    #[test]
    fn only_archives_of_debian_are_asked() {
        let one = "http://one/debian|bookworm|Debian\n\
                   http://one/debian|bookworm|Debian\n\
                   http://one/security|bookworm-security|Debian\n\
                   http://other/tools|stable|Tools\n\
                   http://two/ubuntu|noble|Ubuntu\n";
        for (said, expected) in [
            (one, &["http://one/debian"][..]),
            ("http://x|stable|Debian\n", &["http://x"]),
            ("http://x|trixie|$(ORIGIN)\n", &["http://x"]),
            ("http://x|stable|$(ORIGIN)\n", &[]),
            ("http://x|trixie|\nhttp://y|jammy|\n", &["http://x"]),
            ("", &[]),
        ] {
            assert_eq!(parse_sites(said), expected);
        }
    }
}
