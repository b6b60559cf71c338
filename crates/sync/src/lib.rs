//! What CPUs share: the hand-over of orders and outcomes between two of them, and the heap,
//! which one of them alone uses.
//!
//! The crate knows neither an order nor an outcome: the messages are type parameters. It is
//! compiled for the target, for the host, and with `--cfg loom` for the model checker
//! (`crates/verify`).

#![cfg_attr(not(loom), no_std)]

pub mod bump;
#[cfg_attr(loom, path = "cells_loom.rs")]
pub mod cells;
pub mod handover;
#[cfg(not(loom))]
pub mod heap;

pub use self::handover::{Handover, Stop};
#[cfg(not(loom))]
pub use self::heap::Heap;
