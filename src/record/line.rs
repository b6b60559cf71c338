//! Machine records: lines that programs read, and can tell to be whole.
//!
//! ```text
//! @PB 0042 m t=1 by=tftf mpidr=0x101 metric=powerdown n=20 min=812 med=815 max=903 mad=2 9f8d2c11
//! ```
//!
//! # A line
//! `@PB SEQ TYPE KEY=VALUE ... CRC`, parted by single blanks, printable ASCII,
//! at most 120 columns.
//! * `SEQ`: decimal, at least four digits, counts from 0 in each copy.
//! * `TYPE`: one of the types below; `KEY`: lower-case letters, digits, `_`.
//! * `VALUE`: a decimal integer, negative ones with `-`; `0x` and hexadecimal
//!   digits; or a word without blanks, where every other character of its
//!   source has become `_`. There are no fractions: durations are in ticks.
//! * `CRC`: eight hexadecimal digits, [`super::crc`] over all bytes from `@`
//!   to the blank before it, that blank included.
//!
//! What does not fit on a line goes on in another record of the same type
//! with the same leading keys (those before the bar in the table): to read is
//! to merge records of equal type and leading keys. A key that is absent has
//! no value; no value is ever made up.
//!
//! # A copy
//! The records of a run are printed twice, byte for byte the same, so that a
//! record lost in one copy is found under its `SEQ` in the other. The `end`
//! record is the last of each copy. The run's last line follows the second:
//! records after that are another run's.
//!
//! # Types
//! | type | keys | says |
//! |---|---|---|
//! | `run` | \| `format`, `version`, `cpus`, `tests`, `labels`, `model` | what follows |
//! | `facts` | \| `hz`, `counter`, `timer`, `intid`, `frame` and `frame_intid` (the timer frame's, where there is one to use), `el`, `gic`, `conduit`, `psci`, `smccc` (SMCCC_VERSION), `service` and `service_revision` (of whoever handles PSCI's calls), `state_format`, `lead`, `midr`, `pmf` or `pmf_error`, `watchdog` (its base), `stat` (1 where there is PSCI_STAT), `cost_counter`, `cost_empty`, `cost_pmf` | the machine; costs in ticks |
//! | `plan` | \| `iterations`, `warmup`, `scenarios`, `methods`, `wake`, `end`, `deepest`, `core`, `samples`, `loops` (where given), `batch`, of the timers `duration`, `period`, `footprint`, `threshold` (where given), `stress`, `timers` | what was asked for |
//! | `cpu` | `i` \| `mpidr`, `cluster`, `core`, `thread`, `midr`, and its caches' sizes in bytes: `l1i`, `l1d`, `l2` and so on | a CPU of the board, by index; the last ones as it said itself, once it was up |
//! | `test` | `t`, `by` \| `tag`, `status`, `why` and what belongs to it, `pmf`, `state`, `waker` (where it is not each CPU's own timer: `frame`, the timer frame on the lead and then SGIs, or `helper`, SGIs from a CPU that stays awake), `asked`, `attempts`, `sleep`, `trials` | a scenario by a method |
//! | `row` | `t`, `by`, `mpidr` \| `woken_by` (the index of the CPU that stayed awake for this one, where the test's keys do not say it), `skipped` (why it was, and what belongs to that, as a test's `why`), `powerdown`, `wakeup`, `cflush` or `latency`, `valid`, `rejected` | the figures shown for a CPU |
//! | `m` | `t`, `by`, `mpidr`, `metric` \| `n`, `min`, `med`, `p99`, `max`, `mad` | statistics of a CPU's samples; `metric=skew`, without `mpidr`, of the rounds |
//! | `ev` | `t`, `by`, `mpidr` \| `base`, `before`, `s0` to `s5`, `due`, `after`, `turned_on`, `entered`, `seen_off` | the shown sample's instants: `base` is a counter value, the others are relative to it |
//! | `s` | `t`, `by`, `mpidr`, `k` \| as `ev` | one sample, the `k`th from 0, where `samples=all`; the same `k` in a parallel scenario is the same round |
//! | `cold` | `t`, `by`, `mpidr` \| a key for each metric | the first sample, which is in no statistic |
//! | `x` | `t`, `by`, `mpidr` \| a key for each reason | attempts that do not count |
//! | `first` | `t`, `by`, `mpidr` \| `reason`, `stamp`, `error`, `step`, `cause` | the first of them |
//! | `reached` | `t`, `by`, `mpidr` \| `due`, `state`, `rose`, `residency_us` | what PSCI_STAT says of one suspend: the state that was due, the deepest whose count rose (0: none), by how much, and its residency |
//! | `lost` | `t`, `by`, `mpidr` \| `step`, `cause`, `error` | a CPU that was lost |
//! | `point` | `t`, `mpidr`, `how`, `var`, `x` (where there is one), `metric` \| `per`, `n`, `min`, `med`, `p99`, `max`, `mad`, `lost` (where not 0), `woken_by` (the index of the CPU that stayed awake and woke this one, if one did), `waker` (`frame`, where the timer frame did) | outside TFTF's suite: one figure of one CPU, `alone` or with `all` at once; of `per` operations, in cycles where `metric=cycles`, in times where `metric=count`, in microseconds where `metric=residency` |
//! | `hist` | `t`, `mpidr`, `how`, `var`, `metric`, `from` \| `step`, `c` | the samples of a point from `from` ticks on: counts, parted by commas, of as many classes, each `step` ticks wide; `step=0` is all from there on. Several records, each with its own `from` and `step`, whose counts add up to the point's `n` |
//! | `end` | \| `records`, `crcs` | how many records came before, and the CRC of their CRCs, each as four bytes, most significant first |
//!
//! `t` is the scenario's number, of the suite's its place there, from 1, and
//! `by` the method; `warm` outside the suite, where each has its own. A parallel
//! scenario that is measured once for each of several helpers has, after `by`,
//! `helper`: the index of the CPU that stayed awake.
//! Metrics and reasons go by their `key()` in `outcome`, `-` made
//! `_`; `s0` to `s5` are PMF's timestamps by their IDs, those only that the
//! call's path writes.

use core::fmt::{self, Write};

use super::crc::Crc32;
use crate::spec::prose::COLUMNS;
use crate::spec::words::words;

/// The version of this format, as the `run` record gives it.
pub const FORMAT: u32 = 1;

/// What every record begins with.
pub const MARK: &str = "@PB ";

/// Digits of the CRC.
pub(crate) const CRC_DIGITS: usize = 8;

words! {
    /// The types of record.
    #[expect(missing_docs, reason = "the table above says what each is")]
    pub enum Type, word {
        Run = "run",
        Facts = "facts",
        Plan = "plan",
        Cpu = "cpu",
        Test = "test",
        Row = "row",
        Summary = "m",
        Event = "ev",
        Sample = "s",
        Cold = "cold",
        Rejected = "x",
        First = "first",
        Reached = "reached",
        Lost = "lost",
        Point = "point",
        Histogram = "hist",
        End = "end",
    }
}

/// Room for all but the CRC.
const BODY: usize = COLUMNS - CRC_DIGITS;

/// A line in the making: what does not fit is refused.
struct Line {
    bytes: [u8; BODY],
    len: usize,
}

impl Line {
    const EMPTY: Self = Self {
        bytes: [0; BODY],
        len: 0,
    };

    fn text(&self) -> &str {
        let text = self.bytes.get(..self.len).unwrap_or_default();
        core::str::from_utf8(text).unwrap_or_default()
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let rest = self.bytes.get_mut(self.len..).unwrap_or_default();
        let room = rest.get_mut(..text.len()).ok_or(fmt::Error)?;
        for (place, byte) in room.iter_mut().zip(text.bytes()) {
            *place = byte;
        }
        self.len += text.len();
        Ok(())
    }
}

/// Writes the records of one copy, and counts them.
pub struct Recorder<'w> {
    out: &'w mut dyn Write,
    seq: u64,
    crcs: Crc32,
    /// The record in the making, up to the blank before its CRC.
    body: Line,
    /// Type and leading keys, with which a continuation begins too.
    head: Line,
    /// Where in `body` the fields begin.
    fields_at: usize,
    /// What has come of it so far.
    result: fmt::Result,
}

impl<'w> Recorder<'w> {
    /// Begins a copy.
    ///
    /// The first error of whatever follows is kept, as in the builders of
    /// [`core::fmt`], and handed out by [`Recorder::end`].
    pub fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out,
            seq: 0,
            crcs: Crc32::default(),
            body: Line::EMPTY,
            head: Line::EMPTY,
            fields_at: 0,
            result: Ok(()),
        }
    }

    /// Begins a record with its leading keys, each with its value, and a
    /// blank after each.
    pub fn begin(&mut self, kind: Type, leading: &dyn fmt::Display) {
        self.go_on(|to| {
            to.head.len = 0;
            write!(to.head, "{} {leading}", kind.word())?;
            to.restart()
        });
    }

    // What adds fields is never a part of its callers: they are many.

    /// Adds a key and its value.
    #[inline(never)]
    pub fn field(&mut self, key: &str, value: &dyn fmt::Display) {
        self.go_on(|to| {
            if to.try_field(key, value).is_ok() {
                return Ok(());
            }
            to.print()?;
            to.restart()?;
            to.try_field(key, value)
        });
    }

    /// Adds a key whose value is a word.
    #[inline(never)]
    pub fn word(&mut self, key: &str, value: &str) {
        self.field(key, &value);
    }

    /// Adds a key whose value is a decimal number.
    #[inline(never)]
    pub fn number(&mut self, key: &str, value: u64) {
        self.field(key, &value);
    }

    /// Adds keys, parted by blanks, whose values are decimal numbers.
    #[inline(never)]
    pub fn numbers(&mut self, keys: &str, values: &[u64]) {
        for (key, value) in keys.split_ascii_whitespace().zip(values) {
            self.number(key, *value);
        }
    }

    /// Adds a key whose value is a decimal number, if there is one.
    #[inline(never)]
    pub fn number_if(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            self.number(key, value);
        }
    }

    /// Adds a key whose value may be negative.
    pub fn signed(&mut self, key: &str, value: i64) {
        self.field(key, &value);
    }

    /// Adds a key whose value is a hexadecimal number.
    #[inline(never)]
    pub fn hex(&mut self, key: &str, value: u64) {
        self.field(key, &format_args!("{value:#x}"));
    }

    /// How long the value of a field of this key may be to fit the line.
    pub(crate) fn room(&self, key: &str) -> usize {
        BODY.saturating_sub(self.body.len + key.len() + 2)
    }

    /// Ends the record and prints it, unless it has no field.
    pub fn finish(&mut self) {
        self.go_on(Self::print);
    }

    /// Ends the copy.
    ///
    /// # Errors
    /// Those of the writer; leading keys or a field too long for a line.
    pub fn end(mut self) -> fmt::Result {
        let (records, crcs) = (self.seq, u64::from(self.crcs.value()));
        self.begin(Type::End, &"");
        self.number("records", records);
        self.field("crcs", &format_args!("{crcs:#010x}"));
        self.finish();
        self.result
    }

    /// Does the next step, unless one has failed.
    fn go_on(&mut self, step: impl FnOnce(&mut Self) -> fmt::Result) {
        if self.result.is_ok() {
            self.result = step(self);
        }
    }

    fn print(&mut self) -> fmt::Result {
        if self.body.len == self.fields_at {
            return Ok(());
        }
        let body = self.body.text();
        let crc = Crc32::of(body.as_bytes());
        writeln!(self.out, "{body}{:0CRC_DIGITS$x}", u64::from(crc))?;
        self.crcs.update(&crc.to_be_bytes());
        self.seq += 1;
        Ok(())
    }

    fn restart(&mut self) -> fmt::Result {
        self.body.len = 0;
        write!(self.body, "{MARK}{:04} {}", self.seq, self.head.text())?;
        self.fields_at = self.body.len;
        Ok(())
    }

    /// Adds a field or, where there is no room, leaves the body as it was.
    fn try_field(&mut self, key: &str, value: &dyn fmt::Display) -> fmt::Result {
        let before = self.body.len;
        let written = write!(self.body, "{}={} ", Key(key), Word(value));
        if written.is_err() {
            self.body.len = before;
        }
        written
    }
}

/// A key, from whatever name it has elsewhere.
struct Key<'k>(&'k str);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            f.write_char(if byte == b'-' { '_' } else { byte.into() })?;
        }
        Ok(())
    }
}

/// A value without blanks, so that it stays one word, and without `@`, so
/// that no value looks like another record.
struct Word<'v>(&'v dyn fmt::Display);

/// The longest value: a board may call itself anything.
pub(crate) const WORD_MAX: usize = 64;

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Safe<'f, 'g>(&'f mut fmt::Formatter<'g>, usize);
        impl Write for Safe<'_, '_> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                for c in text.chars() {
                    if self.1 == WORD_MAX {
                        break;
                    }
                    let safe = c.is_ascii_graphic() && c != '@';
                    self.0.write_char(if safe { c } else { '_' })?;
                    self.1 += 1;
                }
                Ok(())
            }
        }
        write!(Safe(f, 0), "{}", self.0)
    }
}
