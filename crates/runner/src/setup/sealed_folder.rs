//! Folders that are built or fetched once, and checked each time they are used.
//!
//! A sealed folder contains a list of its files with their sizes and checksums. If a file has
//! changed since, or is missing, or has been added, the folder is made again. The checksum is a
//! CRC-32, because it guards against accidents and must not take longer than reading the files.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::process;

use anyhow::{Context, Result};
use host::places;
use host::progress::say;
use suite::crc::CRC_32;

/// The name of the list in a sealed folder.
const SEAL: &str = ".checksums";

/// Creates `folder` by calling `make`, unless it already exists and its files match
/// its list. `make` receives an empty folder to fill. Other processes that need the same folder
/// wait.
pub fn sealed_folder(folder: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let last_difference = Cell::new(None);
    let usable = |folder: &Path| {
        if !folder.is_dir() {
            return false;
        }
        let difference = find_difference(folder);
        let is_usable = difference.is_none();
        last_difference.set(difference);
        is_usable
    };
    places::make_unless(folder, usable, |partial_folder| {
        if let Some(difference) = last_difference.take() {
            say(&format!(
                "{}: {difference}; making it again",
                folder.display()
            ));
        }
        make(partial_folder)?;
        seal(partial_folder)
    })
}

/// Describes a difference between the folder and its list, if there is one.
fn find_difference(folder: &Path) -> Option<String> {
    let Ok(list) = fs::read_to_string(folder.join(SEAL)) else {
        return Some("its list of checksums is missing".to_owned());
    };
    let present = match write_list(folder) {
        Ok(present) => present,
        Err(error) => return Some(format!("it cannot be read ({error:#})")),
    };
    if list == present {
        return None;
    }
    let [expected, present] = [&list, &present].map(|list| list.lines().collect::<BTreeSet<_>>());
    let differing = expected.symmetric_difference(&present).next();
    let path = differing.and_then(|line| line.splitn(3, ' ').nth(2));
    Some(match path {
        Some(path) => format!("{path} was added, removed or changed"),
        None => "its list of checksums has changed".to_owned(),
    })
}

/// Writes the list of the files in `folder`.
fn seal(folder: &Path) -> Result<()> {
    let list = write_list(folder)?;
    let path = folder.join(SEAL);
    let failed = || path.display().to_string();
    // Another process may be reading the list.
    let partial = folder.join(format!("{SEAL}.{}", process::id()));
    fs::write(&partial, list).with_context(failed)?;
    fs::rename(&partial, &path).with_context(failed)?;
    Ok(())
}

/// Returns a line for each file below `folder` except the list: its checksum, size and path.
fn write_list(folder: &Path) -> Result<String> {
    let mut lines = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(dir) = folders.pop() {
        for entry in fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap_or(&path);
            let is_list = name.to_str().is_some_and(|name| name.starts_with(SEAL));
            if !is_list {
                let bytes = read(&entry).with_context(|| path.display().to_string())?;
                let checksum = CRC_32.checksum(&bytes);
                let size = bytes.len();
                let line = format!("{checksum:08x} {size} {}\n", name.display());
                lines.insert(name.to_path_buf(), line);
            }
        }
    }
    Ok(lines.into_values().collect())
}

/// Returns the contents of a file, or the target of a symbolic link.
fn read(entry: &fs::DirEntry) -> io::Result<Vec<u8>> {
    match entry.file_type()?.is_symlink() {
        true => fs::read_link(entry.path())
            .map(|target_path| target_path.into_os_string().into_encoded_bytes()),
        false => fs::read(entry.path()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes a folder.
    type Change = fn(&Path) -> io::Result<()>;

    fn make(folder: &Path) -> Result<()> {
        fs::create_dir(folder.join("sub"))?;
        fs::write(folder.join("bl31.bin"), "firmware")?;
        Ok(fs::write(folder.join("sub/bl 31.elf"), "symbols")?)
    }

    #[test]
    fn folder_that_differs_from_its_list_is_made_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let place = dir.path().join("kept");
        let keep = || sealed_folder(&place, make).expect("made");
        keep();
        assert_eq!(find_difference(&place), None);
        let changes: [(&str, Change); 9] = [
            ("bl31.bin was added, removed or changed", |folder| {
                fs::write(folder.join("bl31.bin"), "firm")
            }),
            ("bl31.bin was added, removed or changed", |folder| {
                fs::write(folder.join("bl31.bin"), "firmwarf")
            }),
            ("bl31.bin was added, removed or changed", |folder| {
                fs::write(folder.join("bl31.bin"), "")
            }),
            ("bl31.bin was added, removed or changed", |folder| {
                fs::remove_file(folder.join("bl31.bin"))
            }),
            ("sub/bl 31.elf was added, removed or changed", |folder| {
                fs::remove_dir_all(folder.join("sub"))
            }),
            ("bl2.bin was added, removed or changed", |folder| {
                fs::write(folder.join("bl2.bin"), "x")
            }),
            ("its list of checksums is missing", |folder| {
                fs::remove_file(folder.join(SEAL))
            }),
            ("its list of checksums has changed", |folder| {
                let list = fs::read_to_string(folder.join(SEAL))?;
                fs::write(folder.join(SEAL), list + "\n")
            }),
            ("bl31.bin was added, removed or changed", |folder| {
                let list = fs::read_to_string(folder.join(SEAL))?;
                fs::write(folder.join(SEAL), "0".to_owned() + &list)
            }),
        ];
        for (expected, change) in changes {
            change(&place).expect(expected);
            assert_eq!(find_difference(&place).as_deref(), Some(expected));
            keep();
            assert_eq!(find_difference(&place), None, "{expected}");
            assert_eq!(
                fs::read(place.join("bl31.bin")).expect("it is there"),
                b"firmware"
            );
        }
        let make_again = |_: &Path| -> Result<()> { panic!("made again") };
        sealed_folder(&place, make_again).expect("there already");
    }
}
