//! Which registers the payload uses besides the console's.

use arrayvec::ArrayVec;

use super::board::Board;
use super::error::Problem;
use super::gic::{Gic, REDISTRIBUTOR_REGIONS_MAX};
use super::ranges::Region;

/// The most devices: console, distributor, two pages of a timer frame, watchdog,
/// and redistributors.
const DEVICES_MAX: usize = 5 + REDISTRIBUTOR_REGIONS_MAX;

impl Board<'_> {
    /// Visits the registers of every device that is used, with its name; the
    /// console's, which are needed earlier, are not among them.
    pub fn devices(&self, visit: &mut dyn FnMut(&'static str, Region)) {
        match &self.gic {
            None => {}
            Some(Gic::V2 {
                distributor,
                cpu_interface,
            }) => {
                visit("GIC's distributor", *distributor);
                visit("GIC's CPU interface", *cpu_interface);
            }
            Some(Gic::V3 {
                distributor,
                redistributors,
                ..
            }) => {
                visit("GIC's distributor", *distributor);
                for region in redistributors {
                    visit("GIC's redistributors", *region);
                }
            }
        }
        if let Ok(frame) = &self.timer_frame {
            for registers in frame.registers() {
                visit("timer frame", registers);
            }
        }
        if let Some(watchdog) = &self.watchdog {
            visit("watchdog", watchdog.registers());
        }
    }

    /// Refuses registers of two devices in one place, and registers in memory:
    /// refreshing a watchdog at the distributor's address turns that off.
    pub(crate) fn check_overlaps(&self) -> Result<(), Problem<'static>> {
        let mut devices: ArrayVec<(&'static str, Region), DEVICES_MAX> = ArrayVec::new();
        let mut add = |name, region| {
            // There is room for each.
            let _ = devices.try_push((name, region));
        };
        self.devices(&mut add);
        add("console", self.uart.registers());
        for (index, (name, region)) in devices.iter().enumerate() {
            // Nothing touches memory that is reserved, and registers may be there.
            let reserved = self.reserved.iter().any(|part| part.contains(region));
            let memory = self.memory.iter().filter(|_| !reserved);
            let memory = memory.map(|memory| ("memory", *memory));
            let mut others = devices.iter().take(index).copied().chain(memory);
            if let Some((other, there)) = others.find(|it| it.1.overlaps(region)) {
                return Err(Problem::Overlap {
                    name,
                    base: region.base,
                    other,
                    there: there.base,
                });
            }
        }
        Ok(())
    }
}
