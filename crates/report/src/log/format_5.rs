//! Records of format 5, the previous one: its boot arguments are a structure with a field for each
//! option. All other records are the same.

use itertools::Itertools as _;
use serde::Deserialize;
use suite::plan::{Key, Plan};
use suite::record::{FORMAT, Record, RecordLine};

/// The formats that this version reads.
pub(super) const READ_FORMATS: [u32; 2] = [5, FORMAT];

/// Returns the record in a line, of the current format or of format 5; None if this version cannot
/// read it.
pub(super) fn read_record(line: &RecordLine<'_>) -> Option<Record> {
    match line.kind {
        "plan" | "plan-steps" => line.record().or_else(|| read_plan(line.json)),
        _ => line.record(),
    }
}

fn read_plan(json: &str) -> Option<Record> {
    let plan = match serde_json::from_str(json).ok()? {
        PlanRecord::Plan(options) => options.plan()?,
        PlanRecord::PlanSteps([dirty, contend, calls]) => {
            let mut plan = Plan::unknown();
            learn_sweeps(&mut plan, dirty, contend, calls)?;
            plan
        }
    };
    Some(Record::Plan(plan))
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PlanRecord {
    Plan(Options),
    PlanSteps([Option<Vec<u32>>; 3]),
}

#[derive(Deserialize)]
struct Options {
    iterations: u32,
    warmup: u32,
    scenarios: Vec<String>,
    methods: String,
    wake: Option<String>,
    end: String,
    deepest: Option<u32>,
    core: Option<u32>,
    samples: bool,
    records: String,
    loops: Option<u32>,
    batch: u32,
    timer: TimerOptions,
    list: bool,
    dirty: Option<Vec<u32>>,
    contend: Option<Vec<u32>>,
    /// The first payloads turned CPUs on at once.
    #[serde(default)]
    cpu_on_after: u32,
    #[serde(default)]
    destructive: bool,
    #[serde(default)]
    calls: Option<Vec<u32>>,
    #[serde(default = "default_offsets")]
    offsets: u32,
    #[serde(default = "one")]
    repeats: u32,
    #[serde(default = "alone")]
    beside: u8,
}

#[derive(Deserialize)]
struct TimerOptions {
    duration: u32,
    period: u32,
    footprint: u32,
    threshold: Option<u32>,
    loads: u8,
    timers: u8,
}

fn default_offsets() -> u32 {
    32
}

fn one() -> u32 {
    1
}

/// The bit for one CPU alone.
fn alone() -> u8 {
    1
}

/// The words that the bits stand for, from the lowest bit on.
const LOADS: [&str; 8] = [
    "idle",
    "write",
    "zero",
    "nontemporal",
    "clean",
    "mixed",
    "smc",
    "suspend",
];
const CPUS: [&str; 4] = ["alone", "all", "near", "far"];

impl Options {
    /// Returns the boot arguments; None if one of them has an impossible value.
    fn plan(self) -> Option<Plan> {
        let mut plan = Plan::unknown();
        let methods = match self.methods.as_str() {
            "both" => "tftf,warm",
            other => other,
        };
        let scenarios = if self.list {
            "help".to_owned()
        } else {
            self.scenarios.join(",")
        };
        let hex_text = |state: Option<u32>| state.map(|state| format!("{state:#x}"));
        let decimal_text = |number: Option<u32>| number.map(|number| number.to_string());
        let timer = &self.timer;
        for (key, value) in [
            (Key::Iterations, decimal_text(Some(self.iterations))),
            (Key::Warmup, decimal_text(Some(self.warmup))),
            (Key::Only, Some(scenarios)),
            (Key::Method, Some(methods.to_owned())),
            (Key::Wake, self.wake),
            (Key::End, Some(self.end)),
            (Key::Deepest, hex_text(self.deepest)),
            (Key::Core, hex_text(self.core)),
            (Key::Samples, word(self.samples, ["none", "all"])),
            (Key::Records, Some(self.records)),
            (Key::Loops, decimal_text(self.loops)),
            (Key::Batch, decimal_text(Some(self.batch))),
            (Key::Duration, decimal_text(Some(timer.duration))),
            (Key::Period, decimal_text(Some(timer.period))),
            (Key::Stress, words(timer.loads, &LOADS)),
            (Key::Footprint, decimal_text(Some(timer.footprint))),
            (Key::Timers, words(timer.timers, &CPUS)),
            (Key::Threshold, decimal_text(timer.threshold)),
            (Key::CpuOnAfter, decimal_text(Some(self.cpu_on_after))),
            (
                Key::Fitness,
                word(self.destructive, ["harmless", "destructive"]),
            ),
            (Key::Offsets, decimal_text(Some(self.offsets))),
            (Key::Repeats, decimal_text(Some(self.repeats))),
            (Key::Neighbors, words(self.beside, &CPUS)),
        ] {
            if let Some(value) = value {
                plan.learn(key, &value).then_some(())?;
            }
        }
        learn_sweeps(&mut plan, self.dirty, self.contend, self.calls)?;
        Some(plan)
    }
}

fn learn_sweeps(
    plan: &mut Plan,
    dirty: Option<Vec<u32>>,
    contend: Option<Vec<u32>>,
    calls: Option<Vec<u32>>,
) -> Option<()> {
    let decimal_list = |values: Vec<u32>| values.iter().join(",");
    let hex_list = |ids: Vec<u32>| {
        ids.iter()
            .format_with(",", |id, f| f(&format_args!("{id:#x}")))
            .to_string()
    };
    for (key, value) in [
        (Key::Dirty, dirty.map(decimal_list)),
        (Key::Contend, contend.map(decimal_list)),
        (Key::Calls, calls.map(hex_list)),
    ] {
        if let Some(value) = value {
            plan.learn(key, &value).then_some(())?;
        }
    }
    Some(())
}

/// Returns the first word, or the second one if `is_second`.
fn word(is_second: bool, words: [&str; 2]) -> Option<String> {
    Some(words[usize::from(is_second)].to_owned())
}

/// Returns the words whose bits are set, as a list; None if there are none.
fn words(bits: u8, words: &[&str]) -> Option<String> {
    let list = words
        .iter()
        .enumerate()
        .filter(|(bit, _)| bits >> bit & 1 != 0)
        .map(|(_, word)| word)
        .join(",");
    (!list.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use suite::record::CRC_DIGITS;

    use super::*;

    /// Returns the plan in a record, which need not have a correct checksum.
    fn read(json: &str) -> Option<Plan> {
        let text = format!("@PB 00000000 0002 {json} {}", "0".repeat(CRC_DIGITS));
        let line = RecordLine::parse(text.as_bytes()).expect(json);
        match read_record(&line)? {
            Record::Plan(plan) => Some(plan),
            other => panic!("{other:?}"),
        }
    }

    const FIRST: &str = r#"{"plan":{"iterations":3,"warmup":1,"scenarios":["cpu_susp_serial",
        "wake_race"],"methods":"both","wake":"chain","end":"park","deepest":16908322,"core":null,
        "samples":true,"records":"twice","loops":null,"batch":1024,"timer":{"duration":1,
        "period":1000,"footprint":4194304,"threshold":null,"loads":33,"timers":3},"list":false,
        "dirty":[0,65536],"contend":null"#;

    #[test]
    fn options_are_read_as_boot_arguments() {
        let first = FIRST.replace("\n        ", "");
        let common = "iterations=3 warmup=1 only=cpu_susp_serial,wake_race method=tftf,warm \
            wake=chain end=park deepest=0x1020022 samples=all records=twice dirty=0,64K";
        for (more, others) in [
            ("}}", "cpu-on-after=0"),
            (
                r#","cpu_on_after":7,"destructive":true,"calls":[1],"offsets":2,"beside":12}}"#,
                "cpu-on-after=7 fitness=destructive calls=0x1 offsets=2 neighbors=near,far",
            ),
        ] {
            let arguments = format!("{common} {others}");
            let expected = Plan::parse(&arguments).expect("valid arguments");
            let plan = read(&(first.clone() + more)).expect("a plan");
            for (key, text) in plan.known() {
                assert_eq!(expected.text(key), Some(text), "{more}");
            }
            // These did not exist, so nothing is known about them.
            let is_unknown = |(key, _): &(Key, String)| plan.text(*key).is_none();
            let unknown = expected.known().filter(is_unknown);
            let words: Vec<_> = unknown.map(|(key, _)| key.word()).collect();
            assert_eq!(
                words,
                ["timestamps", "cpu-off", "frame", "watchdog", "seed"]
            );
        }
        let steps = read(r#"{"plan-steps":[null,[1,2],null]}"#).expect("a plan");
        assert_eq!(steps.text(Key::Contend).as_deref(), Some("1,2"));
        assert_eq!(steps.text(Key::Iterations), None);
        let wrong = first.replace("\"iterations\":3", "\"iterations\":0") + "}}";
        assert_eq!(read(&wrong), None);
    }
}
