//! The verb `fip`.

mod build;
pub(super) mod images;
pub mod verbs;
