//! Lines without a checksum, printed by TFTF, the payload or the firmware.

use std::sync::LazyLock;

use hardware::text::keywords::Word as _;
use memchr::memmem;
use regex::Regex;
use suite::measure::Metric;
use suite::model::{self, Failure, RunId, Skip, Status, Verdict};
use suite::plan::{Method, ScenarioId, WARM_TITLE};

use super::boot_timestamp::{self, BootTimestamp};

/// A line without a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainLine<'l> {
    /// A timestamp of the boot.
    BootTimestamp(BootTimestamp),
    /// A boot timestamp that cannot be read.
    UnreadBootTimestamp,
    /// A firmware stage's version.
    Version { stage: &'l str, version: &'l str },
    /// A firmware stage's build.
    Built { stage: &'l str, built: &'l str },
    /// The start of TFTF's output.
    TftfStart,
    /// The exception level reported in TFTF's output.
    RunningAt(u8),
    /// The first line printed by the payload itself, which contains its version.
    Payload(&'l str),
    /// The run's identity, from the header.
    Run(RunId),
    /// A last line that has other text before it.
    HiddenClosing(&'l str),
    /// The run's identity, from the summary.
    SummaryRun(RunId),
    /// The board name, from the header.
    Board(&'l str),
    /// The number of CPUs, from the header.
    Cpus(usize),
    /// The start of a scenario; None if it is unknown to this version.
    Begin(Option<(ScenarioId, Method)>),
    /// A CPU's figures.
    RtInstr(RtInstr<'l>),
    /// An RT_INSTR line that cannot be read.
    Unread,
    /// The end of a scenario.
    Complete(Status),
    /// The CPUs whose rows the payload skipped in a scenario, according to its summary.
    Skipped(ScenarioId, &'l str),
    /// The number of scenarios with this status, from TFTF's summary.
    Tally(Status, usize),
    /// The end of TFTF's output.
    Farewell,
    /// The last line of a run, and the verdict in it.
    Closing(Verdict, &'l str),
    /// The start of a run's last line, or a damaged last line.
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
    /// Powerdown, wakeup and cache flush, or only the latency for PSCI_VERSION.
    pub(super) values: [Option<u64>; 3],
}

/// A CPU's figures. Spaces are accepted instead of tabs, because copying from a terminal converts
/// them. A line is rejected if its end is missing, because digits may be missing too.
static RT_INSTR: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"(?-u)<RT_INSTR:(\w+)\s+(\d+)\s+(\d+)\s+(\d+)(?:\s+(\d+)\s+(\d+))?/>";
    Regex::new(line).expect("a pattern")
});

/// The start of a count in TFTF's summary.
pub(super) const TALLY: &str = "Tests ";

/// A firmware stage, with its version or build.
static STAGE: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"^NOTICE: *(BL[0-9][0-9A-Z]{0,2}): (?:Built : *(.*)|(v?[0-9].*\(.*))$";
    Regex::new(line).expect("a pattern")
});

/// Parses a cleaned line that is not a record.
pub(super) fn parse(line: &[u8]) -> PlainLine<'_> {
    let is_row = memmem::find(line, b"RT_INSTR").is_some();
    let other = if is_row {
        PlainLine::Unread
    } else {
        PlainLine::Other
    };
    let text = str::from_utf8(line).unwrap_or("").trim_end();
    let parsed = if is_row {
        rt_instr(text).map(PlainLine::RtInstr)
    } else {
        parse_text(text)
    };
    parsed.unwrap_or(other)
}

/// Parses a line in the payload's header.
fn header_field(line: &str) -> Option<PlainLine<'_>> {
    let (name, value) = line.split_once(": ")?;
    match name.trim_end() {
        "Run" => RunId::parse(value).map(PlainLine::Run),
        "Board" => Some(PlainLine::Board(value)),
        "CPUs" => value.split_once(' ')?.0.parse().ok().map(PlainLine::Cpus),
        _ => None,
    }
}

/// Returns the identity at the start of a line in the summary.
fn summary_run(line: &str) -> Option<RunId> {
    let (id, _) = line.strip_prefix("Run ")?.split_once(": ")?;
    RunId::parse(id)
}

fn parse_text(line: &str) -> Option<PlainLine<'_>> {
    if line.contains(boot_timestamp::MARK) {
        let timestamp = BootTimestamp::parse(line);
        return Some(timestamp.map_or(PlainLine::UnreadBootTimestamp, PlainLine::BootTimestamp));
    }
    if let Some(verdict) = model::parse_line(line.as_bytes()) {
        return Some(PlainLine::Closing(verdict, line));
    }
    if line.starts_with(model::PREFIX) {
        return Some(PlainLine::Broken(line));
    }
    if let Some(id) = summary_run(line) {
        return Some(PlainLine::SummaryRun(id));
    }
    if let Some(word) = line.strip_prefix("  TEST COMPLETE") {
        return Some(PlainLine::Complete(status(word.trim_start())));
    }
    if let Some(skipped) = line.strip_prefix("Skipped: ") {
        let (tag, rest) = skipped.split_once(", CPU ")?;
        // A list that continues on the next line may have been cut off in the middle of a number.
        let (cpus, _) = rest.split_once(": ")?;
        return ScenarioId::from_word(tag).map(|id| PlainLine::Skipped(id, cpus));
    }
    if line.starts_with(TALLY) {
        return tally(line);
    }
    if let Some(field) = line.strip_prefix("  ").and_then(header_field) {
        return Some(field);
    }
    if let Some(version) = line.strip_prefix("psci-bench ") {
        let is_version =
            version.starts_with(|letter: char| letter.is_ascii_digit()) && !version.contains(' ');
        return is_version.then_some(PlainLine::Payload(version));
    }
    let scenario = |name, method| {
        let id = ScenarioId::ALL.into_iter().find(|id| id.name() == name);
        Some(PlainLine::Begin(id.map(|id| (id, method))))
    };
    if let Some(rest) = line.strip_prefix("> Executing '") {
        return scenario(rest.strip_suffix('\'').unwrap_or(rest), Method::Tftf);
    }
    if let Some(name) = line.strip_suffix(WARM_TITLE) {
        return scenario(name, Method::Warm);
    }
    if let Some(captures) = STAGE.captures(line) {
        let group = |index: usize| captures.get(index).map(|group| group.as_str());
        let stage = group(1)?;
        return match group(2) {
            Some(built) => Some(PlainLine::Built { stage, built }),
            None => group(3).map(|version| PlainLine::Version { stage, version }),
        };
    }
    match line.strip_prefix("NOTICE:")?.trim_start() {
        "Booting trusted firmware test framework" => Some(PlainLine::TftfStart),
        "Exiting tests." => Some(PlainLine::Farewell),
        text => {
            let level = text.strip_prefix("Running at NS-EL")?.parse();
            level.ok().map(PlainLine::RunningAt)
        }
    }
}

/// Parses a count in TFTF's summary.
pub(super) fn tally(line: &str) -> Option<PlainLine<'_>> {
    let (word, count) = line.strip_prefix(TALLY)?.split_once(':')?;
    let status = status(word.trim_end());
    let count = count.trim_start().parse().ok()?;
    (status != Status::Unknown).then_some(PlainLine::Tally(status, count))
}

/// Returns the status for a keyword printed by TFTF.
fn status(word: &str) -> Status {
    match word {
        "Passed" => Status::Passed,
        "Skipped" => Status::Skipped(Skip::NotStated),
        "Failed" => Status::Failed(Failure::NotStated),
        "Crashed" => Status::Crashed,
        _ => Status::Unknown,
    }
}

fn rt_instr(line: &str) -> Option<RtInstr<'_>> {
    let captures = RT_INSTR.captures(line)?;
    let mut values = [None; 3];
    for (value, group) in values.iter_mut().zip(4..) {
        if let Some(digits) = captures.get(group) {
            *value = Some(digits.as_str().parse().ok()?);
        }
    }
    let tag = captures.get(1)?.as_str();
    let label = (captures[2].parse().ok()?, captures[3].parse().ok()?);
    // A suspend row that lost its whitespace may look like a latency row.
    let has_one_value = values[1].is_none();
    ScenarioId::from_word(tag)
        .is_none_or(|id| (id.columns() == [Metric::Latency]) == has_one_value)
        .then_some(RtInstr { tag, label, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rt_instr_lines() {
        let row = |values| {
            let tag = "test_x";
            let label = (1, 2);
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
            "<RT_INSTR:test_rt_instr_cpu_susp_serial\t1\t2\t1231/>",
            "<RT_INSTR:test_rt_instr_psci_version_parallel\t1\t2\t12\t3\t0/>",
            "<RT_INSTR",
        ] {
            assert_eq!(parse(wrong.as_bytes()), PlainLine::Unread, "{wrong}");
        }
    }
}
