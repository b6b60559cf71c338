//! The counters of instructions.
//!
//! A callback for each instruction counts, and not code that QEMU compiles into blocks: QEMU
//! 10.0 computes wrong addresses in such code where several CPUs share a thread.

use std::ffi::{c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Counts, qemu};

static INSIDE: AtomicU64 = AtomicU64::new(0);
static OUTSIDE: AtomicU64 = AtomicU64::new(0);

// Loads and stores: there is one thread of virtual CPUs.
fn increment(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

extern "C" fn is_inside(_: c_uint, _: *mut c_void) {
    increment(&INSIDE);
}

extern "C" fn is_outside(_: c_uint, _: *mut c_void) {
    increment(&OUTSIDE);
}

fn count(instruction: *mut qemu::Instruction, call: qemu::Executed) {
    let (flags, data) = (qemu::NO_REGISTERS, ptr::null_mut());
    // SAFETY: the instruction is one of a block under translation; the callback takes no data.
    unsafe { qemu::qemu_plugin_register_vcpu_insn_exec_cb(instruction, call, flags, data) };
}

pub fn count_inside(instruction: *mut qemu::Instruction) {
    count(instruction, is_inside);
}

pub fn count_outside(instruction: *mut qemu::Instruction) {
    count(instruction, is_outside);
}

pub fn counts() -> Counts {
    let [inside, outside] = [&INSIDE, &OUTSIDE].map(|it| it.load(Ordering::Relaxed));
    Counts { inside, outside }
}
