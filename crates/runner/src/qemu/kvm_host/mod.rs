//! An emulated Linux host with KVM, which runs the payload as a guest.

mod host;
mod initramfs;
mod packages;

pub use self::host::{
    CPU, CPUS, IMAGE, KvmHost, LINGER, build, ended, last_words, qemu, timeout, trouble,
};
pub use self::packages::KERNEL;
