//! The panic handler.

use core::panic::PanicInfo;

use crate::machine::console::{self, print_line};
use crate::machine::cpu::registers;
use crate::machine::ending::{self, EarlyEnd};
use crate::machine::round::participant;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    console::force_unlock();
    if let Some(at) = info.location() {
        print_line!("\nPanic: panicked at {at}:");
    }
    print_line!("{}\non CPU {:#x}", info.message(), registers::mpidr());
    if registers::is_lead() {
        ending::end_run(&EarlyEnd::Panic);
    }
    participant::stop_after_fault()
}
