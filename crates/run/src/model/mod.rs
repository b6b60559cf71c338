//! The model of a run: what the payload fills, records carry and reports take.

mod cpu;
mod failure;
mod failure_sentence;
mod finding;
mod jobs;
mod point;
mod row;
mod run;
mod run_id;
mod samples;
mod scenario;
mod skip;
mod totals;
mod verdict;

pub use self::cpu::{Cpu, Label};
pub use self::failure::Failure;
pub use self::finding::{Confidence, CpuSet, Finding, Fit, Kind};
pub use self::jobs::{Job, jobs, scenarios};
pub use self::point::{How, Point, Spread, Variant};
pub use self::row::{Attempts, Figures, Row, Statistic};
pub use self::run::{End, Head, Run};
pub use self::run_id::RunId;
pub use self::samples::{Sample, Samples};
pub(crate) use self::scenario::is_tftf;
pub use self::scenario::{Conditions, Scenario, ScenarioKey, Status, WakeSource};
pub use self::skip::Skip;
pub use self::totals::Totals;
pub use self::verdict::{ClosingLine, PREFIX, Verdict, parse_line, parse_totals};
