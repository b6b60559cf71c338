//! The verb `fip`.

mod build;
pub mod verbs;
