//! Ends a run: prints a closing line, then turns off, resets or parks the machine.

use core::arch::asm;
use core::fmt::Display;
use core::sync::atomic::{AtomicU32, Ordering};

use suite::model::ClosingLine;
use suite::plan::EndAction;

use crate::machine::call::firmware;
use crate::machine::console::{self, Console};
use crate::machine::time::timer;

/// The action at the end of the run, as the number of an [`EndAction`].
static END_ACTION: AtomicU32 = AtomicU32::new(EndAction::Off as u32);

pub fn set_end_action(action: EndAction) {
    END_ACTION.store(action as u32, Ordering::Relaxed);
}

/// Ends the run because of invalid input: the device tree or the boot arguments.
pub fn refuse(error: &dyn Display) -> ! {
    end_run(&ClosingLine::BadInput(error))
}

/// Ends the run because of a fault in the machine.
pub fn give_up(error: &dyn Display) -> ! {
    end_run(&ClosingLine::Incomplete(error))
}

/// Returns the value, or ends the run because the input `what` is invalid.
pub fn or_refuse<T>(result: Result<T, impl Display>, what: &str) -> T {
    result.unwrap_or_else(|error| refuse_part(what, &error))
}

/// Returns the value, or ends the run because of the fault `what` in the machine.
pub fn or_give_up<T>(result: Result<T, impl Display>, what: &str) -> T {
    result.unwrap_or_else(|error| give_up_part(what, &error))
}

fn refuse_part(what: &str, error: &dyn Display) -> ! {
    refuse(&format_args!("{what}{error}"))
}

fn give_up_part(what: &str, error: &dyn Display) -> ! {
    give_up(&format_args!("{what}{error}"))
}

fn end_run(line: &ClosingLine<'_>) -> ! {
    // Writing to the console cannot fail.
    let _ = line.print(&mut Console);
    perform_end_action()
}

/// Turns off, resets or parks the machine, as the user requested.
pub fn perform_end_action() -> ! {
    console::wait_idle();
    match EndAction::ALL.get(END_ACTION.load(Ordering::Relaxed) as usize) {
        Some(EndAction::Reset) => firmware::system_reset(),
        Some(EndAction::Park) => {}
        Some(EndAction::Off) | None => firmware::system_off(),
    }
    park()
}

/// Stops this CPU permanently. Its timer may still be armed, and WFI does not wait while the timer
/// interrupt is pending. YIELD is executed in case other interrupts are pending.
pub fn park() -> ! {
    timer::disarm_in_use();
    loop {
        // SAFETY: WFI only waits, and YIELD is a hint.
        unsafe { asm!("wfi", "yield", options(nomem, nostack)) };
    }
}
