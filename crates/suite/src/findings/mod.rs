//! Findings: what a scenario's figures show, and the evidence for it.
//!
//! Each finding has its own file with its [`FindingKind`](crate::model::FindingKind), its sentences
//! and its rule, plus a line in [`RULES`].

mod failed_checks;
mod kept_power;
mod last_man;
mod left_out;
mod lock_queue;
mod lost;
mod not_counted;
mod overruns;
mod reached;
mod resolution;
mod rules;
mod secure_interrupt;
pub(crate) mod sentence_parts;
mod subject;
#[cfg(test)]
mod tests;
mod waited;
mod wake_source;

pub use self::failed_checks::{FAILED_CHECK, describe_failure};
pub use self::last_man::LAST_MAN;
pub use self::left_out::LEFT_OUT;
pub use self::lock_queue::{Arrival, LOCK_QUEUE, LockQueue};
pub use self::lost::LOST;
pub use self::not_counted::NOT_COUNTED;
pub use self::resolution::tick_ns;
pub use self::rules::{RULES, findings_of};
pub use self::sentence_parts::list_first_few;
pub use self::subject::{Rule, Subject, Verbosity};
pub use self::waited::WAITED;
