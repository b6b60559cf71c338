//! Checks whether timestamps belong to a call, based on their values and order.

use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::{Stamp, Stamps};

use super::rejection::{Detail, Reason, Rejection};

/// The timestamps that a call captures on its way through the firmware, in order, and their bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureSequence {
    /// A call that simply enters and returns: 0, 1.
    Call,
    /// A suspend to standby: 0, 2, 3, 1.
    Standby,
    /// A suspend to power-down: 0, 4, 5, 2, 3, 1.
    PowerDown,
    /// CPU_OFF, followed by CPU_ON: 0, 4, 5, 2 before CPU_ON; 3 and 1 after it.
    OffOn {
        /// CNTPCT when the lead called CPU_ON, if known.
        turned_on: Option<CounterValue>,
    },
}

impl CaptureSequence {
    /// Returns true if a call with this sequence writes the timestamp.
    pub fn captures(self, stamp: Stamp) -> bool {
        match self {
            Self::Call => matches!(stamp, Stamp::EnterPsci | Stamp::ExitPsci),
            Self::Standby => !matches!(stamp, Stamp::EnterCflush | Stamp::ExitCflush),
            Self::PowerDown | Self::OffOn { .. } => true,
        }
    }

    /// Checks that the timestamps belong to a call between the counter reads `before` and `after`.
    ///
    /// # Errors
    /// Returns an error that identifies the first timestamp, in chronological order, that cannot
    /// belong to this call.
    pub(super) fn check(
        self,
        stamps: &Stamps,
        before: CounterValue,
        after: CounterValue,
    ) -> Result<(), Rejection> {
        use Stamp::{EnterHwLowPwr, ExitHwLowPwr};
        let mut floor = Some(before);
        for stamp in Stamp::IN_TIME
            .into_iter()
            .filter(|stamp| self.captures(*stamp))
        {
            let value = stamps.at(stamp);
            let wakes = stamp == ExitHwLowPwr;
            let turned_on = match self {
                Self::OffOn { turned_on } if wakes => turned_on,
                Self::Call | Self::Standby | Self::PowerDown | Self::OffOn { .. } => None,
            };
            let (reason, stamp) = if wakes && value < Some(before) {
                // ENTER_HW_LOW_PWR comes earlier and belongs to this call.
                (Reason::CounterStopped, stamp)
            } else if value < Some(before) {
                (Reason::Stale, stamp)
            } else if value > Some(after) {
                (Reason::Future, stamp)
            } else if turned_on.is_some() && floor > turned_on {
                (Reason::Disorder, EnterHwLowPwr)
            } else if value < turned_on {
                (Reason::Stale, stamp)
            } else if wakes && value < floor {
                (Reason::CounterStopped, stamp)
            } else if value < floor {
                (Reason::Disorder, stamp)
            } else {
                floor = value;
                continue;
            };
            return Err(if reason == Reason::CounterStopped {
                Rejection::plain(reason)
            } else {
                let detail = Detail::Stamp(stamp);
                Rejection { reason, detail }
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CaptureSequence::{Call, OffOn, PowerDown, Standby};
    use super::Reason::{CounterStopped, Disorder, Future, Stale};
    use super::Stamp::{EnterCflush, EnterHwLowPwr, ExitCflush, ExitHwLowPwr, ExitPsci};
    use super::*;

    /// Returns 0, 4, 5, 2, 3, 1 at 110, 120, 150, 160, 300, 340.
    fn good() -> Stamps {
        Stamps::new([110, 340, 160, 300, 120, 150])
    }

    fn at(number: u64) -> CounterValue {
        CounterValue::new(number).expect("not 0")
    }

    /// Returns the reason for the rejection, and the timestamp that it applies to.
    fn check(sequence: CaptureSequence, stamps: Stamps) -> Option<(Reason, Option<Stamp>)> {
        let [before, after] = [100, 350].map(at);
        let rejection = sequence.check(&stamps, before, after).err()?;
        let stamp = if let Detail::Stamp(stamp) = rejection.detail {
            Some(stamp)
        } else {
            None
        };
        Some((rejection.reason, stamp))
    }

    #[test]
    fn each_stamp_is_checked_for_time_and_order() {
        let check_with_stamp = |stamp: Stamp, value| {
            let mut stamps = good();
            stamps.set(stamp, value);
            check(PowerDown, stamps)
        };
        for stamp in Stamp::IN_TIME {
            let old = match stamp {
                ExitHwLowPwr => (CounterStopped, None),
                other => (Stale, Some(other)),
            };
            assert_eq!(check_with_stamp(stamp, 99), Some(old));
            assert_eq!(check_with_stamp(stamp, 351), Some((Future, Some(stamp))));
        }
        let late = [(EnterCflush, 105), (ExitCflush, 115), (EnterHwLowPwr, 140)];
        for (stamp, value) in late.into_iter().chain([(ExitPsci, 290)]) {
            assert_eq!(
                check_with_stamp(stamp, value),
                Some((Disorder, Some(stamp)))
            );
        }
        assert_eq!(
            check_with_stamp(ExitHwLowPwr, 155),
            Some((CounterStopped, None))
        );
        // The lead may call CPU_ON at any time from the last instant before WFI to the first
        // instant after it.
        for (turned_on, expected) in [
            (155, Some((Disorder, Some(EnterHwLowPwr)))),
            (160, None),
            (300, None),
            (310, Some((Stale, Some(ExitHwLowPwr)))),
        ] {
            let turned_on = Some(at(turned_on));
            assert_eq!(
                check(OffOn { turned_on }, good()),
                expected,
                "{turned_on:?}"
            );
        }
    }

    #[test]
    fn each_sequence_has_its_own_stamps() {
        for (sequence, absent, expected) in [
            (PowerDown, &[][..], true),
            (PowerDown, &[EnterCflush, ExitCflush], false),
            (Standby, &[EnterCflush, ExitCflush], true),
            (Standby, &[EnterHwLowPwr], false),
            (
                Call,
                &[EnterHwLowPwr, ExitHwLowPwr, EnterCflush, ExitCflush],
                true,
            ),
        ] {
            let mut stamps = good();
            absent.iter().for_each(|stamp| stamps.set(*stamp, 0));
            let is_good = sequence.check(&stamps, at(110), at(340)).is_ok();
            assert_eq!(is_good, expected, "{sequence:?}");
        }
    }
}
