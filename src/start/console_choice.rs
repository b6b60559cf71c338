//! Chooses the console.

use hardware::board::ConsoleSource;
use hardware::image::UartDescription;

use crate::machine::console::{self, print_paragraph};
use crate::machine::memory::tables::TranslationTables;

/// Uses a UART as the console if its registers can be mapped and read. If another UART may exist,
/// this one must also accept bytes.
pub fn open_console(tables: &mut TranslationTables, uart: &UartDescription, has_choice: bool) {
    // Failures are not reported, because there may be no console to print them on.
    if uart.is_aligned()
        && let Ok(mut candidate) = console::open_uart(tables, uart)
        && (!has_choice || candidate.uart.accepts_bytes())
    {
        console::set_console(candidate);
    }
}

/// Switches the console from the emergency UART to the UART in the tree, if they differ. The switch
/// is announced on the emergency UART. If the device in the tree is not a UART, that announcement
/// is the last visible line. Returns true if the console is the UART in the tree.
pub fn move_console(
    tables: &mut TranslationTables,
    emergency: Option<UartDescription>,
    uart: &UartDescription,
    by: ConsoleSource,
) -> bool {
    if emergency.is_none_or(|emergency| emergency == *uart) {
        return true;
    }
    let base = uart.base;
    let Ok(mut candidate) = console::open_uart(tables, uart) else {
        print_paragraph!("console stays: cannot read {base:#x}, set by {by}");
        return false;
    };
    let accepts_bytes = candidate.uart.accepts_bytes();
    if accepts_bytes {
        print_paragraph!("console moves to {uart}, set by {by}");
        console::wait_idle();
        console::set_console(candidate);
    } else {
        let kind = uart.kind.name();
        print_paragraph!("console stays: {base:#x}, set by {by}, does not accept bytes as {kind}");
    }
    accepts_bytes
}
