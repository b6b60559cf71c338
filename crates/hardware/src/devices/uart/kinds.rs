//! UART types and the table that defines them.
//!
//! The device tree parser, board files, device tree generators, parameter block, driver and the
//! list in docs/boards.md all use this table.

use alloc::format;
use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Deserializer, de};
use tock_registers::register_bitfields;

use super::descriptor::{Bits, Layout, UartDescriptor, UartModel};

/// Defines [`UartKind`] with a descriptor for each variant.
macro_rules! uart_kinds {
    ($($variant:ident: $descriptor:expr,)+) => {
        /// A UART's programming model. The parameter block identifies a UART type by number,
        /// starting at 1.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        #[expect(missing_docs, reason = "the descriptors document the variants")]
        pub enum UartKind {
            $($variant,)+
        }

        impl UartKind {
            /// All types, in table order.
            pub const ALL: [Self; [$(Self::$variant),+].len()] = [$(Self::$variant),+];

            /// Returns the type's table entry.
            pub const fn descriptor(self) -> &'static UartDescriptor {
                match self {
                    $(Self::$variant => {
                        const DESCRIPTOR: UartDescriptor = $descriptor;
                        &DESCRIPTOR
                    })+
                }
            }
        }
    };
}

const ALL: u32 = u32::MAX;
const OFF: u32 = 0;

// Add new types at the end because payloads and host tools of different versions must use the same
// numbers.
uart_kinds! {
    Pl011: UartDescriptor {
        name: "pl011",
        title: "PL011",
        about: "Arm PrimeCell PL011 (DDI 0183)",
        is_in_board_files: true,
        is_numbered: false,
        compatible: &[("arm,pl011", Layout::WORDS)],
        node: ("pl011", &["arm,pl011", "arm,primecell"]),
        earlycon: &["pl011"],
        terminal: "ttyAMA",
        acpi_types: &[3],
        model: PL011,
    },
    Ns16550: UartDescriptor {
        name: "ns16550",
        title: "16550",
        about: "8250, 16550 and compatible UARTs, such as the BCM2835 mini UART",
        is_in_board_files: true,
        is_numbered: true,
        compatible: &[
            ("ns16550a ns16550 ns16450 ns8250 ns16850", Layout::new(0, 1)),
            ("snps,dw-apb-uart fsl,ns16550 fsl,16550-FIFO64", Layout::new(0, 1)),
            ("nvidia,tegra20-uart mrvl,mmp-uart", Layout::new(2, 1)),
            ("mediatek,mt6577-uart ti,am654-uart", Layout::new(2, 4)),
            ("ti,omap4-uart brcm,bcm2835-aux-uart", Layout::new(2, 4)),
        ],
        node: ("serial", &["ns16550a"]),
        earlycon: &["uart8250", "uart", "ns16550", "ns16550a"],
        terminal: "ttyS",
        acpi_types: &[0, 1, 0x12],
        // TI, PC16550D. LSR in the BCM2835 mini UART (BCM2835 ARM Peripherals, section 2.2) has the
        // same two bits.
        model: UartModel {
            data: 0,
            before_byte: &[],
            has_room: Bits::of(LSR, &[LINE_STATUS::THRE::SET]),
            is_idle: Bits::of(LSR, &[LINE_STATUS::TEMT::SET]),
            turn_on: &[],
            // Restore LCR without DLAB, followed by MCR. With DLAB set, the next byte would be
            // written to the divisor. The divisor is not saved because the firmware may still be
            // sending, and the UART cannot send while the divisor is being read.
            restore: &[(3, 0x7f), (4, 0xff)],
            size: 8,
        },
    },
    // The PL011 subset in the Arm Base System Architecture has no configuration registers.
    Sbsa: UartDescriptor {
        name: "sbsa",
        title: "SBSA",
        about: "the Arm generic UART, a PL011 subset (DEN0094); not allowed in board files",
        is_in_board_files: false,
        is_numbered: false,
        compatible: &[("arm,sbsa-uart", Layout::WORDS)],
        node: ("serial", &["arm,sbsa-uart"]),
        earlycon: &[],
        terminal: "ttyAMA",
        acpi_types: &[0x0d, 0x0e],
        model: UartModel {
            turn_on: &[],
            restore: &[],
            ..PL011
        },
    },
    Cadence: UartDescriptor {
        name: "cadence",
        title: "Cadence",
        about: "the Cadence UART in Zynq and ZynqMP (Xilinx UG1087)",
        is_in_board_files: true,
        is_numbered: false,
        compatible: &[("cdns,uart-r1p12 cdns,uart-r1p8 xlnx,xuartps", Layout::WORDS)],
        node: ("serial", &["xlnx,zynqmp-uart", "cdns,uart-r1p12"]),
        earlycon: &["cdns"],
        terminal: "ttyPS",
        acpi_types: &[],
        // Xilinx UG585, appendix B.33; QEMU's hw/char/cadence_uart.c.
        model: UartModel {
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
            // Turn the UART off during setup: control, mode, baud_rate_gen, baud_rate_divider,
            // control.
            restore: &[
                (0x00, OFF),
                (0x04, ALL),
                (0x18, ALL),
                (0x34, ALL),
                (0x00, ALL),
            ],
            size: 0x48,
        },
    },
    Imx: UartDescriptor {
        name: "imx",
        title: "i.MX",
        about: "the UART in i.MX 21 to 8M",
        is_in_board_files: true,
        is_numbered: false,
        compatible: &[("fsl,imx6q-uart fsl,imx21-uart", Layout::WORDS)],
        node: ("serial", &["fsl,imx6q-uart", "fsl,imx21-uart"]),
        earlycon: &["ec_imx6q", "ec_imx21"],
        terminal: "ttymxc",
        acpi_types: &[],
        // NXP IMX8MPRM, UART; QEMU's hw/char/imx_serial.c.
        model: UartModel {
            data: 0x40,
            before_byte: &[],
            has_room: Bits::of(0xb4, &[IMX_UTS::TXFULL::CLEAR]),
            is_idle: Bits::of(0x98, &[IMX_USR2::TXDC::SET]),
            turn_on: &[
                Bits::of(UCR1, &[IMX_UCR1::UARTEN::SET]),
                Bits::of(UCR2, &[IMX_UCR2::SRST::SET, IMX_UCR2::TXEN::SET]),
            ],
            // Turn the UART off during setup. Write UBMR after UBIR because both take effect when
            // UBMR is written: UCR1, UCR2, UCR3, UCR4, UFCR, UBIR, UBMR, UCR1.
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
        },
    },
    // Layerscape LPUARTs are not supported. They have no registers below BAUD, and some are
    // big-endian.
    Lpuart: UartDescriptor {
        name: "lpuart",
        title: "LPUART32",
        about: "the 32-bit LPUART in i.MX 7ULP, 8 and 9, with four leading version registers",
        is_in_board_files: true,
        is_numbered: false,
        compatible: &[
            ("fsl,imx7ulp-lpuart fsl,imx8ulp-lpuart fsl,imx8qxp-lpuart", Layout::WORDS),
        ],
        node: ("serial", &["fsl,imx8ulp-lpuart", "fsl,imx7ulp-lpuart"]),
        earlycon: &[],
        terminal: "ttyLP",
        acpi_types: &[],
        // NXP IMX93RM, LPUART.
        model: UartModel {
            data: 0x1c,
            before_byte: &[],
            has_room: Bits::of(0x14, &[LPUART_STAT::TDRE::SET]),
            is_idle: Bits::of(0x14, &[LPUART_STAT::TC::SET]),
            turn_on: &[Bits::of(CTRL, &[LPUART_CTRL::TE::SET])],
            // BAUD can be changed only while both directions are off: CTRL, BAUD, CTRL. The FIFO
            // setting is not saved because the UART also works without a FIFO.
            restore: &[(CTRL, OFF), (0x10, ALL), (CTRL, ALL)],
            size: 0x30,
        },
    },
    Stm32: UartDescriptor {
        name: "stm32",
        title: "STM32H7",
        about: "the USART in STM32H7 and STM32MP",
        is_in_board_files: true,
        is_numbered: false,
        compatible: &[("st,stm32h7-uart", Layout::WORDS)],
        node: ("serial", &["st,stm32h7-uart"]),
        earlycon: &["stm32"],
        terminal: "ttySTM",
        acpi_types: &[],
        // ST RM0433, USART registers; QEMU's hw/char/stm32l4x5_usart.c, except PRESC.
        model: UartModel {
            data: 0x28,
            before_byte: &[],
            has_room: Bits::of(ISR, &[STM32_ISR::TXFNF::SET]),
            is_idle: Bits::of(ISR, &[STM32_ISR::TC::SET]),
            turn_on: &[Bits::of(CR1, &[STM32_CR1::UE::SET, STM32_CR1::TE::SET])],
            // All fields except UE can be written only while UE is 0: CR1, BRR, PRESC, CR2, CR3,
            // CR1 without UE, CR1.
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
        },
    },
    // A command sends `UART_TX_TRANS_LEN` bytes, one in this case, and completes when they have
    // been sent. A power loss resets the UART mode and baud rate, and only firmware can restore
    // them.
    Geni: UartDescriptor {
        name: "geni",
        title: "GENI",
        about: "the Qualcomm generic interface (GENI) in UART mode, SDM845 and later",
        is_in_board_files: true,
        is_numbered: false,
        compatible: &[("qcom,geni-debug-uart", Layout::WORDS)],
        node: ("serial", &["qcom,geni-debug-uart"]),
        earlycon: &["qcom_geni"],
        terminal: "ttyMSM",
        // Microsoft's DBG2 specification, table 3: SDM845 with a clock of 1.8432 MHz or 7.372 MHz.
        // The firmware has set the baud rate, so the clock does not matter.
        acpi_types: &[0x11, 0x13],
        // TF-A's plat/qti/common, qti_uart_console.S; Linux's
        // drivers/tty/serial/qcom_geni_serial.c.
        model: UartModel {
            data: 0x700,
            // UART_TX_TRANS_LEN: one byte. GENI_M_CMD0: the opcode UART_START_TX.
            before_byte: &[(0x270, 1), (0x600, 1 << 27)],
            has_room: Bits::of(SE_STATUS, &[GENI_STATUS::M_CMD_ACTIVE::CLEAR]),
            is_idle: Bits::of(SE_STATUS, &[GENI_STATUS::M_CMD_ACTIVE::CLEAR]),
            turn_on: &[],
            restore: &[],
            size: 0x704,
        },
    },
}

/// Arm PrimeCell UART PL011 (DDI 0183G, table 3-1).
const PL011: UartModel = UartModel {
    data: 0x00,
    before_byte: &[],
    has_room: Bits::of(FR, &[UARTFR::TXFF::CLEAR]),
    is_idle: Bits::of(FR, &[UARTFR::BUSY::CLEAR]),
    turn_on: &[Bits::of(CR, &[UARTCR::UARTEN::SET, UARTCR::TXE::SET])],
    // Turn the UART off during setup. Write LCR_H after the divisors because they take effect only
    // when LCR_H is written (3.3.7): CR, IBRD, FBRD, LCR_H, CR.
    restore: &[(CR, OFF), (0x24, ALL), (0x28, ALL), (0x2c, ALL), (CR, ALL)],
    size: 0x4c,
};

// PL011.
const FR: u16 = 0x18;
const CR: u16 = 0x30;
// 16550.
const LSR: u16 = 5;
// Cadence.
const SR: u16 = 0x2c;
// i.MX.
const UCR1: u16 = 0x80;
const UCR2: u16 = 0x84;
// LPUART.
const CTRL: u16 = 0x18;
// STM32.
const CR1: u16 = 0x00;
const ISR: u16 = 0x1c;
// GENI.
const SE_STATUS: u16 = 0x40;

register_bitfields! { u32,
    UARTFR [ BUSY OFFSET(3), TXFF OFFSET(5) ],
    UARTCR [ UARTEN OFFSET(0), TXE OFFSET(8) ],
    LINE_STATUS [ THRE OFFSET(5), TEMT OFFSET(6) ],
    CADENCE_CONTROL [ TXEN OFFSET(4), TXDIS OFFSET(5) ],
    CHANNEL_STS [ TXEMPTY OFFSET(3), TXFULL OFFSET(4), TACTIVE OFFSET(11) ],
    IMX_UCR1 [ UARTEN OFFSET(0) ],
    /// Writing 0 to SRST resets the UART.
    IMX_UCR2 [ SRST OFFSET(0), TXEN OFFSET(2) ],
    IMX_USR2 [ TXDC OFFSET(3) ],
    IMX_UTS [ TXFULL OFFSET(4) ],
    /// TDRE: the FIFO level is not above the watermark.
    LPUART_STAT [ TC OFFSET(22), TDRE OFFSET(23) ],
    LPUART_CTRL [ TE OFFSET(19) ],
    STM32_CR1 [ UE OFFSET(0), TE OFFSET(3) ],
    /// TXFNF is called TXE if the FIFO is off.
    STM32_ISR [ TC OFFSET(6), TXFNF OFFSET(7) ],
    /// The main sequencer is running a command, so bytes are being sent.
    GENI_STATUS [ M_CMD_ACTIVE OFFSET(0) ]
}

impl UartKind {
    /// Returns the name used in board files and messages.
    pub const fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// Returns the UART type for a `compatible` string, and the default register layout.
    pub fn from_compatible(name: &[u8]) -> Option<(Self, Layout)> {
        for kind in Self::ALL {
            for (kind_names, layout) in kind.descriptor().compatible {
                let mut kind_names = kind_names.split(' ');
                if kind_names.any(|kind_name| kind_name.as_bytes() == name) {
                    return Some((kind, *layout));
                }
            }
        }
        None
    }

    /// Returns the UART type for a name in Linux's boot argument `earlycon=`.
    pub fn from_earlycon(name: &str) -> Option<Self> {
        let has_name = |kind: &Self| kind.descriptor().earlycon.contains(&name);
        Self::ALL.into_iter().find(has_name)
    }

    /// Returns the UART type for an interface type in the ACPI SPCR and DBG2 tables.
    pub fn from_acpi_type(number: u8) -> Option<Self> {
        let has_type = |kind: &Self| kind.descriptor().acpi_types.contains(&number);
        Self::ALL.into_iter().find(has_type)
    }
}

/// A list of all UART types for use in messages, such as "a PL011, 16550 or SBSA UART".
pub struct AnyUart;

impl fmt::Display for AnyUart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, kind) in UartKind::ALL.iter().enumerate() {
            let separator = match index {
                0 => "a ",
                _ if index + 1 == UartKind::ALL.len() => " or ",
                _ => ", ",
            };
            write!(f, "{separator}{}", kind.descriptor().title)?;
        }
        f.write_str(" UART")
    }
}

/// Parses the name used in board files.
impl<'d> Deserialize<'d> for UartKind {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let kinds = Self::ALL.into_iter();
        let mut known = kinds.filter(|kind| kind.descriptor().is_in_board_files);
        known
            .clone()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| {
                let first = known.next().map_or("", Self::name);
                let names = known.fold(format!("`{first}`"), |names, kind| {
                    format!("{names}, `{}`", kind.name())
                });
                de::Error::custom(format_args!(
                    "unknown variant `{name}`, expected one of {names}"
                ))
            })
    }
}
