//! The counters of instructions, which code in the blocks increments.

#[cfg(not(feature = "api-2"))]
pub use plain::*;
#[cfg(feature = "api-2")]
pub use scored::*;

#[cfg(not(feature = "api-2"))]
mod plain {
    use std::sync::atomic::{AtomicU64, Ordering};

    use crate::{Counts, qemu};

    static INSIDE: AtomicU64 = AtomicU64::new(0);
    static OUTSIDE: AtomicU64 = AtomicU64::new(0);

    pub fn prepare() {}

    fn count(instruction: *mut qemu::Instruction, counter: &'static AtomicU64) {
        let number = counter.as_ptr().cast();
        // SAFETY: the instruction is one of a block under translation; the counter is there as
        // long as the process, and is accessed by the only thread of virtual CPUs.
        unsafe {
            qemu::qemu_plugin_register_vcpu_insn_exec_inline(instruction, qemu::ADD, number, 1);
        }
    }

    pub fn count_inside(instruction: *mut qemu::Instruction) {
        count(instruction, &INSIDE);
    }

    pub fn count_outside(instruction: *mut qemu::Instruction) {
        count(instruction, &OUTSIDE);
    }

    pub fn counts() -> Counts {
        let [inside, outside] = [&INSIDE, &OUTSIDE].map(|it| it.load(Ordering::Relaxed));
        Counts { inside, outside }
    }
}

#[cfg(feature = "api-2")]
mod scored {
    use std::sync::atomic::{AtomicPtr, Ordering};

    use crate::{Counts, qemu};

    static SCOREBOARD: AtomicPtr<qemu::Scoreboard> = AtomicPtr::new(std::ptr::null_mut());

    pub fn prepare() {
        // SAFETY: the plugin is being installed. A CPU has two numbers of 8 bytes.
        let scoreboard = unsafe { qemu::qemu_plugin_scoreboard_new(16) };
        SCOREBOARD.store(scoreboard, Ordering::Relaxed);
    }

    fn number(offset: usize) -> qemu::Number {
        let scoreboard = SCOREBOARD.load(Ordering::Relaxed);
        qemu::Number { scoreboard, offset }
    }

    fn count(instruction: *mut qemu::Instruction, number: qemu::Number) {
        // SAFETY: the instruction is one of a block under translation; the scoreboard is there
        // as long as the process.
        unsafe {
            qemu::qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
                instruction,
                qemu::ADD,
                number,
                1,
            );
        }
    }

    pub fn count_inside(instruction: *mut qemu::Instruction) {
        count(instruction, number(0));
    }

    pub fn count_outside(instruction: *mut qemu::Instruction) {
        count(instruction, number(8));
    }

    // Sums: QEMU 10.0 takes the CPU that translated a block for the one that executes it.
    pub fn counts() -> Counts {
        // SAFETY: the scoreboard is there as long as the process.
        let [inside, outside] = [0, 8].map(|it| unsafe { qemu::qemu_plugin_u64_sum(number(it)) });
        Counts { inside, outside }
    }
}
