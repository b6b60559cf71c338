//! Makes a release: a folder from which a lab without Rust measures its boards and reads the
//! results. `contents` makes all files before `release_folder` writes any of them.

mod board_files;
mod checksums;
pub mod contents;
mod license_expression;
mod license_files;
mod linked_packages;
mod readme;
pub mod release_file;
pub mod release_folder;
