//! What machines boot: each kind of firmware makes its own [`Boot`].

mod boot;
pub mod efi;
mod kvm;
mod payload_image;
mod tf_a;

pub use self::boot::{Boot, BootFile};
pub(super) use self::efi::{edk2, u_boot};
pub(super) use self::kvm::kvm;
pub(super) use self::payload_image::builtin;
pub(super) use self::tf_a::tf_a;
