//! The report as a single HTML page, and its main picture on its own.

mod page;
mod picture;
mod queue;
mod race;
mod script;
mod spread;
mod sweep;
mod timeline;

pub use self::page::{write, write_page};
pub use self::picture::write_picture;
