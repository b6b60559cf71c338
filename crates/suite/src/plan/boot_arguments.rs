//! The boot arguments as a [`Plan`]: words of the form `key=value`, separated by whitespace,
//! without quoting. An invalid word stops the run, unless it is intended for another program
//! ([`is_foreign`]) and shares a device tree with the payload's own words: either a loader passed
//! that tree, or the words include those of an operating system's kernel.

use alloc::string::String;

use hardware::text::keywords::Word;

use super::arguments::{Key, Plan};
use super::axis::Axis;
use super::choices::{Method, SentSamples, WakePattern};
use super::plan_error::{PlanError, PlanProblem};
use super::sweep_values::SweepValues;

/// The time limit for a loop scenario without `loops=`, in seconds: an emulator may be a hundred
/// times slower than a board.
pub const LOOPS_LIMIT_S: u32 = 30;
/// The shortest sleep on a board whose tree does not specify it, in microseconds. ENTER_HW_LOW_PWR
/// is the firmware's last instruction before its WFI, and only then does a power controller begin
/// to power down. If the wake-up comes before it has finished, the figures include the rest of the
/// power-down. TFTF sleeps for 10 to 256 ms, depending on the board.
const SHORTEST_SLEEP_US: u32 = 10_000;
/// The default number of operations in a loop.
const LOOPS: u32 = 1 << 20;

impl Plan {
    /// Returns the number of bytes to dirty in each step; None if the cache size is unknown.
    pub fn dirty_values(&self, outer_cache: Option<u64>) -> Option<SweepValues> {
        self.dirty
            .or_else(|| outer_cache.map(super::sweep_values::default_dirty_values))
    }

    /// Returns the memory needed for these steps, in bytes; 0 if no cache lines are dirtied.
    pub fn dirty_bytes(&self, outer_cache: Option<u64>) -> usize {
        let is_used = self
            .scenarios
            .iter()
            .any(|id| id.axis() == Some(Axis::Bytes));
        match self.dirty_values(outer_cache) {
            Some(values) if is_used => values.highest() as usize,
            _ => 0,
        }
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

    /// Applies the words, each paired with its index among all words.
    fn follow<'a>(words: impl Iterator<Item = (usize, &'a str)>) -> Result<Self, PlanError<'a>> {
        let mut plan = Self::default();
        let mut seen = 0u64;
        for (index, word) in words {
            plan.apply(word, &mut seen).map_err(|problem| PlanError {
                word,
                position: index + 1,
                problem,
            })?;
        }
        if plan.scenarios.is_first() {
            plan.use_first_defaults(seen);
        }
        Ok(plan)
    }

    /// Sets the number of samples in a board's first run, unless it was given as an argument. `seen`
    /// has one bit for each [`Key`] that was given.
    fn use_first_defaults(&mut self, seen: u64) {
        let is_given = |key: Key| seen & 1 << key as u32 != 0;
        if !is_given(Key::Iterations) {
            self.iterations = 1;
        }
        if !is_given(Key::Warmup) {
            self.warmup = 0;
        }
    }

    /// Returns the wake-up order for `method`. Under TFTF, the CPUs share one timer: the CPU that
    /// takes its interrupt wakes the others with SGIs (`docs/wake-up.md`).
    pub fn wake_by(&self, method: Method) -> WakePattern {
        self.wake.unwrap_or(match method {
            Method::Tftf => WakePattern::Chain,
            Method::Warm => WakePattern::Together,
        })
    }

    /// Sets the shortest sleep, unless it was given as an argument, to the board's.
    pub fn complete_sleep(&mut self, of_board: Option<u32>) {
        self.sleep
            .get_or_insert(of_board.unwrap_or(SHORTEST_SLEEP_US));
    }

    /// Returns the shortest sleep in microseconds; 0 in a plan that [`Self::complete_sleep`] has not
    /// completed, as in tests.
    pub(crate) fn shortest_sleep_us(&self) -> u64 {
        self.sleep.unwrap_or(0).into()
    }

    /// Returns the method that runs first.
    pub fn first_method(&self) -> Method {
        self.methods.iter().next().unwrap_or_default()
    }

    /// Returns true if every sample is sent in addition to the statistics.
    pub fn sends_samples(&self) -> bool {
        self.samples == SentSamples::All
    }

    /// Returns true if the scenarios are listed instead of measured.
    pub const fn lists_scenarios(&self) -> bool {
        self.scenarios.is_empty()
    }

    /// Sets the options that are known in `other`.
    pub fn merge(&mut self, other: &Self) {
        for (key, value) in other.known() {
            self.learn(key, &value);
        }
    }

    /// Returns the plan without what is known about some of its arguments.
    pub(crate) fn without(mut self, is_left_out: impl Fn(Key) -> bool) -> Self {
        for key in Key::ALL.into_iter().filter(|key| is_left_out(*key)) {
            self.unknown |= 1 << key as u32;
        }
        self
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

    /// Applies one word. `seen` has one bit for each [`Key`] that was given before.
    fn apply(&mut self, word: &str, seen: &mut u64) -> Result<(), PlanProblem> {
        let (key, value) = word.split_once('=').ok_or(PlanProblem::NotAPair)?;
        let key = Key::from_word(key).ok_or(PlanProblem::UnknownKey)?;
        let bit = 1 << key as u32;
        if *seen & bit != 0 {
            return Err(PlanProblem::Duplicate(key));
        }
        *seen |= bit;

        self.read(key, value).ok_or(PlanProblem::Value(key))
    }

    /// Returns the arguments in a record: each key with its value as written.
    pub fn known(&self) -> impl Iterator<Item = (Key, String)> {
        Key::ALL
            .into_iter()
            .filter_map(|key| Some((key, self.text(key)?)))
    }

    /// Returns a plan of which nothing is known.
    pub fn unknown() -> Self {
        Self {
            unknown: u64::MAX,
            ..Self::default()
        }
    }

    /// Sets an option that was read from a record. Returns false if the argument does not accept
    /// the value.
    pub fn learn(&mut self, key: Key, value: &str) -> bool {
        let is_read = self.read(key, value).is_some();
        if is_read {
            self.unknown &= !(1 << key as u32);
        }
        is_read
    }
}

/// Two plans are equal if the same is known about them.
impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        self.known().eq(other.known())
    }
}

impl Eq for Plan {}

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

/// Returns the part of a word before its first `=`, or the whole word.
fn key_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(key, _)| key)
}
