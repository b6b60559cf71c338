//! Which registers the payload uses besides the console's.

use super::{Board, Gic, Region};

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
}
