//! Timed calls: the figures' source, and so in assembly alone (`timed.S`).

use core::arch::global_asm;
use core::sync::atomic::AtomicU64;

use psci_bench::image::Conduit;
use psci_bench::measure::Counter;
use psci_bench::spec::counter::CounterErratum;
use psci_bench::spec::psci::function;

use super::counter;

// One piece, as micro.S reads the counter by the macros of timed.S.
global_asm!(include_str!("timed.S"), include_str!("micro.S"));

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
pub struct Call {
    /// Counter before the call; 0 where an erratum spoiled the read.
    pub before: u64,
    /// Counter after it, likewise; for a CPU that came back through the entry
    /// point, in its first instruction there.
    pub after: u64,
    /// The call's X0; 0 when it did not return.
    pub x0: u64,
    /// The way back.
    pub back: Back,
}

/// How a CPU came back from a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// The call returned.
    Returned,
    /// Through the entry point.
    Resumed,
    /// Through the entry point, with another context ID than was given.
    WrongContext,
}

/// A conduit and the counter that goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// SMC, CNTPCT.
    Smc,
    /// SMC, CNTPCT read twice.
    SmcTwice(CounterErratum),
    /// HVC, CNTVCT.
    Hvc,
}

impl Way {
    /// The way for this conduit, on all CPUs: with the erratum that the device
    /// tree names, or that the lead has by its MIDR. HVC is a guest's: it counts
    /// by the virtual counter, which is its own.
    pub fn new(conduit: Conduit, erratum: Option<CounterErratum>, midr: u64) -> Self {
        let by_midr = counter::is_cortex_a73(midr).then_some(CounterErratum::CortexA73);
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

    /// Times a call that takes no argument and only returns.
    pub fn call(self, function: u32) -> Call {
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
    pub fn nothing(self) -> Call {
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

    /// Times CPU_SUSPEND, or without a state SYSTEM_SUSPEND. `context` is the
    /// slot's, for the entry to find.
    pub fn suspend(self, power_state: Option<u32>, context: &AtomicU64) -> Call {
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

    fn read(self, raw: &Raw) -> Call {
        Call {
            before: self.choose(raw.before),
            after: self.choose(raw.after),
            x0: raw.x0,
            back: match raw.back {
                0 => Back::Returned,
                1 => Back::Resumed,
                _ => Back::WrongContext,
            },
        }
    }
}
