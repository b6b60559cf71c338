//! The manuals, for the fake.

use super::fake::{Manual, Settings};
use crate::image::UartKind;

fn bit(number: u32, set: bool) -> u32 {
    u32::from(set) << number
}

fn has(settings: &Settings, offset: u64, bits: u32) -> bool {
    settings.get(&offset).is_some_and(|v| v & bits == bits)
}

/// DDI 0183G, 3.3: UARTFR has TXFE, RXFE, TXFF and BUSY, which stays until the
/// last bit, stop bits and all, has left the shift register. UARTLCR_H and the
/// divisors must not change while UARTEN is 1. Reset values: table 3-1.
pub static PL011: Manual = Manual {
    kind: UartKind::Pl011,
    reg_shift: 2,
    io_width: 4,
    data: 0x00,
    depth: 32,
    status: |offset, line| {
        let flags = bit(7, line.has_empty_fifo())
            | bit(5, line.has_full_fifo(32))
            | bit(3, !line.is_idle());
        (offset == 0x18).then_some(flags | 1 << 4)
    },
    settings: &[
        (0x24, 0, 13),
        (0x28, 0, 1),
        (0x2c, 0, 0x70),
        (0x30, 0x300, 0x301),
    ],
    sends: |settings| has(settings, 0x30, 1 << 8 | 1),
    against: |settings, offset, _| {
        let divided = matches!(offset, 0x24..=0x2c);
        (divided && has(settings, 0x30, 1)).then_some("set up while it is on")
    },
};

/// DEN0094, Generic UART: of the PL011 there are UARTDR, UARTRSR, UARTFR and the
/// interrupt registers. What lies between is reserved.
pub static SBSA: Manual = Manual {
    kind: UartKind::Sbsa,
    settings: &[],
    sends: |_| true,
    against: |_, _, _| Some("reserved"),
    ..PL011
};

/// PC16550D, line status: THRE is 1 while the FIFO is empty, TEMT while the
/// shift register is, too. With DLAB the first register is the divisor's.
pub static NS16550: Manual = Manual {
    kind: UartKind::Ns16550,
    reg_shift: 0,
    io_width: 1,
    data: 0,
    depth: 16,
    status: |offset, line| {
        (offset == 5).then_some(bit(5, line.has_empty_fifo()) | bit(6, line.is_idle()))
    },
    settings: &[(3, 0, 0x03), (4, 0, 0x0b)],
    sends: |settings| !has(settings, 3, 1 << 7),
    against: |_, offset, value| {
        (offset == 3 && value & 1 << 7 != 0).then_some("the divisor in place of the data")
    },
};

/// A 16550 with registers of 16 bits.
pub static NS16550_HALF: Manual = Manual {
    reg_shift: 1,
    io_width: 2,
    status: |offset, line| (NS16550.status)(offset >> 1, line),
    settings: &[(3 << 1, 0, 0x03), (4 << 1, 0, 0x0b)],
    sends: |settings| !has(settings, 3 << 1, 1 << 7),
    against: |_, _, _| None,
    ..NS16550
};

/// BCM2835 ARM Peripherals, 2.2.2: bit 5 of LSR is 1 while the FIFO, of 8
/// bytes, takes at least one, bit 6 that it is empty and the transmitter
/// idle. Accesses of 32 bits: bcm2835_aux_ops in QEMU's
/// hw/char/bcm2835_aux.c.
pub static MINI_UART: Manual = Manual {
    reg_shift: 2,
    io_width: 4,
    depth: 8,
    status: |offset, line| {
        (offset == 0x14).then_some(bit(5, !line.has_full_fifo(8)) | bit(6, line.is_idle()))
    },
    settings: &[(0x0c, 0, 0x03), (0x10, 0, 0x00)],
    sends: |settings| !has(settings, 0x0c, 1 << 7),
    ..NS16550_HALF
};

/// UG585, B.33: Channel_sts has TACTIVE, TFUL and TEMPTY. The baud rate is set
/// with both directions off. Reset values: cadence_uart_reset in
/// QEMU's hw/char/cadence_uart.c.
pub static CADENCE: Manual = Manual {
    kind: UartKind::Cadence,
    data: 0x30,
    depth: 64,
    status: |offset, line| {
        let flags = bit(11, !line.is_idle())
            | bit(4, line.has_full_fifo(64))
            | bit(3, line.has_empty_fifo());
        (offset == 0x2c).then_some(flags | 1 << 1)
    },
    settings: &[
        (0x00, 0x128, 0x114),
        (0x04, 0, 0x20),
        (0x18, 0x28b, 124),
        (0x34, 0xf, 6),
    ],
    sends: |settings| has(settings, 0, 1 << 4) && !has(settings, 0, 1 << 5),
    against: |settings, offset, _| {
        let on = has(settings, 0, 1 << 4) && !has(settings, 0, 1 << 5);
        (matches!(offset, 0x18 | 0x34) && on).then_some("a baud rate while it is on")
    },
    ..PL011
};

/// IMX8MPRM, UART: UTS has TXFULL and TXEMPTY, USR2 has TXDC (FIFO and shift
/// register empty) and TXFE. UCR2.SRST as 0 resets it; UTXD is reached only
/// with UARTEN. Reset values as in QEMU's hw/char/imx_serial.c, but for SRST,
/// which reads as 1.
pub static IMX: Manual = Manual {
    kind: UartKind::Imx,
    data: 0x40,
    status: |offset, line| match offset {
        0xb4 => Some(bit(4, line.has_full_fifo(32)) | bit(6, line.has_empty_fifo()) | 1 << 5),
        0x98 => Some(bit(14, line.has_empty_fifo()) | bit(3, line.is_idle())),
        _ => None,
    },
    settings: &[
        (0x80, 0, 0x1),
        (0x84, 1, 0x4027),
        (0x88, 0x700, 0x704),
        (0x8c, 0x8000, 0x8000),
        (0x90, 0x801, 0xa01),
        (0xa4, 0, 0xf),
        (0xa8, 0, 0x68),
    ],
    sends: |settings| has(settings, 0x80, 1) && has(settings, 0x84, 1 << 2),
    against: |settings, offset, value| match offset {
        0x84 if value & 1 == 0 => Some("a reset"),
        0x90 | 0xa4 | 0xa8 if has(settings, 0x80, 1) => Some("set up while it is on"),
        _ => None,
    },
    ..PL011
};

/// IMX93RM, LPUART: STAT has TDRE (no more in the FIFO than its watermark, 0)
/// and TC (no transmission, nor a byte that waits for it). BAUD may be changed
/// only with TE and RE off. Reset values are the manual's.
pub static LPUART: Manual = Manual {
    kind: UartKind::Lpuart,
    data: 0x1c,
    depth: 16,
    status: |offset, line| {
        (offset == 0x14).then_some(bit(23, line.has_empty_fifo()) | bit(22, line.is_idle()))
    },
    settings: &[(0x10, 0x0f00_0004, 0x0300_0034), (0x18, 0, 0x000c_0000)],
    sends: |settings| has(settings, 0x18, 1 << 19),
    against: |settings, offset, _| {
        let on = has(settings, 0x18, 1 << 19) || has(settings, 0x18, 1 << 18);
        (offset == 0x10 && on).then_some("a baud rate while it is on")
    },
    ..PL011
};

/// RM0433, USART: ISR has TXFNF and TC; CR2, CR3, BRR and PRESC, and FIFOEN and
/// the word's length in CR1, can be written only while UE is 0.
pub static STM32: Manual = Manual {
    kind: UartKind::Stm32,
    data: 0x28,
    depth: 16,
    status: |offset, line| {
        (offset == 0x1c).then_some(bit(7, !line.has_full_fifo(16)) | bit(6, line.is_idle()))
    },
    settings: &[
        (0x00, 0, 0x2000_000d),
        (0x04, 0, 0x0000_0000),
        (0x08, 0, 0x0000_1000),
        (0x0c, 0, 0x22b),
        (0x2c, 0, 1),
    ],
    sends: |settings| has(settings, 0, 1 << 3 | 1),
    against: |settings, offset, value| {
        // FIFOEN, M1, OVER8, M0, PCE, PS.
        const FIXED: u32 = 1 << 29 | 1 << 28 | 1 << 15 | 1 << 12 | 1 << 10 | 1 << 9;
        let was = settings.get(&0).copied().unwrap_or(0);
        let fixed = offset != 0 || (was ^ value) & FIXED != 0;
        // The write that turns it off may clear all at once.
        (was & 1 != 0 && fixed && value & 1 != 0).then_some("set up while it is on")
    },
    ..PL011
};

/// All of them.
#[rustfmt::skip]
pub static ALL: [&Manual; 9] = [
    &PL011, &SBSA, &NS16550, &NS16550_HALF, &MINI_UART, &CADENCE, &IMX, &LPUART, &STM32,
];
