//! What lab engines take, and runs on boards.

pub mod cell;
mod engine;
mod labgrid;
mod lava;
pub mod monitors;
pub mod place;
mod qemu;
pub mod recovery;
pub mod serial;
pub mod words;
mod yaml;

pub use self::engine::{Engine, Names};
