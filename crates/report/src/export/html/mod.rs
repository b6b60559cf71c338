//! The report as a single HTML page.

mod page;
mod queue;
mod race;
mod script;
mod spread;
mod sweep;
mod timeline;

pub use self::page::{write, write_page};
