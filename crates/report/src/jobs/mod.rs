//! Converts files from lab engines into jobs with outcomes.

mod agreed;
pub mod cell;
mod find;
mod job;
pub mod job_outcome;
mod junit;
mod lava;
pub mod matrix;
mod read;
mod results;

pub use self::cell::{BadName, check_name};
pub use self::find::{Found, find};
pub use self::job::LabJob;
pub use self::lava::read_log;
pub use self::read::{ResultsFormat, read_all};
pub(crate) use self::results::CaseStatus;
pub use self::results::Results;
