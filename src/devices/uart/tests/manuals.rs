//! The manuals, for the fake.

use super::fake::Manual;
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
    status: "18=7,empty 18=5,full 18=3,busy 18=4,always",
    settings: "24=0,d 28=0,1 2c=0,70 30=300,301",
    sends: "30=101,101",
    restores: "30=0 24=d 28=1 2c=70 30=301",
};

/// DEN0094, Generic UART: of the PL011 there are UARTDR, UARTRSR, UARTFR and the
/// interrupt registers. The registers between are reserved.
pub static SBSA: Manual = Manual {
    kind: UartKind::Sbsa,
    settings: "",
    sends: "",
    restores: "",
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
    status: "5=5,empty 5=6,idle",
    settings: "3=0,3 4=0,b",
    sends: "3=80,0",
    restores: "3=3 4=b",
};

/// A 16550 with registers of 16 bits.
pub static NS16550_HALF: Manual = Manual {
    reg_shift: 1,
    io_width: 2,
    status: "a=5,empty a=6,idle",
    settings: "6=0,3 8=0,b",
    sends: "6=80,0",
    restores: "6=3 8=b",
    ..NS16550
};

/// BCM2835 ARM Peripherals, 2.2.2: bit 5 of LSR is 1 while the FIFO, of 8 bytes, takes at
/// least one, bit 6 while it is empty and the transmitter idle. Accesses of 32 bits:
/// bcm2835_aux_ops in QEMU's hw/char/bcm2835_aux.c.
pub static MINI_UART: Manual = Manual {
    reg_shift: 2,
    io_width: 4,
    depth: 8,
    status: "14=5,room 14=6,idle",
    settings: "c=0,3 10=0,0",
    sends: "c=80,0",
    restores: "c=3 10=0",
    ..NS16550
};

/// UG585, B.33: Channel_sts has TACTIVE, TFUL and TEMPTY. The baud rate is set
/// with both directions off. Reset values: cadence_uart_reset in
/// QEMU's hw/char/cadence_uart.c.
pub static CADENCE: Manual = Manual {
    kind: UartKind::Cadence,
    data: 0x30,
    depth: 64,
    status: "2c=b,busy 2c=4,full 2c=3,empty 2c=1,always",
    settings: "0=128,114 4=0,20 18=28b,7c 34=f,6",
    sends: "0=30,10",
    restores: "0=0 4=20 18=7c 34=6 0=114",
    ..PL011
};

/// IMX8MPRM, UART: UTS has TXFULL and TXEMPTY, USR2 has TXDC (FIFO and shift
/// register empty) and TXFE. UCR2.SRST as 0 resets the UART; UTXD is reached only
/// with UARTEN; UFCR, UBIR and UBMR, in this order, are written without it. Reset values
/// as in QEMU's hw/char/imx_serial.c, but for SRST, which reads as 1.
pub static IMX: Manual = Manual {
    kind: UartKind::Imx,
    data: 0x40,
    status: "b4=4,full b4=6,empty b4=5,always 98=14,empty 98=3,idle",
    settings: "80=0,1 84=1,4027 88=700,704 8c=8000,8000 90=801,a01 a4=0,f a8=0,68",
    sends: "80=1,1 84=4,4",
    restores: "80=0 84=4027 88=704 8c=8000 90=a01 a4=f a8=68 80=1",
    ..PL011
};

/// IMX93RM, LPUART: STAT has TDRE (no more in the FIFO than its watermark, 0)
/// and TC (no transmission, nor a byte that waits for it). BAUD may be changed
/// only with TE and RE off. Reset values are the manual's.
pub static LPUART: Manual = Manual {
    kind: UartKind::Lpuart,
    data: 0x1c,
    depth: 16,
    status: "14=17,empty 14=16,idle",
    settings: "10=f000004,3000034 18=0,c0000",
    sends: "18=80000,80000",
    restores: "18=0 10=3000034 18=c0000",
    ..PL011
};

/// RM0433, USART: ISR has TXFNF and TC; CR2, CR3, BRR and PRESC, and FIFOEN and
/// the word's length in CR1, can be written only while UE is 0.
pub static STM32: Manual = Manual {
    kind: UartKind::Stm32,
    data: 0x28,
    depth: 16,
    status: "1c=7,room 1c=6,idle",
    settings: "0=0,2000000d 4=0,0 8=0,1000 c=0,22b 2c=0,1",
    sends: "0=9,9",
    restores: "0=0 c=22b 2c=1 4=0 8=1000 0=2000000c 0=2000000d",
    ..PL011
};

pub fn all() -> impl Iterator<Item = &'static Manual> {
    let with_16550 = [&PL011, &SBSA, &NS16550, &NS16550_HALF, &MINI_UART];
    with_16550
        .into_iter()
        .chain([&CADENCE, &IMX, &LPUART, &STM32])
}
