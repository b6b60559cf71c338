//! Timed calls, which are written entirely in assembly (`timed.S`), and the counter reads around
//! them.

use core::arch::{asm, global_asm};

use aarch64_cpu::registers::MIDR_EL1;
use hardware::devices::its;
use hardware::image::Conduit;
use hardware::spec::counter::CounterErratum;
use hardware::spec::counter_value::CounterValue;
use smccc::psci::{PSCI_CPU_SUSPEND_64, PSCI_SYSTEM_SUSPEND_64, PSCI_VERSION};
use suite::measure::Counter;

use crate::machine::boot::layout::EntryRecord;
use crate::machine::cpu::instructions::relax;
use crate::machine::cpu::{cache_lines, registers};

// These files are assembled together, because they all use the macros in timed.S to read the
// counter.
global_asm!(
    include_str!("timed.S"),
    include_str!("operation_loop.S"),
    include_str!("interrupted_call.S"),
    ENTRY_CONTEXT = const core::mem::offset_of!(EntryRecord, suspend_context),
    ENTRY_WAKE = const core::mem::offset_of!(EntryRecord, wake_entry),
    ITS_COMMAND = const its::COMMAND,
    ITS_QUEUE_MASK = const its::QUEUE - 1,
);

/// The results of a timed call, as `timed.S` stores them.
#[repr(C)]
#[derive(Default)]
struct RawCall {
    before: [u64; 2],
    after: [u64; 2],
    x0: u64,
    return_path: u64,
}

unsafe extern "C" {
    fn timed_smc(function: u32, x1: u64, x2: u64, x3: u64, raw: &mut RawCall);
    fn timed_smc_twice(function: u32, x1: u64, x2: u64, x3: u64, raw: &mut RawCall);
    fn timed_hvc(function: u32, x1: u64, x2: u64, x3: u64, raw: &mut RawCall);
    fn empty_smc(raw: &mut RawCall);
    fn empty_smc_twice(raw: &mut RawCall);
    fn empty_hvc(raw: &mut RawCall);
    fn suspend_smc(function: u32, power_state: u32, raw: &mut RawCall, entry: &EntryRecord);
    fn suspend_smc_twice(function: u32, power_state: u32, raw: &mut RawCall, entry: &EntryRecord);
    fn suspend_hvc(function: u32, power_state: u32, raw: &mut RawCall, entry: &EntryRecord);
}

type TimedFunction = unsafe extern "C" fn(u32, u64, u64, u64, &mut RawCall);

/// The size in bytes of the longest timed function, from its entry to its return.
const TIMED_BYTES: u64 = 72;
/// The size in bytes of a timed function's stack frame.
const TIMED_FRAME: u64 = 48;

/// A firmware function and its arguments.
pub struct FirmwareFunction {
    pub id: u32,
    pub arguments: [u64; 3],
}

impl FirmwareFunction {
    pub const VERSION: Self = Self {
        id: PSCI_VERSION,
        arguments: [0; 3],
    };
}

/// The counter around a timed call, and how the call returned.
#[derive(Clone, Copy)]
pub struct TimedCall {
    /// The counter before the call; None if an erratum spoiled the read.
    pub before: Option<CounterValue>,
    /// The counter after the call; None if an erratum spoiled the read. If the CPU returned through
    /// the entry point, the first instruction there reads it.
    pub after: Option<CounterValue>,
    /// The low word of X0 after the call; None if the call did not return.
    pub code: Option<i32>,
    pub return_path: ReturnPath,
}

/// How a call returned to the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReturnPath {
    /// At the instruction after the call.
    FellThrough,
    /// Through the entry point, after a power-down.
    Resumed,
    /// The call returned through the entry point with a context ID other than the one passed.
    WrongContext,
}

macro_rules! counter {
    ($register:literal) => {{
        let value: u64;
        // SAFETY: reading the counter has no side effect, and is permitted at EL1 and EL2. Not
        // `nomem`, because memory accesses must not be moved across the read.
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

/// The number of read pairs after which a read is accepted unchecked, as in the Linux driver.
const PAIRS: u32 = 200;

fn read_twice() -> [u64; 2] {
    let first: u64;
    let second: u64;
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

/// The number of reads after which an unchanged counter is assumed to have stopped. A
/// running counter changes after far fewer reads, even at the lowest permitted frequency (1 MHz).
const STILL: u32 = 1 << 20;

/// The conduit for a timed call, and the counter that is read before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallPath {
    /// SMC, with CNTPCT.
    Smc,
    /// SMC, with CNTPCT read twice.
    SmcTwice(CounterErratum),
    /// HVC, with CNTVCT.
    Hvc,
}

impl CallPath {
    /// Returns the path that all CPUs use for this conduit, given any erratum listed in the device
    /// tree or implied by the lead's MIDR. Guests use HVC and their own virtual counter.
    pub fn new(conduit: Conduit, erratum: Option<CounterErratum>, midr: u64) -> Self {
        let cortex_a73 = MIDR_EL1::Implementer::Arm + MIDR_EL1::PartNum.val(0xd09);
        let by_midr = cortex_a73
            .matches_all(midr)
            .then_some(CounterErratum::CortexA73);
        match (conduit, erratum.or(by_midr)) {
            (Conduit::Hvc, _) => Self::Hvc,
            (Conduit::Smc, Some(erratum)) => Self::SmcTwice(erratum),
            (Conduit::Smc, None) => Self::Smc,
        }
    }

    pub fn counter(self) -> Counter {
        match self {
            Self::Smc => Counter::Physical,
            Self::SmcTwice(erratum) => Counter::PhysicalTwice(erratum),
            Self::Hvc => Counter::Virtual,
        }
    }

    pub fn conduit(self) -> Conduit {
        match self {
            Self::Smc | Self::SmcTwice(_) => Conduit::Smc,
            Self::Hvc => Conduit::Hvc,
        }
    }

    /// Returns bit 0 of a context ID: 1 if the entry point must read CNTVCT.
    pub fn context_flag(self) -> u64 {
        u64::from(self == Self::Hvc)
    }

    /// Returns true if the counter is running; all waits depend on it.
    pub fn is_counting(self) -> bool {
        let first = self.now();
        (0..STILL).any(|_| {
            relax();
            self.now() != first
        })
    }

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

    /// Spins until the counter reaches `instant`, without memory accesses. This is the last thing a
    /// CPU does before a timed call.
    pub fn spin_until(self, instant: u64) {
        while self.now() < instant {
            relax();
        }
    }

    const fn timed_function(self) -> TimedFunction {
        match self {
            Self::Smc => timed_smc,
            Self::SmcTwice(_) => timed_smc_twice,
            Self::Hvc => timed_hvc,
        }
    }

    pub fn time_call(self, function: &FirmwareFunction) -> TimedCall {
        self.time_into(&mut RawCall::default(), function)
    }

    #[inline(always)]
    fn time_into(self, raw: &mut RawCall, function: &FirmwareFunction) -> TimedCall {
        let timed = self.timed_function();
        let [x1, x2, x3] = function.arguments;
        // SAFETY: timed.S writes only the six words of RawCall, and preserves the callee-saved
        // registers; the conduit is the one specified in the device tree. None of the timed
        // functions changes the payload's memory.
        unsafe { timed(function.id, x1, x2, x3, raw) };
        self.read(raw)
    }

    /// Times a call like [`Self::time_call`], after evicting from this CPU's caches everything that
    /// the call uses: the code of the timed function, its stack frame and the results.
    #[inline(never)]
    pub fn time_call_evicted(self, function: &FirmwareFunction) -> TimedCall {
        let mut raw = RawCall::default();
        let code = self.timed_function() as usize as u64;
        let frame = registers::stack_pointer() - TIMED_FRAME;
        let results = core::ptr::from_ref(&raw) as u64;
        // SAFETY: the code is part of the image, which is mapped.
        unsafe { cache_lines::evict(code..code + TIMED_BYTES) };
        // SAFETY: `raw` is in this function's frame, which starts at the stack pointer. The timed
        // function's frame is always pushed below it.
        unsafe { cache_lines::evict(frame..results + size_of::<RawCall>() as u64) };
        self.time_into(&mut raw, function)
    }

    /// Returns the ticks spent in a timed region that contains no call, or None if an erratum
    /// spoiled a read.
    pub fn empty_region_ticks(self) -> Option<u64> {
        let empty = match self {
            Self::Smc => empty_smc,
            Self::SmcTwice(_) => empty_smc_twice,
            Self::Hvc => empty_hvc,
        };
        let mut raw = RawCall::default();
        // SAFETY: timed.S writes only the six words of RawCall.
        unsafe { empty(&mut raw) };
        let call = self.read(&raw);
        Some(call.after?.since(call.before?))
    }

    /// Times CPU_SUSPEND, or SYSTEM_SUSPEND if `power_state` is None. `entry` is in the CPU's channel,
    /// where the entry point finds it. This function is not inlined, so that `tests/entries` can
    /// find it.
    #[inline(never)]
    pub fn time_suspend(self, power_state: Option<u32>, entry: &EntryRecord) -> TimedCall {
        let (function, argument) = match power_state {
            Some(power_state) => (PSCI_CPU_SUSPEND_64, power_state),
            None => (PSCI_SYSTEM_SUSPEND_64, 0),
        };
        let suspend = match self {
            Self::Smc => suspend_smc,
            Self::SmcTwice(_) => suspend_smc_twice,
            Self::Hvc => suspend_hvc,
        };
        let mut raw = RawCall::default();
        // SAFETY: as above; in addition, timed.S stores the context ID in `entry`. The firmware
        // resumes this CPU at the entry point in `entry`, which uses the context ID to return to this stack. No
        // other CPU uses this stack.
        unsafe { suspend(function, argument, &mut raw, entry) };
        self.read(&raw)
    }

    /// Selects the correct value from two reads, or returns None if an erratum may have spoiled
    /// both.
    pub fn select_read(self, reads: [u64; 2]) -> Option<CounterValue> {
        CounterValue::new(match self {
            Self::SmcTwice(erratum) => erratum.choose(reads)?,
            Self::Smc | Self::Hvc => reads[0],
        })
    }

    fn read(self, raw: &RawCall) -> TimedCall {
        let return_path = match raw.return_path {
            0 => ReturnPath::FellThrough,
            1 => ReturnPath::Resumed,
            _ => ReturnPath::WrongContext,
        };
        TimedCall {
            before: self.select_read(raw.before),
            after: self.select_read(raw.after),
            code: (return_path == ReturnPath::FellThrough).then_some(raw.x0 as u32 as i32),
            return_path,
        }
    }
}
