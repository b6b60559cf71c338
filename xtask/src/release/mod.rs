//! Makes a release: a folder from which a lab without Rust measures its boards and reads the
//! results. All files are complete before any of them is written.

mod board_files;
mod checksums;
pub mod contents;
mod license_expression;
mod license_files;
mod linked_packages;
mod readme;
