//! A frame of the memory-mapped generic timer (Arm ARM, DDI 0487, "System
//! Level Implementation of the Generic Timer"): a physical timer that goes on
//! where the CPUs' own stop.
//!
//! CNTCTLBase says which frames there are and who may use what of them; a
//! frame CNTBaseN has a counter and a timer, of 64 bits that are reached by
//! halves. A frame that is Secure (CNTNSAR) reads as zero from here, its
//! CNTACR, its counter and its timer alike.

use crate::spec::words::words;
use core::fmt;
use serde::{Deserialize, Serialize};

use super::bus::{Bus, read32, write32};

/// CNTCTLBase: CNTTIDR, four bits a frame. Bit 0 of those: it is implemented.
pub const CNTTIDR: u32 = 0x008;
/// CNTCTLBase: CNTACR0, and four bytes further on for each frame.
const CNTACR: u32 = 0x040;
/// CNTACR: access to CNTPCT, and to the physical timer's registers.
const RPCT_RWPT: u32 = 1 << 0 | 1 << 5;

/// CNTBaseN: CNTPCT.
const CNTPCT: u32 = 0x000;
/// CNTBaseN: CNTP_CVAL.
const CNTP_CVAL: u32 = 0x020;
/// CNTBaseN: CNTP_CTL.
pub const CNTP_CTL: u32 = 0x02c;
/// CNTP_CTL: ENABLE set, IMASK clear.
const ON: u32 = 1;

words! {
    /// A property of the device tree's timer frame, or of its parent.
    pub enum FrameProperty, name {
        /// The frame's number in CNTCTLBase.
        FrameNumber = "frame-number",
        /// The addresses of the registers.
        Reg = "reg",
        /// The interrupt of the physical timer.
        Interrupts = "interrupts",
    }
}

/// The reason why no timer frame wakes a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoFrame {
    /// The device tree has none that is not disabled.
    NotInTree,
    /// This property of it, or of its parent, cannot be used.
    Property(FrameProperty),
    /// Nothing can be read there, or CNTTIDR says that it is not implemented.
    NotThere,
    /// CNTACR keeps its counter or timer from non-secure software, or it keeps
    /// nothing that is written.
    NoAccess,
    /// The frame's CNTPCT differs from the counter of the CPUs.
    OtherCount,
    /// The frame's interrupt did not wake the lead in a trial.
    DidNotWake,
    /// No state that is measured stops a timer, so that it was not tried.
    NotTried,
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
            Self::OtherCount => "the timer frame counts otherwise than the CPUs",
            Self::DidNotWake => "the timer frame's interrupt did not wake the lead in a trial",
            Self::NotTried => "the timer frame was not tried",
        })
    }
}

/// Makes frame `number` (0 to 7) usable, with its timer off.
///
/// # Errors
/// When it is not implemented, or its counter or timer are out of reach.
pub fn open(control: &mut dyn Bus, frame: &mut dyn Bus, number: u8) -> Result<(), NoFrame> {
    let number = u32::from(number & 7);
    if read32(control, CNTTIDR) >> (4 * number) & 1 == 0 {
        return Err(NoFrame::NotThere);
    }
    let access = CNTACR + 4 * number;
    let allowed = read32(control, access) | RPCT_RWPT;
    write32(control, access, allowed);
    if read32(control, access) & RPCT_RWPT != RPCT_RWPT {
        return Err(NoFrame::NoAccess);
    }
    // Allowed is one thing, there another: what is written must be read.
    disarm(frame);
    let far = u64::MAX >> 1;
    compare(frame, far);
    let low = read32(frame, CNTP_CVAL);
    if halves(read32(frame, CNTP_CVAL + 4), low) != far {
        return Err(NoFrame::NoAccess);
    }
    Ok(())
}

/// Reads the frame's count, CNTPCT.
pub fn count(frame: &mut dyn Bus) -> u64 {
    let high = read32(frame, CNTPCT + 4);
    let low = read32(frame, CNTPCT);
    let again = read32(frame, CNTPCT + 4);
    if high == again {
        return halves(high, low);
    }
    // It has carried in between, and will not do so again for long.
    halves(again, read32(frame, CNTPCT))
}

/// Says that the frame counts as the CPU does: by its count `seen` between the
/// CPU's `before` and `after`, give or take `tolerance`, all in ticks.
#[must_use]
pub const fn is_same_count(before: u64, seen: u64, after: u64, tolerance: u64) -> bool {
    seen >= before.saturating_sub(tolerance) && seen <= after.saturating_add(tolerance)
}

/// Raises the frame's interrupt at this instant, or at once if it has passed.
pub fn arm(frame: &mut dyn Bus, at: u64) {
    // While only a half of CVAL is right, the timer stands.
    disarm(frame);
    compare(frame, at);
    write32(frame, CNTP_CTL, ON);
}

/// Stops the frame's interrupt.
pub fn disarm(frame: &mut dyn Bus) {
    write32(frame, CNTP_CTL, 0);
}

fn compare(frame: &mut dyn Bus, at: u64) {
    write32(frame, CNTP_CVAL, at as u32);
    write32(frame, CNTP_CVAL + 4, (at >> 32) as u32);
}

fn halves(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{Access, Fake, plain};

    /// CNTCTLBase with frames 0 and 2; only the latter is not Secure.
    fn control() -> Fake {
        Fake::with(&[(CNTTIDR, 0x101), (0x48, 0x02)], |registers, access| {
            match access {
                // RAZ/WI for a Secure frame, RES0 above bit 5.
                Access::Write(0x040, _) => 0,
                Access::Write(offset, value) => {
                    plain(registers, Access::Write(offset, value & 0x3f))
                }
                read => plain(registers, read),
            }
        })
    }

    #[test]
    fn each_reason_has_its_own_words() {
        let reasons = [
            NoFrame::NotInTree,
            NoFrame::Property(FrameProperty::Reg),
            NoFrame::Property(FrameProperty::Interrupts),
            NoFrame::NotThere,
            NoFrame::NoAccess,
            NoFrame::OtherCount,
            NoFrame::DidNotWake,
            NoFrame::NotTried,
        ];
        let words = reasons.map(|reason| std::format!("{reason}"));
        for (place, word) in words.iter().enumerate() {
            assert!(!words[..place].contains(word), "{word}");
        }
    }

    #[test]
    fn opened_with_its_timer_off() {
        let (mut control, mut frame) = (control(), Fake::new(&[(CNTP_CTL, 1)]));
        assert_eq!(open(&mut control, &mut frame, 2), Ok(()));
        // What was allowed already stays allowed.
        assert_eq!(control.writes(), [(0x48, 0x23)]);
        assert_eq!(frame.at(CNTP_CTL), 0);
        assert_eq!(frame.writes()[0], (CNTP_CTL, 0));
    }

    #[test]
    fn not_there_or_out_of_reach() {
        let mut frame = Fake::new(&[]);
        for number in [1, 3, 7] {
            let opened = open(&mut control(), &mut frame, number);
            assert_eq!(opened, Err(NoFrame::NotThere), "frame {number}");
        }
        assert_eq!(open(&mut control(), &mut frame, 0), Err(NoFrame::NoAccess));
        // Nothing was written to a frame that is not to be used.
        assert_eq!(frame.writes(), []);
        // CNTACR says yes, and the frame keeps nothing.
        let mut deaf = Fake::with(&[], |_, _| 0);
        assert_eq!(open(&mut control(), &mut deaf, 2), Err(NoFrame::NoAccess));
        // The same, with one half of the 64 bits.
        for lacking in [CNTP_CVAL, CNTP_CVAL + 4] {
            let mut half = Fake::with(&[], move |registers, access| match access {
                Access::Write(offset, _) if offset == lacking => 0,
                other => plain(registers, other),
            });
            assert_eq!(open(&mut control(), &mut half, 2), Err(NoFrame::NoAccess));
        }
    }

    #[test]
    fn counted_across_a_carry() {
        // The count goes on by so much with each access.
        let counting = |start: u64, step: u64| {
            let mut count = start;
            Fake::with(&[], move |_, access| {
                let now = count;
                count += step;
                match access {
                    Access::Read(CNTPCT) => now as u32,
                    Access::Read(0x004) => (now >> 32) as u32,
                    other => panic!("{other:x?}"),
                }
            })
        };
        assert_eq!(count(&mut counting(0x1_2345_6789, 0)), 0x1_2345_6789);
        let carry = 0x7_0000_0000u64;
        for start in carry - 4..carry + 2 {
            let read = count(&mut counting(start, 1));
            assert!((start..start + 4).contains(&read), "{start:#x}: {read:#x}");
        }
    }

    #[test]
    fn armed_by_halves_while_it_stands() {
        let mut frame = Fake::new(&[(CNTP_CTL, 1)]);
        arm(&mut frame, 0x0123_4567_89ab_cdef);
        let expected = [
            (CNTP_CTL, 0),
            (0x020, 0x89ab_cdef),
            (0x024, 0x0123_4567),
            (CNTP_CTL, 1),
        ];
        assert_eq!(frame.writes(), expected);
        disarm(&mut frame);
        assert_eq!(frame.writes(), [(CNTP_CTL, 0)]);
    }

    #[test]
    fn the_same_count_within_tolerance() {
        assert!(is_same_count(100, 100, 100, 0));
        assert!(is_same_count(100, 95, 110, 5) && is_same_count(100, 115, 110, 5));
        assert!(!is_same_count(100, 94, 110, 5) && !is_same_count(100, 116, 110, 5));
        assert!(is_same_count(3, 0, 3, 5) && !is_same_count(50, 0, 60, 5));
        assert!(is_same_count(u64::MAX, u64::MAX, u64::MAX, 5));
    }
}
