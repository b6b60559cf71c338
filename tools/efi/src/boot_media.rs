//! Boot media that EFI starts the application from.

use std::fs;

use anyhow::Result;
use hardware::image::PARAMETER_MAGIC;
use host::TmpdirContext as _;
use host::process;
use memchr::memmem;
use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

/// The application, which EFI starts by default, and the script, which the EFI shell runs.
pub const PATHS: [&str; 2] = ["EFI/BOOT/BOOTAA64.EFI", "startup.nsh"];
/// The script. `%0` is the script's path, so the application is found on the same volume.
pub const SCRIPT: &str = "\
# psci-bench: starts the application. Boot arguments can be added to the next line.\r
%0\\..\\EFI\\BOOT\\BOOTAA64.EFI\r
";
/// Number of 512-byte sectors (8 MiB): an application with the largest possible device tree takes
/// less than 3 MiB.
const SECTORS: &str = "16384";
const LABEL: &str = "PSCI-BENCH";
/// The volume's serial number, in hexadecimal.
const NUMBER: &str = "50534349";
/// The offset of the volume name in a FAT16 boot sector.
const LABEL_OFFSET: usize = 0x2b;
/// The timestamp of all files, fixed so that identical contents produce identical images. The FAT
/// epoch is 1980.
const EPOCH: &str = "315532800";

/// Returns the image of a FAT16 volume that contains `application` and the script.
pub fn build_image(workspace: &Workspace, application: &[u8]) -> Result<Vec<u8>> {
    setup::ensure(workspace, &[Need::Mtools])?;
    let dir = tempfile::tempdir().tmpdir_context()?;
    for (path, bytes) in PATHS.iter().zip([application, SCRIPT.as_bytes()]) {
        let path = dir.path().join(path);
        path.parent()
            .map_or(Ok(()), fs::create_dir_all)
            .tmpdir_context()?;
        fs::write(path, bytes).tmpdir_context()?;
    }
    let format = format!("mformat -C -i image -T {SECTORS} -c 1 -v {LABEL} -N {NUMBER} ::");
    for line in [&*format, "mcopy -s -i image EFI startup.nsh ::"] {
        let mut words = line.split(' ');
        let mut command =
            process::minimal_command(words.next().expect("a split string is never empty"));
        command.args(words).current_dir(dir.path());
        command.env("SOURCE_DATE_EPOCH", EPOCH);
        process::run_quietly(&mut command, &workspace.state().join("stick.log"))?;
    }
    fs::read(dir.path().join("image")).tmpdir_context()
}

/// Returns true if `bytes` is an application, a script or an image written by this tool.
pub fn is_from_here(bytes: &[u8]) -> bool {
    let first = SCRIPT.split(':').next().unwrap_or(SCRIPT);
    let label = bytes.get(LABEL_OFFSET..);
    let has_payload = || memmem::find(bytes, &PARAMETER_MAGIC).is_some();
    bytes.starts_with(first.as_bytes())
        || label.is_some_and(|label| label.starts_with(LABEL.as_bytes()))
        || bytes.starts_with(b"MZ") && has_payload()
}
