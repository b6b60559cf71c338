//! The report as a single HTML page.

mod chart;
mod frame;
mod history_chart;
mod page;
mod queue;
mod race;
mod script;
mod spread;
mod sweep;
mod timeline;

pub use self::chart::{Chart, Drawing, EDGE, LANE, LEFT, Scale};
pub use self::frame::FlameFrame;
pub(super) use self::history_chart::{HistoryChart, history_chart};
pub use self::page::{write, write_page};
