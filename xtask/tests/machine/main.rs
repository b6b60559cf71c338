//! Tests for firmware builds, QEMU machines and the scripts that use them.

#[path = "../support.rs"]
mod support;

mod ci;
mod deny_skipped;
mod fip_boot;
mod fip_build;
mod firmware_build;
mod hangs;
mod newer;
mod oldest_tf_a;
mod pmf_cost;
mod repeat;
mod sse_timer;
mod stock;
mod terminal;
mod verdicts;
