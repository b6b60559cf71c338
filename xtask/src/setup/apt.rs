//! The machine's own apt client, with state of its own.
//!
//! Packages are fetched, and not installed. apt gets package lists and sources of its own below
//! `target/`, so that the user's stay unchanged; mirrors, proxies and keys are the machine's.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use host::process;
use itertools::Itertools as _;

/// The archive of one release of Debian: `deb-src` for source packages or `deb` for others,
/// the suite, and the architecture if it is not this machine's.
pub(crate) struct Archive(pub &'static str, pub &'static str, pub Option<&'static str>);

pub(crate) const SOURCES: Archive = Archive("deb-src", "trixie", None);
pub(crate) const ARM64: Archive = Archive("deb", "trixie", Some("arm64"));

/// The file in which Debian keeps the keys of its archive.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

const SETTINGS: &str = "\
Dir::Etc::SourceParts \"/dev/null\";
Dir::Cache::pkgcache \"\";
Dir::Cache::srcpkgcache \"\";
APT::Sandbox::User \"root\";
APT::Update::Error-Mode \"any\";
Acquire::Languages \"none\";
Acquire::Retries \"2\";
Acquire::http::Timeout \"30\";
Acquire::https::Timeout \"30\";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
";

/// Calls `fetch`, which fetches to the folder `work`, with one site of the machine's apt after
/// the other until it succeeds: a site that is not Debian's has not this suite, or other keys.
pub(crate) fn fetch<T>(
    work: &Path,
    archive: &Archive,
    fetch: impl Fn(&Apt<'_>) -> Result<T>,
) -> Result<T> {
    let mut list = Command::new("apt-get");
    list.args(["indextargets", "--no-release-info", "--format", "$(SITE)"]);
    let sites = process::output(&mut list)?;
    let apt = Apt { work };
    let mut last = anyhow!("apt has no sources on this machine");
    for site in sites.lines().unique() {
        apt.configure(archive, site)?;
        match apt.get(&["update"]).and_then(|()| fetch(&apt)) {
            Ok(fetched) => return Ok(fetched),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Unpacks all packages that were fetched to the folder `work` into the folder `root`.
pub(crate) fn unpack(work: &Path, root: &Path) -> Result<()> {
    for dir in [work, &work.join("cache/archives")] {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "deb") {
                process::output(process::clean("dpkg-deb").arg("-x").arg(path).arg(root))?;
            }
        }
    }
    Ok(())
}

/// apt with its state in a folder.
pub(crate) struct Apt<'w> {
    work: &'w Path,
}

impl Apt<'_> {
    /// Writes the configuration with `site` as the only source. apt reads it after the
    /// machine's, so that it wins and can clear hooks of the machine's updates.
    fn configure(&self, archive: &Archive, site: &str) -> Result<()> {
        let work = self.work.display();
        for dir in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(self.work.join(dir))?;
        }
        let Archive(kind, suite, foreign) = archive;
        let mut options = String::new();
        let mut settings = format!(
            "Dir::State::Lists \"{work}/lists\";\n\
             Dir::Etc::SourceList \"{work}/sources.list\";\n\
             Dir::Cache \"{work}/cache\";\n{SETTINGS}"
        );
        if let Some(architecture) = foreign {
            // Nothing is installed on a machine of that architecture.
            fs::write(self.work.join("status"), "")?;
            options += &format!("arch={architecture} ");
            settings += &format!(
                "APT::Architecture \"{architecture}\";\n\
                 #clear APT::Architectures;\n\
                 APT::Architectures {{ \"{architecture}\"; }};\n\
                 Dir::State::status \"{work}/status\";\n"
            );
        }
        if Path::new(KEYRING).is_file() {
            options += &format!("signed-by={KEYRING} ");
        }
        if !options.is_empty() {
            options = format!("[ {options}] ");
        }
        let sources = format!("{kind} {options}{site} {suite} main\n");
        fs::write(self.work.join("sources.list"), sources)?;
        Ok(fs::write(self.work.join("apt.conf"), settings)?)
    }

    pub(crate) fn get(&self, arguments: &[&str]) -> Result<()> {
        let log = self.work.with_file_name("apt-get.log");
        process::run("", &mut self.command("apt-get", arguments), &log)
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

/// Returns name and version in `Depends: NAME (= VERSION)`.
fn parse_dependency(said: &str) -> Option<(&str, &str)> {
    let depends = said.lines().find_map(|it| it.strip_prefix("Depends: "))?;
    let (name, rest) = depends.split_once(" (= ")?;
    Some((name, rest.split_once(')')?.0))
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
}
