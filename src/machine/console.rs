//! The console: one UART, for the lead and for a CPU that panics.

use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU64, Ordering};

use hardware::devices::uart::{self, Uart};
use hardware::image::Uart as Description;
use spin::mutex::SpinMutex;

use crate::machine::cpu::{instructions, registers};
use crate::machine::memory::mmio::{MappedRegisters, Mmio};
use crate::machine::memory::probe;
use crate::machine::memory::tables::{MapError, PAGE, TranslationTables};

static CONSOLE: SpinMutex<Option<Uart<Mmio>>> = SpinMutex::new(None);

/// Maps a UART's registers, and checks that its status can be read.
pub fn open(tables: &mut TranslationTables, uart: &Description) -> Result<Uart<Mmio>, MapError> {
    let region = uart::registers(uart);
    let mapped = MappedRegisters::map(tables, region)?;
    // All are of one device: a read proves the registers that are written.
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
    Ok(Uart::new(Mmio::new(mapped), uart))
}

pub fn set(uart: Uart<Mmio>) {
    *CONSOLE.lock() = Some(uart);
}

pub fn is_set() -> bool {
    CONSOLE.lock().is_some()
}

/// Waits until all has been sent: before anything is measured, and before
/// the machine is turned off.
pub fn wait_idle() {
    if let Some(uart) = CONSOLE.lock().as_mut() {
        uart.wait_idle();
    }
}

/// Puts the UART's settings back: before printing, after the system as a
/// whole may have been powered down.
pub fn restore() {
    if let Some(uart) = CONSOLE.lock().as_mut() {
        uart.restore();
    }
}

/// The affinity of the CPU that has the turn to print its last lines.
static TURN: AtomicU64 = AtomicU64::new(NOBODY);

const NOBODY: u64 = u64::MAX;

/// Polls for the turn: longer than the dumps of all CPUs take.
const TURN_POLLS: u32 = 100_000_000;

/// Prints the last lines of a CPU that stops: after those of another one, and without the
/// lock if that is not opened. Returns false, and prints nothing, if this CPU has the turn
/// already: it took an exception there.
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

/// Takes the lock from any holder: for a CPU that stops, and whose last lines must be
/// printed.
pub fn force_unlock() {
    // SAFETY: the holder, if any, is this CPU, which will not return to it, or
    // another one, which goes on. Then two use the driver at once: all that it
    // changes in memory after set() is its patience, aligned words that are
    // loaded and stored whole and may have any value, and its accesses to the
    // registers are single ones, so that lines may be torn, which is better than none.
    // The lock that the other one opens at its end is open already.
    unsafe { CONSOLE.force_unlock() };
}

/// Writes to the console, "\n" as CR LF.
pub struct Console;

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if let Some(uart) = CONSOLE.lock().as_mut() {
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
        // The console never fails.
        let _ = writeln!($crate::machine::console::Console, $($argument)*);
    }};
}
pub(crate) use print_line;

/// Prints a sentence, in lines of a terminal's width.
macro_rules! print_paragraph {
    ($($argument:tt)*) => {{
        use $crate::machine::console::Console;
        // The console never fails.
        let _ = hardware::text::prose::paragraph(&mut Console, "", 2, &format_args!($($argument)*));
    }};
}
pub(crate) use print_paragraph;
