//! ICC_SGI1R_EL1 (IHI 0069, 12.2.20), which sends a software generated interrupt to selected CPUs.

use crate::spec::int_id::IntId;
use crate::spec::mpidr::Mpidr;

/// ICC_CTLR_EL1.RSS: the CPU can address targets whose Aff0 is above 15.
const RSS: u64 = 1 << 18;

/// Returns the ICC_SGI1R_EL1 value for an SGI to this CPU. `control` is the ICC_CTLR_EL1 value.
///
/// A target list covers 16 consecutive Aff0 values, starting at a multiple of 16 that the range
/// selector specifies. Without range selector support, only Aff0 values up to 15 can be targeted,
/// and the result is None for any other CPU.
pub fn sgi_for_cpu(cpu: Mpidr, intid: IntId, control: u64) -> Option<u64> {
    let fields = [cpu.aff0(), cpu.aff1(), cpu.aff2(), cpu.aff3()];
    let [aff0, aff1, aff2, aff3] = fields.map(u64::from);
    if aff0 > 15 && control & RSS == 0 {
        return None;
    }
    let list = 1 << (aff0 % 16) | (aff0 / 16) << 44;
    let others = aff1 << 16 | aff2 << 32 | aff3 << 48;
    Some(list | others | u64::from(intid.number()) << 24)
}

/// Merges two values into one if they differ only in the target list.
///
/// Targeting all other CPUs (IRM) would need fewer writes, but might include CPUs that are not in
/// the device tree. The SGI would stay pending on such a CPU and could power it on.
pub fn merge_targets(first: u64, second: u64) -> Option<u64> {
    const LIST: u64 = 0xffff;
    (first & !LIST == second & !LIST).then_some(first | second)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns: MPIDR, INTID, ICC_CTLR_EL1 and the expected value, which contains the target list
    /// bit, RS, Aff1 to Aff3 and the INTID.
    #[test]
    fn value_has_each_field_in_its_place() {
        for (mpidr, intid, control, value) in [
            (0, 0, 0, Some(1)),
            (0x04_0003_0205, 9, 0, Some(0x0004_0003_0902_0020)),
            (0x0f, 0, 0, Some(0x8000)),
            // Other MPIDR bits are not part of the affinity.
            (0x8100_0001, 0, 0, Some(2)),
            // An unsupported range would target the wrong CPU or no CPU.
            (16, 0, !RSS, None),
            (16, 0, RSS, Some(1 << 44 | 1)),
            (255, 0, RSS, Some(15 << 44 | 1 << 15)),
        ] {
            let found = sgi_for_cpu(Mpidr::new(mpidr), IntId::sgi(intid), control);
            assert_eq!(found, value, "{mpidr:#x} {intid} {control:#x}");
        }
    }

    #[test]
    fn neighbours_are_joined() {
        let value =
            |mpidr, intid| sgi_for_cpu(Mpidr::new(mpidr), IntId::sgi(intid), RSS).expect("a value");
        let both = merge_targets(value(0x100, 9), value(0x103, 9));
        assert_eq!(both, Some(value(0x100, 9) | 1 << 3));
        for (mpidr, intid) in [(0x000, 9), (0x110, 9), (0x1_0100, 9), (0x100, 8)] {
            assert_eq!(merge_targets(value(0x100, 9), value(mpidr, intid)), None);
        }
    }
}
