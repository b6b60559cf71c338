//! Findings: sentences about what figures show, and the evidence for them.
//!
//! A rule is a function that returns findings. There are rules about one scenario of a run, about
//! all the suite's tables of a run (explanations), and about the difference between two runs. Each
//! is in a file with its kind and its sentences, and has a line in one of the lists in `rules`. The
//! rules that the payload also has are in [`suite::findings`].

mod based_finding;
mod changes;
mod cluster_flush;
mod conditions;
mod contention;
mod curve_finding;
mod dirty_flush;
mod net_of_loop;
mod pmf_cost;
mod rules;
mod warm_and_cold;

pub use self::based_finding::{BasedFinding, Basis, basis_text};
pub(crate) use self::changes::REORDERED;
pub use self::changes::UNCHANGED;
pub(super) use self::cluster_flush::FLUSH_CONTRAST;
pub use self::cluster_flush::FLUSH_OF_CLUSTER;
pub(crate) use self::conditions::CONDITIONS;
pub use self::contention::CONTENTION;
pub use self::dirty_flush::DIRTY_FLUSH;
pub(crate) use self::rules::difference_findings;
pub use self::rules::{explanations, findings};
#[cfg(test)]
pub(crate) use self::{net_of_loop::NET, pmf_cost::PMF_COST, warm_and_cold::COLD_CALL};
