//! The model of a run: scenarios, rows, points, and the verdict.

mod figures;
mod label;
pub mod new;
mod point;
pub(crate) mod report;
pub(crate) mod run;
mod verdict;

pub(crate) use self::figures::{columns, figure, heading};
pub(crate) use self::label::Label;
pub use self::point::{How, LEFT_OUT, LOOP, Measure, Point, Spread, Unit};
pub use self::report::{Failure, Figures, Row, Skip, Status, TestReport, Totals, WakeSource};
pub use self::run::Run;
pub use self::verdict::{ClosingLine, PREFIX, Verdict, parse_line};
