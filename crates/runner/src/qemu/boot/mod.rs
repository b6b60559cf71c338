//! What machines boot: each kind of firmware makes its own [`Boot`].

mod boot;
mod make_boot;
pub mod payload_image;
mod tf_a;
pub mod u_boot;

pub use self::boot::{Boot, BootFile, Stages};
pub use self::make_boot::MakeBoot;
pub use self::tf_a::tf_a;
