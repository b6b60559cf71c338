//! What to make of a run that did not get to its closing line.

use psci_bench::model as verdict;

use super::scenario::last_scenario;
use crate::board::firmware_kind::Firmware;
use crate::qemu::kvm_host;
use crate::qemu::stream::{Ending, Outcome};

/// What is known of a run that has no closing line.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// Whose PSCI it was.
    pub firmware: Firmware,
    /// `-cpu`.
    pub cpu: &'c str,
    /// The time it had, in seconds.
    pub timeout: u64,
}

/// CPU models on which the overlay platform's power-down completes.
const POWER_DOWN: [&str; 4] = ["cortex-a53", "cortex-a57", "cortex-a72", "max"];

/// How the run ended, how far it had come, and the likely cause.
pub fn diagnose(outcome: &Outcome, context: &Context<'_>) -> String {
    let ended = match outcome.ending {
        Ending::Interrupted => return "interrupted".into(),
        Ending::TimedOut => format!("no closing line within {} s", context.timeout),
        Ending::Exited { success: true } => "QEMU ended without a closing line".into(),
        Ending::Parked => "the closing line is damaged".into(),
        Ending::Exited { success: false } => {
            let said = outcome.stderr.trim();
            return match (outcome.log.is_empty(), said) {
                (_, "") => "QEMU ended with an error and said nothing of it".into(),
                (true, said) => format!("QEMU did not start: {said}"),
                (false, said) => format!("QEMU ended with an error: {said}"),
            };
        }
    };
    let log = String::from_utf8_lossy(&outcome.log);
    let cause = cause(&log, outcome.ending, context);
    let scenario = match last_scenario(&log) {
        Some(scenario) => format!("the last scenario begun was '{scenario}'"),
        None => "no scenario was begun".into(),
    };
    let cpu = match super::last_cpu::last_cpu(&log) {
        Some(cpu) => format!("the last CPU heard of was {cpu}"),
        None => "no line names a CPU".into(),
    };
    format!("{ended}; {scenario}, and {cpu}: {cause}")
}

/// What the firmware says of the fault that it was asked for, where it can not
/// have it.
pub fn refused_fault(log: &[u8]) -> Option<String> {
    let log = String::from_utf8_lossy(log);
    let mut errors = log.lines().filter(|line| line.starts_with("ERROR:"));
    let (_, said) = errors.find_map(|line| line.split_once("psci-bench fault: "))?;
    Some(said.trim_end().to_string())
}

/// Whether QEMU refused to start, and said why.
pub fn refused(outcome: &Outcome) -> bool {
    outcome.ending == Ending::Exited { success: false }
        && outcome.log.is_empty()
        && !outcome.stderr.trim().is_empty()
}

/// What to warn of before a start on the CPU model `cpu`.
pub fn doubt(firmware: Firmware, cpu: &str) -> Option<String> {
    let model = model(cpu);
    (firmware.is_tf_a() && !POWER_DOWN.contains(&model)).then(|| {
        format!(
            "power-down under TF-A is not known to complete on QEMU's {model}, and the run may \
             not end before its time is over; use {}",
            POWER_DOWN.join(", ")
        )
    })
}

/// The model in `-cpu MODEL,FEATURE=…`.
fn model(cpu: &str) -> &str {
    cpu.split(',').next().unwrap_or_default()
}

/// Whether the payload printed anything. Its name alone tells nothing: it is
/// in the firmware's banner, too.
fn payload_spoke(log: &str) -> bool {
    log.lines().any(|line| {
        line.starts_with("psci-bench")
            || line.starts_with("NOTICE:  Booting trusted firmware test framework")
    })
}

/// What the payload's line says of the UART that its console moves to, where
/// that is its last line.
pub fn console_moved(log: &str) -> Option<&str> {
    let last = log.lines().rev().find(|line| !line.trim().is_empty())?;
    last.trim_end().strip_prefix("console moves to ")
}

/// The reason in full of a run that ended before its time, where its last line
/// does not hold all of it: the payload says it before, folded.
pub fn full_reason(log: &[u8]) -> Option<String> {
    const LEAD: &str = "ERROR:   ";
    const INDENT: &str = "         ";
    let log = String::from_utf8_lossy(log);
    let lines: Vec<&str> = log.lines().map(str::trim_end).collect();
    let is_last = |line: &&str| verdict::parse_line(line.as_bytes()).is_some();
    let last = lines.iter().rposition(is_last)?;
    let before = lines.get(..last)?;
    let folded = before
        .iter()
        .rev()
        .take_while(|line| line.starts_with(INDENT));
    let first = last.checked_sub(folded.count() + 1)?;
    let lead = lines.get(first)?.strip_prefix(LEAD)?;
    let rest = lines
        .get(first + 1..last)?
        .iter()
        .map(|line| line.trim_start());
    let reason: Vec<&str> = [lead].into_iter().chain(rest).collect();
    // The firmware's errors begin in the same way, and are not the reason.
    let word = lead.split(' ').next().unwrap_or_default();
    lines[last]
        .contains(&format!(": {word}"))
        .then(|| reason.join(" "))
}

fn cause(log: &str, ending: Ending, context: &Context<'_>) -> String {
    let model = model(context.cpu);
    let tf_a = context.firmware.is_tf_a();
    if log.contains("PANIC") || log.contains("Unhandled Exception") {
        return "the firmware panicked, see above".into();
    }
    if let Some(reset) = super::reset::first(log) {
        return reset;
    }
    if context.firmware == Firmware::Kvm && !payload_spoke(log) {
        return match kvm_host::last_words(log) {
            Some(said) => format!("the Linux that it is a guest of says: {said}"),
            None => "the Linux that it is a guest of did not get to its first program".into(),
        };
    }
    if log.trim().is_empty() {
        return if tf_a {
            "not even the firmware printed anything; was it built for this GIC?".into()
        } else {
            "the payload printed nothing; is there a device tree with a UART?".into()
        };
    }
    if tf_a && !log.contains("BL31:") {
        return "the firmware did not get to BL31".into();
    }
    if let Some(place) = console_moved(log) {
        return format!(
            "the payload's console moved to {place}, and nothing was heard from there: is that \
             the UART that is listened to? The device tree says so"
        );
    }
    if !payload_spoke(log) {
        return "the firmware printed and the payload did not: it found no device tree that names \
                a UART, or does not survive its entry"
            .into();
    }
    if tf_a && !POWER_DOWN.contains(&model) {
        return format!(
            "on {model} power-down does not complete in QEMU; use {}",
            POWER_DOWN.join(", ")
        );
    }
    if ending == Ending::TimedOut {
        "a CPU has not come back, or the time is too short for so many CPUs and iterations \
         (--timeout)"
            .into()
    } else {
        "the machine was turned off or reset before the end".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// The overlay TF-A's, which is built by psci-bench and says so.
    const BANNER: &str = "NOTICE:  BL1: v2.12.1(release):psci-bench-2.12.1\r\n\
                          NOTICE:  BL31: v2.12.1(release):psci-bench-2.12.1\r\n\
                          NOTICE:  BL31: Built : reproducible\r\n";

    fn diagnosis(log: &str, ending: Ending, cpu: &str) -> String {
        let outcome = Outcome {
            log: log.into(),
            stderr: "qemu: bad option\n".into(),
            ending,
            elapsed: Duration::ZERO,
        };
        let context = Context {
            firmware: Firmware::TfA,
            cpu,
            timeout: 7,
        };
        diagnose(&outcome, &context)
    }

    #[test]
    fn how_far_it_came() {
        let log = format!("{BANNER}psci-bench 0.1.0\r\n> Executing 'A'\r\n> Executing 'B c'\r\nx");
        let said = diagnosis(&log, Ending::TimedOut, "max");
        assert!(
            said.starts_with(
                "no closing line within 7 s; the last scenario begun was 'B c', and no line names \
                 a CPU: a CPU has not come back"
            ),
            "{said}"
        );
        let said = diagnosis(&log, Ending::TimedOut, "cortex-a76");
        assert!(
            said.contains("on cortex-a76 power-down does not complete"),
            "{said}"
        );
        let said = diagnosis(BANNER, Ending::Exited { success: true }, "max");
        assert!(
            said.contains("no scenario was begun, and no line names a CPU: the firmware printed"),
            "{said}"
        );
        let log = format!("{BANNER}NOTICE:  Booting trusted firmware test framework\r\n");
        let said = diagnosis(&log, Ending::TimedOut, "max");
        assert!(said.contains("names a CPU: a CPU has not"), "{said}");
        let said = diagnosis("", Ending::TimedOut, "max");
        assert!(said.contains("was it built for this GIC?"), "{said}");
        let said = diagnosis("", Ending::Exited { success: false }, "max");
        assert_eq!(said, "QEMU did not start: qemu: bad option");
        assert_eq!(diagnosis("", Ending::Interrupted, "max"), "interrupted");
    }

    #[test]
    fn a_console_that_moved_is_the_cause() {
        let place = "pl011 at 0x9010000, by /chosen/stdout-path";
        let log = format!("{BANNER}console moves to {place}\r\n");
        for ending in [Ending::TimedOut, Ending::Exited { success: true }] {
            let said = diagnosis(&log, ending, "max");
            assert!(
                said.contains(&format!("console moved to {place}, and")),
                "{said}"
            );
        }
        assert_eq!(console_moved(&format!("{log}Image at 0x0\r\n")), None);
    }

    #[test]
    fn a_reason_that_was_folded_is_whole() {
        let last = "psci-bench: INCOMPLETE: bad input: device tree: .../a reg: long ...\r\n";
        let folded = "ERROR:   device tree: /very/a reg: long\r\n         and longer\r\n";
        let whole = |log: String| full_reason(log.as_bytes());
        let all = "device tree: /very/a reg: long and longer";
        assert_eq!(whole(format!("x\r\n{folded}{last}")).as_deref(), Some(all));
        assert_eq!(whole(format!("x\r\n{last}")), None);
        assert_eq!(whole(format!("ERROR:   firmware\r\n{last}")), None);
        assert_eq!(whole(folded.to_owned()), None);
    }

    #[test]
    fn scenarios_with_titles_of_their_own() {
        let so_far = format!("{BANNER}psci-bench 0.1.0\r\n> Executing 'A'\r\n");
        for title in [
            "Calls to the firmware that do nothing",
            "Timer expiry to handler, under memory stress",
            "CPU suspend on all cores in sequence, CPUs kept on between samples",
        ] {
            let log = format!("{so_far}\r\n{title}\r\n");
            let said = diagnosis(&log, Ending::TimedOut, "max");
            let begun = format!("the last scenario begun was '{title}', and");
            assert!(said.contains(&begun), "{said}");
        }
        // A table's heading, and a name that no title is without its method.
        for other in [
            ".. table:: Calls to the firmware that do nothing, one CPU alone (ns per operation)",
            "CPU suspend on all cores in sequence",
            "Something, CPUs kept on between samples",
        ] {
            let log = format!("{so_far}{other}\r\n");
            assert_eq!(last_scenario(&log), Some("A"), "{other}");
        }
    }

    #[test]
    fn who_was_heard_last_and_a_reset() {
        let results = "<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t2\t12\t13\t14/>\r\n";
        let log = format!("{BANNER}psci-bench 0.1.0\r\n> Executing 'A'\r\n{results}");
        let said = diagnosis(&log, Ending::Exited { success: true }, "max");
        assert_eq!(
            said,
            "QEMU ended without a closing line; the last scenario begun was 'A', and the last CPU \
             heard of was CPU 1.2 (in its results of 'CPU suspend on all cores in sequence'): the \
             machine was turned off or reset before the end"
        );
        let log = format!("{log}> Executing 'B'\r\n{log}");
        let said = diagnosis(&log, Ending::TimedOut, "max");
        assert!(
            said.ends_with(": the machine was reset while 'B' was measured"),
            "{said}"
        );
    }

    #[test]
    fn a_fault_that_can_not_be() {
        let log = format!("{BANNER}ERROR:   psci-bench fault: 'cpu=0x99': no such CPU\r\n");
        let said = refused_fault(log.as_bytes());
        assert_eq!(said.as_deref(), Some("'cpu=0x99': no such CPU"));
        let log = format!("{BANNER}NOTICE:  psci-bench fault: cpu-on-denied\r\nERROR:   x\r\n");
        assert_eq!(refused_fault(log.as_bytes()), None);
    }

    #[test]
    fn doubtful_models() {
        for cpu in ["cortex-a57", "max,sve=off"] {
            assert_eq!(doubt(Firmware::TfA, cpu), None);
        }
        assert_eq!(doubt(Firmware::Builtin, "cortex-a76"), None);
        let said = doubt(Firmware::TfA, "cortex-a76,pmu=off").expect("a warning");
        assert!(said.contains("on QEMU's cortex-a76, and"), "{said}");
    }
}
