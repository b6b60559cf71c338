//! Files of lab engines -> jobs with outcomes.

mod agreed;
pub mod cell;
mod find;
mod job;
mod junit;
mod lava;
pub mod matrix;
pub mod outcome;
mod read;

pub use self::cell::check_name;
pub use self::find::{Found, find};
pub(crate) use self::job::Ending;
pub use self::job::{Job, Results};
pub use self::lava::read_log;
pub use self::read::{Kind, read_all};
