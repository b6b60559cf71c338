//! A board's recovery image: a zip of all that is on its SD card, of which the
//! FIP is one file.
//!
//! It is the user's: it is distrusted, and all but the FIP goes over byte for
//! byte, compressed as it is.

use std::io::{Cursor, Read, Write};

use anyhow::{Context, Result, bail};
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The largest recovery image that is read, in bytes. Published ones have some
/// 10 MB.
pub const FILE_MAX: usize = 512 << 20;
/// The most files in it.
const MEMBERS_MAX: usize = 10_000;
/// The largest FIP in it, in bytes.
const FIP_MAX: u64 = 64 << 20;

/// Whether `file` is a zip, rather than a FIP.
#[must_use]
pub fn is_zip(file: &[u8]) -> bool {
    // One with files, one without any, and one that is a part of several.
    [&b"PK\x03\x04"[..], b"PK\x05\x06", b"PK\x07\x08"]
        .iter()
        .any(|magic| file.starts_with(magic))
}

/// A recovery image.
pub struct Recovery<'r> {
    archive: ZipArchive<Cursor<&'r [u8]>>,
    /// The place of the FIP among its files.
    fip: usize,
}

impl<'r> Recovery<'r> {
    /// Opens `file`, in which the FIP is called `member`.
    ///
    /// # Errors
    /// When it is no zip or a broken one, when it is encrypted, and when it has
    /// no such file, or two files of one name.
    pub fn open(file: &'r [u8], member: &str) -> Result<Self> {
        if !is_zip(file) {
            bail!("this is no zip");
        }
        let archive = ZipArchive::new(Cursor::new(file)).context("this is a broken zip")?;
        if archive.len() > MEMBERS_MAX {
            bail!(
                "{} files are in it, more than the {MEMBERS_MAX} that are accepted",
                archive.len()
            );
        }
        // Of files with one name, the reader knows the last alone.
        if let Some(count) = listed(file).filter(|count| *count != archive.len()) {
            bail!(
                "{count} files are listed in it, and {} have a name of their own",
                archive.len()
            );
        }
        let mut this = Self { archive, fip: 0 };
        let mut found = Vec::new();
        let mut others = Vec::new();
        for place in 0..this.archive.len() {
            let entry = this
                .archive
                .by_index_raw(place)
                .with_context(|| format!("file {place} of the zip is broken"))?;
            let name = called(&entry)?;
            if entry.encrypted() {
                bail!("{name:?} is encrypted: give a zip that is not");
            }
            if name == member {
                found.push(place);
                continue;
            }
            // Where the FIP may be, for who has it elsewhere.
            let last = name.rsplit('/').next().unwrap_or_default();
            if last.eq_ignore_ascii_case("fip.bin") && others.len() < 3 {
                others.push(name);
            }
        }
        match found.as_slice() {
            [place, ..] => this.fip = *place,
            [] if others.is_empty() => bail!("there is no {member} in it"),
            [] => bail!("there is no {member} in it, but {}", others.join(", ")),
        }
        Ok(this)
    }

    /// The FIP.
    ///
    /// # Errors
    /// When it cannot be unpacked, or is larger than any.
    pub fn fip(&mut self) -> Result<Vec<u8>> {
        self.fip_within(FIP_MAX)
    }

    /// The FIP, if it has at most so many bytes.
    ///
    /// # Errors
    /// As [`Recovery::fip`].
    pub fn fip_within(&mut self, most: u64) -> Result<Vec<u8>> {
        let entry = match self.archive.by_index(self.fip) {
            Err(ZipError::UnsupportedArchive(why)) => {
                bail!("the FIP in it cannot be unpacked: {why}; have it stored or deflated")
            }
            other => other.context("the FIP in it cannot be unpacked")?,
        };
        let name = called(&entry)?;
        let mut fip = Vec::new();
        // The size that it says it has is another's word.
        let read = entry.take(most + 1).read_to_end(&mut fip);
        read.with_context(|| format!("{name} cannot be unpacked"))?;
        if fip.len() as u64 > most {
            bail!("{name} has more than the {most} bytes that are accepted");
        }
        Ok(fip)
    }

    /// The image with `fip` in the FIP's place.
    ///
    /// # Errors
    /// When a file of it cannot be copied.
    pub fn with(mut self, fip: &[u8]) -> Result<Vec<u8>> {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        out.set_raw_comment(self.archive.comment().into())?;
        for place in 0..self.archive.len() {
            let entry = self.archive.by_index_raw(place)?;
            let name = called(&entry)?;
            if place != self.fip {
                out.raw_copy_file(entry)
                    .with_context(|| format!("{name} cannot be copied"))?;
                continue;
            }
            let options = SimpleFileOptions::default()
                .compression_method(CompressionMethod::Deflated)
                .last_modified_time(entry.last_modified().unwrap_or_default());
            let options = match entry.unix_mode() {
                Some(mode) => options.unix_permissions(mode),
                None => options,
            };
            drop(entry);
            out.start_file(name, options)?;
            out.write_all(fip)?;
        }
        Ok(out.finish()?.into_inner())
    }
}

/// The name of a file in it.
fn called<R: Read + ?Sized>(entry: &ZipFile<'_, R>) -> Result<String> {
    let name = entry.name().context("a file in it has a broken name")?;
    Ok(name.into_owned())
}

/// How many files the end of the list of `file` says there are (PKWARE's
/// APPNOTE.TXT, 4.3.16), unless another record has a larger number.
fn listed(file: &[u8]) -> Option<usize> {
    let at = file.windows(4).rposition(|it| it == b"PK\x05\x06")?;
    let count: [u8; 2] = file.get(at + 10..at + 12)?.try_into().ok()?;
    let count = u16::from_le_bytes(count);
    (count != u16::MAX).then_some(usize::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIP: &str = "SOFTWARE/fip.bin";

    fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = ZipWriter::new(Cursor::new(Vec::new()));
        for (place, (name, data)) in files.iter().enumerate() {
            let method = match place % 2 {
                0 => CompressionMethod::Stored,
                _ => CompressionMethod::Deflated,
            };
            let options = SimpleFileOptions::default().compression_method(method);
            out.start_file(*name, options).expect("begun");
            out.write_all(data).expect("written");
        }
        out.finish().expect("finished").into_inner()
    }

    fn refused(file: &[u8]) -> String {
        let opened = Recovery::open(file, FIP);
        let result = opened.and_then(|mut it| it.fip());
        format!("{:#}", result.expect_err("refused"))
    }

    #[test]
    fn one_file_is_replaced() {
        let text = "config ".repeat(500);
        let old = zip(&[
            ("config.txt", text.as_bytes()),
            ("SITE1/images.txt", text.as_bytes()),
            (FIP, b"old"),
            ("empty", b""),
        ]);
        let mut recovery = Recovery::open(&old, FIP).expect("opened");
        assert_eq!(recovery.fip().expect("read"), b"old");
        let new = recovery.with(b"the new one").expect("replaced");
        let content = |file: &[u8]| -> Vec<(String, bool, Vec<u8>)> {
            let mut archive = ZipArchive::new(Cursor::new(file)).expect("a zip");
            (0..archive.len())
                .map(|place| {
                    let (name, stored) = {
                        let entry = archive.by_index_raw(place).expect("there");
                        let stored = entry.compression() == CompressionMethod::Stored;
                        (called(&entry).expect("a name"), stored)
                    };
                    let mut data = Vec::new();
                    let mut raw = archive.by_index_raw(place).expect("there");
                    raw.read_to_end(&mut data).expect("read");
                    (name, stored, data)
                })
                .collect()
        };
        let (before, after) = (content(&old), content(&new));
        assert_eq!(before.len(), after.len());
        for (before, after) in before.iter().zip(&after) {
            assert_eq!(before.0, after.0);
            assert_eq!(before == after, before.0 != FIP, "{}", before.0);
        }
        let mut again = Recovery::open(&new, FIP).expect("opened");
        assert_eq!(again.fip().expect("read"), b"the new one");
    }

    #[test]
    fn what_is_no_recovery_image() {
        assert_eq!(refused(b""), "this is no zip");
        assert_eq!(refused(b"\x01\x00\x64\xaa"), "this is no zip");
        let good = zip(&[("a", b"x"), (FIP, b"old")]);
        assert!(refused(&good[..good.len() / 2]).starts_with("this is a broken zip"));
        assert_eq!(refused(&zip(&[])), format!("there is no {FIP} in it"));
        assert_eq!(
            refused(&zip(&[("SOFTWARE/FIP.BIN", b"x"), ("b/fip.bin", b"x")])),
            format!("there is no {FIP} in it, but SOFTWARE/FIP.BIN, b/fip.bin")
        );
        // Two files of one name.
        let twice = zip(&[(FIP, b"x"), ("SOFTWARE/fip.bim", b"y")]);
        let text = String::from_utf8_lossy(&twice).into_owned();
        assert!(text.contains("fip.bim"));
        let mut twice = twice;
        for at in 0..twice.len() - 3 {
            if &twice[at..at + 3] == b"bim" {
                twice[at + 2] = b'n';
            }
        }
        assert!(
            refused(&twice).contains("2 files are listed in it"),
            "{}",
            refused(&twice)
        );
        // Bit 0 of the flags: encrypted.
        let mut secret = good.clone();
        let central = secret
            .windows(4)
            .rposition(|it| it == b"PK\x01\x02")
            .expect("there");
        let local = secret
            .windows(4)
            .rposition(|it| it == b"PK\x03\x04")
            .expect("there");
        secret[central + 8] |= 1;
        secret[local + 6] |= 1;
        assert!(
            refused(&secret).contains("is encrypted"),
            "{}",
            refused(&secret)
        );
        // A method that is not compiled in.
        let mut odd = good.clone();
        odd[central + 10] = 95;
        odd[local + 8] = 95;
        assert!(
            refused(&odd).contains("cannot be unpacked"),
            "{}",
            refused(&odd)
        );
        // A checksum that is wrong.
        let stored = zip(&[(FIP, b"some bytes")]);
        let at = stored
            .windows(4)
            .position(|it| it == b"some")
            .expect("there");
        let mut broken = stored;
        broken[at] ^= 1;
        assert!(
            refused(&broken).contains("cannot be unpacked"),
            "{}",
            refused(&broken)
        );
    }

    #[test]
    fn a_bomb_ends_at_the_limit() {
        let big = vec![0; 100_000];
        let bomb = zip(&[("a", b""), (FIP, &big)]);
        assert!(bomb.len() < 1000);
        let mut recovery = Recovery::open(&bomb, FIP).expect("opened");
        assert_eq!(recovery.fip_within(100_000).expect("read"), big);
        let error = recovery.fip_within(99_999).expect_err("too large");
        assert!(error.to_string().contains("more than the 99999 bytes"));
    }

    #[test]
    fn any_bytes_are_an_error_at_worst() {
        let good = zip(&[("a", b"x"), (FIP, b"old"), ("b", b"yy")]);
        for at in 0..good.len() {
            for value in [0, 0xff, good[at] ^ 1] {
                let mut file = good.clone();
                file[at] = value;
                if let Ok(mut recovery) = Recovery::open(&file, FIP) {
                    let _ = recovery.fip();
                    let _ = recovery.with(b"new");
                }
            }
        }
    }
}
