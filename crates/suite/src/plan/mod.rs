//! Parses boot arguments into a [`Plan`].

mod argument_types;
mod arguments;
mod axis;
mod boot_arguments;
mod choices;
mod descriptor_values;
mod plan_error;
mod plan_record;
mod run_size;
mod scenario_id;
mod scenario_set;
pub mod sweep_values;
#[cfg(test)]
mod tests;
mod timer;
mod variant;
mod word_set;

pub use self::arguments::{Key, Plan};
pub use self::axis::{Amount, Axis};
pub use self::boot_arguments::{LOOPS_LIMIT_S, is_foreign, is_shared};
pub use self::choices::{
    ActiveCpus, CheckedCalls, EndAction, Load, Method, Records, SentSamples, Timestamps, Use,
    WARM_TITLE, WakePattern,
};
pub use self::descriptor_values::{Group, NotCounted, StateChoice, UsedStates};
pub use self::plan_error::{PlanError, PlanProblem};
pub use self::run_size::{RunSize, Work};
pub use self::scenario_id::{ScenarioId, TAG_PREFIX};
pub use self::scenario_set::ScenarioSet;
pub use self::timer::TimerPlan;
pub use self::variant::Variant;
pub use self::word_set::WordSet;
