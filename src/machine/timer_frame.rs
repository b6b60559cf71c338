//! The timer frame, which wakes the lead in states that stop the CPUs' own timers.

use hardware::board::{IntId, NoFrame, TimerFrame};
use hardware::devices::timer_frame::{self, CNTP_CTL, CNTTIDR};

use crate::machine::call::call_path::CallPath;
use crate::machine::gic::controller::GicDriver;
use crate::machine::gic::target::GicCpu;
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::probe;
use crate::machine::memory::tables::TranslationTables;

/// The largest permitted difference between the frame's count and the CPU's, in ticks. The counts
/// may differ because a read over the bus takes time.
const TOLERANCE: u64 = 1_000;

/// A timer frame that is in use. Only the lead uses it.
pub struct TimerFrameDriver {
    registers: MappedRegisters,
    /// The interrupt, an SPI.
    pub intid: IntId,
}

impl TimerFrameDriver {
    /// Opens the timer frame that the device tree describes, and compares its count with the
    /// counter that `path` reads.
    pub fn open(
        tables: &mut TranslationTables,
        description: TimerFrame,
        path: CallPath,
    ) -> Result<Self, NoFrame> {
        let [control_region, frame_region] = description.registers();
        let mut map = |region| MappedRegisters::map(tables, region).map_err(|_| NoFrame::NotThere);
        let control = map(control_region)?;
        let registers = map(frame_region)?;
        let is_readable = |address: u64| probe::try_read_word(address).is_some();
        if !is_readable(control_region.base + u64::from(CNTTIDR.offset()))
            || !is_readable(frame_region.base + u64::from(CNTP_CTL.offset()))
        {
            return Err(NoFrame::NotThere);
        }
        let opened = Self {
            registers,
            intid: description.intid,
        };
        let mut control_frame = Mmio::new(control);
        let mut frame = opened.registers();
        timer_frame::open(&mut control_frame, &mut frame, description.number)?;
        let before = path.now();
        let seen = timer_frame::count(&mut opened.registers());
        if timer_frame::is_same_count(before, seen, path.now(), TOLERANCE) {
            Ok(opened)
        } else {
            Err(NoFrame::OtherCount)
        }
    }

    /// Arms the frame to interrupt the lead when the count reaches `at`. Returns false if its
    /// interrupt cannot be enabled.
    pub fn arm(&self, gic: &GicDriver, lead: &GicCpu, at: u64) -> bool {
        timer_frame::arm(&mut self.registers(), at);
        gic.enable_spi(self.intid, lead)
    }

    pub fn disarm(&self, gic: &GicDriver) {
        timer_frame::disarm(&mut self.registers());
        // A failure to disable the interrupt is harmless, because a disarmed frame does not assert
        // it.
        let _ = gic.disable_spi(self.intid);
    }

    fn registers(&self) -> Mmio {
        Mmio::new(self.registers)
    }
}
