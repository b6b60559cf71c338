//! Parses boot arguments into a [`Plan`].

mod descriptor;
mod how;
mod key;
mod method;
mod plan;
mod scenario_id;
mod scenario_set;
pub mod steps;
#[cfg(test)]
mod tests;
mod timer;

pub use self::descriptor::{Amount, Axis, Descriptor, Procedure, RunSize, StateChoice, Turns};
pub use self::how::{How, HowSet};
pub use self::method::{EndAction, Method, Methods, Records, WARM_TITLE, WakePattern};
pub use self::plan::{LOOPS_LIMIT_S, Plan, is_foreign, is_shared};
pub(crate) use self::scenario_id::short as short_tag;
pub use self::scenario_id::{ScenarioId, TAG_PREFIX};
pub use self::scenario_set::ScenarioSet;
pub use self::timer::{Load, TimerPlan};
