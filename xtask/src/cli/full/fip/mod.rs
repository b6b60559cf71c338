//! The verb `fip`.

mod build;
pub(super) mod images;
mod part;
pub mod verbs;
