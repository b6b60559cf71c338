//! The verb `fip`.

mod build;
pub(super) mod images;
mod pack;
mod part;
pub mod verbs;
