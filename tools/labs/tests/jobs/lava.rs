//! The LAVA dispatcher, which runs the generated jobs.
//!
//! Debian 12 has a package for the dispatcher, but later releases do not. Installing this package
//! would add a service, kernel headers and a daemon. `lava-run`, which runs one job without a
//! server, needs none of these. `lava-run` is unpacked from Debian packages, and a virtual
//! environment contains the Python packages that it imports.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use host::places::make_once;
use runner::setup::apt::{self, Apt, Archive, BOOKWORM};
use runner::setup::need::{PythonEnvironment, Source};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

/// What `lava-run` imports, in mutually compatible versions.
const IMPORTS: PythonEnvironment = PythonEnvironment {
    name: "lava-dispatcher",
    version: "2023.01-2",
    packages: &[
        "aiohttp==3.14.5",
        "configobj==5.0.9",
        "jinja2==3.1.6",
        "pexpect==4.9.0",
        "python-magic==0.4.27",
        "pytz==2026.6",
        "pyudev==0.24.5",
        "pyyaml==6.0.3",
        "requests==2.34.2",
        "setproctitle==1.3.8",
        "voluptuous==0.16.0",
    ],
};

const ARCHIVE: Archive = Archive::packages(BOOKWORM);
/// The packages that contain `lava-run` and the server's device templates.
const PACKAGES: &str = "lava-common lava-dispatcher lava-dispatcher-host lava-server";
/// Modules that `lava-run` imports but that these jobs never use. Empty files replace them.
const STUBS: [&str; 2] = ["guestfs", "netifaces"];

/// The script that starts `lava-run`, which needs root and writes to /var/lib/lava. If the kernel
/// allows a mount namespace, the script provides a separate /var/lib.
const WRAPPER: &str = include_str!("lava-run.sh");

/// The dispatcher, with its Python packages and templates.
#[derive(Clone, Debug)]
pub struct Lava {
    root: PathBuf,
}

impl Lava {
    /// Installs the dispatcher in `target/` unless it is there.
    pub fn install(workspace: &Workspace) -> Result<Self> {
        let imports = [Need::Tool(Source::Python(IMPORTS))];
        setup::check_no_install(workspace, &imports)?;
        if !IMPORTS.is_there(workspace) {
            unpack(workspace)?;
        }
        setup::ensure(workspace, &imports)?;
        let root = IMPORTS.root(workspace);
        Ok(Self { root })
    }

    /// Returns the path of a program with the same command line as `lava-run`.
    pub fn run(&self) -> PathBuf {
        self.root.join("lava-run")
    }

    /// Returns the path of a Python that has jinja2 and PyYAML.
    pub fn python(&self) -> PathBuf {
        self.root.join("venv/bin/python")
    }

    /// Returns the folder that contains the server's device templates.
    pub fn device_types(&self) -> PathBuf {
        self.root.join("root/usr/share/lava-server/device-types")
    }

    /// Returns the LAVA checker for jobs and device dictionaries: a command that takes `job` or
    /// `device` and a file.
    pub fn schema(&self) -> Command {
        let mut command = Command::new(self.python());
        command.arg(self.root.join("root/usr/share/lava-common/lava-schema.py"));
        let modules = self.root.join("root/usr/lib/python3/dist-packages");
        command.env("PYTHONPATH", modules);
        command
    }
}

/// Fetches and unpacks the Debian packages, and writes the files that they need apart from the
/// virtual environment.
fn unpack(workspace: &Workspace) -> Result<()> {
    let root = IMPORTS.root(workspace);
    fs::create_dir_all(&root)?;
    make_once(&root.join("root"), |partial_folder| {
        let wanted: Vec<String> = PACKAGES
            .split(' ')
            .map(|package| format!("{package}={}", IMPORTS.version))
            .collect();
        let mut words = vec!["download"];
        words.extend(wanted.iter().map(String::as_str));
        let get = |apt: &Apt<'_>| apt.get(&words);
        apt::fetch_into(
            partial_folder,
            workspace,
            "fetching LAVA's dispatcher",
            &ARCHIVE,
            get,
        )
        .with_context(|| format!("cannot fetch the Debian packages {PACKAGES}"))
    })?;
    let stubs = root.join("stubs");
    fs::create_dir_all(&stubs)?;
    for stub in STUBS {
        fs::write(stubs.join(format!("{stub}.py")), "")?;
    }
    // Without this file, `lava-run` looks up this machine's address, which no job uses.
    fs::write(root.join("dispatcher.yaml"), "dispatcher_ip: 127.0.0.1\n")?;
    let wrapper = root.join("lava-run");
    fs::write(&wrapper, WRAPPER)?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
