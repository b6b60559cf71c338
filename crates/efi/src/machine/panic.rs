//! The panic handler: back to EFI while it is there, else on to the payload.

use core::panic::PanicInfo;

use run::model::ClosingLine;

use super::efi_services::{self, print_closing};
use super::payload;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    print_closing(&ClosingLine::Incomplete(info));
    efi_services::abort();
    // EFI has ended. The payload's image was whole before that.
    payload::enter_kept()
}
