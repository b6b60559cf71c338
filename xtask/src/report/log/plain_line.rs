//! Lines without a checksum: TFTF's frame, the payload's own, the firmware's.

use std::str;

use psci_bench::model as verdict;
use psci_bench::model::Verdict;
use psci_bench::model::{Failure, Skip, Status};
use psci_bench::plan::{Method, ScenarioId};

/// A line without a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainLine<'l> {
    /// The version of a stage of the firmware.
    Version { stage: &'l str, version: &'l str },
    /// The build of a stage of the firmware.
    Built { stage: &'l str, built: &'l str },
    /// The begin of the frame.
    Frame,
    /// The exception level in the frame.
    RunningAt(u8),
    /// The payload's first line of its own, with its version.
    Payload(&'l str),
    /// The board's name in the header.
    Board(&'l str),
    /// The begin of a scenario; None for one that is unknown here.
    Begin(Option<(ScenarioId, Method)>),
    /// The figures of a CPU.
    RtInstr(RtInstr<'l>),
    /// The end of a scenario.
    Complete(Status),
    /// The end of the frame.
    Farewell,
    /// The last line.
    Closing(Verdict, &'l str),
    /// The beginning of a last line, or a damaged one.
    Broken(&'l str),
    /// Any other line.
    Other,
}

/// An `<RT_INSTR:...>` line, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RtInstr<'l> {
    pub(super) tag: &'l str,
    pub(super) cluster: u16,
    pub(super) core: u16,
    /// Powerdown, wakeup and cache flush; of PSCI_VERSION the latency alone.
    pub(super) values: [Option<u64>; 3],
}

/// The text after a scenario's name that is measured with CPUs kept on.
const WARM: &str = ", CPUs kept on between samples";

/// Parses a clean line that is no record.
pub(super) fn parse(line: &[u8]) -> PlainLine<'_> {
    let Ok(line) = str::from_utf8(line) else {
        return PlainLine::Other;
    };
    let whole = line.trim_end();
    if let Some(at) = whole.find("<RT_INSTR:") {
        let row = whole.get(at..).and_then(rt_instr);
        return row.map_or(PlainLine::Other, PlainLine::RtInstr);
    }
    if let Some(verdict) = verdict::parse_line(whole.as_bytes()) {
        return PlainLine::Closing(verdict, whole);
    }
    if whole.starts_with(verdict::PREFIX) {
        return PlainLine::Broken(whole);
    }
    if let Some(rest) = whole.strip_prefix("  ") {
        let board = || field(rest, "Board").map_or(PlainLine::Other, PlainLine::Board);
        let result = rest.strip_prefix("TEST COMPLETE");
        return result.map_or_else(board, |it| PlainLine::Complete(status(it.trim_start())));
    }
    if let Some(rest) = whole.strip_prefix("psci-bench ") {
        let is_version = rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(' ');
        return if is_version {
            PlainLine::Payload(rest)
        } else {
            PlainLine::Other
        };
    }
    let scenario = |name, method| {
        let found = ScenarioId::ALL.into_iter().find(|id| id.name() == name);
        PlainLine::Begin(found.map(|id| (id, method)))
    };
    if let Some(rest) = whole.strip_prefix("> Executing '") {
        return scenario(rest.strip_suffix('\'').unwrap_or(rest), Method::Tftf);
    }
    if let Some(name) = whole.strip_suffix(WARM) {
        return scenario(name, Method::Warm);
    }
    match whole.strip_prefix("NOTICE:") {
        Some(rest) => notice(rest.trim_start()),
        None => PlainLine::Other,
    }
}

/// Returns the status of TFTF's word.
fn status(word: &str) -> Status {
    match word {
        "Passed" => Status::Passed,
        "Skipped" => Status::Skipped(Skip::NotStated),
        "Failed" => Status::Failed(Failure::NotStated),
        "Crashed" => Status::Crashed,
        _ => Status::Unknown,
    }
}

fn notice(text: &str) -> PlainLine<'_> {
    if text == "Booting trusted firmware test framework" {
        return PlainLine::Frame;
    }
    if text == "Exiting tests." {
        return PlainLine::Farewell;
    }
    if let Some(level) = text.strip_prefix("Running at NS-EL") {
        return level.parse().map_or(PlainLine::Other, PlainLine::RunningAt);
    }
    let Some((stage, said)) = text.split_once(": ") else {
        return PlainLine::Other;
    };
    let is_stage = stage
        .strip_prefix("BL")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.len() <= 4);
    let is_version = |text: &str| {
        let number = text.strip_prefix('v').unwrap_or(text);
        number.starts_with(|c: char| c.is_ascii_digit()) && text.contains('(')
    };
    match said.strip_prefix("Built :") {
        Some(built) if is_stage => PlainLine::Built {
            stage,
            built: built.trim_start(),
        },
        None if is_stage && is_version(said) => PlainLine::Version {
            stage,
            version: said,
        },
        _ => PlainLine::Other,
    }
}

/// Returns the value of a line of the payload's header.
fn field<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(name)?.trim_start();
    rest.strip_prefix(": ").map(str::trim_end)
}

/// Parses a whole line: one that lost its end may have lost digits. Blanks do for
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
    let cluster = u16::try_from(numbers.next()??).ok()?;
    let core = u16::try_from(numbers.next()??).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> PlainLine<'_> {
        parse(line.as_bytes())
    }

    #[test]
    fn rt_instr_lines() {
        let row = |values| {
            PlainLine::RtInstr(RtInstr {
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
            assert_eq!(said(wrong), PlainLine::Other, "{wrong}");
        }
    }

    #[test]
    fn frame_and_firmware_lines() {
        let name = "CPU suspend on all cores in parallel";
        let executing = format!("> Executing '{name}'");
        let warm = format!("{name}{WARM}");
        let id = ScenarioId::CpuSuspendParallel;
        for (line, expected) in [
            (
                "NOTICE:  Booting trusted firmware test framework",
                PlainLine::Frame,
            ),
            ("NOTICE:  Running at NS-EL2", PlainLine::RunningAt(2)),
            ("NOTICE:  Exiting tests.", PlainLine::Farewell),
            (&executing, PlainLine::Begin(Some((id, Method::Tftf)))),
            (&warm, PlainLine::Begin(Some((id, Method::Warm)))),
            ("> Executing 'Another'", PlainLine::Begin(None)),
            (
                "  TEST COMPLETE            Skipped",
                PlainLine::Complete(Status::Skipped(Skip::NotStated)),
            ),
            (
                "  TEST COMPLETE   Crashed",
                PlainLine::Complete(Status::Crashed),
            ),
            (
                "NOTICE:  BL31: v2.12.1(release):v2.12.1-5-gabc",
                PlainLine::Version {
                    stage: "BL31",
                    version: "v2.12.1(release):v2.12.1-5-gabc",
                },
            ),
            (
                "NOTICE:  BL1: Built : 12:00:01, Jan  2 2026",
                PlainLine::Built {
                    stage: "BL1",
                    built: "12:00:01, Jan  2 2026",
                },
            ),
            ("NOTICE:  BL1: Booting BL31", PlainLine::Other),
            ("psci-bench 0.1.0", PlainLine::Payload("0.1.0")),
            ("  Board      : QEMU virt", PlainLine::Board("QEMU virt")),
        ] {
            assert_eq!(parse(line.as_bytes()), expected, "{line}");
        }
        let line = "psci-bench: INCOMPLETE: exception on CPU 0.3";
        let closing = PlainLine::Closing(Verdict::Incomplete, line);
        assert_eq!(parse(line.as_bytes()), closing);
    }
}
