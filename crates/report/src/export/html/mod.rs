//! The report as a single HTML page.

mod chart;
mod page;
mod queue;
mod spread;
mod sweep;
mod timeline;

pub use self::chart::{Chart, Drawing, EDGE, LANE, LEFT, Scale};
pub use self::page::{write, write_page};
