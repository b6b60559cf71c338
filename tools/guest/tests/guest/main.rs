//! Tests of the payload as a KVM guest, and of the host that runs it.

#[path = "../../../../tests/common/mod.rs"]
mod common;
mod init;
mod kvm;
mod refused;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_psci-guest");
