//! The Linux initial file system: a sequence of cpio archives.

use std::io::Write;

use anyhow::{Context, Result};
use cpio::newc::{self, Builder};

/// File modes: type and permissions.
pub const DIRECTORY: u32 = 0o04_0755;
pub const PROGRAM: u32 = 0o10_0755;
pub const FILE: u32 = 0o10_0644;
/// The mode of `dev/console`, the only device.
pub const CONSOLE: u32 = 0o02_0600;
/// The major and minor numbers of the console, from the Linux device list.
const CONSOLE_NUMBERS: (u32, u32) = (5, 1);
/// The offset of each archive is a multiple of this number.
const ALIGN: usize = 4;

/// A file: its name, mode and contents. A directory comes before the files in it.
pub type ArchiveEntry<'e> = (&'e str, u32, &'e [u8]);

/// Returns the archives in `before`, which may be empty, followed by an archive of `entries`.
pub fn archive(before: Vec<u8>, entries: &[ArchiveEntry<'_>]) -> Result<Vec<u8>> {
    let mut all = before;
    all.resize(all.len().next_multiple_of(ALIGN), 0);
    for (number, (name, mode, bytes)) in (1..).zip(entries) {
        let length = u32::try_from(bytes.len()).context("too large for an archive")?;
        let mut node = Builder::new(name).mode(*mode).ino(number);
        if *mode == CONSOLE {
            let (major, minor) = CONSOLE_NUMBERS;
            node = node.rdev_major(major).rdev_minor(minor);
        }
        let mut writer = node.write(&mut all, length);
        writer.write_all(bytes)?;
        writer.finish()?;
    }
    newc::trailer(&mut all)?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use cpio::NewcReader;

    use super::*;

    #[test]
    fn second_archive_follows_the_first() {
        let entries = [("dev", DIRECTORY, &b""[..]), ("dev/console", CONSOLE, b"")];
        let first = archive(Vec::new(), &entries).expect("made");
        let init = [("init", PROGRAM, &b"\x7fELF!"[..])];
        let all = archive(first.clone(), &init).expect("made");

        let mut names = Vec::new();
        for mut rest in [&*first, &all[first.len().next_multiple_of(ALIGN)..]] {
            loop {
                let reader = NewcReader::new(rest).expect("an entry");
                let entry = reader.entry();
                if entry.is_trailer() {
                    break;
                }
                names.push((entry.name().to_owned(), entry.mode(), entry.rdev_major()));
                rest = reader.finish().expect("read");
            }
        }
        let [dev, console, init] = ["dev", "dev/console", "init"].map(str::to_owned);
        let expected = [
            (dev, DIRECTORY, 0),
            (console, CONSOLE, 5),
            (init, PROGRAM, 0),
        ];
        assert_eq!(names, expected);
    }
}
