//! The files in a release.

use anyhow::{Context, Result};
use boards::BoardFile;
use hardware::image::ParameterBlock;
use host::interrupt;

use super::board_files::board_files;
use super::checksums::checksums;
use super::license_files::license_files;
use super::readme::readme;
use crate::build::report_program::REPORT_PROGRAM;
use crate::build::{efi, image, payload, stick};
use crate::setup::Need;
use crate::setup::workspace::Workspace;
use host::folder::FolderFile;

/// Everything that is needed to build a release.
pub const NEEDS: [Need; 4] = [
    Need::RustTarget,
    Need::EfiTarget,
    Need::ReportTarget,
    Need::Mtools,
];

/// Builds all the files and returns them sorted by path. `report_program` builds `psci-report`.
/// This build takes the longest, so it starts after the steps in which most errors occur.
pub fn contents(
    workspace: &Workspace,
    report_program: impl FnOnce() -> Result<Vec<u8>>,
) -> Result<Vec<FolderFile>> {
    let mut files = license_files(workspace)?;
    let boards = boards::names().map(boards::load);
    let boards = boards.collect::<Result<Vec<BoardFile>>>()?;
    let flat = payload::flat(workspace)?;
    for board in &boards {
        interrupt::check()?;
        let made = board_files(workspace, board, &flat);
        files.extend(made.with_context(|| format!("board {}", board.name))?);
    }
    let bare = image::bare(flat)?;
    let application = efi::build(workspace, &bare, None)?;
    let stick = stick::image(workspace, &application)?;
    files.push(readme(&boards, ParameterBlock::read(&bare)?.build)?);
    files.extend([
        FolderFile::new("BOOTAA64.EFI", application),
        FolderFile::new("boards.txt", boards::table(&boards)),
        FolderFile::new("payload.bin", bare),
        FolderFile::new("stick.img", stick),
        FolderFile {
            is_program: true,
            ..FolderFile::new(REPORT_PROGRAM, report_program()?)
        },
    ]);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files.push(checksums(&files));
    Ok(files)
}
