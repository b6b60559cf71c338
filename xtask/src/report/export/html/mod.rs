//! The report as one page of HTML.

mod chart;
mod page;
mod queue;
mod spread;
mod sweep;
mod timeline;

pub(crate) use self::chart::{Drawing, EDGE, Figure, LANE, LEFT, Scale};
pub(crate) use self::page::{write, write_page};
