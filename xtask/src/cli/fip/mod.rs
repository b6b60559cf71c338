//! The verb `fip`.

mod build;
mod images;
mod package_files;
pub mod verbs;
