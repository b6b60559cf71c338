//! Jobs for lab engines, and runs on boards.

pub mod cell;
pub mod content;
mod engine;
pub mod monitors;
pub mod place;
pub mod recovery;
pub mod serial;
mod templates;
pub mod words;

pub use self::engine::{Engine, Names};
