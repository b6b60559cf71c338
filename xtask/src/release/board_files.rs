//! The files for one board.

use std::path::Path;

use anyhow::Result;
use boards::{BoardFile, PackageKind};

use crate::build::image::appended_tree;
use crate::build::image_contents::TreeWish;
use crate::build::package;
use crate::setup::workspace::Workspace;
use host::folder::FolderFile;

/// The file names for a board.
pub(super) struct BoardFiles {
    /// The folder, with `/` at the end.
    pub folder: String,
    /// The image. A loader that loads the image directly expects this name.
    pub image: String,
    /// The device tree for the image.
    pub tree: String,
    /// The source file for U-Boot's `mkimage`, and the file built from it.
    pub fit: Option<[String; 2]>,
}

impl BoardFiles {
    pub fn of(board: &BoardFile) -> Self {
        let package = board.package.as_ref();
        let (image, fit) = match package.map(|package| (package.kind, &package.file)) {
            Some((PackageKind::Raw, file)) => (file.clone(), None),
            Some((PackageKind::Fit, file)) => {
                let [image, source] = ["bin", "its"].map(|ending| {
                    let path = Path::new(file).with_extension(ending);
                    path.display().to_string()
                });
                (image, Some([source, file.clone()]))
            }
            Some((PackageKind::Fip | PackageKind::Vendor, _)) | None => ("bl33.bin".into(), None),
        };
        Self {
            folder: format!("boards/{}/", board.name),
            image,
            tree: format!("{}.dtb", board.name),
            fit,
        }
    }
}

/// Returns the files for `board`, with the flat payload `payload`.
pub(super) fn board_files(
    workspace: &Workspace,
    board: &BoardFile,
    payload: &[u8],
) -> Result<Vec<FolderFile>> {
    let names = BoardFiles::of(board);
    let image = TreeWish::default().make_image(workspace, board, Some(payload.to_vec()))?;
    let tree = appended_tree(&image)?;
    let path = |name: &str| format!("{}{name}", names.folder);
    let mut files = vec![FolderFile::new(path(&names.tree), tree)];
    if let Some([source, _]) = &names.fit {
        let [image, tree] = [&names.image, &names.tree].map(Path::new);
        let text = package::fit_source(&board.title, image, tree, board.load_address)?;
        files.push(FolderFile::new(path(source), text));
    }
    files.push(FolderFile::new(path(&names.image), image));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_the_names_that_loaders_expect() {
        for (board, expected) in [
            ("rpi4", "kernel8.img"),
            ("juno", "bl33.bin"),
            ("rk3399", "psci-bench.bin"),
            ("zynqmp", "bl33.bin"),
            ("qemu-sbsa", "bl33.bin"),
        ] {
            let board = boards::load(board).expect("a board");
            assert_eq!(BoardFiles::of(&board).image, expected, "{}", board.name);
        }
    }
}
