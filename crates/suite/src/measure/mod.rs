//! Rounds and their results: outcomes, samples or rejections, and statistics.

mod action;
mod capture_sequence;
mod entry_state;
mod facts;
mod fitted_line;
mod gap_finder;
mod histogram;
mod instants;
mod machine;
mod metric;
pub mod order;
mod outcome;
mod rejection;
mod round;
mod sample_count;
mod statistics;
mod stress;
mod tally;
mod time_source;
mod wait_limits;

pub use self::action::{Action, LoneCall, Operation, Preparation, SingleCall};
pub use self::entry_state::EntryState;
pub use self::facts::{Counter, Facts, Identity, NoCpuOff, Overheads};
pub use self::fitted_line::{FittedLine, residual};
pub use self::gap_finder::GapFinder;
pub use self::histogram::{Bin, Histogram};
pub use self::instants::{INSTANTS, Instant, Instants};
pub use self::machine::Machine;
pub use self::metric::{METRICS, Metric, Unit};
pub use self::outcome::{
    ActionDetails, ActionEnd, InterruptTimes, KeptContext, Outcome, PowerCycle, Suspended,
};
pub use self::rejection::{Cause, Detail, Loss, REASONS, Reason, Rejection, RoundPhase, ShortWait};
pub use self::round::{
    AfterRound, Interrupt, InterruptedCall, OsInitiated, Part, Participants, Race, Roles, Round,
    Spans, Task, WakeUp, Waker, Watched, Window,
};
pub use self::sample_count::SampleCount;
pub use self::statistics::{P99_MIN, Summary, lower_median, lower_median_by};
pub use self::stress::{
    RECENT_CALLS, RecentCall, STRESS_STATES, Stress, StressCall, StressViolation, Stressed,
    TargetView, Violation, judge_stress_call,
};
pub use self::tally::{Account, DurationKind, Gap, LONGEST_GAPS, RunningSummary, Schedule, Tally};
pub use self::time_source::TimeSource;
pub use self::wait_limits::{FINISH_US, WaitLimits};
