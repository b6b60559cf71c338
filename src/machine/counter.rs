//! The system counter.

use core::arch::asm;

use super::timed::Way;

/// Whether the CPU is one whose counter must be read twice: Cortex-A73, erratum
/// 858921 (a read may be wrong when bit 32 is about to change).
pub fn is_cortex_a73(midr: u64) -> bool {
    const CORTEX_A73: u64 = 0x410f_d090;
    const REVISION_AND_VARIANT: u64 = 0xf << 20 | 0xf;
    midr & 0xffff_ffff & !REVISION_AND_VARIANT == CORTEX_A73
}

/// The right one of two successive reads on such a CPU.
pub fn choose([first, second]: [u64; 2]) -> u64 {
    if (first ^ second) >> 32 & 1 == 0 {
        second
    } else {
        first
    }
}

/// Reads one counter register.
macro_rules! counter {
    ($register:literal) => {{
        let value: u64;
        // SAFETY: reading the counter has no side effect; EL1 and EL2 may.
        // Not `nomem`: memory accesses must stay on their side of it.
        unsafe {
            asm!(
                "isb",
                concat!("mrs {}, ", $register),
                out(reg) value,
                options(nostack)
            );
        }
        value
    }};
}

/// Reads until a counter that has not changed is taken to stand still: a tick
/// of the slowest that is allowed, 1 MHz, is over far sooner.
const STILL: u32 = 1 << 20;

impl Way {
    /// Whether the counter counts: all waiting ends by it.
    pub fn counts(self) -> bool {
        let first = self.now();
        (0..STILL).any(|_| {
            relax();
            self.now() != first
        })
    }

    /// Reads the counter, not ahead of anything that comes before.
    pub fn now(self) -> u64 {
        match self {
            Self::Hvc => counter!("cntvct_el0"),
            Self::Smc => counter!("cntpct_el0"),
            Self::SmcTwice => {
                let (first, second): (u64, u64);
                // SAFETY: as in counter!.
                unsafe {
                    asm!(
                        "isb",
                        "mrs {}, cntpct_el0",
                        "mrs {}, cntpct_el0",
                        out(reg) first,
                        out(reg) second,
                        options(nostack)
                    );
                }
                choose([first, second])
            }
        }
    }

    /// Spins until the counter has reached `instant`: the last stretch before
    /// a call, with no memory touched.
    pub fn wait_until(self, instant: u64) {
        while self.now() < instant {
            relax();
        }
    }
}

/// Gives way: in a loop that waits for another CPU, so that SMT threads and
/// emulators run that one meanwhile.
pub fn relax() {
    // SAFETY: YIELD is a hint.
    unsafe { asm!("yield", options(nomem, nostack, preserves_flags)) };
}
