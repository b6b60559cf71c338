//! How a run ends, well or not: last words, then the machine is turned off,
//! reset, or left waiting.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::machine::call::firmware::Firmware;
use crate::machine::console;
use crate::machine::console::Console;
use crate::machine::env;
use psci_bench::image::Conduit;
use psci_bench::model::ClosingLine;
use psci_bench::output;
use psci_bench::plan::EndAction;

/// Why a run ended before its time.
pub enum EarlyEnd<'e> {
    /// Something from outside is not good: a device tree, boot arguments.
    BadInput(&'e dyn core::fmt::Display),
    /// The machine does not let the run go on.
    Machine(&'e dyn core::fmt::Display),
    /// A panic on the lead.
    Panic,
}

/// The conduit to end by: 0 none known, 1 SMC, 2 HVC.
static CONDUIT: AtomicU32 = AtomicU32::new(0);

/// Makes the conduit known by which the machine can be turned off, or that
/// there is none.
pub fn set_conduit(conduit: Option<Conduit>) {
    let code = match conduit {
        None => 0,
        Some(Conduit::Smc) => 1,
        Some(Conduit::Hvc) => 2,
    };
    CONDUIT.store(code, Ordering::Relaxed);
}

/// What to do at the end: an [`EndAction`]'s number.
static END: AtomicU32 = AtomicU32::new(EndAction::Off as u32);

/// Makes known what the user wishes for the end, however the run ends.
pub fn set_end_action(action: EndAction) {
    END.store(action as u32, Ordering::Relaxed);
}

fn end_action() -> EndAction {
    let number = END.load(Ordering::Relaxed);
    let wished = [EndAction::Off, EndAction::Park, EndAction::Reset];
    let found = wished.into_iter().find(|action| *action as u32 == number);
    found.unwrap_or(EndAction::Off)
}

fn firmware() -> Option<Firmware> {
    let conduit = match CONDUIT.load(Ordering::Relaxed) {
        1 => Conduit::Smc,
        2 => Conduit::Hvc,
        _ => return None,
    };
    Some(Firmware { conduit })
}

/// Ends a run that did not reach its end: says why, and the verdict.
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

/// Ends a run that can not say anything any more.
pub fn end_silently() -> ! {
    finish()
}

/// Turns the machine off, resets it, or waits for ever, as was wished for.
pub fn finish() -> ! {
    console::wait_idle();
    if let Some(firmware) = firmware() {
        match end_action() {
            EndAction::Off => firmware.system_off(),
            EndAction::Reset => firmware.system_reset(),
            EndAction::Park => {}
        }
    }
    env::park()
}
