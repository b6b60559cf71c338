//! An arm64 Linux system with KVM that runs the payload as its guest.
//!
//! The Debian kernel includes KVM and runs at EL2, which QEMU emulates. README.md explains what
//! such a run shows.
//!
//! ```text
//! host (any)           qemu-system-aarch64 -M virt,virtualization=on
//!   Linux at EL2         /init (init/)        
//!     VMM                  Debian's qemu-system-aarch64 -accel kvm, or /init vmm
//!       guest at EL1         the payload
//! ```
//!
//! The kernel and the Debian QEMU for arm64, with its libraries, are fetched once (`packages`).
//! Files that differ between runs are appended to the initial file system as a second archive
//! (`initramfs`). Linux unpacks both archives into one file system.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use boards::GicVersion;
use follow::stream::{self, TIMEOUT_MAX_S};
use host::{process, read_file};
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use crate::initramfs::{FILE, PROGRAM, archive};

/// The CPU model with the fastest emulation of EL2. It has VHE and a cheap pointer authentication
/// algorithm, which the architecture leaves IMPLEMENTATION DEFINED.
pub const CPU: &str = "max,pauth-impdef=on";
/// The default number of CPUs for the guest and for its Linux host.
pub const CPUS: u32 = 2;
/// How long the VMM may take to exit after the guest's last line. On a busy host, the exit takes
/// several seconds.
pub const LINGER: Duration = Duration::from_secs(30);
/// The name of the payload in the initial file system.
pub const IMAGE: &str = "payload";
/// The prefix of each line from `/init`.
const MARK: &str = "kvm-host: ";
/// The start of the line that reports how the VMM exited.
const ENDED: &str = "the VMM ended ";

/// The files for an emulated Linux host with KVM.
#[derive(Clone, Debug)]
pub struct KvmHost {
    kernel: PathBuf,
    /// The constant part of the initial file system.
    base: PathBuf,
    init: PathBuf,
}

impl KvmHost {
    /// Fetches missing files, and builds `/init` if it is out of date.
    pub fn ready(workspace: &Workspace) -> Result<Self> {
        let (kernel, base) = crate::packages::fetch(workspace)?;
        let init = build(workspace)?;
        Ok(Self { kernel, base, init })
    }

    /// Returns the initial file system with the named `files` and the command that starts the VMM.
    pub fn initramfs(&self, vmm: &[String], files: &[(&str, &[u8])]) -> Result<Vec<u8>> {
        if let Some(word) = vmm.iter().find(|word| word.contains('\n')) {
            bail!("{word:?}: must be a single line");
        }
        let init = read_file::read_own(&self.init)?;
        let command = vmm.join("\n");
        let mut entries = vec![("init", PROGRAM, &*init), ("vmm", FILE, command.as_bytes())];
        entries.extend(files.iter().map(|(name, bytes)| (*name, FILE, *bytes)));
        archive(read_file::read_own(&self.base)?, &entries)
    }

    /// Returns the QEMU arguments that start the kernel, except `-initrd`.
    pub fn arguments(&self) -> [OsString; 4] {
        // With these options, Linux prints messages only when something fails, and reboots on a
        // panic, which makes QEMU exit.
        let append = ["-append", "console=ttyAMA0 quiet panic=-1"].map(OsString::from);
        let [append, arguments] = append;
        [
            "-kernel".into(),
            self.kernel.clone().into(),
            append,
            arguments,
        ]
    }
}

/// Returns the command that starts the Debian QEMU as the VMM, with a machine like the one for the
/// `qemu` board. `args` are the boot arguments for the device tree that QEMU generates if the image
/// has none.
pub fn qemu_command(gic: GicVersion, cpus: u32, args: Option<&str>) -> Vec<String> {
    let machine = format!("virt,gic-version={}", gic.number());
    let cpus = cpus.to_string();
    let image = format!("/{IMAGE}");
    let mut words = vec!["/usr/bin/qemu-system-aarch64", "-accel", "kvm"];
    words.extend(["-M", &machine, "-cpu", "host", "-smp", &cpus, "-m", "128"]);
    words.extend(["-nodefaults", "-display", "none", "-serial", "stdio"]);
    words.extend(["-no-reboot", "-kernel", &image]);
    words.extend(args.iter().flat_map(|args| ["-append", args]));
    words.into_iter().map(str::to_owned).collect()
}

/// Returns the timeout for a guest. `without` is the timeout for the same run without KVM. Each
/// guest exit takes hundreds of instructions in the host kernel, which QEMU emulates.
pub fn guest_timeout(without: Duration) -> Duration {
    without
        .saturating_mul(5)
        .min(Duration::from_secs(TIMEOUT_MAX_S))
}

/// Returns how the VMM exited, as printed by `/init`, or None if the line is missing.
pub fn find_exit(log: &str) -> Option<&str> {
    lines(log).find_map(|line| line.strip_prefix(ENDED))
}

/// Returns how the VMM exited, unless it exited with code 0 after the guest's last line.
pub fn find_failure(log: &[u8]) -> Option<String> {
    stream::find_verdict(log)?;
    let log = String::from_utf8_lossy(log);
    let end = find_exit(&log).filter(|ending| *ending != "with exit code 0");
    end.map(str::to_owned)
}

/// Returns the last line from `/init`.
pub fn last_words(log: &str) -> Option<&str> {
    lines(log).last()
}

fn lines(log: &str) -> impl Iterator<Item = &str> {
    log.lines()
        .filter_map(|line| line.trim_end().strip_prefix(MARK))
}

/// Builds `/init` and returns its path.
pub fn build(workspace: &Workspace) -> Result<PathBuf> {
    setup::ensure(workspace, &[Need::LinuxTarget])?;
    let package = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/init"));
    let mut command = process::cargo();
    command.args(["build", "--quiet", "--release", "--locked"]);
    command.args(["--target", setup::LINUX_TARGET, "--target-dir"]);
    command.arg(&workspace.target).current_dir(&package);
    // The user's RUSTFLAGS are meant for other programs. With Rust's own linker and startup code,
    // no cross compiler is needed.
    command.env_remove("RUSTFLAGS");
    command.env("CARGO_ENCODED_RUSTFLAGS", "-Clinker=rust-lld");
    let log = workspace.state().join("kvm-host.log");
    process::run_step("building kvm-host", &mut command, &log)?;
    let target = workspace.target.join(setup::LINUX_TARGET);
    Ok(target.join("release").join("kvm-host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_process_1() {
        let log = "psci-bench: PASS (1 passed, 0 skipped, 0 failed; \
                   0 rows skipped, 0 CPUs lost)\r\n\
                   kvm-host: the VMM ended with exit code 0\r\n\
                   [    1.0] reboot: Power down\r\n";
        assert_eq!(last_words(log), Some("the VMM ended with exit code 0"));
        assert_eq!(find_failure(log.as_bytes()), None);
        let killed = log.replace("with exit code 0", "by signal 6");
        assert_eq!(
            find_failure(killed.as_bytes()).as_deref(),
            Some("by signal 6")
        );
        let none = "kvm-host: Linux 6\r\nkvm-host: KVM is not available: /dev/kvm: missing\r\n";
        assert_eq!(find_exit(none), None);
        assert_eq!(
            last_words(none),
            Some("KVM is not available: /dev/kvm: missing")
        );
        assert_eq!(last_words("xkvm-host: 1\n"), None);
    }
}
