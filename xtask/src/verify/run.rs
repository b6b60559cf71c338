//! Runs under the checker.

use std::ffi::OsString;
use std::fs;
use std::io;

use anyhow::{Context, Result};

use super::findings::{self, Covered, Finding};
use crate::build::plugin;
use crate::qemu::prepare::{self, Prepared};
use crate::qemu::run_spec::RunSpec;
use crate::qemu::screen::Screen;
use crate::setup::progress::Progress;
use crate::setup::workspace::Workspace;
use crate::setup::{interrupt, newer_qemu, temporary};

/// A machine with the checker.
#[derive(Debug)]
pub struct Checker {
    prepared: Prepared,
    plugin: OsString,
}

/// The result of a run.
#[derive(Debug)]
pub struct Checked {
    /// All findings.
    pub findings: Vec<Finding>,
    /// The code that was executed.
    pub covered: Covered,
    /// The verdict of the run, and its time.
    pub line: String,
    /// True if the run passed.
    pub is_passed: bool,
}

impl Checker {
    /// Prepares `spec` with a QEMU that the plugin is for.
    pub fn prepare(spec: &RunSpec) -> Result<Self> {
        let workspace = Workspace::find()?;
        let mut spec = spec.clone();
        spec.icount = true;
        let mut prepared = prepare::prepare(&spec)?;
        prepared.set_path(newer_qemu(&workspace)?);
        let plugin = plugin::build(&workspace, "coherence", "default")?.into();
        Ok(Self { prepared, plugin })
    }

    /// Returns BL33.
    pub fn image(&self) -> &[u8] {
        self.prepared.image()
    }

    /// Runs with `image` as BL33, which has the size of [`Self::image`].
    pub fn check(&self, what: &str, image: Vec<u8>) -> Result<Checked> {
        let mut prepared = self.prepared.with_image(image)?;
        let dir = temporary(tempfile::tempdir())?;
        let out = dir.path().join("findings");
        let map = self.prepared.map();
        // What was loaded is in memory, to whole pages.
        let (begin, end) = (map.image, map.image + map.size.next_multiple_of(4096));
        let mut argument = self.plugin.clone();
        argument.push(format!(",entry={begin:x}-{end:x},out="));
        argument.push(&out);
        prepared.add_plugin(&argument);
        let (mut sink, progress) = (io::sink(), Progress::on_terminal(what));
        let mut screen = Screen::new(None, &mut sink, Some(progress));
        let result = prepared.run(interrupt::watch()?, &mut screen);
        drop(screen);
        let result = result?;
        interrupt::check()?;
        let text = fs::read_to_string(&out).unwrap_or_default();
        let read = findings::read(&text, map).with_context(|| result.line());
        let (findings, covered) = read.unwrap_or_default();
        Ok(Checked {
            findings,
            is_passed: result.exit_code() == 0 && covered.blocks > 0,
            covered,
            line: result.line(),
        })
    }
}
