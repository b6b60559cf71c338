//! Debian packages: a kernel with KVM, and QEMU for arm64 with the libraries that it loads. They
//! are fetched and unpacked, but not installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use host::progress::StepProgress;
use object::Object;
use runner::setup::apt;
use runner::setup::scratch::Scratch;
use runner::setup::sealed_folder::sealed_folder;
use runner::setup::workspace::Workspace;

use super::initramfs::{CONSOLE, DIRECTORY, PROGRAM as MODE, archive};

/// The package that depends on the current kernel package. This kernel is intended for virtual
/// machines and has all the drivers that they need built in.
pub const KERNEL: &str = "linux-image-cloud-arm64";
const QEMU: &str = "qemu-system-arm";
const PROGRAM: &str = "usr/bin/qemu-system-aarch64";
const LIBRARIES: &str = "usr/lib/aarch64-linux-gnu";
/// The dynamic loader that QEMU's program headers specify.
const LOADER: &str = "ld-linux-aarch64.so.1";

/// Fetches the packages unless they are already present. Returns the kernel, and an initial file
/// system that contains QEMU but no `/init`.
pub fn fetch(workspace: &Workspace) -> Result<(PathBuf, PathBuf)> {
    let place = workspace.state().join("kvm-host");
    sealed_folder(&place, |partial_folder| {
        let work = Scratch::new(workspace)?;
        let what = "fetching the Debian kernel and QEMU for arm64, 62 MB";
        let _progress = StepProgress::start(what);
        let downloaded = download(work.path()).with_context(|| {
            format!(
                "cannot fetch the Debian packages {KERNEL} and {QEMU} for arm64, from which \
                 the payload's Linux host with KVM is built. Check the network and the apt proxy"
            )
        })?;
        let root = work.path().join("root");
        fs::create_dir(&root)?;
        apt::unpack(work.path(), &root)?;
        fs::copy(kernel(&root)?, partial_folder.join("Image"))?;
        fs::write(partial_folder.join("base.cpio"), base(&root)?)?;
        Ok(fs::write(partial_folder.join("packages"), downloaded)?)
    })?;
    Ok((place.join("Image"), place.join("base.cpio")))
}

fn download(work: &Path) -> Result<String> {
    apt::fetch(work, &apt::ARM64, |apt| {
        // Skip the kernel's dependencies, which only installed systems need.
        let kernel = apt.download_dependency(KERNEL)?;
        let install = ["install", "--download-only", "-y"];
        apt.get(&[&install[..], &["--no-install-recommends", QEMU]].concat())?;
        Ok(format!("{kernel}\n"))
    })
}

fn kernel(root: &Path) -> Result<PathBuf> {
    let boot = root.join("boot");
    let entries = fs::read_dir(&boot).with_context(|| format!("{KERNEL} has no /boot"))?;
    let mut names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    let kernel = names.find(|name| name.to_string_lossy().starts_with("vmlinuz-"));
    Ok(boot.join(kernel.with_context(|| format!("{KERNEL} contains no kernel"))?))
}

fn base(root: &Path) -> Result<Vec<u8>> {
    let qemu = fs::read(root.join(PROGRAM)).with_context(|| format!("{QEMU} has no {PROGRAM}"))?;
    let directory = root.join(LIBRARIES);
    let libraries = closure(&qemu, |name| {
        let path = directory.join(name);
        fs::read(&path).with_context(|| format!("{QEMU} lacks {name}, which it needs"))
    })?;
    let paths: Vec<String> = libraries
        .keys()
        .map(|name| format!("{LIBRARIES}/{name}"))
        .collect();
    let directories = ["dev", "lib", "proc", "usr", "usr/bin", "usr/lib", LIBRARIES];
    let mut entries = directories.map(|name| (name, DIRECTORY, &b""[..])).to_vec();
    entries.extend([("dev/console", CONSOLE, &b""[..]), (PROGRAM, MODE, &qemu)]);
    let programs = paths.iter().zip(libraries.values());
    entries.extend(programs.map(|(path, bytes)| (path.as_str(), MODE, bytes.as_slice())));
    let loader = format!("lib/{LOADER}");
    if let Some(bytes) = libraries.get(LOADER) {
        entries.push((&loader, MODE, bytes));
    }
    archive(Vec::new(), &entries)
}

/// Returns all the libraries that a program loads, directly or indirectly, by name.
fn closure(
    program: &[u8],
    read: impl Fn(&str) -> Result<Vec<u8>>,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut wanted = needed(program).context(PROGRAM)?;
    wanted.push(LOADER.to_owned());
    while let Some(name) = wanted.pop() {
        if files.contains_key(&name) {
            continue;
        }
        let bytes = read(&name)?;
        wanted.extend(needed(&bytes).with_context(|| name.clone())?);
        files.insert(name, bytes);
    }
    Ok(files)
}

fn needed(elf: &[u8]) -> Result<Vec<String>> {
    let file = object::File::parse(elf)?;
    let libraries = file.import_libraries()?;
    libraries
        .map(|library| Ok(String::from_utf8_lossy(library?.name()).into_owned()))
        .collect()
}
