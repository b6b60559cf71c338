//! The choice of the console.

use hardware::image::Uart;

use crate::machine::console::{self, print_paragraph};
use crate::machine::memory::tables::TranslationTables;

/// Makes a UART the console, if its registers can be mapped and read; where there
/// may be another one, only if it accepts bytes.
pub fn open_console(tables: &mut TranslationTables, uart: &Uart, has_choice: bool) {
    // Without a console an error could not be printed.
    if uart.is_aligned()
        && let Ok(mut candidate) = console::open(tables, uart)
        && (!has_choice || candidate.accepts_bytes())
    {
        console::set(candidate);
    }
}

/// Makes the tree's UART the console instead of the emergency UART, if that is another
/// one. The emergency UART prints the move: it is the last line where the tree's is no
/// UART.
pub fn move_console(tables: &mut TranslationTables, from: Option<Uart>, uart: &Uart, by: &str) {
    let (kind, base) = (uart.kind.name(), uart.base);
    if from.is_none_or(|from| from == *uart) {
        return;
    }
    let Ok(mut candidate) = console::open(tables, uart) else {
        print_paragraph!("console stays: nothing can be read at {base:#x}, by {by}");
        return;
    };
    if candidate.accepts_bytes() {
        print_paragraph!("console moves to {uart}, by {by}");
        console::wait_idle();
        console::set(candidate);
    } else {
        print_paragraph!("console stays: what is at {base:#x}, by {by}, takes no byte as {kind}");
    }
}
