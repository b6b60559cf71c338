//! The machine's own apt client, with state of its own.
//!
//! What is fetched is not installed: it is material. The user's package lists
//! and sources stay as they are, below `target/` there are others, and
//! mirrors, proxies and keys are the ones that the machine is set up with.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};

use super::process::{self, find};
use super::progress::Progress;

/// The release of Debian whose archive is asked, unless it is said otherwise.
const SUITE: &str = "trixie";
/// Where Debian keeps the keys of its archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// What `fetch` gets from the first archive of Debian that it succeeds with.
///
/// # Errors
/// When there is no apt, or none of its archives does: the last one's.
pub(crate) fn from_any_site<T>(fetch: impl Fn(&str) -> Result<T>) -> Result<T> {
    if find("apt-get").is_none() {
        bail!("this machine has no apt-get");
    }
    let mut last = anyhow!("apt's sources on this machine name no archive of Debian");
    for site in sites()? {
        match fetch(&site) {
            Ok(fetched) => return Ok(fetched),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// apt with state of its own.
pub(crate) struct Apt<'w> {
    work: &'w Path,
}

impl<'w> Apt<'w> {
    /// With its state in `work`, and `site` as its only source: of the `kind`
    /// and with the `options` that sources.list has. `settings` come behind
    /// the ones that every use has.
    pub(crate) fn new(
        work: &'w Path,
        kind: &str,
        options: &str,
        site: &str,
        settings: &str,
    ) -> Result<Self> {
        Self::of_suite(SUITE, work, kind, options, site, settings)
    }

    /// The same, of another release of Debian.
    pub(crate) fn of_suite(
        suite: &str,
        work: &'w Path,
        kind: &str,
        options: &str,
        site: &str,
        settings: &str,
    ) -> Result<Self> {
        for dir in ["lists/partial", "cache/archives/partial", "parts"] {
            fs::create_dir_all(work.join(dir))?;
        }
        let keys = if Path::new(KEYRING).is_file() {
            format!("signed-by={KEYRING}")
        } else {
            String::new()
        };
        let options = match format!("{options} {keys}").trim() {
            "" => String::new(),
            options => format!("[{options}] "),
        };
        let sources = format!("{kind} {options}{site} {suite} main\n");
        fs::write(work.join("sources.list"), sources)?;
        fs::write(work.join("apt.conf"), configuration(work) + settings)?;
        Ok(Self { work })
    }

    /// The same for binary packages of a machine of `architecture`, on which
    /// nothing is installed.
    pub(crate) fn foreign(work: &'w Path, site: &str, architecture: &str) -> Result<Self> {
        let status = work.join("status");
        fs::write(&status, "")?;
        let settings = format!(
            "APT::Architecture \"{architecture}\";\n\
             #clear APT::Architectures;\n\
             APT::Architectures {{ \"{architecture}\"; }};\n\
             Dir::State::status \"{}\";\n",
            status.display()
        );
        Self::new(
            work,
            "deb",
            &format!("arch={architecture}"),
            site,
            &settings,
        )
    }

    /// Name and version of the package that `meta` stands for: the archive
    /// keeps no other version of it, and has no lasting name for it.
    pub(crate) fn resolve(&self, meta: &str) -> Result<(String, String)> {
        let show = ["show", "--no-all-versions", meta];
        let said = process::output(&mut self.command("apt-cache", &show))?;
        let (name, version) = parse_dependency(&said)
            .with_context(|| format!("{meta} depends on no package of one version:\n{said}"))?;
        Ok((name.to_owned(), version.to_owned()))
    }

    /// `program`, one of apt's, with `arguments`.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        let configuration = self.work.join("apt.conf");
        command.arg("-c").arg(configuration).args(arguments);
        command.env("LC_ALL", "C").current_dir(self.work);
        command
    }
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

/// Name and version in `Depends: NAME (= VERSION)`.
fn parse_dependency(said: &str) -> Option<(&str, &str)> {
    let depends = said
        .lines()
        .find_map(|line| line.strip_prefix("Depends: "))?;
    let (name, rest) = depends.split_once(" (= ")?;
    Some((name, rest.split_once(')')?.0))
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
pub(crate) fn watch(line: &str, progress: &Progress) -> bool {
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
