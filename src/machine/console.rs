//! The console: a single UART, used by the lead and by a CPU that panics.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU64, Ordering};

use hardware::devices::uart::{self, Uart, UartDescription};
use spin::mutex::SpinMutex;

use crate::machine::cpu::{instructions, registers};
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::probe;
use crate::machine::memory::tables::{MapError, PAGE, TranslationTables};

static CONSOLE: SpinMutex<Option<OpenUart>> = SpinMutex::new(None);

/// A UART whose registers are mapped.
pub struct OpenUart {
    pub uart: Uart<Mmio>,
    status: StatusRegister,
}

/// A UART's status register. Reading it has no effect.
#[derive(Clone, Copy)]
pub struct StatusRegister {
    pub address: u64,
    /// The size of an access in bytes.
    pub width: u8,
}

/// Maps the registers of a UART, and checks that its status can be read.
pub fn open_uart(
    tables: &mut TranslationTables,
    uart: &UartDescription,
) -> Result<OpenUart, MapError> {
    let region = uart::registers(uart);
    let mapped = MappedRegisters::map(tables, region)?;
    // All registers belong to one device, so if the status can be read, the other registers can
    // be written.
    let last = region.end() - 1;
    if last / PAGE != uart.base / PAGE {
        return Err(MapError::Unreadable(last));
    }
    let polled = uart.base + uart::status(uart);
    let read = match uart.io_width {
        4 => probe::try_read_word(polled),
        _ => probe::try_read_byte(polled),
    };
    read.ok_or(MapError::Unreadable(uart.base))?;
    Ok(OpenUart {
        uart: Uart::new(Mmio::new(mapped), uart),
        status: StatusRegister {
            address: polled,
            width: uart.io_width,
        },
    })
}

/// Makes a UART the console.
pub fn set_console(console: OpenUart) {
    *CONSOLE.lock() = Some(console);
}

/// Returns the console's status register.
pub fn status_register() -> Option<StatusRegister> {
    CONSOLE.lock().as_ref().map(|console| console.status)
}

pub fn is_set() -> bool {
    CONSOLE.lock().is_some()
}

/// Waits until all bytes have been sent. Called before measurements and before the machine is
/// turned off.
pub fn wait_idle() {
    if let Some(OpenUart { uart, .. }) = CONSOLE.lock().as_mut() {
        uart.wait_idle();
    }
}

/// Restores the UART settings before printing, because the entire system may have been powered
/// down.
pub fn restore() {
    if let Some(OpenUart { uart, .. }) = CONSOLE.lock().as_mut() {
        uart.restore();
    }
}

/// The affinity of the CPU that may currently print its last lines.
static TURN: AtomicU64 = AtomicU64::new(NOBODY);

const NOBODY: u64 = u64::MAX;

/// The maximum number of polls while waiting for a CPU's turn. Polling this many times takes longer
/// than printing the dumps of all CPUs.
const TURN_POLLS: u32 = 100_000_000;

/// Prints the last lines from a CPU that is stopping. Waits until other CPUs have printed their
/// last lines, and forces the lock open if it is not released. Returns false, without printing, if
/// it is already this CPU's turn, which means that it took an exception while printing.
pub fn print_last(print: impl FnOnce()) -> bool {
    let own = registers::mpidr().number();
    if TURN.load(Ordering::Relaxed) == own {
        return false;
    }
    let has_turn = (0..TURN_POLLS).any(|_| {
        let taken = TURN.compare_exchange(NOBODY, own, Ordering::Acquire, Ordering::Relaxed);
        taken.inspect_err(|_| instructions::relax()).is_ok()
    });
    force_unlock();
    print();
    if has_turn {
        TURN.store(NOBODY, Ordering::Release);
    }
    true
}

/// Takes the lock from its holder, for a CPU that is stopping and must print its last lines.
pub fn force_unlock() {
    // SAFETY: the holder, if any, is either this CPU, which will not return to the driver, or
    // another CPU, which keeps running. In the latter case, two CPUs use the driver at once, so
    // lines may be garbled, which is better than losing them. After set(), the driver changes only
    // its timeouts in memory, which are aligned words that are loaded and stored atomically and may
    // have any value. Each register access is a single instruction. When the other CPU finally
    // releases the lock, it is already open.
    unsafe { CONSOLE.force_unlock() };
}

/// Writes to the console, with "\n" sent as CR LF.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(OpenUart { uart, .. }) = CONSOLE.lock().as_mut() {
            for byte in text.bytes() {
                if byte == b'\n' {
                    uart.send(b'\r');
                }
                uart.send(byte);
            }
        }
        Ok(())
    }
}

macro_rules! print_line {
    ($($argument:tt)*) => {{
        use core::fmt::Write as _;
        // Writing to the console cannot fail.
        let _ = writeln!($crate::machine::console::Console, $($argument)*);
    }};
}
pub(crate) use print_line;

/// Prints a sentence, wrapped to the terminal width.
macro_rules! print_paragraph {
    ($($argument:tt)*) => {{
        use $crate::machine::console::Console;
        // Writing to the console cannot fail.
        let _ = hardware::text::prose::paragraph(&mut Console, "", 2, &format_args!($($argument)*));
    }};
}
pub(crate) use print_paragraph;
