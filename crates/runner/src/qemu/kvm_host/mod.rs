//! An emulated Linux host with KVM, which runs the payload as a guest.

mod host;
mod initramfs;
mod packages;

pub use self::host::{
    CPU, CPUS, IMAGE, KvmHost, LINGER, build, find_exit, find_failure, guest_timeout, last_words,
    qemu_command,
};
pub use self::packages::KERNEL;
