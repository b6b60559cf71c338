//! The boot arguments as a [`Plan`]: scenarios, samples and methods.
//!
//! `/chosen/bootargs` holds words of the form `key=value`, parted by white
//! space. There is no quoting, as no value needs it. A word that is not
//! understood stops the run: a benchmark that guesses what was meant prints
//! figures for another question than the user's.
//!
//! Words that are Linux's are the exception: monitors of virtual machines put
//! them there unasked ([`FOR_LINUX`]), and they say nothing of what to measure.
//!
//! | word | values | default |
//! |---|---|---|
//! | `iterations` | 1 to 1000000 samples a CPU and scenario | 20 |
//! | `warmup` | 0 to 10000 samples that are not counted | 2 |
//! | `only` | scenario tags, with or without `test_rt_instr_`, and the groups `suite`, `micro` and `all`, by comma; or `help` | `suite` |
//! | `method` | `tftf`, `warm` or `tftf,warm` | `tftf` |
//! | `wake` | `together`, `staggered` or `chain` | `chain` by method `tftf`, else `together` |
//! | `end` | `off`, `park` or `reset` | `off` |
//! | `deepest` | `power_state` of the deepest level, `0x…` | device tree |
//! | `core` | `power_state` of level 0, `0x…` | device tree |
//! | `samples` | `none` or `all` | `none` |
//! | `records` | `once`, `twice` or `none` | `once` |
//! | `loops` | 1 to 1073741824 operations a CPU in each loop, rounded up to whole batches | 1048576, as far as the time goes |
//! | `batch` | 1 to 65536 of them in a sample | 1024 |
//! | `duration` | 1 to 86400 seconds that a timer is looked at | 1 |
//! | `period` | 50 to 1000000 microseconds from one expiry to the next | 1000 |
//! | `stress` | `idle`, `write`, `zero`, `nontemporal`, `clean`, `mixed`, by comma | `idle,mixed` |
//! | `footprint` | 4K to 1024M bytes that each CPU writes to | 4M |
//! | `timers` | `alone`, `all` or `alone,all` | `alone,all` |
//! | `threshold` | 1 to 1000000 microseconds of latency that end it | none |
//! | `dirty` | bytes to make dirty, with K or M, by comma; `A-B` doubles | 0 to twice the L2 |
//! | `contend` | CPUs that go down together, by comma; `A-B` | 1 to all |

use crate::board::text;
use crate::spec::words::Word;
use serde::{Deserialize, Serialize};

use super::error::{PlanError, PlanProblem};
use super::key::Key;
use super::method::{EndAction, Method, Methods, Records, WakePattern};
use super::scenario_id::ScenarioId;
use super::scenario_set::ScenarioSet;
use super::steps::Steps;
use super::timer::{Bad, Choice, TimerPlan};

/// The time that a scenario of loops may take if `loops=` was not given, in
/// seconds: an emulator may be a hundred times slower than the boards that the
/// default is made for.
pub const LOOPS_LIMIT_S: u32 = 30;
/// Operations of a loop where nothing is said.
const LOOPS: u32 = 1 << 20;

/// The words, or keys, that kvmtool puts in front of a kernel's boot arguments:
/// they are passed over.
pub const FOR_LINUX: [&str; 7] = [
    "console",
    "init",
    "ip",
    "root",
    "rootflags",
    "rootfstype",
    "rw",
];

/// The choices of a run: scenarios, samples and methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Samples to take of each CPU in each scenario, 1 to `ITERATIONS_MAX`.
    pub iterations: u32,
    /// Samples before those that are not counted, 0 to `WARMUP_MAX`.
    pub warmup: u32,
    /// Which scenarios to run; never empty.
    pub scenarios: ScenarioSet,
    /// The preconditions of samples.
    pub methods: Methods,
    /// When the CPUs of a parallel round wake up; None where nothing was said:
    /// then as the method has it.
    pub wake: Option<WakePattern>,
    /// The action at the end.
    pub end: EndAction,
    /// `power_state` to use for the deepest level instead of the board's.
    pub deepest: Option<u32>,
    /// `power_state` to use for level 0 instead of the board's.
    pub core: Option<u32>,
    /// True if every sample is sent, besides its statistics.
    pub samples: bool,
    /// The number of times that each block of records is written.
    pub records: Records,
    /// Operations a CPU in each loop, 1 to `LOOPS_MAX`; None where nothing
    /// was said: then as many as the time allows.
    pub loops: Option<u32>,
    /// Operations in a sample of a loop, 1 to `BATCH_MAX`.
    pub batch: u32,
    /// The choices for timer latency.
    pub timer: TimerPlan,
    /// True if scenarios are to be listed, and none measured.
    pub list: bool,
    /// Bytes to make dirty, step by step, instead of those by the cache's size.
    pub dirty: Option<Steps>,
    /// Numbers of CPUs that go down together, instead of those by their count.
    pub contend: Option<Steps>,
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
            timer: TimerPlan::DEFAULT,
            list: false,
            dirty: None,
            contend: None,
        }
    }
}

impl Plan {
    /// The bytes that are made dirty, step by step, where the outer cache has
    /// so many; None where that is not known and no step is asked for.
    #[must_use]
    pub fn dirty_steps(&self, outer_cache: Option<u64>) -> Option<Steps> {
        self.dirty.or_else(|| outer_cache.map(super::steps::dirty))
    }

    /// The memory that takes, in bytes: none where nothing is made dirty.
    #[must_use]
    pub fn dirty_bytes(&self, outer_cache: Option<u64>) -> usize {
        let steps = self.dirty_steps(outer_cache);
        let steps = steps.filter(|_| self.scenarios.contains(ScenarioId::DirtySweep));
        steps.map_or(0, |steps| steps.highest() as usize)
    }

    /// Reads boot arguments; none at all is the default plan, and Linux's
    /// words (`FOR_LINUX`) are passed over.
    ///
    /// # Errors
    /// The first word that is quoted, not of the form `key=value`, of an
    /// unknown key, of a key given before, or of a value that is not accepted.
    pub fn parse(bootargs: &str) -> Result<Self, PlanError<'_>> {
        let mut plan = Self::default();
        let mut seen = 0u32;
        for (index, word) in bootargs.split_ascii_whitespace().enumerate() {
            let key = text::cut(word, b'=').map_or(word, |(key, _)| key);
            if FOR_LINUX.contains(&key) {
                continue;
            }
            plan.apply(word, &mut seen).map_err(|problem| PlanError {
                word,
                position: index + 1,
                problem,
            })?;
        }
        Ok(plan)
    }

    /// When the CPUs of a parallel round wake up, by `method`.
    #[must_use]
    pub fn wake_by(&self, method: Method) -> WakePattern {
        self.wake.unwrap_or(method.default_wake())
    }

    /// Returns the number of tests of the plan: the suite's scenarios by each method, the
    /// others by their own.
    #[must_use]
    pub fn tests(&self) -> usize {
        let suite = self.scenarios.suite().len();
        suite * self.methods.iter().count() + self.scenarios.len() - suite
    }

    /// Operations in a sample of a loop, and how many such samples are asked
    /// for on each CPU.
    #[must_use]
    pub fn batches(&self) -> (u32, u32) {
        let loops = self.loops.unwrap_or(LOOPS);
        let batch = self.batch.min(loops).max(1);
        (batch, loops.div_ceil(batch))
    }

    fn apply(&mut self, word: &str, seen: &mut u32) -> Result<(), PlanProblem> {
        if word.bytes().any(|b| matches!(b, b'"' | b'\'' | b'\\')) {
            return Err(PlanProblem::Quoted);
        }
        let (key, value) = text::cut(word, b'=').ok_or(PlanProblem::NotAPair)?;
        let key = Key::from_word(key).ok_or(PlanProblem::UnknownKey)?;
        let bit = 1 << key as u32;
        if *seen & bit != 0 {
            return Err(PlanProblem::Duplicate(key));
        }
        *seen |= bit;

        let refused = PlanProblem::Value(key);
        match key {
            Key::Iterations => self.iterations = decimal(key, value)?,
            Key::Warmup => self.warmup = decimal(key, value)?,
            Key::Loops => self.loops = Some(decimal(key, value)?),
            Key::Batch => self.batch = decimal(key, value)?,
            Key::Duration => self.timer.duration = decimal(key, value)?,
            Key::Period => self.timer.period = decimal(key, value)?,
            Key::Threshold => self.timer.threshold = Some(decimal(key, value)?),
            Key::Footprint => {
                let bytes = super::timer::bytes(value).filter(|bytes| key.range().contains(bytes));
                self.timer.footprint = bytes.ok_or(refused)?;
            }
            Key::Stress => self.timer.loads = choice(key, value, &super::timer::load_words())?,
            Key::Timers => self.timer.timers = choice(key, value, &super::timer::TIMERS)?,
            Key::Only if value == "help" => self.list = true,
            Key::Only => {
                self.scenarios = ScenarioSet::EMPTY;
                let mut rest = Some(value);
                while let Some(list) = rest {
                    let (tag, behind) = text::cut(list, b',').unzip();
                    let meant = ScenarioSet::of_word(tag.unwrap_or(list)).ok_or(refused)?;
                    if !self.scenarios.insert(meant) {
                        return Err(PlanProblem::Repeated(key));
                    }
                    rest = behind;
                }
            }
            Key::Method => {
                self.methods = match value {
                    "tftf" => Methods::Tftf,
                    "warm" => Methods::Warm,
                    "tftf,warm" | "warm,tftf" => Methods::Both,
                    "tftf,tftf" | "warm,warm" => return Err(PlanProblem::Repeated(key)),
                    _ => return Err(refused),
                }
            }
            Key::Wake => self.wake = Some(WakePattern::from_word(value).ok_or(refused)?),
            Key::End => self.end = EndAction::from_word(value).ok_or(refused)?,
            Key::Records => self.records = Records::from_word(value).ok_or(refused)?,
            Key::Deepest => self.deepest = Some(power_state(value).ok_or(refused)?),
            Key::Core => self.core = Some(power_state(value).ok_or(refused)?),
            Key::Dirty => {
                let steps =
                    Steps::parse(key, value, super::steps::bytes, super::steps::next_bytes)?;
                self.dirty = Some(steps);
            }
            Key::Contend => {
                let steps = Steps::parse(key, value, super::steps::cpus, super::steps::next_cpus)?;
                self.contend = Some(steps);
            }
            Key::Samples => {
                self.samples = match value {
                    "none" => false,
                    "all" => true,
                    _ => return Err(refused),
                }
            }
        }
        Ok(())
    }
}

/// A number of those that `key` takes.
fn decimal(key: Key, value: &str) -> Result<u32, PlanProblem> {
    let number = text::number(value.as_bytes(), 10);
    let number = number.filter(|number| key.range().contains(number));
    number.ok_or(PlanProblem::Value(key))
}

/// A list of some of `words`, which `key` takes.
fn choice(key: Key, value: &str, words: &[&str]) -> Result<Choice, PlanProblem> {
    Choice::parse(value, words).map_err(|bad| match bad {
        Bad::Unknown => PlanProblem::Value(key),
        Bad::Twice => PlanProblem::Repeated(key),
    })
}

/// Hexadecimal only, so that `deepest=10000` cannot be meant otherwise than it is read.
fn power_state(value: &str) -> Option<u32> {
    let digits = value.as_bytes().strip_prefix(b"0x")?;
    text::number(digits, 16).filter(|_| digits.len() <= 8)
}
