//! The timer frame, which wakes the lead where the CPUs' own timers stop.

use crate::machine::call::call_path::CallPath;
use crate::machine::env::Env;
use crate::machine::memory::mmio::Mmio;
use crate::machine::memory::mmio::Registers;
use crate::machine::memory::probe;
use crate::machine::memory::tables::TranslationTables;
use psci_bench::board::{NoFrame, TimerFrame};
use psci_bench::devices::frame::{self, CNTP_CTL, CNTTIDR};

/// How far the frame's count may be from the CPU's, in ticks: what comes over
/// a bus is late.
const TOLERANCE: u64 = 1_000;

/// A frame that can be used, the lead's alone.
pub struct TimerFrameDriver {
    registers: Registers,
    /// Its interrupt: an SPI, 32 to 1019.
    pub intid: u32,
}

impl TimerFrameDriver {
    /// Opens the frame that the device tree describes, and holds its count
    /// against `way`'s.
    ///
    /// # Errors
    /// Why it can not be used.
    pub fn open(
        tables: &mut TranslationTables,
        description: TimerFrame,
        way: CallPath,
    ) -> Result<Self, NoFrame> {
        let [control, base] = description.registers();
        let mut map = |region| Registers::map(tables, region).map_err(|_| NoFrame::NotThere);
        let (control_frame, registers) = (map(control)?, map(base)?);
        let readable = |address: u64| probe::try_read_word(address).is_some();
        if !readable(control.base + u64::from(CNTTIDR))
            || !readable(base.base + u64::from(CNTP_CTL))
        {
            return Err(NoFrame::NotThere);
        }
        let opened = Self {
            registers,
            intid: description.intid,
        };
        let control = &mut Mmio::new(control_frame);
        frame::open(control, &mut opened.registers(), description.number)?;
        let before = way.now();
        let seen = frame::count(&mut opened.registers());
        if frame::is_same_count(before, seen, way.now(), TOLERANCE) {
            Ok(opened)
        } else {
            Err(NoFrame::OtherCount)
        }
    }

    fn registers(&self) -> Mmio {
        Mmio::new(self.registers)
    }
}

impl Env {
    /// The lead's: has the frame wake it at this instant. False where there is
    /// no frame, or its interrupt can not be enabled.
    pub fn arm_frame(&self, at: u64) -> bool {
        let Ok(opened) = &self.frame else {
            return false;
        };
        frame::arm(&mut opened.registers(), at);
        self.gic.enable_spi(opened.intid, &self.slots[self.lead])
    }

    /// The lead's: takes the frame's interrupt back.
    pub fn disarm_frame(&self) {
        if let Ok(opened) = &self.frame {
            frame::disarm(&mut opened.registers());
            // What stays enabled is not asserted any more.
            let _ = self.gic.disable_spi(opened.intid);
        }
    }
}
