//! TF-A built with the overlay platform.

mod build;
pub mod fault;
mod fip;

pub use self::build::{
    Coherency, FipBuild, Firmware, Gic, Handoff, NT_FW_KEY, Platform, Pmf, StateId, Variant, build,
};
