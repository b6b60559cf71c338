//! A frame in the memory-mapped generic timer (Arm ARM, DDI 0487, "System Level Implementation of
//! the Generic Timer"). The frame's physical timer keeps running when the per-CPU timers stop.
//!
//! CNTCTLBase lists the implemented frames and their access rights. A CNTBaseN frame has a 64-bit
//! counter and a 64-bit timer, both accessed as two 32-bit halves. If a frame is Secure (CNTNSAR),
//! its CNTACR, counter and timer read as zero in the Non-secure state.

use core::fmt;

use serde::{Deserialize, Serialize};
use tock_registers::register_bitfields;

use super::bus::Bus;
use super::register::Register;
use crate::words;

register_bitfields! { u32,
    CNTACR [
        /// CNTPCT can be read.
        RPCT OFFSET(0),
        /// The physical timer's registers can be accessed.
        RWPT OFFSET(5),
    ],
    CNTP_CTL [
        ENABLE OFFSET(0),
        IMASK OFFSET(1),
    ]
}

/// A register in CNTCTLBase with four bits per frame. The lowest of the four is set if the frame is
/// implemented.
pub const CNTTIDR: Register = Register::at(0x008);
/// The offset of CNTACR0 in CNTCTLBase. Each frame has a four-byte CNTACR.
const CNTACR0: u32 = 0x040;

/// In CNTBaseN. The high halves of CNTPCT and CNTP_CVAL are in the following words.
const CNTPCT: Register = Register::at(0x000);
const CNTPCT_HIGH: Register = Register::at(0x004);
const CNTP_CVAL: Register = Register::at(0x020);
const CNTP_CVAL_HIGH: Register = Register::at(0x024);
/// In CNTBaseN.
pub const CNTP_CTL: Register<CNTP_CTL::Register> = Register::at(0x02c);

words! {
    /// A device tree property of the timer frame or its parent.
    pub enum FrameProperty, name {
        /// The frame number in CNTCTLBase.
        FrameNumber = "frame-number",
        /// The addresses and sizes of the register pages.
        Reg = "reg",
        /// The physical timer's interrupt.
        Interrupts = "interrupts",
    }
}

/// The reason why no timer frame can wake a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFrame {
    /// The device tree has no enabled frame.
    NotInTree,
    /// This property of the frame or its parent is unusable.
    Property(FrameProperty),
    /// The registers cannot be read, or CNTTIDR shows that the frame is not implemented.
    NotThere,
    /// CNTACR denies non-secure access to the frame's counter or timer, or writes to the frame have
    /// no effect.
    NoAccess,
    /// The frame's CNTPCT differs from the CPUs' counter.
    OtherCount,
    /// The frame's interrupt did not wake the lead in a trial.
    DidNotWake,
    /// The frame was not tested, because the timers keep running in all measured states.
    NotTried,
    /// The boot arguments rule out the frame.
    Argument,
}

impl fmt::Display for NoFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotInTree => "the device tree has no timer frame (arm,armv7-timer-mem)",
            Self::Property(property) => {
                let name = property.name();
                return write!(f, "the device tree's timer frame has no usable {name}");
            }
            Self::NotThere => "the timer frame is not implemented",
            Self::NoAccess => "the timer frame cannot be accessed",
            Self::OtherCount => "the timer frame's counter differs from the CPUs' counter",
            Self::DidNotWake => "the timer frame's interrupt did not wake the lead in a trial",
            Self::NotTried => "the timer frame was not tested",
            Self::Argument => "frame=off was given",
        })
    }
}

/// Enables access to frame `number` (0 to 7) and turns its timer off. Returns an error if the frame
/// is not implemented or if its counter or timer cannot be accessed.
pub fn open(control: &mut dyn Bus, frame: &mut dyn Bus, number: u8) -> Result<(), NoFrame> {
    // Each frame has a 4-bit field in CNTTIDR and a 4-byte register CNTACR.
    let step = 4 * u32::from(number & 7);
    if CNTTIDR.get(control) >> step & 1 == 0 {
        return Err(NoFrame::NotThere);
    }
    let access = Register::<CNTACR::Register>::at(CNTACR0 + step);
    let needed = CNTACR::RPCT::SET + CNTACR::RWPT::SET;
    access.modify(control, needed);
    if !access.read(control).matches_all(needed) {
        return Err(NoFrame::NoAccess);
    }
    // CNTACR can allow access to registers that the frame does not implement, so check that writes
    // stick.
    disarm(frame);
    let far = u64::MAX >> 1;
    compare(frame, far);
    let low = CNTP_CVAL.get(frame);
    if halves(CNTP_CVAL_HIGH.get(frame), low) != far {
        return Err(NoFrame::NoAccess);
    }
    Ok(())
}

/// Reads the frame's count, CNTPCT.
pub fn count(frame: &mut dyn Bus) -> u64 {
    let high = CNTPCT_HIGH.get(frame);
    let low = CNTPCT.get(frame);
    let again = CNTPCT_HIGH.get(frame);
    if high == again {
        return halves(high, low);
    }
    // The low half overflowed between the reads, and the next overflow is a long time away.
    halves(again, CNTPCT.get(frame))
}

/// Returns true if the frame's counter matches the CPU's. `seen` is the frame's count, and `before`
/// and `after` are values of the CPU's counter. `seen` must be between `before` and `after`, within
/// `tolerance`. All values are in ticks.
pub const fn is_same_count(before: u64, seen: u64, after: u64, tolerance: u64) -> bool {
    seen >= before.saturating_sub(tolerance) && seen <= after.saturating_add(tolerance)
}

/// Arms the frame to raise its interrupt at this count, or immediately if the count has passed.
pub fn arm(frame: &mut dyn Bus, at: u64) {
    // Keep the timer off while only half of CVAL is valid.
    disarm(frame);
    compare(frame, at);
    CNTP_CTL.write(frame, CNTP_CTL::ENABLE::SET + CNTP_CTL::IMASK::CLEAR);
}

/// Disables the frame's interrupt.
pub fn disarm(frame: &mut dyn Bus) {
    CNTP_CTL.set(frame, 0);
}

fn compare(frame: &mut dyn Bus, at: u64) {
    CNTP_CVAL.set(frame, at as u32);
    CNTP_CVAL_HIGH.set(frame, (at >> 32) as u32);
}

fn halves(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{Access, FakeDevice, plain};

    const CTL: u32 = CNTP_CTL.offset();
    const CVAL: u32 = CNTP_CVAL.offset();

    /// CNTCTLBase with frames 0 and 2. Only frame 2 is non-secure.
    fn control() -> FakeDevice {
        let registers = [(0x008, 0x101), (0x48, 0x02)];
        FakeDevice::with(&registers, |registers, access| match access {
            // A Secure frame's CNTACR is RAZ/WI. Bits above bit 5 are RES0.
            Access::Write(0x040, _) => 0,
            Access::Write(at, value) => plain(registers, Access::Write(at, value & 0x3f)),
            read => plain(registers, read),
        })
    }

    #[test]
    fn usable_frame_is_opened_with_its_timer_off() {
        let mut control = control();
        let mut frame = FakeDevice::new(&[(CTL, 1)]);
        assert_eq!(open(&mut control, &mut frame, 2), Ok(()));
        // Existing access rights are kept.
        assert_eq!(control.writes(), [(0x48, 0x23)]);
        let stopped = frame.writes();
        assert_eq!(stopped[0], (CTL, 0));
        assert!(stopped[1..].iter().all(|(offset, _)| *offset != CTL));
        arm(&mut frame, 0x0123_4567_89ab_cdef);
        let halves = [(CVAL, 0x89ab_cdef), (CVAL + 4, 0x0123_4567)];
        assert_eq!(frame.writes(), [(CTL, 0), halves[0], halves[1], (CTL, 1)]);
        disarm(&mut frame);
        assert_eq!(frame.writes(), [(CTL, 0)]);
    }

    #[test]
    fn absent_or_unreachable_frame_is_refused() {
        use NoFrame::{NoAccess, NotThere};
        let mut frame = FakeDevice::new(&[]);
        for (number, reason) in [(1, NotThere), (3, NotThere), (7, NotThere), (0, NoAccess)] {
            let opened = open(&mut control(), &mut frame, number);
            assert_eq!(opened, Err(reason), "frame {number}");
        }
        assert_eq!(frame.writes(), [], "an unusable frame is not written to");
        // CNTACR allows access, but the frame retains only one half of CVAL.
        for lacking in [CVAL, CVAL + 4] {
            let mut half = FakeDevice::with(&[], move |registers, access| match access {
                Access::Write(offset, _) if offset == lacking => 0,
                other => plain(registers, other),
            });
            assert_eq!(open(&mut control(), &mut half, 2), Err(NoAccess));
        }
    }

    #[test]
    fn count_is_right_across_a_carry() {
        for start in 0x6_ffff_fffc..0x7_0000_0002u64 {
            // The count advances with each access.
            let mut count = start;
            let mut frame = FakeDevice::with(&[], move |_, access| {
                count += 1;
                match access {
                    Access::Read(0x000) => (count - 1) as u32,
                    Access::Read(0x004) => ((count - 1) >> 32) as u32,
                    other => panic!("{other:x?}"),
                }
            });
            let read = super::count(&mut frame);
            assert!((start..=start + 3).contains(&read), "{start:#x}: {read:#x}");
        }
    }

    #[test]
    fn counts_are_compared_within_tolerance() {
        for (before, seen, after, is_same) in [
            (100, 95, 110, true),
            (100, 115, 110, true),
            (100, 94, 110, false),
            (100, 116, 110, false),
            (3, 0, 3, true),
            (u64::MAX, u64::MAX, u64::MAX, true),
        ] {
            let found = is_same_count(before, seen, after, 5);
            assert_eq!(found, is_same, "{before} {seen} {after}");
        }
    }
}
