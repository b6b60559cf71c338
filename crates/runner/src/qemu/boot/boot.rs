//! What a machine boots.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use boards::Stock;
use host::TmpdirContext as _;

use crate::build::firmware::FirmwareBuild;
use crate::build::flash;
use crate::qemu::command_line::CommandLine;
use crate::qemu::positions::NamedMemory;

/// The files that a machine boots, and what is known about them.
#[derive(Clone, Debug, Default)]
pub struct Boot {
    /// The file to start from, if the machine does not start from files in memory.
    pub file: Option<BootFile>,
    /// Files to load into memory before the machine starts, and their addresses.
    pub in_memory: Vec<(Vec<u8>, u64)>,
    /// Additional QEMU arguments.
    pub arguments: Vec<OsString>,
    /// The parts of memory for which function names are known.
    pub map: NamedMemory,
    /// BL33, or the payload if there is no TF-A; empty for a guest or an EFI application.
    pub image: Vec<u8>,
    /// TF-A, if `image` can be replaced.
    pub stages: Option<Stages>,
}

/// A file that a machine starts from.
#[derive(Clone, Debug)]
pub struct BootFile {
    /// The QEMU option for the file: `-bios`, `-kernel` or `-initrd`.
    pub option: &'static str,
    /// The bytes that are written to a file before QEMU starts.
    pub contents: Vec<u8>,
}

/// TF-A without BL33, and how it is started.
#[derive(Clone, Debug)]
pub struct Stages {
    /// The build of TF-A.
    pub build: FirmwareBuild,
    /// How a board's own platform is started; None for the overlay platform.
    pub stock: Option<Stock>,
    /// The address that BL33 is loaded at.
    pub load_address: u64,
}

impl Boot {
    /// Returns this boot with `image` as BL33.
    pub fn with_image(&self, image: Vec<u8>) -> Result<Self> {
        let stages = self.stages.as_ref().context("BL33 cannot be replaced")?;
        let mut boot = stages.boot(image)?;
        boot.arguments.clone_from(&self.arguments);
        boot.map = NamedMemory {
            size: boot.image.len() as u64,
            ..self.map.clone()
        };
        Ok(boot)
    }

    /// Returns the TF-A build, or None if `image` cannot be replaced.
    pub fn tf_a(&self) -> Option<&FirmwareBuild> {
        Some(&self.stages.as_ref()?.build)
    }

    /// Writes the files to `folder`, and names them in the command line.
    pub fn write(&self, folder: &Path, line: &mut CommandLine) -> Result<()> {
        line.boot = None;
        if let Some(file) = &self.file {
            let path = folder.join("boot.bin");
            fs::write(&path, &file.contents).tmpdir_context()?;
            line.boot = Some((file.option, path));
        }
        line.preload.clear();
        for (number, (bytes, address)) in self.in_memory.iter().enumerate() {
            let file = folder.join(format!("memory{number}.bin"));
            fs::write(&file, bytes).tmpdir_context()?;
            line.preload.push((file, *address));
        }
        Ok(())
    }
}

impl Stages {
    /// Returns a boot with `image` as BL33, without arguments and memory map.
    pub fn boot(&self, image: Vec<u8>) -> Result<Boot> {
        let mut boot = Boot::default();
        let loads = self.stock.as_ref().map_or(&[][..], |stock| &stock.loads);
        if loads.is_empty() {
            let (flash, in_memory) = flash::build(&self.build, self.stock.as_ref(), image.clone())?;
            boot.file = Some(BootFile {
                option: "-bios",
                contents: flash,
            });
            boot.in_memory
                .extend(in_memory.map(|image| (image, self.load_address)));
        } else {
            for file in loads {
                boot.in_memory
                    .push((self.build.read(&file.from)?, file.address));
            }
            boot.in_memory.push((image.clone(), self.load_address));
        }
        boot.image = image;
        boot.stages = Some(self.clone());
        Ok(boot)
    }
}
