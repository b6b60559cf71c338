//! The model of a run: scenarios, rows, points, and the verdict.

pub mod new;
mod point;
mod verdict;

pub use self::new::WakeSource;
pub use self::point::{How, Measure, Unit};
pub use self::verdict::{ClosingLine, PREFIX, Verdict, parse_line};
