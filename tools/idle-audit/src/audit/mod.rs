//! Audits declared idle states: compares them with each other, and with measured ones.

mod audited_states;
mod check_run;
mod declared_source;
mod idle_rules;
mod judgement;
mod measured_state;
mod suggestion;
#[cfg(test)]
mod tests;
mod unaudited_tree;

pub use self::audited_states::{AuditedState, IdleAudit, audit};
pub use self::declared_source::{DeclaredBy, DeclaredSource};
pub use self::idle_rules::{LISTED, RULES, Rule};
pub use self::judgement::{Judgement, LongestTime, RuleVerdict};
pub use self::measured_state::{MeasuredGroup, MeasuredState};
pub use self::suggestion::{PropertyChange, PropertyValue};
pub use self::unaudited_tree::{Unaudited, UnauditedTree};
