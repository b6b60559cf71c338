//! Firmware, payload, device trees, and images made of them: `image` is BL33, `package` the
//! file that a board takes, `fip` a Firmware Image Package, `flash` that of QEMU, `efi` the
//! application around an image, and `stick` a medium with it.

pub mod efi;
pub mod fip;
pub mod firmware;
pub mod firmware_kind;
pub mod flash;
mod given_states;
pub mod image;
pub mod image_contents;
pub mod package;
pub mod payload;
pub(crate) mod plugin;
pub mod signer;
pub mod stick;
pub mod tf_a;

pub use self::given_states::GivenStates;
