//! Jobs for lab engines, and runs on boards.

pub(crate) mod cell;
pub(crate) mod cell_folder;
pub(crate) mod content;
mod engine;
pub(crate) mod mark;
mod monitors;
pub mod recovery;
mod templates;
pub(crate) mod words;

pub(crate) use self::engine::{Engine, Names};
