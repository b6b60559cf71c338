//! One CPU's part in one round. The machine code fills an [`Outcome`] with raw counter values and
//! return codes; [`Outcome::judge`] decides whether it counts.

use hardware::spec::counter_value::{CounterValue, ticks_between};
use hardware::spec::pmf::{ReadError, Stamp, Stamps};
use hardware::spec::psci;
use hardware::spec::stat::Rise;

use super::instants::{Instant, Instants};
use super::metric::Metric;
use super::path::Path;
use super::rejection::{Detail, Loss, Reason, Rejection};

/// What a CPU does in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Nothing: the CPU does not take part in the round.
    #[default]
    None,
    /// CPU_SUSPEND with this `power_state`.
    Suspend {
        /// The argument, in the firmware's format.
        power_state: u32,
        /// True if it requests a power-down (the type bit is set).
        powerdown: bool,
    },
    /// SYSTEM_SUSPEND.
    SystemSuspend,
    /// Stay awake and wake the others by SGI. The helper itself is not measured.
    Help,
    /// CPU_OFF at the agreed start.
    Off,
    /// Read the timestamps that CPU_OFF and the subsequent CPU_ON left.
    ReadBack,
    /// PSCI_VERSION.
    Version,
    /// One call, timed on its own, after a preparation that may leave caches cold.
    ColdCall {
        /// The call that is timed.
        call: SingleCall,
        /// What the CPU does just before the call.
        after: Preparation,
    },
    /// Handle timer expiries, or put load on the memory meanwhile, as specified by the window.
    Expire,
    /// CPU_OFF at the agreed start. The lead starts polling for OFF before that.
    OnOff,
    /// Repeat one operation, timed as a whole.
    Repeat {
        /// The operation.
        operation: Operation,
        /// The number of repetitions; at least 1.
        count: u32,
    },
}

/// A call that [`Action::ColdCall`] times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleCall {
    /// PSCI_VERSION.
    Version,
    /// GET_TIMESTAMP for one PMF timestamp.
    ReadStamp,
}

/// What a CPU does just before [`Action::ColdCall`] times a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparation {
    /// It makes the same call.
    Warm,
    /// It makes the same call, then evicts those of its own cache lines that the call uses: code,
    /// stack and results.
    Evict,
    /// It suspends; the timed call is the first one after the wake-up.
    Suspend {
        /// The argument, in the firmware's format.
        power_state: u32,
        /// True if it requests a power-down.
        powerdown: bool,
    },
}

/// The operation in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the name of its operation")]
pub enum Operation {
    Nothing,
    /// A call without arguments to the function with this ID.
    Call(u32),
    /// An SGI to this CPU, acknowledged and ended.
    SelfSgi,
    /// A PMSELR_EL0 read.
    SysregRead,
    ReadStamp,
}

impl Action {
    /// Returns true if the action turns the CPU off.
    pub const fn turns_off(self) -> bool {
        matches!(self, Self::Off | Self::OnOff)
    }

    /// Returns true if the action measures how long the CPU takes to come up after CPU_ON.
    pub const fn measures_arrival(self) -> bool {
        matches!(self, Self::ReadBack | Self::OnOff)
    }

    /// Returns true if the action takes the CPU down.
    pub fn goes_down(self) -> bool {
        self.sleeps().is_some() || self.turns_off()
    }

    /// Returns true if the CPU sleeps in a power-down, false in standby; None if it does not sleep.
    pub fn sleeps(self) -> Option<bool> {
        match self {
            Self::Suspend { powerdown, .. }
            | Self::ColdCall {
                after: Preparation::Suspend { powerdown, .. },
                ..
            } => Some(powerdown),
            Self::SystemSuspend => Some(true),
            Self::None
            | Self::Help
            | Self::Off
            | Self::ReadBack
            | Self::Version
            | Self::ColdCall { .. }
            | Self::Expire
            | Self::OnOff
            | Self::Repeat { .. } => None,
        }
    }

    /// Returns the `power_state` that the CPU passes to CPU_SUSPEND.
    pub const fn power_state(self) -> Option<u32> {
        match self {
            Self::Suspend { power_state, .. }
            | Self::ColdCall {
                after: Preparation::Suspend { power_state, .. },
                ..
            } => Some(power_state),
            Self::None
            | Self::SystemSuspend
            | Self::Help
            | Self::Off
            | Self::ReadBack
            | Self::Version
            | Self::ColdCall { .. }
            | Self::Expire
            | Self::OnOff
            | Self::Repeat { .. } => None,
        }
    }
}

/// How a CPU's part ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ActionEnd {
    /// The CPU did not take part in the round, or did not execute its part.
    #[default]
    NotRun,
    /// The call returned to its caller.
    Returned,
    /// The CPU came back through the entry point given to CPU_SUSPEND.
    Resumed,
    /// After CPU_OFF, the CPU was seen OFF.
    WentOff,
    /// The CPU was turned on by CPU_ON and read its timestamps.
    ReadBack,
    /// An interrupt stayed pending, so the call was not made.
    Pending,
    /// Like [`ActionEnd::Resumed`], but with a context ID other than the one given.
    WrongContext,
    /// The CPU lacks the operation of a loop, or gave up the loop.
    GaveUp,
    /// The SGI, timer frame or timer did not wake the CPU; something else did, far too late.
    NotRung,
    /// The CPU was lost.
    Lost(Loss),
}

/// A CPU's raw record of one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The action.
    pub action: Action,
    /// How it ended.
    pub end: ActionEnd,
    /// The low word of X0 after the call, or after the last call of a loop; None if no call
    /// returned.
    pub code: Option<i32>,
    /// A loop's cycles from PMCCNTR_EL0; None if that register does not count.
    pub cycles: Option<u64>,
    /// The instant that the round's CPUs agreed on for their calls.
    pub start: Option<CounterValue>,
    /// The counter just before the call. Before a power-down it is read earlier, because registers
    /// are lost. None if an erratum spoiled the read.
    pub before: Option<CounterValue>,
    /// The counter just after the call, or at the entry point. None if an erratum spoiled the read.
    pub after: Option<CounterValue>,
    /// The instant when the wake-up was due, or just before the SGI was sent.
    pub due: Option<CounterValue>,
    /// When the lead called CPU_ON for this CPU.
    pub turned_on: Option<CounterValue>,
    /// When this CPU executed its first instruction after CPU_ON.
    pub entered: Option<CounterValue>,
    /// When AFFINITY_INFO first returned OFF to the lead.
    pub seen_off: Option<CounterValue>,
    /// The end of the round's quiet time. Awake CPUs do nothing until then.
    pub quiet_until: Option<CounterValue>,
    /// The CPU's timestamps, read before its next PSCI call.
    pub stamps: Stamps,
    /// Why the timestamps could not be read; None if they were read or PMF is not used.
    pub stamps_error: Option<ReadError>,
    /// The increase in PSCI_STAT, if the round requested it.
    pub rise: Rise,
}

impl Outcome {
    /// Returns true if the CPU took part in the round.
    pub fn took_part(&self) -> bool {
        !matches!(self.action, Action::None | Action::Help)
    }

    /// Returns the call's path through the firmware, if it has one.
    pub fn path(&self) -> Option<Path> {
        let turned_on = self.turned_on;
        match self.action {
            Action::ReadBack => Some(Path::OffOn { turned_on }),
            Action::Version
            | Action::ColdCall {
                call: SingleCall::Version,
                ..
            } => Some(Path::Call),
            // PMF does not time its own calls.
            Action::ColdCall {
                call: SingleCall::ReadStamp,
                ..
            } => None,
            Action::None
            | Action::Suspend { .. }
            | Action::SystemSuspend
            | Action::Help
            | Action::Off
            | Action::Expire
            | Action::OnOff
            | Action::Repeat { .. } => self.action.sleeps().map(|powerdown| match powerdown {
                true => Path::PowerDown,
                false => Path::Standby,
            }),
        }
    }

    /// Decides whether this outcome is a sample. If `pmf` is true, checks its timestamps as well.
    pub fn judge(&self, pmf: bool) -> Result<(), Rejection> {
        let plain = |reason| Err(Rejection::plain(reason));
        let refuse = |reason, detail| Err(Rejection { reason, detail });
        match self.end {
            ActionEnd::Lost(loss) => return refuse(Reason::Lost, Detail::Loss(loss)),
            ActionEnd::Pending => return plain(Reason::Pending),
            ActionEnd::NotRung => return plain(Reason::NotRung),
            ActionEnd::WrongContext => return plain(Reason::WrongContext),
            ActionEnd::GaveUp => return plain(Reason::WrongAnswer),
            // The CPU should have taken part, but was given up before it could.
            ActionEnd::NotRun => return plain(Reason::Lost),
            ActionEnd::Returned | ActionEnd::Resumed | ActionEnd::WentOff | ActionEnd::ReadBack => {
            }
        }
        let is_timed = matches!(self.end, ActionEnd::Returned | ActionEnd::Resumed)
            && !matches!(self.action, Action::Expire);
        if is_timed && (self.before.is_none() || self.after.is_none()) {
            return plain(Reason::CounterErratum);
        }
        // Only PSCI_VERSION returns a number.
        let is_number = self.path() == Some(Path::Call);
        let is_error = |code: &i32| *code < 0 || *code > 0 && !is_number;
        if let Some(code) = self.code.filter(is_error) {
            let code = psci::ReturnCode(code);
            return refuse(Reason::Refused, Detail::Firmware(code));
        }
        if let Some(powerdown) = self.action.sleeps() {
            let returned = powerdown && matches!(self.end, ActionEnd::Returned);
            let is_early = self.due.is_some_and(|due| self.awake() < Some(due));
            if returned && (pmf || is_early) {
                return plain(Reason::Abandoned);
            }
            if is_early {
                return plain(Reason::EarlyWake);
            }
        }
        if self.lateness() > 0 {
            return plain(Reason::LateReturn);
        }
        if self.action == Action::OnOff && self.entered.is_none() {
            return plain(Reason::CounterErratum);
        }
        match pmf {
            true => self.judge_stamps(),
            false => Ok(()),
        }
    }

    /// Decides whether the timestamps belong to this call and none of them is too early.
    fn judge_stamps(&self) -> Result<(), Rejection> {
        let plain = |reason| Err(Rejection::plain(reason));
        if let Some(error) = self.stamps_error {
            let (reason, detail) = (Reason::PmfRead, Detail::Pmf(error));
            return Err(Rejection { reason, detail });
        }
        if let Some(path) = self.path() {
            let (Some(before), Some(after)) = (self.before, self.after) else {
                return plain(Reason::CounterErratum);
            };
            path.check(&self.stamps, before, after)?;
        }
        let Some(due) = self.due else {
            return Ok(());
        };
        if self.action.sleeps().is_some() && self.stamps.at(Stamp::ExitHwLowPwr) < due.number() {
            return plain(Reason::EarlyWake);
        }
        // The lead was active again before CPU_OFF was complete.
        let is_off = matches!(self.action, Action::ReadBack) && Some(due) > self.start;
        if is_off && self.stamps.at(Stamp::EnterHwLowPwr) >= due.number() {
            return plain(Reason::Overlap);
        }
        Ok(())
    }

    /// Returns the ticks from the end of the round's quiet time to the return.
    pub fn lateness(&self) -> u64 {
        ticks_between(self.quiet_until, self.back())
    }

    /// Returns the counter at the CPU's first instruction after the call.
    fn back(&self) -> Option<CounterValue> {
        if self.action.measures_arrival() {
            self.entered
        } else {
            self.after
        }
    }

    /// Returns the first instant after a suspend when the CPU is known to be awake.
    fn awake(&self) -> Option<CounterValue> {
        match self.action {
            // The suspend came before the timed call.
            Action::ColdCall { .. } => self.before,
            Action::None
            | Action::Suspend { .. }
            | Action::SystemSuspend
            | Action::Help
            | Action::Off
            | Action::ReadBack
            | Action::Version
            | Action::Expire
            | Action::OnOff
            | Action::Repeat { .. } => self.after,
        }
    }

    /// Returns true if the timestamps belong to this call.
    pub fn has_own_stamps(&self) -> bool {
        match (self.path(), self.before, self.after) {
            (Some(path), Some(before), Some(after)) => {
                path.check(&self.stamps, before, after).is_ok()
            }
            _ => false,
        }
    }

    /// Returns the sample's instants. If `pmf` is true, they include the timestamps that the call
    /// writes.
    pub fn instants(&self, pmf: bool) -> Instants {
        // A read-back has no agreed start. The round that turned the CPU off had one.
        let base = self.start.or(self.before);
        let base = base.map_or(0, CounterValue::number);
        let mut instants = Instants::new(base);
        let path = self.path().filter(|_| pmf);
        // The CPU_ON before a suspend and the power-off after it are not part of the sample.
        let measures_arrival = self.action.measures_arrival();
        for instant in Instant::ALL {
            let counter = match instant {
                Instant::Before => self.before,
                Instant::Stamp(stamp) if path.is_some_and(|path| path.captures(stamp)) => {
                    CounterValue::new(self.stamps.at(stamp))
                }
                Instant::Due => self.due,
                Instant::After => self.after,
                Instant::TurnedOn if measures_arrival => self.turned_on,
                Instant::Entered if measures_arrival => self.entered,
                Instant::SeenOff if measures_arrival => self.seen_off,
                Instant::Stamp(_) | Instant::TurnedOn | Instant::Entered | Instant::SeenOff => None,
            };
            if let Some(counter) = counter {
                instants.set(instant, counter.number().wrapping_sub(base).cast_signed());
            }
        }
        instants
    }

    /// Returns a figure of an accepted outcome, in ticks or in the metric's unit; None if its
    /// action does not have that metric.
    pub fn metric(&self, metric: Metric, pmf: bool) -> Option<u64> {
        let is_cold_call = matches!(self.action, Action::ColdCall { .. });
        let sleeps = self.action.sleeps().is_some() && !is_cold_call;
        let simply_returns = self.path() == Some(Path::Call);
        let is_read_back = self.action == Action::ReadBack;
        let is_on_off = self.action == Action::OnOff;
        let has_metric = match metric {
            Metric::Powerdown | Metric::Wakeup | Metric::CacheFlush => sleeps || is_read_back,
            Metric::Latency => simply_returns,
            Metric::Call => sleeps || simply_returns || is_cold_call,
            Metric::Wake => sleeps,
            // With PMF, the lead polls rarely so that it does not disturb other CPUs. The instant
            // at which it sees the CPU off then means little.
            Metric::TurnOff => is_on_off || is_read_back && !pmf,
            Metric::TurnOn => is_on_off || is_read_back,
            Metric::Time => matches!(self.action, Action::Repeat { .. }),
            Metric::Cycles => return self.cycles,
            Metric::Entry | Metric::Handler | Metric::Count | Metric::Residency => false,
        };
        let instants = has_metric.then(|| self.instants(pmf))?;
        instants.metric(metric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Cause, Step};

    fn at(number: u64) -> Option<CounterValue> {
        CounterValue::new(number)
    }

    fn good() -> Outcome {
        Outcome {
            action: Action::SystemSuspend,
            end: ActionEnd::Resumed,
            start: at(95),
            before: at(100),
            after: at(350),
            due: at(290),
            stamps: Stamps([110, 340, 160, 300, 120, 150]),
            ..Outcome::default()
        }
    }

    #[test]
    fn a_good_suspend_counts_and_has_its_figures() {
        use Metric::{CacheFlush, Call, Latency, Powerdown, Wake, Wakeup};
        let outcome = good();
        assert_eq!(outcome.judge(true), Ok(()));
        let metrics = [Powerdown, Wakeup, CacheFlush, Latency, Call, Wake];
        let figures = metrics.map(|metric| outcome.metric(metric, true).unwrap_or(0));
        assert_eq!(figures, [50, 40, 30, 0, 250, 60]);
        assert_eq!(outcome.metric(Powerdown, false), None);
        // Standby has no flush, and PSCI_VERSION has only a latency.
        let mut standby = good();
        standby.action = Action::Suspend {
            power_state: 0,
            powerdown: false,
        };
        assert_eq!(standby.metric(CacheFlush, true), None);
        let mut version = good();
        version.action = Action::Version;
        let figures = [Powerdown, Latency, Wakeup, Wake].map(|it| version.metric(it, true));
        assert_eq!(figures, [None, Some(230), None, None]);
    }

    /// The sleep comes before the timed call, so only the call's own figures exist, and only the
    /// timestamps of PSCI_VERSION must lie within the call.
    #[test]
    fn a_call_after_a_wake_up_is_no_suspend() {
        use Metric::{Call, Latency, Powerdown, Wake, Wakeup};
        let after = Preparation::Suspend {
            power_state: 2,
            powerdown: true,
        };
        let woken = |call| Outcome {
            action: Action::ColdCall { call, after },
            code: Some(0x1_0001),
            before: at(310),
            // ENTER_PSCI and EXIT_PSCI belong to the call, the others still to the suspend.
            stamps: Stamps([320, 340, 160, 300, 120, 150]),
            ..good()
        };
        let version = woken(SingleCall::Version);
        let stamp = Outcome {
            code: Some(0),
            ..woken(SingleCall::ReadStamp)
        };
        for (outcome, expected) in [
            (version, [None, None, None, Some(20), Some(40)]),
            (stamp, [None, None, None, None, Some(40)]),
        ] {
            assert_eq!(outcome.judge(true), Ok(()));
            let metrics = [Powerdown, Wakeup, Wake, Latency, Call];
            let figures = metrics.map(|metric| outcome.metric(metric, true));
            assert_eq!(figures, expected, "{:?}", outcome.action);
        }
        use Reason::*;
        let edits: [(Edit, Reason); 5] = [
            (|o| o.end = ActionEnd::Returned, Abandoned),
            (|o| o.code = Some(-2), Refused),
            (|o| o.due = at(301), EarlyWake),
            (|o| o.stamps.0[3] = 289, EarlyWake),
            (|o| o.quiet_until = at(349), LateReturn),
        ];
        for outcome in [version, stamp] {
            for (edit, reason) in edits {
                let mut edited = outcome;
                edit(&mut edited);
                let found = edited.judge(true).map_err(|it| it.reason);
                assert_eq!(found, Err(reason), "{edited:?}");
            }
        }
        // Without PMF, the call must not start before the wake-up is due.
        let early = Outcome {
            due: at(311),
            ..version
        };
        assert_eq!(early.judge(false), Err(Rejection::plain(EarlyWake)));
        let stale = Outcome {
            before: at(321),
            ..version
        };
        assert_eq!(stale.judge(true).map_err(|it| it.reason), Err(Stale));
        // Only PSCI_VERSION returns a number.
        let number = woken(SingleCall::ReadStamp);
        assert_eq!(number.judge(true).map_err(|it| it.reason), Err(Refused));
    }

    type Edit = fn(&mut Outcome);

    #[test]
    fn each_rule_of_an_outcome() {
        use Reason::*;
        fn version(outcome: &mut Outcome, code: i32) {
            (outcome.action, outcome.end) = (Action::Version, ActionEnd::Returned);
            outcome.code = Some(code);
        }
        fn lose(outcome: &mut Outcome) {
            let (step, cause) = (Step::Finish, Cause::Timeout);
            outcome.end = ActionEnd::Lost(Loss { step, cause });
        }
        fn read_back(outcome: &mut Outcome, due: u64) {
            (outcome.action, outcome.end) = (Action::ReadBack, ActionEnd::ReadBack);
            (outcome.turned_on, outcome.due) = (at(200), at(due));
        }
        let with_pmf: [(Edit, Option<Reason>); 20] = [
            (|o| o.end = ActionEnd::Returned, Some(Abandoned)),
            (|o| o.code = Some(-2), Some(Refused)),
            (|o| o.code = Some(5), Some(Refused)),
            (|o| o.code = Some(0), None),
            (|o| o.end = ActionEnd::Pending, Some(Pending)),
            (|o| o.end = ActionEnd::NotRung, Some(NotRung)),
            (|o| o.before = None, Some(CounterErratum)),
            (|o| o.after = None, Some(CounterErratum)),
            (|o| o.end = ActionEnd::NotRun, Some(Lost)),
            (lose, Some(Lost)),
            (|o| o.end = ActionEnd::WrongContext, Some(WrongContext)),
            (|o| o.due = at(320), Some(EarlyWake)),
            (|o| o.due = at(360), Some(EarlyWake)),
            (|o| o.stamps_error = Some(ReadError::Code(5)), Some(PmfRead)),
            (|o| o.stamps.0[4] = 50, Some(Stale)),
            // A wake-up exactly when it is due is not early.
            (|o| o.due = at(300), None),
            // The lead was active again before CPU_OFF was complete.
            (|o| read_back(o, 160), Some(Overlap)),
            (|o| read_back(o, 161), None),
            // Other CPUs were active again before this CPU had returned.
            (|o| o.quiet_until = at(349), Some(LateReturn)),
            (|o| o.quiet_until = at(350), None),
        ];
        // Without PMF, the wake-up time decides.
        let without: [(Edit, Option<Reason>); 9] = [
            (|o| o.due = at(350), None),
            (|o| (o.due, o.end) = (at(350), ActionEnd::Returned), None),
            (|o| o.stamps = Stamps::default(), None),
            (
                |o| (o.due, o.end) = (at(351), ActionEnd::Returned),
                Some(Abandoned),
            ),
            (|o| o.due = at(351), Some(EarlyWake)),
            // A version is a number, but an error code is not.
            (|o| version(o, 0x1_0001), None),
            (|o| version(o, -1), Some(Refused)),
            (|o| o.quiet_until = at(349), Some(LateReturn)),
            // An erratum spoiled the CPU's first read after CPU_ON.
            (
                |o| (o.action, o.end) = (Action::OnOff, ActionEnd::WentOff),
                Some(CounterErratum),
            ),
        ];
        let with_pmf = with_pmf.map(|rule| (rule, true)).into_iter();
        for ((edit, expected), pmf) in with_pmf.chain(without.map(|rule| (rule, false))) {
            let mut outcome = good();
            edit(&mut outcome);
            let found = outcome.judge(pmf).err().map(|it| it.reason);
            assert_eq!(found, expected, "{outcome:?}");
        }
    }
}
