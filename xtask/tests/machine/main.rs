//! Tests for firmware builds, QEMU machines and the scripts that use them.

#[path = "../support.rs"]
mod support;

mod audit_idle;
mod bisect;
mod ci;
mod deny_skipped;
mod efi;
mod fip_build;
mod firmware_build;
mod hangs;
mod kvm_host;
mod newer;
mod oldest_tf_a;
mod pmf_cost;
mod profile;
mod repeat;
mod sse_timer;
mod stock;
mod terminal;
mod verdicts;
