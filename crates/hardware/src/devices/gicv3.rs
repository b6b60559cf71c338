//! The distributor of a GICv3 or later (IHI 0069, 12.9), and the private interrupts in a
//! redistributor (12.11).

use tock_registers::register_bitfields;

use super::bus::Bus;
use super::private_interrupts::PrivateInterrupts;
use super::redistributor::{GICR_CONTROL, GICR_CTLR};
use super::register::Register;

register_bitfields! { u32,
    GICD_CONTROL [
        /// In the non-secure view, enables forwarding of Group 1 interrupts.
        ENABLE_GRP1 OFFSET(1),
        /// In the non-secure view, enables affinity routing.
        ARE OFFSET(4),
        /// A write is pending.
        RWP OFFSET(31),
    ]
}

const GICD_CTLR: Register<GICD_CONTROL::Register> = Register::at(0x0);

/// The size of the distributor in bytes. The last register in use is GICD_PIDR2.
pub const DISTRIBUTOR_SIZE: u64 = 0x1_0000;

/// The maximum number of polls while a register write is pending.
const POLLS: u32 = 1_000_000;

/// Enables affinity routing and forwarding of non-secure interrupts. Returns false if a write stays
/// pending.
pub fn forward_interrupts(gicd: &mut dyn Bus) -> bool {
    // Enable affinity routing first because it changes the meaning of the other bits.
    for field in [GICD_CONTROL::ARE::SET, GICD_CONTROL::ENABLE_GRP1::SET] {
        if !GICD_CTLR.read(gicd).matches_all(field) {
            GICD_CTLR.modify(gicd, field);
        }
    }
    (0..POLLS).any(|_| !GICD_CTLR.read(gicd).is_set(GICD_CONTROL::RWP))
}

/// Enables the private interrupts in `bits` with this priority and disables all the others. Returns
/// false if the write that disables the others stays pending.
pub fn set_up_private_interrupts(gicr: &mut impl Bus, bits: u32, priority: u8) -> bool {
    let private = PrivateInterrupts::SGI_FRAME;
    private.silence(gicr);
    if !(0..POLLS).any(|_| !GICR_CTLR.read(gicr).is_set(GICR_CONTROL::RWP)) {
        return false;
    }
    private.set_group_1(gicr);
    private.enable(gicr, bits, priority);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{Access, FakeDevice, pairs, plain};

    #[test]
    fn affinity_routing_comes_first() {
        for (before, writes) in [
            (0, "0=10 0=12"),
            (0x10, "0=12"),
            (0x52, ""),
            // Settings for other groups and Security states do not change.
            (0x41, "0=51 0=53"),
        ] {
            let mut gicd = FakeDevice::new(&[(0, before)]);
            assert!(forward_interrupts(&mut gicd));
            assert_eq!(gicd.writes(), pairs(writes), "{before:#x}");
        }
    }

    #[test]
    fn private_interrupts_are_silent_before_some_are_enabled() {
        let mut gicr = FakeDevice::new(&[]);
        assert!(set_up_private_interrupts(&mut gicr, 1 << 30 | 1, 0xa0));
        let expected = "10180=ffffffff 10380=ffffffff 10080=ffffffff 10400=a0a0a0a0 \
                        1041c=a0a0a0a0 10100=40000001";
        assert_eq!(gicr.writes(), pairs(expected));
    }

    #[test]
    fn write_that_stays_pending_times_out() {
        let stuck_bit = |bit: u32| {
            FakeDevice::with(&[], move |registers, access| match access {
                Access::Read(0) => bit | plain(registers, access),
                _ => plain(registers, access),
            })
        };
        assert!(!forward_interrupts(&mut stuck_bit(1 << 31)));
        assert!(!set_up_private_interrupts(&mut stuck_bit(1 << 3), 1, 0xa0));
    }
}
