//! Lines without a checksum: TFTF's frame, the payload's own, the firmware's.

use std::str;

use psci_bench::model as verdict;
use psci_bench::model::Verdict;
use psci_bench::plan::ScenarioId;

use crate::report::model::Status;

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said<'l> {
    /// A stage of the firmware and its version.
    Version { stage: &'l str, version: &'l str },
    /// A stage of the firmware and when it was built.
    Built { stage: &'l str, built: &'l str },
    /// The frame begins.
    Frame,
    /// The exception level that the frame names.
    RunningAt(u8),
    /// The payload's first line of its own, with its version.
    Payload(&'l str),
    /// The board's name, as the header has it.
    Board(&'l str),
    /// A scenario begins; whether it is one of the warm method.
    Begin { name: &'l str, warm: bool },
    /// The figures of a CPU.
    RtInstr(RtInstr<'l>),
    /// A scenario ends.
    Complete(Status),
    /// A table's title, with the label of the CPU that stayed awake, if it names
    /// one.
    Table(Option<&'l str>),
    /// A finding of the payload's, or a line that it goes on in.
    Finding(&'l str),
    /// A line that begins with two blanks, and may go on with a finding.
    Indented(&'l str),
    /// The frame ends.
    Farewell,
    /// The last line.
    Closing(Verdict, &'l str),
    /// The beginning of a last line, or one that has suffered.
    Broken(&'l str),
    /// Nothing that is of use here.
    Nothing,
}

/// An `<RT_INSTR:...>` line, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RtInstr<'l> {
    pub(super) tag: &'l str,
    pub(super) cluster: u32,
    pub(super) core: u32,
    /// Powerdown, wakeup and cache flush; of PSCI_VERSION the latency alone.
    pub(super) values: [Option<u64>; 3],
}

/// What stands before a scenario's name that is measured with CPUs kept on.
const WARM: &str = ", CPUs kept on between samples";

/// What `line` says; it is clean, and no record.
pub(super) fn read(line: &[u8]) -> Said<'_> {
    let Ok(line) = str::from_utf8(line) else {
        return Said::Nothing;
    };
    let whole = line.trim_end();
    if let Some(at) = whole.find("<RT_INSTR:") {
        let row = whole.get(at..).and_then(rt_instr);
        return row.map_or(Said::Nothing, Said::RtInstr);
    }
    if let Some(verdict) = verdict::parse_line(whole.as_bytes()) {
        return Said::Closing(verdict, whole);
    }
    if whole.starts_with(verdict::PREFIX) {
        return Said::Broken(whole);
    }
    if let Some(rest) = whole.strip_prefix("  ") {
        if let Some(result) = rest.strip_prefix("TEST COMPLETE") {
            let status = Status::of(result.trim_start());
            return Said::Complete(status);
        }
        if let Some(board) = field(rest, "Board") {
            return Said::Board(board);
        }
        return Said::Indented(rest.trim_start());
    }
    if let Some(title) = whole.strip_prefix(".. table:: ") {
        return Said::Table(helper(title));
    }
    if let Some(rest) = whole.strip_prefix("* ") {
        return Said::Finding(rest);
    }
    if let Some(rest) = whole.strip_prefix("psci-bench ") {
        let is_version = rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(' ');
        return if is_version {
            Said::Payload(rest)
        } else {
            Said::Nothing
        };
    }
    if let Some(rest) = whole.strip_prefix("> Executing '") {
        let name = rest.strip_suffix('\'').unwrap_or(rest);
        return Said::Begin { name, warm: false };
    }
    if let Some(name) = whole.strip_suffix(WARM) {
        return Said::Begin { name, warm: true };
    }
    match whole.strip_prefix("NOTICE:") {
        Some(rest) => notice(rest.trim_start()),
        None => Said::Nothing,
    }
}

/// The label of the CPU that a table's title says the others were woken by.
fn helper(title: &str) -> Option<&str> {
    let (_, rest) = title.split_once(", woken by CPU ")?;
    rest.split([' ', ':', ',']).next()
}

fn notice(text: &str) -> Said<'_> {
    if text == "Booting trusted firmware test framework" {
        return Said::Frame;
    }
    if text == "Exiting tests." {
        return Said::Farewell;
    }
    if let Some(level) = text.strip_prefix("Running at NS-EL") {
        return level.parse().map_or(Said::Nothing, Said::RunningAt);
    }
    let Some((stage, said)) = text.split_once(": ") else {
        return Said::Nothing;
    };
    let is_stage = stage
        .strip_prefix("BL")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.len() <= 4);
    let is_version = |text: &str| {
        let number = text.strip_prefix('v').unwrap_or(text);
        number.starts_with(|c: char| c.is_ascii_digit()) && text.contains('(')
    };
    match said.strip_prefix("Built :") {
        Some(built) if is_stage => Said::Built {
            stage,
            built: built.trim_start(),
        },
        None if is_stage && is_version(said) => Said::Version {
            stage,
            version: said,
        },
        _ => Said::Nothing,
    }
}

/// The value of a line of the payload's header.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(name)?.trim_start();
    rest.strip_prefix(": ").map(str::trim_end)
}

/// Whole lines only: one that lost its end may have lost digits. Blanks do for
/// tabs, as terminals paste them.
fn rt_instr(line: &str) -> Option<RtInstr<'_>> {
    let rest = line.strip_prefix("<RT_INSTR:")?;
    let (rest, _) = rest.split_once("/>")?;
    let mut words = rest.split_ascii_whitespace();
    let tag = words.next()?;
    let is_tag = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !tag.chars().all(is_tag) {
        return None;
    }
    let mut numbers = words.map(|word| {
        let digits = word.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| word.parse::<u64>().ok()).flatten()
    });
    let cluster = u32::try_from(numbers.next()??).ok()?;
    let core = u32::try_from(numbers.next()??).ok()?;
    let first = numbers.next()??;
    let (second, third) = (numbers.next(), numbers.next());
    let values = match (second, third, numbers.next()) {
        (None, None, None) => [Some(first), None, None],
        (Some(Some(second)), Some(Some(third)), None) => [Some(first), Some(second), Some(third)],
        _ => return None,
    };
    Some(RtInstr {
        tag,
        cluster,
        core,
        values,
    })
}

/// The scenario with this name.
pub(super) fn scenario(name: &str) -> Option<ScenarioId> {
    ScenarioId::ALL.into_iter().find(|id| id.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> Said<'_> {
        read(line.as_bytes())
    }

    #[test]
    fn rt_instr_lines() {
        let row = |values| {
            Said::RtInstr(RtInstr {
                tag: "test_x",
                cluster: 1,
                core: 2,
                values,
            })
        };
        let three = [Some(12), Some(3), Some(0)];
        assert_eq!(said("<RT_INSTR:test_x\t1\t2\t12\t03\t00/>"), row(three));
        assert_eq!(said("x <RT_INSTR:test_x  1  2 12 3 0/>"), row(three));
        assert_eq!(
            said("<RT_INSTR:test_x\t1\t2\t12/>"),
            row([Some(12), None, None])
        );
        for wrong in [
            "<RT_INSTR:test_x\t1\t2\t12\t3\t0",
            "<RT_INSTR:test_x\t1\t2\t12\t3/>",
            "<RT_INSTR:test_x\t1\t2\t12\t3\t0\t1/>",
            "<RT_INSTR:test_x\t1\t2\t-12/>",
            "<RT_INSTR:te/t\t1\t2\t1\t1\t1/>",
            "<RT_INSTR:test_x\t1\t2\t99999999999999999999\t1\t1/>",
        ] {
            assert_eq!(said(wrong), Said::Nothing, "{wrong}");
        }
    }

    #[test]
    fn the_frame_and_the_firmware() {
        assert_eq!(
            said("NOTICE:  Booting trusted firmware test framework"),
            Said::Frame
        );
        assert_eq!(said("NOTICE:  Running at NS-EL2"), Said::RunningAt(2));
        assert_eq!(said("NOTICE:  Exiting tests."), Said::Farewell);
        let name = "CPU suspend on all cores in parallel";
        assert_eq!(
            said(&format!("> Executing '{name}'")),
            Said::Begin { name, warm: false }
        );
        for (title, label) in [
            (" (us)", None),
            (", woken by CPU 1.0 (us)", Some("1.0")),
            (
                ", woken by CPU 1.0.1: spread of the samples (us)",
                Some("1.0.1"),
            ),
        ] {
            let table = format!(".. table:: {name}{title}");
            assert_eq!(said(&table), Said::Table(label));
        }
        let warm = format!("{name}{WARM}");
        assert_eq!(said(&warm), Said::Begin { name, warm: true });
        assert_eq!(
            said("  TEST COMPLETE            Skipped"),
            Said::Complete(Status::Skipped)
        );
        assert_eq!(
            said("NOTICE:  BL31: v2.12.1(release):v2.12.1-5-gabc"),
            Said::Version {
                stage: "BL31",
                version: "v2.12.1(release):v2.12.1-5-gabc"
            }
        );
        assert_eq!(
            said("NOTICE:  BL1: Built : 12:00:01, Jan  2 2026"),
            Said::Built {
                stage: "BL1",
                built: "12:00:01, Jan  2 2026"
            }
        );
        assert_eq!(said("NOTICE:  BL1: Booting BL31"), Said::Nothing);
        assert_eq!(said("psci-bench 0.1.0"), Said::Payload("0.1.0"));
        assert_eq!(said("  Board      : QEMU virt"), Said::Board("QEMU virt"));
        assert!(matches!(
            said("psci-bench: INCOMPLETE: exception on CPU 0.3"),
            Said::Closing(Verdict::Incomplete, _)
        ));
    }
}
