//! Decodes the instructions that count as events (Arm ARM, C4.1.66, "Branches, Exception Generating
//! and System instructions").

use crate::profile::event::Event;

/// Returns the event that this instruction is, if any.
pub(crate) const fn event(word: u32) -> Option<Event> {
    Some(match word {
        // Barriers, with any option.
        _ if word & 0xffff_f0ff == 0xd503_309f => Event::Dsb,
        _ if word & 0xffff_f0ff == 0xd503_30bf => Event::Dmb,
        _ if word & 0xffff_f0ff == 0xd503_30df => Event::Isb,
        // Hints.
        0xd503_205f => Event::Wfe,
        0xd503_207f => Event::Wfi,
        // SYS: the operation depends on CRn and CRm.
        _ if word & 0xfff8_0000 == 0xd508_0000 => match (word >> 12 & 0xf, word >> 8 & 0xf) {
            (7, 1 | 5) => Event::Ic,
            (7, 4 | 6 | 10..=14) => Event::Dc,
            (8 | 9, _) => Event::Tlbi,
            _ => return None,
        },
        // MRS and MSR (register) have op0 2 or 3. MSR (immediate) writes a field of PSTATE.
        _ if word & 0xfff0_0000 == 0xd530_0000 => Event::Mrs,
        _ if word & 0xfff0_0000 == 0xd510_0000 => Event::Msr,
        _ if word & 0xfff8_f01f == 0xd500_401f => Event::Msr,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_decoded_by_kind() {
        for (word, expected) in [
            (0xd503_3fdf, Some(Event::Isb)),
            // DSB SY, DSB ISH, DMB ISHLD.
            (0xd503_3f9f, Some(Event::Dsb)),
            (0xd503_3b9f, Some(Event::Dsb)),
            (0xd503_39bf, Some(Event::Dmb)),
            (0xd503_205f, Some(Event::Wfe)),
            (0xd503_207f, Some(Event::Wfi)),
            // DC CISW, X11; DC CIVAC, X0; DC ZVA, X1.
            (0xd508_7e4b, Some(Event::Dc)),
            (0xd50b_7e20, Some(Event::Dc)),
            (0xd50b_7421, Some(Event::Dc)),
            // IC IALLU; IC IVAU, X0.
            (0xd508_751f, Some(Event::Ic)),
            (0xd50b_7520, Some(Event::Ic)),
            // TLBI ALLE3; TLBI VMALLE1IS.
            (0xd50e_871f, Some(Event::Tlbi)),
            (0xd508_831f, Some(Event::Tlbi)),
            // MRS X0, SCR_EL3; MSR SCTLR_EL3, X0; MSR DAIFSET, #15.
            (0xd53e_1100, Some(Event::Mrs)),
            (0xd51e_1000, Some(Event::Msr)),
            (0xd503_4fdf, Some(Event::Msr)),
            // NOP, YIELD, AT S1E2R, CLREX, RET, ERET, and an addition.
            (0xd503_201f, None),
            (0xd503_203f, None),
            (0xd50c_7800, None),
            (0xd503_3f5f, None),
            (0xd65f_03c0, None),
            (0xd69f_03e0, None),
            (0x8b01_0000, None),
        ] {
            assert_eq!(event(word), expected, "{word:#010x}");
        }
    }
}
