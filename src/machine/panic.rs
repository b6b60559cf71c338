//! The panic handler.

use core::panic::PanicInfo;

use crate::machine::console::{self, print_line, print_paragraph};
use crate::machine::cpu::registers;
use crate::machine::ending;
use crate::machine::round::participant;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    console::print_last(|| {
        if let Some(at) = info.location() {
            print_line!("");
            print_paragraph!("Panic: panicked at {at}:");
        }
        print_paragraph!("{}", info.message());
        print_line!("on CPU {}", registers::mpidr());
    });
    if registers::is_lead() {
        ending::give_up(&"panic on the lead CPU");
    }
    participant::stop_after_fault()
}
