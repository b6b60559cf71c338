//! The watchdog, which is a last resort. If the lead sleeps while all other CPUs are off and then
//! fails to wake up, no CPU can detect this. In that case, the watchdog resets the board.

use hardware::board::{NoWatchdog, Watchdog as Description};
use hardware::devices::watchdog::Driver;

use crate::machine::cpu::instructions;
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::probe;
use crate::machine::memory::tables::TranslationTables;

/// The board's watchdog. Only the lead uses it.
pub struct WatchdogDriver {
    pub description: Description,
    driver: Driver<Mmio>,
}

impl WatchdogDriver {
    /// Maps the board's watchdog without changing it. It must support a timeout of at least `least`
    /// seconds. The system counter runs at `hz` ticks per second.
    pub fn new(
        tables: &mut TranslationTables,
        description: Description,
        least: u64,
        hz: u64,
    ) -> Result<Self, NoWatchdog> {
        let registers = MappedRegisters::map(tables, description.registers())
            .map_err(|_| NoWatchdog::NotThere)?;
        let kind = description.kind;
        let identification = match kind.identification() {
            Some(offset) => {
                let address = registers.region().base + u64::from(offset);
                probe::try_read_word(address).ok_or(NoWatchdog::NotThere)?
            }
            None => 0,
        };
        let driver = Driver::new(Mmio::new(registers), kind, identification, (least, hz))?;
        Ok(Self {
            description,
            driver,
        })
    }

    /// Arms the watchdog to reset the board; see [`Driver::arm`].
    pub fn arm(&mut self, least: u64, wish: u64, hz: u64) {
        self.driver.arm(least, wish, hz);
        // This must take effect before the CPU goes to sleep.
        instructions::complete_accesses();
    }

    /// Restores the watchdog's original setting.
    pub fn disarm(&mut self) {
        self.driver.disarm();
        instructions::complete_accesses();
    }
}
