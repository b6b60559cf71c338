//! The verb `fip`.

mod build;
mod images;
pub mod verbs;
