//! The console's UART in a board file.

use anyhow::Result;
use psci_bench::{board as payload, image};
use serde::Deserialize;
use toml::Spanned;

use super::source::Source;
use super::window::Window;

/// How the console's UART is programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UartKind {
    /// Arm PrimeCell PL011.
    Pl011,
    /// 8250/16550.
    Ns16550,
    /// Cadence's, of Zynq and ZynqMP.
    Cadence,
    /// i.MX 21 to 8M.
    Imx,
    /// The LPUART of i.MX 7ULP, 8 and 9.
    Lpuart,
    /// The USART of STM32H7 and STM32MP.
    Stm32,
}

impl UartKind {
    /// The payload's name for it.
    #[must_use]
    pub fn model(self) -> image::UartKind {
        match self {
            Self::Pl011 => image::UartKind::Pl011,
            Self::Ns16550 => image::UartKind::Ns16550,
            Self::Cadence => image::UartKind::Cadence,
            Self::Imx => image::UartKind::Imx,
            Self::Lpuart => image::UartKind::Lpuart,
            Self::Stm32 => image::UartKind::Stm32,
        }
    }
}

/// The console.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Uart {
    /// Programming model.
    pub kind: UartKind,
    /// First address.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// Left shift from register number to byte offset (16550).
    pub reg_shift: Option<u8>,
    /// Width of an access in bytes (16550).
    pub reg_io_width: Option<u8>,
}

impl Uart {
    /// Its registers.
    #[must_use]
    pub fn window(&self) -> Window {
        let (base, size) = (self.base, self.size);
        Window { base, size }
    }

    /// What the payload is told of it: in a tree, or in the parameter block.
    #[must_use]
    pub fn emergency(&self) -> image::EmergencyUart {
        image::EmergencyUart {
            kind: self.kind.model(),
            base: self.base,
            reg_shift: self.reg_shift.unwrap_or(0),
            io_width: self.reg_io_width.unwrap_or(1),
        }
    }
}

/// Refuses what the payload could not use.
pub(super) fn check(uart: &Spanned<Uart>, source: &Source<'_>) -> Result<()> {
    let (uart, span) = (uart.get_ref(), uart.span());
    let fail = |reason: &str| Err(source.error(span, reason));
    let extra = uart.reg_shift.is_some() || uart.reg_io_width.is_some();
    if extra && uart.kind != UartKind::Ns16550 {
        let reason = "reg-shift and reg-io-width are for kind = \"ns16550\" only";
        return fail(reason);
    }
    if uart.reg_shift.is_some_and(|shift| shift > 4) {
        return fail("reg-shift is 0 to 4");
    }
    if uart.reg_io_width.is_some_and(|w| !matches!(w, 1 | 2 | 4)) {
        return fail("reg-io-width is 1, 2 or 4");
    }
    // As the payload will have it.
    let read = payload::Uart::from(&uart.emergency());
    if uart.size < read.size {
        let reason = format!("the registers of this kind have {:#x} bytes", read.size);
        return fail(&reason);
    }
    if !read.is_aligned() {
        let reason = "its registers are not aligned to reg-io-width, or to 4 bytes";
        return fail(reason);
    }
    Ok(())
}
