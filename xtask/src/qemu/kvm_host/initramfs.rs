//! Linux's initial file system: a cpio archive, or several behind one another.

use std::io::Write;

use anyhow::{Context, Result};
use cpio::newc::{self, Builder};

const DIRECTORY: u32 = 0o04_0755;
const PROGRAM: u32 = 0o10_0755;
const FILE: u32 = 0o10_0644;
const CHARACTER_DEVICE: u32 = 0o02_0600;
/// `/dev/console`, by Linux's list of devices.
const CONSOLE: (u32, u32) = (5, 1);
/// Linux looks for the next archive at a multiple of this.
const ALIGN: usize = 4;

/// An archive that is being made.
#[derive(Debug, Default)]
pub struct Contents {
    bytes: Vec<u8>,
    entries: u32,
}

impl Contents {
    /// Returns one behind the whole archive `before`.
    pub fn behind(mut before: Vec<u8>) -> Self {
        before.resize(before.len().next_multiple_of(ALIGN), 0);
        Self {
            bytes: before,
            entries: 0,
        }
    }

    /// Returns a directory. Those above it come first.
    pub fn directory(&mut self, name: &str) -> Result<()> {
        self.add(Builder::new(name).mode(DIRECTORY), &[])
    }

    /// Returns a program.
    pub fn program(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(Builder::new(name).mode(PROGRAM), bytes)
    }

    /// Returns a file.
    pub fn file(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.add(Builder::new(name).mode(FILE), bytes)
    }

    /// `dev/console`, which process 1 has open from the start.
    pub fn console(&mut self) -> Result<()> {
        let (major, minor) = CONSOLE;
        let node = Builder::new("dev/console").mode(CHARACTER_DEVICE);
        self.add(node.rdev_major(major).rdev_minor(minor), &[])
    }

    fn add(&mut self, entry: Builder, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len()).context("too large for an archive")?;
        self.entries += 1;
        let mut writer = entry.ino(self.entries).write(&mut self.bytes, length);
        writer.write_all(bytes)?;
        writer.finish()?;
        Ok(())
    }

    /// Returns all of it.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        newc::trailer(&mut self.bytes)?;
        Ok(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpio::NewcReader;

    #[test]
    fn two_archives_behind_one_another() {
        let mut first = Contents::default();
        first.directory("dev").expect("made");
        first.console().expect("made");
        let first = first.finish().expect("made");
        let mut second = Contents::behind(first.clone());
        second.program("init", b"\x7fELF!").expect("made");
        let all = second.finish().expect("made");

        let reader = NewcReader::new(&*all).expect("an entry");
        let entry = reader.entry();
        assert_eq!((entry.name(), entry.mode()), ("dev", 0o04_0755));
        let reader = NewcReader::new(reader.finish().expect("read")).expect("an entry");
        let entry = reader.entry();
        assert_eq!((entry.name(), entry.mode()), ("dev/console", 0o02_0600));
        assert_eq!((entry.rdev_major(), entry.rdev_minor()), (5, 1));
        let second = &all[first.len().next_multiple_of(4)..];
        let reader = NewcReader::new(second).expect("an entry");
        let entry = reader.entry();
        assert_eq!((entry.name(), entry.mode()), ("init", 0o10_0755));
        let mut program = Vec::new();
        let rest = reader.to_writer(&mut program).expect("read");
        assert_eq!(program, b"\x7fELF!");
        let last = NewcReader::new(rest).expect("an entry");
        assert!(last.entry().is_trailer());
    }
}
