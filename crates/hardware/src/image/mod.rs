//! The header and parameter block of the payload image, and the device tree locations that loaders
//! use.

mod boot_stage;
pub mod handoff;
mod parameter_block;

pub use self::boot_stage::BootStage;
pub use self::parameter_block::{
    BASE_MAX, Conduit, HEADER_SIZE, IMAGE_SIZE_OFFSET, MAGIC, MAGIC_OFFSET, MARKS_FIELDS,
    PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE, PARAMETER_MAGIC, PARAMETER_VERSION, ParameterBlock,
    TREE_ALIGN, TREE_MAX, working_memory,
};
pub use crate::devices::uart::{UartDescription, UartKind};
