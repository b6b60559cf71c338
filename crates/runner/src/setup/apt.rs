//! Uses the machine's apt, but keeps its state separate.
//!
//! Packages are fetched but not installed. apt uses separate package lists and sources below
//! `target/`, so the user's own lists and sources remain unchanged. Mirrors, proxies and keys come
//! from the machine configuration.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use host::process;
use host::progress::StepProgress;
use itertools::Itertools as _;

use super::scratch::Scratch;
use super::workspace::Workspace;

/// The archive of a Debian release.
pub struct Archive {
    /// `deb-src` for source packages, `deb` for others.
    pub kind: &'static str,
    /// The Debian release.
    pub suite: &'static str,
    /// The architecture, if it differs from that of this machine.
    pub architecture: Option<&'static str>,
}

impl Archive {
    /// Returns the archive of packages for this machine.
    pub const fn packages(suite: &'static str) -> Self {
        Self {
            kind: "deb",
            suite,
            architecture: None,
        }
    }
}

/// Debian 12.
pub const BOOKWORM: &str = "bookworm";
/// Debian 13.
pub(crate) const TRIXIE: &str = "trixie";

/// The archive for arm64, on a host of any architecture.
pub const ARM64: Archive = Archive {
    architecture: Some("arm64"),
    ..Archive::packages(TRIXIE)
};

/// The file in which Debian stores its archive keys.
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

/// Calls `fetch` for each site in the machine's apt configuration in turn, until a call succeeds.
/// `fetch` downloads into the `work` folder. Sites other than Debian's own may not have this suite,
/// or may use different keys.
pub fn fetch<T>(
    work: &Path,
    archive: &Archive,
    fetch: impl Fn(&Apt<'_>) -> Result<T>,
) -> Result<T> {
    let mut list = Command::new("apt-get");
    list.args(["indextargets", "--no-release-info", "--format", "$(SITE)"]);
    let sites = process::output(&mut list)?;
    let apt = Apt { work };
    let mut last = anyhow!("apt has no package sources on this machine");
    for site in sites.lines().unique() {
        apt.configure(archive, site)?;
        match apt.get(&["update"]).and_then(|()| fetch(&apt)) {
            Ok(fetched) => return Ok(fetched),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Downloads packages by calling `download` for each site in the machine's apt configuration in
/// turn, until a call succeeds, and unpacks them into `root`. `step` is the progress line.
pub fn fetch_into<T>(
    root: &Path,
    workspace: &Workspace,
    step: &str,
    archive: &Archive,
    download: impl Fn(&Apt<'_>) -> Result<T>,
) -> Result<T> {
    let work = Scratch::new(workspace)?;
    let _progress = StepProgress::start(step);
    let downloaded = fetch(work.path(), archive, download)?;
    unpack(work.path(), root)?;
    Ok(downloaded)
}

/// Unpacks all packages in `work` into `root`.
pub fn unpack(work: &Path, root: &Path) -> Result<()> {
    for dir in [work, &work.join("cache/archives")] {
        for entry in fs::read_dir(dir)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "deb") {
                process::output(
                    process::minimal_command("dpkg-deb")
                        .arg("-x")
                        .arg(path)
                        .arg(root),
                )?;
            }
        }
    }
    Ok(())
}

/// apt with its state in a separate folder.
pub struct Apt<'w> {
    work: &'w Path,
}

impl Apt<'_> {
    /// Writes the configuration with `site` as the only source. apt reads it after the machine
    /// configuration, so it takes precedence and can clear hooks that run after updates.
    fn configure(&self, archive: &Archive, site: &str) -> Result<()> {
        let work = self.work.display();
        for dir in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(self.work.join(dir))?;
        }
        let Archive {
            kind,
            suite,
            architecture,
        } = archive;
        let mut options = String::new();
        let mut settings = format!(
            "Dir::State::Lists \"{work}/lists\";\n\
             Dir::Etc::SourceList \"{work}/sources.list\";\n\
             Dir::Cache \"{work}/cache\";\n{SETTINGS}"
        );
        if let Some(architecture) = architecture {
            // No packages of that architecture are installed on this machine.
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

    /// Runs apt-get with `arguments`, in this archive.
    pub fn get(&self, arguments: &[&str]) -> Result<()> {
        let log = self.work.with_file_name("apt-get.log");
        process::run_quietly(&mut self.command("apt-get", arguments), &log)
    }

    /// Downloads the package that `meta` depends on, and returns `NAME VERSION`. The name
    /// and the version change with the archive, so they cannot be pinned here.
    pub fn download_dependency(&self, meta: &str) -> Result<String> {
        let show = ["show", "--no-all-versions", meta];
        let printed = process::output(&mut self.command("apt-cache", &show))?;
        let (name, version) = parse_dependency(&printed).with_context(|| {
            format!("{meta} does not depend on exactly one package version:\n{printed}")
        })?;
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

/// Parses the name and version from `Depends: NAME (= VERSION)`.
fn parse_dependency(output: &str) -> Option<(&str, &str)> {
    let depends = output
        .lines()
        .find_map(|line| line.strip_prefix("Depends: "))?;
    let (name, rest) = depends.split_once(" (= ")?;
    Some((name, rest.split_once(')')?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_that_is_depended_on() {
        let output = "Package: linux-image-arm64\n\
                    Depends: linux-image-6.12.1+deb13-arm64 (= 6.12.1-1)\n";
        let expected = ("linux-image-6.12.1+deb13-arm64", "6.12.1-1");
        assert_eq!(parse_dependency(output), Some(expected));
        assert_eq!(parse_dependency("Depends: linux-image\n"), None);
        assert_eq!(parse_dependency(""), None);
    }
}
