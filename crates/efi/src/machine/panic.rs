//! The panic handler: returns to EFI while its boot services exist, and otherwise continues to the
//! payload.

use core::panic::PanicInfo;

use run::model::ClosingLine;

use super::efi_services::{self, print_closing};
use super::payload;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    print_closing(&ClosingLine::Incomplete(info));
    efi_services::abort();
    // The boot services have ended. The payload's image was complete before that.
    payload::enter_kept()
}
