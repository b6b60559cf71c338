//! What a log says of a run.

mod closing;
mod ending;
mod instants;
mod integrity;
mod point_units;
mod points;
mod results;
mod run;
mod skips;
mod term;
pub mod words;

pub use self::closing::{ByRecords, Closing};
pub use self::instants::{Instants, POINTS, Point, Sample};
pub use self::integrity::{Integrity, Missing, Records};
pub use self::points::{
    CONTEND_SWEEP, Class, DIRTY_SWEEP, Histogram, IDLE_STATES, LOOP, Measured, measure_heading,
};
pub use self::results::{Figure, Reached, Row, Status, Test, Why, heading};
pub use self::run::{Cpu, Facts, Plan, Run, Source, Stage};
pub use self::term::{Other, Term};
