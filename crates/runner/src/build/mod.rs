//! Builds firmware, the payload, device trees, and the images made from them:
//!
//! * `image` builds BL33.
//! * `acpi_dump` and `acpi_files` read ACPI tables.
//! * `bl32` reads BL32.
//! * `boot_arguments` checks boot arguments.
//! * `package` builds the file that a board loads.
//! * `flash` builds QEMU's flash image.
//! * `tree_file` reads device trees.
//! * `from_source` builds everything that a board boots.

pub mod acpi_dump;
pub mod acpi_files;
pub mod bl32;
pub mod boot_arguments;
pub mod checkout;
pub mod firmware;
pub mod firmware_kind;
pub mod flash;
pub mod from_source;
mod given_states;
pub mod image;
pub mod image_contents;
pub mod image_source;
pub mod package;
pub mod payload;
pub mod plugin;
pub mod test_programs;
pub mod tf_a;
pub mod tree_file;

pub use self::given_states::GivenStates;
