//! UART models for the fake, based on the manuals.

use super::fake::Manual;
use super::fake::State::{Full, Rest, Room};
use crate::devices::uart::UartKind;

/// DDI 0183G, 3.3. UARTFR has TXFE, RXFE, TXFF and BUSY. BUSY stays set until the last bit,
/// including stop bits, has left the shift register. UARTLCR_H must be written after the divisors.
/// Neither UARTLCR_H nor the divisors may be changed while UARTEN is 1. Reset values are from table
/// 3-1.
pub static PL011: Manual = Manual {
    kind: UartKind::Pl011,
    reg_shift: 2,
    io_width: 4,
    data: 0x00,
    before_byte: "",
    status: &[
        (Full, "18=38"),
        (Room, "18=18"),
        (Room, "18=98"),
        (Rest, "18=90"),
    ],
    reset: "24=0 28=0 2c=0 30=300",
    firmware: "24=d 28=1 2c=70 30=301",
    turn_on: "30=301",
    restore: "30=0 24=d 28=1 2c=70 30=301",
};

/// DEN0094, Generic UART. This UART has the PL011's UARTDR, UARTRSR, UARTFR and interrupt
/// registers. The registers in between are reserved.
pub static SBSA: Manual = Manual {
    kind: UartKind::Sbsa,
    reset: "",
    firmware: "",
    turn_on: "",
    restore: "",
    ..PL011
};

/// PC16550D, line status. THRE is 1 while the FIFO is empty. TEMT is 1 while the shift register is
/// also empty. While DLAB is set, the first register contains the divisor.
pub static NS16550: Manual = Manual {
    kind: UartKind::Ns16550,
    reg_shift: 0,
    io_width: 1,
    data: 0,
    before_byte: "",
    status: &[(Full, "5=0"), (Room, "5=20"), (Rest, "5=60")],
    reset: "3=0 4=0",
    firmware: "3=3 4=b",
    turn_on: "",
    restore: "3=3 4=b",
};

/// A 16550 with 16-bit registers.
pub static NS16550_HALF: Manual = Manual {
    reg_shift: 1,
    io_width: 2,
    status: &[(Full, "a=0"), (Room, "a=20"), (Rest, "a=60")],
    reset: "6=0 8=0",
    firmware: "6=3 8=b",
    restore: "6=3 8=b",
    ..NS16550
};

/// BCM2835 ARM Peripherals, 2.2.2. LSR bit 5 is 1 while the 8-byte FIFO can accept at least one
/// byte. Bit 6 is 1 while the FIFO is empty and the transmitter is idle. Accesses are 32 bits wide,
/// as in bcm2835_aux_ops in QEMU's hw/char/bcm2835_aux.c.
pub static MINI_UART: Manual = Manual {
    reg_shift: 2,
    io_width: 4,
    status: &[(Full, "14=0"), (Room, "14=20"), (Rest, "14=60")],
    reset: "c=0 10=0",
    firmware: "c=3 10=0",
    restore: "c=3 10=0",
    ..NS16550
};

/// UG585, B.33. Channel_sts has TACTIVE, TFUL and TEMPTY. The baud rate must be set while both
/// directions are off. Reset values are from cadence_uart_reset in QEMU's hw/char/cadence_uart.c.
pub static CADENCE: Manual = Manual {
    kind: UartKind::Cadence,
    data: 0x30,
    status: &[
        (Full, "2c=812"),
        (Room, "2c=802"),
        (Room, "2c=80a"),
        (Rest, "2c=a"),
    ],
    reset: "0=128 4=0 18=28b 34=f",
    firmware: "0=114 4=20 18=7c 34=6",
    turn_on: "0=118",
    restore: "0=0 4=20 18=7c 34=6 0=114",
    ..PL011
};

/// IMX8MPRM, UART. UTS has TXFULL and TXEMPTY. USR2 has TXDC (FIFO and shift register empty) and
/// TXFE. Writing 0 to UCR2.SRST resets the UART. UTXD can be accessed only while UARTEN is 1. UFCR,
/// UBIR and UBMR must be written in that order while UARTEN is 0. Reset values are from QEMU's
/// hw/char/imx_serial.c, except for SRST, which reads as 1.
pub static IMX: Manual = Manual {
    kind: UartKind::Imx,
    data: 0x40,
    status: &[
        (Full, "b4=30 98=0"),
        (Room, "b4=20 98=0"),
        (Room, "b4=60 98=4000"),
        (Rest, "b4=60 98=4008"),
    ],
    reset: "80=0 84=1 88=700 8c=8000 90=801 a4=0 a8=0",
    firmware: "80=1 84=4027 88=704 8c=8000 90=a01 a4=f a8=68",
    turn_on: "80=1 84=5",
    restore: "80=0 84=4027 88=704 8c=8000 90=a01 a4=f a8=68 80=1",
    ..PL011
};

/// IMX93RM, LPUART. STAT has TDRE (the FIFO level is not above the watermark, which is 0) and TC
/// (no byte is being sent or waiting to be sent). BAUD can be changed only while TE and RE are off.
/// Reset values are from the manual.
pub static LPUART: Manual = Manual {
    kind: UartKind::Lpuart,
    data: 0x1c,
    status: &[(Full, "14=0"), (Room, "14=800000"), (Rest, "14=c00000")],
    reset: "10=f000004 18=0",
    firmware: "10=3000034 18=c0000",
    turn_on: "18=80000",
    restore: "18=0 10=3000034 18=c0000",
    ..PL011
};

/// RM0433, USART. ISR has TXFNF and TC. CR2, CR3, BRR, PRESC and the FIFOEN and word length fields
/// in CR1 can be written only while UE is 0.
pub static STM32: Manual = Manual {
    kind: UartKind::Stm32,
    data: 0x28,
    status: &[(Full, "1c=0"), (Room, "1c=80"), (Rest, "1c=c0")],
    reset: "0=0 4=0 8=0 c=0 2c=0",
    firmware: "0=2000000d 4=0 8=1000 c=22b 2c=1",
    turn_on: "0=9",
    restore: "0=0 c=22b 2c=1 4=0 8=1000 0=2000000c 0=2000000d",
    ..PL011
};

/// Based on TF-A's qti_uart_console.S and Linux's qcom_geni_serial.c. Software writes the number of
/// bytes, the command that sends them, and the bytes. The command stays active until the last byte
/// has been sent.
pub static GENI: Manual = Manual {
    kind: UartKind::Geni,
    data: 0x700,
    before_byte: "270=1 600=8000000",
    status: &[
        (Full, "40=1"),
        (Full, "40=1001"),
        (Rest, "40=0"),
        (Rest, "40=1000"),
    ],
    reset: "",
    firmware: "",
    turn_on: "",
    restore: "",
    ..PL011
};

pub fn all() -> impl Iterator<Item = &'static Manual> {
    let with_16550 = [&PL011, &SBSA, &NS16550, &NS16550_HALF, &MINI_UART];
    with_16550
        .into_iter()
        .chain([&CADENCE, &IMX, &LPUART, &STM32, &GENI])
}
