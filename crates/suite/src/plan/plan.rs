//! The boot arguments as a [`Plan`]: words of the form `key=value`, separated by whitespace,
//! without quoting. An invalid word stops the run, unless it is intended for another program
//! ([`is_foreign`]) and shares a device tree with the payload's own words: either a loader passed
//! that tree, or the words include those of an operating system's kernel.

use hardware::text::outside;
use hardware::text::words::Word;
use serde::{Deserialize, Serialize};

use super::descriptor::{Axis, RunSize};
use super::how::{How, HowSet};
use super::key::{Key, PlanError, PlanProblem};
use super::method::{EndAction, Method, Methods, Records, WakePattern};
use super::scenario_id::ScenarioId;
use super::scenario_set::ScenarioSet;
use super::steps::{Steps, bytes, cpus, dirty_bytes, next_bytes, next_cpus};
use super::timer::{Load, TimerPlan};

/// The time limit for a loop scenario without `loops=`, in seconds: an emulator may be a hundred
/// times slower than a board.
pub const LOOPS_LIMIT_S: u32 = 30;
/// The default number of operations in a loop.
const LOOPS: u32 = 1 << 20;

/// Microseconds from the first AFFINITY_INFO that returns OFF for a CPU to its next CPU_ON.
/// Firmware marks a CPU as OFF before it has reached its WFI, or while its power controller is
/// still busy, and on several SoCs a CPU_ON in that gap loses the CPU (`docs/reliability.md`).
/// Linux never calls CPU_ON that early: milliseconds pass between the two.
const CPU_ON_AFTER_US: u32 = 1_000;

/// A run's options: scenarios, samples and methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The number of samples for each CPU in each scenario.
    pub iterations: u32,
    /// The number of warm-up samples, which are not counted.
    pub warmup: u32,
    /// The scenarios to run; never empty.
    pub scenarios: ScenarioSet,
    /// The preconditions for samples.
    pub methods: Methods,
    /// The wake-up order in parallel rounds; None for the method's default.
    pub wake: Option<WakePattern>,
    /// The final action.
    pub end: EndAction,
    /// The `power_state` for the deepest level; overrides the board's.
    pub deepest: Option<u32>,
    /// The `power_state` for level 0; overrides the board's.
    pub core: Option<u32>,
    /// True to send every sample in addition to the statistics.
    pub samples: bool,
    /// The number of times that each block of records is written.
    pub records: Records,
    /// The number of operations per CPU in each loop; None for as many as fit in the time limit.
    pub loops: Option<u32>,
    /// The number of operations in one loop sample.
    pub batch: u32,
    /// The options for timer latency.
    pub timer: TimerPlan,
    /// True to list the scenarios instead of measuring them.
    pub list: bool,
    /// The number of bytes to dirty in each step; overrides the steps based on the cache size.
    pub dirty: Option<Steps>,
    /// The number of CPUs that go down together in each step; overrides the steps based on the
    /// board's CPUs.
    pub contend: Option<Steps>,
    /// The minimum time, in microseconds, between a CPU turning off and being turned on again. A
    /// payload whose records lack this field did not wait.
    #[serde(default)]
    pub cpu_on_after: u32,
    /// True if `fitness` also makes calls with invalid arguments.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub destructive: bool,
    /// The functions that `masked_time` calls in addition to PSCI's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Steps>,
    /// The number of offsets at which an interrupt first falls due within a call.
    #[serde(
        default = "default_offsets",
        skip_serializing_if = "is_default_offsets"
    )]
    pub offsets: u32,
    /// The number of suspends at each offset.
    #[serde(
        default = "default_repeats",
        skip_serializing_if = "is_default_repeats"
    )]
    pub repeats: u32,
    /// The CPUs that suspend at the same time in `wake_race`.
    #[serde(default = "default_beside", skip_serializing_if = "is_default_beside")]
    pub beside: HowSet,
}

const fn default_beside() -> HowSet {
    HowSet::of(How::Alone)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_default_beside(beside: &HowSet) -> bool {
    *beside == default_beside()
}

const fn default_repeats() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_default_repeats(repeats: &u32) -> bool {
    *repeats == 1
}

/// The default for [`Plan::offsets`].
const OFFSETS: u32 = 32;

const fn default_offsets() -> u32 {
    OFFSETS
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_default_offsets(offsets: &u32) -> bool {
    *offsets == OFFSETS
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            iterations: 20,
            warmup: 2,
            scenarios: ScenarioSet::SUITE,
            methods: Methods::Tftf,
            wake: None,
            end: EndAction::Off,
            deepest: None,
            core: None,
            samples: false,
            records: Records::Once,
            loops: None,
            batch: 1024,
            timer: TimerPlan::default(),
            list: false,
            dirty: None,
            contend: None,
            cpu_on_after: CPU_ON_AFTER_US,
            destructive: false,
            calls: None,
            offsets: OFFSETS,
            repeats: 1,
            beside: default_beside(),
        }
    }
}

impl Plan {
    /// Returns the number of bytes to dirty in each step; None if the cache size is unknown.
    pub fn dirty_steps(&self, outer_cache: Option<u64>) -> Option<Steps> {
        self.dirty.or_else(|| outer_cache.map(super::steps::dirty))
    }

    /// Returns the memory needed for these steps, in bytes; 0 if no cache lines are dirtied.
    pub fn dirty_bytes(&self, outer_cache: Option<u64>) -> usize {
        let steps = self.dirty_steps(outer_cache);
        let steps = steps.filter(|_| {
            self.scenarios
                .iter()
                .any(|id| id.axis() == Some(Axis::Bytes))
        });
        steps.map_or(0, |steps| steps.highest() as usize)
    }

    /// Returns the maximum number of cells in a scenario on a board with this number of CPUs and
    /// idle states.
    pub fn cells(&self, id: ScenarioId, cpus: usize, idle_states: usize) -> usize {
        (id.descriptor().cells)(&RunSize {
            cpus,
            idle_states,
            dirty: self.dirty,
            contend: self.contend,
            timer: self.timer,
            calls: self.calls,
            beside: self.beside,
        })
    }

    /// Parses boot arguments. An empty string results in the default plan.
    pub fn parse(bootargs: &str) -> Result<Self, PlanError<'_>> {
        Self::follow(bootargs.split_ascii_whitespace().enumerate())
    }

    /// Parses boot arguments from a device tree, which can be those of an operating system.
    pub fn parse_from_tree(bootargs: &str) -> Result<Self, PlanError<'_>> {
        if is_shared(bootargs) {
            Self::parse_among_foreign(bootargs)
        } else {
            Self::parse(bootargs)
        }
    }

    /// Parses boot arguments that may include an operating system's arguments, added by a loader.
    /// Ignores words whose key is not one of the payload's, unless it looks like a misspelled one.
    pub fn parse_among_foreign(bootargs: &str) -> Result<Self, PlanError<'_>> {
        let words = bootargs.split_ascii_whitespace().enumerate();
        Self::follow(words.filter(|(_, word)| !is_foreign(word)))
    }

    /// Applies the words, each paired with its position among all words, counting from 0.
    fn follow<'a>(words: impl Iterator<Item = (usize, &'a str)>) -> Result<Self, PlanError<'a>> {
        let mut plan = Self::default();
        let mut seen = 0u32;
        for (index, word) in words {
            plan.apply(word, &mut seen).map_err(|problem| PlanError {
                word,
                position: index + 1,
                problem,
            })?;
        }
        Ok(plan)
    }

    /// Returns the wake-up order for `method`. Under TFTF, the CPUs share one timer: the CPU that
    /// takes its interrupt wakes the others with SGIs (`docs/wake-up.md`).
    pub fn wake_by(&self, method: Method) -> WakePattern {
        self.wake.unwrap_or(match method {
            Method::Tftf => WakePattern::Chain,
            Method::Warm => WakePattern::Together,
        })
    }

    /// Returns the number of tests. The suite's tests count once per method, and the other tests
    /// count once.
    pub fn tests(&self) -> usize {
        let suite = self.scenarios.suite().iter().count();
        suite * self.methods.iter().count() + self.scenarios.iter().count() - suite
    }

    /// Returns the number of operations in one loop sample, and the number of samples per CPU.
    pub fn batches(&self) -> (u32, u32) {
        let loops = self.loops.unwrap_or(LOOPS);
        let batch = self.batch.min(loops).max(1);
        (batch, loops.div_ceil(batch))
    }

    fn apply(&mut self, word: &str, seen: &mut u32) -> Result<(), PlanProblem> {
        let (key, value) = word.split_once('=').ok_or(PlanProblem::NotAPair)?;
        let key = Key::from_word(key).ok_or(PlanProblem::UnknownKey)?;
        let bit = 1 << key as u32;
        if *seen & bit != 0 {
            return Err(PlanProblem::Duplicate(key));
        }
        *seen |= bit;

        self.set(key, value).ok_or(PlanProblem::Value(key))
    }

    /// Sets the option for a key. Returns None if the key does not accept the value.
    fn set(&mut self, key: Key, value: &str) -> Option<()> {
        let number = || key.number(outside::number(value.as_bytes(), 10));
        match key {
            Key::Iterations => self.iterations = number()?,
            Key::Warmup => self.warmup = number()?,
            Key::Loops => self.loops = Some(number()?),
            Key::Batch => self.batch = number()?,
            Key::Duration => self.timer.duration = number()?,
            Key::Period => self.timer.period = number()?,
            Key::CpuOnAfter => self.cpu_on_after = number()?,
            Key::Offsets => self.offsets = number()?,
            Key::Repeats => self.repeats = number()?,
            Key::Threshold => self.timer.threshold = Some(number()?),
            Key::Footprint => self.timer.footprint = key.number(bytes(value))?,
            Key::Stress => self.timer.loads = choice(value, &Load::ALL.map(Load::word))?,
            Key::Timers => self.timer.timers = hows(value)?,
            Key::Beside => self.beside = hows(value)?,
            Key::Only if value == "help" => self.list = true,
            Key::Only => {
                self.scenarios = ScenarioSet::EMPTY;
                for word in value.split(',') {
                    self.scenarios.insert(ScenarioSet::of_word(word)?);
                }
            }
            Key::Method => {
                self.methods = match choice(value, &Method::ALL.map(Method::word))? {
                    0b01 => Methods::Tftf,
                    0b10 => Methods::Warm,
                    _ => Methods::Both,
                }
            }
            Key::Wake => self.wake = Some(WakePattern::from_word(value)?),
            Key::End => self.end = EndAction::from_word(value)?,
            Key::Records => self.records = Records::from_word(value)?,
            Key::Deepest => self.deepest = Some(hexadecimal(value)?),
            Key::Core => self.core = Some(hexadecimal(value)?),
            Key::Dirty => self.dirty = Some(Steps::parse(value, dirty_bytes, next_bytes)?),
            Key::Calls => self.calls = Some(Steps::parse(value, hexadecimal, next_number)?),
            Key::Contend => self.contend = Some(Steps::parse(value, cpus, next_cpus)?),
            Key::Fitness => {
                let words = ["harmless", "destructive"];
                self.destructive = words.iter().position(|it| *it == value)? == 1;
            }
            Key::Samples => self.samples = ["none", "all"].iter().position(|it| *it == value)? == 1,
        }
        Some(())
    }
}

/// Words that only a kernel's command line has. Boot arguments for Linux contain at least one of
/// them.
const KERNEL_KEYS: [&str; 12] = [
    "console",
    "earlycon",
    "root",
    "rootwait",
    "rootfstype",
    "ro",
    "rw",
    "init",
    "quiet",
    "loglevel",
    "ignore_loglevel",
    "maxcpus",
];

/// Returns true if boot arguments are, at least in part, an operating system's.
pub fn is_shared(bootargs: &str) -> bool {
    let mut words = bootargs.split_ascii_whitespace();
    words.any(|word| KERNEL_KEYS.contains(&key_of(word)))
}

/// Returns true for a word whose key is not one of the payload's and does not resemble one.
pub fn is_foreign(word: &str) -> bool {
    let key = key_of(word);
    Key::from_word(key).is_none() && !Key::is_misspelled(key)
}

fn key_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(key, _)| key)
}

/// Parses a list of selected `words`, and returns one bit for each word.
fn choice(list: &str, words: &[&str]) -> Option<u8> {
    let bit = |word| Some(1 << words.iter().position(|it| *it == word)?);
    let bits = list.split(',').map(bit);
    bits.reduce(|all, bit| Some(all? | bit?)).flatten()
}

fn hows(list: &str) -> Option<HowSet> {
    choice(list, &How::ALL.map(How::word)).map(HowSet)
}

/// Accepts only hexadecimal, so that `deepest=10000` cannot be misread.
fn hexadecimal(value: &str) -> Option<u32> {
    let digits = value.as_bytes().strip_prefix(b"0x")?;
    outside::number(digits, 16).filter(|_| digits.len() <= 8)
}

const fn next_number(number: u32) -> u32 {
    number.saturating_add(1)
}
