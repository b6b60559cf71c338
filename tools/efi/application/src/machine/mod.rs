//! All of the application's unsafe code: EFI services, the console, the heap, and the jump to the
//! payload.
//!
//! | part | task |
//! |---|---|
//! | `console` | messages on the EFI console |
//! | `efi_services` | EFI boot services and tables, and the heap |
//! | `panic` | ends a run after a panic |
//! | `payload` | the payload's location in memory, and the jump to it |
//! | `registers` | this CPU's registers |

pub mod console;
pub mod efi_services;
mod panic;
pub mod payload;
pub mod registers;

/// Defines the application's main function.
macro_rules! entry {
    ($main:path) => {
        #[unsafe(export_name = "efi_main")]
        extern "efiapi" fn efi_main(
            image: uefi_raw::Handle,
            system: *const uefi_raw::table::system::SystemTable,
        ) -> uefi_raw::Status {
            use $crate::machine::efi_services::{EfiServices, MainResult};

            // SAFETY: EFI passes the image's handle and the system table to the entry point; the
            // table is valid until ExitBootServices (UEFI 2.10, section 4.1).
            let services = unsafe { EfiServices::new(image, system) };
            match $main(services) {
                MainResult::Returned(status) => status,
                MainResult::Refused(services) => {
                    // SAFETY: all of the main function's values have been dropped, no static refers
                    // to the heap or to the image's pages, and nothing is allocated from here on.
                    unsafe { services.give_back() };
                    uefi_raw::Status::UNSUPPORTED
                }
            }
        }
    };
}
pub(crate) use entry;
