//! Files with results of earlier runs. The first line is a checksum of the rest, so that a damaged
//! file is never read as a result.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use host::files;
use host::progress::say;
use suite::crc::CRC_32;

/// Returns the contents of the file at `path`, or None if it does not exist or is damaged, in which
/// case the result must be measured again.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    let mut file = fs::read(path).ok()?;
    let end = file.iter().position(|byte| *byte == b'\n');
    let contents = file.split_off(end.map_or(file.len(), |line_end| line_end + 1));
    if file != first_line(&contents).as_bytes() {
        say(&format!(
            "{}: the checksum is missing or wrong; measuring again",
            path.display()
        ));
        return None;
    }
    Some(contents)
}

/// Writes the file at `path`. `what` describes its contents in messages.
pub(super) fn write(
    what: &str,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let mut contents = Vec::new();
    fill(&mut contents)?;
    files::write_by((what, path), |out| {
        out.write_all(first_line(&contents).as_bytes())?;
        Ok(out.write_all(&contents)?)
    })
}

fn first_line(contents: &[u8]) -> String {
    format!("{:08x}\n", CRC_32.checksum(contents))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_file_is_not_read() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("kept.json");
        assert_eq!(read(&path), None);
        let fill = |out: &mut dyn Write| Ok(out.write_all(b"{\"exits\": 147}\n")?);
        write("a result", &path, fill).expect("written");
        let good = fs::read(&path).expect("it is there");
        assert_eq!(read(&path).as_deref(), Some(&b"{\"exits\": 147}\n"[..]));
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, bad).expect("written");
            assert_eq!(read(&path), None, "byte {at}");
            fs::write(&path, &good[..at]).expect("written");
            assert_eq!(read(&path), None, "cut at {at}");
        }
    }
}
