//! Which registers the payload uses besides the console's.

use super::{Board, Gic, Region};

impl Board<'_> {
    /// Visits the registers of every device that is used, with its name; the
    /// console's, which are needed earlier, are not among them.
    ///
    /// Of the GIC's, as many as there is use for: some trees claim more than
    /// there is.
    pub fn devices(&self, visit: &mut dyn FnMut(&'static str, Region)) {
        let mut used = |name, region: &Region, most: u64| {
            let size = region.size.min(most);
            visit(name, Region { size, ..*region });
        };
        match &self.gic {
            None => {}
            Some(Gic::V2 {
                distributor,
                cpu_interface,
            }) => {
                used("GIC's distributor", distributor, 0x1000);
                used("GIC's CPU interface", cpu_interface, 0x2000);
            }
            Some(Gic::V3 {
                distributor,
                redistributors,
                ..
            }) => {
                used("GIC's distributor", distributor, 0x1_0000);
                for region in redistributors {
                    // Room for 512 CPUs with GICv4's frames.
                    used("GIC's redistributors", region, 0x800_0000);
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
