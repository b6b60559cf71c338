//! The system counter and the per-CPU timers that use it (DDI 0487, chapter D12), and errata that
//! can cause wrong counter reads.

use serde::{Deserialize, Serialize};

use crate::words;

words! {
    /// A per-CPU timer, named after its register prefix.
    pub enum TimerName, word {
        /// The EL1 physical timer.
        Cntp = "CNTP",
        /// The EL2 physical timer.
        Cnthp = "CNTHP",
        /// The EL1 virtual timer.
        Cntv = "CNTV",
    }
}

/// A counter erratum in a CPU or SoC. On affected hardware, the counter is read twice in a row.
/// Linux repeats the two reads until their values are plausible. Such a loop would take too long
/// in a timed region, so both values may have to be rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterErratum {
    /// Cortex-A73, 858921. Reads can be wrong while bit 32 is changing.
    CortexA73,
    /// NXP A-008585. Reads can be wrong while the counter is being updated.
    Nxp,
    /// HiSilicon 161010101. Reads can be wrong by 32 ticks or more.
    HiSilicon,
    /// Allwinner A64. Reads can be wrong while bit 9 is changing.
    Allwinner,
}

impl CounterErratum {
    /// SoC errata. Each erratum has a property in the Linux binding *timer/arm,arch_timer.yaml*.
    pub const OF_SOCS: [Self; 3] = [Self::Nxp, Self::HiSilicon, Self::Allwinner];

    /// Returns the timer node property for the erratum or, if it has none, a name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CortexA73 => "Cortex-A73's erratum 858921",
            Self::Nxp => "fsl,erratum-a008585",
            Self::HiSilicon => "hisilicon,erratum-161010101",
            Self::Allwinner => "allwinner,erratum-unknown1",
        }
    }

    /// Returns the correct value from two reads, or None if neither value is known to be correct.
    pub fn choose(self, [first, second]: [u64; 2]) -> Option<u64> {
        let second_if_within = |ticks: u64| (second.wrapping_sub(first) < ticks).then_some(second);
        // As in Linux, a value is trusted unless its low 9 bits are all ones or all zeros.
        let is_settled = |value: &u64| value.wrapping_add(1) & 0x1ff > 1;
        match self {
            Self::CortexA73 if (first ^ second) >> 32 & 1 != 0 => Some(first),
            Self::CortexA73 => Some(second),
            // Two correct reads differ by at most one tick because a CPU can read several times per
            // tick.
            Self::Nxp => second_if_within(2),
            Self::HiSilicon => second_if_within(32),
            Self::Allwinner => [second, first].into_iter().find(is_settled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CounterErratum::{Allwinner, CortexA73, HiSilicon, Nxp};

    #[test]
    fn a_pair_of_reads_gives_the_right_one_or_none() {
        for (erratum, reads, expected) in [
            (CortexA73, [7, 9], Some(9)),
            (CortexA73, [0xffff_ffff, 1 << 32], Some(0xffff_ffff)),
            (CortexA73, [0x1_ffff_ffff, 1 << 32], Some(1 << 32)),
            (Nxp, [100, 101], Some(101)),
            (Nxp, [100, 102], None),
            (HiSilicon, [100, 131], Some(131)),
            (HiSilicon, [100, 132], None),
            (HiSilicon, [100, 99], None),
            (Allwinner, [0x3fe, 0x3ff], Some(0x3fe)),
            (Allwinner, [0x3ff, 0x401], Some(0x401)),
            (Allwinner, [0x3ff, 0x400], None),
        ] {
            assert_eq!(erratum.choose(reads), expected, "{erratum:?} {reads:x?}");
        }
    }
}
