//! The EFI console, for messages and the closing line.

use core::fmt;
use core::ptr;

use suite::model::ClosingLine;

use super::efi_services::system;

/// The EFI console, which prints nothing after ExitBootServices.
pub struct EfiConsole;

impl fmt::Write for EfiConsole {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let console = system().map_or(ptr::null_mut(), |system| system.stdout);
        // SAFETY: the system table's console pointer is null, or valid for as long as the table is.
        let Some(output) = (unsafe { console.as_ref() }) else {
            return Ok(());
        };
        let put = |unit: u16| {
            let terminated = [unit, 0];
            // SAFETY: the function belongs to this console, and the string ends with a NUL.
            let _ = unsafe { (output.output_string)(console, terminated.as_ptr()) };
        };
        for unit in text.encode_utf16() {
            if unit == u16::from(b'\n') {
                put(b'\r'.into());
            }
            put(unit);
        }
        Ok(())
    }
}

/// Prints the closing line on the EFI console.
pub fn print_closing(line: &ClosingLine<'_>) {
    // Writing to the console cannot fail.
    let _ = line.print(&mut EfiConsole);
}

/// Prints a sentence on the EFI console, wrapped to the terminal width.
macro_rules! print_line {
    ($($arguments:tt)*) => {{
        // Writing to the console cannot fail.
        let _ = hardware::text::prose::paragraph(
            &mut $crate::machine::console::EfiConsole,
            "",
            2,
            &format_args!($($arguments)*),
        );
    }};
}
pub(crate) use print_line;
