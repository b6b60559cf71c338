//! The kinds of UART: the register for a byte, the bits for room and rest, and the
//! registers that are restored, in their order, after the power was off.
//!
//! A register is named by its offset in bytes, one of a 16550 by its number.

use crate::image::UartKind;

/// Bits of a register, and their value in a state.
pub struct Bits {
    pub register: u8,
    pub mask: u32,
    pub value: u32,
}

impl Bits {
    /// All bits of `mask` are 1.
    const fn set(register: u8, mask: u32) -> Self {
        Self {
            register,
            mask,
            value: mask,
        }
    }

    /// All bits of `mask` are 0.
    const fn clear(register: u8, mask: u32) -> Self {
        Self {
            register,
            mask,
            value: 0,
        }
    }
}

/// One write of those that restore a UART: the bits of `mask` as they were, and 0 in
/// the others.
pub struct Step {
    pub register: u8,
    pub mask: u32,
}

/// A register as it was.
const fn all(register: u8) -> Step {
    Step {
        register,
        mask: u32::MAX,
    }
}

/// A register without the bits that are not in `mask`.
const fn only(register: u8, mask: u32) -> Step {
    Step { register, mask }
}

/// The programming model of a kind of UART.
pub struct Model {
    /// The register whose writes are sent.
    pub data: u8,
    /// The UART accepts another byte.
    pub has_room: Bits,
    /// FIFO and shift register are empty.
    pub is_idle: Bits,
    /// The UART is on, and so is its transmitter.
    pub turn_on: &'static [Bits],
    /// The writes that restore it, [`KEPT_MAX`] steps at most.
    pub restore: &'static [Step],
    /// Bytes of registers; how many they are, of a 16550.
    pub size: u8,
}

/// The most steps that a model has.
pub const KEPT_MAX: usize = 8;

/// The model of a kind.
pub const fn model(kind: UartKind) -> &'static Model {
    match kind {
        UartKind::Pl011 => &PL011,
        UartKind::Sbsa => &SBSA,
        UartKind::Ns16550 => &NS16550,
        UartKind::Cadence => &CADENCE,
        UartKind::Imx => &IMX,
        UartKind::Lpuart => &LPUART,
        UartKind::Stm32 => &STM32,
    }
}

/// Arm PrimeCell UART PL011 (DDI 0183G, table 3-1).
const PL011: Model = Model {
    data: DR,
    has_room: Bits::clear(FR, 1 << 5),
    is_idle: Bits::clear(FR, 1 << 3),
    // UARTEN, TXE.
    turn_on: &[Bits::set(CR, 1 << 0 | 1 << 8)],
    // Off while it is set up, and LCR_H last of the three, since writing it
    // is what makes the divisors count (3.3.7): CR, IBRD, FBRD, LCR_H, CR.
    restore: &[only(CR, 0), all(0x24), all(0x28), all(0x2c), all(CR)],
    size: 0x4c,
};
/// UARTDR.
const DR: u8 = 0x00;
/// UARTFR.
const FR: u8 = 0x18;
/// UARTCR.
const CR: u8 = 0x30;

/// The PL011's subset of Arm's base system architecture (DEN0094, Generic
/// UART): it has no register that sets it up.
const SBSA: Model = Model {
    turn_on: &[],
    restore: &[],
    ..PL011
};

/// 16550 (TI, PC16550D), and BCM2835's mini UART (BCM2835 ARM Peripherals,
/// section 2.2), whose two bits of LSR say the same.
const NS16550: Model = Model {
    data: 0,
    has_room: Bits::set(LSR, 1 << 5),
    is_idle: Bits::set(LSR, 1 << 6),
    turn_on: &[],
    // LCR without DLAB, which would make a divisor of the next byte; MCR. The
    // divisor is not kept: to read it takes the UART out of use, when the
    // firmware may still be sending.
    restore: &[only(3, 0x7f), only(4, 0xff)],
    size: 8,
};
/// Line status register.
const LSR: u8 = 5;

/// Cadence's UART in Zynq and ZynqMP (Xilinx UG585, appendix B.33; QEMU's
/// hw/char/cadence_uart.c).
const CADENCE: Model = Model {
    data: 0x30,
    has_room: Bits::clear(SR, 1 << 4),
    // TXEMPTY, and not TACTIVE.
    is_idle: Bits {
        register: SR,
        mask: 1 << 3 | 1 << 11,
        value: 1 << 3,
    },
    // TXEN, and not TXDIS.
    turn_on: &[Bits {
        register: 0x00,
        mask: 1 << 4 | 1 << 5,
        value: 1 << 4,
    }],
    // Off while it is set up: control, mode,
    // baud_rate_gen, baud_rate_divider, control.
    restore: &[only(0x00, 0), all(0x04), all(0x18), all(0x34), all(0x00)],
    size: 0x48,
};
/// Channel_sts.
const SR: u8 = 0x2c;

/// i.MX (NXP IMX8MPRM, UART; QEMU's hw/char/imx_serial.c).
const IMX: Model = Model {
    data: 0x40,
    // TXFULL.
    has_room: Bits::clear(0xb4, 1 << 4),
    // TXDC.
    is_idle: Bits::set(0x98, 1 << 3),
    // UARTEN; TXEN, and SRST, which is a reset when it is written as 0.
    turn_on: &[Bits::set(UCR1, 1 << 0), Bits::set(UCR2, 1 << 0 | 1 << 2)],
    // Off while it is set up, and UBMR behind UBIR, which counts from then on:
    // UCR1, UCR2, UCR3, UCR4, UFCR, UBIR, UBMR, UCR1.
    restore: &[
        only(UCR1, 0),
        all(UCR2),
        all(0x88),
        all(0x8c),
        all(0x90),
        all(0xa4),
        all(0xa8),
        all(UCR1),
    ],
    size: 0xb8,
};
const UCR1: u8 = 0x80;
const UCR2: u8 = 0x84;

/// LPUART of i.MX 7ULP, 8 and 9 (NXP IMX93RM, LPUART). Those of Layerscape
/// have no registers below BAUD, and some of them are big-endian.
const LPUART: Model = Model {
    data: 0x1c,
    // TDRE: no more in the FIFO than its watermark.
    has_room: Bits::set(0x14, 1 << 23),
    // TC.
    is_idle: Bits::set(0x14, 1 << 22),
    // TE.
    turn_on: &[Bits::set(CTRL, 1 << 19)],
    // BAUD may be changed only while both directions are off: CTRL, BAUD,
    // CTRL. Without its FIFO, which is not kept, it sends as well.
    restore: &[only(CTRL, 0), all(0x10), all(CTRL)],
    size: 0x30,
};
const CTRL: u8 = 0x18;

/// STM32 USART as of STM32H7 and STM32MP (ST RM0433, USART registers; QEMU's
/// hw/char/stm32l4x5_usart.c, but for PRESC).
const STM32: Model = Model {
    data: 0x28,
    // TXE, or TXFNF with the FIFO on.
    has_room: Bits::set(ISR, 1 << 7),
    // TC.
    is_idle: Bits::set(ISR, 1 << 6),
    // UE, TE.
    turn_on: &[Bits::set(CR1, UE | 1 << 3)],
    // All but UE can be written only while that is 0: CR1, BRR, PRESC, CR2,
    // CR3, CR1 without UE, CR1.
    restore: &[
        only(CR1, 0),
        all(0x0c),
        all(0x2c),
        all(0x04),
        all(0x08),
        only(CR1, !UE),
        all(CR1),
    ],
    size: 0x30,
};
const CR1: u8 = 0x00;
const UE: u32 = 1 << 0;
const ISR: u8 = 0x1c;
