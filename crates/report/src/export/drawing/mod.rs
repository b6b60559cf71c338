//! Drawings in SVG that a document contains, whatever it is written as: charts and flame graphs.

mod boot_chart;
mod changes_chart;
mod chart;
mod frame;
mod history_chart;
mod overview_chart;

pub(super) use self::boot_chart::boot_chart;
pub(super) use self::changes_chart::changes_chart;
pub use self::chart::{Chart, Drawing, EDGE, LANE, LEFT, Scale};
pub(super) use self::chart::{Mark, legend};
pub use self::frame::FlameFrame;
pub(super) use self::history_chart::{HistoryChart, history_chart};
pub(super) use self::overview_chart::overview_chart;
