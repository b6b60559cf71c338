//! Boards: `platforms/BOARD/board.toml`, read and checked.

mod board;
mod check;
mod check_package;
mod check_tree;
mod describe;
pub mod device_tree;
mod devices;
mod fault;
mod firmware;
pub mod firmware_kind;
mod given_states;
pub mod image_kinds;
mod lab;
mod package;
pub(crate) mod publish;
mod read;
#[cfg(test)]
pub(crate) mod tests;
mod texts;

pub use hardware::image::Conduit;
pub use hardware::spec::psci::StateFormat;
pub use uuid::Uuid;

pub use self::board::{Board, Qemu, Verified};
pub use self::describe::{describe, table};
pub use self::devices::{Frame, Gic};
pub use self::firmware::{Firmware, IdleState, Pmf, Stock};
pub use self::given_states::GivenStates;
pub(crate) use self::lab::Deploy;
pub use self::lab::MINUTES_MAX;
pub use self::package::{Blob, Package, PackageKind, Part};
pub use self::read::{load, names, parse};
