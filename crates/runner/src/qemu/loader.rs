//! What starts the payload: the firmware, or another program in between.

use std::fmt;
use std::time::Duration;

use crate::build::firmware_kind::FirmwareKind;
use crate::setup::Need;

/// With `-icount`, each instruction takes `1 << ICOUNT_SHIFT` nanoseconds: one tick of QEMU's 62.5
/// MHz counter.
pub const ICOUNT_SHIFT: u32 = 4;

/// A program that the firmware starts, and that starts the payload, such as an EFI application or a
/// VMM. The methods' defaults are what applies if the firmware itself starts the payload.
pub trait Loader: fmt::Debug + Send + Sync {
    /// Returns the name that board files use for the PSCI implementation that the payload calls.
    fn psci_name(&self, firmware: FirmwareKind) -> &'static str {
        firmware.name()
    }

    /// Returns a title for what the payload runs under.
    fn title(&self, firmware: FirmwareKind) -> &'static str {
        firmware.title()
    }

    /// Returns the packages that the run needs in addition to QEMU and the firmware's.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Returns properties to add to QEMU's `-machine` option.
    fn machine_properties(&self) -> &'static str {
        ""
    }

    /// Returns true if the machine has EL2 although the payload is entered at EL1.
    fn uses_el2(&self) -> bool {
        false
    }

    /// Returns the binary logarithm of an instruction's duration in nanoseconds, with `-icount`.
    fn icount_shift(&self) -> u32 {
        ICOUNT_SHIFT
    }

    /// Returns how long the machine may take to exit after the payload's last line, if it may take
    /// longer than usual.
    fn linger(&self) -> Option<Duration> {
        None
    }

    /// Returns true if the payload runs on the machine's own CPUs, so that their program counters
    /// show where it is.
    fn is_on_machine_cpus(&self) -> bool {
        true
    }

    /// Returns how the loader failed, although the payload printed its last line.
    fn find_failure(&self, _log: &[u8]) -> Option<String> {
        None
    }

    /// Returns a sentence about the loader's last output, for a log in which the payload is silent.
    fn explain_silence(&self, _log: &str) -> Option<String> {
        None
    }
}

/// The firmware itself starts the payload.
#[derive(Clone, Copy, Debug)]
pub struct FirmwareLoader;

impl Loader for FirmwareLoader {}
