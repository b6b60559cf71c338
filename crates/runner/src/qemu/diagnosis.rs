//! Diagnoses a run that has no closing line.

use follow::stream::MachineEnding;
use follow::{explain_marks, last_scenario};
use hardware::image::ParameterBlock;

use crate::build::firmware_kind::FirmwareKind;
use crate::qemu::consoles::Consoles;
use crate::qemu::loader::Loader;
use crate::qemu::machine_process::MachineResult;

/// What is known about a run whose log has no closing line.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// The firmware that implements PSCI.
    pub firmware: FirmwareKind,
    /// What starts the payload.
    pub loader: &'static dyn Loader,
    /// `-cpu`.
    pub cpu: &'c str,
    /// The run's timeout, in seconds.
    pub timeout: u64,
    /// The image whose output is expected.
    pub image: &'c [u8],
}

/// CPU models on which power-down completes on the overlay platform.
pub(crate) const POWER_DOWN: [&str; 4] = ["cortex-a53", "cortex-a57", "cortex-a72", "max"];

/// Describes how the run ended, the last scenario in its log, and the likely cause.
pub fn diagnose(outcome: &MachineResult, context: &Context<'_>) -> String {
    let stderr = outcome.stderr.trim();
    let ended = match outcome.ending {
        MachineEnding::Interrupted => return "interrupted".into(),
        MachineEnding::TimedOut => format!("no closing line within {} s", context.timeout),
        MachineEnding::Exited { success: true } => "QEMU exited without a closing line".into(),
        MachineEnding::Parked => "the closing line is damaged".into(),
        MachineEnding::Exited { .. } if stderr.is_empty() => {
            return "QEMU exited with an error but printed no message".into();
        }
        MachineEnding::Exited { .. } if outcome.log.is_empty() => {
            return format!("QEMU did not start: {stderr}");
        }
        MachineEnding::Exited { .. } => return format!("QEMU exited with an error: {stderr}"),
    };
    let log = String::from_utf8_lossy(&outcome.log);
    let cause = cause(&log, outcome.ending, context);
    let scenario = match last_scenario(&log) {
        Some(scenario) => format!("the last scenario started was '{scenario}'"),
        None => "no scenario was started".into(),
    };
    format!("{ended}; {scenario}: {cause}")
}

/// Returns the message with which the firmware rejects a `--fault`.
pub fn refused_fault(log: &[u8]) -> Option<String> {
    let log = String::from_utf8_lossy(log);
    let mut errors = log.lines().filter(|line| line.starts_with("ERROR:"));
    let (_, message) = errors.find_map(|line| line.split_once("psci-bench fault: "))?;
    Some(message.trim_end().to_string())
}

/// Returns true if QEMU refused to start and printed a reason.
pub fn is_option_refused(outcome: &MachineResult) -> bool {
    outcome.ending == MachineEnding::Exited { success: false }
        && outcome.log.is_empty()
        && !outcome.stderr.trim().is_empty()
}

/// Returns a warning for a CPU model on which power-down might not complete.
pub fn explain_doubt(firmware: FirmwareKind, cpu: &str) -> Option<String> {
    let model = cpu
        .split(',')
        .next()
        .expect("split always returns at least one part");
    (firmware.is_tf_a() && !POWER_DOWN.contains(&model)).then(|| {
        let models = POWER_DOWN.join(", ");
        format!("power-down under TF-A might not complete on QEMU's {model}; use {models}")
    })
}

/// Returns true if the payload printed anything. The string psci-bench within a line is not enough,
/// because the firmware banner also contains it.
fn payload_spoke(log: &str) -> bool {
    log.lines().any(|line| {
        line.starts_with("psci-bench")
            || line.starts_with("NOTICE:  Booting trusted firmware test framework")
    })
}

/// If the last line is the payload's message about moving to another console, returns the UART
/// named in it.
pub fn console_moved(log: &str) -> Option<&str> {
    let last = log.lines().rev().find(|line| !line.trim().is_empty())?;
    last.trim_end().strip_prefix("console moves to ")
}

fn cause(log: &str, ending: MachineEnding, context: &Context<'_>) -> String {
    let tf_a = context.firmware.is_tf_a();
    if log.contains("PANIC") || log.contains("Unhandled Exception") {
        return "the firmware panicked; see above".into();
    }
    if !payload_spoke(log)
        && let Some(explanation) = context.loader.explain_silence(log)
    {
        return explanation;
    }
    if let Some(explanation) = explain_marks(log) {
        return explanation;
    }
    if let Some(place) = console_moved(log) {
        return format!(
            "the payload's console moved to {place}, which printed nothing; check that the device \
             tree specifies the UART whose output is read"
        );
    }
    if log.trim().is_empty() {
        let built = if tf_a {
            ", and firmware that was built for this GIC"
        } else {
            ""
        };
        let uarts = uarts(context.image);
        return format!(
            "nothing was printed; the run needs a device tree that specifies the machine's \
             UART{built}{uarts}"
        );
    }
    if tf_a && !log.contains("BL31:") {
        return "the firmware did not reach BL31".into();
    }
    if !payload_spoke(log) {
        let uarts = uarts(context.image);
        return format!(
            "the firmware printed output, but the payload did not: it found no device tree that \
             specifies an existing UART, it failed on entry, or its first PSCI call, \
             PSCI_VERSION, did not return{uarts}"
        );
    }
    if let Some(doubt) = explain_doubt(context.firmware, context.cpu) {
        return doubt;
    }
    if ending == MachineEnding::TimedOut {
        "a CPU did not return, or the time limit is too short for this many CPUs and iterations \
         (--timeout)"
            .into()
    } else {
        "the machine was turned off or reset before the end".into()
    }
}

/// Returns a clause that lists the image's UARTs, which should have received output, or the reason
/// why the image has none.
fn uarts(image: &[u8]) -> String {
    match ParameterBlock::read(image) {
        // There is no image, or the tree's offset or size in it is impossible.
        _ if image.is_empty() => String::new(),
        Ok(_) => Consoles::of(image).map_or_else(String::new, |consoles| {
            format!(" (in the image, {consoles})")
        }),
        Err(error) => format!(" (the image is not a psci-bench image, or is damaged: {error})"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hardware::image::PARAMETER_BLOCK;

    use super::*;
    use crate::qemu::loader::FirmwareLoader;

    /// The banner of the overlay TF-A, which shows that it was built by psci-bench.
    const BANNER: &str = "NOTICE:  BL1: v2.12.1(release):psci-bench-2.12.1\r\n\
                          NOTICE:  BL31: v2.12.1(release):psci-bench-2.12.1\r\n";
    const UP: &str = "psci-bench 0.1.0\r\n> Executing 'A'\r\n";

    fn diagnosis(log: &str, ending: MachineEnding, cpu: &str) -> String {
        let outcome = MachineResult {
            log: log.into(),
            stderr: "qemu: bad option\n".into(),
            ending,
            elapsed: Duration::ZERO,
        };
        let context = Context {
            firmware: FirmwareKind::TfA,
            loader: &FirmwareLoader,
            cpu,
            timeout: 7,
            image: &[],
        };
        diagnose(&outcome, &context)
    }

    #[test]
    fn each_end_has_its_cause() {
        let [off, error] = [true, false].map(|success| MachineEnding::Exited { success });
        let over = MachineEnding::TimedOut;
        let up = format!("{BANNER}{UP}");
        let message = "console moves to pl011 at 0x9010000, set by /chosen/stdout-path\r\n";
        assert_eq!(console_moved(&format!("{message}Image at 0x0\r\n")), None);
        let moved = format!("{BANNER}{message}");
        let tftf = format!("{BANNER}NOTICE:  Booting trusted firmware test framework\r\n");
        for (log, ending, expected) in [
            (&*up, over, "no closing line within 7 s; the last"),
            (&up, over, "started was 'A': a CPU did not return"),
            (&up, off, "QEMU exited without a closing line; the last"),
            (&up, off, ": the machine was turned off or reset"),
            (BANNER, off, "no scenario was started: the firmware printed"),
            (BANNER, over, "PSCI_VERSION, did not return"),
            (&tftf, over, "started: a CPU did not"),
            (
                &moved,
                over,
                "console moved to pl011 at 0x9010000, set by /",
            ),
            (&moved, off, "console moved to pl011"),
            ("BL31:\r\nPANIC in EL3.\r\n", off, "the firmware panicked"),
            ("x\r\n", off, "did not reach BL31"),
            ("", over, "was built for this GIC"),
            ("", error, "QEMU did not start: qemu: bad option"),
            ("x", error, "QEMU exited with an error: qemu: bad option"),
            ("", MachineEnding::Parked, "the closing line is damaged"),
            ("", MachineEnding::Interrupted, "interrupted"),
        ] {
            let text = diagnosis(log, ending, "max");
            assert!(text.contains(expected), "{text}");
        }
        let text = diagnosis(&up, over, "cortex-a76,pmu=off");
        assert!(text.contains(": power-down under TF-A might not complete on QEMU's cortex-a76; "));
        assert_eq!(explain_doubt(FirmwareKind::TfA, "max,sve=off"), None);
        assert_eq!(explain_doubt(FirmwareKind::Builtin, "cortex-a76"), None);
    }

    #[test]
    fn a_damaged_parameter_block_is_named() {
        let mut image = crate::build::image::tests::blank(0x1000);
        image[PARAMETER_BLOCK + 0x10] = 0x25;
        let text = uarts(&image);
        assert!(text.contains("uart_kind"), "{text}");
        assert_eq!(uarts(&[]), "");
    }

    #[test]
    fn a_fault_that_cannot_be_is_named() {
        let fault = "psci-bench fault: 'cpu=0x99': no such CPU";
        let log = format!("{BANNER}ERROR:   {fault}\r\n");
        let message = refused_fault(log.as_bytes());
        assert_eq!(message.as_deref(), Some("'cpu=0x99': no such CPU"));
        let log = format!("{BANNER}NOTICE:  {fault}\r\nERROR:   x\r\n");
        assert_eq!(refused_fault(log.as_bytes()), None);
    }
}
