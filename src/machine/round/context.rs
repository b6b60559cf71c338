//! The registers that are compared before and after a suspend.

use hardware::devices::private_interrupts::PrivateSettings;
use suite::measure::KeptContext;

use crate::machine::call::call_path::ReturnPath;
use crate::machine::cpu::registers;
use crate::machine::gic::target::GicCpu;
use crate::machine::time::waiter::Waiter;

/// The values of these registers at one instant.
pub struct Context {
    vectors: u64,
    timer: Option<u64>,
    private_interrupts: Option<PrivateSettings>,
}

impl Context {
    /// Reads this CPU's registers.
    pub fn read(waiter: &Waiter, own: &GicCpu) -> Self {
        Self {
            vectors: registers::vector_base(),
            timer: waiter.timer.armed_for(),
            private_interrupts: waiter.gic.private_settings(own),
        }
    }

    /// Compares the registers with their values after a suspend that returned through `return_path`.
    pub fn compare(&self, after: &Self, return_path: ReturnPath) -> KeptContext {
        let fell_through = return_path == ReturnPath::FellThrough;
        KeptContext {
            timer: self.timer == after.timer,
            private_interrupts: self.private_interrupts == after.private_interrupts,
            vectors: fell_through.then_some(self.vectors == after.vectors),
        }
    }
}
