//! The images that are built elsewhere, such as SCP firmware.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use boards::image_kinds::uuid_of;
use boards::{BoardFile, BuildInput, Stock, Uuid};
use fip::IMAGE_MAX;
use host::read_file;

use crate::build::package::GivenImage;

/// The option for an image, without its dashes, and the image file.
pub type NamedFile = (&'static str, PathBuf);

/// The images that the user supplied for a board.
#[derive(Clone, Debug, Default)]
pub struct GivenFiles {
    /// The files, each with the option that selects its image.
    pub files: Vec<NamedFile>,
}

impl GivenFiles {
    /// Returns the file for `option`.
    pub(super) fn get(&self, option: &str) -> Option<&Path> {
        let found = self.files.iter().find(|file| file.0 == option)?;
        Some(&found.1)
    }

    /// Rejects images that the board does not accept, and reports those that are missing.
    pub(super) fn check(&self, board: &BoardFile, stock: Option<&Stock>) -> Result<()> {
        let inputs = stock.map_or(&[][..], |stock| &stock.inputs);
        for (option, _) in &self.files {
            if inputs.iter().all(|input| input.option != *option) {
                bail!("--{option}: {} does not need this image", board.title);
            }
        }
        let missing: Vec<String> = inputs
            .iter()
            .filter(|input| self.get(&input.option).is_none())
            .map(missing_input)
            .collect();
        if !missing.is_empty() {
            bail!("{} also needs:\n{}", board.title, missing.join("\n"));
        }
        Ok(())
    }

    /// Reads the images. Returns an error if an image is empty, too large for the board, or a web
    /// page.
    pub(super) fn read(&self, board: &BoardFile, stock: Option<&Stock>) -> Result<Vec<GivenImage>> {
        let inputs = stock.map_or(&[][..], |stock| &stock.inputs).iter();
        let given = inputs.filter_map(|input| Some((input, self.get(&input.option)?)));
        given
            .map(|(input, path)| read(board, input, path))
            .collect()
    }
}

fn missing_input(input: &BuildInput) -> String {
    let BuildInput {
        option,
        title,
        source,
        ..
    } = input;
    match source.starts_with("https://") {
        true => {
            let file = source.rsplit('/').next().unwrap_or(source);
            format!(
                "  --{option} {file} ({title}), from\n  \
                 curl --fail --location --remote-name {source}"
            )
        }
        false => format!("  --{option} FILE ({title}), from {source}"),
    }
}

fn read(board: &BoardFile, input: &BuildInput, path: &Path) -> Result<GivenImage> {
    let option = format!("--{} {}", input.option, path.display());
    let data = read_file::read(&format!("--{}", input.option), path, IMAGE_MAX)?;
    let size = data.len();
    let limit = input.max_size;
    let title = &input.title;
    if size == 0 {
        bail!("{option}: the file is empty; download {title} again");
    }
    if size > limit {
        bail!("{option}: the file is {size} bytes, but {title} is limited to {limit}");
    }
    if data.trim_ascii_start().starts_with(b"<") {
        bail!("{option}: the file is a web page, not {title}; download it again");
    }
    let uuid = uuid(board, &input.option);
    Ok(GivenImage { option, uuid, data })
}

/// Returns the UUID of the image that `option` selects, which is either known to fiptool or
/// board-specific.
fn uuid(board: &BoardFile, option: &str) -> Uuid {
    let package = board.package.iter();
    let blobs = package.flat_map(|package| {
        package
            .blobs
            .iter()
            .chain(package.parts.iter().flat_map(|part| &part.blobs))
    });
    let selected = blobs.filter(|blob| blob.option.as_deref() == Some(option));
    selected
        .map(|blob| blob.uuid)
        .next()
        .unwrap_or_else(|| uuid_of(option))
}
