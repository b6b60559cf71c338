//! Builds a release: a folder that lets a lab without Rust measure its boards and read the results.
//! The contents of all files are complete before any file is written.

mod board_files;
mod checksums;
pub mod contents;
mod license_expression;
mod license_files;
mod linked_packages;
mod readme;
