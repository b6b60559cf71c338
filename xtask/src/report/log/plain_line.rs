//! Lines without a checksum: TFTF's frame, the payload's own, the firmware's.

use std::str;

use psci_bench::model::{self, Failure, Skip, Status, Verdict};
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
    /// Cluster and core.
    pub(super) label: (u16, u16),
    /// Powerdown, wakeup and cache flush; of PSCI_VERSION the latency alone.
    pub(super) values: [Option<u64>; 3],
}

/// The text after a scenario's name that is measured with CPUs kept on.
const WARM: &str = ", CPUs kept on between samples";

/// Parses a clean line that is no record.
pub(super) fn parse(line: &[u8]) -> PlainLine<'_> {
    let line = str::from_utf8(line).unwrap_or_default().trim_end();
    said(line).unwrap_or(PlainLine::Other)
}

fn said(whole: &str) -> Option<PlainLine<'_>> {
    if let Some(at) = whole.find("<RT_INSTR:") {
        return rt_instr(&whole[at..]).map(PlainLine::RtInstr);
    }
    if let Some(verdict) = model::parse_line(whole.as_bytes()) {
        return Some(PlainLine::Closing(verdict, whole));
    }
    if whole.starts_with(model::PREFIX) {
        return Some(PlainLine::Broken(whole));
    }
    if let Some(rest) = whole.strip_prefix("  ") {
        if let Some(word) = rest.strip_prefix("TEST COMPLETE") {
            return Some(PlainLine::Complete(status(word.trim_start())));
        }
        let value = rest.strip_prefix("Board")?.trim_start().strip_prefix(": ");
        return value.map(PlainLine::Board);
    }
    if let Some(rest) = whole.strip_prefix("psci-bench ") {
        let is_version = rest.starts_with(|c: char| c.is_ascii_digit()) && !rest.contains(' ');
        return is_version.then_some(PlainLine::Payload(rest));
    }
    let scenario = |name, method| {
        let found = ScenarioId::ALL.into_iter().find(|id| id.name() == name);
        Some(PlainLine::Begin(found.map(|id| (id, method))))
    };
    if let Some(rest) = whole.strip_prefix("> Executing '") {
        return scenario(rest.strip_suffix('\'').unwrap_or(rest), Method::Tftf);
    }
    if let Some(name) = whole.strip_suffix(WARM) {
        return scenario(name, Method::Warm);
    }
    notice(whole.strip_prefix("NOTICE:")?.trim_start())
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

fn notice(text: &str) -> Option<PlainLine<'_>> {
    if text == "Booting trusted firmware test framework" {
        return Some(PlainLine::Frame);
    }
    if text == "Exiting tests." {
        return Some(PlainLine::Farewell);
    }
    if let Some(level) = text.strip_prefix("Running at NS-EL") {
        return level.parse().ok().map(PlainLine::RunningAt);
    }
    let is_digit = |c: char| c.is_ascii_digit();
    let (stage, said) = text.split_once(": ")?;
    let number = stage.strip_prefix("BL")?;
    if !number.starts_with(is_digit) || number.len() > 4 {
        return None;
    }
    if let Some(built) = said.strip_prefix("Built :") {
        let built = built.trim_start();
        return Some(PlainLine::Built { stage, built });
    }
    let number = said.strip_prefix('v').unwrap_or(said);
    let is_version = number.starts_with(is_digit) && said.contains('(');
    let version = said;
    is_version.then_some(PlainLine::Version { stage, version })
}

/// Parses a whole line: one that lost its end may have lost digits. Blanks do for
/// tabs, as terminals paste them.
fn rt_instr(line: &str) -> Option<RtInstr<'_>> {
    let (rest, _) = line.strip_prefix("<RT_INSTR:")?.split_once("/>")?;
    let mut words = rest.split_ascii_whitespace();
    let is_tag = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let tag = words.next().filter(|tag| tag.chars().all(is_tag))?;
    let number = |word: &str| {
        word.parse()
            .ok()
            .filter(|_| word.bytes().all(|b| b.is_ascii_digit()))
    };
    let numbers: Vec<u64> = words.map(number).collect::<Option<_>>()?;
    let (cluster, core, values) = match numbers[..] {
        [cluster, core, first] => (cluster, core, [Some(first), None, None]),
        [cluster, core, a, b, c] => (cluster, core, [a, b, c].map(Some)),
        _ => return None,
    };
    let label = (cluster.try_into().ok()?, core.try_into().ok()?);
    Some(RtInstr { tag, label, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_instr_lines() {
        let row = |values| {
            let (tag, label) = ("test_x", (1, 2));
            PlainLine::RtInstr(RtInstr { tag, label, values })
        };
        let three = [Some(12), Some(3), Some(0)];
        for (line, values) in [
            ("<RT_INSTR:test_x\t1\t2\t12\t03\t00/>", three),
            ("x <RT_INSTR:test_x  1  2 12 3 0/>", three),
            ("<RT_INSTR:test_x\t1\t2\t12/>", [Some(12), None, None]),
        ] {
            assert_eq!(parse(line.as_bytes()), row(values), "{line}");
        }
        for wrong in [
            "<RT_INSTR:test_x\t1\t2\t12\t3\t0",
            "<RT_INSTR:test_x\t1\t2\t12\t3/>",
            "<RT_INSTR:test_x\t1\t2\t12\t3\t0\t1/>",
            "<RT_INSTR:test_x\t1\t2\t-12/>",
            "<RT_INSTR:te/t\t1\t2\t1\t1\t1/>",
            "<RT_INSTR:test_x\t1\t2\t99999999999999999999\t1\t1/>",
        ] {
            assert_eq!(parse(wrong.as_bytes()), PlainLine::Other, "{wrong}");
        }
    }

    /// Lines that no log of the other tests has.
    #[test]
    fn rare_lines() {
        let id = ScenarioId::CpuSuspendParallel;
        let warm = format!("{}{WARM}", id.name());
        let skipped = PlainLine::Complete(Status::Skipped(Skip::NotStated));
        let crashed = PlainLine::Complete(Status::Crashed);
        for (line, expected) in [
            (warm.as_str(), PlainLine::Begin(Some((id, Method::Warm)))),
            ("> Executing 'Another'", PlainLine::Begin(None)),
            ("  TEST COMPLETE   Skipped", skipped),
            ("  TEST COMPLETE   Crashed", crashed),
            ("NOTICE:  BL1: Booting BL31", PlainLine::Other),
        ] {
            assert_eq!(parse(line.as_bytes()), expected, "{line}");
        }
    }
}
