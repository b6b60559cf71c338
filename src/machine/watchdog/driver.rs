//! The watchdog of last resort. While the lead sleeps and no other CPU is on,
//! nobody could notice that it never wakes: then the watchdog resets the
//! board.

use crate::machine::watchdog::sbsa::{self, Sbsa};
use crate::machine::watchdog::setting::Setting;
use crate::machine::watchdog::sp805::{self, Sp805};
use psci_bench::board::{NoWatchdog, Watchdog as Description, WatchdogKind};
use psci_bench::devices::watchdog::Reach;

use crate::machine::cpu::instructions;
use crate::machine::memory::mmio::Registers;
use crate::machine::memory::tables::TranslationTables;

enum Device {
    Sbsa(Sbsa),
    Sp805(Sp805),
}

/// A watchdog, and how it was found.
pub struct Watchdog {
    /// What the device tree says of it.
    pub description: Description,
    device: Device,
    reach: Reach,
    found: Setting,
}

impl Watchdog {
    /// The board's watchdog, left as it is, if it can wait for `least` seconds.
    /// The system counter has `hz` ticks a second.
    ///
    /// # Errors
    /// Why it can not be used.
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
    /// now, it is put back as it was found: what it was armed to before would be
    /// sooner still.
    pub fn arm(&mut self, least: u64, wish: u64, hz: u64) {
        let control = match &self.device {
            Device::Sbsa(_) => sbsa::ON,
            Device::Sp805(_) => sp805::ON,
        };
        match self.reach.count(least, wish, hz) {
            Some(count) => self.set(Setting { control, count }),
            None => self.disarm(),
        }
    }

    /// Puts it back as it was found, its time counted from now on: one that the
    /// firmware left running is refreshed by this.
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

/// A device, how far it counts, and how it is set; none where its registers can
/// not be mapped or read, or are not what they should be.
fn open(
    tables: &mut TranslationTables,
    description: Description,
) -> Option<(Device, Reach, Setting)> {
    let registers = Registers::map(tables, description.registers()).ok()?;
    Some(match description.kind {
        WatchdogKind::Sbsa => {
            let sbsa = Sbsa::new(registers)?;
            let (clock, longest) = (None, sbsa.longest);
            let found = sbsa.setting();
            (Device::Sbsa(sbsa), Reach { clock, longest }, found)
        }
        WatchdogKind::Sp805 { clock } => {
            let sp805 = Sp805::new(registers)?;
            let (clock, longest) = (Some(clock), sp805::LONGEST);
            let found = sp805.setting();
            (Device::Sp805(sp805), Reach { clock, longest }, found)
        }
    })
}
