//! An emulated Linux with KVM, whose guest the payload is.

mod host;
mod initramfs;
mod packages;

pub use self::host::{
    CPU, CPUS, IMAGE, KvmHost, LINGER, build, ended, has_kvm, last_words, own, qemu, timeout,
    trouble,
};
pub use self::initramfs::Contents;
