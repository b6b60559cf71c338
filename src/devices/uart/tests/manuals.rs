//! The manuals, for the fake.

use super::fake::Manual;
use super::fake::Sign::{Always, Busy, Empty, Full, Idle, Room};
use crate::image::UartKind;

/// DDI 0183G, 3.3: UARTFR has TXFE, RXFE, TXFF and BUSY, which stays until the
/// last bit, stop bits and all, has left the shift register. UARTLCR_H, after the
/// divisors, and the divisors must not change while UARTEN is 1. Reset values: table 3-1.
pub static PL011: Manual = Manual {
    kind: UartKind::Pl011,
    reg_shift: 2,
    io_width: 4,
    data: 0x00,
    depth: 32,
    status: &[
        (0x18, 7, Empty),
        (0x18, 5, Full),
        (0x18, 3, Busy),
        (0x18, 4, Always),
    ],
    settings: &[
        (0x24, 0, 13),
        (0x28, 0, 1),
        (0x2c, 0, 0x70),
        (0x30, 0x300, 0x301),
    ],
    sends: &[(0x30, 0x101, 0x101)],
    restores: &[
        (0x30, 0),
        (0x24, 13),
        (0x28, 1),
        (0x2c, 0x70),
        (0x30, 0x301),
    ],
};

/// DEN0094, Generic UART: of the PL011 there are UARTDR, UARTRSR, UARTFR and the
/// interrupt registers. The registers between are reserved.
pub static SBSA: Manual = Manual {
    kind: UartKind::Sbsa,
    settings: &[],
    sends: &[],
    restores: &[],
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
    status: &[(5, 5, Empty), (5, 6, Idle)],
    settings: &[(3, 0, 0x03), (4, 0, 0x0b)],
    sends: &[(3, 0x80, 0)],
    restores: &[(3, 0x03), (4, 0x0b)],
};

/// A 16550 with registers of 16 bits.
pub static NS16550_HALF: Manual = Manual {
    reg_shift: 1,
    io_width: 2,
    status: &[(10, 5, Empty), (10, 6, Idle)],
    settings: &[(6, 0, 0x03), (8, 0, 0x0b)],
    sends: &[(6, 0x80, 0)],
    restores: &[(6, 0x03), (8, 0x0b)],
    ..NS16550
};

/// BCM2835 ARM Peripherals, 2.2.2: bit 5 of LSR is 1 while the FIFO, of 8 bytes, takes at
/// least one, bit 6 while it is empty and the transmitter idle. Accesses of 32 bits:
/// bcm2835_aux_ops in QEMU's hw/char/bcm2835_aux.c.
pub static MINI_UART: Manual = Manual {
    reg_shift: 2,
    io_width: 4,
    depth: 8,
    status: &[(0x14, 5, Room), (0x14, 6, Idle)],
    settings: &[(0x0c, 0, 0x03), (0x10, 0, 0x00)],
    sends: &[(0x0c, 0x80, 0)],
    restores: &[(0x0c, 0x03), (0x10, 0x00)],
    ..NS16550
};

/// UG585, B.33: Channel_sts has TACTIVE, TFUL and TEMPTY. The baud rate is set
/// with both directions off. Reset values: cadence_uart_reset in
/// QEMU's hw/char/cadence_uart.c.
pub static CADENCE: Manual = Manual {
    kind: UartKind::Cadence,
    data: 0x30,
    depth: 64,
    status: &[
        (0x2c, 11, Busy),
        (0x2c, 4, Full),
        (0x2c, 3, Empty),
        (0x2c, 1, Always),
    ],
    settings: &[
        (0x00, 0x128, 0x114),
        (0x04, 0, 0x20),
        (0x18, 0x28b, 124),
        (0x34, 0xf, 6),
    ],
    sends: &[(0, 0x30, 0x10)],
    restores: &[(0, 0), (0x04, 0x20), (0x18, 124), (0x34, 6), (0, 0x114)],
    ..PL011
};

/// IMX8MPRM, UART: UTS has TXFULL and TXEMPTY, USR2 has TXDC (FIFO and shift
/// register empty) and TXFE. UCR2.SRST as 0 resets the UART; UTXD is reached only
/// with UARTEN; UFCR, UBIR and UBMR, in this order, are written without it. Reset values
/// as in QEMU's hw/char/imx_serial.c, but for SRST, which reads as 1.
pub static IMX: Manual = Manual {
    kind: UartKind::Imx,
    data: 0x40,
    status: &[
        (0xb4, 4, Full),
        (0xb4, 6, Empty),
        (0xb4, 5, Always),
        (0x98, 14, Empty),
        (0x98, 3, Idle),
    ],
    settings: &[
        (0x80, 0, 0x1),
        (0x84, 1, 0x4027),
        (0x88, 0x700, 0x704),
        (0x8c, 0x8000, 0x8000),
        (0x90, 0x801, 0xa01),
        (0xa4, 0, 0xf),
        (0xa8, 0, 0x68),
    ],
    sends: &[(0x80, 1, 1), (0x84, 4, 4)],
    restores: &[
        (0x80, 0),
        (0x84, 0x4027),
        (0x88, 0x704),
        (0x8c, 0x8000),
        (0x90, 0xa01),
        (0xa4, 0xf),
        (0xa8, 0x68),
        (0x80, 1),
    ],
    ..PL011
};

/// IMX93RM, LPUART: STAT has TDRE (no more in the FIFO than its watermark, 0)
/// and TC (no transmission, nor a byte that waits for it). BAUD may be changed
/// only with TE and RE off. Reset values are the manual's.
pub static LPUART: Manual = Manual {
    kind: UartKind::Lpuart,
    data: 0x1c,
    depth: 16,
    status: &[(0x14, 23, Empty), (0x14, 22, Idle)],
    settings: &[(0x10, 0x0f00_0004, 0x0300_0034), (0x18, 0, 0x000c_0000)],
    sends: &[(0x18, 1 << 19, 1 << 19)],
    restores: &[(0x18, 0), (0x10, 0x0300_0034), (0x18, 0x000c_0000)],
    ..PL011
};

/// RM0433, USART: ISR has TXFNF and TC; CR2, CR3, BRR and PRESC, and FIFOEN and
/// the word's length in CR1, can be written only while UE is 0.
pub static STM32: Manual = Manual {
    kind: UartKind::Stm32,
    data: 0x28,
    depth: 16,
    status: &[(0x1c, 7, Room), (0x1c, 6, Idle)],
    settings: &[
        (0, 0, 0x2000_000d),
        (4, 0, 0),
        (8, 0, 0x1000),
        (0x0c, 0, 0x22b),
        (0x2c, 0, 1),
    ],
    sends: &[(0, 9, 9)],
    restores: &[
        (0, 0),
        (0x0c, 0x22b),
        (0x2c, 1),
        (4, 0),
        (8, 0x1000),
        (0, 0x2000_000c),
        (0, 0x2000_000d),
    ],
    ..PL011
};

pub static ALL: [&Manual; 9] = [
    &PL011,
    &SBSA,
    &NS16550,
    &NS16550_HALF,
    &MINI_UART,
    &CADENCE,
    &IMX,
    &LPUART,
    &STM32,
];
