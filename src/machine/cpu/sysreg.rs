//! System registers that the aarch64-cpu crate does not define, in the same form. Unlike that
//! crate's accesses, these are not `nomem`, so they stay in order with loads and stores.

use core::arch::asm;

use aarch64_cpu::registers::{Readable, Writeable};
use tock_registers::register_bitfields;

register_bitfields! { u64,
    pub CTR_EL0 [
        /// Log2 of the number of words in the smallest instruction cache line.
        IMINLINE OFFSET(0) NUMBITS(4),
        /// Log2 of the number of words in the smallest data cache line.
        DMINLINE OFFSET(16) NUMBITS(4),
    ],
    pub DCZID_EL0 [
        /// Log2 of the number of words in a block.
        BS OFFSET(0) NUMBITS(4),
        /// DC ZVA is prohibited.
        DZP OFFSET(4) NUMBITS(1),
    ],
    pub ISR_EL1 [ F OFFSET(6), I OFFSET(7) ],
    pub ICC_SRE_EL1 [ SRE OFFSET(0) ],
    pub ICC_CTLR_EL1 [
        /// The number of priority bits, minus 1.
        PRIBITS OFFSET(8) NUMBITS(3),
    ],
    pub PMCR_EL0 [
        /// Enables all counters.
        E OFFSET(0),
        /// The cycle counter counts every 64th cycle.
        D OFFSET(3),
        /// The cycle counter stops while counting is prohibited.
        DP OFFSET(5),
        /// The cycle counter overflows at 64 bits.
        LC OFFSET(6),
    ],
    pub PMCCFILTR_EL0 [
        /// Cycles at EL2 are also counted.
        NSH OFFSET(27),
    ],
    pub PMCNTENSET_EL0 [
        /// The cycle counter.
        C OFFSET(31),
    ]
}

macro_rules! access {
    (read, $name:ident, $fields:ty, $register:literal) => {
        impl Readable for types::$name {
            type T = u64;
            type R = $fields;

            #[inline]
            fn get(&self) -> u64 {
                let value: u64;
                // SAFETY: reading the registers listed here does not change them.
                unsafe { asm!(concat!("mrs {}, ", $register), out(reg) value, options(nostack)) };
                value
            }
        }
    };
    (write, $name:ident, $fields:ty, $register:literal) => {
        impl Writeable for types::$name {
            type T = u64;
            type R = $fields;

            #[inline]
            fn set(&self, value: u64) {
                // SAFETY: the registers listed here set up this CPU's timer, cycle counter and
                // interrupts, which are polled except in one loop, or send an SGI to CPUs that poll
                // for it. None of them changes memory.
                unsafe { asm!(concat!("msr ", $register, ", {}"), in(reg) value, options(nostack)) }
            }
        }
    };
}

macro_rules! system_registers {
    ($($name:ident<$fields:ty>, $register:literal: $($access:ident)+;)+) => {
        mod types {
            $(#[expect(non_camel_case_types, reason = "registers' names")] pub struct $name;)+
        }
        $(
            pub const $name: types::$name = types::$name;
            $(access!($access, $name, $fields, $register);)+
        )+
    };
}

// The CNTV_*_EL02 registers exist if E2H is 1. Assemblers accept their names only if FEAT_VHE is
// enabled.
system_registers! {
    CTR_EL0<CTR_EL0::Register>, "ctr_el0": read;
    DCZID_EL0<DCZID_EL0::Register>, "dczid_el0": read;
    ISR_EL1<ISR_EL1::Register>, "isr_el1": read;
    ICC_SRE_EL1<ICC_SRE_EL1::Register>, "icc_sre_el1": read;
    ICC_CTLR_EL1<ICC_CTLR_EL1::Register>, "icc_ctlr_el1": read write;
    ICC_AP1R0_EL1<()>, "icc_ap1r0_el1": write;
    ICC_AP1R1_EL1<()>, "icc_ap1r1_el1": write;
    ICC_AP1R2_EL1<()>, "icc_ap1r2_el1": write;
    ICC_AP1R3_EL1<()>, "icc_ap1r3_el1": write;
    ICC_EOIR1_EL1<()>, "icc_eoir1_el1": write;
    ICC_BPR1_EL1<()>, "icc_bpr1_el1": write;
    ICC_SGI1R_EL1<()>, "icc_sgi1r_el1": write;
    PMCR_EL0<PMCR_EL0::Register>, "pmcr_el0": read write;
    PMCCFILTR_EL0<PMCCFILTR_EL0::Register>, "pmccfiltr_el0": read write;
    PMCNTENSET_EL0<PMCNTENSET_EL0::Register>, "pmcntenset_el0": read write;
    PMCNTENCLR_EL0<PMCNTENSET_EL0::Register>, "pmcntenclr_el0": write;
    PMCCNTR_EL0<()>, "pmccntr_el0": read;
    CNTHP_CVAL_EL2<()>, "cnthp_cval_el2": read write;
    CNTV_TVAL_EL02<()>, "s3_5_c14_c3_0": write;
    CNTV_CTL_EL02<()>, "s3_5_c14_c3_1": read write;
    CNTV_CVAL_EL02<()>, "s3_5_c14_c3_2": read write;
}
