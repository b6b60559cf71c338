//! Boards: the files `platforms/BOARD/board.toml`, embedded, parsed and checked.

#![forbid(unsafe_code)]

mod board;
mod check;
mod check_package;
mod check_tree;
mod describe;
pub mod device_tree;
mod devices;
mod fault;
mod firmware;
pub mod image_kinds;
mod lab;
mod package;
mod publish;
mod read;
#[cfg(test)]
mod tests;
mod texts;

pub use hardware::image::Conduit;
pub use hardware::spec::psci::StateFormat;
pub use uuid::Uuid;

pub use self::board::{Board, Qemu, Verified};
pub use self::describe::{describe, table};
pub use self::devices::{Frame, Gic};
pub use self::firmware::{Firmware, IdleState, Pmf, Stock};
pub use self::lab::{Deploy, Lab, MINUTES_MAX};
pub use self::package::{Blob, Package, PackageKind, Part};
pub use self::publish::{ClockDomain, Publish};
pub use self::read::{load, names, parse};
