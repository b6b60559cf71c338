//! The kinds of UART: the register for a byte, the bits for room and rest, and the
//! registers that are restored, in their order, after the power was off.
//!
//! A register is named by its offset in bytes, one of a 16550 by its number.

use tock_registers::RegisterLongName;
use tock_registers::fields::FieldValue;
use tock_registers::register_bitfields;

use crate::image::UartKind;

/// Bits of a register, and their value in a state.
pub struct Bits {
    pub register: u16,
    pub mask: u32,
    pub value: u32,
}

impl Bits {
    /// Returns the bits of these fields.
    const fn of<R: RegisterLongName>(register: u16, fields: &[FieldValue<u32, R>]) -> Self {
        let (mut mask, mut value, mut place) = (0, 0, 0);
        while place < fields.len() {
            mask |= fields[place].mask();
            value |= fields[place].value;
            place += 1;
        }
        Self {
            register,
            mask,
            value,
        }
    }
}

/// One write of those that restore a UART: a register, and the bits of it that are as they
/// were; the others are 0.
pub type RestoreWrite = (u16, u32);

const ALL: u32 = u32::MAX;
const OFF: u32 = 0;

/// The programming model of a kind of UART.
pub struct UartModel {
    /// The register whose writes are sent.
    pub data: u16,
    /// The writes, registers and values, that each byte has to follow.
    pub before_byte: &'static [(u16, u32)],
    /// The UART accepts another byte.
    pub has_room: Bits,
    /// FIFO and shift register are empty.
    pub is_idle: Bits,
    /// The UART is on, and so is its transmitter.
    pub turn_on: &'static [Bits],
    /// The writes that restore it, [`KEPT_MAX`] steps at most.
    pub restore: &'static [RestoreWrite],
    /// Bytes of registers; of a 16550, their number.
    pub size: u16,
}

/// The most steps that a model has.
pub const KEPT_MAX: usize = 8;

/// The model of a kind.
pub const fn model(kind: UartKind) -> &'static UartModel {
    match kind {
        UartKind::Pl011 => &PL011,
        UartKind::Sbsa => &SBSA,
        UartKind::Ns16550 => &NS16550,
        UartKind::Cadence => &CADENCE,
        UartKind::Imx => &IMX,
        UartKind::Lpuart => &LPUART,
        UartKind::Stm32 => &STM32,
        UartKind::Geni => &GENI,
    }
}

register_bitfields! { u32,
    UARTFR [ BUSY OFFSET(3), TXFF OFFSET(5) ],
    UARTCR [ UARTEN OFFSET(0), TXE OFFSET(8) ],
    LINE_STATUS [ THRE OFFSET(5), TEMT OFFSET(6) ],
    CADENCE_CONTROL [ TXEN OFFSET(4), TXDIS OFFSET(5) ],
    CHANNEL_STS [ TXEMPTY OFFSET(3), TXFULL OFFSET(4), TACTIVE OFFSET(11) ],
    IMX_UCR1 [ UARTEN OFFSET(0) ],
    /// SRST is a reset when it is written as 0.
    IMX_UCR2 [ SRST OFFSET(0), TXEN OFFSET(2) ],
    IMX_USR2 [ TXDC OFFSET(3) ],
    IMX_UTS [ TXFULL OFFSET(4) ],
    /// TDRE: no more in the FIFO than its watermark.
    LPUART_STAT [ TC OFFSET(22), TDRE OFFSET(23) ],
    LPUART_CTRL [ TE OFFSET(19) ],
    STM32_CR1 [ UE OFFSET(0), TE OFFSET(3) ],
    /// TXFNF is TXE while the FIFO is off.
    STM32_ISR [ TC OFFSET(6), TXFNF OFFSET(7) ],
    /// A command of the main sequencer runs: bytes are being sent.
    GENI_STATUS [ M_CMD_ACTIVE OFFSET(0) ]
}

/// Arm PrimeCell UART PL011 (DDI 0183G, table 3-1).
const PL011: UartModel = UartModel {
    data: 0x00,
    before_byte: &[],
    has_room: Bits::of(FR, &[UARTFR::TXFF::CLEAR]),
    is_idle: Bits::of(FR, &[UARTFR::BUSY::CLEAR]),
    turn_on: &[Bits::of(CR, &[UARTCR::UARTEN::SET, UARTCR::TXE::SET])],
    // Off while it is set up, and LCR_H last of the three, since writing it
    // is what makes the divisors count (3.3.7): CR, IBRD, FBRD, LCR_H, CR.
    restore: &[(CR, OFF), (0x24, ALL), (0x28, ALL), (0x2c, ALL), (CR, ALL)],
    size: 0x4c,
};
const FR: u16 = 0x18;
const CR: u16 = 0x30;

/// The PL011's subset of Arm's base system architecture (DEN0094, Generic
/// UART): it has no register that sets it up.
const SBSA: UartModel = UartModel {
    turn_on: &[],
    restore: &[],
    ..PL011
};

/// 16550 (TI, PC16550D), and BCM2835's mini UART (BCM2835 ARM Peripherals,
/// section 2.2), whose LSR has the same two bits.
const NS16550: UartModel = UartModel {
    data: 0,
    before_byte: &[],
    has_room: Bits::of(LSR, &[LINE_STATUS::THRE::SET]),
    is_idle: Bits::of(LSR, &[LINE_STATUS::TEMT::SET]),
    turn_on: &[],
    // LCR without DLAB, which would make a divisor of the next byte; MCR. The
    // divisor is not kept: to read it takes the UART out of use, when the
    // firmware may still be sending.
    restore: &[(3, 0x7f), (4, 0xff)],
    size: 8,
};
const LSR: u16 = 5;

/// Cadence's UART in Zynq and ZynqMP (Xilinx UG585, appendix B.33; QEMU's
/// hw/char/cadence_uart.c).
const CADENCE: UartModel = UartModel {
    data: 0x30,
    before_byte: &[],
    has_room: Bits::of(SR, &[CHANNEL_STS::TXFULL::CLEAR]),
    is_idle: Bits::of(
        SR,
        &[CHANNEL_STS::TXEMPTY::SET, CHANNEL_STS::TACTIVE::CLEAR],
    ),
    turn_on: &[Bits::of(
        0x00,
        &[CADENCE_CONTROL::TXEN::SET, CADENCE_CONTROL::TXDIS::CLEAR],
    )],
    // Off while it is set up: control, mode,
    // baud_rate_gen, baud_rate_divider, control.
    restore: &[
        (0x00, OFF),
        (0x04, ALL),
        (0x18, ALL),
        (0x34, ALL),
        (0x00, ALL),
    ],
    size: 0x48,
};
const SR: u16 = 0x2c;

/// i.MX (NXP IMX8MPRM, UART; QEMU's hw/char/imx_serial.c).
const IMX: UartModel = UartModel {
    data: 0x40,
    before_byte: &[],
    has_room: Bits::of(0xb4, &[IMX_UTS::TXFULL::CLEAR]),
    is_idle: Bits::of(0x98, &[IMX_USR2::TXDC::SET]),
    turn_on: &[
        Bits::of(UCR1, &[IMX_UCR1::UARTEN::SET]),
        Bits::of(UCR2, &[IMX_UCR2::SRST::SET, IMX_UCR2::TXEN::SET]),
    ],
    // Off while it is set up, and UBMR after UBIR, which counts from then on:
    // UCR1, UCR2, UCR3, UCR4, UFCR, UBIR, UBMR, UCR1.
    restore: &[
        (UCR1, OFF),
        (UCR2, ALL),
        (0x88, ALL),
        (0x8c, ALL),
        (0x90, ALL),
        (0xa4, ALL),
        (0xa8, ALL),
        (UCR1, ALL),
    ],
    size: 0xb8,
};
const UCR1: u16 = 0x80;
const UCR2: u16 = 0x84;

/// LPUART of i.MX 7ULP, 8 and 9 (NXP IMX93RM, LPUART). Those of Layerscape
/// have no registers below BAUD, and some of them are big-endian.
const LPUART: UartModel = UartModel {
    data: 0x1c,
    before_byte: &[],
    has_room: Bits::of(0x14, &[LPUART_STAT::TDRE::SET]),
    is_idle: Bits::of(0x14, &[LPUART_STAT::TC::SET]),
    turn_on: &[Bits::of(CTRL, &[LPUART_CTRL::TE::SET])],
    // BAUD may be changed only while both directions are off: CTRL, BAUD,
    // CTRL. Without its FIFO, which is not kept, it sends as well.
    restore: &[(CTRL, OFF), (0x10, ALL), (CTRL, ALL)],
    size: 0x30,
};
const CTRL: u16 = 0x18;

/// STM32 USART as of STM32H7 and STM32MP (ST RM0433, USART registers; QEMU's
/// hw/char/stm32l4x5_usart.c, but for PRESC).
const STM32: UartModel = UartModel {
    data: 0x28,
    before_byte: &[],
    has_room: Bits::of(ISR, &[STM32_ISR::TXFNF::SET]),
    is_idle: Bits::of(ISR, &[STM32_ISR::TC::SET]),
    turn_on: &[Bits::of(CR1, &[STM32_CR1::UE::SET, STM32_CR1::TE::SET])],
    // All but UE can be written only while that is 0: CR1, BRR, PRESC, CR2,
    // CR3, CR1 without UE, CR1.
    restore: &[
        (CR1, OFF),
        (0x0c, ALL),
        (0x2c, ALL),
        (0x04, ALL),
        (0x08, ALL),
        (CR1, !STM32_CR1::UE::SET.mask()),
        (CR1, ALL),
    ],
    size: 0x30,
};
const CR1: u16 = 0x00;
const ISR: u16 = 0x1c;

/// Qualcomm's generic interface as a UART, in SDM845 and later (TF-A's
/// plat/qti/common, qti_uart_console.S; Linux's drivers/tty/serial/qcom_geni_serial.c).
/// A command sends `UART_TX_TRANS_LEN` bytes, here one, and is done when that byte has left.
/// What selects the UART and its speed is lost with its power, and is firmware's alone to set.
const GENI: UartModel = UartModel {
    data: 0x700,
    // UART_TX_TRANS_LEN: one byte. GENI_M_CMD0: the opcode UART_START_TX.
    before_byte: &[(0x270, 1), (0x600, 1 << 27)],
    has_room: Bits::of(SE_STATUS, &[GENI_STATUS::M_CMD_ACTIVE::CLEAR]),
    is_idle: Bits::of(SE_STATUS, &[GENI_STATUS::M_CMD_ACTIVE::CLEAR]),
    turn_on: &[],
    restore: &[],
    size: 0x704,
};
const SE_STATUS: u16 = 0x40;
