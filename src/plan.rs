//! What to measure and how often: the boot arguments as a [`Plan`].
//!
//! `/chosen/bootargs` holds words of the form `key=value`, parted by white
//! space. There is no quoting, as no value needs it. A word that is not
//! understood stops the run: a benchmark that guesses what was meant prints
//! figures for a question that nobody asked.
//!
//! | word | values | default |
//! |---|---|---|
//! | `iterations` | 1 to 1000000 samples a CPU and scenario | 20 |
//! | `warmup` | 0 to 10000 samples that are not counted | 2 |
//! | `only` | scenario tags, with or without `test_rt_instr_`, by comma | all six |
//! | `method` | `tftf`, `warm` or `tftf,warm` | `tftf` |
//! | `wake` | `together`, `staggered` or `chain` | `together` |
//! | `end` | `off`, `park` or `reset` | `off` |
//! | `deepest` | `power_state` of the deepest level, `0x…` | device tree |
//! | `core` | `power_state` of level 0, `0x…` | device tree |

use core::fmt::{self, Write};

mod scenario_id;

pub use self::scenario_id::{ScenarioId, ScenarioSet, TAG_PREFIX, UnknownTag};

/// The most iterations that can be asked for.
pub const ITERATIONS_MAX: u32 = 1_000_000;
/// The most warm-up rounds that can be asked for.
pub const WARMUP_MAX: u32 = 10_000;

/// How a sample's preconditions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Each sample is the first call after a fresh CPU_ON, as in TFTF.
    Tftf,
    /// The CPUs stay on between iterations.
    Warm,
}

impl Method {
    /// The word for it in boot arguments and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tftf => "tftf",
            Self::Warm => "warm",
        }
    }
}

/// Which methods to run; never none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// [`Method::Tftf`] only.
    Tftf,
    /// [`Method::Warm`] only.
    Warm,
    /// Both, TFTF's first.
    Both,
}

impl Methods {
    /// The methods in the order in which they run.
    pub fn iter(self) -> impl Iterator<Item = Method> {
        let methods: &'static [Method] = match self {
            Self::Tftf => &[Method::Tftf],
            Self::Warm => &[Method::Warm],
            Self::Both => &[Method::Tftf, Method::Warm],
        };
        methods.iter().copied()
    }
}

/// When the CPUs of a parallel round wake up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakePattern {
    /// All at one deadline.
    Together,
    /// One after another, at deadlines a fixed step apart.
    Staggered,
    /// The lead, woken by its timer, wakes the others by SGI one after another,
    /// as in TFTF.
    Chain,
}

impl WakePattern {
    /// The word for it in boot arguments and records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Staggered => "staggered",
            Self::Chain => "chain",
        }
    }
}

/// What to do when all is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndAction {
    /// SYSTEM_OFF.
    Off,
    /// Wait for ever.
    Park,
    /// SYSTEM_RESET.
    Reset,
}

/// What to measure and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Samples to take of each CPU in each scenario, 1 to [`ITERATIONS_MAX`].
    pub iterations: u32,
    /// Samples before those that are not counted, 0 to [`WARMUP_MAX`].
    pub warmup: u32,
    /// Which scenarios to run; never empty.
    pub scenarios: ScenarioSet,
    /// How preconditions are made.
    pub methods: Methods,
    /// When the CPUs of a parallel round wake up.
    pub wake: WakePattern,
    /// What to do at the end.
    pub end: EndAction,
    /// `power_state` to use for the deepest level instead of the board's.
    pub deepest: Option<u32>,
    /// `power_state` to use for level 0 instead of the board's.
    pub core: Option<u32>,
    /// Whether every sample is sent, and not only what sums them up.
    pub samples: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            iterations: 20,
            warmup: 2,
            scenarios: ScenarioSet::ALL,
            methods: Methods::Tftf,
            wake: WakePattern::Together,
            end: EndAction::Off,
            deepest: None,
            core: None,
            samples: false,
        }
    }
}

/// A word of the boot arguments that cannot be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanError<'a> {
    /// The word as it was written.
    pub word: &'a str,
    /// Its place among the words; the first is 1.
    pub position: usize,
    /// What is wrong with it.
    pub problem: PlanProblem,
}

/// What is wrong with a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanProblem {
    /// It has a quotation mark or a backslash.
    Quoted,
    /// It has no `=`.
    NotAPair,
    /// Nothing goes by this key.
    UnknownKey,
    /// The key was given before.
    Duplicate(Key),
    /// The value is not one that the key takes.
    Value(Key),
    /// A list has an item twice.
    Repeated(Key),
}

/// The keys that boot arguments may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Key {
    /// `iterations=`
    Iterations,
    /// `warmup=`
    Warmup,
    /// `only=`
    Only,
    /// `method=`
    Method,
    /// `wake=`
    Wake,
    /// `end=`
    End,
    /// `deepest=`
    Deepest,
    /// `core=`
    Core,
    /// `samples=`
    Samples,
}

impl Key {
    /// All keys.
    pub const ALL: [Self; 9] = [
        Self::Iterations,
        Self::Warmup,
        Self::Only,
        Self::Method,
        Self::Wake,
        Self::End,
        Self::Deepest,
        Self::Core,
        Self::Samples,
    ];

    /// The key as it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Warmup => "warmup",
            Self::Only => "only",
            Self::Method => "method",
            Self::Wake => "wake",
            Self::End => "end",
            Self::Deepest => "deepest",
            Self::Core => "core",
            Self::Samples => "samples",
        }
    }

    fn write_accepted(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iterations => return write!(f, "a number from 1 to {ITERATIONS_MAX}"),
            Self::Warmup => return write!(f, "a number from 0 to {WARMUP_MAX}"),
            Self::Only => {
                f.write_str("one or more, parted by commas, of")?;
                return ScenarioId::ALL
                    .iter()
                    .try_for_each(|id| write!(f, " {}", id.short_tag()));
            }
            Self::Method => "tftf, warm or both parted by a comma",
            Self::Wake => "together, staggered or chain",
            Self::End => "off, park or reset",
            Self::Samples => "none or all",
            Self::Deepest | Self::Core => "a power_state of 0x and 1 to 8 hexadecimal digits",
        })
    }
}

/// A word is shown up to here; the rest of an over-long one tells nobody much.
const SHOWN: usize = 40;

impl fmt::Display for PlanError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bootargs word {} \"", self.position)?;
        // The words come from outside and go to a terminal.
        for c in self.word.chars().take(SHOWN) {
            let printable = c.is_ascii_graphic();
            f.write_char(if printable { c } else { '?' })?;
        }
        if self.word.chars().nth(SHOWN).is_some() {
            f.write_str("...")?;
        }
        f.write_str("\": ")?;
        match self.problem {
            PlanProblem::Quoted => f.write_str("quotes and backslashes are not supported"),
            PlanProblem::NotAPair => f.write_str("expected key=value"),
            PlanProblem::UnknownKey => {
                f.write_str("unknown key; the keys are")?;
                Key::ALL.iter().try_for_each(|k| write!(f, " {}", k.word()))
            }
            PlanProblem::Duplicate(key) => write!(f, "{} was given before", key.word()),
            PlanProblem::Value(key) => {
                write!(f, "{} takes ", key.word())?;
                key.write_accepted(f)
            }
            PlanProblem::Repeated(key) => write!(f, "{} names one item twice", key.word()),
        }
    }
}

impl core::error::Error for PlanError<'_> {}

impl Plan {
    /// Reads boot arguments; none at all is the default plan.
    ///
    /// # Errors
    /// The first word that is quoted, not of the form `key=value`, of an
    /// unknown key, of a key given before, or of a value that is not accepted.
    pub fn parse(bootargs: &str) -> Result<Self, PlanError<'_>> {
        let mut plan = Self::default();
        let mut seen = 0u32;
        for (index, word) in bootargs.split_ascii_whitespace().enumerate() {
            plan.apply(word, &mut seen).map_err(|problem| PlanError {
                word,
                position: index + 1,
                problem,
            })?;
        }
        Ok(plan)
    }

    fn apply(&mut self, word: &str, seen: &mut u32) -> Result<(), PlanProblem> {
        if word.contains(['"', '\'', '\\']) {
            return Err(PlanProblem::Quoted);
        }
        let (key, value) = word.split_once('=').ok_or(PlanProblem::NotAPair)?;
        let key = Key::ALL
            .into_iter()
            .find(|k| k.word() == key)
            .ok_or(PlanProblem::UnknownKey)?;
        let bit = 1 << key as u32;
        if *seen & bit != 0 {
            return Err(PlanProblem::Duplicate(key));
        }
        *seen |= bit;

        let refused = PlanProblem::Value(key);
        match key {
            Key::Iterations => {
                self.iterations = decimal(value)
                    .filter(|n| (1..=ITERATIONS_MAX).contains(n))
                    .ok_or(refused)?;
            }
            Key::Warmup => {
                self.warmup = decimal(value).filter(|n| *n <= WARMUP_MAX).ok_or(refused)?;
            }
            Key::Only => {
                self.scenarios = ScenarioSet::EMPTY;
                for tag in value.split(',') {
                    if !self.scenarios.insert(tag.parse().map_err(|_| refused)?) {
                        return Err(PlanProblem::Repeated(key));
                    }
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
            Key::Wake => {
                self.wake = match value {
                    "together" => WakePattern::Together,
                    "staggered" => WakePattern::Staggered,
                    "chain" => WakePattern::Chain,
                    _ => return Err(refused),
                }
            }
            Key::End => {
                self.end = match value {
                    "off" => EndAction::Off,
                    "park" => EndAction::Park,
                    "reset" => EndAction::Reset,
                    _ => return Err(refused),
                }
            }
            Key::Deepest => self.deepest = Some(power_state(value).ok_or(refused)?),
            Key::Core => self.core = Some(power_state(value).ok_or(refused)?),
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

/// A number of decimal digits only: `u32::from_str` would let a sign pass.
fn decimal(value: &str) -> Option<u32> {
    let digits = value.bytes().all(|b| b.is_ascii_digit());
    value.parse().ok().filter(|_| digits)
}

/// Hexadecimal only, so that `deepest=10000` cannot be meant otherwise than it is read.
fn power_state(value: &str) -> Option<u32> {
    let digits = value.strip_prefix("0x")?;
    let plain = digits.len() <= 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| plain)
}

#[cfg(test)]
mod tests;
