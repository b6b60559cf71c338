//! The ends of a run: a closing line, then the machine is turned off, reset, or parked.

use core::arch::asm;
use core::sync::atomic::{AtomicU32, Ordering};

use psci_bench::image::Conduit;
use psci_bench::model::ClosingLine;
use psci_bench::output;
use psci_bench::plan::EndAction;

use crate::machine::call::firmware::Firmware;
use crate::machine::console::{self, Console};
use crate::machine::time::timer;

pub enum EarlyEnd<'e> {
    /// A wrong input: a device tree, boot arguments.
    BadInput(&'e dyn core::fmt::Display),
    /// A state of the machine in which the run cannot continue.
    Machine(&'e dyn core::fmt::Display),
    Panic,
}

/// The conduit of the last call: a [`Conduit`]'s number; no conduit's where none is
/// known.
static CONDUIT: AtomicU32 = AtomicU32::new(u32::MAX);

/// Sets the conduit by which the machine can be turned off, or that there is none.
pub fn set_conduit(conduit: Option<Conduit>) {
    let number = conduit.map_or(u32::MAX, |conduit| conduit as u32);
    CONDUIT.store(number, Ordering::Relaxed);
}

/// The action at the end: an [`EndAction`]'s number.
static END_ACTION: AtomicU32 = AtomicU32::new(EndAction::Off as u32);

/// Sets the action that the user asked for, for any end of the run.
pub fn set_end_action(action: EndAction) {
    END_ACTION.store(action as u32, Ordering::Relaxed);
}

fn end_action() -> EndAction {
    let number = END_ACTION.load(Ordering::Relaxed) as usize;
    EndAction::ALL
        .get(number)
        .copied()
        .unwrap_or(EndAction::Off)
}

fn firmware() -> Option<Firmware> {
    let number = CONDUIT.load(Ordering::Relaxed) as usize;
    Conduit::ALL.get(number).copied().map(Firmware::new)
}

/// Ends a run early: prints the reason and the verdict.
pub fn end_run(why: &EarlyEnd<'_>) -> ! {
    let line = match why {
        EarlyEnd::BadInput(error) => ClosingLine::BadInput(*error),
        EarlyEnd::Machine(error) => ClosingLine::Incomplete(*error),
        EarlyEnd::Panic => ClosingLine::Incomplete(&"panic on the lead CPU"),
    };
    // The console never fails.
    let _ = output::cut_short(&mut Console, &line);
    finish()
}

/// Ends the run for a reason that lies in its input.
pub fn refuse(error: &dyn core::fmt::Display) -> ! {
    end_run(&EarlyEnd::BadInput(error))
}

/// Ends the run for a reason that lies in the machine.
pub fn give_up(error: &dyn core::fmt::Display) -> ! {
    end_run(&EarlyEnd::Machine(error))
}

/// Turns the machine off, resets it, or parks, as the user asked.
pub fn finish() -> ! {
    console::wait_idle();
    if let Some(firmware) = firmware() {
        match end_action() {
            EndAction::Off => firmware.system_off(),
            EndAction::Reset => firmware.system_reset(),
            EndAction::Park => {}
        }
    }
    park()
}

/// Stops this CPU for good. Its timer may still be armed, and WFI would not wait while
/// that is pending; YIELD is for other interrupts that may be.
pub fn park() -> ! {
    timer::disarm_in_use();
    loop {
        // SAFETY: WFI only waits, YIELD is a hint.
        unsafe { asm!("wfi", "yield", options(nomem, nostack)) };
    }
}
