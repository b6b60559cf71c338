//! Timed calls: the figures' source, and so in assembly alone (`timed.S`).

use crate::machine::cpu::instructions::relax;
use core::arch::{asm, global_asm};
use core::sync::atomic::AtomicU64;

use psci_bench::image::Conduit;
use psci_bench::measure::Counter;
use psci_bench::spec::counter::CounterErratum;
use psci_bench::spec::psci::function;

// One piece, as operation_loop.S reads the counter by the macros of timed.S.
global_asm!(include_str!("timed.S"), include_str!("operation_loop.S"));

/// What the assembly stores; see `timed.S`.
#[repr(C)]
#[derive(Default)]
struct Raw {
    before: [u64; 2],
    after: [u64; 2],
    x0: u64,
    back: u64,
}

unsafe extern "C" {
    fn timed_smc(function: u32, raw: &mut Raw);
    fn timed_smc_twice(function: u32, raw: &mut Raw);
    fn timed_hvc(function: u32, raw: &mut Raw);
    fn empty_smc(raw: &mut Raw);
    fn empty_smc_twice(raw: &mut Raw);
    fn empty_hvc(raw: &mut Raw);
    fn suspend_smc(function: u32, power_state: u32, raw: &mut Raw, context: &AtomicU64);
    fn suspend_smc_twice(function: u32, power_state: u32, raw: &mut Raw, context: &AtomicU64);
    fn suspend_hvc(function: u32, power_state: u32, raw: &mut Raw, context: &AtomicU64);
}

/// One call as its caller saw it.
#[derive(Clone, Copy)]
pub struct TimedCall {
    /// Counter before the call; 0 where an erratum spoiled the read.
    pub before: u64,
    /// Counter after it, likewise; for a CPU that came back through the entry
    /// point, in its first instruction there.
    pub after: u64,
    /// The call's X0; 0 when it did not return.
    pub x0: u64,
    /// The way back.
    pub back: Return,
}

/// How a CPU came back from a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// The call returned.
    Returned,
    /// Through the entry point.
    Resumed,
    /// Through the entry point, with another context ID than was given.
    WrongContext,
}

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

/// A conduit and the counter that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPath {
    /// SMC, CNTPCT.
    Smc,
    /// SMC, CNTPCT read twice.
    SmcTwice(CounterErratum),
    /// HVC, CNTVCT.
    Hvc,
}

impl CallPath {
    /// The way for this conduit, on all CPUs: with the erratum that the device
    /// tree names, or that the lead has by its MIDR. HVC is a guest's: it counts
    /// by the virtual counter, which is its own.
    pub fn new(conduit: Conduit, erratum: Option<CounterErratum>, midr: u64) -> Self {
        let by_midr = is_cortex_a73(midr).then_some(CounterErratum::CortexA73);
        match (conduit, erratum.or(by_midr)) {
            (Conduit::Hvc, _) => Self::Hvc,
            (Conduit::Smc, Some(erratum)) => Self::SmcTwice(erratum),
            (Conduit::Smc, None) => Self::Smc,
        }
    }

    /// The counter that this way reads.
    pub fn counter(self) -> Counter {
        match self {
            Self::Smc => Counter::Physical,
            Self::SmcTwice(erratum) => Counter::PhysicalTwice(erratum),
            Self::Hvc => Counter::Virtual,
        }
    }

    /// The conduit.
    pub fn conduit(self) -> Conduit {
        match self {
            Self::Smc | Self::SmcTwice(_) => Conduit::Smc,
            Self::Hvc => Conduit::Hvc,
        }
    }

    /// Bit 0 of a context ID: which counter the entry point is to read.
    pub fn context_flag(self) -> u64 {
        u64::from(self == Self::Hvc)
    }

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

    /// Times a call that takes no argument and only returns.
    pub fn call(self, function: u32) -> TimedCall {
        let timed = match self {
            Self::Smc => timed_smc,
            Self::SmcTwice(_) => timed_smc_twice,
            Self::Hvc => timed_hvc,
        };
        let mut raw = Raw::default();
        // SAFETY: timed.S writes the six words of Raw and nothing else, keeps
        // the callee-saved registers, and the conduit is the one that the
        // device tree names.
        unsafe { timed(function, &mut raw) };
        self.read(&raw)
    }

    /// Times no call at all.
    pub fn nothing(self) -> TimedCall {
        let empty = match self {
            Self::Smc => empty_smc,
            Self::SmcTwice(_) => empty_smc_twice,
            Self::Hvc => empty_hvc,
        };
        let mut raw = Raw::default();
        // SAFETY: timed.S writes the six words of Raw and nothing else.
        unsafe { empty(&mut raw) };
        self.read(&raw)
    }

    /// Ticks that a timed region takes that has no call in it.
    pub fn empty(self) -> u64 {
        let call = self.nothing();
        call.after - call.before
    }

    /// Times CPU_SUSPEND, or without a state SYSTEM_SUSPEND. `context` is the
    /// slot's, for the entry to find.
    pub fn suspend(self, power_state: Option<u32>, context: &AtomicU64) -> TimedCall {
        let (function, power_state) = match power_state {
            Some(power_state) => (function::CPU_SUSPEND, power_state),
            None => (function::SYSTEM_SUSPEND, 0),
        };
        let suspend = match self {
            Self::Smc => suspend_smc,
            Self::SmcTwice(_) => suspend_smc_twice,
            Self::Hvc => suspend_hvc,
        };
        let mut raw = Raw::default();
        // SAFETY: as above, and timed.S stores the context ID in `context`. The
        // firmware resumes this CPU at wake_entry, which by that finds this
        // stack again, used by nobody else.
        unsafe { suspend(function, power_state, &mut raw, context) };
        self.read(&raw)
    }

    /// Returns the right one of two reads; 0 where neither is known to be right.
    pub fn choose(self, reads: [u64; 2]) -> u64 {
        match self {
            Self::SmcTwice(erratum) => erratum.choose(reads).unwrap_or(0),
            Self::Smc | Self::Hvc => reads[0],
        }
    }

    fn read(self, raw: &Raw) -> TimedCall {
        TimedCall {
            before: self.choose(raw.before),
            after: self.choose(raw.after),
            x0: raw.x0,
            back: match raw.back {
                0 => Return::Returned,
                1 => Return::Resumed,
                _ => Return::WrongContext,
            },
        }
    }
}
