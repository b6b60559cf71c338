//! The panic handler: returns to EFI if the boot services are still available, and otherwise starts
//! the payload.

use core::panic::PanicInfo;

use suite::model::ClosingLine;

use super::console::print_closing;
use super::{efi_services, payload};

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    print_closing(&ClosingLine::Incomplete(info));
    efi_services::abort();
    // Boot services have been exited, so the payload image is complete.
    payload::enter_kept()
}
