//! The system counter.

use core::arch::asm;

use super::timed::Way;

/// Whether the CPU is a Cortex-A73, whose counter must be read twice.
pub fn is_cortex_a73(midr: u64) -> bool {
    const CORTEX_A73: u64 = 0x410f_d090;
    const REVISION_AND_VARIANT: u64 = 0xf << 20 | 0xf;
    midr & 0xffff_ffff & !REVISION_AND_VARIANT == CORTEX_A73
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

/// Pairs of reads until one is taken as it is: as Linux's driver has it.
const PAIRS: u32 = 200;

fn read_twice() -> [u64; 2] {
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
    [first, second]
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
            Self::SmcTwice(erratum) => {
                let right = (0..PAIRS).find_map(|_| erratum.choose(read_twice()));
                right.unwrap_or_else(|| read_twice()[1])
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
