//! The model of a run. The payload fills in the model, records carry it, and reports use it.

mod cell;
mod check;
mod check_subject;
mod cpu;
mod failure;
mod failure_sentence;
mod finding;
mod jobs;
mod left_out_state;
mod run;
mod run_id;
mod samples;
mod scenario;
mod series;
mod skip;
mod totals;
mod verdict;
mod wake_source;

pub use self::cell::{Cell, CellSeries, CellStep, Counts};
pub use self::check::{Check, CheckEnd, Function, Probe};
pub use self::cpu::{Cpu, Label};
pub use self::failure::Failure;
pub use self::finding::{CpuSet, Evidence, Finding, FitQuality, Kind};
pub use self::jobs::{Job, jobs, scenarios};
pub use self::left_out_state::LeftOutState;
pub use self::run::{End, Head, Run};
pub use self::run_id::{RunId, RunParts};
pub use self::samples::{Sample, Samples};
pub(crate) use self::scenario::is_tftf;
pub use self::scenario::{Conditions, Scenario, ScenarioKey, Status};
pub use self::series::{Series, Spread};
pub use self::skip::{Skip, Undecided};
pub use self::totals::Totals;
pub use self::verdict::{ClosingLine, PREFIX, Verdict, parse_line, parse_totals};
pub use self::wake_source::WakeSource;
