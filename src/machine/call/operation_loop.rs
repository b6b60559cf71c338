//! Loops of one operation: the assembly's Rust side (`operation_loop.S`).

use crate::machine::call::call_path::CallPath;
use crate::machine::cpu::cycle_counter;
use crate::machine::cpu::cycle_counter::CycleCounter;
use crate::machine::env::Env;
use crate::machine::gic::target::OwnSgi;
use crate::machine::round::channel::CpuChannel;
use psci_bench::image::Conduit;
use psci_bench::measure::Operation;
use psci_bench::spec::pmf::Stamp;

/// A batch of SGIs that takes longer is given up; shorter than the lead waits
/// for it.
const SGI_PATIENCE_US: u64 = 5_000_000;

/// How often in a batch the SGI may not be there yet.
const POLLS: u64 = 1 << 24;

/// What the assembly reads and stores; see `operation_loop.S`.
#[repr(C)]
#[derive(Default)]
struct Raw {
    count: u64,
    body: u64,
    arguments: [u64; 4],
    before: [u64; 2],
    after: [u64; 2],
    cycles: [u64; 2],
    x0: u64,
    left: u64,
}

unsafe extern "C" {
    fn repeat_smc(raw: &mut Raw);
    fn repeat_smc_cycles(raw: &mut Raw);
    fn repeat_smc_twice(raw: &mut Raw);
    fn repeat_smc_twice_cycles(raw: &mut Raw);
    fn repeat_hvc(raw: &mut Raw);
    fn repeat_hvc_cycles(raw: &mut Raw);
    // Not to be called from here: a loop keeps to no convention.
    fn loop_empty();
    fn loop_smc();
    fn loop_hvc();
    fn loop_stamp();
    fn loop_sysreg();
    fn loop_sgi_v2();
    fn loop_sgi_v3();
}

/// A loop, timed as a whole.
pub struct Repeated {
    /// Counter before it.
    pub before: u64,
    /// Counter after it.
    pub after: u64,
    /// Cycles between the two, where PMCCNTR_EL0 counts.
    pub cycles: Option<u64>,
    /// The low word of the last call's X0; 0 of an operation that is no call,
    /// and -1 where it can not be done or was given up.
    pub code: i32,
}

/// A loop and its arguments.
struct Body {
    address: unsafe extern "C" fn(),
    arguments: [u64; 4],
    /// Whether X0 says what came of it.
    is_call: bool,
}

impl Env {
    /// The loop for an operation; None where this CPU does not have it.
    fn body(&self, slot: &CpuChannel, operation: Operation) -> Option<Body> {
        let (address, arguments): (unsafe extern "C" fn(), _) = match operation {
            Operation::Nothing => (loop_empty, [0; 4]),
            Operation::Call(function) => {
                let address = match self.way.conduit() {
                    Conduit::Smc => loop_smc,
                    Conduit::Hvc => loop_hvc,
                };
                (address, [function.into(), 0, 0, 0])
            }
            Operation::SelfSgi => match self.gic.own_sgi(slot)? {
                OwnSgi::Registers { value, sgir, iar } => (loop_sgi_v2, [value, sgir, iar, POLLS]),
                OwnSgi::System { value } => (loop_sgi_v3, [value, 0, 0, POLLS]),
            },
            Operation::SysregRead if cycle_counter::has_pmu_v3() => (loop_sysreg, [0; 4]),
            Operation::SysregRead => return None,
            Operation::ReadStamp => {
                let function = self.pmf.ok()?.get_timestamp();
                let stamp = Stamp::EnterPsci.tid();
                (loop_stamp, [function.into(), stamp.into(), slot.mpidr, 0])
            }
        };
        Some(Body {
            address,
            arguments,
            is_call: matches!(operation, Operation::Call(_) | Operation::ReadStamp),
        })
    }

    /// Waits until `start` and does the operation `count` times.
    ///
    /// Where the operation waits for an SGI, the timer would end that wait.
    pub fn repeat(
        &self,
        slot: &CpuChannel,
        operation: Operation,
        count: u32,
        start: u64,
    ) -> Repeated {
        let Some(body) = self.body(slot, operation) else {
            let now = self.way.now();
            return Repeated {
                before: now,
                after: now,
                cycles: None,
                code: -1,
            };
        };
        let mut raw = Raw {
            count: u64::from(count.max(1)),
            body: body.address as usize as u64,
            arguments: body.arguments,
            ..Raw::default()
        };
        let pmu = CycleCounter::start();
        let region = match (self.way, pmu.is_some()) {
            (CallPath::Smc, false) => repeat_smc,
            (CallPath::Smc, true) => repeat_smc_cycles,
            (CallPath::SmcTwice(_), false) => repeat_smc_twice,
            (CallPath::SmcTwice(_), true) => repeat_smc_twice_cycles,
            (CallPath::Hvc, false) => repeat_hvc,
            (CallPath::Hvc, true) => repeat_hvc_cycles,
        };
        let waits = operation == Operation::SelfSgi;
        if waits {
            self.timer.arm(start + self.us(SGI_PATIENCE_US));
        }
        self.way.wait_until(start);
        // SAFETY: operation_loop.S writes to Raw and its own frame alone, and keeps the
        // callee-saved registers. body() gave a loop of operation_loop.S with the
        // arguments that it asks for and an operation that this CPU has; the
        // region that reads PMCCNTR_EL0 is for CPUs that have that.
        unsafe { region(&mut raw) };
        if waits {
            self.timer.disarm();
            self.gic.drain();
        }
        let cycles = raw.cycles[1].wrapping_sub(raw.cycles[0]);
        let code = match (raw.left, body.is_call) {
            (0, true) => raw.x0 as u32 as i32,
            (0, false) => 0,
            _ => -1,
        };
        Repeated {
            before: self.way.choose(raw.before),
            after: self.way.choose(raw.after),
            cycles: pmu.map(|pmu| {
                pmu.stop();
                cycles
            }),
            code,
        }
    }
}
