//! What machines boot: each kind of firmware makes its own [`Boot`].

mod boot;
mod boot_builder;
pub mod payload_image;
mod tf_a;
pub mod u_boot;

pub use self::boot::{Boot, BootFile, Stages};
pub use self::boot_builder::BootBuilder;
pub use self::tf_a::tf_a;
