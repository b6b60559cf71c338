//! Packages and images in files.

use std::path::Path;

use anyhow::{Context, Result};

use super::images::Images;
use crate::build::fip::{Builder, IMAGE_MAX, PACKAGE_MAX, Package, read};
use crate::build::package::Given;
use crate::cli::files;
use crate::setup::progress::say;
use crate::setup::read_file;

/// Returns the FIP in the file `path`. What is odd about it is said.
pub(super) fn open(what: &str, path: &Path) -> Result<(Package, Vec<u8>)> {
    let file = read_file::read(what, path, PACKAGE_MAX)?;
    let (package, warning) = read(&file).with_context(|| path.display().to_string())?;
    if let Some(warning) = warning {
        say(&format!("warning: {}: {warning}", path.display()));
    }
    Ok((package, file))
}

/// Reads the images, of which none may be the file `out` that is written.
pub(super) fn load(images: &Images, out: (&str, &Path)) -> Result<Vec<Given>> {
    let mut given = Vec::new();
    for image in &images.files {
        let option = &image.option;
        files::apart(out, (option, Some(&image.path)))?;
        given.push(Given {
            option: format!("{option} {}", image.path.display()),
            uuid: image.uuid,
            data: read_file::read(option, &image.path, IMAGE_MAX)?,
        });
    }
    Ok(given)
}

/// Writes the package, and says so.
pub(super) fn save(out: (&str, &Path), builder: &Builder) -> Result<()> {
    let file = builder.build()?;
    files::write(out, &file)?;
    say(&format!("{}: {} bytes", out.1.display(), file.len()));
    Ok(())
}
