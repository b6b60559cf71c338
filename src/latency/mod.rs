//! How late a timer's interrupt is handled: what is counted, and how.

mod histogram;
mod load;
mod measure;
mod tally;

pub use self::histogram::{Bin, Histogram};
pub use self::load::Load;
pub use self::measure::{Fault, measure, room};
pub use self::tally::{Account, Schedule, Series, Tally, Until};
