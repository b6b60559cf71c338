//! The watchdog of last resort. While the lead sleeps and no other CPU is on,
//! nobody could notice that it never wakes: then the watchdog resets the
//! board.
//!
//! Both kinds count a time twice: at the end of the first they raise an
//! interrupt, which nobody takes, and at the end of the second they reset.

mod sbsa;
mod sp805;

use psci_bench::board::{Watchdog as Description, WatchdogKind};

use self::sbsa::Sbsa;
use self::sp805::Sp805;
use super::cpu;
use super::mmio::Registers;
use super::mmu::Tables;

/// What a watchdog is set to.
#[derive(Clone, Copy)]
struct Setting {
    /// The bits that let it run and reset; 0: it stands.
    control: u32,
    /// Its clock's ticks until the interrupt, and again until the reset.
    count: u64,
}

enum Device {
    Sbsa(Sbsa),
    Sp805(Sp805),
}

/// A watchdog, and how it was found.
pub struct Watchdog {
    device: Device,
    found: Setting,
}

impl Watchdog {
    /// The board's watchdog, left as it is; none where its registers can not
    /// be mapped or read, or are not what they should be.
    pub fn new(tables: &mut Tables, description: &Description) -> Option<Self> {
        let registers = Registers::map(tables, description.registers()).ok()?;
        let (device, found) = match description.kind {
            WatchdogKind::Sbsa => {
                let sbsa = Sbsa::new(registers)?;
                let found = sbsa.setting();
                (Device::Sbsa(sbsa), found)
            }
            WatchdogKind::Sp805 { clock } => {
                let sp805 = Sp805::new(registers, clock.get())?;
                let found = sp805.setting();
                (Device::Sp805(sp805), found)
            }
        };
        Some(Self { device, found })
    }

    /// Lets it reset the board so many ticks of the system counter from now,
    /// or as late as it can. Where it can not wait for half of them, it is
    /// left alone, and this is false. The counter has `hz` ticks a second.
    pub fn arm(&mut self, ticks: u64, hz: u64) -> bool {
        let (control, longest, own) = match &self.device {
            Device::Sbsa(sbsa) => (sbsa::ON, sbsa.longest, ticks),
            Device::Sp805(sp805) => {
                let own = ticks.saturating_mul(sp805.clock) / hz.max(1);
                (sp805::ON, sp805::LONGEST, own)
            }
        };
        let count = own / 2 + 1;
        if count / 2 > longest {
            return false;
        }
        let count = count.min(longest);
        self.set(Setting { control, count });
        true
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
        cpu::barrier();
    }
}
