//! Boards: `platforms/BOARD/board.toml`, read and checked.

mod board;
mod check;
mod check_firmware;
mod describe;
mod firmware;
pub mod firmware_kind;
mod frame;
mod gic;
mod given_states;
pub mod image_kinds;
mod lab;
mod package;
mod read;
mod source;
mod state_id;
#[cfg(test)]
mod tests;
mod texts;
mod uart;
mod uuid;
mod watchdog;
mod window;
pub(crate) mod working_memory;

pub use self::board::{
    Board, Conduit, Continues, Controller, Cpus, GicV2, GicV3, Psci, Qemu, Reserved, Timer,
    Verified,
};
pub(crate) use self::check::ADDRESSES;
pub use self::describe::{describe, table};
pub use self::firmware::{Firmware, Format, IdleState, Pmf, Stock};
pub use self::frame::Frame;
pub use self::gic::Gic;
pub use self::given_states::GivenStates;
pub use self::lab::{Deploy, Lab, MINUTES_MAX};
pub use self::package::{Blob, Package, PackageKind, Part};
pub use self::read::{load, names, parse};
pub use self::state_id::StateId;
pub use self::uart::{Uart, UartKind};
pub use self::uuid::Uuid;
pub use self::watchdog::Watchdog;
pub use self::window::Window;
