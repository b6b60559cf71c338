//! psci-bench's host tool, as a library with a thin `main`.
//!
//! ```text
//! setup ──── what a command needs is there, or is installed
//! tf_a ───── TF-A's source: Debian's package (apt_source) or a checkout
//! firmware ─ TF-A built with the overlay platform, cached by what went in
//! board ──── platforms/BOARD/board.toml, checked
//! tree ───── board -> device tree blob
//! image ──── payload ELF -> flat image with tree and parameters
//! fip, flash firmware and image -> what the machine starts from
//! pack ───── image -> the file that a board takes; cert_create signs
//! qemu ───── the machine's command line; host_cpu keeps it on one CPU
//! run ────── all of these in one call, and the verdict
//! diagnosis  what to make of a run without one; positions, monitor and
//!            symbols tell where its CPUs are
//! soak ───── run, again and again
//! live ───── a run on a board, as its UART tells it
//! lab ────── a board and its firmware -> what lab engines take
//! report ─── logs -> what they say, in the format that is asked for
//! kvm_host ─ an emulated Linux with KVM, whose guest the payload is
//! linux_trees device trees of a thousand boards, for tests
//! ```
//!
//! The commands in [`cli`] and the whole-program tests call the same
//! functions.

#![forbid(unsafe_code)]

pub(crate) mod apt;
pub mod apt_source;
pub mod board;
pub mod cert_create;
pub mod cli;
pub mod contents;
pub mod diagnosis;
pub mod fault;
pub mod fip;
pub mod firmware;
pub mod flash;
pub mod fuzz;
pub mod host_cpu;
pub mod image;
pub mod kvm_host;
pub mod lab;
pub mod linux_trees;
pub mod live;
pub mod monitor;
mod openssl;
pub mod pack;
pub mod payload;
mod plural;
pub mod positions;
pub mod process;
pub mod progress;
pub mod qemu;
pub mod report;
pub mod run;
pub mod setup;
pub mod soak;
pub mod stream;
pub mod symbols;
pub mod test;
pub mod tf_a;
pub mod tree;
pub mod workspace;
