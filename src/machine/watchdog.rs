//! The watchdog of last resort. While the lead sleeps and no other CPU is on, no
//! CPU could see that the lead does not wake: then the watchdog resets the board.

use psci_bench::board::{NoWatchdog, Watchdog as Description, WatchdogKind};
use psci_bench::devices::watchdog::reach::{Reach, Setting};
use psci_bench::devices::watchdog::sbsa::{self, Sbsa};
use psci_bench::devices::watchdog::sp805::{self, Sp805};

use crate::machine::cpu::instructions;
use crate::machine::memory::mmio::{Mmio, Registers};
use crate::machine::memory::probe;
use crate::machine::memory::tables::TranslationTables;

enum Device {
    Sbsa(Sbsa<Mmio>),
    Sp805(Sp805<Mmio>),
}

pub struct Watchdog {
    pub description: Description,
    device: Device,
    reach: Reach,
    found: Setting,
}

impl Watchdog {
    /// Opens the board's watchdog, and leaves it as it is. It must be able to wait
    /// for `least` seconds. The system counter has `hz` ticks a second.
    pub fn new(
        tables: &mut TranslationTables,
        description: Description,
        least: u64,
        hz: u64,
    ) -> Result<Self, NoWatchdog> {
        let (device, reach, found) = open(tables, description).ok_or(NoWatchdog::NotThere)?;
        let ticks = least.saturating_mul(hz);
        if reach.count(ticks, ticks, hz).is_none() {
            let most = reach.seconds(hz);
            return Err(NoWatchdog::TooSoon { most, least });
        }
        Ok(Self {
            description,
            device,
            reach,
            found,
        })
    }

    /// Lets it reset the board `wish` ticks of the system counter from now, or
    /// as late as it can. Where that would be sooner than `least` ticks from
    /// now, it gets the setting back that it had at first: a time from before would
    /// be sooner still.
    pub fn arm(&mut self, least: u64, wish: u64, hz: u64) {
        let control = match &self.device {
            Device::Sbsa(_) => sbsa::ON,
            Device::Sp805(_) => sp805::ON,
        };
        let count = self.reach.count(least, wish, hz);
        self.set(count.map_or(self.found, |count| Setting { control, count }));
    }

    /// Gives it the setting that it had at first, its time counted from now on: a
    /// watchdog that the firmware left running is refreshed by this.
    pub fn disarm(&mut self) {
        self.set(self.found);
    }

    fn set(&mut self, setting: Setting) {
        match &mut self.device {
            Device::Sbsa(sbsa) => sbsa.set(setting),
            Device::Sp805(sp805) => sp805.set(setting),
        }
        // Before this CPU goes to sleep.
        instructions::complete_accesses();
    }
}

/// Maps a watchdog. Returns it with its reach and its setting; None where its
/// registers cannot be mapped or read, or are those of another device.
fn open(
    tables: &mut TranslationTables,
    description: Description,
) -> Option<(Device, Reach, Setting)> {
    let registers = Registers::map(tables, description.registers()).ok()?;
    let read = |offset: u32| probe::try_read_word(registers.region().base + u64::from(offset));
    Some(match description.kind {
        WatchdogKind::Sbsa => {
            let mut sbsa = Sbsa::new(Mmio::new(registers), read(sbsa::W_IIDR.offset())?);
            let (clock, longest) = (None, sbsa.longest);
            let found = sbsa.setting();
            (Device::Sbsa(sbsa), Reach { clock, longest }, found)
        }
        WatchdogKind::Sp805 { clock } => {
            let mut sp805 = Sp805::new(Mmio::new(registers), read(sp805::PERIPHERAL_ID.offset())?)?;
            let (clock, longest) = (Some(clock), sp805::LONGEST);
            let found = sp805.setting();
            (Device::Sp805(sp805), Reach { clock, longest }, found)
        }
    })
}
